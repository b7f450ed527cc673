"""Two systems: the density of their difference, and what coupled generations save."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.contrasts.difference import Contrast, chance_words
from bayeseval.plots.canvas import LOOKS, canvas, colour, interval_words, legend_below, plain
from bayeseval.plots.single import density
from bayeseval.posterior.scores import ESTIMANDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from bayeseval.contrasts.savings import CoupledSavings

__all__ = ["plot_contrast", "plot_coupled_savings"]


def plot_contrast(contrast: Contrast | Sequence[Contrast], *, ax: Axes | None = None) -> Axes:
    """Density of the difference of two systems, with its interval, 0, the region that does not matter, and P(a > b).

    Parameters
    ----------
    contrast : Contrast or sequence of Contrast
        From `bayeseval.contrast`. Several are differences of one score of the same systems, for different estimands.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_contrast
    >>> new = be.Counts.from_arrays([4, 4, 3, 1, 0, 4] * 10, 4, system="new")
    >>> old = be.Counts.from_arrays([4, 3, 3, 0, 0, 4] * 10, 4, system="old")
    >>> plot_contrast(be.contrast(new, old, seed=1), ax=Figure().subplots()).get_xlabel()
    'mean, new minus old'
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    contrasts = [contrast] if isinstance(contrast, Contrast) else list(contrast)
    first, single = contrasts[0], len(contrasts) == 1
    a, b = (plain(name, 26) for name in first.systems)
    rows = 2 * len(contrasts) + (single and first.rope is not None)
    with canvas(ax, 6.4, 3.3 + 0.2 * rows, titles=2, rows=rows) as ax:
        curves = [_density_line(ax, one) for one in contrasts]
        zero = ax.axvline(0, color="#1b1e23", linewidth=1.0, linestyle="--")
        if first.rope is not None:
            ax.axvspan(-first.rope, first.rope, color=colour(4), alpha=0.25, linewidth=0, zorder=0)
        handles: list[Any] = []
        for one, curve in zip(contrasts, curves, strict=True):
            chance = chance_words(f"P({a} > {b})", one.p_greater)
            zone = "" if one.rope is None else chance_words(f"P(|difference| < {one.rope:g})", one.p_equivalent)
            handles.append(curve)
            if single:
                zero.set_label(f"equal; {chance}")
                handles.append(zero)
                handles += [Patch(color=colour(4), alpha=0.25, label=zone)] if zone else []
            else:
                handles.append(Line2D([], [], linestyle="none", label=chance + (f", {zone}" if zone else "")))
        ax.set_ylim(0, 1.08 * max(float(np.max(curve.get_ydata())) for curve in curves))
        ends = np.concatenate([[0.0], *(np.asarray(curve.get_xdata())[[0, -1]] for curve in curves)])
        low, high = float(ends.min()), float(ends.max())
        ax.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
        ax.set_yticks([])
        ax.set_ylabel("posterior density")
        ax.set_xlabel(f"{first.score}, {a} minus {b}")
        ax.set_title(f"{a} against {b}\n{plain(first.benchmark, 40)}; {first.design_words}")
        legend_below(ax, handles)
    return ax


def _density_line(ax: Axes, contrast: Contrast) -> Any:
    """The density of one difference, with its interval shaded."""
    grid, height = density((contrast.draws + 1) / 2)
    grid, height = 2 * grid - 1, height / 2
    number, marker, _ = LOOKS[contrast.estimand, "model"]
    hue = colour(number)
    words = f"{ESTIMANDS[contrast.estimand]} ({contrast.estimand})"
    label = f"{words}: {contrast.numbers}" if np.isfinite(contrast.lower) else f"{words}: no interval"
    (line,) = ax.plot(grid, height, color=hue, label=label, marker=marker)
    line.set_markevery([int(np.argmin(np.abs(grid - contrast.value)))])
    line.set_markeredgecolor("white")
    if np.isfinite(contrast.lower):
        inside = (grid >= contrast.lower) & (grid <= contrast.upper)
        ax.fill_between(grid, height, where=inside.tolist(), color=hue, alpha=0.22, linewidth=0)
    return line


def plot_coupled_savings(savings: CoupledSavings, *, ax: Axes | None = None) -> Axes:
    """What coupled generations save, with intervals; against independent runs too, where they were given.

    Parameters
    ----------
    savings : CoupledSavings
        From `bayeseval.coupled_savings`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    rows = [("population", "", True), ("benchmark", "", True)]
    if "saving_population_runs" in savings.estimates:
        rows += [("population", "_runs", False), ("benchmark", "_runs", False)]
    with canvas(ax, 6.4, 1.5 + 0.34 * len(rows)) as ax:
        labels = []
        for place, (estimand, source, filled) in enumerate(rows):
            one = savings.estimates[f"saving_{estimand}{source}"]
            number, marker, _ = LOOKS[estimand, "model"]
            hue = colour(number)
            ax.plot([one.lower, one.upper], [place, place], color=hue, linewidth=2.0, solid_capstyle="butt")
            ax.plot([one.value], [place], marker, color=hue, markerfacecolor=hue if filled else "white")
            against = "independent runs" if source else "pairs of other numbers"
            labels.append(f"{ESTIMANDS[estimand]} ({estimand}),\nagainst {against}")
        ax.axvline(0, color="#1b1e23", linewidth=1.0, linestyle="--")
        ax.set_yticks(range(len(rows)), labels)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        ax.set_xlabel(f"generations saved by coupling, with {interval_words(savings.prob, 'bootstrap interval')}")
        names = " and ".join(plain(name, 34) for name in savings.pairs.systems)
        ax.set_title(f"{names}\n{plain(savings.pairs.benchmark, 40)}, {len(savings.pairs):,} prompts")
    return ax
