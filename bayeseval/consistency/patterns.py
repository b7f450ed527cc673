r"""Posterior of P(correct) and of entropy together, for every system and prompt.

A Dirichlet process over answers: after counts :math:`n_1, \ldots, n_C` the probabilities of the clusters are
:math:`\mathrm{Dir}(n_1, \ldots, n_C, \gamma)`, where the last part is shared out among answers not seen yet by breaking
sticks. P(correct) is the probability of the right clusters. A gold answer that was never given is the first of the
unseen ones: of those the one that somebody holds to be right is the likeliest to come.

Prompts with the same counts have the same posterior, which is drawn once, from random numbers of its own: results do
not depend on the order of generations or prompts, or on what else is in the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeseval.arrays import Floats, Integers
from bayeseval.consistency.answered import Answered
from bayeseval.consistency.entropy import (
    consistency,
    entropy_process,
    held_out_modal_share,
    normalised_consistency,
)

__all__ = [
    "COLUMNS", "LEAST_CONSISTENT", "MOST_CORRECT", "Pattern", "cluster_draws", "stick_draws", "summaries",
]  # fmt: skip

DRAWS = 4000
MOST_CORRECT, LEAST_CONSISTENT = 0.1, -0.8
"""The published rule flags prompts with at most this share of correct answers and at least this consistency."""
LEAD = 0.5
"""A wrong answer is dominant whose probability is larger than that of the right one by more than this."""
UNBROKEN = 1e-6
COLUMNS = (
    "mean", "lower", "upper", "consistency", "normalised", "entropy", "entropy_lower", "entropy_upper", "modal_share",
    "modal_share_held_out", "low_and_consistent", "dominant_wrong",
)  # fmt: skip


@dataclass(frozen=True)
class Pattern:
    """Counts of one system at one prompt, each part from large to small.

    Attributes
    ----------
    right, wrong : tuple of int
        Sizes of clusters of answers.
    none : int
        Generations without an answer.
    judged : tuple of two ints or None
        Correct and scored generations, where correct does not follow from the answer.
    """

    right: tuple[int, ...]
    wrong: tuple[int, ...]
    none: int
    judged: tuple[int, int] | None = None

    @property
    def counts(self) -> Integers:
        """Sizes of all clusters, generations without an answer last."""
        return np.array([*self.right, *self.wrong, *([self.none] if self.none else [])], dtype=np.int64)


def stick_draws(gamma: float, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draws of how a Dirichlet process shares out what is not seen yet: the first part, and the entropy of all parts.

    Parameters
    ----------
    gamma : float
    draws : int
    rng : numpy.random.Generator

    Returns
    -------
    first, entropy : float array (draw,)
        Sticks are broken until less than a millionth is expected to be left, which the last one takes.

    Examples
    --------
    The expected entropy is that of the prior, digamma(gamma + 1) - digamma(1).

    >>> first, entropy = stick_draws(1.0, 20_000, np.random.default_rng(1))
    >>> round(float(entropy.mean()), 1), round(float(first.mean()), 1)
    (1.0, 0.5)
    """
    sticks = int(min(np.ceil(np.log(UNBROKEN) / np.log(gamma / (1 + gamma))), 2000)) + 1
    broken = rng.beta(1.0, gamma, (draws, sticks))
    broken[:, -1] = 1.0
    left = np.cumprod(np.concatenate([np.ones((draws, 1)), 1.0 - broken[:, :-1]], axis=1), axis=1)
    return broken[:, 0], _entropy(broken * left)


