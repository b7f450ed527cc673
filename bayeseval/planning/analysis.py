r"""How each simulated future is analysed: as `bayeseval.fit` would, with what its headline would be.

Three ways to refit: exactly, where the exact engine knows the model; by weights on the pilot's draws,

.. math:: w_s \propto \frac{p(\text{future data} \mid \theta_s)}{p(\text{pilot data} \mid \theta_s)},

Pareto-smoothed [1]_, where the likelihood is a product over prompts; by NUTS, future by future, where asked.

References
----------
.. [1] Vehtari, Simpson, Gelman, Yao & Gabry (2024). Pareto smoothed importance sampling. Journal of Machine Learning
   Research 25(72). https://arxiv.org/abs/1507.02646
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayeseval.counts import Counts
from bayeseval.engines.batches import batch_of_counts, batch_of_known
from bayeseval.engines.importance import PARETO_LIMIT
from bayeseval.engines.refits import Refits, beta_interval, refit
from bayeseval.fitting import fit
from bayeseval.metrics import Metric
from bayeseval.model_data import keyed_cells
from bayeseval.planning.pilots import Pilot
from bayeseval.posterior.posterior import Posterior

__all__ = ["ENDLESS", "Analysis", "Spread", "analysis_of"]

DRAWS = 1000
SAMPLED = 500
"""Draws in each of four chains where every future is fitted by NUTS."""
ENDLESS = 1024
"""Generations that stand for endless many where draws are re-weighted."""
MIXED = 10
"""Prompts answered both ways that the unbiased benchmark mean needs; see `bayeseval.posterior.prompt_draws`."""


@dataclass(frozen=True)
class Spread:
    """Width of the interval and posterior standard deviation in each future, float arrays (future,).

    Attributes
    ----------
    unreliable : float
        Share of the futures whose weights have too heavy a tail (Pareto k above 0.7); 0 for exact refits.
    """

    width: np.ndarray
    sd: np.ndarray
    unreliable: float = 0.0


Counted = Callable[[np.ndarray, np.ndarray, np.ndarray | None], Spread]
"""``counted(correct (future, prompt), generations (prompt,), key (prompt,) or None)``."""


@dataclass(frozen=True)
class Analysis:
    """How counts of all futures are analysed, and their limit of endless generations.

    Attributes
    ----------
    counted : callable
        ``counted(correct (future, prompt), generations (prompt,), key (prompt,) or None)`` -> Spread.
    known : callable or None
        ``known(p (future, prompt))`` -> Spread; None where it must be had from very many generations.
    """

    counted: Counted
    known: Callable[[np.ndarray], Spread] | None = None


def analysis_of(pilot: Pilot, metric: Metric, estimand: str, robust: bool, prob: float, refits: str) -> Analysis:
    """How futures of a pilot are analysed for one score.

    Parameters
    ----------
    pilot : Pilot
    metric : Metric
    estimand : {"population", "benchmark"}
    robust : bool
        Whether the pilot failed its check, so that headlines are robust.
    prob : float
    refits : {"exact", "importance", "nuts"}

    Returns
    -------
    Analysis
    """
    if refits == "nuts":
        return Analysis(_sampled(pilot, metric, estimand, robust, prob))
    if refits == "importance":
        return Analysis(
            _headline(_reweighted(pilot, metric, estimand, robust, prob), pilot, metric, estimand, robust, prob)
        )
    method = "robust" if robust else "model"
    ends = estimand == "population" and not robust

    def spread(found: Refits) -> Spread:
        lower, upper = found.interval(estimand, method, prob)
        return Spread(upper - lower, found.sd(estimand, method))

    def counted(correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None) -> Spread:
        batch = batch_of_counts(correct, generations, cells=metric.kind != "mean")
        return spread(refit(batch, *pilot.prior, prob, metric, ends))

    def known(p: np.ndarray) -> Spread:
        if estimand == "benchmark":
            return Spread(np.zeros(len(p)), np.zeros(len(p)))
        return spread(refit(batch_of_known(p, metric), *pilot.prior, prob, metric, ends))

    return Analysis(_headline(counted, pilot, metric, estimand, robust, prob), known)


def _headline(refitted: Counted, pilot: Pilot, metric: Metric, estimand: str, robust: bool, prob: float) -> Counted:
    """Prefer what `Posterior` gives without a model of P(correct) after a failed check, where it does."""
    if not robust or pilot.clustered:
        return refitted

    def counted(correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None) -> Spread:
        unbiased = _unbiased(correct, generations, metric, estimand, prob)
        if unbiased is None:
            return refitted(correct, generations, key)
        usable = np.isfinite(unbiased.width)
        if usable.all():
            return unbiased
        other = refitted(correct, generations, key)
        width, sd = (np.where(usable, *pair) for pair in ((unbiased.width, other.width), (unbiased.sd, other.sd)))
        return Spread(width, sd, other.unreliable)

    return counted


def _unbiased(
    correct: np.ndarray, generations: np.ndarray, metric: Metric, estimand: str, prob: float
) -> Spread | None:
    """The headline without a model of P(correct), as `Posterior` gives it after a failed check; None where it has none.

    NaN in futures where it is no good guide.
    """
    answered = generations > 0
    correct, generations = correct[:, answered], generations[answered]
    if estimand == "benchmark":
        if metric.kind != "mean" or not answered.all() or generations.min() < 2:
            return None
        share = correct / generations
        sd = np.sqrt((share * (1 - share) / (generations - 1)).sum(axis=1)) / generations.size
        from scipy.special import ndtri

        lower, upper = (np.clip(share.mean(axis=1) + sign * ndtri((1 + prob) / 2) * sd, 0, 1) for sign in (-1, 1))
        usable = ((correct > 0) & (correct < generations)).sum(axis=1) >= MIXED
        return Spread(np.where(usable, upper - lower, np.nan), np.where(usable, sd, np.nan))
    if metric.kind == "mean" or metric.k > generations.min():
        return None
    levels, place = np.unique(generations, return_inverse=True)
    tables = np.zeros((levels.size, int(levels[-1]) + 1))
    for row, level in zip(tables, levels, strict=True):
        row[: level + 1] = metric.estimate(np.arange(level + 1), np.full(level + 1, level))
    values = tables[place, correct]
    mean, variance = values.mean(axis=1), values.var(axis=1) / (generations.size + 1)
    lower, upper = beta_interval(np.clip(mean, 0, 1), np.sqrt(variance), prob)
    return Spread(np.where(variance > 0, upper - lower, np.nan), np.where(variance > 0, np.sqrt(variance), np.nan))


def _reweighted(pilot: Pilot, metric: Metric, estimand: str, robust: bool, prob: float) -> Counted:
    """Weights on the pilot's draws, for models that only NUTS can fit."""
    size = pilot.distribution.n_draws
    distribution = pilot.distribution.take(np.unique(np.linspace(0, size - 1, min(DRAWS, size)).astype(int)))
    counts = pilot.counts
    assert counts is not None
    c, k, keys, cell = keyed_cells(counts.correct, counts.generations, pilot.key)
    seen = distribution.logpmf(c, k, keys) @ np.bincount(cell, minlength=c.size).astype(float)
    fresh_score = distribution.score(metric)

    def counted(correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None) -> Spread:
        futures, prompts = correct.shape
        keys = None if key is None else np.tile(key, futures)
        c, k, cell_key, cell = keyed_cells(correct.ravel(), np.tile(generations, futures), keys)
        codes = np.repeat(np.arange(futures), prompts) * c.size + cell
        numbers = np.bincount(codes, minlength=futures * c.size).reshape(futures, c.size).astype(float)
        log_ratio = numbers @ distribution.logpmf(c, k, cell_key).T - seen
        weight, unreliable = _smoothed(log_ratio)
        if estimand == "population" and not robust:
            mean = weight @ fresh_score
            sd = np.sqrt(np.maximum(weight @ fresh_score**2 - mean**2, 0))
            lower, upper = _quantiles(fresh_score, weight, prob)
            return Spread(upper - lower, sd, unreliable)
        first, square = distribution.condition(c, k, cell_key).moments(metric)
        means = numbers @ first.T / prompts
        within = numbers @ np.maximum(square - first**2, 0).T / prompts**2
        mean = (weight * means).sum(axis=1)
        variance = (weight * (within + (means - mean[:, None]) ** 2)).sum(axis=1)
        if estimand == "population":
            second = (weight * (numbers @ square.T)).sum(axis=1) / prompts
            variance = variance + np.maximum(second - variance - mean**2, 0) / (prompts + 1)
        lower, upper = beta_interval(mean, np.sqrt(variance), prob)
        return Spread(upper - lower, np.sqrt(variance), unreliable)

    return counted


