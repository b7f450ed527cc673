"""Reading files: real ones come out right, damaged ones are refused with file and line, and nothing is lost unsaid."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayeseval.counts import Counts
from bayeseval.errors import BayesevalError, DataError, OptionError, ReadError
from bayeseval.outcomes import Outcomes
from bayeseval.readers import read

HEADER = "model,benchmark,prompt_id,n,c\n"
ROWS = "m,b,007,4,1\nm,b,7,5,2\n"
LINE = {"model": "m", "task": "b", "question_id": "p", "epoch": 1, "passed": True}
LONG = pd.DataFrame(
    {"model": "m", "task": "b", "question_id": list("ppqq"), "epoch": [1, 2, 1, 2], "passed": [1, 0, 1, 1]}
)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(*records: dict[str, object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def quietly(source: object, **options: object) -> Counts | Outcomes:
    return read(source, quiet=True, **options)  # type: ignore[arg-type]


# Real data


DATA = [
    ("aime24-50", "counts.csv", "outcomes.csv.gz"),
    ("bon-jailbreak-ragged", "counts.csv", "outcomes_llama3.csv.gz"),
    ("coupled-gsm8k", "counts.csv.gz", "outcomes.parquet"),
    ("coupled-mmlu", "counts.csv.gz", "outcomes.parquet"),
    ("livecodebench", "counts.csv.gz", None),
    ("llm-stability-strict", "counts.csv", "outcomes.csv.gz"),
    ("matharena-aime2025", "counts.csv", "outcomes.csv"),
    ("mle-bench-fm-agent", "counts.csv", "outcomes.csv"),
    ("pythia-checkpoints-ragged", "counts.csv.gz", None),
    ("pythia-math-10k", "counts.csv", None),
    ("reasoning-gym-easy", "counts.csv.gz", "outcomes.csv.gz"),
    ("single-generation", "counts.csv.gz", None),
    ("tau-bench-airline", "counts.csv", "outcomes.csv"),
    ("terminal-bench-trials", "counts.csv", "outcomes.csv.gz"),
]


def raw_totals(path: Path) -> dict[str, dict[tuple[str, ...], tuple[int, int]]]:
    """Generations and correct ones of every key, straight from the file."""
    opened = gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="")
    with opened as file:
        rows = list(csv.DictReader(file))
    keys = ["model", "benchmark", *(["condition"] if "condition" in rows[0] else [])]
    totals: dict[str, dict[tuple[str, ...], tuple[int, int]]] = {}
    for row in rows:
        run = totals.setdefault(":".join(row[key] for key in keys), {})
        run[(row["prompt_id"],)] = (int(row["n"]), int(row["c"]))
    return totals


@pytest.mark.parametrize(("folder", "counted", "generated"), DATA)
def test_real_data_come_out_as_they_are_in_the_file(
    shared: Path, folder: str, counted: str, generated: str | None
) -> None:
    path = shared / "data" / folder / counted
    extra = {"benchmark": ["benchmark", "condition"]} if folder.startswith("coupled") else {}
    counts = quietly(path, **extra)
    assert isinstance(counts, Counts)
    totals = raw_totals(path)
    assert {":".join(name) for name in counts.run_names} == set(totals)
    columns = (counts.system, counts.benchmark, counts.prompt, counts.generations, counts.correct)
    for system, benchmark, prompt, generations, correct in zip(*(c.tolist() for c in columns), strict=True):
        assert totals[f"{system}:{benchmark}"].pop((prompt,)) == (generations, correct)
    assert not any(totals.values())
    if generated is None:
        return
    outcomes = quietly(path.parent / generated, **extra)
    assert isinstance(outcomes, Outcomes)
    same = counts.select(
        system=sorted({s for s, _ in outcomes.run_names}), benchmark=sorted({b for _, b in outcomes.run_names})
    )
    ungrouped = [Counts(c.system, c.benchmark, c.prompt, c.generations, c.correct) for c in (outcomes.counts(), same)]
    assert ungrouped[0] == ungrouped[1]


EXPECTED_FILES: list[tuple[str, dict[str, object]]] = [
    ("counts.csv", {}),
    ("long.csv", {}),
    ("long.parquet", {}),
    ("long_alt_names_ragged.jsonl", {}),
    ("models_x_prompts_x_generations.npz", {}),
    ("prompts_x_models_langchain_tool_use.csv", {"columns_are": "systems"}),
    ("wide_complete_int8.npy", {}),
    ("wide_prompts_x_generations.csv", {}),
    ("wide_prompts_x_generations.npz", {}),
]


@pytest.mark.parametrize(("name", "options"), EXPECTED_FILES)
def test_plain_tables_give_what_is_expected(shared: Path, name: str, options: dict[str, object]) -> None:
    folder = shared / "formats" / "plain_tables"
    with (folder / "expected.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["file"] == name]
    results = quietly(folder / name, **options)
    counts = results if isinstance(results, Counts) else results.counts()
    found = {row[:3]: row[3:] for row in zip(*(column.tolist() for column in (
        counts.system, counts.benchmark, counts.prompt, counts.generations, counts.correct)), strict=True)}  # fmt: skip
    expected = {
        (row["model"] or "system", row["task"] or "benchmark", row["prompt_id"]): (int(row["n"]), int(row["c"]))
        for row in rows
    }
    assert found == expected
    if isinstance(results, Counts):
        return
    marks: dict[tuple[str, str, str], list[str]] = {}
    columns = (results.system, results.benchmark, results.prompt, results.correct)
    for system, benchmark, prompt, correct in zip(*(c.tolist() for c in columns), strict=True):
        marks.setdefault((system, benchmark, prompt), []).append("U" if correct != correct else str(int(correct)))
    for row in rows:
        if row["scores"]:
            key = (row["model"] or "system", row["task"] or "benchmark", row["prompt_id"])
            assert ";".join(marks[key]) == row["scores"]


def test_generations_of_human_eval_are_numbered_in_order(shared: Path) -> None:
    folder = shared / "formats" / "human_eval"
    with (folder / "expected.csv").open(newline="") as file:
        expected = {row["prompt_id"]: (int(row["n"]), int(row["c"])) for row in csv.DictReader(file)}
    results = quietly(folder / "samples.jsonl_results.jsonl")
    assert isinstance(results, Outcomes)
    counts = results.counts()
    found = zip(counts.prompt.tolist(), counts.generations.tolist(), counts.correct.tolist(), strict=True)
    assert {prompt: (n, c) for prompt, n, c in found} == expected


@pytest.mark.parametrize("pattern", ["lm_eval/**/samples_*.jsonl", "lighteval/details/**/*.parquet",
                                     "every_eval_ever/**/*_samples.jsonl", "promptfoo/results.jsonl"])  # fmt: skip
def test_frames_of_harnesses_with_rules_of_their_own_are_not_misread(shared: Path, pattern: str) -> None:
    files = sorted((shared / "formats").glob(pattern))
    assert files
    for path in files:
        parquet = path.suffix == ".parquet"
        frame = pl.read_parquet(path, glob=False) if parquet else pl.read_ndjson(path, infer_schema_length=None)
        with pytest.raises(ReadError, match=r"looks like .*Give the file itself to be\.read"):
            read(frame)


# Formats


def variants(folder: Path) -> list[Path]:
    """The same outcomes in every format."""
    table = pl.from_pandas(LONG)
    paths = [folder / f"long.{suffix}" for suffix in ("csv", "tsv", "jsonl", "ndjson", "parquet")]
    table.write_csv(paths[0])
    table.write_csv(paths[1], separator="\t")
    table.write_ndjson(paths[2])
    table.write_ndjson(paths[3])
    table.write_parquet(paths[4])
    zipped = [write(folder / f"{path.name}.gz", gzip.compress(path.read_bytes())) for path in paths[:4]]
    np.savez(
        folder / "long.npz",
        **{
            name: LONG[name].to_numpy(dtype=LONG[name].to_numpy().dtype if name in ("epoch", "passed") else str)
            for name in LONG
        },
    )  # noqa: E501
    return [*paths, *zipped, folder / "long.npz"]


def test_every_format_gives_the_same_outcomes(tmp_path: Path) -> None:
    expected = Outcomes.from_frame(LONG, quiet=True)
    for path in variants(tmp_path):
        assert quietly(path) == expected, path.name


def test_cells_of_csv_keep_their_text(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", HEADER + ROWS)
    assert quietly(path).prompt.tolist() == ["007", "7"]


@pytest.mark.parametrize(
    "content",
    [
        (HEADER + ROWS).replace("\n", "\r\n"),
        "\ufeff" + HEADER + ROWS,
        HEADER + ROWS + "\n\n",
        (HEADER + ROWS).replace("\n", "\n\n"),
        (HEADER + ROWS).replace(",", ";"),
        (HEADER + ROWS).replace(",", "\t"),
        (HEADER + ROWS).replace("m,", '"m",'),
        (HEADER + ROWS).replace("\n", ",\n").replace("c,\n", "c,note\n"),
        (HEADER + ROWS).rstrip("\n"),
    ],
)
def test_csv_has_many_dialects(tmp_path: Path, content: str) -> None:
    assert quietly(write(tmp_path / "a.csv", content)) == quietly(write(tmp_path / "b.csv", HEADER + ROWS))


def test_line_breaks_and_long_texts_inside_cells_are_read(tmp_path: Path) -> None:
    long = "x" * 200_000
    path = write(tmp_path / "a.csv", f'id,response,correct,note\n1,"a\n""b"" {long}",1,\n2,,0,\n')
    results = quietly(path)
    assert isinstance(results, Outcomes)
    assert results.answer is not None
    assert results.answer.tolist() == [f'a\n"b" {long}', ""]


def test_a_csv_without_a_last_line_break_is_doubted_aloud(tmp_path: Path) -> None:
    results = quietly(write(tmp_path / "a.csv", (HEADER + ROWS).rstrip("\n")))
    assert any("if it was cut off, its last row is wrong" in line for line in results.account)


def test_json_lines_keep_the_types_of_ids_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines(LINE | {"question_id": "1"}, LINE | {"question_id": 1}))
    with pytest.raises(DataError, match=r"mixes types: record 1 .*'1' \(text\); record 2 .*1 \(whole number\)"):
        read(path)


def test_json_lines_may_hold_nan_mixed_scores_and_blank_lines(tmp_path: Path) -> None:
    records = [
        LINE | {"epoch": i, "passed": value} for i, value in enumerate([True, 0, "pass", None, float("nan"), 1.0])
    ]
    results = quietly(write(tmp_path / "a.jsonl", lines(*records).replace("\n", "\n\n")))
    assert (results.n_generations, int(np.nansum(results.correct))) == (4, 3)


def test_nested_columns_are_left_alone(tmp_path: Path) -> None:
    records = [
        LINE | {"prompt": [{"role": "user"}], "doc": {"x": i}, "answer": [i, None], "epoch": i} for i in range(3)
    ]
    results = quietly(write(tmp_path / "a.jsonl", lines(*records)))
    assert isinstance(results, Outcomes)
    assert results.n_prompts == 1
    assert results.answer is not None
    assert json.loads(results.answer[2]) == [2, None]


def test_wide_tables_are_recognised_by_names_that_number_generations(tmp_path: Path) -> None:
    for names in ("gen_0,gen_1", "generation 1,generation 2", "trial-0,trial-1", "0,1", "1,2", "Epoch1,Epoch2"):
        path = write(tmp_path / "a.csv", f"prompt_id,{names}\np,1,0\nq,,1\n")
        results = quietly(path)
        assert isinstance(results, Outcomes)
        assert results.counts().generations.tolist() == [2, 1], names


def test_wide_tables_of_unclear_columns_are_asked_about(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "id,gpt-x,gpt-y\np,1,0\nq,1,1\n")
    with pytest.raises(ReadError, match="'gpt-x', 'gpt-y' .* may be generations or systems.*columns_are='systems'"):
        read(path)
    systems, generations = quietly(path, columns_are="systems"), quietly(path, columns_are="generations")
    assert systems.run_names == (("gpt-x", "benchmark"), ("gpt-y", "benchmark"))
    assert isinstance(generations, Outcomes)
    assert generations.counts().generations.tolist() == [2, 2]


def test_wide_tables_refuse_a_prompt_twice_and_bad_cells(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="rows 2 and 3 .*prompt 'p'"):
        read(write(tmp_path / "a.csv", "id,gen_0,gen_1\np,1,0\np,1,1\n"))
    with pytest.raises(DataError, match=r"row 2 .*prompt 'p', column 'gen_1'.*'0\.5', neither 0 nor 1"):
        read(write(tmp_path / "a.csv", "id,gen_0,gen_1\np,1,0.5\n"))
    results = quietly(tmp_path / "a.csv", threshold=0.5)
    assert results.correct.tolist() == [1, 1]


def test_arrays_name_their_systems_and_prompts(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", sums=np.ones((2, 3, 4)), prompts=["x", "y", "z"], systems=["a", "b"])
    results = quietly(tmp_path / "a.npz")
    assert results.run_names == (("a", "sums"), ("b", "sums"))
    assert set(results.prompt) == {"x", "y", "z"}
    np.save(tmp_path / "a.npy", np.ones((3, 4)))
    assert quietly(tmp_path / "a.npy", system="gpt-x", benchmark="sums").run_names == (("gpt-x", "sums"),)


# Damaged files


def damaged(folder: Path) -> dict[str, tuple[Path, str]]:
    good = HEADER + ROWS
    pl.from_pandas(LONG).write_parquet(folder / "good.parquet")
    np.save(folder / "good.npy", np.ones((30, 4)))
    np.savez(folder / "good.npz", R=np.ones((30, 4)))
    np.save(folder / "objects.npy", np.array([[1, None]], dtype=object), allow_pickle=True)
    parquet, npy, npz = ((folder / f"good.{suffix}").read_bytes() for suffix in ("parquet", "npy", "npz"))
    return {
        "empty csv": (write(folder / "a1.csv", ""), "is empty"),
        "blank csv": (write(folder / "a2.csv", " \n \n"), "is empty"),
        "header only": (write(folder / "a3.csv", HEADER), "no rows"),
        "cut csv": (write(folder / "a4.csv", good + "m,b,8,"), r"row 4 \(line 4\) has 4 cells, but the header has 5"),
        "long row": (write(folder / "a5.csv", good + "m,b,8,4,1,9\n"), r"row 4 \(line 4\) has 6 cells"),
        "open quote": (write(folder / "a6.csv", good + 'm,b,"8,4,1\n'), "the row after line 3"),
        "latin csv": (write(folder / "a7.csv", (good + "m,b,é,4,1\n").encode("latin-1")), "line 4 is not UTF-8"),
        "utf-16 csv": (write(folder / "a8.csv", good.encode("utf-16")), "not UTF-8"),
        "zero bytes": (write(folder / "a9.csv", good + "m,b,\0,4,1\n"), "zero bytes"),
        "two names": (write(folder / "a10.csv", "n,n,c\n1,1,1\n"), "two columns are named 'n'"),
        "cut gz": (write(folder / "b1.csv.gz", gzip.compress(good.encode() * 99)[:-20]), "cut off or damaged"),
        "no gz": (write(folder / "b2.csv.gz", good), "cut off or damaged"),
        "empty gz": (write(folder / "b3.csv.gz", b""), "is empty"),
        "wrong gz": (
            write(folder / "b4.csv.gz", gzip.compress(good.encode())[:-8] + b"12345678"),
            "cut off or damaged",
        ),
        "cut jsonl": (write(folder / "c1.jsonl", lines(LINE) + lines(LINE)[:30]), "line 2 is not JSON"),
        "bad jsonl": (write(folder / "c2.jsonl", lines(LINE) + "oops\n" + lines(LINE)), "line 2 is not JSON"),
        "list jsonl": (write(folder / "c3.jsonl", lines(LINE) + "[1]\n"), "line 2 holds a list"),
        "empty jsonl": (write(folder / "c4.jsonl", ""), "is empty"),
        "deep jsonl": (write(folder / "c5.jsonl", lines(LINE) + "[" * 100_000), "line 2"),
        "cut parquet": (write(folder / "d1.parquet", parquet[:-20]), "not a whole Parquet file"),
        "empty parquet": (write(folder / "d2.parquet", b""), "is empty"),
        "no parquet": (write(folder / "d3.parquet", good), "not a whole Parquet file"),
        "cut npy": (write(folder / "e1.npy", npy[:-20]), "cut off"),
        "cut npy header": (write(folder / "e2.npy", npy[:30]), "cut off"),
        "empty npy": (write(folder / "e3.npy", b""), "cut off"),
        "objects": (folder / "objects.npy", "Python objects, which are not read because they may run code"),
        "cut npz": (write(folder / "f1.npz", npz[:-30]), "cut off"),
        "wrong npz": (write(folder / "f2.npz", npz[:200] + b"x" * 20 + npz[220:]), "cut off"),
    }


def test_damaged_files_are_refused_with_their_name_and_the_place(tmp_path: Path) -> None:
    for case, (path, message) in damaged(tmp_path).items():
        with pytest.raises(DataError, match=message) as refused:
            read(path)
        assert str(path) in str(refused.value), case


def test_a_damaged_file_in_a_folder_is_not_set_aside(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", HEADER + ROWS)
    write(tmp_path / "b.csv", HEADER + "m2,b,8,")
    with pytest.raises(ReadError, match=r"b\.csv: row 2"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("m,b,8,4,5", r"row 4 of .*a\.csv \(the header is row 1\), prompt '8': 5 correct out of 4"),
        ("m,b,8,4,-1", r"row 4 .*prompt '8'.*cannot be negative"),
        ("m,b,8,4,1.5", r"row 4 .*prompt '8'.*fraction"),
        ("m,b,8,4,", r"row 4 .*prompt '8' has no correct count"),
        ("m,b,8,4,x", r"row 4 .*prompt '8'.*'x', which is not a count"),
        ("m,b,,4,1", r"row 4 .*has no prompt id"),
        ("m,b,7,4,1", r"rows 3 and 4 .*system 'm', benchmark 'b', prompt '7'"),
    ],
)
def test_bad_rows_are_named_as_people_count_them(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(write(tmp_path / "a.csv", HEADER + ROWS + row + "\n"))


def test_a_generation_read_twice_is_refused_with_both_rows(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"records 1 and 3 of .*a\.jsonl .*prompt 'p', generation 1"):
        read(write(tmp_path / "a.jsonl", lines(LINE, LINE | {"epoch": 2}, LINE)))


def test_what_is_not_there_or_may_not_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for source, message in [
        (tmp_path / "none.csv", "there is no file or folder"),
        (str(tmp_path / "*.csv"), "no file matches"),
        (tmp_path, "holds no file of a kind that is read"),
        (write(tmp_path / "a.txt", "x"), r"not of a kind that is read: \.csv"),
        ("a\0b.csv", "there is no file|is not a path"),
        ("x" * 5000, "there is no file|cannot be read"),
        (None, "was expected, but a value of type NoneType"),
        ({"a": 1}, "was expected"),
        ([], "is empty"),
    ]:
        with pytest.raises(ReadError, match=message):
            read(source)
    path = write(tmp_path / "a.csv", HEADER + ROWS)

    def forbidden(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    with pytest.raises(ReadError, match=r"a\.csv may not be read by this user"):
        read(path)


def test_unknown_columns_say_what_is_there_and_what_was_looked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "model,x,y\nm,1,maybe\n")
    with pytest.raises(
        ReadError, match="neither counts nor outcomes: it has 'model', 'x', 'y'.*looked for correct, is_correct"
    ):
        read(path)
    with pytest.raises(ReadError, match=r"'n' may count generations.*correct='...'"):
        read(write(tmp_path / "a.csv", "model,n,mean\nm,10,0.5\n"))
    with pytest.raises(ReadError, match=r"'c' may count correct ones.*generations='...'"):
        read(write(tmp_path / "a.csv", "model,c,mean\nm,10,0.5\n"))
    with pytest.raises(ReadError, match="no column 'promt'"):
        read(write(tmp_path / "a.csv", HEADER + ROWS), prompt="promt")


def test_unknown_arguments_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", HEADER + ROWS)
    for options, message in [
        ({"model": "m"}, "did you mean system="),
        ({"promt": "m"}, "did you mean prompt="),
        ({"kind": "count"}, "kind must be one of 'counts', 'outcomes'"),
        ({"columns_are": "models"}, "columns_are must be one of"),
        ({"threshold": float("nan")}, "threshold must be a finite number"),
    ]:
        with pytest.raises(OptionError, match=message):
            read(path, **options)  # type: ignore[arg-type]


# Folders, patterns, lists


def test_files_of_a_folder_are_joined_and_others_set_aside_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a.csv", HEADER + ROWS)
    write(tmp_path / "b.csv", HEADER + ROWS.replace("m,", "m2,"))
    write(tmp_path / "summary.csv", "model,benchmark,n,mean\nm,b,10,0.5\n")
    write(tmp_path / "notes.txt", "")
    (tmp_path / "plots").mkdir()
    results = read(tmp_path)
    assert results.run_names == (("m", "b"), ("m2", "b"))
    account = "\n".join(results.account)
    for words in (
        "a.csv: 2 rows",
        "b.csv: 2 rows",
        "summary.csv is neither",
        "notes.txt",
        "in all: 2 sources",
    ):
        assert words in account
    assert [line.removeprefix("bayeseval: ") for line in capsys.readouterr().err.splitlines()] == list(results.account)
    assert quietly(str(tmp_path / "?.csv")) == results
    assert quietly([tmp_path / "a.csv", str(tmp_path / "b.csv"), tmp_path / "a.csv"]) == results


def test_a_folder_without_results_says_why(tmp_path: Path) -> None:
    write(tmp_path / "summary.csv", "model,benchmark,n,mean\nm,b,10,0.5\n")
    with pytest.raises(ReadError, match=r"no counts or outcomes were found.*summary\.csv is neither"):
        read(tmp_path)


def test_the_same_prompt_in_two_files_is_refused_with_both_places(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", HEADER + ROWS)
    write(tmp_path / "b.csv", HEADER + "m,b,x,1,1\n" + ROWS)
    with pytest.raises(DataError, match=r"row 2 of .*a\.csv .* and row 3 of .*b\.csv .*prompt '007'"):
        read(tmp_path)


def both_forms(folder: Path) -> None:
    LONG.to_csv(folder / "outcomes.csv", index=False)
    Outcomes.from_frame(LONG, quiet=True).counts().to_frame().to_csv(folder / "counts.csv", index=False)


def test_one_run_as_counts_and_as_outcomes_must_be_chosen(tmp_path: Path) -> None:
    both_forms(tmp_path)
    with pytest.raises(
        ReadError, match=r"counts\.csv holds counts and .*outcomes\.csv outcomes of the same run \(m on b\)"
    ):
        read(tmp_path)
    outcomes, counts = quietly(tmp_path, kind="outcomes"), quietly(tmp_path, kind="counts")
    assert isinstance(outcomes, Outcomes)
    assert isinstance(counts, Counts)
    assert outcomes.counts() == counts
    assert any("set aside" in line and "counts.csv holds counts" in line for line in outcomes.account)
    assert any("set aside" in line and "with the same counts" in line for line in counts.account)


def test_counts_and_outcomes_of_one_run_that_disagree_are_refused(tmp_path: Path) -> None:
    both_forms(tmp_path)
    write(tmp_path / "counts.csv", "system,benchmark,prompt,generations,correct\nm,b,p,2,2\nm,b,q,2,2\n")
    with pytest.raises(ReadError, match="do not agree on prompt 'p' of m on b"):
        read(tmp_path, kind="counts")


def test_outcomes_of_other_runs_are_counted_beside_counts(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", HEADER + ROWS)
    LONG.assign(model="m2").to_csv(tmp_path / "b.csv", index=False)
    results = quietly(tmp_path)
    assert isinstance(results, Counts)
    assert results.run_names == (("m", "b"), ("m2", "b"))


def test_files_without_generation_numbers_are_numbered_on_but_never_counted_twice(tmp_path: Path) -> None:
    for name, passed in (("a", [1, 0]), ("b", [1, 1])):
        pd.DataFrame({"task_id": ["p", "q"], "passed": passed}).to_csv(tmp_path / f"{name}.csv", index=False)
    results = quietly(tmp_path)
    assert isinstance(results, Outcomes)
    assert results.counts().correct.tolist() == [2, 1]
    assert results.generation.tolist() == [0, 0, 1, 1]
    assert any("numbered on" in line for line in results.account)
    write(tmp_path / "b.csv", (tmp_path / "a.csv").read_bytes())
    with pytest.raises(DataError, match=r"a\.csv and .*b\.csv hold the same generations"):
        read(tmp_path)


def test_generations_of_one_prompt_in_several_files_are_counted_together(tmp_path: Path) -> None:
    for epoch, passed in ((1, 1), (2, 0), (3, 1)):
        write(tmp_path / f"{epoch}.csv", f"model,task,question_id,epoch,passed\nm,b,p,{epoch},{passed}\n")
    write(tmp_path / "counts.csv", HEADER + ROWS.replace("m,", "m2,"))
    both = quietly(tmp_path, kind="counts")
    assert isinstance(both, Counts)
    found = {prompt: (n, c) for prompt, n, c in zip(both.prompt, both.generations, both.correct, strict=True)}
    assert found == {"007": (4, 1), "7": (5, 2), "p": (3, 2)}


def test_links_to_one_file_are_read_once(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", HEADER + ROWS)
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    results = quietly(tmp_path)
    assert len(results) == 2
    assert any("b.csv (read before)" in line for line in results.account)


def test_names_with_brackets_are_files_and_no_patterns(tmp_path: Path) -> None:
    path = tmp_path / "run [v2]*.csv"
    write(path, HEADER + ROWS)
    pl.from_pandas(LONG).write_parquet(tmp_path / "run [v2].parquet")
    assert len(quietly(path)) == 2
    assert len(quietly(tmp_path / "run [v2].parquet")) == 4


# Other sources


def test_frames_matrices_and_results_are_read_too() -> None:
    counts = Counts.from_arrays([1], [2], system="x")
    assert read(counts) is counts
    assert quietly(LONG) == Outcomes.from_frame(LONG, quiet=True)
    assert quietly(LONG, kind="counts") == Outcomes.from_frame(LONG, quiet=True).counts()
    assert quietly(np.array([[1, 0], [0, np.nan]])) == Outcomes.from_matrix([[1, 0], [0, None]])
    assert quietly([[1, 0], [0]]) == Outcomes.from_matrix([[1, 0], [0, None]])
    assert quietly([LONG, LONG.assign(model="m2")]).run_names == (("m", "b"), ("m2", "b"))
    assert quietly([counts, Counts.from_arrays([1], [2])]).run_names == (("x", "benchmark"), ("system", "benchmark"))
    with pytest.raises(OptionError, match="cannot be taken apart"):
        read(counts, kind="outcomes")


def test_kind_settles_what_a_table_is() -> None:
    rows = pd.DataFrame({"id": ["p", "q"], "n": [1, 1], "correct": [1, 0]})
    assert isinstance(quietly(rows), Counts)
    assert isinstance(quietly(rows, kind="outcomes"), Outcomes)
    repeated = pd.DataFrame({"id": ["p", "p"], "num_samples": [2, 2], "correct": [1, 0]})
    assert isinstance(quietly(repeated), Outcomes)
    assert isinstance(quietly(rows.assign(epoch=1)), Outcomes)
    assert isinstance(quietly(rows.assign(epoch=1, n=4, correct=[3, 0])), Counts)


def test_a_threshold_for_counts_is_said_to_be_idle(tmp_path: Path) -> None:
    results = quietly(write(tmp_path / "a.csv", HEADER + ROWS), threshold=0.5)
    assert any("threshold= had no effect" in line for line in results.account)


def test_unscored_generations_are_in_the_account(tmp_path: Path) -> None:
    results = quietly(write(tmp_path / "a.csv", "id,epoch,correct\np,1,1\np,2,\n"))
    assert "1 generation without a score, not counted as wrong" in results.account[-1]


# Bytes at random


def cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(len(data))]


def flip(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(len(data), size=3):
        changed[place] = rng.integers(256)
    return bytes(changed)


def insert(data: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(data)))
    return data[:place] + rng.choice([b'"', b",", b"\n", b"null", b"NaN", b"\0", b"1e999", b"\xff"]) + data[place:]


@pytest.mark.parametrize("change", [cut, flip, insert])
def test_damage_gives_results_or_one_sentence_that_names_the_file(
    tmp_path: Path, change: Callable[[bytes, np.random.Generator], bytes]
) -> None:
    rng = np.random.default_rng(1)
    paths = variants(tmp_path)
    np.save(tmp_path / "m.npy", np.ones((5, 4)))
    for original in [*paths, tmp_path / "m.npy"]:
        data = original.read_bytes()
        for _ in range(15):
            path = write(tmp_path / f"damaged_{original.name}", change(data, rng))
            try:
                quietly(path)
            except BayesevalError as refused:
                assert str(path) in str(refused)
