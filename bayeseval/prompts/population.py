"""Scores of fresh prompts in closed form, for one Beta distribution of P(correct)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayeseval.likelihoods import beta_binomial_logpmf, log_rising
from bayeseval.metrics import Metric, square_weights

__all__ = ["BLOCK", "blocks", "population_score", "population_square"]

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
    return _weighted(metric.weights, mu, rho)


def population_square(metric: Metric, mu: np.ndarray, rho: np.ndarray) -> np.ndarray:
    r"""Mean over prompts of the square of their score, P(correct) being Beta; see `population_score`.

    The square of a polynomial :math:`g(p) = E[u(X)]`, X ~ Binomial(k, p), is another one with 2k attempts and weights
    :math:`v_s = \sum_{j+l=s} u_j u_l \binom kj \binom kl / \binom{2k}s` (`bayeseval.metrics.square_weights`).

    Parameters
    ----------
    metric : Metric
    mu, rho : float array (...,)
        They broadcast.

    Returns
    -------
    float array (...,)

    Examples
    --------
    >>> from bayeseval import metrics
    >>> from bayeseval.prompts import population_square
    >>> float(population_square(metrics.pass_hat(2), 0.5, 1 / 3).round(6))  # uniform p: the mean of p^4
    0.2
    """
    mu, rho = np.broadcast_arrays(np.asarray(mu, dtype=float), np.asarray(rho, dtype=float))
    if metric.kind == "mean":
        return mu**2 + mu * (1 - mu) * rho
    if metric.kind == "pass_hat":
        return np.exp(log_all_alike(mu, rho, 2 * metric.k))
    if metric.kind == "pass_at":
        once, twice = (-np.expm1(log_all_alike(1 - mu, rho, k)) for k in (metric.k, 2 * metric.k))
        return np.maximum(2 * once - twice, once**2)
    return _weighted(square_weights(metric.weights), mu, rho)


def _weighted(weights: np.ndarray, mu: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Mean of weights[X], X beta-binomial with weights.size - 1 attempts."""
    attempts = weights.size - 1
    successes = np.flatnonzero(weights)
    flat_mu, flat_rho = mu.ravel(), rho.ravel()
    result = np.empty(flat_mu.shape)
    for block in blocks(flat_mu.size, attempts + 1):
        logpmf = beta_binomial_logpmf(successes, np.full(successes.size, attempts), flat_mu[block], flat_rho[block])
        result[block] = np.exp(logpmf) @ weights[successes]
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
