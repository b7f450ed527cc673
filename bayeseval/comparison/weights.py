r"""Stacking weights: the mixture of models that predicts left-out prompts best.

.. math:: \max_w \sum_i \log \sum_m w_m\, p_m(c_i \mid c_{-i}), \qquad w_m \ge 0,\ \sum_m w_m = 1

[1]_. The problem is concave, and self-concordant with a logarithmic barrier, so Newton's method on the barrier problem
finds the maximum whatever the densities; models that are copies of each other share their weight equally.

References
----------
.. [1] Yao, Vehtari, Simpson & Gelman (2018). Using stacking to average Bayesian predictive distributions. Bayesian
   Analysis 13, 917-1007. https://doi.org/10.1214/17-BA1091
"""

from __future__ import annotations

import numpy as np

from bayeseval.errors import FitError

__all__ = ["stacked_density", "stacking_weights"]

EM_STEPS = 50
NEWTON_STEPS = 60
BARRIERS = tuple(10.0**-power for power in range(1, 12))
"""Down to where copies of a model still share their weight to 1e-7; below, rounding parts them."""
NEGLIGIBLE = 1e-8


def stacking_weights(pointwise: np.ndarray, prompts: np.ndarray) -> np.ndarray:
    """Weights of models that maximise the log density of left-out prompts under their mixture.

    Parameters
    ----------
    pointwise : float array (model, cell)
        Log density of one prompt of each cell, held out, under each model.
    prompts : int array (cell,)
        Prompts in each cell.

    Returns
    -------
    float array (model,)
        Sum to 1; the total log density is within 1e-5 nats a thousand prompts of the maximum.

    Raises
    ------
    FitError
        If some prompt has no density under any of the models.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.comparison.weights import stacking_weights
    >>> stacking_weights(np.log([[0.8, 0.2], [0.3, 0.7]]), np.array([5, 5])).round(3)
    array([0.4, 0.6])
    """
    pointwise = np.asarray(pointwise, dtype=float)
    best = pointwise.max(axis=0)
    if not np.isfinite(best).all():
        raise FitError("no model gives some of the counts any probability: look at their checks, and drop such models")
    density = np.exp(pointwise - best).T
    share = np.asarray(prompts, dtype=float) / np.sum(prompts)
    weights = np.full(pointwise.shape[0], 1 / pointwise.shape[0])
    for _ in range(EM_STEPS):
        weights = weights * (density.T @ (share / (density @ weights)))
    weights = np.maximum(weights, NEGLIGIBLE)
    weights /= weights.sum()
    for barrier in BARRIERS:
        weights = _centre(weights, density, share, barrier)
    weights[weights < NEGLIGIBLE] = 0.0
    return weights / weights.sum()


def stacked_density(pointwise: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Log density of the mixture for each cell (cell,), from those of the models (model, cell)."""
    with np.errstate(divide="ignore"):
        return np.logaddexp.reduce(pointwise + np.log(weights)[:, None], axis=0)


def _centre(weights: np.ndarray, density: np.ndarray, share: np.ndarray, barrier: float) -> np.ndarray:
    """Maximise mean log density + barrier * sum of log weights by Newton steps scaled by the weights."""

    def value(w: np.ndarray) -> float:
        return float(share @ np.log(density @ w) + barrier * np.log(w).sum())

    size = weights.size
    for _ in range(NEWTON_STEPS):
        scaled = density * weights / (density @ weights)[:, None]
        gradient = share @ scaled + barrier
        hessian = (scaled * share[:, None]).T @ scaled + barrier * np.eye(size)
        system = np.block([[hessian, weights[:, None]], [weights[None, :], np.zeros((1, 1))]])
        step = np.linalg.solve(system, np.append(gradient, 0.0))[:size]
        decrement = float(step @ hessian @ step)
        if decrement < 1e-3 * barrier:
            break
        length, before = min(1.0, 0.9 / max(1e-300, float(-step.min()))), value(weights)
        while length > 1e-10:
            candidate = weights * (1 + length * step)
            candidate /= candidate.sum()
            if value(candidate) >= before + 0.1 * length * decrement:
                break
            length /= 2
        else:
            break
        weights = candidate
    return weights
