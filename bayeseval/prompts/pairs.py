"""Joint distributions of P(correct) of two systems over prompts: what a model of pairs implies, draw by draw.

`DirichletPairs` has Dirichlet probabilities of the four joint outcomes of two coupled generations, `LogitNormalPairs`
two normal logits, with or without an odds ratio within prompts. Both know the scores of fresh prompts, how to condition
on the counts of a prompt, and how to draw prompts and generations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeseval.likelihoods import pair_rule, plackett_logs
from bayeseval.metrics import Metric
from bayeseval.prompts.credit import LEAST, dirichlet
from bayeseval.prompts.logit_normal import LogitNormal
from bayeseval.prompts.mixture import beta
from bayeseval.prompts.population import blocks

__all__ = ["DirichletPairs", "FreshPairs", "LogitNormalPairs", "PairDistribution"]

DRAW_NODES, DRAW_REACH = 17, 2.5
FRESH = np.linspace(-6, 6, 41)
"""Nodes in u and in v for averages over fresh prompts of what both systems do."""


class PairDistribution(ABC):
    """Joint distribution of P(correct) of two systems over prompts, for each posterior draw.

    Attributes
    ----------
    width : int
        About how many numbers are held for each distinct prompt and draw while prompts are drawn.
    """

    width: int

    @property
    @abstractmethod
    def n_draws(self) -> int:
        """Number of draws."""

    @property
    @abstractmethod
    def coupled(self) -> bool:
        """Whether the model knows how generations of both systems go together within a prompt."""

    @abstractmethod
    def score(self, metric: Metric) -> np.ndarray:
        """Score of both systems on fresh prompts, for each draw (draw, 2)."""

    @abstractmethod
    def kappa(self) -> np.ndarray:
        """Covariance within prompts of two coupled generations, mean over fresh prompts, for each draw (draw,)."""

    @abstractmethod
    def fresh(self, prompts: int, rng: np.random.Generator) -> FreshPairs:
        """Fresh prompts of each draw."""

    @abstractmethod
    def draw(self, cells: np.ndarray, cell: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One P(correct) of both systems for each draw and prompt, given the counts of the prompt.

        Parameters
        ----------
        cells : int array (cell, 4)
            Distinct prompts as `PairData.prompts` has them.
        cell : int array (prompt,)
            The cell of each prompt.
        rng : numpy.random.Generator

        Returns
        -------
        float array (draw, 2, prompt)
        """

    @abstractmethod
    def conditional_mean(self, cells: np.ndarray) -> np.ndarray:
        """Expected P(correct) of both systems for each draw and cell (draw, 2, cell), given the cell's counts."""

    @abstractmethod
    def take(self, draws: slice | np.ndarray) -> Any:
        """The same distribution for a part of the draws."""


