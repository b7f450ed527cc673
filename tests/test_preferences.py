"""Tables of preferences and win rates: what is read and refused, brute force over pairs, published numbers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import bayeseval as be
from bayeseval.preferences.win_rates import win_rates
from tests.oracles import oracle_rows

NAMES = ["x", "y", "z"]


def votes(rows: list[tuple[Any, ...]], columns: str = "model_a model_b winner") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


def answers(seed: int, systems: int = 3, prompts: int = 5, generations: int = 3, missing: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, (systems, prompts, generations)).astype(float)
    y[rng.random(y.shape) < missing] = np.nan
    y[:, :, :2] = np.nan_to_num(y[:, :, :2])
    return y


# Reading --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_arena_exports_are_read_from_any_frame(library: str) -> None:
    frame: Any = votes(
        [("x", "y", "model_a"), ("y", "x", "model_a"), ("x", "y", "tie"), ("x", "z", "tie (bothbad)"),
         ("z", "x", "model_b")]
    )  # fmt: skip
    if library == "polars":
        frame = pytest.importorskip("polars").DataFrame(frame.to_dict(orient="list"))
    if library == "pyarrow":
        frame = pytest.importorskip("pyarrow").table(frame.to_dict(orient="list"))
    found = be.Preferences.from_frame(frame)
    assert found.systems == ("x", "y", "z") and found.design == "judged" and found.cluster is None
    assert found.winner.tolist() == ["a", "a", "tie", "tie", "b"]
    assert found.wins().tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert found.ties().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    ("label", "winner"),
    [("A>B", "a"), ("B>>A", "b"), ("[[C]]", "tie"), ("Left", "a"), ("both_bad", "tie"), ("gpt", "a"), ("claude", "b")],
)
def test_words_of_judges_and_names_of_systems_are_understood(label: str, winner: str) -> None:
    assert be.Preferences.from_frame(votes([("gpt", "claude", label)])).winner.tolist() == [winner]


def test_the_name_of_a_system_goes_before_a_word() -> None:
    found = be.Preferences.from_frame(votes([("right", "left", "left")]))
    assert found.winner.tolist() == ["b"]


def test_columns_may_have_any_name() -> None:
    frame = votes([("x", "y", "y", "p1", 4, 1)], "one two better item times s")
    found = be.Preferences.from_frame(frame, a="one", b="two", winner="better", prompt="item", count="times", seed="s")
    assert found.n_comparisons == 4 and found.cluster is not None and found.cluster.tolist() == ["p1:1"]
    assert be.Preferences.from_frame(frame, a="one", b="two", winner="better", prompt=False).cluster is None


def test_prompt_and_seed_together_are_the_cluster() -> None:
    frame = votes([("x", "y", "a", "p", 1), ("x", "y", "b", "p", 2), ("x", "z", "b", "p", 1)],
                  "model_a model_b winner question_id seed")  # fmt: skip
    assert be.Preferences.from_frame(frame).n_clusters == 2
    assert be.Preferences.from_frame(frame, seed=False).n_clusters == 1


def test_unknown_labels_are_refused_with_their_rows() -> None:
    frame = votes([("x", "y", "model_a"), ("x", "y", "maybe"), ("x", "y", "maybe"), ("x", "y", None)])
    with pytest.raises(be.BayesevalError, match=r"'maybe' in 2 rows, first in row 1 .*no label in row 3"):
        be.Preferences.from_frame(frame)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (votes([("x", "y", "a"), ("y", "y", "b")]), r"row 1 .*'y' is compared with itself"),
        (votes([("x", None, "a")]), "row 0"),
        (votes([("x", "y")], "model_a model_b"), "no column for winner"),
        (votes([("x", "y", "a", 0)], "model_a model_b winner count"), "has 0 where the count"),
        (votes([("x", "y", "a", 1.5)], "model_a model_b winner count"), r"has 1\.5 where .* a whole number"),
        (votes([]), "no comparison"),
    ],
)
def test_what_cannot_be_right_is_refused(frame: pd.DataFrame, words: str) -> None:
    with pytest.raises(be.BayesevalError, match=words):
        be.Preferences.from_frame(frame)


def test_a_missing_column_is_named_with_its_neighbour() -> None:
    with pytest.raises(be.BayesevalError, match="did you mean 'model_b'"):
        be.Preferences.from_frame(votes([("x", "y", "a")]), b="model_c")


def test_columns_given_by_hand_are_checked() -> None:
    for given, words in (
        ((["x"], ["y"], ["model_a"]), "must be one of 'a', 'b', 'tie'"),
        ((["x"], ["x"], ["a"]), "compared with itself"),
        ((["x"], [], ["a"]), "as many systems A"),
        ((["x"], ["y"], ["a", "b"]), "2 values of winner"),
        ((["x"], ["y"], ["a"], [0]), "at least 1"),
    ):
        with pytest.raises(be.BayesevalError, match=words):
            be.Preferences(*given)
    with pytest.raises(be.BayesevalError, match="design must be one of"):
        be.Preferences(["x"], ["y"], ["a"], design="mixed")


def test_tallies_hold_every_comparison_once() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (*rng.choice(NAMES, 2, replace=False), rng.choice(["a", "b", "tie"]), f"p{rng.integers(4)}") for _ in range(60)
    ]
    found = be.Preferences.from_frame(votes(rows, "model_a model_b winner prompt"))
    pairs, pair, cluster, counts = found.tallies()
    wins, ties = np.zeros((3, 3)), np.zeros((3, 3))
    for one, (a, b, tied) in zip(pair, counts, strict=True):
        first, second = pairs[one]
        wins[first, second] += a
        wins[second, first] += b
        ties[first, second] += tied
    assert np.array_equal(wins, found.wins()) and np.array_equal(ties + ties.T, found.ties())
    assert counts.sum() == 60 and len(set(zip(pair, cluster, strict=True))) == len(pair)


def test_frames_go_there_and_back() -> None:
    found = be.Preferences(["x", "y"], ["y", "z"], ["a", "tie"], count=[3, 2], cluster=["1", "2"])
    again = be.Preferences.from_frame(found.to_frame().rename(columns={"cluster": "prompt"}))
    assert again.to_frame().equals(found.to_frame())
    assert repr(found) == "Preferences: 5 comparisons of 3 systems, 2 ties, 2 clusters, comparisons by judges"
    assert not found.winner.flags.writeable
    evil = be.Preferences(["<b>"], ["y"], ["a"])
    assert "<table" in evil._repr_html_() and "<b>" not in evil._repr_html_()


def test_some_systems_may_be_selected() -> None:
    found = be.Preferences(["x", "y", "x"], ["y", "z", "z"], ["a", "tie", "b"])
    assert found.select(["x", "z"]).to_frame()["winner"].tolist() == ["b"]
    with pytest.raises(be.BayesevalError, match="no system 'q'"):
        found.select(["x", "q"])
    with pytest.raises(be.BayesevalError, match="none of 'x'"):
        found.select(["x"])


# Correctness ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("coupled", "shared"), [(True, True), (False, True), (False, False)])
def test_comparisons_by_correctness_are_those_of_all_pairs_of_generations(
    seed: int, coupled: bool, shared: bool
) -> None:
    y = answers(seed)
    found = be.Preferences.from_outcomes(be.Outcomes.from_matrix(y, system=NAMES), coupled=coupled, shared_noise=shared)
    wins, ties = np.zeros((3, 3)), np.zeros((3, 3))
    for a, b in itertools.permutations(range(3), 2):
        for prompt, j, i in itertools.product(range(5), range(3), range(3)):
            one, two = y[a, prompt, j], y[b, prompt, i]
            wanted = j == i if coupled else j != i or not shared
            if wanted and not np.isnan(one + two):
                wins[a, b] += one > two
                ties[a, b] += one == two
    order = [found.systems.index(name) for name in NAMES]
    assert np.array_equal(found.wins()[np.ix_(order, order)], wins)
    assert np.array_equal(found.ties()[np.ix_(order, order)], ties)
    assert found.design == ("coupled" if coupled else "independent")


def test_outcomes_that_cannot_be_compared_are_refused() -> None:
    one = be.Outcomes.from_matrix([[1, 0]], system="x")
    for given, words in (
        (one, "needs at least two systems"),
        ([one, one], "given twice"),
        ([one, be.Outcomes.from_matrix([[1, 0]], system="y", benchmark="other")], "one benchmark"),
        ([one, be.Outcomes.from_matrix([[1, 0]], system="y", prompts=["q"])], "no prompt was answered by all"),
        ([one.counts()], "takes Outcomes"),
    ):
        with pytest.raises(be.BayesevalError, match=words):
            be.Preferences.from_outcomes(given, coupled=True)
    single = [be.Outcomes.from_matrix([[1]], system=name) for name in "xy"]
    with pytest.raises(be.BayesevalError, match="shared_noise=False"):
        be.Preferences.from_outcomes(single, coupled=False)
    assert be.Preferences.from_outcomes(single, coupled=False, shared_noise=False).n_comparisons == 1


# Win rates ------------------------------------------------------------------------------------------------------------


def three_systems(coupled: bool) -> be.Outcomes:
    """One prompt, 500 generations: p = .6, .6, .55, all independent, or the first two always equal."""
    a, b, c = (np.arange(n) < p * n for n, p in ((5, 0.6), (5, 0.6), (20, 0.55)))
    first, second, third = np.broadcast_arrays(a[:, None, None], b[None, :, None], c)
    cube = np.stack([first, first if coupled else second, third]).reshape(3, 1, -1)
    return be.Outcomes.from_matrix(cube.astype(int), system=NAMES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("avg_win_rate_three_models"))
def test_average_win_rates_of_three_systems(quantity: str, inputs: Any, value: list[float]) -> None:
    coupled = bool(inputs["cov"][0][1])
    rates = be.win_rates(three_systems(coupled), ties="none", coupled=True, draws=10)
    found = dict(zip(rates.systems, rates.average, strict=True))
    assert [found[name] for name in NAMES] == pytest.approx(value, abs=1e-12)
    assert rates.systems[0] == ("z" if coupled else "x")


def test_coupling_changes_the_order_and_half_credit_does_not() -> None:
    twins = three_systems(coupled=True)
    without = [be.win_rates(twins, ties="none", coupled=c, shared_noise=False, draws=10) for c in (True, False)]
    assert without[0].systems[0] == "z" and without[1].systems[-1] == "z"
    assert without[1].average == pytest.approx([0.255, 0.255, 0.22])
    half = [be.win_rates(twins, coupled=c, shared_noise=False, draws=10) for c in (True, False)]
    assert half[0].systems == half[1].systems and half[0].average == pytest.approx(half[1].average)


@pytest.mark.parametrize("coupled", [True, False])
def test_wins_less_losses_are_the_difference_of_means(coupled: bool) -> None:
    y = answers(3, prompts=40, generations=4, missing=0.0)
    rates = be.win_rates(be.Outcomes.from_matrix(y, system=NAMES), ties="none", coupled=coupled, draws=10)
    order = [NAMES.index(name) for name in rates.systems]
    p = y.mean(axis=(1, 2))[order]
    assert (rates.rate - rates.rate.T)[np.triu_indices(3, 1)] == pytest.approx((p[:, None] - p)[np.triu_indices(3, 1)])
    both = np.einsum("apj,bpj->apb" if coupled else "apj,bpl->apb", y, y).sum(axis=1)
    if not coupled:
        both = both - np.einsum("apj,bpj->ab", y, y)
    expected = y.mean(axis=(1, 2))[:, None] - both / (40 * (4 if coupled else 12))
    off = ~np.eye(3, dtype=bool)
    assert rates.rate[off] == pytest.approx(expected[np.ix_(order, order)][off])


def test_prompts_have_equal_weight_however_many_generations_they_have() -> None:
    ragged = np.full((2, 2, 4), np.nan)
    ragged[:, 0, :2] = [[1, 1], [0, 0]]
    ragged[:, 1] = [[0, 0, 0, 0], [1, 1, 1, 1]]
    rates = be.win_rates(be.Outcomes.from_matrix(ragged, system=["x", "y"]), ties="none", coupled=True, draws=10)
    assert rates.average == pytest.approx([0.5, 0.5])


def test_intervals_hold_the_truth_as_often_as_they_say_when_comparisons_of_a_prompt_depend() -> None:
    rng = np.random.default_rng(5)
    held = {"clusters": 0, "single": 0}
    for _ in range(repeats := 300):
        p = rng.choice([0.2, 0.5, 0.9], 60)
        won = rng.binomial(8, p)
        rows = [("x", "y", "a", int(w), str(i)) for i, w in enumerate(won) if w]
        rows += [("x", "y", "b", int(8 - w), str(i)) for i, w in enumerate(won) if w < 8]
        frame = votes(rows, "model_a model_b winner count prompt")
        for name, prompt in (("clusters", None), ("single", False)):
            rates = be.win_rates(be.Preferences.from_frame(frame, prompt=prompt), draws=400, prob=0.9)
            lower, upper = rates.interval()
            place = rates.systems.index("x")
            held[name] += bool(lower[place] <= (0.2 + 0.5 + 0.9) / 3 <= upper[place])
    error = (0.9 * 0.1 / repeats) ** 0.5
    # The bootstrap is approximate: 60 clusters leave about one hundredth.
    assert abs(held["clusters"] / repeats - 0.9) < 3 * error + 0.015
    assert held["single"] / repeats < 0.9 - 5 * error


def test_single_comparisons_are_resampled_as_a_dirichlet() -> None:
    preferences = be.Preferences(["x"] * 3, ["y"] * 3, ["a", "b", "tie"], count=[30, 15, 5])
    rates = be.win_rates(preferences, ties="none", draws=40_000, seed=1)
    place = rates.systems.index("x")
    sd = (0.6 * 0.4 / 51) ** 0.5  # Beta(30, 20)
    assert rates.draws[:, place].mean() == pytest.approx(0.6, abs=4 * sd / 200)
    assert rates.draws[:, place].std() == pytest.approx(sd, rel=0.02)


def test_published_half_widths_of_coupled_generation_divide_by_all_comparisons(shared: Any) -> None:
    """Each model has 2N/M of N comparisons, but the code's standard error divides its wins by N: too small by M/2."""
    rows = pd.read_csv(shared / "data" / "derived" / "lmsys_ci_recomputed.csv")
    printed = pd.read_csv(shared / "data" / "published" / "coupled_lmsys_avg_win_rates.csv")
    both = rows.merge(printed, on=["family", "model"])
    assert len(both) == len(rows) == 19
    rate, own, total = both["win_rate_independent"], both["comparisons_of_model"], both["comparisons_total"]
    systems = both.groupby("family")["model"].transform("count")
    assert (own == 2 * total / systems).all()
    spread = 1.959964 * (rate * (1 - rate)) ** 0.5
    code, binomial = spread * own**0.5 / total, spread / own**0.5
    assert code.to_numpy() == pytest.approx(both["half_width_code_formula"].to_numpy(), abs=6e-6)
    assert binomial.to_numpy() == pytest.approx(both["half_width_binomial"].to_numpy(), abs=6e-6)
    assert code.round(4).to_numpy() == pytest.approx(both["half_width_printed"].to_numpy(), abs=1e-4)
    assert both["half_width_printed"].to_numpy() == pytest.approx(both["ci95_half_independent"].to_numpy())
    assert (binomial / code).to_numpy() == pytest.approx((systems / 2).to_numpy())
    # What win_rates gives for as many comparisons, taken as independent, is the binomial one.
    one = both.iloc[0]
    wins = round(one["win_rate_independent"] * own[0])
    preferences = be.Preferences(["a", "a"], ["b", "b"], ["a", "b"], count=[wins, int(own[0]) - wins])
    rates = be.win_rates(preferences, draws=20_000)
    lower, upper = rates.interval()
    assert (upper - lower)[0] / 2 == pytest.approx(one["half_width_binomial"], rel=0.03)


