"""Counts and probabilities as plain arrays, checked before anything is computed from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeseval.errors import DataError, OptionError

__all__ = ["Floats", "Integers", "as_counts", "as_probabilities", "require_generations"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def as_counts(correct: ArrayLike, generations: ArrayLike) -> tuple[Integers, Integers]:
    """Return correct and generations as int arrays of one shape, or refuse them.

    Parameters
    ----------
    correct, generations : arrays that broadcast
        Whole numbers with ``0 <= correct <= generations``.

    Returns
    -------
    correct, generations : int arrays, same shape

    Raises
    ------
    DataError
        If a count is missing, negative or not a whole number, or more are correct than were generated; the message
        names the first such prompt.

    Examples
    --------
    >>> as_counts([1, 2.0], 4)
    (array([1, 2]), array([4, 4]))
    """
    c, n = _whole_numbers("correct", correct), _whole_numbers("generations", generations)
    try:
        c, n = np.broadcast_arrays(c, n)
    except ValueError:
        raise DataError(
            f"correct has shape {c.shape} and generations has shape {n.shape}; give one of each for every prompt"
        ) from None
    if (c > n).any():
        where = _first(c > n)
        raise DataError(
            f"the prompt at {_position(where)} has {c[where]} correct of {n[where]} generations; "
            "are the two arguments in the wrong order? They are (correct, generations)"
        )
    return c, n


def as_probabilities(p: ArrayLike) -> Floats:
    """Return p as a float array, or raise `OptionError` where it holds NaN or leaves [0, 1]."""
    values = np.asarray(p, dtype=float)
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        bad = values[~((values >= 0) & (values <= 1))].flat[0]
        raise OptionError(f"p must hold probabilities in [0, 1], but it holds {bad!r}")
    return values


def require_generations(generations: Integers, needed: int, what: str, call: str) -> None:
    """Raise `DataError`, offering the posterior's ``call``, unless every prompt has the generations ``what`` needs."""
    short = generations < needed
    if short.any():
        where = _first(short)
        others = int(short.sum()) - 1
        more = f" (and {others} other{'s' if others > 1 else ''} too few)" if others else ""
        raise DataError(
            f"{what} needs at least {needed} generations of every prompt, but the prompt at {_position(where)} has "
            f"{generations[where]}{more}, and from fewer no unbiased estimate exists. Leave such prompts out, lower k, "
            f"or ask the posterior, which can extrapolate: be.fit(...).{call}"
        )


def _whole_numbers(name: str, values: ArrayLike) -> Integers:
    try:
        array = np.asarray(values)
        text = array.dtype.kind == "O" and any(isinstance(value, str) for value in array.flat)
        numbers = array.astype(float) if array.dtype.kind in "biufO" and not text else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        raise DataError(f"{name} must hold whole numbers, one for every prompt, but {_shown(values)} was given")
    bad = ~((numbers >= 0) & (numbers < 2**53) & (numbers == np.floor(numbers)))
    if bad.any():
        where = _first(bad)
        hint = "; leave prompts without a count out" if np.isnan(numbers[where]) else ""
        raise DataError(
            f"{name} must hold whole numbers of at least 0, but at {_position(where)} it holds {array[where]}{hint}"
        )
    return numbers.astype(np.int64)


def _first(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _position(where: tuple[int, ...]) -> str:
    inside = str(where[0]) if len(where) == 1 else str(where)
    return f"position {inside} (counted from 0)" if where else "hand"


def _shown(values: object) -> str:
    text = repr(values)
    return text if len(text) <= 60 else text[:57] + "..."
