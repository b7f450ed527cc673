"""Counts, outcomes and credits in files: written with what else is known about them, and read back as they were.

Rows stand in an ordinary table that any tool reads. What a table cannot hold (kind, levels, account, the files that
were read, a digest of the content) is in the key-value metadata of Parquet, and beside CSV and JSON Lines in a file
of the same name with ``.meta.json``.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayeseval._version import __version__
from bayeseval.errors import OptionError, ReadError
from bayeseval.files import write_whole
from bayeseval.readers.codes import factorize
from bayeseval.readers.frames import first_line
from bayeseval.readers.opening import content, parsed, unharmed
from bayeseval.readers.places import Source
from bayeseval.readers.records import number

if TYPE_CHECKING:
    from bayeseval.readers.records import Records

__all__ = ["SUFFIXES", "read_stored", "side_file", "write_records"]

SUFFIXES = (".csv", ".jsonl", ".parquet")
_KEY = "bayeseval"
_SCHEMA = 1
_FIRST = ("system", "benchmark", "prompt", "group", "generation", "generations")


def side_file(path: Path) -> Path:
    """The file that holds what a CSV or JSON Lines file cannot."""
    return path.with_name(f"{path.name}.meta.json")


def write_records(records: Records, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write counts, outcomes or credits; see `bayeseval.readers.records.Records.write`."""
    if not isinstance(path, str | os.PathLike) or Path(path).suffix.lower() not in SUFFIXES:
        raise OptionError(
            f"results are written as {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, but {str(path)!r} was given"
        )
    target = Path(path).expanduser()
    if target.is_dir() or not target.parent.is_dir():
        why = "it is a folder" if target.is_dir() else f"there is no folder {target.parent}"
        raise OptionError(f"{target} cannot be written: {why}; choose another path")
    suffix, beside = target.suffix.lower(), side_file(target)
    if target.exists() and not overwrite and not _ours(target):
        raise OptionError(
            f"{target} exists already, and bayeseval did not write it: choose another path, or pass overwrite=True"
        )
    columns = _ordered(records._columns())
    about = json.dumps({_KEY: _about(records, columns)})
    try:
        if suffix == ".parquet":
            write_whole(target, lambda draft: _frame(columns).write_parquet(draft, metadata={_KEY: about}))
        else:
            data = (_csv(columns) if suffix == ".csv" else _json_lines(columns)).encode("utf-8")
            write_whole(target, lambda draft: draft.write_bytes(data))
            write_whole(beside, lambda draft: draft.write_text(about + "\n", encoding="utf-8"))
    except UnicodeEncodeError:
        raise OptionError(
            f"{target} cannot be written: a text holds half a surrogate pair, which UTF-8 has no bytes for; write "
            "JSON Lines (.jsonl), which can say it"
        ) from None
    return target


def read_stored(path: Path) -> Records | None:
    """Results that `write_records` wrote, as they were; None if the file is another one.

    Raises
    ------
    ReadError
        If the rows are not those that were written, or the file is of a later version.
    """
    about = _described(path)
    if about is None:
        return None
    advice = (
        f"Delete {side_file(path)} to have it read as a plain table"
        if path.suffix.lower() != ".parquet"
        else ("Name its columns, as with prompt='prompt', to have it read as a plain table")
    )
    with unharmed(path, "results that bayeseval wrote"):
        if about.get("schema") != _SCHEMA:
            raise ReadError(
                f"{path} was written by bayeseval {about.get('version')} in a form that this one does not know"
            )
        kind = _kinds()[about["kind"]]
        types: dict[str, str] = about["columns"]
        for read in _READERS[path.suffix.lower()]:
            try:
                columns = read(path, types)
            except (ReadError, OSError):
                raise
            except Exception as problem:
                raise ReadError(f"{path} is damaged or was changed: {first_line(problem)}. {advice}") from None
            if _digest(columns) == about["digest"]:
                break
        else:
            raise ReadError(
                f"{path} does not hold the {about['rows']:,} rows that bayeseval wrote: it was changed or cut off. "
                f"{advice}"
            )
        facts = {"levels": None if about["levels"] is None else tuple(about["levels"])} if "levels" in about else {}
        line = f"{path}: {about['kind']} as bayeseval {about['version']} wrote them, {number(about['rows'], 'row')}"
        sources = [
            Source(one["label"], one["digest"], frozenset((a, b) for a, b in one["runs"]), one["numbered"])
            for one in about["sources"]
        ]
        return kind._assemble(**columns, **facts, account=(*about["account"], line))._told_of(None, sources)


