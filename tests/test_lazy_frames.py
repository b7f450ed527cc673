"""Lazy frames counted in the engine that holds them: the same counts as from rows in memory, or the same refusal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeseval.counts import Counts
from bayeseval.errors import BayesevalError, DataError, OptionError, ReadError
from bayeseval.outcomes import Outcomes
from bayeseval.readers import read, streaming

Frame = dict[str, list[Any]]
COLUMNS = ["system", "benchmark", "prompt_id", "generation", "correct"]

pytestmark = pytest.mark.filterwarnings("ignore:Dask support is moving out of Narwhals:FutureWarning")


def pandas(frame: Frame) -> pd.DataFrame:
    return pl.DataFrame(frame, strict=False).to_pandas()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A real cluster of Dask: two workers, each a process of its own."""
    pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'bayeseval[dask]'")
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as two,
        distributed.Client(two) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    try:
        session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    except Exception as problem:
        pytest.skip(f"PySpark cannot start, which needs Java: {type(problem).__name__}")
    yield session
    session.stop()


@pytest.fixture(params=["polars", "duckdb", "dask", "pyspark"])
def lazy(request: pytest.FixtureRequest) -> Callable[[Frame], Any]:
    """What makes a lazy frame of columns, in one of the engines."""
    if request.param == "polars":
        return lambda frame: pl.LazyFrame(frame, strict=False)
    if request.param == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'bayeseval[duckdb]'")
        database = duckdb.connect()
        return lambda frame: database.from_arrow(pl.DataFrame(frame, strict=False).to_arrow())
    if request.param == "dask":
        request.getfixturevalue("cluster")
        import dask.dataframe as dd

        return lambda frame: dd.from_pandas(pandas(frame), npartitions=3, sort=False)
    session = request.getfixturevalue("spark")
    return lambda frame: session.createDataFrame(pl.DataFrame(frame, strict=False).rows(), list(frame))


def in_memory(frame: Frame, **options: Any) -> Counts:
    """Counts by the way that reads rows one by one."""
    results = read(pl.DataFrame(frame, strict=False), quiet=True, kind="outcomes", **options)
    assert isinstance(results, Outcomes)
    return results.counts()


def both(frame: Frame, lazily: Any, **options: Any) -> tuple[Counts | str, Counts | str]:
    """Counts from rows in memory and from the engine, or the kinds of their refusals."""
    found: list[Counts | str] = []
    for make in (lambda: in_memory(frame, **options), lambda: read(lazily, quiet=True, **options)):
        try:
            found.append(make())
        except BayesevalError as problem:
            found.append(type(problem).__name__)
    return found[0], found[1]


SMALL: Frame = {
    "system": ["a", "a", "a", "a", "b", "b"],
    "benchmark": ["sums"] * 6,
    "prompt_id": ["007", "007", "7", "7", "007", "8"],
    "generation": [1, 2, 1, 2, 1, 1],
    "correct": [1, 0, None, 1, 0, 1],
}


def test_the_engine_counts_what_rows_in_memory_give(lazy: Callable[[Frame], Any]) -> None:
    counts = read(lazy(SMALL), quiet=True)
    assert isinstance(counts, Counts) and counts == in_memory(SMALL)
    rows = {(s, p): (int(n), int(c)) for s, p, n, c in
            zip(counts.system, counts.prompt, counts.generations, counts.correct, strict=True)}  # fmt: skip
    assert rows == {("a", "007"): (2, 1), ("a", "7"): (1, 1), ("b", "007"): (1, 0), ("b", "8"): (1, 1)}
    assert Counts.from_frame(lazy(SMALL), quiet=True) == counts
    account = "\n".join(counts.account)
    assert "only the counts were collected" in account and "6 rows" in account
    assert "set aside: 1 generation without a score" in account and "nothing set aside" not in account


