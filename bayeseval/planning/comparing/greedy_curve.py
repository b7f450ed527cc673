r"""P(greedy correct) given P(correct): a logistic curve on logit p, whose p is known from counts only.

.. math:: P(g_i = 1 \mid p_i) = \mathrm{logistic}(a + b\,\mathrm{logit}\,p_i)

Putting shares in the place of :math:`p_i` would flatten the curve, as noise in a regressor does. Given
:math:`p_i`, greedy success and counts are independent, so that :math:`P(g_i = 1 \mid c_i)` is the average of the curve
over :math:`p_i \mid c_i`. That likelihood is maximised for several distributions of P(correct), bootstrapped or drawn
from a posterior, and what they disagree about widens the interval (Rubin's rules).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayeseval.arrays import Floats
from bayeseval.planning.comparing.moments import bootstrap_moments
from bayeseval.posterior.posterior import Posterior

__all__ = ["GreedyCurve", "fit_curve", "greedy_curve"]

NODES = 100
SHAPES = 16
"""Distributions of P(correct) that the curve is averaged over."""
PRIOR_SD = 5.0
EDGE = 1e-6


@dataclass(frozen=True, eq=False)
class GreedyCurve:
    """Logistic curve of greedy success on logit P(correct).

    Attributes
    ----------
    intercept, slope : float
        Slope 1 and intercept 0: greedy decoding is as good as one sampled generation on every prompt. A steep slope:
        greedy decoding gives the answer that sampling gives most often.
    covariance : float array (2, 2)
    """

    intercept: float
    slope: float
    covariance: np.ndarray

    def at(self, p: Floats, prob: float) -> tuple[Floats, Floats, Floats]:
        """Value and interval of P(greedy correct) at each p (p,), normal on the logit scale."""
        from scipy.special import expit, logit, ndtri

        x = logit(np.clip(np.asarray(p, dtype=float), EDGE, 1 - EDGE))
        line = self.intercept + self.slope * x
        error = np.sqrt(self.covariance[0, 0] + 2 * x * self.covariance[0, 1] + x * x * self.covariance[1, 1])
        reach = ndtri((1 + prob) / 2) * error
        return expit(line), expit(line - reach), expit(line + reach)

    def sentence(self, prob: float) -> str:
        """What the curve says."""
        values = [tuple(float(part[0]) for part in self.at(np.array([p]), prob)) for p in (0.25, 0.5, 0.75)]
        words = [f"{value:.2f} [{low:.2f}, {high:.2f}]" for value, low, high in values]
        return f"P(greedy correct) is {words[0]} at p = 0.25, {words[1]} at p = 0.5, {words[2]} at p = 0.75."


def greedy_curve(
    bits: np.ndarray,
    correct: np.ndarray,
    generations: np.ndarray,
    posterior: Posterior | None,
    rows: np.ndarray | None,
) -> tuple[GreedyCurve | None, tuple[str, ...]]:
    """Fit the curve; P(correct) given counts comes from the posterior, or from a Beta with the moments of the counts.

    Parameters
    ----------
    bits : bool array (prompt,)
    correct, generations : int array (prompt,)
    posterior : Posterior or None
    rows : int array (prompt,) or None
        Rows of the prompts in the posterior's counts.

    Returns
    -------
    curve : GreedyCurve or None
    warnings : tuple of str
    """
    note: tuple[str, ...] = ()
    if generations.max() == 1:
        if posterior is None:
            return None, ("one sampled generation a prompt does not tell P(correct) of prompts: no curve is fitted",)
        note = ("one sampled generation a prompt: the curve leans on the prior of P(correct)",)
    if posterior is None:
        nodes = _beta_nodes(correct, generations)
    else:
        assert rows is not None
        nodes = _posterior_nodes(posterior, correct, generations, rows)
    fits: list[GreedyCurve] = []
    for p, cell in nodes:
        fits.append(fit_curve(bits, p, cell, fits[-1] if fits else None))
    modes = np.array([[fit.intercept, fit.slope] for fit in fits])
    covariance = np.mean([fit.covariance for fit in fits], axis=0) + (1 + 1 / len(fits)) * np.cov(modes.T)
    intercept, slope = modes.mean(axis=0)
    return GreedyCurve(float(intercept), float(slope), covariance), note


def fit_curve(bits: np.ndarray, p: Floats, cell: np.ndarray, start: GreedyCurve | None = None) -> GreedyCurve:
    r"""Maximise the likelihood of bits, the curve averaged over values of P(correct).

    Parameters
    ----------
    bits : bool array (prompt,)
    p : float array (node, cell)
        Equally weighted values of P(correct) given the counts of each cell.
    cell : int array (prompt,)
    start : GreedyCurve, optional
        Where the search begins.

    Returns
    -------
    GreedyCurve
        Mode and inverse curvature under independent N(0, 5²) priors on intercept and slope, which keep them finite
        where greedy success can be told from the counts without error.

    Examples
    --------
    >>> curve = fit_curve(np.array([0, 1, 0, 1] * 50) > 0, np.array([[0.3, 0.7]]), np.array([0, 0, 1, 1] * 50))
    >>> round(abs(curve.slope), 3)
    0.0
    """
    from scipy.optimize import minimize
    from scipy.special import expit, logit

    x = logit(np.clip(p, EDGE, 1 - EDGE))
    cells = p.shape[1]
    right = np.bincount(cell, weights=bits.astype(float), minlength=cells)
    wrong = np.bincount(cell, weights=1.0 - bits, minlength=cells)

    def negative(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        value = expit(parameters[0] + parameters[1] * x)
        hit = np.clip(value.mean(axis=0), 1e-300, None)
        miss = np.clip((1 - value).mean(axis=0), 1e-300, None)
        slope = value * (1 - value)
        weight = right / hit - wrong / miss
        gradient = np.array([weight @ slope.mean(axis=0), weight @ (slope * x).mean(axis=0)])
        penalty = (parameters**2).sum() / (2 * PRIOR_SD**2)
        return float(penalty - right @ np.log(hit) - wrong @ np.log(miss)), parameters / PRIOR_SD**2 - gradient

    first = np.array([0.0, 1.0] if start is None else [start.intercept, start.slope])
    found = minimize(negative, first, jac=True, method="BFGS", options={"gtol": 1e-6}).x
    step = 1e-4
    curvature = np.array(
        [(negative(found + step * unit)[1] - negative(found - step * unit)[1]) / (2 * step) for unit in np.eye(2)]
    )
    covariance = np.linalg.inv((curvature + curvature.T) / 2)
    return GreedyCurve(float(found[0]), float(found[1]), covariance)


def _cells(correct: np.ndarray, generations: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pairs, cell = np.unique(np.stack([correct, generations], axis=1), axis=0, return_inverse=True)
    return pairs[:, 0], pairs[:, 1], cell.reshape(-1)


def _beta_nodes(correct: np.ndarray, generations: np.ndarray) -> Iterator[tuple[Floats, np.ndarray]]:
    """P(correct) given the counts of each cell, for several Betas whose moments are bootstrap draws."""
    from scipy.special import betaincinv

    rng = np.random.default_rng(11)
    moments = bootstrap_moments(correct[None], generations[None], rng, SHAPES)
    edge = 0.5 / correct.size
    mean = np.clip(moments.mean[:, 0], edge, 1 - edge)
    total = moments.between[:, 0, 0] + moments.within[:, 0]
    share = np.divide(moments.between[:, 0, 0], total, out=np.full(SHAPES, 0.5), where=total > 0)
    rho = np.clip(share, 1e-3, 1 - 1e-3)
    c, k, cell = _cells(correct, generations)
    level = ((np.arange(NODES) + 0.5) / NODES)[:, None]
    for m, size in zip(mean, (1 - rho) / rho, strict=True):
        yield betaincinv(m * size + c, (1 - m) * size + k - c, level), cell


def _posterior_nodes(
    posterior: Posterior, correct: np.ndarray, generations: np.ndarray, rows: np.ndarray
) -> Iterator[tuple[Floats, np.ndarray]]:
    """P(correct) given the counts of each cell, for several draws of the posterior."""
    rng = np.random.default_rng([posterior.seed, 10])
    key = posterior.key
    if key is None:
        c, k, cell = _cells(correct, generations)
    else:
        c, k, cell = correct, generations, np.arange(correct.size)
    for draw in rng.choice(posterior.n_draws, SHAPES):
        distribution = posterior.distribution.take(np.full(NODES, draw))
        given = distribution.condition(c, k, None if key is None else key[rows])
        yield given.draw(rng, np.arange(c.size)), cell
