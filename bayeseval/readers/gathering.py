"""Samples of a tool's file made into outcomes, counts or credits: one metric, and a policy for what has no score."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.errors import DataError, OptionError, ReadError
from bayeseval.outcomes import Outcomes
from bayeseval.readers.cells import Origin, is_missing, shown, texts
from bayeseval.readers.codes import combine, factorize, first_duplicate, places
from bayeseval.readers.columns import NotResults
from bayeseval.readers.joining import Kind, Piece
from bayeseval.readers.metrics import chosen
from bayeseval.readers.places import Places
from bayeseval.readers.records import key_words, number
from bayeseval.readers.samples import File, Sample, Total, score_value
from bayeseval.readers.values import credit_values, scores

__all__ = ["Policy", "Request", "gathered"]

Policy = Literal["drop", "wrong", "bounds"]

_SAID = {
    "drop": "set aside, not counted as wrong",
    "wrong": "counted as wrong",
    "bounds": "set aside, with bounds on the score",
}


@dataclass(frozen=True)
class Request:
    """What a user asks of the files of evaluation tools.

    Attributes
    ----------
    kind, threshold : see `bayeseval.read`
    metric : tuple of str
        Metrics or scorers, the first that a benchmark has is taken.
    filter : str or None
        Filter of lm-evaluation-harness.
    errored, unscored : "drop", "wrong", "bounds" or None
    system, benchmark : str or None
        Names given in place of those in the file.
    used : set of str
        Gets the metrics in ``metric`` that a file had.
    """

    kind: Kind | None = None
    threshold: float | None = None
    metric: tuple[str, ...] = ()
    filter: str | None = None
    errored: Policy | None = None
    unscored: Policy | None = None
    system: str | None = None
    benchmark: str | None = None
    used: set[str] = field(default_factory=set)


def gathered(name: str, file: File, samples: Iterable[Sample], request: Request) -> Piece:
    """One piece of the samples of a file.

    Parameters
    ----------
    name : str
        The tool, for messages.
    file : File
    samples : iterable of Sample
    request : Request

    Raises
    ------
    ReadError
        If there are no samples, a score cannot be read, or an id is missing.
    DataError
        If a generation occurs twice; both places are named.
    OptionError
        If a choice of the user is needed and not made: the metric, what errored or unscored generations count as.
    """
    rows = list(samples)
    if not rows:
        raise NotResults(f"{file.path} is of {name}, but holds no samples")
    for role, given_name in (("system", request.system), ("benchmark", request.benchmark)):
        _name(file, rows, role, given_name)
    rows, given, notes = chosen(file, rows, request.metric, request.filter, request.used)
    read = [_score(row, value, file) for row, value in zip(rows, given, strict=True)]
    totals = any(isinstance(value, Total) for value in read)
    account = [f"{file.path}: {name}, {number(len(rows), 'prompt' if totals else 'generation')} on record"]
    account += [f"{file.path}: {line}" for line in [*notes, *file.notes]]
    account += [f"note: {file.path}: {line}" for line in file.cautions]
    read, said = _policies(file, rows, read, request)
    account += said
    rows, read = _without_dropped(rows, read, request)
    if not rows:
        raise NotResults(f"{file.path} holds no generation that is left: all are to be dropped")
    keys = _keys(file, rows)
    origin = Origin(str(file.path), first=1, unit="generation", counting="as the file has them")
    if totals:
        _refuse_twice(file, rows, keys)
        return Piece(origin, _counts(file, keys, read, request, account), run=file.run)
    numbered = any(row.generation is None for row in rows)
    keys["generation"] = _generations(keys, rows, numbered)
    if numbered:
        account.append(f"{file.path}: the file numbers no generations, so they are numbered in its order")
    _refuse_twice(file, rows, keys)

    def named(index: int) -> str:
        return f"{rows[index].place} of {file.path}, prompt {keys['prompt'][index]!r}"

    values = np.array([math.nan if value is None else value for value in read], dtype=np.float64)
    results: Outcomes | Credits
    if request.kind == "credits":
        credit = credit_values(values, "score", named)
        results = Credits._assemble(**keys, credit=credit, account=tuple(account))
    else:
        correct, score = scores(values, "score", named, request.threshold)
        if request.threshold is not None:
            account.append(f"{file.path}: scores of at least {request.threshold:g} count as correct")
        more = _answers(rows)
        results = Outcomes._assemble(**keys, correct=correct, score=score, **more, account=tuple(account))
    results._told_of(_places(file, rows), ())
    return Piece(origin, results, numbered=numbered, run=file.run, settled=True)


def _name(file: File, rows: Sequence[Sample], role: str, given: str | None) -> None:
    """Give every sample the name that the user gave, else the file's own, else the name of the role."""
    there = {str(getattr(row, role) or "") for row in rows}
    if given and len(there) > 1:
        raise OptionError(
            f"{file.path} holds several {role}s ({', '.join(map(repr, sorted(there)[:5]))}): {role}= would make one of "
            "them; leave it out"
        )
    for row in rows:
        setattr(row, role, given or str(getattr(row, role) or "") or role)


