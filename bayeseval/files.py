"""Files that appear whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayeseval.errors import OptionError

__all__ = ["write_table", "write_whole"]

TABLES = (".csv", ".json", ".jsonl", ".parquet")


def write_whole(target: Path, write: Callable[[Path], object]) -> Path:
    """Write a file by way of a draft beside it, so that no reader, and no interrupt, ever leaves half of it.

    Parameters
    ----------
    target : pathlib.Path
    write : callable
        Called with the path of the draft, which it writes.

    Returns
    -------
    pathlib.Path
        The target.

    Raises
    ------
    OptionError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_whole(file, lambda draft: draft.write_text("whole")).read_text()
    'whole'
    """
    try:
        with tempfile.TemporaryDirectory(prefix=".bayeseval-", dir=target.parent) as scratch:
            draft = Path(scratch) / target.name
            write(draft)
            draft.replace(target)
    except OSError as error:
        raise OptionError(f"{target} cannot be written: {error.strerror or error}; choose another path") from None
    return target


def write_table(columns: Mapping[str, Sequence[Any]], path: str | Path) -> Path:
    r"""Write columns as CSV, as a JSON list of objects, as JSON Lines or as Parquet; the ending of the name decides.

    Parameters
    ----------
    columns : mapping of str to sequence
        Texts or numbers, all of one length.
    path : str or pathlib.Path

    Returns
    -------
    pathlib.Path

    Raises
    ------
    OptionError
        If the ending is another one, the folder does not exist, or the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = write_table({"prompt": ["007"], "extra": [3]}, pathlib.Path(tempfile.mkdtemp()) / "a.jsonl")
    >>> file.read_text()
    '{"prompt": "007", "extra": 3}\n'
    """
    if not isinstance(path, str | os.PathLike) or Path(path).suffix.lower() not in TABLES:
        raise OptionError(
            f"a table is written as {', '.join(TABLES[:-1])} or {TABLES[-1]}, but {str(path)!r} was given"
        )
    target = Path(path).expanduser()
    if not target.parent.is_dir():
        raise OptionError(f"{target} cannot be written: there is no folder {target.parent}; choose another path")
    if target.is_dir():
        raise OptionError(f"{target} cannot be written: it is a folder; choose another path")
    suffix = target.suffix.lower()
    if suffix in (".json", ".jsonl"):
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        text = "".join(f"{line}\n" for line in lines)
        if suffix == ".json":
            text = "[\n" + ",\n".join(f"  {line}" for line in lines) + "\n]\n" if lines else "[]\n"
        return write_whole(
            target, lambda draft: draft.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        )
    import polars as pl

    frame = pl.DataFrame({name: list(values) for name, values in columns.items()})
    return write_whole(target, frame.write_csv if suffix == ".csv" else frame.write_parquet)
