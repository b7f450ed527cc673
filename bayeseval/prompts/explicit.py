"""Draws of P(correct) of every prompt, from models that sample them instead of integrating them out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeseval.metrics import Metric
from bayeseval.prompts.base import PromptDistribution, PromptPosterior

__all__ = ["Explicit"]


@dataclass(frozen=True)
class Explicit(PromptDistribution):
    """P(correct) of every prompt as sampled, and the distribution that fresh prompts come from.

    Attributes
    ----------
    p : float array (draw, prompt)
        Draws of P(correct); columns beyond the number of prompts (padding) are never read.
    population : PromptDistribution
        What fresh prompts come from, for each draw.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval import prompts
    >>> explicit = prompts.Explicit(np.array([[0.2, 0.9]]), prompts.beta([0.5], [0.3]))
    >>> explicit.condition([0, 3], [4, 4], key=[0, 1]).mean()
    array([[0.2, 0.9]])
    """

    p: np.ndarray
    population: PromptDistribution
    keyed_by = "prompt"

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.p.shape[0])

    def mean(self) -> np.ndarray:
        """Mean of P(correct) over fresh prompts, for each draw (draw,)."""
        return self.population.mean()

    def sd(self) -> np.ndarray:
        """Standard deviation of P(correct) over fresh prompts, for each draw (draw,)."""
        return self.population.sd()

    def score(self, metric: Metric) -> np.ndarray:
        """Score of fresh prompts for each draw (draw,)."""
        return self.population.score(metric)

    def logpmf(self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None) -> np.ndarray:
        """Log probability of each cell for a fresh prompt (draw, cell): leave-one-out means a prompt without its p."""
        return self.population.logpmf(correct, generations)

    def condition(self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None) -> PromptPosterior:
        """The draws of the prompts numbered by ``key``; fresh prompts where it is not given."""
        if key is None:
            return self.population.condition(correct, generations)
        return _Known(self.p[:, np.asarray(key)])

    def density(self, p: np.ndarray) -> np.ndarray:
        """Density at each p for fresh prompts (draw, p)."""
        return self.population.density(p)

    def below(self, p: np.ndarray) -> np.ndarray:
        """Probability of less than each p for fresh prompts (draw, p)."""
        return self.population.below(p)

    def cdf(self, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Distribution function of each draw at its own p (draw, prompt)."""
        return self.population.cdf(p, rng)

    def take(self, draws: slice | np.ndarray) -> Explicit:
        """The same for a part of the draws."""
        return Explicit(self.p[draws], self.population.take(draws))


@dataclass(frozen=True)
class _Known(PromptPosterior):
    """One known P(correct) for each draw and prompt (draw, prompt)."""

    p: np.ndarray

    def mean(self) -> np.ndarray:
        return self.p

    def second_moment(self) -> np.ndarray:
        return self.p**2

    def moments(self, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
        values = metric.given_p(self.p)
        return values, values**2

    def draw(self, rng: np.random.Generator, cell: np.ndarray) -> np.ndarray:
        return self.p[:, cell]
