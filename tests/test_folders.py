"""Folders read as a whole: everything below them, each file once, parts of one table together."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bayeseval.counts import Counts
from bayeseval.errors import BayesevalError, DataError, ReadError
from bayeseval.outcomes import Outcomes
from bayeseval.readers import read

ROOT = Path(__file__).resolve().parents[1]


def quietly(source: object, **options: Any) -> Counts | Outcomes:
    return read(source, quiet=True, **options)


def rows(path: Path, system: str = "m", prompts: int = 2) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{system},b,p{i},4,{i}" for i in range(prompts)]
    path.write_text("model,benchmark,prompt_id,n,c\n" + "\n".join(lines) + "\n")
    return path


def log(path: Path, task: str, scores: dict[str, list[str]], **about: Any) -> Path:
    """A log of Inspect."""
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = [{"id": i, "epoch": e, "scores": {"match": {"value": v}}}
               for i, values in scores.items() for e, v in enumerate(values, 1)]  # fmt: skip
    head = {"version": 2, "status": "success", "eval": {"model": "acme/toy", "task": task, **about}}
    path.write_text(json.dumps({**head, "samples": samples}))
    return path


def test_a_folder_means_everything_below_it_in_order(tmp_path: Path) -> None:
    for name in ("b/deep/er/x.csv", "a.csv", "b/a.csv", "c.csv"):
        rows(tmp_path / name, system=name)
    rows(tmp_path / ".hidden" / "x.csv")
    rows(tmp_path / ".x.csv")
    results = quietly(tmp_path)
    assert [name for name, _ in results.run_names] == ["a.csv", "b/a.csv", "b/deep/er/x.csv", "c.csv"]
    assert not any("hidden" in line or "/.x" in line for line in results.account)
    assert quietly(str(tmp_path / "**")) == results


def test_links_are_followed_once_and_cycles_never(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    rows(outside / "far.csv", system="far")
    logs = tmp_path / "logs"
    rows(logs / "z" / "near.csv", system="near")
    (logs / "a-link").symlink_to(logs / "z", target_is_directory=True)
    (logs / "z" / "up").symlink_to(logs, target_is_directory=True)
    (logs / "away").symlink_to(outside, target_is_directory=True)
    (logs / "copy.csv").symlink_to(logs / "z" / "near.csv")
    (logs / "nothing").symlink_to(tmp_path / "gone")
    results = quietly(logs)
    assert [name for name, _ in results.run_names] == ["near", "far"]
    account = "\n".join(results.account)
    for words in (
        "a-link (a link to",
        "up (a link to",
        "copy.csv (read before)",
        "nothing (a link that leads nowhere)",
    ):
        assert words in account
    assert f"{logs / 'z' / 'near.csv'}: 2 rows" in account, "the file is named by its own folder, not by the link"


@pytest.mark.skipif(os.name == "nt", reason="permissions of Windows are others")
def test_what_may_not_be_read_is_set_aside_but_refused_by_name() -> None:
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
    folder.chmod(0o755)
    rows(folder / "open.csv")
    closed = rows(folder / "closed.csv", system="x")
    shut = rows(folder / "shut" / "in.csv", system="y").parent
    closed.chmod(0)
    shut.chmod(0)
    program = """
import os, sys
import polars, narwhals, numpy
from bayeseval.readers import read
import bayeseval.readers.reading
from bayeseval.readers.formats import formats
formats()
if os.geteuid() == 0:
    os.setuid(65534)
results = read(sys.argv[1], quiet=True)
print(*results.account, sep="\\n")
for name in ("closed.csv", "shut"):
    try:
        read(os.path.join(sys.argv[1], name), quiet=True)
    except Exception as problem:
        print(type(problem).__name__, problem)
