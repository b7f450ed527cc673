"""Results of several sources made into one object, or refused where they clash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.errors import DataError, OptionError, ReadError
from bayeseval.outcomes import Outcomes
from bayeseval.readers.cells import Origin
from bayeseval.readers.codes import combine, factorize, places
from bayeseval.readers.places import Places, Source, digest_of_file

__all__ = ["Kind", "Piece", "Results", "joined", "of_kind", "traced"]

Kind = Literal["counts", "outcomes", "credits"]
Results = Counts | Outcomes | Credits


@dataclass(frozen=True)
class Piece:
    """Results of one source.

    Attributes
    ----------
    origin : Origin
    results : Counts, Outcomes or Credits
    numbered : bool
        Whether rows were numbered for want of a generation column.
    run : str
        What tells a repeated run with equal results from a copy of the file, such as its date; empty where unknown.
    settled : bool
        Whether it was decided already what generations without a score count as.
    folder : str
        Where a file lies that the user did not name himself; empty for others.
    """

    origin: Origin
    results: Results
    numbered: bool = False
    run: str = ""
    settled: bool = False
    folder: str = ""


def traced(piece: Piece, paths: Sequence[Path] = ()) -> Piece:
    """The same piece, whose results know the files or the object and the row that each of theirs is from."""
    results = piece.results
    runs = frozenset(results.run_names)
    known = results._sources or tuple(
        Source(str(path), digest_of_file(path, piece.run), runs, piece.numbered) for path in paths
    )
    results._told_of(results._places or Places.whole(piece.origin, len(results)), known)
    return piece


def of_kind(piece: Piece, kind: Kind | None) -> Piece:
    """Count outcomes where counts are asked for; refuse to take counts apart."""
    if kind == "counts" and isinstance(piece.results, Outcomes):
        return Piece(piece.origin, piece.results.counts())
    if kind == "outcomes" and isinstance(piece.results, Counts):
        raise OptionError(f"{piece.origin.label} holds counts, which cannot be taken apart into outcomes")
    if kind == "credits" and not isinstance(piece.results, Credits):
        raise OptionError(f"{piece.origin.label} holds {type(piece.results).__name__.lower()}, not credits")
    if kind != "credits" and isinstance(piece.results, Credits):
        raise OptionError(f"{piece.origin.label} holds credits: read them with kind='credits'")
    return piece


def joined(pieces: Sequence[Piece], kind: Kind | None, aside: list[str]) -> Results:
    """Join counts with counts and outcomes with outcomes; where both stand, outcomes are counted.

    Parameters
    ----------
    pieces : sequence of Piece
    kind : "counts", "outcomes", "credits" or None
        What is asked for. Credits are only joined with credits.
    aside : list of str
        Gets a line for everything set aside here.

    Raises
    ------
    ReadError
        If one run stands both as counts and as outcomes and ``kind`` does not choose.
    DataError
        If a prompt of counts, or a generation of outcomes, occurs twice.
    """
    if kind == "credits" or any(isinstance(piece.results, Credits) for piece in pieces):
        credits = _numbered_on([of_kind(piece, "credits") for piece in pieces])
        return Credits._concat([cast(Credits, piece.results) for piece in credits], [piece.origin for piece in credits])
    counts = [piece for piece in pieces if isinstance(piece.results, Counts)]
    outcomes = [piece for piece in pieces if isinstance(piece.results, Outcomes)]
    if kind is None and counts and outcomes:
        _refuse_both_forms(counts, outcomes)
    if kind == "outcomes":
        counts = [of_kind(piece, kind) for piece in counts]
    outcomes = _numbered_on(outcomes)
    counts = _added_up(counts)
    if counts or kind == "counts":
        outcomes = [_one(outcomes)] if outcomes else []
        if counts:
            outcomes = [rest for piece in outcomes if (rest := _not_counted_yet(piece, counts, aside))]
        every = [*counts, *(of_kind(piece, "counts") for piece in outcomes)]
        if len(every) == 1:
            return every[0].results
        return Counts._concat([cast(Counts, piece.results) for piece in every], [piece.origin for piece in every])
    return _one(outcomes).results


def _one(pieces: list[Piece]) -> Piece:
    """Outcomes of several files as one piece, so that generations of one prompt in two of them are counted together."""
    if len(pieces) == 1:
        return pieces[0]
    results = Outcomes._concat([cast(Outcomes, piece.results) for piece in pieces], [piece.origin for piece in pieces])
    more = f" and {len(pieces) - 2} more files" if len(pieces) > 2 else ""
    return Piece(Origin(", ".join(piece.origin.label for piece in pieces[:2]) + more), results)


def _refuse_both_forms(counts: list[Piece], outcomes: list[Piece]) -> None:
    for one in counts:
        runs = set(one.results.run_names)
        for other in outcomes:
            common = [run for run in other.results.run_names if run in runs]
            if common:
                raise ReadError(
                    f"{one.origin.label} holds counts and {other.origin.label} outcomes of the same run "
                    f"({common[0][0]} on {common[0][1]}): name one of the two or say kind='counts' or kind='outcomes'"
                )


def _not_counted_yet(piece: Piece, counts: list[Piece], aside: list[str]) -> Piece | None:
    """Outcomes of runs that do not stand among the counts; those that do must agree with them."""
    there = {run: other for other in counts for run in other.results.run_names}
    common = [run for run in piece.results.run_names if run in there]
    if not common:
        return piece
    theirs = {row[:3]: row[3:] for other in counts for row in _rows(cast(Counts, other.results))}
    for row in _rows(cast(Outcomes, piece.results).counts()):
        if row[:2] in there and theirs.get(row[:3]) != row[3:]:
            raise ReadError(
                f"{piece.origin.label} and {there[row[:2]].origin.label} do not agree on prompt {row[2]!r} of "
                f"{row[0]} on {row[1]}: name one of the files"
            )
    rest = [run for run in piece.results.run_names if run not in there]
    what = piece.origin.label if not rest else f"{len(common)} runs of {piece.origin.label}"
    aside.append(f"set aside: {what} (the same runs as in {there[common[0]].origin.label}, with the same counts)")
    if not rest:
        return None
    names = zip(piece.results.system.tolist(), piece.results.benchmark.tolist(), strict=True)
    return Piece(piece.origin, piece.results._take(np.flatnonzero([run in rest for run in names])))


def _rows(counts: Counts) -> Iterator[tuple[Any, ...]]:
    columns = (counts.system, counts.benchmark, counts.prompt, counts.generations, counts.correct)
    return zip(*(column.tolist() for column in columns), strict=True)


def _numbered_on(pieces: list[Piece]) -> list[Piece]:
    """Go on numbering where several files hold generations of one prompt without numbers of their own."""
    numbered = [piece for piece in pieces if piece.numbered]
    if len(numbered) < 2:
        return pieces
    _refuse_nameless(numbered)
    _refuse_copies(numbered)
    keys = [[getattr(piece.results, name) for piece in numbered] for name in ("system", "benchmark", "prompt")]
    generation = places(combine(*(factorize(np.concatenate(columns))[0] for columns in keys)))
    starts = np.cumsum([0, *(len(piece.results) for piece in numbered)])
    fresh: dict[int, Piece] = {}
    for piece, start, stop in zip(numbered, starts[:-1], starts[1:], strict=True):
        results, changed = cast(Outcomes | Credits, piece.results), generation[start:stop]
        if not np.array_equal(changed, results.generation):
            line = f"{piece.origin.label}: generations are numbered on from those of the files before"
            results = results._replaced(generation=changed, account=(*results.account, line))
        fresh[id(piece)] = Piece(piece.origin, results, numbered=True)
    return [fresh.get(id(piece), piece) for piece in pieces]


def _added_up(pieces: list[Piece]) -> list[Piece]:
    """Add up the counts of repeated runs on the same prompts, which their files tell apart, as by their dates."""
    runs = [piece for piece in pieces if piece.run]
    prompts = [row[:3] for piece in runs for row in _rows(cast(Counts, piece.results))]
    if len(set(prompts)) == len(prompts):
        return pieces
    _refuse_nameless(runs)
    _refuse_copies(runs)
    parts = [cast(Counts, piece.results) for piece in runs]
    names = [name for name in parts[0]._columns() if all(name in part._columns() for part in parts)]
    columns = {name: np.concatenate([part._columns()[name] for part in parts]) for name in names}
    codes = factorize(combine(*(factorize(columns[name])[0] for name in ("system", "benchmark", "prompt"))))[0]
    first = np.unique(codes, return_index=True)[1]
    for name in names:
        if name in ("generations", "correct"):
            columns[name] = np.bincount(codes, weights=columns[name]).astype(np.int64)
        else:
            columns[name] = columns[name][first]
    account = [line for part in parts for line in part.account]
    account.append(f"{', '.join(piece.origin.label for piece in runs)}: repeated runs, whose generations are added up")
    sources = dict.fromkeys(source for part in parts for source in part._sources)
    joined = Counts._assemble(**columns, account=tuple(account))._told_of(None, sources)
    return [piece for piece in pieces if not piece.run] + [Piece(Origin("repeated runs"), joined)]


def _refuse_nameless(pieces: list[Piece]) -> None:
    """Refuse files of several folders that hold the same prompts where nothing in them names system or benchmark.

    They may be other systems, other benchmarks, or further generations, and only the user knows.
    """
    seen: dict[tuple[str, str, str], Piece] = {}
    for piece in pieces:
        results = piece.results
        lacking = [role for role in ("system", "benchmark") if role in getattr(results, role).tolist()]
        if not piece.folder or not lacking:
            continue
        columns = (results.system.tolist(), results.benchmark.tolist(), results.prompt.tolist())
        for key in dict.fromkeys(zip(*columns, strict=True)):
            other = seen.setdefault(key, piece)
            if other.folder != piece.folder:
                raise DataError(
                    f"{other.origin.label} and {piece.origin.label} lie in different folders, both hold prompt "
                    f"{key[2]!r}, and nothing in them names the {' or the '.join(lacking)}: they may be of two, or "
                    f"further generations of one. If of two, add a column that names it (files of evaluation tools "
                    f"take {lacking[0]}='...' instead), and join what is read with concat; if of one, give a list of "
                    "the files"
                )


def _refuse_copies(pieces: list[Piece]) -> None:
    """Two files with the same content are one file copied: numbering on would count its generations twice."""
    seen: dict[str, Piece] = {}
    for piece in pieces:
        twin = seen.setdefault(f"{piece.run} {piece.results.fingerprint}", piece)
        if twin is not piece:
            raise DataError(f"{twin.origin.label} and {piece.origin.label} hold the same generations: name one of them")
