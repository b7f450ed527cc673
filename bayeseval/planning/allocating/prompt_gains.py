"""Tables of the expected posterior variance of prompts, from the posterior of a run, made as far as they are needed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayeseval.metrics import Metric
from bayeseval.planning.allocating.gains import beta_variance, between, expected_variance, expected_variances
from bayeseval.prompts import BLOCK, MixturePosterior, PromptDistribution, PromptPosterior

__all__ = ["PromptGains"]

DENSE = 64
"""Up to here every number of generations is computed; beyond, a ladder of them."""
RATIO = 1.12
DRAWS, LEAST_DRAWS = 200, 25
PROMPT_DRAWS = 1000
"""Draws used where P(correct) of every prompt was sampled: they are its distribution, not draws of hyper-parameters."""
MOST_ROWS = 1 << 20


class PromptGains:
    """Expected posterior variance of a score for each cell of prompts, averaged over draws of the hyper-parameters.

    Parameters
    ----------
    distribution : PromptDistribution
        Of all posterior draws; about 200 of them are used, evenly spaced, and fewer for more than 5,000 cells. Where
        every P(correct) was sampled, 1,000.
    correct, generations : int array (cell,)
    key : int array (cell,) or None
    metric : Metric

    Attributes
    ----------
    mean : float array (cell,)
        Posterior mean of P(correct).
    scores : float array (draw, cell)
        Expected score of each cell given the hyper-parameters; empty where those are not apart from P(correct).
    """

    def __init__(
        self,
        distribution: PromptDistribution,
        correct: np.ndarray,
        generations: np.ndarray,
        key: np.ndarray | None,
        metric: Metric,
    ) -> None:
        sampled = distribution.keyed_by == "prompt"
        wanted = PROMPT_DRAWS if sampled else int(np.clip(MOST_ROWS // max(correct.size, 1), LEAST_DRAWS, DRAWS))
        if distribution.n_draws > wanted:
            distribution = distribution.take(np.linspace(0, distribution.n_draws - 1, wanted).round().astype(int))
        self.distribution, self.metric = distribution, metric
        self._data = correct, generations, key
        self._steps, self._ladder = [DENSE], list[np.ndarray]()
        self._dense = np.zeros((correct.size, 0))
        self.mean = np.empty(correct.size)
        self.scores = np.zeros((0 if sampled else distribution.n_draws, correct.size))
        for cells, posterior in self._blocks(metric.k + 1):
            self.mean[cells] = posterior.mean().mean(axis=0)
            if not sampled:
                self.scores[:, cells] = posterior.mean() if metric.kind == "mean" else self._expected(posterior)

    def upto(self, most: int) -> np.ndarray:
        """Expected variances after 0, 1, ..., most further generations (cell, most + 1)."""
        if self._closed:
            if self._dense.shape[1] <= most:
                self._dense = self._closed_table(max(most, 2 * self._dense.shape[1]))
            return self._dense[:, : most + 1]
        if not self._dense.size:
            self._dense = self._dense_table()
        while self._steps[-1] < most:
            self._steps.append(int(np.ceil(self._steps[-1] * RATIO)))
            self._ladder.append(self._rung(self._steps[-1]))
        if most <= DENSE:
            return self._dense[:, : most + 1]
        steps = np.array([*range(DENSE), *self._steps])
        return between(steps, np.column_stack([self._dense, *self._ladder]), most)

    def draws(self, cell: np.ndarray) -> np.ndarray:
        """Draws of the score of every prompt (draw, prompt), prompt i belonging to ``cell[i]``."""
        return self.metric.given_p(self.distribution.condition(*self._data).draw(np.random.default_rng(0), cell))

    @property
    def convex(self) -> bool:
        """Whether each further generation is known to be worth less than the one before."""
        return self._closed

    @property
    def _closed(self) -> bool:
        if self.metric.kind != "mean":
            return False
        correct, generations, key = self._data
        first = None if key is None else key[:1]
        posterior = self.distribution.condition(correct[:1], generations[:1], first)
        return isinstance(posterior, MixturePosterior) and posterior.weight.shape[-1] == 1

    def _blocks(self, width: int) -> Iterator[tuple[slice, PromptPosterior]]:
        """Posteriors of so many cells at a time that an array (draw, cell, width) stays within bounds."""
        correct, generations, key = self._data
        step = max(1, BLOCK // (self.distribution.n_draws * width))
        for start in range(0, correct.size, step):
            cells = slice(start, start + step)
            part = None if key is None else key[cells]
            yield cells, self.distribution.condition(correct[cells], generations[cells], part)

    def _expected(self, posterior: PromptPosterior) -> np.ndarray:
        _, pmf = posterior.predictive(self.metric.k)
        return np.asarray(pmf @ self.metric.weights)

    def _closed_table(self, most: int) -> np.ndarray:
        table = np.empty((self._data[0].size, most + 1))
        more = np.arange(most + 1)
        for cells, posterior in self._blocks(most + 1):
            assert isinstance(posterior, MixturePosterior)
            table[cells] = beta_variance(posterior.a, posterior.b, more).mean(axis=0)
        return table

    def _dense_table(self) -> np.ndarray:
        table = np.empty((self._data[0].size, DENSE + 1))
        length = DENSE + 2 * self.metric.k
        for cells, posterior in self._blocks(length + 1):
            share, pmf = posterior.predictive(length)
            table[cells] = np.einsum("s,scm->cm", share, expected_variances(pmf, self.metric.weights))
        return table

    def _rung(self, more: int) -> np.ndarray:
        values = np.empty(self._data[0].size)
        length = more + 2 * self.metric.k
        for cells, posterior in self._blocks(length + 1):
            share, pmf = posterior.predictive(length)
            values[cells] = share @ expected_variance(pmf, self.metric.weights)
        return values
