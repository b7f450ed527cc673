"""LiveCodeBench: ``output/<model>/Scenario.<scenario>_<n>_<temperature>_eval_all.json`` and ``..._eval.json``.

``_eval_all.json`` has ``graded_list``, one truth value a generation, and names the problems. ``_eval.json`` has the
results of every test, ``[metrics, {"0": [[...], ...]}, metadata]``, and only positions of problems: a generation is
right if every test is true; -1 to -4 are errors, although Python takes them for true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "LiveCodeBench"


def sniff(peek: Peek) -> str | None:
    """Problems with ``graded_list``; or three values, the first with ``detail``; or problems with code alone."""
    if "question_id" in peek.item and {"graded_list", "code_list"} & peek.item.keys():
        return "livecodebench_eval_all" if "graded_list" in peek.item else "livecodebench_unscored"
    if "graded_list" in peek.item:
        return "livecodebench_eval_all"
    if "detail" in peek.item and any(str(name).startswith("pass@") for name in peek.item):
        return "livecodebench_eval"
    return None


def samples(file: File) -> Iterator[Sample]:
    """One sample a generation, numbered by its position."""
    if file.label == "livecodebench_unscored":
        file.refuse("holds code of LiveCodeBench that was not evaluated: read ..._eval_all.json")
    named = re.match(r"Scenario\.([a-z]+)", file.path.name)
    names: dict[str, Any] = {
        "system": file.path.absolute().parent.name,
        "benchmark": named[1] if named else "livecodebench",
    }
    if file.label == "livecodebench_eval_all":
        for number, problem in enumerate(file.json(), 1):
            codes = problem.get("code_list") or []
            for index, graded in enumerate(problem["graded_list"]):
                answer = codes[index] if index < len(codes) else None
                place = f"graded_list[{index}] of problem {number}"
                yield Sample(problem.get("question_id"), {"graded_list": graded}, place, index, answer=answer, **names)
        return
    other = file.path.with_name(file.path.name.replace("_eval.json", "_eval_all.json"))
    if not file.named and other != file.path and other.is_file():
        file.refuse(f"holds the same generations as {other.name}, which names the problems")
    file.note("problems are named by their position, as the file has no ids")
    for prompt, generations in file.json()[1].items():
        for index, tests in enumerate(generations):
            score = {"all tests passed": _all_passed(tests)}
            yield Sample(prompt, score, f"generation {index} of problem {prompt}", index, **names)


def _all_passed(tests: Any) -> bool | None:
    if not isinstance(tests, list):
        tests = [tests]
    return all(test is True or (not isinstance(test, bool) and test > 0) for test in tests) if tests else None
