"""Rankings: ranks by brute force, agreement with contrasts, groups of ties, figures, and what is refused."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeseval as be
from bayeseval.contrasts.ranking import Ranking, cliques, rank_draws
from bayeseval.errors import DataError, OptionError
from tests.test_plots import EVIL, draw, new_ax, texts


def systems(shifts: list[float], prompts: int = 120, k: int = 6, seed: int = 1, names: Any = None) -> list[be.Counts]:
    rng = np.random.default_rng(seed)
    common = rng.normal(0.3, 1.5, prompts)
    return [
        be.Counts.from_arrays(
            rng.binomial(k, 1 / (1 + np.exp(-common - shift - rng.normal(0, 0.4, prompts)))),
            k,
            system=names[place] if names else f"s{place}",
            benchmark="sums",
        )
        for place, shift in enumerate(shifts)
    ]


def ranking_of(draws: np.ndarray, **changes: Any) -> Ranking:
    """A ranking of given draws, whose columns are in order."""
    size = draws.shape[1]
    given = dict(
        systems=tuple(f"s{i}" for i in range(size)), benchmark="sums", score="mean", estimand="population", draws=draws,
        method="bootstrap", rope=None, prob=0.95, n_prompts=10, generations=4, warnings=(),
    )  # fmt: skip
    return Ranking(**{**given, **changes})


def test_ranks_equal_brute_force_with_ties() -> None:
    draws = np.random.default_rng(1).integers(0, 4, (200, 6)).astype(float)
    want = [[1 + sum(other > own for other in row) for own in row] for row in draws]
    assert rank_draws(draws).tolist() == want


def test_cliques_equal_brute_force() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        apart = np.triu(rng.random((7, 7)) < 0.25, 1)
        apart |= apart.T
        runs = [(i, j) for i in range(7) for j in range(i + 1, 8) if not apart[i:j, i:j].any()]
        want = [(i, j) for i, j in runs if not any((a, b) != (i, j) and a <= i and j <= b for a, b in runs)]
        assert cliques(apart) == want


def test_two_systems_are_ranked_as_they_are_contrasted() -> None:
    a, b = systems([0.3, 0.0])
    ranking, found = be.rank([a, b], seed=4), be.contrast(a, b, seed=4)
    row = ranking.pairs().iloc[0]
    sign = 1 if ranking.systems == ("s0", "s1") else -1
    assert sign * row["difference"] == pytest.approx(found.value)
    assert row["sd"] == pytest.approx(found.sd)
    assert ranking.p_best[0] == pytest.approx(max(found.p_greater, 1 - found.p_greater))


@pytest.mark.parametrize("estimand", ["population", "benchmark"])
def test_pairs_of_many_agree_with_contrasts_of_two(estimand: str) -> None:
    runs = systems([0.6, 0.3, 0.25, 0.0])
    posts = [be.fit(run, engine="quadrature", seed=1, progress=False) for run in runs]
    ranking = be.rank(posts, estimand=estimand, seed=2)
    by_name = dict(zip([post.system for post in posts], posts, strict=True))
    assert len(ranking.pairs()) == 6
    for row in ranking.pairs().itertuples():
        found = be.contrast(by_name[row.system_a], by_name[row.system_b], estimand=estimand, seed=9)
        assert row.difference == pytest.approx(found.value, abs=6 * found.sd / np.sqrt(4000))
        assert row.sd == pytest.approx(found.sd, rel=0.08)
        assert row.p_greater == pytest.approx(found.p_greater, abs=0.05)


def test_order_of_the_list_does_not_matter() -> None:
    runs = systems([0.4, 0.2, 0.0], prompts=40)
    frames = [be.rank(list(order), seed=3).to_frame() for order in permutations(runs)]
    for frame in frames[1:]:
        pd.testing.assert_frame_equal(frame, frames[0])


def test_counts_of_several_runs_and_posteriors_are_taken_as_they_are() -> None:
    matrix = np.random.default_rng(1).integers(0, 2, (3, 30, 4))
    outcomes = be.Outcomes.from_matrix(matrix, system=["a", "b", "c"])
    posts = be.fit(outcomes, engine="quadrature", seed=1, progress=False)
    rankings = [be.rank(one, seed=1) for one in (outcomes, outcomes.counts(), posts, list(posts))]
    for other in rankings[1:]:
        pd.testing.assert_frame_equal(other.to_frame(), rankings[0].to_frame())


def test_probabilities_of_ranks_are_probabilities() -> None:
    ranking = be.rank(systems([0.5, 0.2, 0.1, 0.0, -0.2]), seed=1)
    cells = ranking.rank_probabilities
    assert cells.sum(axis=1) == pytest.approx(np.ones(5)) and cells.sum(axis=0) == pytest.approx(np.ones(5), abs=0.02)
    assert ranking.p_greater + ranking.p_greater.T == pytest.approx(np.ones((5, 5)))
    frame = ranking.to_frame()
    assert frame["value"].is_monotonic_decreasing
    assert frame["rank"].to_numpy() == pytest.approx(cells @ np.arange(1, 6))
    for place in range(5):
        low, high = frame.loc[place, ["rank_lower", "rank_upper"]]
        assert cells[place, low - 1 : high].sum() >= 0.95


def test_rank_intervals_hold_the_true_ranks() -> None:
    rng, repeats, held, total = np.random.default_rng(5), 100, 0, 0
    for repeat in range(repeats):
        shifts = rng.normal(0, 0.3, 5)
        frame = be.rank(systems(list(shifts), prompts=60, k=4, seed=repeat), draws=800, seed=repeat).to_frame()
        true = {f"s{place}": 1 + int((shifts > one).sum()) for place, one in enumerate(shifts)}
        held += sum(row.rank_lower <= true[row.system] <= row.rank_upper for row in frame.itertuples())
        total += 5
    # Systems of one data set are not independent: count data sets, not systems, in the error.
    assert held / total > 0.95 - 4 * np.sqrt(0.95 * 0.05 / repeats)


def test_ties_within_the_rope_and_letters() -> None:
    rng = np.random.default_rng(1)
    draws = np.array([0.80, 0.795, 0.70, 0.69]) + rng.normal(0, 0.002, (4000, 4))
    plain, rope = ranking_of(draws), ranking_of(draws, rope=0.02)
    assert plain.groups == (("s0", "s1"), ("s2",), ("s3",))
    assert rope.groups == (("s0", "s1"), ("s2", "s3"))
    assert rope.to_frame()["groups"].tolist() == ["a", "a", "b", "b"]
    verdicts = rope.pairs().set_index(["system_a", "system_b"])["verdict"]
    assert verdicts["s0", "s1"] == "equivalent" and verdicts["s0", "s2"] == "apart"
    assert plain.pairs()["p_equivalent"].isna().all()
    wide = ranking_of(draws, rope=0.006)
    assert wide.pairs().set_index(["system_a", "system_b"])["verdict"]["s0", "s1"] == "undecided"


def test_the_result_says_itself() -> None:
    ranking = be.rank(systems([0.9, 0.0, 0.0]), seed=1)
    assert "first s0" in repr(ranking) and "told apart from all others" in repr(ranking)
    assert "prompts like these" in repr(ranking) and "<table>" in ranking._repr_html_()
    assert ranking.matrix().loc["s0", "s1"] == ranking.p_greater[0, list(ranking.systems).index("s1")]


def test_prompts_that_one_system_lacks_are_left_out_for_all() -> None:
    one, two = systems([0.3, 0.0], prompts=30)
    less = be.Counts.from_arrays(two.correct[:20], 6, system="less", benchmark="sums")
    ranking = be.rank([one, two, less], seed=1)
    assert ranking.n_prompts == 20
    assert sum("no partner" in text for text in ranking.warnings) == 2


def test_what_cannot_be_ranked_is_refused() -> None:
    one, two = systems([0.3, 0.0], prompts=10)
    with pytest.raises(DataError, match="two systems or more, but 1"):
        be.rank([one])
    with pytest.raises(DataError, match="given twice"):
        be.rank([one, one])
    with pytest.raises(OptionError, match="takes several systems"):
        be.rank(be.fit(one, engine="quadrature", progress=False))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="takes several systems"):
        be.rank(7)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="shape of the prior would decide"):
        be.rank([one, two], score="pass@200")
    with pytest.raises(OptionError, match="rope"):
        be.rank([one, two], rope=2)


def test_real_ranking_agrees_with_the_published_pairs(shared: Any) -> None:
    folder = shared / "data" / "coupled-gsm8k"
    table = pd.read_csv(folder / "counts.csv.gz").query("condition == 'independent'")
    counts = be.Counts.from_frame(
        table, system="model", benchmark="benchmark", prompt="prompt_id", generations="n", correct="c", group=False,
        quiet=True,
    )  # fmt: skip
    ranking = be.rank(counts, seed=1)
    pairs = ranking.pairs()
    assert len(ranking) == 19 and len(pairs) == 171
    found = {frozenset((row.system_a, row.system_b)): row for row in pairs.itertuples()}
    for row in pd.read_csv(folder / "pairs.csv").itertuples():
        own = found[frozenset((row.model_a, row.model_b))]
        sign = 1 if own.system_a == row.model_a else -1
        assert sign * own.difference == pytest.approx(row.diff_independent, abs=6 * own.sd / np.sqrt(4000))
        assert own.sd == pytest.approx(row.se_diff_independent, rel=0.08)


@pytest.mark.parametrize("size", [2, 8, 30])
def test_figures_show_every_system_and_its_rank(size: int) -> None:
    ranking = be.rank(systems(list(np.linspace(0, 1, size)), prompts=60), draws=500, seed=1)
    frame = ranking.to_frame()
    ax = ranking.plot(new_ax())
    draw(ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == frame["system"].tolist()
    assert ax.lines[0].get_xdata()[0] == frame.loc[0, "lower"] and "95% credible interval" in texts(ax)
    assert "population" in texts(ax) and "P(best)" in texts(ax)
    ax = ranking.plot_ranks(new_ax())
    draw(ax)
    np.testing.assert_allclose(np.ma.filled(ax.images[0].get_array()), ranking.rank_probabilities)
    ax = ranking.plot_pairs(new_ax())
    draw(ax)
    shown = np.ma.filled(ax.images[0].get_array(), np.nan)
    assert shown[0, 1] == pytest.approx(ranking.p_greater[0, 1]) and np.isnan(shown[0, 0])


def test_figures_take_evil_names_and_say_what_they_leave_out() -> None:
    names = [f"{EVIL}{place}" for place in range(5)]
    ranking = be.rank(systems([0.0] * 5, prompts=30, names=names), draws=200, seed=1)
    for figure in (be.plots.plot_ranking, be.plots.plot_ranks, be.plots.plot_pairwise):
        ax = figure(ranking, ax=new_ax(), most=3)
        draw(ax)
        assert "2 lower systems left out" in texts(ax)
