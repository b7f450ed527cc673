"""Table files made into tables: CSV and TSV, JSON Lines (all also gzipped) and Parquet.

Polars reads; where it gives up, or would fill a cut-off row with blanks, the standard library reads again, slowly and
strictly, and either succeeds or names the bad line. Every cell of a CSV stays text, so "007" is not 7.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bayeseval.errors import ReadError
from bayeseval.readers.cells import Origin
from bayeseval.readers.frames import Table, first_line, from_frame
from bayeseval.readers.spellings import OUTCOMES, matching

__all__ = ["SUFFIXES", "file_bytes", "has_table_suffix", "read_table", "reading"]

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".csv.gz", ".tsv.gz", ".jsonl.gz", ".ndjson.gz", ".parquet")
_LONGEST_FIELD = 2**31 - 1


def has_table_suffix(path: Path) -> bool:
    """Whether the name of a file says that it is a table."""
    return path.name.lower().endswith(SUFFIXES)


def read_table(path: Path) -> Table:
    """Read a table file, all columns, without knowing yet what they mean.

    Raises
    ------
    ReadError
        If the file is missing, may not be read, is empty, cut off, or not what its name says.
    """
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".parquet"):
        return _parquet(path)
    data = file_bytes(path)
    if not data.strip():
        raise ReadError(f"{path} is empty")
    return _json_lines(path, data) if name.endswith((".jsonl", ".ndjson")) else _csv(path, data, name)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the system or a library says about a file into one sentence that names it."""
    try:
        yield
    except ReadError:
        raise
    except FileNotFoundError:
        raise ReadError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ReadError(f"{path} is a folder, not a file") from None
    except PermissionError:
        raise ReadError(f"{path} may not be read by this user: check its permissions") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
        raise ReadError(f"{path} is cut off or damaged: {first_line(problem)}. Copy or make it again") from problem
    except OSError as problem:
        raise ReadError(f"{path} cannot be read: {first_line(problem)}") from problem


def file_bytes(path: Path) -> bytes:
    """Content of a file, decompressed where its name ends in .gz."""
    with reading(path):
        if path.name.lower().endswith(".gz"):
            from bayeseval.readers.opening import content  # which builds on this module

            with path.open("rb") as file:
                if file.read(2) not in (b"\x1f\x8b", b""):
                    raise ReadError(
                        f"{path} is cut off or damaged: it does not begin as a gzip file. Copy or make it again"
                    )
            return content(path)
        return path.read_bytes()


def _parquet(path: Path) -> Table:
    import polars as pl

    with reading(path):
        with path.open("rb") as file:
            if not file.read(1):
                raise ReadError(f"{path} is empty")
    origin = Origin(str(path), first=1, counting="counting from 1")
    try:
        frame = pl.scan_parquet(path, glob=False)
        frame.collect_schema()
    except (Exception, pl.exceptions.PanicException) as problem:
        raise ReadError(
            f"{path} is not a whole Parquet file: {first_line(problem)}. Copy or make it again"
        ) from problem
    return from_frame(frame, origin)


def _csv(path: Path, data: bytes, name: str) -> Table:
    import polars as pl

    text = _utf8(path, data)
    separator = _separator(text, "\t" if name.endswith(".tsv") else ",")
    header = _header(path, text, separator)
    origin = Origin(str(path), first=2, counting="the header is row 1")
    notes = []
    if not data.endswith((b"\n", b"\r")):
        notes.append(f"{path} does not end with a line break: if it was cut off, its last row is wrong")
    if separator != ("\t" if name.endswith(".tsv") else ","):
        notes.append(f"{path}: columns are separated by {separator!r}")
    try:
        frame = pl.read_csv(text, separator=separator, infer_schema=False)
        last = frame.get_column(frame.columns[-1])
        doubtful = frame.columns != header or bool(last.is_null().any() or (last == "").any())
    except (Exception, pl.exceptions.PanicException):  # a panic stands outside Exception
        doubtful = True
    if doubtful:
        frame = pl.DataFrame(_csv_strictly(path, text, separator, header), schema=dict.fromkeys(header, pl.String))
    return from_frame(frame.with_columns(pl.all().fill_null("")), origin, notes)


