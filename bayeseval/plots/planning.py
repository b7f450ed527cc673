"""How many generations: the width of the interval against the number of generations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.plots.canvas import canvas, colour, interval_words, legend_below, run_words
from bayeseval.posterior.scores import ESTIMANDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.planning import Plan

__all__ = ["generations_axis", "plot_assurance", "plot_plan"]


def plot_plan(plan: Plan, *, ax: Axes | None = None) -> Axes:
    """Width of the interval against generations per prompt, with the target, the floor and the number chosen.

    The posterior standard deviation, where that is the target of the plan; it has no band.

    Parameters
    ----------
    plan : Plan
        From `bayeseval.plan`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    curve = plan.curve
    k = np.asarray(curve["generations"], dtype=float)
    wide = plan.measure == "width"
    names = ("width", "width_lower", "width_upper") if wide else ("sd", "sd", "sd")
    width, lower, upper = (np.asarray(curve[name], dtype=float) for name in names)
    with canvas(ax, 6.4, 4.0, titles=2, rows=2) as ax:
        median = "median width" if wide else "median standard deviation"
        (line,) = ax.plot(k, width, color=colour(0), marker="o", label=median)
        handles: list[Any] = [line]
        if wide:
            words = "90% of futures"
            handles.append(ax.fill_between(k, lower, upper, color=colour(0), alpha=0.22, linewidth=0, label=words))
        words = f"target {plan.target:g}"
        handles.append(ax.axhline(plan.target, color=colour(2), linestyle="--", linewidth=1.4, label=words))
        if np.isfinite(plan.floor) and plan.floor > 0:
            words = f"floor {plan.floor:.2g}: median for endless generations"
            handles.append(ax.axhline(plan.floor, color=colour(3), linestyle=":", linewidth=1.8, label=words))
        top = float(max(np.nanmax(upper), plan.target))
        ax.set_ylim(0, 1.18 * top)
        generations_axis(ax, k)
        if plan.k is not None:
            ax.axvline(plan.k, color="#30343b", linewidth=1.2)
            _say(ax, plan.k, f"k = {plan.k:,}", k)
        rule = plan.rule_generations
        if rule is not None and k.min() <= rule <= k.max():
            ax.axvline(rule, color=colour(4), linewidth=1.2, linestyle="-.")
            _say(ax, rule, f"rule k ≥ 3r: {rule:,}", k, low=True)
        ax.set_ylabel(f"width of the {interval_words(plan.prob, 'interval')}" if wide else "posterior sd")
        ax.set_title(_title(plan))
        legend_below(ax, handles, columns=2)
    return ax


def plot_assurance(plan: Plan, *, ax: Axes | None = None) -> Axes:
    """Probability of meeting the target against generations per prompt, with its Monte Carlo error.

    Parameters
    ----------
    plan : Plan
        From `bayeseval.plan`.
    ax : matplotlib.axes.Axes, optional
        A figure is made where none is given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    curve = plan.curve
    k, share, error = (np.asarray(curve[name], dtype=float) for name in ("generations", "assurance", "assurance_mcse"))
    with canvas(ax, 6.4, 3.6, titles=2, rows=2) as ax:
        wide = f"{interval_words(plan.prob, 'interval')} no wider than {plan.target:g}"
        goal = wide if plan.measure == "width" else f"posterior sd ≤ {plan.target:g}"
        bars = ax.errorbar(
            k, share, 2 * error, color=colour(0), marker="o", capsize=2, label=f"probability of: {goal} (± 2 MCSE)"
        )
        words = f"asked for: {plan.assurance:g}"
        asked = ax.axhline(plan.assurance, color=colour(2), linestyle="--", linewidth=1.4, label=words)
        ax.set_ylim(-0.03, 1.06)
        generations_axis(ax, k)
        if plan.k is not None:
            ax.axvline(plan.k, color="#30343b", linewidth=1.2)
            _say(ax, plan.k, f"k = {plan.k:,}", k, low=True)
        ax.set_ylabel("assurance")
        ax.set_title(_title(plan))
        legend_below(ax, [bars, asked], columns=1)
    return ax


def _title(plan: Plan) -> str:
    prompts = {"same": "the same prompts", "fresh": "fresh prompts"}.get(plan.prompts, plan.prompts)
    score = "" if plan.score == "mean" else f"{plan.score}, "
    return (
        f"{run_words(plan.system, plan.benchmark)}\n{score}{plan.estimand} ({ESTIMANDS.get(plan.estimand, '')}), "
        f"{plan.n_prompts:,} prompts: {prompts}"
    )


def generations_axis(ax: Axes, k: np.ndarray) -> None:
    """Generations per prompt, on a logarithmic axis where they span three powers of two."""
    logarithmic = bool(k.max() >= 8 * k.min())
    if logarithmic:
        ax.set_xscale("log", base=2)
    shown = _ticks(k, logarithmic)
    ax.set_xticks(shown, [f"{value:,.0f}" for value in shown])
    ax.minorticks_off()
    ax.set_xlabel("generations per prompt")


def _ticks(k: np.ndarray, logarithmic: bool) -> np.ndarray:
    """Powers of two with both ends on a logarithmic axis, else the numbers tried; never so many that they touch."""
    values = np.unique(k)
    if logarithmic:
        low, high = values[0], values[-1]
        powers = 2.0 ** np.arange(np.ceil(np.log2(low)), np.floor(np.log2(high)) + 1)
        powers = powers[(powers > 1.4 * low) & (powers < high / 1.4)]
        values = np.concatenate([[low], powers[:: -(-powers.size // 8)], [high]])
    return values[:: -(-values.size // 11)]


def _say(ax: Axes, x: float, text: str, k: np.ndarray, low: bool = False) -> None:
    """Text beside a vertical line, on the side where there is room."""
    left = np.log(x / k.min()) > 0.6 * np.log(k.max() / k.min()) if k.max() > k.min() else False
    ax.annotate(
        text,
        (x, 0.04 if low else 0.97),
        (-5 if left else 5, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="right" if left else "left",
        va="bottom" if low else "top",
        fontsize=9,
    )
