r"""The exact engine: the posterior of a two-parameter beta-binomial model by quadrature, without any sampling.

In :math:`(x, y) = (\mathrm{logit}\,\mu, \mathrm{logit}\,\rho)` the posterior density is analytic and decays at least
like :math:`e^{-|x|-|y|}`, so the trapezoidal rule converges geometrically [1]_. It is nested: for every y the nodes in
x span what lies within 36 nats of the maximum at that y, because with few prompts and many generations the posterior
is a funnel, ever narrower in x towards rho = 0. The number of nodes is doubled until the evidence and the first two
moments of mu and rho no longer change. Between the nodes the density is known by its cardinal (sinc) series, which
gives cumulative probabilities and quantiles to the same accuracy.

It is the oracle for NUTS, and what makes planning fast (`bayeseval.engines.refits`).

References
----------
.. [1] Trefethen & Weideman (2014). The exponentially convergent trapezoidal rule. SIAM Review 56, 385-458.
   https://doi.org/10.1137/130932132
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeseval.errors import FitError, OptionError
from bayeseval.likelihoods import SurvivalCounts, beta_binomial_loglik, survival_counts

__all__ = ["ExactPosterior", "cardinal_cdf", "exact_posterior", "exact_under", "log_sigmoid"]

EXTENT = 45.0
NATS = 36.0
NODES = (65, 129, 257, 513)
DRAW_NODES = 129
"""Nodes to begin with where draws are taken, which are linear between nodes."""
COARSE = 46
ROUNDING = 5e-16
BLOCK = 1 << 21
"""Most numbers held at once while the log density is tabulated (16 MiB of float64)."""

Prior = tuple[float, float]
LogDensity = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Spans:
    """Where the posterior lies: the span of y, and for coarse y the span of x."""

    y: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    low: float
    high: float


@dataclass(frozen=True)
class ExactPosterior:
    """Posterior of (mu, rho) on a grid of nodes with weights.

    Attributes
    ----------
    x, y : float arrays (X, Y), (Y,)
        Nodes: logit mu and logit rho, equally spaced along their first axis.
    weight : float array (X, Y)
        Posterior probability of each node; sums to 1.
    log_evidence : float
        Logarithm of the marginal likelihood, without the binomial coefficients.
    error : float
        Relative change of evidence and moments at the last doubling of the nodes.
    """

    x: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    log_evidence: float
    error: float

    @cached_property
    def mu(self) -> np.ndarray:
        """Mean of P(correct) at each node (X, Y)."""
        return np.exp(log_sigmoid(self.x))

    @cached_property
    def rho(self) -> np.ndarray:
        """Intraclass correlation at each node (1, Y)."""
        return np.exp(log_sigmoid(self.y))[None, :]

    @cached_property
    def sigma(self) -> np.ndarray:
        """Standard deviation of P(correct) over prompts at each node (X, Y)."""
        return np.exp((log_sigmoid(self.x) + log_sigmoid(-self.x)) / 2) * np.sqrt(self.rho)

    def expect(self, values: np.ndarray) -> float:
        """Posterior mean of a quantity given at the nodes (broadcasts to (X, Y))."""
        return float(np.sum(self.weight * values))

    def mean(self, name: str) -> float:
        """Posterior mean of ``mu``, ``rho`` or ``sigma``."""
        return self.expect(getattr(self, name))

    def sd(self, name: str) -> float:
        """Posterior standard deviation of ``mu``, ``rho`` or ``sigma``."""
        values = getattr(self, name)
        return float(np.sqrt(self.expect((values - self.expect(values)) ** 2)))

    def quantile(self, name: str, probs: np.ndarray) -> np.ndarray:
        """Posterior quantiles of ``mu`` or ``rho``, by inverting the cardinal series of the marginal density.

        Parameters
        ----------
        name : {"mu", "rho"}
        probs : float array (prob,)
            Cumulative probabilities, strictly between 0 and 1.

        Returns
        -------
        float array (prob,)
        """
        from scipy.optimize import brentq

        nodes = self.x if name == "mu" else self.y
        cdf = self._cdf_x if name == "mu" else self._cdf_y
        roots = [
            brentq(lambda point, prob=prob: cdf(point) - prob, nodes.min(), nodes.max(), xtol=1e-13)
            for prob in np.atleast_1d(np.asarray(probs, dtype=float))
        ]
        return np.exp(log_sigmoid(np.array(roots)))

    def _cdf_y(self, at: float) -> float:
        return float(cardinal_cdf(self.y, self.weight.sum(axis=0), np.array([at]))[0])

    def _cdf_x(self, at: float) -> float:
        columns = self.weight.sum(axis=0) > 1e-18
        nodes, weight = self.x[:, columns], self.weight[:, columns]
        return float(np.sum(weight * _cardinal((at - nodes) / (nodes[1] - nodes[0]))))

    def draws(self, size: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draws of mu and rho, spread evenly over the posterior (a shifted R2 sequence through the inverse CDFs).

        Parameters
        ----------
        size : int
            Number of draws. Their means converge about like 1/size rather than 1/sqrt(size).
        rng : numpy.random.Generator
            Shifts the sequence.

        Returns
        -------
        dict of str to float array (size,)
            ``mu``, ``not_mu`` (one minus mu without loss of digits) and ``rho``.
        """
        plastic = 1.32471795724474602596
        steps = np.arange(1, size + 1)[:, None] * np.array([1 / plastic, 1 / plastic**2]) + rng.random(2)
        first, second = np.clip(steps % 1.0, 1e-12, 1 - 1e-12).T
        y = _invert(self.y, self.weight.sum(axis=0)[:, None], first, np.zeros(size, dtype=int))
        position = np.clip((y - self.y[0]) / (self.y[1] - self.y[0]), 0, self.y.size - 1)
        column = np.where(rng.random(size) < position % 1.0, np.ceil(position), np.floor(position)).astype(int)
        x = _invert(self.x, self.weight, second, column)
        return {
            "mu": np.exp(log_sigmoid(x)),
            "not_mu": np.exp(log_sigmoid(-x)),
            "rho": np.exp(log_sigmoid(y)),
        }


