"""The square of a score of one prompt, as a score of twice as many attempts."""

from __future__ import annotations

import numpy as np

from bayeseval.arrays import Floats

__all__ = ["square_weights"]


def square_weights(weights: Floats) -> Floats:
    r"""Weights v of the square of :math:`g(p) = E[u(X)]`, X ~ Binomial(k, p): :math:`g(p)^2 = E[v(Y)]`, Y ~ Bin(2k, p).

    .. math:: v_s = \sum_{j + l = s} u_j u_l \binom{k}{j} \binom{k}{l} \Big/ \binom{2k}{s}

    Two independent sets of k attempts with s correct ones in all share them out hypergeometrically, so v is a mean of
    products of u.

    Parameters
    ----------
    weights : float array (k + 1,)
        u, at least 0.

    Returns
    -------
    float array (2k + 1,)

    Examples
    --------
    >>> import numpy as np
    >>> square_weights(np.array([0.0, 0.0, 1.0]))  # pass^2 squared is pass^4
    array([0., 0., 0., 0., 1.])
    """
    from scipy.special import gammaln

    k = weights.size - 1
    j = np.arange(k + 1)
    log_ways = gammaln(k + 1) - gammaln(j + 1) - gammaln(k - j + 1)
    s = np.arange(2 * k + 1)
    log_total = gammaln(2 * k + 1) - gammaln(s + 1) - gammaln(2 * k - s + 1)
    result = np.zeros(2 * k + 1)
    for one in np.flatnonzero(weights):
        ways = np.exp(log_ways[one] + log_ways - log_total[one : one + k + 1])
        result[one : one + k + 1] += weights[one] * weights * ways
    return result
