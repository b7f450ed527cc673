"""Results in files: what was written comes back exactly, and what was changed since is refused."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeseval as be
from bayeseval.errors import OptionError, ReadError
from bayeseval.readers.stored import SUFFIXES, side_file

ODD = [
    "007", "7", "7.0", "a,b", 'say "x"', "two\nlines", "cr\r\nlf", "tab\t", "\x00\x1f", "naïve", "日本", "🙂", "null",
    "NaN", "\ufeff", "=1+1", "true", "'", "\u2028", "\x85", " padded ",
]  # fmt: skip


def same(one: Any, two: Any) -> None:
    """Equal to the last bit, row by row."""
    assert type(one) is type(two)
    first, second = one._columns(), two._columns()
    assert first.keys() == second.keys()
    for name, column in first.items():
        assert column.dtype == second[name].dtype, name
        if column.dtype.kind == "f":
            known = ~np.isnan(column)
            assert np.array_equal(known, ~np.isnan(second[name])), name
            assert column[known].tobytes() == second[name][known].tobytes(), name
        else:
            assert column.tolist() == second[name].tolist(), name
    assert one.fingerprint == two.fingerprint
    assert getattr(one, "levels", None) == getattr(two, "levels", None)


def round_trip(results: Any, suffix: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = results.write(Path(folder) / f"results{suffix}")
        assert path.is_file() and side_file(path).is_file() == (suffix != ".parquet")
        assert sorted(file.name for file in Path(folder).iterdir() if file.name.startswith(".")) == []
        kind = "credits" if isinstance(results, be.Credits) else None
        return be.read(path, kind=kind, quiet=True)


texts = st.text(min_size=1).filter(lambda text: bool(text.strip())) | st.sampled_from(ODD).filter(str.strip)
cells = st.none() | st.just("") | st.text() | st.sampled_from(ODD)
floats = st.floats(allow_infinity=False) | st.just(math.nan) | st.just(-0.0) | st.just(5e-324)


@st.composite
def outcomes(draw: st.DrawFn) -> be.Outcomes:
    size = draw(st.integers(1, 6))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size))

    numbers: Any = list(range(size)) if draw(st.booleans()) else [f"{i}{draw(texts)}" for i in range(size)]
    optional = {
        "answer": column(cells), "gold": column(cells), "score": column(floats),
        "seed": column(st.integers(-(2**60), 2**60)), "group": [draw(texts)] * size,
    }  # fmt: skip
    kept = {name: values for name, values in optional.items() if draw(st.booleans())}
    prompts = [draw(texts)] * size if "group" in kept else column(texts)
    return be.Outcomes(
        draw(texts), draw(texts), prompts, numbers, column(st.sampled_from([0.0, 1.0, math.nan])), **kept
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60, deadline=None)
@given(results=outcomes())
def test_outcomes_come_back_exactly(suffix: str, results: be.Outcomes) -> None:
    same(results, round_trip(results, suffix))


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=30, deadline=None)
@given(prompts=st.lists(texts, min_size=1, max_size=6, unique=True), data=st.data())
def test_counts_come_back_exactly(suffix: str, prompts: list[str], data: st.DataObject) -> None:
    size = len(prompts)
    generations = data.draw(st.lists(st.integers(0, 2**40), min_size=size, max_size=size))
    correct = [data.draw(st.integers(0, total)) for total in generations]
    group = data.draw(st.none() | st.lists(texts, min_size=size, max_size=size))
    counts = be.Counts.from_arrays(correct, generations, prompt=prompts, system=data.draw(texts), group=group)
    same(counts, round_trip(counts, suffix))


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.floats(0, 1) | st.just(math.nan), min_size=1, max_size=6), declared=st.booleans())
def test_credits_come_back_exactly(suffix: str, values: list[float], declared: bool) -> None:
    levels = tuple(sorted({0.0, 1.0, *(v for v in values if not math.isnan(v))})) if declared else None
    if levels and min(np.diff(levels)) < 1e-6:
        levels = None
    credits = be.Credits("s", "b", ["p"] * len(values), list(range(len(values))), values, levels=levels)
    same(credits, round_trip(credits, suffix))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_odd_texts_come_back_exactly(suffix: str) -> None:
    size = len(ODD)
    results = be.Outcomes(
        "s", "b", [f"{text}." for text in ODD], [0] * size, [1.0] * size, answer=ODD, gold=[None] * size
    )
    same(results, round_trip(results, suffix))


def test_half_a_surrogate_pair_goes_into_json_lines_alone(tmp_path: Path) -> None:
    results = be.Outcomes("s", "b", ["\ud800", "ä"], [0, 0], [1, 0], answer=["\udfff", "ö"])
    same(results, round_trip(results, ".jsonl"))
    for suffix in (".csv", ".parquet"):
        with pytest.raises(OptionError, match=r"write JSON Lines \(\.jsonl\)"):
            results.write(tmp_path / f"a{suffix}")
        assert list(tmp_path.iterdir()) == []


def test_other_tools_read_an_ordinary_table(tmp_path: Path) -> None:
    results = be.Outcomes("s", "b", ["007", "7", "x"], [0, 0, 0], [1, math.nan, 0], answer=["a", None, ""])
    csv = pd.read_csv(results.write(tmp_path / "a.csv"), dtype={"prompt": str})
    lines = [json.loads(line) for line in results.write(tmp_path / "a.jsonl").read_text().splitlines()]
    parquet = pl.read_parquet(results.write(tmp_path / "a.parquet"))
    assert (
        csv["prompt"].tolist() == [line["prompt"] for line in lines] == parquet["prompt"].to_list() == ["007", "7", "x"]
    )
    assert csv["correct"].mean() == parquet["correct"].mean() == 0.5
    assert [line["correct"] for line in lines] == [1, None, 0]
    assert [line["answer"] for line in lines] == parquet["answer"].to_list() == ["a", None, ""]


def test_account_and_sources_come_back(tmp_path: Path) -> None:
    path = tmp_path / "raw.csv"
    path.write_text("prompt_id,n,c\np,4,1\n")
    counts = be.read(path, quiet=True)
    again = be.read(counts.write(tmp_path / "kept.jsonl"), quiet=True)
    assert again.account[: len(counts.account)] == counts.account
    assert f"bayeseval {be.__version__}" in again.account[-2]
    with pytest.raises(be.BayesevalError, match=r"raw\.csv was added before"):
        again.add(counts)


def test_what_was_changed_since_is_refused_and_a_plain_table_without_its_side_file(tmp_path: Path) -> None:
    counts = be.Counts.from_arrays([1, 2, 3], 4, prompt=["a", "b", "c"])
    for suffix in (".csv", ".jsonl"):
        path = counts.write(tmp_path / f"a{suffix}")
        whole = path.read_text()
        for changed in (whole.replace("3", "4"), whole[: len(whole) // 2], "", whole + whole.splitlines()[-1] + "\n"):
            path.write_text(changed)
            with pytest.raises(ReadError, match=r"changed|cut off|damaged"):
                be.read(path, quiet=True)
        path.write_text(whole.replace("3", "4"))
        side_file(path).unlink()
        assert be.read(path, quiet=True).correct.tolist() == [1, 2, 4]
        path.unlink()


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"bayeseval": {"schema": 99, "version": "9"}}', '{"bayeseval": {"schema": 1}}',
             '{"bayeseval": {"schema": 1, "kind": "counts", "columns": 3, "digest": 1, "rows": "x"}}']
)  # fmt: skip
def test_a_damaged_side_file_is_one_sentence_and_a_foreign_one_is_left_alone(tmp_path: Path, text: str) -> None:
    path = be.Counts.from_arrays([1], 4).write(tmp_path / "a.csv")
    side_file(path).write_text(text)
    if text == "[]":
        assert be.read(path, quiet=True).correct.tolist() == [1]
    else:
        with pytest.raises(ReadError, match=r"a\.csv"):
            be.read(path, quiet=True)


def test_columns_that_are_named_make_it_a_plain_table(tmp_path: Path) -> None:
    path = be.Counts.from_arrays([1], 4, prompt=["a"]).write(tmp_path / "a.parquet")
    assert be.read(path, system="benchmark", quiet=True).system.tolist() == ["benchmark"]


def test_only_files_of_bayeseval_are_replaced_unasked(tmp_path: Path) -> None:
    one, two = be.Counts.from_arrays([1], 4), be.Counts.from_arrays([2], 4)
    for suffix in SUFFIXES:
        path = tmp_path / f"a{suffix}"
        one.write(path)
        assert be.read(two.write(path), quiet=True) == two
    raw = tmp_path / "raw.csv"
    raw.write_text("prompt_id,n,c\np,4,1\n")
    with pytest.raises(OptionError, match="did not write it.*overwrite=True"):
        one.write(raw)
    assert raw.read_text() == "prompt_id,n,c\np,4,1\n"
    assert be.read(one.write(raw, overwrite=True), quiet=True) == one


def test_what_cannot_be_written_says_why(tmp_path: Path) -> None:
    counts = be.Counts.from_arrays([1], 4)
    for path, why in (
        ("a.xlsx", "written as"),
        (tmp_path, "written as"),
        (tmp_path / "no" / "a.csv", "no folder"),
        (3, "written as"),
    ):
        with pytest.raises(OptionError, match=why):
            counts.write(path)  # type: ignore[arg-type]
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(OptionError, match="is a folder"):
        counts.write(tmp_path / "d.csv")


def test_a_folder_of_files_written_is_read_as_a_whole(tmp_path: Path) -> None:
    for name in "ab":
        be.Counts.from_arrays([1], 4, system=name).write(tmp_path / f"{name}.csv")
    assert be.read(tmp_path, quiet=True).system.tolist() == ["a", "b"]
