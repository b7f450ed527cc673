"""Tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from bayeseval.display import number
from bayeseval.estimators import RunMoments, moments
from bayeseval.estimators.bounds import ScoreBounds
from bayeseval.estimators.credit import credit_moments
from bayeseval.metrics import Metric
from bayeseval.metrics import mean as mean_metric
from bayeseval.plots.canvas import interval_words
from bayeseval.posterior.credit import CreditPosterior
from bayeseval.posterior.scores import Score, Scores, decimals

if TYPE_CHECKING:
    from rich.table import Table

    from bayeseval.comparison.models import Comparison
    from bayeseval.planning import Plan
    from bayeseval.posterior.posteriors import Posteriors

__all__ = [
    "add_row", "new_table", "print_table", "say", "show_bounds", "show_comparison", "show_moments", "show_plan",
    "show_scores", "warn",
]  # fmt: skip

PLAIN_WIDTH = 140
"""Columns of a table that goes to a file or a pipe."""


def say(text: str) -> None:
    """Print a sentence; control characters in names do nothing to the terminal."""
    typer.echo("".join(char if char.isprintable() or char == "\n" else "�" for char in text))


def show_scores(posteriors: Posteriors, metrics: Sequence[Metric], prob: float | None) -> None:
    """Print what is wrong, and then the scores of every run: both estimands, and for the population both methods."""
    scores = posteriors.scores(list(dict.fromkeys([mean_metric(), *metrics])), prob=prob)
    _warn_by_run(scores)
    table = new_table(f"Scores: posterior mean and {interval_words(scores[0].prob)}; * marks the headline")
    for name in ("system", "benchmark", "score", "population: model", "population: robust", "benchmark"):
        table.add_column(name, no_wrap=name not in ("system", "benchmark"), overflow="fold")
    for population, benchmark in zip(scores[::2], scores[1::2], strict=True):
        answers = {one.method: one for one in (population, population.other) if one is not None}
        label = population.name + (" (extrapolated)" if population.extrapolated else "")
        cells = [_cell(answers.get(method), method == population.method) for method in ("model", "robust")]
        add_row(table, [population.system, population.benchmark, label, *cells, _cell(benchmark, True)])
    print_table(table)
    say("population: prompts like these; benchmark: these prompts")


def show_moments(posteriors: Posteriors, prob: float | None) -> None:
    """Print what papers print: mean, standard errors, CLT intervals, variance between prompts."""
    level = posteriors[0].mean("benchmark", prob).prob
    rows: list[RunMoments] = []
    for item in posteriors:
        if isinstance(item, CreditPosterior):
            rows += credit_moments(item.credits, prob=level).rows
        elif item.counts.generations.any():
            rows += moments(item.counts, prob=level).rows
    if not rows:
        return
    table = new_table(f"Moments: CLT intervals are approximate, {100 * level:.4g}%")
    for name in ("system", "benchmark", "prompts", "mean", "SE population", "CLT population", "SE benchmark"):
        table.add_column(name, overflow="fold")
    for name in ("CLT benchmark", "σ²", "ρ"):
        table.add_column(name, overflow="fold")
    for row in rows:
        ends = [
            _interval(row.lower_population, row.upper_population),
            _interval(row.lower_benchmark, row.upper_benchmark),
        ]
        cells = [row.system, row.benchmark, f"{row.n_prompts:,}", number(row.mean, 4)]
        cells += [number(row.se_population), ends[0], number(row.se_benchmark), ends[1]]
        add_row(table, [*cells, number(row.sigma2), number(row.rho)])
    print_table(table)


def show_bounds(bounds: ScoreBounds, as_json: bool) -> None:
    """Print mean scores with generations without a score left out, wrong and right; as JSON only the sentences."""
    if as_json or not bounds.notes:
        for note in bounds.notes:
            typer.echo("bayeseval: " + "".join(c if c.isprintable() else "�" for c in note), err=True)
        return
    warn([*bounds.notes, "what follows leaves these generations out"])
    words = {"drop": "left out", "wrong": "wrong", "right": "right"}
    table = new_table("Bounds: mean scores by what generations without a score count as")
    for name in ("system", "benchmark", "without a score", "count as", "mean", "SE population", "SE benchmark"):
        table.add_column(name, overflow="fold")
    for row in bounds.rows:
        cells = [row.system, row.benchmark, f"{row.n_missing:,}", words[row.policy], number(row.mean, 4)]
        add_row(table, [*cells, number(row.se_population), number(row.se_benchmark)])
    print_table(table)


def show_comparison(comparison: Comparison) -> None:
    """Print models of one run, best first, and which of them describes it."""
    warn(comparison.warnings)
    table = new_table(f"Models of {comparison.run}: log predictive density of left-out prompts, nats")
    for name in comparison.HEADER:
        table.add_column(name, justify="left" if name == "model" else "right", overflow="fold")
    for cells in comparison.cells():
        add_row(table, cells)
    print_table(table)
    say(f"{comparison.sentence()}.")


def show_plan(plan: Plan) -> None:
    """Print a plan and its curve."""
    warn(plan.warnings)
    say(plan.sentence())
    table = new_table(f"Width of the {interval_words(plan.prob, 'interval')} over {plan.futures:,} simulated futures")
    names = ["generations per prompt", "median width", "90% of futures", "assurance", "±"]
    if plan.measure == "sd":
        names.insert(1, "median standard deviation")
    for name in names:
        table.add_column(name, justify="right")
    for row in plan.to_frame().to_dict(orient="records"):
        chosen = " ←" if plan.k is not None and row["generations"] == plan.k else ""
        cells = [f"{row['generations']:,.0f}{chosen}", *([number(row["sd"])] if plan.measure == "sd" else [])]
        cells += [number(row["width"]), f"{number(row['width_lower'])} to {number(row['width_upper'])}"]
        add_row(table, [*cells, f"{row['assurance']:.3f}", f"{row['assurance_mcse']:.3f}"])
    print_table(table)


def warn(sentences: Iterable[str]) -> None:
    """Print warnings, first and with a sign."""
    for sentence in sentences:
        say(f"⚠ {sentence}.")


def _warn_by_run(scores: Scores) -> None:
    runs = {(score.system, score.benchmark) for score in scores}
    said: dict[str, None] = {}
    for score in scores:
        for text in score.warnings:
            run = f"{score.system} on {score.benchmark}"
            said[text if len(runs) == 1 or run in text else f"{run}: {text}"] = None
    warn(said)


def _cell(score: Score | None, headline: bool) -> str:
    if score is None:
        return "none"
    digits = decimals(score.width)
    ends = "no interval" if np.isnan(score.lower) else f"[{score.lower:.{digits}f}, {score.upper:.{digits}f}]"
    return f"{score.value:.{digits}f}{'*' if headline else ' '} {ends}"


def _interval(lower: float, upper: float) -> str:
    return "refused" if np.isnan(lower) else f"{number(lower)} to {number(upper)}"


def new_table(title: str) -> Table:
    """An empty table with a title."""
    from rich import box
    from rich.table import Table

    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


def add_row(table: Table, cells: Sequence[str]) -> None:
    """Add a row of plain texts."""
    from rich.text import Text

    # As Text, so that square brackets in a name are no instructions to Rich.
    table.add_row(*(Text("".join(char if char.isprintable() else "�" for char in cell)) for cell in cells))


def print_table(table: Any) -> None:
    """Print a table, wide enough for files and pipes."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=max(PLAIN_WIDTH, console.width))
    console.print(table)
