"""Every Eval Ever 0.2 and 0.3: ``<uuid>_samples.jsonl``, instance records.

``model_id`` is the system, ``evaluation_name`` the benchmark, ``sample_id`` the prompt and ``evaluation_result_id``
the metric. The format has no number of the generation; converters put ``metadata.epoch``. Files made of Inspect logs
repeat the mean over epochs in the record of every epoch, and their ``is_correct`` means "more than 0": the number of
correct generations is the mean times the number of records. Aggregate files hold totals only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample, whole_total

__all__ = ["NAME", "samples", "sniff"]

NAME = "Every Eval Ever"


def sniff(peek: Peek) -> str | None:
    """Lines with ``sample_id``, ``evaluation`` and ``evaluation_id``; aggregates have ``evaluation_results``."""
    if {"sample_id", "evaluation", "evaluation_id"} <= peek.record.keys():
        return "eee_samples"
    keys = peek.record.keys()
    return "eee_aggregate" if {"schema_version", "evaluation_id"} <= keys and {
        "evaluation_results", "source_metadata"} & keys else None  # fmt: skip


def samples(file: File) -> Iterator[Sample]:
    """One sample for each benchmark, sample id and epoch; totals where epochs were reduced to their mean."""
    if file.label == "eee_aggregate":
        file.refuse("holds totals of Every Eval Ever: read the instance records, ..._samples.jsonl")
    found: dict[tuple[str, str, str], Sample] = {}
    for place, record in file.records():
        sample = _sample(record, place)
        key = (sample.benchmark, str(sample.prompt), str(sample.generation))
        known = found.setdefault(key, sample)
        if known is not sample:
            twice = known.scores.keys() & sample.scores.keys()
            if twice:
                file.damaged(f"{known.place} and {place} hold the same sample {sample.prompt!r}, {min(twice)!r}")
            known.scores |= sample.scores  # type: ignore[operator]
            known.errored = known.errored or sample.errored
    rows = list(found.values())
    yield from _unreduced(file, rows) if _reduced(rows) else rows


def _sample(record: dict[str, Any], place: str) -> Sample:
    evaluation, metadata = record.get("evaluation") or {}, record.get("metadata") or {}
    epoch = metadata.get("epoch")
    raw = (record.get("output") or {}).get("raw") or []
    golds = (record.get("input") or {}).get("reference") or []
    return Sample(
        record.get("sample_id"), {str(record.get("evaluation_result_id") or "score"): evaluation.get("score")}, place,
        int(str(epoch)) if str(epoch).isdigit() else epoch, errored=bool(record.get("error")),
        answer=raw[0] if len(raw) == 1 else None, gold=golds[0] if len(golds) == 1 else None,
        system=str(record.get("model_id") or ""), benchmark=str(record.get("evaluation_name") or ""),
    )  # fmt: skip


def _by_prompt(rows: list[Sample]) -> dict[tuple[str, str], list[Sample]]:
    prompts: dict[tuple[str, str], list[Sample]] = {}
    for row in rows:
        prompts.setdefault((row.benchmark, str(row.prompt)), []).append(row)
    return prompts


def _reduced(rows: list[Sample]) -> bool:
    """Whether every prompt has several epochs with one and the same score, and some of these are between 0 and 1."""
    parts = _by_prompt(rows).values()
    several = any(len(part) > 1 for part in parts) and all(row.generation is not None for row in rows)
    same = all(row.scores == part[0].scores for part in parts for row in part)
    return several and same and any(value not in (0, 1, None) for row in rows for value in row.scores.values())


def _unreduced(file: File, rows: list[Sample]) -> Iterator[Sample]:
    file.note("every epoch of a sample has the mean over epochs: correct generations are that mean times their number")
    for part in _by_prompt(rows).values():
        first, count = part[0], len(part)
        where = f"{first.place} of {file.path}"
        first.scores = {name: whole_total(value, count, where) for name, value in first.scores.items()}
        first.generation, first.answer = 0, None
        yield first