@dataclass(frozen=True)
class FreshPairs:
    """Prompts as drawn, and how to let both systems answer them.

    Attributes
    ----------
    p : float array (draw, 2, prompt)
        P(correct) of A and of B.
    shares : float array (draw, prompt, 4) or None
        Probabilities that both are correct, only A, only B, neither; None where generations are independent.
    """

    p: np.ndarray
    shares: np.ndarray | None = None

    def generate(self, generations: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
        """Correct generations of both systems (draw, 2, prompt) of so many (2, prompt), and of both at once.

        The latter (draw, prompt) is None where generations are independent.
        """
        if self.shares is None:
            return rng.binomial(generations, self.p), None
        counts = rng.multinomial(np.broadcast_to(generations[0], self.shares.shape[:2]), self.shares)
        return np.stack([counts[..., 0] + counts[..., 1], counts[..., 0] + counts[..., 2]], axis=1), counts[..., 0]


@dataclass(frozen=True)
class DirichletPairs(PairDistribution):
    """Dirichlet probabilities of both correct, only A, only B, neither.

    Attributes
    ----------
    phi : float array (draw, 4)
        Mean probabilities.
    rho : float array (draw,)
        Intraclass correlation.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval import metrics, prompts
    >>> pairs = prompts.DirichletPairs(np.array([[0.5, 0.25, 0.0, 0.25]]), np.array([0.5]))
    >>> pairs.score(metrics.mean()).tolist(), pairs.kappa().tolist()
    ([[0.75, 0.5]], [0.0625])
    """

    phi: np.ndarray
    rho: np.ndarray
    width = 8
    coupled = True

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.rho.size)

    @property
    def means(self) -> np.ndarray:
        """Mean P(correct) of both systems (draw, 2)."""
        return np.stack(_margins(self.phi), axis=1)

    def score(self, metric: Metric) -> np.ndarray:
        """Score of both systems on fresh prompts, for each draw (draw, 2): each margin is a Beta."""
        if metric.kind == "mean":
            return self.means
        return np.stack([beta(mean, self.rho).score(metric) for mean in self.means.T], axis=1)

    def kappa(self) -> np.ndarray:
        """Covariance within prompts (draw,): (1 - rho) (phi_11 - phi_A phi_B)."""
        a, b = self.means.T
        return (1 - self.rho) * (self.phi[:, 0] - a * b)

    def fresh(self, prompts: int, rng: np.random.Generator) -> FreshPairs:
        """Fresh prompts of each draw."""
        shares = self._shares(np.zeros((prompts, 4)), rng)
        return FreshPairs(np.stack(_margins(shares), axis=1), shares)

    def draw(self, cells: np.ndarray, cell: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One P(correct) of both systems for each draw and prompt (draw, 2, prompt)."""
        return np.stack(_margins(self._shares(cells[cell], rng)), axis=1)

    def conditional_mean(self, cells: np.ndarray) -> np.ndarray:
        """Expected P(correct) of both systems for each draw and cell (draw, 2, cell)."""
        shape = self._weights()[:, None, :] + cells
        total = shape.sum(axis=-1, keepdims=True)
        shares = np.where(total > LEAST * 1e10, shape / np.maximum(total, LEAST), self.phi[:, None, :])
        return np.stack(_margins(shares), axis=1)

    def take(self, draws: slice | np.ndarray) -> DirichletPairs:
        """The same distribution for a part of the draws."""
        return replace(self, phi=self.phi[draws], rho=self.rho[draws])

    def _shares(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return dirichlet(self._weights()[:, None, :] + counts, rng)

    def _weights(self) -> np.ndarray:
        return self.phi * ((1 - self.rho) / np.maximum(self.rho, LEAST))[:, None]


@dataclass(frozen=True)
class LogitNormalPairs(PairDistribution):
    """Normal logits of both systems; coupled generations have one odds ratio within all prompts.

    Attributes
    ----------
    m, s : float arrays (draw, 2)
        Means and standard deviations of the logits of P(correct) of A and of B.
    r : float array (draw,)
        Their correlation.
    log_psi : float array (draw,), optional
        Log of the odds ratio of coupled generations; without it generations are independent.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval import metrics, prompts
    >>> pairs = prompts.LogitNormalPairs(np.zeros((1, 2)), np.ones((1, 2)), np.array([0.9]), np.array([0.0]))
    >>> pairs.score(metrics.mean()).round(9).tolist(), abs(pairs.kappa().round(9)).tolist()
    ([[0.5, 0.5]], [0.0])
    """

    m: np.ndarray
    s: np.ndarray
    r: np.ndarray
    log_psi: np.ndarray | None = None
    width = 3 * DRAW_NODES**2

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.r.size)

    @property
    def coupled(self) -> bool:
        """Whether there is an odds ratio within prompts."""
        return self.log_psi is not None

    def score(self, metric: Metric) -> np.ndarray:
        """Score of both systems on fresh prompts, for each draw (draw, 2): each margin is logit-normal."""
        return np.stack([LogitNormal(self.m[:, one], self.s[:, one]).score(metric) for one in (0, 1)], axis=1)

    def kappa(self) -> np.ndarray:
        """Covariance within prompts (draw,), by quadrature over fresh prompts; 0 for independent generations."""
        result = np.zeros(self.n_draws)
        if self.log_psi is None:
            return result
        u, v = (values.ravel() for values in np.meshgrid(FRESH, FRESH))
        inside = u * u + v * v <= FRESH[-1] ** 2
        u, v = u[inside], v[inside]
        weights = np.exp(-(u * u + v * v) / 2)
        weights /= weights.sum()
        for block in blocks(self.n_draws, 12 * u.size):
            part = self.take(block)
            eta_a, eta_b = part._logits(u, v)
            logs = plackett_logs(np, eta_a, eta_b, part.log_psi[:, None])  # type: ignore[index]
            both, only_a, only_b, neither = (np.exp(log) for log in logs)
            # pi_11 - p_A p_B = pi_11 pi_00 - pi_10 pi_01, without cancellation where both are nearly always correct.
            result[block] = (both * neither - only_a * only_b) @ weights
        return result

    def fresh(self, prompts: int, rng: np.random.Generator) -> FreshPairs:
        """Fresh prompts of each draw."""
        from scipy.special import expit

        u, v = rng.standard_normal((2, self.n_draws, prompts))
        eta_a, eta_b = self._logits(u, v)
        p = np.stack([expit(eta_a), expit(eta_b)], axis=1)
        if self.log_psi is None:
            return FreshPairs(p)
        shares = np.exp(np.stack(plackett_logs(np, eta_a, eta_b, self.log_psi[:, None]), axis=-1))
        return FreshPairs(p, shares / shares.sum(axis=-1, keepdims=True))

    def draw(self, cells: np.ndarray, cell: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One P(correct) of both systems for each draw and prompt (draw, 2, prompt).

        A node by its weight, of nodes that are shifted at random by up to half a step: a draw from the whole plane.
        """
        from scipy.special import expit

        draws, size = self.n_draws, (self.n_draws, len(cells), 1)
        result = np.empty((draws, 2, cell.size))
        for block in blocks(draws, len(cells) * self.width):
            part = self.take(block)
            jitter = rng.random((2, part.n_draws, *size[1:])) - 0.5
            eta_a, eta_b, mass = part._nodes(cells, (jitter[0], jitter[1]))
            total = mass.cumsum(axis=-1)
            total /= total[..., -1:]
            nodes = mass.shape[-1]
            rows = np.arange(part.n_draws)[:, None] * len(cells) + cell
            # All distribution functions one above the other make one rising function, searched at once.
            flat = (total.reshape(-1, nodes) + np.arange(part.n_draws * len(cells))[:, None]).ravel()
            place = np.searchsorted(flat, rows + rng.random(rows.shape), side="right")
            place = np.clip(place, rows * nodes, rows * nodes + nodes - 1)
            result[block, 0], result[block, 1] = expit(eta_a.ravel()[place]), expit(eta_b.ravel()[place])
        return result

    def conditional_mean(self, cells: np.ndarray) -> np.ndarray:
        """Expected P(correct) of both systems for each draw and cell (draw, 2, cell)."""
        from scipy.special import expit

        result = np.empty((self.n_draws, 2, len(cells)))
        for block in blocks(self.n_draws, len(cells) * self.width):
            eta_a, eta_b, mass = self.take(block)._nodes(cells)
            total = mass.sum(axis=-1)
            for place, eta in enumerate((eta_a, eta_b)):
                result[block, place] = (expit(eta) * mass).sum(axis=-1) / total
        return result

    def take(self, draws: slice | np.ndarray) -> LogitNormalPairs:
        """The same distribution for a part of the draws."""
        log_psi = None if self.log_psi is None else self.log_psi[draws]
        return LogitNormalPairs(self.m[draws], self.s[draws], self.r[draws], log_psi)

    def _logits(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (m_a, m_b), (s_a, s_b) = (values.T[..., None] for values in (self.m, self.s))
        r = self.r[:, None]
        return m_a + s_a * u, m_b + s_b * (r * u + np.sqrt(1 - r * r) * v)

    def _nodes(self, cells: np.ndarray, jitter: Any = (0.0, 0.0)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Logits at the nodes of each cell, and how probable they are given its counts (draw, cell, node)."""
        counts = tuple(np.asarray(cells, dtype=float).T)
        a, b = ((self.m[:, one], self.s[:, one]) for one in (0, 1))
        more = {"nodes": DRAW_NODES, "reach": DRAW_REACH, "jitter": jitter}
        rule = pair_rule(np, a, b, self.r, counts, self.log_psi, **more)
        return rule.eta_a, rule.eta_b, np.exp(rule.height - rule.height.max(axis=-1, keepdims=True)) * rule.weights


def _margins(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(correct) of A and of B from probabilities of the four joint outcomes (..., 4)."""
    # Four shares sum to 1 up to rounding.
    return np.minimum(shares[..., 0] + shares[..., 1], 1.0), np.minimum(shares[..., 0] + shares[..., 2], 1.0)
