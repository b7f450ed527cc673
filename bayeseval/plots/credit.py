"""How credits spread over prompts: the fitted distribution of mean credits against those seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.plots.canvas import canvas, colour, interval_words, legend_below, run_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.posterior.credit import CreditPosterior

__all__ = ["plot_credit_distribution"]

FEWEST_BINS, MOST_BINS = 5, 20
DRAWS = 200
FRESH = 2000
"""Fresh prompts of each draw; a share of 5% then errs by half a percent."""


def plot_credit_distribution(posterior: CreditPosterior, *, ax: Axes | None = None, prob: float = 0.95) -> Axes:
    """Fitted distribution of the mean credit of a prompt with its band, and the mean credits seen.

    Parameters
    ----------
    posterior : CreditPosterior
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.
    prob : float
        Probability inside the band, in each bin.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Mean credits seen scatter more widely than those of endlessly many generations, by the noise of the generations:
    whether the two agree is judged by `plot_check`.

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> credits = be.Credits.from_matrix([[0, 0.5, 0.5], [1, 1, 0.5], [0, 0, 0.5], [1, 0.5, 1]], levels=(0, 0.5, 1))
    >>> post = be.fit(credits, seed=1, draws=200, tune=300, progress=False)
    >>> post.plot(ax=Figure().subplots()).get_xlabel()
    'mean credit of a prompt'
    """
    table, distribution = posterior.table, posterior.distribution
    used = table.generations > 0
    means = table.total[used] / table.generations[used]
    bins = int(np.clip(np.median(table.generations[used]) + 1, FEWEST_BINS, MOST_BINS))
    edges = np.linspace(0, 1, bins + 1)
    seen = np.histogram(np.clip(means, 0, 1), edges)[0] / means.size
    chosen = np.linspace(0, distribution.n_draws - 1, min(DRAWS, distribution.n_draws)).astype(int)
    fresh = distribution.take(chosen).fresh(FRESH, np.random.default_rng([posterior.seed, 4])).score
    fitted = np.stack([np.histogram(np.clip(scores, 0, 1), edges)[0] for scores in fresh]) / FRESH
    lower, upper = np.quantile(fitted, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    blue, grey = colour(0), colour(4)
    with canvas(ax, 6.4, 3.7, rows=2) as ax:
        bars = ax.stairs(seen, edges, fill=True, facecolor=grey, alpha=0.35, label=f"seen, {means.size:,} prompts")
        ax.stairs(seen, edges, color=grey, linewidth=1)
        band = ax.stairs(upper, edges, baseline=lower, fill=True, color=blue, alpha=0.25)
        band.set_label(interval_words(prob, "band"))
        line = ax.stairs(fitted.mean(axis=0), edges, baseline=None, color=blue, linewidth=1.5)
        line.set_label(f"fitted ({posterior.model.name})")
        ax.set_xlim(-0.01, 1.01)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("mean credit of a prompt")
        ax.set_ylabel("share of prompts")
        ax.set_title(run_words(posterior.system, posterior.benchmark))
        legend_below(ax, [bars, line, band], columns=2)
    return ax
