"""Tables for a terminal of designs, allocations, comparisons planned, and looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeseval.cli.tables import add_row, new_table, print_table, say, warn
from bayeseval.display import number
from bayeseval.planning import Allocation, ContrastPlan, DecodingComparison, Frontier, Looks, OrderPlan
from bayeseval.planning.looking.decisions import ends
from bayeseval.plots.canvas import interval_words

__all__ = ["show_allocation", "show_contrast", "show_decoding", "show_frontier", "show_looks", "show_order"]

MOST_PROMPTS = 20
"""Prompts of an allocation that a terminal shows."""


def show_frontier(frontier: Frontier) -> None:
    """Print the optimum and every design."""
    names = ["generations per prompt", "prompts", "cost", "median width", "90% of futures"]
    names += ["assurance", "±"] if frontier.budget is None else []
    rows = []
    for row in frontier.to_frame().to_dict(orient="records"):
        chosen = " ←" if frontier.k == row["generations"] else "" if row["feasible"] else " misses"
        cells = [f"{row['generations']:,}{chosen}", f"{row['n_prompts']:,}", frontier.prices.words(row["cost"])]
        cells += [number(row["width"]), f"{number(row['width_lower'])} to {number(row['width_upper'])}"]
        if frontier.budget is None:
            cells += [f"{row['assurance']:.3f}", f"{row['assurance_mcse']:.3f}"]
        rows.append(cells)
    title = f"Designs, and the width of the {interval_words(frontier.prob, 'interval')}"
    _show(frontier, f"{title} over {frontier.futures:,} simulated futures", names, rows)


def show_allocation(allocation: Allocation) -> None:
    """Print the plan, and the prompts that get most."""
    frame = allocation.to_frame()
    given = frame[frame["extra"] > 0].sort_values("extra", ascending=False, kind="stable")
    names = ["prompt", "extra", "generations", "correct", "mean of P(correct)", "variance", "expected then"]
    rows = [
        [str(row["prompt"]), f"{row['extra']:,}", f"{row['generations']:,}", f"{row['correct']:,}",
         number(row["mean"]), number(row["variance"]), number(row["variance_after"])]
        for row in given.head(MOST_PROMPTS).to_dict(orient="records")
    ]  # fmt: skip
    _show(allocation, "Further generations; variances are those of the score of the prompt", names, rows)
    if len(given) > MOST_PROMPTS:
        say(f"{len(given) - MOST_PROMPTS:,} more prompts get something: --out FILE writes all, --json prints all")


def show_contrast(plan: ContrastPlan) -> None:
    """Print a planned comparison and its curve."""
    names = ["generations per prompt", "standard error", "resolved", "±", "equivalent", "undecided", "detectable"]
    if plan.rope == 0:
        names.remove("equivalent")
    rows = []
    for row in plan.to_frame().to_dict(orient="records"):
        cells = [_count(row, plan.k), number(row["standard_error"]), f"{row['resolved']:.3f}", f"{row['mcse']:.3f}"]
        cells += [f"{row['equivalent']:.3f}"] if plan.rope else []
        needed = "none" if np.isnan(row["prompts_needed"]) else f"{row['prompts_needed']:,.0f}"
        rows.append([*cells, f"{row['undecided']:.3f}", number(row["detectable"]), needed])
    title = f"Probabilities of what the {interval_words(plan.prob, 'interval')} of the difference will say"
    _show(plan, title, [*names, "prompts needed"], rows)


def show_order(plan: OrderPlan) -> None:
    """Print a planned order and its curve."""
    names = ["generations per prompt", "right order", "±", "best found", "±"]
    columns = ("order", "order_mcse", "best", "best_mcse")
    rows = [
        [_count(row, plan.k), *(f"{row[name]:.3f}" for name in columns)]
        for row in plan.to_frame().to_dict(orient="records")
    ]
    _show(plan, f"Probabilities over {plan.draws:,} simulated truths", names, rows)


def show_decoding(comparison: DecodingComparison) -> None:
    """Print the comparison and its intervals."""
    names = ["estimand", "method", "greedy - sampled", "standard error", interval_words(comparison.prob, "interval")]
    rows = []
    for row in comparison.rows:
        interval = f"{row.lower:+.3f} to {row.upper:+.3f}" if np.isfinite(row.lower) else "none"
        error = number(row.se) if np.isfinite(row.se) else "none"
        rows.append([row.estimand, row.method, f"{row.difference:+.3f}", error, interval])
    _show(comparison, "Greedy decoding against sampling", names, rows)


def show_looks(looks: Looks) -> None:
    """Print the log, and what it comes to."""
    last = looks.last
    assert last is not None
    rows = [
        [str(place), f"{one.n_generations:,}", ends(one.value, one.lower, one.upper), number(one.width),
         "stop" if one.stop else "go on", one.reason]
        for place, one in enumerate(looks.decisions, 1)
    ]  # fmt: skip
    names = ["look", "generations", "value", "width", "", "reason"]
    _show(looks, f"Looks; {last.interval}", names, rows, last.warnings)


def _show(
    result: Any, title: str, names: Sequence[str], rows: Sequence[Sequence[str]], warnings: Sequence[str] | None = None
) -> None:
    warn(result.warnings if warnings is None else warnings)
    sentence = result.sentence()
    say(sentence if sentence.endswith(".") else f"{sentence}.")
    table = new_table(title)
    words = ("prompt", "estimand", "method", "value", "", "reason")
    for name in names:
        table.add_column(name, justify="left" if name in words else "right", overflow="fold")
    for cells in rows:
        add_row(table, cells)
    print_table(table)


def _count(row: dict[str, Any], best: int | None) -> str:
    return f"{row['generations']:,.0f}{' ←' if best is not None and row['generations'] == best else ''}"
