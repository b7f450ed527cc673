"""OpenCompass 0.2 to 0.5: ``results/<model>/<dataset>.json`` of a run that dumps details.

``details`` is a list with one object a prompt, whose ``correct`` (``is_correct``, ``cascade_correct``) lists the
generations; in older versions and for perplexity tasks an object "0", "1", ... with one ``correct`` each. Model and
data set are named by the path. Files of ``predictions`` hold no correctness.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "OpenCompass"

_CORRECT = ("correct", "is_correct", "cascade_correct")
_HINT = "run OpenCompass with --dump-eval-details, and read results/<model>/<dataset>.json"


def sniff(peek: Peek) -> str | None:
    """``details``, or a key that begins with "accuracy (" or "G-Pass"; predictions have "0" with ``prediction``."""
    record = peek.record
    if isinstance(record.get("0"), dict) and "prediction" in record["0"]:
        return "opencompass_predictions_unscored"
    details = record.get("details")
    first = details[0] if isinstance(details, list) and details else {}
    if "example_abbr" in first or (isinstance(details, dict) and details.get("type") in ("GEN", "PPL", "CLP")):
        return "opencompass_results"
    signs = ("accuracy (", "G-Pass@", *(["accuracy"] if details or peek.path.parent.parent.name == "results" else []))
    totals = any(str(name).startswith(signs) for name in record)
    plain = all(isinstance(value, (int, float)) for name, value in record.items() if name != "details")
    return "opencompass_results" if totals and plain else None


def samples(file: File) -> Iterator[Sample]:
    """One sample a generation, numbered by its position."""
    if file.label == "opencompass_predictions_unscored":
        file.refuse(f"holds predictions of OpenCompass without correctness: {_HINT}")
    details = file.json().get("details")
    if not details:
        file.refuse(f"holds totals of OpenCompass only: {_HINT}")
    names: dict[str, Any] = {"system": file.path.absolute().parent.name, "benchmark": file.stem}
    items = enumerate(details) if isinstance(details, list) else details.items()
    for key, item in items:
        if key == "type" and not isinstance(item, dict):
            continue
        place = f"details[{key!r}]"
        metrics = [name for name in _CORRECT if name in item]
        if not metrics:
            file.refuse(f"has details without correctness (no {', '.join(_CORRECT)} in {place}): {_HINT}")
        prompt = item.get("example_abbr", str(key))
        given = {name: _listed(item[name]) for name in metrics}
        answers, golds = (
            _listed(item.get(new, item.get(old))) for new, old in (("pred", "predictions"), ("answer", "references"))
        )
        for index in range(max(map(len, given.values()))):
            yield Sample(
                prompt, {name: _at(values, index) for name, values in given.items()}, f"{place}, generation {index}",
                index, answer=_at(answers, index), gold=_at(golds, index), **names,
            )  # fmt: skip


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _at(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else None
