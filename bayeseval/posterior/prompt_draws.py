r"""Scores of the benchmark's own prompts, from draws of P(correct) of every prompt, a block of draws at a time.

For each posterior draw every prompt gets one draw of :math:`p_i` given its counts. Averaged over prompts they give the
benchmark estimand; averaged with the weights of a Bayesian bootstrap [1]_ over prompts they give the robust answer for
the population: the fitted model is trusted for each prompt, but not for the shape of the population.

References
----------
.. [1] Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134. https://doi.org/10.1214/aos/1176345338
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from bayeseval.metrics import Metric
from bayeseval.model_data import keyed_cells, unique_cells
from bayeseval.prompts import PromptDistribution

__all__ = [
    "BLOCK",
    "benchmark_scores",
    "bootstrap_scores",
    "evaluator",
    "in_threads",
    "prompt_summaries",
    "unbiased_mean",
]

T = TypeVar("T")

BLOCK = 1 << 20
"""Draws of P(correct) held at once by one thread (8 MiB)."""
TABLE = 1 << 14
TABLE_LIMIT = 4096
"""Up to this k, G-Pass@k is read from a table of 2^14 + 1 values of p; linear interpolation errs by < k 2^-31."""


def benchmark_scores(
    distribution: PromptDistribution,
    correct: np.ndarray,
    generations: np.ndarray,
    metrics: Sequence[Metric],
    stream: Sequence[int],
    key: np.ndarray | None = None,
) -> dict[Metric, tuple[np.ndarray, np.ndarray]]:
    """Draws of scores of these prompts, and of the robust population scores.

    Parameters
    ----------
    distribution : PromptDistribution
        Of all posterior draws.
    correct, generations : int array (prompt,)
    metrics : sequence of Metric
        All are computed from the same draws of P(correct).
    stream : sequence of int
        Seed of the random numbers. The result does not depend on the number of threads.
    key : int array (prompt,), optional
        What tells prompts apart besides their counts, where the distribution asks for it. Where it numbers clusters,
        whole clusters are bootstrapped.

    Returns
    -------
    dict of Metric to (float array (draw,), float array (draw,))
        Benchmark and robust population scores. Prompts without generations count for the benchmark alone.
    """
    cell_correct, cell_generations, cell_key, cell = keyed_cells(correct, generations, key)
    functions = [evaluator(metric) for metric in metrics]
    answered = np.asarray(generations) > 0
    clusters = key if distribution.keyed_by == "cluster" else None
    step = max(1, BLOCK // max(cell.size, 1))
    starts = range(0, distribution.n_draws, step)

    def work(start: int) -> list[tuple[np.ndarray, np.ndarray]]:
        rng = np.random.default_rng([*stream, start])
        part = distribution.take(slice(start, start + step))
        p = part.condition(cell_correct, cell_generations, cell_key).draw(rng, cell)
        if clusters is None:
            weights = rng.standard_exponential(p.shape)
        else:
            weights = rng.standard_exponential((p.shape[0], int(clusters.max()) + 1))[:, clusters]
        weights *= answered
        total = weights.sum(axis=1)
        results = []
        for function in functions:
            values = function(p)
            with np.errstate(invalid="ignore"):
                robust = np.clip(np.einsum("sn,sn->s", values, weights) / total, 0.0, 1.0)
            results.append((values.mean(axis=1), robust))
        return results

    parts = in_threads(work, starts)
    return {
        metric: (
            np.concatenate([part[index][0] for part in parts]),
            np.concatenate([part[index][1] for part in parts]),
        )
        for index, metric in enumerate(metrics)
    }


def bootstrap_scores(
    correct: np.ndarray, generations: np.ndarray, metric: Metric, draws: int, stream: Sequence[int]
) -> np.ndarray:
    """Bayesian bootstrap over prompts of the unbiased estimates of a metric: no model of P(correct) at all.

    Parameters
    ----------
    correct, generations : int array (prompt,)
        Every prompt needs at least metric.k generations.
    metric : Metric
    draws : int
    stream : sequence of int
        Seed of the random numbers.

    Returns
    -------
    float array (draw,)
    """
    cell_correct, cell_generations, prompts, _ = unique_cells(correct, generations)
    estimates = metric.estimate(cell_correct, cell_generations)
    weights = np.random.default_rng([*stream, metric.k]).standard_gamma(prompts, (draws, prompts.size))
    return weights @ estimates / weights.sum(axis=1)


def unbiased_mean(correct: np.ndarray, generations: np.ndarray, draws: int, stream: Sequence[int]) -> np.ndarray | None:
    r"""Draws of the benchmark mean without a model of P(correct): the unbiased mean with the noise of its generations.

    .. math:: N\left(\frac1n\sum \hat p_i,\ \frac1{n^2}\sum v_i/k_i\right), \quad
        v_i = \hat p_i(1-\hat p_i)\,k_i/(k_i-1), \text{ cut off at 0 and 1.}

    Parameters
    ----------
    correct, generations : int array (prompt,)
    draws : int
    stream : sequence of int
        Seed of the random numbers.

    Returns
    -------
    float array (draw,) or None
        None where the normal law is no good guide: prompts with fewer than two generations, or fewer than ten prompts
        with both correct and wrong ones.
    """
    if generations.min() < 2 or np.sum((correct > 0) & (correct < generations)) < 10:
        return None
    share = correct / generations
    error = np.sqrt((share * (1 - share) / (generations - 1)).sum()) / share.size
    rng = np.random.default_rng([*stream, 4])
    order = (rng.permutation(draws) + rng.random()) / draws
    from scipy.special import ndtri

    return np.clip(share.mean() + error * ndtri(order), 0.0, 1.0)


def prompt_summaries(
    distribution: PromptDistribution,
    correct: np.ndarray,
    generations: np.ndarray,
    prob: float,
    stream: Sequence[int],
    key: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posterior mean and interval of P(correct) of every prompt.

    The mean is exact given the draws of the hyper-parameters; the interval takes one draw of P(correct) for each.

    Parameters
    ----------
    distribution : PromptDistribution
    correct, generations : int array (prompt,)
    prob : float
    stream : sequence of int
        Seed of the random numbers.
    key : int array (prompt,), optional

    Returns
    -------
    mean, lower, upper : float arrays (prompt,)
    """
    cell_correct, cell_generations, cell_key, cell = keyed_cells(correct, generations, key)
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    step = max(1, BLOCK // distribution.n_draws)

    def work(start: int) -> np.ndarray:
        rng = np.random.default_rng([*stream, start])
        part = slice(start, start + step)
        posterior = distribution.condition(
            cell_correct[part], cell_generations[part], None if cell_key is None else cell_key[part]
        )
        p = posterior.draw(rng, np.arange(cell_correct[part].size))
        return np.vstack([posterior.mean().mean(axis=0), np.quantile(p, tails, axis=0)])

    summaries = np.concatenate(in_threads(work, range(0, cell_correct.size, step)), axis=1)
    mean, lower, upper = summaries[:, cell]
    return mean, lower, upper


def evaluator(metric: Metric) -> Callable[[np.ndarray], np.ndarray]:
    """The score as a function of an array of P(correct); a table where that is much faster."""
    if metric.kind == "mean":
        return lambda p: p
    if metric.kind in ("g_pass", "mg_pass") and metric.k <= TABLE_LIMIT:
        return _tabulated(metric)
    return metric.given_p


def _tabulated(metric: Metric) -> Callable[[np.ndarray], np.ndarray]:
    table = metric.given_p(np.linspace(0, 1, TABLE + 1))
    slope = np.append(np.diff(table), 0.0)

    def evaluate(p: np.ndarray) -> np.ndarray:
        position = p * TABLE
        index = position.astype(np.int32)
        position -= index
        position *= slope[index]
        position += table[index]
        return position

    return evaluate


def in_threads(work: Callable[[int], T], starts: Sequence[int]) -> list[T]:
    """Results of ``work`` at every start, in order; NumPy draws and sums without holding the interpreter."""
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(work, starts))
