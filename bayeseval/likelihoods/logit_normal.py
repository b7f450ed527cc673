r"""The logit-normal likelihood: P(correct) is the logistic of a normal variable, integrated out by quadrature.

.. math:: P(c \mid k) = \binom kc \int \frac{e^{c\eta}}{\exp\sum_j\log(1+e^{\eta+s_j})}\,\phi(z)\,dz,
    \qquad \eta = m + s z .

Without run effects every :math:`s_j` is 0 and the denominator is :math:`(1+e^\eta)^k`. The integrand is log-concave in
z. It is summed by the trapezoidal rule in x, with :math:`z = \hat z + \hat w\sinh x` around its mode :math:`\hat z` at
the scale :math:`\hat w` of its curvature: nodes lie densely at the mode and reach far into the skewed tails that cells
with no or only correct generations have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "REACH",
    "cell_modes",
    "log_integrand",
    "logit_normal_cells",
    "sigmoid",
    "softplus",
    "stretched_nodes",
]

REACH = 4.1
"""Half-width of the rule in x: sinh(4.1) = 30 scales to either side of the mode."""
NODES = 51
NEWTON_STEPS = 6


def stretched_nodes(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes sinh(x) and weights h cosh(x) of the rule (node,)."""
    x = np.linspace(-REACH, REACH, nodes)
    return np.sinh(x), np.cosh(x) * (x[1] - x[0])


def logit_normal_cells(xp: Any, m: Any, s: Any, correct: Any, generations: Any, shift: Any = None) -> Any:
    """Log probability of each cell, without its binomial coefficient.

    Parameters
    ----------
    xp : module
        ``numpy`` or ``pytensor.tensor``.
    m, s : array (...,)
        Mean and standard deviation of the logit of P(correct).
    correct, generations : float array (cell,)
    shift : array (..., run), optional
        Shifts of the logit, one for each run; a cell then has as many generations as there are runs, or none.

    Returns
    -------
    array (..., cell)

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.likelihoods import logit_normal_cells
    >>> correct, generations = np.array([0.0, 1.0]), np.array([1.0, 1.0])
    >>> np.exp(logit_normal_cells(np, np.array(0.0), np.array(1.0), correct, generations)).round(9)
    array([0.5, 0.5])
    """
    nodes, weights = stretched_nodes(NODES)
    mode, width = cell_modes(xp, m, s, correct, generations, shift)
    z = mode[..., None] + width[..., None] * nodes
    height = log_integrand(xp, z, m[..., None, None], s[..., None, None], correct[:, None], generations[:, None], shift)
    top = height.max(axis=-1)
    total = (xp.exp(height - top[..., None]) * weights).sum(axis=-1)
    return top + xp.log(total) + xp.log(width) - 0.5 * np.log(2 * np.pi)


def log_integrand(xp: Any, z: Any, m: Any, s: Any, correct: Any, generations: Any, shift: Any = None) -> Any:
    """Log likelihood of each cell at each z, plus -z^2/2; all arguments broadcast, ``shift`` with one more axis."""
    eta = m + s * z
    return correct * eta - _normaliser(xp, eta, generations, shift) - z * z / 2


def cell_modes(xp: Any, m: Any, s: Any, correct: Any, generations: Any, shift: Any = None) -> tuple[Any, Any]:
    """Mode of the integrand in z and the scale of its curvature, by Newton's method; both (..., cell)."""
    m, s = m[..., None], s[..., None]
    share = (correct + 0.5) / (generations + 1.0)
    information = generations * share * (1 - share)
    z = s * information * (xp.log(share) - xp.log(1 - share) - m) / (s * s * information + 1)
    for _ in range(NEWTON_STEPS):
        mean, variance = _moments(xp, m + s * z, generations, shift)
        z = z + (s * (correct - mean) - z) / (s * s * variance + 1)
    _, variance = _moments(xp, m + s * z, generations, shift)
    return z, 1 / xp.sqrt(s * s * variance + 1)


def _normaliser(xp: Any, eta: Any, generations: Any, shift: Any) -> Any:
    if shift is None:
        return generations * softplus(xp, eta)
    return xp.where(generations > 0, softplus(xp, _lifted(eta, shift)).sum(axis=-1), 0.0)


def _moments(xp: Any, eta: Any, generations: Any, shift: Any) -> tuple[Any, Any]:
    """Expected number of correct generations and its variance, at eta."""
    if shift is None:
        p = sigmoid(xp, eta)
        return generations * p, generations * p * (1 - p)
    p = sigmoid(xp, _lifted(eta, shift))
    some = xp.where(generations > 0, 1.0, 0.0)
    return some * p.sum(axis=-1), some * (p * (1 - p)).sum(axis=-1)


def _lifted(eta: Any, shift: Any) -> Any:
    """The logit in each run (..., run); ``shift`` (draw, run) gets the axes that ``eta`` has beyond the draws."""
    for _ in range(eta.ndim - shift.ndim + 1):
        shift = shift[..., None, :]
    return eta[..., None] + shift


def softplus(xp: Any, value: Any) -> Any:
    """log(1 + exp(value)), without overflow."""
    return xp.maximum(value, 0.0) + xp.log1p(xp.exp(-abs(value)))


def sigmoid(xp: Any, value: Any) -> Any:
    """The logistic function."""
    return 0.5 * (1 + xp.tanh(value / 2))
