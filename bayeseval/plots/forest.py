"""Many scores: a forest plot, best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.errors import OptionError, require_positive_integer
from bayeseval.plots.canvas import LOOKS, canvas, colour, finite, interval_words, legend_below, plain, span
from bayeseval.posterior.scores import Score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_scores"]


@dataclass
class Row:
    """One line of the plot: the answers of one run to one question, or, without any, a heading."""

    label: str
    answers: list[tuple[Score, bool]]

    @property
    def rank(self) -> float:
        """What rows are sorted by: the headline, for the population where there is one."""
        answers = sorted(self.answers, key=lambda answer: (not answer[1], answer[0].estimand != "population"))
        return answers[0][0].value


def plot_scores(scores: Sequence[Score], *, ax: Axes | None = None, most: int = 100) -> Axes:
    """Scores of several runs with their intervals, best first, every benchmark for itself.

    Parameters
    ----------
    scores : Scores or sequence of Score
        Both methods are drawn where a score has a second answer; the headline is filled, the other hollow.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given, as tall as the rows need.
    most : int
        Most rows to draw, the benchmarks sharing them; of more, the best are drawn, and the title says so.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    OptionError
        If there is no score.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_scores
    >>> posts = be.fit(be.example("aime24-50"), engine="quadrature", seed=1, progress=False)
    >>> [label.get_text() for label in plot_scores(posts.mean(), ax=Figure().subplots()).get_yticklabels()]
    ['llama-3b-instruct-step800', 'llama-3b-instruct-step400']
    """
    scores = list(scores)
    if not scores:
        raise OptionError("there is no score to plot")
    rows, left_out = _rows(scores, require_positive_integer("most", most))
    series = [key for key in LOOKS if any((s.estimand, s.method) == key for row in rows for s, _ in row.answers)]
    step = 0.2 if len(series) < 3 else 0.24
    offset = {key: step * (place - (len(series) - 1) / 2) for place, key in enumerate(series)}
    with canvas(ax, 7.0, 1.35 + (0.28 if len(series) < 3 else 0.36) * len(rows)) as ax:
        ends = finite([end for row in rows for s, _ in row.answers for end in (s.value, s.lower, s.upper)])
        ax.set_xlim(*span(ends.min(), ends.max()))
        for place, row in enumerate(rows):
            for score, headline in row.answers:
                _draw(ax, score, place + offset[score.estimand, score.method], headline)
            _say_what_is_missing(ax, place, [score for score, _ in row.answers])
        ax.set_yticks(range(len(rows)), [row.label for row in rows])
        for row, tick in zip(rows, ax.get_yticklabels(), strict=True):
            if not row.answers:
                tick.set_fontweight("bold")
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(_axis_words(scores))
        ax.set_title(_title(scores, left_out))
        legend_below(ax, [_handle(*LOOKS[key]) for key in series])
    return ax


def _rows(scores: list[Score], most: int) -> tuple[list[Row], int]:
    """The rows to draw, and how many there is no room for."""
    systems, benchmarks, names, models = (
        {getattr(score, what) for score in scores} for what in ("system", "benchmark", "name", "model")
    )
    found: dict[tuple[str, ...], Row] = {}
    times: Counter[tuple[str, ...]] = Counter()
    for score in scores:
        parts = [plain(score.system)] if len(systems) > 1 or len(names) == 1 else []
        parts += [score.name] if len(names) > 1 else []
        parts += [plain(score.model)] if len(models) > 1 else []
        key = score.benchmark, score.system, score.name, score.model
        # The same question asked of a run twice is a second fit, and has a row of its own.
        times[*key, score.estimand] += 1
        fit = times[*key, score.estimand]
        parts += [f"fit {fit}"] if fit > 1 else []
        row = found.setdefault((*key, str(fit)), Row(", ".join(parts), []))
        row.answers.append((score, True))
        if score.other is not None:
            row.answers.append((score.other, False))
    rows: list[Row] = []
    left_out = 0
    for benchmark in dict.fromkeys(key[0] for key in found):
        rows += [Row(plain(benchmark), [])] if len(benchmarks) > 1 else []
        own = [row for key, row in found.items() if key[0] == benchmark]
        # Scores of one system keep their order: pass@16 is no better system than pass@2.
        own = sorted(own, key=lambda row: -row.rank) if len(systems) > 1 else own
        room = max(1, most // len(benchmarks))
        rows += own[:room]
        left_out += len(own[room:])
    return rows, left_out


def _draw(ax: Axes, score: Score, place: float, headline: bool) -> None:
    number, marker, _ = LOOKS[score.estimand, score.method]
    hue = colour(number)
    if np.isfinite(score.lower):
        width = 2.0 if headline else 1.1
        ax.plot([score.lower, score.upper], [place, place], color=hue, linewidth=width, solid_capstyle="butt")
    ax.plot([score.value], [place], marker, color=hue, markerfacecolor=hue if headline else "white", markersize=5)


def _say_what_is_missing(ax: Axes, place: int, answers: list[Score]) -> None:
    values = [score.value for score in answers if not np.isfinite(score.lower)]
    if values:
        on_the_right = max(values) < np.mean(ax.get_xlim())
        ax.annotate(
            "no interval",
            (max(values) if on_the_right else min(values), place),
            (9 if on_the_right else -9, 0),
            textcoords="offset points",
            ha="left" if on_the_right else "right",
            va="center",
            fontsize=8,
        )


def _handle(number: int, marker: str, words: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour(number), marker=marker, label=words)


def _axis_words(scores: list[Score]) -> str:
    names = list(dict.fromkeys(score.name for score in scores))
    what = names[0] if len(names) == 1 else "score"
    what = "mean of P(correct)" if what == "mean" else f"{what} (probability)"
    probs = sorted({score.prob for score in scores})
    return f"{what}, with {' and '.join(interval_words(prob) for prob in probs)}"


def _title(scores: list[Score], left_out: int) -> str:
    systems, benchmarks = (list(dict.fromkeys(getattr(s, what) for s in scores)) for what in ("system", "benchmark"))
    parts = []
    if len(systems) == 1 and len({score.name for score in scores}) > 1:
        parts.append(plain(systems[0]))
    if len(benchmarks) == 1:
        parts.append(plain(benchmarks[0]))
    methods = {(s.estimand, s.method) for score in scores for s in (score, score.other) if s is not None}
    filled = "filled marks: headline" if len(methods) > len({estimand for estimand, _ in methods}) else ""
    missing = f"{left_out:,} lower rows left out" if left_out else ""
    return ", ".join(filter(None, [" on ".join(parts), filled, missing]))
