"""Parquet files that together are one table: numbered parts in a folder, and folders named ``column=value``.

Data sets on hubs come as ``data/test-00000-of-00002.parquet``, and engines write ``split=test/part-0.parquet``. The
values in the names of folders are a column of texts, so that "007" is not 7.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bayeseval.errors import ReadError
from bayeseval.readers.cells import Origin
from bayeseval.readers.formats import recognised
from bayeseval.readers.frames import Table, first_line, from_frame
from bayeseval.readers.peeks import peek
from bayeseval.readers.records import number

__all__ = ["is_part", "partitions", "put_together", "read_shards"]

_OF = re.compile(r"(?P<stem>.*?)-?(?P<number>\d+)-of-(?P<all>\d+)$")
_PART = re.compile(r"(?P<stem>part[-_.]?)?\d+(-[0-9a-zA-Z._-]*)?$")
_HIVE = re.compile(r"([^=/\\]+)=([^/\\]*)$")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_PEEK = 2**12


def put_together(files: Sequence[Path]) -> list[tuple[Path, ...]]:
    """The same files, those that are parts of one table together, in the place of its first part."""
    groups: dict[Any, list[Path]] = {}
    for path in files:
        groups.setdefault(_table_of(path), []).append(path)
    return [tuple(paths) for paths in groups.values()]


def is_part(paths: Sequence[Path]) -> bool:
    """Whether files are parts of a table, perhaps the only part that is there."""
    first = paths[0]
    return len(paths) > 1 or _table_of(first) != first and bool(partitions(first) or _OF.match(first.stem))


def partitions(path: Path) -> dict[str, str | None]:
    """Columns that the names of the folders right above a file hold."""
    found: dict[str, str | None] = {}
    for folder in path.parents:
        match = _HIVE.match(folder.name)
        if match is None:
            break
        found[unquote(match[1])] = None if match[2] == _NO_VALUE else unquote(match[2])
    return dict(reversed(found.items()))


def read_shards(paths: Sequence[Path]) -> Table:
    """One lazy table of several Parquet files, with the columns that their folders name.

    Raises
    ------
    ReadError
        If one of them is damaged.
    """
    import polars as pl

    first = paths[0]
    root = first.parents[len(partitions(first))]
    label = f"{first} and {number(len(paths) - 1, 'more part')}" if len(paths) > 1 else str(first)
    origin = Origin(label, first=1, counting="counting from 1 through all parts")
    frames = []
    for path in paths:
        try:
            frame = pl.scan_parquet(path, glob=False)
            there = frame.collect_schema()
        except (Exception, pl.exceptions.PanicException) as problem:
            raise ReadError(
                f"{path} is not a whole Parquet file: {first_line(problem)}. Copy or make it again"
            ) from problem
        named = {name: value for name, value in partitions(path).items() if name not in there}
        frames.append(frame.with_columns(pl.lit(value, dtype=pl.String).alias(name) for name, value in named.items()))
    notes = []
    if columns := list(partitions(first)):
        notes.append(f"{root}: {', '.join(map(repr, columns))} from the names of folders")
    if (match := _OF.match(first.stem)) and int(match["all"]) != len(paths):
        notes.append(f"note: {label}: {number(len(paths), 'part')} of {int(match['all'])} are there")
    return from_frame(pl.concat(frames, how="vertical_relaxed") if len(frames) > 1 else frames[0], origin, notes)


def _table_of(path: Path) -> Any:
    """What is equal for the parts of one table, and for no other file."""
    if path.suffix.lower() != ".parquet":
        return path
    hive = tuple(partitions(path))
    of, part = _OF.match(path.stem), _PART.match(path.stem)
    if not (hive or of or part) or recognised(path) is not None:
        return path
    root = path.parents[len(hive)]
    stem = (of["stem"], int(of["all"])) if of else ("part", 0) if part else (path.stem, 0)
    return root, hive, stem, peek(path, _PEEK).columns
