"""Files of evaluation tools: real samples give what the raw files hold, and anything else is one sentence."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import random
import struct
import types
import zlib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import bayeseval as be
from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.errors import BayesevalError, DataError, MissingDependencyError, OptionError, ReadError
from bayeseval.outcomes import Outcomes
from bayeseval.readers import formats, opening, read
from bayeseval.readers.formats import kind_of_file, recognised
from bayeseval.readers.peeks import outline

FOLDERS = ("deepeval", "evalplus", "every_eval_ever", "helm", "human_eval", "inspect_ai", "lighteval", "livecodebench",
           "lm_eval", "matharena", "openai_evals", "openai_simple_evals", "opencompass", "promptfoo", "tau2_bench",
           "tau_bench")  # fmt: skip


def quietly(source: object, **options: Any) -> Counts | Outcomes | Credits:
    return read(source, quiet=True, **options)  # type: ignore[no-any-return]


# Real samples


def expected_cells(folder: Path) -> dict[tuple[str, str, str, str], list[dict[str, str]]]:
    cells: dict[tuple[str, str, str, str], list[dict[str, str]]] = {}
    with (folder / "expected.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells.setdefault((row["file"], row["model"], row["task"], row["metric"]), []).append(row)
    return cells


def per_prompt(counts: Counts) -> dict[str, tuple[int, int]]:
    columns = (counts.prompt, counts.generations, counts.correct)
    return {prompt: (n, c) for prompt, n, c in zip(*(column.tolist() for column in columns), strict=True)}


def as_counts(results: Counts | Outcomes | Credits) -> Counts:
    assert not isinstance(results, Credits)
    return results if isinstance(results, Counts) else results.counts()


@pytest.mark.parametrize("folder", FOLDERS)
def test_samples_of_every_tool_give_what_is_expected(shared: Path, folder: str) -> None:
    place = shared / "formats" / folder
    for (name, model, task, metric), rows in expected_cells(place).items():
        path = place / name if (place / name).exists() else str(place / name)
        names = {"system": model or "system", "benchmark": task or "benchmark"}

        def only(results: Any, names: dict[str, str] = names) -> Any:
            return results.select(**names)

        said = f"{name} {task} {metric}"
        binary = all(row["c"] or row["n"] == "0" for row in rows)
        cut: dict[str, Any] = {} if binary else {"threshold": 1}
        dropped = only(quietly(path, metric=metric, errored="drop", unscored="drop", **cut))
        kept = only(quietly(path, metric=metric, errored="wrong", unscored="wrong", **cut))
        some = only(quietly(path, metric=metric, errored="wrong", unscored="drop", **cut))
        found, of_errored, of_all = (per_prompt(as_counts(results)) for results in (dropped, some, kept))
        assert set(found) == {row["prompt_id"] for row in rows}, said
        for row in rows:
            prompt, n = row["prompt_id"], int(row["n"])
            errored, unscored = int(row["n_errored"]), int(row["n_unscored"])
            assert found[prompt][0] == n, (said, prompt)
            assert of_errored[prompt][0] == n + errored, (said, prompt)
            assert of_all[prompt][0] == n + errored + unscored, (said, prompt)
            assert found[prompt][1] == of_errored[prompt][1] == of_all[prompt][1], (said, prompt)
            if row["c"]:
                assert found[prompt][1] == int(row["c"]), (said, prompt)
            if isinstance(dropped, Counts):
                assert found[prompt][1] == pytest.approx(float(row["score_sum"]))
                continue
            inside = dropped.prompt == prompt
            order = np.argsort(dropped.generation[inside], kind="stable")
            scores = (dropped.correct if dropped.score is None else dropped.score)[inside][order]
            assert np.nansum(scores) == pytest.approx(float(row["score_sum"]), abs=1e-8), (said, prompt)
            if row["scores"]:
                listed = [math.nan if part in "EU" else float(part) for part in row["scores"].split(";")]
                np.testing.assert_allclose(scores, listed, rtol=1e-8, atol=1e-9, err_msg=f"{said} {prompt}")


def test_every_sample_is_recognised_by_its_content(shared: Path) -> None:
    with (shared / "formats" / "sniff_expected.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {row["path"]: kind_of_file(shared / "formats" / row["path"]) for row in rows}
    assert found == {row["path"]: row["format"] for row in rows}


# Small files of every tool, made here


def text(value: object) -> bytes:
    return json.dumps(value).encode()


def lines(*records: object) -> bytes:
    return b"".join(text(record) + b"\n" for record in records)


def parquet(rows: list[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows).write_parquet(buffer)
    return buffer.getvalue()


def zstd(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)  # type: ignore[no-any-return]


def archive(members: dict[str, bytes], *, method: int = 8, claim: dict[str, int] | None = None) -> bytes:
    """A zip archive by hand; method 93 is Zstandard, which zipfile before Python 3.14 cannot write."""
    body, directory = io.BytesIO(), io.BytesIO()
    for name, data in members.items():
        packed = zstd(data) if method == 93 else zlib.compress(data, 9)[2:-4]
        size = (claim or {}).get(name, len(data))
        common = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 33, zlib.crc32(data), len(packed), size, len(name), 0)
        directory.write(b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, body.tell()))
        directory.write(name.encode())
        body.write(b"PK\3\4" + common + name.encode() + packed)
    start = body.tell()
    body.write(directory.getvalue())
    body.write(b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), body.tell() - start, start, 0))
    return body.getvalue()


def lm_eval_line(doc: int, score: float, **changes: Any) -> dict[str, Any]:
    record = {
        "doc_id": doc, "target": "4", "resps": [["4"]], "filtered_resps": ["4"], "filter": "none",
        "metrics": ["exact_match"], "exact_match": score,
    }  # fmt: skip
    return {**record, **changes}


def inspect_sample(id: object, epoch: int, value: object, **changes: Any) -> dict[str, Any]:
    return {"id": id, "epoch": epoch, "target": "4", "scores": {"match": {"value": value, "answer": "4"}}, **changes}


ABOUT = {"version": 2, "status": "success", "eval": {"task": "sums", "model": "acme/toy"}}
INSPECT = [inspect_sample("a/b", 1, "C"), inspect_sample("a/b", 2, "I"), inspect_sample("c", 1, "C")]


def inspect_archive(samples: list[dict[str, Any]], method: int = 8, **header: Any) -> bytes:
    whole = {f"samples/{sample['id']}_epoch_{sample['epoch']}.json": text(sample) for sample in samples}
    members = {**whole, "summaries.json": text(samples), "header.json": text({**ABOUT, **header})}
    return archive(members, method=method)


def helm_entry(id: str, trial: int, score: float, **changes: Any) -> dict[str, Any]:
    stats = [{"name": {"name": name, "split": "test"}, "mean": mean} for name, mean in
             (("num_references", 2.0), ("exact_match", score))]  # fmt: skip
    return {"instance_id": id, "train_trial_index": trial, "stats": stats, **changes}


def eee_record(sample: str, score: float, **changes: Any) -> dict[str, Any]:
    record = {
        "schema_version": "0.3.0", "evaluation_id": "e", "model_id": "acme/toy", "evaluation_name": "sums",
        "evaluation_result_id": "acc", "sample_id": sample, "evaluation": {"score": score, "is_correct": score > 0},
    }  # fmt: skip
    return {**record, **changes}


def promptfoo_result(a: int, success: bool, index: int, **changes: Any) -> dict[str, Any]:
    result = {"promptId": "p", "promptIdx": 0, "testIdx": index, "vars": {"a": a}, "success": success,
              "score": float(success), "provider": {"label": "acme/toy"}, "failureReason": 0 if success else 1,
              "error": None if success else "Expected"}  # fmt: skip
    return {**result, **changes}


def match(sample: str, correct: bool) -> dict[str, Any]:
    return {"run_id": "r", "sample_id": sample, "type": "match", "data": {"correct": correct}}


def simple_evals() -> bytes:
    asked = ["What?\nA) one\nB) two", "Who?\nA) me\nB) you", "What?\nA) two\nB) one", "Who?\nA) me\nB) you"]
    conversations = [[{"role": "user", "content": a}, {"role": "assistant", "content": "A"}] for a in asked]
    htmls = [f"<p>Score: {score}</p>" for score in (1.0, 0.0, 0.0, 1.0)]
    return text({"score": 0.5, "metrics": {}, "htmls": htmls, "convos": conversations})


SPEC = {"spec": {"run_id": "r", "completion_fns": ["acme/toy"], "eval_name": "sums"}}
DOC = {"id": "a", "task_name": "sums|0", "choices": ["4"], "gold_index": 0}
SMALL: dict[str, tuple[str, bytes, str, dict[str, tuple[int, int]]]] = {
    "lm_eval": (
        "acme__toy/samples_sums_2026-01-02T03-04-05.678.jsonl",
        lines(lm_eval_line(0, 1.0), lm_eval_line(1, 0.0)), "acme/toy on sums", {"0": (1, 1), "1": (1, 0)},
    ),
    "lm_eval_old": (
        "pretrained__acme__toy_sums.jsonl",
        json.dumps([{"doc_id": i, "resps": [["4"]], "acc": float(i)} for i in (0, 1)], indent=2).encode(),
        "acme/toy_sums on pretrained__acme__toy_sums", {"0": (1, 0), "1": (1, 1)},
    ),
    "inspect_zip": ("log.eval", inspect_archive(INSPECT), "acme/toy on sums", {"a/b": (2, 1), "c": (1, 1)}),
    "inspect_zstd": ("log.eval", inspect_archive(INSPECT, 93), "acme/toy on sums", {"a/b": (2, 1), "c": (1, 1)}),
    "inspect_json": ("log.json", text({**ABOUT, "samples": INSPECT}), "acme/toy on sums", {"a/b": (2, 1), "c": (1, 1)}),
    "lighteval": (
        "details/acme/toy/2026/details_sums|0_2026-01-02T03-04-05.678.parquet",
        parquet([{"doc": {**DOC, "id": i}, "model_response": {"text": ["4"] * 8}, "metric": {"avg@n:n=8": v}}
                 for i, v in (("007", 0.6249999999999999), ("7", 0.0))]),
        "acme/toy on sums|0", {"007": (8, 5), "7": (8, 0)},
    ),
    "lighteval_old": (
        "details/acme/toy/2026/details_sums|0_2026-01-02T03-04-05.678.parquet",
        parquet([{"full_prompt": "?", "predictions": ["4"] * 4, "gold": ["4"], "metrics": {"math_pass@1:4_samples": v}}
                 for v in (0.25, 1.0)]),
        "acme/toy on sums|0", {"row0": (4, 1), "row1": (4, 4)},
    ),
    "opencompass": (
        "results/toy/sums.json",
        text({"accuracy": 50.0, "details": [{"example_abbr": "sums_0", "pred": ["4", "5"], "correct": [True, False]}]}),
        "toy on sums", {"sums_0": (2, 1)},
    ),
    "opencompass_ppl": (
        "results/toy/sums.json", text({"accuracy": 50.0, "details": {"type": "PPL", "0": {"correct": True}}}),
        "toy on sums", {"0": (1, 1)},
    ),
    "evalplus": (
        "acme--toy_vllm_temp_0.8_eval_results.json",
        text({"hash": "h", "eval": {"Mbpp/1": [{"base_status": "pass", "plus_status": None},
                                               {"base_status": "timeout", "plus_status": None}]}}),
        "acme/toy on mbpp", {"Mbpp/1": (2, 1)},
    ),
    "evalplus_old": (
        "acme--toy_hf_temp_0.8_eval_results.json",
        text({"hash": "h", "eval": {"Mbpp/1": {"nfiles": 2, "base": [["pass", []], ["fail", []]], "plus": []}}}),
        "acme/toy on mbpp", {"Mbpp/1": (2, 1)},
    ),
    "human_eval": (
        "samples.jsonl_results.jsonl",
        lines(*({"task_id": f"HumanEval/{i}", "completion": "", "result": "", "passed": i == 1} for i in (0, 1, 1))),
        "system on HumanEval", {"HumanEval/0": (1, 0), "HumanEval/1": (2, 2)},
    ),
    "livecodebench_all": (
        "toy/Scenario.codegeneration_2_0.2_eval_all.json",
        text([{"question_id": "q", "code_list": ["x", "y"], "graded_list": [True, False]}]),
        "toy on codegeneration", {"q": (2, 1)},
    ),
    "livecodebench_eval": (
        "toy/Scenario.codegeneration_2_0.2_eval.json",
        text([{"pass@1": 0.3, "detail": {}}, {"0": [[True, True], [-4], [True, -2]]}, []]),
        "toy on codegeneration", {"0": (3, 1)},
    ),
    "helm": (
        "sums:model=acme_toy/per_instance_stats.json",
        text([helm_entry("id1", 0, 1.0), helm_entry("id1", 1, 0.0), helm_entry("id2", 0, 1.0)]),
        "acme/toy on sums", {"id1": (2, 1), "id2": (1, 1)},
    ),
    "tau_bench": (
        "toy-airline.json",
        text([{"task_id": 0, "trial": i, "reward": 1.0 - i, "info": {}, "traj": []} for i in (0, 1)]),
        "toy on airline", {"0": (2, 1)},
    ),
    "tau2_bench": (
        "results.json",
        text({"info": {"agent_info": {"llm": "acme/toy"}, "environment_info": {"domain_name": "mock"}}, "simulations": [
            {"task_id": "t", "trial": i, "seed": 5 + i, "reward_info": {"reward": float(i)}} for i in (0, 1)]}),
        "acme/toy on mock", {"t": (2, 1)},
    ),
    "matharena": (
        "outputs/c/d/acme/toy/1.json.zst",
        zstd(text({"idx": 1, "gold_answer": "4", "answers": ["4", "5"], "correct": [True, False]})),
        "acme/toy on c/d", {"1": (2, 1)},
    ),
    "matharena_table": (
        "aime_outputs.jsonl",
        lines(*({"problem_idx": "1", "idx_answer": i, "model_name": "Toy", "correct": i == 0} for i in (0, 1))),
        "Toy on aime", {"1": (2, 1)},
    ),
    "matharena_parquet": (
        "aime_outputs.parquet",
        parquet([{"problem_idx": "1", "idx_answer": i, "model_name": "Toy", "correct": i == 0} for i in (0, 1)]),
        "Toy on aime", {"1": (2, 1)},
    ),
    "simple_evals": ("gpqa_toy_20260102_030405_allresults.json", simple_evals(), "toy on gpqa",
                     {"item0": (2, 1), "item1": (2, 1)}),
    "openai_evals": ("run.jsonl", lines(SPEC, match("s.0", True), match("s.1", False), {"final_report": {}}),
                     "acme/toy on sums", {"s.0": (1, 1), "s.1": (1, 0)}),
    "promptfoo": (
        "results.json",
        text({"evalId": "e", "results": {"results": [promptfoo_result(1, i < 2, i) for i in range(3)]},
              "config": {"description": "sums"}}),
        "acme/toy on sums", {'{"a": 1}': (3, 2)},
    ),
    "promptfoo_lines": ("results.jsonl", lines(promptfoo_result(1, True, 0), promptfoo_result(2, False, 1)),
                        "acme/toy on benchmark", {'{"a": 1}': (1, 1), '{"a": 2}': (1, 0)}),
    "deepeval": (
        "test_run.json",
        text({"testCases": [{"name": "test_case_0", "input": "2+2", "success": i == 0,
                             "metricsData": [{"name": "Exact", "score": 1.0 - i}]} for i in (0, 1)],
              "hyperparameters": {"model": "acme/toy"}, "identifier": "sums"}),
        "acme/toy on sums", {"2+2": (2, 1)},
    ),
    "every_eval_ever": (
        "0b7c_samples.jsonl", lines(eee_record("a", 1.0), eee_record("b", 0.0)), "acme/toy on sums",
        {"a": (1, 1), "b": (1, 0)},
    ),
    "every_eval_ever_epochs": (
        "0b7c_samples.jsonl",
        lines(*(eee_record("a", 0.75, metadata={"epoch": str(epoch)}) for epoch in (1, 2, 3, 4))),
        "acme/toy on sums", {"a": (4, 3)},
    ),
}  # fmt: skip
SMALL["lm_eval_old"] = (*SMALL["lm_eval_old"][:2], "acme/toy on sums", SMALL["lm_eval_old"][3])


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("tool", SMALL)
def test_a_small_file_of_every_tool_is_read(tmp_path: Path, tool: str) -> None:
    name, content, label, expected = SMALL[tool]
    if tool == "lm_eval_old":
        totals = {
            "results": {"sums": {"acc,none": 0.5}},
            "configs": {},
            "config": {"model_args": "pretrained=acme/toy"},
        }
        put(tmp_path, "results.json", text(totals))
    counts = as_counts(quietly(put(tmp_path, name, content)))
    assert counts.label == label
    assert per_prompt(counts) == expected


@pytest.mark.parametrize("tool", SMALL)
def test_the_content_tells_the_tool_and_not_the_name(tmp_path: Path, tool: str) -> None:
    content, expected = SMALL[tool][1], SMALL[tool][3]
    counts = as_counts(quietly(put(tmp_path, "download", content)))
    assert sorted(per_prompt(counts).values()) == sorted(expected.values())


@pytest.mark.parametrize("tool", [tool for tool in SMALL if SMALL[tool][0].endswith((".json", ".jsonl"))])
@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstd)])
def test_compressed_text_is_read_as_if_it_were_plain(
    tmp_path: Path, tool: str, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    name, content, _, expected = SMALL[tool]
    counts = as_counts(quietly(put(tmp_path, name + suffix, pack(content))))
    assert sorted(per_prompt(counts).values()) == sorted(expected.values())


@pytest.mark.parametrize("tool", SMALL)
def test_a_file_that_was_cut_off_is_one_sentence(tmp_path: Path, tool: str) -> None:
    name, content, _, _ = SMALL[tool]
    for share in (0.3, 0.6, 0.9):
        path = put(tmp_path, name, content[: int(len(content) * share)])
        with pytest.raises(BayesevalError) as refusal:
            quietly(path)
        assert path.name in str(refusal.value) and "\n" not in str(refusal.value)


def test_damage_of_any_kind_gives_results_or_one_sentence(tmp_path: Path) -> None:
    chance = random.Random(7)
    tools = sorted(SMALL)
    junk = [
        b"null",
        b"[]",
        b"{}",
        b'"x"',
        b"-1",
        b"1e999",
        b"NaN",
        b"true",
        b"",
        b"\xff",
        b"[[[[",
        b'{"a":',
        b"2",
        b",",
        b"\0",
    ]
    survived = 0
    for turn in range(200):
        name, content, _, _ = SMALL[tools[turn % len(tools)]]
        damaged = bytearray(content)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(damaged) + 1)
            damaged[at : at + chance.choice([0, 1, 2, 5, 40])] = chance.choice(junk)
        path = put(tmp_path, f"{turn}/{name}", bytes(damaged))
        try:
            quietly(path, threshold=0.5, errored="drop", unscored="drop")
            survived += 1
        except BayesevalError as refusal:
            assert str(refusal)
    assert 0 < survived < 200


def test_json_values_of_the_wrong_type_give_results_or_one_sentence(tmp_path: Path) -> None:
    """Every value of every small JSON file in turn is replaced by values of other types."""

    def places(value: Any, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
        return [where, *(place for key, part in inside for place in places(part, (*where, key)))]

    def replaced(value: Any, where: tuple[Any, ...], new: Any) -> Any:
        if not where:
            return new
        copy = value.copy()
        copy[where[0]] = replaced(value[where[0]], where[1:], new)
        return copy

    chance = random.Random(3)
    for tool, (name, content, _, _) in SMALL.items():
        if not name.endswith((".json", ".jsonl")):
            continue
        try:
            value, write = json.loads(content), text
        except ValueError:
            value, write = [json.loads(line) for line in content.splitlines()], lambda value: lines(*value)
        everywhere = places(value)
        for where in chance.sample(everywhere, min(len(everywhere), 12)):
            new = chance.choice([None, [], {}, "x", -1, math.inf, [None], {"x": None}])
            try:
                damaged = write(replaced(value, where, new))
            except TypeError:
                continue  # lines of nothing
            try:
                quietly(put(tmp_path, f"{tool}/{name}", damaged), threshold=0.5, errored="drop", unscored="drop")
            except BayesevalError as refusal:
                assert str(refusal), (tool, where, new)


# Choices that only the user can make


def test_metrics_that_disagree_must_be_chosen_and_the_choices_are_listed(tmp_path: Path) -> None:
    both = {"metrics": ["acc", "acc_norm"], "acc": 0.0}
    path = put(tmp_path, "samples_a_2026-01-02T03-04-05.678.jsonl", lines(
        lm_eval_line(0, 0, **both, acc_norm=1.0), lm_eval_line(1, 0, **both, acc_norm=0.0)))  # fmt: skip
    with pytest.raises(OptionError, match=r"line 1, prompt '0'.*metric= with one of 'acc@none', 'acc_norm@none'"):
        quietly(path)
    assert per_prompt(as_counts(quietly(path, metric="acc_norm"))) == {"0": (1, 1), "1": (1, 0)}
    assert per_prompt(as_counts(quietly(path, metric=["f1", "acc@none"]))) == {"0": (1, 0), "1": (1, 0)}
    with pytest.raises(OptionError, match=r"has no metric 'f1'; it has 'acc@none', 'acc_norm@none'"):
        quietly(path, metric="f1")


def test_metrics_that_agree_are_one(tmp_path: Path) -> None:
    changes = {"metrics": ["acc", "acc_norm"], "acc": 1.0, "acc_norm": 1.0}
    path = put(tmp_path, "samples_a_2026-01-02T03-04-05.678.jsonl", lines(lm_eval_line(0, 0, **changes)))
    results = quietly(path)
    assert as_counts(results).correct.tolist() == [1]
    assert any("agree on every generation" in line for line in results.account)


def test_filters_are_never_counted_as_generations(tmp_path: Path) -> None:
    path = put(tmp_path, "samples_a_2026-01-02T03-04-05.678.jsonl", lines(
        lm_eval_line(0, 0.0, filter="strict"), lm_eval_line(0, 1.0, filter="loose")))  # fmt: skip
    with pytest.raises(OptionError, match=r"filter= with one of 'strict', 'loose'"):
        quietly(path)
    assert per_prompt(as_counts(quietly(path, filter="loose"))) == {"0": (1, 1)}
    assert per_prompt(as_counts(quietly(path, metric="exact_match", filter="strict"))) == {"0": (1, 0)}
    with pytest.raises(OptionError, match="has no filter 'sloppy'"):
        quietly(path, filter="sloppy")


def test_a_filter_is_for_the_benchmarks_that_have_a_choice(tmp_path: Path) -> None:
    put(tmp_path, "samples_a_2026-01-02T03-04-05.678.jsonl", lines(
        lm_eval_line(0, 0.0, filter="strict"), lm_eval_line(0, 1.0, filter="loose")))  # fmt: skip
    both = {"metrics": ["acc", "acc_norm"], "acc": 0.0, "acc_norm": 1.0}
    put(tmp_path, "samples_b_2026-01-02T03-04-05.678.jsonl", lines(lm_eval_line(0, 0.0, **both)))
    counts = as_counts(quietly(tmp_path, metric=["exact_match", "acc"], filter="loose"))
    assert dict(zip(counts.benchmark.tolist(), counts.correct.tolist(), strict=True)) == {"a": 1, "b": 0}
    with pytest.raises(OptionError, match=r"b has no metric 'exact_match'; it has 'acc@none', 'acc_norm@none'"):
        quietly(tmp_path, metric="exact_match", filter="loose")


def test_many_files_of_a_tool_are_told_of_in_few_lines(tmp_path: Path) -> None:
    for number in range(40):
        problem = {"idx": number, "gold_answer": "4", "answers": ["4"], "correct": [True]}
        put(tmp_path, f"{number}.json.zst", zstd(text(problem)))
    results = quietly(tmp_path)
    assert as_counts(results).n_prompts == 40
    assert len(results.account) < 6 and any("and 39 more files" in line for line in results.account)


def test_a_metric_that_no_file_has_is_refused(tmp_path: Path) -> None:
    name, content, _, _ = SMALL["tau_bench"]
    with pytest.raises(OptionError, match="no file has the metric 'rewards'"):
        quietly(put(tmp_path, name, content), metric="rewards")


def test_take_first_counts_one_generation_and_says_so(tmp_path: Path) -> None:
    right_wrong = [["4", "5", "5", "5"]]  # the stored metric, 1.0, is that of the first response
    path = put(tmp_path, "samples_a_2026-01-02T03-04-05.678.jsonl", lines(
        lm_eval_line(0, 1.0, resps=right_wrong), lm_eval_line(1, 1.0, resps=right_wrong)))  # fmt: skip
    results = quietly(path)
    assert per_prompt(as_counts(results)) == {"0": (1, 1), "1": (1, 1)}
    assert any("4 responses" in line and "first one only" in line for line in results.account)


def test_pass_at_1_over_all_responses_is_a_count(tmp_path: Path) -> None:
    changes = {"resps": [["4"] * 8], "filtered_resps": [["4"] * 8], "metrics": ["pass@1", "pass@2"], "pass@2": 1.0}
    first = put(tmp_path, "samples_a_2026-01-02T03-04-05.678.jsonl", lines(
        lm_eval_line(0, 0, **changes, **{"pass@1": 0.6249999999999999})))  # fmt: skip
    assert per_prompt(as_counts(quietly(first))) == {"0": (8, 5)}
    put(tmp_path, "samples_a_2026-01-03T03-04-05.678.jsonl", lines(lm_eval_line(0, 0, **changes, **{"pass@1": 0.25})))
    assert per_prompt(as_counts(quietly(tmp_path))) == {"0": (16, 7)}
    third = put(tmp_path, "samples_a_2026-01-04T03-04-05.678.jsonl", lines(
        lm_eval_line(0, 0, **changes, **{"pass@1": 0.3})))  # fmt: skip
    with pytest.raises(ReadError, match="no mean of right and wrong"):
        quietly(third)


def test_dated_files_of_one_task_are_generations_but_a_copy_is_refused(tmp_path: Path) -> None:
    content = lines(lm_eval_line(0, 1.0), lm_eval_line(1, 0.0))
    put(tmp_path, "samples_a_2026-01-02T03-04-05.678.jsonl", content)
    put(tmp_path, "samples_a_2026-01-03T03-04-05.678.jsonl", lines(lm_eval_line(0, 1.0)))
    put(tmp_path, "samples_a_2026-01-04T03-04-05.678.jsonl", content)
    assert per_prompt(as_counts(quietly(tmp_path))) == {"0": (3, 3), "1": (2, 0)}
    put(tmp_path, f"copies/{tmp_path.name}/samples_a_2026-01-02T03-04-05.678.jsonl", content)
    with pytest.raises(DataError, match="hold the same generations"):
        quietly(str(tmp_path / "**" / "*.jsonl"))


def test_errored_generations_need_a_decision_of_the_user(tmp_path: Path) -> None:
    error = {"message": "HTTP 529"}
    samples = [*INSPECT, inspect_sample("c", 2, "C", scores={}, error=error)]
    path = put(tmp_path, "log.json", text({**ABOUT, "samples": samples}))
    with pytest.raises(OptionError, match=r"1 generation of 4 errored.*prompt 'c'.*errored='drop'.*errored='wrong'"):
        quietly(path)
    dropped, wrong = (quietly(path, errored=policy) for policy in ("drop", "wrong"))
    assert per_prompt(as_counts(dropped))["c"] == (1, 1)
    assert per_prompt(as_counts(wrong))["c"] == (2, 1)
    assert any("errored='wrong'" in line for line in wrong.account)
    with pytest.raises(OptionError, match="errored must be one of 'drop', 'wrong'"):
        quietly(path, errored="zero")


def test_an_errored_generation_with_a_score_counts(tmp_path: Path) -> None:
    samples = [*INSPECT, inspect_sample("c", 2, "C", error={"message": "late"})]
    results = quietly(put(tmp_path, "log.json", text({**ABOUT, "samples": samples})))
    assert per_prompt(as_counts(results))["c"] == (2, 2)
    assert any("although the run errored" in line for line in results.account)


def test_nan_is_not_scored_and_not_wrong(tmp_path: Path) -> None:
    values = (math.nan, "C", math.nan, "I")
    samples = [inspect_sample("a", epoch, value) for epoch, value in enumerate(values, 1)]
    path = put(tmp_path, "log.eval", inspect_archive(samples, 93))
    with pytest.raises(OptionError, match=r"2 generations of 4 have no score.*unscored='drop'"):
        quietly(path)
    counts = as_counts(quietly(path, unscored="drop"))
    assert per_prompt(counts) == {"a": (2, 1)}
    metrics = [be.metrics.pass_at(k) for k in (1, 2)]
    assert be.metric_estimates(counts, metrics=metrics).to_frame()["value"].tolist() == [0.5, 1.0]
    assert per_prompt(as_counts(quietly(path, unscored="wrong"))) == {"a": (4, 1)}


@pytest.mark.parametrize("kind", ["counts", "outcomes", "credits"])
@pytest.mark.parametrize(("errored", "unscored", "n"), [
    ("drop", "drop", 1), ("wrong", "drop", 2), ("drop", "wrong", 3), ("wrong", "wrong", 4),
])  # fmt: skip
def test_what_errored_and_what_has_no_score_are_decided_apart(
    tmp_path: Path, kind: str, errored: str, unscored: str, n: int
) -> None:
    samples = [inspect_sample("a", 1, "C"), inspect_sample("a", 2, "C", scores={}, error={"message": "x"})]
    samples += [inspect_sample("a", epoch, math.nan) for epoch in (3, 4)]
    path = put(tmp_path, "log.json", text({**ABOUT, "samples": samples}))
    results = quietly(path, kind=kind, errored=errored, unscored=unscored)
    if isinstance(results, Credits):
        assert (results.n_generations, np.nansum(results.credit)) == (n, 1)
    else:
        assert per_prompt(as_counts(results)) == {"a": (n, 1)}


def test_tables_take_unscored_for_wrong_only_if_told(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", b"model,benchmark,prompt_id,generation,correct\nm,b,a,0,1\nm,b,a,1,\n")
    assert per_prompt(as_counts(quietly(path))) == {"a": (1, 1)}
    for kind in ("counts", "outcomes"):
        assert per_prompt(as_counts(quietly(path, kind=kind, unscored="wrong"))) == {"a": (2, 1)}
    matrix = quietly([[1, None], [0, 1]], unscored="wrong")
    assert as_counts(matrix).generations.tolist() == [2, 2]


@pytest.mark.parametrize("value", ["maybe", [], "C+", math.inf, -math.inf, "inf", {"x": {}}])
def test_scores_that_cannot_be_read_are_refused_and_never_wrong(tmp_path: Path, value: object) -> None:
    samples = [*INSPECT, inspect_sample("c", 2, value)]
    path = put(tmp_path, "log.json", text({**ABOUT, "samples": samples}))
    if value == []:  # no part at all is no score
        with pytest.raises(OptionError, match="have no score"):
            quietly(path)
    else:
        with pytest.raises(BayesevalError, match="cannot be read|several metrics"):
            quietly(path)


@pytest.mark.parametrize(("value", "score"), [
    ("C", 1.0), ("I", 0.0), ("N", 0.0), ("P", 0.5), (True, 1.0), (False, 0.0), ("1", 1.0), ("0.5", 0.5), ("yes", 1.0),
    (1.0, 1.0), (0, 0.0), ("true", 1.0),
])  # fmt: skip
def test_words_of_inspect_mean_what_inspect_says(tmp_path: Path, value: object, score: float) -> None:
    path = put(tmp_path, "log.json", text({**ABOUT, "samples": [inspect_sample("a", 1, value)]}))
    assert quietly(path, kind="credits").credit.tolist() == [score]
    if score in (0.0, 1.0):
        assert as_counts(quietly(path)).correct.tolist() == [int(score)]
    else:
        with pytest.raises(DataError, match=r"neither 0 nor 1.*kind='credits'"):
            quietly(path)


@pytest.mark.parametrize("value", [2.0, -1, 5])
def test_scores_outside_0_and_1_need_a_threshold(tmp_path: Path, value: float) -> None:
    path = put(tmp_path, "log.json", text({**ABOUT, "samples": [inspect_sample("a", 1, value)]}))
    with pytest.raises(DataError, match="neither 0 nor 1"):
        quietly(path)
    with pytest.raises(DataError, match=r"outside \[0, 1\]"):
        quietly(path, kind="credits")
    assert as_counts(quietly(path, threshold=2)).correct.tolist() == [int(value >= 2)]


def test_partial_credit_is_never_rounded(tmp_path: Path) -> None:
    trials = [{"task_id": 0, "trial": i, "reward": 0.5, "info": {}, "traj": []} for i in (0, 1)]
    path = put(tmp_path, "toy-retail.json", text(trials))
    with pytest.raises(DataError, match="threshold"):
        quietly(path)
    assert per_prompt(as_counts(quietly(path, threshold=1))) == {"0": (2, 0)}
    credits = quietly(path, kind="credits")
    assert isinstance(credits, Credits) and credits.credit.mean() == 0.5
    with pytest.raises(OptionError, match="one of the two"):
        quietly(path, kind="credits", threshold=1)


def test_credits_of_tables_and_tools_are_joined(tmp_path: Path) -> None:
    put(tmp_path, "toy-retail.json", text([{"task_id": 0, "trial": 0, "reward": 0.5, "info": {}, "traj": []}]))
    put(tmp_path, "a.csv", b"model,benchmark,prompt_id,generation,score\nm,b,a,0,0.25\n")
    assert sorted(quietly(tmp_path, kind="credits").credit.tolist()) == [0.25, 0.5]


# Keys


def test_a_generation_that_occurs_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    trials = [{"task_id": "dup", "trial": 0, "reward": reward, "info": {}, "traj": []} for reward in (1.0, 0.0)]
    path = put(tmp_path, "toy-retail.json", text(trials))
    with pytest.raises(DataError, match=r"element 1 and element 2 of .*toy-retail\.json hold the same .*'dup'"):
        quietly(path)
    put(tmp_path, "a/log.json", text({**ABOUT, "samples": INSPECT}))
    put(tmp_path, "b/log.json", text({**ABOUT, "samples": INSPECT[:1]}))
    with pytest.raises(DataError, match=r"a.log\.json.* and .*b.log\.json.*hold the same .*'a/b'"):
        quietly(str(tmp_path / "*" / "log.json"))


def test_a_document_that_occurs_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    rows = [{"doc": DOC, "model_response": {"text": ["4"] * 4}, "metric": {"avg@n:n=4": 0.5}}] * 2
    with pytest.raises(DataError, match=r"row 1 and row 2 hold the same id 'a'"):
        quietly(put(tmp_path, "details.parquet", parquet(rows)))
    records = [lm_eval_line(0, 1.0), lm_eval_line(0, 0.0)]
    with pytest.raises(DataError, match=r"line 1 and line 2 hold the same doc_id 0"):
        quietly(put(tmp_path, "samples.jsonl", lines(*records)))
    with pytest.raises(DataError, match=r"line 1 and line 2 hold the same sample 'a'"):
        quietly(put(tmp_path, "eee_samples.jsonl", lines(eee_record("a", 1.0), eee_record("a", 0.0))))


def test_one_name_is_not_given_to_several_systems_or_benchmarks(tmp_path: Path) -> None:
    other = promptfoo_result(1, True, 1, provider="acme/other")
    path = put(tmp_path, "results.jsonl", lines(promptfoo_result(1, True, 0), other))
    assert as_counts(quietly(path, benchmark="sums")).run_names == (("acme/toy", "sums"), ("acme/other", "sums"))
    with pytest.raises(OptionError, match="holds several systems"):
        quietly(path, system="mine")


def test_ids_stay_text_and_benchmarks_stay_apart(tmp_path: Path) -> None:
    other = {**ABOUT, "eval": {"task": "other/sums2", "model": "acme/toy"}}
    put(tmp_path, "a.json", text({**ABOUT, "samples": [inspect_sample("007", 1, "C")]}))
    put(tmp_path, "b.json", text({**other, "samples": [inspect_sample("007", 1, "I")]}))
    counts = as_counts(quietly(tmp_path))
    assert counts.run_names == (("acme/toy", "sums"), ("acme/toy", "sums2"))
    assert counts.prompt.tolist() == ["007", "007"]
    path = put(tmp_path, "c.json", text({**ABOUT, "samples": [inspect_sample("7", 1, "C"), inspect_sample(7, 2, "I")]}))
    with pytest.raises(DataError, match="'7' stands in the file as text and as a number"):
        quietly(path)


def test_names_may_be_given_and_columns_may_not(tmp_path: Path) -> None:
    name, content, _, _ = SMALL["human_eval"]
    path = put(tmp_path, name, content)
    assert as_counts(quietly(path, system="mine", benchmark="code")).run_names == (("mine", "code"),)
    assert as_counts(quietly(path, correct="passed")).n_prompts == 2
    name, content, _, _ = SMALL["tau_bench"]
    with pytest.raises(OptionError, match=r"tau-bench, which has no columns: correct= does not apply"):
        quietly(put(tmp_path, name, content), correct="reward")
    with pytest.raises(OptionError, match="name the scorer with metric="):
        quietly(path, scorer="match")


# Parts of a file that are never pooled


def test_perturbed_copies_are_never_pooled(tmp_path: Path) -> None:
    stats = [{"name": {"name": "exact_match", "split": "test"}, "mean": 0.0}]
    rows = [helm_entry("id1", 0, 1.0), helm_entry("id1", 0, 0.0, perturbation={"name": "typos"}, stats=stats)]
    path = put(tmp_path, "sums:model=toy/per_instance_stats.json", text(rows))
    results = quietly(path)
    assert per_prompt(as_counts(results)) == {"id1": (1, 1)}
    assert any("never pooled" in line for line in results.account)
    perturbed = quietly(path, metric="exact_match [perturbation=typos]")
    assert per_prompt(as_counts(perturbed)) == {"id1": (1, 0)}


def test_base_and_plus_are_two_benchmarks(tmp_path: Path) -> None:
    entry = [{"base_status": "pass", "plus_status": "fail"}, {"base_status": "fail", "plus_status": "pass"}]
    path = put(
        tmp_path, "acme--toy_vllm_temp_0.8_eval_results.json", text({"hash": "h", "eval": {"HumanEval/0": entry}})
    )
    counts = as_counts(quietly(path))
    assert counts.run_names == (("acme/toy", "humaneval"), ("acme/toy", "humaneval+"))
    assert counts.correct.tolist() == [1, 0]  # passing the added tests alone is no pass


def test_real_errors_of_promptfoo_are_told_from_failed_assertions(tmp_path: Path) -> None:
    failed = promptfoo_result(1, False, 1, failureReason=2)
    path = put(tmp_path, "results.jsonl", lines(promptfoo_result(1, False, 0), failed))
    with pytest.raises(OptionError, match="1 generation of 2 errored"):
        quietly(path)
    assert list(per_prompt(as_counts(quietly(path, errored="drop"))).values()) == [(1, 0)]


def test_two_files_of_one_evaluation_are_counted_once(tmp_path: Path) -> None:
    results = [promptfoo_result(1, True, 0), promptfoo_result(1, False, 1)]
    put(tmp_path, "promptfoo/results.json", text({"evalId": "e", "results": {"results": results}, "config": {}}))
    put(tmp_path, "promptfoo/results.jsonl", lines(*results))
    graded = {"question_id": "q", "code_list": ["x"], "graded_list": [True]}
    put(tmp_path, "toy/Scenario.codegeneration_1_0.2_eval_all.json", text([graded]))
    tests = [{"pass@1": 1.0, "detail": {}}, {"0": [[True]]}, []]
    put(tmp_path, "toy/Scenario.codegeneration_1_0.2_eval.json", text(tests))
    assert as_counts(quietly(tmp_path / "promptfoo")).generations.tolist() == [2]
    assert as_counts(quietly(tmp_path / "toy")).generations.tolist() == [1]
    assert as_counts(quietly(tmp_path)).generations.tolist() == [2, 1]


def test_crashes_of_agents_are_errors_and_no_wrong_answers(tmp_path: Path) -> None:
    crash = {"task_id": 0, "trial": 1, "reward": 0.0, "info": {"error": "x", "traceback": ""}, "traj": []}
    good = {"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": []}
    path = put(tmp_path, "toy-retail.json", text([good, crash]))
    assert per_prompt(as_counts(quietly(path, errored="drop"))) == {"0": (1, 1)}
    ended = {"task_id": "t", "trial": 0, "reward_info": {"reward": 0.0}, "termination_reason": "agent_error"}
    nothing = {"task_id": "t", "trial": 1, "reward_info": None, "termination_reason": "user_stop"}
    path = put(tmp_path, "tau2.json", text({"info": {}, "simulations": [ended, nothing]}))
    with pytest.raises(OptionError, match="errored"):
        quietly(path, unscored="drop")
    with pytest.raises(OptionError, match="have no score"):
        quietly(path, errored="drop")


def test_simulations_may_lie_in_a_folder(tmp_path: Path) -> None:
    put(tmp_path, "run/simulations/1.json", text({"task_id": "t", "trial": 0, "reward_info": {"reward": 1.0}}))
    index = put(tmp_path, "run/results.json", text({"info": {}, "simulation_index": ["1"]}))
    assert per_prompt(as_counts(quietly(index))) == {"t": (1, 1)}


def test_ungraded_answers_are_not_wrong(tmp_path: Path) -> None:
    problem = {"idx": 1, "gold_answer": "4", "answers": ["4", "5"], "correct": [True, "TODO: grade"]}
    path = put(tmp_path, "1.json.zst", zstd(text(problem)))
    assert per_prompt(as_counts(quietly(path, unscored="drop"))) == {"1": (1, 1)}


def test_repeated_runs_of_lighteval_are_further_generations(tmp_path: Path) -> None:
    def run(day: int, share: float, right: int) -> None:
        folder = f"details/acme/toy/{day}"
        row = {"doc": DOC, "model_response": {"text": ["4"] * 4}, "metric": {"avg@n:n=4": share}}
        put(tmp_path, f"{folder}/details_sums|0_2026-01-0{day}T03-04-05.678.parquet", parquet([row]))
        single = {"doc": {**DOC, "task_name": "mc|0"}, "model_response": {"text": []}, "metric": {"acc": right}}
        put(tmp_path, f"{folder}/details_mc|0_2026-01-0{day}T03-04-05.678.parquet", parquet([single]))

    run(1, 0.25, 1)
    run(2, 1.0, 0)
    counts = as_counts(quietly(str(tmp_path / "**" / "*.parquet")))
    assert per_prompt(counts.select(benchmark="sums|0")) == {"a": (8, 5)}
    assert per_prompt(counts.select(benchmark="mc|0")) == {"a": (2, 1)}


def test_the_answer_is_that_of_the_filter_or_scorer_that_was_chosen(tmp_path: Path) -> None:
    path = put(tmp_path, "samples_a_2026-01-02T03-04-05.678.jsonl", lines(
        lm_eval_line(0, 0.0, filter="strict", filtered_resps=["[invalid]"]),
        lm_eval_line(0, 1.0, filter="loose", filtered_resps=["4"])))  # fmt: skip
    assert [quietly(path, filter=name).answer.tolist() for name in ("strict", "loose")] == [["[invalid]"], ["4"]]
    scores = {"match": {"value": "C", "answer": "four"}, "judge": {"value": 0, "answer": "4"}}
    path = put(tmp_path, "log.json", text({**ABOUT, "samples": [inspect_sample("a", 1, "C", scores=scores)]}))
    assert [quietly(path, metric=name).answer.tolist() for name in scores] == [["four"], ["4"]]


def test_an_answer_that_a_log_has_cut_off_is_none(tmp_path: Path) -> None:
    cut = {"match": {"value": "C", "answer": "x" * 1015 + "..."}}
    samples = [inspect_sample("a", 1, "C", scores=cut), inspect_sample("a", 2, "C")]
    results = quietly(put(tmp_path, "log.eval", inspect_archive(samples)))
    assert isinstance(results, Outcomes) and results.answer is not None
    assert results.answer.tolist() == [None, "4"] and results.correct.tolist() == [1, 1]
    assert any("cut off" in line for line in results.account)


def test_scores_that_say_the_same_in_other_words_agree(tmp_path: Path) -> None:
    scores = {"match": {"value": "C"}, "judge": {"value": 1}, "text": {"value": "1.0"}, "flag": {"value": True}}
    path = put(tmp_path, "log.json", text({**ABOUT, "samples": [inspect_sample("a", 1, "C", scores=scores)]}))
    assert as_counts(quietly(path)).correct.tolist() == [1]


def test_answers_gold_and_seeds_come_along(tmp_path: Path) -> None:
    outcomes = quietly(put(tmp_path, "log.json", text({**ABOUT, "samples": INSPECT})))
    assert isinstance(outcomes, Outcomes) and outcomes.answer is not None and outcomes.gold is not None
    assert set(outcomes.answer) == set(outcomes.gold) == {"4"}
    name, content, _, _ = SMALL["tau2_bench"]
    simulated = quietly(put(tmp_path, name, content))
    assert isinstance(simulated, Outcomes) and simulated.seed is not None and simulated.seed.tolist() == [5, 6]


# Files without results


NOTHING: dict[str, tuple[str, bytes, str]] = {
    "lm_eval totals": ("results_1.json", text({"results": {"a": {"acc,none": 0.5}}, "configs": {}}), "--log_samples"),
    "lighteval totals": ("results.json", text({"config_general": {}, "results": {"a": {"em": 1}}}), "--save-details"),
    "OpenCompass totals": ("a.json", text({"accuracy (4 runs average)": 40.0}), "--dump-eval-details"),
    "OpenCompass predictions": ("a.json", text({"0": {"prediction": "4", "gold": "4"}}), "results/"),
    "BigCode": ("generations.json", text([["a", "b"], ["c"]]), "without ids"),
    "completions": ("samples.jsonl", lines({"task_id": "a", "completion": "x"}), "not evaluated"),
    "LiveCodeBench code": ("a.json", text([{"question_id": "a", "code_list": ["x"]}]), "_eval_all"),
    "simple-evals totals": ("gpqa_toy.json", text({"score": 0.5, "score:std": 0.5}), "_allresults"),
    "HELM": ("run_spec.json", text({"name": "a", "adapter_spec": {}, "scenario_spec": {}}), "per_instance_stats"),
    "Every Eval Ever": ("a.json", text({"schema_version": "0.3.0", "evaluation_id": "e", "evaluation_results": []}),
                        "_samples.jsonl"),
    "a schema": ("schema.json", text({"$schema": "https://json-schema.org/draft/2020-12/schema"}), "schema"),
    "Inspect": ("log.json", text(ABOUT), "without samples"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NOTHING)
def test_files_without_results_are_refused_with_a_hint_and_set_aside_in_a_folder(tmp_path: Path, kind: str) -> None:
    name, content, hint = NOTHING[kind]
    path = put(tmp_path, name, content)
    with pytest.raises(ReadError, match=hint):
        quietly(path)
    tool, good, _, expected = SMALL["human_eval"]
    put(tmp_path, tool, good)
    results = quietly(tmp_path)
    assert per_prompt(as_counts(results)) == expected
    assert any(line.startswith("set aside") and name in line for line in results.account)


def test_json_of_no_tool_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "settings.json", text({"name": "x", "score": 1}))
    assert recognised(path) is None
    with pytest.raises(ReadError, match="not of a kind that is read"):
        quietly(path)


# Bounds


def test_a_member_that_would_grow_beyond_all_measure_is_refused(tmp_path: Path) -> None:
    members = {"header.json": text(ABOUT), "summaries.json": b"[" + b" " * 2**17 + b"]"}
    for method in (8, 93):
        bomb = archive(members, method=method, claim={"summaries.json": 2**32 - 1})
        with pytest.raises(ReadError, match=r"summaries\.json in .*would decompress to more"):
            quietly(put(tmp_path, "bomb.eval", bomb))
        liar = archive(members, method=method, claim={"summaries.json": 10})
        with pytest.raises(ReadError, match=r"summaries\.json|damaged"):
            quietly(put(tmp_path, "liar.eval", liar))


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_compressed_file_that_would_grow_beyond_all_measure_is_refused(
    tmp_path: Path, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "LIMIT", 2**20)
    name, content, _, _ = SMALL["tau_bench"]
    path = put(tmp_path, name, pack(content[:-1] + b" " * 2**21 + b"]"))
    with pytest.raises(ReadError, match="would decompress to more"):
        quietly(path)
    assert per_prompt(as_counts(quietly(put(tmp_path, name, pack(content))))) == {"0": (2, 1)}
    name, content, _, _ = SMALL["human_eval"]
    with pytest.raises(ReadError, match="would decompress to more"):
        quietly(put(tmp_path, name, pack(content * 2**15)))


def test_only_the_beginning_of_a_file_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, content, _, _ = SMALL["tau2_bench"]
    path = put(tmp_path, name, content[:-1] + b" " * 2**25 + b"}")
    sizes = []
    look = opening.beginning

    def watched(path: Path, size: int) -> tuple[bytes, bool]:
        sizes.append(size)
        return look(path, size)

    monkeypatch.setattr("bayeseval.readers.peeks.beginning", watched)
    assert kind_of_file(path) == "tau2_bench"
    assert sizes == [2**18]


def test_without_a_library_for_zstandard_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> types.ModuleType:
        raise ImportError(name)

    monkeypatch.setattr(opening.importlib, "import_module", missing)
    with pytest.raises(MissingDependencyError, match=r"bayeseval\[zstd\]"):
        quietly(put(tmp_path, "log.eval", SMALL["inspect_zstd"][1]))


def test_a_run_that_died_is_read_from_its_journal(tmp_path: Path) -> None:
    members = {
        "_journal/start.json": text(ABOUT | {"status": "started"}),
        "_journal/summaries/1.json": text(INSPECT[:1]),
        "_journal/summaries/2.json": text(INSPECT[1:2]),
        **{f"samples/{sample['id']}_epoch_{sample['epoch']}.json": text(sample) for sample in INSPECT},
    }
    results = quietly(put(tmp_path, "log.eval", archive(members, method=93)))
    assert per_prompt(as_counts(results)) == SMALL["inspect_zip"][3]
    assert any("died" in line for line in results.account)


# The look and the catalogue


@pytest.mark.parametrize(("cut", "seen"), [
    ('{"version": 2, "eval": {"task": "su', {"version": 2, "eval": {}}),
    ('{"a": [1, {"b": "}]", "c": [2, 3], "d": ', {"a": [1, {"b": "}]", "c": [2, 3]}]}),
    ('[{"x": "say \\"hi, {", "y": 1}, {"x"', [{"x": 'say "hi, {', "y": 1}, {}]),
    ("{", {}), ("[", []), ("{]", None), ('{"whole": true} and more', {"whole": True}),
])  # fmt: skip
def test_an_outline_holds_what_there_is(cut: str, seen: object) -> None:
    assert outline(cut) == seen


def test_every_beginning_of_a_text_has_an_outline(tmp_path: Path) -> None:
    whole = json.dumps({**ABOUT, "samples": INSPECT, "odd": 'a "quote", \\ and {brackets]'})
    for end in range(1, len(whole) + 1):
        assert isinstance(outline(whole[:end]), dict), whole[:end]
    assert outline(whole) == json.loads(whole)


def test_an_installed_package_may_bring_a_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bayeseval.readers.samples import Sample

    mine = types.SimpleNamespace(
        NAME="my tool",
        sniff=lambda peek: "mine" if "my_tool" in peek.record else None,
        samples=lambda file: [Sample(p, {"ok": s}, p, 0) for p, s in file.json()["my_tool"].items()],
    )

    class Entry:
        name, value = "mine", "package:module"

        def __init__(self, found: object) -> None:
            self.found = found

        def load(self) -> object:
            return self.found

    def offering(found: object) -> None:
        formats.formats.cache_clear()
        monkeypatch.setattr(metadata, "entry_points", lambda group: [Entry(found)] if group == formats.GROUP else [])

    path = put(tmp_path, "x.json", text({"my_tool": {"a": 1, "b": 0}}))
    try:
        offering(mine)
        assert per_prompt(as_counts(quietly(path))) == {"a": (1, 1), "b": (1, 0)}
        offering(types.SimpleNamespace(NAME="half", sniff=None, samples=None))
        with pytest.raises(ReadError, match="the reader 'mine'"):
            quietly(path)
    finally:
        formats.formats.cache_clear()


def test_every_format_keeps_the_protocol() -> None:
    names = [form.NAME for form in formats.formats()]
    assert len(set(names)) == len(names)
    for form in formats.formats():
        assert callable(form.sniff) and callable(form.samples)
        assert form.__doc__ and len(form.__doc__.splitlines()[0]) < 121
