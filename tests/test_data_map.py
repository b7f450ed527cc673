"""The data map: closed forms, invariances, planted wrong gold answers, kinds of trouble, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayeseval as be
from bayeseval.consistency import mislabelled
from bayeseval.consistency.entropy import consistency, entropy_process
from bayeseval.consistency.mislabelling import RATE
from tests.commands import complaint, document, run


def rows(answers: dict[str, list[str | None]], gold: dict[str, str], system: str = "A", correct=None) -> pd.DataFrame:
    """One row a generation; correct where the answer is the gold one, unless given."""
    return pd.DataFrame(
        {
            "system": system, "benchmark": "sums", "prompt": prompt, "generation": place,
            "correct": float(answer == gold[prompt]) if correct is None else correct[prompt][place],
            "answer": answer, "gold": gold[prompt],
        }
        for prompt, given in answers.items()
        for place, answer in enumerate(given)
    )  # fmt: skip


def outcomes(*frames: pd.DataFrame) -> be.Outcomes:
    return be.Outcomes.from_frame(pd.concat(frames), quiet=True)


def simulated(size: int, seed: int, systems: int = 2, share: float = 0.05) -> tuple[pd.DataFrame, set[str]]:
    """A benchmark of five answers with Beta(2, 1) difficulty, and wrong gold answers in some prompts."""
    rng = np.random.default_rng(seed)
    bad = set(rng.choice(size, round(share * size), replace=False).tolist())
    frames = []
    for i in range(size):
        wrong = rng.dirichlet(np.full(4, 0.6))
        gold = str(1 + rng.integers(4)) if i in bad else "0"
        for system in range(systems):
            p = rng.beta(2, 1)
            answers = rng.choice(5, 6, p=[p, *((1 - p) * wrong)]).astype(str).tolist()
            frames.append(rows({f"q{i}": answers}, {f"q{i}": gold}, f"S{system}"))
    return pd.concat(frames), {f"q{i}" for i in bad}


SMALL = rows(
    {"a": ["1", "1", "1", "2"], "b": ["3", "3", "3", "3"], "c": ["1", "2", "3", None], "d": ["5"] * 4},
    {"a": "1", "b": "7", "c": "9", "d": "5"},
)


def test_numbers_of_a_prompt_have_closed_forms():
    table = be.data_map(outcomes(SMALL), gamma=1.5).to_frame().set_index("prompt")
    for prompt, counts in {"a": [3, 1], "b": [4], "c": [1, 1, 1, 1], "d": [4]}.items():
        np.testing.assert_allclose(table.loc[prompt, "consistency"], consistency(counts))
        np.testing.assert_allclose(table.loc[prompt, "entropy"], entropy_process(counts, 1.5))
    assert table["mean"].tolist() == pytest.approx([3 / 5.5, 1.5 / 5.5 / 2.5, 1.5 / 5.5 / 2.5, 4 / 5.5])
    expected = stats.beta(3, 2.5).ppf([0.025, 0.975])
    np.testing.assert_allclose(table.loc["a", ["lower", "upper"]].astype(float), expected, atol=0.03)
    assert table.loc["c", "not_extracted"] == 1 and table.loc["c", "distinct"] == 3
    assert table.loc["b", "modal_answer"] == "3" and not table.loc["b", "modal_correct"]


def test_suspect_probabilities_are_those_of_direct_draws():
    """Dir(n, γ) by hand, the unseen part broken into sticks one after the other."""
    table = be.data_map(outcomes(SMALL)).to_frame().set_index("prompt")
    rng = np.random.default_rng(5)
    low = dominant = 0
    draws = 20_000
    for share in rng.dirichlet([4, 1], draws):  # prompt b: gold never given
        sticks, left = [], share[1]
        while left > 1e-9:
            sticks.append(left * rng.random())
            left -= sticks[-1]
        parts = np.array([share[0], *sticks, left])
        parts = parts[parts > 0]
        low += (sticks[0] <= 0.1) and -(parts * np.log(parts)).sum() <= 0.8
        dominant += share[0] - sticks[0] > 0.5
    for name, count in (("low_and_consistent", low), ("dominant_wrong", dominant)):
        p = count / draws
        assert abs(table.loc["b", name] - p) < 4 * np.sqrt(p * (1 - p) * (1 / draws + 1 / 4000))


def test_order_and_labels_do_not_matter():
    base = be.data_map(outcomes(SMALL), seed=3)
    mixed = SMALL.sample(frac=1, random_state=2)
    mixed["generation"] = mixed.groupby("prompt").cumcount()
    other = be.data_map(outcomes(mixed), seed=3)
    names = ["mean", "lower", "upper", "entropy_upper", "low_and_consistent", "dominant_wrong"]
    first, second = (found.to_frame().set_index("prompt").sort_index()[names] for found in (base, other))
    pd.testing.assert_frame_equal(first, second)
    relabelled = SMALL.replace({column: {"1": "x", "2": "y", "3": "z"} for column in ("answer", "gold")})
    third = be.data_map(outcomes(relabelled), seed=3)
    pd.testing.assert_frame_equal(first, third.to_frame().set_index("prompt").sort_index()[names])
    pair = [found.prompts.set_index("prompt")["probability"].sort_index() for found in (base, other)]
    pd.testing.assert_series_equal(*pair)


def test_the_published_rule_is_its_two_cuts():
    found = be.data_map(outcomes(SMALL))
    assert found.published_rule()["prompt"].tolist() == ["b"]
    half = rows({"h": ["1"] * 25 + ["2"] * 25}, {"h": "3"})
    assert be.data_map(outcomes(half)).published_rule()["prompt"].tolist() == ["h"]  # any split over two passes


def test_correct_that_does_not_follow_from_the_answer_has_a_posterior_of_its_own():
    judged = rows({"a": ["1"] * 6}, {"a": "1"}, correct={"a": [1, 1, 0, 1, 0, 1]})
    found = be.data_map(outcomes(judged))
    row = found.to_frame().iloc[0]
    assert row["judged"] and any("independent" in note for note in found.notes)
    np.testing.assert_allclose(row["mean"], 4.5 / 7)
    np.testing.assert_allclose(
        row[["lower", "upper"]].astype(float), stats.beta(4.5, 2.5).ppf([0.025, 0.975]), atol=0.03
    )


# wrong gold answers ---------------------------------------------------------------------------------------------------


def test_planted_wrong_gold_answers_come_first():
    frame, bad = simulated(300, seed=1)
    found = be.data_map(outcomes(frame))
    ranked = found.suspects().to_frame()
    first = ranked["prompt"].isin(bad).to_numpy()
    assert first[: len(bad)].mean() > 0.5 > 5 * len(bad) / 300  # chance would find 5%
    caught = ranked.head(len(bad))[first[: len(bad)]]
    assert (caught["suspected_answer"] == "0").mean() > 0.8
    assert len(found.suspects(top=4)) == 4
    assert (found.suspects(at_least=0.2).to_frame()["probability"] >= 0.2).all()


def test_probabilities_of_planted_ones_are_calibrated():
    """Where the model's assumptions hold roughly and as many are wrong as it believes, it expects what there is."""
    expected, seen, size = 0.0, 0, 0
    for seed in range(4):
        frame, bad = simulated(200, seed=10 + seed, systems=1, share=RATE)
        ranked = be.data_map(outcomes(frame)).suspects(top=20).to_frame()
        expected += ranked["probability"].sum()
        seen += int(ranked["prompt"].isin(bad).sum())
        size += 20
    assert abs(seen - expected) < 4 * np.sqrt(expected * (1 - expected / size)) + 0.25 * expected