def _kinds() -> dict[str, Any]:
    from bayeseval.counts import Counts
    from bayeseval.credits import Credits
    from bayeseval.outcomes import Outcomes

    return {"counts": Counts, "outcomes": Outcomes, "credits": Credits}


def _ordered(columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    names = [name for name in _FIRST if name in columns]
    return {name: columns[name] for name in (*names, *(name for name in columns if name not in names))}


def _about(records: Records, columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    facts = {name: getattr(records, name) for name in records._facts if name != "account"}
    return {
        "schema": _SCHEMA,
        "version": __version__,
        "kind": type(records).__name__.lower(),
        "rows": len(records),
        "columns": {name: _type(column) for name, column in columns.items()},
        **facts,
        "fingerprint": records.fingerprint,
        "digest": _digest(columns),
        "account": list(records.account),
        "sources": [
            {"label": one.label, "digest": one.digest, "runs": sorted(one.runs), "numbered": one.numbered}
            for one in records._sources
        ],
    }


def _type(column: npt.NDArray[Any]) -> str:
    return {"i": "integer", "f": "number"}.get(column.dtype.kind, "text")


def _digest(columns: Mapping[str, npt.NDArray[Any]]) -> str:
    """Digits that tell the rows, in their order, from any others."""
    digest = hashlib.sha256()
    for name in sorted(columns):
        column = columns[name]
        digest.update(f"|{name}:{_type(column)}:{len(column)}|".encode())
        if column.dtype == object:
            codes, values = factorize(column)
            digest.update(codes.astype("<i8").tobytes())
            for value in values:
                text = b"-" if value is None else b"+" + value.encode("utf-8", "surrogatepass")
                digest.update(len(text).to_bytes(8, "little") + text)
        elif column.dtype.kind == "f":
            digest.update(np.where(np.isnan(column), np.nan, column).astype("<f8").tobytes())
        else:
            digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()


def _ours(path: Path) -> bool:
    try:
        return _described(path) is not None
    except ReadError:
        return True  # its side file says so, although it is damaged


def _described(path: Path) -> dict[str, Any] | None:
    """What is said about results in a file that bayeseval wrote; None for any other."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        import polars as pl

        try:
            text = pl.read_parquet_metadata(path).get(_KEY)
        except (Exception, pl.exceptions.PanicException):  # no whole Parquet file; who reads it says what is wrong
            return None
        value = None if text is None else parsed(text.encode(), f"the metadata of {path}")
    elif suffix in (".csv", ".jsonl") and side_file(path).is_file():
        value = parsed(content(side_file(path)), str(side_file(path)))
    else:
        return None
    about = value.get(_KEY) if isinstance(value, dict) else None
    return about if isinstance(about, dict) else None


# Writing --------------------------------------------------------------------------------------------------------------


def _frame(columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """A Polars frame, in which what is missing is null."""
    import polars as pl

    kinds: dict[str, Any] = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64}
    made = {}
    for name, column in columns.items():
        kind = _type(column)
        made[name] = pl.Series(name, column.tolist() if kind == "text" else column, dtype=kinds[kind], strict=True)
    return pl.DataFrame(made).with_columns(pl.col(pl.Float64).fill_nan(None))


def _plain(value: Any) -> Any:
    """A cell for a text file: None for what is missing, whole numbers without ".0"."""
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return None
    whole = value.is_integer() and abs(value) < 2**53 and not (value == 0 and math.copysign(1, value) < 0)
    return int(value) if whole else value


def _csv(columns: Mapping[str, npt.NDArray[Any]]) -> str:
    """Texts in quotes, so that an empty one is told from a missing one, which is nothing at all."""

    def cell(value: Any) -> str:
        if isinstance(value, str):
            return '"' + value.replace('"', '""') + '"'
        value = _plain(value)
        return "" if value is None else repr(value)

    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return "".join(f"{line}\n" for line in (",".join(columns), *(",".join(map(cell, row)) for row in rows)))


def _json_lines(columns: Mapping[str, npt.NDArray[Any]]) -> str:
    lines = []
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        record = {name: _plain(value) for name, value in zip(columns, row, strict=True)}
        line = json.dumps(record, ensure_ascii=False)
        lines.append(line if _is_valid(line) else json.dumps(record))
    return "".join(f"{line}\n" for line in lines)


def _is_valid(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


# Reading --------------------------------------------------------------------------------------------------------------


def _column(values: list[Any], kind: str) -> npt.NDArray[Any]:
    if kind == "integer":
        return np.array([int(value) for value in values], dtype=np.int64)
    if kind == "number":
        return np.array([math.nan if value is None else float(value) for value in values], dtype=np.float64)
    if any(not isinstance(value, str | None) for value in values):
        raise ReadError("a number stands where a text was written")
    same: dict[str, str] = {}
    return np.fromiter((None if v is None else same.setdefault(v, v) for v in values), dtype=object, count=len(values))


def _of_parquet(path: Path, types: dict[str, str]) -> dict[str, npt.NDArray[Any]]:
    import polars as pl

    frame = pl.read_parquet(path, columns=list(types), glob=False)
    columns = {}
    for name, kind in types.items():
        series = frame[name]
        columns[name] = (
            _column(series.to_list(), kind)
            if kind == "text" or (kind == "integer" and series.null_count())
            else series.to_numpy().astype(np.int64 if kind == "integer" else np.float64)
        )
    return columns


def _of_json_lines(path: Path, types: dict[str, str]) -> dict[str, npt.NDArray[Any]]:
    records = [json.loads(line) for line in content(path).split(b"\n") if line]
    return {name: _column([record[name] for record in records], kind) for name, kind in types.items()}


def _of_csv_fast(path: Path, types: dict[str, str]) -> dict[str, npt.NDArray[Any]]:
    """By Polars, which is fast, and whose few surprises the digest finds."""
    import polars as pl

    try:
        frame = pl.read_csv(content(path), infer_schema=False)
        return {name: _column(frame[name].to_list(), kind) for name, kind in types.items()}
    except (Exception, pl.exceptions.PanicException):  # read again, strictly
        return {}


_CELL = re.compile(r'"([^"]*(?:""[^"]*)*)"|([^",\n]*)')


def _of_csv(path: Path, types: dict[str, str]) -> dict[str, npt.NDArray[Any]]:
    text = content(path).decode("utf-8")
    rows: list[list[str | None]] = [[]]
    at = 0
    while at < len(text):
        match = _CELL.match(text, at)
        assert match is not None  # the second form matches nothing, too
        quoted, bare = match[1], match[2]
        rows[-1].append(quoted.replace('""', '"') if quoted is not None else bare or None)
        at = match.end() + 1
        if text[at - 1 : at] == "\n":
            rows.append([])
        elif text[at - 1 : at] != ",":
            raise ReadError(f"{path}: row {len(rows)} is damaged")
    header = rows[0]
    body = rows[1:-1]
    if any(len(row) != len(header) for row in body) or rows[-1]:
        raise ReadError(f"{path} was cut off, or a row has more or fewer cells than the header")
    places = {name: place for place, name in enumerate(header)}
    return {name: _column([row[places[name]] for row in body], kind) for name, kind in types.items()}


_READERS: dict[str, tuple[Any, ...]] = {
    ".parquet": (_of_parquet,),
    ".jsonl": (_of_json_lines,),
    ".csv": (_of_csv_fast, _of_csv),
}
