"""Runs of several systems on one benchmark, aligned by prompt id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayeseval.counts import Counts
from bayeseval.errors import DataError, OptionError
from bayeseval.pairs import common_prompts
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import Posterior

__all__ = ["Aligned", "aligned", "counts_of"]


@dataclass(frozen=True, eq=False)
class Aligned:
    """Runs of several systems, aligned by prompt.

    Attributes
    ----------
    systems : tuple of str
    benchmark : str
    prompt : object array (prompt,)
        Prompts that every system has answered.
    correct, generations : int array (system, prompt)
    place : int array (system, prompt)
        Row of each prompt in the counts of each system.
    runs : tuple of Posterior or Counts
    warnings : tuple of str
        Which prompts were left out, and other things to know.
    """

    systems: tuple[str, ...]
    benchmark: str
    prompt: np.ndarray
    correct: np.ndarray
    generations: np.ndarray
    place: np.ndarray
    runs: tuple[Posterior | Counts, ...]
    warnings: tuple[str, ...]


def counts_of(run: object, what: str = "a plan") -> Counts:
    """Counts of one run, given as posterior or counts; `OptionError` for anything else."""
    refuse_credits(run)
    counts = run.counts if isinstance(run, Posterior) else run
    if not isinstance(counts, Counts):
        raise OptionError(
            f"{what} takes the posterior or the counts of one run, but {type(run).__name__} was given; choose one with "
            f"posteriors.select(system=..., benchmark=...)"
        )
    if len(counts.run_names) != 1:
        raise OptionError(
            f"{what} takes one run at a time, but there are {counts.label}; choose one with "
            f".select(system=..., benchmark=...)"
        )
    return counts


def aligned(runs: Sequence[Posterior | Counts], what: str = "a plan") -> Aligned:
    """Align runs of several systems by prompt id; prompts without a generation are taken for missing.

    Raises
    ------
    DataError
        If benchmarks differ, a system occurs twice, or no prompt is shared.
    """
    counts = [counts_of(run, what) for run in runs]
    names = [str(one.system[0]) for one in counts]
    benchmarks = list(dict.fromkeys(str(one.benchmark[0]) for one in counts))
    if len(benchmarks) > 1:
        raise DataError(
            f"{what} needs systems that answered the same prompts, but their benchmarks are "
            f"{', '.join(map(repr, benchmarks))}; where that is one benchmark under two names, give it one"
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{what} compares different systems, but {twice!r} was given twice; rename one of them")
    answered = [np.flatnonzero(one.generations > 0) for one in counts]
    ids = [one.prompt[rows] for one, rows in zip(counts, answered, strict=True)]
    prompt, place, warnings = common_prompts(ids, names)
    rows = np.stack([own[at] for own, at in zip(answered, place, strict=True)])
    return Aligned(
        systems=tuple(names),
        benchmark=benchmarks[0],
        prompt=prompt,
        correct=np.stack([one.correct[at] for one, at in zip(counts, rows, strict=True)]),
        generations=np.stack([one.generations[at] for one, at in zip(counts, rows, strict=True)]),
        place=rows,
        runs=tuple(runs),
        warnings=tuple(warnings),
    )
