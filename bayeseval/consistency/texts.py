"""Answers as they are shown: texts from outside, made harmless."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bayeseval.display import html_table

__all__ = ["LONGEST", "answer_table", "shortened", "shown"]

LONGEST = 60
_OVERRIDES = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def shortened(text: str, longest: int = LONGEST) -> str:
    r"""A text on one line, without control characters, with the middle left out where it is long.

    Examples
    --------
    >>> shortened("a\x1b[31m\nb"), shortened("0123456789", 5)
    ('a [31m b', '01…89')
    """
    clean = text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)
    clean = " ".join("".join(char for char in clean if ord(char) not in _OVERRIDES).split())
    if len(clean) <= longest:
        return clean
    tail = (longest - 1) // 2
    return f"{clean[: longest - 1 - tail]}…{clean[-tail:]}"


def shown(value: Any, longest: int = LONGEST) -> str:
    """A cell of a table as text: three digits, short, and empty where there is nothing.

    Examples
    --------
    >>> shown(0.12345), shown(None), shown(float("nan")), shown("ab")
    ('0.123', '', '', 'ab')
    """
    if value is None or value != value:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else shortened(str(value), longest)


def answer_table(header: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str]) -> str:
    """An HTML table of answers: escaped, and not read as mathematics by the notebook.

    Examples
    --------
    >>> "<div class='tex2jax_ignore mathjax_ignore'>" in answer_table(["gold"], [["$x$"]], [])
    True
    """
    body = [[shown(value, 120) for value in row] for row in rows]
    notes = [shortened(note, 600) for note in notes]
    return f"<div class='tex2jax_ignore mathjax_ignore'>{html_table(header, body, notes)}</div>"