def test_systems_that_agree_on_a_wrong_answer_say_more_than_one_system_and_than_disagreement():
    good = {f"g{i}": ["1"] * 5 + ["2"] * (i % 2) for i in range(60)}
    gold = {name: "1" for name in good} | {"x": "9", "y": "9"}
    frames = [rows(good | {"x": ["3"] * 5, "y": [answer] * 5}, gold, name) for name, answer in (("A", "4"), ("B", "5"))]
    both = be.data_map(outcomes(*frames)).prompts.set_index("prompt")["probability"]
    alone = be.data_map(outcomes(frames[0])).prompts.set_index("prompt")["probability"]
    assert both["x"] > alone["x"] and both["x"] > both["y"]


def test_mislabelling_does_not_know_the_order_of_prompts_clusters_or_systems():
    rng = np.random.default_rng(4)
    counts, prompt = rng.integers(0, 5, (90, 2)), np.repeat(np.arange(30), 3)
    right, group, many = np.tile([True, False, False], 30), np.arange(30) % 2, np.full(30, 9)
    base = mislabelled(counts, prompt, right, group, many).probability
    order = rng.permutation(90)
    mixed = mislabelled(counts[order][:, ::-1], prompt[order], right[order], group, many).probability
    np.testing.assert_allclose(mixed, base, atol=1e-9)
    turned = mislabelled(counts, 29 - prompt, right, group[::-1], many).probability[::-1]
    np.testing.assert_allclose(turned, base, atol=1e-9)


