r"""What coupled sampling does in one step, exactly: the joint law of two tokens picked with the same noise.

System A draws from p, system B from q, each as the argmin of E_v / p_v and E_v / q_v with the same
:math:`E_v \sim \mathrm{Exp}(1)`. With :math:`h(r) = \sum_i \max(p_i, q_i r)`, :math:`r_v = p_v / q_v` and
:math:`H(r) = \int_0^r h^{-2}`,

.. math::
    P(v, v) = \frac{p_v}{h(r_v)} = \frac{1}{\sum_u \max(p_u/p_v,\, q_u/q_v)}, \qquad
    P(u, v) = p_u q_v \{H(r_u) - H(r_v)\}_+ .

The second follows from integrating :math:`p_u q_v \exp\{-\sum_i \max(p_i s, q_i t)\}` over the times s, t at which A
takes u and B takes v; h is linear between neighbouring ratios, where H grows by :math:`(r'-r)/(h(r) h(r'))`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayeseval.arrays import Floats
from bayeseval.errors import DataError

__all__ = ["gumbel_agreement", "gumbel_joint", "independent_agreement"]


def gumbel_joint(p: ArrayLike, q: ArrayLike) -> Floats:
    """Probabilities that one system picks token u and the other token v, with shared noise.

    Parameters
    ----------
    p, q : float array (token,)
        Probabilities of the two systems; each sums to 1.

    Returns
    -------
    float array (token, token)
        Row u: the first system picks u. Rows sum to p, columns to q; the diagonal sums to `gumbel_agreement`.

    Raises
    ------
    DataError
        If these are not two distributions over the same tokens.

    Examples
    --------
    >>> gumbel_joint([0.7, 0.3], [0.4, 0.6]).round(3)
    array([[0.4, 0.3],
           [0. , 0.3]])
    """
    p, q = _distributions(p, q)
    some = (p > 0) | (q > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(some, p / q, 0.0)
    ratios = np.unique(ratio[some])
    finite = ratios[np.isfinite(ratios)]
    edges = np.concatenate([[0.0], finite[finite > 0]])
    h = np.maximum(p[:, None], q[:, None] * edges).sum(axis=0)
    rise = np.concatenate([[0.0], np.cumsum(np.diff(edges) / (h[:-1] * h[1:]))])
    infinite = np.isinf(ratio)
    place = np.searchsorted(edges, np.where(infinite, 0.0, ratio))
    area = np.where(infinite, rise[-1] + 1 / h[-1], rise[place])  # beyond the last edge h(r) grows like r
    joint = np.outer(p, q) * np.maximum(area[:, None] - area, 0.0)
    at = np.where(infinite | ~some, 1.0, h[place])
    joint[np.diag_indices(p.size)] = np.where(infinite | ~some, 0.0, p / at)
    return joint


def gumbel_agreement(p: ArrayLike, q: ArrayLike) -> float:
    """Probability that two systems pick the same token with shared noise.

    Parameters
    ----------
    p, q : float array (token,)

    Returns
    -------
    float
        Between (1 - TV) / (1 + TV) and 1 - TV, where TV is the total variation distance.

    Examples
    --------
    >>> round(gumbel_agreement([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), 4)
    0.6308
    """
    p, q = _distributions(p, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((p > 0) | (q > 0), p / q, 0.0)
    order = np.argsort(ratio)
    p, q, ratio = p[order], q[order], ratio[order]
    common = (p > 0) & (q > 0)
    smaller, larger = np.cumsum(q), np.maximum(p.sum() - np.cumsum(p), 0.0)  # where q r is the maximum, and where p is
    return float((p[common] / (smaller[common] * ratio[common] + larger[common])).sum())


def independent_agreement(p: ArrayLike, q: ArrayLike) -> float:
    """Probability that two systems pick the same token with noise of their own.

    Examples
    --------
    >>> round(independent_agreement([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), 4)
    0.29
    """
    p, q = _distributions(p, q)
    return float(p @ q)


def _distributions(p: ArrayLike, q: ArrayLike) -> tuple[Floats, Floats]:
    pair = [np.asarray(one, dtype=np.float64) for one in (p, q)]
    if pair[0].ndim != 1 or pair[0].shape != pair[1].shape:
        raise DataError(
            f"two distributions over the same tokens are needed, but shapes {pair[0].shape} and {pair[1].shape} were "
            f"given"
        )
    for one in pair:
        if not np.isfinite(one).all() or (one < 0).any() or abs(one.sum() - 1) > 1e-6:
            raise DataError("probabilities of tokens are not negative and sum to 1; give them after the softmax")
    return pair[0] / pair[0].sum(), pair[1] / pair[1].sum()
