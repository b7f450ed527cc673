r"""Importance resampling after NUTS, for models with few parameters whose chains did not mix.

Two components of a mixture may describe the same counts in two ways, or a share of hopeless prompts trade places with a
steep Beta along a long curved ridge. Chains then stay in one place, or move slowly, and say so by R-hat. In a few
dimensions that can be mended: a density q is fitted to the draws of all chains (a mixture of Student distributions
around draws, each with the covariance of its neighbours), points are drawn from q, weighted by
:math:`p(\theta \mid y)/q(\theta)`, and resampled [1]_. The weights do not depend on how the chains shared the modes
out, and the shape k of their tail [2]_ tells whether they can be trusted.

References
----------
.. [1] West (1993). Approximating posterior distributions by mixtures. Journal of the Royal Statistical Society B 55,
   409-422. https://doi.org/10.1111/j.2517-6161.1993.tb01911.x
.. [2] Vehtari, Simpson, Gelman, Yao & Gabry (2024). Pareto smoothed importance sampling. Journal of Machine Learning
   Research 25(72). https://arxiv.org/abs/1507.02646
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["LARGEST_DIMENSION", "PARETO_LIMIT", "Resampled", "resample"]

LARGEST_DIMENSION = 8
PARETO_LIMIT = 0.7
CENTRES = 200
NEIGHBOURS = 0.1
POINTS = 4
"""Weighted points for each draw wanted."""
ROUNDS = 4
FEWEST = 100
"""Effective points below which the shape of the tail means nothing, and is taken as infinite."""
FREEDOM = 5.0
WIDE = 0.1
"""Share of points from one wide Student distribution over all draws, which covers what the kernels may miss."""


@dataclass(frozen=True)
class Resampled:
    """Draws after importance resampling.

    Attributes
    ----------
    positions : float array (draw, D)
        In random order; a point of large weight may occur several times.
    effective : float
        Effective number of points.
    pareto_k : float
        Shape of the tail of the weights; above 0.7 they are not to be trusted, and with too few effective points it
        is infinite.
    """

    positions: np.ndarray
    effective: float
    pareto_k: float


def resample(
    log_density: Callable[[np.ndarray], np.ndarray], positions: np.ndarray, size: int, rng: np.random.Generator
) -> Resampled:
    """Draw from a density by importance resampling around draws that may be in the wrong proportions.

    Parameters
    ----------
    log_density : callable
        ``log_density(points (point, D))`` -> float array (point,).
    positions : float array (draw, D)
        Draws of all chains together; every mode must have some.
    size : int
        Draws wanted.
    rng : numpy.random.Generator

    Returns
    -------
    Resampled
        Of the last round, among two to four in which q is fitted anew until the weights can be trusted.
    """
    around = positions
    number = POINTS * size
    for turn in range(ROUNDS):
        proposal = _Proposal(around, rng)
        points = proposal.draw(number, rng)
        log_ratio = log_density(points) - proposal.log_density(points)
        log_ratio[~np.isfinite(log_ratio)] = -np.inf
        log_weight, shape = _smoothed(log_ratio)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        effective = float(1 / (weight**2).sum())
        ends = np.cumsum(weight)
        # At least one end above every mark, whatever the rounding.
        ends[-1] = 1.0
        chosen = np.searchsorted(ends, (np.arange(size) + rng.random()) / size)
        drawn = points[rng.permutation(chosen)]
        result = Resampled(drawn, effective, shape if effective > FEWEST else float("inf"))
        around = np.concatenate([drawn, positions[rng.integers(0, len(positions), len(positions) // 10)]])
        if turn and effective > size and shape < PARETO_LIMIT:
            break
    return result


class _Proposal:
    """Student distributions around some of the draws, and a wide one over all of them."""

    def __init__(self, positions: np.ndarray, rng: np.random.Generator) -> None:
        from scipy.spatial import KDTree

        size, dimension = positions.shape
        pooled = np.atleast_2d(np.cov(positions.T)) + 1e-10 * np.eye(dimension)
        whitened = positions @ np.linalg.inv(np.linalg.cholesky(pooled)).T
        centres = rng.choice(size, min(CENTRES, size), replace=False)
        number = min(max(4 * dimension, int(NEIGHBOURS * size), 2), size)
        neighbours = KDTree(whitened).query(whitened[centres], number)[1]
        local = positions[neighbours] - positions[neighbours].mean(axis=1, keepdims=True)
        covariance = np.einsum("mki,mkj->mij", local, local) / neighbours.shape[1] + 1e-6 * pooled
        self.centre = np.vstack([positions[centres], positions.mean(axis=0)])
        self.root = np.linalg.cholesky(np.concatenate([0.7 * covariance, [2.0 * pooled]]))
        share = (1 - WIDE) / len(centres)
        self.share = np.append(np.full(len(centres), share), WIDE)

    def draw(self, size: int, rng: np.random.Generator) -> np.ndarray:
        part = rng.choice(self.share.size, size, p=self.share)
        scale = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, size))
        normal = rng.standard_normal((size, self.centre.shape[1]))
        return self.centre[part] + scale[:, None] * np.einsum("mij,mj->mi", self.root[part], normal)

    def log_density(self, points: np.ndarray) -> np.ndarray:
        from scipy.special import gammaln

        dimension = points.shape[1]
        inverse = np.linalg.inv(self.root)
        log_scale = np.log(np.diagonal(self.root, axis1=1, axis2=2)).sum(axis=1)
        constant = gammaln((FREEDOM + dimension) / 2) - gammaln(FREEDOM / 2) - dimension / 2 * np.log(np.pi * FREEDOM)
        result = np.full(len(points), -np.inf)
        for centre, back, scale, share in zip(self.centre, inverse, log_scale, self.share, strict=True):
            distance = (((points - centre) @ back.T) ** 2).sum(axis=1)
            height = constant - scale - (FREEDOM + dimension) / 2 * np.log1p(distance / FREEDOM)
            result = np.logaddexp(result, np.log(share) + height)
        return result


def _smoothed(log_ratio: np.ndarray) -> tuple[np.ndarray, float]:
    """Pareto-smoothed log weights, and the shape of their tail."""
    from arviz_stats.base import array_stats

    finite = np.where(np.isfinite(log_ratio), log_ratio, log_ratio[np.isfinite(log_ratio)].min() - 700.0)
    # What arviz_stats takes is the logarithm of the likelihood left out, so minus that of the weight.
    with np.errstate(divide="ignore", invalid="ignore"):
        log_weight, shape = array_stats.psislw(-finite)
    return np.asarray(log_weight), float(shape)