def test_a_larger_share_before_looking_gives_larger_probabilities():
    data = outcomes(simulated(80, seed=2)[0])
    low, high = (be.data_map(data, rate=rate).prompts["probability"].to_numpy() for rate in (0.01, 0.1))
    odds = [p / (1 - p) for p in (np.clip(low, 1e-12, 1 - 1e-9), np.clip(high, 1e-12, 1 - 1e-9))]
    np.testing.assert_allclose(odds[1] / odds[0], (0.1 / 0.9) / (0.01 / 0.99), rtol=1e-4)


def test_kinds_of_trouble_are_told_apart():
    gold = {"grader": "1", "two": "1", "hard": "1", "none": "1", "fine": "1"}
    answers = {
        "grader": ["1"] * 8, "two": ["1"] * 4 + ["2"] * 4, "hard": list("23456789"),
        "none": [None] * 6 + ["1", "2"], "fine": ["1"] * 8,
    }  # fmt: skip
    frame = rows(answers, gold)
    frame.loc[frame["prompt"] == "grader", "correct"] = 0.0
    easy = rows({f"g{i}": ["1"] * 8 for i in range(40)}, {f"g{i}": "1" for i in range(40)})
    found = be.data_map(outcomes(frame, easy))
    kinds = found.prompts.set_index("prompt")["kind"]
    assert kinds["grader"] == "grader failure" and kinds["two"] == "ambiguous" and kinds["none"] == "no answers"
    assert kinds["hard"] in ("too hard", "wrong gold") and kinds["fine"] == "none"
    assert any("look at the grader" in note for note in found.notes)


# bad input ------------------------------------------------------------------------------------------------------------


def test_what_cannot_be_mapped_is_refused_with_what_to_do():
    with pytest.raises(be.BayesevalError, match="answer="):
        be.data_map(be.Outcomes.from_matrix([[1, 0]]))
    with pytest.raises(be.BayesevalError, match="kind='outcomes'"):
        be.data_map(be.Counts.from_arrays([1], [2]))
    with pytest.raises(be.BayesevalError, match="none of the 2 generations has an answer"):
        be.data_map(outcomes(rows({"a": ["", None]}, {"a": "1"})))
    without = rows({"a": ["1", "2"]}, {"a": "1"}, correct={"a": [np.nan, np.nan]}).drop(columns="gold")
    with pytest.raises(be.BayesevalError, match="neither scores nor a gold"):
        be.data_map(outcomes(without))
    twice = SMALL.assign(gold=[str(i) for i in range(len(SMALL))])
    with pytest.raises(be.BayesevalError, match="several gold answers"):
        be.data_map(outcomes(twice))
    data = outcomes(SMALL)
    for options in ({"gamma": 0}, {"rate": 1}, {"prob": 2}, {"seed": -1}, {"not_extracted": "-"}):
        with pytest.raises(be.BayesevalError):
            be.data_map(data, **options)
    with pytest.raises(be.BayesevalError, match="between 0 and 1"):
        be.data_map(data).suspects(at_least=3)


def test_without_gold_answers_the_scores_say_what_is_right_and_the_map_says_what_it_lacks():
    bare = outcomes(SMALL.drop(columns="gold"))
    found = be.data_map(bare)
    assert any("no gold answers are known" in note for note in found.notes)
    np.testing.assert_allclose(found.to_frame()["mean"], be.data_map(outcomes(SMALL)).to_frame()["mean"])
    given = be.data_map(bare, gold={"a": "1", "b": "7", "c": "9", ("sums", "d"): "5"})
    assert given.prompts["gold"].tolist() == ["1", "7", "9", "5"] and not any("no gold" in n for n in given.notes)


def test_gold_answers_alone_are_enough():
    unscored = SMALL.assign(correct=np.nan)
    pd.testing.assert_series_equal(
        be.data_map(outcomes(unscored)).to_frame()["mean"], be.data_map(outcomes(SMALL)).to_frame()["mean"]
    )


def test_single_generations_say_what_cannot_be_known():
    frame = rows({f"q{i}": ["2" if i == 3 else "1"] for i in range(40)}, {f"q{i}": "1" for i in range(40)})
    found = be.data_map(outcomes(frame))
    assert any("a single generation" in note and "cannot be known" in note for note in found.notes)
    assert found.to_frame()["normalised"].isna().all()
    assert found.prompts.set_index("prompt").loc["q3", "kind"] == "one generation"


NASTY = ["<script>alert(1)</script>", "$\\frac{1}{2}$", "\x1b[31mred\x00", "x" * 5000, "\u202eright to left"]


