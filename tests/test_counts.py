"""Counts: what is accepted, what is refused and how it is said, and what never changes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeseval.counts import Counts
from bayeseval.errors import DataError, OptionError

TABLE = {
    "model": ["a", "a", "b", "b"],
    "task": ["sums"] * 4,
    "question_id": ["007", "7", "007", "7"],
    "n": [4, 5, 4, 0],
    "c": [1, 5, 0, 0],
}


def frame(**changes: object) -> pd.DataFrame:
    return pd.DataFrame({**TABLE, **changes})


def counts() -> Counts:
    return Counts.from_frame(frame(), quiet=True)


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[str, str, str, int, int]]:
    """Rows (system, benchmark, prompt, generations, correct) with unique keys."""
    names = st.text(min_size=1, max_size=3).filter(lambda text: text.strip() != "")
    keys = draw(st.lists(st.tuples(names, names, names), min_size=1, max_size=12, unique=True))
    totals = [draw(st.integers(0, 10_000)) for _ in keys]
    return [(*key, total, draw(st.integers(0, total))) for key, total in zip(keys, totals, strict=True)]


def from_rows(rows: list[tuple[str, str, str, int, int]]) -> Counts:
    system, benchmark, prompt, generations, correct = (list(column) for column in zip(*rows, strict=True))
    return Counts.from_arrays(correct, generations, prompt=prompt, system=system, benchmark=benchmark)


# What is read


def test_ids_keep_their_text() -> None:
    assert counts().prompt.tolist() == ["007", "7", "007", "7"]


@pytest.mark.parametrize(
    ("ids", "texts"),
    [
        ([1, 2], ["1", "2"]),
        ([1.0, 2.0], ["1", "2"]),
        (np.array([1, 2], dtype=np.uint8), ["1", "2"]),
        (np.array([0.1, 0.3], dtype=np.float32), ["0.1", "0.3"]),
        (["1", "1.0"], ["1", "1.0"]),
        ([" 1", "1"], [" 1", "1"]),
        (pd.Categorical(["x", "y"]), ["x", "y"]),
        (pd.to_datetime(["2024-01-01", "2024-01-02"]), ["2024-01-01 00:00:00", "2024-01-02 00:00:00"]),
    ],
)
def test_ids_of_one_type_become_their_text(ids: object, texts: list[str]) -> None:
    rows = pd.DataFrame({"prompt_id": ids, "n": [1, 1], "c": [0, 1]})
    assert Counts.from_frame(rows, quiet=True).prompt.tolist() == texts


def test_every_kind_of_frame_gives_the_same_counts() -> None:
    kinds = [frame(), pl.DataFrame(TABLE), pl.DataFrame(TABLE).lazy(), pa.table(TABLE)]
    assert len({Counts.from_frame(kind, quiet=True).fingerprint for kind in kinds}) == 1


def test_a_named_index_of_pandas_is_a_column() -> None:
    assert Counts.from_frame(frame().set_index(["model", "question_id"]), quiet=True) == counts()


def test_a_condition_can_be_part_of_the_key() -> None:
    twice = pd.concat([frame(condition="hot"), frame(condition="cold")])
    with pytest.raises(DataError, match=r"rows 0 and 4 .* benchmark=\['task', 'condition'\]"):
        Counts.from_frame(twice, quiet=True)
    joined = Counts.from_frame(twice, benchmark=["task", "condition"], quiet=True)
    assert joined.run_names == (("a", "sums:hot"), ("b", "sums:hot"), ("a", "sums:cold"), ("b", "sums:cold"))


def test_joining_columns_never_merges_two_keys() -> None:
    rows = pd.DataFrame({"x": ["a:b", "a"], "y": ["c", "b:c"], "prompt_id": [1, 2], "n": [1, 1], "c": [0, 1]})
    with pytest.raises(DataError, match="'a:b:c' for two different rows"):
        Counts.from_frame(rows, benchmark=["x", "y"], quiet=True)


def test_missing_system_and_benchmark_and_prompt_are_named_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    made = Counts.from_frame(pd.DataFrame({"n": [3, 3], "c": [1, 2]}))
    assert made.run_names == (("system", "benchmark"),)
    assert made.prompt.tolist() == ["row0", "row1"]
    said = capsys.readouterr().err
    assert "no column names the system" in said
    assert "no column names the benchmark" in said
    assert "no column names the prompts" in said


def test_guesses_are_printed_to_standard_error_and_can_be_silenced(capsys: pytest.CaptureFixture[str]) -> None:
    Counts.from_frame(frame(), quiet=True)
    assert capsys.readouterr() == ("", "")
    Counts.from_frame(frame())
    said = capsys.readouterr()
    assert said.out == ""
    assert "prompt = 'question_id'" in said.err


def test_every_guess_can_be_overridden() -> None:
    rows = frame(wrong=[3, 0, 4, 0], total=[9, 9, 9, 9], other=list("wxyz"))
    made = Counts.from_frame(rows, correct="wrong", generations="total", prompt="other", system="task", quiet=True)
    assert made.correct.tolist() == [3, 0, 4, 0]
    assert made.generations.tolist() == [9] * 4
    assert made.prompt.tolist() == list("wxyz")
    assert set(made.system) == {"sums"}


def test_prompts_without_generations_are_legal() -> None:
    assert counts().generations.min() == 0
    assert Counts.from_arrays([0, 0], [0, 0]).n_generations == 0


def test_k_is_the_number_of_generations_unless_it_contradicts_the_counts() -> None:
    rows = frame(k=[1, 1, 1, 1])
    assert Counts.from_frame(rows, quiet=True).generations.tolist() == TABLE["n"]
    only_k = frame().rename(columns={"n": "k"})
    assert Counts.from_frame(only_k, quiet=True) == counts()
    with pytest.raises(DataError, match="both 'n' and 'k'"):
        Counts.from_frame(frame(k=[8, 8, 8, 8]), quiet=True)


# What is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"c": [1, 6, 0, 0]}, r"row 1 .*prompt '7': 6 correct out of 5 .*cannot exceed"),
        ({"c": [1, -1, 0, 0]}, r"row 1 .*prompt '7'.* -1; it cannot be negative"),
        ({"n": [4, 5, 4, -2]}, r"row 3 .* -2; it cannot be negative"),
        ({"c": [1, 0.5, 0, 0]}, r"row 1 .* 0.5, a fraction where a count belongs"),
        ({"c": [1, float("nan"), 0, 0]}, r"row 1 .*has no correct count"),
        ({"c": [1, None, 0, 0]}, r"row 1 .*has no correct count"),
        ({"c": ["1", "", "0", "0"]}, r"row 1 .*has no correct count"),
        ({"c": ["1", "two", "0", "0"]}, r"row 1 .*'two', which is not a count"),
        ({"c": [1, float("inf"), 0, 0]}, r"row 1 .*inf, which is not a count"),
        ({"question_id": ["x", "x", "x", "y"]}, r"rows 0 and 1 .*system 'a', benchmark 'sums', prompt 'x'"),
        ({"question_id": ["x", " ", "x", "y"]}, r"row 1 .*has no prompt id"),
        ({"question_id": [1.0, float("nan"), 1.0, 2.0]}, r"row 1 .*has no prompt id"),
        ({"question_id": [1, "1", 1, "1"]}, r"mixes types: row 0 .*1 \(whole number\); row 1 .*'1' \(text\)"),
        ({"question_id": [True, 1, 2, 3]}, "mixes types"),
        ({"model": ["a", None, "b", "b"]}, r"row 1 .*has no system id.*system=False"),
        ({"group": ["x", None, "x", "y"]}, r"row 1 .*has no group id.*group=False"),
        ({"group": ["x", "", "x", "y"]}, r"row 1 .*has no group id"),
        ({"group": [1.0, float("nan"), 1.0, 2.0]}, r"row 1 .*has no group id"),
    ],
)
def test_bad_columns_are_refused_with_row_and_prompt(changes: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Counts.from_frame(frame(**changes), quiet=True)


@pytest.mark.parametrize("kinds", [[1, "1"], [1, True], ["1", 1.0], [1, 1.0], [1, "1", True, 1.0]])
def test_ids_of_mixed_types_are_refused(kinds: list[object]) -> None:
    ones = [1] * len(kinds)
    with pytest.raises(DataError, match="mixes types"):
        Counts.from_frame(pd.DataFrame({"id": pd.Series(kinds, dtype=object), "n": ones, "c": ones}), quiet=True)
    with pytest.raises(DataError, match="mixes types"):
        Counts.from_arrays(ones, ones, prompt=kinds)


def test_groups_can_be_left_out() -> None:
    assert Counts.from_frame(frame(group=["x", None, "x", "y"]), group=False, quiet=True).group is None


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(DataError, match="no rows"):
        Counts.from_frame(frame().iloc[:0], quiet=True)
    with pytest.raises(DataError, match="nothing to estimate"):
        Counts.from_arrays([], [])


def test_unknown_columns_list_what_is_there_and_what_was_looked_for() -> None:
    with pytest.raises(DataError, match=r"no column 'questionid' \(did you mean 'question_id'\?\).*'model', 'task'"):
        Counts.from_frame(frame(), prompt="questionid")
    with pytest.raises(DataError, match=r"no column for generations: it has 'x'; looked for .*num_samples"):
        Counts.from_frame(pd.DataFrame({"x": [1]}))
    with pytest.raises(DataError, match=r"Outcomes\.from_frame"):
        Counts.from_frame(pd.DataFrame({"id": [1], "correct": [1]}))


def test_a_value_that_is_no_frame_is_refused() -> None:
    with pytest.raises(DataError, match="from_matrix"):
        Counts.from_frame([[1, 0]])


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(DataError, match="two columns of the data frame are named 'n'"):
        Counts.from_frame(pd.DataFrame([[1, 2, 3]], columns=["n", "n", "c"]))


@pytest.mark.parametrize(
    ("correct", "generations"),
    [([1, 2], [3]), ([[1]], [[2]]), ([3], [2]), (np.ma.array([1, 2], mask=[False, True]), [3, 3]), ([None], [1])],
)
def test_bad_arrays_are_refused(correct: object, generations: object) -> None:
    with pytest.raises(DataError):
        Counts.from_arrays(correct, generations)  # type: ignore[arg-type]


# What it is


def test_columns_cannot_be_changed() -> None:
    made = counts()
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.correct = made.generations  # type: ignore[misc]
    for name in ("system", "prompt", "generations", "correct"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(made, name)[0] = getattr(made, name)[1]


def test_changing_the_source_does_not_change_the_counts() -> None:
    correct, generations = np.array([1, 2]), np.array([3, 3])
    made = Counts.from_arrays(correct, generations)
    correct[0] = generations[0] = 0
    assert (made.correct[0], made.generations[0]) == (1, 3)


@given(tables(), st.randoms())
def test_order_of_rows_changes_neither_fingerprint_nor_equality(
    rows: list[tuple[str, str, str, int, int]], shuffler
) -> None:  # type: ignore[no-untyped-def]  # noqa: E501
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    one, two = from_rows(rows), from_rows(shuffled)
    assert one.fingerprint == two.fingerprint
    assert one == two
    assert hash(one) == hash(two)


@given(tables())
def test_any_change_of_content_changes_the_fingerprint(rows: list[tuple[str, str, str, int, int]]) -> None:
    system, benchmark, prompt, generations, correct = rows[0]
    changed = [(system, benchmark, prompt, generations + 1, correct), *rows[1:]]
    renamed = [(system + "'", benchmark, prompt, generations, correct), *rows[1:]]
    prints = {from_rows(version).fingerprint for version in (rows, changed, renamed)}
    assert len(prints) == 3


@given(tables())
def test_frames_round_trip(rows: list[tuple[str, str, str, int, int]]) -> None:
    made = from_rows(rows)
    assert Counts.from_frame(made.to_frame(), quiet=True) == made
    assert list(made.to_frame().columns) == ["system", "benchmark", "prompt", "generations", "correct"]


def test_its_own_frame_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Counts.from_frame(counts().to_frame())
    assert capsys.readouterr().err == ""


@given(tables())
def test_runs_take_the_counts_apart_and_concat_puts_them_together(rows: list[tuple[str, str, str, int, int]]) -> None:
    made = from_rows(rows)
    runs = made.runs()
    assert [run.run_names for run in runs] == [(name,) for name in made.run_names]
    assert list(made.run_names) == list(dict.fromkeys((row[0], row[1]) for row in rows))
    assert sum(run.n_generations for run in runs) == made.n_generations
    assert Counts.concat(runs) == made


def test_concat_refuses_a_prompt_that_is_there_twice_and_names_both() -> None:
    made = counts()
    with pytest.raises(DataError, match=r"row 0 of part 1 .* and row 0 of part 2 .*prompt '007'"):
        Counts.concat([made, made])
    with pytest.raises(DataError, match="nothing to join"):
        Counts.concat([])


def test_select_keeps_rows_and_refuses_unknown_names() -> None:
    made = counts()
    assert made.select(system="b").run_names == (("b", "sums"),)
    assert made.select(system=["a", "b"], benchmark="sums") == made
    with pytest.raises(OptionError, match="no system 'c'; there are 'a', 'b'"):
        made.select(system="c")


def test_label_and_repr_are_sentences() -> None:
    made = counts()
    assert made.runs()[0].label == "a on sums"
    assert repr(made) == ("Counts: 2 systems x 1 benchmark, 4 prompts, 13 generations, between 0 and 5 to each prompt")
    assert repr(Counts.from_arrays([1], [1])) == "Counts: system on benchmark, 1 prompt, 1 generation, 1 to each prompt"


def test_html_escapes_what_came_from_outside() -> None:
    html = Counts.from_arrays([1], [2], system="<script>alert(1)</script>", benchmark="a&b")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a&amp;b" in html


# Matrices


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, float("nan")]), min_size=3, max_size=3), min_size=1, max_size=8),
)
def test_matrix_counts_what_is_there(cells: list[list[float]]) -> None:
    made = Counts.from_matrix(cells)
    assert made.generations.tolist() == [sum(cell == cell for cell in row) for row in cells]
    assert made.correct.tolist() == [sum(cell == 1 for cell in row) for row in cells]


def test_missing_cells_may_be_nan_none_masked_or_left_out() -> None:
    masked = np.ma.array([[1, 0, 1], [0, 1, 1]], mask=[[0, 0, 0], [0, 0, 1]])
    versions = [[[1, 0, 1], [0, 1, np.nan]], [[1, 0, 1], [0, 1, None]], [[1, 0, 1], [0, 1]], masked]
    assert len({Counts.from_matrix(version).fingerprint for version in versions}) == 1


def test_matrix_of_three_axes_holds_systems() -> None:
    cube = np.arange(12).reshape(2, 3, 2) % 2
    made = Counts.from_matrix(cube, system=["a", "b"], benchmark="sums", prompts=["x", "y", "z"])
    assert made.run_names == (("a", "sums"), ("b", "sums"))
    assert made == Counts.concat(
        [Counts.from_matrix(cube[i], system="ab"[i], benchmark="sums", prompts=["x", "y", "z"]) for i in (0, 1)]
    )


def test_rewards_are_not_summed_into_successes() -> None:
    """Cases 5 and 25: [.5, .5] is no success at threshold 1, and without a threshold it is refused."""
    with pytest.raises(DataError, match=r"prompt '0', generation 0.* 0\.5, neither 0 nor 1.*threshold="):
        Counts.from_matrix([[0.5, 0.5]])
    assert Counts.from_matrix([[0.5, 0.5]], threshold=1).correct.tolist() == [0]
    assert Counts.from_matrix([[0.5, 0.5]], threshold=0.5).correct.tolist() == [2]
    made = Counts.from_matrix([[1, 0, 0, 0], [1, 0, 0, 0]])
    assert (made.correct / made.generations).tolist() == [0.25, 0.25]


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        ([1, 0], {}, "one axis"),
        (np.ones((1, 1, 1, 1)), {}, "4 axes"),
        (np.ones((0, 3)), {}, "nothing to estimate"),
        (np.ones((2, 3)), {"prompts": ["a", "b", "c"]}, "2 prompts, but 3 ids.*turn the matrix round"),
        (np.ones((2, 3)), {"prompts": ["a", "a"]}, "both called 'a'"),
        (np.ones((2, 3, 4)), {"system": ["a"]}, "2 systems.*1 names"),
        (np.ones((2, 3, 4)), {"system": "a"}, "give a list of 2 names"),
        (np.ones((2, 3)), {"system": ["a", "b"]}, "two axes and so one system"),
        (np.ones((2, 3)), {"benchmark": " "}, "empty name"),
        ([[1, 2]], {}, "generation 1: the score is 2, neither 0 nor 1"),
        ([[1, -1]], {}, "the score is -1"),
        ([["C", "maybe"]], {}, "'maybe', which cannot be read"),
        ([[1], 2], {}, "not a matrix"),
    ],
)
def test_bad_matrices_are_refused(matrix: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Counts.from_matrix(matrix, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), "high", True])
def test_bad_thresholds_are_refused(threshold: object) -> None:
    with pytest.raises(OptionError, match="threshold must be a finite number"):
        Counts.from_matrix([[1]], threshold=threshold)  # type: ignore[arg-type]
