"""The result of a ranking: strengths of systems, and what they say about ranks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayeseval.display import html_table
from bayeseval.errors import require_choice
from bayeseval.preferences.davidson import davidson_probabilities

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ELO", "PreferenceRanking"]

ELO = 400 / np.log(10)
"""Points of the Elo scale in one unit of log strength; the mean of all systems is put at 1000."""

TIE_WORDS = {
    "davidson": "ties as an outcome (Davidson)",
    "half": "ties as half a win for each (Bradley-Terry)",
    "ignore": "ties left out (Bradley-Terry)",
}

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceRanking:
    """Strengths of systems, and what they say about ranks.

    Attributes
    ----------
    systems : tuple of str
        Strongest first, by posterior mean.
    strength : float array (draw, system)
        Draws of log strengths, which sum to 0.
    nu : float array (draw,) or None
        Draws of Davidson's parameter of ties; None where ties are no outcome of the model.
    scale : float array (draw,)
        Draws of the standard deviation of log strengths in the prior.
    ties : {"davidson", "half", "ignore"}
    intervals : {"bootstrap", "posterior"}
        Whether draws are those of the Bayesian bootstrap over clusters, or of the posterior of independent comparisons.
    prob : float
        Probability inside intervals.
    n_comparisons : int
    n_clusters : int or None
    design : {"judged", "coupled", "independent"}
    warnings : tuple of str
    """

    systems: tuple[str, ...]
    strength: Floats
    nu: Floats | None
    scale: Floats
    ties: str
    intervals: str
    prob: float
    n_comparisons: int
    n_clusters: int | None
    design: str
    warnings: tuple[str, ...] = ()

    @cached_property
    def ranks(self) -> npt.NDArray[np.int64]:
        """Rank of every system in every draw (draw, system); 1 is the strongest."""
        return (np.argsort(np.argsort(-self.strength, axis=1), axis=1) + 1).astype(np.int64)

    def rank_probabilities(self) -> Floats:
        """Probability that a system (row) has rank 1, 2, ... (column)."""
        size = len(self.systems)
        return np.stack([np.bincount(column - 1, minlength=size) for column in self.ranks.T]) / len(self.ranks)

    def rank_intervals(self) -> npt.NDArray[np.int64]:
        """Lowest and highest rank (system, 2) of the equal-tailed interval."""
        tails = [(1 - self.prob) / 2, (1 + self.prob) / 2]
        return np.quantile(self.ranks, tails, axis=0, method="inverted_cdf").T.astype(np.int64)

    @property
    def p_best(self) -> Floats:
        """Probability that each system is the strongest (system,)."""
        return np.asarray((self.ranks == 1).mean(axis=0))

    def stronger(self) -> Floats:
        """Probability that the system of the row is stronger than that of the column; NaN on the diagonal."""
        found = np.stack([(column[:, None] > self.strength).mean(axis=0) for column in self.strength.T])
        np.fill_diagonal(found, np.nan)
        return found

    def outcomes(self) -> tuple[Floats, Floats]:
        """Posterior means of the probability that the row beats the column, and that they tie (system, system).

        Where ties are half a win for each, the first is the expected credit; where they are left out, it is the
        probability of a win in a comparison that is decided. NaN on the diagonal.
        """
        size = len(self.systems)
        win, tie = np.full((size, size), np.nan), np.full((size, size), np.nan)
        nu = 0.0 if self.nu is None else self.nu
        for a in range(size):
            for b in range(a + 1, size):
                first, second, both = davidson_probabilities(self.strength[:, a] - self.strength[:, b], nu)
                win[a, b], win[b, a] = first.mean(), second.mean()
                tie[a, b] = tie[b, a] = both.mean()
        return win, tie

    def to_frame(self, scale: str = "log") -> pd.DataFrame:
        """One row a system, strongest first.

        Parameters
        ----------
        scale : {"log", "elo"}
            Log strengths around 0, or points around 1000 of which 400 mean odds of ten to one.

        Returns
        -------
        pandas.DataFrame
            system, strength, sd, lower, upper, rank (of the mean), rank_lower, rank_upper, p_best.
        """
        import pandas as pd

        require_choice("scale", scale, ("log", "elo"))
        values = self.strength if scale == "log" else 1000 + ELO * self.strength
        lower, upper = np.quantile(values, [(1 - self.prob) / 2, (1 + self.prob) / 2], axis=0)
        ranks = self.rank_intervals()
        return pd.DataFrame(
            {
                "system": list(self.systems),
                "strength": values.mean(axis=0),
                "sd": values.std(axis=0),
                "lower": lower,
                "upper": upper,
                "rank": np.arange(1, len(self.systems) + 1),
                "rank_lower": ranks[:, 0],
                "rank_upper": ranks[:, 1],
                "p_best": self.p_best,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Strengths with intervals; in a figure of its own beside the probabilities of ranks."""
        from bayeseval import plots

        return plots.plot_preference_ranking(self, ax=ax)

    @property
    def interval_kind(self) -> str:
        """What the intervals rest on, in words."""
        if self.intervals == "bootstrap":
            return f"Bayesian bootstrap over {self.n_clusters:,} clusters"
        return "posterior of independent comparisons"

    def sentence(self) -> str:
        """The ranking in words."""
        place = int(np.argmax(self.p_best))
        low, high = self.rank_intervals()[place]
        ranks = f"rank {low}" if low == high else f"rank {low} to {high}"
        tie = ""
        if self.nu is not None:
            share = (self.nu / (2 + self.nu)).mean()
            tie = f", equals tie with probability {share:.2f}"
        return (
            f"{len(self.systems)} systems by {self.n_comparisons:,} comparisons: {self.systems[place]} is the "
            f"strongest with probability {self.p_best[place]:.2f} ({ranks}, {100 * self.prob:.4g}%){tie}; "
            f"{TIE_WORDS[self.ties]}, {self.interval_kind}"
        )

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}." for warning in self.warnings] + [f"{self.sentence()}."])

    def cells(self, scale: str = "log") -> list[list[str]]:
        """The table as texts, in the columns of `header_of`."""
        form = "{:+.2f}" if scale == "log" else "{:.0f}"
        rows = []
        for row in self.to_frame(scale).to_dict(orient="records"):
            value, lower, upper = (form.format(row[name]) for name in ("strength", "lower", "upper"))
            ranks = f"{row['rank_lower']} to {row['rank_upper']}"
            rows.append([row["system"], value, f"[{lower}, {upper}]", ranks, f"{row['p_best']:.2f}"])
        return rows

    def header_of(self, scale: str = "log") -> list[str]:
        """Names of the columns of `cells`."""
        inside = f"{100 * self.prob:.4g}%"
        strength = "log strength" if scale == "log" else "Elo points"
        return ["system", strength, f"{inside} interval", f"rank, {inside}", "P(strongest)"]

    def _repr_html_(self) -> str:
        return html_table(self.header_of(), self.cells(), (*(f"⚠ {text}" for text in self.warnings), self.sentence()))
