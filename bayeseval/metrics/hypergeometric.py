"""Drawing k of a prompt's generations without replacement: the numbers behind every unbiased metric estimate.

If c of n generations are correct, the number of correct ones among k drawn without replacement is hypergeometric.
Everything here works on arrays of (generations, correct) and stays accurate from n = 1 to millions: no factorial and
no difference of log-gammas is formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bayeseval.arrays import Floats, Integers

__all__ = ["expected_excess", "log_binomial_mass", "log_probability_of_none", "on_unique_cells", "upper_tail"]

_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
# ln(x!) - ((x + 1/2) ln x - x + ln(2 pi)/2); the entry for 0 is never used.
_STIRLING_TABLE = np.array(
    [0.0] + [math.log(math.factorial(x)) - (x + 0.5) * math.log(x) + x - _HALF_LOG_TWO_PI for x in range(1, 20)]
)


def log_probability_of_none(generations: Integers, correct: Integers, k: int) -> Floats:
    """Log probability that none of k generations drawn without replacement is correct.

    Parameters
    ----------
    generations, correct : int array, same shape
        ``0 <= correct <= generations`` and ``k <= generations``.
    k : int
        Generations drawn, at least 1.

    Returns
    -------
    float array, same shape
        ``log(C(n - c, k) / C(n, k))``, ``-inf`` where fewer than k generations are wrong.

    Notes
    -----
    With A = n - c, B = n - k, D = n - c - k, Stirling's formula for the four factorials simplifies, because
    AB - nD = ck, to ``k log(1 - c/n) + c log(1 - k/n) - (D + 1/2) log(1 - ck/(AB))`` plus a small remainder. All terms
    are of the size of the result, so nothing cancels however large n is. Where D < 20 the product of the
    ``min(c, k)`` factors is taken, or, where that is long, the hypergeometric mass at 0.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_probability_of_none(np.array([5]), np.array([2]), 2)).round(12)
    array([0.3])
    """
    n, c = generations.astype(float), correct.astype(float)
    remaining = n - c - k
    result = np.zeros(n.shape)
    result[remaining < 0] = -np.inf
    large = (remaining >= 20) & (c > 0)
    if large.any():
        result[large] = _log_none_large(n[large], c[large], k)
    small = (remaining >= 0) & (remaining < 20) & (c > 0)
    short = small & (np.minimum(c, k) <= 64)
    if short.any():
        result[short] = _log_none_product(n[short], c[short], k)
    long = small & ~short
    if long.any():
        result[long] = _log_mass(np.zeros(int(long.sum())), n[long], c[long], k)
    return result


def upper_tail(generations: Integers, correct: Integers, k: int, threshold: int) -> Floats:
    """Probability that at least ``threshold`` of k generations drawn without replacement are correct.

    Parameters
    ----------
    generations, correct : int array, shape (cells,)
        ``0 <= correct <= generations`` and ``k <= generations``.
    k, threshold : int
        Generations drawn, and how many of them must be correct.

    Returns
    -------
    float array, shape (cells,)
        The tail that does not hold the mean is summed, from its largest term outwards.

    Examples
    --------
    >>> import numpy as np
    >>> upper_tail(np.array([16]), np.array([8]), 8, 6).round(6)
    array([0.065967])
    """
    n, c = generations.astype(float), correct.astype(float)
    result = np.zeros(n.shape)
    result[threshold <= np.maximum(0, k - (n - c))] = 1.0
    open_ = (threshold > np.maximum(0, k - (n - c))) & (threshold <= np.minimum(c, k))
    above = open_ & (threshold > k * c / n)
    if above.any():
        result[above] = _outward_sum(n[above], c[above], k, threshold, +1, None)
    below = open_ & ~above
    if below.any():
        result[below] = 1.0 - _outward_sum(n[below], c[below], k, threshold - 1, -1, None)
    return np.clip(result, 0.0, 1.0)


def expected_excess(generations: Integers, correct: Integers, k: int, level: float) -> Floats:
    """Compute how far X correct among k drawn without replacement exceed a level, ``E[max(X - level, 0)]``.

    Parameters
    ----------
    generations, correct : int array, shape (cells,)
        ``0 <= correct <= generations`` and ``k <= generations``.
    k : int
        Generations drawn.
    level : float
        A whole or half number with ``0 <= level <= k``.

    Returns
    -------
    float array, shape (cells,)
        Summed directly where the mean of X is below the level, else as ``E[X] - level + E[max(level - X, 0)]``.

    Examples
    --------
    >>> import numpy as np
    >>> (2 / 5 * expected_excess(np.array([16]), np.array([8]), 5, 2.5)).round(6)
    array([0.161538])
    """
    n, c = generations.astype(float), correct.astype(float)
    mean = k * c / n
    lowest, highest = np.maximum(0, k - (n - c)), np.minimum(c, k)
    result = np.maximum(mean - level, 0.0)  # exact where all of X lies on one side of the level
    straddles = (lowest < level) & (highest > level)
    above = straddles & (mean <= level)
    if above.any():
        result[above] = _outward_sum(n[above], c[above], k, math.floor(level) + 1, +1, level)
    below = straddles & (mean > level)
    if below.any():
        result[below] += _outward_sum(n[below], c[below], k, math.ceil(level) - 1, -1, level)
    return result


def on_unique_cells(
    function: Callable[[Integers, Integers], Floats], generations: Integers, correct: Integers
) -> Floats:
    """Apply a function of (generations, correct) once to every distinct pair and spread the answers.

    Parameters
    ----------
    function : callable
        Takes two int arrays of shape (cells,) and returns a float array of that shape.
    generations, correct : int array, same shape

    Returns
    -------
    float array
        Of the shape of the counts; each value as if the function had been called on all of them.

    Examples
    --------
    >>> import numpy as np
    >>> on_unique_cells(lambda n, c: c / n, np.array([4, 4]), np.array([1, 2]))
    array([0.25, 0.5 ])
    """
    n, c = generations.ravel(), correct.ravel()
    span = int(c.max(initial=0)) + 1
    if n.size < 2 or int(n.max()) * span > 2**62:
        return np.asarray(function(n, c)).reshape(generations.shape)
    cells, where = np.unique(n * span + c, return_inverse=True)
    return np.asarray(function(cells // span, cells % span))[where].reshape(generations.shape)


def log_binomial_mass(x: Floats, n: Floats, p: Floats) -> Floats:
    """Log of the binomial probability of x successes in n trials, by Loader's saddle-point expansion.

    Parameters
    ----------
    x, n, p : float arrays that broadcast
        Whole numbers ``0 <= x <= n`` and probabilities ``0 <= p <= 1``.

    Returns
    -------
    float array
        Accurate to a few units in the last place for any n.

    References
    ----------
    .. [1] Loader (2000). Fast and accurate computation of binomial probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_binomial_mass(np.array([1.0]), np.array([2.0]), np.array([0.5])))
    array([0.5])
    """
    x, n, p = np.broadcast_arrays(x, n, p)
    inside = (x > 0) & (x < n) & (p > 0) & (p < 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.where(x == 0, np.where(n == 0, 0.0, n * np.log1p(-p)), np.where(x == n, n * np.log(p), -np.inf))
    if inside.any():
        x, n, p = x[inside], n[inside], p[inside]
        result[inside] = (
            _stirling_error(n) - _stirling_error(x) - _stirling_error(n - x)
            - _deviance(x, n * p) - _deviance(n - x, n * (1 - p))
            + 0.5 * np.log(n / (x * (n - x))) - _HALF_LOG_TWO_PI
        )  # fmt: skip
    return result


def _log_none_large(n: Floats, c: Floats, k: int) -> Floats:
    wrong, rest = n - c, n - k
    remaining = n - c - k
    main = k * np.log1p(-c / n) + c * np.log1p(-k / n) - (remaining + 0.5) * np.log1p(-c / wrong * (k / rest))
    return main + (_stirling_error(wrong) + _stirling_error(rest) - _stirling_error(n) - _stirling_error(remaining))


def _log_none_product(n: Floats, c: Floats, k: int) -> Floats:
    few, many = np.minimum(c, k), np.maximum(c, k)
    product = np.ones(n.shape)
    for i in range(int(few.max())):
        product *= np.where(i < few, (n - i - many) / (n - i), 1.0)
    return np.log(product)


def _log_mass(x: Floats, n: Floats, c: Floats, k: int) -> Floats:
    """Log hypergeometric probability of x correct among k drawn from n generations of which c are correct."""
    share = k / n
    drawn = np.full(n.shape, float(k))
    return (
        log_binomial_mass(x, c, share) + log_binomial_mass(drawn - x, n - c, share) - log_binomial_mass(drawn, n, share)
    )


def _outward_sum(n: Floats, c: Floats, k: int, start: int, step: int, level: float | None) -> Floats:
    """Sum ``P(X = x) * weight(x)`` for x = start, start + step, ... until the terms no longer count.

    The weight is 1, or ``|x - level|`` where a level is given. The start lies on the far side of the mean, so that
    the probabilities fall along the way.
    """
    total = np.zeros(n.shape)
    mass = np.exp(_log_mass(np.full(n.shape, float(start)), n, c, k))
    active = np.arange(n.size)
    x = float(start)
    while active.size:
        weight = 1.0 if level is None else abs(x - level)
        total[active] += weight * mass
        if step > 0:
            mass = mass * ((c - x) * (k - x) / ((x + 1) * (n - c - k + x + 1)))
        else:
            mass = mass * (x * (n - c - k + x) / ((c - x + 1) * (k - x + 1)))
        x += step
        keep = mass * max(abs(x - (level or 0)), 1.0) > 1e-18 * total[active]
        active, n, c, mass = active[keep], n[keep], c[keep], mass[keep]
    return total


def _stirling_error(x: Floats) -> Floats:
    """``ln(x!) - ((x + 1/2) ln x - x + ln(2 pi)/2)`` for whole x of at least 1."""
    safe = np.maximum(x, 20.0)
    square = safe * safe
    series = (
        1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - (1 / 1188 - 691 / 360360 / square) / square) / square) / square)
        / square
    ) / safe  # fmt: skip
    return np.where(x < 20, _STIRLING_TABLE[np.minimum(x, 19).astype(np.intp)], series)


def _deviance(x: Floats, mean: Floats) -> Floats:
    """``x ln(x / mean) + mean - x`` without cancellation where x is close to its mean."""
    ratio = (x - mean) / (x + mean)
    near = np.abs(ratio) < 0.1
    result = x * np.log(x / mean) + mean - x
    if near.any():
        v = ratio[near]
        total = (x[near] - mean[near]) * v
        term = 2 * x[near] * v
        for j in range(1, 12):
            term = term * v * v
            total = total + term / (2 * j + 1)
        result[near] = total
    return result
