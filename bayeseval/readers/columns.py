"""Which column of a table plays which role: what the user says, else common spellings, and every guess said."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from bayeseval.errors import DataError, OptionError, ReadError
from bayeseval.readers.cells import id_texts
from bayeseval.readers.codes import FloatArray, IntArray, combine, factorize
from bayeseval.readers.frames import Table
from bayeseval.readers.spellings import COUNTS, KEYS, OUTCOMES, PARTIAL_CREDIT, ROW_IDS, matching, squashed
from bayeseval.readers.values import credit_values, scores, whole_numbers

__all__ = [
    "OPTIONAL",
    "Choice",
    "ColumnChoice",
    "NotResults",
    "choose",
    "kind_of",
    "refuse_other_formats",
    "refuse_unknown",
]

ColumnChoice: TypeAlias = str | Sequence[str] | Literal[False] | None
"""A column argument: a name, several names to be joined, False for "there is none", None to guess."""

_ONLY_COUNTS = frozenset(COUNTS["correct"]) - {"correct", "passed"}
_OTHER_FORMATS = {
    "lm-evaluation-harness samples": {"doc_id", "resps"},
    "Every Eval Ever samples": {"sample_id", "evaluation", "evaluation_id"},
    "promptfoo results": {"testIdx", "promptIdx"},
    "lighteval details": {"doc", "model_response", "metric"},
}
_SOME = 5000
OPTIONAL = frozenset({"system", "benchmark", "generation", "answer", "gold", "group", "seed"})


class NotResults(ReadError):
    """A table lacks the columns that counts or outcomes have; in a folder it is set aside instead."""


@dataclass(frozen=True)
class Choice:
    """The columns taken for each role.

    Attributes
    ----------
    columns : mapping of str to tuple of str
        Columns of each role, several where they are joined, none where the role is absent.
    rivals : mapping of str to tuple of str
        Columns that could have been taken too, but were not.
    said : str
        The choice in words.
    guessed : bool
        Whether the choice holds a guess that the names alone do not settle.
    """

    columns: Mapping[str, tuple[str, ...]]
    rivals: Mapping[str, tuple[str, ...]]
    said: str
    guessed: bool

    def used(self) -> list[str]:
        """All columns that play a role."""
        return list(dict.fromkeys(name for names in self.columns.values() for name in names))


def kind_of(table: Table, given: Mapping[str, ColumnChoice]) -> Literal["counts", "outcomes"] | None:
    """Whether a table holds counts (a row a prompt), outcomes (a row a generation), or neither (None)."""
    plain = [name for name in table.columns if name not in table.nested]
    if given.get("generations"):
        return "counts"
    if any(given.get(role) for role in ("generation", "answer", "gold", "seed")):
        return "outcomes"
    named = _as_list(given.get("correct"))
    totals = matching(plain, COUNTS["generations"])
    counted = matching(named or plain, COUNTS["correct"])
    if totals and any(squashed(name) in map(squashed, _ONLY_COUNTS) for name in counted):
        return "counts"
    if totals and (counted or named):
        numbered = bool(matching(plain, OUTCOMES["generation"]))
        return "counts" if _looks_counted(table, totals[0], (named or counted)[0], numbered) else "outcomes"
    return "outcomes" if named or matching(plain, OUTCOMES["correct"]) else None


def choose(
    table: Table,
    roles: Mapping[str, tuple[str, ...]],
    given: Mapping[str, ColumnChoice],
    *,
    optional: frozenset[str] = OPTIONAL,
) -> Choice:
    """Settle the column of every role; a role in ``optional`` may be without one.

    Raises
    ------
    NotResults
        If a needed column is missing, or the file is of a format with its own rules.
    DataError
        If two columns could play one role and disagree.
    """
    taken: dict[str, tuple[str, ...]] = {}
    rivals: dict[str, tuple[str, ...]] = {}
    for role in roles:
        if given.get(role) is not None:
            taken[role] = _given_columns(table, role, given[role], optional)
    for role, spellings in roles.items():
        if role in taken:
            continue
        busy = {name for names in taken.values() for name in names}
        free = [
            name
            for name in table.columns
            if name not in busy and (name not in table.nested or role in ("answer", "gold"))
        ]
        found = matching(free, spellings)
        if found and role == "generations":
            found = _admissible_totals(table, found, matching(free, roles["correct"]), given)
        elif len(found) > 1:
            found = _settled(table, role, found, counts="generations" in roles)
        if not found and role not in optional:
            raise NotResults(_not_found(table, role, spellings))
        taken[role], rivals[role] = tuple(found[:1]), tuple(found[1:])
    return Choice(taken, rivals, *_in_words(table, taken, rivals, given))


def refuse_unknown(given: Mapping[str, ColumnChoice], allowed: Sequence[str]) -> None:
    """Refuse column arguments for roles that do not exist."""
    for role in given:
        if role not in allowed:
            spelled = [
                known for known in allowed if matching([role], (*COUNTS.get(known, ()), *OUTCOMES.get(known, ())))
            ]
            near = [*spelled, *difflib.get_close_matches(role, allowed, n=1)][:1]
            hint = f"; did you mean {near[0]}=?" if near else "."
            raise OptionError(f"{role}= is not an argument of read{hint} Columns are named with {', '.join(allowed)}")


def _as_list(value: ColumnChoice) -> list[str]:
    if value is None or value is False:
        return []
    return [value] if isinstance(value, str) else list(value)


def _given_columns(table: Table, role: str, value: ColumnChoice, optional: frozenset[str]) -> tuple[str, ...]:
    if value is False:
        if role not in optional:
            raise OptionError(f"{role}=False is not possible: results need a column for it")
        return ()
    if not isinstance(value, str) and not (isinstance(value, Sequence) and all(isinstance(v, str) for v in value)):
        raise OptionError(f"{role}= must be the name of a column or a list of names, but {value!r} was given")
    names = _as_list(value)
    if not names:
        raise OptionError(f"{role}= is an empty list: name a column, or give False for none")
    if len(names) > 1 and role not in ("system", "benchmark", "prompt", "group"):
        raise OptionError(f"{role}= takes one column, but {len(names)} were given")
    for name in names:
        if name not in table.columns:
            near = difflib.get_close_matches(name, table.columns, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise NotResults(f"{table.origin.label} has no column {name!r}{hint} for {role}=; {_there(table)}")
        if name in table.nested and role not in ("answer", "gold"):
            raise DataError(f"column {name!r} of {table.origin.label} holds lists or records and cannot be the {role}")
    return tuple(names)


def _there(table: Table) -> str:
    shown = ", ".join(repr(name) for name in table.columns[:20])
    return (
        f"it has {shown}" + (f" and {len(table.columns) - 20} more" if len(table.columns) > 20 else "")
        if shown
        else "it has none"
    )


def _not_found(table: Table, role: str, spellings: Sequence[str]) -> str:
    hint = ""
    if role == "generations" and matching(table.columns, OUTCOMES["correct"]):
        hint = ". If every row is one generation, use Outcomes.from_frame(...).counts()"
    return (
        f"{table.origin.label} has no column for {role}: {_there(table)}; looked for {', '.join(spellings)}. "
        f"Name it with {role}='...'{hint}"
    )


def refuse_other_formats(table: Table, given: Mapping[str, ColumnChoice], role: str = "correct") -> None:
    """Refuse files of evaluation harnesses whose rows are not simply generations, unless the user names ``role``."""
    for name, signature in _OTHER_FORMATS.items():
        if signature <= set(table.columns) and given.get(role) is None:
            raise NotResults(
                f"{table.origin.label} looks like {name}, whose rows are not simply generations. Give the file itself "
                "to be.read, make a table with one row a generation (model, benchmark, prompt_id, generation, "
                f"{role}), or name {role}= to read it as it is"
            )


def _looks_counted(table: Table, total: str, correct: str, numbered: bool) -> bool:
    """Whether a column such as "correct" beside one such as "n" holds counts rather than the outcome of one row."""
    names = [n for s in KEYS.values() for n in matching(table.columns, s)[:1] if n not in (total, correct)]
    if table.in_engine:
        return _looks_counted_lazily(table, total, correct, names, numbered)
    rows = table.collect([total, correct, *names])
    try:
        right = whole_numbers(rows[correct], "count", str)
        whole_numbers(rows[total], "count", str)
    except DataError:
        return False
    if not len(right) or right.max() > 1:
        return True
    if numbered or not names:
        return not numbered
    keys = [factorize(id_texts(rows[name], "id", table.origin.row, missing=True))[0] for name in names]
    return len(np.unique(combine(*keys))) == len(right)


def _looks_counted_lazily(table: Table, total: str, correct: str, names: list[str], numbered: bool) -> bool:
    """The same for a lazy table, of which only some distinct values are collected."""
    rows = table.collected(table.frame.select([total, correct]).unique().head(_SOME))
    try:
        right = whole_numbers(rows[correct], "count", str)
        whole_numbers(rows[total], "count", str)
    except DataError:
        return False
    if not len(right) or right.max() > 1:
        return True
    if numbered or not names:
        return not numbered
    return table.size() == table.size(names)


def _admissible_totals(
    table: Table, totals: list[str], counted: list[str], given: Mapping[str, ColumnChoice]
) -> list[str]:
    """Of several columns that could be the number of generations, those that are never below the correct count."""
    correct = (_as_list(given.get("correct")) or counted)[:1]
    if len(totals) < 2 or not correct:
        return totals
    rows = table.collect([*totals, *correct])
    try:
        right = whole_numbers(rows[correct[0]], "count", str)
        columns = {name: whole_numbers(rows[name], "count", str) for name in totals}
    except DataError:
        return totals
    fit = [name for name in totals if bool((columns[name] >= right).all())] or totals[:1]
    _refuse_disagreement(table, "generations", fit, [columns[name] for name in fit])
    return fit + [name for name in totals if name not in fit]


def _settled(table: Table, role: str, found: list[str], *, counts: bool) -> list[str]:
    """Order several candidates for a role, or refuse where a wrong choice would go unseen."""
    if role == "prompt" and not counts and squashed(found[0]) in ROW_IDS:
        total, size = table.sizes(found) if table.in_engine else _sizes(table, found)
        repeated = [name for name, distinct in zip(found, size, strict=True) if distinct < total]
        if size[0] == total and repeated:
            return [repeated[0], *(name for name in found if name != repeated[0])]
    if role == "system":
        table, rows = table.distinct(found)
        coded = [factorize(id_texts(rows[name], "system id", table.origin.row, missing=True))[0] for name in found]
        _refuse_disagreement(table, role, found, [_first_seen(codes) for codes in coded])
    if role in ("correct", "credit"):
        whole = [name for name in found if role == "credit" or squashed(name) not in PARTIAL_CREDIT] or found
        if len(whole) > 1:
            table, rows = table.distinct(whole)
            try:
                read = [_comparable(rows[name], role, counts=counts) for name in whole]
            except DataError:
                listed = ", ".join(repr(name) for name in whole)
                raise DataError(
                    f"several columns of {table.origin.label} could be taken for {role}: {listed}; say which with "
                    f"{role}='...'"
                ) from None
            _refuse_disagreement(table, role, whole, read)
        return whole + [name for name in found if name not in whole]
    return found


def _sizes(table: Table, names: list[str]) -> tuple[int, list[int]]:
    rows = table.collect(names)
    read = [factorize(id_texts(rows[name], "prompt id", table.origin.row, missing=True))[1] for name in names]
    return len(rows), list(map(len, read))


def _comparable(column: object, role: str, *, counts: bool) -> IntArray | FloatArray:
    if counts:
        return whole_numbers(column, "correct count", str)
    read = credit_values(column, role, str) if role == "credit" else scores(column, "score", str, None)[0]
    return np.where(np.isnan(read), -1, read)


def _first_seen(codes: IntArray) -> IntArray:
    """Position at which each value was first seen: equal for two columns exactly when they are one-to-one."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return first[inverse.reshape(-1)].astype(np.int64)


