"""DeepEval: ``test_run_<date>.json``.

``testCases[].name`` is the prompt, or ``input`` where names only number the cases; ``metricsData[]`` has the metrics,
and ``success`` whether all of them passed, which is false for an error too. ``hyperparameters.model`` is the system
and ``identifier`` the benchmark. Generations are not numbered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "DeepEval"


def sniff(peek: Peek) -> str | None:
    """An object with ``testCases``."""
    return "deepeval" if isinstance(peek.record.get("testCases"), list) else None


def samples(file: File) -> Iterator[Sample]:
    """One sample a test case."""
    value = file.json()
    cases = value["testCases"]
    settings = value.get("hyperparameters") or {}
    names = {"system": str(settings.get("model") or ""), "benchmark": str(value.get("identifier") or "")}
    numbered = all(re.fullmatch(r"test_case_\d+", str(case.get("name"))) or not case.get("name") for case in cases)
    if numbered:
        file.note("names only number the test cases, so the input is the prompt")
    for number, case in enumerate(cases, 1):
        scores: dict[str, Any] = {}
        errored = False
        for metric in case.get("metricsData") or []:
            errored = errored or bool(metric.get("error"))
            scores[f"{metric['name']}.score"] = None if metric.get("error") else metric.get("score")
        scores["testCase.success"] = case.get("success")
        yield Sample(
            case.get("input") if numbered else case["name"], scores, f"test case {number}", errored=errored,
            answer=case.get("actualOutput"), gold=case.get("expectedOutput"), **names,
        )  # fmt: skip
