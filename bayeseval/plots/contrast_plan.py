"""How many generations tell systems apart: probabilities against the number of generations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.plots.canvas import canvas, colour, interval_words, legend_below, plain
from bayeseval.posterior.scores import ESTIMANDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.planning import ContrastPlan, OrderPlan

__all__ = ["plot_contrast_plan", "plot_order_plan"]


def plot_contrast_plan(plan: ContrastPlan, *, ax: Axes | None = None) -> Axes:
    """Probabilities that the difference is resolved, or both systems equivalent, against generations per prompt.

    Parameters
    ----------
    plan : ContrastPlan
        From `bayeseval.plan_contrast`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    zone = "excludes 0" if plan.rope == 0 else f"outside ±{plan.rope:g}"
    lines = [("resolved", 0, "o", f"resolved: {interval_words(plan.prob, 'interval')} {zone}")]
    if plan.rope > 0:
        lines.append(("equivalent", 1, "s", f"equivalent: interval inside ±{plan.rope:g}"))
        lines.append(("undecided", 4, "^", "undecided"))
    names = " against ".join(plain(name, 30) for name in plan.systems)
    target = "averaged over the pilot" if plan.difference is None else f"true difference {plan.difference:g}"
    title = (
        f"{names}\n{plan.design}, {target}\n{plan.estimand} ({ESTIMANDS.get(plan.estimand, '')}), {plan.prompt_words}"
    )
    limits = [(plan.limit, 0, "endless generations, resolved")]
    return _draw(plan, lines, limits, plan.k, title, "probability", ax)


def plot_order_plan(plan: OrderPlan, *, ax: Axes | None = None) -> Axes:
    """Probabilities of the right order, and of finding the best system, against generations per prompt.

    Parameters
    ----------
    plan : OrderPlan
        From `bayeseval.plan_order`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    lines = [("best", 1, "s", "the best system is found"), ("order", 0, "o", "all are in the right order")]
    limits = [(plan.limit_best, 1, "endless generations, best"), (plan.limit_order, 0, "endless generations, order")]
    title = (
        f"{len(plan.systems)} systems on {plain(plan.benchmark, 40)}\n"
        f"{plan.estimand} ({ESTIMANDS.get(plan.estimand, '')}), {plan.prompt_words}"
    )
    return _draw(plan, lines, limits, plan.k, title, "probability ± 2 mcse", ax)


def _draw(
    plan: Any,
    lines: list[tuple[str, int, str, str]],
    limits: list[tuple[float, int, str]],
    chosen: int | None,
    title: str,
    label: str,
    ax: Axes | None,
) -> Axes:
    curve = plan.curve
    k = np.asarray(curve["generations"], dtype=float)
    entries = len(lines) + len(limits) + 1
    rows, titles = -(-entries // 2), 1 + title.count("\n")
    with canvas(ax, 6.4, 3.6 + 0.2 * rows + 0.17 * titles, titles=titles, rows=rows) as ax:
        handles: list[Any] = []
        for column, number, marker, words in lines:
            values = np.asarray(curve[column], dtype=float)
            name = f"{column}_mcse" if f"{column}_mcse" in curve else ("mcse" if column == "resolved" else None)
            if name is not None:
                error = 2 * np.asarray(curve[name], dtype=float)
                ax.fill_between(k, values - error, values + error, color=colour(number), alpha=0.22, linewidth=0)
            handles += ax.plot(k, values, color=colour(number), marker=marker, label=words)
        for value, number, words in limits:
            handles.append(ax.axhline(value, color=colour(number), linestyle=":", linewidth=1.6, label=words))
        handles.append(
            ax.axhline(plan.power, color=colour(2), linestyle="--", linewidth=1.4, label=f"wanted: {plan.power:g}")
        )
        if chosen is not None:
            ax.axvline(chosen, color="#30343b", linewidth=1.2)
            left = chosen > np.sqrt(k.min() * k.max())
            ax.annotate(
                f"k = {chosen:,}",
                (chosen, 0.5),
                (-5 if left else 5, 0),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="right" if left else "left",
                va="center",
                fontsize=9,
                bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
            )
        ax.set_ylim(-0.02, 1.02)
        if k.max() >= 8 * k.min():
            ax.set_xscale("log", base=2)
        shown = _ticks(k)
        ax.set_xticks(shown, [f"{value:,.0f}" for value in shown])
        ax.minorticks_off()
        ax.set_xlabel("generations per prompt and system")
        ax.set_ylabel(label)
        ax.set_title(title)
        legend_below(ax, handles, columns=2)
    return ax


def _ticks(k: np.ndarray) -> np.ndarray:
    """Both ends, and numbers that were tried between them, none so close to another that they touch."""
    values = np.unique(k)
    gap = (np.log(values[-1]) - np.log(values[0])) / 9
    kept = [values[0]]
    for value in values[1:-1]:
        if min(np.log(value / kept[-1]), np.log(values[-1] / value)) >= gap:
            kept.append(value)
    return np.unique([*kept, values[-1]])
