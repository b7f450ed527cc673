"""Words for the outcome of a comparison, and the names of the columns that hold it, as exports spell them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

import numpy as np

from bayeseval.errors import DataError, OptionError
from bayeseval.readers.cells import RowName, cells_of, is_missing, shown
from bayeseval.readers.codes import IntArray, TextArray
from bayeseval.readers.frames import Table
from bayeseval.readers.spellings import matching

__all__ = ["A", "B", "COLUMNS", "LABELS", "TIE", "chosen_columns", "whole_counts", "winner_codes"]

A, B, TIE = 0, 1, 2
LABELS = ("a", "b", "tie")
"""The winner of a comparison by its code."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "a": ("system_a", "model_a", "model_1", "system_1", "generator_1", "player_a", "left", "a"),
    "b": ("system_b", "model_b", "model_2", "system_2", "generator_2", "player_b", "right", "b"),
    "winner": ("winner", "preference", "label", "verdict", "outcome", "result", "choice", "vote"),
    "prompt": (
        "prompt", "prompt_id", "question_id", "question_hash", "item", "item_id", "instruction", "conversation_id",
    ),
    "seed": ("seed", "base_seed", "random_seed"),
    "count": ("count", "n", "n_votes", "votes", "n_comparisons"),
}  # fmt: skip
"""Spellings of the columns of a table of comparisons, the preferred ones first."""

NEEDED = ("a", "b", "winner")

_WORDS = {
    A: ("a", "model_a", "system_a", "a_wins", "model_a_wins", "win_a", "left", "a>b", "a>>b", "[[a]]", "model a"),
    B: ("b", "model_b", "system_b", "b_wins", "model_b_wins", "win_b", "right", "b>a", "b>>a", "[[b]]", "model b"),
    TIE: (
        "tie", "tie (bothbad)", "bothbad", "both_bad", "both bad", "tie (bothgood)", "both_good", "both good", "draw",
        "equal", "a=b", "b=a", "[[c]]", "neither", "both",
    ),
}  # fmt: skip
_CODES = {word: code for code, words in _WORDS.items() for word in words}

MOST_NAMED = 3


def chosen_columns(table: Table, given: Mapping[str, str | bool | None]) -> dict[str, str]:
    """Column of every role that has one: what the user names, else the first common spelling that the table has.

    Raises
    ------
    DataError
        If a column that is needed or named is not there.
    OptionError
        If a column is named by something else than a text.
    """
    found: dict[str, str | None] = {}
    for role, spellings in COLUMNS.items():
        named = given.get(role)
        if named is False and role not in NEEDED:
            found[role] = None
        elif named is None:
            taken = {name for name in given.values() if isinstance(name, str)} | set(found.values())
            free = [name for name in table.columns if name not in taken and name not in table.nested]
            found[role] = next(iter(matching(free, spellings)), None)
        elif not isinstance(named, str):
            raise OptionError(f"{role}= must be the name of a column, but {named!r} was given")
        elif named not in table.columns:
            near = difflib.get_close_matches(named, table.columns, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise DataError(f"{table.origin.label} has no column {named!r}{hint} for {role}=; {_there(table)}")
        else:
            found[role] = named
        if found[role] is None and role in NEEDED:
            raise DataError(
                f"{table.origin.label} has no column for {role}: {_there(table)}; looked for {', '.join(spellings)}. "
                f"Name it with {role}='...'"
            )
    return {role: name for role, name in found.items() if name is not None}


def winner_codes(column: object, a: TextArray, b: TextArray, row: RowName) -> IntArray:
    """0 where a won, 1 where b did, 2 for a tie.

    Parameters
    ----------
    column : series, array or list
        Words such as model_a, B>A, tie (bothbad), or the name of the system that won.
    a, b : object array (row,)
        Names of the systems compared.
    row : callable
        Names the row of a position.

    Raises
    ------
    DataError
        If a label is not known; the message names the rows.

    Examples
    --------
    >>> a, b = np.array(["x", "x", "x"], object), np.array(["y", "y", "y"], object)
    >>> winner_codes(["model_a", "y", "tie (bothbad)"], a, b, str)
    array([0, 1, 2])
    """
    cells = cells_of(column)
    values: Sequence[object] = cells.tolist() if isinstance(cells, np.ndarray) else list(cells)
    codes = np.empty(len(values), dtype=np.int64)
    strange: dict[str, list[int]] = {}
    for place, (value, first, second) in enumerate(zip(values, a.tolist(), b.tolist(), strict=True)):
        text = value.strip() if isinstance(value, str) else value
        # The name of a system comes first: a system may be called "left", and then that is who won.
        code = A if text == first else B if text == second else None
        if code is None and isinstance(text, str):
            code = _CODES.get(text.lower())
        if code is None:
            strange.setdefault("no label" if is_missing(value) else shown(value), []).append(place)
        else:
            codes[place] = code
    if strange:
        told = "; ".join(f"{label} in {_rows(places, row)}" for label, places in list(strange.items())[:MOST_NAMED])
        more = f"; and {len(strange) - MOST_NAMED:,} more labels" if len(strange) > MOST_NAMED else ""
        raise DataError(
            f"the winner must be the name of one of the two systems, or a word such as model_a, model_b or tie, but "
            f"there is {told}{more}; leave such comparisons out, or write what they mean"
        )
    return codes


def whole_counts(column: object, row: RowName) -> IntArray:
    """How often each comparison was made, a whole number of at least 1."""
    cells = cells_of(column)
    values = cells.tolist() if isinstance(cells, np.ndarray) else list(cells)
    counts = np.empty(len(values), dtype=np.int64)
    for place, value in enumerate(values):
        try:
            counts[place] = number = int(float(value))
            right = number >= 1 and number == float(value) and not isinstance(value, bool)
        except (TypeError, ValueError, OverflowError):
            right = False
        if not right:
            raise DataError(
                f"{row(place)} has {shown(value)} where the count of comparisons belongs: a whole number of at least 1"
            )
    return counts


def _rows(places: Sequence[int], row: RowName) -> str:
    named = row(places[0])
    return named if len(places) == 1 else f"{len(places):,} rows, first in {named}"


def _there(table: Table) -> str:
    return f"it has {', '.join(repr(name) for name in table.columns[:20])}{', ...' if len(table.columns) > 20 else ''}"
