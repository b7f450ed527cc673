"""Scores of the groups of one run: what was seen in each, and what the model makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.defaults import options
from bayeseval.errors import OptionError, require_positive_integer
from bayeseval.plots.canvas import LOOKS, canvas, colour, interval_words, legend_below, plain, run_words, span
from bayeseval.posterior.scores import require_estimand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.posterior.posterior import Posterior

__all__ = ["plot_groups"]


def plot_groups(
    posterior: Posterior,
    *,
    ax: Axes | None = None,
    estimand: str | None = None,
    prob: float | None = None,
    most: int = 60,
) -> Axes:
    """Mean of every group with its interval, best first, beside the raw share of correct answers.

    Parameters
    ----------
    posterior : Posterior
        Of counts that have groups.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given, as tall as the groups need.
    estimand : {"population", "benchmark"}, optional
        Fresh prompts of each group, or the group's own prompts; by default the first where the model tells groups
        apart, else the second.
    prob : float, optional
        Probability inside the intervals; `bayeseval.options.prob` by default.
    most : int
        Most groups to draw; of more, the best and the worst are drawn, and the title says so.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    OptionError
        If the population is asked for and the model does not tell groups apart.
    DataError
        If the counts have no groups.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_groups
    >>> subject = ["algebra"] * 3 + ["law"] * 3
    >>> counts = be.Counts.from_arrays(correct=[1, 4, 0, 8, 7, 8], generations=8, group=subject)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> [label.get_text() for label in plot_groups(post, ax=Figure().subplots()).get_yticklabels()]
    ['law (3)', 'algebra (3)']
    """
    prob = options.interval_prob(prob)
    frame = posterior.groups(prob)
    keyed = "population_mean" in frame
    estimand = ("population" if keyed else "benchmark") if estimand is None else require_estimand(estimand)
    if estimand == "population" and not keyed:
        raise OptionError(
            f"{posterior.model.name} does not tell groups apart, so it says nothing of fresh prompts of one group; fit "
            f"model='grouped', or ask for estimand='benchmark'"
        )
    prefix = "population_" if estimand == "population" else ""
    fresh = posterior.distribution.mean().mean()
    whole = float(fresh if prefix else np.average(frame["mean"], weights=frame["prompts"]))
    frame = frame.sort_values(f"{prefix}mean", ascending=False, ignore_index=True)
    left_out = max(0, len(frame) - require_positive_integer("most", most))
    if left_out:
        keep = np.r_[: -(-most // 2), len(frame) - most // 2 : len(frame)]
        frame = frame.iloc[keep].reset_index(drop=True)
    value, lower, upper = (frame[f"{prefix}{name}"].to_numpy() for name in ("mean", "lower", "upper"))
    raw, place = frame["raw_mean"].to_numpy(), np.arange(len(frame))
    number, marker, _ = LOOKS[estimand, "model"]
    hue = colour(number)
    with canvas(ax, 7.0, 1.75 + 0.19 * len(frame)) as ax:
        ax.hlines(place, lower, upper, color=hue, linewidth=1.8)
        (dots,) = ax.plot(value, place, marker, color=hue, markersize=4.5, linestyle="none")
        (seen,) = ax.plot(raw, place, "|", color="#30343b", markersize=9, markeredgewidth=1.4, linestyle="none")
        line = ax.axvline(whole, color="#6b7077", linewidth=1.1, linestyle=(0, (4, 2)))
        low, high = np.nanmin([*lower, *raw]), np.nanmax([*upper, *raw])
        ax.set_xlim(*span(float(low), float(high)))
        labels = [
            f"{plain(name, 40)} ({prompts:,})" for name, prompts in zip(frame["group"], frame["prompts"], strict=True)
        ]
        ax.set_yticks(place, labels, fontsize=8 if len(frame) > 20 else 9)
        ax.set_ylim(len(frame) - 0.3, -0.7)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(f"mean of P(correct), with {interval_words(prob)}")
        missing = f"; {left_out:,} groups in the middle left out" if left_out else ""
        ax.set_title(f"{run_words(posterior.system, posterior.benchmark)} ({posterior.model.name}){missing}")
        what = "fresh prompts of the group" if estimand == "population" else "the group's own prompts"
        words = [f"{what} ({estimand})", "share of correct answers seen", "all groups, in their shares"]
        handles = [dots, seen, line]
        for handle, word in zip(handles, words, strict=True):
            handle.set_label(word)
        legend_below(ax, handles)
    return ax
