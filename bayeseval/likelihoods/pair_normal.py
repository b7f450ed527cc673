r"""Two systems on the same prompts: both logits are normal, with a correlation; integrated out by quadrature.

.. math:: \eta_A = m_A + s_A u, \qquad \eta_B = m_B + s_B(ru + \sqrt{1-r^2}\,v), \qquad u, v \sim \mathrm{N}(0, 1)

Independent generations make two binomials given the logits. Coupled ones make a 2 x 2 table whose margins are those of
the binomials and whose odds ratio is the same for all prompts (`bayeseval.likelihoods.plackett`).

Every cell has nodes of its own, as in one dimension (`bayeseval.likelihoods.logit_normal`): around the mode of its
integrand, along the axes of its curvature :math:`CC^\top`, :math:`(u, v) = \mathrm{mode} + C^{-\top}(\sinh x, \sinh
y)`. In these coordinates nothing is narrow, whether r is near 1, s is large, or a prompt has a thousand generations:
13 x 13 nodes err by less than 1e-2 in the logarithm of a cell for s up to 5, and by 1e-4 mostly. What matters is how
the error of all prompts together varies over a posterior: by 0.003 for 1,319 prompts of GSM8K.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayeseval.likelihoods.logit_normal import sigmoid
from bayeseval.likelihoods.plackett import plackett_logs, plackett_slopes, soft

__all__ = ["PairRule", "pair_normal_cells", "pair_rule"]

NODES, REACH = 13, 2.4
STEPS, TABLE_STEPS = 7, 8


class PairRule(NamedTuple):
    """Nodes of every cell, and what they weigh.

    Attributes
    ----------
    u, v : array (..., cell, node)
        Standard normal variables.
    eta_a, eta_b : array (..., cell, node)
        Logits of P(correct) of both systems.
    height : array (..., cell, node)
        Log of the integrand in (u, v), without constants.
    weights : array (node,) or (..., cell, node)
    log_scale : array (..., cell)
        Log of the area in (u, v) that one unit of the rule stands for.
    """

    u: Any
    v: Any
    eta_a: Any
    eta_b: Any
    height: Any
    weights: Any
    log_scale: Any


def pair_normal_cells(
    xp: Any, a: tuple[Any, Any], b: tuple[Any, Any], r: Any, cells: Sequence[Any], log_psi: Any = None
) -> Any:
    """Log probability of each cell, without the binomial or multinomial coefficients.

    Parameters
    ----------
    xp : module
        ``numpy`` or ``pytensor.tensor``.
    a, b : pairs of arrays (...,)
        Mean and standard deviation of the logit of P(correct) of system A, and of B.
    r : array (...,)
        Correlation of the two logits, between -1 and 1.
    cells : sequence of four float arrays (cell,)
        Correct and generations of A, correct and generations of B; with an odds ratio, generations of which both are
        correct, only A, only B, neither.
    log_psi : array (...,), optional
        Log of the odds ratio within prompts, of coupled generations.

    Returns
    -------
    array (..., cell)

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.likelihoods import pair_normal_cells
    >>> one = np.ones(1)
    >>> a, b = (np.array(0.0), np.array(1.0)), (np.array(0.0), np.array(2.0))
    >>> float(np.exp(pair_normal_cells(np, a, b, np.array(0.0), (one, one, 0 * one, one)))[0].round(4))
    0.25
    """
    rule = pair_rule(xp, a, b, r, cells, log_psi)
    top = rule.height.max(axis=-1)
    mass = xp.exp(rule.height - top[..., None]) * rule.weights
    total = mass.sum(axis=-1)
    value = top + xp.log(total) + rule.log_scale - np.log(2 * np.pi)
    if xp is np:
        return value
    mass = mass / total[..., None]
    slope_a, slope_b, slope_psi = (mass * slope for slope in _slopes(xp, rule, cells, log_psi))
    slopes = [slope_a, slope_b, slope_a * rule.u, slope_b * rule.u, slope_b * rule.v]
    places = list(_loadings(xp, a, b, r))
    if log_psi is not None:
        slopes.append(slope_psi)
        places.append(log_psi[..., None])
    value = _still(xp, value)
    for slope, place in zip(slopes, places, strict=True):
        value = value + _still(xp, slope.sum(axis=-1)) * (place - _still(xp, place))
    return value


def pair_rule(
    xp: Any,
    a: tuple[Any, Any],
    b: tuple[Any, Any],
    r: Any,
    cells: Sequence[Any],
    log_psi: Any = None,
    *,
    nodes: int = NODES,
    reach: float = REACH,
    jitter: tuple[Any, Any] = (0.0, 0.0),
) -> PairRule:
    """Nodes of the rule for each cell; parameters as in `pair_normal_cells`.

    Parameters
    ----------
    nodes : int
        In each of the two directions.
    reach : float
        Half-width of the rule in x and y.
    jitter : pair of arrays (..., cell, 1)
        Shift of all nodes of a cell, in steps.

    Returns
    -------
    PairRule
    """
    m_a, m_b, load_a, load_b, load_v = _loadings(xp, a, b, r)
    psi = None if log_psi is None else log_psi[..., None]
    centre = _centre(xp, (m_a, m_b, load_a, load_b, load_v), cells, psi)
    u, v, c11, c21, c22 = (_still(xp, values) for values in centre)
    line = np.linspace(-reach, reach, nodes)
    step = line[1] - line[0]
    x, y = np.repeat(line, nodes) + jitter[0] * step, np.tile(line, nodes) + jitter[1] * step
    shift = xp.sinh(y) / c22[..., None]
    u = u[..., None] + (xp.sinh(x) - c21[..., None] * shift) / c11[..., None]
    v = v[..., None] + shift
    eta_a = m_a[..., None] + load_a[..., None] * u
    eta_b = m_b[..., None] + load_b[..., None] * u + load_v[..., None] * v
    if psi is None:
        correct_a, generations_a, correct_b, generations_b = (values[:, None] for values in cells)
        height = correct_a * eta_a - generations_a * soft(xp, eta_a)
        height = height + correct_b * eta_b - generations_b * soft(xp, eta_b)
    else:
        logs = plackett_logs(xp, eta_a, eta_b, psi[..., None])
        height = sum(count[:, None] * log for count, log in zip(cells, logs, strict=True))
    weights = xp.cosh(x) * xp.cosh(y) * step**2
    return PairRule(u, v, eta_a, eta_b, height - (u * u + v * v) / 2, weights, -xp.log(c11) - xp.log(c22))


def _still(xp: Any, value: Any) -> Any:
    """The same to 2^-32, but with a derivative of 0.

    The integral does not depend on where its nodes are, and its slope in every parameter is a mean over the nodes,
    known in closed form: with both said in this way automatic differentiation has nothing left to do, which makes a
    gradient several times as fast.
    """
    return xp.round(value * 2.0**32) / 2.0**32


def _slopes(xp: Any, rule: PairRule, cells: Sequence[Any], log_psi: Any) -> tuple[Any, Any, Any]:
    """Slopes of the log likelihood at each node in both logits, and in the log odds ratio (..., cell, node)."""
    counts = [values[:, None] for values in cells]
    if log_psi is not None:
        return plackett_slopes(xp, rule.eta_a, rule.eta_b, log_psi[..., None, None], counts)[0]
    correct_a, generations_a, correct_b, generations_b = counts
    slope_a = correct_a - generations_a * sigmoid(xp, rule.eta_a)
    return slope_a, correct_b - generations_b * sigmoid(xp, rule.eta_b), 0.0


def _loadings(xp: Any, a: tuple[Any, Any], b: tuple[Any, Any], r: Any) -> tuple[Any, ...]:
    """Means of both logits, and how they load on u and v, each with an axis for cells."""
    (m_a, s_a), (m_b, s_b) = a, b
    rest = xp.sqrt(xp.maximum(1 - r * r, 1e-30))
    return tuple(values[..., None] for values in (m_a, m_b, s_a, s_b * r, s_b * rest))


def _centre(xp: Any, normal: tuple[Any, ...], cells: Sequence[Any], psi: Any) -> tuple[Any, ...]:
    """Mode of the integrand in (u, v) and the Cholesky factor of its curvature, by Newton's method (..., cell)."""
    m_a, m_b, load_a, load_b, load_v = normal
    if psi is None:
        correct_a, generations_a, correct_b, generations_b = cells
    else:
        correct_a, correct_b = cells[0] + cells[1], cells[0] + cells[2]
        generations_a = generations_b = sum(cells)

    def curvature(info_aa: Any, info_ab: Any, info_bb: Any) -> tuple[Any, Any, Any]:
        first = 1 + load_a**2 * info_aa + 2 * load_a * load_b * info_ab + load_b**2 * info_bb
        return first, load_v * (load_a * info_ab + load_b * info_bb), 1 + load_v**2 * info_bb

    def step(slopes: tuple[Any, Any], pull: tuple[Any, Any], bent: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        first = load_a * slopes[0] + load_b * slopes[1] - pull[0]
        second = load_v * slopes[1] - pull[1]
        p11, p12, p22 = bent
        area = p11 * p22 - p12 * p12
        return (p22 * first - p12 * second) / area, (p11 * second - p12 * first) / area

    share_a, share_b = (correct_a + 0.5) / (generations_a + 1.0), (correct_b + 0.5) / (generations_b + 1.0)
    info_a, info_b = generations_a * share_a * (1 - share_a), generations_b * share_b * (1 - share_b)
    far_a, far_b = (xp.log(share) - xp.log(1 - share) for share in (share_a, share_b))
    u, v = step((info_a * (far_a - m_a), info_b * (far_b - m_b)), (0.0, 0.0), curvature(info_a, 0.0, info_b))
    for _ in range(STEPS if psi is None else STEPS - 2):
        p_a, p_b = sigmoid(xp, m_a + load_a * u), sigmoid(xp, m_b + load_b * u + load_v * v)
        bent = curvature(generations_a * p_a * (1 - p_a), 0.0, generations_b * p_b * (1 - p_b))
        more_u, more_v = step((correct_a - generations_a * p_a, correct_b - generations_b * p_b), (u, v), bent)
        u, v = u + more_u, v + more_v
    if psi is None:
        p_a, p_b = sigmoid(xp, m_a + load_a * u), sigmoid(xp, m_b + load_b * u + load_v * v)
        bent = curvature(generations_a * p_a * (1 - p_a), 0.0, generations_b * p_b * (1 - p_b))
    else:
        for _ in range(TABLE_STEPS):
            slopes, information = plackett_slopes(xp, m_a + load_a * u, m_b + load_b * u + load_v * v, psi, cells)
            more_u, more_v = step(slopes[:2], (u, v), curvature(*information))
            # A full step can overshoot, further each time, where the odds ratio makes a table improbable.
            part = 1 / (1 + more_u * more_u + more_v * more_v)
            u, v = u + part * more_u, v + part * more_v
        _, information = plackett_slopes(xp, m_a + load_a * u, m_b + load_b * u + load_v * v, psi, cells)
        bent = curvature(*information)
    p11, p12, p22 = bent
    c11 = xp.sqrt(p11)
    c21 = p12 / c11
    return u, v, c11, c21, xp.sqrt(p22 - c21 * c21)
