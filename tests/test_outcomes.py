"""Outcomes: what a score may be, what is not scored, and how outcomes become counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeseval.counts import Counts
from bayeseval.errors import DataError, OptionError
from bayeseval.outcomes import Outcomes

TABLE = {
    "model_name": ["a"] * 6,
    "dataset": ["sums"] * 6,
    "doc_id": [1, 1, 1, 2, 2, 3],
    "epoch": [1, 2, 3, 1, 2, 1],
    "is_correct": [True, False, None, True, True, None],
    "response": ["4", "5", "", "8", "8", "<b>"],
    "target": ["4", "4", "4", "8", "8", "9"],
    "subject": ["x", "x", "x", "x", "x", "y"],
}
NAN = float("nan")


def frame(**changes: object) -> pd.DataFrame:
    return pd.DataFrame({**TABLE, **changes})


def outcomes(**changes: object) -> Outcomes:
    return Outcomes.from_frame(frame(**changes), quiet=True)


def scored(values: object, **options: object) -> list[float]:
    rows = pd.DataFrame({"id": range(len(values)), "score": values})  # type: ignore[arg-type]
    return Outcomes.from_frame(rows, generation=False, quiet=True, **options).correct.tolist()  # type: ignore[arg-type]


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[str, str, str, int, float]]:
    """Rows (system, benchmark, prompt, generation, correct) with unique keys, in any order."""
    names = st.sampled_from(["a", "b", "07", "7"])
    keys = draw(st.lists(st.tuples(names, names, names, st.integers(0, 9)), min_size=1, max_size=40, unique=True))
    return [(*key, draw(st.sampled_from([0.0, 1.0, NAN]))) for key in keys]


def from_rows(rows: list[tuple[str, str, str, int, float]]) -> Outcomes:
    return Outcomes(*(np.array(column) for column in zip(*rows, strict=True)))  # type: ignore[arg-type]


# Scores


@pytest.mark.parametrize(
    "values",
    [
        [1, 0],
        [1.0, 0.0],
        [True, False],
        [np.bool_(True), np.bool_(False)],
        np.array([1, 0], dtype=np.int8),
        np.array([1, 0], dtype=np.float32),
        ["1", "0"],
        ["1.00", "0.0"],
        ["true", "FALSE"],
        ["C", "I"],
        ["c", "i"],
        ["pass", "Fail"],
        ["yes", "no"],
        ["Correct", "incorrect"],
        [True, 0],
        pd.array([True, False], dtype="boolean"),
        pd.array([1, 0], dtype="Int64"),
    ],
)
def test_right_and_wrong_have_many_spellings(values: object) -> None:
    assert scored(values) == [1.0, 0.0]


@pytest.mark.parametrize("nothing", [None, "", " ", "N", "nan", "null", "NaN", NAN, pd.NA])
def test_missing_is_not_wrong(nothing: object) -> None:
    for values in ([1, 0, nothing], ["1", "0", nothing]):
        read = scored(pd.Series(values, dtype=object))
        assert read[:2] == [1.0, 0.0]
        assert np.isnan(read[2])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 0.5], r"row 1 .*prompt '1'.* is 0\.5, neither 0 nor 1.*threshold="),
        ([1, 2.0], r"row 1 .* is 2\.0, neither"),
        ([1, -1], r"row 1 .* is -1, neither"),
        (["C", "P"], r"row 1 .* is 'P', neither"),
        (["1", "0.25"], r"row 1 .* is '0\.25', neither"),
        (["1", "maybe"], r"row 1 .* is 'maybe', which cannot be read"),
        ([1, float("inf")], r"row 1 .* is inf, which cannot be read"),
        ([[1], [0]], r"row 0 .* is \[1\], which cannot be read"),
        (["1_0", "0"], r"row 0 .*which cannot be read"),
    ],
)
def test_other_scores_are_refused_with_row_and_value(values: list[object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        scored(pd.Series(values, dtype=object))


def test_a_threshold_decides_and_the_scores_are_kept() -> None:
    rows = pd.DataFrame({"id": [1, 2, 3, 4, 5], "score": ["C", "P", "I", "0.7", None]})
    made = Outcomes.from_frame(rows, threshold=0.5, quiet=True)
    assert made.correct[:4].tolist() == [1, 1, 0, 1]
    assert made.score is not None
    assert made.score[:4].tolist() == [1, 0.5, 0, 0.7]
    assert np.isnan(made.correct[4])
    assert np.isnan(made.score[4])
    assert any("at least 0.5" in line for line in made.account)


def test_a_threshold_meets_scores_of_single_precision() -> None:
    """0.7 in single precision is a little below 0.7, and still reaches it."""
    assert scored(np.array([0.7, 0.69], dtype=np.float32), threshold=0.7) == [1.0, 0.0]


def test_unknown_words_are_refused_with_a_threshold_too() -> None:
    with pytest.raises(DataError, match="'maybe'"):
        scored(["1", "maybe"], threshold=0.5)


@pytest.mark.parametrize("threshold", [NAN, float("inf"), "0.5", False])
def test_bad_thresholds_are_refused(threshold: object) -> None:
    with pytest.raises(OptionError, match="threshold must be a finite number"):
        scored([1, 0], threshold=threshold)


# Columns


def test_common_spellings_are_guessed() -> None:
    made = outcomes()
    assert made.run_names == (("a", "sums"),)
    assert made.prompt.tolist() == ["1", "1", "1", "2", "2", "3"]
    assert made.generation.tolist() == TABLE["epoch"]
    assert made.answer is not None
    assert made.answer.tolist() == TABLE["response"]
    assert made.gold is not None
    assert made.gold.tolist() == TABLE["target"]
    assert made.group is not None


def test_names_match_whatever_their_case_and_hyphens() -> None:
    rows = frame().rename(columns={"model_name": "Model Name", "doc_id": "docId", "is_correct": "Is-Correct"})
    assert Outcomes.from_frame(rows, quiet=True) == outcomes()


def test_every_kind_of_frame_gives_the_same_outcomes() -> None:
    kinds = [frame(), pl.DataFrame(TABLE), pl.DataFrame(TABLE).lazy(), pa.table(TABLE)]
    assert len({Outcomes.from_frame(kind, quiet=True).fingerprint for kind in kinds}) == 1


def test_without_a_generation_column_rows_are_numbered_in_order_and_that_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = Outcomes.from_frame(frame().drop(columns="epoch"))
    assert made.generation.tolist() == [0, 1, 2, 0, 1, 0]
    assert "no column numbers the generations" in capsys.readouterr().err
    assert any("no column numbers the generations" in line for line in made.account)


def test_a_row_number_is_no_prompt_where_another_column_names_prompts() -> None:
    rows = pd.DataFrame({"id": range(4), "prompt": ["a", "a", "b", "b"], "correct": [1, 0, 1, 1]})
    assert Outcomes.from_frame(rows, quiet=True).counts().generations.tolist() == [2, 2]


def test_prompts_are_not_merged_across_tasks_unseen() -> None:
    rows = pd.DataFrame({"benchmark": "mmlu", "task": ["x", "y"] * 2, "doc_id": [0, 0, 1, 1], "correct": [1, 0, 1, 0]})
    with pytest.raises(DataError, match=r"'task' changes between rows .*\['benchmark', 'task'\]"):
        Outcomes.from_frame(rows, quiet=True)
    joined = Outcomes.from_frame(rows, benchmark=["benchmark", "task"], quiet=True)
    assert joined.counts().generations.tolist() == [1] * 4


def test_two_columns_of_scores_must_agree() -> None:
    with pytest.raises(DataError, match="both 'correct' and 'passed'.*row 1 .*correct='passed'"):
        Outcomes.from_frame(frame(correct=[1, 0] * 3, passed=[1] * 6).drop(columns="is_correct"), quiet=True)
    rows = frame(correct=[1, 0] * 3, passed=[True, False] * 3).drop(columns="is_correct")
    assert Outcomes.from_frame(rows, quiet=True).n_generations == 6


def test_partial_credit_beside_correct_is_not_taken() -> None:
    rows = frame(score=[0.5] * 6)
    assert Outcomes.from_frame(rows, quiet=True) == outcomes()


def test_a_threshold_beside_two_columns_of_scores_must_be_told_which() -> None:
    rows = frame(score=[0.5] * 6)
    with pytest.raises(DataError, match="both 'is_correct' and 'score'"):
        Outcomes.from_frame(rows, threshold=0.5, quiet=True)
    assert Outcomes.from_frame(rows, correct="score", threshold=0.5, quiet=True).correct.tolist() == [1] * 6


def test_two_names_of_systems_must_be_one_to_one() -> None:
    with pytest.raises(DataError, match="both 'system' and 'model_name'"):
        Outcomes.from_frame(frame(system=list("xyzxyz")), quiet=True)
    assert Outcomes.from_frame(frame(system="A"), quiet=True).run_names == (("A", "sums"),)


def test_seeds_and_texts_are_kept() -> None:
    made = outcomes(seed=[1, 2, 3, 1, 2, None], response=[27, 27.5, None, [1, "x"], True, "27"])
    assert made.seed is not None
    assert made.seed.tolist() == ["1", "2", "3", "1", "2", None]
    assert made.answer is not None
    assert made.answer.tolist() == ["27", "27.5", None, '[1, "x"]', "True", "27"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": [1, 1, 2, 1, 2, 1]}, r"rows 0 and 1 .*prompt '1', generation 1"),
        ({"epoch": [1, 2, 2, 1, 2, 1]}, r"rows 1 and 2 .*prompt '1', generation 2"),
        ({"epoch": [1, 2, None, 1, 2, 1]}, r"row 2 .*has no generation.*generation=False"),
        ({"doc_id": [1, 1, 1, 2, 2, None]}, r"row 5 .*has no prompt id"),
        ({"doc_id": [1, "1", 1, 2, 2, 3]}, "mixes types"),
        ({"subject": ["x", "y", "x", "x", "x", "y"]}, r"rows 0 and 1 .*prompt '1' into the groups 'x' and 'y'"),
        ({"subject": ["x", "x", "x", "x", "x", None]}, r"row 5 .*has no group id"),
    ],
)
def test_bad_columns_are_refused_with_rows(changes: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        outcomes(**changes)


def test_missing_columns_are_told() -> None:
    with pytest.raises(DataError, match="no column for prompt: it has 'correct'; looked for prompt_id, task_id"):
        Outcomes.from_frame(pd.DataFrame({"correct": [1]}))
    with pytest.raises(DataError, match="no column 'anser'.*did you mean 'answer'"):
        Outcomes.from_frame(pd.DataFrame({"id": [1], "correct": [1], "answer": [1]}), answer="anser")
    with pytest.raises(OptionError, match="prompt=False is not possible"):
        Outcomes.from_frame(frame(), prompt=False)
    with pytest.raises(OptionError, match="correct= takes one column"):
        Outcomes.from_frame(frame(), correct=["is_correct", "epoch"])
    with pytest.raises(DataError, match="no rows"):
        Outcomes.from_frame(frame().iloc[:0])


# Counts


def test_unscored_generations_are_set_aside_and_their_number_is_told() -> None:
    made = outcomes().counts()
    assert made.prompt.tolist() == ["1", "2", "3"]
    assert made.generations.tolist() == [2, 2, 0]
    assert made.correct.tolist() == [1, 2, 0]
    assert made.group is not None
    assert made.group.tolist() == ["x", "x", "y"]
    assert any("2 generations without a score" in line and "1 prompt keeps" in line for line in made.account)


@given(tables())
def test_counts_agree_with_counting_by_hand(rows: list[tuple[str, str, str, int, float]]) -> None:
    by_hand: dict[tuple[str, str, str], list[int]] = {}
    for *key, _, correct in rows:
        cell = by_hand.setdefault(tuple(key), [0, 0])  # type: ignore[arg-type]
        cell[0] += correct == correct
        cell[1] += correct == 1
    made = from_rows(rows).counts()
    columns = (made.system, made.benchmark, made.prompt)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == list(by_hand)
    assert np.column_stack([made.generations, made.correct]).tolist() == list(by_hand.values())
    assert made.n_generations == from_rows(rows).n_generations


@given(tables())
def test_counting_and_taking_runs_apart_commute(rows: list[tuple[str, str, str, int, float]]) -> None:
    made = from_rows(rows)
    assert Counts.concat([run.counts() for run in made.runs()]) == made.counts()
    assert Outcomes.concat(made.runs()) == made


@given(tables(), st.randoms())
def test_order_of_rows_does_not_matter(rows: list[tuple[str, str, str, int, float]], shuffler) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    assert from_rows(shuffled) == from_rows(rows)
    assert from_rows(shuffled).counts() == from_rows(rows).counts()


@given(tables())
def test_frames_round_trip(rows: list[tuple[str, str, str, int, float]]) -> None:
    made = from_rows(rows)
    assert Outcomes.from_frame(made.to_frame(), quiet=True) == made


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=2, max_size=2), min_size=1, max_size=6))
def test_a_matrix_gives_the_same_counts_either_way(cells: list[list[float]]) -> None:
    assert Outcomes.from_matrix(cells).counts() == Counts.from_matrix(cells)


def test_concat_refuses_a_generation_that_is_there_twice() -> None:
    with pytest.raises(DataError, match=r"row 0 of part 1 .*row 0 of part 2 .*generation 1"):
        Outcomes.concat([outcomes(), outcomes()])


def test_concat_keeps_answers_of_some_and_names_of_generations() -> None:
    named = pd.DataFrame({"model_name": "b", "dataset": "sums", "doc_id": [1], "epoch": ["late"], "correct": [1]})
    joined = Outcomes.concat([outcomes(subject=["x"] * 6), Outcomes.from_frame(named.assign(group="x"), quiet=True)])
    assert joined.answer is not None
    assert joined.answer.tolist() == [*TABLE["response"], None]
    assert joined.generation.tolist() == ["1", "2", "3", "1", "2", "1", "late"]


def test_repr_is_a_sentence_and_html_is_escaped() -> None:
    made = outcomes()
    assert repr(made) == (
        "Outcomes: a on sums, 3 prompts, 4 generations, between 0 and 2 to each prompt, 2 more not scored, with answers"
    )
    html = outcomes(model_name=["<i>a</i>"] * 6)._repr_html_()
    assert "<i>" not in html
    assert "&lt;i&gt;" in html


def test_columns_cannot_be_changed() -> None:
    made = outcomes()
    with pytest.raises(ValueError, match="read-only"):
        made.correct[0] = 0
