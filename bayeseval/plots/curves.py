"""pass@k and pass^k against the number of attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics
from bayeseval.defaults import options
from bayeseval.errors import require_positive_integer
from bayeseval.metrics import Metric
from bayeseval.plots.canvas import canvas, colour, interval_words, legend_below, run_words
from bayeseval.posterior.scores import ESTIMANDS, require_estimand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.posterior.posterior import Posterior

__all__ = ["curve_metrics", "plot_pass_curve"]

DRAWS_AND_PROMPTS = 1 << 20
"""With more draws of P(correct) than this, the curve is computed at powers of two alone."""


def plot_pass_curve(
    posterior: Posterior,
    *,
    ax: Axes | None = None,
    max_k: int | None = None,
    estimand: str = "population",
    prob: float | None = None,
) -> Axes:
    """Probability that one of k attempts is correct, and that all of them are, with bands.

    Parameters
    ----------
    posterior : Posterior
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.
    max_k : int, optional
        Twice the number of generations by default. Beyond ten times that number there are no bands.
    estimand : {"population", "benchmark"}
    prob : float, optional
        Probability inside the bands, at each k; `bayeseval.options.prob` by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayeseval as be
    >>> from matplotlib.figure import Figure
    >>> from bayeseval.plots import plot_pass_curve
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2], generations=[4, 4, 4, 4])
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> plot_pass_curve(post, ax=Figure().subplots()).get_xlabel()
    'k, attempts at a prompt'
    """
    require_estimand(estimand)
    prob = options.interval_prob(prob)
    seen = posterior.typical_generations
    last = max(2 * seen, 2) if max_k is None else require_positive_integer("max_k", max_k)
    ks, chosen = curve_metrics(posterior, last)
    scores = posterior.scores(chosen, estimand, prob)
    with canvas(ax, 6.4, 3.9, titles=2, rows=2) as ax:
        handles: list[Any] = []
        for start, number, mark, words in (
            (0, 0, "o", "pass@k: at least one correct"),
            (1, 3, "s", "pass^k: all correct"),
        ):
            curve = scores[start::2]
            lower, value, upper = ([getattr(score, end) for score in curve] for end in ("lower", "value", "upper"))
            hue = colour(number)
            ax.fill_between(ks, lower, upper, color=hue, alpha=0.2, linewidth=0)
            shown = [place for place, k in enumerate(ks) if (k & (k - 1)) == 0 or k == seen]
            handles += ax.plot(ks, value, color=hue, marker=mark, markevery=shown, label=words)
        if last > seen > 0:
            words = f"extrapolated: k > {seen:,} generations run"
            handles.append(
                ax.axvspan(seen, last * 1.06, facecolor=colour(4), alpha=0.22, linewidth=0, zorder=0, label=words)
            )
        ax.set_xscale("log", base=2)
        ax.set_xlim(0.95, last * 1.06)
        shown_k = [k for k in ks if (k & (k - 1)) == 0]
        shown_k = shown_k[:: -(-len(shown_k) // 9)]
        ax.set_xticks(shown_k, [f"{k:,}" for k in shown_k])
        ax.minorticks_off()
        ax.set_ylim(-0.02, 1.02)
        ax.set_xlabel("k, attempts at a prompt")
        ax.set_ylabel("probability")
        method = ", robust" if scores[0].method == "robust" else ""
        ax.set_title(
            f"{run_words(posterior.system, posterior.benchmark)}\n"
            f"{estimand} ({ESTIMANDS[estimand]}{method}), bands: {interval_words(prob)}"
        )
        legend_below(ax, handles, columns=2)
    return ax


def curve_metrics(posterior: Posterior, last: int) -> tuple[list[int], list[Metric]]:
    """Numbers of attempts up to ``last``, and pass@k and pass^k at each of them in turn."""
    ks = {1, last, *(2**power for power in range(last.bit_length()) if 2**power <= last)}
    if 0 < posterior.typical_generations <= last:
        ks.add(posterior.typical_generations)
    if posterior.n_draws * len(posterior.counts) <= DRAWS_AND_PROMPTS:
        ks |= set(np.unique(np.geomspace(1, last, 24).round().astype(int)).tolist())
    ordered = sorted(ks)
    return ordered, [make(k) for k in ordered for make in (metrics.pass_at, metrics.pass_hat)]
