"""What the rest of the package asks of a distribution of P(correct) over prompts, whatever its family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bayeseval.metrics import Metric
from bayeseval.prompts.predictive import from_values

__all__ = ["PromptDistribution", "PromptPosterior"]


class PromptDistribution(ABC):
    """Distribution of P(correct) over prompts, one for each posterior draw; what `prompt_distribution` returns.

    Attributes
    ----------
    keyed_by : {None, "group", "cluster", "prompt"}
        What besides its counts tells prompts apart: nothing; the group it belongs to, where groups are fixed; the
        cluster, where fresh prompts come from fresh clusters; or its place in the data. ``key`` arguments then hold the
        number of the group, the cluster or the prompt.
    atom : float array (atom,)
        Positions of point masses.
    atoms : float array (draw, atom)
        Their weights.
    """

    keyed_by: str | None = None
    atom: np.ndarray = np.zeros(0)

    @property
    def atoms(self) -> np.ndarray:
        """Weights of the point masses (draw, atom); no columns where there are none."""
        return np.zeros((self.n_draws, 0))

    @property
    @abstractmethod
    def n_draws(self) -> int:
        """Number of draws."""

    @abstractmethod
    def mean(self) -> np.ndarray:
        """Mean of P(correct) over prompts, for each draw (draw,)."""

    @abstractmethod
    def sd(self) -> np.ndarray:
        """Standard deviation of P(correct) over prompts, for each draw (draw,)."""

    @abstractmethod
    def score(self, metric: Metric) -> np.ndarray:
        """Score of fresh prompts for each draw (draw,): the mean of metric.given_p over the distribution."""

    @abstractmethod
    def logpmf(self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None) -> np.ndarray:
        """Log probability of each cell (correct, generations), p integrated out (draw, cell)."""

    @abstractmethod
    def condition(self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None) -> PromptPosterior:
        """Distribution of P(correct) of prompts with the given counts, for each draw.

        Parameters
        ----------
        correct, generations : int array (cell,)
        key : int array (cell,), optional
            Needed where `keyed_by` says so.

        Returns
        -------
        PromptPosterior
        """

    @abstractmethod
    def density(self, p: np.ndarray) -> np.ndarray:
        """Density at each p inside (0, 1), point masses left out (draw, p)."""

    @abstractmethod
    def below(self, p: np.ndarray) -> np.ndarray:
        """Probability of less than each p, point masses left out (draw, p)."""

    @abstractmethod
    def cdf(self, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Distribution function of each draw at its own p (draw, prompt); at a point mass some point of the jump."""

    @abstractmethod
    def take(self, draws: slice | np.ndarray) -> Any:
        """The same distribution for a part of the draws."""


class PromptPosterior(ABC):
    """P(correct) of prompts given their counts, for each draw and cell."""

    @abstractmethod
    def mean(self) -> np.ndarray:
        """Mean of P(correct) for each draw and cell (draw, cell)."""

    @abstractmethod
    def second_moment(self) -> np.ndarray:
        """Mean of P(correct) squared for each draw and cell (draw, cell)."""

    @abstractmethod
    def moments(self, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
        """Mean of metric.given_p(P(correct)) and of its square, for each draw and cell: two arrays (draw, cell)."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, cell: np.ndarray) -> np.ndarray:
        """One P(correct) for each draw and each prompt (draw, prompt), prompt i belonging to ``cell[i]``."""

    def predictive(self, more: int) -> tuple[np.ndarray, np.ndarray]:
        """Probability of each number of correct ones among further generations of a prompt.

        Here from draws of P(correct), all draws as one distribution; families that know better say it draw by draw.

        Parameters
        ----------
        more : int
            Further generations.

        Returns
        -------
        share : float array (row,)
            Weight of each row, summing to 1: one row a draw, or one for all draws together.
        pmf : float array (row, cell, more + 1)
        """
        p = self.draw(np.random.default_rng(0), np.arange(self.mean().shape[1]))
        return np.ones(1), from_values(p.T, None, more)[None]
