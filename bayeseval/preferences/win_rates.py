"""Win rates: how often each system wins against each other one, with and without credit for ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayeseval.defaults import options
from bayeseval.display import html_table
from bayeseval.errors import OptionError, require_choice, require_positive_integer
from bayeseval.outcomes import Outcomes
from bayeseval.preferences.resampling import by_pair, weighted_counts
from bayeseval.preferences.table import DESIGNS, Preferences

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["TIE_CREDITS", "WinRates", "win_rates"]

TIE_CREDITS = {"half": 0.5, "none": 0.0}
"""What a tie is worth to each of the two systems."""

FEW_CLUSTERS = 20
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class WinRates:
    """Win rates of all systems.

    Attributes
    ----------
    systems : tuple of str
        Highest average win rate first.
    rate : float array (system, system)
        How often the row wins against the column, NaN where they were never compared.
    rate_lower, rate_upper : float array (system, system)
    average : float array (system,)
        Mean over opponents, each with the same weight.
    draws : float array (draw, system)
        Bootstrap draws of the averages.
    ties : {"half", "none"}
        Whether a tie is half a win.
    design : {"judged", "coupled", "independent"}
        Coupled and independent win rates are two different quantities.
    prob : float
        Probability inside intervals.
    n_comparisons : int
    n_clusters : int or None
        Clusters that were resampled; None where every comparison was taken as independent.
    warnings : tuple of str
    """

    systems: tuple[str, ...]
    rate: Floats
    rate_lower: Floats
    rate_upper: Floats
    average: Floats
    draws: Floats
    ties: str
    design: str
    prob: float
    n_comparisons: int
    n_clusters: int | None
    warnings: tuple[str, ...] = ()

    @cached_property
    def ranks(self) -> npt.NDArray[np.int64]:
        """Rank of every system in every draw (draw, system), of equal averages the better one."""
        return np.stack([1 + (self.draws > column[:, None]).sum(axis=1) for column in self.draws.T], axis=1)

    def interval(self) -> tuple[Floats, Floats]:
        """Ends of the intervals of the averages (system,)."""
        lower, upper = np.quantile(self.draws, [(1 - self.prob) / 2, (1 + self.prob) / 2], axis=0)
        return lower, upper

    def to_frame(self) -> pd.DataFrame:
        """One row a system, best first: system, average, sd, lower, upper, rank, rank_lower, rank_upper, p_best.

        The rank and its interval are those of the average win rate; ``p_best`` is shared where draws tie.
        """
        import pandas as pd

        lower, upper = self.interval()
        tails = [(1 - self.prob) / 2, (1 + self.prob) / 2]
        ranks = np.quantile(self.ranks, tails, axis=0, method="inverted_cdf").astype(int)
        best = self.ranks == 1
        return pd.DataFrame(
            {
                "system": list(self.systems),
                "average": self.average,
                "sd": self.draws.std(axis=0),
                "lower": lower,
                "upper": upper,
                "rank": 1 + (self.average[:, None] < self.average - 1e-12).sum(axis=1),
                "rank_lower": ranks[0],
                "rank_upper": ranks[1],
                "p_best": (best / best.sum(axis=1, keepdims=True)).mean(axis=0),
            }
        )

    def pairs(self) -> pd.DataFrame:
        """One row for each ordered pair that was compared: system, opponent, rate, lower, upper."""
        import pandas as pd

        a, b = np.nonzero(np.isfinite(self.rate))
        return pd.DataFrame(
            {
                "system": [self.systems[place] for place in a],
                "opponent": [self.systems[place] for place in b],
                "rate": self.rate[a, b],
                "lower": self.rate_lower[a, b],
                "upper": self.rate_upper[a, b],
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Average win rates with intervals."""
        from bayeseval import plots

        return plots.plot_win_rates(self, ax=ax)

    @property
    def interval_kind(self) -> str:
        """What the intervals rest on, in words."""
        if self.n_clusters is None:
            return "Bayesian bootstrap over single comparisons"
        what = "clusters" if self.design == "judged" else "prompts"
        return f"Bayesian bootstrap over {self.n_clusters:,} {what}"

    def sentence(self) -> str:
        """The highest average, in words."""
        lower, upper = self.interval()
        credit = "a tie is half a win" if self.ties == "half" else "a tie is no win"
        return (
            f"average win rates of {len(self.systems)} systems ({DESIGNS[self.design]}; {credit}): "
            f"{self.systems[0]} is highest with {self.average[0]:.3f} [{lower[0]:.3f}, {upper[0]:.3f}] "
            f"({100 * self.prob:.4g}%, {self.interval_kind})"
        )

    def cells(self) -> list[list[str]]:
        """The table as texts, in the columns of `header`."""
        return [
            [row["system"], f"{row['average']:.3f}", f"[{row['lower']:.3f}, {row['upper']:.3f}]",
             f"{row['rank_lower']} to {row['rank_upper']}", f"{row['p_best']:.2f}"]
            for row in self.to_frame().to_dict(orient="records")
        ]  # fmt: skip

    @property
    def header(self) -> list[str]:
        """Names of the columns of `cells`."""
        inside = f"{100 * self.prob:.4g}%"
        return ["system", "average win rate", f"{inside} interval", f"rank, {inside}", "P(highest)"]

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}." for warning in self.warnings] + [f"{self.sentence()}."])

    def _repr_html_(self) -> str:
        return html_table(self.header, self.cells(), (*(f"⚠ {text}" for text in self.warnings), self.sentence()))


