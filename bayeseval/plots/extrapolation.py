"""pass@k of every family of a stack, up to the end of the data and beyond."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics
from bayeseval.comparison.stacked import Stacked
from bayeseval.defaults import options
from bayeseval.errors import require_positive_integer
from bayeseval.plots.canvas import canvas, colour, finite, interval_words, legend_below, plain, run_words, span
from bayeseval.posterior.scores import ESTIMANDS, require_estimand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_extrapolation"]

POINTS = 22
LINES = ("-", "--", "-.", ":")
MARKS = ("o", "s", "D", "^", "v", "P")


def plot_extrapolation(
    stack: Stacked,
    *,
    ax: Axes | None = None,
    max_k: int | None = None,
    estimand: str = "population",
    prob: float | None = None,
) -> Axes:
    """pass@k of every family with its band, of the stack as a thick line, and the point where the data end.

    Parameters
    ----------
    stack : Stacked
        From ``be.fit(counts, model=[...])``.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.
    max_k : int, optional
        Ten times the number of generations by default. Beyond that there are no bands.
    estimand : {"population", "benchmark"}
    prob : float, optional
        Probability inside the bands, at each k; `bayeseval.options.prob` by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_extrapolation
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 5, generations=4)
    >>> stack = be.fit(counts, model=["beta_binomial"], engine="quadrature", seed=1, progress=False)
    >>> plot_extrapolation(stack, ax=Figure().subplots()).get_ylabel()
    'pass@k'
    """
    require_estimand(estimand)
    prob = options.interval_prob(prob)
    seen = stack.typical_generations
    last = max(10 * seen, 2) if max_k is None else require_positive_integer("max_k", max_k)
    ks = sorted({1, last, *np.unique(np.geomspace(1, last, POINTS).round().astype(int)).tolist()})
    ks = sorted({*ks, seen}) if 0 < seen < last else ks
    frame = stack.spread([metrics.pass_at(k) for k in ks], estimand, prob)
    with canvas(ax, 6.6, 3.7 + 0.2 * len(stack.members), titles=2, rows=len(stack.members) + 2) as ax:
        handles: list[Any] = []
        for number, (name, weight) in enumerate(zip(stack.names, stack.weights, strict=True)):
            part = frame[frame["model"] == name]
            hue = colour(number)
            ax.fill_between(ks, part["lower"], part["upper"], color=hue, alpha=0.13, linewidth=0)
            handles += ax.plot(
                ks,
                part["value"],
                color=hue,
                linewidth=1.3,
                linestyle=LINES[number % len(LINES)],
                marker=MARKS[number % len(MARKS)],
                markevery=4,
                markersize=4,
                label=f"{plain(name, 36)}, weight {weight:.2f}",
            )
        part = frame[frame["model"] == "stack"]
        ax.fill_between(ks, part["lower"], part["upper"], facecolor="none", edgecolor="#1b1f24", linewidth=0.7)
        handles += ax.plot(ks, part["value"], color="#1b1f24", linewidth=2.2, label="stack (outlined band)")
        if 0 < seen < last:
            words = f"{seen:,} generations run: the data end here"
            handles.append(ax.axvline(seen, color="#6b7077", linewidth=1.2, linestyle=(0, (4, 2)), label=words))
        ax.set_xscale("log", base=2)
        ax.set_xlim(0.95, last * 1.06)
        ticks = [2**power for power in range(last.bit_length())]
        ticks = ticks[:: -(-len(ticks) // 9)]
        ax.set_xticks(ticks, [f"{k:,}" for k in ticks])
        ax.minorticks_off()
        ends = finite([*frame["value"], *frame["lower"], *frame["upper"]])
        ax.set_ylim(*span(float(ends.min()), float(ends.max())))
        ax.set_xlabel("k, attempts at a prompt")
        ax.set_ylabel("pass@k")
        ax.set_title(
            f"{run_words(stack.system, stack.benchmark)}\n"
            f"{estimand} ({ESTIMANDS[estimand]}), bands: {interval_words(prob)}"
        )
        legend_below(ax, handles)
    return ax
