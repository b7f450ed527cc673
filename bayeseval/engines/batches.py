"""Many simulated data sets at once, reduced to what exact refits need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bayeseval.metrics import Metric

__all__ = ["STEPS", "Batch", "Cells", "batch_of_counts", "batch_of_known"]

STEPS = 1024
"""Survival counts that enter one matrix product."""


@dataclass(frozen=True)
class Cells:
    """Distinct (correct, generations) of all data sets of a batch, and how many prompts of each data set have them.

    Attributes
    ----------
    correct, generations : int arrays (cell,)
    prompts : float array (future, cell)
    """

    correct: np.ndarray
    generations: np.ndarray
    prompts: np.ndarray


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
        Sums of the correct counts and of their squares; for infinitely many generations, of the score at p and of its
        square.
    cells : Cells or None
        Needed for scores other than the mean.
    """

    features: np.ndarray
    coefficients: Callable[..., np.ndarray]
    constant: Callable[..., np.ndarray]
    size: int
    generations: np.ndarray
    prompts: np.ndarray
    total: np.ndarray
    square: np.ndarray
    cells: Cells | None = None

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
            None if self.cells is None else replace(self.cells, prompts=self.cells.prompts[rows]),
        )


def batch_of_counts(correct: np.ndarray, generations: np.ndarray, cells: bool = False) -> Batch:
    """Reduce simulated counts to what the refits need.

    Parameters
    ----------
    correct : int array (future, prompt)
    generations : int array (prompt,)
    cells : bool
        Whether to count the cells too, for scores other than the mean.

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
        _cells(correct, position, levels) if cells else None,
    )


def batch_of_known(p: np.ndarray, metric: Metric | None = None) -> Batch:
    """The limit of infinitely many generations, where every P(correct) is known.

    Parameters
    ----------
    p : float array (future, prompt)
    metric : Metric, optional
        Whose value at p is summed; p itself by default.

    Returns
    -------
    Batch
    """
    from scipy.special import betaln

    size = p.shape[1]
    log_p = np.log(np.maximum(p, 1e-300)).sum(axis=1)
    log_q = np.log(np.maximum(1 - p, 1e-16)).sum(axis=1)

    values = p if metric is None else metric.given_p(p)

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
        values.sum(axis=1, keepdims=True),
        (values * values).sum(axis=1, keepdims=True),
    )


def _cells(correct: np.ndarray, position: np.ndarray, levels: np.ndarray) -> Cells:
    futures = correct.shape[0]
    start = np.concatenate([[0], np.cumsum(levels + 1)])
    codes = (np.arange(futures)[:, None] * start[-1] + start[position] + correct).ravel()
    prompts = np.bincount(codes, minlength=futures * start[-1]).reshape(futures, start[-1])
    used = np.flatnonzero(prompts.any(axis=0))
    level = np.searchsorted(start, used, side="right") - 1
    return Cells(used - start[level], levels[level], prompts[:, used].astype(float))


def _survival(values: np.ndarray, steps: int) -> np.ndarray:
    """Number of entries of each row above j = 0 .. steps - 1."""
    rows = values.shape[0]
    codes = (np.arange(rows)[:, None] * (steps + 1) + values).ravel()
    histogram = np.bincount(codes, minlength=rows * (steps + 1)).reshape(rows, steps + 1)
    return histogram[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:].astype(float)
