r"""Mixtures of Beta components and point masses, in which nearly everything has a closed form.

For each posterior draw the distribution of P(correct) over prompts is a finite mixture of Beta components, each given
by its mean :math:`\mu` and intraclass correlation :math:`\rho`, and of point masses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bayeseval.likelihoods import beta_binomial_logpmf, log_binomial
from bayeseval.metrics import Metric
from bayeseval.prompts.base import PromptDistribution, PromptPosterior
from bayeseval.prompts.population import population_score, population_square
from bayeseval.prompts.predictive import binomial_pmf

__all__ = ["BetaMixture", "MixturePosterior", "beta"]


@dataclass(frozen=True)
class BetaMixture(PromptDistribution):
    """A mixture of Beta components and point masses for each draw.

    Attributes
    ----------
    weight, mu, rho : float arrays (draw, component)
        Weights, means and intraclass correlations of the Beta components; weights and atom weights of a draw sum to 1.
    atom : float array (atom,)
        Positions of the point masses, in [0, 1].
    atom_weight : float array (draw, atom)
    component_of : int array (group,), optional
        Component of each group, for models in which the group of a prompt is known: conditioned on its counts a prompt
        belongs to the component of its group. ``weight`` then says what fresh prompts come from, and may be 0 for the
        groups seen.
    keyed_by : {None, "group", "cluster"}
        What ``component_of`` is about (see `PromptDistribution`).

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
    component_of: np.ndarray | None = None
    keyed_by: str | None = None

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
        live = self._live
        components = population_score(metric, self.mu[:, live], self.rho[:, live])
        return (self.weight[:, live] * components).sum(axis=1) + self.atoms @ metric.given_p(self.atom)

    def logpmf(self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None) -> np.ndarray:
        """Log probability of each cell (correct, generations), p integrated out (draw, cell)."""
        if key is None:
            return np.logaddexp.reduce(self._log_joint(correct, generations), axis=-1)
        correct, generations = np.asarray(correct), np.asarray(generations)
        result = np.empty((self.n_draws, correct.size))
        for component, cells in self._by_component(key):
            result[:, cells] = beta_binomial_logpmf(
                correct[cells], generations[cells], self.mu[:, component], self.rho[:, component]
            )
        return result

    def condition(
        self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None
    ) -> MixturePosterior:
        """Distribution of P(correct) of prompts with the given counts, for each draw.

        Parameters
        ----------
        correct, generations : int array (cell,)
        key : int array (cell,), optional
            Group of each cell, where ``component_of`` is given; fresh prompts without it.

        Returns
        -------
        MixturePosterior
        """
        correct, generations = np.asarray(correct), np.asarray(generations)
        if key is not None and self.component_of is not None:
            component = self.component_of[key]
            mu, rho = self.mu[:, component, None], self.rho[:, component, None]
            weights, atom = np.ones((self.n_draws, correct.size, 1)), np.zeros(0)
        else:
            live = self._live
            mu, rho, atom = self.mu[:, None, live], self.rho[:, None, live], self.atom
            if live.size == 1 and self.atom.size == 0:
                weights = np.ones((self.n_draws, correct.size, 1))
            else:
                log_joint = self._log_joint(correct, generations)
                weights = np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=-1, keepdims=True))
        precision = (1 - rho) / np.maximum(rho, 1e-300)
        a = mu * precision + correct[:, None]
        b = (1 - mu) * precision + (generations - correct)[:, None]
        return MixturePosterior(weights, np.maximum(a, 1e-300), np.maximum(b, 1e-300), atom)

    def density(self, p: np.ndarray) -> np.ndarray:
        """Density at each p inside (0, 1), point masses left out (draw, p)."""
        from scipy.special import betaln

        a, b = self._shapes()
        total = np.zeros((self.n_draws, p.size))
        for h in self._live:
            at, bt = a[:, [h]], b[:, [h]]
            log_height = (at - 1) * np.log(p) + (bt - 1) * np.log1p(-p) - betaln(at, bt)
            total += self.weight[:, [h]] * np.exp(np.minimum(log_height, 700))
        return total

    def below(self, p: np.ndarray) -> np.ndarray:
        """Probability of less than each p, point masses left out (draw, p)."""
        from scipy.special import betainc

        a, b = self._shapes()
        total = np.zeros((self.n_draws, p.shape[-1]))
        for h in self._live:
            total += self.weight[:, [h]] * betainc(a[:, [h]], b[:, [h]], p)
        return total

    def cdf(self, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Distribution function of each draw at its own p (draw, prompt); at a point mass some point of the jump."""
        total = self.below(p)
        for index, position in enumerate(self.atom):
            total += self.atoms[:, [index]] * np.where(p == position, rng.random(p.shape), p > position)
        return total

    def take(self, draws: slice | np.ndarray) -> BetaMixture:
        """The same distribution for a part of the draws."""
        atoms = None if self.atom_weight is None else self.atom_weight[draws]
        return BetaMixture(
            self.weight[draws], self.mu[draws], self.rho[draws], self.atom, atoms, self.component_of, self.keyed_by
        )

    @property
    def _live(self) -> np.ndarray:
        """Components that fresh prompts come from."""
        return np.flatnonzero(self.weight.any(axis=0)) if self.keyed_by else np.arange(self.mu.shape[1])

    def _shapes(self) -> tuple[np.ndarray, np.ndarray]:
        """Parameters a and b of the Beta components (draw, component)."""
        precision = (1 - self.rho) / np.maximum(self.rho, 1e-300)
        return np.maximum(self.mu * precision, 1e-300), np.maximum((1 - self.mu) * precision, 1e-300)

    def _by_component(self, key: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Each component that cells of the given groups belong to, and those cells."""
        component = np.asarray(self.component_of)[np.asarray(key)]
        for one in np.unique(component):
            yield int(one), np.flatnonzero(component == one)

    def _log_joint(self, correct: np.ndarray, generations: np.ndarray) -> np.ndarray:
        """Log of weight times probability of each cell under each part (draw, cell, component + atom)."""
        correct, generations = np.asarray(correct), np.asarray(generations)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [
                np.log(self.weight[:, h, None])
                + beta_binomial_logpmf(correct, generations, self.mu[:, h], self.rho[:, h])
                for h in self._live
            ]
            for index, p in enumerate(self.atom):
                log_p = np.where(correct > 0, correct * np.log(p), 0.0)
                log_q = np.where(generations > correct, (generations - correct) * np.log1p(-p), 0.0)
                log_mass = log_binomial(generations, correct) + log_p + log_q
                parts.append(np.log(self.atoms[:, index, None]) + log_mass[None, :])
        return np.stack(parts, axis=-1)


@dataclass(frozen=True)
class MixturePosterior(PromptPosterior):
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

    def moments(self, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
        """Mean of the score and of its square for each draw and cell: two arrays (draw, cell)."""
        total = self.a + self.b
        components = self.a.shape[-1]
        at_atoms = metric.given_p(self.atom)
        first, second = (
            (self.weight[..., :components] * function(metric, self.a / total, 1 / (total + 1))).sum(-1)
            + self.weight[..., components:] @ at_atoms**power
            for function, power in ((population_score, 1), (population_square, 2))
        )
        return first, second

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

    def predictive(self, more: int) -> tuple[np.ndarray, np.ndarray]:
        """Probability of each number of correct ones among further generations (draw, cell, more + 1), exactly."""
        draws, _, components = self.a.shape
        correct, total = np.arange(more + 1), self.a + self.b
        pmf = self.weight[..., components:] @ binomial_pmf(self.atom, more)
        for h in range(components):
            mu, rho = self.a[..., h] / total[..., h], 1 / (total[..., h] + 1)
            log_pmf = beta_binomial_logpmf(correct, np.full(more + 1, more), mu, rho)
            pmf += self.weight[..., [h]] * np.exp(log_pmf)
        return np.full(draws, 1 / draws), pmf


def beta(mu: np.ndarray, rho: np.ndarray) -> BetaMixture:
    """A single Beta for each draw.

    Parameters
    ----------
    mu, rho : float array (draw,)
        Mean and intraclass correlation.

    Returns
    -------
    BetaMixture

    Examples
    --------
    >>> from bayeseval import prompts
    >>> prompts.beta([0.3], [0.2]).mean()
    array([0.3])
    """
    mu, rho = np.atleast_1d(np.asarray(mu, dtype=float)), np.atleast_1d(np.asarray(rho, dtype=float))
    return BetaMixture(np.ones((mu.size, 1)), mu[:, None], rho[:, None])
