r"""Simultaneous confidence bands for the empirical distribution function of uniform values.

At each of K equally spaced points :math:`z_i = i/K` the number of N uniform values below it is Binomial(N, z_i). The
band consists of the central intervals of these binomials at a level :math:`1-\gamma`, and :math:`\gamma` is adjusted
until the whole function stays inside with the wanted probability [1]_. That probability is computed exactly: the
numbers in the K bins are independent Poisson variables given their sum, so the count is carried from one point to the
next by a convolution, and what leaves the band is dropped.

References
----------
.. [1] Säilynoja, Bürkner & Vehtari (2022). Graphical test for discrete uniformity and its applications in
   goodness-of-fit evaluation and multiple sample comparison. Statistics and Computing 32, 32.
   https://doi.org/10.1007/s11222-022-10090-6
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bayeseval.errors import require_positive_integer, require_probability

__all__ = ["Band", "band_probability", "simultaneous_band"]

MOST_POINTS = 100
HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Band:
    """A band for the empirical distribution function.

    Attributes
    ----------
    points : float array (point,)
        Where the function is looked at: 1/K, 2/K, ..., (K - 1)/K.
    lower, upper : float arrays (point,)
        Ends of the band, shares of the values.
    prob : float
        Probability that uniform values stay inside at all points.
    """

    points: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    prob: float

    def ecdf(self, values: np.ndarray) -> np.ndarray:
        """Share of the values (..., value) at or below each point (..., point)."""
        values = np.asarray(values, dtype=float)
        return (values[..., None, :] <= self.points[:, None]).mean(axis=-1)

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Whether the empirical distribution function of values (..., value) stays inside, a bool for each row."""
        height = self.ecdf(values)
        slack = 1e-9
        return np.all((height >= self.lower - slack) & (height <= self.upper + slack), axis=-1)


@lru_cache(maxsize=64)
def simultaneous_band(size: int, prob: float = 0.99, points: int | None = None) -> Band:
    """Band that the empirical distribution function of uniform values leaves with probability at most 1 - prob.

    Parameters
    ----------
    size : int
        Number of values N.
    prob : float
        Probability to stay inside.
    points : int, optional
        K, one more than the points at which the function is looked at; ``min(size, 100)`` by default.

    Returns
    -------
    Band
        The narrowest of its kind whose probability is at least ``prob``; binomials are discrete, so it can be more.

    Examples
    --------
    >>> from bayeseval.calibration.bands import simultaneous_band
    >>> band = simultaneous_band(200, 0.99)
    >>> bool(band.holds((0.5 + np.arange(200)) / 200)), bool(band.holds(np.linspace(0, 0.8, 200)))
    (True, False)
    """
    from scipy.stats import binom

    size, prob = require_positive_integer("size", size), require_probability("prob", prob)
    bins = max(2, min(size, MOST_POINTS) if points is None else require_positive_integer("points", points))
    z = np.arange(1, bins) / bins

    def limits(gamma: float) -> tuple[np.ndarray, np.ndarray]:
        return binom.ppf(gamma / 2, size, z).astype(int), binom.isf(gamma / 2, size, z).astype(int)

    low, high = np.log(1e-15), np.log(1 - prob)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        inside = band_probability(*limits(np.exp(middle)), size)
        low, high = (middle, high) if inside >= prob else (low, middle)
    lower, upper = limits(np.exp(low))
    return Band(z, lower / size, upper / size, prob)


def band_probability(lower: np.ndarray, upper: np.ndarray, size: int) -> float:
    """Probability that the counts of uniform values stay within limits at all points.

    Parameters
    ----------
    lower, upper : int arrays (K - 1,)
        Fewest and most values at or below i/K, for i = 1, ..., K - 1.
    size : int
        Number of values N.

    Returns
    -------
    float

    Examples
    --------
    Both of two values in different halves: one half of the possible cases.

    >>> from bayeseval.calibration.bands import band_probability
    >>> round(band_probability(np.array([1]), np.array([1]), size=2), 12)
    0.5
    """
    from scipy.stats import poisson

    bins = lower.size + 1
    mass = poisson.pmf(np.arange(size + 1), size / bins)
    kernel = mass[: int(np.max(np.flatnonzero(mass > 1e-300))) + 1]
    state, first = np.ones(1), 0
    for low, high in zip(lower, upper, strict=True):
        moved = np.convolve(state, kernel)
        start, stop = max(int(low) - first, 0), min(int(high) - first + 1, moved.size)
        if stop <= start:
            return 0.0
        state, first = moved[start:stop], first + start
    left = size - first - np.arange(state.size)
    last = np.where(left >= 0, mass[np.maximum(left, 0)], 0.0)
    return float(state @ last / poisson.pmf(size, size))
