"""The document of the public schema about a ranking by preferences."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from bayeseval._version import __version__
from bayeseval.preferences import PreferenceRanking, WinRates
from bayeseval.reporting.content import SCHEMA_VERSION

__all__ = ["preference_document", "ranking_record"]

CAVEATS = (
    "Whether judges prefer what is better. Length, style, position and the judge's own family of models sway them.",
    "Whose prompts these are: systems are ranked on prompts like these, against opponents like these.",
    "Cycles. One strength a system cannot say that a beats b, b beats c, and c beats a.",
)
REFERENCES = (
    "Davidson (1970). On extending the Bradley-Terry model to accommodate ties in paired comparison experiments. "
    "Journal of the American Statistical Association 65, 317-328. doi:10.1080/01621459.1970.10481082.",
    "Bradley & Terry (1952). Rank analysis of incomplete block designs: I. The method of paired comparisons. "
    "Biometrika 39, 324-345. doi:10.2307/2334029.",
    "Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134. doi:10.1214/aos/1176345338.",
)


def preference_document(
    ranking: PreferenceRanking, rates: WinRates, files: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of what `bayeseval preferences` found.

    Parameters
    ----------
    ranking : PreferenceRanking
    rates : WinRates
        Of the same comparisons.
    files : mapping, optional
        Files that were written, by kind.

    Returns
    -------
    dict
        Ready for `bayeseval.reporting.files.as_json`.

    Examples
    --------
    >>> import bayeseval as be
    >>> votes = be.Preferences(["x", "y"], ["y", "x"], ["a", "a"], count=[30, 10])
    >>> ranking = be.rank_preferences(votes, seed=1, draws=100, tune=100, progress=False)
    >>> preference_document(ranking, be.win_rates(votes))["rankings"][0]["systems"]
    ['x', 'y']
    """
    told = dict.fromkeys((*ranking.warnings, *rates.warnings))
    record = {
        "schema_version": SCHEMA_VERSION,
        "kind": "preferences",
        "bayeseval": __version__,
        "title": f"{len(ranking.systems)} systems by preferences",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "problems": [{"system": None, "benchmark": None, "text": text} for text in told],
        "rankings": [ranking_record(ranking, rates)],
        "caveats": list(CAVEATS),
        "references": list(REFERENCES),
    }
    return {**record, "files": dict(files)} if files else record


def ranking_record(ranking: PreferenceRanking, rates: WinRates) -> dict[str, Any]:
    """One ranking, with win rates of the same comparisons."""
    names = ("n_comparisons", "n_clusters", "design", "ties", "intervals", "prob")
    strengths = ranking.to_frame().to_dict(orient="records")
    elo = ranking.to_frame("elo")["strength"]
    chances = ranking.rank_probabilities()
    return {
        "systems": list(ranking.systems),
        **{name: getattr(ranking, name) for name in names},
        "nu": None if ranking.nu is None else _summary(ranking.nu, ranking.prob),
        "prior_sd": _summary(ranking.scale, ranking.prob),
        "sentence": ranking.sentence(),
        "warnings": list(ranking.warnings),
        "strengths": [
            {**row, "elo": float(points), "rank_probabilities": chances[place].tolist()}
            for place, (row, points) in enumerate(zip(strengths, elo, strict=True))
        ],
        "win_rates": {
            "ties": rates.ties,
            "sentence": rates.sentence(),
            "averages": rates.to_frame().to_dict(orient="records"),
            "pairs": rates.pairs().to_dict(orient="records"),
        },
    }


def _summary(draws: np.ndarray, prob: float) -> dict[str, float]:
    lower, upper = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2])
    return {"value": float(draws.mean()), "lower": float(lower), "upper": float(upper)}
