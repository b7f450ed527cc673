"""Moment estimates where generations get partial credit: the variance of credits in the place of p (1 - p)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeseval.arrays import Floats, Integers
from bayeseval.display import Findings, number
from bayeseval.errors import DataError, require_probability
from bayeseval.estimators import WORDING, Moments, RunMoments, note_run, run_fields
from bayeseval.estimators.adaptivity import stopping_hint
from bayeseval.estimators.clt import (
    FEWEST_MIXED,
    CLTInterval,
    clt_interval_benchmark,
    clt_interval_population,
    refused,
)
from bayeseval.estimators.variance import clustered_se, components

if TYPE_CHECKING:
    from bayeseval.credit_tables import CreditTable
    from bayeseval.credits import Credits

__all__ = ["CreditMoments", "RunCreditMoments", "credit_moments", "dispersion_factor"]

_MUCH = 1.5
"""Ratio of the clustered to the plain standard error from which a note says so."""
_WORDING = {
    **WORDING,
    "stopping": (
        "generations go with the mean credit",
        "if prompts were sampled until an outcome was seen, such as the first full credit, the mean credit of a prompt "
        "is biased and every number here with it",
    ),
    "clusters": (
        "prompts of one group resemble each other (se_clustered)",
        "where the groups were drawn, and other ones might have been, the clustered standard error is the one for "
        "prompts like these",
    ),
    "equal": (
        "every prompt has the same mean credit",
        "a standard error of 0 for prompts like these is no certainty",
    ),
    "single": (
        "every prompt has one generation",
        "the variance between prompts is not identified; run two or more generations",
    ),
    "population": (WORDING["population"][0], "more prompts are needed"),
    "benchmark": (WORDING["benchmark"][0], "more generations of these prompts are needed"),
    "empty": ("some prompts have no scored generation", "they are left out"),
}


@dataclass(frozen=True)
class RunCreditMoments(RunMoments):
    """Moment estimates of one run; its columns are those of `RunMoments`, where "correct" is a credit, and four more.

    Attributes
    ----------
    dispersion : float
        Variance of credits within prompts relative to that of 0 and 1 with the same means, in [0, 1]; see
        `dispersion_factor`.
    groups : int
        Number of groups; 0 where groups are not known.
    se_clustered : float
        Standard error of the mean over prompts like these, were groups of prompts drawn together. NaN without groups.
    reason_clustered : str
        Why there is no clustered standard error; empty where there is.
    """

    dispersion: float
    groups: int
    se_clustered: float
    reason_clustered: str

    def sentence(self) -> str:
        """Return the estimates as a sentence of a paper."""
        more = [] if math.isnan(self.se_clustered) else [
            f"clustered by {self.groups:,} groups the standard error is {number(self.se_clustered)}"
        ]  # fmt: skip
        if not math.isnan(self.dispersion):
            more.append(f"credits within prompts vary {number(self.dispersion)} times as much as 0 and 1 would")
        return "; ".join([super().sentence().removesuffix("."), *more]) + "."


@dataclass(frozen=True, repr=False)
class CreditMoments(Moments):
    """Moment estimates of one or many runs with partial credit, made by `credit_moments`.

    Attributes
    ----------
    rows : tuple of RunCreditMoments
        One a run.
    notes : tuple of str
        What a reader must know before using the numbers, most important first.
    """

    rows: tuple[RunCreditMoments, ...]

    _row_type: ClassVar[type[RunMoments]] = RunCreditMoments

    def _header(self) -> list[str]:
        return [*super()._header(), "SE (clustered)", "dispersion"]

    def _cells(self, row: Any) -> list[str]:
        return [*super()._cells(row), number(row.se_clustered), number(row.dispersion)]


def credit_moments(credits: Credits, *, prob: float = 0.95) -> CreditMoments:
    """Estimate mean credit, variance between prompts, standard errors and CLT intervals of every run.

    Parameters
    ----------
    credits : Credits
        One run or many. Generations without a score are set aside, prompts without scored generations left out.
    prob : float
        Nominal probability of the intervals, in (0, 1).

    Returns
    -------
    CreditMoments
        One row a run, with the reasons for what is refused, and notes.

    Raises
    ------
    DataError
        If something else than credits is given, or a run has no scored generation at all.

    Notes
    -----
    As `bayeseval.moments`, with the sample variance ``s_i^2`` of a prompt's credits in the place of
    ``v_i = c_i (n_i - c_i) / (n_i (n_i - 1))``, which it equals for credits of 0 and 1:
    ``sigma2 = S^2 - mean(s_i^2 / n_i)``, ``SE = sqrt(S^2 / n)`` for prompts like these (population) and
    ``sqrt(sum s_i^2 / n_i) / n`` for these prompts (benchmark). A prompt with one generation has no variance; the
    average of the others', weighted by ``n_i - 1``, stands in.

    Intervals are refused by the rules of `bayeseval.moments`, read for credits. Population: ``n m`` or ``n (1 - m)``
    below 10, where m is the place of the mean between the smallest and the largest credit of the run. A rule on the
    mean itself would let credits of mostly 0.5 and rarely 1 pass, which are as skewed as mostly 0 and rarely 1; this
    one says the same of both. Benchmark: fewer than 10 prompts with credits that differ, or, where credits other than 0
    and 1 occur, noise that comes from fewer than 10 of them in effect, ``(sum w)^2 / sum w^2`` with
    ``w = s_i^2 / n_i``: a few prompts with large differences among many with tiny ones are few prompts.

    The clustered standard error takes groups as drawn (see `bayeseval.estimators.variance.clustered_se`).

    References
    ----------
    .. [1] Zhang, Cai & Chen (2025). Beyond the Singular. https://arxiv.org/abs/2502.08943
    .. [2] Miller (2024). Adding error bars to evals. https://arxiv.org/abs/2411.00640

    Examples
    --------
    >>> from bayeseval.credits import Credits
    >>> row = credit_moments(Credits.from_matrix([[0, 0.5, 1], [1, 1, 1], [0.5, 0.5, 0]])).rows[0]
    >>> print(f"{row.mean:.4f} {row.sigma2:.4f} {row.se_population:.4f} {row.se_benchmark:.4f} {row.dispersion:.3f}")
    0.6111 0.0833 0.2003 0.1111 0.571
    >>> row.reason_benchmark
    'only 2 of 3 prompts have generations of different credit, fewer than 10'
    """
    require_probability("prob", prob)
    make = getattr(credits, "tables", None)
    if not callable(make):
        raise DataError(
            f"credit_moments needs Credits, but {type(credits).__name__} was given; make them with "
            "be.Credits.from_frame(...) or be.Credits.from_outcomes(...), and use be.moments(...) for what is right or "
            "wrong"
        )
    tables: list[CreditTable] = make()
    rows, findings = [], Findings(len(tables))
    for table in tables:
        row = _run_credit_moments(table, prob)
        if hint := stopping_hint(table.total, table.generations, "mean credit"):
            findings.add("stopping", row.label, hint)
        note_run(findings, row, f"every prompt has a mean credit of {number(row.mean)}")
        if row.se_clustered > _MUCH * row.se_population > 0:
            ratio = number(row.se_clustered / row.se_population)
            findings.add("clusters", row.label, f"the standard error clustered by group is {ratio} times the plain one")
        rows.append(row)
    return CreditMoments(tuple(rows), findings.sentences(_WORDING))


def dispersion_factor(total: Floats, variance: Floats, generations: Integers) -> float:
    """Estimate how much credits vary within prompts, relative to 0 and 1 with the same means.

    Parameters
    ----------
    total, variance : float array, shape (prompts,)
        Sum and sample variance of the credits of each prompt.
    generations : int array, shape (prompts,)
        Prompts with fewer than two are left out.

    Returns
    -------
    float
        ``sum s_i^2 / sum (p_i (1 - p_i) + s_i^2 / n_i)`` for the mean credits p_i. 1 if all credits are 0 or 1, less
        otherwise; NaN where all credits are 0, or all are 1, or no prompt has two generations.

    Notes
    -----
    A binomial likelihood that is fed the sum of credits as if it counted correct generations ("fractional binomial")
    takes the variance of one generation for ``p (1 - p)``; it is this factor times that. The term ``s_i^2 / n_i``
    corrects ``p_i (1 - p_i)`` for the noise in p_i, which is large for few generations: without it, the factor would be
    ``k / (k - 1)`` for 0 and 1 and k generations, although the likelihood is right for them.

    Examples
    --------
    >>> variance = np.array([1 / 3, 0.0])
    >>> round(dispersion_factor(np.array([1.0, 3.0]), variance, np.array([3, 3])), 12)  # credits 0, 0, 1 and 1, 1, 1
    1.0
    """
    several = generations > 1
    t, v, n = total[several], variance[several], generations[several]
    p = t / n
    whole = float(np.sum(p * (1 - p) + v / n))
    return float(v.sum() / whole) if whole > 0 else math.nan


def _run_credit_moments(table: CreditTable, prob: float) -> RunCreditMoments:
    used = table.generations > 0
    if not used.any():
        raise DataError(
            f"{table.system} on {table.benchmark} has no scored generation on any of its {used.size} prompts; leave "
            "that run out"
        )
    parts = components(table.total, table.variance, table.generations)
    groups, error, reason = _clustered(table)
    return RunCreditMoments(
        table.system,
        table.benchmark,
        **run_fields(
            parts,
            table.generations,
            clt_interval_population(parts, prob, ends=(table.smallest, table.largest)),
            _interval_benchmark(table, clt_interval_benchmark(parts, prob, mixed="generations of different credit")),
            prob,
        ),
        dispersion=dispersion_factor(table.total, table.variance, table.generations),
        groups=groups,
        se_clustered=error,
        reason_clustered=reason,
    )


def _interval_benchmark(table: CreditTable, interval: CLTInterval) -> CLTInterval:
    """Refuse the interval, too, where nearly all noise comes from a few prompts."""
    if interval.reason or not table.interior.any():
        return interval
    several = table.generations > 1
    w = table.variance[several] / table.generations[several]
    carriers = float(w.sum() ** 2 / np.sum(w**2))
    if carriers >= FEWEST_MIXED:
        return interval
    return refused(
        f"the credits of few prompts make nearly all of the noise, in effect {number(carriers)} of "
        f"{int(several.sum()):,}, fewer than {FEWEST_MIXED}"
    )


def _clustered(table: CreditTable) -> tuple[int, float, str]:
    """Number of groups, clustered standard error, and why there is none."""
    if table.group is None:
        return 0, math.nan, "groups are not known"
    used = table.generations > 0
    group = table.group[used]
    size = len(np.unique(group))
    if size < 2:
        return size, math.nan, "there is one group alone"
    return size, clustered_se(table.total[used] / table.generations[used], group.tolist()), ""
