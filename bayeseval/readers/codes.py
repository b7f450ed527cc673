"""Codes: distinct values numbered, so that keys of several columns can be compared at the speed of integers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "FloatArray",
    "IntArray",
    "TextArray",
    "combine",
    "factorize",
    "factorize_codes",
    "first_duplicate",
    "places",
]

TextArray: TypeAlias = npt.NDArray[np.object_]
IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

_LIMIT = 2**62


def factorize(values: npt.NDArray[Any]) -> tuple[IntArray, list[Any]]:
    """Codes 0, 1, ... of the distinct values in order of first appearance, and those values."""
    items = values.tolist()
    place = {value: code for code, value in enumerate(dict.fromkeys(items))}
    return np.fromiter(map(place.__getitem__, items), np.int64, len(items)), list(place)


def factorize_codes(codes: IntArray) -> tuple[IntArray, IntArray]:
    """The same for codes 0, 1, ... of at most some millions: new codes by first appearance, and those that occur.

    Examples
    --------
    >>> factorize_codes(np.array([5, 2, 5, 7]))
    (array([0, 1, 0, 2]), array([5, 2, 7]))
    """
    size = int(codes.max(initial=-1)) + 1
    first = np.full(size, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    seen = np.flatnonzero(first < len(codes))
    seen = seen[np.argsort(first[seen], kind="stable")]
    place = np.zeros(size, dtype=np.int64)
    place[seen] = np.arange(len(seen))
    return place[codes], seen


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


def places(key: IntArray) -> IntArray:
    """Position 0, 1, ... of every row among the rows of its key, in order."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(key)])
    result = np.empty(len(key), dtype=np.int64)
    result[order] = np.arange(len(key)) - np.repeat(starts, lengths)
    return result