def _utf8(path: Path, data: bytes) -> bytes:
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise ReadError(f"{path}: line {line} is not UTF-8 text; save the file as UTF-8") from None
    if b"\0" in data[:4096]:
        raise ReadError(f"{path} is not UTF-8 text (it holds zero bytes); save it as UTF-8")
    return data


def _separator(text: bytes, usual: str) -> str:
    header = text.split(b"\n", 1)[0].decode("utf-8")
    return usual if usual in header else next((mark for mark in ("\t", ";", ",") if mark in header), usual)


def _rows(text: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the line it ends on."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        rows = csv.reader(io.StringIO(text.decode("utf-8"), newline=""), delimiter=separator, strict=True)
        for row in rows:
            if row:
                yield rows.line_num, row
    finally:
        csv.field_size_limit(before)


def _header(path: Path, text: bytes, separator: str) -> list[str]:
    try:
        header = next(_rows(text, separator), (0, []))[1]
    except csv.Error as problem:
        raise ReadError(f"{path}: the header cannot be read: {problem}") from None
    for name in header:
        if header.count(name) > 1:
            raise ReadError(f"{path}: two columns are named {name!r}: rename one of them")
    return header


def _csv_strictly(path: Path, text: bytes, separator: str, header: list[str]) -> list[list[str]]:
    columns: list[list[str]] = [[] for _ in header]
    line = 0
    try:
        for number, (line, row) in enumerate(_rows(text, separator), start=1):
            if len(row) != len(header):
                raise ReadError(
                    f"{path}: row {number} (line {line}) has {len(row)} cells, but the header has {len(header)}: the "
                    f"file is damaged or was cut off there"
                )
            if number > 1:
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
    except csv.Error as problem:
        raise ReadError(f"{path}: the row after line {line} cannot be read: {problem}") from None
    return columns


def _json_lines(path: Path, data: bytes) -> Table:
    import polars as pl

    origin = Origin(str(path), first=1, unit="record", counting="counting from 1")
    try:
        frame: Any = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
        if _may_mix_types(frame, data):
            frame = _json_strictly(path, _utf8(path, data))
    except (Exception, pl.exceptions.PanicException):  # a panic stands outside Exception
        frame = _json_strictly(path, _utf8(path, data))
    return from_frame(frame, origin)


def _may_mix_types(frame: Any, data: bytes) -> bool:
    """Whether a column of text may hold bare numbers too, which Polars makes text: 1 and "1" would become one id."""
    import polars as pl

    content = set(matching(frame.columns, (*OUTCOMES["correct"], *OUTCOMES["answer"], *OUTCOMES["gold"])))
    literal = pl.col(pl.String).str.contains(r"^(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false)$").any()
    numeric = frame.select(literal)
    names = [name for name in numeric.columns if name not in content and numeric[name][0]]
    bare = b"|".join(re.escape(json.dumps(name, ensure_ascii=False)).encode() for name in names)
    return bool(names) and re.search(rb"(?:" + bare + rb")\s*:\s*[-0-9tf]", data) is not None


def _json_strictly(path: Path, text: bytes) -> Any:
    """A pandas frame of Python objects, so that ids of mixed types are seen as they are."""
    import pandas as pd

    records: list[dict[str, Any]] = []
    for line, content in enumerate(text.split(b"\n"), start=1):
        if not content.strip():
            continue
        try:
            record = json.loads(content)
        except (ValueError, RecursionError) as problem:
            raise ReadError(
                f"{path}: line {line} is not JSON: {first_line(problem)}. The file is damaged or cut off"
            ) from None
        if not isinstance(record, dict):
            raise ReadError(
                f"{path}: line {line} holds a {type(record).__name__}; each line must be one record {{...}}"
            )
        records.append({name: _text_of_nested(value) for name, value in record.items()})
    names = dict.fromkeys(name for record in records for name in record)
    return pd.DataFrame({n: pd.Series([record.get(n) for record in records], dtype=object) for n in names})


def _text_of_nested(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
