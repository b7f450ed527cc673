"""Distributions of credits over prompts: what a model of credits implies, draw by draw.

`GradedCredit` knows a few levels, `ContinuousCredit` any credit from 0 to 1. Both know the mean credit of fresh
prompts, how to condition on the credits of a prompt, and how to draw prompts and generations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeseval.credit_data import PromptCredits
from bayeseval.errors import OptionError
from bayeseval.likelihoods.interior import NODES, interior_nodes
from bayeseval.metrics import Metric
from bayeseval.prompts.population import log_all_alike

__all__ = ["ContinuousCredit", "CreditDistribution", "FreshPrompts", "GradedCredit", "require_mean"]

NORMAL = np.linspace(-9, 9, 361)
"""Nodes in z for averages over prompts, as for `LogitNormal`."""
LEAST = 1e-290
SMALLEST, LARGEST = 1e-300, 1 - 2.0**-53
"""Ends of what a simulated credit in between may be, so that it is not rounded to 0 or 1."""


def require_mean(metric: Metric) -> None:
    """Refuse every score but the mean."""
    if metric.kind != "mean":
        raise OptionError(
            f"{metric.name} asks whether a generation is correct, and credits have no such thing: say from which "
            f"credit on it is, with be.fit(credits.outcomes(threshold=1)) for full marks; credits have a mean alone"
        )


class CreditDistribution(ABC):
    """Distribution of credits over prompts, one for each posterior draw; what a model of credits returns.

    Attributes
    ----------
    width : int
        About how many numbers are held for each prompt and draw while prompts are drawn.
    """

    width: int
    phi: np.ndarray
    rho: np.ndarray

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.rho.size)

    @abstractmethod
    def mean(self) -> np.ndarray:
        """Mean credit over fresh prompts, for each draw (draw,)."""

    @abstractmethod
    def sd(self) -> np.ndarray:
        """Standard deviation over prompts of the mean credit of a prompt, for each draw (draw,)."""

    @abstractmethod
    def all_alike(self, credit: float, k: int) -> np.ndarray:
        """Probability that all of k generations of a prompt have this credit, 0 or 1, for each draw (draw,)."""

    @abstractmethod
    def fresh(self, prompts: int, rng: np.random.Generator) -> FreshPrompts:
        """Fresh prompts of each draw."""

    @abstractmethod
    def draw(self, prompts: PromptCredits, rng: np.random.Generator) -> np.ndarray:
        """One mean credit for each draw and prompt (draw, prompt), given the credits of the prompt."""

    @abstractmethod
    def conditional_mean(self, prompts: PromptCredits) -> np.ndarray:
        """Expected credit of a generation for each draw and prompt (draw, prompt), given the prompt's credits."""

    def score(self, metric: Metric) -> np.ndarray:
        """Score of fresh prompts for each draw (draw,); only the mean exists.

        Raises
        ------
        OptionError
            If the metric asks what is correct.
        """
        require_mean(metric)
        return self.mean()

    def take(self, draws: slice | np.ndarray) -> Any:
        """The same distribution for a part of the draws."""
        arrays = {name: value[draws] for name, value in vars(self).items() if name != "level"}
        return replace(self, **arrays)  # type: ignore[type-var]

    def _shares(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Probabilities of the levels (draw, prompt, level), given level counts (prompt, level)."""
        return dirichlet(self._weights()[:, None, :] + counts, rng)

    def _expected(self, counts: np.ndarray) -> np.ndarray:
        shape = self._weights()[:, None, :] + counts
        total = shape.sum(axis=-1, keepdims=True)
        return np.where(total > LEAST * 1e10, shape / np.maximum(total, LEAST), self.phi[:, None, :])

    def _weights(self) -> np.ndarray:
        return self.phi * ((1 - self.rho) / np.maximum(self.rho, LEAST))[:, None]


@dataclass(frozen=True)
class FreshPrompts:
    """Prompts as drawn, and how to let them be answered.

    Attributes
    ----------
    score : float array (draw, prompt)
        Mean credit of each prompt with endlessly many generations.
    shares : float array (draw, prompt, level)
        Probabilities of the levels, or of 0, in between, and 1.
    level : float array (level,)
        NaN for in between.
    m : float array (draw, prompt) or None
        Mean of the credits in between.
    kappa : float array (draw,) or None
        Their precision.
    """

    score: np.ndarray
    shares: np.ndarray
    level: np.ndarray
    m: np.ndarray | None = None
    kappa: np.ndarray | None = None

    def generate(self, generations: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Credits of so many generations of each prompt (draw, generation), prompt after prompt, there by level."""
        generations = np.asarray(generations, dtype=np.int64)
        counts = rng.multinomial(np.broadcast_to(generations, self.score.shape), self.shares)
        flat: np.ndarray = np.repeat(np.tile(self.level, self.score.size), counts.ravel())
        credit = flat.reshape(self.score.shape[0], int(generations.sum()))
        if self.m is None or self.kappa is None:
            return credit
        between = np.isnan(credit)
        draw, place = np.nonzero(between)
        m, kappa = self.m[draw, np.repeat(np.arange(generations.size), generations)[place]], self.kappa[draw]
        y = rng.beta(np.maximum(m * kappa, SMALLEST), np.maximum((1 - m) * kappa, SMALLEST))
        credit[between] = np.clip(y, SMALLEST, LARGEST)
        return credit


@dataclass(frozen=True)
class GradedCredit(CreditDistribution):
    """Levels of credit, with Dirichlet probabilities over prompts.

    Attributes
    ----------
    phi : float array (draw, level)
        Mean share of each level.
    rho : float array (draw,)
        Intraclass correlation of two generations of a prompt.
    level : float array (level,)
        Credit of each level.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval import prompts
    >>> prompts.GradedCredit(np.array([[0.25, 0.5, 0.25]]), np.array([0.3]), np.array([0, 0.5, 1])).mean()
    array([0.5])
    """

    phi: np.ndarray
    rho: np.ndarray
    level: np.ndarray

    @property
    def width(self) -> int:  # type: ignore[override]
        """Numbers held for each prompt and draw."""
        return self.level.size

    def mean(self) -> np.ndarray:
        """Mean credit over fresh prompts, for each draw (draw,)."""
        return self.phi @ self.level

    def sd(self) -> np.ndarray:
        """Standard deviation over prompts of the mean credit of a prompt, for each draw (draw,)."""
        return np.sqrt(np.maximum(self.phi @ self.level**2 - self.mean() ** 2, 0.0) * self.rho)

    def all_alike(self, credit: float, k: int) -> np.ndarray:
        """Probability that all of k generations of a prompt have this credit, for each draw (draw,)."""
        (found,) = np.nonzero(self.level == credit)
        if not found.size:
            return np.zeros(self.n_draws)
        return np.exp(log_all_alike(self.phi[:, found[0]], self.rho, k))

    def fresh(self, prompts: int, rng: np.random.Generator) -> FreshPrompts:
        """Fresh prompts of each draw."""
        shares = self._shares(np.zeros((prompts, self.level.size)), rng)
        return FreshPrompts(shares @ self.level, shares, self.level)

    def draw(self, prompts: PromptCredits, rng: np.random.Generator) -> np.ndarray:
        """One mean credit for each draw and prompt (draw, prompt)."""
        return self._shares(prompts.counts, rng) @ self.level

    def conditional_mean(self, prompts: PromptCredits) -> np.ndarray:
        """Expected credit of a generation for each draw and prompt (draw, prompt)."""
        return self._expected(prompts.counts) @ self.level


@dataclass(frozen=True)
class ContinuousCredit(CreditDistribution):
    """No credit, full credit, and Beta credits in between whose means are logit-normal over prompts.

    Attributes
    ----------
    phi : float array (draw, 3)
        Mean share of credit 0, in between, and 1.
    rho : float array (draw,)
        Intraclass correlation of these kinds within a prompt.
    delta : float array (draw,)
        Variance of credits in between within a prompt, relative to that of 0s and 1s with the same mean.
    a, b : float array (draw,)
        Mean and standard deviation over prompts of the logit of the mean of credits in between.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval import prompts
    >>> one = np.ones(1)
    >>> prompts.ContinuousCredit(np.array([[0.2, 0.6, 0.2]]), 0.3 * one, 0.2 * one, 0 * one, one).mean().round(9)
    array([0.5])
    """

    phi: np.ndarray
    rho: np.ndarray
    delta: np.ndarray
    a: np.ndarray
    b: np.ndarray
    width = 4 * NODES

    @property
    def kappa(self) -> np.ndarray:
        """Precision of credits in between (draw,)."""
        return (1 - self.delta) / np.maximum(self.delta, LEAST)

    def mean(self) -> np.ndarray:
        """Mean credit over fresh prompts, for each draw (draw,)."""
        return self.phi[:, 2] + self.phi[:, 1] * self._between(1)

    def sd(self) -> np.ndarray:
        """Standard deviation over prompts of the mean credit of a prompt, for each draw (draw,)."""
        _, between, full = self.phi.T
        first, second = self._between(1), self._between(2)
        whole = full * (full * (1 - self.rho) + self.rho)
        crossed = 2 * full * between * (1 - self.rho) * first
        square = whole + crossed + between * (between * (1 - self.rho) + self.rho) * second
        return np.sqrt(np.maximum(square - self.mean() ** 2, 0.0))

    def all_alike(self, credit: float, k: int) -> np.ndarray:
        """Probability that all of k generations of a prompt have this credit, 0 or 1, for each draw (draw,)."""
        return np.exp(log_all_alike(self.phi[:, 2 if credit == 1 else 0], self.rho, k))

    def fresh(self, prompts: int, rng: np.random.Generator) -> FreshPrompts:
        """Fresh prompts of each draw."""
        shares = self._shares(np.zeros((prompts, 3)), rng)
        logit = self.a[:, None] + self.b[:, None] * rng.standard_normal((self.n_draws, prompts))
        m = 1 / (1 + np.exp(-logit))
        return FreshPrompts(shares[..., 2] + shares[..., 1] * m, shares, np.array([0.0, np.nan, 1.0]), m, self.kappa)

    def draw(self, prompts: PromptCredits, rng: np.random.Generator) -> np.ndarray:
        """One mean credit for each draw and prompt (draw, prompt)."""
        shares = self._shares(prompts.counts, rng)
        size = shares.shape[:2]
        # A node by its weight, of nodes that are shifted at random by up to half a step: a draw from the whole line.
        m, weight = self._nodes(prompts, rng.random((*size, 1)) - 0.5)
        total = weight.cumsum(axis=-1)
        place = (total < rng.random((*size, 1)) * total[..., -1:]).sum(axis=-1)
        chosen = np.take_along_axis(m, np.minimum(place, NODES - 1)[..., None], axis=-1)[..., 0]
        return shares[..., 2] + shares[..., 1] * chosen

    def conditional_mean(self, prompts: PromptCredits) -> np.ndarray:
        """Expected credit of a generation for each draw and prompt (draw, prompt)."""
        shares = self._expected(prompts.counts)
        m, weight = self._nodes(prompts, 0.0)
        return shares[..., 2] + shares[..., 1] * (m * weight).sum(axis=-1) / weight.sum(axis=-1)

    def _nodes(self, prompts: PromptCredits, jitter: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means of prompts at the nodes, and how probable they are given the credits in between; unscaled."""
        between = prompts.counts[:, 1].astype(float), prompts.log_credit, prompts.log_rest
        logit, height, _, weight = interior_nodes(np, self.a, self.b, self.kappa, *between, jitter)
        return 1 / (1 + np.exp(-logit)), np.exp(height - height.max(axis=-1, keepdims=True)) * weight

    def _between(self, power: int) -> np.ndarray:
        """Mean over prompts of a power of the mean of credits in between (draw,)."""
        weight = np.exp(-(NORMAL**2) / 2)
        m = 1 / (1 + np.exp(-(self.a[:, None] + self.b[:, None] * NORMAL)))
        return m**power @ (weight / weight.sum())


def dirichlet(shape: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draws from Dirichlet distributions, right for shapes down to 0, which put all weight on one entry.

    Parameters
    ----------
    shape : float array (..., level)
    rng : numpy.random.Generator

    Returns
    -------
    float array (..., level)
    """
    shape = np.maximum(shape, LEAST)
    # Gamma(a) is Gamma(a + 1) U^(1/a); taken as logarithms nothing underflows.
    logs = np.log(rng.standard_gamma(shape + 1)) - rng.standard_exponential(shape.shape) / shape
    parts = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return parts / parts.sum(axis=-1, keepdims=True)
