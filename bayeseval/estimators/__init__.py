"""Moment estimates of every run: the mean, where its uncertainty comes from, and CLT intervals named by estimand.

`moments` answers with what the papers print, for the plain score; `bayeseval.metrics.table.metric_estimates` does so
for pass@k and its relatives. Both are there to be compared with a posterior, and both refuse where they would mislead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bayeseval.arrays import Integers, as_counts
from bayeseval.display import Findings, html_table, number, rows_to_frame, run_lines
from bayeseval.errors import DataError, require_probability
from bayeseval.estimators.adaptivity import adaptive_hint
from bayeseval.estimators.clt import CLTInterval, clt_interval_benchmark, clt_interval_population
from bayeseval.estimators.variance import VarianceComponents, variance_components

if TYPE_CHECKING:
    import pandas as pd

    from bayeseval.counts import Counts
    from bayeseval.outcomes import Outcomes

__all__ = ["Moments", "RunMoments", "moments", "note_run", "run_fields", "split_runs"]

STOPPING = (
    "generations go with what was answered",
    "if prompts were sampled until an outcome was seen, such as the first success, or got more generations for what "
    "they had answered, the share correct c/k of a prompt is biased and every number here with it; the likelihood is "
    "not, so use be.fit(...)",
)
"""What to say of runs about which `stopping_hint` or `adaptive_hint` finds something: what it is, and what to do."""

WORDING = {
    "stopping": STOPPING,
    "equal": (
        "every prompt has the same share correct",
        "a standard error of 0 for prompts like these is no certainty, use be.fit(...)",
    ),
    "single": (
        "every prompt has one generation",
        "the variance between prompts is not identified, only mean·(1 − mean) is; run two or more generations, or "
        "state a prior with be.fit(...)",
    ),
    "negative": (
        "the estimate of the variance between prompts is negative",
        "this happens by chance where prompts differ little; it is reported as it is and enters no interval",
    ),
    "population": (
        "there is no CLT interval for prompts like these (reason_population says why)",
        "use be.fit(...).mean(estimand='population')",
    ),
    "benchmark": (
        "there is no CLT interval for these prompts (reason_benchmark says why)",
        "use be.fit(...).mean(estimand='benchmark')",
    ),
    "empty": ("some prompts have no generation", "they are left out"),
}


@dataclass(frozen=True)
class RunMoments:
    """Moment estimates of one run; the columns of `Moments.to_frame`.

    Attributes
    ----------
    system, benchmark : str
    n_prompts : int
        Prompts with at least one generation.
    n_generations : int
        All generations together.
    generations_min, generations_max : int
        Generations per prompt.
    mean, pooled, sigma2, within_var, total_var, within_part : float
        As in `bayeseval.estimators.variance.VarianceComponents`.
    between_part : float
        ``total_var - within_part``, which is ``sigma2``.
    rho : float
        Intraclass correlation.
    se_population, se_benchmark : float
        Standard errors of the mean, for prompts like these and for these prompts.
    lower_population, upper_population, lower_benchmark, upper_benchmark : float
        CLT intervals, NaN where refused: see `bayeseval.estimators.clt`.
    prob : float
        Nominal probability of the intervals.
    reason_population, reason_benchmark : str
        Why an interval is refused; empty where it is given.
    reason_sigma2 : str
        Why sigma2 is undefined, or that it is negative; else empty.
    prompts_without_generations : int
        Prompts left out.
    """

    system: str
    benchmark: str
    n_prompts: int
    n_generations: int
    generations_min: int
    generations_max: int
    mean: float
    pooled: float
    sigma2: float
    within_var: float
    total_var: float
    within_part: float
    between_part: float
    rho: float
    se_population: float
    se_benchmark: float
    lower_population: float
    upper_population: float
    lower_benchmark: float
    upper_benchmark: float
    prob: float
    reason_population: str
    reason_benchmark: str
    reason_sigma2: str
    prompts_without_generations: int

    @property
    def label(self) -> str:
        """The run in words."""
        return f"{self.system} on {self.benchmark}"

    def sentence(self) -> str:
        """Return the estimates as a sentence of a paper."""
        low, high = self.generations_min, self.generations_max
        each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        return (
            f"{self.label}: mean {number(self.mean, 4)} over {self.n_prompts:,} prompts of {each} generations; "
            f"for prompts like these (population) standard error {number(self.se_population)}"
            f"{_interval_text(self.lower_population, self.upper_population, self.prob)}, "
            f"for these prompts (benchmark) {number(self.se_benchmark)}"
            f"{_interval_text(self.lower_benchmark, self.upper_benchmark, self.prob)}; "
            f"variance between prompts σ² = {number(self.sigma2)}, ρ = {number(self.rho)}."
        )


@dataclass(frozen=True, repr=False)
class Moments:
    """Moment estimates of one or many runs, made by `moments`.

    Attributes
    ----------
    rows : tuple of RunMoments
        One a run.
    notes : tuple of str
        What a reader must know before using the numbers, most important first.
    """

    rows: tuple[RunMoments, ...]
    notes: tuple[str, ...]

    _row_type: ClassVar[type[RunMoments]] = RunMoments

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row a run and the columns of its rows."""
        return rows_to_frame(self.rows, self._row_type)

    def __repr__(self) -> str:
        title = f"Moment estimates of {len(self.rows):,} runs"
        return run_lines(title, [row.sentence() for row in self.rows[:8]], self.notes, len(self.rows))

    def _repr_html_(self) -> str:
        return html_table(self._header(), [self._cells(row) for row in self.rows], self.notes)

    def _header(self) -> list[str]:
        interval = f"{100 * self.rows[0].prob:.4g}% CLT"
        header = ["system", "benchmark", "prompts", "generations", "mean", "σ²", "ρ", "SE (population)"]
        return [*header, f"{interval} (population)", "SE (benchmark)", f"{interval} (benchmark)"]

    def _cells(self, row: Any) -> list[str]:
        return [
            row.system,
            row.benchmark,
            f"{row.n_prompts:,}",
            f"{row.n_generations:,}",
            number(row.mean, 4),
            number(row.sigma2),
            number(row.rho),
            number(row.se_population),
            _interval_cell(row.lower_population, row.upper_population),
            number(row.se_benchmark),
            _interval_cell(row.lower_benchmark, row.upper_benchmark),
        ]


