r"""Two systems whose generations share their noise: covariance within prompts, and what it takes off the variance.

Of prompt i there are :math:`k_i` pairs of generations made with the same noise, counted in a table
:math:`(n_{11}, n_{10}, n_{01}, n_{00})`: both correct, only A, only B, neither. Pairs of the same number tell what
shared noise brings; pairs of different numbers are independent given the prompt, so that one coupled data set tells
both what coupled and what independent generations would show [1]_.

References
----------
.. [1] Corvelo Benz et al. (2025). Evaluation of Large Language Models via Coupled Token Generation.
   https://arxiv.org/abs/2502.01754
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayeseval.arrays import Floats, Integers
from bayeseval.errors import DataError

__all__ = [
    "TableTerms",
    "checked_tables",
    "cross_pair_products",
    "expected_absolute_error",
    "joint_null",
    "kappa_hat",
    "table_terms",
]

LARGEST_SUPPORT = 1 << 21
"""Longest exact law of a sum; beyond, the normal law alone is used."""


def checked_tables(tables: ArrayLike) -> Integers:
    """Tables (prompt, 4) as int64.

    Raises
    ------
    DataError
        If the shape is another, or a count is negative or no whole number.

    Examples
    --------
    >>> checked_tables([[4, 1, 2, 3]])
    array([[4, 1, 2, 3]])
    """
    given = np.asarray(tables)
    if given.ndim != 2 or given.shape[1] != 4:
        raise DataError(f"tables hold four counts a prompt (both, only A, only B, neither), not shape {given.shape}")
    values = np.asarray(given, dtype=float)
    if not ((values >= 0) & (values == np.floor(values))).all():
        raise DataError("tables of coupled generations hold whole numbers of at least 0")
    return values.astype(np.int64)


def kappa_hat(tables: ArrayLike) -> Floats:
    r"""Within-prompt covariance of two systems whose generations share their noise, unbiased, for every prompt.

    .. math:: \hat\kappa_i = \frac{k_i}{k_i-1}\Bigl(\frac{n_{11}}{k_i} - \hat p_{iA}\hat p_{iB}\Bigr)

    Parameters
    ----------
    tables : int array (prompt, 4)
        Pairs of generations with the same noise: both correct, only A, only B, neither.

    Returns
    -------
    float array (prompt,)
        NaN for prompts with fewer than two pairs.

    Notes
    -----
    Generations are paired by their number: under coupled generation [1]_ generation j of both systems used the same
    random numbers.

    References
    ----------
    .. [1] Corvelo Benz et al. (2025). Evaluation of Large Language Models via Coupled Token Generation.
       https://arxiv.org/abs/2502.01754

    Examples
    --------
    >>> kappa_hat([[4, 1, 2, 3], [1, 0, 0, 0]]).round(4)
    array([0.1111,    nan])
    """
    both, only_a, only_b, _ = checked_tables(tables).T.astype(float)
    k = checked_tables(tables).sum(axis=1).astype(float)
    pairs = np.where(k > 1, k * (k - 1), np.nan)
    return np.asarray((k * both - (both + only_a) * (both + only_b)) / pairs)


def cross_pair_products(tables: ArrayLike) -> Floats:
    r"""Share of pairs of *different* generations in which both systems are correct, for every prompt.

    .. math:: \frac{c_A c_B - n_{11}}{k(k-1)}

    Such pairs share no noise, so this is unbiased for :math:`p_{iA}p_{iB}`: what independent runs would show.

    Parameters
    ----------
    tables : int array (prompt, 4)

    Returns
    -------
    float array (prompt,)
        NaN for prompts with fewer than two pairs.

    Examples
    --------
    >>> cross_pair_products([[4, 1, 2, 3]]).round(4)
    array([0.2889])
    """
    both, only_a, only_b, _ = checked_tables(tables).T.astype(float)
    k = checked_tables(tables).sum(axis=1).astype(float)
    pairs = np.where(k > 1, k * (k - 1), np.nan)
    return np.asarray(((both + only_a) * (both + only_b) - both) / pairs)


class TableTerms(NamedTuple):
    """Terms of every prompt (prompt,), whose means over prompts make the moments of a coupled comparison.

    Attributes
    ----------
    difference : float array
        Share of A correct minus share of B correct.
    square : float array
        Mean of the squared difference of one coupled pair: the share of pairs in which one alone is correct.
    cross_square : float array
        The same for one pair of independent generations, from pairs of different numbers.
    within : float array
        Unbiased variance of the difference of a coupled pair within the prompt; NaN below two pairs.
    kappa : float array
        As `kappa_hat`.
    win_a, win_b : float array
        Shares of coupled pairs that A alone, and B alone, has right.
    cross_win_a, cross_win_b : float array
        The same for pairs of independent generations; NaN below two pairs.
    pairs : float array
        Coupled pairs.
    """

    difference: Floats
    square: Floats
    cross_square: Floats
    within: Floats
    kappa: Floats
    win_a: Floats
    win_b: Floats
    cross_win_a: Floats
    cross_win_b: Floats
    pairs: Floats


def table_terms(tables: ArrayLike) -> TableTerms:
    """Terms of every prompt; see `TableTerms`.

    Examples
    --------
    >>> terms = table_terms([[4, 1, 2, 3]])
    >>> terms.difference, terms.square
    (array([-0.1]), array([0.3]))
    """
    counts = checked_tables(tables).astype(float)
    both, only_a, only_b, _ = counts.T
    k = counts.sum(axis=1)
    if (k < 1).any():
        raise DataError("a prompt without a pair of coupled generations tells nothing; leave it out")
    a, b = (both + only_a) / k, (both + only_b) / k
    difference, square = a - b, (only_a + only_b) / k
    product = cross_pair_products(counts)
    within = np.where(k > 1, (square - difference**2) * k / np.maximum(k - 1, 1), np.nan)
    return TableTerms(
        difference, square, a + b - 2 * product, within, kappa_hat(counts),
        only_a / k, only_b / k, a - product, b - product, k,
    )  # fmt: skip


def expected_absolute_error(variance: float, size: int, total: int) -> float:
    r"""Expected error of a mean of ``size`` values drawn without replacement from ``total`` of them.

    .. math:: \sqrt{\frac{2}{\pi}\,\frac{S^2}{n}\Bigl(1-\frac nN\Bigr)}, \qquad S^2 = V\,\frac{N}{N-1}

    This is what curves of error against the number of samples show [1]_, for values of which the mean is nearly normal.

    Parameters
    ----------
    variance : float
        V, variance of the N values with divisor N.
    size, total : int

    References
    ----------
    .. [1] Corvelo Benz et al. (2025). Evaluation of Large Language Models via Coupled Token Generation.
       https://arxiv.org/abs/2502.01754

    Examples
    --------
    >>> round(expected_absolute_error(0.256839, 120, 1000), 6)
    0.034645
    """
    sample_variance = variance * total / (total - 1)
    return float(np.sqrt(2 / np.pi * sample_variance / size * (1 - size / total)))


class JointNull(NamedTuple):
    """Number of pairs in which both are correct, against its law when generations share no noise.

    Attributes
    ----------
    observed : int
    mean, variance : float
        Under independence, given how often each system was correct on every prompt.
    upper, lower : float
        Exact probabilities of as many or more, and as many or fewer; NaN where the law is too long to compute.
    """

    observed: int
    mean: float
    variance: float
    upper: float
    lower: float


def joint_null(tables: ArrayLike) -> JointNull:
    r"""Exact conditional test that generations of the same number share no noise.

    Under independence every matching of the generations of A and B within a prompt is equally probable, so that
    :math:`n_{11}` is hypergeometric given the counts of both:

    .. math:: E = \frac{c_A c_B}{k}, \qquad
        \mathrm{Var} = \frac{c_A(k-c_A)\,c_B(k-c_B)}{k^2(k-1)} .

    The law of the sum over prompts is the convolution of these, computed by a Fourier transform.

    Parameters
    ----------
    tables : int array (prompt, 4)

    Returns
    -------
    JointNull

    Examples
    --------
    >>> round(joint_null([[2, 0, 0, 2]]).upper, 6)  # one of the six ways to place two correct ones among four
    0.166667
    """
    from scipy.stats import hypergeom

    both, only_a, only_b, _ = checked_tables(tables).T
    k = checked_tables(tables).sum(axis=1)
    cells, times = np.unique(np.stack([both + only_a, both + only_b, k]), axis=1, return_counts=True)
    a, b, size = cells
    mean = times * a * b / np.maximum(size, 1)
    variance = times * (a * (size - a) * b * (size - b)) / np.maximum(size.astype(float) ** 2 * (size - 1), 1)
    least, most = np.maximum(a + b - size, 0), np.minimum(a, b)
    length = int(times @ (most - least)) + 1
    upper = lower = float("nan")
    if length <= LARGEST_SUPPORT:
        law = np.ones(length // 2 + 1, dtype=complex)
        for index in np.flatnonzero(most > least):
            pmf = hypergeom.pmf(np.arange(least[index], most[index] + 1), size[index], a[index], b[index])
            law *= np.fft.rfft(pmf, length) ** times[index]
        mass = np.maximum(np.fft.irfft(law, length), 0.0)
        place = int(both.sum() - times @ least)
        upper, lower = min(float(mass[place:].sum()), 1.0), min(float(mass[: place + 1].sum()), 1.0)
    return JointNull(int(both.sum()), float(mean.sum()), float(variance.sum()), upper, lower)
