r"""Posterior probabilities of directions for many simulated studies at once, on arrays.

A posterior is a Beta here: exactly so for fresh prompts answered once each, and nearly for a mean over prompts.
"""

from __future__ import annotations

import numpy as np

__all__ = ["beta_of", "difference_above"]

NODES = 72
REACH = 8.0
CLEAR = 0.3
"""Standard deviations from the threshold beyond which the normal approximation settles a comparison."""


def beta_of(mean: np.ndarray, sd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parameters of the Betas with these means and standard deviations, arrays (study,)."""
    mean = np.clip(mean, 1e-9, 1 - 1e-9)
    precision = np.maximum(mean * (1 - mean) / np.maximum(sd, 1e-9) ** 2 - 1, 1e-6)
    return mean * precision, (1 - mean) * precision


def difference_above(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], threshold: float
) -> np.ndarray:
    r"""Probability that the difference of two independent Beta variables exceeds a threshold.

    .. math:: P(A - B > t) = \int f_B(b)\, P(A > b + t)\, db

    By the trapezoidal rule in logit b, where the density is analytic and decays exponentially.

    Parameters
    ----------
    first, second : pair of float arrays (study,)
        Parameters of A and of B.
    threshold : float
        Between -1 and 1.

    Returns
    -------
    float array (study,)

    Examples
    --------
    >>> import numpy as np
    >>> one, two = (np.array([2.0]), np.array([1.0])), (np.array([1.0]), np.array([1.0]))
    >>> difference_above(one, two, 0.0).round(6)  # E[A] for uniform B: 2/3
    array([0.666667])
    """
    from scipy.special import betainc, betaln, expit, polygamma, psi

    (a, b), (c, d) = ((np.asarray(x, dtype=float)[:, None] for x in pair) for pair in (first, second))
    middle, sd = psi(c) - psi(d), np.sqrt(polygamma(1, c) + polygamma(1, d))
    y = middle + REACH * sd * np.linspace(-1, 1, NODES)
    p, q = expit(y), expit(-y)
    with np.errstate(divide="ignore"):
        log_density = c * np.log(p) + d * np.log(q) - betaln(c, d)
    weight = np.exp(log_density) * (2 * REACH * sd / (NODES - 1))
    weight /= weight.sum(axis=1, keepdims=True)
    return (weight * (1 - betainc(a, b, np.clip(p + threshold, 0, 1)))).sum(axis=1)
