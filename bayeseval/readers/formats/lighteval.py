"""Hugging Face lighteval: ``details/<organisation>/<model>/<date>/details_<task>_<date>.parquet``.

Since 0.10 one row a document with ``doc``, ``model_response`` and ``metric``; up to 0.8 ``full_prompt``,
``predictions``, ``gold`` and ``metrics``, without ids. Of several generations a row has only the mean, ``avg@n:n=8``,
``pass@k:k=1&n=8`` or ``math_pass@1:4_samples``, which is turned back into a count; other pass@k follow from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample, Total, whole_total

__all__ = ["NAME", "samples", "sniff"]

NAME = "lighteval"

_MEANS = (
    re.compile(r"avg@n:n=(\d+)"),
    re.compile(r"pass@k:k=1&n=(\d+)"),
    re.compile(r"pass@1:(\d+)(?:_samples)?$"),
    re.compile(r"avg@(\d+)$"),
)
_FOLLOWING = re.compile(r"pass@|maj@|avg@")
_DATED = re.compile(r"details_(.+)_(\d{4}-\d\d-\d\dT[-:.\d]+)$")


def sniff(peek: Peek) -> str | None:
    """Columns ``doc``, ``model_response``, ``metric``, or the old ones; totals have ``config_general``."""
    plain = {name.strip("_") for name in peek.columns}
    if {"doc", "model_response", "metric"} <= plain:
        return "lighteval"
    if {"full_prompt", "predictions", "gold", "metrics"} <= peek.columns:
        return "lighteval_old"
    return (
        "lighteval_results"
        if {"results", "config_general"} <= peek.record.keys()
        or (isinstance(peek.record.get("config_general"), dict) and "lighteval_sha" in peek.record["config_general"])
        else None
    )


def samples(file: File) -> Iterator[Sample]:
    """One sample a document."""
    if file.label == "lighteval_results":
        file.refuse(
            "holds totals of lighteval, some of them averages of others: run it with --save-details and read the files "
            "in details/"
        )
    import polars as pl

    old = file.label == "lighteval_old"
    wanted = ("predictions", "gold", "metrics") if old else ("doc", "model_response", "metric")
    columns = [name for name in file.peek.columns if name.strip("_") in wanted]
    frame = pl.read_parquet(file.path, columns=columns, glob=False)
    frame = frame.rename({name: name.strip("_") for name in columns})
    named = _DATED.match(file.stem)
    file.run = named[2] if named else file.path.name
    system = _model(file.folders)
    up = "../" * (len(system.split("/")) + 2)
    totals = file.beside(f"{up}results/{system}/results_{file.run}.json") if system and named else {}
    general = totals.get("config_general")
    most = general.get("max_samples") if isinstance(general, dict) else None
    if isinstance(most, int) and len(frame) == most:
        file.caution(f"max_samples={most}: the run has {most:,} prompts, of a benchmark that may have more")
    if old:
        file.note("the file has no ids: prompts are row0, row1, ... in its order")
    seen: dict[Any, str] = {}
    for number, row in enumerate(frame.iter_rows(named=True)):
        place = f"row {number + 1}"
        if old:
            texts, gold, prompt = row["predictions"], row["gold"], f"row{number}"
            metrics, task = row["metrics"], named[1] if named else file.stem
        else:
            doc = row["doc"]
            texts, prompt, task = row["model_response"].get("text"), doc["id"], doc.get("task_name") or ""
            gold, metrics = _gold(doc), row["metric"]
        if seen.setdefault((task, prompt), place) != place:
            file.damaged(f"{seen[task, prompt]} and {place} hold the same id {prompt!r}")
        scores = {
            name: score for name, value in metrics.items() if (score := _score(file, name, value, place)) is not _OUT
        }
        if not scores:
            file.damaged(f"{place} has no metric of which single generations could be counted, only {sorted(metrics)}")
        if texts and len(texts) > 1:
            for name in (name for name, score in scores.items() if not isinstance(score, Total)):
                file.remark(name, f"{len(texts)} responses to a prompt are stored, but {name!r} is one score for them")
        answer = texts[0] if texts and len(texts) == 1 else None
        yield Sample(prompt, scores, place, answer=answer, gold=_single(gold), system=system, benchmark=task)


_OUT = object()


def _score(file: File, name: str, value: Any, place: str) -> Any:
    for pattern in _MEANS:
        if found := pattern.search(name):
            return whole_total(value, int(found[1]), f"{place} of {file.path}, {name}") if int(found[1]) > 1 else value
    if _FOLLOWING.search(name):
        file.note("pass@k with k > 1, G-Pass@k and votes follow from the generations and are left out")
        return _OUT
    return value


def _gold(doc: dict[str, Any]) -> Any:
    index, choices = doc.get("gold_index"), doc.get("choices") or []
    index = _single(index)
    return choices[index] if isinstance(index, int) and 0 <= index < len(choices) else None


def _single(value: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 else None if isinstance(value, list) else value


def _model(folders: list[str]) -> str:
    """Names between the folder "details" and that of the date."""
    start = max((index for index, name in enumerate(folders) if name == "details"), default=None)
    return "" if start is None else "/".join(folders[start + 1 : -1])
