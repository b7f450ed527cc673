"""Prompts of a data map: what all systems together say about each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.arrays import Floats
from bayeseval.consistency.answered import Answered
from bayeseval.consistency.kinds import kinds_of_trouble
from bayeseval.consistency.mislabelling import mislabelled
from bayeseval.outcomes import Outcomes
from bayeseval.readers.codes import IntArray, combine, factorize

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["group_codes", "leading_answers", "prompt_table"]

MOST_ANSWERS = 4
"""Different answers of a prompt that its row tells."""


def group_codes(outcomes: Outcomes, rows: IntArray) -> IntArray:
    """Benchmark and group of each prompt as one code (prompt,)."""
    columns = [factorize(outcomes.benchmark[rows])[0]]
    if outcomes.group is not None:
        columns.append(factorize(outcomes.group[rows])[0])
    return factorize(combine(*columns))[0]


def prompt_table(outcomes: Outcomes, data: Answered, low: Floats, dominant: Floats, rate: float) -> pd.DataFrame:
    """One row a prompt, in order of first appearance.

    Parameters
    ----------
    outcomes : Outcomes
    data : Answered
    low, dominant : float array (unit,)
        P(low P(correct) and consistent) and P(dominant wrong answer) of every system and prompt.
    rate : float
        Share of wrong gold answers before looking.

    Returns
    -------
    pandas.DataFrame
    """
    import pandas as pd

    size, rows = len(data.prompt_row), data.prompt_row
    counts, owner = data.table(), data.clusters.prompt
    group = group_codes(outcomes, rows)
    found = mislabelled(counts, owner, data.right, group, _alphabet(data, group), rate)

    share = _shares(data, counts)
    by_size = np.lexsort((np.arange(len(owner)), -share, owner))
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    first, second, wrong = np.zeros(size), np.zeros(size), np.zeros(size)
    for number, target in ((0, first), (1, second)):
        chosen = by_size[place == number]
        target[owner[chosen]] = share[chosen]
    np.maximum.at(wrong, owner[~data.right], share[~data.right])
    right = np.bincount(owner[data.right], weights=share[data.right], minlength=size).astype(np.float64)
    top = np.full(size, -1, dtype=np.int64)
    top[owner[by_size[place == 0]]] = by_size[place == 0]

    units = np.bincount(data.unit_prompt, minlength=size)
    every = np.bincount(data.unit_prompt, weights=_asked(data), minlength=size).astype(np.int64)
    none = np.bincount(data.unit_prompt, weights=data.none, minlength=size).astype(np.float64)
    probability = found.probability
    missing = np.asarray(none / np.maximum(every, 1), dtype=np.float64)
    grader = data.gold_wrong & (top == data.clusters.gold) & (top >= 0)
    kind = kinds_of_trouble(probability, right, first, second, wrong, missing, grader, every)
    candidate = found.candidate
    leading = _leading(data)
    agree = np.bincount(
        data.unit_prompt, weights=(leading == candidate[data.unit_prompt]) & (leading >= 0), minlength=size
    ).astype(np.int64)
    named = np.array([*data.clusters.answer, None], dtype=object)
    golden = np.append(counts.sum(axis=1), 0)[data.clusters.gold]
    columns = {
        "benchmark": outcomes.benchmark[rows],
        "prompt": outcomes.prompt[rows],
        "probability": probability,
        "kind": kind,
        "suspected_answer": named[candidate],
        "suspected_probability": found.candidate_probability,
        "gold": data.gold,
        "gold_given": golden,
        "systems": units,
        "agreeing": agree,
        "generations": every,
        "correct": np.bincount(data.unit_prompt, weights=data.correct, minlength=size).astype(np.int64),
        "not_extracted": none.astype(np.int64),
        "low_and_consistent": np.bincount(data.unit_prompt, weights=low, minlength=size) / units,
        "dominant_wrong": np.bincount(data.unit_prompt, weights=dominant, minlength=size) / units,
        "answers": _listed(counts.sum(axis=1), data, size),
    }
    if outcomes.group is not None:
        columns["group"] = outcomes.group[rows]
    return pd.DataFrame(columns)


def _alphabet(data: Answered, group: IntArray) -> IntArray:
    """Number of different answers in the group of each prompt, the gold ones among them."""
    text, _ = factorize(np.concatenate([data.clusters.answer, data.gold]))
    owner = np.concatenate([group[data.clusters.prompt], group])
    pairs = np.unique(np.column_stack([owner, text]), axis=0)
    return np.bincount(pairs[:, 0], minlength=int(group.max(initial=0)) + 1).astype(np.int64)[group]


def _asked(data: Answered) -> IntArray:
    """Generations of every unit, those without an answer too."""
    given = np.bincount(data.cell_unit, weights=data.cell_count, minlength=len(data.unit_row))
    return given.astype(np.int64) + data.none


def _shares(data: Answered, counts: IntArray) -> Floats:
    """Share of each cluster in the generations of a system, averaged over the systems that were asked."""
    every = _asked(data)
    cell = data.cell_count / every[data.cell_unit]
    share = np.bincount(data.cell_cluster, weights=cell, minlength=len(counts))
    return np.asarray(share / np.bincount(data.unit_prompt, minlength=len(data.prompt_row))[data.clusters.prompt])


def _leading(data: Answered) -> IntArray:
    """Commonest cluster of every unit, the first of equally common ones; -1 without an answer."""
    order = np.lexsort((data.cell_cluster, -data.cell_count, data.cell_unit))
    keep = order[np.r_[True, np.diff(data.cell_unit[order]) > 0]]
    found = np.full(len(data.unit_row), -1, dtype=np.int64)
    found[data.cell_unit[keep]] = data.cell_cluster[keep]
    return found


def _listed(total: IntArray, data: Answered, size: int) -> np.ndarray:
    """The commonest answers of each prompt with their counts, over all systems."""
    owner = data.clusters.prompt
    order = np.lexsort((np.arange(len(owner)), -total, owner))
    texts: list[list[str]] = [[] for _ in range(size)]
    rest = np.zeros(size, dtype=np.int64)
    for cluster in order.tolist():
        prompt = int(owner[cluster])
        if len(texts[prompt]) < MOST_ANSWERS:
            answer = str(data.clusters.answer[cluster])
            texts[prompt].append(f"{answer if len(answer) <= 40 else answer[:39] + '…'} ×{total[cluster]}")
        else:
            rest[prompt] += total[cluster]
    listed = ["; ".join(one) + (f"; others ×{more}" if more else "") for one, more in zip(texts, rest, strict=True)]
    found = np.empty(size, dtype=object)
    found[:] = listed
    return found


def leading_answers(data: Answered) -> tuple[np.ndarray, np.ndarray, IntArray]:
    """Commonest answer of every unit (None without one), whether it is right, and the number of different ones."""
    leading = _leading(data)
    answer = np.array([*data.clusters.answer, None], dtype=object)[leading]
    right = np.append(data.right, False)[leading]
    return answer, right, np.bincount(data.cell_unit, minlength=len(data.unit_row)).astype(np.int64)
