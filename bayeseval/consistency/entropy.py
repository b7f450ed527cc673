r"""How consistent answers are: entropy of clusters of answers, from counts alone.

Counts are arrays of shape (..., cluster): how many generations gave an answer of each cluster. Zeros are clusters that
are known but were not given, and change nothing. Logarithms are natural.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, xlogy

from bayeseval.arrays import Floats, as_counts
from bayeseval.errors import DataError, OptionError, require_positive_integer

__all__ = [
    "consistency", "entropy_dirichlet", "entropy_miller_madow", "entropy_process",
    "entropy_process_averaged", "held_out_modal_share", "normalised_consistency", "rarefied_consistency",
    "require_concentration",
]  # fmt: skip

GAMMAS = np.linspace(0.05, 30.0, 1200)
"""Concentrations at which the average over their Gamma(1, 1) prior is taken."""


def consistency(counts: ArrayLike) -> Floats:
    r"""Semantic consistency as published, minus the plug-in entropy of the clusters.

    .. math:: S = \sum_c \hat\pi_c \log \hat\pi_c

    Parameters
    ----------
    counts : int array (..., cluster)

    Returns
    -------
    float array (...)
        Between :math:`-\log k` and 0, where all answers agree; NaN where there is no answer.

    Raises
    ------
    DataError
        If the counts are no whole numbers of at least 0.

    Notes
    -----
    The plug-in entropy is too small by about (C - 1)/(2k), so that S of few generations looks too consistent. Compare
    runs with different numbers of generations by `entropy_process` or `rarefied_consistency`.

    References
    ----------
    .. [1] Beyond the Singular (2025). https://arxiv.org/abs/2502.08943

    Examples
    --------
    >>> round(float(consistency([30, 15, 5])), 4)
    -0.8979
    """
    n = _counts(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = n / n.sum(axis=-1, keepdims=True)
    return np.asarray(xlogy(share, share).sum(axis=-1)) + 0.0


def normalised_consistency(counts: ArrayLike) -> Floats:
    r"""Consistency from 0, all answers differ, to 1, all agree.

    .. math:: 1 + S / \log k

    Divided by log k and not by log C, which depends on what was answered, and is 0 where all agree.

    Parameters
    ----------
    counts : int array (..., cluster)

    Returns
    -------
    float array (...)
        NaN where there are fewer than two generations: one alone always agrees with itself.

    Examples
    --------
    >>> round(float(normalised_consistency([30, 15, 5])), 4)
    0.7705
    """
    n = _counts(counts)
    k = n.sum(axis=-1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(k > 1, 1 + consistency(n) / np.log(np.maximum(k, 1)), np.nan))


def entropy_miller_madow(counts: ArrayLike) -> Floats:
    r"""Plug-in entropy with the Miller-Madow correction, :math:`\hat H + (C - 1)/(2k)`.

    Parameters
    ----------
    counts : int array (..., cluster)

    Returns
    -------
    float array (...)
        In nats; NaN where there is no answer.

    References
    ----------
    .. [1] Miller (1955). Note on the bias of information estimates. Information Theory in Psychology, 95-100.

    Examples
    --------
    >>> round(float(entropy_miller_madow([30, 15, 5])), 4)
    0.9179
    """
    n = _counts(counts)
    k = n.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(-consistency(n) + ((n > 0).sum(axis=-1) - 1) / (2.0 * k))


def entropy_dirichlet(counts: ArrayLike, alpha: float = 1.0) -> Floats:
    r"""Posterior mean of the entropy where the clusters that can occur are all known.

    .. math:: E[H\mid n] = \psi(A+1) - \sum_c \frac{a_c}{A}\psi(a_c+1),\qquad a_c = n_c+\alpha,\ A=\sum_c a_c

    Parameters
    ----------
    counts : int array (..., cluster)
        Every cluster that can occur, those that did not with 0.
    alpha : float
        Of the symmetric Dirichlet prior.

    Returns
    -------
    float array (...)

    Examples
    --------
    >>> round(float(entropy_dirichlet([30, 15, 5])), 4)
    0.9034
    """
    a = _counts(counts) + require_concentration("alpha", alpha)
    total = a.sum(axis=-1)
    return np.asarray(digamma(total + 1) - (a * digamma(a + 1)).sum(axis=-1) / total)


def entropy_process(counts: ArrayLike, gamma: float = 1.0) -> Floats:
    r"""Posterior mean of the entropy where further clusters may occur: a Dirichlet process of concentration γ.

    .. math:: E[H\mid n] = \psi(k+\gamma+1) - \frac{\gamma\,\psi(1) + \sum_c n_c\psi(n_c+1)}{k+\gamma}

    Parameters
    ----------
    counts : int array (..., cluster)
    gamma : float
        With k generations seen, the next answer is a new one with probability γ/(k + γ).

    Returns
    -------
    float array (...)
        In nats. Without an answer, the prior mean.

    Examples
    --------
    >>> round(float(entropy_process([30, 15, 5])), 4)
    0.969
    """
    n = _counts(counts)
    return _process(n, np.asarray(require_concentration("gamma", gamma)))


def entropy_process_averaged(counts: ArrayLike) -> Floats:
    r"""Posterior mean of the entropy under a Dirichlet process whose concentration has a Gamma(1, 1) prior.

    `entropy_process` averaged over its posterior:

    .. math:: p(\gamma\mid n) \propto e^{-\gamma}\gamma^C\,\Gamma(\gamma)/\Gamma(\gamma+k)

    Parameters
    ----------
    counts : int array (..., cluster)

    Returns
    -------
    float array (...)

    References
    ----------
    .. [1] Escobar, West (1995). Bayesian density estimation and inference using mixtures. Journal of the American
       Statistical Association 90, 577-588.

    Examples
    --------
    >>> round(float(entropy_process_averaged([30, 15, 5])), 2)
    0.94
    """
    n = _counts(counts)
    k, seen = n.sum(axis=-1)[..., None], (n > 0).sum(axis=-1)[..., None]
    log = -GAMMAS + seen * np.log(GAMMAS) + gammaln(GAMMAS) - gammaln(GAMMAS + k)
    weight = np.exp(log - log.max(axis=-1, keepdims=True))
    weight /= weight.sum(axis=-1, keepdims=True)
    return np.asarray((weight * _process(n[..., None, :], GAMMAS)).sum(axis=-1))


def rarefied_consistency(counts: ArrayLike, generations: int) -> Floats:
    r"""Consistency that so many of the generations, drawn without replacement, would show on average.

    For runs with different numbers of generations: cut down to the smallest number, their S have the same bias.

    .. math:: \sum_c \sum_{j=1}^{m} P(j\mid k, n_c, m)\,\tfrac jm \log\tfrac jm,\quad P\text{ hypergeometric}

    Parameters
    ----------
    counts : int array (..., cluster)
    generations : int
        At most those that there are.

    Returns
    -------
    float array (...)

    Raises
    ------
    DataError
        If there are fewer generations than that.

    Examples
    --------
    >>> round(float(rarefied_consistency([30, 15, 5], 50)), 4), round(float(rarefied_consistency([30, 15, 5], 5)), 2)
    (-0.8979, -0.69)
    """
    n, m = _counts(counts), require_positive_integer("generations", generations)
    k = n.sum(axis=-1)
    if k.size and k.min() < m:
        raise DataError(f"{m} generations were asked for, but a prompt has {k.min()}: ask for no more than that")
    total = np.zeros(k.shape)
    most = k[..., None]
    for j in range(1, m):
        rest = most - n
        possible = (n >= j) & (rest >= m - j)
        log = _choose(n, j) + _choose(rest, m - j) - _choose(most, m)
        total += np.where(possible, np.exp(np.where(possible, log, 0.0)), 0.0).sum(axis=-1) * (j / m) * np.log(j / m)
    return np.asarray(total)


def held_out_modal_share(counts: ArrayLike) -> Floats:
    r"""How often a generation gives the answer that is commonest among the others.

    The share of the commonest answer is too large when few generations choose it themselves. Here each generation is
    held out in turn, so that this is an unbiased estimate of the probability that a further generation agrees with the
    majority of k - 1; ties among the others count by their share.

    Parameters
    ----------
    counts : int array (..., cluster)

    Returns
    -------
    float array (...)
        NaN where there are fewer than two generations.

    Examples
    --------
    >>> [round(float(held_out_modal_share(n)), 4) for n in ([3], [2, 1], [1, 1, 1])]
    [1.0, 0.3333, 0.0]
    """
    n = _counts(counts)
    k = n.sum(axis=-1)
    if n.shape[-1] == 0:
        return np.full(k.shape, np.nan)
    top = n.max(axis=-1, keepdims=True)
    ties = (n == top).sum(axis=-1, keepdims=True)
    second = (n == top - 1).sum(axis=-1, keepdims=True)
    # Held out of one of several largest, the others remain commonest; of the only largest, it shares with the second.
    won = np.where((n == top) & (ties == 1), 1.0 / (1 + second), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(k > 1, (won * n).sum(axis=-1) / k, np.nan))


def require_concentration(name: str, value: float) -> float:
    """Return a positive finite number, or raise `OptionError`."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool) or not 0 < number < np.inf:
        raise OptionError(f"{name} must be a number above 0, but {value!r} was given")
    return number


def _process(n: np.ndarray, gamma: np.ndarray) -> Floats:
    k = n.sum(axis=-1)
    seen = (n * digamma(n + 1.0)).sum(axis=-1)
    return np.asarray(digamma(k + gamma + 1) - (gamma * digamma(1.0) + seen) / (k + gamma))


def _choose(n: np.ndarray, k: int) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(np.maximum(n - k, 0) + 1.0))


def _counts(counts: ArrayLike) -> np.ndarray:
    n = as_counts(counts, counts)[0]
    if n.ndim == 0:
        raise DataError("counts of clusters come as an array, one number a cluster, but a single number was given")
    return n