def test_answers_are_shown_without_harm():
    frame = rows({"<b>p</b>": NASTY, "q": ["1"] * 5}, {"<b>p</b>": "<img src=x>", "q": "1"})
    found = be.data_map(outcomes(frame))
    for thing in (found, found.suspects()):
        page, text = thing._repr_html_(), repr(thing)
        assert "<script>" not in page and "<img" not in page and "<b>p" not in page
        assert "mathjax_ignore" in page and "xxxxx" * 60 not in page
        assert "\x1b" not in page + text and "\x00" not in page + text and "\u202e" not in page + text


# what the page shows --------------------------------------------------------------------------------------------------


def test_the_ranking_is_better_than_the_published_rule_on_average():
    path = Path(__file__).resolve().parents[1] / "docs" / "data-map" / "planted.json"
    table = pd.DataFrame(json.loads(path.read_text(encoding="utf-8"))["rows"])
    assert set(table["data"]) == {"aime24-50", "reasoning-gym-easy", "llm-stability-strict", "coupled-mmlu"}
    assert not table.duplicated(["data", "seed", "system"]).any()
    assert (table.groupby("data")["seed"].nunique() >= 3).all()
    flagged = table[table["flags"] > 0]
    for what in ("precision", "recall", "top"):
        part = table if what == "top" else flagged
        by_data = part.groupby("data")[[f"{what}_rule", f"{what}_ranking"]].mean()
        assert part[f"{what}_ranking"].mean() > part[f"{what}_rule"].mean()
        assert by_data[f"{what}_ranking"].mean() > by_data[f"{what}_rule"].mean()
    hits = flagged["precision_ranking"] * flagged["flags"]
    np.testing.assert_allclose(hits, flagged["recall_ranking"] * flagged["planted"], rtol=2e-3, atol=0.02)


def test_fourteen_thousand_prompts_are_mapped_in_seconds():
    """The same counts as MMLU: 14,042 prompts, ten letters each; a busy machine gets three times the promise."""
    import time

    rng = np.random.default_rng(0)
    answers = np.array(list("ABCD"), dtype=object)[rng.integers(0, 4, (14_042, 10)) * (rng.random((14_042, 1)) < 0.6)]
    size = answers.size
    data = be.Outcomes(
        system=np.full(size, "A", dtype=object), benchmark=np.full(size, "letters", dtype=object),
        prompt=np.repeat(np.arange(14_042).astype(str).astype(object), 10), generation=np.tile(np.arange(10), 14_042),
        correct=(answers == "A").ravel().astype(float), answer=answers.ravel(), gold=np.full(size, "A", dtype=object),
    )  # fmt: skip
    start = time.perf_counter()
    found = be.data_map(data)
    assert time.perf_counter() - start < 30 and len(found.to_frame()) == 14_042


# figure and command ---------------------------------------------------------------------------------------------------


def test_figure_shows_every_prompt_at_its_share_and_consistency():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = be.data_map(outcomes(SMALL))
    ax = found.plot(label=2)
    (dots,) = [item for item in ax.collections if hasattr(item, "get_offsets") and len(item.get_offsets()) == 4]
    table = found.to_frame()
    expected = np.column_stack([table["correct"] / table["generations"], table["consistency"]])
    np.testing.assert_allclose(
        np.sort(np.asarray(dots.get_offsets()), axis=0), np.sort(expected.astype(float), axis=0), atol=1e-5
    )
    assert len(ax.texts) >= 1 and "published rule" in str([text.get_text() for text in ax.get_legend().get_texts()])
    with pytest.raises(be.BayesevalError, match="no system 'Z'"):
        found.plot(system="Z")
    many = be.data_map(outcomes(*(rows({"a": ["1", "2"]}, {"a": "1"}, name) for name in "ABCDEF")))
    many.plot()
    pyplot.close("all")


def test_command_prints_the_suspects_of_the_function(tmp_path):
    frame, _ = simulated(40, seed=3)
    source = tmp_path / "answers.csv"
    frame.to_csv(source, index=False)
    found = be.data_map(be.read(source, quiet=True), seed=2).suspects(top=5)
    result = run("map", source, "--top", 5, "--seed", 2, "-q", "--figure", tmp_path / "map.png")
    assert result.exit_code == 0 and found.sentence() in result.stdout and (tmp_path / "map.png").stat().st_size > 1000
    entry = document(run("map", source, "--seed", 2, "-q", "--json"))["maps"][0]
    assert [one["prompt"] for one in entry["prompts"][:5]] == found.to_frame()["prompt"].tolist()
    assert len(entry["rows"]) == 80 and entry["systems"] == ["S0", "S1"]
    assert "--equivalence" in complaint(run("map", source, "--equivalence", "fuzzy", "-q"))
    assert "answer=" in complaint(run("map", source, "--column", "answer=", "-q"))
