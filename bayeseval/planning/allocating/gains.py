r"""What more generations of one prompt are worth: the expected posterior variance of its score.

Everything follows from the predictive distribution of further generations. A score is :math:`g(p) = E[u(X)]` with
X ~ Binomial(r, p), so that :math:`E[g(p) \mid c' \text{ of } m]` is a sum over the number of correct ones among m + r
generations, and :math:`g^2` is a score of the same kind with 2r attempts. With :math:`P_N(t)` the probability of t
correct ones among N further generations,

.. math:: E[\mathrm{Var}(g) \mid m\text{ more}] = E[g^2] - \sum_{c'} \frac{Q_m(c')^2}{P_m(c')},\quad
    Q_m(c') = \sum_x u_x \frac{\binom rx\binom m{c'}}{\binom{m+r}{c'+x}} P_{m+r}(c'+x),

where :math:`Q_m(c') = E[g; c' \text{ of } m]`. Nothing here knows which family P(correct) follows.
"""

from __future__ import annotations

import numpy as np

from bayeseval.likelihoods import log_binomial
from bayeseval.metrics import square_weights

__all__ = ["beta_variance", "between", "envelope", "expected_variance", "expected_variances", "reduced"]

TINY = 1e-300
SHORT = 256
"""Up to so many generations a reduction is one product of matrices; beyond, a sum of shifted rows."""


def beta_variance(a: np.ndarray, b: np.ndarray, more: np.ndarray) -> np.ndarray:
    r"""Expected posterior variance of a Beta P(correct) after more generations, in closed form.

    .. math:: E[\mathrm{Var}(p) \mid m\text{ more}] = \frac{A}{s + m},\quad
        s = a + b,\ A = \frac{ab}{s(s+1)} = E[p(1-p)]

    After the data the variance is :math:`E[p(1-p) \mid \text{data}]/(s+m)`; the tower rule does the rest.

    Parameters
    ----------
    a, b : float arrays that broadcast
    more : int array that broadcasts
        Further generations, 0 or more.

    Returns
    -------
    float array

    Examples
    --------
    >>> float(beta_variance(2.5, 4.0, 3).round(9))
    0.021592443
    """
    total = np.asarray(a, dtype=float) + b
    # One ratio at a time: the product of two tiny parameters would underflow.
    spread = (a / total) * (b / total) * (total / (total + 1))
    return np.asarray(spread / (total + more))


