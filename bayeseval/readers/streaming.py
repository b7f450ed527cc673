"""Large JSON Lines counted while they stream, without ever being held.

Polars refuses a line whose type is not that of its column, but makes text of a bare number in a column of text, and
does not see columns that begin later than the lines it infers them from. Both are looked for here: 7 and "7" must not
become one id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from bayeseval.errors import DataError, ReadError
from bayeseval.readers.cells import Origin, shown
from bayeseval.readers.frames import Table, from_frame
from bayeseval.readers.opening import lines, parsed
from bayeseval.readers.records import Records
from bayeseval.readers.spellings import OUTCOMES, matching

__all__ = ["LARGE", "large_json_lines", "refuse_bad_lines", "refuse_mixed_types"]

LARGE = 100_000
"""Tables of more rows are left to the engine where only counts are asked for."""
LARGE_FILE = 2**24
"""JSON Lines of more bytes are."""

_INFERRED = 10_000
_WINDOW = 2**20
_MOST = 1000
_BARE = r"(^|:)(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false)(:|$)"


def large_json_lines(path: Path) -> Table | None:
    """A lazy table of large JSON Lines that are not compressed; None for other files."""
    import polars as pl

    if not path.name.lower().endswith((".jsonl", ".ndjson")) or path.stat().st_size <= LARGE_FILE:
        return None
    origin = Origin(str(path), first=1, unit="record", counting="counting from 1")
    try:
        frame = pl.scan_ndjson(path, infer_schema_length=_INFERRED)
        there = list(frame.collect_schema())
        roles = [spelling for spellings in OUTCOMES.values() for spelling in spellings]
        later = matching([name for name in _later_columns(path) if name not in there], roles)
        if later:
            frame = pl.scan_ndjson(path, infer_schema_length=None)
            frame.collect_schema()
    except (Exception, pl.exceptions.PanicException):  # the strict reader says what is wrong
        return None
    note = f"{path}: counted as a stream; its columns are those of its first {_INFERRED:,} records"
    return from_frame(frame, origin, [] if later else [note])


def refuse_bad_lines(path: Path) -> None:
    """Name the first line that is no record, if there is one."""
    for line, content in lines(path):
        if not isinstance(parsed(content, f"{path}: line {line}"), dict):
            raise ReadError(f"{path}: line {line} is no record {{...}}; each line must be one")


def refuse_mixed_types(path: Path, table: Table, given: Iterable[str], results: Records) -> None:
    """Refuse ids that stand in one column both as text and as bare numbers.

    Parameters
    ----------
    path : Path
    table : Table
        What was counted; its columns of text are looked at.
    given : iterable of str
        Columns that the user named, besides those of common spellings.
    results : Records
        The counts; where no id looks like a number, none can have been one.
    """
    import narwhals as nw
    import polars as pl

    schema = table.frame.collect_schema()
    numbering = set(matching(table.columns, OUTCOMES["generation"]))
    keys = {*given, *numbering, *(name for role in ("system", "benchmark", "prompt", "group")
                                  for name in matching(table.columns, OUTCOMES[role]))}  # fmt: skip
    names = [name for name in table.columns if name in keys and schema[name] == nw.String]
    columns = (results.system, results.benchmark, results.prompt, results.group)
    texts = {text for column in columns if column is not None for text in column.tolist()}
    if not (numbering & set(names)) and not pl.Series(list(texts), dtype=pl.String).str.contains(_BARE).any():
        return
    quoted = "|".join(re.escape(json.dumps(name, ensure_ascii=False)) for name in names)
    bare = pl.col("line").str.contains(rf"(?:{quoted})\s*:\s*[-0-9tf]")
    found = pl.scan_lines(path, name="line").with_row_index("place", offset=1).filter(bare).head(_MOST + 1)
    suspects = found.collect(engine="streaming").rows()
    for place, line in suspects if len(suspects) <= _MOST else lines(path):
        record = parsed(line if isinstance(line, bytes) else line.encode(), f"{path}: line {place}")
        for name in names:
            if isinstance(record.get(name), (int, float)):
                raise DataError(
                    f"column {name!r} of {path} mixes types: line {place} holds {shown(record[name])}, and other lines "
                    "hold texts. Give all of them as text"
                )


def _later_columns(path: Path) -> set[str]:
    """Columns of some records in the middle and at the end of a file."""
    found: set[str] = set()
    size = path.stat().st_size
    with path.open("rb") as file:
        for share in (0.25, 0.5, 0.75, 1.0):
            file.seek(max(int(size * share) - _WINDOW, 0))
            for line in file.read(_WINDOW).split(b"\n")[1:]:
                try:
                    record = json.loads(line) if line.strip() else {}
                except (ValueError, RecursionError):
                    continue  # cut by the window, or damaged, which Polars sees
                found |= record.keys() if isinstance(record, dict) else set()
    return found
