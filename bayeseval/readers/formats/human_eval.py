"""OpenAI human-eval: ``<samples>_results.jsonl``, one completion a line.

``task_id`` is the prompt, ``passed`` the score; generations are numbered in the order of the file, in which those of
a prompt need not be adjacent. The file names no model. The samples before evaluation have no ``passed``, as have
those of EvalPlus.
"""

from __future__ import annotations

from collections.abc import Iterator

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "human-eval"


def sniff(peek: Peek) -> str | None:
    """Lines with ``task_id``, ``completion`` and ``passed``; without ``passed`` they are not evaluated yet."""
    if not peek.is_lines or "task_id" not in peek.record:
        return None
    if "passed" in peek.record:
        known = peek.record.keys() - {"task_id", "completion", "result", "passed", "completion_id"}
        return "human_eval_results" if "result" in peek.record and not known else None
    return "code_samples_unscored" if {"completion", "solution"} & peek.record.keys() else None


def samples(file: File) -> Iterator[Sample]:
    """One sample a line."""
    if file.label == "code_samples_unscored":
        file.refuse(
            "holds completions that were not evaluated yet: read what human-eval or EvalPlus writes about them, "
            "<name>_results.jsonl or <name>_eval_results.json"
        )
    for place, record in file.records():
        prompt = record.get("task_id")
        yield Sample(
            prompt, {"passed": record.get("passed")}, place, generation=record.get("completion_id"),
            answer=record.get("completion"), benchmark=str(prompt).partition("/")[0] if "/" in str(prompt) else "",
        )  # fmt: skip
