"""Predictive distribution of further generations, from values of P(correct) with weights."""

from __future__ import annotations

import numpy as np

from bayeseval.likelihoods import log_binomial

__all__ = ["NODES", "binomial_pmf", "from_values"]

NODES = 513
"""Values of P(correct), evenly spaced in arcsin of the root; others are split between their two neighbours."""


def binomial_pmf(p: np.ndarray, more: int) -> np.ndarray:
    """Probability of 0, 1, ..., ``more`` correct ones (..., more + 1) where each is correct with probability p.

    Examples
    --------
    >>> binomial_pmf(np.array([0.0, 0.5]), 2)
    array([[1.  , 0.  , 0.  ],
           [0.25, 0.5 , 0.25]])
    """
    from scipy.special import xlog1py, xlogy

    p, correct = np.asarray(p, dtype=float)[..., None], np.arange(more + 1)
    return np.exp(log_binomial(more, correct) + xlogy(correct, p) + xlog1py(more - correct, -p))


def from_values(p: np.ndarray, weight: np.ndarray | None, more: int) -> np.ndarray:
    """Probability of 0, 1, ..., ``more`` correct ones where P(correct) is one of finitely many values.

    Values are put on fixed nodes, each between its two neighbours so that their mean stays what it is.

    Parameters
    ----------
    p : float array (..., value)
    weight : float array (..., value) or None
        They need not sum to 1; None for equal ones.
    more : int

    Returns
    -------
    float array (..., more + 1)

    Examples
    --------
    >>> from_values(np.array([0.0, 1.0]), None, 2).round(9)
    array([0.5, 0. , 0.5])
    """
    step = np.pi / 2 / (NODES - 1)
    nodes = np.sin(step * np.arange(NODES)) ** 2
    flat = np.clip(p.reshape(-1, p.shape[-1]), 0.0, 1.0)
    heavy = np.ones(flat.shape) if weight is None else weight.reshape(flat.shape)
    left = np.minimum((np.arcsin(np.sqrt(flat)) / step).astype(np.int64), NODES - 2)
    share = np.clip((flat - nodes[left]) / (nodes[left + 1] - nodes[left]), 0.0, 1.0)
    place = (left + NODES * np.arange(flat.shape[0])[:, None]).ravel()
    size = NODES * flat.shape[0]
    mass = np.bincount(place, (heavy * (1 - share)).ravel(), size)
    mass += np.bincount(place + 1, (heavy * share).ravel(), size)
    shares = mass.reshape(-1, NODES) / heavy.sum(axis=1, keepdims=True)
    return (shares @ binomial_pmf(nodes, more)).reshape(*p.shape[:-1], more + 1)
