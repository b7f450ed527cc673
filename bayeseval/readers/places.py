"""Where rows came from: the place of every row, for messages, and the sources that were counted, so that none is twice.

Both travel with `Counts`, `Outcomes` and `Credits` unseen: they are no columns, and equality does not look at them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bayeseval.readers.cells import Origin
from bayeseval.readers.codes import IntArray

__all__ = ["Places", "Source", "contributed", "digest_of_file", "twice_counted"]

_WHOLE = 2**24
_BLOCK = 2**16


@dataclass(frozen=True)
class Places:
    """The place of every row, held as ranges of a few origins as long as nobody picks rows.

    Attributes
    ----------
    origins : tuple of Origin
    sizes : tuple of int
        Number of records of each origin.
    rows : int64 array (row,) or None
        Position of every row among all records of all origins, one origin after the other; None where that is the
        row's own position.
    """

    origins: tuple[Origin, ...]
    sizes: tuple[int, ...]
    rows: IntArray | None = None

    @classmethod
    def whole(cls, origin: Origin, size: int) -> Places:
        """All records of one origin in order."""
        return cls((origin,), (size,))

    @classmethod
    def joined(cls, parts: Sequence[Places]) -> Places:
        """Rows of several objects, one after the other.

        Examples
        --------
        >>> one = Places.whole(Origin("a.csv", first=2, counting="the header is row 1"), 3)
        >>> Places.joined([one, one.take(np.array([2]))]).row(3)
        'row 4 of a.csv (the header is row 1)'
        """
        origins = tuple(origin for part in parts for origin in part.origins)
        sizes = tuple(size for part in parts for size in part.sizes)
        if all(part.rows is None for part in parts):
            return cls(origins, sizes)
        starts = np.cumsum([0, *(sum(part.sizes) for part in parts)])
        rows = [
            start + (np.arange(sum(part.sizes)) if part.rows is None else part.rows)
            for start, part in zip(starts[:-1], parts, strict=True)
        ]
        return cls(origins, sizes, np.concatenate(rows).astype(np.int64))

    def take(self, rows: npt.NDArray[np.integer]) -> Places:
        """The places of some of the rows."""
        return Places(self.origins, self.sizes, (rows if self.rows is None else self.rows[rows]).astype(np.int64))

    def row(self, index: int) -> str:
        """The place of one row in words."""
        at = index if self.rows is None else int(self.rows[index])
        starts = np.cumsum([0, *self.sizes])
        origin = int(np.searchsorted(starts, at, side="right")) - 1
        return self.origins[origin].row(at - int(starts[origin]))

    def __len__(self) -> int:
        return sum(self.sizes) if self.rows is None else len(self.rows)


@dataclass(frozen=True)
class Source:
    """A file or object whose generations were counted.

    Attributes
    ----------
    label : str
        Its path, or what else it was.
    digest : str
        Tells its content from that of any other.
    runs : frozenset of (str, str)
        System and benchmark of the runs in it.
    numbered : bool
        Whether it has no numbers of generations, so that those in the results were made when it was read.
    """

    label: str
    digest: str
    runs: frozenset[tuple[str, str]]
    numbered: bool = False


def digest_of_file(path: Path, run: str = "") -> str:
    """Digits that tell the content of a file from that of others; empty where it cannot be read.

    Of files beyond 16 MiB the size and 256 blocks from the first to the last are looked at.

    Parameters
    ----------
    path : pathlib.Path
    run : str
        What tells a repeated run from a copy although the bytes are the same, such as its date.
    """
    digest = hashlib.sha256(f"{run}|".encode("utf-8", "surrogatepass"))
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest.update(f"{size}|".encode())
            if size <= _WHOLE:
                digest.update(file.read(_WHOLE))
            else:
                for start in np.linspace(0, size - _BLOCK, 256).astype(np.int64).tolist():
                    file.seek(start)
                    digest.update(file.read(_BLOCK))
    except OSError:
        return ""
    return digest.hexdigest()


def contributed(sources: Iterable[Source], runs: Iterable[tuple[str, str]]) -> tuple[Source, ...]:
    """What sources gave to some of their runs; those that gave nothing are left out."""
    wanted = frozenset(runs)
    return tuple(
        Source(source.label, source.digest, common, source.numbered)
        for source in sources
        if (common := source.runs & wanted)
    )


def twice_counted(here: Iterable[Source], more: Iterable[Source]) -> tuple[Source, Source] | None:
    """The first two sources, one of each, that are copies of each other and hold the same run.

    Examples
    --------
    >>> one = Source("a.csv", "1f", frozenset({("gpt-x", "sums")}))
    >>> two = Source("copy.csv", "1f", frozenset({("gpt-x", "sums")}))
    >>> [source.label for source in twice_counted([one], [two])]
    ['a.csv', 'copy.csv']
    """
    known: dict[str, list[Source]] = {}
    for source in here:
        known.setdefault(source.digest, []).append(source)
    for source in more:
        for other in known.get(source.digest, ()) if source.digest else ():
            if other.runs & source.runs:
                return other, source
    return None
