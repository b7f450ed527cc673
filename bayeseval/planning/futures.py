"""Futures of a run, drawn from its posterior: what more generations, or fresh prompts, may bring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayeseval.engines.batches import Batch, batch_of_counts, batch_of_known
from bayeseval.model_data import keyed_cells
from bayeseval.posterior.posterior import Posterior
from bayeseval.prompts import PromptDistribution

__all__ = ["Futures"]


class Futures:
    """Futures drawn from a posterior, and their data for growing numbers of generations."""

    def __init__(self, posterior: Posterior, design: str, size: int, method: str, futures: int, seed: int) -> None:
        counts = posterior.counts
        self.rng = np.random.default_rng([seed, posterior.seed, 2])
        chosen = self.rng.choice(posterior.n_draws, futures, replace=futures > posterior.n_draws)
        distribution = posterior.distribution.take(chosen)
        if design == "same":
            self.start, self.correct = counts.generations, np.tile(counts.correct, (futures, 1))
            self.p = _prompt_draws(distribution, counts.correct, counts.generations, self.rng, posterior.key)
            return
        self.start, self.correct = np.zeros(size, dtype=np.int64), np.zeros((futures, size), dtype=np.int64)
        if method == "model":
            fresh = np.zeros(size, dtype=np.int64)
            self.p = _prompt_draws(distribution, fresh, fresh, self.rng)
            return
        answered = counts.generations > 0
        key = None if posterior.key is None else posterior.key[answered]
        p = _prompt_draws(distribution, counts.correct[answered], counts.generations[answered], self.rng, key)
        weights = self.rng.standard_exponential(p.shape)
        ends = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        uniform = self.rng.random((futures, size))
        picked = np.stack([np.searchsorted(end[:-1], u) for end, u in zip(ends, uniform, strict=True)])
        self.p = np.take_along_axis(p, picked, axis=1)

    def batches(self, ladder: Sequence[int]) -> Iterator[tuple[int, Batch]]:
        """Data of all futures for each k of a growing ladder; generations of a smaller k are part of a larger one."""
        correct, have = self.correct, self.start
        for k in ladder:
            target = np.maximum(self.start, k)
            correct = correct + self.rng.binomial(target - have, self.p)
            have = target
            yield k, batch_of_counts(correct, have)

    def limit(self) -> Batch:
        """Infinitely many generations."""
        return batch_of_known(self.p)


def _prompt_draws(
    distribution: PromptDistribution,
    correct: np.ndarray,
    generations: np.ndarray,
    rng: np.random.Generator,
    key: np.ndarray | None = None,
) -> np.ndarray:
    cell_correct, cell_generations, cell_key, cell = keyed_cells(correct, generations, key)
    step = max(1, (1 << 21) // max(cell.size, 1))
    return np.concatenate(
        [
            distribution.take(slice(start, start + step))
            .condition(cell_correct, cell_generations, cell_key)
            .draw(rng, cell)
            for start in range(0, distribution.n_draws, step)
        ]
    )
