r"""What an interval of a future difference will say: resolved, equivalent or undecided. Plain arrays, normal law.

A future study reports :math:`\hat D \pm z\,s` where :math:`\hat D \sim N(m, t^2)`. Its difference is resolved where the
interval lies outside :math:`\pm r`, and the systems are equivalent where it lies inside.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from bayeseval.arrays import Floats

__all__ = ["MOST_PROMPTS", "detectable", "equivalent", "fewest", "miller_sample_size", "resolved"]

MOST_PROMPTS = 10**9


def resolved(centre: ArrayLike, spread: ArrayLike, half: ArrayLike, rope: float) -> Floats:
    """Probability that the interval of the difference lies outside ±rope, on either side.

    Parameters
    ----------
    centre, spread : float arrays that broadcast
        Mean and standard deviation of the difference that the study will find; a spread of 0 makes it certain.
    half : float array
        Half width of the interval.
    rope : float

    Examples
    --------
    >>> resolved(0.0, 1.0, 1.959964, 0.0).round(6)
    np.float64(0.05)
    """
    edge = rope + np.asarray(half)
    return _below(np.asarray(centre) - edge, spread) + _below(-np.asarray(centre) - edge, spread)


def equivalent(centre: ArrayLike, spread: ArrayLike, half: ArrayLike, rope: float) -> Floats:
    """Probability that the interval of the difference lies inside ±rope; arguments as in `resolved`.

    Examples
    --------
    >>> equivalent([0.0, 0.0], 0.01, [0.0196, 0.05], 0.04).round(4)
    array([0.9586, 0.    ])
    """
    room = rope - np.asarray(half)
    inside = _below(room - np.asarray(centre), spread) - _below(-room - np.asarray(centre), spread)
    return np.where(room > 0, inside, 0.0)


def _below(distance: ArrayLike, spread: ArrayLike) -> Floats:
    """Distribution function of a centred normal law at a distance; a step where its spread is 0."""
    from scipy.special import ndtr

    gap, sd = np.broadcast_arrays(np.asarray(distance, dtype=float), np.asarray(spread, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sd > 0, ndtr(gap / sd), (gap > 0).astype(float))


def detectable(se: ArrayLike, z: float, rope: float, power: float) -> float:
    """Smallest true difference that is resolved with this probability, averaged over draws of the standard error.

    Parameters
    ----------
    se : float array (draw,)
    z : float
        Normal quantile of the interval.
    rope, power : float

    Returns
    -------
    float
        NaN where even a difference of 1 is not resolved.

    Examples
    --------
    >>> detectable([0.01], 1.959964, 0.0, 0.8).round(5)
    np.float64(0.02802)
    """
    errors = np.asarray(se, dtype=float)

    def reached(difference: float) -> bool:
        return bool(resolved(difference, errors, z * errors, rope).mean() >= power)

    low, high = 0.0, 1.0
    if not reached(high):
        return float("nan")
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return np.float64(high)


def fewest(reaches: Callable[[int], bool], most: int = MOST_PROMPTS) -> int | None:
    """Smallest whole number that reaches a goal which larger numbers reach too; None where ``most`` does not.

    Examples
    --------
    >>> fewest(lambda n: n * n >= 50)
    8
    """
    low, high = 0, 2
    while not reaches(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def miller_sample_size(
    difference: float, between: float, noise_a: float, noise_b: float, *, prob: float = 0.95, power: float = 0.8
) -> float:
    r"""Prompts that a paired comparison needs, by Miller's formula [1]_.

    .. math:: n = \frac{(z_{\alpha/2} + z_\beta)^2 (\omega^2 + \sigma_A^2/K_A + \sigma_B^2/K_B)}{\delta^2}

    Parameters
    ----------
    difference : float
        True difference, other than 0.
    between : float
        Variance over prompts of the difference of P(correct).
    noise_a, noise_b : float
        Mean variance of one generation, divided by the generations of each prompt.
    prob, power : float

    References
    ----------
    .. [1] Miller (2024). Adding error bars to evals. https://arxiv.org/abs/2411.00640

    Examples
    --------
    >>> miller_sample_size(0.03, 0.1, 0.08 / 4, 0.1 / 4).round(2)
    np.float64(1264.54)
    """
    from scipy.special import ndtri

    reach = ndtri((1 + prob) / 2) + ndtri(power)
    return reach**2 * (between + noise_a + noise_b) / difference**2
