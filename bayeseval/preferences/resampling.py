r"""The Bayesian bootstrap over clusters: what comparisons that depend on each other say.

Comparisons that share a prompt are no independent evidence: a prompt that suits a system wins it many of them at once.
Each draw gives every cluster a weight, Exp(1) and divided by their sum [1]_, and takes what the weighted comparisons
say. For strengths that is the highest weighted posterior density, with the centre of the prior drawn from the prior
itself [2]_: where comparisons abound this is the bootstrap, where there are few it returns the prior. A system that won
or lost everything is the exception: weights cannot make it lose, so that its intervals are too narrow, which is told.

References
----------
.. [1] Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134. https://doi.org/10.1214/aos/1176345338
.. [2] Newton & Raftery (1994). Approximate Bayesian inference with the weighted likelihood bootstrap. Journal of the
   Royal Statistical Society B 56, 3-48. The centre of the prior is drawn as by Pompe (2021), Introducing prior
   information in weighted likelihood bootstrap. https://arxiv.org/abs/2103.14445
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeseval.preferences.davidson import Tallies, mode
from bayeseval.progress import Progress

__all__ = ["by_pair", "resampled_strengths", "weighted_counts"]

Floats = NDArray[np.float64]

TOGETHER = 1 << 24
"""Numbers held at once while clusters are weighted."""


def by_pair(pair: NDArray[np.int64], counts: Floats) -> Floats:
    """Counts (pair, outcome) over all clusters."""
    size = int(pair.max()) + 1
    return np.stack([np.bincount(pair, column, size) for column in counts.T], axis=1).astype(float)


def weighted_counts(
    pair: NDArray[np.int64], cluster: NDArray[np.int64] | None, counts: Floats, draws: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Counts of every pair under weights of clusters.

    Parameters
    ----------
    pair, cluster : int array (cell,)
        Pair and cluster of each cell; None where every comparison is a cluster by itself.
    counts : float array (cell, outcome)
    draws : int
    rng : numpy.random.Generator

    Yields
    ------
    float array (draw, pair, outcome)
        Some of the draws, until there are all. The weights of all clusters sum to their number.
    """
    pairs, outcomes = int(pair.max()) + 1, counts.shape[1]
    if cluster is None:
        whole = by_pair(pair, counts)
        size = max(1, TOGETHER // whole.size)
        for first in range(0, draws, size):
            # The weights of n comparisons that end alike sum to a Gamma(n) variable.
            drawn = rng.standard_gamma(whole, (min(size, draws - first), *whole.shape))
            yield drawn * (whole.sum() / drawn.sum(axis=(1, 2), keepdims=True))
        return
    from scipy.sparse import csr_matrix

    clusters = int(cluster.max()) + 1
    cell, outcome = np.nonzero(counts)
    place = (pair[cell] * outcomes + outcome, cluster[cell])
    table = csr_matrix((counts[cell, outcome], place), shape=(pairs * outcomes, clusters))
    size = max(1, TOGETHER // max(clusters, pairs * outcomes))
    for first in range(0, draws, size):
        weight = rng.standard_exponential((min(size, draws - first), clusters))
        weight *= clusters / weight.sum(axis=1, keepdims=True)
        yield np.asarray(table @ weight.T).T.reshape(-1, pairs, outcomes)


def resampled_strengths(
    pairs: NDArray[np.int64],
    pair: NDArray[np.int64],
    cluster: NDArray[np.int64],
    counts: Floats,
    size: int,
    how: str,
    scales: tuple[Floats, Floats, Any],
    draws: int,
    seed: int,
    progress: bool,
) -> tuple[Floats, Floats | None, Floats]:
    """Draws of log strengths, of Davidson's parameter, and of the prior scale, by the bootstrap over clusters.

    Parameters
    ----------
    pairs : int array (pair, 2)
        Numbers of the systems.
    pair, cluster : int array (cell,)
    counts : float array (cell, 3)
        Wins of the first system, of the second, and ties.
    size : int
        Number of systems.
    how : {"davidson", "half", "ignore"}
        What becomes of ties.
    scales : tuple
        Prior scales, their probabilities given the data, and modes there.
    draws : int
    seed : int
    progress : bool

    Returns
    -------
    strength : float array (draw, system)
    nu : float array (draw,) or None
    scale : float array (draw,)
    """
    rng = np.random.default_rng([seed, 22])
    values, weight, modes = scales
    chosen = rng.choice(values.size, draws, p=weight)
    strength, tie = np.empty((draws, size)), np.empty(draws)
    done = 0
    with Progress("resampling clusters", total=draws, enabled=progress) as bar:
        for batch in weighted_counts(pair, cluster, counts, draws, rng):
            for one in batch:
                scale = float(values[chosen[done]])
                found = mode(
                    Tallies.of_pairs(pairs, one, size, how), scale, centre=scale * rng.standard_normal(size),
                    tie_centre=float(rng.logistic()), start=modes[chosen[done]], close=1e-6,
                )  # fmt: skip
                strength[done], tie[done] = found.strength, found.tie
                done += 1
                bar.advance()
    return strength, 2 * np.exp(tie) if how == "davidson" else None, values[chosen]
