"""Scores of fresh prompts in closed form, for one Beta distribution of P(correct)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayeseval.likelihoods import beta_binomial_logpmf, log_rising
from bayeseval.metrics import Metric

__all__ = ["BLOCK", "blocks", "population_score"]

BLOCK = 1 << 22
"""Most numbers held at once in one array (32 MiB of float64)."""


def population_score(metric: Metric, mu: np.ndarray, rho: np.ndarray) -> np.ndarray:
    r"""Score of fresh prompts whose P(correct) is Beta with mean mu and intraclass correlation rho.

    .. math:: \mathrm{pass@}k = 1-\prod_{j<k}\frac{(1-\mu)(1-\rho)+j\rho}{(1-\rho)+j\rho},\quad
        E[u(X)],\ X\sim\mathrm{BetaBinomial}(k,\mu,\rho) \text{ in general.}

    Parameters
    ----------
    metric : Metric
        From `bayeseval.metrics`.
    mu, rho : float array (...,)
        They broadcast.

    Returns
    -------
    float array (...,)

    Examples
    --------
    >>> from bayeseval import metrics
    >>> from bayeseval.prompts import population_score
    >>> float(population_score(metrics.pass_at(16), 0.3, 0.2).round(6))
    0.894798
    """
    mu, rho = np.broadcast_arrays(np.asarray(mu, dtype=float), np.asarray(rho, dtype=float))
    if metric.kind == "mean":
        return mu.copy()
    if metric.kind == "pass_at":
        return -np.expm1(log_all_alike(1 - mu, rho, metric.k))
    if metric.kind == "pass_hat":
        return np.exp(log_all_alike(mu, rho, metric.k))
    successes = np.flatnonzero(metric.weights)
    flat_mu, flat_rho = mu.ravel(), rho.ravel()
    result = np.empty(flat_mu.shape)
    for block in blocks(flat_mu.size, metric.k + 1):
        logpmf = beta_binomial_logpmf(successes, np.full(successes.size, metric.k), flat_mu[block], flat_rho[block])
        result[block] = np.exp(logpmf) @ metric.weights[successes]
    return result.reshape(mu.shape)


def blocks(size: int, width: int) -> Iterator[slice]:
    """Slices of ``range(size)`` so that an array (slice, width) stays within BLOCK numbers."""
    step = max(1, BLOCK // max(width, 1))
    return (slice(start, min(start + step, size)) for start in range(0, size, step))


def log_all_alike(mu: np.ndarray, rho: np.ndarray, k: int) -> np.ndarray:
    """Log probability that k generations all succeed, when each succeeds with mean mu."""
    length = np.array([k])
    rest = log_rising(mu * (1 - rho), rho, length, first=1) - log_rising(1 - rho, rho, length, first=1)
    return np.log(np.maximum(mu, 1e-300)) + rest[..., 0]
