r"""Noise of generations in a difference of two scores: its variance, and its correlation where it is shared.

The score of prompt i is :math:`g(p_i)`, and its estimate from :math:`k_i` generations has nearly the variance
:math:`g'(p_i)^2\,v_i/k_i`, with :math:`v_i` the variance of one generation. Where generation j of both systems shares
its noise, the two estimates have the covariance :math:`g'(p_{iA})\,g'(p_{iB})\,\kappa_i/k_i`.
"""

from __future__ import annotations

import numpy as np

from bayeseval.arrays import Floats
from bayeseval.estimators.coupled import kappa_hat
from bayeseval.estimators.variance import within_variances
from bayeseval.metrics import Metric

__all__ = ["noise_terms", "shared_noise_correlation", "slopes"]

STEP = 1e-4


def slopes(metric: Metric, correct: np.ndarray, generations: np.ndarray) -> Floats:
    """Derivative of the score of a prompt in its P(correct), at a share drawn a little to the middle.

    Examples
    --------
    >>> from bayeseval import metrics
    >>> slopes(metrics.mean(), np.array([1]), np.array([4]))
    array([1.])
    """
    if metric.kind == "mean":
        return np.ones(np.shape(correct))
    p = (correct + 0.5) / (generations + 1)
    return np.asarray((metric.given_p(p + STEP * (1 - p)) - metric.given_p(p - STEP * p)) / STEP)


def noise_terms(metric: Metric, correct: np.ndarray, generations: np.ndarray) -> Floats:
    """Variance that the noise of generations gives the estimate of each prompt's score (prompt,).

    A prompt with one generation takes the average variance of the others; NaN where all have one.

    Examples
    --------
    >>> from bayeseval import metrics
    >>> noise_terms(metrics.mean(), np.array([2, 0]), np.array([4, 4])).round(4)
    array([0.0833, 0.    ])
    """
    variances = within_variances(correct, generations)
    known = np.isfinite(variances)
    average = variances[known].mean() if known.any() else np.nan
    return slopes(metric, correct, generations) ** 2 * np.where(known, variances, average) / generations


def shared_noise_correlation(
    metric: Metric, tables: np.ndarray, draws: int, rng: np.random.Generator
) -> tuple[float, Floats]:
    """Correlation of the noise of two scores whose generations are coupled, with draws of a bootstrap over prompts.

    Parameters
    ----------
    metric : Metric
    tables : int array (prompt, 4)
    draws : int
    rng : numpy.random.Generator

    Returns
    -------
    value : float
        0 where no prompt has two pairs, or one of the systems has no noise.
    draws : float array (draw,)

    Examples
    --------
    >>> from bayeseval import metrics
    >>> tables = np.array([[3, 1, 0, 4], [2, 0, 1, 5]] * 10)
    >>> value, draws = shared_noise_correlation(metrics.mean(), tables, 100, np.random.default_rng(1))
    >>> round(value, 3), draws.shape
    (0.759, (100,))
    """
    k = tables.sum(axis=1)
    tables = tables[k > 1]
    if not len(tables):
        return 0.0, np.zeros(draws)
    cells, times = np.unique(tables, axis=0, return_counts=True)
    k = cells.sum(axis=1)
    a, b = cells[:, 0] + cells[:, 1], cells[:, 0] + cells[:, 2]
    slope = [slopes(metric, c, k) for c in (a, b)]
    columns = np.stack(
        [
            slope[0] * slope[1] * kappa_hat(cells) / k,
            slope[0] ** 2 * within_variances(a, k) / k,
            slope[1] ** 2 * within_variances(b, k) / k,
        ],
        axis=1,
    )
    return float(_ratio(times[None] @ columns)[0]), _ratio(rng.standard_gamma(times, (draws, times.size)) @ columns)


def _ratio(sums: Floats) -> Floats:
    size = np.sqrt(sums[:, 1] * sums[:, 2])
    found = np.divide(sums[:, 0], size, out=np.zeros(len(sums)), where=size > 0)
    return np.clip(found, -1.0, 1.0)
