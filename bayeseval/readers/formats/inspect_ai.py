"""Inspect (UK AI Security Institute): logs ``*.eval`` and ``*.json``, since log version 1.

A ``.eval`` file is a zip archive, compressed with Zstandard by recent versions. Its ``summaries.json`` has id, epoch,
scores and error of every sample, so that whole samples need not be read; where a run died, the summaries of the
journal and the single samples stand in. ``id`` is the prompt, ``epoch`` the generation, ``eval.model`` the system and
``eval.task`` the benchmark. Each scorer is a metric; a score that is an object or a list gives one for every part.

A sample with an error and no score is errored. One with neither, or with NaN, is not scored. One with both counts, as
do invalidated samples, which Inspect counts too; both are told. The seed of a run, where one was set, is that of each
of its generations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bayeseval.readers.opening import Archive
from bayeseval.readers.peeks import Peek
from bayeseval.readers.records import number
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "Inspect"


def sniff(peek: Peek) -> str | None:
    """An archive with ``header.json`` or ``_journal/start.json``; an object with ``version``, ``status``, ``eval``."""
    if peek.members & {"header.json", "_journal/start.json"}:
        return "inspect_ai"
    if {"version", "status", "eval"} <= peek.record.keys():
        return "inspect_ai"
    return "inspect_ai" if peek.head.startswith(b"PK") and peek.path.name.endswith(".eval") else None


def samples(file: File) -> Iterator[Sample]:
    """One sample an epoch of a sample."""
    if file.peek.head.startswith(b"PK"):
        archive = file.archive()
        header = _header(file, archive)
        found = _archived(file, archive, header)
    else:
        header = file.json()
        found = ((f"sample {number}", sample) for number, sample in enumerate(header.get("samples") or [], 1))
    about = header.get("eval") or {}
    system, task = str(about.get("model") or ""), str(about.get("task") or "").rpartition("/")[2]
    status = header.get("status", "started")
    if status != "success":
        file.note(f"the run did not end well (its status is {status!r}): samples may be missing")
    seed = _seed(header, about)
    epochs: Counter[str] = Counter()
    seen = invalid = 0
    for place, sample in found:
        seen += 1
        epochs[repr(sample.get("id"))] += 1
        invalid += bool(sample.get("invalidation"))
        parts = list(_parts(sample.get("scores") or {}))
        yield Sample(
            sample.get("id"), {name: value for name, value, _ in parts}, place, sample.get("epoch", 1),
            errored=bool(sample.get("error")), answer={name: _whole(file, answer) for name, _, answer in parts},
            gold=_text(sample.get("target")), seed=seed, system=system, benchmark=task,
        )  # fmt: skip
    if not seen:
        file.refuse("is a log of Inspect without samples")
    _tell_limits(file, about, epochs)
    if invalid:
        file.note(f"invalidated samples count, as in Inspect's own metrics: there are {invalid}")


def _seed(header: dict[str, Any], about: dict[str, Any]) -> Any:
    """The seed of all generations: that of the plan's settings, else that of the model's."""
    for config in ((header.get("plan") or {}).get("config"), about.get("model_generate_config")):
        if isinstance(config, dict) and config.get("seed") is not None:
            return config["seed"]
    return None


def _tell_limits(file: File, about: dict[str, Any], epochs: Counter[str]) -> None:
    """Tell of ``--limit``, which takes the first samples of the data set, and of fewer epochs than were asked for."""
    config, dataset = about.get("config") or {}, about.get("dataset") or {}
    limit, total, ran = config.get("limit"), dataset.get("samples"), len(epochs)
    if isinstance(limit, int) and not dataset.get("shuffled") and (not isinstance(total, int) or total > ran):
        file.first_prompts(ran, total if isinstance(total, int) else None, f"limit={limit}")
    elif (limit or config.get("sample_id")) and isinstance(total, int) and total > ran:
        file.caution(f"the run has {ran:,} of {total:,} prompts of the benchmark, which its options chose")
    asked = config.get("epochs")
    short = [count for count in epochs.values() if isinstance(asked, int) and count < asked]
    if short:
        file.caution(
            f"{asked} epochs were asked for, but {number(len(short), 'prompt')} of {ran:,} have fewer, at least "
            f"{min(short)}"
        )


def _header(file: File, archive: Archive) -> dict[str, Any]:
    if "header.json" in archive:
        return archive.json("header.json")
    if "_journal/start.json" not in archive:
        file.damaged("the archive has neither header.json nor _journal/start.json: it is no whole log of Inspect")
    file.note("the run died before the log was finished: what its journal holds is read")
    return archive.json("_journal/start.json")


def _archived(file: File, archive: Archive, header: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Samples of an archive, from the summaries where that is enough."""
    whole = {name for name in archive.members if re.match(r"samples/.+_epoch_\d+\.json$", name)}
    if header.get("invalidated"):
        for name in sorted(whole):
            yield name, archive.json(name)
        return
    journal = sorted(
        (name for name in archive.members if re.fullmatch(r"_journal/summaries/\d+\.json", name)),
        key=lambda name: int(re.findall(r"\d+", name)[-1]),
    )
    sources = ["summaries.json"] if "summaries.json" in archive else journal
    for source in sources:
        for index, sample in enumerate(archive.json(source), 1):
            whole.discard(f"samples/{sample.get('id')}_epoch_{sample.get('epoch')}.json")
            yield f"sample {index} in {source}", sample
    for name in sorted(whole):
        yield name, archive.json(name)


def _parts(scores: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Metric, value and answer of every scorer, several where its value has parts."""
    for scorer, score in scores.items():
        value, answer = (score.get("value"), score.get("answer")) if isinstance(score, dict) else (score, None)
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
        if parts is None:
            yield scorer, value, answer
        else:
            yield from ((f"{scorer}/{key}", part, answer) for key, part in parts)


def _whole(file: File, answer: Any) -> str | None:
    """An answer, unless the summaries of the log have cut it off, as they do after 1,024 characters."""
    if not isinstance(answer, str):
        return None
    if 1000 < len(answer) <= 1024 and answer.endswith("..."):
        file.note("answers that are cut off in the log's summaries, after 1,024 characters, are left out")
        return None
    return answer


def _text(target: Any) -> Any:
    return target[0] if isinstance(target, list) and len(target) == 1 else target
