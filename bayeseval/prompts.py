r"""Distributions of P(correct) over prompts: what a model implies, draw by draw, in one form that all questions use.

For each posterior draw a `PromptDistribution` is a finite mixture of Beta components, each given by its mean
:math:`\mu` and intraclass correlation :math:`\rho`, and of point masses. It knows its moments, the score of fresh
prompts in closed form, how to condition on counts, and how to draw P(correct).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bayeseval.likelihoods import beta_binomial_logpmf, log_binomial, log_rising
from bayeseval.metrics import Metric

__all__ = ["PromptDistribution", "PromptPosterior", "beta", "population_score"]

BLOCK = 1 << 22
"""Most numbers held at once in one array (32 MiB of float64)."""


@dataclass(frozen=True)
class PromptDistribution:
    """A mixture of Beta components and point masses for each draw.

    Attributes
    ----------
    weight, mu, rho : float arrays (draw, component)
        Weights, means and intraclass correlations of the Beta components; weights and atom weights of a draw sum to 1.
    atom : float array (atom,)
        Positions of the point masses, in [0, 1].
    atom_weight : float array (draw, atom)

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval import metrics, prompts
    >>> uniform = prompts.beta(mu=np.array([0.5]), rho=np.array([1 / 3]))
    >>> uniform.mean(), uniform.sd().round(4), uniform.score(metrics.pass_at(2)).round(4)
    (array([0.5]), array([0.2887]), array([0.6667]))
    """

    weight: np.ndarray
    mu: np.ndarray
    rho: np.ndarray
    atom: np.ndarray = field(default_factory=lambda: np.zeros(0))
    atom_weight: np.ndarray | None = None

    @property
    def atoms(self) -> np.ndarray:
        """Weights of the point masses (draw, atom); no columns where there are none."""
        return np.zeros((self.mu.shape[0], 0)) if self.atom_weight is None else self.atom_weight

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self.mu.shape[0]

    def mean(self) -> np.ndarray:
        """Mean of P(correct) over prompts, for each draw (draw,)."""
        return (self.weight * self.mu).sum(axis=1) + self.atoms @ self.atom

    def sd(self) -> np.ndarray:
        """Standard deviation of P(correct) over prompts, for each draw (draw,)."""
        second = self.mu**2 + self.mu * (1 - self.mu) * self.rho
        square = (self.weight * second).sum(axis=1) + self.atoms @ self.atom**2
        return np.sqrt(np.maximum(square - self.mean() ** 2, 0.0))

    def score(self, metric: Metric) -> np.ndarray:
        """Score of fresh prompts for each draw (draw,): the mean of metric.given_p over the distribution."""
        components = population_score(metric, self.mu, self.rho)
        return (self.weight * components).sum(axis=1) + self.atoms @ metric.given_p(self.atom)

    def logpmf(self, correct: np.ndarray, generations: np.ndarray) -> np.ndarray:
        """Log probability of each cell (correct, generations), p integrated out (draw, cell)."""
        return np.logaddexp.reduce(self._log_joint(correct, generations), axis=-1)

    def condition(self, correct: np.ndarray, generations: np.ndarray) -> PromptPosterior:
        """Distribution of P(correct) of prompts with the given counts, for each draw.

        Parameters
        ----------
        correct, generations : int array (cell,)

        Returns
        -------
        PromptPosterior
        """
        correct, generations = np.asarray(correct), np.asarray(generations)
        if self.mu.shape[1] == 1 and self.atom.size == 0:
            weights = np.ones((self.n_draws, correct.size, 1))
        else:
            log_joint = self._log_joint(correct, generations)
            weights = np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=-1, keepdims=True))
        precision = ((1 - self.rho) / np.maximum(self.rho, 1e-300))[:, None, :]
        a = self.mu[:, None, :] * precision + correct[:, None]
        b = (1 - self.mu[:, None, :]) * precision + (generations - correct)[:, None]
        return PromptPosterior(weights, np.maximum(a, 1e-300), np.maximum(b, 1e-300), self.atom)

    def cdf(self, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Distribution function of each draw at its own p (draw, prompt); at a point mass some point of the jump."""
        from scipy.special import betainc

        precision = (1 - self.rho) / np.maximum(self.rho, 1e-300)
        a, b = (np.maximum(share * precision, 1e-300) for share in (self.mu, 1 - self.mu))
        total = np.zeros(p.shape)
        for h in range(self.mu.shape[1]):
            total += self.weight[:, [h]] * betainc(a[:, [h]], b[:, [h]], p)
        for index, position in enumerate(self.atom):
            total += self.atoms[:, [index]] * np.where(p == position, rng.random(p.shape), p > position)
        return total

    def take(self, draws: slice | np.ndarray) -> PromptDistribution:
        """The same distribution for a part of the draws."""
        atoms = None if self.atom_weight is None else self.atom_weight[draws]
        return PromptDistribution(self.weight[draws], self.mu[draws], self.rho[draws], self.atom, atoms)

    def _log_joint(self, correct: np.ndarray, generations: np.ndarray) -> np.ndarray:
        """Log of weight times probability of each cell under each part (draw, cell, component + atom)."""
        correct, generations = np.asarray(correct), np.asarray(generations)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [
                np.log(self.weight[:, h, None])
                + beta_binomial_logpmf(correct, generations, self.mu[:, h], self.rho[:, h])
                for h in range(self.mu.shape[1])
            ]
            for index, p in enumerate(self.atom):
                log_p = np.where(correct > 0, correct * np.log(p), 0.0)
                log_q = np.where(generations > correct, (generations - correct) * np.log1p(-p), 0.0)
                log_mass = log_binomial(generations, correct) + log_p + log_q
                parts.append(np.log(self.atoms[:, index, None]) + log_mass[None, :])
        return np.stack(parts, axis=-1)


