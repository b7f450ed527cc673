"""Figures as files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bayeseval.cli.work import distinct_files
from bayeseval.files import write_whole
from bayeseval.plots.canvas import offscreen, style
from bayeseval.reporting.files import require_writable

__all__ = ["FORMATS", "draw", "figure_target"]

FORMATS = (".png", ".svg", ".pdf")
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def figure_target(figure: str | None) -> Path | None:
    """Where a figure goes, refused before any long work where it cannot be."""
    return None if figure is None else require_writable(figure, FORMATS, "a figure")


def draw(results: Sequence[Any], target: Path | None) -> list[Path]:
    """Draw each result into a file; of several results each file bears the names of its run.

    Parameters
    ----------
    results : sequence of results with ``plot()``, and with ``system`` and ``benchmark`` where there are several
    target : pathlib.Path or None

    Returns
    -------
    list of pathlib.Path
    """
    if target is None:
        return []
    files = [target]
    if len(results) > 1:
        runs = [(result.system, result.benchmark) for result in results]
        files = distinct_files(runs, target.parent, target.suffix, f"{target.stem}--")
    with offscreen(), style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        for result, file in zip(results, files, strict=True):
            figure = result.plot().get_figure()
            write_whole(file, partial(figure.savefig, metadata=UNDATED.get(file.suffix.lower())))
    return files
