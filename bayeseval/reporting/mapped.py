"""The entry of a data map in a document of the public schema."""

from __future__ import annotations

from typing import Any

from bayeseval.consistency import DataMap

__all__ = ["map_record"]

PROMPT = (
    "prompt", "benchmark", "group", "probability", "kind", "suspected_answer", "suspected_probability", "gold",
    "gold_given", "systems", "agreeing", "generations", "correct", "not_extracted", "low_and_consistent",
    "dominant_wrong",
)  # fmt: skip
ROW = (
    "system", "benchmark", "prompt", "generations", "correct", "mean", "lower", "upper", "consistency", "normalised",
    "entropy", "entropy_lower", "entropy_upper", "modal_answer", "modal_share", "modal_correct", "distinct",
    "not_extracted", "judged", "low_and_consistent", "dominant_wrong",
)  # fmt: skip


def map_record(result: DataMap) -> dict[str, Any]:
    """One data map: every prompt, most suspect first, and every system at every prompt.

    Parameters
    ----------
    result : DataMap

    Returns
    -------
    dict
    """
    ranked, table = result.suspects().table, result.table
    return {
        "systems": result.systems,
        "benchmark": result.benchmark,
        "equivalence": result.equivalence,
        "gamma": result.gamma,
        "prob": result.prob,
        "rate": result.rate,
        "expected": float(ranked["probability"].sum()),
        "sentence": result.sentence(),
        "warnings": list(result.notes),
        "prompts": ranked[[name for name in PROMPT if name in ranked]].to_dict(orient="records"),
        "rows": table[list(ROW)].to_dict(orient="records"),
    }
