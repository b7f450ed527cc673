"""What scores could be if every generation without a score were wrong, or right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bayeseval.display import html_table, number, rows_to_frame
from bayeseval.errors import DataError
from bayeseval.readers.missing import decided

if TYPE_CHECKING:
    import pandas as pd

    from bayeseval.credits import Credits
    from bayeseval.outcomes import Outcomes

__all__ = ["BoundedScore", "ScoreBounds", "score_bounds"]

Policy: TypeAlias = Literal["drop", "wrong", "right"]


@dataclass(frozen=True)
class BoundedScore:
    """The mean score of one run under one policy; the columns of `ScoreBounds.to_frame`.

    Attributes
    ----------
    system, benchmark : str
    policy : "drop", "wrong" or "right"
        What generations without a score count as.
    n_prompts, n_generations : int
        Prompts and generations that count.
    n_missing : int
        Generations of the run that have no score.
    mean : float
        Mean over prompts of their shares correct (or mean credits); NaN where nothing counts.
    se_population, se_benchmark : float
        Standard errors of the mean by moments, for prompts like these and for these prompts.
    """

    system: str
    benchmark: str
    policy: Policy
    n_prompts: int
    n_generations: int
    n_missing: int
    mean: float
    se_population: float
    se_benchmark: float


@dataclass(frozen=True, repr=False)
class ScoreBounds:
    """Mean scores with generations that have no score left out, all wrong, and all right; made by `score_bounds`.

    Attributes
    ----------
    rows : tuple of BoundedScore
        Three a run: drop, wrong, right.
    notes : tuple of str
        A sentence a run that has such generations.
    """

    rows: tuple[BoundedScore, ...]
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with three rows a run."""
        return rows_to_frame(self.rows, BoundedScore)

    def __repr__(self) -> str:
        missing = [row for row in self.rows if row.policy == "wrong" and row.n_missing]
        runs = len(self.rows) // 3
        if not missing:
            return f"ScoreBounds: {runs} run{'' if runs == 1 else 's'}, every generation has a score"
        if runs == 1:
            drop, wrong, right = self.rows
            return (
                f"ScoreBounds: {drop.system} on {drop.benchmark}, {number(wrong.mean, 4)} to {number(right.mean, 4)}, "
                f"{number(drop.mean, 4)} without the {drop.n_missing:,} generations that have no score"
            )
        return f"ScoreBounds: {runs} runs, {len(missing)} with generations that have no score"

    def _repr_html_(self) -> str:
        header = ["system", "benchmark", "without a score", "count as", "mean", "SE (population)", "SE (benchmark)"]
        words = {"drop": "left out", "wrong": "wrong", "right": "right"}
        body = [
            [row.system, row.benchmark, f"{row.n_missing:,}", words[row.policy], number(row.mean, 4),
             number(row.se_population), number(row.se_benchmark)]
            for row in self.rows
        ]  # fmt: skip
        return html_table(header, body, self.notes)


def score_bounds(results: Outcomes | Credits) -> ScoreBounds:
    r"""Bound the mean score of every run by what its generations without a score could have been.

    Parameters
    ----------
    results : Outcomes or Credits
        With NaN where there is no score, as ``be.read(..., errored="bounds", unscored="bounds")`` returns them.

    Returns
    -------
    ScoreBounds
        For every run the mean over prompts and its standard errors with those generations left out, all wrong, and all
        right. With :math:`c_i` right and :math:`m_i` unknown of :math:`n_i` generations of prompt i, the ends are the
        means of :math:`c_i / n_i` and of :math:`(c_i + m_i) / n_i`: no other way to fill the gaps goes beyond them
        [1]_, and the mean without them lies between.

    Raises
    ------
    DataError
        If something else than outcomes or credits was given: counts do not know how many generations are missing.

    Notes
    -----
    To leave generations out is right on average only if errors strike easy and hard prompts, right and wrong answers,
    alike. Time limits and context lengths strike long answers, which belong to hard prompts: the mean without them is
    then too high. The ends need no such assumption. A difference between systems that keeps its sign between one's
    lower and the other's upper end does not hang on the errors.

    References
    ----------
    .. [1] Manski (2003). Partial Identification of Probability Distributions. Springer.

    Examples
    --------
    >>> import bayeseval as be
    >>> outcomes = be.Outcomes.from_matrix([[1, 1, None, 0], [1, None, None, 1]])
    >>> be.score_bounds(outcomes)
    ScoreBounds: system on benchmark, 0.5 to 0.875, 0.8333 without the 3 generations that have no score
    """
    if not hasattr(results, "n_unscored"):
        raise DataError(
            f"score_bounds needs Outcomes or Credits, but {type(results).__name__} was given: only single generations "
            "tell which have no score"
        )
    rows = [row for run in results.runs() for row in _rows(run)]
    return ScoreBounds(tuple(rows), tuple(_note(*rows[i : i + 3]) for i in range(0, len(rows), 3) if rows[i].n_missing))


def _rows(run: Any) -> list[BoundedScore]:
    ways: list[tuple[Policy, Any]] = [("drop", run), ("wrong", decided(run, 0.0)), ("right", decided(run, 1.0))]
    return [
        BoundedScore(str(run.system[0]), str(run.benchmark[0]), policy, *_estimates(one, run.n_unscored))
        for policy, one in ways
    ]


def _estimates(run: Any, missing: int) -> tuple[int, int, int, float, float, float]:
    from bayeseval.estimators import moments
    from bayeseval.estimators.credit import credit_moments

    if not run.n_generations:
        return 0, 0, missing, math.nan, math.nan, math.nan
    row = (moments(run) if hasattr(run, "correct") else credit_moments(run)).rows[0]
    return row.n_prompts, row.n_generations, missing, row.mean, row.se_population, row.se_benchmark


def _note(drop: BoundedScore, wrong: BoundedScore, right: BoundedScore) -> str:
    wide = right.mean - wrong.mean
    noise = drop.se_population
    much = (
        f"the ends lie {wide / (2 * noise):.2g} times as far from their middle as one standard error for prompts like "
        "these"
        if noise > 0
        else "the standard error for prompts like these is not positive"
    )
    return (
        f"{drop.system} on {drop.benchmark}: {drop.n_missing:,} of {wrong.n_generations:,} generations have no score; "
        f"the mean is {number(wrong.mean, 4)} if all of them are wrong, {number(right.mean, 4)} if all are right, and "
        f"{number(drop.mean, 4)} without them, which is right only if errors do not depend on how hard a prompt is; "
        f"{much}"
    )
