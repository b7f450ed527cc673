"""Formats of evaluation tools, one module a tool; the folder is the catalogue.

A module of this folder, or what an installed package gives as an entry point of the group ``bayeseval.readers``, is a
format. It has

- ``NAME``, the tool in words;
- ``sniff(peek)``, which says what kind of file of this tool a `bayeseval.readers.peeks.Peek` shows, or None if it is
  of another tool. It sees the first bytes, the first JSON value, names in a zip archive and columns of a Parquet file,
  and never opens the file itself;
- ``samples(file)``, which yields a `bayeseval.readers.samples.Sample` for every generation, or refuses a file without
  results with ``file.refuse(...)``. Choosing among metrics, counting, numbering, duplicates, and what errored and
  unscored generations count as are not its business: `bayeseval.readers.gathering` does that for all of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Protocol, cast

from bayeseval.errors import ReadError
from bayeseval.readers.frames import first_line
from bayeseval.readers.peeks import Peek, peek
from bayeseval.readers.samples import File, Sample

__all__ = ["GROUP", "Format", "formats", "kind_of_file", "recognised"]

GROUP = "bayeseval.readers"
_SIZES = (2**18, 2**23)


class Format(Protocol):
    """What a module of this folder, or an entry point of the group ``bayeseval.readers``, provides."""

    NAME: str

    def sniff(self, peek: Peek) -> str | None:
        """Kind of file, in one word, or None if this format is not its own."""
        ...

    def samples(self, file: File) -> Iterable[Sample]:
        """Yield every generation in the file."""
        ...


@cache
def formats() -> tuple[Format, ...]:
    """Every format, imported when first asked for: those of this folder, then those of installed packages.

    Raises
    ------
    ReadError
        If an installed package offers a format that cannot be imported or lacks a part.
    """
    own = [
        importlib.import_module(f"{__name__}.{name}") for name in sorted(m.name for m in pkgutil.iter_modules(__path__))
    ]
    others = []
    for entry in metadata.entry_points(group=GROUP):
        try:
            found = entry.load()
            complete = isinstance(found.NAME, str) and callable(found.sniff) and callable(found.samples)
        except Exception as problem:
            raise ReadError(
                f"the reader {entry.name!r} ({entry.value}) cannot be used: {first_line(problem)}"
            ) from problem
        if not complete:
            raise ReadError(f"the reader {entry.name!r} ({entry.value}) lacks NAME, sniff or samples")
        others.append(found)
    return cast(tuple[Format, ...], (*own, *others))


def recognised(path: Path) -> tuple[Format, File] | None:
    """The format of a file by its content, and the file ready to be read; None if no format knows it.

    Only the first 256 KiB are looked at, or the first 8 MiB where these do not tell.
    """
    for size in _SIZES:
        seen = peek(path, size)
        for form in formats():
            if label := _sniffed(form, seen):
                return form, File(path, label, seen)
        if seen.whole or (seen.text[:1] not in ("{", "[") and not seen.members):
            return None
    return None


def kind_of_file(path: Path) -> str | None:
    """What kind of file this is: of a tool as its format says, a plain table or array, or None."""
    found = recognised(path)
    if found:
        return found[1].label
    seen = peek(path, _SIZES[0])
    if seen.head.startswith(b"\x93NUMPY"):
        return "npy"
    if seen.members and all(name.endswith(".npy") for name in seen.members):
        return "npz"
    if seen.columns:
        return "table"
    if seen.is_lines:
        return "jsonl_table"
    name = path.name.lower().removesuffix(".gz")
    return "csv_table" if name.endswith((".csv", ".tsv")) and seen.text else None


def _sniffed(form: Format, seen: Peek) -> str | None:
    try:
        return form.sniff(seen)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # no form that this tool writes
        return None