def win_rates(
    comparisons: Preferences | Outcomes | Sequence[Outcomes],
    *,
    ties: str = "half",
    coupled: bool | None = None,
    shared_noise: bool = True,
    prob: float | None = None,
    draws: int = 4000,
    seed: int = 0,
) -> WinRates:
    r"""Win rate of each system against each other one, and on average, with intervals by the bootstrap over prompts.

    Parameters
    ----------
    comparisons : Preferences, Outcomes or sequence of Outcomes
        Judged comparisons, or answers to be compared by correctness.
    ties : {"half", "none"}
        Credit for a tie. With half a win each, win rates do not depend on whether answers share their noise.
    coupled : bool, optional
        Needed for outcomes: True compares generation j with generation j, which share their noise; False compares
        generations that do not.
    shared_noise : bool
        As in `Preferences.from_outcomes`.
    prob : float, optional
        Probability inside intervals; `bayeseval.options.prob` by default.
    draws : int
        Bootstrap draws.
    seed : int

    Returns
    -------
    WinRates

    Raises
    ------
    OptionError
        If outcomes come without ``coupled``, or preferences with it.
    DataError
        If answers cannot be compared.

    Notes
    -----
    For correct answers, :math:`y = 1`, and a tie that is no win,

    .. math::
        P(a \text{ beats } b) = p_a - E[y_a y_b], \qquad P(a \text{ beats } b) - P(b \text{ beats } a) = p_a - p_b.

    Noise that a and b share changes :math:`E[y_a y_b]` by :math:`\kappa`, so that wins of both fall by :math:`\kappa`
    and ties rise by :math:`2\kappa`: with three systems or more, average win rates may even change their order [1]_.
    Half a win for a tie gives :math:`\tfrac12 + \tfrac12 (p_a - p_b)` either way. Each prompt has the same weight, or,
    where comparisons are judged, each comparison.

    Intervals weight whole prompts, or clusters, by a Bayesian bootstrap, since the comparisons on one prompt depend.

    References
    ----------
    .. [1] Corvelo Benz et al. (2025). Evaluation of Large Language Models via Coupled Token Generation.
       https://arxiv.org/abs/2502.01754

    Examples
    --------
    >>> import bayeseval as be
    >>> cube = np.random.default_rng(1).random((3, 200, 4)) < np.array([0.6, 0.6, 0.4])[:, None, None]
    >>> outcomes = be.Outcomes.from_matrix(cube.astype(int), system=["x", "y", "z"])
    >>> rates = be.win_rates(outcomes, coupled=False, seed=1)
    >>> rates.systems[-1], round(float(rates.average.mean()), 6)
    ('z', 0.5)
    """
    require_choice("ties", ties, tuple(TIE_CREDITS))
    prob, draws = options.interval_prob(prob), require_positive_integer("draws", draws)
    preferences = _preferences(comparisons, coupled, shared_noise)
    pairs, pair, cluster, counts = preferences.tallies()
    if preferences.design != "judged":
        # Prompts have equal weight, however many generations they have.
        counts = counts / counts.sum(axis=1, keepdims=True)
    rng = np.random.default_rng([seed, 23])
    clusters = None if preferences.cluster is None else cluster
    size = len(preferences.systems)
    credit = TIE_CREDITS[ties]
    whole = by_pair(pair, counts)
    rate = _matrix(_shares(whole[None], credit), pairs, size)[0]
    shares = [_shares(batch, credit) for batch in weighted_counts(pair, clusters, counts, draws, rng)]
    resampled = np.concatenate(shares)
    tails = np.quantile(resampled, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    lower, upper = (_matrix(end[None], pairs, size)[0] for end in tails)
    averages = _averages(resampled, pairs, size)
    average = np.nanmean(rate, axis=1)
    order = np.argsort(-average, kind="stable")
    both = np.ix_(order, order)
    return WinRates(
        systems=tuple(preferences.systems[place] for place in order),
        rate=rate[both],
        rate_lower=lower[both],
        rate_upper=upper[both],
        average=average[order],
        draws=averages[:, order],
        ties=ties,
        design=preferences.design,
        prob=prob,
        n_comparisons=preferences.n_comparisons,
        n_clusters=preferences.n_clusters,
        warnings=(*preferences.warnings, *_warnings(preferences, rate, averages)),
    )


def _preferences(
    comparisons: Preferences | Outcomes | Sequence[Outcomes], coupled: bool | None, shared_noise: bool
) -> Preferences:
    if isinstance(comparisons, Preferences):
        if coupled is not None:
            raise OptionError(
                f"coupled= says how answers are to be compared, but these comparisons are made already "
                f"({DESIGNS[comparisons.design]}): leave it out"
            )
        return comparisons
    if coupled is None:
        raise OptionError(
            "win rates of answers depend on whether they share their noise: say coupled=True to compare generation j "
            "with generation j, which were made with the same noise, or coupled=False"
        )
    return Preferences.from_outcomes(comparisons, coupled=coupled, shared_noise=shared_noise)


def _shares(counts: Floats, credit: float) -> Floats:
    """Win rates (draw, pair, 2) of the first and of the second system of every pair."""
    total = counts.sum(axis=2, keepdims=True)
    return np.asarray((counts[:, :, :2] + credit * counts[:, :, 2:]) / total)


def _matrix(shares: Floats, pairs: npt.NDArray[np.int64], size: int) -> Floats:
    """Win rates as a matrix (draw, system, system)."""
    found = np.full((len(shares), size, size), np.nan)
    found[:, pairs[:, 0], pairs[:, 1]] = shares[:, :, 0]
    found[:, pairs[:, 1], pairs[:, 0]] = shares[:, :, 1]
    return found


def _averages(shares: Floats, pairs: npt.NDArray[np.int64], size: int) -> Floats:
    """Means over opponents (draw, system), without a matrix a draw."""
    member = np.zeros((2 * len(pairs), size))
    member[np.arange(len(pairs)), pairs[:, 0]] = 1
    member[len(pairs) + np.arange(len(pairs)), pairs[:, 1]] = 1
    flat = np.concatenate([shares[:, :, 0], shares[:, :, 1]], axis=1)
    return np.asarray(flat @ (member / member.sum(axis=0)))


def _warnings(preferences: Preferences, rate: Floats, averages: Floats) -> list[str]:
    systems, said = preferences.systems, []
    size = len(systems)
    met = np.isfinite(rate).sum()
    if met < size * (size - 1):
        said.append(
            f"only {met // 2:,} of {size * (size - 1) // 2:,} pairs of systems were compared, so that averages are "
            f"over different opponents; rank_preferences takes opponents into account"
        )
    flat = np.flatnonzero(np.ptp(averages, axis=0) == 0)
    for place in flat[:3]:
        said.append(
            f"all comparisons of {systems[place]!r} ended alike, so that the bootstrap gives an interval without "
            f"width; rank_preferences does not"
        )
    clusters = preferences.n_clusters
    if clusters is not None and clusters < FEW_CLUSTERS:
        said.append(f"there are only {clusters:,} clusters, from which a bootstrap makes intervals that are too narrow")
    return said
