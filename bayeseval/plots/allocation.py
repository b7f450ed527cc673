"""Which prompts get how many further generations, against how likely they are to be answered correctly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.plots.canvas import canvas, colour, legend_below, run_words, span
from bayeseval.posterior.scores import ESTIMANDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.planning import Allocation

__all__ = ["plot_allocation"]

LEAST_AREA, MOST_AREA = 14.0, 420.0


def plot_allocation(allocation: Allocation, *, ax: Axes | None = None) -> Axes:
    """Further generations of each prompt against the posterior mean of its P(correct).

    Prompts that stand at the same place are one disc, whose area grows with their number; hollow discs get nothing.

    Parameters
    ----------
    allocation : Allocation
        From `bayeseval.allocate`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    from matplotlib.ticker import MaxNLocator

    frame = allocation.table
    place = np.column_stack([frame["mean"].round(9), frame["extra"]])
    points, prompts = np.unique(place, axis=0, return_counts=True)
    mean, extra = points.T
    order = np.argsort(-prompts, kind="stable")
    area = _area(prompts, int(prompts.max()))
    some = extra > 0
    hue = colour(3)
    with canvas(ax, 6.8, 4.4, titles=2, rows=1) as ax:
        for chosen, fill in ((order[some[order]], hue), (order[~some[order]], "none")):
            ax.scatter(
                mean[chosen], extra[chosen], s=area[chosen], marker="o", facecolor=fill, edgecolor=hue, alpha=0.75
            )
        each = allocation.spent / len(frame)
        ax.axhline(each, color="#6b7077", linewidth=1.1, linestyle=(0, (4, 2)))
        ax.set_xlim(*span(float(mean.min()), float(mean.max()), pad=0.08))
        top = max(float(extra.max()), each)
        ax.set_ylim(-0.09 * top, 1.12 * top)
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=3))
        ax.set_xlabel("posterior mean of P(correct)")
        ax.set_ylabel("further generations of a prompt")
        ax.set_title(
            f"{run_words(allocation.system, allocation.benchmark)}\n{allocation.score}, benchmark "
            f"({ESTIMANDS['benchmark']}): {allocation.spent:,} generations over {len(frame):,} prompts"
        )
        legend_below(ax, _legend(prompts, hue, each), columns=5)
    return ax


def _area(prompts: np.ndarray, largest: int) -> np.ndarray:
    """Area of a disc for so many prompts, in square points."""
    return np.asarray(LEAST_AREA + (MOST_AREA - LEAST_AREA) * (prompts - 1) / max(largest - 1, 30))


def _legend(prompts: np.ndarray, hue: str, each: float) -> list[Any]:
    """A disc for a few numbers of prompts, and the line of the even plan."""
    from matplotlib.lines import Line2D

    largest = int(prompts.max())
    shown = sorted({1, _round(largest / 4), _round(largest)} - {0}) if largest > 1 else [1]
    discs: list[Any] = [
        Line2D(
            [], [], linestyle="none", marker="o", color=hue, alpha=0.75, markeredgecolor=hue,
            markersize=float(np.sqrt(_area(np.array(number), largest))),
            label=f"{number:,} prompt{'s' if number > 1 else ''}",
        )
        for number in shown
    ]  # fmt: skip
    line = Line2D(
        [], [], color="#6b7077", linewidth=1.1, linestyle=(0, (4, 2)), label=f"spread evenly: {each:.3g} each"
    )
    return [*discs, line]


def _round(value: float) -> int:
    """A number with one digit, not above the value."""
    if value < 10:
        return int(value)
    unit = 10 ** int(np.log10(value))
    return int(value // unit * unit)
