"""What outcomes and credits share: one row a generation, which was given something, or was not scored."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bayeseval.errors import DataError
from bayeseval.readers.cells import Origin, index_values
from bayeseval.readers.codes import FloatArray, IntArray, TextArray, combine, factorize, first_duplicate, places
from bayeseval.readers.columns import Choice
from bayeseval.readers.frames import Table
from bayeseval.readers.keys import key_columns, numbered_in_order, refuse_changing_groups, rival_keys
from bayeseval.readers.records import (
    Records,
    key_words,
    number,
    refuse_copies,
    refuse_duplicates,
    refuse_other_runs,
    shape_of,
    spread,
    text_column,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["UNNUMBERED", "Generations", "KeyedRows", "cube_columns", "keyed_rows"]

UNNUMBERED = "no column numbers the generations"
"""What the account of a table says whose generations are numbered in order of rows."""


class Generations(Records):
    """Base of `Outcomes` and `Credits`: what every generation was given stands in the column ``_given``."""

    _key: ClassVar[tuple[str, ...]] = ("system", "benchmark", "prompt", "generation")
    _given: ClassVar[str]
    _noun: ClassVar[str]
    generation: npt.NDArray[Any]

    def _settle(self, given: FloatArray, **more: npt.NDArray[Any] | None) -> None:
        """Check what was given by hand, for ``__post_init__``; columns of a subclass come in ``more``, checked."""
        row, size = Origin().row, len(given)
        columns: dict[str, Any] = {
            "system": text_column(self.system, "system", size),
            "benchmark": text_column(self.benchmark, "benchmark", size),
            "prompt": text_column(self.prompt, "prompt", size),
            "generation": index_values(self.generation, "generation", row),
            self._given: given,
            "group": None if self.group is None else text_column(self.group, "group", size),
            **more,
        }
        for name, column in columns.items():
            if column is not None and len(column) != size:
                raise DataError(f"{size:,} {self._noun}s were given, but {len(column):,} values of {name}")
        if not size:
            raise DataError("no generations were given: there is nothing to estimate")
        twice = first_duplicate(combine(*(factorize(columns[name])[0] for name in self._key)))
        if twice:
            named = key_words({name: columns[name] for name in self._key}, twice[1])
            raise DataError(f"{Origin().rows(*twice[:2])} hold the same {named}: give every row its own")
        refuse_changing_groups(columns, Origin())
        checked = self._replaced(**columns, account=tuple(self.account))
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, field.name, getattr(checked, field.name))

    def add(self, more: Self, *, renumber: bool | None = None) -> Self:
        """These generations and further ones of the same runs.

        Parameters
        ----------
        more : Outcomes or Credits
            As this object, of the same systems and benchmarks.
        renumber : bool, optional
            Whether the new generations get numbers that go on from those of their prompt. False keeps their names, so
            that one that is there already is refused. None renumbers those of files that number no generations, whose
            names were made in reading.

        Returns
        -------
        Outcomes or Credits
            The rows of this object, then the new ones.

        Raises
        ------
        DataError
            If a generation occurs twice: both places are named, as file and row where the results were read from files.
            If new numbers are given: if a file was added before, by its content. A file that was written anew, or a
            data frame, is not known again; then only names of generations can tell.
            If ``more`` has a run that is not here, or other groups.

        Examples
        --------
        >>> from bayeseval import Outcomes
        >>> monday = Outcomes.from_matrix([[1, 0]], prompts=["a"])
        >>> tuesday = Outcomes.from_matrix([[1, 1]], prompts=["a"])
        >>> monday.add(tuesday, renumber=True).generation.tolist()
        [0, 1, 2, 3]
        """
        if type(more) is not type(self):
            raise DataError(
                f"{type(self).__name__} are added to {type(self).__name__}, but {type(more).__name__} was given"
            )
        refuse_other_runs(self, more)
        made_up = bool(more._sources) and all(source.numbered for source in more._sources)
        fresh = more
        if made_up if renumber is None else renumber:
            refuse_copies(self, more)
            line = f"{number(len(more), 'generation')} added: numbered on from those there"
            fresh = more._replaced(generation=_numbers_after(self, more), account=(*more.account, line))
        whole = self._concat(
            [self, fresh],
            [Origin("the earlier results"), Origin("the new results")],
            "leave one of them out. If they are other generations, number them on with .add(..., renumber=True)",
        )
        refuse_changing_groups(whole._columns(), Origin("all results"))
        return whole

    @cached_property
    def _prompts(self) -> tuple[IntArray, IntArray]:
        """Number of the prompt of every row, and the first row of every prompt, in order of first appearance."""
        codes, _ = factorize(combine(*(factorize(column)[0] for column in (self.system, self.benchmark, self.prompt))))
        return codes, np.unique(codes, return_index=True)[1].astype(np.int64)

    @cached_property
    def _scored(self) -> npt.NDArray[np.bool_]:
        return ~np.isnan(getattr(self, self._given))

    @property
    def n_prompts(self) -> int:
        """Number of prompts, summed over runs."""
        return len(self._prompts[1])

    @property
    def n_generations(self) -> int:
        """Number of generations with a score."""
        return int(self._scored.sum())

    @property
    def n_unscored(self) -> int:
        """Number of generations without a score."""
        return len(self) - self.n_generations

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with one row a generation; columns that are not known are left out."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def _in_words(self) -> str:
        shape = self.label if len(self._runs[1]) == 1 else shape_of(self._runs[1])
        per_prompt = np.bincount(self._prompts[0], weights=self._scored).astype(np.int64)
        more = f", {self.n_unscored:,} more not scored" if self.n_unscored else ""
        return (
            f"{type(self).__name__}: {shape}, {number(self.n_prompts, 'prompt')}, "
            f"{number(self.n_generations, 'generation')}, {spread(per_prompt)}{more}"
        )


@dataclasses.dataclass(frozen=True)
class KeyedRows:
    """Rows of a table whose key is being read: system, benchmark, prompt and group first, the generation last.

    Attributes
    ----------
    table : Table
    choice : Choice
    rows : data frame of Narwhals
    columns : dict of str to array (row,)
        What was read so far, by role.
    """

    table: Table
    choice: Choice
    rows: Any
    columns: dict[str, Any]

    def named(self, index: int) -> str:
        """Name one row by its place and its prompt."""
        return f"{self.table.origin.row(index)}, prompt {self.columns['prompt'][index]!r}"

    def cells(self, role: str, what: str, parse: Callable[[Any, str, Callable[[int], str]], Any]) -> Any:
        """Read the column of one role; messages call it ``what`` and name the column and the row."""
        name = self.choice.columns[role][0]
        return parse(self.rows[name], f"{what} (column {name!r})", self.named)

    def numbered(self, key: tuple[str, ...]) -> list[str]:
        """Read or make the numbers of the generations, refuse keys that occur twice, and return the account so far."""
        table, choice = self.table, self.choice
        account = [*table.notes, f"{table.origin.label}: {number(len(self.rows), 'row')}; {choice.said}"]
        if choice.columns["generation"]:
            advice = "give one to every row, or have the rows numbered in order with generation=False"
            self.columns["generation"] = index_values(
                self.rows[choice.columns["generation"][0]], "generation", self.named, advice=advice
            )
            refuse_duplicates(table, {name: self.columns[name] for name in key}, choice.columns)
        else:
            self.columns["generation"] = numbered_in_order(table, self.rows, choice, self.columns)
            account.append(f"{table.origin.label}: {UNNUMBERED}, so they are numbered in order of rows")
        refuse_changing_groups(self.columns, table.origin)
        return account


def keyed_rows(table: Table, choice: Choice) -> KeyedRows:
    """Collect the rows that a choice of columns needs, and read the columns of the key but the generation."""
    rows = table.collect([*choice.used(), *rival_keys(choice)])
    if not len(rows):
        raise DataError(f"{table.origin.label} has no rows: there is nothing to estimate")
    return KeyedRows(table, choice, rows, key_columns(table, rows, choice))


def cube_columns(systems: TextArray, prompts: TextArray, generations: int, benchmark: str) -> dict[str, Any]:
    """Columns of the key for the cells of a cube (system, prompt, generation) in order; see `Cube`."""
    size = len(systems) * len(prompts) * generations
    return {
        "system": np.repeat(systems, len(prompts) * generations),
        "benchmark": text_column(benchmark, "benchmark", size),
        "prompt": np.tile(np.repeat(prompts, generations), len(systems)),
        "generation": np.tile(np.arange(generations), len(systems) * len(prompts)),
    }


def _numbers_after(here: Generations, more: Generations) -> npt.NDArray[Any]:
    """Numbers of new generations that go on from the highest of their prompt; texts where those there are texts."""
    keys = [
        np.concatenate([getattr(part, name) for part in (here, more)]) for name in ("system", "benchmark", "prompt")
    ]
    prompt, seen = factorize(combine(*(factorize(key)[0] for key in keys)))
    top = np.full(len(seen), -1, dtype=np.int64)
    names, distinct = factorize(here.generation)
    values = [int(name) if str(name).isdecimal() and len(str(name)) < 18 else -1 for name in distinct]
    np.maximum.at(top, prompt[: len(here)], np.array(values, dtype=np.int64)[names])
    new = top[prompt[len(here) :]] + 1 + places(prompt[len(here) :])
    return new if here.generation.dtype != object else np.array([str(value) for value in new.tolist()], dtype=object)
