"""Common spellings of the columns of results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["COUNTS", "CREDITS", "KEYS", "OUTCOMES", "PARTIAL_CREDIT", "ROW_IDS", "matching", "squashed"]

KEYS: Mapping[str, tuple[str, ...]] = {
    "system": ("system", "model", "model_name", "model_id", "system_name", "system_id", "llm"),
    "benchmark": ("benchmark", "task", "dataset", "task_name", "benchmark_name", "dataset_name", "eval_name"),
    "prompt": (
        "prompt_id", "task_id", "doc_id", "question_id", "problem_id", "problem_idx", "prompt_idx", "question_idx",
        "item", "item_id", "instance_id", "example_id", "sample_id", "id", "prompt", "question", "problem",
    ),
}  # fmt: skip
_GROUP = {"group": ("group", "subject", "category", "subdomain", "cluster", "group_id", "cluster_id")}

COUNTS: Mapping[str, tuple[str, ...]] = {
    **KEYS,
    "generations": (
        "generations", "n_generations", "num_generations", "n", "k", "trials", "n_trials", "num_trials", "n_samples",
        "num_samples", "samples", "attempts", "n_attempts", "num_attempts", "n_total", "total",
    ),
    "correct": (
        "correct", "n_correct", "num_correct", "c", "passed", "n_passed", "num_passed", "successes", "n_successes",
        "num_successes", "correct_count",
    ),
    **_GROUP,
}  # fmt: skip
"""Spellings of the columns of a table of counts, the preferred ones first."""

OUTCOMES: Mapping[str, tuple[str, ...]] = {
    **KEYS,
    "correct": (
        "correct", "is_correct", "passed", "is_passed", "pass", "success", "resolved", "solved", "exact_match", "acc",
        "score", "reward",
    ),
    "generation": (
        "generation", "generation_id", "generation_idx", "gen", "gen_idx", "sample_idx", "sample_index", "epoch",
        "trial", "trial_id", "attempt", "attempt_idx", "replicate", "run_idx", "run", "repeat", "repeat_idx",
        "repetition", "rollout", "rollout_idx", "idx_answer", "completion_id",
    ),
    "answer": (
        "answer", "prediction", "extracted_answer", "parsed_answer", "predicted", "pred", "response", "completion",
        "output",
    ),
    "gold": ("gold", "target", "reference", "gold_answer", "ground_truth", "reference_answer", "expected_answer"),
    **_GROUP,
    "seed": ("seed", "base_seed", "random_seed"),
}  # fmt: skip
"""Spellings of the columns of a table with one generation a row."""

CREDITS: Mapping[str, tuple[str, ...]] = {
    **KEYS,
    "credit": ("credit", "partial_credit", "score", "reward", "grade"),
    "generation": OUTCOMES["generation"],
    **_GROUP,
}  # fmt: skip
"""Spellings of the columns of a table with one generation and its credit a row."""

PARTIAL_CREDIT = frozenset({"score", "reward"})
"""Names (squashed) of columns whose values may lie between right and wrong."""

ROW_IDS = frozenset({"id", "sampleid"})
"""Names (squashed) that may number the rows of a table rather than name prompts."""


def matching(columns: Sequence[str], spellings: Sequence[str]) -> list[str]:
    """Columns whose name is one of the spellings, in the order of the spellings; case and _ - . do not matter."""
    known = {squashed(spelling): place for place, spelling in reversed(list(enumerate(spellings)))}
    found = [name for name in columns if squashed(name) in known]
    return sorted(found, key=lambda name: (known[squashed(name)], name not in spellings))


def squashed(name: str) -> str:
    """A name without case, spaces and _ - . so that promptId, prompt_id and Prompt ID are one."""
    return re.sub(r"[\s_.\-]+", "", name).lower()
