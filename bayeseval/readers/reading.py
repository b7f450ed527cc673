"""How `read` works: every source becomes counts or outcomes, those are joined, and what happened is told."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bayeseval.counts import Counts
from bayeseval.errors import DataError, OptionError, ReadError, require_choice
from bayeseval.outcomes import Outcomes
from bayeseval.readers.arrays import as_table, outcomes_from_arrays, read_arrays
from bayeseval.readers.cells import Origin, checked_threshold, combine, factorize
from bayeseval.readers.columns import (
    COUNTS,
    OPTIONAL,
    OUTCOMES,
    ColumnChoice,
    NotResults,
    choose,
    kind_of,
    matching,
    refuse_unknown,
)
from bayeseval.readers.frames import Table, from_frame, is_frame
from bayeseval.readers.keys import places
from bayeseval.readers.records import number, say, shape_of, spread
from bayeseval.readers.sources import expand
from bayeseval.readers.tables import has_table_suffix, read_table
from bayeseval.readers.wide import ColumnsAre, generation_columns, outcomes_from_wide, score_columns

__all__ = ["Kind", "read_sources"]

Kind = Literal["counts", "outcomes"]
Results = Counts | Outcomes

_ROLES = tuple(dict.fromkeys([*COUNTS, *OUTCOMES]))


@dataclass(frozen=True)
class _Request:
    kind: Kind | None
    threshold: float | None
    columns_are: ColumnsAre | None
    given: Mapping[str, ColumnChoice]


@dataclass(frozen=True)
class _Piece:
    """Results of one source; ``numbered`` tells that its rows were numbered for want of a generation column."""

    origin: Origin
    results: Results
    numbered: bool = False


def read_sources(
    source: object,
    kind: Kind | None,
    threshold: float | None,
    columns_are: ColumnsAre | None,
    quiet: bool,
    given: Mapping[str, ColumnChoice],
) -> Results:
    """Read, join and tell; see `bayeseval.read`."""
    if kind is not None:
        require_choice("kind", kind, ("counts", "outcomes"))
    if columns_are is not None:
        require_choice("columns_are", columns_are, ("generations", "systems"))
    refuse_unknown(given, _ROLES)
    request = _Request(kind, checked_threshold(threshold), columns_are, given)
    if isinstance(source, Counts | Outcomes):
        return _of_kind(_Piece(Origin("the object given"), source), kind).results
    aside: list[str] = []
    pieces = list(_pieces(source, request, aside))
    if not pieces:
        raise ReadError("no counts or outcomes were found. " + "; ".join(line.removeprefix("set aside: ") for line in aside))
    results = _joined(pieces, kind, aside)
    results = results._with_account(*results.account, *aside, _summary(results, len(pieces), bool(aside)))
    say(results.account, quiet=quiet)
    return results


def _pieces(source: object, request: _Request, aside: list[str]) -> Iterator[_Piece]:
    if isinstance(source, (str, os.PathLike)):
        yield from _files([source], request, aside)
    elif isinstance(source, Counts | Outcomes):
        yield _Piece(Origin("the object given"), source)
    elif isinstance(source, (list, tuple)) and source and not _is_matrix(source):
        paths = [item for item in source if isinstance(item, (str, os.PathLike))]
        yield from _files(paths, request, aside)
        for item in source:
            if not isinstance(item, (str, os.PathLike)):
                yield from _pieces(item, request, aside)
    elif isinstance(source, np.ndarray) or _is_matrix(source):
        arrays = {"": source if isinstance(source, np.ndarray) else np.array(source, dtype=object)}
        yield _Piece(Origin("the matrix", unit="cell"), outcomes_from_arrays("the matrix", arrays, request.given, request.threshold))
    elif is_frame(source):
        yield _table_piece(from_frame(source), request, named=True)
    else:
        raise ReadError(
            f"a path, folder, pattern, data frame, matrix or a list of these was expected, but a {type(source).__name__} was given"
        )


def _is_matrix(source: object) -> bool:
    return isinstance(source, (list, tuple)) and bool(source) and all(
        isinstance(row, (list, tuple)) and all(not isinstance(v, (str, os.PathLike)) and not is_frame(v) for v in row) for row in source
    )  # fmt: skip


def _files(sources: Sequence[str | os.PathLike[str]], request: _Request, aside: list[str]) -> Iterator[_Piece]:
    """Read files once each; those of a folder or pattern that hold no results are set aside with the reason."""
    seen: set[Path] = set()
    for source in sources:
        paths, others, named = expand(source)
        aside += others
        for path in paths:
            if path.resolve() in seen:
                aside.append(f"set aside: {path} (named before)")
                continue
            seen.add(path.resolve())
            try:
                yield _file_piece(path, request, named=named)
            except NotResults as reason:
                if named:
                    raise
                aside.append(f"set aside: {reason}")


def _file_piece(path: Path, request: _Request, *, named: bool) -> _Piece:
    if has_table_suffix(path):
        return _table_piece(read_table(path), request, named=named)
    arrays = read_arrays(path)
    table = as_table(path, arrays)
    if table is not None:
        return _table_piece(table, request, named=named)
    origin = Origin(str(path), unit="cell")
    return _Piece(origin, outcomes_from_arrays(path, arrays, request.given, request.threshold))


def _table_piece(table: Table, request: _Request, *, named: bool) -> _Piece:
    given = request.given
    form = None if request.columns_are else kind_of(table, given)
    if form == "outcomes" and request.kind == "counts" and not given.get("generation"):
        if matching(table.columns, COUNTS["generations"]) and matching(table.columns, COUNTS["correct"]):
            form = "counts"
    if form == "counts" and request.kind == "outcomes":
        if not named or not matching(table.columns, OUTCOMES["correct"]):
            raise NotResults(f"{table.origin.label} holds counts, which cannot be taken apart into outcomes")
        form = "outcomes"
    if form == "counts":
        choice = choose(table, COUNTS, given, optional=OPTIONAL | {"prompt"})
        return _Piece(table.origin, Counts._from_table(table, choice))
    if form == "outcomes":
        choice = choose(table, OUTCOMES, given)
        outcomes = Outcomes._from_table(table, choice, request.threshold)
        return _Piece(table.origin, outcomes, numbered=not choice.columns["generation"])
    if not request.columns_are and not generation_columns(table) and not score_columns(table):
        raise NotResults(_neither(table))
    origin = Origin(table.origin.label, unit="cell")
    return _Piece(origin, outcomes_from_wide(table, given, request.threshold, request.columns_are))


def _neither(table: Table) -> str:
    shown = ", ".join(repr(name) for name in table.columns[:12]) + (", ..." if len(table.columns) > 12 else "")
    totals = matching(table.columns, COUNTS["generations"])
    counted = matching(table.columns, COUNTS["correct"])
    if counted and not totals:
        why = f"{counted[0]!r} may count correct generations, but no column tells how many there were; name it with generations='...'"
    elif totals:
        why = f"{totals[0]!r} may be the number of generations, but no column counts the correct ones; name it with correct='...'"
    else:
        why = f"no column holds scores; looked for {', '.join(OUTCOMES['correct'])}; name it with correct='...'"
    return f"{table.origin.label} is neither counts nor outcomes: it has {shown or 'no columns'}; {why}"


def _of_kind(piece: _Piece, kind: Kind | None) -> _Piece:
    if kind == "counts" and isinstance(piece.results, Outcomes):
        return _Piece(piece.origin, piece.results.counts())
    if kind == "outcomes" and isinstance(piece.results, Counts):
        raise OptionError(f"{piece.origin.label} holds counts, which cannot be taken apart into outcomes")
    return piece


def _joined(pieces: list[_Piece], kind: Kind | None, aside: list[str]) -> Results:
    counts = [piece for piece in pieces if isinstance(piece.results, Counts)]
    outcomes = [piece for piece in pieces if isinstance(piece.results, Outcomes)]
    if kind is None and counts and outcomes:
        _refuse_both_forms(counts, outcomes)
    if kind == "counts" and counts:
        outcomes = [piece for piece in outcomes if not _is_counted_already(piece, counts, aside)]
    if counts or kind == "counts":
        turned = [_of_kind(piece, "counts") for piece in outcomes]
        both = [_of_kind(piece, kind) for piece in counts] + turned
        return both[0].results if len(both) == 1 else Counts._concat([p.results for p in both], [p.origin for p in both])  # type: ignore[misc]
    _refuse_the_same_twice(outcomes)
    joined = _renumbered(outcomes)
    if len(joined) == 1:
        return joined[0].results
    return Outcomes._concat([p.results for p in joined], [p.origin for p in joined])  # type: ignore[misc]


def _refuse_both_forms(counts: list[_Piece], outcomes: list[_Piece]) -> None:
    for one in counts:
        for other in outcomes:
            common = [run for run in one.results.run_names if run in set(other.results.run_names)]
            if common:
                raise ReadError(
                    f"{one.origin.label} holds counts and {other.origin.label} outcomes of the same run ({common[0][0]} on "
                    f"{common[0][1]}): name one of the files, or say kind='counts' or kind='outcomes'"
                )


def _is_counted_already(piece: _Piece, counts: list[_Piece], aside: list[str]) -> bool:
    """Whether the runs of some outcomes stand among the counts too; they must agree then, and are set aside."""
    there = {run: other for other in counts for run in other.results.run_names}
    common = [run for run in piece.results.run_names if run in there]
    if not common:
        return False
    assert isinstance(piece.results, Outcomes)
    totals = {_key(row): row[3:] for other in counts for row in _rows(other.results)}  # type: ignore[arg-type]
    for row in _rows(piece.results.counts()):
        if _key(row) not in totals or totals[_key(row)] != row[3:]:
            raise ReadError(
                f"{piece.origin.label} and {there[common[0]].origin.label} do not agree on prompt {row[2]!r} of {row[0]} on "
                f"{row[1]}: name one of the files"
            )
    aside.append(f"set aside: {piece.origin.label} (the same runs as in {there[common[0]].origin.label}, with the same counts)")
    return True


def _rows(counts: Counts) -> Iterator[tuple[Any, ...]]:
    columns = (counts.system, counts.benchmark, counts.prompt, counts.generations, counts.correct)
    return zip(*(column.tolist() for column in columns), strict=True)


def _key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return row[:3]


def _refuse_the_same_twice(pieces: list[_Piece]) -> None:
    """Two files with the same content are one file copied: numbering would count its generations twice."""
    seen: dict[str, _Piece] = {}
    for piece in pieces if sum(piece.numbered for piece in pieces) > 1 else []:
        twin = seen.setdefault(piece.results.fingerprint, piece)
        if twin is not piece:
            raise DataError(f"{twin.origin.label} and {piece.origin.label} hold the same generations: name one of them")


def _renumbered(pieces: list[_Piece]) -> list[_Piece]:
    """Go on numbering where several files hold generations of one prompt without numbers of their own."""
    numbered = [piece for piece in pieces if piece.numbered]
    if len(numbered) < 2:
        return pieces
    columns = {name: np.concatenate([getattr(piece.results, name) for piece in numbered]) for name in ("system", "benchmark", "prompt")}
    generation = places(combine(*(factorize(column)[0] for column in columns.values())))
    starts = np.cumsum([0, *(len(piece.results) for piece in numbered)])
    fresh: dict[int, _Piece] = {}
    for piece, start, stop in zip(numbered, starts[:-1], starts[1:], strict=True):
        line = f"{piece.origin.label}: generations are numbered on from the files before"
        changed = generation[start:stop]
        account = piece.results.account
        if not np.array_equal(changed, piece.results.generation):  # type: ignore[union-attr]
            account = (*account, line)
        rows = {**piece.results._columns(), "generation": changed}
        fresh[id(piece)] = _Piece(piece.origin, Outcomes._assemble(**rows, account=account), numbered=True)
    return [fresh.get(id(piece), piece) for piece in pieces]


def _summary(results: Results, sources: int, aside: bool) -> str:
    runs = number(len(results.run_names), "run")
    if isinstance(results, Counts):
        per_prompt, more = results.generations, ""
    else:
        per_prompt = np.bincount(results._prompts[0], weights=~np.isnan(results.correct)).astype(np.int64)
        more = f"; {number(results.n_unscored, 'generation')} without a score, not counted as wrong" if results.n_unscored else ""
    return (
        f"in all: {number(sources, 'source')}, {number(len(results), 'row')}, {runs} ({shape_of(results.run_names)}), "
        f"{number(results.n_prompts, 'prompt')}, {number(results.n_generations, 'generation')}, {spread(per_prompt)}{more}"
        f"{'' if aside else '; nothing set aside'}"
    )
