"""Do coupled and independent runs of a system have the same P(correct)? Correct coupling leaves it as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.pairs import Pairs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["marginal_tests", "same_rates"]


def marginal_tests(coupled: Pairs, independent: Pairs) -> pd.DataFrame:
    """Tests of equal P(correct) of each system in coupled and independent runs of the same prompts, one row a system.

    Returns
    -------
    pandas.DataFrame
        Columns system, coupled, independent, difference, se, p_mean, p_prompts.
    """
    import pandas as pd

    rows = []
    for place, system in enumerate(coupled.systems):
        c = np.stack([coupled.correct[place], independent.correct[place]])
        k = np.stack([coupled.generations[place], independent.generations[place]])
        means = (c / k).mean(axis=1)
        se, p_mean, p_prompts = same_rates(c, k)
        rows.append((system, means[0], means[1], means[0] - means[1], se, p_mean, p_prompts))
    names = ["system", "coupled", "independent", "difference", "se", "p_mean", "p_prompts"]
    return pd.DataFrame(rows, columns=names)


def same_rates(correct: np.ndarray, generations: np.ndarray) -> tuple[float, float, float]:
    r"""Test that two runs have the same P(correct) on every prompt, given how many of both were correct.

    Given the sum of a prompt, the number of correct ones in the first run is hypergeometric. The sum over prompts of
    squared differences of shares has exact mean and variance under equality, and is taken to have the Gamma law with
    them.

    Parameters
    ----------
    correct, generations : int array (2, prompt)

    Returns
    -------
    se : float
        Standard error of the difference of the means under equality.
    p_mean : float
        Two-sided, of equal means, by the normal law.
    p_prompts : float
        Of equal P(correct) on every prompt, against larger squared differences.

    Examples
    --------
    >>> k = np.full((2, 60), 10)
    >>> c = np.random.default_rng(1).binomial(10, np.linspace(0.1, 0.9, 60), (2, 60))
    >>> se, p_mean, p_prompts = same_rates(c, k)
    >>> p_mean > 0.01, p_prompts > 0.01
    (True, True)
    """
    from scipy.special import gammaincc, ndtr
    from scipy.stats import hypergeom

    size = correct.shape[1]
    total, both, first = correct.sum(axis=0), generations.sum(axis=0), generations[0]
    # c/k - c'/k' = (c - E c) (1/k + 1/k') given the sum.
    gaps = (correct[0] - first * total / both) * (1 / generations).sum(axis=0)
    cells, times = np.unique(np.stack([total, both, first]), axis=1, return_counts=True)
    moments = np.zeros(3)
    for (right, whole, drawn), count in zip(cells.T, times, strict=True):
        values = np.arange(max(0, drawn + right - whole), min(drawn, right) + 1)
        squares = ((values - drawn * right / whole) * (1 / drawn + 1 / (whole - drawn))) ** 2
        mass = hypergeom.pmf(values, whole, right, drawn)
        mean = mass @ squares
        moments += count * np.array([mean, mass @ squares**2 - mean**2, mean > 0])
    if moments[2] == 0:
        return 0.0, 1.0, 1.0
    se = float(np.sqrt(moments[0]) / size)
    p_mean = float(2 * ndtr(-abs(gaps.mean()) / se))
    shape, scale = moments[0] ** 2 / moments[1], moments[1] / moments[0]
    return se, p_mean, float(gammaincc(shape, (gaps**2).sum() / scale))
