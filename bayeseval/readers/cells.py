"""Cells of a table made into the few kinds of value that bayeseval works with: ids, whole numbers, scores, texts.

Every function takes one column and returns one array, and refuses what it cannot read with the row and the value.
Distinct values are looked at once each, so that a column of a million rows costs little more than its distinct values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from bayeseval.errors import DataError, OptionError

__all__ = [
    "FloatArray",
    "IntArray",
    "Origin",
    "TextArray",
    "checked_threshold",
    "combine",
    "factorize",
    "first_duplicate",
    "id_texts",
    "index_values",
    "join_ids",
    "scores",
    "texts",
    "whole_numbers",
]

TextArray = npt.NDArray[np.object_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
RowName = Callable[[int], str]

_RIGHT = frozenset({"1", "true", "c", "correct", "pass", "passed", "yes"})
_WRONG = frozenset({"0", "false", "i", "incorrect", "fail", "failed", "no"})
_UNSCORED = frozenset({"", "n", "na", "n/a", "nan", "null", "none", "<na>"})
_LIMIT = 2**62


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
        "row" or "line", and how they are counted.
    """

    label: str = "the columns given"
    first: int = 0
    unit: str = "row"
    counting: str = "counting from 0"

    def row(self, index: int) -> str:
        """Name one record."""
        return f"{self.unit} {index + self.first} of {self.label} ({self.counting})"

    def rows(self, one: int, two: int) -> str:
        """Name two records."""
        return f"{self.unit}s {one + self.first} and {two + self.first} of {self.label} ({self.counting})"


_GIVE_ONE = "give one to every row, or leave those rows out yourself"


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
    values = _values(column)
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


def index_values(column: object, what: str, row: RowName, *, missing: bool = False) -> npt.NDArray[Any]:
    """Generation numbers or seeds: int64 where all are whole numbers, else texts."""
    known = id_texts(column, what, row, missing=missing)
    codes, distinct = factorize(known)
    if all(isinstance(text, str) and _is_plain_integer(text) for text in distinct):
        return np.array([int(text) for text in distinct], dtype=np.int64)[codes] if distinct else codes
    return known


def whole_numbers(column: object, what: str, row: RowName) -> IntArray:
    """Whole numbers of zero or more as int64; fractions, negatives and missing values are refused with their row."""
    values = _values(column)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        numbers: npt.NDArray[Any] = values
        bad = numbers < 0 if values.dtype.kind == "i" else np.zeros(len(values), dtype=bool)
        too_large = numbers > _LIMIT if values.dtype.itemsize == 8 else np.zeros(len(values), dtype=bool)
        bad = bad | too_large
    else:
        numbers = _parsed(values, _as_number)
        with np.errstate(invalid="ignore"):
            bad = ~(np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers)) & (numbers <= _LIMIT))
    if bad.any():
        index = int(np.argmax(bad))
        raise DataError(_bad_number(values[index], numbers[index], what, row(index)))
    return numbers.astype(np.int64)


def scores(column: object, what: str, row: RowName, threshold: float | None) -> tuple[FloatArray, FloatArray | None]:
    """Outcomes of generations: 1 correct, 0 wrong, NaN not scored.

    Accepts 0 and 1, booleans, and the words 1/0, true/false, C/I, pass/fail, yes/no, correct/incorrect in any case.
    Missing values, "", "N" and NaN are not scored. Anything else needs a threshold.

    Parameters
    ----------
    column : series of Narwhals, array or list
        One score a generation.
    what, row : str, callable
        Words for messages.
    threshold : float or None
        Scores of at least this much count as correct.

    Returns
    -------
    correct : float array (generation,)
        0, 1 or NaN.
    score : float array (generation,) or None
        The scores as they were, when a threshold was applied.

    Raises
    ------
    DataError
        If a score is a word that is not known, is infinite, or is neither 0 nor 1 and no threshold is given.
    """
    values = _values(column)
    single = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize < 8
    known = values.astype(np.float64) if isinstance(values, np.ndarray) else _parsed(values, _as_score)
    bad = np.isinf(known)
    if bad.any():
        index = int(np.argmax(bad))
        raise DataError(
            f"{row(index)}: {values[index]!r} is not a {what} that can be read. Known are 0 and 1, true and false, "
            f"C and I, pass and fail, yes and no, correct and incorrect; empty, N or NaN means not scored"
        )
    if threshold is not None:
        cut = float(values.dtype.type(threshold)) if single and isinstance(values, np.ndarray) else threshold
        return np.where(np.isnan(known), np.nan, (known >= cut).astype(np.float64)), known
    bad = ~((known == 0) | (known == 1) | np.isnan(known))
    if bad.any():
        index, shown = int(np.argmax(bad)), values[int(np.argmax(bad))]
        shown = shown.item() if isinstance(shown, np.generic) else shown
        more = f"; {int(bad.sum()):,} such rows in all" if bad.sum() > 1 else ""
        raise DataError(
            f"{row(index)}: the {what} {shown!r} is neither 0 nor 1{more}. Say which scores count as correct: "
            f"threshold=1 counts {what}s of at least 1"
        )
    return known, None


