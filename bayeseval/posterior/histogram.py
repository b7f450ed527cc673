r"""Posterior predictive check of the counts: whether the model would produce such a histogram.

Where few distinct numbers of generations occur the histogram of correct counts is compared with the model's (deviance
as realised discrepancy [1]_); else :math:`F(p_i)`, with :math:`p_i` drawn from its posterior, with the uniform
distribution [2]_.

References
----------
.. [1] Gelman, Meng & Stern (1996). Posterior predictive assessment of model fitness via realized discrepancies.
   Statistica Sinica 6, 733-807.
.. [2] Yuan & Johnson (2012). Goodness-of-fit diagnostics for Bayesian hierarchical models. Biometrics 68, 156-164.
   https://doi.org/10.1111/j.1541-0420.2011.01668.x
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.model_data import keyed_cells
from bayeseval.prompts import blocks

if TYPE_CHECKING:
    from bayeseval.prompts import PromptDistribution

__all__ = ["PREDICTIVE_DRAWS", "HistogramCheck", "deviance", "histogram_check"]

PREDICTIVE_DRAWS = 400
HISTOGRAM_CELLS = 64


@dataclass(frozen=True)
class HistogramCheck:
    """Posterior predictive check of the counts.

    Attributes
    ----------
    kind : {"histogram", "latent"}
        What was compared: the histogram of correct counts, or the latent probabilities.
    label : tuple of str
        Bins.
    observed : float array (bin,)
        Prompts in each bin (for ``"latent"`` the mean over draws).
    expected, lower, upper : float arrays (bin,)
        Posterior predictive mean and 95% band.
    p : float
        Posterior predictive probability of a discrepancy at least as large as the one seen.
    """

    kind: str
    label: tuple[str, ...]
    observed: np.ndarray
    expected: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    p: float

    @property
    def p_text(self) -> str:
        """The probability in words; 0 of some hundred simulations is not 0."""
        least = 1 / PREDICTIVE_DRAWS
        return f"p < {least:g}" if self.p < least else f"p = {self.p:.2g}"


def histogram_check(
    distribution: PromptDistribution,
    correct: np.ndarray,
    generations: np.ndarray,
    rng: np.random.Generator,
    key: np.ndarray | None = None,
) -> HistogramCheck:
    """Compare the counts with what the model would produce, draw by draw.

    Parameters
    ----------
    distribution : PromptDistribution
        Of the draws to use (draw,).
    correct, generations : int array (prompt,)
        Prompts without generations are left out.
    rng : numpy.random.Generator
    key : int array (prompt,), optional
        What tells prompts apart besides their counts, where the distribution asks for it.

    Returns
    -------
    HistogramCheck
    """
    answered = np.asarray(generations) > 0
    correct, generations = np.asarray(correct)[answered], np.asarray(generations)[answered]
    key = None if key is None else key[answered]
    sizes, prompts = np.unique(generations, return_counts=True)
    if sizes.size and (sizes + 1).sum() <= HISTOGRAM_CELLS:
        return _check_counts(distribution, correct, generations, sizes, prompts, rng, key)
    return _check_latent(distribution, correct, generations, rng, key)


def _check_counts(
    distribution: PromptDistribution,
    correct: np.ndarray,
    generations: np.ndarray,
    sizes: np.ndarray,
    prompts: np.ndarray,
    rng: np.random.Generator,
    key: np.ndarray | None,
) -> HistogramCheck:
    parts = []
    for size, number in zip(sizes, prompts, strict=True):
        share = _shares(distribution, int(size), None if key is None else key[generations == size])
        share /= share.sum(axis=1, keepdims=True)
        observed = np.bincount(correct[generations == size], minlength=size + 1)
        parts.append((observed, share * number, rng.multinomial(number, share), size))
    observed = np.concatenate([part[0] for part in parts]).astype(float)
    expected, replicated = (np.concatenate([part[i] for part in parts], axis=1) for i in (1, 2))
    label = tuple(f"{c}/{size}" for *_, size in parts for c in range(size + 1))
    p = np.mean(deviance(replicated, expected) >= deviance(observed, expected))
    lower, upper = np.quantile(replicated, [0.025, 0.975], axis=0)
    return HistogramCheck("histogram", label, observed, expected.mean(axis=0), lower, upper, float(p))


def _shares(distribution: PromptDistribution, size: int, key: np.ndarray | None) -> np.ndarray:
    """Probability of 0, 1, .. correct generations of ``size`` (draw, size + 1): of prompts in the groups at hand."""
    cells, sizes = np.arange(size + 1), np.full(size + 1, size)
    if key is None or distribution.keyed_by == "prompt":
        return np.exp(distribution.logpmf(cells, sizes))
    total = np.zeros((distribution.n_draws, size + 1))
    for group, prompts in zip(*np.unique(key, return_counts=True), strict=True):
        total += prompts * np.exp(distribution.logpmf(cells, sizes, np.full(size + 1, group)))
    return total / key.size


def _check_latent(
    distribution: PromptDistribution,
    correct: np.ndarray,
    generations: np.ndarray,
    rng: np.random.Generator,
    key: np.ndarray | None,
) -> HistogramCheck:
    bins = int(np.clip(correct.size // 10, 4, 20))
    cell_correct, cell_generations, cell_key, cell = keyed_cells(correct, generations, key)
    edges = np.linspace(0, 1, bins + 1)
    observed = np.empty((distribution.n_draws, bins))
    for block in blocks(distribution.n_draws, cell.size):
        part = distribution.take(block)
        p = part.condition(cell_correct, cell_generations, cell_key).draw(rng, cell)
        position = np.clip((part.cdf(p, rng) * bins).astype(int), 0, bins - 1)
        for index in range(bins):
            observed[block, index] = (position == index).sum(axis=1)
    share = np.full(bins, 1 / bins)
    replicated = rng.multinomial(correct.size, share, size=distribution.n_draws)
    expected = np.full((1, bins), correct.size / bins)
    tail = np.mean(deviance(replicated, expected) >= deviance(observed, expected))
    lower, upper = np.quantile(replicated, [0.025, 0.975], axis=0)
    label = tuple(f"{low:.2f}-{high:.2f}" for low, high in zip(edges[:-1], edges[1:], strict=True))
    return HistogramCheck("latent", label, observed.mean(axis=0), expected[0], lower, upper, float(tail))


def deviance(counts: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Deviance of counts (..., bin) from expected ones of the same total."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(counts / expected), 0.0)
    return 2 * terms.sum(axis=-1)
