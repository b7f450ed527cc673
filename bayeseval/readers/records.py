"""What counts, outcomes and credits share: rows that belong to runs, never changed once made."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bayeseval.display import html_table
from bayeseval.errors import DataError, OptionError
from bayeseval.readers.cells import Origin, id_texts
from bayeseval.readers.codes import IntArray, TextArray, combine, factorize, factorize_codes, first_duplicate
from bayeseval.readers.frames import Table
from bayeseval.readers.places import Places, Source, contributed, twice_counted

__all__ = ["Records", "refuse_copies", "refuse_duplicates", "refuse_other_runs", "say"]

_SHOWN_RUNS = 20
_NAME_ONE = "name one of them, or tell them apart"


class Records:
    """Base of `Counts`, `Outcomes` and `Credits`: frozen columns of one length, with a key that no two rows share.

    Subclasses are frozen dataclasses; ``_key`` names the columns that make up the key, and ``_facts`` the fields that
    are no columns but hold for all rows.
    """

    _key: ClassVar[tuple[str, ...]]
    _facts: ClassVar[tuple[str, ...]] = ("account",)
    system: TextArray
    benchmark: TextArray
    prompt: TextArray
    group: TextArray | None
    account: tuple[str, ...]
    _places: Places | None = None
    _sources: tuple[Source, ...] = ()

    @classmethod
    def _assemble(cls, **columns: Any) -> Self:
        """Make an object of columns that are known to be right, without checking them again."""
        new = object.__new__(cls)
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            value = columns.get(field.name, () if field.name == "account" else None)
            if isinstance(value, np.ndarray):
                value = value.view()
                value.flags.writeable = False
            object.__setattr__(new, field.name, value)
        return new

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        names = (field.name for field in dataclasses.fields(self))  # type: ignore[arg-type]
        fields = [name for name in names if name not in self._facts]
        return {name: getattr(self, name) for name in fields if getattr(self, name) is not None}

    def _take(self, rows: npt.NDArray[Any]) -> Self:
        """The same object with some of its rows."""
        taken = self._replaced(**{name: column[rows] for name, column in self._columns().items()})
        return taken._told_of(None if self._places is None else self._places.take(rows), self._sources)

    def _with_account(self, *lines: str) -> Self:
        """The same rows with another account of how they came to be."""
        return self._replaced(account=tuple(lines))

    def _replaced(self, **changes: Any) -> Self:
        """The same object with some columns or facts changed, unchecked."""
        facts = {name: getattr(self, name) for name in self._facts}
        new = self._assemble(**{**self._columns(), **facts, **changes})
        same_rows = self._places is not None and len(self._places) == len(new)
        return new._told_of(self._places if same_rows else None, self._sources)

    def _told_of(self, places: Places | None, sources: Iterable[Source]) -> Self:
        """Let this object know where its rows are from, and return it; only for one that nobody else holds yet."""
        object.__setattr__(self, "_places", places)
        object.__setattr__(self, "_sources", tuple(sources))
        return self

    @cached_property
    def _runs(self) -> tuple[IntArray, list[tuple[str, str]]]:
        """Number of the run of every row, and the (system, benchmark) of every run, by first appearance."""
        systems, benchmarks = factorize(self.system), factorize(self.benchmark)
        size = len(benchmarks[1])
        key = combine(systems[0], benchmarks[0])
        few = len(systems[1]) * size <= max(len(key), 1 << 16)
        codes, seen = factorize_codes(key) if few else factorize(key)
        return codes, [(systems[1][code // size], benchmarks[1][code % size]) for code in seen]

    @property
    def run_names(self) -> tuple[tuple[str, str], ...]:
        """The (system, benchmark) of every run, in order of first appearance."""
        return tuple(self._runs[1])

    def runs(self) -> list[Self]:
        """One object for every (system, benchmark), in order of first appearance."""
        codes = self._runs[0]
        order = np.argsort(codes, kind="stable")
        parts = [self._take(rows) for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)]
        for part, name in zip(parts, self._runs[1], strict=True) if self._sources else ():
            part._told_of(part._places, contributed(self._sources, [name]))
        return parts

    def select(self, system: str | Sequence[str] | None = None, benchmark: str | Sequence[str] | None = None) -> Self:
        """The rows of some systems and benchmarks; unknown names are refused with those that are there."""
        keep = np.ones(len(self), dtype=bool)
        for role, wanted, column in (("system", system, self.system), ("benchmark", benchmark, self.benchmark)):
            if wanted is None:
                continue
            names = [wanted] if isinstance(wanted, str) else list(wanted)
            there = list(dict.fromkeys(column.tolist()))
            for name in names:
                if name not in there:
                    shown = ", ".join(map(repr, there[:20])) + (
                        f" and {len(there) - 20} more" if len(there) > 20 else ""
                    )
                    raise OptionError(f"there is no {role} {name!r}; there are {shown}")
            keep &= np.isin(column, names)
        if not keep.any():
            raise OptionError(f"no run has system {system!r} and benchmark {benchmark!r}")
        return self._of_runs(np.flatnonzero(keep))

    def _of_runs(self, rows: npt.NDArray[Any]) -> Self:
        """The rows of some runs, with the sources of these alone."""
        kept = self._take(rows)
        return kept._told_of(kept._places, contributed(self._sources, kept.run_names) if self._sources else ())

    @property
    def label(self) -> str:
        """System and benchmark of a single run, else how many of them there are."""
        names = self._runs[1]
        if len(names) == 1:
            return f"{names[0][0]} on {names[0][1]}"
        return shape_of(names)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content in hexadecimal digits; neither the order of the rows nor the account matters."""
        digest = hashlib.sha256(type(self).__name__.encode())
        ranks = {name: _ranked(column) for name, column in self._columns().items()}
        order = np.lexsort([ranks[name][0] for name in reversed(self._key)])
        for name, (codes, values) in ranks.items():
            digest.update(f"|{name}:{len(codes)}:{len(values)}|".encode())
            digest.update(codes[order].astype("<i8").tobytes())
            for value in values:
                text = value.encode("utf-8", "surrogatepass")
                digest.update(len(text).to_bytes(8, "little") + text)
        for name in self._facts:
            if name != "account":
                digest.update(f"|{name}:{getattr(self, name)!r}|".encode())
        return digest.hexdigest()

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the results to a file that any tool reads, and that `bayeseval.read` gives back exactly as they were.

        Parameters
        ----------
        path : str or path
            Ends in .csv, .jsonl or .parquet. A file that bayeseval wrote is replaced, whole or not at all.
        overwrite : bool
            Whether to replace a file that bayeseval did not write.

        Returns
        -------
        pathlib.Path
            The file. Kind, levels, account, a fingerprint and the digests of the files that were read are in the
            metadata of Parquet, and beside CSV and JSON Lines in a file ``<name>.meta.json``, which belongs with it.

        Raises
        ------
        OptionError
            If the file cannot be written, is there already, or has another ending.

        Notes
        -----
        What is missing is null in Parquet and JSON Lines, and nothing at all in CSV, where an empty text is ``""``.
        Places of rows in the files that were read are not kept: later messages name rows of the file written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import bayeseval as be
        >>> counts = be.Counts.from_arrays([1, 0], 4, prompt=["007", "7"])
        >>> file = counts.write(pathlib.Path(tempfile.mkdtemp()) / "counts.csv")
        >>> be.read(file, quiet=True) == counts
        True
        """
        from bayeseval.readers.stored import write_records

        return write_records(self, path, overwrite=overwrite)

    def __len__(self) -> int:
        return len(self.prompt)

    def __eq__(self, other: object) -> bool:
        """Equal content, whatever the order of the rows."""
        return type(self) is type(other) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @classmethod
    def _concat(cls, parts: Sequence[Self], origins: Sequence[Origin], advice: str = _NAME_ONE) -> Self:
        """Join rows of several objects, refusing a key that occurs twice with both places named."""
        if not parts:
            raise DataError(f"there is nothing to join: give at least one {cls.__name__}")
        facts = {name: getattr(parts[0], name) for name in cls._facts if name != "account"}
        for name, value in facts.items():
            other = next((i for i, part in enumerate(parts) if getattr(part, name) != value), None)
            if other is not None:
                raise DataError(
                    f"{origins[0].label} has {name} {value!r}, but {origins[other].label} has "
                    f"{getattr(parts[other], name)!r}: declare the same {name} for all parts"
                )
        places = Places.joined(
            [part._places or Places.whole(origin, len(part)) for part, origin in zip(parts, origins, strict=True)]
        )
        names = _all_columns(parts)
        columns = {name: _joined(parts, name) for name in names}
        codes = [factorize(columns[name])[0] for name in cls._key]
        twice = first_duplicate(combine(*codes))
        if twice:
            named = key_words({name: columns[name] for name in cls._key}, twice[1])
            more = f" (and {twice[2] - 1:,} more)" if twice[2] > 1 else ""
            raise DataError(f"{places.row(twice[0])} and {places.row(twice[1])} hold the same {named}{more}: {advice}")
        account = tuple(line for part in parts for line in part.account)
        new = cls._assemble(**columns, **facts, account=account)
        return new._told_of(places, dict.fromkeys(source for part in parts for source in part._sources))


def shape_of(names: Sequence[tuple[str, str]]) -> str:
    """How many systems and benchmarks there are, in words."""
    systems, benchmarks = len({name for name, _ in names}), len({name for _, name in names})
    return f"{number(systems, 'system')} x {number(benchmarks, 'benchmark')}"


def number(count: int, noun: str) -> str:
    """A count with its noun, in the plural where it must be."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def spread(generations: IntArray) -> str:
    """How many generations the prompts have, in words."""
    low, high = int(generations.min()), int(generations.max())
    return f"{low:,} to each prompt" if low == high else f"between {low:,} and {high:,} to each prompt"