def checked_threshold(threshold: float | None) -> float | None:
    """A threshold as a float, refused unless it is a finite number."""
    if threshold is None:
        return None
    try:
        cut = float(threshold)
    except (TypeError, ValueError):
        cut = float("nan")
    if isinstance(threshold, (bool, str)) or not np.isfinite(cut):
        raise OptionError(f"threshold must be a finite number, but {threshold!r} was given; scores of at least it count as correct")
    return cut


def texts(column: object) -> TextArray:
    """Answers as texts, None where missing; empty texts stay empty, lists and objects become JSON."""
    values = _values(column)
    if isinstance(values, np.ndarray):
        known, inverse = np.unique(values, return_inverse=True)
        named = np.array([_id_text(value) for value in known], dtype=object)
        result: TextArray = named[inverse.reshape(-1)] if len(named) else np.empty(0, dtype=object)
        return result
    try:
        table = {value: _content(value) for value in dict.fromkeys(values) if isinstance(value, str)}
        return _object_array((table[v] if isinstance(v, str) else _content(v) for v in values), len(values))
    except TypeError as problem:
        raise DataError(f"the answers cannot be read as text: {problem}") from None


def factorize(values: npt.NDArray[Any]) -> tuple[IntArray, list[Any]]:
    """Codes 0, 1, ... of the distinct values in order of first appearance, and those values."""
    items = values.tolist()
    place = {value: code for code, value in enumerate(dict.fromkeys(items))}
    return np.fromiter(map(place.__getitem__, items), np.int64, len(items)), list(place)


def combine(*codes: IntArray) -> IntArray:
    """One code for each distinct combination of several columns of codes; order is that of the columns."""
    key = codes[0]
    for code in codes[1:]:
        if not len(key):
            return key
        size = int(code.max()) + 1
        if int(key.max()) + 1 > _LIMIT // size:
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
        key = key * size + code
    return key


def first_duplicate(key: IntArray) -> tuple[int, int, int] | None:
    """Positions of the first repeated key and of its earlier twin, and how many rows repeat an earlier one."""
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order][1:] == key[order][:-1])
    if not len(again):
        return None
    later = int(order[again + 1].min())
    return int(np.argmax(key == key[later])), later, len(again)


def _values(column: object) -> npt.NDArray[Any] | list[Any]:
    """Numbers as a NumPy array, everything else (and whole numbers with gaps) as a list of Python objects."""
    if isinstance(column, np.ma.MaskedArray):
        column = [None if hidden else value for hidden, value in zip(
            np.ma.getmaskarray(column).tolist(), np.asarray(column.data).tolist(), strict=True)]
    if not isinstance(column, (np.ndarray, list, tuple)):
        dtype = getattr(column, "dtype", None)
        if dtype is not None and hasattr(dtype, "is_numeric"):
            if dtype.is_float() or (dtype.is_integer() and not column.null_count()):  # type: ignore[attr-defined]
                column = column.to_numpy()  # type: ignore[attr-defined]
            else:
                return list(column.to_list())  # type: ignore[attr-defined]
        elif hasattr(column, "to_numpy"):
            column = column.to_numpy()
        elif isinstance(column, Iterable) and not isinstance(column, (str, bytes)):
            column = list(column)
        else:
            raise DataError(f"a column of values was expected, but {column!r} was given")
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column.reshape(-1)
    return column.reshape(-1).tolist() if isinstance(column, np.ndarray) else list(column)


