"""What a person found when looking at suspects: verdicts in files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bayeseval.errors import DataError, ReadError
from bayeseval.readers.records import number

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BAD", "VERDICTS", "WHY", "Verdicts", "read_verdicts"]

VERDICTS = ("wrong label", "ambiguous", "fine", "grader")
"""The gold answer is wrong; the prompt or its answer is not clear; nothing is wrong; right answers are scored wrong."""
BAD = ("wrong label", "ambiguous", "grader")
"""Verdicts that make a prompt one to mend or to leave out."""
WHY = ("flagged", "random")


@dataclass(frozen=True)
class Verdicts:
    """Verdicts about prompts; from `read_verdicts`.

    Attributes
    ----------
    benchmark, prompt, verdict : tuple of str
        One entry a prompt that was looked at.
    why : tuple of str
        ``"flagged"``, or ``"random"``: drawn at random among what was not flagged.
    skipped : int
        Rows without a verdict.
    """

    benchmark: tuple[str, ...]
    prompt: tuple[str, ...]
    verdict: tuple[str, ...]
    why: tuple[str, ...]
    skipped: int = 0

    def __post_init__(self) -> None:
        sizes = {len(self.benchmark), len(self.prompt), len(self.verdict), len(self.why)}
        if len(sizes) != 1:
            raise DataError(f"verdicts need one benchmark, prompt, verdict and reason each, but there are {sizes}")
        seen = set()
        for row in zip(self.benchmark, self.prompt, self.verdict, self.why, strict=True):
            if row[2] not in VERDICTS or row[3] not in WHY:
                raise DataError(
                    f"the verdict on prompt {row[1]!r} must be one of {_listed(VERDICTS)} and its reason one of "
                    f"{_listed(WHY)}, but {row[2]!r} and {row[3]!r} were given"
                )
            if row[:2] in seen:
                raise DataError(f"there are two verdicts on prompt {row[1]!r} of {row[0]!r}: keep one")
            seen.add(row[:2])

    def __len__(self) -> int:
        return len(self.prompt)

    def to_frame(self) -> pd.DataFrame:
        """One row a verdict: benchmark, prompt, verdict, why."""
        import pandas as pd

        names = ("benchmark", "prompt", "verdict", "why")
        return pd.DataFrame({name: list(getattr(self, name)) for name in names})

    def __repr__(self) -> str:
        counts = {name: self.verdict.count(name) for name in VERDICTS}
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        left = f"; {number(self.skipped, 'row')} without one" if self.skipped else ""
        return f"{number(len(self), 'verdict')}{': ' + told if told else ''}{left}"


def read_verdicts(path: str | Path) -> Verdicts:
    r"""Read the verdicts that a person entered into a file of `DataMap.review`.

    Parameters
    ----------
    path : str or pathlib.Path
        A .csv file with columns benchmark, prompt, verdict and, where prompts were drawn at random, why: the one that
        `DataMap.review` wrote, or the one that its page saved. Rows without a verdict are passed over.

    Returns
    -------
    Verdicts

    Raises
    ------
    ReadError
        If the file is missing, lacks a column, or has a verdict other than "wrong label", "ambiguous", "fine" and
        "grader"; the line is named.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "reviewed.csv"
    >>> text = "benchmark,prompt,verdict,why\nsums,q1,wrong label,flagged\nsums,q2,,flagged\nsums,q3,fine,random\n"
    >>> _ = file.write_text(text)
    >>> read_verdicts(file)
    2 verdicts: 1 wrong label, 1 fine; 1 row without one
    """
    source = Path(path).expanduser()
    try:
        text = source.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ReadError(f"{source} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ReadError(f"{source} is no text in UTF-8: save the table as .csv in UTF-8") from None
    if text.lstrip().startswith("<"):
        raise ReadError(f"{source} is the page itself: choose verdicts in it, and give the .csv that it saves")
    first = text.split("\n", 1)[0]
    delimiter = next((mark for mark in ",;\t" if mark in first), ",")
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    names = {str(name).strip().casefold(): name for name in table.fieldnames or ()}
    missing = [name for name in ("benchmark", "prompt", "verdict") if name not in names]
    if missing:
        raise ReadError(f"{source} has no column {missing[0]!r}: give back the table that review() wrote")
    rows: list[tuple[str, str, str, str]] = []
    skipped = 0
    seen: dict[tuple[str, str], int] = {}
    for row in table:
        line = table.line_num
        verdict = " ".join((row[names["verdict"]] or "").split()).casefold()
        if not verdict:
            skipped += 1
            continue
        if verdict not in VERDICTS:
            raise ReadError(f"{source}, line {line}: the verdict must be one of {_listed(VERDICTS)}, not {verdict!r}")
        why = (row.get(names.get("why", "why")) or "flagged").strip().casefold()
        if why not in WHY:
            raise ReadError(f"{source}, line {line}: why must be one of {_listed(WHY)}, not {why!r}")
        key = (_plain(row[names["benchmark"]]), _plain(row[names["prompt"]]))
        if key in seen:
            raise ReadError(f"{source}, lines {seen[key]} and {line}: two verdicts on prompt {key[1]!r}; keep one")
        seen[key] = line
        rows.append((*key, verdict, why))
    benchmark, prompt, verdicts, reasons = (tuple(row[i] for row in rows) for i in range(4))
    return Verdicts(benchmark, prompt, verdicts, reasons, skipped)


def _plain(cell: str | None) -> str:
    """A name as it was before `review` made it harmless for spreadsheets."""
    text = cell or ""
    return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@", "'") else text


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