def run_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]], count: int) -> str:
    """Make an HTML table of the first runs, with what it is and how many more there are above it."""
    body = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in islice(rows, _SHOWN_RUNS)]
    more = [f"the first {_SHOWN_RUNS}, and {number(count - _SHOWN_RUNS, 'more run')}"] if count > _SHOWN_RUNS else []
    return html_table(header, body, [title, *more])


def say(lines: Iterable[str], *, quiet: bool) -> None:
    """Print an account to standard error."""
    if not quiet:
        for line in lines:
            print(f"bayeseval: {line}", file=sys.stderr)


def text_column(value: object, what: str, size: int) -> TextArray:
    """Ids of every row, or one name for all of them."""
    if isinstance(value, str):
        if not value.strip():
            raise DataError(f"the {what} has an empty name")
        return np.full(size, value, dtype=object)
    column = id_texts(value, f"{what} id", Origin().row)
    if len(column) != size:
        raise DataError(f"{size:,} rows were given, but {len(column):,} {what}s")
    return column


def _all_columns(parts: Sequence[Records]) -> list[str]:
    """Columns that every part has; a part without some of them would leave holes."""
    names = [name for name in parts[0]._columns() if all(name in part._columns() for part in parts)]
    for part in parts:
        if "group" in part._columns() and "group" not in names:
            raise DataError("some of the parts have groups and others none: leave the groups out with group=False")
    extra = dict.fromkeys(name for part in parts for name in part._columns() if name not in names)
    return names + list(extra)