def moments(counts: Counts | Outcomes, *, prob: float = 0.95) -> Moments:
    """Estimate mean, variance between prompts, both standard errors and CLT intervals of every run.

    Parameters
    ----------
    counts : Counts or Outcomes
        One run or many. Prompts without generations are left out, and a note says how many.
    prob : float
        Nominal probability of the intervals, in (0, 1).

    Returns
    -------
    Moments
        One row a run, with the reasons for what is refused, and notes.

    Raises
    ------
    DataError
        If there are no counts, or a run has no generation at all.

    Notes
    -----
    Every prompt has the same weight. For prompts like these (population): ``mean ± t SE`` with ``SE^2 = S^2 / n``. For
    these prompts (benchmark): ``mean ± z SE`` with ``SE^2 = sum v_i / n_i / n^2``. Both are approximate. The first is
    refused where ``n mean`` or ``n (1 - mean)`` is below 10, the second where fewer than 10 prompts have both right
    and wrong generations, and either where it would leave [0, 1]. Use ``be.fit`` there.

    References
    ----------
    .. [1] Zhang, Cai & Chen (2025). Beyond the Singular. https://arxiv.org/abs/2502.08943
    .. [2] Miller (2024). Adding error bars to evals. https://arxiv.org/abs/2411.00640

    Examples
    --------
    >>> from bayeseval.counts import Counts
    >>> row = moments(Counts.from_arrays(correct=[0, 1, 5, 4, 5, 2], generations=5)).rows[0]
    >>> print(f"{row.mean:.4f} {row.sigma2:.4f} {row.se_population:.4f} {row.se_benchmark:.4f}")
    0.5667 0.1593 0.1745 0.0624
    >>> row.reason_population
    'n·min(mean, 1 − mean) = 2.6 is below 10, too near 0 or 1 for so few prompts'
    """
    require_probability("prob", prob)
    runs = split_runs(counts, "moments")
    rows, findings = [], Findings(len(runs))
    for system, benchmark, correct, generations in runs:
        row = _run_moments(system, benchmark, correct, generations, prob)
        if hint := adaptive_hint(correct, generations):
            findings.add("stopping", row.label, hint)
        note_run(findings, row, f"every prompt has a share of {number(row.mean)} correct")
        rows.append(row)
    return Moments(tuple(rows), findings.sentences(WORDING))


