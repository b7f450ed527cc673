"""Several models of one run against the histogram of correct counts: where each expects too many prompts or too few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.comparison.models import labels_of, same_run
from bayeseval.errors import OptionError
from bayeseval.plots.canvas import canvas, colour, legend_below, plain
from bayeseval.plots.checks import label_the_bins
from bayeseval.plots.extrapolation import LINES, MARKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.posterior.posterior import Posterior

__all__ = ["plot_families"]

REACH = 1.96
"""Standard deviations to each side of 0 that hold 95% of what chance does to a count."""


def plot_families(posteriors: Posterior | Sequence[Posterior], *, ax: Axes | None = None) -> Axes:
    r"""Prompts that each model expects with 0, 1, 2, .. correct answers, less those seen.

    Parameters
    ----------
    posteriors : sequence of Posterior, or Stacked
        Of the same run; of a stack, its members.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    OptionError
        If the posteriors are not of the same run, or prompts have too many different numbers of generations for a
        histogram.

    Notes
    -----
    The grey band is what chance does to the number of prompts seen in a bin, :math:`\pm 1.96\sqrt{O(1 - O/n)}` for O of
    n prompts. A model is judged by its predictive check, not by a point outside of the band.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_families
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 5, generations=4)
    >>> priors = [{}, {"rho": (2, 2)}]
    >>> fits = [be.fit(counts, prior=p, engine="quadrature", seed=1, progress=False) for p in priors]
    >>> plot_families(fits, ax=Figure().subplots()).get_xlabel()
    'correct of 4 generations'
    """
    members = same_run(posteriors)
    histograms = [member.check().histogram for member in members]
    if any(histogram.kind != "histogram" for histogram in histograms):
        raise OptionError(
            f"{members[0].counts.label}: prompts have too many different numbers of generations for one histogram of "
            f"correct counts; look at post.check().plot() of each model"
        )
    seen, label = histograms[0].observed, histograms[0].label
    place = np.arange(seen.size)
    breaks = [index for index, text in enumerate(label) if text.startswith("0/")][1:]  # one histogram for each size
    chance = REACH * np.sqrt(seen * (1 - seen / seen.sum()))
    with canvas(ax, 6.6, 3.6 + 0.2 * len(members), rows=len(members) + 1) as ax:
        edges = np.arange(place.size + 1) - 0.5
        words = "chance in the counts seen (95%)"
        band = ax.stairs(chance, edges, baseline=-chance, fill=True, color=colour(4), alpha=0.25, label=words)
        ax.axhline(0, color="#30343b", linewidth=1)
        handles: list[Any] = []
        for number, (name, member, histogram) in enumerate(zip(labels_of(members), members, histograms, strict=True)):
            verdict = "fails its check" if member.check().misfit else "passes its check"
            handles += ax.plot(
                np.insert(place.astype(float), breaks, np.nan),
                np.insert(histogram.expected - seen, breaks, np.nan),
                color=colour(number),
                linestyle=LINES[number % len(LINES)],
                marker=MARKS[number % len(MARKS)],
                markersize=4.5,
                linewidth=1.3,
                label=f"{plain(name, 36)} ({verdict})",
            )
        label_the_bins(ax, "histogram", label)
        ax.set_xlim(-0.7, place.size - 0.3)
        ax.grid(axis="x", visible=False)
        ax.set_ylabel("expected less seen, prompts")
        ax.set_title(plain(members[0].counts.label, 62))
        legend_below(ax, [*handles, band])
    return ax