def _score(row: Sample, value: Any, file: File) -> float | Total | None:
    return value if isinstance(value, Total) else score_value(value, f"{row.place} of {file.path}")


def _keys(file: File, rows: Sequence[Sample]) -> dict[str, Any]:
    """Texts of system, benchmark and prompt; 7 and "7" in one file are refused, as nobody can tell if they are one."""
    kinds: dict[tuple[str, str], type] = {}
    prompts = []
    for row in rows:
        value = row.prompt
        if is_missing(value) or (isinstance(value, str) and not value.strip()):
            raise ReadError(f"{row.place} of {file.path} has no prompt id")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ReadError(f"{row.place} of {file.path} has {shown(value)} where the id of a prompt belongs")
        if isinstance(value, float) and value == int(value):
            value = int(value)
        text = value if isinstance(value, str) else str(value)
        if kinds.setdefault((row.benchmark, text), type(value)) is not type(value):
            raise DataError(
                f"{row.place} of {file.path}: the prompt id {text!r} stands in the file as text and as a number, which "
                "may be one prompt or two: make all ids text"
            )
        prompts.append(text)
    return {
        "system": np.array([row.system for row in rows], dtype=object),
        "benchmark": np.array([row.benchmark for row in rows], dtype=object),
        "prompt": np.array(prompts, dtype=object),
    }


