"""Entries of comparisons and orders of systems in a document of the public schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayeseval.contrasts.accident import SharedNoise
from bayeseval.contrasts.difference import Contrast
from bayeseval.contrasts.ranking import Ranking
from bayeseval.contrasts.savings import CoupledSavings
from bayeseval.plots import plot_contrast

__all__ = ["Compared", "comparison_record", "leaderboard_record"]

DIFFERENCE = (
    "estimand", "value", "sd", "lower", "upper", "p_greater", "p_equivalent", "method", "noise", "detectable",
    "detectable_generations", "detectable_prompts",
)  # fmt: skip
NOISE = (
    "p_value", "kappa", "sd", "lower", "upper", "correlation", "detectable", "equal_seeds", "n_seeds", "n_prompts",
    "n_pairs", "shared", "warnings",
)  # fmt: skip
ROW = ("system", "value", "sd", "lower", "upper", "rank", "rank_lower", "rank_upper", "p_best", "groups")


@dataclass(frozen=True)
class Compared:
    """What is known of the difference of two systems.

    Attributes
    ----------
    contrasts : tuple of Contrast
        One for each estimand.
    savings : CoupledSavings or None
    noise : SharedNoise or None
    """

    contrasts: tuple[Contrast, ...]
    savings: CoupledSavings | None = None
    noise: SharedNoise | None = None

    @property
    def systems(self) -> tuple[str, str]:
        """Names of both, a and b."""
        return self.contrasts[0].systems

    @property
    def benchmark(self) -> str:
        """The benchmark of both."""
        return self.contrasts[0].benchmark

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of all parts, each once."""
        said = [text for one in self.contrasts for text in one.warnings]
        return tuple(dict.fromkeys([*said, *([] if self.savings is None else self.savings.warnings)]))

    def plot(self) -> Any:
        """Density of the difference, for all estimands."""
        return plot_contrast(self.contrasts)


def comparison_record(found: Compared) -> dict[str, Any]:
    """One comparison of two systems.

    Parameters
    ----------
    found : Compared

    Returns
    -------
    dict
    """
    first = found.contrasts[0]
    names = ("systems", "benchmark", "score", "design", "generations", "rope", "prob", "power")
    savings, noise = found.savings, found.noise
    return {
        **{name: getattr(first, name) for name in names},
        "n_prompts": first.sizes,
        "differences": [
            {**{name: getattr(one, name) for name in DIFFERENCE}, "sentence": one.sentence()}
            for one in found.contrasts
        ],
        "coupled_savings": None if savings is None else {
            "sentence": savings.sentence(),
            "prob": savings.prob,
            "n_prompts": len(savings.pairs),
            "estimates": savings.to_frame().to_dict(orient="records"),
        },
        "shared_noise": None if noise is None else {
            "sentence": noise.sentence(), "prob": noise.prob, **{name: getattr(noise, name) for name in NOISE}
        },
        "warnings": list(found.warnings),
    }  # fmt: skip


def leaderboard_record(found: Ranking) -> dict[str, Any]:
    """One order of several systems.

    Parameters
    ----------
    found : Ranking

    Returns
    -------
    dict
    """
    names = ("systems", "benchmark", "score", "estimand", "method", "rope", "prob", "n_prompts", "generations")
    rows = found.to_frame()[list(ROW)].to_dict(orient="records")
    return {
        **{name: getattr(found, name) for name in names},
        "groups": found.groups,
        "rows": [
            {**row, "rank_probabilities": chances.tolist()}
            for row, chances in zip(rows, found.rank_probabilities, strict=True)
        ],
        "pairs": found.pairs().to_dict(orient="records"),
        "sentence": found.sentence(),
        "warnings": list(found.warnings),
    }
