"""promptfoo: ``results.json`` and ``results.jsonl``.

``provider.label`` (or ``.id``) is the system. Prompt template, variables and description make up the prompt, as every
repeat has a ``testIdx`` of its own. ``success`` and ``score`` are the metrics. ``error`` is also set where an
assertion failed: only ``failureReason`` 2 is a real error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "promptfoo"


def sniff(peek: Peek) -> str | None:
    """An object with ``evalId``, or lines with ``testIdx`` and ``promptIdx``."""
    if {"testIdx", "promptIdx"} <= peek.record.keys():
        return "promptfoo_jsonl"
    return "promptfoo" if "evalId" in peek.record else None


def samples(file: File) -> Iterator[Sample]:
    """One sample a result."""
    benchmark, seeds = "", {}
    other = file.path.with_suffix(".json")
    if not file.named and file.label == "promptfoo_jsonl" and other.is_file():
        file.refuse(f"holds the same results as {other.name}")
    if file.label == "promptfoo":
        value = file.json()
        results = value["results"]["results"]
        config = value.get("config") or {}
        benchmark, seeds = str(config.get("description") or ""), _seeds(config.get("providers"))
        listed = [(f"result {number}", result) for number, result in enumerate(results, 1)]
    else:
        listed = list(file.records())
    names = _prompts([result for _, result in listed])
    for (place, result), prompt in zip(listed, names, strict=True):
        provider = result.get("provider") or {}
        if isinstance(provider, str):
            provider = {"id": provider}
        errored = result.get("failureReason") == 2
        scores = {name: None if errored else result.get(name) for name in ("success", "score")}
        system = str(provider.get("label") or provider.get("id") or "")
        output = (result.get("response") or {}).get("output")
        yield Sample(
            prompt, scores, place, errored=errored, answer=output if isinstance(output, str) else None,
            seed=seeds.get(system), system=system, benchmark=benchmark,
        )  # fmt: skip


def _seeds(providers: Any) -> dict[str, Any]:
    """Seeds in the settings of providers, by label or id."""
    listed = [one for one in providers if isinstance(one, dict)] if isinstance(providers, list) else []
    return {
        str(one.get("label") or one.get("id") or ""): one["config"].get("seed")
        for one in listed
        if isinstance(one.get("config"), dict)
    }


def _prompts(results: list[dict[str, Any]]) -> list[str]:
    """A name for the prompt of every result: description or variables, with the template where there are several."""
    keys = []
    for result in results:
        variables = json.dumps(result.get("vars") or {}, sort_keys=True, ensure_ascii=False)
        description = (result.get("testCase") or {}).get("description") or ""
        keys.append((str(result.get("promptId") or ""), variables, str(description)))
    templates = {prompt for prompt, _, _ in keys}
    short: dict[str, set[str]] = {}
    for _, variables, description in keys:
        short.setdefault(description, set()).add(variables)
    names = []
    for prompt, variables, description in keys:
        name = description if description and len(short[description]) == 1 else f"{description} {variables}".strip()
        names.append(f"{name} [{prompt}]" if len(templates) > 1 else name)
    return names
