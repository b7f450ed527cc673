"""Many simulated data sets at once, reduced to what exact refits need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["STEPS", "Batch", "batch_of_counts", "batch_of_known"]

STEPS = 1024
"""Survival counts that enter one matrix product."""


@dataclass(frozen=True)
class Batch:
    """Sufficient statistics of many data sets that share their prompts and numbers of generations.

    Attributes
    ----------
    features : float array (future, feature)
        What the log likelihood is linear in.
    coefficients : callable
        ``coefficients(mu, not_mu, rho, not_rho, slice)`` -> float array (feature, node) for a slice of the features.
    constant : callable
        ``constant(mu, not_mu, rho, not_rho)`` -> float array (node,), the part that all data sets share.
    size : int
        Number of prompts n.
    generations, prompts : int arrays (size class,)
        Distinct numbers of generations and how many prompts have each; -1 stands for infinitely many.
    total, square : float arrays (future, size class)
        Sums of the correct counts and of their squares (of p and p squared, for infinitely many generations).
    """

    features: np.ndarray
    coefficients: Callable[..., np.ndarray]
    constant: Callable[..., np.ndarray]
    size: int
    generations: np.ndarray
    prompts: np.ndarray
    total: np.ndarray
    square: np.ndarray

    def take(self, rows: slice | np.ndarray) -> Batch:
        """The same for some of the data sets."""
        return Batch(
            self.features[rows],
            self.coefficients,
            self.constant,
            self.size,
            self.generations,
            self.prompts,
            self.total[rows],
            self.square[rows],
        )


def batch_of_counts(correct: np.ndarray, generations: np.ndarray) -> Batch:
    """Reduce simulated counts to what the refits need.

    Parameters
    ----------
    correct : int array (future, prompt)
    generations : int array (prompt,)

    Returns
    -------
    Batch
    """
    generations = np.asarray(generations)
    steps = int(generations.max(initial=1))
    survival_total = _survival(generations[None, :], steps)[0]
    features = np.concatenate([_survival(correct, steps), _survival(generations - correct, steps)], axis=1)
    levels, position, prompts = np.unique(generations, return_inverse=True, return_counts=True)
    members = np.equal.outer(position, np.arange(levels.size)).astype(float)
    numbers = correct.astype(float)

    def coefficients(mu, not_mu, rho, not_rho, part):  # type: ignore[no-untyped-def]
        index = np.arange(2 * steps)[part]
        probability = np.where(index[:, None] < steps, mu, not_mu)
        return np.log(np.maximum(probability * not_rho + (index % steps)[:, None] * rho, 1e-300))

    def constant(mu, not_mu, rho, not_rho):  # type: ignore[no-untyped-def]
        result = np.zeros(rho.shape)
        for start in range(0, steps, STEPS):
            j = np.arange(start, min(start + STEPS, steps))
            result -= survival_total[j] @ np.log(not_rho + j[:, None] * rho)
        return result

    return Batch(
        features,
        coefficients,
        constant,
        generations.size,
        levels,
        prompts,
        numbers @ members,
        (numbers * numbers) @ members,
    )


def batch_of_known(p: np.ndarray) -> Batch:
    """The limit of infinitely many generations, where every P(correct) is known.

    Parameters
    ----------
    p : float array (future, prompt)

    Returns
    -------
    Batch
    """
    from scipy.special import betaln

    size = p.shape[1]
    log_p = np.log(np.maximum(p, 1e-300)).sum(axis=1)
    log_q = np.log(np.maximum(1 - p, 1e-16)).sum(axis=1)

    def shapes(mu, not_mu, rho, not_rho):  # type: ignore[no-untyped-def]
        precision = not_rho / rho
        return mu * precision, not_mu * precision

    def coefficients(mu, not_mu, rho, not_rho, part):  # type: ignore[no-untyped-def]
        return np.stack(shapes(mu, not_mu, rho, not_rho))[part]

    def constant(mu, not_mu, rho, not_rho):  # type: ignore[no-untyped-def]
        return -size * betaln(*shapes(mu, not_mu, rho, not_rho))

    return Batch(
        np.stack([log_p, log_q], axis=1),
        coefficients,
        constant,
        size,
        np.array([-1]),
        np.array([size]),
        p.sum(axis=1, keepdims=True),
        (p * p).sum(axis=1, keepdims=True),
    )


def _survival(values: np.ndarray, steps: int) -> np.ndarray:
    """Number of entries of each row above j = 0 .. steps - 1."""
    rows = values.shape[0]
    codes = (np.arange(rows)[:, None] * (steps + 1) + values).ravel()
    histogram = np.bincount(codes, minlength=rows * (steps + 1)).reshape(rows, steps + 1)
    return histogram[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:].astype(float)
