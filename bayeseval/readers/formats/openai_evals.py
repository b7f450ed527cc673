"""OpenAI evals: one JSON line an event, the first with ``spec``, the last with ``final_report``.

``match`` events carry ``data.correct``; ``metrics`` events carry numbers. One run gives one generation of every
sample, so several files of one eval and model are generations. An ``error`` event without a score is an errored
generation; a sample that was only asked has no score.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "OpenAI evals"


def sniff(peek: Peek) -> str | None:
    """A first line with ``spec`` that has a ``run_id``."""
    spec = peek.record.get("spec")
    return "openai_evals" if isinstance(spec, dict) and "run_id" in spec else None


def samples(file: File) -> Iterator[Sample]:
    """One sample for each id, more where an id was scored more than once."""
    names: dict[str, Any] = {}
    seed = None
    scored: dict[str, list[Sample]] = {}
    asked: dict[str, Sample] = {}
    finished = False
    for place, event in file.records():
        if isinstance(spec := event.get("spec"), dict):
            functions = spec.get("completion_fns") or [""]
            names = {"system": str(functions[0]), "benchmark": str(spec.get("eval_name") or "")}
            file.run = str(spec.get("run_id"))
            seed = (spec.get("run_config") or {}).get("seed")
            continue
        finished = finished or "final_report" in event
        prompt, data = event.get("sample_id"), event.get("data")
        if prompt is None or not isinstance(data, dict):
            continue
        known = asked.setdefault(prompt, Sample(prompt, {}, place, seed=seed, **names))
        found = _scores(event.get("type"), data)
        if event.get("type") == "error":
            known.errored = True
        elif found:
            sample = Sample(
                prompt, found, place, answer=data.get("picked"), gold=data.get("expected"), seed=seed, **names
            )
            scored.setdefault(prompt, []).append(sample)
    if not finished:
        file.note("the file has no final report: the run did not come to its end")
    for prompt, sample in asked.items():
        yield from scored.get(prompt, [sample])


def _scores(kind: Any, data: dict[str, Any]) -> dict[str, Any]:
    if kind == "match":
        return {"match.correct": data.get("correct")}
    if kind == "metrics":
        return {f"metrics.{name}": value for name, value in data.items() if isinstance(value, (bool, int, float))}
    return {}
