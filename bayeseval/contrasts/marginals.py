"""Do coupled and independent runs of a system have the same P(correct)? Correct coupling leaves it as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.pairs import Pairs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["marginal_tests", "same_rates"]

ROUNDS = 999
BLOCK = 1 << 20


def marginal_tests(coupled: Pairs, independent: Pairs, seed: int) -> pd.DataFrame:
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
        se, p_mean, p_prompts = same_rates(c, k, np.random.default_rng([seed, 27, place]))
        rows.append((system, means[0], means[1], means[0] - means[1], se, p_mean, p_prompts))
    names = ["system", "coupled", "independent", "difference", "se", "p_mean", "p_prompts"]
    return pd.DataFrame(rows, columns=names)


def same_rates(
    correct: np.ndarray, generations: np.ndarray, rng: np.random.Generator, rounds: int = ROUNDS
) -> tuple[float, float, float]:
    r"""Test that two runs have the same P(correct) on every prompt, given how many of both were correct.

    Given the sum of a prompt, the number of correct ones in the first run is hypergeometric.

    Parameters
    ----------
    correct, generations : int array (2, prompt)
    rng : numpy.random.Generator
    rounds : int
        Of the permutation test.

    Returns
    -------
    se : float
        Standard error of the difference of the means under equality.
    p_mean : float
        Two-sided, of equal means, by the normal law.
    p_prompts : float
        Of equal P(correct) on every prompt: how often the sum of squared differences of shares is as large.

    Examples
    --------
    >>> k = np.full((2, 60), 10)
    >>> c = np.random.default_rng(1).binomial(10, np.linspace(0.1, 0.9, 60), (2, 60))
    >>> se, p_mean, p_prompts = same_rates(c, k, np.random.default_rng(2))
    >>> p_mean > 0.01, p_prompts > 0.01
    (True, True)
    """
    from scipy.special import ndtr

    size = correct.shape[1]
    total, both = correct.sum(axis=0), generations.sum(axis=0)
    first = generations[0]
    variance = first * total * (both - total) * generations[1] / np.maximum(both.astype(float) ** 2 * (both - 1), 1)
    scale = (1 / generations).sum(axis=0)
    # c/k - c'/k' = (c - E c) (1/k + 1/k') given the sum.
    excess = correct[0] - first * total / both
    se = float(np.sqrt((variance * scale**2).sum()) / size)
    mean = float((excess * scale).sum() / size)
    p_mean = float(2 * ndtr(-abs(mean) / se)) if se > 0 else 1.0
    mixed = variance > 0
    observed = float(((excess * scale)[mixed] ** 2).sum())
    exceeded, done = 0, 0
    step = max(1, BLOCK // max(int(mixed.sum()), 1))
    while mixed.any() and done < rounds:
        count = min(step, rounds - done)
        drawn = rng.hypergeometric(total[mixed], (both - total)[mixed], first[mixed], (count, int(mixed.sum())))
        gaps = (drawn - (first * total / both)[mixed]) * scale[mixed]
        exceeded += int(((gaps**2).sum(axis=1) >= observed * (1 - 1e-12)).sum())
        done += count
    return se, p_mean, (exceeded + 1) / (done + 1)