def _sampled(pilot: Pilot, metric: Metric, estimand: str, robust: bool, prob: float) -> Counted:
    """A NUTS fit for every future: slow, and needs no assumption about the weights."""
    fitted = pilot.fitted
    assert fitted is not None

    def counted(correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None) -> Spread:
        size, names = correct.shape[1], [f"future {number}" for number in range(len(correct))]
        groups = None if key is None or pilot.counts is None else pilot.counts.group
        data = Counts.from_arrays(
            correct.ravel(),
            np.tile(generations, len(names)),
            benchmark=np.repeat(names, size).tolist(),
            prompt=np.tile(np.arange(size), len(names)),
            group=None if groups is None else np.tile(groups, len(names)),
        )
        found = fit(data, model=fitted.model, prior=fitted.prior, seed=fitted.seed, draws=SAMPLED, progress=False)
        members = [found] if isinstance(found, Posterior) else list(found)
        method = "robust" if robust and estimand == "population" else "model"
        scores = [member.score(metric, estimand, prob, method) for member in members]
        return Spread(np.array([score.width for score in scores]), np.array([score.sd for score in scores]))

    return counted


def _smoothed(log_ratio: np.ndarray) -> tuple[np.ndarray, float]:
    """Pareto-smoothed weights of each future, and the share of futures whose tail is too heavy."""
    from arviz_stats.base import array_stats

    result, heavy = np.empty(log_ratio.shape), 0
    for row, values in zip(result, log_ratio, strict=True):
        if np.ptp(values) < 1e-9:  # nothing new was seen
            row[:] = 1 / values.size
            continue
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            log_weight, shape = array_stats.psislw(-(values - values.max()))
        weight = np.exp(log_weight - log_weight.max())
        row[:] = weight / weight.sum()
        heavy += bool(shape > PARETO_LIMIT)
    return result, heavy / len(log_ratio)


def _quantiles(values: np.ndarray, weight: np.ndarray, prob: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the equal-tailed interval of weighted draws, in each future."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weight[:, order], axis=1) - weight[:, order] / 2
    ends = [
        np.array([np.interp(target, row, values[order]) for row in cumulative])
        for target in ((1 - prob) / 2, (1 + prob) / 2)
    ]
    return ends[0], ends[1]
