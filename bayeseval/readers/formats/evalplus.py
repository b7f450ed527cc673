"""EvalPlus 0.2 and 0.3: ``<organisation>--<model>_<backend>_temp_<t>_eval_results.json``.

``eval[task_id]`` lists the generations, each with ``base_status`` and ``plus_status``. HumanEval+ means that base and
plus tests pass, so it is a benchmark of its own; where only base tests ran, ``plus_status`` is null. Up to 0.2 each
task is an object with lists ``base`` and ``plus`` of [status, details].
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "EvalPlus"

_STATUS = {"pass": True, "fail": False, "timeout": False, "timed out": False}


def sniff(peek: Peek) -> str | None:
    """An object with ``eval`` and ``hash``."""
    return "evalplus" if isinstance(peek.record.get("eval"), dict) and "hash" in peek.record else None


def samples(file: File) -> Iterator[Sample]:
    """Two samples a generation: one for the base tests, one for base and plus tests."""
    named = re.match(r"(?P<model>.+?)_[a-z]+_temp_[\d.]+_eval_results$", file.stem)
    system = named["model"].replace("--", "/") if named else ""
    for prompt, entry in file.json()["eval"].items():
        benchmark = str(prompt).partition("/")[0].lower() if "/" in prompt else "evalplus"
        for index, (base, plus, answer) in enumerate(_generations(entry)):
            place = f"eval[{prompt!r}][{index}]"
            passed = _passed(file, base, place)
            yield Sample(prompt, {"base": passed}, place, index, answer=answer, system=system, benchmark=benchmark)
            if plus is not None:
                both = {"base and plus": passed and _passed(file, plus, place)}
                yield Sample(prompt, both, place, index, answer=answer, system=system, benchmark=f"{benchmark}+")


def _generations(entry: Any) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(entry, list):
        for item in entry:
            yield item.get("base_status"), item.get("plus_status"), item.get("solution")
        return
    base, plus = entry["base"], entry.get("plus") or []
    for index, item in enumerate(base):
        other = plus[index] if index < len(plus) else None
        yield _first(item), _first(other), None


def _first(item: Any) -> Any:
    return item[0] if isinstance(item, list) else item


def _passed(file: File, status: Any, place: str) -> bool | None:
    if status is not None and status not in _STATUS:
        file.damaged(f"{place} has the status {status!r}; known are {', '.join(_STATUS)}")
    return None if status is None else _STATUS[status]
