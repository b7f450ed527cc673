"""One score: the density of its draws, with the interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.plots.canvas import LOOKS, canvas, colour, interval_words, legend_below, run_words
from bayeseval.posterior.scores import Score, decimals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_score"]

NODES = 512


def plot_score(score: Score, *, ax: Axes | None = None) -> Axes:
    """Density of the posterior draws of one score, with its interval; for the population, by both methods.

    Parameters
    ----------
    score : Score
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_score
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2], generations=[4, 4, 4, 4])
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> plot_score(post.mean(), ax=Figure().subplots()).get_xlabel()
    'mean of P(correct)'
    """
    answers = [answer for answer in (score.other, score) if answer is not None]
    with canvas(ax, 6.4, 3.5, rows=len(answers)) as ax:
        handles, tops = [], []
        signed = any((answer.draws < 0).any() for answer in answers)
        for answer in answers:
            number, marker, words = LOOKS[answer.estimand, answer.method]
            headline = answer is score
            grid, height = density(answer.draws, -1.0 if signed else 0.0)
            tops.append(float(height.max()))
            label = f"{words}: {_numbers(answer)}"
            hue = colour(number)
            (line,) = ax.plot(grid, height, color=hue, linestyle="-" if headline else "--", label=label, marker=marker)
            line.set_markevery([int(np.argmin(np.abs(grid - answer.value)))])
            line.set_markeredgecolor("white" if headline else hue)
            line.set_markerfacecolor(hue if headline else "white")
            if headline and np.isfinite(answer.lower):
                inside = (grid >= answer.lower) & (grid <= answer.upper)
                ax.fill_between(grid, height, where=inside.tolist(), color=hue, alpha=0.22, linewidth=0)
            handles.append(line)
        # A second answer that is a mere spike must not flatten the headline, which comes last.
        ax.set_ylim(0, 1.08 * min(max(tops), 3 * tops[-1]))
        ax.set_yticks([])
        ax.set_ylabel("posterior density")
        ax.set_xlabel(_axis(score.name, signed))
        ax.set_title(run_words(score.system, score.benchmark))
        legend_below(ax, handles[::-1])
    return ax


def _axis(name: str, signed: bool) -> str:
    if name in ("mean", "difference of mean"):
        return f"{name} of P(correct)".replace("of mean of", "of the means of")
    return name if signed or name.startswith("difference") else f"{name} (probability)"


def _numbers(score: Score) -> str:
    if not np.isfinite(score.lower):
        return f"{score.value:.4g}, no interval"
    digits = decimals(score.width)
    ends = f"[{score.lower:.{digits}f}, {score.upper:.{digits}f}]"
    return f"{score.value:.{digits}f} {ends}, {interval_words(score.prob)}"


def density(draws: np.ndarray, low: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian kernel density of draws in [low, 1], mirrored at both ends so that no mass leaks out.

    Parameters
    ----------
    draws : float array (draw,)
    low : float
        0 for probabilities, -1 for their differences.

    Returns
    -------
    grid, height : float arrays (node,)
    """
    draws = np.clip(draws, low, 1)
    first, last = np.quantile(draws, [0.25, 0.75])
    spread = min(draws.std(), (last - first) / 1.34) or draws.std()
    width = max(0.9 * spread * draws.size**-0.2, 1e-5)
    first, last = max(draws.min() - 3 * width, low), min(draws.max() + 3 * width, 1)
    grid = np.linspace(first, last, NODES)
    # On bins finer than the kernel, the sum over draws becomes a sum over bins.
    counts, edges = np.histogram(draws, bins=2048, range=(draws.min() - 1e-9, draws.max() + 1e-9))
    centre = (edges[:-1] + edges[1:]) / 2
    kernel = np.zeros((NODES, centre.size))
    for mirrored in (centre, 2 * low - centre, 2 - centre):
        kernel += np.exp(-0.5 * ((grid[:, None] - mirrored) / width) ** 2)
    return grid, kernel @ counts / (draws.size * width * np.sqrt(2 * np.pi))
