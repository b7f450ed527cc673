"""The work behind `bayeseval fit`, `plan` and `report`."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

import bayeseval as be
from bayeseval.cli.tables import show_moments, show_plan, show_scores
from bayeseval.cli.words import columns_from, metric_from, numbers_from, priors_from
from bayeseval.errors import OptionError
from bayeseval.planning import Plan
from bayeseval.posterior import Posterior
from bayeseval.posteriors import Posteriors
from bayeseval.reporting.content import Material, document
from bayeseval.reporting.files import as_json as json_text
from bayeseval.reporting.files import require_writable

__all__ = ["Settings", "fit", "plan", "posteriors_of", "report", "save", "settings", "targets"]

SAVED = ".nc"


@dataclass(frozen=True)
class Settings:
    """How files become posteriors; the options that `fit`, `plan` and `report` share."""

    system: list[str] | None
    benchmark: list[str] | None
    columns: dict[str, Any]
    threshold: float | None
    fitting: dict[str, Any]
    quiet: bool


def settings(given: Mapping[str, Any]) -> Settings:
    """Settings from the arguments of a command."""
    names = ("model", "engine", "sampler", "seed", "draws", "tune", "chains")
    return Settings(
        system=given["system"] or None,
        benchmark=given["benchmark"] or None,
        columns=columns_from(given["column"] or ()),
        threshold=given["threshold"],
        fitting={**{name: given[name] for name in names}, "prior": priors_from(given["prior"] or ()) or None},
        quiet=given["quiet"],
    )


def targets(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `bayeseval.plan` from those of the command."""
    names = ("width", "estimand", "prompts", "n_prompts", "assurance", "attempts", "futures", "prob", "seed")
    generations = None if given["generations"] is None else numbers_from(given["generations"])
    return {**{name: given[name] for name in names}, "generations": generations, "progress": not given["quiet"]}


def posteriors_of(paths: Sequence[str], chosen: Settings) -> Posteriors:
    """Load saved posteriors, and read and fit everything else.

    Raises
    ------
    KeyboardInterrupt
        Also when an interrupt left some runs without a posterior: a result must not look whole when it is not.
    """
    found: list[Posterior] = [be.load(path) for path in paths if path.endswith(SAVED)]
    results = [path for path in paths if not path.endswith(SAVED)]
    if results:
        source: Any = results[0] if len(results) == 1 else results
        counts = be.read(source, threshold=chosen.threshold, quiet=chosen.quiet, **chosen.columns)
        counts = counts.select(system=_known(chosen.system, counts.system), benchmark=chosen.benchmark) if not found else (
            counts.select(system=chosen.system, benchmark=chosen.benchmark)
        )
        fitted = be.fit(counts, progress=not chosen.quiet, **chosen.fitting)
        new = [fitted] if isinstance(fitted, Posterior) else list(fitted)
        if len(new) < len(counts.run_names):
            raise KeyboardInterrupt
        found += new
    return Posteriors(tuple(found))
