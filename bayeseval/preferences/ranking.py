"""Who ranks where: strengths behind preferences, with ranks and their probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayeseval.defaults import options
from bayeseval.display import html_table
from bayeseval.engines.records import NutsSettings
from bayeseval.errors import DataError, OptionError, require_choice, require_positive_integer
from bayeseval.preferences.davidson import TIES, Tallies, davidson_probabilities
from bayeseval.preferences.graph import prior_driven, require_connected
from bayeseval.preferences.resampling import resampled_strengths
from bayeseval.preferences.sampler import Sampled, sample_strengths, scales_of
from bayeseval.preferences.table import Preferences

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ELO", "INTERVALS", "PreferenceRanking", "rank_preferences"]

ELO = 400 / np.log(10)
"""Points of the Elo scale in one unit of log strength; the mean of all systems is put at 1000."""

INTERVALS = ("bootstrap", "posterior")
HYPER_SD = 1.0
"""Scale of the half-normal prior of the standard deviation of log strengths."""
FEW_CLUSTERS = 20
RHAT_LIMIT, ESS_LIMIT = 1.01, 400
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
        found = np.array(
            [(self.strength[:, [place]] > self.strength).mean(axis=0) for place in range(len(self.systems))]
        )
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

    def select_prob(self, prob: float) -> PreferenceRanking:
        """The same with other intervals."""
        return replace(self, prob=options.interval_prob(prob))

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

    def plot(self, ax: Axes | None = None) -> Any:
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
            f"{len(self.systems)} systems by {self.n_comparisons:,} comparisons: {self.systems[place]} is the strongest "
            f"with probability {self.p_best[place]:.2f} ({ranks}, {100 * self.prob:.4g}%){tie}; {TIE_WORDS[self.ties]}, "
            f"{self.interval_kind}"
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


TIE_WORDS = {
    "davidson": "ties as an outcome (Davidson)",
    "half": "ties as half a win for each (Bradley-Terry)",
    "ignore": "ties left out (Bradley-Terry)",
}


def rank_preferences(
    preferences: Preferences,
    *,
    ties: str = "davidson",
    prior_sd: float | None = None,
    intervals: str | None = None,
    prob: float | None = None,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    seed: int = 0,
    progress: bool = True,
) -> PreferenceRanking:
    r"""Strengths of systems from pairwise preferences, with ranks, rank intervals and the probability of being best.

    Parameters
    ----------
    preferences : Preferences
        Comparisons that connect all systems.
    ties : {"davidson", "half", "ignore"}
        A tie is an outcome of its own, half a win for each system, or left out.
    prior_sd : float, optional
        Standard deviation of log strengths in the prior. By default it has a half-normal prior of scale 1.
    intervals : {"bootstrap", "posterior"}, optional
        ``"bootstrap"``, the default where comparisons have clusters: the Bayesian bootstrap over them, since the
        comparisons on one prompt depend. ``"posterior"``: as if all comparisons were independent.
    prob : float, optional
        Probability inside intervals; `bayeseval.options.prob` by default.
    draws, tune, chains : int
        Of NUTS; the bootstrap makes draws × chains draws.
    seed : int
    progress : bool

    Returns
    -------
    PreferenceRanking

    Raises
    ------
    DataError
        If no chain of comparisons connects all systems; the message lists the groups that hang together.
    OptionError
        If an option is not known, or a bootstrap is wanted and there are no clusters.

    Notes
    -----
    With strengths :math:`\pi`, Davidson's model [1]_ says

    .. math::
        P(a \succ b) = \frac{\pi_a}{\pi_a + \pi_b + \nu\sqrt{\pi_a\pi_b}}, \qquad
        P(\text{tie}) = \frac{\nu\sqrt{\pi_a\pi_b}}{\pi_a + \pi_b + \nu\sqrt{\pi_a\pi_b}},

    which without ties is that of Bradley and Terry [2]_. Priors: :math:`\log\pi \sim N(0, s^2)` with the mean taken off,
    :math:`s` half-normal of scale 1 or fixed, and a tie between equals with probability :math:`\nu/(2+\nu) \sim U(0,1)`.
    The posterior is sampled by NUTS. The bootstrap draws a weight for every cluster, and maximises the weighted
    posterior density with a prior whose centre is drawn as well (`bayeseval.preferences.resampling`); its scale is
    drawn from the posterior of all comparisons.

    References
    ----------
    .. [1] Davidson (1970). Journal of the American Statistical Association 65, 317-328.
       https://doi.org/10.1080/01621459.1970.10481082
    .. [2] Bradley & Terry (1952). Biometrika 39, 324-345. https://doi.org/10.2307/2334029

    Examples
    --------
    >>> import bayeseval as be
    >>> a, b = ["x", "x", "y", "x", "y"], ["y", "y", "z", "z", "z"]
    >>> votes = be.Preferences(a, b, ["a", "b", "a", "a", "tie"], count=[12, 5, 9, 11, 4])
    >>> ranking = be.rank_preferences(votes, seed=1, draws=200, tune=200, progress=False)
    >>> ranking.systems
    ('x', 'y', 'z')
    """
    settings, scale, prob = _checked(preferences, ties, prior_sd, intervals, prob, draws, tune, chains)
    tallies, warnings = _tallies(preferences, ties)
    how = intervals or ("posterior" if preferences.cluster is None else "bootstrap")
    warnings += _about_clusters(preferences, how)
    if how == "bootstrap":
        strength, nu, scales = resampled_strengths(
            *preferences.tallies(), tallies.size, ties, scales_of(tallies, scale, HYPER_SD), draws * chains, seed,
            progress,
        )  # fmt: skip
    else:
        sampled = sample_strengths(tallies, scale, HYPER_SD, seed, settings)
        warnings += _about_chains(sampled)
        strength = sampled.strength.reshape(-1, tallies.size)
        nu = None if sampled.nu is None else sampled.nu.reshape(-1)
        scales = sampled.scale.reshape(-1)
    order = np.argsort(-strength.mean(axis=0), kind="stable")
    return PreferenceRanking(
        systems=tuple(preferences.systems[place] for place in order),
        strength=strength[:, order],
        nu=nu,
        scale=scales,
        ties=ties,
        intervals=how,
        prob=prob,
        n_comparisons=preferences.n_comparisons,
        n_clusters=preferences.n_clusters,
        design=preferences.design,
        warnings=(*preferences.warnings, *warnings),
    )


def _checked(
    preferences: object, ties: str, prior_sd: float | None, intervals: str | None, prob: float | None,
    draws: int, tune: int, chains: int,
) -> tuple[NutsSettings, float | None, float]:  # fmt: skip
    if not isinstance(preferences, Preferences):
        raise OptionError(
            f"a ranking takes Preferences, but {type(preferences).__name__} was given: make them with "
            f"Preferences.from_frame(frame) or Preferences.from_outcomes(outcomes, coupled=...)"
        )
    require_choice("ties", ties, TIES)
    if intervals is not None:
        require_choice("intervals", intervals, INTERVALS)
    if intervals == "bootstrap" and preferences.cluster is None:
        raise OptionError(
            "a bootstrap over clusters needs clusters: name the column of prompts with prompt=, or take "
            "intervals='posterior', for which comparisons are independent"
        )
    if prior_sd is not None and (isinstance(prior_sd, bool) or not 0 < float(prior_sd) < np.inf):
        raise OptionError(f"prior_sd must be a positive number or None, but {prior_sd!r} was given")
    for name, value in (("draws", draws), ("tune", tune), ("chains", chains)):
        require_positive_integer(name, value)
    scale = None if prior_sd is None else float(prior_sd)
    return NutsSettings(draws=draws, tune=tune, chains=chains), scale, options.interval_prob(prob)


def _tallies(preferences: Preferences, ties: str) -> tuple[Tallies, list[str]]:
    """All comparisons by pair, ties treated, and what the prior decides."""
    wins, tied = preferences.wins(), preferences.ties()
    compared = wins + wins.T + (0 * tied if ties == "ignore" else tied)
    warnings = []
    if ties == "ignore":
        left = int(tied.sum()) // 2
        if not compared.any():
            raise DataError("every comparison is a tie, and ties are left out: there is nothing to rank by")
        if left:
            warnings.append(f"{left:,} of {preferences.n_comparisons:,} comparisons are ties, and left out")
    require_connected(compared, preferences.systems)
    warnings += prior_driven(wins, 0 * tied if ties == "ignore" else tied, preferences.systems)
    pairs, pair, _, counts = preferences.tallies()
    whole = np.stack([np.bincount(pair, column, len(pairs)) for column in counts.T], axis=1)
    return Tallies.of_pairs(pairs, whole, len(preferences.systems), ties), warnings


def _about_clusters(preferences: Preferences, how: str) -> list[str]:
    size = preferences.n_clusters
    if size is None:
        return []
    if how == "bootstrap":
        return (
            [f"there are only {size:,} clusters, from which a bootstrap makes intervals that are too narrow"]
            if size < FEW_CLUSTERS
            else []
        )
    if size < preferences.n_comparisons:
        return [
            f"{preferences.n_comparisons:,} comparisons share {size:,} clusters and are taken as independent, which "
            f"makes intervals too narrow where comparisons of a cluster agree; intervals='bootstrap' takes clusters whole"
        ]
    return []


def _about_chains(sampled: Sampled) -> list[str]:
    """What is wrong with the chains of NUTS."""
    from arviz_stats.base import array_stats

    if len(sampled.strength) < 2 or sampled.strength.shape[1] < 4:
        return []
    columns = [*np.moveaxis(sampled.strength, 2, 0), *([] if sampled.nu is None else [np.log(sampled.nu)])]
    axes = {"chain_axis": 0, "draw_axis": 1}
    rhat = max(float(array_stats.rhat(column, **axes)) for column in columns)
    ess = min(float(array_stats.ess(column, method="bulk", **axes)) for column in columns)
    said = []
    if not rhat <= RHAT_LIMIT:
        said.append(f"chains disagree (R-hat {rhat:.3f}): raise tune= and draws= before you use these numbers")
    if not ess >= min(ESS_LIMIT, columns[0].size / 5):
        said.append(f"there are only {ess:,.0f} effective draws: raise draws=")
    diverging = int(sampled.diverging.sum())
    if diverging:
        said.append(f"{diverging:,} of {sampled.diverging.size:,} transitions of NUTS diverged: raise tune=")
    return said
