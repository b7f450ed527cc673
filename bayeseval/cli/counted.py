"""The work behind `bayeseval counts`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import typer

from bayeseval.cli.tables import add_row, new_table, print_table
from bayeseval.cli.work import read_results, settings
from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.errors import OptionError
from bayeseval.outcomes import Outcomes
from bayeseval.readers import read
from bayeseval.readers.adding import added_to
from bayeseval.readers.stored import SUFFIXES
from bayeseval.reporting.files import require_writable

__all__ = ["run_counts"]

_OF_FITS = ("model", "prior", "engine", "sampler", "seed", "draws", "tune", "chains")


def run_counts(given: Mapping[str, Any]) -> None:
    """Read, add to what was there, print a line a run, and write where asked to."""
    chosen = settings({**dict.fromkeys(_OF_FITS), **given})
    out, earlier = given["out"] or given["add_to"], given["add_to"]
    target = None if out is None else require_writable(out, SUFFIXES, "a table")
    results = read_results(given["paths"], chosen)
    results = results.select(system=chosen.system or None, benchmark=chosen.benchmark or None)
    if given["outcomes"] and not isinstance(results, Outcomes):
        raise OptionError(
            f"{type(results).__name__.lower()} were read, which are no single outcomes of right and wrong: leave out "
            "--outcomes"
        )
    if earlier is not None:
        results = added_to(_earlier(earlier), results)
        if not chosen.quiet:
            typer.echo(f"bayeseval: {results.account[-1]}", err=True)
    elif isinstance(results, Outcomes) and not given["outcomes"]:
        results = results.counts()
    written = None if target is None else results.write(target, overwrite=given["overwrite"])
    _show(results)
    if written is not None:
        typer.echo(f"wrote {written}")


def _earlier(path: str) -> Any:
    try:
        return read(Path(path), quiet=True)
    except OptionError:  # a plain table of credits says so
        return read(Path(path), kind="credits", quiet=True)


def _show(results: Counts | Outcomes | Credits) -> None:
    table = new_table(f"{type(results).__name__} of {len(results.run_names):,} runs")
    for name in ("system", "benchmark", "prompts", "generations", "without a score", "correct"):
        table.add_column(name, justify="left" if name in ("system", "benchmark") else "right", overflow="fold")
    for run in results.runs():
        unscored = "" if isinstance(run, Counts) else f"{run.n_unscored:,}"
        right = "" if isinstance(run, Credits) else f"{int(np.nansum(run.correct)):,}"
        system, benchmark = run.run_names[0]
        add_row(table, [system, benchmark, f"{run.n_prompts:,}", f"{run.n_generations:,}", unscored, right])
    print_table(table)
