"""How P(correct) spreads over prompts: the fitted distribution against the shares seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.plots.canvas import canvas, colour, interval_words, legend_below, run_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.posterior.posterior import Posterior
    from bayeseval.prompts import PromptDistribution

__all__ = ["plot_prompt_distribution"]

DRAWS = 400
NODES = 201
MOST_BINS = 20


def plot_prompt_distribution(posterior: Posterior, *, ax: Axes | None = None, prob: float = 0.95) -> Axes:
    """Fitted density of P(correct) over prompts with its band, and a histogram of the shares of correct answers.

    Parameters
    ----------
    posterior : Posterior
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.
    prob : float
        Probability inside the band, at each value of P(correct).

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    A density may rise without limit towards 0 or 1. The axis then ends where the histogram does, and the share of
    prompts in the outermost bin is written there. Shares seen scatter more widely than P(correct), by the noise of the
    generations: whether the two agree is judged by `plot_check`.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_prompt_distribution
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2], generations=[4, 4, 4, 4])
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> plot_prompt_distribution(post, ax=Figure().subplots()).get_xlabel()
    'P(correct) of a prompt'
    """
    distribution = _thinned(posterior)
    generations = posterior.counts.generations
    shares = posterior.counts.correct[generations > 0] / generations[generations > 0]
    edges = np.linspace(0, 1, int(np.clip(posterior.typical_generations + 1, 5, MOST_BINS)) + 1)
    seen = np.histogram(shares, edges)[0] / max(shares.size, 1) / np.diff(edges)
    grid, heights = _density(distribution)
    tails = np.quantile(heights, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    masses = _mass(distribution, edges)
    top = max(seen.max(initial=0), (masses / np.diff(edges)).max())
    inner = heights.mean(axis=0)[(grid > 0.05) & (grid < 0.95)].max(initial=0)
    top = 1.22 * max(top, min(inner, 3 * top))
    blue, grey = colour(0), colour(4)
    with canvas(ax, 6.4, 3.7, rows=2) as ax:
        words = f"shares correct seen, {shares.size:,} prompts"
        bars = ax.stairs(seen, edges, fill=True, facecolor=grey, alpha=0.35, label=words)
        ax.stairs(seen, edges, color=grey, linewidth=1)
        band = ax.fill_between(grid, *tails, color=blue, alpha=0.25, linewidth=0, label=interval_words(prob, "band"))
        (line,) = ax.plot(grid, heights.mean(axis=0), color=blue, label=f"fitted density ({posterior.model.name})")
        ax.set_xlim(-0.01, 1.01)
        ax.set_ylim(0, top)
        _tell_of_the_ends(ax, heights.mean(axis=0), masses, edges, top)
        for position, weight in zip(distribution.atom, distribution.atoms.mean(axis=0), strict=True):
            told = heights.mean(axis=0)[0 if position < 0.5 else -1] > top
            ax.annotate(
                f"{weight:.0%} at exactly {position:g}",
                (position, (0.74 if told else 0.94) * top),
                ((8 if position < 0.5 else -8), 0),
                textcoords="offset points",
                ha="left" if position < 0.5 else "right",
                fontsize=9,
            )
            ax.plot([position, position], [0, 0.97 * top], color=colour(2), marker="^", markevery=[1], linewidth=2.4)
        ax.set_xlabel("P(correct) of a prompt")
        ax.set_ylabel("density of prompts")
        ax.set_title(run_words(posterior.system, posterior.benchmark))
        legend_below(ax, [bars, line, band], columns=2)
    return ax


def _thinned(posterior: Posterior) -> PromptDistribution:
    everything = posterior.distribution
    return everything.take(np.linspace(0, everything.n_draws - 1, min(DRAWS, everything.n_draws)).astype(int))


def _density(distribution: PromptDistribution) -> tuple[np.ndarray, np.ndarray]:
    """Nodes inside (0, 1), denser at both ends and where a narrow distribution lies, and density (draw, node)."""
    even = 0.5 - 0.5 * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    around = distribution.mean()[:, None] + distribution.sd()[:, None] * np.linspace(-4, 4, 33)
    narrow = np.quantile(around, 0.5, axis=0)
    grid = np.unique(np.concatenate([even, narrow[(narrow > even[0]) & (narrow < even[-1])]]))
    return grid, distribution.density(grid)


def _mass(distribution: PromptDistribution, edges: np.ndarray) -> np.ndarray:
    """Mean share of prompts between the edges, point masses left out (bin,)."""
    return np.diff(distribution.below(edges), axis=1).mean(axis=0)


def _tell_of_the_ends(ax: Axes, height: np.ndarray, masses: np.ndarray, edges: np.ndarray, top: float) -> None:
    """Where the density leaves the frame at an end, say how many prompts lie there."""
    for end, low, high in ((0, edges[0], edges[1]), (-1, edges[-2], edges[-1])):
        if height[end] > top:
            where = f"below {high:.2g}" if end == 0 else f"above {low:.2g}"
            ax.annotate(
                f"↑ fit: {masses[end]:.0%} of prompts\n{where}",
                (0 if end == 0 else 1, 0.99 * top),
                (14 if end == 0 else -14, 0),
                textcoords="offset points",
                ha="left" if end == 0 else "right",
                va="top",
                fontsize=9,
            )
