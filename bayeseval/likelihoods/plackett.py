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

import numpy as np

from bayeseval.likelihoods.logit_normal import sigmoid

__all__ = ["plackett_logs", "plackett_slopes", "soft"]

TINY = 1e-300
LOWEST = -60.0
"""Least log probability for which slopes are computed: they only say where nodes go."""


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
    [0.279941, 0.053392, 0.220059, 0.446608]
    """
    down_a, down_b = soft(xp, eta_a), soft(xp, eta_b)
    log_pa, log_qa, log_pb, log_qb = eta_a - down_a, -down_a, eta_b - down_b, -down_b
    pa, pb, qa, qb = sigmoid(xp, eta_a), sigmoid(xp, eta_b), sigmoid(xp, -eta_a), sigmoid(xp, -eta_b)
    psi = xp.exp(log_psi)
    d = psi - 1
    above = (1 + d * (pa - pb)) ** 2 + 4 * xp.maximum(d, 0.0) * pb * qa
    below = (psi - d * (pa - qb)) ** 2 + 4 * psi * xp.maximum(-d, 0.0) * qa * qb
    root = xp.sqrt(xp.maximum(xp.where(d >= 0, above, below), TINY))
    log_direct = np.log(2.0) + xp.log(xp.maximum(abs(d), TINY))

    def log_cell(a: Any, log_product: Any) -> Any:
        log_sum = xp.log(abs(a) + root)
        return xp.where(a >= 0, np.log(2.0) + log_product - log_sum, log_sum - log_direct)

    return (
        log_cell(1 + d * (pa + pb), log_psi + log_pa + log_pb),
        log_cell(pa + qb + psi * (pb - pa), log_pa + log_qb),
        log_cell(pb + qa + psi * (pa - pb), log_qa + log_pb),
        log_cell(1 + d * (qa + qb), log_psi + log_qa + log_qb),
    )


def soft(xp: Any, value: Any) -> Any:
    """log(1 + exp(value)) to 1e-16, in a form that PyTensor leaves alone: it would make four exponentials of it."""
    return xp.maximum(value, 0.0) - xp.log(sigmoid(xp, abs(value)))


def plackett_slopes(
    xp: Any, eta_a: Any, eta_b: Any, log_psi: Any, tables: Sequence[Any]
) -> tuple[Any, Any, Any, Any, Any]:
    r"""Slopes of a table's log likelihood in both logits, and the expected information.

    With :math:`t = \partial\pi_{11}/\partial p_A = Y/(X+Y)`, :math:`X = 1/\pi_{11}+1/\pi_{01}`,
    :math:`Y = 1/\pi_{10}+1/\pi_{00}`, from the odds ratio being constant.

    Parameters
    ----------
    xp : module
    eta_a, eta_b, log_psi : array (...,)
    tables : sequence of four arrays (...,)
        Generations of which both are correct, only A, only B, neither.

    Returns
    -------
    slope_a, slope_b, info_aa, info_ab, info_bb : arrays (...,)
    """
    inverse = [xp.exp(-xp.maximum(log, LOWEST)) for log in plackett_logs(xp, eta_a, eta_b, log_psi)]
    both, only_a, only_b, neither = inverse
    right_a, right_b = both + only_b, both + only_a
    wrong_a, wrong_b = only_a + neither, only_b + neither
    t_a, t_b = wrong_a / (right_a + wrong_a), wrong_b / (right_b + wrong_b)
    r_a, r_b = right_a / (right_a + wrong_a), right_b / (right_b + wrong_b)
    w_a, w_b = (sigmoid(xp, eta) * sigmoid(xp, -eta) for eta in (eta_a, eta_b))
    n11, n10, n01, n00 = tables
    k = n11 + n10 + n01 + n00
    slope_a = w_a * (n11 * both * t_a + n10 * only_a * r_a - n01 * only_b * t_a - n00 * neither * r_a)
    slope_b = w_b * (n11 * both * t_b + n01 * only_b * r_b - n10 * only_a * t_b - n00 * neither * r_b)
    crossed = both * t_a * t_b - only_a * r_a * t_b - only_b * t_a * r_b + neither * r_a * r_b
    return slope_a, slope_b, k * w_a * w_a * right_a * t_a, k * w_a * w_b * crossed, k * w_b * w_b * right_b * t_b
