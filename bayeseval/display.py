"""Showing results that are a table with notes: a pandas frame, an HTML table, and the sentences above it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Findings", "html_table", "number", "rows_to_frame", "run_lines"]

CELL = " style='text-align:left;padding:0.2em 0.7em'"
MOST_ROWS = 50
"""Rows that a notebook shows; all of them are in the frame."""


def rows_to_frame(rows: Sequence[Any], row_type: type) -> pd.DataFrame:
    """Return dataclass rows as a pandas frame with one column a field."""
    import pandas as pd

    columns = [field.name for field in dataclasses.fields(row_type)]
    return pd.DataFrame({name: [getattr(row, name) for row in rows] for name in columns})


def html_table(header: Sequence[str], body: Sequence[Sequence[str]], notes: Iterable[str]) -> str:
    """Return an HTML table under its notes; every text is escaped, and a long table says how many rows it hides.

    Parameters
    ----------
    header : sequence of str, shape (columns,)
    body : sequence of rows, each a sequence of str, shape (columns,)
    notes : iterable of str
        Shown above the table, most important first.

    Returns
    -------
    str

    Examples
    --------
    >>> "&lt;b&gt;</td></tr>" in html_table(["system"], [["<b>"]], [])
    True
    """
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    head = "".join(f"<th{CELL}>{escape(name)}</th>" for name in header)
    lines = "".join(
        "<tr>" + "".join(f"<td{CELL}>{escape(cell)}</td>" for cell in line) + "</tr>" for line in body[:MOST_ROWS]
    )
    hidden = len(body) - MOST_ROWS
    rest = f"<p>{hidden} more rows are in to_frame()</p>" if hidden > 0 else ""
    return (
        (f"<ul>{items}</ul>" if items else "")
        + f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
        + rest
    )


def run_lines(title: str, sentences: Sequence[str], notes: Iterable[str], total: int) -> str:
    """Return the plain-text form of a table: a title unless there is one row, sentences of ``total``, and notes."""
    lines = list(sentences)
    if total != 1:
        lines.insert(0, title)
    if total > len(sentences):
        lines.append(f"… and {total - len(sentences):,} more, see to_frame()")
    return "\n".join(lines + [f"Note: {note}." for note in notes])


def number(value: float, digits: int = 3) -> str:
    """Return a number with that many significant digits; the word unknown for NaN."""
    return "unknown" if value != value else f"{value:.{digits}g}"


class Findings:
    """What was found where, gathered kind by kind, so that ten thousand runs still make one sentence a kind.

    Parameters
    ----------
    total : int
        Number of rows in the table.
    noun : str
        What a row is, in the plural.

    Examples
    --------
    >>> findings = Findings(total=5)
    >>> findings.add("negative", "A on B", "σ² is negative (-0.1)")
    >>> findings.add("negative", "C on B", "σ² is negative (-0.2)")
    >>> findings.sentences({"negative": ("σ² is negative", "it is reported as it is"), "empty": ("", "")})
    ('σ² is negative in 2 of 5 runs (A on B, C on B): it is reported as it is',)
    """

    MOST_NAMED = 3

    def __init__(self, total: int, noun: str = "runs") -> None:
        self._total = total
        self._noun = noun
        self._found: dict[str, list[tuple[str, str]]] = {}

    def add(self, kind: str, run: str, finding: str) -> None:
        """Note one finding about one run."""
        self._found.setdefault(kind, []).append((run, finding))

    def sentences(self, wording: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
        """Return a sentence for each kind found: what it is (in full where the table has one row), and what to do."""
        return tuple(
            f"{self._about(kind, what)}: {advice}" for kind, (what, advice) in wording.items() if kind in self._found
        )

    def _about(self, kind: str, what: str) -> str:
        found = self._found[kind]
        if self._total == 1:
            return found[0][1]
        named = ", ".join(run for run, _ in found[: self.MOST_NAMED])
        more = f" and {len(found) - self.MOST_NAMED:,} more" if len(found) > self.MOST_NAMED else ""
        return f"{what} in {len(found):,} of {self._total:,} {self._noun} ({named}{more})"
