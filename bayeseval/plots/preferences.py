"""Who wins: average win rates, strengths of systems, and how probable each rank is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.errors import require_positive_integer
from bayeseval.plots.canvas import canvas, colour, interval_words, legend_below, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.preferences.ranked import PreferenceRanking
    from bayeseval.preferences.win_rates import WinRates

__all__ = ["plot_preference_ranking", "plot_rank_probabilities", "plot_win_rates"]

MOST = 60
MOST_WITH_NUMBERS = 12
PANEL = 0.85
"""Width of the panel of ranks, in widths of the panel of strengths."""


def plot_preference_ranking(
    ranking: PreferenceRanking, *, scale: str = "log", ax: Axes | None = None, most: int = MOST
) -> Axes:
    """Strengths with intervals, strongest first; in a figure of its own also the probability of every rank.

    Parameters
    ----------
    ranking : PreferenceRanking
        From `bayeseval.rank_preferences`.
    scale : {"log", "elo"}
        Log strengths around 0, or points around 1000.
    ax : matplotlib.axes.Axes, optional
        Where to draw strengths alone. A figure with both panels is made where none is given.
    most : int
        Most systems to draw; of more, the strongest.

    Returns
    -------
    matplotlib.axes.Axes
        Of the strengths.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_preference_ranking
    >>> votes = be.Preferences(["x", "y"], ["y", "x"], ["a", "a"], count=[30, 10])
    >>> ranking = be.rank_preferences(votes, seed=1, draws=100, tune=100, progress=False)
    >>> [tick.get_text() for tick in plot_preference_ranking(ranking, ax=Figure().subplots()).get_yticklabels()]
    ['x', 'y']
    """
    frame = ranking.to_frame(scale).head(require_positive_integer("most", most))
    size = len(frame)
    with canvas(ax, 8.6, _height(size)) as drawn:
        line = _forest(drawn, frame, "strength", colour(0), "o")
        drawn.set_xlabel("log strength (0: mean of all)" if scale == "log" else "Elo points (1000: mean of all)")
        line.set_label(f"{interval_words(ranking.prob, 'interval')}, {ranking.interval_kind}")
        left = len(ranking.systems) - size
        drawn.set_title(f"Strength{f'; {left:,} weaker systems left out' if left else ''}")
        figure = drawn.get_figure()
        if ax is not None or figure is None:
            legend_below(drawn, [line])
        else:
            grid = figure.add_gridspec(1, 2, width_ratios=(1, PANEL))
            drawn.set_subplotspec(grid[0])
            panel = figure.add_subplot(grid[1], sharey=drawn)
            _ranks(panel, ranking, size)
            panel.tick_params(axis="y", labelleft=False, length=0)
            figure.legend(handles=[line], loc="outside lower left")
    return drawn


def plot_rank_probabilities(ranking: PreferenceRanking, *, ax: Axes | None = None, most: int = MOST) -> Axes:
    """How probable each rank of each system is: the darker, the more.

    Parameters
    ----------
    ranking : PreferenceRanking
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.
    most : int
        Most systems to draw; of more, the strongest.

    Returns
    -------
    matplotlib.axes.Axes
    """
    size = min(len(ranking.systems), require_positive_integer("most", most))
    with canvas(ax, 5.4, _height(size)) as drawn:
        _rows(drawn, list(ranking.systems[:size]))
        _ranks(drawn, ranking, size)
    return drawn


def plot_win_rates(rates: WinRates, *, ax: Axes | None = None, most: int = MOST) -> Axes:
    """Average win rates with intervals, highest first.

    Parameters
    ----------
    rates : WinRates
        From `bayeseval.win_rates`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.
    most : int
        Most systems to draw; of more, those with the highest averages.

    Returns
    -------
    matplotlib.axes.Axes
    """
    frame = rates.to_frame().head(require_positive_integer("most", most))
    with canvas(ax, 6.4, _height(len(frame))) as drawn:
        line = _forest(drawn, frame, "average", colour(2), "s")
        credit = "a tie is half a win" if rates.ties == "half" else "a tie is no win"
        drawn.set_xlabel(f"average win rate ({credit})")
        line.set_label(f"{interval_words(rates.prob, 'interval')}, {rates.interval_kind}")
        left = len(rates.systems) - len(frame)
        kind = {"judged": "judged", "coupled": "coupled answers", "independent": "independent answers"}[rates.design]
        drawn.set_title(f"Win rates, {kind}{f'; {left:,} lower ones left out' if left else ''}")
        legend_below(drawn, [line])
    return drawn


def _height(size: int) -> float:
    return 1.5 + (0.28 if size <= 25 else 0.19) * size


def _rows(ax: Axes, systems: list[str]) -> None:
    ax.set_yticks(range(len(systems)), [plain(name, 34) for name in systems], fontsize=9 if len(systems) <= 25 else 7)
    ax.set_ylim(len(systems) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _forest(ax: Axes, frame: Any, column: str, hue: str, marker: str) -> Any:
    """Values with intervals from top to bottom; the last line drawn stands for all in a legend."""
    lower, value, upper = (frame[name].to_numpy() for name in ("lower", column, "upper"))
    place = np.arange(len(frame))
    ax.hlines(place, lower, upper, color=hue, linewidth=1.8)
    (dots,) = ax.plot(value, place, marker, color=hue, markersize=5 if len(frame) <= 25 else 3.5, linestyle="none")
    _rows(ax, list(frame["system"]))
    ax.grid(axis="y", visible=False)
    return dots


def _ranks(ax: Axes, ranking: PreferenceRanking, size: int) -> None:
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    probability = ranking.rank_probabilities()[:size, :size]
    shades = LinearSegmentedColormap.from_list("ranks", ["white", colour(0)])
    edges = np.arange(size + 1)
    ax.pcolormesh(edges + 0.5, edges - 0.5, probability, cmap=shades, norm=PowerNorm(0.5, 0, 1), zorder=0)
    ax.grid(visible=False)
    ax.set_xlim(0.5, size + 0.5)
    step = max(1, -(-size // 10))
    ax.set_xticks(sorted({1, *range(step, size + 1, step)} - ({step} if 1 < step < 3 else set())))
    ax.set_xlabel("rank")
    if size <= MOST_WITH_NUMBERS:
        for row, column in zip(*np.nonzero(probability >= 0.005), strict=True):
            shade = probability[row, column]
            ax.text(
                column + 1, row, f"{shade:.2f}", ha="center", va="center", fontsize=7,
                color="white" if shade > 0.5 else "black",
            )  # fmt: skip
    ax.set_title("Probability of each rank" if size <= MOST_WITH_NUMBERS else "Probability of each rank (dark: 1)")
