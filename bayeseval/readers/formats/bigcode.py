"""BigCode evaluation harness: ``generations_*.json``, which holds texts without ids and without correctness."""

from __future__ import annotations

from collections.abc import Iterator

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "the BigCode evaluation harness"


def sniff(peek: Peek) -> str | None:
    """A list of lists of texts."""
    value = peek.value
    if not isinstance(value, list) or not value:
        return None
    lists = [part for part in value if isinstance(part, list)]
    plain = len(lists) == len(value) and all(isinstance(text, str) for part in lists for text in part)
    return "bigcode_generations_unscored" if plain and any(lists) else None


def samples(file: File) -> Iterator[Sample]:
    """Refuse: there is nothing to count."""
    file.refuse(
        "holds generations of the BigCode evaluation harness without ids and without correctness, and its metric file "
        "has totals only: evaluate the texts with EvalPlus or human-eval and read what these write"
    )
