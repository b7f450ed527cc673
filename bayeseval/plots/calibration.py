"""Calibration: ranks of the truth against the uniform distribution, and coverage cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.errors import OptionError, require_choice
from bayeseval.plots.canvas import LOOKS, canvas, colour, legend_below, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.calibration.coverage import Coverage
    from bayeseval.calibration.ranks import Calibration

__all__ = ["plot_calibration", "plot_coverage"]

COLUMNS = 3
INK = "#30343b"
INTERVALS = {
    "headline": (5, "P", "headline: model, or robust where the check fails"),
    "model": (*LOOKS["population", "model"][:2], "model"),
    "robust": (*LOOKS["population", "robust"][:2], "robust"),
    "CLT (t)": (4, "v", "CLT, mean ± t · standard error"),
    "CLT (z)": (4, "^", "CLT, mean ± z · standard error"),
}
ESTIMANDS = {"population": "prompts like these (population)", "benchmark": "these prompts (benchmark)"}


def plot_calibration(calibration: Calibration, *, ax: Axes | None = None) -> Axes:
    """Empirical distribution function of the ranks minus the uniform one, in a panel for each quantity.

    Parameters
    ----------
    calibration : Calibration
    ax : matplotlib.axes.Axes, optional
        Place for all panels, which become its insets; a figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
        The panels are its ``child_axes``.

    Notes
    -----
    Bent upwards, ranks are too low, and the posterior lies too high; bent downwards, it lies too low. First up, then
    down, it is too narrow; first down, then up, too wide.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_calibration
    >>> calibration = be.calibrate(prompts=5, replicates=10, metrics=[], seed=1, progress=False)
    >>> len(plot_calibration(calibration, ax=Figure().subplots()).child_axes)
    3
    """
    number = len(calibration.quantities)
    columns = min(COLUMNS, number)
    rows = -(-number // columns)
    band = calibration.band
    points = np.concatenate([[0], band.points, [1]])
    lower, upper = (np.concatenate([[0], ends - band.points, [0]]) for ends in (band.lower, band.upper))
    curves = np.zeros((number, points.size))
    curves[:, 1:-1] = band.ecdf(calibration.ranks) - band.points
    reach = 1.12 * max(np.abs(curves).max(), np.abs(lower).max(), np.abs(upper).max())
    with canvas(ax, 2.3 * max(columns, 2), 1.35 * rows + 1.7, titles=3, rows=2) as ax:
        wide, high = 1 / (columns - 0.12), 1 / (rows - 0.3)
        for index, name in enumerate(calibration.quantities):
            row, column = divmod(index, columns)
            place = (column * wide, 1 - row * high - 0.7 * high, 0.88 * wide, 0.7 * high)
            panel = ax.inset_axes(place)
            inside = bool(calibration.inside[index])
            fill = panel.fill_between(points, lower, upper, color=colour(4), alpha=0.3, linewidth=0)
            panel.axhline(0, color="#8b9199", linewidth=0.8)
            panel.plot(points, curves[index], color=colour(0 if inside else 2), linewidth=1.5)
            panel.set_title(plain(name, 34) + ("" if inside else "  ✗"), fontsize=8.5, pad=4)
            panel.set_xlim(0, 1)
            panel.set_ylim(-reach, reach)
            panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"] if index + columns >= number else [])
            panel.tick_params(labelsize=8, labelleft=column == 0)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        ax.patch.set_visible(False)
        ax.set_ylabel("ECDF of the ranks − uniform", labelpad=34)
        ax.set_xlabel("share of posterior draws below the truth", labelpad=20)
        outside = number - int(calibration.inside.sum())
        verdict = "all ranks inside the band" if calibration.ok else f"{outside} of {number} outside the band (✗)"
        ax.set_title(
            f"{plain(calibration.model)} ({calibration.engine}), {calibration.design}\n"
            f"{calibration.replicates:,} simulated data sets: {verdict}",
            pad=22,
        )
        words = f"{calibration.prob:.0%} band, simultaneous over all points and panels"
        fill.set_label(words)
        legend_below(ax, [fill])
    return ax


def plot_coverage(
    study: Coverage, *, estimand: str = "population", by: str = "prompts", ax: Axes | None = None
) -> Axes:
    """Coverage of every cell of a study, a row for each number of prompts or for each truth.

    Parameters
    ----------
    study : Coverage
    estimand : {"population", "benchmark"}
    by : {"prompts", "truth"}
        What the rows are.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    OptionError
        If the study says nothing about this estimand.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.calibration.studies import coverage_on_grid
    >>> from bayeseval.plots import plot_coverage
    >>> study = coverage_on_grid([20, 50], [4], [0.3], [0.5], replicates=50, progress=False)
    >>> plot_coverage(study, ax=Figure().subplots()).get_xlabel()
    'coverage of 95% intervals (each dot a cell)'
    """
    require_choice("by", by, ("prompts", "truth"))
    rows = study.select(estimand=estimand).rows
    if not rows:
        raise OptionError(f"this study has no cell with estimand {estimand!r}")
    levels = list(dict.fromkeys(getattr(row, by) for row in rows))
    kinds = [kind for kind in INTERVALS if any(row.interval == kind for row in rows)]
    if "CLT (t)" in kinds:
        kinds = [kind for kind in kinds if kind != "CLT (z)"]
    step, columns = 0.8 / len(kinds), 1 if by == "truth" else 2
    with canvas(ax, 7.2, 1.2 + 0.16 * len(levels) * len(kinds) + 0.2 * (len(kinds) + 2) / columns) as ax:
        handles = []
        for index, kind in enumerate(kinds):
            number, marker, words = INTERVALS[kind]
            if estimand == "benchmark" and kind == "model":
                number, marker = LOOKS["benchmark", "model"][:2]
            chosen = [row for row in rows if row.interval == kind]
            place = [levels.index(getattr(row, by)) + (index - (len(kinds) - 1) / 2) * step for row in chosen]
            (dots,) = ax.plot(
                [row.coverage for row in chosen],
                place,
                marker,
                color=colour(number),
                markersize=6 if marker == "P" else 5,
                alpha=0.65,
                markeredgewidth=0,
                label=words,
            )
            handles.append(dots)
        for level in range(1, len(levels)):
            ax.axhline(level - 0.5, color="#e2e5e9", linewidth=0.8)
        handles.append(ax.axvline(0.95, color=INK, linewidth=1, label="0.95"))
        handles.append(ax.axvline(0.93, color=INK, linewidth=1, linestyle=":", label="0.93, required"))
        named = [plain(f"{level:,} prompts" if by == "prompts" else level, 44) for level in levels]
        ax.set_yticks(range(len(levels)), named)
        ax.set_ylim(len(levels) - 0.5, -0.5)
        ax.set_xlim(right=1.005)
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("coverage of 95% intervals (each dot a cell)")
        ax.set_title(f"mean P(correct) of {ESTIMANDS[estimand]}")
        legend_below(ax, handles, columns=columns)
    return ax