def _refuse_disagreement(table: Table, role: str, names: list[str], values: Sequence[IntArray | FloatArray]) -> None:
    for name, column in zip(names[1:], values[1:], strict=True):
        differ = column != values[0]
        if differ.any():
            raise DataError(
                f"both {names[0]!r} and {name!r} of {table.origin.label} could be taken for {role}, and they differ "
                f"first in {table.origin.row(int(np.argmax(differ)))}: say which with {role}='{names[0]}' or "
                f"{role}='{name}'"
            )


def _in_words(
    table: Table,
    taken: Mapping[str, tuple[str, ...]],
    rivals: Mapping[str, tuple[str, ...]],
    given: Mapping[str, ColumnChoice],
) -> tuple[str, bool]:
    pairs = [
        f"{role} = {' + '.join(repr(name) for name in names)}{' (given)' if given.get(role) is not None else ''}"
        for role, names in taken.items() if names
    ]  # fmt: skip
    sentences = [", ".join(pairs)]
    sentences += [
        f"{', '.join(repr(name) for name in others)} would do for {role} too (choose with {role}=)"
        for role, others in rivals.items() if others
    ]  # fmt: skip
    for role, constant in (("system", "system"), ("benchmark", "benchmark")):
        if taken.get(role) == ():
            sentences.append(f"no column names the {role}, so it is called {constant!r}")
    if taken.get("prompt") == ():
        sentences.append("no column names the prompts, so they are row0, row1, ... within their run")
    busy = {name for names in taken.values() for name in names}
    unused = [
        name for name in table.columns if name not in busy and not any(name in others for others in rivals.values())
    ]
    if unused:
        more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""
        sentences.append(f"not used: {', '.join(repr(name) for name in unused[:8])}{more}")
    plain = all(given.get(role) is not None or names in ((), (role,)) for role, names in taken.items())
    settled = plain and not any(rivals.values()) and all(taken.get(role) for role in ("system", "benchmark", "prompt"))
    return "; ".join(sentences), not settled