def test_averages_over_different_opponents_and_flat_intervals_are_told() -> None:
    rates = be.win_rates(be.Preferences(["x", "y"], ["y", "z"], ["a", "a"], count=[5, 5]), draws=50)
    assert "only 2 of 3 pairs" in " ".join(rates.warnings) and "without width" in " ".join(rates.warnings)
    assert np.isnan(rates.rate[rates.systems.index("x"), rates.systems.index("z")])
    few = be.win_rates(be.Preferences(["x", "x"], ["y", "y"], ["a", "b"], cluster=["1", "2"]), draws=50)
    assert "only 2 clusters" in repr(few)


def test_coupled_must_be_said_for_answers_and_only_there() -> None:
    outcomes = be.Outcomes.from_matrix([[[1, 0]], [[0, 1]]], system=["x", "y"])
    with pytest.raises(be.BayesevalError, match="say coupled=True"):
        be.win_rates(outcomes)
    with pytest.raises(be.BayesevalError, match="made already"):
        be.win_rates(be.Preferences(["x"], ["y"], ["a"]), coupled=True)
    with pytest.raises(be.BayesevalError, match="ties must be one of"):
        be.win_rates(outcomes, coupled=True, ties="davidson")


def test_win_rates_say_show_and_draw_the_same() -> None:
    rates = win_rates(
        be.Preferences(["<b>", "y", "z"], ["y", "z", "<b>"], ["a", "tie", "b"], count=[9, 5, 3]), draws=200
    )
    frame = rates.to_frame()
    assert frame["p_best"].sum() == pytest.approx(1) and rates.sentence() in repr(rates)
    assert (frame["rank_lower"] <= frame["rank"]).all() and (frame["rank"] <= frame["rank_upper"]).all()
    assert "<table" in rates._repr_html_() and "<b>" not in rates._repr_html_()
    assert len(rates.pairs()) == 6
    ax = rates.plot(ax=Figure().subplots())
    assert np.asarray(ax.lines[0].get_xdata()) == pytest.approx(frame["average"].to_numpy())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(rates.systems)
