"""What a benchmark of n prompts with k generations each can tell: closed forms for designs and published tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayeseval.arrays import Floats, as_counts, as_probabilities
from bayeseval.errors import OptionError, require_positive_integer

__all__ = [
    "blue_weights",
    "design_effect",
    "expected_range",
    "generations_near_floor",
    "implied_sigma2",
    "uniform_variance_ratio",
    "variance_of_mean",
]


def variance_of_mean(mu: float, sigma2: float, generations: ArrayLike, n_prompts: int | None = None) -> float:
    """Return the variance of a mean over fresh prompts and generations, ``(omega mean(1 / n_i) + sigma^2) / n``.

    Parameters
    ----------
    mu, sigma2 : float
        Mean and variance of P(correct) over prompts; ``omega = mu (1 - mu) - sigma2``.
    generations : int or int array, shape (prompts,)
        Generations per prompt.
    n_prompts : int, optional
        Number of prompts, needed where ``generations`` is one number.

    Returns
    -------
    float

    Raises
    ------
    OptionError
        If ``sigma2`` is not between 0 and ``mu (1 - mu)``, or the number of prompts is missing or contradicted.

    References
    ----------
    .. [1] Zhang, Cai & Chen (2025). Beyond the Singular, Lemma 2.1. https://arxiv.org/abs/2502.08943

    Examples
    --------
    >>> print(f"{variance_of_mean(mu=0.6, sigma2=0.05, generations=10, n_prompts=100):.5f}")
    0.00069
    """
    omega = _omega(mu, sigma2)
    n = _positive_generations(generations)
    if n.ndim == 0:
        if n_prompts is None:
            raise OptionError("n_prompts is needed where generations is one number for all prompts")
        size = require_positive_integer("n_prompts", n_prompts)
    else:
        size = n.size
        if n_prompts is not None and n_prompts != size:
            raise OptionError(f"generations is given for {size} prompts, but n_prompts = {n_prompts}")
    return float((omega * np.mean(1 / n) + sigma2) / size)


def implied_sigma2(mean: ArrayLike, se: ArrayLike, n_prompts: ArrayLike, generations: ArrayLike) -> Floats:
    """Recover the variance between prompts from a published mean and its population standard error.

    Parameters
    ----------
    mean, se : float arrays that broadcast
        As fractions of 1, not percent.
    n_prompts, generations : int arrays that broadcast
        Prompts, and generations of each of them (at least 2).

    Returns
    -------
    float array
        ``(n se^2 - mean (1 - mean) / k) / (1 - 1/k)``, Lemma 2.1 solved for sigma^2. Outside ``[0, mean (1 - mean)]``
        the published numbers do not fit together.

    Raises
    ------
    OptionError
        If the mean leaves [0, 1], the standard error is negative, or there is one generation a prompt, which tells
        nothing about sigma^2.

    Examples
    --------
    >>> implied_sigma2(mean=[0.856], se=0.0068, n_prompts=1319, generations=50).round(6)
    array([0.05972])
    """
    mean, error = as_probabilities(mean), np.asarray(se, dtype=float)
    n, k = _positive_generations(n_prompts), _positive_generations(generations)
    if not (np.isfinite(error) & (error >= 0)).all():
        raise OptionError(f"se must be at least 0 and finite, but {se!r} was given")
    if (k < 2).any():
        raise OptionError("one generation a prompt tells nothing about sigma^2; generations must be at least 2")
    return np.asarray((n * error**2 - mean * (1 - mean) / k) / (1 - 1 / k))


def blue_weights(mu: float, sigma2: float, generations: ArrayLike) -> Floats:
    """Return the weights on prompts that estimate mu with least variance, ``1 / (sigma^2 + omega / n_i)``, adding to 1.

    Parameters
    ----------
    mu, sigma2 : float
        Mean and variance of P(correct) over prompts, known.
    generations : int array, shape (prompts,)

    Returns
    -------
    float array, shape (prompts,)
        For prompts like these only: for these very prompts equal weights define the score.

    Examples
    --------
    >>> blue_weights(mu=0.6, sigma2=0.05, generations=[1, 8]).round(4)
    array([0.2351, 0.7649])
    """
    omega = _omega(mu, sigma2)
    n = _positive_generations(generations)
    if sigma2 == 0 and omega == 0:
        return np.full(n.shape, 1 / n.size)
    weights = 1 / (sigma2 + omega / n)
    return np.asarray(weights / weights.sum())


def design_effect(generations: float, rho: float) -> float:
    """Return how many times too small a binomial variance over all generations is, ``1 + (k - 1) rho``.

    Parameters
    ----------
    generations : int
        Generations of each prompt, k.
    rho : float
        Intraclass correlation.

    Examples
    --------
    >>> print(f"{design_effect(10, 0.4):.1f}")
    4.6
    """
    return 1 + (generations - 1) * rho


def generations_near_floor(rho: float, excess: float) -> float:
    """Return the generations a prompt from which more of them shrink the population variance by ``excess`` at most.

    Parameters
    ----------
    rho : float
        Intraclass correlation, in (0, 1].
    excess : float
        Variance above its floor ``sigma^2 / n``, as a fraction of the floor.

    Returns
    -------
    float
        ``(1 - rho) / (rho excess)``; round up.

    Examples
    --------
    >>> print(f"{generations_near_floor(rho=0.5, excess=0.1):.1f}")
    10.0
    """
    if not 0 < rho <= 1 or not excess > 0:
        raise OptionError(
            f"rho must lie in (0, 1] and excess above 0, but rho = {rho!r}, excess = {excess!r} were given"
        )
    return (1 - rho) / (rho * excess)


def uniform_variance_ratio(generations: float) -> float:
    """Return Miller's ratio of the variance at k generations to that at 1 where P(correct) is uniform, ``(1 + 2/k)/3``.

    References
    ----------
    .. [1] Miller (2024). Adding error bars to evals. https://arxiv.org/abs/2411.00640

    Examples
    --------
    >>> uniform_variance_ratio(4)
    0.5
    """
    return (1 + 2 / generations) / 3


def expected_range(runs: int) -> float:
    """Return the expected difference of best and worst among independent standard normal runs.

    Parameters
    ----------
    runs : int
        At least 1.

    Returns
    -------
    float
        The integral of ``1 - Phi^m - (1 - Phi)^m``; times the standard error of one run it is what a published spread
        of m runs should be if nothing but noise tells them apart.

    Examples
    --------
    >>> print(f"{expected_range(50):.6f}")
    4.498147
    """
    from scipy.special import log_ndtr

    m = require_positive_integer("runs", runs)
    # The integrand is smooth and vanishes at both ends, where the trapezoidal rule converges geometrically.
    x, step = np.linspace(-40, 40, 8001, retstep=True)
    return float(np.sum(-np.expm1(m * log_ndtr(x)) - np.exp(m * log_ndtr(-x))) * step)


def _omega(mu: float, sigma2: float) -> float:
    mean = float(as_probabilities(mu))
    omega = mean * (1 - mean) - sigma2
    if not (sigma2 >= 0 and omega >= -1e-12):
        raise OptionError(
            f"sigma2 must lie between 0 and mu (1 - mu) = {mean * (1 - mean):.6g}, but {sigma2!r} was given"
        )
    return max(omega, 0.0)


def _positive_generations(generations: ArrayLike) -> Floats:
    n = as_counts(0, generations)[1]
    if not n.size or (n < 1).any():
        raise OptionError("numbers of prompts and of generations must be at least 1 each")
    return n.astype(float)
