"""EleutherAI lm-evaluation-harness, versions 0.4 on: the samples that ``--log_samples`` writes.

``samples_<task>_<date>.jsonl`` has one line for each document and filter; up to 0.4.2 a file is one JSON array
without names of filters, which then stand in ``results.json`` beside it. The model is named in ``results_<same
date>.json``, else by the folder ``organisation__model``. Several dated files of one task are repeated runs, hence
generations.

With repeats and the usual filter ``take_first`` the stored metric is of the first response only, whatever the number
of responses: that is one generation. A metric pass@1 over all responses is a count. The seed of generations is
``seed`` of the request or the model, else ``torch_seed`` where a local model ran, which the harness sets to 1234 unless
told otherwise: runs that nobody seeded share it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample, whole_total

__all__ = ["NAME", "samples", "sniff"]

NAME = "lm-evaluation-harness"

_DATED = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d[-:.\d]+)$")
_NO_METRICS = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
     "target_hash", "schema_version"}
)  # fmt: skip


def sniff(peek: Peek) -> str | None:
    """``doc_id`` with ``resps``, in lines or in an array; totals have ``results`` with keys "metric,filter"."""
    if {"doc_id", "resps"} <= peek.record.keys():
        return "lm_eval_samples"
    if {"doc_id", "resps"} <= peek.item.keys():
        return "lm_eval_samples_old"
    results = peek.record.get("results")
    if isinstance(results, dict) and "config_general" not in peek.record:
        totals = next((task for task in results.values() if isinstance(task, dict)), {})
        if "configs" in peek.record or any("," in name for name in totals):
            return "lm_eval_results"
    return None


def samples(file: File) -> Iterator[Sample]:
    """One sample a document, with a score for every pair of metric and filter."""
    if file.label == "lm_eval_results":
        file.refuse(
            "holds totals of lm-evaluation-harness: run it with --log_samples and read samples_<task>_<date>.jsonl"
        )
    old = file.label == "lm_eval_samples_old"
    dated = _DATED.match(file.stem)
    totals = file.beside("results.json") if old else file.beside(f"results_{dated['date']}.json" if dated else "")
    if old:
        system, task = _old_names(file, totals)
        records = _with_filters(file, _old_records(file), _filter_names(totals, task))
    else:
        task = dated["task"] if dated else file.stem
        file.run = dated["date"] if dated else file.path.name
        system = str(totals.get("model_name") or "")
        if not system:
            system = file.path.absolute().parent.name.replace("__", "/")
            file.note(f"no file of totals beside it names the model, so the folder does: {system!r}")
        records = file.records()
    seed = _seed(totals.get("config"))
    found: dict[Any, Sample] = {}
    places: dict[tuple[Any, str], str] = {}
    for place, record in records:
        filter = str(record.get("filter", "none"))
        prompt = record.get("doc_id")
        if (prompt, filter) in places:
            file.damaged(f"{places[prompt, filter]} and {place} hold the same doc_id {prompt!r} and filter {filter!r}")
        places[prompt, filter] = place
        target = record.get("target")
        if prompt not in found:
            found[prompt] = Sample(
                prompt, {}, place, answer={}, gold=None if target is None else str(target), system=system,
                benchmark=task, seed=seed,
            )  # fmt: skip
        scores = _scores(file, record, filter, place)
        found[prompt].scores |= scores  # type: ignore[operator]
        found[prompt].answer |= dict.fromkeys(scores, _answer(record))
    if found:
        _tell_limit(file, totals, task, len(found))
    yield from found.values()


def _seed(config: Any) -> int | None:
    """The seed that generations were made with: of the request, of the model, or of PyTorch where a local model ran."""
    if not isinstance(config, dict):
        return None
    for settings in (config.get("gen_kwargs"), config.get("model_args")):
        if isinstance(settings, str):
            found = re.search(r"(?:^|,)\s*seed=(\d{1,18})(?:,|$)", settings)
            settings = {"seed": int(found[1])} if found else {}
        if isinstance(settings, dict) and isinstance(settings.get("seed"), int):
            return settings["seed"]
    seed = config.get("torch_seed")
    return seed if isinstance(seed, int) and str(config.get("model")).startswith(("hf", "huggingface")) else None


def _tell_limit(file: File, totals: dict[str, Any], task: str, ran: int) -> None:
    """Tell of ``--limit``, which takes the first documents."""
    config, sizes = totals.get("config"), totals.get("n-samples")
    limit = config.get("limit") if isinstance(config, dict) else None
    if not isinstance(limit, (int, float)) or isinstance(limit, bool):
        return
    size = sizes.get(task) if isinstance(sizes, dict) else None
    total = size.get("original") if isinstance(size, dict) else None
    if not isinstance(total, int):
        total = None
    if total is None or total > ran:
        file.first_prompts(ran, total, f"--limit {limit:g}")


def _scores(file: File, record: dict[str, Any], filter: str, place: str) -> dict[str, Any]:
    """Usable scores of one record by "metric@filter"."""
    names = record.get("metrics")
    names = names if isinstance(names, list) else [name for name in record if name not in _NO_METRICS]
    responses = record.get("resps")
    first = responses[0] if isinstance(responses, list) and responses else None
    repeats = len(first) if isinstance(first, list) else 1
    if repeats == 2 and _is_likelihood(first):
        repeats = 1
    filtered = record.get("filtered_resps")
    sees_all = isinstance(filtered, list) and len(filtered) == 1 and isinstance(filtered[0], list)
    if _is_likelihood(first[0] if isinstance(first, list) and first and isinstance(first[0], list) else first):
        file.note("scores are made of log-likelihoods, which do not vary: a repeated run is no new generation")
    result: dict[str, Any] = {}
    for name in names:
        value = record.get(name)
        if isinstance(value, (list, dict)):
            file.note(f"{name!r} is no single number and is left out")
            continue
        if repeats > 1 and re.match(r"pass@k?\d+", str(name)):
            if name != "pass@1":
                file.note("pass@k with k > 1 follows from the counts and is left out")
                continue
            value = whole_total(value, repeats, f"{place} of {file.path}")
        elif repeats > 1 and sees_all:
            file.note(f"{name!r} is one number for {repeats} responses, not a score of each, and is left out")
            continue
        full = f"{name}@{filter}"
        if repeats > 1 and re.match(r"maj", filter):
            file.remark(full, f"filter {filter!r} is one vote of {repeats} responses, not a generation")
        elif repeats > 1 and name != "pass@1":
            file.remark(
                full,
                f"{repeats} responses to each prompt are stored, but the score is of the first one only (take_first): "
                "1 generation each is counted; for all of them score the texts in 'resps' yourself",
            )
        file.filters[full] = (str(name), filter)
        result[full] = value
    return result


def _is_likelihood(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and (isinstance(value[1], bool) or value[1] in ("True", "False"))
        and re.fullmatch(r"-?(\d+(\.\d+)?([eE][-+]?\d+)?|inf)", str(value[0])) is not None
    )


def _answer(record: dict[str, Any]) -> str | None:
    filtered = record.get("filtered_resps")
    only = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else None
    return only if isinstance(only, str) else None


def _old_records(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    value = file.json()
    if not isinstance(value, list):
        file.damaged("an array of samples was expected")
    for index, record in enumerate(value, 1):
        if not isinstance(record, dict):
            file.damaged(f"element {index} is no sample {{...}}")
        yield f"element {index}", record


def _with_filters(
    file: File, records: Iterable[tuple[str, dict[str, Any]]], names: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Records with the filter that their block belongs to: k filters give k blocks of the same documents."""
    listed = list(records)
    seen: dict[Any, int] = {}
    blocks = []
    for _, record in listed:
        blocks.append(seen.get(record.get("doc_id"), 0))
        seen[record.get("doc_id")] = blocks[-1] + 1
    count = max(blocks, default=0) + 1
    if len(names) != count:
        names = ["none"] if count == 1 else [f"block {index}" for index in range(1, count + 1)]
    if count > 1:
        file.note(f"{count} blocks of rows are {count} filters ({', '.join(names)}), not generations")
    for (place, record), block in zip(listed, blocks, strict=True):
        yield place, {**record, "filter": names[block]}


def _filter_names(totals: dict[str, Any], task: str) -> list[str]:
    results = totals.get("results")
    found = results.get(task) if isinstance(results, dict) else None
    keys = [key for key in found or {} if "," in key]
    return list(dict.fromkeys(key.partition(",")[2] for key in keys))


def _old_names(file: File, totals: dict[str, Any]) -> tuple[str, str]:
    """System and task of an old file, named ``<model arguments>_<task>.jsonl``."""
    results = totals.get("results")
    tasks = sorted((str(task) for task in results), key=len, reverse=True) if isinstance(results, dict) else []
    task = next((task for task in tasks if file.stem.endswith(f"_{task}")), file.stem)
    config = totals.get("config")
    arguments = str(config.get("model_args") or "") if isinstance(config, dict) else ""
    model = re.search(r"(?:^|,)\s*(?:pretrained|model)=([^,]+)", arguments) or re.match(
        r"pretrained__([^,]+)", file.stem
    )
    return model[1].replace("__", "/") if model else "", task
