"""Scores judged by expressions of Narwhals, in the engine that holds them: right, without a score, or unreadable.

What `bayeseval.readers.values.scores` does to cells in memory is done to whole columns that are never collected.
Numbers and truth values are compared; of words the usual spellings are known, and where others turn up, the distinct
ones are collected and read by `scores` itself.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeseval.errors import DataError
from bayeseval.readers.cells import is_missing, shown
from bayeseval.readers.columns import Choice
from bayeseval.readers.frames import Table
from bayeseval.readers.values import WORDS, scores

__all__ = ["Judged", "flag", "judged", "missing", "read_one_by_one", "refuse_unreadable"]

_MOST = 5000
_PLACE = "_bayeseval_row"


@dataclass(frozen=True)
class Judged:
    """Conditions of Narwhals on the scores of a lazy table; a score of which none holds cannot be read.

    Attributes
    ----------
    column : str
    threshold : float or None
    right : Expr of Narwhals
    wrong : Expr of Narwhals or None
        None where every score is right or wrong, as truth values are.
    gone : Expr of Narwhals or None
        Whether there is no score; None where nulls alone are that.
    settled : bool
        Whether every value was looked at, so that none is left that further looking would read.
    """

    column: str
    threshold: float | None
    right: Any
    wrong: Any = None
    gone: Any = None
    settled: bool = True


def judged(table: Table, column: str, threshold: float | None) -> Judged:
    """Judge the scores of a lazy table; words in unusual spellings are left for `read_one_by_one`."""
    import narwhals as nw

    dtype = table.frame.collect_schema()[column]
    cell = nw.col(column)
    if dtype == nw.Boolean and threshold is None:
        return Judged(column, threshold, cell)
    if dtype == nw.Boolean or dtype.is_numeric():
        gone = missing(cell, dtype) if dtype.is_float() else None
        if threshold is None:
            return Judged(column, threshold, cell == 1, cell == 0, gone)
        cut = float(np.float32(threshold)) if dtype == nw.Float32 else threshold
        value = cell if dtype == nw.Float32 else cell.cast(nw.Float64)
        largest = float(np.finfo(np.float32).max) if dtype == nw.Float32 else sys.float_info.max
        finite = (value >= -largest) & (value <= largest)  # in SQL, NaN is above every number
        return Judged(column, threshold, finite & (value >= cut), finite & (value < cut), gone)
    if dtype in (nw.String, nw.Categorical, nw.Enum) and threshold is None:
        right, wrong, gone = (cell.cast(nw.String).is_in(_spelled(words)) for words in WORDS)
        return Judged(column, threshold, right, wrong, _or_null(cell, gone), settled=False)
    return read_one_by_one(table, column, threshold, ())


def read_one_by_one(table: Table, column: str, threshold: float | None, prompt: tuple[str, ...]) -> Judged:
    """Collect the distinct scores, read each as `scores` does, and judge by where they belong.

    Raises
    ------
    DataError
        If there are too many of them, or one cannot be read.
    """
    import narwhals as nw

    cell = nw.col(column)
    rows = table.collected(table.frame.select(column).unique().head(_MOST + 1))
    if len(rows) > _MOST:
        raise DataError(
            f"the scores (column {column!r}) of {table.origin.label} are no numbers and have more than {_MOST:,} "
            "different values: cast the column to numbers in your engine, and say with threshold= which of them count "
            "as correct"
        )
    groups: dict[float, list[Any]] = {1.0: [], 0.0: []}
    unscored = []
    for value in rows[column].to_list():
        try:
            known = float(scores([value], f"score (column {column!r})", str, threshold)[0][0])
        except DataError:
            raise _refusal(table, column, threshold, cell == value, prompt) from None
        if known != known:
            unscored += [] if is_missing(value) else [value]
        else:
            groups[known].append(value)
    right, wrong, gone = (
        cell.is_in(values) if values else cell.is_null() & ~cell.is_null()
        for values in (groups[1.0], groups[0.0], unscored)
    )
    return Judged(column, threshold, right, wrong, _or_null(cell, gone))


def refuse_unreadable(table: Table, found: Judged, choice: Choice) -> None:
    """Refuse scores that are neither right, wrong nor missing, naming the first of them and its prompt."""
    import narwhals as nw

    gone = nw.col(found.column).is_null() if found.gone is None else found.gone
    known = flag(found.right) + flag(gone) + (0 if found.wrong is None else flag(found.wrong))
    raise _refusal(table, found.column, found.threshold, known == 0, choice.columns["prompt"])


def missing(cell: Any, dtype: Any) -> Any:
    """Expression that is true where a number is missing or NaN, or a text missing or blank; never null."""
    import narwhals as nw

    if dtype.is_float():
        return _or_null(cell, cell.is_nan())
    if dtype == nw.String:
        return _or_null(cell, cell.str.strip_chars() == "")
    return cell.is_null()


def flag(condition: Any) -> Any:
    """A condition as 0 and 1, 0 where it is neither true nor false."""
    import narwhals as nw

    return condition.fill_null(False).cast(nw.Int8)


def _or_null(cell: Any, condition: Any) -> Any:
    return cell.is_null() | condition.fill_null(False)


def _spelled(words: frozenset[str]) -> list[str]:
    return sorted({spelled for word in words for spelled in (word, word.upper(), word.title(), word.capitalize())})


def _refusal(table: Table, column: str, threshold: float | None, where: Any, prompt: tuple[str, ...]) -> DataError:
    """The sentence of `scores` about the first row for which a condition holds, or one of its own."""
    frame, names = table.frame, list(dict.fromkeys([*prompt, column]))
    if table.is_polars:
        frame = table.numbered(_PLACE)
        names.append(_PLACE)
    rows = table.collected(frame.filter(where).select(names).head(1))
    first = {name: rows[name].to_list()[0] for name in rows.columns}
    label = table.origin.row(int(first[_PLACE])) if _PLACE in first else table.origin.some_row
    if prompt:
        label += f", prompt {':'.join(str(first[name]) for name in prompt)!r}"
    try:
        scores([first[column]], f"score (column {column!r})", lambda _: label, threshold)
    except DataError as problem:
        return problem
    return DataError(f"{label}: the score (column {column!r}) is {shown(first[column])}, which cannot be read")