def _generations(keys: Mapping[str, Any], rows: Sequence[Sample], numbered: bool) -> Any:
    if numbered:
        return places(combine(*(factorize(keys[name])[0] for name in ("system", "benchmark", "prompt"))))
    values = [row.generation for row in rows]
    if all(isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62 for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([str(value) for value in values], dtype=object)


def _refuse_twice(file: File, rows: Sequence[Sample], keys: Mapping[str, Any]) -> None:
    twice = first_duplicate(combine(*(factorize(column)[0] for column in keys.values())))
    if twice:
        one, two, count = twice
        more = f" ({number(count - 1, 'further one')} repeat an earlier one)" if count > 1 else ""
        raise DataError(
            f"{rows[one].place} and {rows[two].place} of {file.path} hold the same {key_words(keys, two)}{more}: give "
            "every generation its own number, or leave one of them out"
        )


def _policies(
    file: File, rows: Sequence[Sample], read: Sequence[float | Total | None], request: Request
) -> tuple[list[float | Total | None], list[str]]:
    """Decide about generations without a score, as the user says; nothing is decided unasked."""
    gone = [index for index, value in enumerate(read) if value is None]
    kinds = {
        "errored": [index for index in gone if rows[index].errored],
        "unscored": [index for index in gone if not rows[index].errored],
    }
    result, said = list(read), []
    for kind, where in kinds.items():
        if not where:
            continue
        first = rows[where[0]]
        what = f"{number(len(where), 'generation')} of {len(rows):,} " + (
            "errored, so there is no answer to score" if kind == "errored" else "have no score, though none errored"
        )
        policy = request.errored if kind == "errored" else request.unscored
        if policy is None:
            raise OptionError(
                f"{file.path}: {what} (the first is {first.place}, prompt {str(first.prompt)!r}). Say what they count "
                f"as: {kind}='drop' leaves them out, {kind}='wrong' counts them as wrong answers, {kind}='bounds' "
                "leaves them out and tells the scores if all of them were wrong, and if all were right"
            )
        if policy == "wrong":
            for index in where:
                result[index] = 0.0
        said.append(f"{file.path}: {what}; " + _SAID[policy] + f" ({kind}={policy!r})")
    both = sum(row.errored and value is not None for row, value in zip(rows, read, strict=True))
    if both:
        said.append(f"{file.path}: a score counts although the run errored: {number(both, 'generation')}")
    return result, said


def _without_dropped(
    rows: list[Sample], read: list[float | Total | None], request: Request
) -> tuple[list[Sample], list[float | Total | None]]:
    """Rows without those to be dropped, where other rows without a score stay to bound it; else all rows."""
    if {request.errored, request.unscored} != {"drop", "bounds"}:
        return rows, read
    dropped = request.errored == "drop"
    keep = [value is not None or row.errored != dropped for row, value in zip(rows, read, strict=True)]
    return [row for row, kept in zip(rows, keep, strict=True) if kept], [
        value for value, kept in zip(read, keep, strict=True) if kept
    ]


def _counts(
    file: File, keys: dict[str, Any], read: Sequence[float | Total | None], request: Request, account: list[str]
) -> Counts:
    if request.kind in ("outcomes", "credits"):
        raise NotResults(
            f"{file.path} holds only how many generations of each prompt were correct, not single {request.kind}: "
            "read it with kind='counts'"
        )
    if "bounds" in (request.errored, request.unscored) and any(value is None for value in read):
        raise OptionError(
            f"{file.path} does not tell how many generations have no score, only totals of prompts, so scores cannot "
            "be bounded: choose 'drop' or 'wrong' in place of 'bounds'"
        )
    order = factorize(combine(*(factorize(keys[name])[0] for name in ("system", "benchmark", "prompt"))))[0]
    first = np.unique(order, return_index=True)[1]
    generations, correct = np.zeros(len(first), dtype=np.int64), np.zeros(len(first), dtype=np.int64)
    for place, value in zip(order.tolist(), read, strict=True):
        if value is None:
            continue
        if not isinstance(value, Total):
            if value not in (0.0, 1.0):
                raise ReadError(
                    f"{file.path}: the score {value:g} of prompt {keys['prompt'][first[place]]!r} is no count"
                )
            value = Total(1, int(value))
        generations[place] += value.generations
        correct[place] += value.correct
    account.append(
        f"{file.path}: it tells how many generations of a prompt were correct, but not which: read as counts"
    )
    return Counts._assemble(
        **{name: column[first] for name, column in keys.items()},
        generations=generations, correct=correct, account=tuple(account),
    )  # fmt: skip


def _places(file: File, rows: Sequence[Sample]) -> Places | None:
    """Places in the words of the file, where all are of one form, such as "line 3" or "sample 3 in summaries.json"."""
    found = [re.fullmatch(r"(\w+) (\d{1,12})(?: in (.+))?", row.place) for row in rows]
    forms = {(match[1], match[3]) for match in found if match}
    if len(forms) != 1 or None in found:
        return None
    unit, member = forms.pop()
    numbers = np.array([int(match[2]) for match in found if match], dtype=np.int64)
    label = f"{member} in {file.path}" if member else str(file.path)
    return Places((Origin(label, unit=unit, counting="counting from 1"),), (int(numbers.max()) + 1,), numbers)


def _answers(rows: Sequence[Sample]) -> dict[str, Any]:
    more: dict[str, Any] = {}
    for role in ("answer", "gold"):
        values = [getattr(row, role) for row in rows]
        if any(value is not None for value in values):
            more[role] = texts(values)
    seeds = [
        row.seed if isinstance(row.seed, int) and not isinstance(row.seed, bool) and abs(row.seed) < 2**62 else None
        for row in rows
    ]
    known = [seed for seed in seeds if seed is not None]
    if len(known) == len(seeds):
        more["seed"] = np.array(known, dtype=np.int64)
    elif known:
        more["seed"] = np.array([None if seed is None else str(seed) for seed in seeds], dtype=object)
    return more
