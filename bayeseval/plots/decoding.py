"""Greedy decoding against sampling: how greedy success goes with P(correct)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.plots.canvas import canvas, colour, interval_words, legend_below, run_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.planning import DecodingComparison

__all__ = ["plot_decoding"]

BINS = 10


def plot_decoding(comparison: DecodingComparison, *, ax: Axes | None = None) -> Axes:
    """P(greedy correct | p) with its interval, and the share of greedy successes among prompts of similar counts.

    Parameters
    ----------
    comparison : DecodingComparison
        From `bayeseval.compare_decoding`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    share = comparison.correct / comparison.generations
    with canvas(ax, 6.0, 5.0, titles=3, rows=2) as ax:
        handles: list[Any] = []
        (diagonal,) = ax.plot([0, 1], [0, 1], color=colour(4), linestyle="--", linewidth=1.2, label="greedy = sampling")
        if comparison.curve is not None:
            p = np.linspace(0.005, 0.995, 199)
            value, lower, upper = comparison.curve.at(p, comparison.prob)
            words = f"{interval_words(comparison.prob, 'interval')} of the curve"
            band = ax.fill_between(p, lower, upper, color=colour(0), alpha=0.22, linewidth=0, label=words)
            (line,) = ax.plot(p, value, color=colour(0), label="P(greedy correct | p)")
            handles += [line, band]
        edges = np.minimum((share * BINS).astype(int), BINS - 1) if np.unique(share).size > BINS + 1 else None
        groups = np.unique(share, return_inverse=True)[1].reshape(-1) if edges is None else edges
        number = np.bincount(groups)
        used = number > 0
        x = np.bincount(groups, weights=share)[used] / number[used]
        y = np.bincount(groups, weights=comparison.bits.astype(float))[used] / number[used]
        area = 12 + 160 * number[used] / number.max()
        dots = ax.scatter(
            x, y, s=area, facecolor=colour(1), edgecolor="#30343b", linewidth=0.6, zorder=3, clip_on=False
        )
        dots.set_label("greedy successes (area: prompts)")
        handles += [dots, diagonal]
        ax.set_xlim(-0.04, 1.04)
        ax.set_ylim(-0.04, 1.04)
        ax.set_xlabel("P(correct) under sampling; dots: share of correct generations")
        ax.set_ylabel("P(greedy decoding correct)")
        row = comparison.row("benchmark")
        interval = f"\n{interval_words(comparison.prob, 'interval')} [{row.lower:+.3f}, {row.upper:+.3f}]"
        ax.set_title(
            f"{run_words(comparison.systems[1], comparison.benchmark)}\n"
            f"greedy − sampling on these prompts (benchmark): {row.difference:+.3f}"
            f"{interval if np.isfinite(row.lower) else ''}"
        )
        legend_below(ax, handles, columns=2)
    return ax
