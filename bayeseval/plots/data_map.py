"""The data map: P(correct) against consistency, with the region of the published rule and the suspects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.consistency.patterns import LEAST_CONSISTENT, MOST_CORRECT
from bayeseval.errors import OptionError
from bayeseval.plots.canvas import canvas, colour, interval_words, legend_below, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayeseval.consistency import DataMap

__all__ = ["plot_data_map"]

MARKERS = "osD^"
MOST_BARS, MOST_POINTS, MOST_SYSTEMS = 80, 3000, 4
BINS = 20
LEAST_AREA, MOST_AREA = 12.0, 220.0
GREY = "#6b7077"


def plot_data_map(
    data: DataMap, *, ax: Axes | None = None, system: str | None = None, label: int = 5, bars: bool | None = None
) -> Axes:
    """Share of correct answers against consistency S, one mark a system and prompt.

    Marks at the same place are one disc whose area grows with their number, those of several systems a little aside;
    where there are more than 3,000 places, a density is drawn instead. Bars, for few marks, are posterior intervals of
    P(correct) and of minus the entropy: S is a plug-in estimate, and may lie outside of them. Above stands the
    distribution of the shares in each system.

    Parameters
    ----------
    data : DataMap
        From `bayeseval.data_map`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.
    system : str, optional
        Only this system; all of them by default, by colour and marker where there are at most four.
    label : int
        Number of suspects that are ringed and named.
    bars : bool, optional
        Whether intervals are drawn; by default for at most 80 marks.

    Returns
    -------
    matplotlib.axes.Axes
    """
    frame = data.table
    if system is not None:
        if system not in data.systems:
            raise OptionError(f"there is no system {system!r} in this map; there are {', '.join(data.systems)}")
        frame = frame[frame["system"] == system]
    known = frame[(frame["generations"] > 0) & frame["consistency"].notna()]
    share = (known["correct"] / known["generations"]).to_numpy(dtype=float)
    names = list(dict.fromkeys(known["system"]))
    with canvas(ax, 6.8, 6.0, titles=1, rows=3) as ax:
        figure = ax.get_figure()
        if figure is not None and len(figure.axes) == 1:
            place = ax.get_position()
            ax.set_position((place.x0, place.y0, place.width, place.height * 0.82))
        _region(ax)
        handles = _marks(ax, known, share, names, len(known) <= MOST_BARS if bars is None else bars, data.prob)
        bottom = min(float(known["consistency"].min()), LEAST_CONSISTENT) if len(known) else LEAST_CONSISTENT
        ax.set_xlim(-0.03, 1.03)
        ax.set_ylim(1.08 * bottom - 0.05, 0.1 + 0.03 * abs(bottom))
        _suspects(ax, data, known, share, label)
        ax.set_xlabel("share of correct answers, estimate of P(correct)")
        ax.set_ylabel("consistency S, nats (0: all answers agree)")
        _marginal(ax, known, share, names, _title(data, names, len(known)))
        legend_below(ax, [*handles, *_legend(label > 0 and len(known) > 0)], columns=2)
    return ax


def _title(data: DataMap, names: list[str], marks: int) -> str:
    who = names[0] if len(names) == 1 else f"{len(names)} systems"
    return f"Data map: {plain(f'{who} on {data.benchmark}', 46)}, {len(data.prompts):,} prompts"


def _region(ax: Axes) -> None:
    """Where the published rule flags."""
    from matplotlib.patches import Rectangle

    top = 0.06
    ax.add_patch(
        Rectangle(
            (-0.02, LEAST_CONSISTENT), MOST_CORRECT + 0.02, top - LEAST_CONSISTENT, facecolor=colour(1), alpha=0.14,
            edgecolor=colour(1), linewidth=1.0, linestyle=(0, (4, 2)), zorder=0.5,
        )
    )  # fmt: skip


def _marks(ax: Axes, frame: pd.DataFrame, share: np.ndarray, names: list[str], bars: bool, prob: float) -> list[Any]:
    """Marks of all systems, and their part of the legend."""
    from matplotlib.lines import Line2D

    height = frame["consistency"].to_numpy(dtype=float)
    places, many = np.unique(np.column_stack([share, height]).round(6), axis=0, return_counts=True)
    if len(places) > MOST_POINTS:
        mesh = ax.hexbin(share, height, gridsize=36, bins="log", mincnt=1, cmap="Blues", linewidths=0.1)
        figure = ax.get_figure()
        assert figure is not None
        figure.colorbar(mesh, cax=ax.inset_axes((1.02, 0, 0.02, 1)), label="prompts of a system")
        return []
    apart: list[str | None] = [*names] if 1 < len(names) <= MOST_SYSTEMS else [None]
    handles: list[Any] = []
    found = []
    for name in apart:
        some = np.ones(len(frame), dtype=bool) if name is None else (frame["system"] == name).to_numpy()
        found.append(
            (some, *np.unique(np.column_stack([share[some], height[some]]).round(6), axis=0, return_counts=True))
        )
    largest = max(int(many.max(initial=1)) for _, _, many in found)
    for number, (name, (some, places, many)) in enumerate(zip(apart, found, strict=True)):
        hue, marker = colour((0, 3, 2, 4)[number]), MARKERS[number]
        aside = 0.012 * (number - (len(apart) - 1) / 2) if largest > 1 else 0.0
        if bars:
            part = frame[some]
            x, y = share[some], height[some]
            ax.hlines(y, part["lower"], part["upper"], color=hue, alpha=0.3, linewidth=1)
            ax.vlines(x, -part["entropy_upper"], -part["entropy_lower"], color=hue, alpha=0.3, linewidth=1)
        order = np.argsort(-many, kind="stable")
        ax.scatter(
            places[order, 0] + aside, places[order, 1], s=_area(many[order], largest), marker=marker, facecolor=hue,
            edgecolor=hue, alpha=0.55, linewidth=0.6,
        )  # fmt: skip
        if name is not None:
            handles.append(_dot(marker, hue, plain(name, 30)))
    if largest > 1:
        for size in sorted({1, _round(largest)}):
            area = float(np.sqrt(_area(np.array(size), largest)))
            words = f"{size:,} prompt{'s' if size > 1 else ''} at one place"
            handles.append(_dot("o", GREY, words, area))
    if bars:
        handles.append(Line2D([], [], color=GREY, alpha=0.5, label=f"{interval_words(prob)}s"))
    return handles


def _dot(marker: str, hue: str, words: str, size: float = 5.0) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker=marker, color=hue, alpha=0.7, markersize=size, label=words)


def _suspects(ax: Axes, data: DataMap, frame: pd.DataFrame, share: np.ndarray, label: int) -> None:
    """Ring and name the first suspects, each at the system with the most conspicuous answers."""
    if label < 1 or not len(frame):
        return
    heights = frame["consistency"].to_numpy(dtype=float)
    low = frame["dominant_wrong"].to_numpy(dtype=float)
    top = data.suspects(top=label).table
    keys = list(zip(frame["benchmark"], frame["prompt"], strict=True))
    where: dict[tuple[float, float], list[str]] = {}
    for key in zip(top["benchmark"], top["prompt"], strict=True):
        rows = [place for place, one in enumerate(keys) if one == key]
        if rows:
            best = max(rows, key=low.__getitem__)
            where.setdefault((round(share[best], 6), round(heights[best], 6)), []).append(plain(str(key[1]), 16))
    taken: list[float] = []
    for (x, y), names in sorted(where.items(), key=lambda item: -item[0][1]):
        ax.plot(x, y, marker="o", markersize=11, markerfacecolor="none", markeredgecolor=colour(1), linewidth=0)
        span = ax.get_ylim()
        step = 0.05 * (span[1] - span[0])
        height = min([y, *(one - step for one in taken if one - step < y)]) if taken else y
        taken.append(height)
        ax.annotate(
            ", ".join(names), (x, y), (max(x, 0.1) + 0.06, height), fontsize=8, va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1.0},
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.7},
        )  # fmt: skip


def _marginal(ax: Axes, frame: pd.DataFrame, share: np.ndarray, names: list[str], title: str) -> None:
    """The distribution of the shares of correct answers above the map."""
    top = ax.inset_axes((0, 1.03, 1, 0.19), sharex=ax)
    edges = np.linspace(0, 1, BINS + 1)
    for number, name in enumerate(names[:8]):
        values = share[(frame["system"] == name).to_numpy()]
        counts = np.histogram(values, edges)[0] / max(len(values), 1)
        hue = colour((0, 3, 2, 4)[number]) if len(names) <= MOST_SYSTEMS else GREY
        top.stairs(counts, edges, color=hue, fill=len(names) == 1, alpha=0.55 if len(names) == 1 else 0.9)
    top.set_ylim(bottom=0)
    top.tick_params(labelbottom=False, labelsize=7)
    top.set_ylabel("share of\nprompts", fontsize=8)
    top.set_title(title)


def _legend(suspects: bool) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    rule = f"published rule (≤ {MOST_CORRECT:.0%}, S ≥ {LEAST_CONSISTENT})".replace("-", "−")
    handles: list[Any] = [Patch(facecolor=colour(1), alpha=0.25, edgecolor=colour(1), label=rule)]
    if suspects:
        ring = Line2D(
            [], [], linestyle="none", marker="o", markersize=9, markerfacecolor="none", markeredgecolor=colour(1),
            label="first suspects (wrong gold?)",
        )  # fmt: skip
        handles.append(ring)
    return handles


def _area(prompts: np.ndarray, largest: int) -> np.ndarray:
    """Area of a disc for so many prompts, in square points."""
    return np.asarray(LEAST_AREA + (MOST_AREA - LEAST_AREA) * (prompts - 1) / max(largest - 1, 30))


def _round(value: float) -> int:
    """A number with one digit, not above the value."""
    if value < 10:
        return int(value)
    unit = 10 ** int(np.log10(value))
    return int(value // unit * unit)
