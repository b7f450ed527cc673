"""Outcomes as clusters of answers, counted for every system and prompt, with what is right."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeseval.consistency.clustering import NOT_EXTRACTED, Clusters, cluster_answers
from bayeseval.consistency.equivalences import Equivalence
from bayeseval.errors import DataError
from bayeseval.outcomes import Outcomes
from bayeseval.readers.codes import FloatArray, IntArray, TextArray, combine, factorize
from bayeseval.readers.records import number

__all__ = ["Answered", "answered"]


@dataclass(frozen=True, eq=False)
class Answered:
    """Clusters of answers, counted; made by `answered`.

    A unit is one system at one prompt; a cell is one cluster that it gave.

    Attributes
    ----------
    unit_row : int array (unit,)
        First row of each unit in the outcomes.
    unit_prompt, unit_system : int array (unit,)
    systems : list of str
    prompt_row : int array (prompt,)
        First row of each prompt.
    cell_unit, cell_cluster, cell_count : int array (cell,)
        In order of units.
    generations, correct, none : int array (unit,)
        Generations that count, correct ones, and those without an answer.
    clusters : Clusters
    right : bool array (cluster,)
        Whether the cluster was scored correct; where it was judged, more often than not.
    judged : bool array (prompt,)
        Whether the same answer was scored now right, now wrong.
    gold : object array (prompt,)
        Gold answers or None.
    gold_wrong : bool array (prompt,)
        Whether answers that equal the gold answer were mostly scored wrong.
    notes : tuple of str
    """

    unit_row: IntArray
    unit_prompt: IntArray
    unit_system: IntArray
    systems: list[str]
    prompt_row: IntArray
    cell_unit: IntArray
    cell_cluster: IntArray
    cell_count: IntArray
    generations: IntArray
    correct: IntArray
    none: IntArray
    clusters: Clusters
    right: np.ndarray
    judged: np.ndarray
    gold: TextArray
    gold_wrong: np.ndarray
    notes: tuple[str, ...]

    def table(self) -> IntArray:
        """Counts (cluster, system)."""
        counts = np.zeros((len(self.right), len(self.systems)), dtype=np.int64)
        counts[self.cell_cluster, self.unit_system[self.cell_unit]] = self.cell_count
        return counts


def answered(
    outcomes: Outcomes,
    equivalence: Equivalence,
    gold: Mapping[Any, Any] | None = None,
    not_extracted: Collection[str] = NOT_EXTRACTED,
) -> Answered:
    """Cluster and count the answers of outcomes.

    Parameters
    ----------
    outcomes : Outcomes
    equivalence : Equivalence
    gold : mapping of prompt to answer, optional
        In place of, or beside, the gold answers in the outcomes; keys may be (benchmark, prompt).
    not_extracted : collection of str
        Answers that mean that none could be extracted.

    Returns
    -------
    Answered

    Raises
    ------
    DataError
        If there are no answers, a prompt has several gold answers, or one has neither scores nor gold.

    Examples
    --------
    >>> import bayeseval as be
    >>> from bayeseval.consistency.equivalences import chosen_equivalence
    >>> found = answered(be.example("aime24-50", "outcomes"), chosen_equivalence("exact"))
    >>> len(found.unit_row), len(found.prompt_row), int(found.none.sum()) > 0
    (60, 30, True)
    """
    if outcomes.answer is None:
        raise DataError(
            "a data map is made of answers, but these outcomes have none: read them with answer= naming the column "
            "with the extracted answers"
        )
    unit, unit_row = outcomes._prompts
    system, systems = factorize(outcomes.system)
    prompt, _ = factorize(combine(factorize(outcomes.benchmark)[0], factorize(outcomes.prompt)[0]))
    prompt_row = np.unique(prompt, return_index=True)[1].astype(np.int64)
    names = list(outcomes.prompt[prompt_row])
    golds = _golds(outcomes, prompt, prompt_row, gold)
    clusters = cluster_answers(outcomes.answer, prompt, names, equivalence, golds, not_extracted)
    if not (clusters.row >= 0).any():
        listed = ", ".join(repr(one) for one in sorted(not_extracted))
        raise DataError(
            f"none of the {number(len(outcomes), 'generation')} has an answer (missing, or one of {listed}): name the "
            f"column with the extracted answers with answer=, or an equivalence that finds them"
        )
    right, judged, unscored = _right(clusters, outcomes.correct, prompt, len(names))
    without = unscored & np.array([one is None for one in golds])
    if without.any():
        raise DataError(
            f"{number(int(without.sum()), 'prompt')} ({names[int(np.argmax(without))]!r}) have neither scores nor a "
            f"gold answer, so that nothing says which answers are right: give gold=, or leave them out"
        )
    gold_wrong = (clusters.gold >= 0) & ~judged & ~unscored & ~right[np.maximum(clusters.gold, 0)]
    right[clusters.gold[unscored & (clusters.gold >= 0)]] = True
    seen = np.flatnonzero(clusters.row >= 0)
    key, times = np.unique(combine(unit[seen], clusters.row[seen]), return_counts=True)
    base = int(clusters.row.max()) + 1
    size = len(unit_row)
    cell_unit, cell_cluster = key // base, key % base
    good = np.where(clusters.row >= 0, right[np.maximum(clusters.row, 0)], False).astype(float)
    counted = np.ones(len(outcomes), dtype=bool)
    by_score = judged[prompt]
    scored = ~np.isnan(outcomes.correct)
    counted[by_score] = scored[by_score]
    good[by_score] = np.nan_to_num(outcomes.correct[by_score])
    return Answered(
        unit_row, prompt[unit_row], system[unit_row], [str(one) for one in systems], prompt_row,
        cell_unit, cell_cluster, times.astype(np.int64), _per(unit, counted, size), _per(unit, good * counted, size),
        _per(unit, clusters.row < 0, size), clusters, right, judged, golds, gold_wrong,
        (*clusters.notes, *_notes(outcomes, unit, clusters, golds, judged, gold_wrong, names, scored)),
    )  # fmt: skip


def _golds(outcomes: Outcomes, prompt: IntArray, first: IntArray, given: Mapping[Any, Any] | None) -> TextArray:
    """Gold answer of every prompt, or None."""
    golds = np.full(len(first), None, dtype=object)
    if outcomes.gold is not None:
        code, texts = factorize(outcomes.gold)
        known = np.flatnonzero(np.array([text is not None for text in texts])[code])
        lowest = np.full(len(first), len(texts), dtype=np.int64)
        highest = np.full(len(first), -1, dtype=np.int64)
        np.minimum.at(lowest, prompt[known], code[known])
        np.maximum.at(highest, prompt[known], code[known])
        for place in np.flatnonzero((highest >= 0) & (lowest < highest)).tolist():
            pair = (str(texts[lowest[place]]), str(texts[highest[place]]))
            raise DataError(
                f"prompt {str(outcomes.prompt[first[place]])!r} has several gold answers, such as {pair[0][:60]!r} and "
                f"{pair[1][:60]!r}: give every prompt one"
            )
        found = np.flatnonzero(highest >= 0)
        golds[found] = np.array([*texts, None], dtype=object)[highest[found]]
    for place, row in enumerate(first if given else ()):
        benchmark, name = outcomes.benchmark[row], outcomes.prompt[row]
        assert given is not None
        value = given.get((benchmark, name), given.get(name))
        if value is not None and value == value:
            golds[place] = str(value)
    return golds


def _right(clusters: Clusters, correct: FloatArray, prompt: IntArray, size: int) -> tuple[Any, Any, Any]:
    """Which clusters were scored right, which prompts were judged, and which have no score at all."""
    scored = ~np.isnan(correct)
    known = scored & (clusters.row >= 0)
    many = len(clusters.prompt)
    total = np.bincount(clusters.row[known], minlength=many)
    good = np.bincount(clusters.row[known], weights=correct[known], minlength=many)
    judged = np.zeros(size, dtype=bool)
    judged[clusters.prompt[(good > 0) & (good < total)]] = True
    judged[prompt[scored & (clusters.row < 0) & (np.nan_to_num(correct) > 0)]] = True
    unscored = np.bincount(prompt[scored], minlength=size) == 0
    return 2 * good > total, judged, unscored


def _per(unit: IntArray, weight: np.ndarray, size: int) -> IntArray:
    return np.bincount(unit, weights=weight.astype(float), minlength=size).astype(np.int64)


def _notes(
    outcomes: Outcomes, unit: IntArray, clusters: Clusters, golds: TextArray, judged: np.ndarray,
    gold_wrong: np.ndarray, names: list[Any], scored: np.ndarray,
) -> list[str]:  # fmt: skip
    """What a reader must know before the numbers."""
    notes = []
    size = len(names)
    missing = sum(one is None for one in golds)
    if missing:
        what = "no gold answers are known" if missing == size else f"{number(missing, 'prompt')} have no gold answer"
        notes.append(
            f"{what}: there, correct is taken from the scores, and a grader that calls the gold answer wrong cannot be "
            f"told from a wrong gold answer; give them with gold="
        )
    none = int((clusters.row < 0).sum())
    if none:
        prompts = len(np.unique(unit[clusters.row < 0]))
        notes.append(
            f"no answer could be extracted from {number(none, 'generation')} of {len(unit):,}, at "
            f"{number(prompts, 'prompt')} of a system: they are a cluster of their own, and no answer"
        )
    if judged.any():
        notes.append(
            f"at {number(int(judged.sum()), 'prompt')} of {size:,} the same answer was scored now right, now wrong, so "
            f"that correct does not follow from the answer: there, P(correct) has a Beta posterior of its own, taken "
            f"as independent of the clusters"
        )
    if gold_wrong.any():
        named = ", ".join(repr(str(names[i])) for i in np.flatnonzero(gold_wrong)[:3])
        notes.append(
            f"at {number(int(gold_wrong.sum()), 'prompt')} ({named}) answers that equal the gold answer were scored "
            f"wrong: look at the grader"
        )
    several = np.bincount(unit)
    if (several == 1).any():
        notes.append(
            f"{number(int((several == 1).sum()), 'prompt')} of {len(several):,} of a system have a single generation: "
            f"how consistent the system is there cannot be known, and what stands there is the prior and, for wrong "
            f"gold answers, what other systems say"
        )
    unscored = int((~scored).sum())
    if unscored:
        notes.append(
            f"{number(unscored, 'generation')} without a score take that of the same answer to the same prompt, else "
            f"count as wrong"
        )
    return notes
