"""Accounts of many files made short: what was said of each in the same words is said once for all of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["condensed"]

_FEW = 3


def condensed(lines: Sequence[str], files: Collection[str]) -> tuple[str, ...]:
    """The same account with one line in place of those that say the same of more than a few files.

    Parameters
    ----------
    lines : sequence of str
        Lines of the form "path: what is said".
    files : collection of str
        The paths of which lines may be put together.

    Examples
    --------
    >>> condensed(["a: read", "b: read", "c: read", "d: read", "d: 2 rows"], ["a", "b", "c", "d"])
    ('a and 3 more files: read', 'd: 2 rows')
    """
    known = set(files)
    pairs = [line.partition(": ") for line in lines]
    groups: dict[str, dict[str, None]] = {}
    for path, _, said in pairs:
        if path in known:
            groups.setdefault(said, {})[path] = None
    result = []
    for line, (path, _, said) in zip(lines, pairs, strict=True):
        group = groups.get(said, {})
        if path not in known or len(group) <= _FEW:
            result.append(line)
        elif path == next(iter(group)):
            result.append(f"{path} and {len(group) - 1:,} more files: {said}")
    return tuple(result)
