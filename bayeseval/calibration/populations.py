r"""Populations of prompts whose mean is known exactly: the truths that coverage is measured against.

Of real benchmarks only histograms of correct counts are seen, which are wider than the distribution of P(correct) by
the noise of the generations. So they are deconvolved: the weights of a fine grid of P(correct) start uniform and
follow the EM algorithm for the likelihood of the histogram, whose limit is the nonparametric maximum likelihood
estimate [1]_, a few spikes. The walk is stopped as soon as the deviance of the histogram is no larger than its expected
value under the truth, its degrees of freedom: the smoothest distribution on the way that describes the data as well as
the truth would (the discrepancy principle).

References
----------
.. [1] Laird (1978). Nonparametric maximum likelihood estimation of a mixing distribution. Journal of the American
   Statistical Association 73, 805-811. https://doi.org/10.2307/2286284
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayeseval.errors import DataError

__all__ = [
    "Population",
    "beta",
    "logit_normal",
    "mixture_of_betas",
    "never_or_beta",
    "seen",
    "two_points",
    "wrong_populations",
]

GRID = 401
MOST_STEPS = 20_000


@dataclass(frozen=True, eq=False)
class Population:
    """A distribution of P(correct) over prompts.

    Attributes
    ----------
    name : str
    draw : callable
        ``draw(rng, shape)`` -> float array of that shape.
    mean, sd : float
        Exact.
    """

    name: str
    draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
    mean: float
    sd: float

    @property
    def rho(self) -> float:
        """Intraclass correlation, sd squared over mean (1 - mean)."""
        return self.sd**2 / (self.mean * (1 - self.mean))


def beta(mu: float, rho: float) -> Population:
    """A Beta distribution with this mean and intraclass correlation.

    Examples
    --------
    >>> from bayeseval.calibration import populations
    >>> round(populations.beta(0.3, 0.2).rho, 12)
    0.2
    """
    precision = (1 - rho) / rho

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return rng.beta(mu * precision, (1 - mu) * precision, shape)

    return Population("Beta", draw, mu, float(np.sqrt(mu * (1 - mu) * rho)))


def two_points(low: float, high: float, share: float = 0.5) -> Population:
    """Prompts of two kinds, a share of them with the higher P(correct).

    Examples
    --------
    >>> from bayeseval.calibration import populations
    >>> populations.two_points(0.02, 0.95).mean
    0.485
    """

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return np.where(rng.random(shape) < share, high, low)

    mean, sd = low + share * (high - low), (high - low) * np.sqrt(share * (1 - share))
    return Population(f"two points, {low:g} and {high:g}", draw, mean, float(sd))


def mixture_of_betas(name: str, share: float, first: tuple[float, float], second: tuple[float, float]) -> Population:
    """A share of prompts from one Beta(a, b), the rest from another.

    Examples
    --------
    >>> from bayeseval.calibration import populations
    >>> populations.mixture_of_betas("half and half", 0.5, (1, 3), (3, 1)).mean
    0.5
    """

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        chosen = rng.random(shape) < share
        return np.where(chosen, rng.beta(*first, shape), rng.beta(*second, shape))

    moments = [(a / (a + b), a * (a + 1) / ((a + b) * (a + b + 1))) for a, b in (first, second)]
    mean, square = (share * one + (1 - share) * other for one, other in zip(*moments, strict=True))
    return Population(name, draw, mean, float(np.sqrt(square - mean**2)))


def never_or_beta(share: float, a: float, b: float) -> Population:
    """A share of prompts that are never solved, the rest from a Beta(a, b).

    Examples
    --------
    >>> from bayeseval.calibration import populations
    >>> populations.never_or_beta(0.3, 2, 2).mean
    0.35
    """

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return np.where(rng.random(shape) < share, 0.0, rng.beta(a, b, shape))

    mean, square = (1 - share) * a / (a + b), (1 - share) * a * (a + 1) / ((a + b) * (a + b + 1))
    return Population(
        f"{share:.0%} never solved, the rest Beta({a:g}, {b:g})", draw, mean, float((square - mean**2) ** 0.5)
    )


def logit_normal(mean: float, sd: float) -> Population:
    """P(correct) whose logit is normal.

    Examples
    --------
    >>> from bayeseval.calibration import populations
    >>> round(populations.logit_normal(0, 2).mean, 12)
    0.5
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    values, weights = 1 / (1 + np.exp(-(mean + sd * nodes))), weights / weights.sum()
    centre = float(weights @ values)

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return 1 / (1 + np.exp(-(mean + sd * rng.standard_normal(shape))))

    spread = float(np.sqrt(weights @ values**2 - centre**2))
    return Population(f"logit-normal, m = {mean:g}, s = {sd:g}", draw, centre, spread)


def seen(name: str, histogram: np.ndarray) -> Population:
    """The distribution of P(correct) behind a histogram of correct counts (see the top of the module).

    Parameters
    ----------
    name : str
    histogram : int array (k + 1,)
        Prompts with 0, 1, ..., k correct of k generations.

    Returns
    -------
    Population

    Raises
    ------
    DataError
        If the histogram is empty, or no distribution of P(correct) describes it.

    Examples
    --------
    >>> from bayeseval.calibration import populations
    >>> round(populations.seen("two kinds", [40, 10, 5, 5, 40]).mean, 2)
    0.49
    """
    points, weights = deconvolved(np.asarray(histogram))
    cumulative = np.cumsum(weights)

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        place = np.searchsorted(cumulative, rng.random(shape) * cumulative[-1], side="right")
        return points[np.minimum(place, points.size - 1)]

    mean = float(weights @ points)
    return Population(name, draw, mean, float(np.sqrt(weights @ points**2 - mean**2)))


def deconvolved(histogram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Grid of P(correct) (point,) and its weights (point,), so smooth that the histogram is just described."""
    from scipy.stats import binom

    k, total = histogram.size - 1, histogram.sum()
    if k < 1 or not total > 0:
        raise DataError("a histogram of correct counts needs at least two cells and one prompt")
    points = np.linspace(0, 1, GRID)
    chance = binom.pmf(np.arange(k + 1)[:, None], k, points)
    weights, present = np.full(GRID, 1 / GRID), histogram > 0
    share = histogram / total
    for _ in range(MOST_STEPS):
        expected = chance @ weights
        deviance = 2 * total * np.sum(share[present] * np.log(share[present] / expected[present]))
        if deviance <= k:
            return points, weights
        weights = weights * ((share / expected) @ chance)
    raise DataError(
        f"no distribution of P(correct) describes this histogram: its deviance stays at {deviance:.0f}, with {k} "
        f"degrees of freedom; are the generations of a prompt independent?"
    )


def wrong_populations() -> tuple[Population, ...]:
    """Populations that no single Beta describes.

    Examples
    --------
    >>> from bayeseval.calibration import populations
    >>> len(populations.wrong_populations())
    5
    """
    return (
        two_points(0.02, 0.95),
        two_points(0.1, 0.9),
        mixture_of_betas("U-shaped, Beta(1, 9) and Beta(9, 1)", 0.6, (1, 9), (9, 1)),
        logit_normal(1, 2),
        never_or_beta(0.3, 2, 2),
    )
