"""Generations counted in the user's engine: a lazy frame is grouped there, and only the counts are collected.

One row a generation becomes one row a prompt by expressions of Narwhals that Polars, DuckDB, Dask and PySpark share.
Texts of ids and joined keys are made of the collected keys by the functions that read eager frames, so that both give
the same. What must be refused is found in sums: scores that are neither right, wrong nor missing, and generations that
occur twice. The generations of a prompt are distinct exactly if the sum of 2^g over their numbers g has as many binary
digits 1 as there are generations, since fewer powers of two cannot add up to such a number. Where numbers are too large
for that, or no numbers, a second grouping counts the keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeseval.errors import DataError, OptionError
from bayeseval.readers.cells import RowName, id_texts, join_ids
from bayeseval.readers.codes import IntArray, TextArray, combine, factorize
from bayeseval.readers.columns import Choice, ColumnChoice, choose, kind_of
from bayeseval.readers.frames import Table
from bayeseval.readers.judging import Judged, flag, judged, missing, read_one_by_one, refuse_unreadable
from bayeseval.readers.keys import may_be_key, refuse_changing_groups, refuse_unclear_threshold, rival_keys
from bayeseval.readers.records import key_words, number, say
from bayeseval.readers.spellings import OUTCOMES
from bayeseval.readers.values import checked_threshold

__all__ = ["counted", "counted_frame"]

_KEY = ("system", "benchmark", "prompt")

_ROWS, _PLACE, _RIGHT, _WRONG, _GONE, _OTHER, _POWERS, _NUMBERED = (
    f"_bayeseval_{name}" for name in ("rows", "place", "right", "wrong", "gone", "other", "powers", "numbered")
)
_DIGITS = 41
_MOST_ADDED = 2**12
"""So many powers of two up to 2^41 add up to at most 2^53, without rounding in any engine."""
_MOST_BLOCKS = 8


@dataclass(frozen=True)
class _Groups:
    """One row a distinct key, as the engine computed it.

    Attributes
    ----------
    rows : DataFrame of Narwhals
        The columns of the key.
    sums : dict of str to int array (key,)
    plain : bool
        Whether all keys are texts or whole numbers, so that none are one as texts.
    """

    rows: Any
    sums: dict[str, IntArray]
    plain: bool


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
    names = _names(choice, (*_KEY, "group"))
    score = choice.columns["correct"][0]
    found = judged(table, score, threshold)
    groups = _grouped(table, choice, found, names)
    if groups.sums[_OTHER].any() and not found.settled:
        found = read_one_by_one(table, score, threshold, choice.columns["prompt"])
        groups = _grouped(table, choice, found, names)
    if _lacks_numbers(table, choice, groups.sums):
        groups = _grouped(table, choice, found, names, numbered=True)
    if not len(groups.rows):
        raise DataError(f"{table.origin.label} has no rows: there is nothing to estimate")
    columns = _key_texts(table, choice, groups)
    if groups.sums[_OTHER].any():
        refuse_unreadable(table, found, choice)
    label, size = table.origin.label, int(groups.sums[_ROWS].sum())
    columns, sums = _one_row_a_prompt(table, columns, groups)
    _refuse_unnumbered(table, choice, columns, sums)
    _refuse_twice(table, choice, sums)
    _refuse_changing_rivals(table, choice, len(columns["prompt"]))
    account = [*table.notes, f"{label}: {number(size, 'row')}; {choice.said}"]
    if not choice.columns["generation"]:
        account.append(f"{label}: no column numbers the generations, so every row is taken for one")
    if threshold is not None:
        account.append(f"{label}: scores of at least {threshold:g} count as correct")
    account.append(f"{label}: counted by {table.engine}; only the counts were collected")
    columns |= {"generations": sums[_ROWS] - (0 if unscored_wrong else sums[_GONE]), "correct": sums[_RIGHT]}
    if unscored := int(sums[_GONE].sum()):
        account.append(_unscored(label, unscored, int((columns["generations"] == 0).sum()), unscored_wrong))
    return columns, tuple(account)


def _grouped(table: Table, choice: Choice, found: Judged, names: list[str], *, numbered: bool = False) -> _Groups:
    """Group by the columns of the key; with ``numbered``, whole numbers of generations that are there are counted."""
    import narwhals as nw

    frame = table.numbered(_PLACE) if table.is_polars else table.frame
    wanted = [nw.len().alias(_ROWS), *([nw.col(_PLACE).min()] if table.is_polars else [])]
    flags = {_RIGHT: found.right, _WRONG: found.wrong, _GONE: found.gone}
    if table.is_polars and found.wrong is None:  # truth values, which Polars adds up as they are
        wanted.append(nw.col(found.column).sum().alias(_RIGHT))
        del flags[_RIGHT]
    added = {name: flag(condition) for name, condition in flags.items() if condition is not None}
    if found.gone is None:
        wanted.append(nw.col(found.column).count().alias(_GONE))
    for name in choice.columns["generation"]:
        cell, dtype = nw.col(name), frame.collect_schema()[name]
        if dtype.is_integer():
            added[_POWERS] = _power(cell)
            wanted += [cell.count().alias(_NUMBERED)] if numbered else []
        else:
            added[_NUMBERED] = 1 - flag(missing(cell, dtype))
    frame = frame.with_columns(**added) if added else frame
    grouped = frame.group_by(*names).agg(*wanted, *(nw.col(name).sum() for name in added))
    rows = table.collected(grouped.sort(_PLACE) if table.is_polars else grouped)
    sums = {name: _integers(rows[name]) for name in rows.columns if name not in names}
    if found.gone is None:
        sums[_GONE] = sums[_ROWS] - sums[_GONE]
    sums[_OTHER] = sums[_ROWS] - sums[_GONE] - sums[_RIGHT] - sums.get(_WRONG, 0)
    if found.wrong is None:
        sums[_OTHER][:] = 0
    schema = rows.schema
    return _Groups(rows, sums, plain=all(schema[name] == nw.String or schema[name].is_integer() for name in names))


def _lacks_numbers(table: Table, choice: Choice, sums: dict[str, IntArray]) -> bool:
    """Whether a whole number of a generation is missing, which sums of powers that are as they should be rule out."""
    import narwhals as nw

    if _POWERS not in sums or bool((np.bitwise_count(sums[_POWERS]) == sums[_ROWS]).all()):
        return False
    cell = nw.col(choice.columns["generation"][0])
    gone = table.collected(table.frame.select(flag(cell.is_null()).max().alias(_GONE)))
    return bool(gone[_GONE].to_list()[0])


def _power(number: Any) -> Any:
    """2 to the power of a number within 0 and 41; numbers outside become the nearer end."""
    import narwhals as nw

    return nw.lit(2, nw.Int64) ** number.cast(nw.Int64).clip(0, _DIGITS)


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
            parts.append(_texts(groups.rows[name], what, row))
            if None in set(parts[-1].tolist()):
                gone = np.flatnonzero([text is None for text in parts[-1].tolist()])
                count = int(groups.sums[_ROWS][gone].sum())
                more = f", and so do {count - 1:,} more rows" if count > 1 else ""
                out = "" if role == "prompt" else f", or leave the column out with {role}=False"
                raise DataError(f"{row(int(gone[0]))} has no {what}{more}: give one to every row{out}")
        if parts:
            columns[role] = join_ids(parts, list(choice.columns[role]), role)
        elif role != "group":
            columns[role] = np.full(len(groups.rows), role, dtype=object)
    return columns


def _texts(series: Any, what: str, row: RowName) -> TextArray:
    """What `id_texts` gives, made of distinct texts where Polars can number them."""
    import narwhals as nw

    if series.dtype != nw.String or not series.implementation.is_polars():
        return id_texts(series, what, row, missing=True)
    import polars as pl

    cells = nw.to_native(series)
    distinct = cells.unique().drop_nulls()
    numbers = cells.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    return np.array([*(text if text.strip() else None for text in distinct), None], dtype=object)[numbers]


def _one_row_a_prompt(
    table: Table, columns: dict[str, Any], groups: _Groups
) -> tuple[dict[str, Any], dict[str, IntArray]]:
    """Keys that are one as texts put together, a prompt in two groups refused, and the order settled."""
    sums = groups.sums
    if "group" in columns or not groups.plain:
        refuse_changing_groups(columns, table.origin.unplaced())
        codes = factorize(combine(*(factorize(columns[name])[0] for name in _KEY)))[0]
        first = np.unique(codes, return_index=True)[1]
        if len(first) < len(codes):
            columns = {name: column[first] for name, column in columns.items()}
            sums = {name: _put_together(name, codes, values) for name, values in sums.items()}
    if _PLACE in sums and bool((np.diff(sums[_PLACE]) > 0).all()):
        return columns, sums
    if _PLACE in sums:
        order = np.argsort(sums[_PLACE], kind="stable")
    else:
        texts = list(zip(*(columns[name].tolist() for name in _KEY), strict=True))
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)
    return tuple({name: values[order] for name, values in of.items()} for of in (columns, sums))  # type: ignore[return-value]


def _put_together(name: str, codes: IntArray, values: IntArray) -> IntArray:
    """Sums of keys that are one added up; of places the first."""
    join: Any = np.minimum if name == _PLACE else np.add
    result = np.full(int(codes.max()) + 1, 2**62 if name == _PLACE else 0, dtype=np.int64)
    join.at(result, codes, values)
    return result


def _refuse_unnumbered(table: Table, choice: Choice, columns: dict[str, Any], sums: dict[str, IntArray]) -> None:
    lacking = sums[_ROWS] - sums.get(_NUMBERED, sums[_ROWS])
    if not lacking.any():
        return
    gone, count = int(np.argmax(lacking > 0)), int(lacking.sum())
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
    if _POWERS in sums and int(sums[_ROWS].max()) <= _MOST_ADDED:
        if bool((np.bitwise_count(sums[_POWERS]) == sums[_ROWS]).all()) or _distinct_in_blocks(table, choice):
            return
    roles = (*_KEY, "generation")
    names = _names(choice, roles)
    twice = table.frame.group_by(*names).agg(nw.len().alias(_ROWS)).filter(nw.col(_ROWS) > 1)
    rows = table.collected(twice.head(1))
    if len(rows):
        key = {role: np.array([":".join(str(rows[name].to_list()[0]) for name in choice.columns[role])], dtype=object)
               for role in roles if choice.columns[role]}  # fmt: skip
        raise DataError(
            f"{number(int(rows[_ROWS].to_list()[0]), 'row')} of {table.origin.label} hold the same {key_words(key, 0)}"
            ". Give every row its own, or leave one of them out"
        )


def _distinct_in_blocks(table: Table, choice: Choice) -> bool:
    """Whether generations numbered up to a few hundred are distinct, by sums of powers for 42 numbers at a time."""
    import narwhals as nw

    names, generation = _names(choice, _KEY), nw.col(choice.columns["generation"][0])
    ends = table.collected(table.frame.select(generation.min().alias("low"), generation.max().alias("high")))
    low, high = (int(ends[name].to_list()[0]) for name in ("low", "high"))
    blocks = [f"{_POWERS}{start}" for start in range(0, high + 1, _DIGITS + 1)]
    if low < 0 or len(blocks) > _MOST_BLOCKS:
        return False
    added = {
        name: nw.when((generation >= start) & (generation <= start + _DIGITS))
        .then(_power(generation - start))
        .otherwise(0)
        for name, start in zip(blocks, range(0, high + 1, _DIGITS + 1), strict=True)
    }
    sums = [nw.len().alias(_ROWS), *(nw.col(name).sum() for name in blocks)]
    rows = table.collected(table.frame.with_columns(**added).group_by(*names).agg(*sums))
    digits = np.sum([np.bitwise_count(_integers(rows[name])) for name in blocks], axis=0, dtype=np.int64)
    return bool((digits == _integers(rows[_ROWS])).all())


def _names(choice: Choice, roles: Sequence[str]) -> list[str]:
    """Columns of some roles, once each."""
    return list(dict.fromkeys(name for role in roles for name in choice.columns[role]))


def _refuse_changing_rivals(table: Table, choice: Choice, prompts: int) -> None:
    """Refuse, where nothing numbers the generations, a column that may be part of the key and changes in a prompt."""
    import narwhals as nw

    names = _names(choice, _KEY)
    for rival in rival_keys(choice):
        pairs = table.collected(table.frame.select([*names, rival]).unique().select(nw.len().alias(_ROWS)))
        if int(pairs[_ROWS].to_list()[0]) > prompts:
            raise may_be_key(table, choice, rival)


def _unscored(label: str, count: int, empty: int, wrong: bool) -> str:
    if wrong:
        return f"{label}: {number(count, 'generation')} without a score counted as wrong (unscored='wrong')"
    left = f"; {number(empty, 'prompt')} keep{'s' if empty == 1 else ''} no generation" if empty else ""
    return f"set aside: {number(count, 'generation')} without a score (not counted as wrong){left}"
