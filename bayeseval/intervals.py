"""Posterior intervals beside the intervals that papers print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics
from bayeseval.defaults import options
from bayeseval.display import html_table, rows_to_frame
from bayeseval.estimators.clt import clt_interval_benchmark, clt_interval_population
from bayeseval.estimators.variance import VarianceComponents, variance_components
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import decimals

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["IntervalComparison", "IntervalRow", "compare_intervals"]

DIFFERENCE = 0.15
"""Relative difference of two widths from which on it is worth a sentence."""


@dataclass(frozen=True)
class IntervalRow:
    """One interval of the mean of one run; ``note`` says what it means, or why it is refused."""

    system: str
    benchmark: str
    estimand: str
    method: str
    value: float
    lower: float
    upper: float
    width: float
    note: str


@dataclass(frozen=True, repr=False)
class IntervalComparison:
    """Intervals of the mean by several methods, for both estimands.

    Attributes
    ----------
    rows : tuple of IntervalRow
    prob : float
        Nominal probability of all intervals.
    explanation : tuple of str
        What the differences mean, in sentences.
    """

    rows: tuple[IntervalRow, ...]
    prob: float
    explanation: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row an interval: system, benchmark, estimand, method, value, lower, upper, width, note."""
        return rows_to_frame(self.rows, IntervalRow)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Every interval as a line, refused ones as words."""
        from bayeseval import plots

        return plots.plot_intervals(self, ax=ax)

    def _cells(self, row: IntervalRow) -> list[str]:
        digits = decimals(row.width)
        refused = np.isnan(row.lower)
        interval = "refused" if refused else f"[{row.lower:.{digits}f}, {row.upper:.{digits}f}]"
        width = "" if refused else f"{row.width:.{digits}f}"
        run = f"{row.system} on {row.benchmark}"
        return [run, row.estimand, row.method, f"{row.value:.{digits}f}", interval, width, row.note]

    def __repr__(self) -> str:
        lines = [f"{self.prob:.0%} intervals of the mean"]
        for row in self.rows:
            run, estimand, method, value, interval, width, note = self._cells(row)
            lines.append(f"{run}, {estimand}, {method}: {value} {interval}{f' width {width}' if width else ''}; {note}")
        return "\n".join([*lines, *self.explanation])

    def _repr_html_(self) -> str:
        header = ["run", "estimand", "method", "value", f"{self.prob:.0%} interval", "width", "note"]
        return html_table(header, [self._cells(row) for row in self.rows], self.explanation)


def compare_intervals(posteriors: Posterior | Sequence[Posterior], prob: float | None = None) -> IntervalComparison:
    r"""Set posterior intervals of the mean beside those from moments, for both estimands.

    Parameters
    ----------
    posteriors : Posterior, Posteriors or sequence of Posterior
    prob : float, optional
        Probability inside the intervals; `bayeseval.options.prob` by default.

    Returns
    -------
    IntervalComparison
        For each run five or six intervals: posterior (by the model, and robust), CLT with Student's t and the naive
        pooled binomial for the population; posterior and CLT for the benchmark.

    Notes
    -----
    The naive pooled standard error is :math:`\sqrt{\bar p(1-\bar p)/K}` over all K generations, as if each were a
    prompt of its own: too small for the population, too large for the benchmark.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 10, generations=[4] * 40)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> be.compare_intervals(post).to_frame()["method"].tolist()[:3]
    ['posterior', 'posterior (robust)', 'CLT (t)']
    """
    prob = options.interval_prob(prob)
    refuse_credits(posteriors)
    items = [posteriors] if isinstance(posteriors, Posterior) else list(posteriors)
    rows: list[IntervalRow] = []
    explanation: dict[str, None] = {}
    for posterior in items:
        answered = posterior.counts.generations > 0
        parts = variance_components(posterior.counts.correct[answered], posterior.counts.generations[answered])
        new = [*_posterior_rows(posterior, prob), *_moment_rows(posterior, parts, prob)]
        new.sort(key=lambda row: row.estimand != "population")
        rows += new
        explanation.update(dict.fromkeys(_explain(new, parts, posterior)))
    return IntervalComparison(tuple(rows), prob, tuple(explanation))


def _posterior_rows(posterior: Posterior, prob: float) -> list[IntervalRow]:
    metric = metrics.mean()
    answers = [
        ("posterior", posterior.score(metric, "population", prob, "model"), "mean μ of the fitted distribution"),
        (
            "posterior (robust)",
            posterior.score(metric, "population", prob, "robust"),
            "draws of P(correct), Bayesian bootstrap over prompts",
        ),
        ("posterior", posterior.score(metric, "benchmark", prob), "mean of P(correct) over these prompts"),
    ]
    return [
        IntervalRow(
            posterior.system,
            posterior.benchmark,
            score.estimand,
            method,
            score.value,
            score.lower,
            score.upper,
            score.width,
            note,
        )
        for method, score, note in answers
    ]


def _moment_rows(posterior: Posterior, parts: VarianceComponents, prob: float) -> list[IntervalRow]:
    from scipy.special import ndtri

    population, benchmark = clt_interval_population(parts, prob), clt_interval_benchmark(parts, prob)
    total = int(posterior.counts.generations.sum())
    half = float(ndtri(0.5 + prob / 2)) * np.sqrt(parts.pooled * (1 - parts.pooled) / total)
    naive = (max(parts.pooled - half, 0.0), min(parts.pooled + half, 1.0))
    rows: list[tuple[str, str, float, float, float, str]] = [
        ("population", "CLT (t)", parts.mean, population.lower, population.upper, population.reason or "approximate"),
        (
            "population",
            "naive pooled",
            parts.pooled,
            *naive,
            "binomial over all generations; ignores that generations share prompts",
        ),
        ("benchmark", "CLT", parts.mean, benchmark.lower, benchmark.upper, benchmark.reason or "approximate"),
    ]
    return [
        IntervalRow(posterior.system, posterior.benchmark, estimand, method, value, low, high, high - low, note)
        for estimand, method, value, low, high, note in rows
    ]


def _explain(rows: list[IntervalRow], parts: VarianceComponents, posterior: Posterior) -> list[str]:
    found = {(row.estimand, row.method): row for row in rows}
    run = f"{posterior.system} on {posterior.benchmark}"
    population, benchmark = found["population", "posterior"], found["benchmark", "posterior"]
    sentences = [
        f"{run}: the population interval is {population.width / benchmark.width:.1f} times as wide as the benchmark "
        f"interval, because it also carries which prompts were drawn; only more prompts narrow that part"
    ]
    for estimand, method in (("population", "CLT (t)"), ("benchmark", "CLT")):
        row, posterior_row = found[estimand, method], found[estimand, "posterior"]
        if np.isnan(row.lower):
            sentences.append(f"{run}: there is no {method} interval for the {estimand}: {row.note}")
        elif abs(posterior_row.width / row.width - 1) > DIFFERENCE:
            wider = "wider" if posterior_row.width > row.width else "narrower"
            sentences.append(
                f"{run}: for the {estimand} the posterior interval is "
                f"{abs(posterior_row.width / row.width - 1):.0%} {wider} than the CLT interval"
            )
    total = int(posterior.counts.generations.sum())
    naive_error = np.sqrt(parts.pooled * (1 - parts.pooled) / total)
    if parts.se_population > (1 + DIFFERENCE) * naive_error > 0:
        sentences.append(
            f"{run}: for prompts like these the naive pooled standard error is {parts.se_population / naive_error:.1f} "
            f"times too small, since generations of one prompt resemble each other (ρ about {_number(parts.rho)})"
        )
    return sentences


def _number(value: Any) -> str:
    return "unknown" if np.isnan(value) else f"{value:.2f}"
