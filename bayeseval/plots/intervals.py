"""Posterior against moment intervals."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeseval.errors import OptionError
from bayeseval.plots.canvas import canvas, colour, finite, plain, run_words, span
from bayeseval.posterior.scores import ESTIMANDS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_intervals"]

MOST_RUNS = 25


class Comparison(Protocol):
    """What `bayeseval.compare_intervals` returns, as far as it is drawn."""

    def to_frame(self) -> pd.DataFrame:
        """Columns system, benchmark, estimand, method, value, lower, upper, width, note."""
        ...


def plot_intervals(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Intervals of every method, both estimands; one that is refused is a hollow mark with the reason in words.

    Parameters
    ----------
    comparison : IntervalComparison
        From `bayeseval.compare_intervals`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given, as tall as the rows need; of many runs, the first 25 are drawn.

    Returns
    -------
    matplotlib.axes.Axes
    """
    frame = comparison.to_frame()
    if frame.empty:
        raise OptionError("there is no interval to plot")
    runs = frame[["system", "benchmark"]].drop_duplicates()
    frame = frame.merge(runs.head(MOST_RUNS), on=["system", "benchmark"])
    lines = _lines(frame)
    low = finite([*frame["lower"], *frame["value"]]).min()
    high = finite([*frame["upper"], *frame["value"]]).max()
    with canvas(ax, 7.2, 0.9 + 0.32 * len(lines)) as ax:
        ax.set_xlim(*span(low, high))
        for place, (_, row) in enumerate(lines):
            if row is not None:
                _draw(ax, place, row)
        ax.set_yticks(range(len(lines)), ["" if row is None else label for label, row in lines])
        for place, (label, row) in enumerate(lines):
            if row is None:
                side = ax.get_yaxis_transform()
                ax.text(0.005, place + 0.15, label, transform=side, fontweight="bold", fontsize=9, va="center")
        ax.set_ylim(len(lines) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(f"mean of P(correct){_prob_words(comparison)}")
        if len(runs) == 1:
            ax.set_title(run_words(runs.iloc[0]["system"], runs.iloc[0]["benchmark"]))
        elif len(runs) > MOST_RUNS:
            ax.set_title(f"the first {MOST_RUNS} of {len(runs):,} runs")
    return ax


def _lines(frame: pd.DataFrame) -> list[tuple[str, Any]]:
    """Label and row of each line of the plot; a heading has no row."""
    lines: list[tuple[str, Any]] = []
    several = len(frame[["system", "benchmark"]].drop_duplicates()) > 1
    for (system, benchmark, estimand), part in frame.groupby(["system", "benchmark", "estimand"], sort=False):
        run = f"{plain(system, 32)} on {plain(benchmark, 24)}: " if several else ""
        lines.append((f"{run}{ESTIMANDS.get(estimand, '')} ({estimand})", None))
        lines += [(plain(str(row.method)), row) for row in part.itertuples()]
    return lines


def _draw(ax: Axes, place: int, row: Any) -> None:
    posterior = "posterior" in str(row.method)
    robust = "robust" in str(row.method)
    hue = colour(3 if row.estimand == "benchmark" else int(robust)) if posterior else "#6b7077"
    marker = ("D" if robust else "s" if row.estimand == "benchmark" else "o") if posterior else "|"
    if np.isfinite(row.lower):
        ax.plot([row.lower, row.upper], [place, place], color=hue, linewidth=2.2 if posterior else 1.4)
        ax.plot([row.value], [place], marker, color=hue, markersize=6 if posterior else 9)
        return
    if np.isfinite(row.value):
        ax.plot([row.value], [place], "x", color=hue, markersize=6)
    reason = textwrap.shorten(str(row.note), 82, placeholder=" …")
    text = plain(f"refused: {reason}", 100)
    left, right = ax.get_xlim()
    value = row.value if np.isfinite(row.value) else left
    on_the_right = (value - left) < 0.5 * (right - left)
    ax.annotate(
        textwrap.fill(text, 46),
        (value, place),
        (8 if on_the_right else -8, 0),
        textcoords="offset points",
        ha="left" if on_the_right else "right",
        va="center",
        fontsize=7.5,
        style="italic",
    )


def _prob_words(comparison: Comparison) -> str:
    prob = getattr(comparison, "prob", None)
    return "" if prob is None else f", {100 * prob:.4g}% intervals"
