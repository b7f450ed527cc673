"""Cells of a table as Python or NumPy values, and those that hold ids or texts.

Every function takes one column and returns one array, and refuses what it cannot read with the row and the value.
Distinct values are looked at once each, so that a column of a million rows costs little more than its distinct values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayeseval.errors import DataError
from bayeseval.readers.codes import TextArray, combine, factorize

__all__ = [
    "Origin",
    "RowName",
    "cells_of",
    "id_texts",
    "index_values",
    "is_missing",
    "join_ids",
    "shown",
    "texts",
]

RowName: TypeAlias = Callable[[int], str]
_GIVE_ONE = "give one to every row, or leave those rows out yourself"


@dataclass(frozen=True)
class Origin:
    """Where a table came from, so that messages can name the file and the row as people count them.

    Attributes
    ----------
    label : str
        File name, or words such as "the data frame".
    first : int
        Number that people give to the first record.
    unit, counting : str
        "row" or "line", and how they are counted; not counted where this is empty.
    """

    label: str = "the columns given"
    first: int = 0
    unit: str = "row"
    counting: str = "counting from 0"

    @property
    def some_row(self) -> str:
        """Words for one record of which the place is not known."""
        return f"a {self.unit} of {self.label}"

    def unplaced(self) -> Origin:
        """The same origin where records have no places, as in engines that keep no order."""
        return replace(self, counting="")

    def row(self, index: int) -> str:
        """Name one record."""
        return f"{self.unit} {index + self.first} of {self.label} ({self.counting})" if self.counting else self.some_row

    def rows(self, one: int, two: int) -> str:
        """Name two records."""
        if not self.counting:
            return f"two {self.unit}s of {self.label}"
        return f"{self.unit}s {one + self.first} and {two + self.first} of {self.label} ({self.counting})"


def id_texts(column: object, what: str, row: RowName, *, missing: bool = False, advice: str = _GIVE_ONE) -> TextArray:
    """Texts of a column of ids: text stays as it is ("007" is not 7), whole numbers lose their ".0".

    Parameters
    ----------
    column : series of Narwhals, array or list
        One id a row.
    what : str
        What the ids name, for messages: "prompt id".
    row : callable
        Names the row of a given position.
    missing : bool
        Whether a row may be without an id; it is None then.
    advice : str
        What to do about a missing id.

    Raises
    ------
    DataError
        If an id is missing, or ids of different types stand in one column (1, "1", True and 1.0 would be one or
        four prompts, and only the user knows).
    """
    values = cells_of(column)
    if isinstance(values, np.ndarray):
        known, inverse = np.unique(values, return_inverse=True)
        named = np.array([_id_text(value) for value in known], dtype=object)
        result: TextArray = named[inverse.reshape(-1)] if len(named) else np.empty(0, dtype=object)
    else:
        _refuse_mixture(values, what, row)
        try:
            table = {value: _id_text(value) for value in dict.fromkeys(values)}
        except TypeError:
            index = next(i for i, value in enumerate(values) if isinstance(value, (list, dict, set)))
            raise DataError(f"{row(index)} has a {type(values[index]).__name__} where the {what} belongs") from None
        result = _object_array(map(table.__getitem__, values), len(values))
    if not missing:
        _refuse_missing(result, what, row, advice)
    return result


def join_ids(columns: list[TextArray], names: list[str], what: str) -> TextArray:
    """Join the ids of several columns with ":", refusing a join in which two keys become one text."""
    if len(columns) == 1:
        return columns[0]
    pairs = [factorize(column) for column in columns]
    key = combine(*(codes for codes, _ in pairs))
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    joined = [":".join(column[i] for column in columns) for i in first.tolist()]
    if len(set(joined)) < len(joined):
        twice = next(text for text in joined if joined.count(text) > 1)
        raise DataError(
            f"joining the columns {_listed(names)} into one {what} gives {twice!r} for two different rows of values: "
            f"rename the values that hold a ':'"
        )
    result: TextArray = np.array(joined, dtype=object)[inverse.reshape(-1)]
    return result


def index_values(
    column: object, what: str, row: RowName, *, missing: bool = False, advice: str = _GIVE_ONE
) -> npt.NDArray[Any]:
    """Generation numbers or seeds: int64 where all are whole numbers, else texts."""
    known = id_texts(column, what, row, missing=missing, advice=advice)
    codes, distinct = factorize(known)
    if all(isinstance(text, str) and _is_plain_integer(text) for text in distinct):
        return np.array([int(text) for text in distinct], dtype=np.int64)[codes] if distinct else codes
    return known


def texts(column: object) -> TextArray:
    """Answers as texts, None where missing; empty texts stay empty, lists and objects become JSON."""
    values = cells_of(column)
    if isinstance(values, np.ndarray):
        known, inverse = np.unique(values, return_inverse=True)
        named = np.array([_id_text(value) for value in known], dtype=object)
        result: TextArray = named[inverse.reshape(-1)] if len(named) else np.empty(0, dtype=object)
        return result
    same: dict[str, str] = {}  # equal answers share one text, for memory
    found = (same.setdefault(v, v) if isinstance(v, str) else _content(v) for v in values)
    return _object_array(found, len(values))


def cells_of(column: object) -> npt.NDArray[Any] | list[Any]:
    """Numbers as a NumPy array, everything else (and whole numbers with gaps) as a list of Python objects."""
    values: Any = column
    if isinstance(values, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(values).reshape(-1).tolist()
        cells = np.asarray(values.data).reshape(-1).tolist()
        return [None if gone else cell for gone, cell in zip(hidden, cells, strict=True)]
    dtype: Any = getattr(values, "dtype", None)
    if hasattr(dtype, "is_numeric"):  # a series of Narwhals
        if not dtype.is_float() and (not dtype.is_integer() or values.null_count()):
            return list(values.to_list())
        values = values.to_numpy()
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        return values.reshape(-1) if values.dtype.kind in "iuf" else list(values.reshape(-1).tolist())
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes)):
        return list(values)
    raise DataError(f"a column of values was expected, but {shown(column)} was given")


def _object_array(values: Iterable[Any], size: int) -> TextArray:
    return np.fromiter(values, dtype=object, count=size)


def is_missing(value: object) -> bool:
    """Whether a cell is empty: None, NaN, or what pandas has for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def _id_text(value: object) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, (float, np.floating)) and math.isfinite(value) and value == math.floor(value):
        return str(int(value))
    return str(value)


