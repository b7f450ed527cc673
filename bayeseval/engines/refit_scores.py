r"""Summaries of exact refits for scores other than the mean, such as pass@k.

For fresh prompts the score is a function of (mu, rho); its distribution function needs more nodes than the grid of a
refit has, so the log density is carried to finer nodes by a cubic spline. For the benchmark's
own prompts the score is a sum over cells (correct, generations), whose posterior mean and second moment at every node
are tabulated once for the whole batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeseval.engines.batches import Batch, Cells
from bayeseval.metrics import Metric
from bayeseval.prompts import population_score, population_square

__all__ = ["ScoreSummaries"]

FINEST, COARSEST, AIM = 8, 4, 30_000
"""Most and fewest finer nodes for each node of the grid, along each axis, and how many shall come together."""
NEGLIGIBLE = 1e-8
"""Nodes to which no data set gives more probability are left out of the tables of cells."""
KNOTS = 97
"""Most counts at which the tables of a size class are computed; between them they are a cubic spline."""
BLOCK = 1 << 21


class ScoreSummaries:
    """What `bayeseval.engines.refits.refit` returns of each data set, for one score and grid."""

    def __init__(self, x: np.ndarray, y: np.ndarray, metric: Metric, ends: bool) -> None:
        self.metric, self.ends = metric, ends
        self.at_nodes = _score_at(metric, x, y)
        if not ends:
            return
        fine = int(np.clip(np.sqrt(AIM / (x.size * y.size)), COARSEST, FINEST))
        self.finer = [_spline(axis.size, fine) for axis in (x, y)]
        score = _score_at(metric, *(np.linspace(axis[0], axis[-1], fine * (axis.size - 1) + 1) for axis in (x, y)))
        self.order = np.argsort(score, kind="stable")
        self.score = score[self.order]

    def __call__(self, grid: Any, weight: np.ndarray, batch: Batch, prob: float) -> tuple[np.ndarray, ...]:
        """Ends, benchmark mean and sd, robust mean and sd, population mean and sd: float arrays (future,)."""
        flat = weight.reshape(weight.shape[0], -1)
        mean = flat @ self.at_nodes
        sd = np.sqrt(np.maximum(flat @ self.at_nodes**2 - mean**2, 0.0))
        ends = self._population_ends(weight, prob) if self.ends else [np.full(mean.size, np.nan)] * 2
        first, variance, second = self._benchmark(grid, weight, batch)
        spread = np.maximum(second - variance - first**2, 0) / (batch.size + 1)
        return (*ends, first, np.sqrt(variance), first, np.sqrt(variance + spread), mean, sd)

    def _population_ends(self, weight: np.ndarray, prob: float) -> list[np.ndarray]:
        """Ends of the interval of the score of fresh prompts."""
        targets = ((1 - prob) / 2, (1 + prob) / 2)
        ends: tuple[list[Any], list[Any]] = ([], [])
        step = max(1, BLOCK // self.score.size)
        for start in range(0, weight.shape[0], step):
            rough = weight[start : start + step]
            log_density = np.log(np.maximum(rough, 1e-250))
            finer = np.einsum("fx,sxy,gy->sfg", self.finer[0], log_density, self.finer[1], optimize=True)
            mass = np.exp(finer).reshape(rough.shape[0], -1)[:, self.order]
            mass /= mass.sum(axis=1, keepdims=True)
            cumulative = np.cumsum(mass, axis=1) - mass / 2
            for values, target in zip(ends, targets, strict=True):
                values.append([np.interp(target, row, self.score) for row in cumulative])
        return [np.concatenate(values) for values in ends]

    def _benchmark(self, grid: Any, weight: np.ndarray, batch: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Posterior mean and variance of the benchmark score, and the mean over prompts of the square (future,)."""
        if batch.generations[0] < 0:
            mean = batch.total[:, 0] / batch.size
            return mean, np.zeros(mean.size), batch.square[:, 0] / batch.size
        if batch.cells is None:
            raise ValueError("scores other than the mean need a batch that was made with cells=True")
        flat = weight.reshape(weight.shape[0], -1)
        used = np.flatnonzero((flat > NEGLIGIBLE).any(axis=0))
        flat = flat[:, used] / flat[:, used].sum(axis=1, keepdims=True)
        mu, not_mu, rho, not_rho = (part[used] for part in grid.parts)
        first, square = _cell_moments(self.metric, mu * not_rho / rho, not_mu * not_rho / rho, batch.cells)
        prompts = batch.cells.prompts
        mean = prompts @ first / batch.size
        within = prompts @ (square - first**2) / batch.size**2
        second = np.einsum("sg,sg->s", flat, prompts @ square) / batch.size
        whole = np.einsum("sg,sg->s", flat, mean)
        variance = np.einsum("sg,sg->s", flat, within + (mean - whole[:, None]) ** 2)
        return whole, np.maximum(variance, 0.0), second


def _cell_moments(metric: Metric, a: np.ndarray, b: np.ndarray, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the score and of its square for prompts of each cell at each node: two arrays (cell, node)."""
    first, square = np.empty((2, cells.correct.size, a.size))
    for generations in np.unique(cells.generations):
        rows = np.flatnonzero(cells.generations == generations)
        correct = cells.correct[rows]
        knots = _knots(correct)
        at, bt = a + knots[:, None], b + (generations - knots)[:, None]
        total = at + bt
        for table, function in ((first, population_score), (square, population_square)):
            values = function(metric, at / total, 1 / (total + 1))
            table[rows] = values if knots.size == correct.size else _splined(knots, values, correct)
    return first, np.maximum(square, first**2)


def _knots(correct: np.ndarray) -> np.ndarray:
    """The counts themselves where they are few, else some of them: dense towards both ends, where scores bend."""
    if correct.size <= KNOTS:
        return correct
    low, high = int(correct[0]), int(correct[-1])
    share = (1 - np.cos(np.linspace(0, np.pi, KNOTS))) / 2
    return np.unique(np.round(low + (high - low) * share).astype(int))


def _splined(knots: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    from scipy.interpolate import CubicSpline

    return np.clip(CubicSpline(knots, values, axis=0)(at), 0.0, 1.0)


def _score_at(metric: Metric, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Score of fresh prompts at all pairs of logit mu and logit rho (pair,)."""
    from scipy.special import expit

    return population_score(metric, expit(x)[:, None], expit(y)[None, :]).ravel()


def _spline(size: int, fine: int) -> np.ndarray:
    """Cubic spline through equally spaced nodes, at finer ones (finer, node)."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(np.arange(size), np.eye(size))(np.arange(fine * (size - 1) + 1) / fine)
