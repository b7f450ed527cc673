"""More prompts or more generations: cost, or width for a budget, against generations per prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.plots.canvas import canvas, colour, interval_words, legend_below, run_words
from bayeseval.plots.planning import generations_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.planning.designs import Frontier

__all__ = ["plot_frontier"]


def plot_frontier(frontier: Frontier, *, ax: Axes | None = None) -> Axes:
    """Cost of the target, or width that the budget buys, against generations; numbers of prompts stand beside.

    Parameters
    ----------
    frontier : Frontier
        From `bayeseval.frontier`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    table = frontier.table
    k = np.asarray(table["generations"], dtype=float)
    of_budget = frontier.budget is not None
    interval = interval_words(frontier.prob, "interval")
    with canvas(ax, 6.4, 4.0, titles=2, rows=1) as ax:
        handles: list[Any] = []
        if of_budget:
            lower, upper = table["width_lower"], table["width_upper"]
            handles.append(ax.fill_between(k, lower, upper, color=colour(0), alpha=0.2, lw=0, label="90% of futures"))
        height = np.asarray(table["width" if of_budget else "cost"], dtype=float)
        met = np.asarray(table["feasible"], dtype=bool)
        words = "median width" if of_budget else "cheapest number of prompts"
        handles += ax.plot(k[met], height[met], color=colour(0), marker="o", label=words)
        if not met.all():
            words = "target not met: prompts run out"
            handles += ax.plot(k[~met], height[~met], color=colour(3), marker="x", linestyle="none", label=words)
        for x, y, n in zip(k, height, table["n_prompts"], strict=True):
            ax.annotate(f"{int(n):,}", (x, y), (0, 7), textcoords="offset points", ha="center", fontsize=8)
        if frontier.k is not None:
            best = float(height[k == frontier.k][0])
            handles += ax.plot(
                [frontier.k], [best], marker="o", markersize=11, color=colour(2), fillstyle="none",
                markeredgewidth=2, linestyle="none", label=f"optimum: k = {frontier.k:,}, n = {frontier.n_prompts:,}",
            )  # fmt: skip
        generations_axis(ax, k)
        ax.set_ylim(0, 1.15 * float(np.nanmax(np.asarray(table["width_upper"]) if of_budget else height)))
        unit = f" ({frontier.prices.unit})" if frontier.prices.unit else ""
        ax.set_ylabel(f"width of the {interval}" if of_budget else f"cost{unit}")
        goal = (
            f"what {frontier.prices.words(float(frontier.budget or 0))} buy"
            if of_budget
            else f"{interval} no wider than {frontier.width:g}"
            if frontier.sd is None
            else f"posterior sd of at most {frontier.sd:g}"
        )
        ax.set_title(f"{run_words(frontier.system, frontier.benchmark)}\n{frontier.score}, {goal}; numbers: prompts")
        legend_below(ax, handles, columns=2)
    return ax