def refuse_copies(here: Records, more: Records) -> None:
    """Refuse further results of which a file was counted before: its generations would count twice."""
    twins = twice_counted(here._sources, more._sources)
    if twins:
        one, two = twins
        what = "was added before" if one.label == two.label else f"and {one.label}, which was added before, are copies"
        raise DataError(
            f"{two.label} {what}: its generations would count twice. Leave it out. If these are other generations that "
            f"happen to be equal, write them to a file that tells so, as by a column 'date'"
        )


def refuse_other_runs(here: Records, more: Records) -> None:
    """Refuse further results of a (system, benchmark) that is not there yet."""
    other = [run for run in more.run_names if run not in set(here.run_names)]
    if other:
        raise DataError(
            f"the new results are of {other[0][0]!r} on {other[0][1]!r}, and the earlier ones of {here.label}: "
            f"results can only be added to those of the same system and benchmark"
        )


def key_words(key: Mapping[str, npt.NDArray[Any]], row: int) -> str:
    """The key of one row in words."""
    return ", ".join(f"{name} {column[row : row + 1].tolist()[0]!r}" for name, column in key.items())


def refuse_duplicates(table: Table, key: dict[str, npt.NDArray[Any]], columns: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse a key that occurs twice, naming both rows and, if there is one, a column that tells them apart.

    Parameters
    ----------
    table : Table
    key : dict of str to array (row,)
        The columns that make up the key, by role.
    columns : mapping of str to tuple of str
        The columns of the table that were taken for each role.
    """
    codes = combine(*(factorize(column)[0] for column in key.values()))
    twice = first_duplicate(codes)
    if not twice:
        return
    one, two, count = twice
    named = key_words(key, two)
    more = f", and {number(count - 1, 'further row')} repeat an earlier one" if count > 1 else ""
    apart = _telling_apart(table, codes, one, two, {name for names in columns.values() for name in names})
    if apart is None:
        advice = "Give every row its own, or leave one of them out"
    else:
        joined = [*columns.get("benchmark", ()), apart]
        advice = f"Column {apart!r} tells them apart: if it names a condition, use benchmark={joined!r}"
    raise DataError(f"{table.origin.rows(one, two)} hold the same {named}{more}. {advice}")


def _telling_apart(table: Table, codes: IntArray, one: int, two: int, used: set[str]) -> str | None:
    """A column that differs between two rows of one key, best one that would make every key unique."""
    second_best = None
    for name in table.columns:
        if name in used or name in table.nested:
            continue
        try:
            column = id_texts(table.collect([name])[name], name, table.origin.row, missing=True)
        except DataError:
            continue
        if column[one] != column[two]:
            if first_duplicate(combine(codes, factorize(column)[0])) is None:
                return name
            second_best = second_best or name
    return second_best


def _joined(parts: Sequence[Records], name: str) -> npt.NDArray[Any]:
    """One column of all parts; absent ones give None (NaN for scores), and whole numbers become text beside text."""
    columns = [part._columns().get(name) for part in parts]
    filled = [
        np.full(len(part), np.nan if name == "score" else None, dtype=np.float64 if name == "score" else object)
        if column is None else column
        for part, column in zip(parts, columns, strict=True)
    ]  # fmt: skip
    if len({column.dtype.kind for column in filled}) > 1:
        filled = [np.array([str(v) for v in c.tolist()], dtype=object) if c.dtype != object else c for c in filled]
    return np.concatenate(filled)


def _ranked(column: npt.NDArray[Any]) -> tuple[IntArray, list[str]]:
    """Ranks of the values of a column among its sorted distinct values, and those values as text."""
    if column.dtype != object:
        numbers, inverse = np.unique(column, return_inverse=True)
        return inverse.reshape(-1).astype(np.int64), [repr(value) for value in numbers.tolist()]
    codes, values = factorize(column)
    order = sorted(range(len(values)), key=lambda i: (values[i] is not None, values[i] or ""))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    return rank[codes] if len(values) else codes, ["\0none" if values[i] is None else "t" + values[i] for i in order]
