r"""P(correct) as the logistic of a normal variable, with or without run effects.

.. math:: \mathrm{logit}\,p = m + s z,\quad z \sim N(0, 1)

With run effects generation j of a prompt succeeds with probability :math:`\sigma(m + s z + s_j)`, and P(correct) is
that of a generation of a fresh run, :math:`p(z) = E[\sigma(m + s z + \tau\varepsilon)]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeseval.likelihoods import log_binomial, logit_normal_cells
from bayeseval.likelihoods.logit_normal import REACH, cell_modes, log_integrand, stretched_nodes
from bayeseval.metrics import Metric
from bayeseval.prompts.base import PromptDistribution, PromptPosterior
from bayeseval.prompts.population import blocks
from bayeseval.prompts.predictive import NODES, from_values

__all__ = ["LogitNormal"]

POPULATION = np.linspace(-9, 9, 361)
"""Nodes in z for averages over prompts; the trapezoidal rule errs by less than 1e-9 for s below 10."""
FRESH_RUN = np.linspace(-8, 8, 41)
DRAW_NODES = 121


@dataclass(frozen=True)
class LogitNormal(PromptDistribution):
    """A logit-normal distribution for each draw.

    Attributes
    ----------
    m, s : float arrays (draw,)
        Mean and standard deviation of the logit of P(correct).
    shift : float array (draw, run), optional
        Shifts of the logit in the runs seen; every prompt then has one generation in each run, or none.
    tau : float array (draw,), optional
        Standard deviation of the shifts of fresh runs.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval import prompts
    >>> prompts.LogitNormal(np.array([0.0]), np.array([1.5])).mean().round(6)
    array([0.5])
    """

    m: np.ndarray
    s: np.ndarray
    shift: np.ndarray | None = None
    tau: np.ndarray | None = None

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.m.size)

    def mean(self) -> np.ndarray:
        """Mean of P(correct) over prompts, for each draw (draw,)."""
        return self._average(lambda p: p)

    def sd(self) -> np.ndarray:
        """Standard deviation of P(correct) over prompts, for each draw (draw,)."""
        return np.sqrt(np.maximum(self._average(lambda p: p * p) - self.mean() ** 2, 0.0))

    def score(self, metric: Metric) -> np.ndarray:
        """Score of fresh prompts for each draw (draw,): the mean of metric.given_p over the distribution."""
        return self._average(metric.given_p)

    def logpmf(self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None) -> np.ndarray:
        """Log probability of each cell (correct, generations), p integrated out (draw, cell)."""
        correct, generations = (np.asarray(values, dtype=float) for values in (correct, generations))
        result = np.empty((self.n_draws, correct.size))
        for block in self._blocks(correct.size):
            part = self.take(block)
            result[block] = logit_normal_cells(np, part.m, part.s, correct, generations, part.shift)
            if part.shift is None:
                result[block] += log_binomial(generations, correct)
            else:
                whole = np.where(generations > 0, correct, 0).astype(int)
                result[block] += log_symmetric(part.shift)[:, whole] * (generations > 0)
        return result

    def condition(self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None) -> PromptPosterior:
        """Distribution of P(correct) of prompts with the given counts, for each draw."""
        return _Conditioned(self, *(np.asarray(values, dtype=float) for values in (correct, generations)))

    def density(self, p: np.ndarray) -> np.ndarray:
        """Density at each p inside (0, 1) (draw, p)."""
        step = 1e-5 * np.minimum(p, 1 - p)
        return (self.below(p + step) - self.below(p - step)) / (2 * step)

    def below(self, p: np.ndarray) -> np.ndarray:
        """Probability of less than each p (draw, p)."""
        from scipy.special import logit, ndtr

        with np.errstate(divide="ignore"):
            target = np.broadcast_to(logit(p), (self.n_draws, np.shape(p)[-1]))
        if self.tau is None:
            return ndtr((target - self.m[:, None]) / np.maximum(self.s[:, None], 1e-300))
        z = [np.interp(row, heights, POPULATION) for row, heights in zip(target, logit(self._nodes), strict=True)]
        inside = (target > logit(self._nodes[:, :1])) & (target < logit(self._nodes[:, -1:]))
        return np.where(inside, ndtr(z), target > logit(self._nodes[:, -1:]))

    def cdf(self, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Distribution function of each draw at its own p (draw, prompt)."""
        return self.below(p)

    def take(self, draws: slice | np.ndarray) -> LogitNormal:
        """The same distribution for a part of the draws."""
        shift, tau = (None if values is None else values[draws] for values in (self.shift, self.tau))
        return LogitNormal(self.m[draws], self.s[draws], shift, tau)

    def p_at(self, eta: np.ndarray) -> np.ndarray:
        """P(correct) of a prompt whose logit is eta (draw, ...), in a fresh run."""
        from scipy.special import expit

        if self.tau is None:
            return expit(eta)
        weights = np.exp(-(FRESH_RUN**2) / 2)
        total, tau = np.zeros(eta.shape), self.tau.reshape(-1, *(1,) * (eta.ndim - 1))
        for node, weight in zip(FRESH_RUN, weights / weights.sum(), strict=True):
            total += weight * expit(eta + tau * node)
        return total

    def simulate_runs(self, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """P(correct) of fresh prompts (draw, prompt) and their outcomes in the runs seen (draw, prompt, run)."""
        from scipy.special import expit

        if self.shift is None:
            raise ValueError("only a distribution with run effects has runs")
        eta = self.m[:, None] + self.s[:, None] * rng.standard_normal((self.n_draws, size))
        chances = expit(eta[..., None] + self.shift[:, None, :])
        return self.p_at(eta), rng.binomial(1, chances)

    @cached_property
    def _nodes(self) -> np.ndarray:
        """P(correct) at the population's nodes (draw, node)."""
        return self.p_at(self.m[:, None] + self.s[:, None] * POPULATION)

    def _average(self, function) -> np.ndarray:  # type: ignore[no-untyped-def]
        weights = np.exp(-(POPULATION**2) / 2)
        weights /= weights.sum()
        parts = [function(self._nodes[block]) @ weights for block in blocks(self.n_draws, POPULATION.size)]
        return np.concatenate(parts)

    def _blocks(self, cells: int) -> Iterator[slice]:
        runs = 1 if self.shift is None else self.shift.shape[1]
        return blocks(self.n_draws, cells * DRAW_NODES * runs)


@dataclass(frozen=True)
class _Conditioned(PromptPosterior):
    """Posterior of z of every cell on nodes around its mode, for each draw; made block by block."""

    distribution: LogitNormal
    correct: np.ndarray
    generations: np.ndarray

    def mean(self) -> np.ndarray:
        return self._average(lambda p: p)

    def second_moment(self) -> np.ndarray:
        return self._average(lambda p: p**2)

    def moments(self, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
        return self._average(metric.given_p), self._average(lambda p: metric.given_p(p) ** 2)

    def draw(self, rng: np.random.Generator, cell: np.ndarray) -> np.ndarray:
        result = np.empty((self.distribution.n_draws, cell.size))
        for block in self.distribution._blocks(self.correct.size):
            part = self.distribution.take(block)
            z, mass = self._on_nodes(part)
            result[block] = part.p_at(part.m[:, None] + part.s[:, None] * _inverse(z, mass, rng, cell))
        return result

    def predictive(self, more: int) -> tuple[np.ndarray, np.ndarray]:
        """Probability of each number of correct ones among further generations (draw, cell, more + 1).

        With run effects every further generation is taken as one of a run of its own.
        """
        draws, cells = self.distribution.n_draws, self.correct.size
        pmf = np.empty((draws, cells, more + 1))
        runs = 1 if self.distribution.shift is None else self.distribution.shift.shape[1]
        for block in blocks(draws, cells * max(NODES, DRAW_NODES * runs)):
            part = self.distribution.take(block)
            z, mass = self._on_nodes(part)
            pmf[block] = from_values(part.p_at(part.m[:, None, None] + part.s[:, None, None] * z), mass, more)
        return np.full(draws, 1 / draws), pmf

    def _average(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        result = np.empty((self.distribution.n_draws, self.correct.size))
        for block in self.distribution._blocks(self.correct.size):
            part = self.distribution.take(block)
            z, mass = self._on_nodes(part)
            p = part.p_at(part.m[:, None, None] + part.s[:, None, None] * z)
            result[block] = (mass * function(p)).sum(axis=-1) / mass.sum(axis=-1)
        return result

    def _on_nodes(self, part: LogitNormal) -> tuple[np.ndarray, np.ndarray]:
        """Nodes z (draw, cell, node) and the posterior density there with respect to x."""
        nodes, weights = stretched_nodes(DRAW_NODES)
        mode, width = cell_modes(np, part.m, part.s, self.correct, self.generations, part.shift)
        z = mode[..., None] + width[..., None] * nodes
        m, s = part.m[:, None, None], part.s[:, None, None]
        height = log_integrand(np, z, m, s, self.correct[:, None], self.generations[:, None], part.shift)
        return z, np.exp(height - height.max(axis=-1, keepdims=True)) * weights


def log_symmetric(shift: np.ndarray) -> np.ndarray:
    """Log of the elementary symmetric polynomials of exp(shift): the ways to c correct runs, each with its odds.

    Parameters
    ----------
    shift : float array (draw, run)

    Returns
    -------
    float array (draw, run + 1)
        For c = 0 .. runs; log binomial coefficients where all shifts are 0.
    """
    draws, runs = shift.shape
    result = np.full((draws, runs + 1), -np.inf)
    result[:, 0] = 0.0
    for run in range(runs):
        result[:, 1 : run + 2] = np.logaddexp(result[:, 1 : run + 2], result[:, : run + 1] + shift[:, [run]])
    return result


def _inverse(z: np.ndarray, mass: np.ndarray, rng: np.random.Generator, cell: np.ndarray) -> np.ndarray:
    """A draw of z for each draw and prompt (draw, prompt): inverse of a distribution whose density is linear in x."""
    draws, cells, nodes = mass.shape
    cumulative = np.zeros(mass.shape)
    np.cumsum((mass[..., 1:] + mass[..., :-1]) / 2, axis=-1, out=cumulative[..., 1:])
    cumulative /= cumulative[..., -1:]
    rows = np.arange(draws)[:, None] * cells + cell
    uniform = rng.random(rows.shape)
    # All distribution functions one above the other make one rising function, searched at once.
    flat = (cumulative.reshape(draws * cells, nodes) + np.arange(draws * cells)[:, None]).ravel()
    last = np.clip(np.searchsorted(flat, rows + uniform, side="right") - 1 - rows * nodes, 0, nodes - 2)
    index = rows * nodes + last
    left, right = mass.ravel()[index], mass.ravel()[index + 1]
    low, high = cumulative.ravel()[index], cumulative.ravel()[index + 1]
    share = np.clip((uniform - low) / np.maximum(high - low, 1e-300), 0.0, 1.0)
    total = left + right
    root = np.sqrt(np.maximum(left**2 + share * (right**2 - left**2), 0.0))
    fraction = np.where(total > 0, share * total / np.maximum(left + root, 1e-300), share)
    x = -REACH + (last + fraction) * (2 * REACH / (nodes - 1))
    centre = z.reshape(-1, nodes)[:, nodes // 2][rows]
    width = (z.reshape(-1, nodes)[:, -1] - z.reshape(-1, nodes)[:, nodes // 2])[rows] / np.sinh(REACH)
    return centre + width * np.sinh(x)