def _object_array(values: Iterable[Any], size: int) -> TextArray:
    return np.fromiter(values, dtype=object, count=size)


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def _id_text(value: object) -> str | None:
    if _is_missing(value):
        return None
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, (float, np.floating)) and math.isfinite(value) and value == math.floor(value):
        return str(int(value))
    return str(value)


def _content(value: object) -> str | None:
    if isinstance(value, str) or _is_missing(value):
        return value if isinstance(value, str) else None
    if isinstance(value, (list, tuple, dict, np.ndarray)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _family(kind: type) -> str:
    for parent, family in ((str, "text"), ((bool, np.bool_), "true/false"), ((int, np.integer), "whole number"),
                           ((float, np.floating), "number with a decimal point")):
        if issubclass(kind, parent):  # type: ignore[arg-type]
            return family
    return kind.__name__


def _refuse_mixture(values: list[Any], what: str, row: RowName) -> None:
    """Refuse a column in which 1, "1", True and 1.0 could stand for one thing or for four."""
    kinds = set(map(type, values))
    if len({_family(kind) for kind in kinds}) < 2:
        return
    seen: dict[str, int] = {}
    for index, value in enumerate(values):
        if not _is_missing(value):
            seen.setdefault(_family(type(value)), index)
    if len(seen) > 1:
        listed = "; ".join(f"{row(index)} holds {values[index]!r} ({family})" for family, index in seen.items())
        raise DataError(f"the column of the {what} mixes types: {listed}. Give all of them as text")


def _refuse_missing(values: TextArray, what: str, row: RowName, advice: str) -> None:
    if None in dict.fromkeys(values.tolist()):
        gone = [index for index, value in enumerate(values.tolist()) if value is None]
        more = f", and so do {len(gone) - 1:,} more rows" if len(gone) > 1 else ""
        raise DataError(f"{row(gone[0])} has no {what}{more}: {advice}")


def _is_plain_integer(text: str) -> bool:
    return text.lstrip("-").isdigit() and text.isascii() and len(text) < 19 and str(int(text)) == text


def _parsed(values: npt.NDArray[Any] | list[Any], parse: Callable[[Any], float]) -> FloatArray:
    """Apply ``parse`` to every distinct value; it gives infinity for what it cannot read."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64)
    try:
        table = {value: parse(value) for value in dict.fromkeys(values)}
        return np.fromiter(map(table.__getitem__, values), np.float64, len(values))
    except TypeError:
        return np.fromiter(map(parse, values), np.float64, len(values))


def _as_number(value: object) -> float:
    if _is_missing(value) or (isinstance(value, str) and value.strip().lower() in _UNSCORED):
        return math.nan
    if isinstance(value, (str, Real, np.generic)) or type(value).__name__ == "Decimal":
        try:
            return float(value) if "_" not in str(value) else math.inf  # type: ignore[arg-type]
        except ValueError:
            return math.inf
    return math.inf


def _as_score(value: object) -> float:
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _RIGHT or word in _WRONG:
            return 1.0 if word in _RIGHT else 0.0
        if word == "p":
            return 0.5
    return _as_number(value)


def _bad_number(value: object, number: float, what: str, where: str) -> str:
    shown = value.item() if isinstance(value, np.generic) else value
    if math.isnan(number):
        return f"{where} has no {what}: give 0 where nothing was run, or leave the row out yourself"
    if number < 0:
        return f"{where}: the {what} is {shown!r}; it cannot be negative"
    if math.isfinite(number) and number <= _LIMIT:
        return (
            f"{where}: the {what} is {shown!r}, a fraction where a count belongs. Give counts of generations, or one "
            f"row a generation with threshold= to say which scores count as correct"
        )
    return f"{where}: the {what} is {shown!r}, which is not a count"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
