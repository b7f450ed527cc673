"""Outcomes: one row a generation, with its score and, where known, its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bayeseval.counts import Counts
from bayeseval.errors import DataError
from bayeseval.readers.cells import Origin, index_values, texts
from bayeseval.readers.codes import FloatArray, IntArray, TextArray, factorize
from bayeseval.readers.columns import Choice, ColumnChoice, choose, refuse_other_formats
from bayeseval.readers.frames import Table, from_frame
from bayeseval.readers.generations import Generations, cube_columns, keyed_rows
from bayeseval.readers.keys import refuse_unclear_threshold
from bayeseval.readers.matrices import score_matrix
from bayeseval.readers.records import number, run_table, say
from bayeseval.readers.spellings import OUTCOMES
from bayeseval.readers.values import checked_threshold, scores

__all__ = ["Outcomes"]


@dataclass(frozen=True, eq=False, repr=False)
class Outcomes(Generations):
    """One row a generation: whether it was correct, and where known its answer, the gold answer, group and seed.

    Several systems and benchmarks may stand in one object; (system, benchmark, prompt, generation) is the key.
    `counts` makes the `Counts` that everything statistical starts from.

    Attributes
    ----------
    system, benchmark, prompt : object array (row,)
        Texts.
    generation : int64 or object array (row,)
        Number or name of the generation within its prompt.
    correct : float array (row,)
        1 correct, 0 wrong, NaN not scored (which is not the same as wrong).
    answer, gold : object array (row,) or None
        Texts, None where missing.
    group : object array (row,) or None
        Subject, category or cluster; the same for every generation of a prompt.
    seed : int64 or object array (row,) or None
    score : float array (row,) or None
        Scores before a threshold made them 0 or 1.
    account : tuple of str
        How the outcomes came to be: files, columns, what was set aside and why.

    Raises
    ------
    DataError
        If a score is neither 0, 1 nor missing, an id is missing, a key occurs twice, or there is no row at all.

    Examples
    --------
    >>> import pandas as pd
    >>> passed = [True, False, True, None]
    >>> frame = pd.DataFrame({"task_id": ["a", "a", "b", "b"], "trial": [0, 1, 0, 1], "passed": passed})
    >>> outcomes = Outcomes.from_frame(frame, quiet=True)
    >>> outcomes
    Outcomes: system on benchmark, 2 prompts, 3 generations, between 1 and 2 to each prompt, 1 more not scored
    >>> outcomes.counts().generations
    array([2, 1])
    """

    system: TextArray
    benchmark: TextArray
    prompt: TextArray
    generation: npt.NDArray[Any]
    correct: FloatArray
    answer: TextArray | None = None
    gold: TextArray | None = None
    group: TextArray | None = None
    seed: npt.NDArray[Any] | None = None
    score: FloatArray | None = None
    account: tuple[str, ...] = ()

    _given: ClassVar[str] = "correct"
    _noun: ClassVar[str] = "score"

    def __post_init__(self) -> None:
        row = Origin().row
        self._settle(
            scores(self.correct, "score", row, None)[0],
            answer=None if self.answer is None else texts(self.answer),
            gold=None if self.gold is None else texts(self.gold),
            seed=None if self.seed is None else index_values(self.seed, "seed", row, missing=True),
            score=None if self.score is None else np.asarray(self.score, dtype=np.float64),
        )

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        system: ColumnChoice = None,
        benchmark: ColumnChoice = None,
        prompt: ColumnChoice = None,
        generation: ColumnChoice = None,
        correct: ColumnChoice = None,
        answer: ColumnChoice = None,
        gold: ColumnChoice = None,
        group: ColumnChoice = None,
        seed: ColumnChoice = None,
        threshold: float | None = None,
        quiet: bool = False,
    ) -> Self:
        """Outcomes from a data frame with one row a generation.

        Parameters
        ----------
        frame : data frame
            pandas, Polars (also lazy), PyArrow, or any other that Narwhals knows.
        system, benchmark, prompt, generation, correct, answer, gold, group, seed : str, list of str, False or None
            Column for each role. A list is joined with ":" (where a condition is part of the key), False means that
            there is none, None guesses from common spellings. Without a generation column, rows are numbered in order
            within their prompt.
        threshold : float, optional
            Scores of at least this much count as correct; the scores are kept in ``score``.
        quiet : bool
            Whether to keep the guesses from being printed to standard error.

        Raises
        ------
        DataError
            If a column is missing, a score cannot be read, or a generation occurs twice; rows are named.
        OptionError
            If the threshold is no finite number.
        """
        given = {"system": system, "benchmark": benchmark, "prompt": prompt, "generation": generation,
                 "correct": correct, "answer": answer, "gold": gold, "group": group, "seed": seed}  # fmt: skip
        table = from_frame(frame)
        refuse_other_formats(table, given)
        choice = choose(table, OUTCOMES, given)
        say([f"{table.origin.label}: {choice.said}"], quiet=quiet or not choice.guessed)
        outcomes = cls._from_table(table, choice, threshold)
        say(outcomes.account[1:], quiet=quiet)
        return outcomes

    @classmethod
    def _from_table(cls, table: Table, choice: Choice, threshold: float | None) -> Self:
        cut = checked_threshold(threshold)
        read = keyed_rows(table, choice)
        refuse_unclear_threshold(table, choice, cut)
        columns, rows = read.columns, read.rows
        columns["correct"], columns["score"] = read.cells("correct", "score", partial(scores, threshold=cut))
        account = read.numbered(cls._key)
        for role in ("answer", "gold"):
            if choice.columns[role]:
                columns[role] = texts(rows[choice.columns[role][0]])
        if choice.columns["seed"]:
            columns["seed"] = index_values(rows[choice.columns["seed"][0]], "seed", read.named, missing=True)
        if cut is not None:
            account.append(f"{table.origin.label}: scores of at least {cut:g} count as correct")
        return cls._assemble(**columns, account=tuple(account))

    @classmethod
    def from_matrix(
        cls,
        y: object,
        *,
        prompts: Sequence[object] | npt.NDArray[Any] | None = None,
        system: str | Sequence[str] = "system",
        benchmark: str = "benchmark",
        threshold: float | None = None,
    ) -> Self:
        """Outcomes from a matrix of prompts × generations or an array of systems × prompts × generations.

        Takes what `Counts.from_matrix` takes; every cell becomes a row, those without an outcome as not scored.

        Examples
        --------
        >>> Outcomes.from_matrix([[1, 0], [0, 0]], system="gpt-x", benchmark="sums")
        Outcomes: gpt-x on sums, 2 prompts, 4 generations, 2 to each prompt
        """
        return cls._from_matrix(y, prompts=prompts, system=system, benchmark=benchmark, threshold=threshold)

    @classmethod
    def _from_matrix(
        cls,
        y: object,
        *,
        prompts: Sequence[object] | npt.NDArray[Any] | None,
        system: str | Sequence[str] | None,
        benchmark: str,
        threshold: float | None,
        label: str = "the matrix",
    ) -> Self:
        matrix = score_matrix(y, prompts=prompts, system=system, threshold=threshold, label=label)
        return cls._assemble(
            **cube_columns(matrix.systems, matrix.prompts, matrix.correct.shape[2], benchmark),
            correct=matrix.correct.reshape(-1),
            score=None if matrix.score is None else matrix.score.reshape(-1),
            account=(matrix.said,),
        )

    @classmethod
    def concat(cls, parts: Iterable[Outcomes]) -> Outcomes:
        """Join several objects into one; a generation that occurs in two of them is refused."""
        listed = list(parts)
        return cls._concat(listed, [Origin(label=f"part {i}") for i in range(1, len(listed) + 1)])

    def counts(self) -> Counts:
        """Generations and correct ones of every prompt, in order of first appearance.

        Generations without a score are set aside (they are not wrong), and the account says how many. A prompt whose
        generations are all without a score keeps 0 generations.
        """
        codes, first = self._prompts
        known = self._scored
        size = len(first)
        generations = np.bincount(codes, weights=known, minlength=size).astype(np.int64)
        correct = np.bincount(codes, weights=np.where(known, self.correct, 0.0), minlength=size).astype(np.int64)
        account = list(self.account)
        unscored = len(known) - int(known.sum())
        if unscored:
            empty = int((generations == 0).sum())
            left = f"; {number(empty, 'prompt')} keep{'s' if empty == 1 else ''} no generation" if empty else ""
            account.append(f"set aside: {number(unscored, 'generation')} without a score (not counted as wrong){left}")
        return Counts._assemble(
            system=self.system[first], benchmark=self.benchmark[first], prompt=self.prompt[first],
            generations=generations, correct=correct, group=None if self.group is None else self.group[first],
            account=tuple(account),
        )._told_of(None, self._sources)  # fmt: skip

    def matrix(self) -> FloatArray:
        """Outcomes of one run as a table (prompt, generation), NaN where there is none.

        Rows are prompts in the order of `counts`, columns generations in order of first appearance.

        Raises
        ------
        DataError
            If there are several runs.
        """
        if len(self.run_names) != 1:
            raise DataError(
                f"a table holds one run, but there are {len(self.run_names)}: choose one with .select(...), or take "
                f"them one by one from .runs()"
            )
        columns, names = factorize(self.generation)
        rows, first = self._prompts
        table = np.full((len(first), len(names)), np.nan)
        table[rows, columns] = self.correct
        return table

    def run_totals(self) -> IntArray:
        """Correct answers of generation j over all prompts (generation,), where each j was one run on all of them.

        Raises
        ------
        DataError
            If a prompt lacks some of the generations that others have, or there is only one.
        """
        table = self.matrix()
        missing = np.isnan(table)
        some = missing.any(axis=1) & ~missing.all(axis=1)
        label = " on ".join(self.run_names[0])
        if some.any():
            row = int(np.argmax(some))
            prompt = self.prompt[self._prompts[1][row]]
            raise DataError(
                f"{label}: effects of whole runs need every generation of every prompt, but {int(some.sum()):,} of "
                f"{len(table):,} prompts lack some, such as prompt {str(prompt)!r}, which has "
                f"{int((~missing[row]).sum())} of {table.shape[1]}; leave such prompts out, or use another model"
            )
        if table.shape[1] < 2:
            raise DataError(f"{label}: effects of whole runs need at least two generations of every prompt")
        return np.nansum(table, axis=0).astype(np.int64)

    def __repr__(self) -> str:
        return self._in_words() + (", with answers" if self.answer is not None else "")

    def _repr_html_(self) -> str:
        rows = (
            (
                run.system[0],
                run.benchmark[0],
                run.n_prompts,
                run.n_generations,
                run.n_unscored,
                int(np.nansum(run.correct)),
            )
            for run in self.runs()
        )
        header = ("system", "benchmark", "prompts", "generations", "not scored", "correct")
        return run_table(repr(self), header, rows, len(self._runs[1]))
