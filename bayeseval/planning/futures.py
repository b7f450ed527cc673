"""Futures of a run, drawn from what a pilot says: what more generations, or fresh prompts, may bring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayeseval.model_data import keyed_cells
from bayeseval.planning.pilots import Pilot
from bayeseval.prompts import PromptDistribution

__all__ = ["Futures"]


class Futures:
    """Futures drawn from a pilot, and their data for growing numbers of generations.

    Attributes
    ----------
    start : int array (prompt,)
        Generations that the prompts have already.
    correct : int array (future, prompt)
        How many of them were correct; the same in all futures.
    p : float array (future, prompt)
        P(correct) of every prompt in each future.
    key : int array (prompt,) or None
        What tells these prompts apart besides their counts.
    """

    def __init__(self, pilot: Pilot, design: str, size: int, robust: bool, futures: int, seed: int) -> None:
        self.rng = np.random.default_rng([seed, pilot.seed, 2])
        draws = pilot.distribution.n_draws
        distribution = pilot.distribution.take(self.rng.choice(draws, futures, replace=futures > draws))
        self.key = None
        if design == "same":
            counts = pilot.counts
            assert counts is not None
            self.key = pilot.key
            self.start, self.correct = counts.generations, np.tile(counts.correct, (futures, 1))
            self.p = _prompt_draws(distribution, counts.correct, counts.generations, self.rng, pilot.key)
            return
        self.start, self.correct = np.zeros(size, dtype=np.int64), np.zeros((futures, size), dtype=np.int64)
        if not robust:
            fresh = np.zeros(size, dtype=np.int64)
            self.p = _prompt_draws(distribution, fresh, fresh, self.rng)
            return
        counts = pilot.counts
        assert counts is not None
        answered = counts.generations > 0
        key = None if pilot.key is None else pilot.key[answered]
        p = _prompt_draws(distribution, counts.correct[answered], counts.generations[answered], self.rng, key)
        weights = self.rng.standard_exponential(p.shape)
        ends = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        uniform = self.rng.random((futures, size))
        picked = np.stack([np.searchsorted(end[:-1], u) for end, u in zip(ends, uniform, strict=True)])
        self.p = np.take_along_axis(p, picked, axis=1)

    def data(self, ladder: Sequence[int]) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """For each k of a growing ladder: k, correct (future, prompt) and generations (prompt,).

        Generations of a smaller k are part of a larger one.
        """
        correct, have = self.correct, self.start
        for k in ladder:
            target = np.maximum(self.start, k)
            correct = correct + self.rng.binomial(target - have, self.p)
            have = target
            yield k, correct, have


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
