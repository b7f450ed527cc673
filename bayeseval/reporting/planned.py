"""Documents of the public schema about what to run next, systems and prompts: designs, comparisons, data maps, ..."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from bayeseval._version import __version__
from bayeseval.counts import Counts
from bayeseval.outcomes import Outcomes
from bayeseval.planning import Allocation, ContrastPlan, DecodingComparison, Frontier, Looks, OrderPlan
from bayeseval.posterior.scores import ESTIMANDS
from bayeseval.reporting.content import SCHEMA_VERSION
from bayeseval.reporting.contrasted import comparison_record, leaderboard_record
from bayeseval.reporting.mapped import map_record
from bayeseval.reporting.words import CAVEATS, REFERENCES

__all__ = [
    "allocation_record",
    "contrast_record",
    "decoding_record",
    "frontier_record",
    "looks_record",
    "order_record",
    "planning_document",
    "source_record",
]


def planning_document(
    kind: str, results: Sequence[Any], sources: Sequence[Any] = (), files: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of what one command found.

    Parameters
    ----------
    kind : {"frontier", "allocate", "plan-contrast", "plan-order", "compare-decoding", "looks", "map", "compare",
        "rank"}
    results : sequence of Frontier, Allocation, ContrastPlan, OrderPlan, DecodingComparison, Looks, DataMap, Compared or
        Ranking; all of the type that belongs to the kind.
    sources : sequence of Posterior, Counts or Outcomes
        One run each: what the results were made from. Other things, such as guesses, are left out.
    files : mapping, optional
        Files that were written, by kind.

    Returns
    -------
    dict
        Ready for `bayeseval.reporting.files.as_json`.

    Examples
    --------
    >>> import bayeseval as be
    >>> pilot = be.pilot_from_published(0.856, 0.0068, 1319, 50)
    >>> plan = be.frontier(pilot, be.Cost(2), width=0.05, generations=[1, 4], futures=20, progress=False)
    >>> record = planning_document("frontier", [plan])
    >>> [entry["k"] for entry in record["frontiers"]] == [plan.k]
    True
    """
    name, make = RECORDS[kind]
    records = [make(result) for result in results]
    record = {
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "bayeseval": __version__,
        "title": _title(results[0]),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "estimands": dict(ESTIMANDS),
        "problems": [
            {"system": one.get("system"), "benchmark": one["benchmark"], "text": text}
            for one in records
            for text in one["warnings"]
        ],
        "sources": [source_record(one) for one in sources if hasattr(one, "run_names") or hasattr(one, "provenance")],
        name: records,
        "caveats": list(CAVEATS),
        "references": list(REFERENCES),
    }
    return {**record, "files": dict(files)} if files else record


def source_record(source: Any) -> dict[str, Any]:
    """What a result was made from: the data of one run, and the model where one was fitted."""
    if isinstance(source, Counts | Outcomes):
        counts = source.counts() if isinstance(source, Outcomes) else source
        fitted: dict[str, Any] = {"model": None, "engine": None, "provenance": None}
    else:
        counts = source.counts
        fitted = {"model": source.model.name, "engine": source.engine, "provenance": source.provenance}
    ((system, benchmark),) = counts.run_names
    data = {"n_prompts": len(counts), "n_generations": counts.n_generations}
    return {"system": system, "benchmark": benchmark, **data, **fitted}


def frontier_record(result: Frontier) -> dict[str, Any]:
    """One frontier: prompts against generations."""
    names = ("system", "benchmark", "score", "method", "k", "n_prompts", "cost", "budget", "width", "sd", "assurance")
    return {
        **_fields(result, (*names, "prob", "least_prompts", "futures", "origin")),
        "estimand": "population",
        "prices": _fields(result.prices, ("prompt", "generation", "unit", "parallel")),
        **_told(result),
        "designs": _rows(result),
    }


def allocation_record(result: Allocation) -> dict[str, Any]:
    """One allocation, with every prompt."""
    names = ("system", "benchmark", "score", "budget", "spent", "sd_before", "sd_after", "sd_uniform", "sd_shared")
    frame = result.to_frame().drop(columns=["system", "benchmark"])
    return {
        **_fields(result, (*names, "saving")),
        "estimand": "benchmark",
        **_told(result),
        "prompts": frame.to_dict(orient="records"),
    }


def contrast_record(result: ContrastPlan) -> dict[str, Any]:
    """One planned comparison of two systems."""
    names = ("systems", "benchmark", "estimand", "design", "prompts", "k", "floor", "limit", "n_prompts_needed")
    more = ("difference", "expected", "rope", "prob", "power", "generations_so_far", "kappa", "draws")
    return {**_fields(result, (*names, *more)), "n_prompts": result.sizes, **_told(result), "curve": _rows(result)}


def order_record(result: OrderPlan) -> dict[str, Any]:
    """One planned order of several systems."""
    names = ("systems", "benchmark", "estimand", "prompts", "n_prompts", "k", "k_best", "limit_order", "limit_best")
    return {**_fields(result, (*names, "power", "draws")), **_told(result), "curve": _rows(result)}


def decoding_record(result: DecodingComparison) -> dict[str, Any]:
    """Greedy decoding beside sampling."""
    curve = result.curve
    return {
        **_fields(result, ("systems", "benchmark", "greedy", "sampled", "n_matched", "unmatched", "prob")),
        **_told(result),
        "differences": _rows(result),
        "curve": None if curve is None else _fields(curve, ("intercept", "slope", "covariance")),
    }


def looks_record(result: Looks) -> dict[str, Any]:
    """One log of looks."""
    last = result.last
    assert last is not None
    names = ("n_prompts", "n_generations", "value", "lower", "upper", "width", "above", "below", "verdict", "stop")
    return {
        "systems": [system for system, _ in last.runs],
        "benchmark": last.runs[0][1],
        "quantity": last.quantity,
        "rule": result.rule.sentence(),
        "most": result.most,
        "stop": result.stop,
        "stopped_at": result.stopped_at,
        "reason": result.reason,
        "sentence": result.sentence(),
        "warnings": list(last.warnings),
        "looks": [_fields(one, (*names, "interval", "reason", "warnings")) for one in result.decisions],
    }


RECORDS: dict[str, tuple[str, Any]] = {
    "frontier": ("frontiers", frontier_record),
    "allocate": ("allocations", allocation_record),
    "plan-contrast": ("contrasts", contrast_record),
    "plan-order": ("orders", order_record),
    "compare-decoding": ("decodings", decoding_record),
    "looks": ("logs", looks_record),
    "map": ("maps", map_record),
    "compare": ("comparisons", comparison_record),
    "rank": ("leaderboards", leaderboard_record),
}
"""Name of the list in the document, and what makes its entries, by kind."""


def _fields(result: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(result, name) for name in names}


def _told(result: Any) -> dict[str, Any]:
    return {"sentence": result.sentence(), "warnings": list(result.warnings)}


def _rows(result: Any) -> list[dict[str, Any]]:
    frame = result.to_frame()
    return [
        {name: bool(value) if isinstance(value, np.bool_) else value for name, value in row.items()}
        for row in frame.to_dict(orient="records")
    ]


def _title(result: Any) -> str:
    if isinstance(result, Looks):
        assert result.last is not None
        runs = result.last.runs
        return f"{' against '.join(system for system, _ in runs)} on {runs[0][1]}"
    systems = [result.system] if hasattr(result, "system") else list(dict.fromkeys(result.systems))
    named = " against ".join(systems) if len(systems) < 3 else f"{len(systems)} systems"
    return f"{named} on {result.benchmark}"
