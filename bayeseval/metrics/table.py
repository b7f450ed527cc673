"""Unbiased estimates of pass@k and its relatives for every run, with their standard errors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.arrays import Integers
from bayeseval.display import Findings, html_table, number, rows_to_frame, run_lines
from bayeseval.errors import DataError, OptionError
from bayeseval.estimators import STOPPING, split_runs
from bayeseval.estimators.adaptivity import adaptive_hint
from bayeseval.estimators.variance import sample_variance, variance_components
from bayeseval.metrics import Metric, pass_at_k_variance, pass_hat_k_variance

if TYPE_CHECKING:
    import pandas as pd

    from bayeseval.counts import Counts
    from bayeseval.outcomes import Outcomes

__all__ = ["MetricEstimate", "MetricEstimates", "metric_estimates"]

_WORDING = {
    "none": ("no prompt has enough generations", "the posterior, be.fit(...), can extrapolate"),
    "coverage": (
        "some prompts have too few generations",
        "they are left out; if hard prompts were sampled more, or less, than easy ones, the value is off, while the "
        "posterior, be.fit(...), uses every prompt",
    ),
    "equal": (
        "the estimate is the same on every prompt",
        "a standard error of 0 for prompts like these is no certainty, use be.fit(...)",
    ),
}


@dataclass(frozen=True)
class MetricEstimate:
    """One metric of one run; the columns of `MetricEstimates.to_frame`.

    Attributes
    ----------
    system, benchmark : str
    metric, key : str
        The metric as papers write it, and as one plain word.
    k : int
        Attempts inside the metric.
    value : float
        Mean of the unbiased estimates of the prompts with at least k generations, every prompt with the same weight.
    se_population, se_benchmark : float
        Standard errors for prompts like these and for these prompts.
    n_prompts, n_prompts_total : int
        Prompts used, and prompts of the run.
    coverage : float
        Share of the prompts used.
    reason_value, reason_population, reason_benchmark : str
        Why a number is NaN; else empty.
    """

    system: str
    benchmark: str
    metric: str
    key: str
    k: int
    value: float
    se_population: float
    se_benchmark: float
    n_prompts: int
    n_prompts_total: int
    coverage: float
    reason_value: str = ""
    reason_population: str = ""
    reason_benchmark: str = ""

    def sentence(self) -> str:
        """Return the estimate as a sentence of a paper."""
        run = f"{self.system} on {self.benchmark}: {self.metric}"
        if self.reason_value:
            return f"{run} is undefined, {self.reason_value}."
        share = "" if self.coverage == 1 else f" of {self.n_prompts_total:,} (coverage {self.coverage:.3g})"
        return (
            f"{run} is {number(self.value, 4)} over {self.n_prompts:,}{share} prompts; standard error "
            f"{number(self.se_population)} for prompts like these (population) and "
            f"{number(self.se_benchmark)} for these prompts (benchmark)."
        )


@dataclass(frozen=True, repr=False)
class MetricEstimates:
    """Estimates of one or many metrics on one or many runs, made by `metric_estimates`.

    Attributes
    ----------
    rows : tuple of MetricEstimate
        One a run and metric.
    notes : tuple of str
        What a reader must know before using the numbers.
    """

    rows: tuple[MetricEstimate, ...]
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row a run and metric and the columns of `MetricEstimate`."""
        return rows_to_frame(self.rows, MetricEstimate)

    def __repr__(self) -> str:
        title = f"{len(self.rows):,} metric estimates"
        return run_lines(title, [row.sentence() for row in self.rows[:8]], self.notes, len(self.rows))

    def _repr_html_(self) -> str:
        header = ["system", "benchmark", "metric", "value", "SE (population)", "SE (benchmark)", "prompts", "coverage"]
        body = [
            [
                row.system,
                row.benchmark,
                row.metric,
                number(row.value, 4),
                number(row.se_population),
                number(row.se_benchmark),
                f"{row.n_prompts:,}",
                f"{row.coverage:.3g}",
            ]
            for row in self.rows
        ]
        return html_table(header, body, self.notes)


