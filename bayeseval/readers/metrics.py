"""Which of several metrics, scorers and filters of a tool's file is meant: the only one, or the one that is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayeseval.errors import OptionError, ReadError
from bayeseval.readers.records import number
from bayeseval.readers.samples import File, Sample, Total, score_value

__all__ = ["NO_SCORE", "chosen"]

NO_SCORE = "(no score)"
_MOST_SHOWN = 30


def chosen(
    file: File, rows: Sequence[Sample], wanted: Sequence[str], filter: str | None, used: set[str]
) -> tuple[list[Sample], list[Any], list[str]]:
    """Samples that have the metric that is meant, what it gave each of them, and lines for the account.

    The choice is made for every benchmark on its own. A single metric needs none; several that agree on every
    generation are one. Samples of another view than that of the metric are set aside.

    Parameters
    ----------
    file : File
    rows : sequence of Sample
    wanted : sequence of str
        Names given by the user; the first that a benchmark has counts. For lm-evaluation-harness also the metric
        without its filter.
    filter : str or None
    used : set of str
        Gets the names in ``wanted`` that something was found for.

    Raises
    ------
    OptionError
        If several metrics disagree and none is named, or what is named does not exist; the choices are listed.
    """
    runs: dict[str, list[Sample]] = {}
    for row in rows:
        runs.setdefault(row.benchmark, []).append(row)
    names = {benchmark: _names(part) for benchmark, part in runs.items()}
    kept: list[Sample] = []
    values: list[Any] = []
    notes: list[str] = []
    for benchmark, part in runs.items():
        name, view = _one(file, benchmark, part, names[benchmark], wanted, filter, notes, used)
        inside = [row for row in part if row.view == view]
        if len(inside) < len(part):
            others = sorted({row.view for row in part} - {view})
            notes.append(
                f"set aside: {number(len(part) - len(inside), 'generation')} of "
                f"{', '.join(other or 'the plain part' for other in others[:5])}, never pooled with the others"
            )
        for row in inside:
            if isinstance(row.answer, dict):
                row.answer = row.answer.get(name)
        kept += inside
        values += [row.scores.get(name) for row in inside]
    return kept, values, notes


def _names(rows: Sequence[Sample]) -> list[tuple[str, str]]:
    """Metrics and the views that they belong to, those of the plain part first."""
    found = dict.fromkeys((name, row.view) for row in rows for name in row.scores)
    views = list(dict.fromkeys(row.view for row in rows))
    return sorted(found, key=lambda pair: (pair[1] != "", views.index(pair[1])))


def _matching(file: File, names: Sequence[str], wanted: str | None, filter: str | None) -> list[str]:
    found = list(names)
    if wanted is not None:
        exact = [name for name in found if name == wanted]
        found = exact or [name for name in found if file.filters.get(name, ("", ""))[0] == wanted]
    if filter is not None:
        found = [name for name in found if file.filters.get(name, ("", filter))[1] == filter]
    return found


def _one(
    file: File,
    benchmark: str,
    rows: Sequence[Sample],
    pairs: Sequence[tuple[str, str]],
    wanted: Sequence[str],
    filter: str | None,
    notes: list[str],
    used: set[str],
) -> tuple[str, str]:
    if not pairs:
        used.update(name for name in wanted if name == NO_SCORE)
        return NO_SCORE, rows[0].view
    names = [name for name, _ in pairs]
    view_of = dict(reversed(pairs))
    if len({file.filters[name][1] for name in names if name in file.filters}) < 2:
        filter = None  # meant for another benchmark: there is no choice here
    found = next((some for name in wanted if (some := _matching(file, names, name, filter))), [])
    if found:
        used.update(name for name in wanted if _matching(file, found, name, filter))
    else:
        plain = [name for name, view in pairs if view == pairs[0][1]]
        found = _matching(file, plain, None, filter) or plain
        _refuse_unknown(file, benchmark, wanted, filter, plain)
        if wanted:
            notes.append(f"{benchmark} has no metric {wanted[0]!r}; its only one, {found[0]!r}, is taken")
    if len(found) > 1:
        differ = _disagreement(rows, found)
        if differ is not None:
            raise OptionError(_ask(file, benchmark, found, differ))
        notes.append(f"{benchmark}: {', '.join(map(repr, found))} agree on every generation; {found[0]!r} is taken")
    else:
        unused = [name for name in names if name != found[0]]
        more = f" (there are also {_listed(unused)})" if unused else ""
        notes.append(f"{benchmark}: the score is {found[0]!r}{more}")
    notes += file.remarks.get(found[0], [])
    return found[0], view_of[found[0]]


def _disagreement(rows: Sequence[Sample], names: Sequence[str]) -> Sample | None:
    """The first sample to which two metrics gave something different."""
    for row in rows:
        given = [_comparable(row.scores.get(name)) for name in names]
        if any(value != given[0] for value in given[1:]):
            return row
    return None


def _comparable(value: Any) -> Any:
    """A score as a number where it can be read as one, so that "C" and 1 are the same."""
    try:
        return value if isinstance(value, Total) else score_value(value, "")
    except ReadError:
        return str(value)


def _ask(file: File, benchmark: str, names: Sequence[str], row: Sample) -> str:
    given = ", ".join(f"{row.scores.get(name)!r}" for name in names[:4])
    filters = list(dict.fromkeys(file.filters[name][1] for name in names if name in file.filters))
    more = f" or filter= with one of {_listed(filters)}" if len(filters) > 1 else ""
    return (
        f"{file.path}: {benchmark} has several metrics, and they differ first at {row.place}, prompt "
        f"{str(row.prompt)!r} ({given}{', ...' if len(names) > 4 else ''}): say metric= with one of {_listed(names)}"
        f"{more}"
    )


def _refuse_unknown(
    file: File, benchmark: str, wanted: Sequence[str], filter: str | None, names: Sequence[str]
) -> None:
    """Refuse names that a benchmark with a choice does not have; where there is no choice they are for other files."""
    filters = list(dict.fromkeys(file.filters[name][1] for name in names if name in file.filters))
    if filter is not None and len(filters) > 1 and filter not in filters:
        raise OptionError(f"{file.path}: {benchmark} has no filter {filter!r}; it has {_listed(filters)}")
    if wanted and len(_matching(file, names, None, filter) or names) > 1:
        raise OptionError(
            f"{file.path}: {benchmark} has no metric {' or '.join(map(repr, wanted))}; it has {_listed(names)}: say "
            "one with metric=, or a list of names for several benchmarks"
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(map(repr, names[:_MOST_SHOWN])) + more
