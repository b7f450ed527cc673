"""Counts: how many generations of every prompt were correct. Everything statistical starts here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bayeseval.errors import DataError
from bayeseval.readers.cells import Origin
from bayeseval.readers.codes import IntArray, TextArray, combine, factorize, first_duplicate
from bayeseval.readers.columns import OPTIONAL, Choice, ColumnChoice, choose, refuse_other_formats
from bayeseval.readers.frames import Table, from_frame
from bayeseval.readers.keys import key_columns
from bayeseval.readers.lazily import counted_frame
from bayeseval.readers.matrices import score_matrix
from bayeseval.readers.records import (
    Records,
    key_words,
    number,
    refuse_copies,
    refuse_duplicates,
    refuse_other_runs,
    run_table,
    say,
    shape_of,
    spread,
    text_column,
)
from bayeseval.readers.spellings import COUNTS
from bayeseval.readers.values import whole_numbers

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Counts"]


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Records):
    """One row a prompt: how often it was answered, and how often correctly.

    Several systems and benchmarks may stand in one object; (system, benchmark, prompt) is the key. The number of
    generations may differ from prompt to prompt, and a prompt without any is legal: it keeps only its prior.

    Attributes
    ----------
    system, benchmark, prompt : object array (row,)
        Texts.
    generations, correct : int64 array (row,)
        0 <= correct <= generations.
    group : object array (row,) or None
        Subject, category or cluster of each prompt.
    account : tuple of str
        How the counts came to be: files, columns, what was set aside and why.

    Raises
    ------
    DataError
        If a count is missing, negative, fractional or larger than the number of generations, an id is missing, a key
        occurs twice, or there is no row at all.

    Examples
    --------
    >>> Counts.from_arrays(correct=[0, 2, 5], generations=[5, 5, 5], system="gpt-x", benchmark="sums")
    Counts: gpt-x on sums, 3 prompts, 15 generations, 5 to each prompt
    """

    system: TextArray
    benchmark: TextArray
    prompt: TextArray
    generations: IntArray
    correct: IntArray
    group: TextArray | None = None
    account: tuple[str, ...] = ()

    _key: ClassVar[tuple[str, ...]] = ("system", "benchmark", "prompt")

    def __post_init__(self) -> None:
        row = Origin().row
        generations = whole_numbers(self.generations, "number of generations", row)
        size = len(generations)
        columns: dict[str, Any] = {
            "system": text_column(self.system, "system", size),
            "benchmark": text_column(self.benchmark, "benchmark", size),
            "prompt": text_column(self.prompt, "prompt", size),
            "generations": generations,
            "correct": whole_numbers(self.correct, "correct count", row),
            "group": None if self.group is None else text_column(self.group, "group", size),
        }
        _check(columns, Origin())
        twice = first_duplicate(combine(*(factorize(columns[name])[0] for name in self._key)))
        if twice:
            named = key_words({name: columns[name] for name in self._key}, twice[1])
            raise DataError(f"{Origin().rows(*twice[:2])} hold the same {named}: give every row its own")
        checked = self._assemble(**columns, account=tuple(self.account))
        for name in (*columns, "account"):
            object.__setattr__(self, name, getattr(checked, name))

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        system: ColumnChoice = None,
        benchmark: ColumnChoice = None,
        prompt: ColumnChoice = None,
        generations: ColumnChoice = None,
        correct: ColumnChoice = None,
        group: ColumnChoice = None,
        generation: ColumnChoice = None,
        threshold: float | None = None,
        quiet: bool = False,
    ) -> Self:
        """Counts from a data frame with one row a prompt, or from a lazy one with one row a generation.

        Parameters
        ----------
        frame : data frame
            pandas, Polars, PyArrow, or any other that Narwhals knows; lazy: of Polars, DuckDB, Dask or PySpark.
        system, benchmark, prompt, generations, correct, group : str, list of str, False or None
            Column for each role. A list is joined with ":" (where a condition is part of the key), False means that
            there is none, None guesses from common spellings.
        generation, threshold : see `bayeseval.Outcomes.from_frame`
            For lazy frames with one row a generation.
        quiet : bool
            Whether to keep the guesses from being printed to standard error.

        Raises
        ------
        DataError
            If a column is missing or its values cannot be counts; row and prompt are named.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"model": "gpt-x", "task": "sums", "prompt_id": ["a", "b"], "n": [8, 8], "c": [3, 8]})
        >>> Counts.from_frame(frame, quiet=True)
        Counts: gpt-x on sums, 2 prompts, 16 generations, 8 to each prompt
        """
        given = {"system": system, "benchmark": benchmark, "prompt": prompt, "generations": generations,
                 "correct": correct, "group": group}  # fmt: skip
        table = from_frame(frame)
        refuse_other_formats(table, given)
        columns = counted_frame(table, given, generation, threshold, quiet=quiet)
        if columns is not None:
            return cls._assemble(**columns)
        choice = choose(table, COUNTS, given, optional=OPTIONAL | {"prompt"})
        say([f"{table.origin.label}: {choice.said}"], quiet=quiet or not choice.guessed)
        return cls._from_table(table, choice)

    @classmethod
    def _from_table(cls, table: Table, choice: Choice) -> Self:
        rows = table.collect(choice.used())
        if not len(rows):
            raise DataError(f"{table.origin.label} has no rows: there is nothing to estimate")
        columns = key_columns(table, rows, choice)

        def named(index: int) -> str:
            return f"{table.origin.row(index)}, prompt {columns['prompt'][index]!r}"

        for role, what in (("generations", "number of generations"), ("correct", "correct count")):
            name = choice.columns[role][0]
            columns[role] = whole_numbers(rows[name], f"{what} (column {name!r})", named)
        _check(columns, table.origin)
        refuse_duplicates(table, {name: columns[name] for name in cls._key}, choice.columns)
        return cls._assemble(
            **columns, account=(*table.notes, f"{table.origin.label}: {number(len(rows), 'row')}; {choice.said}")
        )

    @classmethod
    def from_arrays(
        cls,
        correct: npt.ArrayLike,
        generations: npt.ArrayLike,
        *,
        prompt: Sequence[object] | npt.NDArray[Any] | None = None,
        system: str | Sequence[object] = "system",
        benchmark: str | Sequence[object] = "benchmark",
        group: Sequence[object] | npt.NDArray[Any] | None = None,
    ) -> Self:
        """Counts from arrays with one entry a prompt.

        Parameters
        ----------
        correct, generations : int array-like (prompt,)
            ``generations`` may be one number for all prompts.
        prompt : sequence (prompt,), optional
            Ids; "0", "1", ... when not given.
        system, benchmark : str or sequence (prompt,)
        group : sequence (prompt,), optional

        Raises
        ------
        DataError
            If lengths differ, or the values cannot be counts.

        Examples
        --------
        >>> Counts.from_arrays([1, 0], 4).correct
        array([1, 0])
        """
        right: npt.NDArray[Any] = np.ma.asanyarray(correct)  # a mask must not be lost
        total: npt.NDArray[Any] = np.ma.asanyarray(generations)
        if right.ndim != 1:
            raise DataError(
                f"correct must be one number a prompt, but has shape {right.shape}; for a matrix of "
                "prompts x generations use Counts.from_matrix"
            )
        if total.ndim == 0:
            total = np.full(len(right), total.item())
        if total.shape != right.shape:
            raise DataError(
                f"correct has {len(right):,} entries, but generations has shape {total.shape}: give one each"
            )
        ids: Any = np.arange(len(right)) if prompt is None else prompt
        return cls(system, benchmark, ids, total, right, group)  # type: ignore[arg-type]

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
        """Counts from a matrix of prompts × generations, or an array of systems × prompts × generations.

        Parameters
        ----------
        y : array-like (prompt, generation) or (system, prompt, generation)
            0 or 1 (or False and True); NaN, None or masked where there is no generation. A row without any is a prompt
            with 0 generations. Lists of unequal length are filled up.
        prompts : sequence (prompt,), optional
            Ids; "0", "1", ... when not given.
        system : str or sequence of str (system,)
        benchmark : str
        threshold : float, optional
            Scores of at least this much count as correct.

        Raises
        ------
        DataError
            If the array has another number of axes, or a value is neither 0 nor 1 and no threshold is given.

        Examples
        --------
        >>> counts = Counts.from_matrix([[1, 0, 1], [0, 0, float("nan")]])
        >>> counts.correct, counts.generations
        (array([2, 0]), array([3, 2]))
        """
        matrix = score_matrix(y, prompts=prompts, system=system, threshold=threshold)
        known = ~np.isnan(matrix.correct)
        systems, ids = len(matrix.systems), len(matrix.prompts)
        columns = {
            "system": np.repeat(matrix.systems, ids),
            "benchmark": text_column(benchmark, "benchmark", systems * ids),
            "prompt": np.tile(matrix.prompts, systems),
            "generations": known.sum(axis=2, dtype=np.int64).reshape(-1),
            "correct": np.nansum(matrix.correct, axis=2).astype(np.int64).reshape(-1),
        }
        return cls._assemble(**columns, account=(matrix.said,))

    @classmethod
    def concat(cls, parts: Iterable[Counts]) -> Counts:
        """Join several objects into one; a (system, benchmark, prompt) that occurs in two of them is refused."""
        listed = list(parts)
        return cls._concat(listed, [Origin(label=f"part {i}") for i in range(1, len(listed) + 1)])

    def add(self, more: Counts) -> Counts:
        """These counts and those of further generations of the same runs, prompt by prompt.

        Parameters
        ----------
        more : Counts
            Further generations, all of them new: counts cannot tell whether some were counted before, and only a file
            that was read twice is known again, by its content. Prompts that were not there yet are appended. Where
            groups are known, those of known prompts may be left out.

        Returns
        -------
        Counts
            Prompts in the order of these counts, then new ones in the order of ``more``.

        Raises
        ------
        DataError
            If ``more`` has a run that is not here, or other groups, or a file was added before: both are named.

        Examples
        --------
        >>> first = Counts.from_arrays([1, 0], 4, prompt=["a", "b"])
        >>> both = first.add(Counts.from_arrays([3, 2], 4, prompt=["b", "c"]))
        >>> both.prompt.tolist(), both.correct.tolist(), both.generations.tolist()
        (['a', 'b', 'c'], [1, 3, 2], [4, 8, 4])
        """
        if not isinstance(more, Counts):
            raise DataError(f"Counts are added to Counts, but {type(more).__name__} was given: count them first")
        refuse_other_runs(self, more)
        refuse_copies(self, more)
        columns = {name: np.concatenate([getattr(self, name), getattr(more, name)]) for name in self._key}
        codes, seen = factorize(combine(*(factorize(column)[0] for column in columns.values())))
        first = np.unique(codes, return_index=True)[1]
        known = codes[len(self) :] < len(self)

        def total(name: str) -> IntArray:
            result = np.zeros(len(seen), dtype=np.int64)
            np.add.at(result, codes, np.concatenate([getattr(self, name), getattr(more, name)]))
            return result

        return self._assemble(
            **{name: column[first] for name, column in columns.items()},
            generations=total("generations"),
            correct=total("correct"),
            group=_added_groups(self, more, known, codes[len(self) :]),
            account=(*self.account, *more.account),
        )._told_of(None, dict.fromkeys([*self._sources, *more._sources]))

    @property
    def n_prompts(self) -> int:
        """Number of rows: prompts, summed over runs."""
        return len(self.prompt)

    @property
    def n_generations(self) -> int:
        """Generations in all."""
        return int(self.generations.sum())

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with columns system, benchmark, prompt, group (where known), generations, correct."""
        import pandas as pd

        columns = self._columns()
        order = ("system", "benchmark", "prompt", "group", "generations", "correct")
        return pd.DataFrame({name: columns[name] for name in order if name in columns})

    def __repr__(self) -> str:
        shape = self.label if len(self._runs[1]) == 1 else shape_of(self._runs[1])
        return (
            f"Counts: {shape}, {number(self.n_prompts, 'prompt')}, {number(self.n_generations, 'generation')}, "
            f"{spread(self.generations)}"
        )

    def _repr_html_(self) -> str:
        rows = (
            (
                run.system[0],
                run.benchmark[0],
                run.n_prompts,
                run.n_generations,
                spread(run.generations),
                int(run.correct.sum()),
            )
            for run in self.runs()
        )
        header = ("system", "benchmark", "prompts", "generations", "", "correct")
        return run_table(repr(self), header, rows, len(self._runs[1]))