def metric_estimates(counts: Counts | Outcomes, metrics: Metric | Iterable[Metric]) -> MetricEstimates:
    """Estimate metrics such as pass@k for every run, without a model, from the prompts with enough generations.

    Parameters
    ----------
    counts : Counts or Outcomes
        One run or many.
    metrics : Metric or iterable of Metric
        From `bayeseval.metrics`: ``mean()``, ``pass_at(16)``, ``pass_hat(4)``, ``g_pass(16, 0.5)``, ``mg_pass(16)``.

    Returns
    -------
    MetricEstimates
        One row a run and metric.

    Raises
    ------
    DataError
        If for some metric no prompt of any run has k generations. No unbiased estimate exists then; the message names
        the posterior, which can extrapolate.
    OptionError
        If ``metrics`` holds anything else, or nothing.

    Notes
    -----
    The population standard error is the standard deviation of the prompts' estimates over the square root of their
    number. The benchmark standard error averages an unbiased estimate of each prompt's sampling variance, which exists
    for pass@k and pass^k where every prompt used has 2 k generations; elsewhere it is NaN with a reason.

    References
    ----------
    .. [1] Chen et al. (2021). Evaluating large language models trained on code. https://arxiv.org/abs/2107.03374
    .. [2] Liu et al. (2024). Are your LLMs capable of stable reasoning? https://arxiv.org/abs/2412.13147
    .. [3] Yao et al. (2024). tau-bench. https://arxiv.org/abs/2406.12045

    Examples
    --------
    >>> from bayeseval import metrics
    >>> from bayeseval.counts import Counts
    >>> counts = Counts.from_arrays(correct=[3, 4, 2], generations=[3, 4, 4])
    >>> row = metric_estimates(counts, metrics.pass_hat(4)).rows[0]
    >>> row.metric, row.value, row.n_prompts, row.n_prompts_total
    ('pass^4', 0.5, 2, 3)
    """
    chosen = _listed(metrics)
    runs = split_runs(counts, "metric_estimates")
    most = max(int(generations.max()) for *_, generations in runs)
    for metric in chosen:
        if metric.k > most:
            raise DataError(
                f"{metric.name} needs at least {metric.k} generations of a prompt, but the most that any prompt has is "
                f"{most}, and from fewer no unbiased estimate exists. Lower k, or ask the posterior, which can "
                f"extrapolate: be.fit(...).{metric.call}"
            )
    rows, stopping, findings = [], Findings(len(runs)), Findings(len(runs) * len(chosen), "estimates")
    for system, benchmark, correct, generations in runs:
        if hint := adaptive_hint(correct, generations):
            stopping.add("stopping", f"{system} on {benchmark}", hint)
        for metric in chosen:
            row = _estimate(system, benchmark, correct, generations, metric)
            rows.append(row)
            _note(findings, row)
    return MetricEstimates(tuple(rows), stopping.sentences({"stopping": STOPPING}) + findings.sentences(_WORDING))


def _estimate(system: str, benchmark: str, correct: Integers, generations: Integers, metric: Metric) -> MetricEstimate:
    enough = generations >= metric.k
    c, n = correct[enough], generations[enough]
    value = se_population = se_benchmark = math.nan
    reason_value = reason_population = reason_benchmark = ""
    if n.size:
        estimates = metric.estimate(c, n)
        value = float(estimates.mean())
        se_benchmark, reason_benchmark = _se_benchmark(c, n, metric)
    else:
        reason_value = f"no prompt has {metric.k} generations, see be.fit(...).{metric.call}"
    if n.size > 1:
        se_population = math.sqrt(sample_variance(estimates) / n.size)
    else:
        reason_population = "one prompt: the spread over prompts is not known" if n.size else reason_value
    return MetricEstimate(
        system=system,
        benchmark=benchmark,
        metric=metric.name,
        key=metric.key,
        k=metric.k,
        value=value,
        se_population=se_population,
        se_benchmark=se_benchmark,
        n_prompts=int(n.size),
        n_prompts_total=int(generations.size),
        coverage=n.size / generations.size,
        reason_value=reason_value,
        reason_population=reason_population,
        reason_benchmark=reason_benchmark or reason_value,
    )


def _note(findings: Findings, row: MetricEstimate) -> None:
    place = f"{row.metric} of {row.system} on {row.benchmark}"
    if row.coverage < 1:
        finding = (
            f"{row.metric} rests on {row.n_prompts:,} of {row.n_prompts_total:,} prompts, coverage {row.coverage:.3g}"
        )
        findings.add("coverage" if row.n_prompts else "none", place, finding)
    if row.se_population == 0:
        findings.add("equal", place, f"{row.metric} is estimated as {number(row.value)} on every prompt")


def _se_benchmark(c: Integers, n: Integers, metric: Metric) -> tuple[float, str]:
    k, m = metric.k, metric.threshold
    posterior = f"ask be.fit(...).{metric.call} with estimand='benchmark'"
    if k == 1 and m == 1:
        se = variance_components(c, n).se_benchmark
        return se, f"one generation for every prompt used: {posterior}" if math.isnan(se) else ""
    if m not in (1, k):
        return math.nan, f"no estimate of {metric.name}'s generation noise is offered here: {posterior}"
    if n.min() < 2 * k:
        return math.nan, f"some prompt used has fewer than 2k = {2 * k} generations: {posterior}"
    variance = (pass_at_k_variance if m == 1 else pass_hat_k_variance)(c, n, k)
    total = float(variance.sum())
    if total < 0:
        return math.nan, f"the unbiased estimate of the variance is negative: {posterior}"
    return float(np.sqrt(total) / n.size), ""


def _listed(metrics: Metric | Iterable[Metric]) -> list[Metric]:
    example = "give Metric objects such as bayeseval.metrics.pass_at(16)"
    if isinstance(metrics, Metric):
        return [metrics]
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise OptionError(f"metrics must be a Metric or several, but {metrics!r} was given; {example}")
    chosen = list(metrics)
    if not chosen:
        raise OptionError(f"metrics is empty; {example}")
    for metric in chosen:
        if not isinstance(metric, Metric):
            raise OptionError(f"metrics holds {metric!r}, which is no Metric; {example}")
    return chosen
