r"""The exact engine: the posterior of a two-parameter beta-binomial model by quadrature, without any sampling.

In :math:`(x, y) = (\mathrm{logit}\,\mu, \mathrm{logit}\,\rho)` the posterior density is analytic and decays at least
like :math:`e^{-|x|-|y|}`, so the trapezoidal rule on a rectangle converges geometrically [1]_. The rectangle is found
by zooming in on the nodes within 36 nats of the maximum; the number of nodes is doubled until the evidence and the
first two moments of mu and rho no longer change. Between the nodes the density is known by its cardinal (sinc) series,
which gives cumulative probabilities and quantiles to the same accuracy.

It is the oracle for NUTS, and what makes planning fast (`bayeseval.refits`).

References
----------
.. [1] Trefethen & Weideman (2014). The exponentially convergent trapezoidal rule. SIAM Review 56, 385-458.
   https://doi.org/10.1137/130932132
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayeseval.errors import FitError, OptionError
from bayeseval.likelihoods import SurvivalCounts, beta_binomial_loglik, survival_counts

__all__ = ["ExactPosterior", "cardinal_cdf", "exact_posterior", "log_sigmoid"]

EXTENT = 45.0
NATS = 36.0
NODES = (65, 129, 257, 513)
ROUNDING = 5e-16
BLOCK = 1 << 21
"""Most numbers held at once while the log density is tabulated (16 MiB of float64)."""

Prior = tuple[float, float]
Box = tuple[float, float, float, float]
LogDensity = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ExactPosterior:
    """Posterior of (mu, rho) on a grid of nodes with weights.

    Attributes
    ----------
    x, y : float arrays (X,), (Y,)
        Nodes: logit mu and logit rho, equally spaced.
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
        """Mean of P(correct) at each node (X, 1)."""
        return np.exp(log_sigmoid(self.x))[:, None]

    @cached_property
    def rho(self) -> np.ndarray:
        """Intraclass correlation at each node (1, Y)."""
        return np.exp(log_sigmoid(self.y))[None, :]

    @cached_property
    def sigma(self) -> np.ndarray:
        """Standard deviation of P(correct) over prompts at each node (X, Y)."""
        return np.exp((log_sigmoid(self.x) + log_sigmoid(-self.x)) / 2)[:, None] * np.sqrt(self.rho)

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
        nodes, axis = (self.x, 1) if name == "mu" else (self.y, 0)
        mass = self.weight.sum(axis=axis)
        probs = np.atleast_1d(np.asarray(probs, dtype=float))
        lower = np.full(probs.shape, nodes[0])
        upper = np.full(probs.shape, nodes[-1])
        for _ in range(60):
            middle = (lower + upper) / 2
            below = cardinal_cdf(nodes, mass, middle) < probs
            lower, upper = np.where(below, middle, lower), np.where(below, upper, middle)
        return np.exp(log_sigmoid((lower + upper) / 2))

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
        x = _invert(self.x, self.weight.sum(axis=1)[None, :], first, np.zeros(size, dtype=int))
        position = np.clip((x - self.x[0]) / (self.x[1] - self.x[0]), 0, self.x.size - 1)
        row = np.where(rng.random(size) < position % 1.0, np.ceil(position), np.floor(position)).astype(int)
        y = _invert(self.y, self.weight, second, row)
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

    >>> from bayeseval.quadrature import exact_posterior
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
    box = _zoom(log_density)
    previous = _on_grid(log_density, box, nodes)
    for size in [n for n in NODES if n > nodes] or [2 * nodes - 1]:
        finer = _on_grid(log_density, box, size)
        error = _change(previous, finer)
        if error < tolerance:
            return replace(finer, error=error)
        previous = finer
    raise FitError(
        f"the quadrature did not converge: {NODES[-1]} nodes per axis leave a relative change of {error:.1e}, "
        f"more than {tolerance:.0e}; use engine='nuts'"
    )


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
    from scipy.special import sici

    step = nodes[1] - nodes[0]
    kernel = 0.5 + sici(np.pi * (np.asarray(at)[None, :] - nodes[:, None]) / step)[0] / np.pi
    return mass @ kernel


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
        (prior_mu[0] * log_mu + prior_mu[1] * log_not_mu - betaln(*prior_mu))[:, None]
        + (prior_rho[0] * log_rho + prior_rho[1] * log_not_rho - betaln(*prior_rho))[None, :]
    )
    width = y.size * max(array.size for array in counts.values())
    rows = max(1, BLOCK // width)
    blocks = [
        beta_binomial_loglik(
            np,
            np.exp(log_mu[start : start + rows, None]),
            np.exp(log_not_mu[start : start + rows, None]),
            np.exp(log_rho[None, :]),
            np.exp(log_not_rho[None, :]),
            counts,
        )
        for start in range(0, x.size, rows)
    ]
    return log_prior + np.concatenate(blocks)


def _zoom(log_density: LogDensity) -> Box:
    """Rectangle that holds everything within NATS of the maximum: zoom in on it, then widen what was cut too close.

    The first looks are coarse and may miss the ridge along which the posterior reaches far.
    """
    box: Box = (-EXTENT, EXTENT, -EXTENT, EXTENT)
    for _ in range(60):
        x, y = np.linspace(*box[:2], 46), np.linspace(*box[2:], 46)
        height = log_density(x, y)
        inside = height > height.max() - NATS
        columns, rows = inside.any(axis=1), inside.any(axis=0)
        new = (*_extent(x, columns), *_extent(y, rows))
        small = (new[1] - new[0]) <= 0.6 * (box[1] - box[0]) or (new[3] - new[2]) <= 0.6 * (box[3] - box[2])
        cut = [
            edge and abs(end) < EXTENT
            for edge, end in zip((columns[0], columns[-1], rows[0], rows[-1]), box, strict=True)
        ]
        if not small and not any(cut):
            return new
        width, height_ = new[1] - new[0], new[3] - new[2]
        box = (
            max(-EXTENT, new[0] - 0.5 * width * cut[0]),
            min(EXTENT, new[1] + 0.5 * width * cut[1]),
            max(-EXTENT, new[2] - 0.5 * height_ * cut[2]),
            min(EXTENT, new[3] + 0.5 * height_ * cut[3]),
        )
    raise FitError("the quadrature found no region that holds the posterior; use engine='nuts'")


def _extent(nodes: np.ndarray, inside: np.ndarray) -> tuple[float, float]:
    index = np.flatnonzero(inside)
    step = nodes[1] - nodes[0]
    return max(nodes[index[0]] - step, -EXTENT), min(nodes[index[-1]] + step, EXTENT)


def _on_grid(log_density: LogDensity, box: Box, nodes: int) -> ExactPosterior:
    x, y = np.linspace(*box[:2], nodes), np.linspace(*box[2:], nodes)
    height = log_density(x, y)
    weight = np.exp(height - height.max())
    total = weight.sum()
    cell = (x[1] - x[0]) * (y[1] - y[0])
    return ExactPosterior(x, y, weight / total, float(height.max() + np.log(total * cell)), np.inf)


def _change(coarse: ExactPosterior, fine: ExactPosterior) -> float:
    changes = [abs(fine.log_evidence - coarse.log_evidence)]
    for name in ("mu", "rho"):
        values = [(grid.mean(name), grid.expect(getattr(grid, name) ** 2)) for grid in (coarse, fine)]
        changes += [abs(old - new) / new for old, new in zip(*values, strict=True)]
    return float(max(changes))


def _invert(nodes: np.ndarray, mass: np.ndarray, probs: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Inverse CDF of row ``row[s]`` of ``mass`` at ``probs[s]``: cumulative trapezoids, linear between the nodes."""
    rows, position = np.unique(row, return_inverse=True)
    cumulative = np.cumsum(mass[rows], axis=1) - mass[rows] / 2
    cumulative /= mass[rows].sum(axis=1, keepdims=True)
    result = np.empty(probs.shape)
    for index in range(rows.size):
        chosen = position == index
        result[chosen] = np.interp(probs[chosen], cumulative[index], nodes)
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
