"""Models of one run: how much worse each predicts left-out prompts than the best, and its stacking weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.comparison.models import CLEAR_NATS, Comparison
from bayeseval.plots.canvas import canvas, colour, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_comparison"]


def plot_comparison(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Differences of predictive density from the best model, two standard errors to each side, and the weights.

    Parameters
    ----------
    comparison : Comparison
        From `bayeseval.compare_models`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given, as tall as the models need.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_comparison
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 5, generations=4)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> ax = plot_comparison(be.compare_models([post]), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['beta_binomial']
    """
    rows = comparison.rows
    with canvas(ax, 7.0, 1.7 + 0.36 * len(rows)) as ax:
        ax.axvspan(-CLEAR_NATS, 0, facecolor=colour(4), alpha=0.22, linewidth=0, zorder=0)
        low = -CLEAR_NATS * 1.15
        high = CLEAR_NATS * 0.3
        for place, row in enumerate(rows):
            hue = colour(1 if row.misfit else 0)
            reach = 2 * row.se_diff if np.isfinite(row.se_diff) else 0.0
            ends = row.elpd_diff - reach, row.elpd_diff + reach
            ax.plot(ends, [place, place], color=hue, linewidth=2.0, solid_capstyle="butt")
            ax.plot([row.elpd_diff], [place], "X" if row.misfit else "o", color=hue, markersize=6)
            low, high = min(low, ends[0]), max(high, ends[1])
            note = f"weight {row.weight:.2f}" + (", fails its check" if row.misfit else "")
            side = ax.get_yaxis_transform()
            ax.text(1.015, place, note, transform=side, va="center", fontsize=8.5)
        room = 0.05 * (high - low)
        ax.set_xlim(low - room, high + room)
        ax.set_yticks(range(len(rows)), [plain(row.model) for row in rows])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(
            "difference in log predictive density of left-out prompts, nats\n"
            f"(lines: 2 standard errors to each side; shaded: less than {CLEAR_NATS} nats)"
        )
        ax.set_title(plain(comparison.run, 44))
    return ax
