"""What a reader of a tool's files yields: one sample a generation, with its scores as they stand in the file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from bayeseval.errors import ReadError
from bayeseval.readers.cells import is_missing, shown
from bayeseval.readers.columns import NotResults
from bayeseval.readers.opening import Archive, content, lines, parsed
from bayeseval.readers.peeks import Peek

__all__ = ["File", "Sample", "Total", "score_value", "whole_total"]

_WORDS = {
    "c": 1.0, "correct": 1.0, "true": 1.0, "yes": 1.0, "pass": 1.0, "passed": 1.0,
    "i": 0.0, "incorrect": 0.0, "false": 0.0, "no": 0.0, "fail": 0.0, "failed": 0.0, "n": 0.0,
    "p": 0.5,
}  # fmt: skip


class Total(NamedTuple):
    """Of several generations of a prompt, how many were correct, where the file does not say which."""

    generations: int
    correct: int


@dataclass(slots=True)
class Sample:
    """One generation, or with a `Total` all generations of a prompt, as a tool wrote it down.

    Attributes
    ----------
    prompt : str or int
        Id of the prompt.
    scores : mapping of str to object
        What each metric or scorer gave: number, truth value, a word such as "C", a `Total`; None where nothing.
    place : str
        Where it stands, for messages: "line 3".
    generation : int, str or None
        Number within the prompt; None where the file has none, and generations are numbered in order.
    errored : bool
        Whether the run of this generation failed, so that there is no answer to score.
    answer : object
        A dictionary holds the answer by metric, where each has its own.
    gold : object
    seed : int or None
    system, benchmark : str
        Empty where the file does not tell.
    view : str
        Part of the file that is never pooled with another: a perturbation, a split. Empty for the plain part.
    """

    prompt: Any
    scores: Mapping[str, Any]
    place: str
    generation: Any = None
    errored: bool = False
    answer: Any = None
    gold: Any = None
    seed: Any = None
    system: str = ""
    benchmark: str = ""
    view: str = ""


@dataclass
class File:
    """A file whose format is known, to be read by the module of the format.

    Attributes
    ----------
    path : Path
    label : str
        What the module's ``sniff`` said.
    peek : Peek
    named : bool
        Whether the user named this very file, rather than a folder or pattern.
    notes : list of str
        Lines for the account.
    filters : dict of str to (str, str)
        Metric and filter of each score whose name is made of both.
    remarks : dict of str to list of str
        Lines for the account that belong to one metric, told if that is taken.
    run : str
        What tells this run from a repeated one whose results happen to be equal, such as its date.
    cautions : list of str
        Lines for the account that begin with "note:".
    """

    path: Path
    label: str
    peek: Peek
    named: bool = True
    notes: list[str] = field(default_factory=list)
    filters: dict[str, tuple[str, str]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    run: str = ""
    cautions: list[str] = field(default_factory=list)

    def caution(self, line: str) -> None:
        """Add a line to the account that begins with "note:", for what limits every conclusion; once."""
        if line not in self.cautions:
            self.cautions.append(line)

    def first_prompts(self, ran: int, total: int | None, option: str) -> None:
        """Tell that only the first prompts of the benchmark were run, as an option of the tool says."""
        of = "" if total is None else f" of {total:,}"
        self.caution(
            f"{option}: the run has the first {ran:,}{of} prompts of the benchmark, not a random subset, so "
            "that scores may not hold for the others"
        )

    def note(self, line: str) -> None:
        """Add a line to the account, once."""
        if line not in self.notes:
            self.notes.append(line)

    def remark(self, metric: str, line: str) -> None:
        """Add a line that is told if this metric is taken, once."""
        known = self.remarks.setdefault(metric, [])
        if line not in known:
            known.append(line)

    def refuse(self, what: str) -> NoReturn:
        """Say that this file holds no results; in a folder it is set aside instead."""
        raise NotResults(f"{self.path} {what}")

    def damaged(self, what: str) -> NoReturn:
        """Say that something in this file cannot be right."""
        raise ReadError(f"{self.path}: {what}")

    def json(self) -> Any:
        """The value of a file that is one JSON text."""
        return parsed(content(self.path), str(self.path))

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Records of JSON Lines, each with its place in words."""
        for number, line in lines(self.path):
            record = parsed(line, f"line {number} of {self.path}")
            if not isinstance(record, dict):
                self.damaged(f"line {number} holds a {type(record).__name__} where a record {{...}} belongs")
            yield f"line {number}", record

    def archive(self) -> Archive:
        """The zip archive."""
        return Archive(self.path)

    def beside(self, name: str) -> dict[str, Any]:
        """The JSON object in a file of this name in the same folder; empty where there is none."""
        other = self.path.parent / name
        try:
            value = parsed(content(other), str(other)) if other.is_file() else {}
        except ReadError as problem:
            self.note(f"{other} was not used: {problem}")
            return {}
        return value if isinstance(value, dict) else {}

    @cached_property
    def folders(self) -> list[str]:
        """Names of the folders that the file lies in, outermost first."""
        return [part for part in self.path.absolute().parent.parts if part not in ("/", "\\")]

    @cached_property
    def stem(self) -> str:
        """Name of the file without the suffixes that only say how it is stored."""
        name = self.path.name
        for suffix in (".gz", ".zst", ".json", ".jsonl", ".ndjson", ".parquet", ".eval"):
            name = name.removesuffix(suffix)
        return name


def score_value(value: Any, where: str) -> float | None:
    """A score as a number, None where there is none; a word that is not known is refused, never taken for wrong.

    Examples
    --------
    >>> [score_value(value, "here") for value in ("C", "P", "I", "N", "yes", True, "0.5", float("nan"))]
    [1.0, 0.5, 0.0, 0.0, 1.0, 1.0, 0.5, None]
    """
    if is_missing(value):
        return None
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
        try:
            found = float(word) if "_" not in word else math.inf
        except ValueError:
            found = math.inf
        if math.isnan(found):
            return None
    else:
        found = float(value) if isinstance(value, (bool, int, float, np.generic)) else math.inf
    if not math.isfinite(found):
        raise ReadError(
            f"{where}: the score is {shown(value)}, which cannot be read. Known are numbers, true and false, yes and "
            "no, pass and fail, and C, P, I and N; choose another metric with metric=, or correct the file"
        )
    return found


def whole_total(mean: Any, generations: int, where: str) -> Total | None:
    """The number of correct generations behind a mean, which must be whole; None where there is no mean.

    Raises
    ------
    ReadError
        If the mean times the number of generations is no whole number: then it is no mean of right and wrong.
    """
    if mean is None or mean != mean:
        return None
    correct = float(mean) * generations
    if not -1e-6 <= correct <= generations + 1e-6 or abs(correct - round(correct)) > 1e-6 * max(generations, 1):
        raise ReadError(
            f"{where}: a mean of {mean!r} over {generations} generations is no mean of right and wrong answers, so "
            "they cannot be counted; choose another metric with metric="
        )
    return Total(generations, round(correct))