def exact_posterior(
    correct: np.ndarray,
    generations: np.ndarray,
    prior_mu: Prior = (1.0, 1.0),
    prior_rho: Prior = (1.0, 1.0),
    *,
    tolerance: float = 1e-10,
    nodes: int = NODES[0],
) -> ExactPosterior:
    """Posterior of (mu, rho) given counts per prompt, by quadrature.

    Parameters
    ----------
    correct, generations : int array (prompt,)
        Counts per prompt; generations may be unequal, and zero.
    prior_mu, prior_rho : pair of float
        Parameters of the Beta priors.
    tolerance : float
        Largest relative change of the evidence and of the first two moments at the last doubling; with more than
        200,000 generations in all, 5e-16 for each of them, which is how far the log density can be rounded.
    nodes : int
        Nodes per axis to begin with.

    Returns
    -------
    ExactPosterior

    Raises
    ------
    FitError
        If 513 nodes per axis do not reach the tolerance.

    Examples
    --------
    One generation to a prompt: the posterior of mu is Beta(4, 2), that of rho stays its prior.

    >>> from bayeseval.engines.quadrature import exact_posterior
    >>> exact = exact_posterior([1, 0, 1, 1], [1, 1, 1, 1])
    >>> round(exact.mean("mu"), 10), round(exact.mean("rho"), 10)
    (0.6666666667, 0.5)
    """
    counts = _trimmed(survival_counts(correct, generations))
    _check_prior(prior_mu, "mu")
    _check_prior(prior_rho, "rho")

    def log_density(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _log_density(x, y, counts, prior_mu, prior_rho)

    # The log density of millions of generations is a sum of millions of logarithms and rounds accordingly.
    tolerance = max(tolerance, ROUNDING * float(np.sum(generations)))
    spans = _find_spans(log_density)
    previous = _on_grid(log_density, spans, nodes)
    for size in [n for n in NODES if n > nodes] or [2 * nodes - 1]:
        finer = _on_grid(log_density, spans, size)
        error = _change(previous, finer)
        if error < tolerance:
            return replace(finer, error=error)
        previous = finer
    raise FitError(
        f"the quadrature did not converge: {NODES[-1]} nodes per axis leave a relative change of {error:.1e}, "
        f"more than {tolerance:.0e}; use engine='nuts'"
    )


def exact_under(
    prior: Mapping[str, tuple[float, ...]], correct: np.ndarray, generations: np.ndarray, **options: Any
) -> ExactPosterior:
    """`exact_posterior` under the priors ``mu`` and ``rho`` of a model that declares the exact engine."""
    (mu_a, mu_b), (rho_a, rho_b) = prior["mu"], prior["rho"]
    return exact_posterior(correct, generations, (mu_a, mu_b), (rho_a, rho_b), **options)


def cardinal_cdf(nodes: np.ndarray, mass: np.ndarray, at: np.ndarray) -> np.ndarray:
    r"""Cumulative probability between the nodes of a trapezoidal rule, by the integral of the cardinal series.

    .. math:: F(t) = \sum_i w_i \left[\tfrac12 + \tfrac1\pi \mathrm{Si}\!\left(\pi\frac{t - x_i}{h}\right)\right]

    Parameters
    ----------
    nodes : float array (X,)
        Equally spaced.
    mass : float array (..., X)
        Weights of the nodes, each row summing to 1.
    at : float array (point,)
        Where to evaluate.

    Returns
    -------
    float array (..., point)
    """
    step = nodes[1] - nodes[0]
    return mass @ _cardinal((np.asarray(at)[None, :] - nodes[:, None]) / step)


def _cardinal(distance: np.ndarray) -> np.ndarray:
    """Integral of the cardinal function up to ``distance`` steps from its node."""
    from scipy.special import sici

    return 0.5 + sici(np.pi * distance)[0] / np.pi


def log_sigmoid(x: np.ndarray) -> np.ndarray:
    """Logarithm of 1 / (1 + exp(-x)) without loss of digits at either end."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))


def _log_density(
    x: np.ndarray, y: np.ndarray, counts: dict[str, np.ndarray], prior_mu: Prior, prior_rho: Prior
) -> np.ndarray:
    from scipy.special import betaln

    log_mu, log_not_mu = log_sigmoid(x), log_sigmoid(-x)
    log_rho, log_not_rho = log_sigmoid(y), log_sigmoid(-y)
    log_prior = (
        prior_mu[0] * log_mu
        + prior_mu[1] * log_not_mu
        - betaln(*prior_mu)
        + prior_rho[0] * log_rho
        + prior_rho[1] * log_not_rho
        - betaln(*prior_rho)
    )
    rows = max(1, BLOCK // (y.size * max(array.size for array in counts.values())))
    rho, not_rho = np.exp(log_rho)[None, :], np.exp(log_not_rho)[None, :]
    blocks = [
        beta_binomial_loglik(
            np, np.exp(log_mu[start : start + rows]), np.exp(log_not_mu[start : start + rows]), rho, not_rho, counts
        )
        for start in range(0, x.shape[0], rows)
    ]
    return log_prior + np.concatenate(blocks)


def _find_spans(log_density: LogDensity) -> Spans:
    """Where the posterior lies: for coarse y the span in x, by zooming in on each y apart; then the span in y.

    The span in y is widened again and again while the density at its ends is not negligible.
    """
    low, high = -EXTENT, EXTENT
    for _ in range(60):
        y = np.linspace(low, high, COARSE)
        lower, upper = _spans_of_x(log_density, y, np.full(COARSE, -EXTENT), np.full(COARSE, EXTENT))
        height = log_density(_between(lower, upper, COARSE), y).max(axis=0) + np.log(upper - lower)
        inside = np.flatnonzero(height > height.max() - NATS)
        step = y[1] - y[0]
        new = (max(y[inside[0]] - step, -EXTENT), min(y[inside[-1]] + step, EXTENT))
        if new[1] - new[0] > 0.6 * (high - low):
            return Spans(y, lower, upper, *new)
        low, high = new
    raise FitError("the quadrature found no region that holds the posterior; use engine='nuts'")


def _spans_of_x(
    log_density: LogDensity, y: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each y the ends of what lies within NATS of the maximum over x, found by zooming in from wider ends."""
    columns = np.arange(y.size)
    for _ in range(60):
        x = _between(lower, upper, COARSE)
        height = log_density(x, y)
        inside = height > height.max(axis=0) - NATS
        first, last = inside.argmax(axis=0), COARSE - 1 - inside[::-1].argmax(axis=0)
        step = x[1] - x[0]
        new_lower = np.maximum(x[first, columns] - step, -EXTENT)
        new_upper = np.minimum(x[last, columns] + step, EXTENT)
        done = (new_upper - new_lower) > 0.6 * (upper - lower)
        lower, upper = new_lower, new_upper
        if done.all():
            break
    return lower, upper


def _between(lower: np.ndarray, upper: np.ndarray, nodes: int) -> np.ndarray:
    return lower + (upper - lower) * np.linspace(0, 1, nodes)[:, None]


def _on_grid(log_density: LogDensity, spans: Spans, nodes: int) -> ExactPosterior:
    y = np.linspace(spans.low, spans.high, nodes)
    # From the coarse spans on either side, since a narrow funnel may bend between them.
    right = np.clip(np.searchsorted(spans.y, y), 1, spans.y.size - 1)
    lower, upper = (
        np.minimum(spans.lower[right - 1], spans.lower[right]),
        np.maximum(spans.upper[right - 1], spans.upper[right]),
    )
    x = _between(*_spans_of_x(log_density, y, lower, upper), nodes)
    height = log_density(x, y) + np.log(x[1] - x[0])
    weight = np.exp(height - height.max())
    total = weight.sum()
    return ExactPosterior(x, y, weight / total, float(height.max() + np.log(total * (y[1] - y[0]))), np.inf)


def _change(coarse: ExactPosterior, fine: ExactPosterior) -> float:
    changes = [abs(fine.log_evidence - coarse.log_evidence)]
    for name in ("mu", "rho"):
        values = [(grid.mean(name), grid.expect(getattr(grid, name) ** 2)) for grid in (coarse, fine)]
        changes += [abs(old - new) / new for old, new in zip(*values, strict=True)]
    return float(max(changes))


def _invert(nodes: np.ndarray, mass: np.ndarray, probs: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Inverse CDF of ``mass[:, column[s]]`` at ``probs[s]``: cumulative trapezoids, linear between the nodes."""
    columns, position = np.unique(column, return_inverse=True)
    chosen = mass[:, columns]
    cumulative = (np.cumsum(chosen, axis=0) - chosen / 2) / chosen.sum(axis=0)
    nodes = np.broadcast_to(nodes[:, None] if nodes.ndim == 1 else nodes[:, columns], chosen.shape)
    result = np.empty(probs.shape)
    order = np.argsort(position, kind="stable")
    for index, rows in enumerate(np.split(order, np.flatnonzero(np.diff(position[order])) + 1)):
        result[rows] = np.interp(probs[rows], cumulative[:, index], nodes[:, index])
    return result


def _trimmed(counts: SurvivalCounts) -> dict[str, np.ndarray]:
    """The arrays of survival counts without their padding."""
    arrays = {}
    for family in SurvivalCounts.FAMILIES:
        head, weight = counts.arrays[f"{family}_head"], counts.arrays[f"{family}_weight"]
        used = slice(max(1, np.count_nonzero(head)))
        arrays[f"{family}_head"] = head[used]
        arrays[f"{family}_step"] = counts.arrays[f"{family}_step"][used]
        for part in ("start", "stop", "weight"):
            arrays[f"{family}_{part}"] = counts.arrays[f"{family}_{part}"][weight > 0]
    return arrays


def _check_prior(prior: Prior, name: str) -> None:
    values = np.asarray(prior, dtype=float)
    if values.shape != (2,) or not np.isfinite(values).all() or (values <= 0).any():
        raise OptionError(f"the prior of {name} must be two positive numbers (a, b) of a Beta, but {prior!r} was given")