def _added_groups(here: Counts, more: Counts, known: npt.NDArray[np.bool_], place: IntArray) -> TextArray | None:
    """Groups of prompts after an addition; ``place`` is that of every row of ``more``, ``known`` if it was there."""
    if here.group is None:
        if more.group is not None:
            raise DataError("the new counts have groups and the earlier ones none: leave the groups out")
        return None
    if more.group is None:
        if not known.all():
            prompt = more.prompt[int(np.argmin(known))]
            raise DataError(f"prompt {prompt!r} is new, and the earlier prompts have groups: say which group it has")
        return here.group
    other = known & (more.group != here.group[np.where(known, place, 0)])
    if other.any():
        row = int(np.argmax(other))
        raise DataError(
            f"prompt {more.prompt[row]!r} was in group {here.group[place[row]]!r}, and is now in {more.group[row]!r}: "
            f"give every prompt one group"
        )
    return np.concatenate([here.group, more.group[~known]])


def _check(columns: Mapping[str, Any], origin: Origin) -> None:
    """Refuse columns that cannot be counts of anything."""
    generations, correct = columns["generations"], columns["correct"]
    if not len(generations):
        raise DataError("no prompts were given: there is nothing to estimate")
    if len(correct) != len(generations):
        raise DataError(f"{len(generations):,} numbers of generations were given, but {len(correct):,} correct counts")
    bad = correct > generations
    if bad.any():
        index = int(np.argmax(bad))
        more = f" ({int(bad.sum()):,} such rows in all)" if bad.sum() > 1 else ""
        raise DataError(
            f"{origin.row(index)}, prompt {columns['prompt'][index]!r}: {correct[index]:,} correct out of "
            f"{generations[index]:,} generations{more}; correct cannot exceed generations. Are the columns swapped?"
        )
