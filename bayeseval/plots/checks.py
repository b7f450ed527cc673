"""Does the model describe the data: the histogram of correct counts with what the model would produce."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.plots.canvas import canvas, colour, legend_below, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.posterior.check import Check

__all__ = ["label_the_bins", "plot_check"]

MOST_LABELS = 14
AXES = {
    "mean credit": "mean credit of a prompt",
    "credit": "credit of a generation",
    "difference": "correct of A minus correct of B on a prompt",
    "discordant": "generations of a prompt of which only one of A and B is correct",
    "both systems": "correct on a prompt, mean of A and B",
}


def plot_check(check: Check, *, ax: Axes | None = None) -> Axes:
    """Histogram of correct counts with the 95% band of the posterior predictive distribution.

    Parameters
    ----------
    check : Check
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Where prompts have several numbers of generations, their histograms stand side by side. Where these are too many,
    the distribution function at P(correct) is shown instead, which is uniform if the model is right. Of credits it is
    the histogram of the mean credits of prompts.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_check
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2], generations=[4, 4, 4, 4])
    >>> check = be.fit(counts, engine="quadrature", seed=1, progress=False).check()
    >>> plot_check(check, ax=Figure().subplots()).get_xlabel()
    'correct of 4 generations'
    """
    histogram = check.histogram
    place = np.arange(len(histogram.label))
    outside = (histogram.observed < histogram.lower) | (histogram.observed > histogram.upper)
    with canvas(ax, 6.4, 3.7, titles=2, rows=2) as ax:
        edges = np.arange(place.size + 1) - 0.5
        band = ax.stairs(histogram.upper, edges, baseline=histogram.lower, fill=True, color=colour(0), alpha=0.28)
        band.set_label("model: 95% predictive band")
        line = ax.stairs(histogram.expected, edges, baseline=None, color=colour(0), linewidth=1.4, label="model: mean")
        size = 5.5 if place.size <= 40 else 4
        (dots,) = ax.plot(
            place[~outside], histogram.observed[~outside], "o", color="#30343b", markersize=size, label="seen"
        )
        handles = [dots, line, band]
        if outside.any():
            (stray,) = ax.plot(
                place[outside],
                histogram.observed[outside],
                "X",
                color=colour(2),
                markersize=size + 2,
                label="seen, outside",
            )
            handles.insert(1, stray)
        label_the_bins(ax, histogram.kind, histogram.label)
        ax.set_xlim(-0.7, place.size - 0.3)
        ax.set_ylim(bottom=0)
        ax.grid(axis="x", visible=False)
        ax.set_ylabel("generations" if histogram.kind == "credit" else "prompts")
        verdict = "does not describe the data" if check.misfit else "no sign of misfit"
        p = histogram.p_text
        ax.set_title(f"{plain(check.run, 62)}\npredictive check: {p}, {verdict}")
        legend_below(ax, handles, columns=2)
    return ax


def label_the_bins(ax: Axes, kind: str, label: tuple[str, ...]) -> None:
    """Ticks and words of the axis of bins: counts of correct generations, or values of a distribution function."""
    if kind == "latent":
        ax.set_xlabel("distribution function of the model at P(correct) (uniform if the model is right)")
        ends = [float(text.split("-")[0]) for text in label] + [1.0]
        chosen = np.unique(np.linspace(0, len(label), 6).round().astype(int))
        ax.set_xticks(chosen - 0.5, [f"{ends[i]:.2g}" for i in chosen])
        return
    if kind in AXES:
        every = -(-len(label) // MOST_LABELS)
        ax.set_xticks(range(0, len(label), every), label[::every])
        ax.set_xlabel(AXES[kind])
        return
    correct, sizes = zip(*(text.split("/") for text in label), strict=True)
    if len(set(sizes)) == 1:
        every = -(-len(label) // MOST_LABELS)
        every = next(step for step in (1, 2, 5, 10, 20) if step >= every)
        ax.set_xticks(range(0, len(label), every), correct[::every])
        ax.set_xlabel(f"correct of {sizes[0]} generations")
        return
    firsts = [place for place, text in enumerate(correct) if text == "0"]
    for first in firsts[1:]:
        ax.axvline(first - 0.5, color="#8b9199", linewidth=0.8)
    if len(label) <= MOST_LABELS:
        ax.set_xticks(range(len(label)), label)
        ax.set_xlabel("correct / generations")
        return
    ends = [*firsts[1:], len(label)]
    every = -(-len(firsts) // MOST_LABELS)
    middles = [(first + end - 1) / 2 for first, end in zip(firsts, ends, strict=True)]
    ax.set_xticks(middles[::every], [f"of {sizes[first]}" for first in firsts[::every]])
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("correct, from 0 to all, of so many generations")