"""
    try:
        command = [sys.executable, "-c", program, str(folder)]
        answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    finally:
        shut.chmod(0o755)
        shutil.rmtree(folder)
    assert answer.returncode == 0, answer.stderr
    assert "closed.csv (may not be read by this user)" in answer.stdout
    assert "shut (a folder that may not be entered: Permission denied)" in answer.stdout
    assert "ReadError" in answer.stdout.splitlines()[-2] and "check its permissions" in answer.stdout.splitlines()[-2]
    assert "ReadError" in answer.stdout.splitlines()[-1]


def test_many_files_of_no_kind_share_a_line(tmp_path: Path) -> None:
    rows(tmp_path / "a.csv")
    for index in range(20):
        (tmp_path / f"plot{index:02}.png").write_bytes(b"\x89PNG")
    lines = [line for line in quietly(tmp_path).account if line.startswith("set aside")]
    assert lines == [f"set aside: {tmp_path / 'plot00.png'} and 19 more (no results of a kind that is read)"]


def test_an_empty_tree_says_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "notes.md").write_text("x")
    with pytest.raises(ReadError, match=r"holds no file of a kind that is read.*there are notes\.md"):
        quietly(tmp_path)


def test_equal_prompt_ids_of_two_benchmarks_stay_apart(tmp_path: Path) -> None:
    log(tmp_path / "logs" / "one" / "a.json", "sums", {"1": ["C", "I"], "2": ["C", "C"]})
    log(tmp_path / "logs" / "two" / "b.json", "logic", {"1": ["I", "I"], "2": ["I", "C"]})
    counts = quietly(tmp_path / "logs").counts()
    assert list(zip(counts.benchmark, counts.prompt, counts.correct, strict=True)) == [
        ("sums", "1", 1), ("sums", "2", 2), ("logic", "1", 0), ("logic", "2", 1)]  # fmt: skip


def test_files_of_two_folders_that_name_nothing_are_not_pooled(tmp_path: Path) -> None:
    for name in ("one", "two"):
        path = tmp_path / name / "out.jsonl"
        path.parent.mkdir()
        path.write_text("".join(json.dumps({"prompt_id": i, "correct": int(name == "one")}) + "\n" for i in range(3)))
    with pytest.raises(DataError, match="lie in different folders, both hold prompt '0'.*system or the benchmark"):
        quietly(tmp_path)
    paths = sorted(tmp_path.rglob("*.jsonl"))
    assert quietly(paths).counts().generations.tolist() == [2, 2, 2], "files that the user names are generations"
    for path in paths:
        named = [{**json.loads(line), "model": path.parent.name, "task": "t"} for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(record) + "\n" for record in named))
    assert quietly(tmp_path).run_names == (("one", "t"), ("two", "t"))


def test_logs_of_several_tools_and_tables_are_joined(tmp_path: Path) -> None:
    log(tmp_path / "inspect" / "a.json", "sums", {"1": ["C", "I"]})
    rows(tmp_path / "tables" / "b.csv")
    counts = quietly(tmp_path)
    assert isinstance(counts, Counts) and counts.run_names == (("m", "b"), ("acme/toy", "sums"))
    (tmp_path / "tables" / "c.csv").write_text("model,benchmark,prompt_id,n,c\nacme/toy,sums,1,2,2\n")
    with pytest.raises(ReadError, match="holds counts and .* outcomes of the same run"):
        quietly(tmp_path)


TOOLS = [
    ("lighteval", {"metric": ["pass@k:k=1&n=4", "extractive_match", "acc", "em", "avg@n:n=8"]}),
    ("opencompass", {}), ("matharena", {"errored": "drop", "unscored": "drop"}),
    ("tau2_bench", {"errored": "drop", "unscored": "drop"}), ("evalplus", {}), ("tau_bench", {"errored": "drop"}),
]  # fmt: skip


@pytest.mark.parametrize("tool, options", TOOLS, ids=[name for name, _ in TOOLS])
def test_the_folder_of_a_tool_gives_what_its_files_give(
    shared: Path, tmp_path: Path, tool: str, options: dict[str, Any]
) -> None:
    folder = tmp_path / tool
    shutil.copytree(shared / "formats" / tool, folder, ignore=shutil.ignore_patterns("expected*.csv"))
    whole = quietly(folder, kind="counts", **options)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    single: dict[tuple[str, str, str], tuple[int, int]] = {}
    for path in files:
        try:
            part = quietly(path, kind="counts", **options)
        except BayesevalError:
            continue
        for row in part.to_frame().itertuples():
            key = (row.system, row.benchmark, row.prompt)
            n, c = single.get(key, (0, 0))
            single[key] = (n + row.generations, c + row.correct)
    found = {
        (row.system, row.benchmark, row.prompt): (row.generations, row.correct) for row in whole.to_frame().itertuples()
    }
    assert found == single
    assert any("README.md" in line for line in whole.account)


# Parts of one table


def table(systems: str, prompts: range) -> pl.DataFrame:
    return pl.DataFrame({"model": [systems] * len(prompts), "prompt_id": [f"{i:03}" for i in prompts],
                         "correct": [i % 2 for i in prompts]})  # fmt: skip


def test_parts_of_a_data_set_are_one_table(tmp_path: Path) -> None:
    data = tmp_path / "set" / "data"
    data.mkdir(parents=True)
    (tmp_path / "set" / "README.md").write_text("# a data set")
    (tmp_path / "set" / "dataset_infos.json").write_text('{"default": {"features": {}}}')
    whole = pl.concat([table("m", range(5)), table("m", range(3)), table("m", range(3, 9))])
    whole[:7].write_parquet(data / "train-00000-of-00002.parquet")
    whole[7:].write_parquet(data / "train-00001-of-00002.parquet")
    outcomes = quietly(tmp_path / "set")
    assert outcomes == quietly(whole) and len(outcomes) == 14
    account = "\n".join(outcomes.account)
    assert "and 1 more part: 14 rows" in account and "README.md" in account and "dataset_infos.json" in account
    assert "note:" not in account
    (data / "train-00001-of-00002.parquet").unlink()
    assert any("1 part of 2 are there" in line for line in quietly(tmp_path / "set").account)


def test_two_equal_parts_are_rows_and_no_copies(tmp_path: Path) -> None:
    for index in range(2):
        table("m", range(4)).write_parquet(tmp_path / f"part-{index}.parquet")
    assert quietly(tmp_path).counts().generations.tolist() == [2, 2, 2, 2]


def test_names_of_folders_are_columns_of_text(tmp_path: Path) -> None:
    for split in ("007", "7"):
        for index in range(2):
            path = tmp_path / "out" / f"benchmark={split}" / f"part-{index}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            table("m", range(index * 3, index * 3 + 3)).write_parquet(path)
    outcomes = quietly(tmp_path / "out")
    assert outcomes.run_names == (("m", "007"), ("m", "7")) and outcomes.n_prompts == 12
    assert any("'benchmark' from the names of folders" in line for line in outcomes.account)


def test_parts_with_other_columns_are_other_tables(tmp_path: Path) -> None:
    table("a", range(2)).write_parquet(tmp_path / "0000.parquet")
    table("b", range(2)).rename({"correct": "passed"}).write_parquet(tmp_path / "0001.parquet")
    assert [name for name, _ in quietly(tmp_path).run_names] == ["a", "b"]


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    table("a", range(2)).write_parquet(tmp_path / "part-0.parquet")
    whole = (tmp_path / "part-0.parquet").read_bytes()
    (tmp_path / "part-1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadError, match=r"part-1\.parquet is not a whole Parquet file"):
        quietly(tmp_path)


# Parts of a benchmark


def notes(results: Counts | Outcomes) -> list[str]:
    return [line for line in results.account if line.startswith("note: ")]


def test_the_first_prompts_of_a_benchmark_are_no_random_subset(tmp_path: Path) -> None:
    scores = {"1": ["C"], "2": ["I"]}
    path = log(tmp_path / "a.json", "sums", scores, config={"limit": 2, "epochs": 1}, dataset={"samples": 100})
    assert len(notes(quietly(path))) == 1
    assert "the first 2 of 100 prompts of the benchmark, not a random subset" in notes(quietly(path))[0]
    whole = log(tmp_path / "b.json", "sums", scores, config={"limit": 9, "epochs": 1}, dataset={"samples": 2})
    assert notes(quietly(whole)) == []
    shuffled = {"samples": 100, "shuffled": True}
    other = log(tmp_path / "c.json", "sums", scores, config={"limit": 2}, dataset=shuffled)
    said = notes(quietly(other))[0].removeprefix(f"note: {other}: ")
    assert "2 of 100 prompts" in said and "first" not in said


def test_fewer_generations_than_were_asked_for_are_told(tmp_path: Path) -> None:
    path = log(tmp_path / "a.json", "sums", {"1": ["C", "I", "C"], "2": ["I"]}, config={"epochs": 3})
    assert notes(quietly(path)) == [f"note: {path}: 3 epochs were asked for, but 1 prompt of 2 have fewer, at least 1"]


@pytest.mark.parametrize("name, options, words", [
    ("lm_eval/three_seeds/acme__toy-7b/samples_toy_mc_2026-11-29T13-30-15.014077.jsonl", {"metric": "acc"},
     "--limit 9: the run has the first 9 of 10 prompts"),
    ("inspect_ai/real_logs/2025-05-12T20-28-13-04-00_popularity.json", {}, "limit=3: the run has the first 3 of 100"),
    ("helm/real_gpt2/mmlu-subject=philosophy,method=multiple_choice_joint,model=openai_gpt2/per_instance_stats.json",
     {"metric": "exact_match"}, "max_eval_instances=10: the run has 10 prompts that HELM chose"),
])  # fmt: skip
def test_real_logs_tell_that_they_hold_a_part(shared: Path, name: str, options: dict[str, Any], words: str) -> None:
    assert [words in line for line in notes(quietly(shared / "formats" / name, **options))] == [True]


def test_max_samples_of_lighteval_is_found_beside_the_details(shared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lighteval"
    shutil.copytree(shared / "formats" / "lighteval", folder)
    details = sorted((folder / "details").rglob("details_toy_single*.parquet"))[0]
    assert notes(quietly(details)) == []
    size = len(pl.read_parquet(details, columns=["doc"] if "doc" in pl.read_parquet_schema(details) else None))
    for totals in (folder / "results").rglob("results_*.json"):
        value = json.loads(totals.read_text())
        value["config_general"]["max_samples"] = size
        totals.write_text(json.dumps(value))
    assert f"max_samples={size}" in notes(quietly(details))[0]
