"""Files that lie beside results and hold none: JSON schemas."""

from __future__ import annotations

from collections.abc import Iterator

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "JSON Schema"


def sniff(peek: Peek) -> str | None:
    """An object with ``$schema``."""
    return "json_schema" if "$schema" in peek.record else None


def samples(file: File) -> Iterator[Sample]:
    """Refuse: a schema holds no results."""
    file.refuse("is a JSON schema, not results")
