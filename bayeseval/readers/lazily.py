"""Generations counted in the user's engine: a lazy frame is grouped there, and only the counts are collected.

One row a generation becomes one row a prompt by expressions of Narwhals that Polars, DuckDB, Dask and PySpark share.
Texts of ids and joined keys are made of the collected keys by the functions that read eager frames, so that both give
the same. What must be refused is found in sums: scores that are neither right, wrong nor missing, and generations that
occur twice. The generations of a prompt are distinct exactly if the sum of 2^g over their numbers g has as many binary
digits 1 as there are generations, since fewer powers of two cannot add up to such a number. Where numbers are too large
for that, or no numbers, a second grouping counts the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeseval.errors import DataError, OptionError
from bayeseval.readers.cells import id_texts, join_ids
from bayeseval.readers.codes import IntArray, combine, factorize
from bayeseval.readers.columns import Choice, ColumnChoice, choose, kind_of
from bayeseval.readers.frames import Table
from bayeseval.readers.judging import (
    GONE,
    OTHER,
    RIGHT,
    Judged,
    flag,
    judged,
    missing,
    read_one_by_one,
    refuse_unreadable,
)
from bayeseval.readers.keys import may_be_key, refuse_changing_groups, refuse_unclear_threshold, rival_keys
from bayeseval.readers.records import key_words, number, say
from bayeseval.readers.spellings import OUTCOMES
from bayeseval.readers.values import checked_threshold

__all__ = ["counted", "counted_frame"]

_KEY = ("system", "benchmark", "prompt")

_ROWS, _PLACE, _POWERS, _HIGHEST, _LOWEST, _UNNUMBERED = (
    f"_bayeseval_{name}" for name in ("rows", "place", "powers", "highest", "lowest", "unnumbered")
)
_DIGITS = 40
_MOST_ADDED = 2**12
"""Of so many numbers up to `_DIGITS` the powers of two add up to less than 2^53, without rounding in any engine."""


@dataclass(frozen=True)
class _Groups:
    """One row a distinct key, as the engine computed it.

    Attributes
    ----------
    names : tuple of str
        Columns of the key.
    rows : DataFrame of Narwhals
        The columns of the key.
    sums : dict of str to int array (key,)
    """

    names: tuple[str, ...]
    rows: Any
    sums: dict[str, IntArray]


def counted_frame(
    table: Table,
    given: Mapping[str, ColumnChoice],
    generation: ColumnChoice,
    threshold: float | None,
    *,
    quiet: bool,
) -> dict[str, Any] | None:
    """Columns and account of the counts of a lazy table with one row a generation; None for other tables.

    Parameters
    ----------
    table : Table
    given : mapping of str to column choice
        What `bayeseval.Counts.from_frame` was given for the columns of counts.
    generation, threshold, quiet : see `bayeseval.Counts.from_frame`

    Raises
    ------
    OptionError
        If ``generation`` or ``threshold`` is given for a table with one row a prompt.
    """
    if table.is_lazy:
        table, single = replace(table, in_engine=True), {**given, "generation": generation}
        if threshold is not None or kind_of(table, single) == "outcomes":
            choice = choose(table, OUTCOMES, {role: value for role, value in single.items() if role in OUTCOMES})
            say([f"{table.origin.label}: {choice.said}"], quiet=quiet or not choice.guessed)
            columns, account = counted(table, choice, checked_threshold(threshold))
            say(account[1:], quiet=quiet)
            return {**columns, "account": account}
    for name, value in (("generation", generation), ("threshold", threshold)):
        if value is not None:
            raise OptionError(
                f"{name}= is for one row a generation, and {table.origin.label} is read as one row a prompt: use "
                "Outcomes.from_frame(...).counts(), or give a lazy frame"
            )
    return None


def counted(
    table: Table, choice: Choice, threshold: float | None, *, unscored_wrong: bool = False
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Columns and account of the counts of a lazy table with one row a generation.

    Parameters
    ----------
    table : Table
        Its frame is lazy.
    choice : Choice
        Columns of a table of outcomes.
    threshold : float or None
        Scores of at least this much count as correct.
    unscored_wrong : bool
        Whether generations without a score count as wrong rather than being set aside.

    Returns
    -------
    columns : dict of str to array (prompt,)
        ``system``, ``benchmark``, ``prompt``, ``generations``, ``correct`` and, where there is one, ``group``: in the
        order of the rows where Polars is the engine, sorted by their texts where rows have no order.
    account : tuple of str

    Raises
    ------
    DataError
        If a score cannot be read, an id is missing, a generation occurs twice, or a prompt is in two groups.
    ReadError
        If the engine fails.
    """
    refuse_unclear_threshold(table, choice, threshold)
    names = tuple(
        dict.fromkeys(name for role in ("system", "benchmark", "prompt", "group") for name in choice.columns[role])
    )
    score = choice.columns["correct"][0]
    found = judged(table, score, threshold)
    groups = _grouped(table, choice, found, names)
    if groups.sums[OTHER].any() and not found.settled:
        found = read_one_by_one(table, score, threshold, choice.columns["prompt"])
        groups = _grouped(table, choice, found, names)
    if not len(groups.rows):
        raise DataError(f"{table.origin.label} has no rows: there is nothing to estimate")
    columns = _key_texts(table, choice, groups)
    if groups.sums[OTHER].any():
        refuse_unreadable(table, found, choice)
    label, size = table.origin.label, int(groups.sums[_ROWS].sum())
    columns, sums = _one_row_a_prompt(table, columns, groups.sums)
    _refuse_unnumbered(table, choice, columns, sums)
    _refuse_twice(table, choice, sums)
    _refuse_changing_rivals(table, choice, len(columns["prompt"]))
    account = [*table.notes, f"{label}: {number(size, 'row')}; {choice.said}"]
    if not choice.columns["generation"]:
        account.append(f"{label}: no column numbers the generations, so every row is taken for one")
    if threshold is not None:
        account.append(f"{label}: scores of at least {threshold:g} count as correct")
    account.append(f"{label}: counted by {table.engine}; only the counts were collected")
    columns |= {"generations": sums[_ROWS] - (0 if unscored_wrong else sums[GONE]), "correct": sums[RIGHT]}
    if unscored := int(sums[GONE].sum()):
        account.append(_unscored(label, unscored, int((columns["generations"] == 0).sum()), unscored_wrong))
    return columns, tuple(account)


