"""Cells that hold numbers: counts of generations, and scores of single generations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from bayeseval.errors import DataError, OptionError
from bayeseval.readers.cells import RowName, cells_of, is_missing, shown
from bayeseval.readers.codes import FloatArray, IntArray

__all__ = [
    "SAME",
    "WORDS",
    "checked_levels",
    "checked_threshold",
    "credit_values",
    "level_words",
    "scores",
    "whole_numbers",
]

_RIGHT = frozenset({"1", "true", "c", "correct", "pass", "passed", "yes"})
_WRONG = frozenset({"0", "false", "i", "incorrect", "fail", "failed", "no"})
_UNSCORED = frozenset({"", "n", "na", "n/a", "nan", "null", "none", "<na>"})
WORDS = (_RIGHT, _WRONG, _UNSCORED)
"""Words for right and wrong answers, and for those without a score; case does not matter."""
_LIMIT = 2**62
SAME = 1e-9
"""Credits this near to a level are that level: room for rounding in the last digits, not for another credit."""


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
    values, known = _score_cells(column, what, row)
    if threshold is not None:
        single = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize < 8
        cut = float(values.dtype.type(threshold)) if single and isinstance(values, np.ndarray) else threshold
        return np.where(np.isnan(known), np.nan, (known >= cut).astype(np.float64)), known
    bad = ~((known == 0) | (known == 1) | np.isnan(known))
    if bad.any():
        index = int(np.argmax(bad))
        graded = not ((known < 0) | (known > 1)).any()
        raise DataError(
            f"{row(index)}: the {what} is {shown(values[index])}, neither 0 nor 1{_more(bad)}. Say which scores count "
            "as correct: threshold=1 counts scores of at least 1"
            + (
                "; or keep the partial credit with be.Credits.from_frame(...) or kind='credits' in be.read"
                if graded
                else ""
            )
        )
    return known, None


def credit_values(column: object, what: str, row: RowName, levels: tuple[float, ...] | None = None) -> FloatArray:
    """Credits of generations, from 0 to 1, and NaN where not scored; words are read as `scores` reads them.

    Parameters
    ----------
    column : series of Narwhals, array or list
        One credit a generation.
    what, row : str, callable
        Words for messages.
    levels : tuple of float, optional
        The credits that can be given; what lies within rounding of one becomes it.

    Returns
    -------
    float array (generation,)

    Raises
    ------
    DataError
        If a credit cannot be read, lies outside [0, 1], or is none of the levels.
    """
    values, known = _score_cells(column, what, row)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize < 8:
        short, where = np.unique(values, return_inverse=True)  # 0.7 in single precision is 0.7 and not 0.699999988
        known = np.array([float(str(value)) for value in short])[where.reshape(-1)]
    bad = (known < 0) | (known > 1)
    if bad.any():
        index = int(np.argmax(bad))
        scale = (
            f"divide by the maximum (the largest one here is {np.nanmax(known):g})"
            if not (known < 0).any()
            else "shift the scale so that the worst answer has 0, and divide by the maximum"
        )
        raise DataError(
            f"{row(index)}: the {what} is {shown(values[index])}, outside [0, 1]{_more(bad)}. A credit is a share of "
            f"full marks: {scale}"
        )
    known = known + 0.0  # no -0.0
    if levels is None:
        return known
    nearest = np.asarray(levels)[np.abs(known[:, None] - np.asarray(levels)).argmin(axis=1)]
    bad = np.abs(known - nearest) > SAME
    if bad.any():
        index = int(np.argmax(bad))
        raise DataError(
            f"{row(index)}: the {what} is {shown(values[index])}, which is none of the levels "
            f"{level_words(levels)}{_more(bad)}: declare it in levels=, or leave levels out if credits are continuous"
        )
    return np.where(np.isnan(known), np.nan, nearest)


def checked_levels(levels: Sequence[float] | None) -> tuple[float, ...] | None:
    """Levels as an increasing tuple of two or more numbers in [0, 1], or refused."""
    if levels is None:
        return None
    try:
        known = tuple(float(level) for level in levels)
    except (TypeError, ValueError):
        raise OptionError(
            f"levels must be numbers in [0, 1], such as levels=(0, 0.5, 1), but {levels!r} was given"
        ) from None
    if len(known) < 2:
        raise OptionError(f"levels must name at least two credits that can be given, but {levels!r} names {len(known)}")
    for level in known:
        if not 0 <= level <= 1:
            raise OptionError(f"levels must lie in [0, 1], but {level:g} was given: divide by the maximum")
    for before, after in zip(known, known[1:], strict=False):
        if after - before <= SAME:
            wrong = (
                f"{level_words((after,))} stands after {level_words((before,))}"
                if after < before - SAME
                else f"{level_words((after,))} is given twice"
            )
            raise OptionError(f"levels must increase, but {wrong}: are the categories out of order?")
    return known


def level_words(levels: Sequence[float]) -> str:
    """Levels in words, with as many digits as tell them apart."""
    return ", ".join(f"{level:.10g}" for level in levels)


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


def _score_cells(column: object, what: str, row: RowName) -> tuple[npt.NDArray[Any] | list[Any], FloatArray]:
    """Cells as they are, and the scores read from them; what cannot be read is refused."""
    values = cells_of(column)
    known = values.astype(np.float64) if isinstance(values, np.ndarray) else _parsed(values, _as_score)
    bad = np.isinf(known)
    if bad.any():
        index = int(np.argmax(bad))
        raise DataError(
            f"{row(index)}: the {what} is {shown(values[index])}, which cannot be read. Known are 0 and 1, true and "
            "false, C and I, pass and fail, yes and no, correct and incorrect; empty, N or NaN means not scored"
        )
    return values, known


def _more(bad: npt.NDArray[np.bool_]) -> str:
    return f"; {int(bad.sum()):,} such rows in all" if bad.sum() > 1 else ""


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
            "or one row a generation: with threshold= to say which scores count as correct, or as be.Credits"
        )
    return f"{where}: the {what} is {shown(value)}, which is not a count"
