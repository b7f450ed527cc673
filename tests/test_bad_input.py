"""Input that is bad in ways of its own: bombs, links, halves, equal ids, nested lists, and exports of platforms."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeseval as be
from bayeseval.errors import DataError, OptionError, ReadError
from tests.test_adding import inspect_log, quietly, table
from tests.test_fuzzing import memory, reset_peak
from tests.test_seeds import lm_eval

BOMB = 2**27


def packed_spaces(path: Path, front: bytes) -> Path:
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(front)
        for _ in range(BOMB // 2**20):
            file.write(b" " * 2**20)
    return path


@pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.jsonl.gz", "bomb.json"])
def test_compressed_files_that_grow_beyond_measure_are_refused_by_size(tmp_path: Path, name: str) -> None:
    path = packed_spaces(tmp_path / name, b'{"doc_id": 0, "resps": [["1"]], "acc": 1.0, "x": "')
    assert path.stat().st_size < 2**20
    measured, before = reset_peak(), memory("VmRSS")
    with pytest.raises(ReadError, match="decompress"):
        quietly(path)
    if measured:
        assert memory("VmHWM") - before < 2**28


def test_archives_of_arrays_that_grow_beyond_measure_are_refused_by_size(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("R.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (BOMB // 4, 4)})
        for _ in range(BOMB // 2**20):
            file.write(bytes(2**20))
    with pytest.raises(ReadError, match="decompress"):
        quietly(path)


def test_results_that_shrink_well_are_read(tmp_path: Path) -> None:
    rows = b"".join(b'{"prompt_id": %d, "generation": 0, "correct": 1}\n' % i for i in range(20_000))
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(rows))
    assert quietly(path).n_generations == 20_000


def test_links_that_lead_nowhere_or_in_a_circle(tmp_path: Path) -> None:
    inspect_log(tmp_path / "a.json", {"p": ["C"]})
    (tmp_path / "b.json").symlink_to(tmp_path / "gone.json")
    (tmp_path / "c.json").symlink_to(tmp_path / "c.json")
    (tmp_path / "d.json").symlink_to(tmp_path / "a.json")
    found = quietly(tmp_path)
    assert found.n_generations == 1
    for name in "bc":
        with pytest.raises(ReadError, match=f"{name}.json"):
            quietly(tmp_path / f"{name}.json")


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_named(tmp_path: Path) -> None:
    path = inspect_log(tmp_path / "a.json", {"p": ["C"]})
    path.chmod(0)
    with pytest.raises(ReadError, match=r"a\.json may not be read"):
        quietly(path)


def test_a_log_that_is_being_written_is_refused_with_the_line(tmp_path: Path) -> None:
    path = lm_eval(tmp_path / "a", "acme/toy", {})
    path.write_text(path.read_text() + '{"doc_id": 1, "resps": [["1"]], "filter": "none", "acc": 0.')
    with pytest.raises(ReadError, match=r"line 2 of .*samples_sums.* is no whole JSON.*cut off"):
        quietly(path)


def test_two_benchmarks_with_equal_ids_stay_apart(tmp_path: Path) -> None:
    one = inspect_log(tmp_path / "a.json", {"1": ["C"]})
    other = tmp_path / "b.json"
    other.write_text(one.read_text().replace('"sums"', '"products"').replace('"C"', '"I"'))
    counts = quietly([one, other]).counts()
    assert counts.benchmark.tolist() == ["sums", "products"]
    assert (counts.prompt.tolist(), counts.correct.tolist()) == (["1", "1"], [1, 0])


def test_formats_may_be_mixed_in_one_folder(tmp_path: Path) -> None:
    inspect_log(tmp_path / "log.json", {"1": ["C", "I"]})
    file = lm_eval(tmp_path / "lm", "acme/other", {})
    for path in (file, file.with_name(file.name.replace("samples_sums", "results").replace(".jsonl", ".json"))):
        path.rename(tmp_path / path.name)
    (tmp_path / "notes.txt").write_text("read me")
    (tmp_path / "empty.csv").write_text("a,b\n1,2\n")
    found = quietly(tmp_path)
    assert {name for name, _ in found.run_names} == {"acme/toy", "acme/other"}
    aside = "\n".join(found.account)
    assert all(name in aside for name in ("notes.txt", "empty.csv", "results_2026"))


@pytest.mark.parametrize("value", ["[[1, 0], [0]]", "[true, false]", '{"pass": 1}'])
def test_several_solutions_in_one_row_are_no_score(tmp_path: Path, value: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"prompt_id": "p", "generation": 0, "correct": {value}}}\n')
    with pytest.raises(be.BayesevalError):
        quietly(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_other_encodings_are_refused_and_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("prompt_id,generation,correct\nä,0,1\n".encode(encoding))
    with pytest.raises(ReadError, match="UTF-8"):
        quietly(path)


def test_a_message_is_short_whatever_stands_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x" * 10**6 + ",y\n1,2\n")
    with pytest.raises(ReadError) as refusal:
        quietly(path)
    assert len(str(refusal.value)) < 2500 and "no column holds scores" in str(refusal.value)


# Exports of platforms are plain tables --------------------------------------------------------------------------------

LANGSMITH = """example_id,run_id,inputs.question,outputs.answer,reference.answer,feedback.correctness,error,latency
5f1c-01,9a-1,2+2?,4,4,1,,0.81
5f1c-01,9a-2,2+2?,5,4,0,,0.79
5f1c-02,9a-3,"3*3, really?",9,9,1,,0.92
5f1c-02,9a-4,"3*3, really?",,9,,Timeout,30.00
"""
BRAINTRUST: list[dict[str, Any]] = [
    {"id": f"row-{i}", "dataset_record_id": f"d{i // 2}", "trial_index": i % 2, "input": {"q": i // 2}, "output": "4",
     "expected": "4", "Factuality": score, "metadata": {"model": "acme/toy"}, "error": None}
    for i, score in enumerate([1, 0, 1, None])
]  # fmt: skip


def test_an_export_of_langsmith_is_a_long_table(tmp_path: Path) -> None:
    path = tmp_path / "experiment.csv"
    path.write_text(LANGSMITH)
    found = quietly(
        path, prompt="example_id", generation=False, correct="feedback.correctness", answer="outputs.answer",
        gold="reference.answer",
    )  # fmt: skip
    counts = found.counts()
    assert counts.prompt.tolist() == ["5f1c-01", "5f1c-02"]
    assert (counts.generations.tolist(), counts.correct.tolist()) == ([2, 1], [1, 1])
    assert found.n_unscored == 1 and found.gold.tolist() == ["4", "4", "9", "9"]
    as_wrong = quietly(path, prompt="example_id", generation=False, correct="feedback.correctness", unscored="wrong")
    assert as_wrong.counts().generations.tolist() == [2, 2]


def test_an_export_of_braintrust_is_a_long_table(tmp_path: Path) -> None:
    path = tmp_path / "experiment.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in BRAINTRUST))
    columns = {"prompt": "dataset_record_id", "generation": "trial_index", "correct": "Factuality"}
    counts = quietly(path, **columns).counts()
    assert (counts.generations.tolist(), counts.correct.tolist()) == ([2, 1], [1, 1])
    graded = [{**row, "Factuality": 0.6} for row in BRAINTRUST]
    path.write_text("".join(json.dumps(row) + "\n" for row in graded))
    with pytest.raises(DataError, match="threshold"):
        quietly(path, **columns)
    assert quietly(path, **columns, threshold=0.5).counts().correct.tolist() == [2, 2]


def test_unknown_policies_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", [("p", 0, 1)], "prompt_id,generation,correct")
    with pytest.raises(OptionError, match="'drop', 'wrong', 'bounds'"):
        quietly(path, errored="ignore")