def _grouped(table: Table, choice: Choice, found: Judged, names: tuple[str, ...]) -> _Groups:
    import narwhals as nw

    frame, sums, added = found.frame, [RIGHT, GONE, OTHER], []
    wanted = [nw.len().alias(_ROWS)]
    for name in choice.columns["generation"]:
        cell, dtype = nw.col(name), frame.collect_schema()[name]
        added.append(flag(missing(cell, dtype)).alias(_UNNUMBERED))
        sums.append(_UNNUMBERED)
        if dtype.is_integer():
            added.append((nw.lit(2, nw.Int64) ** cell.cast(nw.Int64).clip(0, _DIGITS + 1)).alias(_POWERS))
            wanted += [cell.min().alias(_LOWEST), cell.max().alias(_HIGHEST)]
            sums.append(_POWERS)
    if table.is_polars:
        frame = nw.from_native(nw.to_native(frame).with_row_index(_PLACE))
        wanted.append(nw.col(_PLACE).min())
    frame = frame.with_columns(*added) if added else frame
    wanted += [nw.col(name).sum() for name in sums]
    rows = table.collected(frame.group_by(*names).agg(*wanted))
    return _Groups(names, rows, {name: _integers(rows[name]) for name in rows.columns if name not in names})


def _integers(series: Any) -> IntArray:
    """A column of sums as int64; engines give them as integers, floats, decimals, or null over nothing but nulls."""
    values = series.to_numpy()
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    return np.array([-1 if value is None or value != value else int(value) for value in series.to_list()], np.int64)


def _key_texts(table: Table, choice: Choice, groups: _Groups) -> dict[str, Any]:
    """Texts of system, benchmark, prompt and group of every collected key; missing ones are refused with their rows."""
    places = groups.sums.get(_PLACE)

    def row(index: int) -> str:
        return table.origin.some_row if places is None else table.origin.row(int(places[index]))

    columns: dict[str, Any] = {}
    for role in ("system", "benchmark", "prompt", "group"):
        parts = []
        for name in choice.columns[role]:
            what = f"{role} id (column {name!r})"
            parts.append(id_texts(groups.rows[name], what, row, missing=True))
            gone = np.flatnonzero(parts[-1] == None)  # noqa: E711
            if len(gone):
                count = int(groups.sums[_ROWS][gone].sum())
                more = f", and so do {count - 1:,} more rows" if count > 1 else ""
                out = "" if role == "prompt" else f", or leave the column out with {role}=False"
                raise DataError(f"{row(int(gone[0]))} has no {what}{more}: give one to every row{out}")
        if parts:
            columns[role] = join_ids(parts, list(choice.columns[role]), role)
        elif role != "group":
            columns[role] = np.full(len(groups.rows), role, dtype=object)
    return columns


