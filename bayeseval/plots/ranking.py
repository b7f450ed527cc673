"""Many systems: a leaderboard that shows how sure its order is, probabilities of ranks, and of pairwise orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.contrasts.difference import share
from bayeseval.plots.canvas import LOOKS, canvas, colour, interval_words, plain, span
from bayeseval.posterior.scores import ESTIMANDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.contrasts.ranking import Ranking

__all__ = ["plot_pairwise", "plot_ranking", "plot_ranks"]

COLUMNS = (8, 50, 92)
"""Points between the Axes and the columns beside it."""
WRITTEN = 16
"""Up to this many systems, probabilities are written into the cells."""


def plot_ranking(ranking: Ranking, *, ax: Axes | None = None, most: int = 60) -> Axes:
    """Scores with intervals, best first; beside them the interval of the rank, P(best), and the groups of ties.

    Parameters
    ----------
    ranking : Ranking
        From `bayeseval.rank`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given, as tall as the rows need. To the right of the Axes there must be room for
        three short columns.
    most : int
        Most systems to draw, best first; the title says how many are left out.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Systems that share a letter are not told apart. Intervals of single scores do not tell that: scores of two systems
    on the same prompts move together.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_ranking
    >>> runs = [be.Counts.from_arrays([4, x, 1, 0] * 20, 4, system=f"s{x}") for x in (1, 3)]
    >>> ax = plot_ranking(be.rank(runs, seed=1), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['s3', 's1']
    """
    frame = ranking.to_frame().head(most)
    number, marker, _ = LOOKS[ranking.estimand, "model"]
    hue = colour(number)
    with canvas(ax, 8.2, 1.8 + 0.28 * len(frame)) as ax:
        ax.set_xlim(*span(float(frame["lower"].min()), float(frame["upper"].max())))
        for place, row in enumerate(frame.itertuples()):
            ax.plot([row.lower, row.upper], [place, place], color=hue, linewidth=2.0, solid_capstyle="butt")
            ax.plot([row.value], [place], marker, color=hue, markersize=5)
            ranks = f"{row.rank_lower}" if row.rank_lower == row.rank_upper else f"{row.rank_lower}–{row.rank_upper}"
            for left, text in zip(COLUMNS, (ranks, share(row.p_best), row.groups), strict=True):
                _beside(ax, left, place, text, "normal")
        for left, text in zip(COLUMNS, ("rank", "P(best)", "ties"), strict=True):
            _beside(ax, left, -0.95, text, "bold")
        ax.set_yticks(range(len(frame)), [plain(name, 44) for name in frame["system"]])
        ax.set_ylim(len(frame) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
        what = "mean of P(correct)" if ranking.score == "mean" else f"{ranking.score} (probability)"
        ax.set_xlabel(f"{what}, with {interval_words(ranking.prob)}; ranks with the same")
        ax.set_title(_title(ranking, len(frame)) + "\n")
    return ax


def plot_ranks(ranking: Ranking, *, ax: Axes | None = None, most: int = 60) -> Axes:
    """Probability of every rank of every system, as shades.

    Parameters
    ----------
    ranking : Ranking
        From `bayeseval.rank`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.
    most : int
        Most systems to draw, best first.

    Returns
    -------
    matplotlib.axes.Axes
    """
    shown = min(len(ranking), most)
    cells = ranking.rank_probabilities[:shown, :shown]
    with canvas(ax, max(6.6, 3.2 + 0.34 * shown), 1.8 + 0.3 * max(shown, 3)) as ax:
        _heat(ax, cells, 0.0, float(cells.max()), "Blues", "probability of the rank")
        ax.set_xticks(range(shown), [str(place + 1) if _ticked(place, shown) else "" for place in range(shown)])
        ax.set_yticks(range(shown), [plain(name, 44) for name in ranking.systems[:shown]])
        ax.set_xlabel("rank")
        ax.set_title(_title(ranking, shown))
    return ax


def plot_pairwise(ranking: Ranking, *, ax: Axes | None = None, most: int = 60) -> Axes:
    """Probability that the system of the row is better than that of the column, for all pairs.

    Parameters
    ----------
    ranking : Ranking
        From `bayeseval.rank`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.
    most : int
        Most systems to draw, best first.

    Returns
    -------
    matplotlib.axes.Axes
    """
    shown = min(len(ranking), most)
    cells = ranking.p_greater[:shown, :shown].copy()
    np.fill_diagonal(cells, np.nan)
    with canvas(ax, max(6.6, 3.4 + 0.36 * shown), 2.4 + 0.32 * max(shown, 3)) as ax:
        _heat(ax, cells, 0.5, 1.0, "RdBu", "P(row better than column)")
        names = [plain(name, 30) for name in ranking.systems[:shown]]
        ax.set_yticks(range(shown), names)
        ax.set_xticks(range(shown), names, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_title(_title(ranking, shown))
    return ax


def _beside(ax: Axes, left: float, place: float, text: str, weight: str) -> None:
    """Text to the right of the Axes, so many points from it."""
    ax.annotate(
        text, (1, place), (left, 0), xycoords=ax.get_yaxis_transform(), textcoords="offset points", va="center",
        fontsize=9, fontweight=weight, annotation_clip=False,
    )  # fmt: skip


def _heat(ax: Axes, cells: np.ndarray, middle: float, top: float, shades: str, words: str) -> None:
    image = ax.imshow(cells, vmin=0, vmax=top, cmap=shades, aspect="auto")
    if len(cells) <= WRITTEN:
        for (row, column), value in np.ndenumerate(cells):
            if np.isfinite(value) and (middle or value >= 0.005):
                dark = abs(value - middle) > (0.3 if middle else 0.55 * top)
                ax.text(column, row, _short(value), ha="center", va="center", fontsize=8,
                        color="white" if dark else "#1b1e23")  # fmt: skip
    ax.grid(visible=False)
    ax.tick_params(length=0)
    figure: Any = ax.get_figure()
    bar = figure.colorbar(image, ax=ax, shrink=0.8, pad=0.02)
    bar.set_label(words)
    bar.outline.set_visible(False)


def _short(value: float) -> str:
    return "1" if value > 0.995 else "0" if value < 0.005 else f"{value:.2f}".lstrip("0")


def _ticked(place: int, shown: int) -> bool:
    return shown <= 20 or (place + 1) % 5 == 0 or place == 0


def _title(ranking: Ranking, shown: int) -> str:
    rest = len(ranking) - shown
    left_out = f"; {rest:,} lower systems left out" if rest else ""
    return (
        f"{plain(ranking.benchmark, 40)}, {ranking.score}\n{ESTIMANDS[ranking.estimand]} ({ranking.estimand})\n"
        f"{len(ranking)} systems, {ranking.n_prompts:,} common prompts{left_out}"
    )
