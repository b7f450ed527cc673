r"""The 2 x 2 table of two systems whose margins and odds ratio are known: the distribution of Plackett.

With :math:`\psi = \pi_{11}\pi_{00}/(\pi_{10}\pi_{01})` and margins :math:`p_A, p_B` every cell solves a quadratic [1]_,

.. math:: \pi_{11} = \frac{2\psi p_Ap_B}{a + \sqrt S},\qquad a = 1+(\psi-1)(p_A+p_B),\quad
    S = a^2 - 4\psi(\psi-1)p_Ap_B ,

and the others likewise. Where :math:`a` is negative the other form of the root is taken, and :math:`S` is written as a
sum of positive terms, so that nothing cancels, however large or small :math:`\psi` is.

References
----------
.. [1] Plackett (1965). A class of bivariate distributions. Journal of the American Statistical Association 60, 516-522.
   https://doi.org/10.1080/01621459.1965.10480807
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayeseval.likelihoods.logit_normal import sigmoid

__all__ = ["plackett_logs", "plackett_slopes", "soft"]

TINY = 1e-290
"""Least probability, far below what any data leave a trace of; the sum of four inverses is still a number."""


def plackett_logs(xp: Any, eta_a: Any, eta_b: Any, log_psi: Any) -> tuple[Any, Any, Any, Any]:
    """Log probabilities that both are correct, only A, only B, neither.

    Parameters
    ----------
    xp : module
        ``numpy`` or ``pytensor.tensor``.
    eta_a, eta_b : array (...,)
        Logits of P(correct) of both systems.
    log_psi : array (...,)
        Log of the odds ratio; 0 where the two are independent.

    Returns
    -------
    tuple of four arrays (...,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.likelihoods import plackett_logs
    >>> [round(float(np.exp(log)), 6) for log in plackett_logs(np, np.log(0.5), np.log(1.0), np.log(10.0))]
    [0.277778, 0.055556, 0.222222, 0.444444]
    """
    both, only_a, only_b, neither = _shares(xp, eta_a, eta_b, log_psi)[0]
    return xp.log(both), xp.log(only_a), xp.log(only_b), xp.log(neither)


def _shares(xp: Any, eta_a: Any, eta_b: Any, log_psi: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The four probabilities, none below `TINY`, and P(correct) and P(wrong) of A, then of B."""
    small_a, small_b = xp.exp(-abs(eta_a)), xp.exp(-abs(eta_b))
    large_a, large_b = 1 / (1 + small_a), 1 / (1 + small_b)
    small_a, small_b = small_a * large_a, small_b * large_b
    pa, qa = xp.where(eta_a >= 0, large_a, small_a), xp.where(eta_a >= 0, small_a, large_a)
    pb, qb = xp.where(eta_b >= 0, large_b, small_b), xp.where(eta_b >= 0, small_b, large_b)
    right, wrong, first, second = pa * pb, qa * qb, pa * qb, qa * pb
    more, most = first - second, right - wrong  # p_A - p_B and p_A + p_B - 1, also where both are nearly 1
    psi = xp.exp(log_psi)
    d = psi - 1
    above = (1 + d * more) ** 2 + 4 * xp.maximum(d, 0.0) * second
    below = (psi - d * most) ** 2 + 4 * psi * xp.maximum(-d, 0.0) * wrong
    root = xp.sqrt(xp.maximum(xp.where(d >= 0, above, below), TINY))
    twice = 2 * xp.maximum(abs(d), TINY)

    def share(a: Any, product: Any) -> Any:
        total = xp.maximum(abs(a) + root, TINY)
        return xp.maximum(xp.where(a >= 0, 2 * product, total) / xp.where(a >= 0, total, twice), TINY)

    shares = (
        share(1 + d * (pa + pb), psi * right),
        share(1 - d * more, first),
        share(1 + d * more, second),
        share(1 + d * (qa + qb), psi * wrong),
    )
    return shares, (pa, qa, pb, qb)


def soft(xp: Any, value: Any) -> Any:
    """log(1 + exp(value)) to 1e-16, in a form that PyTensor leaves alone: it would make four exponentials of it."""
    return xp.maximum(value, 0.0) - xp.log(sigmoid(xp, abs(value)))


def plackett_slopes(
    xp: Any, eta_a: Any, eta_b: Any, log_psi: Any, tables: Sequence[Any]
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    r"""Slopes of a table's log likelihood in both logits and in the log odds ratio, and the expected information.

    With :math:`t = \partial\pi_{11}/\partial p_A = Y/(X+Y)`, :math:`X = 1/\pi_{11}+1/\pi_{01}`,
    :math:`Y = 1/\pi_{10}+1/\pi_{00}`, from the odds ratio being constant, and
    :math:`\partial\pi_{11}/\partial\log\psi = 1/\sum 1/\pi`, from the margins being constant.

    Parameters
    ----------
    xp : module
    eta_a, eta_b, log_psi : array (...,)
    tables : sequence of four arrays (...,)
        Generations of which both are correct, only A, only B, neither.

    Returns
    -------
    slopes : tuple of three arrays (...,)
        In the logit of A, in the logit of B, in ``log_psi``.
    information : tuple of three arrays (...,)
        Of A, of A with B, of B.
    """
    shares, (pa, qa, pb, qb) = _shares(xp, eta_a, eta_b, log_psi)
    both, only_a, only_b, neither = (1 / share for share in shares)
    right_a, right_b = both + only_b, both + only_a
    wrong_a, wrong_b = only_a + neither, only_b + neither
    every = 1 / (right_a + wrong_a)
    t_a, t_b = wrong_a * every, wrong_b * every
    r_a, r_b = right_a * every, right_b * every
    w_a, w_b = pa * qa, pb * qb
    n11, n10, n01, n00 = tables
    k = n11 + n10 + n01 + n00
    slope_a = w_a * (t_a * (n11 * both - n01 * only_b) + r_a * (n10 * only_a - n00 * neither))
    slope_b = w_b * (t_b * (n11 * both - n10 * only_a) + r_b * (n01 * only_b - n00 * neither))
    slope_psi = every * (n11 * both - n10 * only_a - n01 * only_b + n00 * neither)
    crossed = both * t_a * t_b - only_a * r_a * t_b - only_b * t_a * r_b + neither * r_a * r_b
    information = k * w_a * w_a * right_a * t_a, k * w_a * w_b * crossed, k * w_b * w_b * right_b * t_b
    return (slope_a, slope_b, slope_psi), information
