"""The columns that say which system, benchmark and prompt a row belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.errors import DataError
from bayeseval.readers.cells import Origin, id_texts, join_ids
from bayeseval.readers.codes import IntArray, combine, factorize, places
from bayeseval.readers.columns import Choice
from bayeseval.readers.frames import Table
from bayeseval.readers.spellings import PARTIAL_CREDIT, ROW_IDS, squashed

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "key_columns",
    "may_be_key",
    "numbered_in_order",
    "refuse_changing_groups",
    "refuse_unclear_threshold",
    "rival_keys",
]


def key_columns(table: Table, rows: nw.DataFrame[Any], choice: Choice) -> dict[str, Any]:
    """Texts of system, benchmark, prompt and, where there is one, group.

    Without a column the system is called "system", the benchmark "benchmark" and the prompts row0, row1, ... of a run.
    """
    columns: dict[str, Any] = {}
    for role in ("system", "benchmark", "prompt", "group"):
        names = choice.columns.get(role, ())
        if names:
            advice = "give one to every row" + (
                "" if role == "prompt" else f", or leave the column out with {role}=False"
            )
            parts = [
                id_texts(rows[name], f"{role} id (column {name!r})", table.origin.row, advice=advice) for name in names
            ]
            columns[role] = join_ids(parts, list(names), role)
        elif role in ("system", "benchmark"):
            columns[role] = np.full(len(rows), role, dtype=object)
    if "prompt" not in columns:
        place = places(combine(*(factorize(columns[role])[0] for role in ("system", "benchmark"))))
        columns["prompt"] = np.array([f"row{i}" for i in range(int(place.max()) + 1)], dtype=object)[place]
    return columns


def rival_keys(choice: Choice) -> list[str]:
    """Columns that may be part of the key, to be looked at where no generation number would show a mistake."""
    if choice.columns["generation"]:
        return []
    rivals = [name for role in ("system", "benchmark", "prompt") for name in choice.rivals.get(role, ())]
    return [name for name in rivals if squashed(name) not in ROW_IDS]


def numbered_in_order(table: Table, rows: Any, choice: Choice, columns: dict[str, Any]) -> IntArray:
    """Number the rows of every prompt in order, unless a column that may belong to the key changes within a prompt."""
    key = combine(*(factorize(columns[name])[0] for name in ("system", "benchmark", "prompt")))
    for name in rival_keys(choice):
        other = factorize(id_texts(rows[name], name, table.origin.row, missing=True))[0]
        if len(np.unique(combine(key, other))) > len(np.unique(key)):
            raise may_be_key(table, choice, name)
    return places(key)


def may_be_key(table: Table, choice: Choice, name: str) -> DataError:
    """What to say of a column that changes between rows of one prompt where no column numbers the generations."""
    return DataError(
        f"no column of {table.origin.label} numbers the generations, and {name!r} changes between rows of one prompt: "
        "it may be part of the key. Name the key columns, for example "
        f"benchmark={[*choice.columns['benchmark'], name]!r}"
    )


def refuse_unclear_threshold(table: Table, choice: Choice, threshold: float | None) -> None:
    """Refuse a threshold that may be meant for another column of scores than the one taken."""
    score = choice.columns["correct"][0]
    graded = [name for name in choice.rivals.get("correct", ()) if squashed(name) in PARTIAL_CREDIT]
    if threshold is not None and graded and squashed(score) not in PARTIAL_CREDIT:
        raise DataError(
            f"a threshold was given, and {table.origin.label} has both {score!r} and {graded[0]!r}: say which it is "
            f"for with correct={score!r} or correct={graded[0]!r}"
        )


def refuse_changing_groups(columns: dict[str, Any], origin: Origin) -> None:
    """Refuse a prompt whose generations belong to different groups."""
    if columns.get("group") is None:
        return
    key = combine(*(factorize(columns[name])[0] for name in ("system", "benchmark", "prompt")))
    group = factorize(columns["group"])[0]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    differ = group != group[first[inverse.reshape(-1)]]
    if differ.any():
        two = int(np.argmax(differ))
        one = int(first[inverse.reshape(-1)[two]])
        raise DataError(
            f"{origin.rows(one, two)} put prompt {columns['prompt'][two]!r} into the groups {columns['group'][one]!r} "
            f"and {columns['group'][two]!r}: a prompt belongs to one group; use group=False to leave groups out"
        )