@dataclass(frozen=True)
class PromptPosterior:
    """P(correct) of prompts given their counts: for each draw and cell a mixture of Betas and point masses.

    Attributes
    ----------
    weight : float array (draw, cell, component + atom)
    a, b : float arrays (draw, cell, component)
        Parameters of the Beta components.
    atom : float array (atom,)
    """

    weight: np.ndarray
    a: np.ndarray
    b: np.ndarray
    atom: np.ndarray

    def mean(self) -> np.ndarray:
        """Mean of P(correct) for each draw and cell (draw, cell)."""
        beta_means = self.a / (self.a + self.b)
        components = self.a.shape[-1]
        return (self.weight[..., :components] * beta_means).sum(-1) + self.weight[..., components:] @ self.atom

    def second_moment(self) -> np.ndarray:
        """Mean of P(correct) squared for each draw and cell (draw, cell)."""
        total = self.a + self.b
        squares = self.a * (self.a + 1) / (total * (total + 1))
        components = self.a.shape[-1]
        return (self.weight[..., :components] * squares).sum(-1) + self.weight[..., components:] @ self.atom**2

    def draw(self, rng: np.random.Generator, cell: np.ndarray) -> np.ndarray:
        """One P(correct) for each draw and each prompt (draw, prompt), prompt i belonging to ``cell[i]``."""
        components = self.a.shape[-1]
        if self.weight.shape[-1] == 1:
            return rng.beta(self.a[:, cell, 0], self.b[:, cell, 0])
        part = (rng.random((self.a.shape[0], cell.size, 1)) > np.cumsum(self.weight, -1)[:, cell, :-1]).sum(-1)
        chosen = np.minimum(part, components - 1)[..., None]
        a = np.take_along_axis(self.a[:, cell], chosen, -1)[..., 0]
        b = np.take_along_axis(self.b[:, cell], chosen, -1)[..., 0]
        p = rng.beta(a, b)
        if self.atom.size:
            p = np.where(part < components, p, self.atom[np.maximum(part - components, 0)])
        return p


def beta(mu: np.ndarray, rho: np.ndarray) -> PromptDistribution:
    """A single Beta for each draw.

    Parameters
    ----------
    mu, rho : float array (draw,)
        Mean and intraclass correlation.

    Returns
    -------
    PromptDistribution

    Examples
    --------
    >>> from bayeseval import prompts
    >>> prompts.beta([0.3], [0.2]).mean()
    array([0.3])
    """
    mu, rho = np.atleast_1d(np.asarray(mu, dtype=float)), np.atleast_1d(np.asarray(rho, dtype=float))
    return PromptDistribution(np.ones((mu.size, 1)), mu[:, None], rho[:, None])


def population_score(metric: Metric, mu: np.ndarray, rho: np.ndarray) -> np.ndarray:
    r"""Score of fresh prompts whose P(correct) is Beta with mean mu and intraclass correlation rho.

    .. math:: \mathrm{pass@}k = 1-\prod_{j<k}\frac{(1-\mu)(1-\rho)+j\rho}{(1-\rho)+j\rho},\quad
        E[u(X)],\ X\sim\mathrm{BetaBinomial}(k,\mu,\rho) \text{ in general.}

    Parameters
    ----------
    metric : Metric
        From `bayeseval.metrics`.
    mu, rho : float array (...,)
        They broadcast.

    Returns
    -------
    float array (...,)

    Examples
    --------
    >>> from bayeseval import metrics
    >>> from bayeseval.prompts import population_score
    >>> float(population_score(metrics.pass_at(16), 0.3, 0.2).round(6))
    0.894798
    """
    mu, rho = np.broadcast_arrays(np.asarray(mu, dtype=float), np.asarray(rho, dtype=float))
    if metric.kind == "mean":
        return mu.copy()
    if metric.kind == "pass_at":
        return -np.expm1(_log_all_alike(1 - mu, rho, metric.k))
    if metric.kind == "pass_hat":
        return np.exp(_log_all_alike(mu, rho, metric.k))
    successes = np.flatnonzero(metric.weights)
    flat_mu, flat_rho = mu.ravel(), rho.ravel()
    result = np.empty(flat_mu.shape)
    for block in blocks(flat_mu.size, metric.k + 1):
        logpmf = beta_binomial_logpmf(successes, np.full(successes.size, metric.k), flat_mu[block], flat_rho[block])
        result[block] = np.exp(logpmf) @ metric.weights[successes]
    return result.reshape(mu.shape)


def blocks(size: int, width: int) -> Iterator[slice]:
    """Slices of ``range(size)`` so that an array (slice, width) stays within BLOCK numbers."""
    step = max(1, BLOCK // max(width, 1))
    return (slice(start, min(start + step, size)) for start in range(0, size, step))


def _log_all_alike(mu: np.ndarray, rho: np.ndarray, k: int) -> np.ndarray:
    """Log probability that k generations all succeed, when each succeeds with mean mu."""
    length = np.array([k])
    rest = log_rising(mu * (1 - rho), rho, length, first=1) - log_rising(1 - rho, rho, length, first=1)
    return np.log(np.maximum(mu, 1e-300)) + rest[..., 0]
