"""HELM (Stanford CRFM): ``per_instance_stats.json`` of a run, beside its ``run_spec.json``.

One object for each instance, ``train_trial_index`` and perturbation, with the mean of every statistic.
``instance_id`` is the prompt and the trial the generation, although a trial also changes the examples in the prompt.
Perturbed copies, and splits other than "test", bear the ids of the plain instances and are never pooled with them:
each is a view of its own, chosen by its metric, "exact_match [perturbation=typos]". ``metric@5`` is the best of 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "HELM"

_HOUSEKEEPING = re.compile(
    r"(num_|training_|inference_|finish_reason_|batch_size$|max_prob$|logprob$|prompt_truncated$|logprob_per_byte$|"
    r"bits_per_byte$|perplexity$|predicted_index$|estimated_)"
)


def sniff(peek: Peek) -> str | None:
    """A list of objects with ``instance_id``, ``stats`` and ``train_trial_index``; run specifications and scenarios."""
    if {"instance_id", "stats", "train_trial_index"} <= peek.item.keys():
        return "helm_per_instance_stats"
    if {"adapter_spec", "scenario_spec"} <= peek.record.keys():
        return "helm_run_spec"
    return "helm_scenario" if {"definition_path", "name", "tags"} <= peek.record.keys() else None


def samples(file: File) -> Iterator[Sample]:
    """One sample for each instance, trial, perturbation and split."""
    if file.label != "helm_per_instance_stats":
        file.refuse("describes a run of HELM: read per_instance_stats.json beside it")
    spec = file.beside("run_spec.json")
    name = str(spec.get("name") or file.path.absolute().parent.name)
    system = str((spec.get("adapter_spec") or {}).get("model") or "")
    if not system and (found := re.search(r"model=([^,]+)", name)):
        system = found[1].replace("_", "/", 1)
    trials, prompts = set(), set()
    for number, entry in enumerate(file.json(), 1):
        trials.add(entry.get("train_trial_index"))
        prompts.add(str(entry.get("instance_id")))
        perturbation = (entry.get("perturbation") or {}).get("name")
        views: dict[str, dict[str, Any]] = {}
        for stat in entry["stats"]:
            label = stat["name"]
            if _HOUSEKEEPING.match(label["name"]):
                continue
            split = label.get("split")
            marks = [f"perturbation={perturbation}"] if perturbation else []
            marks += [f"split={split}"] if split not in (None, "test") else []
            view = f" [{', '.join(marks)}]" if marks else ""
            metric = f"{label['name']}{view}"
            views.setdefault(view, {})[metric] = stat.get("mean")
            if best := re.search(r"@(\d+)$", label["name"]):
                file.remark(metric, f"{metric!r} is the best of {best[1]} completions, not a score of each")
        for view, scores in (views or {"": {}}).items():
            yield Sample(
                entry.get("instance_id"), scores, f"element {number}", entry.get("train_trial_index"), system=system,
                benchmark=re.split("[:,]", name)[0], view=view.strip(),
            )  # fmt: skip
    most = (spec.get("adapter_spec") or {}).get("max_eval_instances")
    if isinstance(most, int) and len(prompts) >= most:
        file.caution(
            f"max_eval_instances={most}: the run has {len(prompts):,} prompts that HELM chose, of a benchmark that may "
            "have more"
        )
    if len(trials) > 1:
        file.note(f"{len(trials)} trials are taken for generations; each has other examples in its prompt")
