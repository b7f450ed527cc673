"""Strengths behind preferences: by NUTS, or by the bootstrap over clusters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayeseval.defaults import options
from bayeseval.engines.records import NutsSettings
from bayeseval.errors import DataError, OptionError, require_choice, require_positive_integer
from bayeseval.preferences.davidson import TIES, Tallies
from bayeseval.preferences.graph import prior_driven, require_connected
from bayeseval.preferences.ranked import PreferenceRanking
from bayeseval.preferences.resampling import by_pair, resampled_strengths
from bayeseval.preferences.sampler import Sampled, sample_strengths, scales_of
from bayeseval.preferences.table import Preferences

__all__ = ["INTERVALS", "rank_preferences"]

INTERVALS = ("bootstrap", "posterior")
HYPER_SD = 1.0
"""Scale of the half-normal prior of the standard deviation of log strengths."""
FEW_CLUSTERS = 20
RHAT_LIMIT, ESS_LIMIT = 1.01, 400
Floats = npt.NDArray[np.float64]


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

    which without ties is that of Bradley and Terry [2]_. Priors: :math:`\log\pi \sim N(0, s^2)` with the mean taken
    off, :math:`s` half-normal of scale 1 or fixed, and a tie between equals with probability
    :math:`\nu/(2+\nu) \sim U(0,1)`. The posterior is sampled by NUTS. The bootstrap draws a weight for every
    cluster, and maximises the weighted posterior density with a prior whose centre is drawn as well
    (`bayeseval.preferences.resampling`); its scale is drawn from the posterior of all comparisons.

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
    tallies, warnings, lopsided = _tallies(preferences, ties)
    how = intervals or ("posterior" if preferences.cluster is None else "bootstrap")
    warnings += _about_clusters(preferences, how)
    if lopsided and how == "bootstrap":
        warnings.append(
            "where all outcomes agree a bootstrap has nothing to vary, and intervals of such systems are too narrow; "
            "intervals='posterior' has the prior's"
        )
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


def _tallies(preferences: Preferences, ties: str) -> tuple[Tallies, list[str], bool]:
    """All comparisons by pair, ties treated, warnings, and whether the prior decides the strength of some system."""
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
    driven = prior_driven(wins, 0 * tied if ties == "ignore" else tied, preferences.systems)
    pairs, pair, _, counts = preferences.tallies()
    return (
        Tallies.of_pairs(pairs, by_pair(pair, counts), len(preferences.systems), ties),
        warnings + driven,
        bool(driven),
    )


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
            f"makes intervals too narrow where comparisons of a cluster agree; intervals='bootstrap' resamples clusters"
        ]
    return []


def _about_chains(sampled: Sampled) -> list[str]:
    """What is wrong with the chains of NUTS."""
    from arviz_stats.base import array_stats

    if len(sampled.strength) < 2 or sampled.strength.shape[1] < 4:
        return []
    columns = [*np.moveaxis(sampled.strength, 2, 0), *([] if sampled.nu is None else [np.log(sampled.nu)])]
    axes = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(all="ignore"):  # chains that stand still
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
