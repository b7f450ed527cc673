"""A sequential run: the interval at every look against the generations spent, and errors of rules that look often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.errors import OptionError
from bayeseval.plots.canvas import canvas, colour, legend_below, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.planning import Looks, SimulatedError

__all__ = ["plot_looks", "plot_simulated_error"]

GREY = "#6b7077"
MOST_BARS = 40
"""Looks from which on the intervals are drawn as a band."""


def plot_looks(looks: Looks, *, ax: Axes | None = None) -> Axes:
    """Interval at every look against the generations spent, with what it takes to stop.

    Parameters
    ----------
    looks : Looks
        With one look or more.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    OptionError
        If no look was taken yet.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_looks
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2], generations=[4, 4, 4, 4])
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> looks = be.Looks(be.stop_at_width(0.1)).add(post)
    >>> plot_looks(looks, ax=Figure().subplots()).get_xlabel()
    'generations in all'
    """
    frame = looks.to_frame()
    if frame.empty:
        raise OptionError("there is no look to plot yet")
    spent, value, lower, upper = (frame[name].to_numpy(float) for name in ("generations", "value", "lower", "upper"))
    last = looks.decisions[-1]
    number = looks.stopped_at
    with canvas(ax, 6.8, 4.2, titles=2, rows=3) as ax:
        handles: list[Any] = []
        if len(frame) > MOST_BARS:
            band = ax.fill_between(spent, lower, upper, color=colour(0), alpha=0.22, linewidth=0, label=last.interval)
            handles.append(band)
        else:
            bars = ax.vlines(spent, lower, upper, color=colour(0), linewidth=2.2, label=last.interval)
            handles.append(bars)
        marker = "" if len(frame) > MOST_BARS else "o"
        (line,) = ax.plot(spent, value, color=colour(0), marker=marker, linewidth=1.2, label="posterior mean")
        handles.append(line)
        handles += _target(ax, looks, spent, value)
        if number is not None:
            words = f"stopped at look {number}"
            at = number - 1
            (mark,) = ax.plot(
                [spent[at]], [value[at]], "s", color="#30343b", markersize=8, zorder=5, linestyle="none", label=words
            )
            handles.append(mark)
        right = float(spent.max())
        if looks.most is not None and looks.most <= 1.25 * right:
            handles.append(
                ax.axvline(looks.most, color=GREY, linestyle=":", linewidth=1.6, label=f"budget {looks.most:,}")
            )
            right = max(right, looks.most)
        ax.set_xlim(0, 1.04 * right)
        ax.set_xlabel("generations in all")
        ax.set_ylabel(_label(last.quantity))
        ax.set_title(_title(last.quantity))
        legend_below(ax, handles, columns=2)
    return ax


def plot_simulated_error(error: SimulatedError, *, ax: Axes | None = None) -> Axes:
    """Shares of simulated studies that have stopped with each verdict, and with a wrong one, look by look.

    Parameters
    ----------
    error : SimulatedError
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    low, high = error.rule.region
    region = f"reference {low:g}" if low == high else f"equivalent from {low:g} to {high:g}"
    with canvas(ax, 6.8, 4.0, titles=2, rows=2) as ax:
        handles = []
        for number, (name, style) in enumerate((("above", "-"), ("below", "--"), ("equivalent", "-."))):
            share = getattr(error, name)
            if share.any():
                (line,) = ax.plot(error.looks, share, style, color=colour(number), label=f"stopped: {name}")
                handles.append(line)
        margin = 1.96 * np.sqrt(error.wrong * (1 - error.wrong) / error.studies)
        ax.fill_between(
            error.looks, error.wrong - margin, error.wrong + margin, color="#30343b", alpha=0.18, linewidth=0
        )
        (line,) = ax.plot(
            error.looks, error.wrong, color="#30343b", linewidth=2.2, label="wrong verdict (95% Monte Carlo band)"
        )
        handles.append(line)
        ax.set_ylim(0, max(0.05, 1.15 * float((error.wrong + margin).max()), 1.05 * float(max(error.equivalent))))
        ax.set_xlim(0, 1.02 * float(error.looks.max()))
        ax.set_xlabel("fresh prompts" if "fresh" in error.truth else "generations of every prompt")
        ax.set_ylabel("share of studies")
        words = f"{plain(error.truth, 78)}\nrule: {region}, certainty {error.rule.certainty:g}, {error.rule.estimand}"
        ax.set_title(words)
        legend_below(ax, handles, columns=2)
    return ax


def _target(ax: Axes, looks: Looks, spent: np.ndarray, value: np.ndarray) -> list[Any]:
    """What it takes to stop: a band as wide as the target around the values, or the reference and its region."""
    rule: Any = looks.rule
    hue = colour(2)
    width = getattr(rule, "width", None)
    if width is not None:
        ends = [
            ax.plot(spent, value + side * width / 2, "--", color=hue, linewidth=1.4, label=f"target width {width:g}")
            for side in (-1, 1)
        ]
        return [ends[0][0]]
    low, high = getattr(rule, "region", (rule.reference, rule.reference))
    if low == high:
        return [ax.axhline(low, color=hue, linestyle="--", linewidth=1.4, label=f"reference {low:g}")]
    return [ax.axhspan(low, high, color=hue, alpha=0.2, linewidth=0, label=f"equivalent: {low:g} to {high:g}")]


def _label(quantity: str) -> str:
    name = quantity.split(" of ")[0]
    return "mean of P(correct)" if name == "mean" else plain(name)


def _title(quantity: str, longest: int = 62) -> str:
    """The quantity on two lines."""
    first, _, second = quantity.partition(", ")
    return f"{plain(first, longest)}\n{plain(second, longest)}"