def cluster_draws(counts: Integers, gamma: float, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draws of the probabilities of the clusters seen, and of everything else together.

    Parameters
    ----------
    counts : int array (cluster,)
        All above 0.
    gamma : float
    draws : int
    rng : numpy.random.Generator

    Returns
    -------
    seen : float array (draw, cluster)
    rest : float array (draw,)

    Examples
    --------
    >>> seen, rest = cluster_draws(np.array([3, 1]), 1.0, 5, np.random.default_rng(1))
    >>> bool(np.allclose(seen.sum(axis=1) + rest, 1))
    True
    """
    parts = rng.standard_gamma(np.array([*counts, gamma], dtype=float), (draws, len(counts) + 1))
    parts /= parts.sum(axis=1, keepdims=True)
    return parts[:, :-1], parts[:, -1]


def summaries(
    data: Answered, gamma: float, prob: float, seed: int, draws: int = DRAWS
) -> tuple[dict[str, Floats], Integers, list[Pattern]]:
    """Numbers of every unit, the pattern of each, and the patterns.

    Parameters
    ----------
    data : Answered
    gamma : float
    prob : float
    seed : int
    draws : int

    Returns
    -------
    dict of str to float array (unit,)
        By the names in ``COLUMNS``.
    int array (unit,)
    list of Pattern
    """
    keys = _patterns(data)
    place = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    code = np.fromiter(map(place.__getitem__, keys), np.int64, len(keys))
    patterns = list(place)
    sticks = stick_draws(gamma, draws, np.random.default_rng(seed))
    found = np.array([_summary(pattern, gamma, prob, seed, sticks) for pattern in patterns]).reshape(-1, len(COLUMNS))
    return {name: found[code, i] for i, name in enumerate(COLUMNS)}, code, patterns


def _patterns(data: Answered) -> list[Pattern]:
    size = len(data.unit_row)
    right: list[list[int]] = [[] for _ in range(size)]
    wrong: list[list[int]] = [[] for _ in range(size)]
    order = np.lexsort((-data.cell_count, data.cell_unit))
    cells = zip(
        data.cell_unit[order].tolist(), data.right[data.cell_cluster[order]].tolist(), data.cell_count[order].tolist(),
        strict=True,
    )  # fmt: skip
    for unit, good, count in cells:
        (right if good else wrong)[unit].append(count)
    judged = data.judged[data.unit_prompt].tolist()
    rows = zip(data.none.tolist(), judged, data.correct.tolist(), data.generations.tolist(), strict=True)
    return [
        Pattern(tuple(good), tuple(bad), none, (correct, total) if by_score else None)
        for good, bad, (none, by_score, correct, total) in zip(right, wrong, rows, strict=True)
    ]


def _summary(
    pattern: Pattern, gamma: float, prob: float, seed: int, sticks: tuple[Floats, Floats]
) -> tuple[float, ...]:
    counts, draws = pattern.counts, len(sticks[0])
    judged = pattern.judged or (0, 0)
    stream = [seed, len(pattern.right), *pattern.right, len(pattern.wrong), *pattern.wrong, pattern.none, *judged]
    rng = np.random.default_rng(stream)
    seen, rest = cluster_draws(counts, gamma, draws, rng)
    good, bad = len(pattern.right), len(pattern.wrong)
    if pattern.judged is not None:
        p = rng.beta(judged[0] + gamma / 2, judged[1] - judged[0] + gamma / 2, draws)
        mean = (judged[0] + gamma / 2) / (judged[1] + gamma)
    elif good:
        p, mean = seen[:, :good].sum(axis=1), sum(pattern.right) / (counts.sum() + gamma)
    else:
        p, mean = rest * sticks[0], gamma / (counts.sum() + gamma) / (1 + gamma)
    entropy = _entropy(np.column_stack([seen, rest])) + rest * sticks[1]
    leading = seen[:, good : good + bad].max(axis=1) if bad else np.zeros(draws)
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    answers = counts[: good + bad]
    total = counts.sum()
    return (
        mean, *np.quantile(p, tails), float(consistency(counts)) if total else np.nan,
        float(normalised_consistency(counts)) if total else np.nan, float(entropy_process(counts, gamma)),
        *np.quantile(entropy, tails), answers.max() / total if len(answers) else 0.0,
        float(held_out_modal_share(answers)) * answers.sum() / total if total else np.nan,
        float(((p <= MOST_CORRECT) & (entropy <= -LEAST_CONSISTENT)).mean()), float((leading - p > LEAD).mean()),
    )  # fmt: skip


def _entropy(share: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(-np.where(share > 0, share * np.log(share), 0.0).sum(axis=1))