def _one_row_a_prompt(
    table: Table, columns: dict[str, Any], sums: dict[str, IntArray]
) -> tuple[dict[str, Any], dict[str, IntArray]]:
    """Keys that are one as texts put together, a prompt in two groups refused, and the order settled."""
    refuse_changing_groups(columns, table.origin.unplaced())
    codes = factorize(combine(*(factorize(columns[name])[0] for name in _KEY)))[0]
    first = np.unique(codes, return_index=True)[1]
    if len(first) < len(codes):
        columns = {name: column[first] for name, column in columns.items()}
        sums = {name: _put_together(name, codes, values) for name, values in sums.items()}
    if _PLACE in sums:
        order = np.argsort(sums[_PLACE], kind="stable")
    else:
        texts = list(zip(*(columns[name].tolist() for name in _KEY), strict=True))
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)
    return tuple({name: values[order] for name, values in of.items()} for of in (columns, sums))  # type: ignore[return-value]


def _put_together(name: str, codes: IntArray, values: IntArray) -> IntArray:
    """Sums of keys that are one added up, of places and numbers the lowest or highest."""
    join: Any = {_PLACE: np.minimum, _LOWEST: np.minimum, _HIGHEST: np.maximum}.get(name, np.add)
    start = {np.minimum: 2**62, np.maximum: -1, np.add: 0}[join]
    result = np.full(int(codes.max()) + 1, start, dtype=np.int64)
    join.at(result, codes, values)
    return result


def _refuse_unnumbered(table: Table, choice: Choice, columns: dict[str, Any], sums: dict[str, IntArray]) -> None:
    if _UNNUMBERED not in sums or not sums[_UNNUMBERED].any():
        return
    gone = int(np.argmax(sums[_UNNUMBERED] > 0))
    count = int(sums[_UNNUMBERED].sum())
    more = f", and so do {count - 1:,} more rows" if count > 1 else ""
    raise DataError(
        f"{table.origin.some_row}, prompt {columns['prompt'][gone]!r} has no generation (column "
        f"{choice.columns['generation'][0]!r}){more}: give one to every row, or count every row as a generation with "
        "generation=False"
    )


def _refuse_twice(table: Table, choice: Choice, sums: dict[str, IntArray]) -> None:
    """Refuse generations that occur twice: by sums of powers where these are exact, else by a second grouping."""
    import narwhals as nw

    if not choice.columns["generation"]:
        return
    if _POWERS in sums:
        exact = sums[_LOWEST].min() >= 0 and sums[_HIGHEST].max() <= _DIGITS and sums[_ROWS].max() <= _MOST_ADDED
        if exact and bool((np.bitwise_count(sums[_POWERS]) == sums[_ROWS]).all()):
            return
    roles = (*_KEY, "generation")
    names = list(dict.fromkeys(name for role in roles for name in choice.columns[role]))
    twice = table.frame.group_by(*names).agg(nw.len().alias(_ROWS)).filter(nw.col(_ROWS) > 1)
    rows = table.collected(twice.head(1))
    if len(rows):
        key = {role: np.array([":".join(str(rows[name].to_list()[0]) for name in choice.columns[role])], dtype=object)
               for role in roles if choice.columns[role]}  # fmt: skip
        raise DataError(
            f"{number(int(rows[_ROWS].to_list()[0]), 'row')} of {table.origin.label} hold the same {key_words(key, 0)}"
            ". Give every row its own, or leave one of them out"
        )


def _refuse_changing_rivals(table: Table, choice: Choice, prompts: int) -> None:
    """Refuse, where nothing numbers the generations, a column that may be part of the key and changes in a prompt."""
    import narwhals as nw

    names = list(dict.fromkeys(name for role in _KEY for name in choice.columns[role]))
    for rival in rival_keys(choice):
        pairs = table.collected(table.frame.select([*names, rival]).unique().select(nw.len().alias(_ROWS)))
        if int(pairs[_ROWS].to_list()[0]) > prompts:
            raise may_be_key(table, choice, rival)


def _unscored(label: str, count: int, empty: int, wrong: bool) -> str:
    if wrong:
        return f"{label}: {number(count, 'generation')} without a score counted as wrong (unscored='wrong')"
    left = f"; {number(empty, 'prompt')} keep{'s' if empty == 1 else ''} no generation" if empty else ""
    return f"set aside: {number(count, 'generation')} without a score (not counted as wrong){left}"
