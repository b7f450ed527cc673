"""The columns that say which system, benchmark and prompt a row belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.readers.cells import combine, factorize, id_texts, join_ids
from bayeseval.readers.columns import Choice
from bayeseval.readers.frames import Table

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["key_columns", "places"]


def key_columns(table: Table, rows: nw.DataFrame[Any], choice: Choice) -> dict[str, Any]:
    """Texts of system, benchmark, prompt and, where there is one, group.

    Without a column the system is called "system", the benchmark "benchmark" and the prompts row0, row1, ... of a run.
    """
    columns: dict[str, Any] = {}
    for role in ("system", "benchmark", "prompt", "group"):
        names = choice.columns.get(role, ())
        if names:
            advice = "give one to every row" + ("" if role == "prompt" else f", or leave the column out with {role}=False")
            parts = [id_texts(rows[name], f"{role} id (column {name!r})", table.origin.row, advice=advice) for name in names]
            columns[role] = join_ids(parts, list(names), role)
        elif role in ("system", "benchmark"):
            columns[role] = np.full(len(rows), role, dtype=object)
    if "prompt" not in columns:
        place = places(combine(*(factorize(columns[role])[0] for role in ("system", "benchmark"))))
        columns["prompt"] = np.array([f"row{i}" for i in range(int(place.max()) + 1)], dtype=object)[place]
    return columns


def places(key: Any) -> Any:
    """Position 0, 1, ... of every row among the rows of its key, in order."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(key)])
    result = np.empty(len(key), dtype=np.int64)
    result[order] = np.arange(len(key)) - np.repeat(starts, lengths)
    return result
