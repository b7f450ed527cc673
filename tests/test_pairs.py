"""Pairs: alignment by prompt and by generation, what is left out and said, refusals, and tables by brute force."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeseval as be
from bayeseval.errors import DataError, OptionError
from bayeseval.pairs import common_prompts, listed, pair_tables


def outcomes(rows: list[tuple[Any, Any, float]], system: str, **more: Any) -> be.Outcomes:
    """Outcomes of one system from (prompt, generation, correct)."""
    frame = pd.DataFrame(rows, columns=["prompt", "generation", "correct"]).assign(
        system=system, benchmark="sums", **more
    )
    return be.Outcomes.from_frame(frame, quiet=True)


def counts(c: list[int], k: Any, prompts: list[str], system: str, benchmark: str = "sums") -> be.Counts:
    return be.Counts.from_arrays(c, k, prompt=prompts, system=system, benchmark=benchmark)


def test_prompts_are_aligned_by_id_whatever_their_order() -> None:
    pairs = be.Pairs.of(counts([1, 2, 3], 4, ["x", "y", "z"], "a"), counts([4, 0, 1], 4, ["z", "x", "y"], "b"))
    assert pairs.prompt.tolist() == ["x", "y", "z"]
    assert pairs.correct.tolist() == [[1, 2, 3], [0, 1, 4]]
    assert not pairs.coupled and not pairs.warnings


def test_unmatched_prompts_are_left_out_and_named() -> None:
    pairs = be.Pairs.of(counts([1, 2, 3], 4, ["x", "y", "z"], "a"), counts([4, 0], 4, ["z", "w"], "b"))
    assert pairs.prompt.tolist() == ["z"]
    assert pairs.warnings == (
        "2 prompts of a have no partner and are left out: 'x', 'y'",
        "1 prompt of b have no partner and are left out: 'w'",
    )


def test_prompts_without_a_scored_generation_are_left_out_and_said() -> None:
    pairs = be.Pairs.of(counts([1, 0], [4, 0], ["x", "y"], "a"), counts([4, 1], 4, ["x", "y"], "b"))
    assert pairs.prompt.tolist() == ["x"]
    assert any("1 prompt of a without a scored generation" in text for text in pairs.warnings)


def test_generations_may_differ_in_number_where_they_are_independent() -> None:
    pairs = be.Pairs.of(counts([1, 2], [3, 4], ["x", "y"], "a"), counts([4, 1], [5, 1], ["x", "y"], "b"))
    assert pairs.generations.tolist() == [[3, 4], [5, 1]]
    with pytest.raises(DataError, match="independent, so no two of them belong together"):
        _ = pairs.tables


@pytest.mark.parametrize("form", [int, str], ids=["numbers", "texts"])
def test_generations_are_matched_by_their_text(form: Any) -> None:
    a = outcomes([("x", 0, 1), ("x", 1, 0), ("x", 2, 1)], "a")
    b = outcomes([("x", form(2), 0), ("x", form(0), 1), ("x", form(1), 1)], "b")
    # 0: both, 1: only b, 2: only a
    assert be.Pairs.of(a, b, coupled=True).tables.tolist() == [[1, 1, 1, 0]]


def test_coupled_tables_equal_brute_force_with_holes_and_another_order() -> None:
    rng = np.random.default_rng(7)
    rows = {name: [] for name in "ab"}
    for prompt in range(12):
        for generation in range(6):
            for name in "ab":
                if rng.random() < 0.8:
                    score = np.nan if rng.random() < 0.1 else float(rng.random() < 0.5)
                    rows[name].append((f"p{prompt}", generation, score))
    for name in "ab":
        rng.shuffle(rows[name])
    a, b = (outcomes(rows[name], name) for name in "ab")
    known = [{(p, g): s for p, g, s in rows[name] if s == s} for name in "ab"]
    want: dict[str, Counter[tuple[float, float]]] = {}
    for key in known[0].keys() & known[1].keys():
        want.setdefault(key[0], Counter())[known[0][key], known[1][key]] += 1
    prompts, tables, warnings = pair_tables(a, b)
    assert set(prompts) == want.keys()
    for prompt, table in zip(prompts, tables, strict=True):
        assert table.tolist() == [want[prompt][cell] for cell in ((1, 1), (1, 0), (0, 1), (0, 0))]
    alone = len(known[0]) + len(known[1]) - 2 * len(known[0].keys() & known[1].keys())
    assert warnings == (f"{alone:,} generations of the coupled outcomes have no partner and are left out",)


def test_swapping_exchanges_the_systems_and_the_discordant_pairs() -> None:
    pairs = be.Pairs(("a", "b"), "sums", ["1", "2"], [[3, 0], [4, 1]], [[4, 4], [4, 4]], both=[3, 0])
    other = pairs.swapped()
    assert other.systems == ("b", "a")
    assert other.tables.tolist() == pairs.tables[:, [0, 2, 1, 3]].tolist()
    assert other.swapped().tables.tolist() == pairs.tables.tolist()


def test_taking_some_prompts_takes_their_groups_and_tables() -> None:
    a = outcomes([("x", 0, 1), ("y", 0, 0)], "a", group=["g", "h"])
    b = outcomes([("x", 0, 0), ("y", 0, 0)], "b", group=["g", "h"])
    part = be.Pairs.of(a, b, coupled=True).take([1])
    assert part.prompt.tolist() == ["y"] and part.group is not None and part.group.tolist() == ["h"]
    assert part.tables.tolist() == [[0, 0, 0, 1]]


def test_the_frame_has_a_row_for_every_prompt() -> None:
    pairs = be.Pairs(("a", "b"), "sums", ["1", "2"], [[3, 0], [4, 1]], [[4, 4], [4, 4]], both=[3, 0])
    frame = pairs.to_frame()
    assert list(frame.columns) == ["prompt", "generations_a", "correct_a", "generations_b", "correct_b", "both"]
    assert frame["both"].tolist() == [3, 0]
    assert "8 coupled generations" in repr(pairs) and "<table>" in pairs._repr_html_()


@pytest.mark.parametrize(
    ("both", "message"),
    [([4, 0], "must be between"), ([1, 0], "must be between"), ([3], "must be between")],
    ids=["more than a has", "fewer than the counts need", "too short"],
)
def test_impossible_tables_are_refused(both: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        be.Pairs(("a", "b"), "sums", ["1", "2"], [[3, 0], [3, 1]], [[4, 4], [4, 4]], both=both)


def test_pairs_that_cannot_be_are_refused_in_sentences() -> None:
    one = counts([1], 4, ["x"], "a")
    with pytest.raises(DataError, match="'a' was given twice"):
        be.Pairs.of(one, one)
    with pytest.raises(DataError, match="their benchmarks are 'sums' and 'other'"):
        be.Pairs.of(one, counts([1], 4, ["x"], "b", "other"))
    with pytest.raises(DataError, match="no prompt was answered by all of a, b"):
        be.Pairs.of(one, counts([1], 4, ["y"], "b"))
    with pytest.raises(OptionError, match="give the Outcomes of both"):
        be.Pairs.of(one, counts([1], 4, ["x"], "b"), coupled=True)
    with pytest.raises(OptionError, match="Counts or Outcomes of one run each"):
        be.Pairs.of(one, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="unequal numbers"):
        be.Pairs(("a", "b"), "sums", ["1"], [[1], [1]], [[4], [3]], both=[1])
    with pytest.raises(DataError, match="no prompt that both systems answered"):
        be.Pairs(("a", "b"), "sums", [], np.zeros((2, 0)), np.zeros((2, 0)))
    with pytest.raises(DataError, match="has a partner"):
        pair_tables(outcomes([("x", 0, 1)], "a"), outcomes([("x", 1, 1)], "b"))


def test_common_prompts_of_many_keep_the_order_of_the_first() -> None:
    ids, place, said = common_prompts(
        [np.array(list("cab")), np.array(list("abc")), np.array(list("bcd"))], ("one", "two", "three")
    )
    assert ids.tolist() == ["c", "b"]
    assert place.tolist() == [[0, 2], [2, 1], [1, 0]]
    assert len(said) == 3
    assert listed([str(i) for i in range(7)]).endswith("'4' and 2 more")
