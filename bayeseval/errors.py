"""What can go wrong, and the sentence that says so.

Every error of bayeseval derives from `BayesevalError`. The message says what was wrong, where, and what to do.
"""

from __future__ import annotations

import math
from collections.abc import Collection

__all__ = [
    "BayesevalError",
    "DataError",
    "FitError",
    "MissingDependencyError",
    "ModelFileError",
    "OptionError",
    "ReadError",
    "require_choice",
    "require_positive_integer",
    "require_probability",
]


class BayesevalError(Exception):
    """Base class of every error that bayeseval raises on purpose."""


class DataError(BayesevalError, ValueError):
    """The counts or outcomes given cannot be right, or cannot answer the question."""


class ReadError(DataError):
    """A file cannot be read as results of a language model."""


class OptionError(BayesevalError, ValueError):
    """An argument has a value that is not allowed."""


class ModelFileError(BayesevalError):
    """A model file does not follow the protocol."""


class FitError(BayesevalError, RuntimeError):
    """A model could not be fitted."""


class MissingDependencyError(BayesevalError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""


def require_probability(name: str, value: float) -> float:
    """Return ``value`` as a float if it lies strictly between 0 and 1, else raise `OptionError`."""
    number = _number(name, value)
    if not 0 < number < 1:
        hint = f"; did you mean {number / 100:g}?" if 1 < number < 100 else ""
        raise OptionError(f"{name} must lie strictly between 0 and 1, but {value!r} was given{hint}")
    return number


def require_positive_integer(name: str, value: int) -> int:
    """Return ``value`` as an int if it is a whole number of at least 1, else raise `OptionError`."""
    number = _number(name, value)
    if number != math.floor(number) or number < 1:
        raise OptionError(f"{name} must be a whole number of at least 1, but {value!r} was given")
    return int(number)


def require_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return ``value`` if it is one of ``choices``, else raise `OptionError` that lists them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise OptionError(f"{name} must be one of {listed}, but {value!r} was given")
    return value


def _number(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise OptionError(f"{name} must be a number, but {value!r} was given") from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise OptionError(f"{name} must be a finite number, but {value!r} was given")
    return number
