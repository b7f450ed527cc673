"""Wide tables: one row a prompt, one column a generation (or, if the user says so, one column a system)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayeseval.errors import DataError
from bayeseval.outcomes import Outcomes
from bayeseval.readers.columns import OPTIONAL, ColumnChoice, NotResults, choose
from bayeseval.readers.frames import Table
from bayeseval.readers.keys import key_columns
from bayeseval.readers.records import number, refuse_duplicates
from bayeseval.readers.spellings import COUNTS, matching
from bayeseval.readers.values import checked_threshold, scores

__all__ = ["ColumnsAre", "generation_columns", "outcomes_from_wide", "score_columns"]

ColumnsAre = Literal["generations", "systems"]

_NUMBERED = re.compile(
    r"(gen|generation|trial|run|epoch|sample|attempt|rep|repeat|replicate|rollout|seed|try|response|completion|"
    r"correct|passed|score|reward)[\s_.\-]*(\d+)$",
    re.IGNORECASE,
)
_SCORE_STEMS = frozenset({"correct", "passed", "score", "reward"})
_ROLES = {role: COUNTS[role] for role in ("system", "benchmark", "prompt", "group")}


def generation_columns(table: Table) -> dict[str, int]:
    """Columns whose names number generations (gen_0, trial 1, ... or plain 0, 1, ...), with those numbers."""
    stems: dict[str, dict[str, int]] = {}
    for name in table.columns:
        if match := _NUMBERED.match(name.strip()):
            stems.setdefault(match[1].lower(), {})[name] = int(match[2])
    scored = [stem for stem in stems if stem in _SCORE_STEMS] or list(stems)
    if len(scored) == 1 and len(set(stems[scored[0]].values())) == len(stems[scored[0]]):
        return stems[scored[0]]
    plain = {name: int(name) for name in table.columns if name.strip().isdigit() and len(name) < 10}
    if len(plain) > 1 and sorted(plain.values()) in (list(range(len(plain))), list(range(1, len(plain) + 1))):
        return plain
    return {}


def score_columns(table: Table) -> list[str]:
    """Columns beside the ids if all of them hold outcomes: generations or systems, only the user knows which."""
    ids = {name for spellings in _ROLES.values() for name in matching(table.columns, spellings)}
    rest = [name for name in table.columns if name not in ids and name not in table.nested]
    if len(rest) < 2 or len(rest) + len(ids) < len(table.columns):
        return []
    rows = table.collect(rest)
    try:
        known = [scores(rows[name], "score", table.origin.row, None)[0] for name in rest]
    except DataError:
        return []
    return rest if all(not np.isnan(column).all() for column in known) else []


def outcomes_from_wide(
    table: Table, given: Mapping[str, ColumnChoice], threshold: float | None, columns_are: ColumnsAre | None
) -> Outcomes:
    """Outcomes of a wide table.

    Raises
    ------
    NotResults
        If its columns may be generations or systems and ``columns_are`` does not say which.
    DataError
        If a cell is no outcome, or two rows hold one prompt.
    """
    numbered = {} if columns_are == "systems" else generation_columns(table)
    cut = checked_threshold(threshold)
    roles = {role: spellings for role, spellings in _ROLES.items() if columns_are != "systems" or role != "system"}
    given = {role: value for role, value in given.items() if role in roles}
    optional = OPTIONAL | {"prompt"}
    ids = replace(table, columns=tuple(name for name in table.columns if name not in numbered))
    choice = choose(ids, roles, given, optional=optional)
    names = list(numbered) or [name for name in table.columns if name not in choice.used()]
    if not numbered:
        choice = choose(replace(ids, columns=tuple(choice.used())), roles, given, optional=optional)
    if not numbered and columns_are is None:
        shown = ", ".join(repr(name) for name in names[:4]) + (", ..." if len(names) > 4 else "")
        raise NotResults(
            f"the columns {shown} of {table.origin.label} may be generations or systems: say "
            "columns_are='generations' or columns_are='systems'"
        )
    if not names:
        raise NotResults(f"{table.origin.label} has no columns of outcomes beside those of ids")
    rows = table.collect([*choice.used(), *names])
    if not len(rows):
        raise DataError(f"{table.origin.label} has no rows")
    keys = key_columns(table, rows, choice)
    keys.setdefault("system", np.full(len(rows), "system", dtype=object))
    refuse_duplicates(table, {name: keys[name] for name in ("system", "benchmark", "prompt")}, choice.columns)
    return _unfolded(table, rows, keys, names, numbered, cut, columns_are, choice.said)


def _unfolded(
    table: Table,
    rows: Any,
    keys: dict[str, Any],
    names: list[str],
    numbered: dict[str, int],
    cut: float | None,
    columns_are: ColumnsAre | None,
    said: str,
) -> Outcomes:
    def named(name: str) -> Any:
        return lambda index: f"{table.origin.row(index)}, prompt {keys['prompt'][index]!r}, column {name!r}"

    read = [scores(rows[name], "score", named(name), cut) for name in names]
    width, size = len(names), len(rows)
    columns: dict[str, Any] = {role: np.repeat(column, width) for role, column in keys.items()}
    columns["correct"] = np.stack([correct for correct, _ in read], axis=1).reshape(-1)
    columns["score"] = (
        None if cut is None else np.stack([score for _, score in read if score is not None], axis=1).reshape(-1)
    )
    if columns_are == "systems":
        columns["system"] = np.tile(np.array(names, dtype=object), size)
        columns["generation"] = np.zeros(size * width, dtype=np.int64)
        what = "systems"
    else:
        columns["generation"] = np.tile(np.array(list(numbered.values()) or range(width), dtype=np.int64), size)
        what = "generations"
    listed = f"{names[0]!r} to {names[-1]!r}" if width > 2 else ", ".join(map(repr, names))
    account = (
        *table.notes,
        f"{table.origin.label}: {number(size, 'row')}; {width} {what} in the columns {listed}; {said}",
    )
    return Outcomes._assemble(**columns, account=account)
