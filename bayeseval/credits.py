"""Credits: one row a generation, with the credit in [0, 1] that it was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bayeseval.credit_tables import CreditTable, LevelCounts, credit_table, level_counts
from bayeseval.errors import DataError, OptionError
from bayeseval.outcomes import Outcomes
from bayeseval.readers.cells import Origin
from bayeseval.readers.codes import FloatArray, TextArray
from bayeseval.readers.columns import Choice, ColumnChoice, choose, refuse_other_formats
from bayeseval.readers.frames import Table, from_frame
from bayeseval.readers.generations import Generations, cube_columns, keyed_rows
from bayeseval.readers.matrices import named_cube
from bayeseval.readers.records import run_table, say
from bayeseval.readers.spellings import CREDITS
from bayeseval.readers.values import SAME, checked_levels, checked_threshold, credit_values, level_words

__all__ = ["Credits"]

MOST_LEVELS = 20
"""So many distinct credits may be taken for levels that nobody declared."""


@dataclass(frozen=True, eq=False, repr=False)
class Credits(Generations):
    """One row a generation and the credit it was given, from 0 to 1, where there is something between right and wrong.

    Several systems and benchmarks may stand in one object; (system, benchmark, prompt, generation) is the key.

    Attributes
    ----------
    system, benchmark, prompt : object array (row,)
        Texts.
    generation : int64 or object array (row,)
        Number or name of the generation within its prompt.
    credit : float array (row,)
        Share of full marks, in [0, 1]; NaN not scored (which is not the same as 0).
    group : object array (row,) or None
        Subject, category or cluster; the same for every generation of a prompt.
    levels : tuple of float or None
        The credits that can be given, increasing, where there are only some: ``(0, 0.5, 1)``. Data cannot tell this, as
        a level may not have occurred; only you know. None: any credit in [0, 1].
    account : tuple of str
        How the credits came to be: columns, what was set aside and why.

    Raises
    ------
    DataError
        If a credit is outside [0, 1] or none of the levels, an id is missing, a key occurs twice, or there is no row.
    OptionError
        If the levels do not increase, leave [0, 1], or are fewer than two.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"task_id": ["a", "a", "b", "b"], "trial": [0, 1, 0, 1], "score": [0.5, 1, 0, 0.5]})
    >>> credits = Credits.from_frame(frame, levels=(0, 0.5, 1), quiet=True)
    >>> credits
    Credits: system on benchmark, 2 prompts, 4 generations, 2 to each prompt, levels 0, 0.5, 1
    >>> credits.level_counts().counts.tolist()
    [[0, 1, 1], [1, 1, 0]]
    >>> credits.outcomes(threshold=0.5).counts().correct.tolist()
    [2, 1]
    """

    system: TextArray
    benchmark: TextArray
    prompt: TextArray
    generation: npt.NDArray[Any]
    credit: FloatArray
    group: TextArray | None = None
    levels: tuple[float, ...] | None = None
    account: tuple[str, ...] = ()

    _facts: ClassVar[tuple[str, ...]] = ("levels", "account")
    _given: ClassVar[str] = "credit"
    _noun: ClassVar[str] = "credit"

    def __post_init__(self) -> None:
        levels = checked_levels(self.levels)
        object.__setattr__(self, "levels", levels)
        self._settle(credit_values(self.credit, "credit", Origin().row, levels))

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        system: ColumnChoice = None,
        benchmark: ColumnChoice = None,
        prompt: ColumnChoice = None,
        generation: ColumnChoice = None,
        credit: ColumnChoice = None,
        group: ColumnChoice = None,
        levels: Sequence[float] | None = None,
        quiet: bool = False,
    ) -> Self:
        """Credits from a data frame with one row a generation.

        Parameters
        ----------
        frame : data frame
            pandas, Polars (also lazy), PyArrow, or any other that Narwhals knows.
        system, benchmark, prompt, generation, credit, group : str, list of str, False or None
            Column for each role. A list is joined with ":" (where a condition is part of the key), False means that
            there is none, None guesses from common spellings (credit, score, reward, ...). Without a generation
            column, rows are numbered in order within their prompt.
        levels : sequence of float, optional
            The credits that can be given, increasing.
        quiet : bool
            Whether to keep the guesses from being printed to standard error.

        Raises
        ------
        DataError
            If a column is missing, a credit cannot be read, is outside [0, 1] or none of the levels, or a generation
            occurs twice; rows are named.
        OptionError
            If the levels cannot be right.
        """
        known = checked_levels(levels)
        given = {"system": system, "benchmark": benchmark, "prompt": prompt, "generation": generation,
                 "credit": credit, "group": group}  # fmt: skip
        table = from_frame(frame)
        refuse_other_formats(table, given, "credit")
        choice = choose(table, CREDITS, given)
        say([f"{table.origin.label}: {choice.said}"], quiet=quiet or not choice.guessed)
        credits = cls._from_table(table, choice, known)
        say(credits.account[1:], quiet=quiet)
        return credits

    @classmethod
    def _from_table(cls, table: Table, choice: Choice, levels: tuple[float, ...] | None) -> Self:
        read = keyed_rows(table, choice)
        read.columns["credit"] = read.cells("credit", "credit", partial(credit_values, levels=levels))
        account = read.numbered(cls._key)
        return cls._assemble(**read.columns, levels=levels, account=tuple(account))

    @classmethod
    def from_matrix(
        cls,
        y: object,
        *,
        prompts: Sequence[object] | npt.NDArray[Any] | None = None,
        system: str | Sequence[str] = "system",
        benchmark: str = "benchmark",
        levels: Sequence[float] | None = None,
    ) -> Self:
        """Credits from a matrix of prompts × generations or an array of systems × prompts × generations.

        Takes what `Counts.from_matrix` takes, with credits in place of 0 and 1; every cell becomes a row, those without
        a credit (NaN, None or masked) as not scored.

        Examples
        --------
        >>> Credits.from_matrix([[1, 0.5], [0, 0.25]], system="gpt-x", benchmark="essays")
        Credits: gpt-x on essays, 2 prompts, 4 generations, 2 to each prompt
        """
        known = checked_levels(levels)
        cube = named_cube(y, prompts=prompts, system=system)
        credit = credit_values(cube.cells.reshape(-1), "credit", cube.cell, known)
        return cls._assemble(
            **cube_columns(cube.systems, cube.prompts, cube.cells.shape[2], benchmark),
            credit=credit,
            levels=known,
            account=(cube.said(int(np.isnan(credit).sum()), "a credit"),),
        )

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes, *, levels: Sequence[float] | None = None) -> Self:
        """Credits from the scores that outcomes kept when a threshold made them right or wrong.

        Answers, gold answers and seeds are not taken over.

        Raises
        ------
        DataError
            If the outcomes kept no scores, or a score is outside [0, 1] or none of the levels.

        Examples
        --------
        >>> outcomes = Outcomes.from_matrix([[1, 0.5], [0, 0.25]], threshold=0.5)
        >>> Credits.from_outcomes(outcomes).credit.tolist()
        [1.0, 0.5, 0.0, 0.25]
        """
        if not isinstance(outcomes, Outcomes):
            raise DataError(f"outcomes were expected, but {type(outcomes).__name__} was given")
        if outcomes.score is None:
            raise DataError(
                "these outcomes kept no scores, only what was right or wrong: read the data with "
                "Credits.from_frame(...) or Credits.from_matrix(...)"
            )
        known = checked_levels(levels)

        def named(index: int) -> str:
            return f"{Origin('the outcomes').row(index)}, prompt {outcomes.prompt[index]!r}"

        same = {name: getattr(outcomes, name) for name in ("system", "benchmark", "prompt", "generation", "group")}
        return cls._assemble(
            **same,
            credit=credit_values(outcomes.score, "score", named, known),
            levels=known,
            account=(*outcomes.account, "credits are the scores themselves, before any threshold"),
        )._told_of(outcomes._places, outcomes._sources)

    @classmethod
    def concat(cls, parts: Iterable[Credits]) -> Credits:
        """Join several objects of the same levels into one; a generation that occurs in two of them is refused."""
        listed = list(parts)
        return cls._concat(listed, [Origin(label=f"part {i}") for i in range(1, len(listed) + 1)])

    def with_levels(self, levels: Sequence[float] | None = None) -> Credits:
        """The same credits with declared levels, or with those that occur, if there are at most 20.

        Raises
        ------
        DataError
            If a credit is none of the levels, or too many distinct credits occur.

        Examples
        --------
        >>> Credits.from_matrix([[1, 0.5], [0, 1]]).with_levels().levels
        (0.0, 0.5, 1.0)
        """
        known = checked_levels(self._levels_found() if levels is None else levels)

        def named(index: int) -> str:
            return f"{Origin('the credits').row(index)}, prompt {self.prompt[index]!r}"

        return self._replaced(credit=credit_values(self.credit, "credit", named, known), levels=known)

    def _levels_found(self) -> tuple[float, ...]:
        distinct = np.unique(self.credit[self._scored])
        found: list[float] = []
        for credit in distinct.tolist():  # 0.1 * 3 and 0.3 are one level
            if not found or credit - found[-1] > SAME:
                found.append(credit)
            if len(found) > MOST_LEVELS:
                break
        if len(found) > MOST_LEVELS:
            raise DataError(
                f"{len(distinct):,} different credits occur, too many ({MOST_LEVELS} is the most) to be taken for "
                "levels: declare the credits that can be given with levels=, or treat them as continuous with tables()"
            )
        return tuple(found)

    def level_counts(self) -> LevelCounts:
        """How often each level was given to each prompt, in order of first appearance.

        Levels are those declared, else the credits that occur, if there are at most 20 of them. Generations without a
        score are in no level.

        Raises
        ------
        DataError
            If no levels were declared and too many distinct credits occur.

        Examples
        --------
        >>> Credits.from_matrix([[1, 0.5, 0.5], [0, 1, None]]).level_counts().to_frame()
           system  benchmark prompt  0  0.5  1
        0  system  benchmark      0  0    2  1
        1  system  benchmark      1  1    0  1
        """
        levels = self._levels_found() if self.levels is None else self.levels
        codes, first = self._prompts
        counts = level_counts(codes, self.credit, levels, len(first))
        return LevelCounts(self.system[first], self.benchmark[first], self.prompt[first], levels, counts)

    def tables(self) -> list[CreditTable]:
        """Sums over the generations of each prompt, one table a run: what models and moments are made of.

        Examples
        --------
        >>> Credits.from_matrix([[1, 0.5, 0], [0, 1, None]]).tables()[0].total
        array([1.5, 1. ])
        """
        return [
            credit_table(
                run.prompt, run.credit,
                system=run.system[0], benchmark=run.benchmark[0], group=run.group, levels=self.levels,
            )
            for run in self.runs()
        ]  # fmt: skip

    def outcomes(self, threshold: float) -> Outcomes:
        """Outcomes in which credits of at least ``threshold`` are correct: for pass@k and all that is right or wrong.

        Parameters
        ----------
        threshold : float
            In (0, 1]. There is no default: what counts as correct is yours to say, and the account repeats it.

        Returns
        -------
        Outcomes
            Credits are kept in its ``score``.

        Raises
        ------
        OptionError
            If the threshold is no number in (0, 1].

        Examples
        --------
        >>> Credits.from_matrix([[1, 0.5], [0, None]]).outcomes(threshold=1).correct
        array([ 1.,  0.,  0., nan])
        """
        cut = checked_threshold(threshold)
        if cut is None or not 0 < cut <= 1:
            raise OptionError(
                f"threshold must lie in (0, 1], but {threshold!r} was given: credits of at least it count as correct"
            )
        cut = next((level for level in self.levels or () if abs(level - cut) <= SAME), cut)  # 3 * 0.1 is the level 0.3
        return Outcomes._assemble(
            system=self.system, benchmark=self.benchmark, prompt=self.prompt, generation=self.generation,
            correct=np.where(self._scored, (self.credit >= cut).astype(np.float64), np.nan),
            group=self.group, score=self.credit,
            account=(*self.account, f"credits of at least {cut:g} count as correct"),
        )._told_of(self._places, self._sources)  # fmt: skip

    def __repr__(self) -> str:
        return self._in_words() + ("" if self.levels is None else f", levels {level_words(self.levels)}")

    def _repr_html_(self) -> str:
        def mean(run: Credits) -> str:
            table = run.tables()[0]
            used = table.generations > 0
            return f"{np.mean(table.total[used] / table.generations[used]):.4g}" if used.any() else "unknown"

        rows = (
            (run.system[0], run.benchmark[0], run.n_prompts, run.n_generations, run.n_unscored, mean(run))
            for run in self.runs()
        )
        header = ("system", "benchmark", "prompts", "generations", "not scored", "mean credit of a prompt")
        return run_table(repr(self), header, rows, len(self._runs[1]))
