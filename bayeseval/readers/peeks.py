"""A bounded look at a file: enough to tell the format by its content, never the whole of a large file."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bayeseval.readers.opening import beginning

__all__ = ["Peek", "outline", "peek"]

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{},]', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}


@dataclass(frozen=True)
class Peek:
    """What can be seen of a file at its beginning.

    Attributes
    ----------
    path : Path
    head : bytes
        The first bytes, decompressed.
    whole : bool
        Whether they are all of the file.
    """

    path: Path
    head: bytes
    whole: bool

    @cached_property
    def text(self) -> str:
        """The beginning as text, without a byte order mark or blanks at its start."""
        return self.head.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n")

    @cached_property
    def _first_line(self) -> Any:
        line = self.text.partition("\n")[0]
        try:
            return json.loads(line) if line[:1] in ("{", "[") else None
        except (ValueError, RecursionError):
            return None

    @cached_property
    def value(self) -> Any:
        """The first JSON value, complete where it ends within the beginning, else what there is of it; or None."""
        if self.text[:1] not in ("{", "["):
            return None
        return outline(self.text) if self._first_line is None else self._first_line

    @cached_property
    def record(self) -> dict[str, Any]:
        """The first JSON value if it is an object, else an empty one."""
        return self.value if isinstance(self.value, dict) else {}

    @cached_property
    def item(self) -> dict[str, Any]:
        """The first element of a JSON array if it is an object, else an empty one."""
        first = self.value[0] if isinstance(self.value, list) and self.value else None
        return first if isinstance(first, dict) else {}

    @cached_property
    def is_lines(self) -> bool:
        """Whether the first line is one JSON object, as in JSON Lines."""
        several = bool(self.text.partition("\n")[2].strip())
        named = re.search(r"\.(jsonl|ndjson)(\.\w+)?$", self.path.name.lower()) is not None
        return isinstance(self._first_line, dict) and (several or named)

    @cached_property
    def members(self) -> frozenset[str]:
        """Names in a zip archive."""
        if not self.head.startswith(b"PK"):
            return frozenset()
        try:
            with zipfile.ZipFile(self.path) as archive:
                return frozenset(archive.namelist())
        except Exception:  # a damaged archive raises errors of many kinds; who reads it says so
            return frozenset()

    @cached_property
    def columns(self) -> frozenset[str]:
        """Columns of a Parquet file."""
        if not self.head.startswith(b"PAR1"):
            return frozenset()
        import polars as pl

        try:
            with self.path.open("rb") as file:
                return frozenset(pl.read_parquet_schema(file))
        except (Exception, pl.exceptions.PanicException):  # who reads it says what is wrong
            return frozenset()


def peek(path: Path, size: int) -> Peek:
    """Look at the first ``size`` bytes of a file."""
    return Peek(path, *beginning(path, size))


def outline(text: str) -> Any:
    """What a JSON text that is cut off somewhere holds up to there, without its last, incomplete value.

    Examples
    --------
    >>> outline('{"version": 2, "eval": {"task": "sums", "mod')
    {'version': 2, 'eval': {'task': 'sums'}}
    """
    open_now: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark == '"':
            break
        if mark[0] == '"':
            continue
        if mark in _CLOSERS:
            open_now.append(_CLOSERS[mark])
        elif mark != "," and (not open_now or open_now.pop() != mark):
            return None
        end = token.start() if mark == "," else token.end()
        if not open_now:
            break
    closers = "".join(reversed(open_now))
    try:
        return json.loads(text[:end] + closers)
    except (ValueError, RecursionError):
        return None
