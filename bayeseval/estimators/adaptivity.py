"""Do generations depend on what was answered? Then estimates made of shares of correct answers are biased."""

from __future__ import annotations

import numpy as np

from bayeseval.arrays import Floats, Integers
from bayeseval.estimators.variance import rank_correlation

__all__ = ["adaptive_hint", "stopping_hint"]


def stopping_hint(totals: Integers | Floats, generations: Integers, what: str = "share correct") -> str:
    """Say that generations go with the share correct, as they do where sampling stops by outcome; else say nothing.

    Parameters
    ----------
    totals, generations : array, shape (prompts,)
        Number of correct generations (or sum of their credits), and of all.
    what : str
        What ``totals / generations`` is called.

    Returns
    -------
    str
        Empty unless Spearman's correlation exceeds 0.3 in size with p below 0.01.
    """
    c, n = totals[generations > 0], generations[generations > 0]
    if not n.size or n.min() == n.max():
        return ""
    r, p = rank_correlation(n, c / n)
    return f"generations go with the {what} (Spearman r = {r:.2f})" if abs(r) > 0.3 and p < 0.01 else ""


def adaptive_hint(correct: Integers, generations: Integers) -> str:
    r"""Say that generations go with what was answered: with the share correct, or with how mixed the answers are.

    The second is what plans such as `bayeseval.allocate` leave behind. It is seen by the correlation of the number of
    generations with :math:`v_i = c_i(k_i - c_i)/(k_i(k_i - 1))`, whose mean does not depend on k.

    Parameters
    ----------
    correct, generations : int array, shape (prompts,)

    Returns
    -------
    str
        Empty unless one of the correlations exceeds 0.3 with p below 0.01.

    Examples
    --------
    >>> import numpy as np
    >>> adaptive_hint(np.array([0, 4, 9, 0, 4, 11] * 5), np.array([4, 4, 20, 4, 4, 20] * 5))
    'generations go with how mixed the answers of a prompt are (r = 1.00)'
    """
    if hint := stopping_hint(correct, generations):
        return hint
    several = generations > 1
    c, n = correct[several].astype(float), generations[several].astype(float)
    if n.size < 10 or n.min() == n.max():
        return ""
    mixed = c * (n - c) / (n * (n - 1))
    if np.ptp(mixed) == 0:
        return ""
    from scipy.special import stdtr

    r = float(np.clip(np.corrcoef(n, mixed)[0, 1], -1, 1))
    p = 2 * float(stdtr(n.size - 2, -abs(r) * np.sqrt((n.size - 2) / max(1 - r * r, 1e-12))))
    return (
        f"generations go with how mixed the answers of a prompt are (r = {r:.2f})" if abs(r) > 0.3 and p < 0.01 else ""
    )
