"""MathArena: ``outputs/<competition>/<model>/<problem>.json.zst``, and the tables of its data sets.

A problem has ``answers`` and ``correct``, one of each a generation; texts in ``correct`` mean that nobody graded it
yet. The table has ``problem_idx``, ``idx_answer`` and ``correct``, one row a generation, with ``model_name``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "MathArena"


def sniff(peek: Peek) -> str | None:
    """Keys ``answers``, ``correct``, ``gold_answer``; or columns ``problem_idx``, ``idx_answer``, ``correct``."""
    if {"answers", "correct", "gold_answer"} <= peek.record.keys() and isinstance(peek.record["answers"], list):
        return "matharena_runs"
    table = {"problem_idx", "idx_answer", "correct"}
    return "matharena_table" if (peek.is_lines and table <= peek.record.keys()) or table <= peek.columns else None


def samples(file: File) -> Iterator[Sample]:
    """One sample a generation."""
    if file.label == "matharena_table":
        yield from _table(file)
        return
    problem = file.json()
    system, benchmark = _names(file.folders)
    answers = problem["answers"]
    overwritten = problem.get("manual_overwrite") or []
    if any(overwritten):
        file.note(f"{sum(map(bool, overwritten))} grades were corrected by hand")
    for index, correct in enumerate(problem["correct"]):
        yield Sample(
            problem.get("idx", file.stem), {"correct": _graded(correct)}, f"correct[{index}]", index,
            answer=answers[index] if index < len(answers) else None, gold=problem.get("gold_answer"),
            system=system, benchmark=benchmark,
        )  # fmt: skip


def _table(file: File) -> Iterator[Sample]:
    benchmark = file.stem.removesuffix("_outputs")
    for place, row in _rows(file):
        yield Sample(
            row.get("problem_idx"), {"correct": _graded(row.get("correct"))}, place, row.get("idx_answer"),
            answer=row.get("parsed_answer"), gold=row.get("gold_answer"), system=str(row.get("model_name") or ""),
            benchmark=benchmark,
        )  # fmt: skip


def _rows(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    if not file.peek.columns:
        yield from file.records()
        return
    import polars as pl

    wanted = {"problem_idx", "idx_answer", "correct", "parsed_answer", "gold_answer", "model_name"}
    frame = pl.read_parquet(file.path, columns=sorted(wanted & file.peek.columns), glob=False)
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        yield f"row {number}", row


def _graded(correct: Any) -> Any:
    """A text such as "TODO" means that nobody graded this generation."""
    return None if isinstance(correct, str) else correct


def _names(folders: list[str]) -> tuple[str, str]:
    """Model and competition: two folders each, the last ones of the path."""
    if "outputs" in folders:
        folders = folders[len(folders) - folders[::-1].index("outputs") :]
    return "/".join(folders[-2:]), "/".join(folders[-4:-2])
