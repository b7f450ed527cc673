"""The result of `bayeseval.rank`: scores, ranks and pairwise differences of several systems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.arrays import Floats
from bayeseval.contrasts.difference import chance_words, share
from bayeseval.contrasts.joint import METHODS
from bayeseval.display import html_table
from bayeseval.posterior.scores import ESTIMANDS, decimals

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Ranking", "cliques", "rank_draws"]


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Several systems in order, with what is known of their ranks.

    Attributes
    ----------
    systems : tuple of str
        Best first, by the posterior mean of the score.
    benchmark : str
    score : str
    estimand : {"population", "benchmark"}
    draws : float array (draw, system)
        Of the score of every system, jointly: differences within a draw are draws of differences.
    method : str
        Where the draws come from: a key of `bayeseval.contrasts.joint.METHODS`.
    rope : float or None
    prob : float
    n_prompts : int
        Prompts that all systems answered.
    generations : int
        Median number of generations a prompt.
    warnings : tuple of str
    """

    systems: tuple[str, ...]
    benchmark: str
    score: str
    estimand: str
    draws: Floats
    method: str
    rope: float | None
    prob: float
    n_prompts: int
    generations: int
    warnings: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.systems)

    @cached_property
    def ranks(self) -> np.ndarray:
        """Rank of every system in every draw (draw, system), 1 the best."""
        return rank_draws(self.draws)

    @cached_property
    def rank_probabilities(self) -> Floats:
        """Probability of every rank (system, rank)."""
        size = len(self)
        return np.stack([np.bincount(column - 1, minlength=size) / len(column) for column in self.ranks.T])

    @property
    def p_best(self) -> Floats:
        """Probability of being best (system,)."""
        return self.rank_probabilities[:, 0]

    @cached_property
    def p_greater(self) -> Floats:
        """P(row > column) (system, system); one half on the diagonal."""
        size = len(self)
        found = np.full((size, size), 0.5)
        for place in range(size - 1):
            gaps = self.draws[:, [place]] - self.draws[:, place + 1 :]
            found[place, place + 1 :] = (gaps > 0).mean(axis=0) + (gaps == 0).mean(axis=0) / 2
            found[place + 1 :, place] = 1 - found[place, place + 1 :]
        return found

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of neighbours that cannot be told apart, best first; a system may belong to several.

        No two systems of a group have an interval of the difference that excludes 0 (lies outside the rope, where there
        is one). A group that is part of another is not listed.
        """
        return tuple(self.systems[start:stop] for start, stop in cliques(self._apart))

    @cached_property
    def _apart(self) -> np.ndarray:
        """Whether the interval of a difference excludes 0, or lies outside the rope (system, system)."""
        size, edge = len(self), self.rope or 0.0
        apart = np.zeros((size, size), dtype=bool)
        for place in range(size - 1):
            lower, _, upper = self._intervals(place)
            apart[place, place + 1 :] = apart[place + 1 :, place] = (lower > edge) | (upper < -edge)
        return apart

    def _intervals(self, place: int) -> tuple[Floats, Floats, Floats]:
        """Lower end, mean and upper end of the differences of one system to those below it."""
        gaps = self.draws[:, [place]] - self.draws[:, place + 1 :]
        lower, upper = np.quantile(gaps, [(1 - self.prob) / 2, (1 + self.prob) / 2], axis=0)
        return lower, gaps.mean(axis=0), upper

    def to_frame(self) -> pd.DataFrame:
        """One row a system, best first.

        Returns
        -------
        pandas.DataFrame
            Columns system, benchmark, score, estimand, value, sd, lower, upper, prob, rank (mean), rank_lower,
            rank_upper, p_best, groups (letters of `groups`, as "ab"), n_prompts, method.
        """
        import pandas as pd

        tails = [(1 - self.prob) / 2, (1 + self.prob) / 2]
        lower, upper = np.clip(np.quantile(self.draws, tails, axis=0), 0.0, 1.0)
        # Ranks are whole numbers: the ends are ranks that were drawn, so that the interval holds at least `prob`.
        low, high = np.quantile(self.ranks, tails, axis=0, method="inverted_cdf")
        return pd.DataFrame(
            {
                "system": self.systems,
                "benchmark": self.benchmark,
                "score": self.score,
                "estimand": self.estimand,
                "value": self.draws.mean(axis=0),
                "sd": self.draws.std(axis=0, ddof=1),
                "lower": lower,
                "upper": upper,
                "prob": self.prob,
                "rank": self.ranks.mean(axis=0),
                "rank_lower": low.astype(int),
                "rank_upper": high.astype(int),
                "p_best": self.p_best,
                "groups": self._letters(),
                "n_prompts": self.n_prompts,
                "method": self.method,
            }
        )

    def _letters(self) -> list[str]:
        groups = self.groups
        names = [_letter(place) for place in range(len(groups))]
        joint = "" if len(groups) <= 26 else " "
        return [
            joint.join(name for name, group in zip(names, groups, strict=True) if system in group)
            for system in self.systems
        ]

    def pairs(self) -> pd.DataFrame:
        """All differences of two systems, the better first.

        Returns
        -------
        pandas.DataFrame
            One row a pair: system_a, system_b, difference, sd, lower, upper, p_greater (P(a > b)), p_equivalent (P of a
            difference within the rope; NaN without one), verdict ("apart", "equivalent" where the interval lies within
            the rope, else "undecided").
        """
        import pandas as pd

        parts = []
        for place in range(len(self) - 1):
            gaps = self.draws[:, [place]] - self.draws[:, place + 1 :]
            lower, mean, upper = self._intervals(place)
            inside = np.full(gaps.shape[1], np.nan)
            verdict = np.where(self._apart[place, place + 1 :], "apart", "undecided").astype(object)
            if self.rope is not None:
                inside = (np.abs(gaps) < self.rope).mean(axis=0)
                verdict[(lower > -self.rope) & (upper < self.rope)] = "equivalent"
            parts.append(
                pd.DataFrame(
                    {
                        "system_a": self.systems[place],
                        "system_b": self.systems[place + 1 :],
                        "difference": mean,
                        "sd": gaps.std(axis=0, ddof=1),
                        "lower": lower,
                        "upper": upper,
                        "p_greater": self.p_greater[place, place + 1 :],
                        "p_equivalent": inside,
                        "verdict": verdict,
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

    def matrix(self) -> pd.DataFrame:
        """P(row > column) as a square frame with the systems' names."""
        import pandas as pd

        return pd.DataFrame(self.p_greater, index=list(self.systems), columns=list(self.systems))

    def sentence(self) -> str:
        """The order in words."""
        frame = self.to_frame()
        first = frame.iloc[0]
        low, high = first["rank_lower"], first["rank_upper"]
        ranks = f"rank {low}" if low == high else f"ranks {low} to {high}"
        digits = decimals(float(first["upper"] - first["lower"]))
        ties = self.groups[0]
        told = (
            "it is told apart from all others"
            if len(ties) == 1
            else f"it is not told apart from {len(ties) - 1} other{'s' if len(ties) > 2 else ''}"
        )
        return (
            f"{len(self)} systems by {self.score} on {self.benchmark}: first {first['system']} with "
            f"{first['value']:.{digits}f} [{first['lower']:.{digits}f}, {first['upper']:.{digits}f}], {ranks} "
            f"({100 * self.prob:.4g}% credible intervals), {chance_words('P(best)', float(first['p_best']))}; "
            f"{told}; estimand: {self.estimand} ({ESTIMANDS[self.estimand]}); {self.n_prompts:,} common prompts; "
            f"{METHODS[self.method]}"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Scores with intervals, best first, and beside them the intervals of ranks and P(best)."""
        from bayeseval import plots

        return plots.plot_ranking(self, ax=ax)

    def plot_ranks(self, ax: Axes | None = None) -> Axes:
        """Probability of every rank of every system."""
        from bayeseval import plots

        return plots.plot_ranks(self, ax=ax)

    def plot_pairs(self, ax: Axes | None = None) -> Axes:
        """P(row > column) for all pairs."""
        from bayeseval import plots

        return plots.plot_pairwise(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        body = []
        for row in self.to_frame().itertuples():
            digits = decimals(row.upper - row.lower)
            interval = f"{row.value:.{digits}f} [{row.lower:.{digits}f}, {row.upper:.{digits}f}]"
            ranks = f"{row.rank_lower}" if row.rank_lower == row.rank_upper else f"{row.rank_lower} to {row.rank_upper}"
            body.append([row.system, interval, ranks, share(row.p_best), row.groups])
        header = ["system", f"{self.score} ({self.estimand})", "rank", "P(best)", "group"]
        return html_table(header, body, [*(f"⚠ {warning}" for warning in self.warnings), self.sentence()])


def rank_draws(draws: Floats) -> np.ndarray:
    """Rank of every system in every draw: 1 plus the number of systems above it.

    Parameters
    ----------
    draws : float array (draw, system)

    Returns
    -------
    int array (draw, system)

    Examples
    --------
    >>> rank_draws(np.array([[0.4, 0.6, 0.6], [0.3, 0.2, 0.1]])).tolist()
    [[3, 1, 1], [1, 2, 3]]
    """
    order = np.argsort(-draws, axis=1, kind="stable")
    ranked = np.take_along_axis(draws, order, axis=1)
    places = np.arange(1, draws.shape[1] + 1)
    first = np.where(np.diff(ranked, axis=1, prepend=np.inf) != 0, places, 0)
    found = np.empty(draws.shape, dtype=np.int64)
    np.put_along_axis(found, order, np.maximum.accumulate(first, axis=1), axis=1)
    return found


def cliques(apart: np.ndarray) -> list[tuple[int, int]]:
    """Longest runs of neighbours of which no two are apart: (start, stop) each, none within another.

    Parameters
    ----------
    apart : bool array (system, system)

    Examples
    --------
    >>> cliques(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    [(0, 2), (1, 3)]
    """
    size, found, reached = len(apart), [], 0
    for start in range(size):
        stop = start + 1
        while stop < size and not apart[start:stop, stop].any():
            stop += 1
        if stop > reached:
            found.append((start, stop))
            reached = stop
    return found


def _letter(place: int) -> str:
    """Name of a group: a, b, …, z, aa, ab and so on."""
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(97 + rest) + name
    return name
