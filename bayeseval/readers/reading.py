"""How `read` works: every source becomes counts or outcomes, those are joined, and what happened is told."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.errors import OptionError, ReadError, require_choice
from bayeseval.outcomes import Outcomes
from bayeseval.readers.accounts import condensed
from bayeseval.readers.adding import added_to
from bayeseval.readers.arrays import as_table, outcomes_from_arrays, read_arrays
from bayeseval.readers.cells import Origin
from bayeseval.readers.columns import (
    OPTIONAL,
    ColumnChoice,
    NotResults,
    choose,
    kind_of,
    refuse_other_formats,
    refuse_unknown,
)
from bayeseval.readers.formats import Format, recognised
from bayeseval.readers.frames import Table, from_frame, is_frame
from bayeseval.readers.gathering import Policy, Request, gathered
from bayeseval.readers.joining import Kind, Piece, Results, joined, of_kind, traced
from bayeseval.readers.lazily import counted
from bayeseval.readers.matrices import as_array
from bayeseval.readers.missing import bound_lines, decided
from bayeseval.readers.opening import unharmed
from bayeseval.readers.records import number, say, shape_of, spread
from bayeseval.readers.samples import File
from bayeseval.readers.shards import is_part, put_together, read_shards
from bayeseval.readers.sources import expand, is_known, no_known_suffix
from bayeseval.readers.spellings import COUNTS, CREDITS, OUTCOMES, matching
from bayeseval.readers.stored import read_stored
from bayeseval.readers.streaming import LARGE, large_json_lines, refuse_bad_lines, refuse_mixed_types
from bayeseval.readers.tables import has_table_suffix, read_table
from bayeseval.readers.values import checked_threshold
from bayeseval.readers.wide import ColumnsAre, generation_columns, outcomes_from_wide, score_columns
from bayeseval.seeds import shared_seed_lines

__all__ = ["Kind", "read_sources"]

_ROLES = tuple(dict.fromkeys([*COUNTS, *OUTCOMES]))
_NAMES = frozenset({("system", str), ("benchmark", str)})


@dataclass(frozen=True)
class _Request:
    kind: Kind | None
    threshold: float | None
    columns_are: ColumnsAre | None
    given: Mapping[str, ColumnChoice]
    metric: tuple[str, ...]
    filter: str | None
    errored: Policy | None
    unscored: Policy | None
    used: set[str]
    tools: set[str]
    alone: bool = False


def read_sources(
    source: object,
    kind: Kind | None,
    threshold: float | None,
    columns_are: ColumnsAre | None,
    metric: str | Sequence[str] | None,
    filter: str | None,
    errored: Policy | None,
    unscored: Policy | None,
    add_to: Results | None,
    quiet: bool,
    given: Mapping[str, ColumnChoice],
) -> Results:
    """Read, join and tell; see `bayeseval.read`."""
    for name, value, choices in (
        ("kind", kind, ("counts", "outcomes", "credits")),
        ("columns_are", columns_are, ("generations", "systems")),
        ("errored", errored, ("drop", "wrong", "bounds")),
        ("unscored", unscored, ("drop", "wrong", "bounds")),
    ):
        if value is not None:
            require_choice(name, value, choices)
    if "scorer" in given:
        raise OptionError("scorer= is not an argument of read; name the scorer with metric=")
    refuse_unknown(given, (*_ROLES, *(["credit"] if kind == "credits" else [])))
    if kind == "credits" and threshold is not None:
        raise OptionError(
            "threshold= makes right and wrong of scores, and kind='credits' keeps them: give one of the two"
        )
    if isinstance(add_to, Credits) and kind is None:
        kind = "credits"
    request = _Request(
        kind, checked_threshold(threshold), columns_are, given,
        _names(metric), _name(filter), errored, unscored, used=set(), tools=set(),
        alone=isinstance(source, (str, os.PathLike)) or (isinstance(source, (list, tuple)) and len(source) == 1),
    )  # fmt: skip
    if isinstance(source, Counts | Outcomes | Credits):
        return of_kind(Piece(Origin("the object given"), source), kind).results
    if isinstance(source, (list, tuple)) and not source:
        raise ReadError("the list of sources is empty")
    aside: list[str] = []
    pieces = list(_pieces(source, request, aside))
    if request.unscored == "wrong":
        pieces = [_counted_as_wrong(piece) for piece in pieces]
    if not pieces:
        raise ReadError(
            "no counts or outcomes were found. " + "; ".join(line.removeprefix("set aside: ") for line in aside)
        )
    if request.metric and not request.used:
        raise OptionError(
            f"no file has the metric {' or '.join(map(repr, request.metric))}: leave metric= out to see which"
        )
    results = joined(pieces, kind, aside)
    if threshold is not None and not any(isinstance(piece.results, Outcomes) for piece in pieces):
        aside.append("threshold= had no effect: counts hold no scores")
    if "bounds" in (errored, unscored):
        aside += _bounds(results, pieces)
    if isinstance(results, Outcomes):
        aside += shared_seed_lines(results)
    account = condensed(results.account, request.tools)
    left_out = bool(aside) or any(line.startswith("set aside: ") for line in account)
    results = results._with_account(*account, *aside, _summary(results, len(pieces), left_out))
    if add_to is not None:
        whole = added_to(add_to, results)
        say([*results.account, whole.account[-1]], quiet=quiet)
        return whole
    say(results.account, quiet=quiet)
    return results


def _pieces(source: object, request: _Request, aside: list[str], place: str = "") -> Iterator[Piece]:
    if isinstance(source, (str, os.PathLike)):
        yield from _files([source], request, aside)
    elif isinstance(source, Counts | Outcomes | Credits):
        yield Piece(Origin(f"the {type(source).__name__}{place}"), source)
    elif isinstance(source, (list, tuple)) and source and not _is_matrix(source):
        paths = [item for item in source if isinstance(item, (str, os.PathLike))]
        yield from _files(paths, request, aside)
        for index, item in enumerate(source):
            if not isinstance(item, (str, os.PathLike)):
                yield from _pieces(item, request, aside, f" in place {index} of the list")
    elif (isinstance(source, np.ndarray) or _is_matrix(source)) and request.kind == "credits":
        raise OptionError("a matrix is read as credits with be.Credits.from_matrix(...)")
    elif isinstance(source, np.ndarray) or _is_matrix(source):
        label = f"the matrix{place}"
        results = outcomes_from_arrays(label, {"": as_array(source, label)}, request.given, request.threshold)
        yield Piece(Origin(label, unit="cell"), results)
    elif is_frame(source):
        yield _frame_piece(from_frame(source, Origin(f"the data frame{place}")), request)
    else:
        raise ReadError(
            "a path, folder, pattern, data frame, matrix or a list of these was expected, but a value of type "
            f"{type(source).__name__} was given"
        )


def _name(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise OptionError(f"filter= must be the name of a filter, but {value!r} was given")
    return value


def _names(metric: object) -> tuple[str, ...]:
    names = [metric] if isinstance(metric, str) else metric
    if names is None:
        return ()
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        raise OptionError(
            f"metric= must be the name of a metric or scorer, or a list of names, but {metric!r} was given"
        )
    return tuple(names)


def _counted_as_wrong(piece: Piece) -> Piece:
    """The same piece, in which what has no score is wrong because the user says so, unless that was settled before."""
    results = piece.results
    if piece.settled or isinstance(results, Counts) or not results.n_unscored:
        return piece
    line = (
        f"{piece.origin.label}: {number(results.n_unscored, 'generation')} without a score counted as wrong "
        "(unscored='wrong')"
    )
    return replace(piece, results=decided(results, 0.0, line))


def _is_matrix(source: object) -> bool:
    """Whether a list is a matrix written out, rather than a list of sources."""
    numbers = (bool, int, float, np.generic, type(None), list, tuple)
    return isinstance(source, (list, tuple)) and all(
        isinstance(row, np.ndarray | list | tuple) and all(isinstance(value, numbers) for value in row)
        for row in source
    )


def _files(sources: Sequence[str | os.PathLike[str]], request: _Request, aside: list[str]) -> Iterator[Piece]:
    """Read files once each; those of a folder or pattern that hold no results are set aside with the reason."""
    seen: set[Path] = set()
    tables: list[tuple[tuple[Path, ...], bool]] = []
    for source in sources:
        paths, others, named = expand(source)
        aside += others
        fresh = []
        for path in paths:
            if path.resolve() in seen:
                aside.append(f"set aside: {path} ({'named' if named else 'read'} before)")
                continue
            seen.add(path.resolve())
            fresh.append(path)
        tables += [((path,), True) for path in fresh] if named else [(part, False) for part in put_together(fresh)]
    request = replace(request, alone=request.alone and len(tables) == 1)
    for parts, named in tables:
        try:
            piece = traced(_parts_piece(parts, request, named=named), parts)
            yield piece if named else replace(piece, folder=str(parts[0].parent))
        except NotResults as reason:
            if named:
                raise
            aside.append(f"set aside: {reason}")


def _parts_piece(parts: tuple[Path, ...], request: _Request, *, named: bool) -> Piece:
    if named or not is_part(parts):
        return _file_piece(parts[0], request, named=named)
    return _table_piece(_stored(read_shards(parts), request), request, named=named)


def _stored(table: Table, request: _Request) -> Table:
    """A table of one source, left to its engine if it is large and only counts are asked for."""
    lazily = request.alone and request.kind == "counts" and table.is_lazy and table.size() > LARGE
    return replace(table, in_engine=lazily)


def _file_piece(path: Path, request: _Request, *, named: bool) -> Piece:
    stored = None if request.given else read_stored(path)
    if stored is not None:
        origin = Origin(str(path), first=1, counting="counting from 1")
        return Piece(origin, cast(Results, stored))
    found = recognised(path)
    columns = {role for role, value in request.given.items() if value and (role, type(value)) not in _NAMES}
    if found and not (columns and has_table_suffix(path)):
        return _tool_piece(*found, request, columns, named=named)
    if not is_known(path):
        raise NotResults(no_known_suffix(path))
    if has_table_suffix(path):
        table = large_json_lines(path) if request.alone and request.kind == "counts" else None
        if table is not None:
            return _large_piece(table, path, request, named=named)
        return _table_piece(_stored(read_table(path), request), request, named=named)
    arrays = read_arrays(path)
    table = as_table(path, arrays)
    if table is not None:
        return _table_piece(table, request, named=named)
    origin = Origin(str(path), unit="cell")
    if request.kind == "credits":
        raise NotResults(f"{path} holds matrices, which are read as credits with be.Credits.from_matrix(...)")
    return Piece(origin, outcomes_from_arrays(path, arrays, request.given, request.threshold))


def _large_piece(table: Table, path: Path, request: _Request, *, named: bool) -> Piece:
    """Counts of large JSON Lines; where Polars gives up, the line that is damaged is named, or all is read at once."""
    try:
        piece = _table_piece(replace(table, in_engine=True), request, named=named)
    except NotResults:
        raise
    except ReadError:
        refuse_bad_lines(path)
        return _table_piece(read_table(path), request, named=named)
    given = [
        name for value in request.given.values() if value for name in ([value] if isinstance(value, str) else value)
    ]
    refuse_mixed_types(path, table, given, piece.results)
    return piece


def _tool_piece(form: Format, file: File, request: _Request, columns: set[str], *, named: bool) -> Piece:
    if columns:
        role = sorted(columns)[0]
        raise OptionError(
            f"{file.path} is of {form.NAME}, which has no columns: {role}= does not apply. system= and benchmark= give "
            "it names, metric= chooses the score"
        )
    names = {role: value for role, value in request.given.items() if isinstance(value, str)}
    asked = Request(
        request.kind, request.threshold, request.metric, request.filter, request.errored, request.unscored,
        names.get("system"), names.get("benchmark"), request.used,
    )  # fmt: skip
    file.named = named
    request.tools.add(str(file.path))
    with unharmed(file.path, form.NAME):
        return gathered(form.NAME, file, form.samples(file), asked)


def _frame_piece(table: Table, request: _Request) -> Piece:
    """Results of a data frame; generations of a lazy one are counted in its engine, unless all are asked for."""
    if table.is_lazy and request.kind in (None, "counts"):
        table = replace(table, in_engine=True)
    elif table.is_lazy:
        line = f"{table.origin.label}: the rows of {table.engine} were collected, as kind={request.kind!r} asks for all"
        table = replace(table, notes=(*table.notes, line))
    return _table_piece(table, request, named=True)


def _table_piece(table: Table, request: _Request, *, named: bool) -> Piece:
    given = request.given
    if request.kind == "credits":
        refuse_other_formats(table, given, "credit")
        roles = {role: value for role, value in given.items() if role in CREDITS}
        roles.setdefault("credit", given.get("correct"))
        picked = choose(table, CREDITS, roles)
        credits = Credits._from_table(table, picked, None)
        return Piece(table.origin, credits, numbered=not picked.columns["generation"])
    refuse_other_formats(table, given)
    form = None if request.columns_are else kind_of(table, given)
    could_be_counts = all(matching(table.columns, COUNTS[role]) for role in ("generations", "correct"))
    if form == "outcomes" and request.kind == "counts" and could_be_counts and not given.get("generation"):
        form = "counts"
    if form == "counts" and request.kind == "outcomes":
        if not named or not matching(table.columns, OUTCOMES["correct"]):
            raise NotResults(f"{table.origin.label} holds counts, which cannot be taken apart into outcomes")
        form = "outcomes"
    if form == "counts":
        choice = choose(table, COUNTS, given, optional=OPTIONAL | {"prompt"})
        return Piece(table.origin, Counts._from_table(table, choice))
    if form == "outcomes":
        choice = choose(table, OUTCOMES, given)
        if table.in_engine:
            columns, account = counted(table, choice, request.threshold, unscored_wrong=request.unscored == "wrong")
            return Piece(table.origin, Counts._assemble(**columns, account=account), settled=True)
        outcomes = Outcomes._from_table(table, choice, request.threshold)
        return Piece(table.origin, outcomes, numbered=not choice.columns["generation"])
    if not request.columns_are and not generation_columns(table) and not score_columns(table):
        raise NotResults(_neither(table))
    origin = Origin(table.origin.label, unit="cell")
    return Piece(origin, outcomes_from_wide(table, given, request.threshold, request.columns_are))


def _neither(table: Table) -> str:
    shown = ", ".join(repr(name) for name in table.columns[:12]) + (", ..." if len(table.columns) > 12 else "")
    totals = matching(table.columns, COUNTS["generations"])
    counted = matching(table.columns, COUNTS["correct"])
    if counted and not totals:
        why = f"{counted[0]!r} may count correct ones, but no column tells of how many; name it with generations='...'"
    elif totals:
        why = f"{totals[0]!r} may count generations, but no column counts the correct ones; name it with correct='...'"
    else:
        why = f"no column holds scores; looked for {', '.join(OUTCOMES['correct'])}; name it with correct='...'"
    return f"{table.origin.label} is neither counts nor outcomes: it has {shown or 'no columns'}; {why}"


def _bounds(results: Results, pieces: Sequence[Piece]) -> list[str]:
    """What the account says of bounds, which need the single generations."""
    if not isinstance(results, Counts):
        return bound_lines(results)
    if any(not isinstance(piece.results, Counts) and piece.results.n_unscored for piece in pieces):
        raise OptionError(
            "counts do not know how many generations have no score, so they bear no bounds: read outcomes, without "
            "kind='counts' and without files of counts, or choose 'drop' or 'wrong' in place of 'bounds'"
        )
    return []


def _summary(results: Results, sources: int, aside: bool) -> str:
    runs = number(len(results.run_names), "run")
    if isinstance(results, Counts):
        per_prompt, more = results.generations, ""
    else:
        per_prompt = np.bincount(results._prompts[0], weights=results._scored).astype(np.int64)
        more = (
            f"; {number(results.n_unscored, 'generation')} without a score, not counted as wrong"
            if results.n_unscored
            else ""
        )
    return (
        f"in all: {number(sources, 'source')}, {number(len(results), 'row')}, {runs} ({shape_of(results.run_names)}), "
        f"{number(results.n_prompts, 'prompt')}, {number(results.n_generations, 'generation')}, "
        f"{spread(per_prompt)}{more}"
        f"{'' if aside or more else '; nothing set aside'}"
    )
