"""Is the assurance of plans kept: follow-ups that met their target against what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeseval.plots.canvas import canvas, colour, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.calibration.assurance import Assurance

__all__ = ["plot_kept_assurance"]


def plot_kept_assurance(study: Assurance, *, ax: Axes | None = None) -> Axes:
    """Kept against promised assurance of every cell, a row a cell.

    Parameters
    ----------
    study : Assurance
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    rows = study.rows
    with canvas(ax, 8.4, 1.5 + 0.28 * len(rows)) as ax:
        places = range(len(rows))
        promised = ax.plot(
            [row.promised for row in rows], places, "|", color=colour(2), markersize=12, markeredgewidth=2,
            linestyle="none", label="promised",
        )  # fmt: skip
        kept = ax.errorbar(
            [row.kept for row in rows], places, xerr=[1.96 * row.error for row in rows], fmt="o", color=colour(0),
            markersize=4.5, capsize=2, linewidth=1.2, label="kept by the follow-ups, ± 1.96 binomial errors",
        )  # fmt: skip
        ax.set_yticks(list(places), [row.cell for row in rows], fontsize=8.5)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0, 1)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel("share of plans whose target is met")
        ax.set_title(f"{rows[0].replicates:,} simulated pilots in each cell")
        legend_below(ax, [*promised, kept], columns=1)
    return ax
