"""Generations without a score, taken for wrong or for right: the two ends between which every score lies."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from bayeseval.readers.generations import Generations
from bayeseval.readers.records import number

__all__ = ["bound_lines", "decided"]

Kind = TypeVar("Kind", bound=Generations)


def decided(results: Kind, value: float, *lines: str) -> Kind:
    """The same outcomes or credits, in which what has no score is worth ``value``.

    Examples
    --------
    >>> from bayeseval.outcomes import Outcomes
    >>> decided(Outcomes.from_matrix([[1, None]]), 0.0).correct.tolist()
    [1.0, 0.0]
    """
    given = getattr(results, results._given)
    changes: dict[str, Any] = {results._given: np.where(np.isnan(given), value, given)}
    return results._replaced(**changes, account=(*results.account, *lines))


def bound_lines(results: Generations) -> list[str]:
    """Lines of an account: between which ends the mean of every run lies that has generations without a score."""
    said = []
    for run in results.runs():
        if not run.n_unscored:
            continue
        dropped, wrong, right = (_mean(one) for one in (run, decided(run, 0.0), decided(run, 1.0)))
        middle = "no generation has a score" if np.isnan(dropped) else f"{dropped:.4g} if they are left out"
        said.append(
            f"{run.label}: {number(run.n_unscored, 'generation')} of {len(run):,} without a score; the mean over "
            f"prompts is {wrong:.4g} if all of them are wrong, {right:.4g} if all are right, {middle}"
        )
    return said


def _mean(run: Generations) -> float:
    """Mean over prompts of the mean of their scored generations; NaN where there is none."""
    codes, first = run._prompts
    given, known = getattr(run, run._given), run._scored
    total = np.bincount(codes, weights=np.where(known, given, 0.0), minlength=len(first))
    size = np.bincount(codes, weights=known, minlength=len(first))
    return float(np.mean(total[size > 0] / size[size > 0])) if known.any() else float("nan")