def _content(value: object) -> str | None:
    if isinstance(value, str) or is_missing(value):
        return value if isinstance(value, str) else None
    if isinstance(value, (list, tuple, dict, np.ndarray)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _family(kind: type) -> str:
    for parent, family in (
        (str, "text"),
        ((bool, np.bool_), "true/false"),
        ((int, np.integer), "whole number"),
        ((float, np.floating), "number with a decimal point"),
    ):
        if issubclass(kind, parent):
            return family
    return kind.__name__


def _refuse_mixture(values: list[Any], what: str, row: RowName) -> None:
    """Refuse a column in which 1, "1", True and 1.0 could stand for one thing or for four."""
    kinds = set(map(type, values))
    if len({_family(kind) for kind in kinds}) < 2:
        return
    seen: dict[str, int] = {}
    for index, value in enumerate(values):
        if not is_missing(value):
            seen.setdefault(_family(type(value)), index)
    if len(seen) > 1:
        listed = "; ".join(f"{row(index)} holds {shown(values[index])} ({family})" for family, index in seen.items())
        raise DataError(f"the {what} mixes types: {listed}. Give all of them as text")


def _refuse_missing(values: TextArray, what: str, row: RowName, advice: str) -> None:
    if None in dict.fromkeys(values.tolist()):
        gone = [index for index, value in enumerate(values.tolist()) if value is None]
        more = f", and so do {len(gone) - 1:,} more rows" if len(gone) > 1 else ""
        raise DataError(f"{row(gone[0])} has no {what}{more}: {advice}")


def _is_plain_integer(text: str) -> bool:
    return text.lstrip("-").isdigit() and text.isascii() and len(text) < 19 and str(int(text)) == text


def shown(value: object) -> str:
    """A value for a message, without NumPy's wrapping and not too long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
