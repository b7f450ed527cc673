"""Preferences: comparisons of two systems each, and who won them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayeseval.display import html_table
from bayeseval.errors import DataError, ReadError
from bayeseval.outcomes import Outcomes
from bayeseval.preferences.correctness import compared_answers
from bayeseval.preferences.labels import LABELS, TIE, chosen_columns, whole_counts, winner_codes
from bayeseval.readers.cells import Origin, RowName, id_texts
from bayeseval.readers.codes import IntArray, TextArray, combine, factorize
from bayeseval.readers.frames import Table, from_frame
from bayeseval.readers.records import number
from bayeseval.readers.tables import SUFFIXES, has_table_suffix, read_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DESIGNS", "Preferences"]

DESIGNS = {
    "judged": "comparisons by judges",
    "coupled": "answers that share their noise, by correctness",
    "independent": "answers with noise of their own, by correctness",
}
"""Where comparisons come from; coupled and independent ones are never mixed."""


@dataclass(frozen=True, eq=False, repr=False)
class Preferences:
    """Comparisons of two systems each: who won, how often, and on which prompt.

    Attributes
    ----------
    system_a, system_b : object array (row,)
        Names of the two systems compared.
    winner : object array (row,)
        ``"a"``, ``"b"`` or ``"tie"``.
    count : int array (row,)
        Comparisons that ended so; 1 unless given.
    cluster : object array (row,) or None
        Prompt, seed or both: comparisons within a cluster may depend on each other.
    design : {"judged", "coupled", "independent"}
        Judged by people or models, or made of correctness of answers that share their noise or do not.
    warnings : tuple of str
        What was left out, and why.

    Raises
    ------
    DataError
        If a winner is none of the three, a system is compared with itself, a count is no whole number of at least 1,
        or there is no comparison.

    Examples
    --------
    >>> votes = Preferences(["x", "x", "y"], ["y", "z", "z"], ["a", "tie", "b"], count=[3, 1, 2])
    >>> votes
    Preferences: 6 comparisons of 3 systems, 1 tie, comparisons by judges
    >>> votes.wins()
    array([[0, 3, 0],
           [0, 0, 0],
           [0, 2, 0]])
    """

    system_a: TextArray
    system_b: TextArray
    winner: TextArray
    count: IntArray | None = None
    cluster: TextArray | None = None
    design: str = "judged"
    warnings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        row = Origin().row
        a, b = (id_texts(self.system_a, "system", row), id_texts(self.system_b, "system", row))
        if not a.size or a.shape != b.shape:
            raise DataError(
                f"a table of preferences needs as many systems A as systems B, and at least one comparison, but there "
                f"are {a.size:,} and {b.size:,}"
            )
        winner = np.asarray(self.winner, dtype=object)
        strange = [place for place, label in enumerate(winner.tolist()) if label not in LABELS]
        if strange:
            raise DataError(
                f"{row(strange[0])} has the winner {winner[strange[0]]!r}, but it must be one of "
                f"{', '.join(map(repr, LABELS))}; Preferences.from_frame reads the words of exports"
            )
        count = np.ones(a.size, dtype=np.int64) if self.count is None else whole_counts(self.count, row)
        cluster = None if self.cluster is None else id_texts(self.cluster, "cluster", row)
        self._settle(a, b, winner, count, cluster, row)

    def _settle(
        self, a: TextArray, b: TextArray, winner: TextArray, count: IntArray, cluster: TextArray | None, row: RowName
    ) -> None:
        if self.design not in DESIGNS:
            raise DataError(f"design must be one of {', '.join(map(repr, DESIGNS))}, but {self.design!r} was given")
        for name, column in (("winner", winner), ("count", count), ("cluster", cluster)):
            if column is not None and column.shape != a.shape:
                raise DataError(f"there are {a.size:,} comparisons, but {column.size:,} values of {name}")
        same = np.flatnonzero(a == b)
        if same.size:
            more = f" and {same.size - 1:,} more rows" if same.size > 1 else ""
            raise DataError(
                f"{row(int(same[0]))}{more}: {str(a[same[0]])!r} is compared with itself, which tells nothing; leave "
                f"such comparisons out"
            )
        columns = {"system_a": a, "system_b": b, "winner": winner, "count": count, "cluster": cluster}
        for name, value in columns.items():
            if value is not None:
                value = value.view()
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        a: str | None = None,
        b: str | None = None,
        winner: str | None = None,
        prompt: str | bool | None = None,
        seed: str | bool | None = None,
        count: str | bool | None = None,
    ) -> Preferences:
        """Preferences from a data frame with one row a comparison, or a row for so many of them.

        Parameters
        ----------
        frame : data frame
            pandas, Polars, PyArrow, or any other that Narwhals knows.
        a, b, winner : str, optional
            Columns of the two systems and of who won: the name of a system, or words such as model_a, B>A, tie, tie
            (bothbad). Guessed from common spellings.
        prompt, seed : str or False, optional
            Columns that together name the cluster: comparisons that share a prompt (and a seed) depend on each other.
            Guessed; False says that there is none.
        count : str or False, optional
            Column with the number of such comparisons. Guessed; False says that each row is one.

        Returns
        -------
        Preferences

        Raises
        ------
        DataError
            If a column is missing, a label is not known, or a system is compared with itself; rows are named.

        Examples
        --------
        >>> import pandas as pd
        >>> votes = pd.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "x"], "winner": ["model_a", "tie (bothbad)"]})
        >>> Preferences.from_frame(votes).winner.tolist()
        ['a', 'tie']
        """
        given = {"a": a, "b": b, "winner": winner, "prompt": prompt, "seed": seed, "count": count}
        return cls._from_table(from_frame(frame), given)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **columns: str | bool | None) -> Preferences:
        """Preferences from a file with a table: .csv, .tsv, .jsonl (also gzipped) or .parquet.

        Parameters
        ----------
        path : str or path
        **columns
            Columns as in `from_frame`: a, b, winner, prompt, seed, count.

        Raises
        ------
        ReadError
            If the file is not there, or no table.
        DataError
            As in `from_frame`; the file and its lines are named.
        """
        file = Path(path).expanduser()
        if not has_table_suffix(file):
            raise ReadError(f"{file} is no file of a kind that holds comparisons: {', '.join(SUFFIXES)}")
        return cls._from_table(read_table(file), columns)

    @classmethod
    def _from_table(cls, table: Table, given: Mapping[str, str | bool | None]) -> Preferences:
        column = chosen_columns(table, given)
        rows = table.collect(column.values())
        row = table.origin.row
        system_a, system_b = (id_texts(rows[column[role]], f"system {role.upper()}", row) for role in "ab")
        codes = winner_codes(rows[column["winner"]], system_a, system_b, row)
        times = np.ones(len(codes), dtype=np.int64)
        if "count" in column:
            times = whole_counts(rows[column["count"]], row)
        parts = [id_texts(rows[column[role]], role, row) for role in ("prompt", "seed") if role in column]
        cluster = parts[0] if parts else None
        if len(parts) == 2:
            cluster = np.array([f"{one}:{two}" for one, two in zip(*parts, strict=True)], dtype=object)
        if not len(codes):
            raise DataError(f"{table.origin.label} has no comparison")
        return cls._checked(system_a, system_b, codes, times, cluster, "judged", (), row)

    @classmethod
    def from_outcomes(
        cls, outcomes: Outcomes | Sequence[Outcomes], *, coupled: bool, shared_noise: bool = True
    ) -> Preferences:
        """Wins, losses and ties by correctness, of all pairs of systems on one benchmark.

        A system wins where it is correct and the other is not; both correct, or both wrong, is a tie.

        Parameters
        ----------
        outcomes : Outcomes or sequence of Outcomes
            All systems on one benchmark; prompts are matched by id.
        coupled : bool
            True: generation j of one system is compared with generation j of the other, made with the same noise.
            False: generations are compared with those of other numbers, so that noise is never shared.
        shared_noise : bool
            For ``coupled=False``: whether generations of equal number may share their noise, as equal seeds make them
            do. False compares those, too, which a single generation a prompt needs.

        Returns
        -------
        Preferences
            Its clusters are prompts, its design is coupled or independent.

        Raises
        ------
        DataError
            If there are several benchmarks, fewer than two systems, no prompt that all systems answered, or no
            generation that may be compared.

        Examples
        --------
        >>> cube = [[[1, 1], [0, 1]], [[1, 0], [0, 0]]]
        >>> outcomes = Outcomes.from_matrix(cube, system=["x", "y"])
        >>> Preferences.from_outcomes(outcomes, coupled=True)
        Preferences: 4 comparisons of 2 systems, 2 ties, 2 clusters, answers that share their noise, by correctness
        """
        found = compared_answers(outcomes, coupled=coupled, shared_noise=shared_noise)
        names = np.array(found.systems, dtype=object)
        tables = np.stack([found.wins, found.losses, found.ties], axis=-1)
        prompt, pair, code = np.nonzero(tables)
        return cls._checked(
            names[found.first[pair]], names[found.second[pair]], code, tables[prompt, pair, code],
            found.prompt[prompt], "coupled" if coupled else "independent", found.warnings, Origin().row,
        )  # fmt: skip

    @classmethod
    def _checked(
        cls, a: TextArray, b: TextArray, codes: IntArray, count: IntArray, cluster: TextArray | None, design: str,
        warnings: tuple[str, ...], row: RowName,
    ) -> Preferences:  # fmt: skip
        new = object.__new__(cls)
        object.__setattr__(new, "design", design)
        object.__setattr__(new, "warnings", warnings)
        new._settle(a, b, np.array(LABELS, dtype=object)[codes], count, cluster, row)
        return new

    def select(self, systems: Sequence[str]) -> Preferences:
        """The comparisons among some of the systems.

        Raises
        ------
        DataError
            If a system is not known, or none of them was compared with another.
        """
        unknown = [name for name in systems if name not in self.systems]
        if unknown:
            raise DataError(f"there is no system {unknown[0]!r}; there are {', '.join(map(repr, self.systems[:20]))}")
        kept = set(systems)
        both = zip(self.system_a.tolist(), self.system_b.tolist(), strict=True)
        rows = np.flatnonzero([a in kept and b in kept for a, b in both])
        if not rows.size:
            raise DataError(f"none of {', '.join(map(repr, systems))} was compared with another of them")
        return Preferences(
            self.system_a[rows], self.system_b[rows], self.winner[rows], self._count[rows],
            None if self.cluster is None else self.cluster[rows], self.design, self.warnings,
        )  # fmt: skip

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems, in order of first appearance."""
        both = np.stack([self.system_a, self.system_b], axis=1).reshape(-1)
        return tuple(str(name) for name in dict.fromkeys(both.tolist()))

    @cached_property
    def codes(self) -> tuple[IntArray, IntArray, IntArray]:
        """Number of system A, number of system B, and winner (0 A, 1 B, 2 tie) of every row."""
        place = {name: number for number, name in enumerate(self.systems)}
        a, b = (np.array([place[name] for name in column.tolist()]) for column in (self.system_a, self.system_b))
        winner = {label: code for code, label in enumerate(LABELS)}
        return a, b, np.array([winner[label] for label in self.winner.tolist()])

    @cached_property
    def cluster_codes(self) -> IntArray | None:
        """Number of the cluster of every row, by first appearance."""
        return None if self.cluster is None else factorize(self.cluster)[0]

    @property
    def n_comparisons(self) -> int:
        """All comparisons."""
        return int(self._count.sum())

    @property
    def n_clusters(self) -> int | None:
        """Clusters, where comparisons have any."""
        return None if self.cluster_codes is None else int(self.cluster_codes.max()) + 1

    @property
    def _count(self) -> IntArray:
        assert self.count is not None  # settled when the object is made
        return self.count

    def wins(self) -> IntArray:
        """How often the system of the row beat that of the column (system, system), in the order of `systems`."""
        return self._matrix(ties=False)

    def ties(self) -> IntArray:
        """How often two systems tied (system, system), a symmetric matrix."""
        return self._matrix(ties=True)

    def _matrix(self, *, ties: bool) -> IntArray:
        a, b, code = self.codes
        size = len(self.systems)
        rows = (code == TIE) == ties
        up = np.where(code == 1, b, a)[rows]
        down = np.where(code == 1, a, b)[rows]
        found = np.bincount(up * size + down, weights=self._count[rows], minlength=size**2).reshape(size, size)
        return np.asarray((found + found.T if ties else found).round(), dtype=np.int64)

    def tallies(self) -> tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]]:
        """Comparisons by pair and cluster.

        Returns
        -------
        pairs : int array (pair, 2)
            Numbers of the two systems, the smaller first.
        pair, cluster : int array (cell,)
            Numbers of the pair and of the cluster of a cell; without clusters every cell has cluster 0.
        counts : float array (cell, 3)
            How often the first won, the second won, and they tied.
        """
        a, b, code = self.codes
        swapped = a > b
        first, second = np.minimum(a, b), np.maximum(a, b)
        code = np.where(swapped & (code != TIE), 1 - code, code)
        cluster = np.zeros_like(a) if self.cluster_codes is None else self.cluster_codes
        _, sample, pair = np.unique(combine(first, second), return_index=True, return_inverse=True)
        pair = pair.reshape(-1)
        _, place, cell = np.unique(combine(pair, cluster), return_index=True, return_inverse=True)
        counts = np.bincount(cell.reshape(-1) * 3 + code, weights=self._count, minlength=3 * place.size)
        pairs = np.stack([first[sample], second[sample]], axis=1)
        return pairs, pair[place].astype(np.int64), cluster[place], counts.reshape(-1, 3).astype(float)

    def __len__(self) -> int:
        return int(self.system_a.size)

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with one row a comparison, or so many alike: system_a, system_b, winner, count, cluster."""
        import pandas as pd

        columns: dict[str, Any] = {
            name: getattr(self, name) for name in ("system_a", "system_b", "winner", "count", "cluster")
        }
        return pd.DataFrame({name: column for name, column in columns.items() if column is not None})

    def sentence(self) -> str:
        """What there is, in words."""
        parts = [f"{number(self.n_comparisons, 'comparison')} of {number(len(self.systems), 'system')}"]
        parts.append(number(int(self._count[self.winner == "tie"].sum()), "tie"))
        if self.n_clusters is not None:
            parts.append(number(self.n_clusters, "cluster"))
        return ", ".join([*parts, DESIGNS[self.design]])

    def __repr__(self) -> str:
        return f"Preferences: {self.sentence()}"

    def _repr_html_(self) -> str:
        wins, ties = self.wins(), self.ties()
        rows = [
            [name, f"{wins[place].sum():,}", f"{wins[:, place].sum():,}", f"{ties[place].sum():,}"]
            for place, name in enumerate(self.systems)
        ]
        return html_table(["system", "won", "lost", "tied"], rows, (*self.warnings, repr(self)))
