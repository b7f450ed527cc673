"""Cells that hold numbers: counts of generations, and scores of single generations."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from bayeseval.errors import DataError, OptionError
from bayeseval.readers.cells import RowName, cells_of, is_missing, shown
from bayeseval.readers.codes import FloatArray, IntArray

__all__ = ["checked_threshold", "scores", "whole_numbers"]

_RIGHT = frozenset({"1", "true", "c", "correct", "pass", "passed", "yes"})
_WRONG = frozenset({"0", "false", "i", "incorrect", "fail", "failed", "no"})
_UNSCORED = frozenset({"", "n", "na", "n/a", "nan", "null", "none", "<na>"})
_LIMIT = 2**62


def whole_numbers(column: object, what: str, row: RowName) -> IntArray:
    """Whole numbers of zero or more as int64; fractions, negatives and missing values are refused with their row."""
    values = cells_of(column)
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
    values = cells_of(column)
    single = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize < 8
    known = values.astype(np.float64) if isinstance(values, np.ndarray) else _parsed(values, _as_score)
    bad = np.isinf(known)
    if bad.any():
        index = int(np.argmax(bad))
        raise DataError(
            f"{row(index)}: the {what} is {shown(values[index])}, which cannot be read. Known are 0 and 1, true and "
            "false, C and I, pass and fail, yes and no, correct and incorrect; empty, N or NaN means not scored"
        )
    if threshold is not None:
        cut = float(values.dtype.type(threshold)) if single and isinstance(values, np.ndarray) else threshold
        return np.where(np.isnan(known), np.nan, (known >= cut).astype(np.float64)), known
    bad = ~((known == 0) | (known == 1) | np.isnan(known))
    if bad.any():
        index = int(np.argmax(bad))
        more = f"; {int(bad.sum()):,} such rows in all" if bad.sum() > 1 else ""
        raise DataError(
            f"{row(index)}: the {what} is {shown(values[index])}, neither 0 nor 1{more}. Say which scores count as "
            "correct: threshold=1 counts scores of at least 1"
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
        raise OptionError(
            f"threshold must be a finite number, but {threshold!r} was given; scores of at least it count as correct"
        )
    return cut


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
    if is_missing(value) or (isinstance(value, str) and value.strip().lower() in _UNSCORED):
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
    if math.isnan(number):
        return f"{where} has no {what}: give 0 where nothing was run, or leave the row out yourself"
    if number < 0:
        return f"{where}: the {what} is {shown(value)}; it cannot be negative"
    if math.isfinite(number) and number <= _LIMIT:
        return (
            f"{where}: the {what} is {shown(value)}, a fraction where a count belongs. Give counts of generations, "
            "or one row a generation with threshold= to say which scores count as correct"
        )
    return f"{where}: the {what} is {shown(value)}, which is not a count"