def reduced(pmf: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Q_more from P_{more + r}: the expected score jointly with each number of correct ones.

    With all weights 1 it is P_more.

    Parameters
    ----------
    pmf : float array (..., more + r + 1)
    weights : float array (r + 1,)

    Returns
    -------
    float array (..., more + 1)

    Examples
    --------
    >>> reduced(np.array([0.25, 0.5, 0.25]), np.array([0.0, 1.0]))  # one of two fair coins tells nothing of the other
    array([0.25, 0.25])
    """
    r = weights.size - 1
    more = pmf.shape[-1] - 1 - r
    correct = np.arange(more + 1)
    log_ways, log_first = log_binomial(r, np.arange(r + 1)), log_binomial(more, correct)
    log_all = log_binomial(more + r, np.arange(more + r + 1))
    worth = np.flatnonzero(weights)
    shares = ((x, weights[x] * np.exp(log_ways[x] + log_first - log_all[correct + x])) for x in worth)
    if more <= SHORT:
        matrix = np.zeros((more + r + 1, more + 1))
        for x, share in shares:
            matrix[correct + x, correct] = share
        return np.asarray(pmf @ matrix)
    result = np.zeros((*pmf.shape[:-1], more + 1))
    for x, share in shares:
        result += share * pmf[..., x : x + more + 1]
    return result


def expected_variance(pmf: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Expected posterior variance of a score after more generations.

    Parameters
    ----------
    pmf : float array (..., more + 2r + 1)
        Predictive probability of each number of correct ones among more + 2r generations.
    weights : float array (r + 1,)

    Returns
    -------
    float array (...)

    Examples
    --------
    >>> uniform = np.full(4, 1 / 4)  # of P(correct), and 1 + 2 generations: its variance 1/12 becomes 1/18
    >>> float(expected_variance(uniform, np.array([0.0, 1.0])).round(6))
    0.055556
    """
    return _variance(*_joint(pmf, weights))


def expected_variances(pmf: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Expected posterior variance of a score after 0, 1, ..., ``most`` more generations.

    From the top downwards: a generation is forgotten at random, and the variance grows by what it told. All terms are
    positive, so that small gains are as precise as large ones.

    Parameters
    ----------
    pmf : float array (..., most + 2r + 1)
        Predictive probability of each number of correct ones among most + 2r generations.
    weights : float array (r + 1,)

    Returns
    -------
    float array (..., most + 1)

    Examples
    --------
    >>> expected_variances(np.full(4, 1 / 4), np.array([0.0, 1.0])).round(6)
    array([0.083333, 0.055556])
    """
    chance, score, square = _joint(pmf, weights)
    most = chance.shape[-1] - 1
    result = np.empty((*chance.shape[:-1], most + 1))
    result[..., most] = _variance(chance, score, square)
    for more in range(most - 1, -1, -1):
        share = np.arange(1, more + 2) / (more + 1)
        mean = score / np.maximum(chance, TINY)
        wrong, right = chance[..., :-1] * share[::-1], chance[..., 1:] * share
        chance = wrong + right
        told = wrong * right / np.maximum(chance, TINY) * np.diff(mean, axis=-1) ** 2
        result[..., more] = result[..., more + 1] + told.sum(axis=-1)
        score = score[..., :-1] * share[::-1] + score[..., 1:] * share
    return result


def between(steps: np.ndarray, variance: np.ndarray, most: int) -> np.ndarray:
    """Variances at every number of generations, from those on a ladder: 1/variance is linear in between.

    That is exact for the mean of a Beta, whose expected variance is A / (s + m).

    Parameters
    ----------
    steps : int array (step,)
        Numbers of generations, rising from 0.
    variance : float array (..., step)
    most : int
        At most the last step.

    Returns
    -------
    float array (..., most + 1)

    Examples
    --------
    >>> between(np.array([0, 3]), np.array([1 / 4, 1 / 10]), 3).round(3)
    array([0.25 , 0.167, 0.125, 0.1  ])
    """
    wanted = np.arange(most + 1)
    right = np.clip(np.searchsorted(steps, wanted), 1, steps.size - 1)
    share = (wanted - steps[right - 1]) / (steps[right] - steps[right - 1])
    precision = 1 / np.maximum(variance, TINY)
    return 1 / (precision[..., right - 1] * (1 - share) + precision[..., right] * share)


def envelope(variance: np.ndarray) -> np.ndarray:
    """Corners of the lower convex envelope of a variance against the number of generations.

    From corner to corner the gain of a generation falls; within such a block the last ones may be worth more than the
    first, and the block is worth it as a whole.

    Parameters
    ----------
    variance : float array (m + 1,)

    Returns
    -------
    int array (corner,)
        The first is 0, the last m.

    Examples
    --------
    >>> envelope(np.array([1.0, 0.9, 0.2, 0.1]))
    array([0, 2, 3])
    """
    if variance.size < 3 or (np.diff(variance, 2) >= 0).all():
        return np.arange(variance.size)
    heights, corners = variance.tolist(), [0]
    for m in range(1, len(heights)):
        while len(corners) > 1:
            first, last = corners[-2], corners[-1]
            if (heights[last] - heights[first]) * (m - last) < (heights[m] - heights[last]) * (last - first):
                break
            corners.pop()
        corners.append(m)
    return np.array(corners)


def _joint(pmf: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probability of each number of correct ones, and jointly with it the expected score and its square."""
    r = weights.size - 1
    shorter = reduced(pmf, np.ones(r + 1))
    return reduced(shorter, np.ones(r + 1)), reduced(shorter, weights), reduced(pmf, square_weights(weights))


def _variance(chance: np.ndarray, score: np.ndarray, square: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(square - score * (score / np.maximum(chance, TINY)), 0.0).sum(axis=-1))