def split_runs(counts: Counts | Outcomes, question: str) -> list[tuple[str, str, Integers, Integers]]:
    """Return (system, benchmark, correct, generations) of every run, or refuse what is not counts.

    Parameters
    ----------
    counts : Counts or Outcomes
    question : str
        Name of the function that asks, for the message.

    Returns
    -------
    list of tuples
        The arrays have shape (prompts,) and are checked.
    """
    make = getattr(counts, "counts", None)
    table: Any = make() if callable(make) else counts
    if hasattr(table, "credit"):
        raise DataError(
            f"{question} needs Counts or Outcomes, but Credits were given: use be.credit_moments(...), or say what "
            "counts as correct with .outcomes(threshold=...)"
        )
    if not callable(getattr(table, "runs", None)):
        raise DataError(
            f"{question} needs Counts or Outcomes, but {type(counts).__name__} was given; make them with be.read(...), "
            "be.Counts.from_frame(...) or be.Counts.from_arrays(correct, generations)"
        )
    runs = []
    for run in table.runs():
        correct, generations = as_counts(run.correct, run.generations)
        runs.append((str(run.system[0]), str(run.benchmark[0]), correct, generations))
    if not runs:
        raise DataError(f"{question} was given counts without any prompt")
    return runs


def _run_moments(system: str, benchmark: str, correct: Integers, generations: Integers, prob: float) -> RunMoments:
    if not generations.any():
        raise DataError(
            f"{system} on {benchmark} has no generation on any of its {generations.size} prompts; leave that run out"
        )
    parts = variance_components(correct, generations)
    intervals = clt_interval_population(parts, prob), clt_interval_benchmark(parts, prob)
    return RunMoments(system, benchmark, **run_fields(parts, generations, *intervals, prob))


def run_fields(
    parts: VarianceComponents, generations: Integers, population: CLTInterval, same: CLTInterval, prob: float
) -> dict[str, Any]:
    """Fields of `RunMoments` other than the names: of its components, generations, and intervals of both kinds."""
    n = generations[generations > 0]
    return {
        "n_prompts": parts.n_prompts,
        "n_generations": int(n.sum()),
        "generations_min": int(n.min()),
        "generations_max": int(n.max()),
        "mean": parts.mean,
        "pooled": parts.pooled,
        "sigma2": parts.sigma2,
        "within_var": parts.within_var,
        "total_var": parts.total_var,
        "within_part": parts.within_part,
        "between_part": parts.sigma2,
        "rho": parts.rho,
        "se_population": parts.se_population,
        "se_benchmark": parts.se_benchmark,
        "lower_population": population.lower,
        "upper_population": population.upper,
        "lower_benchmark": same.lower,
        "upper_benchmark": same.upper,
        "prob": prob,
        "reason_population": population.reason,
        "reason_benchmark": same.reason,
        "reason_sigma2": _doubt_about_sigma2(parts, int(n.max())),
        "prompts_without_generations": int(generations.size - n.size),
    }


def _doubt_about_sigma2(parts: VarianceComponents, most: int) -> str:
    if most == 1:
        return "one generation for every prompt: the variance between prompts is not identified"
    if parts.n_prompts == 1:
        return "one prompt: the variance between prompts is not defined"
    if parts.sigma2 < -1e-12 * parts.total_var:  # not rounding alone
        return "negative: prompts differ less than generation noise alone would have them"
    return ""


def note_run(findings: Findings, row: RunMoments, equal: str) -> None:
    """Note what is to be said of one run; ``equal`` says that all prompts have the same mean, where they do."""
    if row.n_prompts > 1 and row.total_var == 0:
        findings.add("equal", row.label, equal)
    if row.generations_max == 1:
        findings.add("single", row.label, "every prompt has one generation")
    if row.reason_sigma2.startswith("negative"):
        findings.add("negative", row.label, f"the estimate of the variance between prompts is {number(row.sigma2)}")
    if row.reason_population:
        finding = f"there is no CLT interval for prompts like these, because {row.reason_population}"
        findings.add("population", row.label, finding)
    if row.reason_benchmark:
        finding = f"there is no CLT interval for these prompts, because {row.reason_benchmark}"
        findings.add("benchmark", row.label, finding)
    if row.prompts_without_generations:
        whole = row.n_prompts + row.prompts_without_generations
        finding = f"{row.prompts_without_generations:,} of {whole:,} prompts have no generation"
        findings.add("empty", row.label, finding)


def _interval_text(lower: float, upper: float, prob: float) -> str:
    if math.isnan(lower):
        return " (no CLT interval)"
    return f" (approximate {100 * prob:.4g}% CLT interval {number(lower)} to {number(upper)})"


def _interval_cell(lower: float, upper: float) -> str:
    return "refused" if math.isnan(lower) else f"{number(lower)} to {number(upper)}"