def test_only_the_counts_are_collected(lazy: Callable[[Frame], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import narwhals as nw

    largest, collect = [], nw.LazyFrame.collect

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        frame = collect(self, *args, **kwargs)
        largest.append(len(frame))
        return frame

    native = pl.LazyFrame.collect

    def watched_natively(self: Any, *args: Any, **kwargs: Any) -> Any:
        frame = native(self, *args, **kwargs)
        largest.append(len(frame))
        return frame

    monkeypatch.setattr(nw.LazyFrame, "collect", watched)
    monkeypatch.setattr(pl.LazyFrame, "collect", watched_natively)
    many: Frame = {"prompt_id": ["x", "y"] * 500, "generation": [i // 2 for i in range(1000)], "correct": [1, 0] * 500}
    counts = read(lazy(many), quiet=True)
    assert counts.generations.tolist() == [500, 500] and counts.correct.tolist() == [500, 0]
    assert largest and max(largest) <= 2


def test_single_generations_are_collected_where_they_are_asked_for(lazy: Callable[[Frame], Any]) -> None:
    outcomes = read(lazy(SMALL), kind="outcomes", quiet=True)
    assert isinstance(outcomes, Outcomes) and len(outcomes) == 6
    assert any("were collected, as kind='outcomes'" in line for line in outcomes.account)
    frame = {**SMALL, "correct": [0.5, 1, 0, 0.25, 1, 0]}
    credits = read(lazy(frame), kind="credits", credit="correct", quiet=True)
    assert sorted(credits.credit.tolist()) == [0, 0, 0.25, 0.5, 1, 1]


def test_counts_in_a_lazy_frame_are_counts(lazy: Callable[[Frame], Any]) -> None:
    frame: Frame = {"model": ["a", "a"], "prompt_id": ["x", "y"], "n": [4, 5], "c": [1, 5]}
    assert read(lazy(frame), quiet=True).correct.tolist() == [1, 5]
    assert Counts.from_frame(lazy(frame), quiet=True).generations.tolist() == [4, 5]
    ones: Frame = {"prompt_id": ["x", "y"], "n": [1, 1], "correct": [1, 0]}
    assert read(lazy(ones), quiet=True) == Counts.from_frame(pl.DataFrame(ones), quiet=True)


@pytest.mark.parametrize("scores", [
    [True, False, None, True, True, False], [1.0, 0.0, math.nan, 1.0, None, 0.0], [1, 0, 1, 1, 0, 0],
    ["C", "I", "N", "correct", "Pass", "FAIL"], ["1", "0", "", "true", " yes ", "1.0"],
    ["tRuE", "0.0", None, "no", "nan", "c"],
], ids=str)  # fmt: skip
def test_scores_of_every_spelling_are_read(lazy: Callable[[Frame], Any], scores: list[Any]) -> None:
    frame = {**SMALL, "correct": scores}
    expected, found = both(frame, lazy(frame))
    assert isinstance(expected, Counts) and found == expected
    expected, found = both(frame, lazy(frame), unscored="wrong")
    wrong = read(pl.DataFrame(frame, strict=False), unscored="wrong", kind="counts", quiet=True)
    assert found == wrong


@pytest.mark.parametrize("scores", [[0.2, 0.5, None, 0.7, math.nan, 1.0], ["0.2", "0.5", "", "C", "n", "0"]], ids=str)
@pytest.mark.parametrize("threshold", [0.5, 0.7, 1.0, -1.0])
def test_thresholds_apply_in_the_engine(lazy: Callable[[Frame], Any], scores: list[Any], threshold: float) -> None:
    frame = {**SMALL, "correct": scores}
    expected, found = both(frame, lazy(frame), threshold=threshold)
    assert isinstance(expected, Counts) and found == expected
    assert Counts.from_frame(lazy(frame), threshold=threshold, quiet=True) == expected
    assert any(f"at least {threshold:g} count as correct" in line for line in found.account)


@pytest.mark.parametrize("column, values, words", [
    ("correct", [1, 0, 0.5, 1, 0, 1], r"prompt '7': the score \(column 'correct'\) is 0.5.*threshold="),
    ("correct", [1, 0, math.inf, 1, 0, 1], "cannot be read"),
    ("correct", ["C", "I", "maybe", "C", "C", "I"], "prompt '7'.*'maybe', which cannot be read"),
    ("prompt_id", ["x", "y", None, "y", "x", "x"], r"no prompt id \(column 'prompt_id'\)"),
    ("prompt_id", ["x", "y", "  ", "y", "x", "x"], "no prompt id"),
    ("system", ["a", None, None, "a", "b", "b"], "no system id.*and so do 1 more rows.*system=False"),
    ("generation", [1, 1, 1, 2, 1, 1], "2 rows of .* hold the same system 'a'.*prompt '007', generation '1'"),
    ("generation", [70, 70, 1, 2, 1, 1], "2 rows of .* hold the same system 'a'.*prompt '007', generation '70'"),
    ("generation", [-1, -1, 1, 2, 1, 1], "2 rows of .* hold the same"),
    ("generation", ["r1", "r1", "r1", "r2", "r1", "r1"], "2 rows of .* hold the same"),
    ("generation", [1, None, 1, 2, 1, 1], "prompt '007' has no generation.*generation=False"),
], ids=str)  # fmt: skip
def test_what_rows_in_memory_refuse_the_engine_refuses(
    lazy: Callable[[Frame], Any], column: str, values: list[Any], words: str
) -> None:
    frame = {**SMALL, column: values}
    with pytest.raises(DataError, match=words):
        read(lazy(frame), quiet=True)
    with pytest.raises(DataError):
        in_memory(frame)


def test_a_generation_that_occurs_in_two_partitions_is_refused(lazy: Callable[[Frame], Any]) -> None:
    # A sum over partitions of their numbers of distinct generations does not see it.
    size = 60
    frame: Frame = {"prompt_id": ["x"] * size, "generation": list(range(size - 1)) + [0], "correct": [1] * size}
    with pytest.raises(DataError, match="2 rows of .* hold the same prompt 'x', generation '0'"):
        read(lazy(frame), quiet=True)
    frame["generation"] = list(range(size))
    assert read(lazy(frame), quiet=True).generations.tolist() == [size]


def test_a_prompt_in_two_groups_is_refused(lazy: Callable[[Frame], Any]) -> None:
    frame = {**SMALL, "subject": ["g", "g", "h", "h", "g", "h"]}
    expected, found = both(frame, lazy(frame))
    assert isinstance(found, Counts) and found == expected and set(found.group) == {"g", "h"}
    frame["subject"] = ["g", "h", "h", "h", "g", "h"]
    with pytest.raises(DataError, match="two rows of the data frame put prompt '007' into the groups"):
        read(lazy(frame), quiet=True)
    assert read(lazy(frame), group=False, quiet=True) == in_memory(frame, group=False)


def test_a_column_that_may_be_part_of_the_key_is_asked_about(lazy: Callable[[Frame], Any]) -> None:
    frame: Frame = {"task": ["a"] * 4, "dataset": ["u", "v"] * 2, "prompt_id": ["x"] * 4, "correct": [1, 0, 1, 1]}
    with pytest.raises(DataError, match="'dataset' changes between rows of one prompt"):
        read(lazy(frame), quiet=True)
    counts = read(lazy(frame), benchmark=["task", "dataset"], quiet=True)
    assert counts == in_memory(frame, benchmark=["task", "dataset"])
    assert sorted(counts.benchmark) == ["a:u", "a:v"]


def test_two_columns_of_scores_that_differ_are_asked_about(lazy: Callable[[Frame], Any]) -> None:
    frame = {**SMALL, "passed": [1, 0, None, 1, 1, 1]}
    with pytest.raises(DataError, match="both 'correct' and 'passed'.*differ"):
        read(lazy(frame), quiet=True)
    frame["passed"] = SMALL["correct"]
    assert read(lazy(frame), quiet=True) == in_memory(frame)
    many = {**{name: SMALL[name] * 2000 for name in ("system", "benchmark")}, "prompt_id": list(range(12000)),
            "score": [i / 12000 for i in range(12000)], "reward": [i / 12000 for i in range(12000)]}  # fmt: skip
    with pytest.raises(DataError, match="too many different values"):
        read(lazy(many), quiet=True, threshold=0.5)


def test_too_many_words_for_scores_are_refused(lazy: Callable[[Frame], Any]) -> None:
    frame: Frame = {"prompt_id": list(range(6000)), "correct": [f"{i / 6000}" for i in range(6000)]}
    with pytest.raises(DataError, match="more than 5,000 different values: cast the column.*threshold="):
        read(lazy(frame), threshold=0.5, quiet=True)


def test_an_empty_frame_is_refused_and_engines_that_fail_are_named() -> None:
    with pytest.raises(DataError, match="has no rows"):
        read(pl.LazyFrame(SMALL).filter(pl.lit(False)), quiet=True)
    broken = pl.LazyFrame(SMALL).with_columns(correct=pl.col("prompt_id").str.to_integer(strict=True) // 0 + 1)
    broken = broken.with_columns(correct=pl.col("benchmark").str.to_integer(strict=True))
    with pytest.raises(ReadError, match="the data frame cannot be read"):
        read(broken, quiet=True)


def test_arguments_of_one_row_a_generation_do_not_apply_to_counts_in_memory() -> None:
    frame = pl.DataFrame({"prompt_id": ["x"], "n": [4], "c": [1]})
    for option in ({"generation": "n"}, {"threshold": 0.5}):
        with pytest.raises(OptionError, match="use Outcomes.from_frame"):
            Counts.from_frame(frame, **option, quiet=True)


keys = st.sampled_from(["007", "7", "a:b", "b", " x"]) | st.none()
numbers = st.integers(-2, 90) | st.none()
words = st.sampled_from(["C", "i", "1", "0", "", "N", "yes", "No", "1.0", "maybe", None])
graded = st.sampled_from([0.0, 1.0, 0.5, math.nan, None, -0.0])


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_frame_gives_the_same_counts_or_is_refused_both_ways(data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 12))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return data.draw(st.lists(values, min_size=size, max_size=size))

    ids = data.draw(st.sampled_from([st.sampled_from(["007", "7", "b"]), keys, st.integers(0, 2)]))
    frame = {
        "system": column(st.sampled_from(["a", "b"])),
        "prompt_id": column(ids),
        "correct": column(data.draw(st.sampled_from([st.booleans() | st.none(), st.integers(0, 1), words, graded]))),
    }
    if data.draw(st.booleans()):
        frame["generation"] = (
            list(range(size)) if data.draw(st.booleans()) else column(data.draw(st.sampled_from([numbers, keys])))
        )
    options = {} if data.draw(st.booleans()) else {"threshold": 0.5}
    expected, found = both(frame, pl.LazyFrame(frame, strict=False), **options)
    assert found == expected
    if isinstance(expected, Counts):  # Polars keeps the order of rows
        assert isinstance(found, Counts) and found.prompt.tolist() == expected.prompt.tolist()


@pytest.mark.parametrize("name", ["aime24-50/outcomes.csv.gz", "coupled-gsm8k/outcomes.parquet",
                                  "matharena-aime2025/outcomes.csv",
                                  "llm-stability-strict/outcomes.csv.gz"])  # fmt: skip
def test_real_data_give_the_same_counts_in_polars_and_duckdb(shared: Path, name: str) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'bayeseval[duckdb]'")
    path = shared / "data" / name
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    options = {"benchmark": ["benchmark", "condition"]} if "condition" in frame.columns else {}
    expected = read(frame, quiet=True, **options)
    assert isinstance(expected, Outcomes)
    for lazily in (frame.lazy(), duckdb.from_arrow(frame.to_arrow())):
        assert read(lazily, quiet=True, **options) == expected.counts()


def test_real_data_give_the_same_counts_on_two_workers(shared: Path, cluster: Any) -> None:
    import dask.dataframe as dd

    frame = pl.read_parquet(shared / "data" / "coupled-gsm8k" / "outcomes.parquet")
    lazily = dd.from_pandas(frame.to_pandas(), npartitions=4)
    assert len(cluster.scheduler_info()["workers"]) == 2
    key = ["benchmark", "condition"]
    assert read(lazily, benchmark=key, quiet=True) == read(frame, benchmark=key, quiet=True).counts()


# Large files


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small files counted as large ones are."""
    monkeypatch.setattr(streaming, "LARGE_FILE", 1)
    monkeypatch.setattr("bayeseval.readers.reading.LARGE", 1)


def many(size: int = 400) -> pl.DataFrame:
    random = np.random.default_rng(7)
    place = np.arange(size)
    prompts = [f"p{i:03}" for i in place // 4]
    return pl.DataFrame({"system": "s", "benchmark": "b", "prompt_id": prompts, "generation": place % 4,
                         "correct": random.integers(0, 2, size)})  # fmt: skip


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_large_files_are_counted_as_streams(tmp_path: Path, small_is_large: None, suffix: str) -> None:
    path = tmp_path / f"many.{suffix}"
    many().write_parquet(path) if suffix == "parquet" else many().write_ndjson(path)
    counts = read(path, kind="counts", quiet=True)
    outcomes = read(path, quiet=True)
    assert isinstance(outcomes, Outcomes) and counts == outcomes.counts()
    assert counts.prompt.tolist() == outcomes.counts().prompt.tolist()
    assert any("only the counts were collected" in line for line in counts.account)
    assert not any("collected" in line for line in outcomes.account)


def json_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def test_ids_of_two_types_in_a_large_file_are_refused_with_the_line(tmp_path: Path, small_is_large: None) -> None:
    rows = [{"prompt_id": "007", "note": '{"prompt_id": 5}', "correct": 1}, {"prompt_id": "7", "correct": 0}]
    path = json_lines(tmp_path / "ids.jsonl", rows)
    assert sorted(read(path, kind="counts", quiet=True).prompt) == ["007", "7"]
    json_lines(path, [*rows, {"prompt_id": 7, "correct": 1}])
    with pytest.raises(DataError, match="'prompt_id' of .*ids.jsonl mixes types: line 3 holds 7"):
        read(path, kind="counts", quiet=True)


def test_damaged_lines_of_a_large_file_are_named(tmp_path: Path, small_is_large: None) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_text('{"prompt_id": "a", "correct": 1}\n{"prompt_id": "b", "corr')
    with pytest.raises(ReadError, match=r"cut\.jsonl: line 2"):
        read(path, kind="counts", quiet=True)


def test_bad_scores_of_a_large_file_are_named_with_row_and_prompt(tmp_path: Path, small_is_large: None) -> None:
    path = json_lines(tmp_path / "bad.jsonl", [{"prompt_id": "a", "correct": 1}, {"prompt_id": "b", "correct": 3}])
    with pytest.raises(DataError, match=r"record 2 of .*bad.jsonl \(counting from 1\), prompt 'b': the score .* is 3"):
        read(path, kind="counts", quiet=True)


def test_types_that_a_stream_cannot_hold_are_read_as_before(tmp_path: Path, small_is_large: None) -> None:
    rows = [{"prompt_id": "a", "correct": True}, {"prompt_id": "b", "correct": 1}, {"prompt_id": "b", "correct": "C"}]
    counts = read(json_lines(tmp_path / "mixed.jsonl", rows), kind="counts", quiet=True)
    assert counts.correct.tolist() == [1, 2]


def test_columns_that_begin_late_are_seen(
    tmp_path: Path, small_is_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_INFERRED", 2)
    rows: list[dict[str, Any]] = [{"prompt_id": f"p{i}", "score": 1} for i in range(3)]
    rows += [{"prompt_id": f"q{i}", "score": 1, "subject": "algebra"} for i in range(3)]
    path = json_lines(tmp_path / "late.jsonl", rows)
    with pytest.raises(DataError, match="no group id"):
        read(path, kind="counts", quiet=True)
