"""Intervals from the central limit theorem, and when they must be refused."""

from __future__ import annotations

import math
from typing import NamedTuple

from bayeseval.display import number
from bayeseval.errors import require_probability
from bayeseval.estimators.variance import VarianceComponents

__all__ = ["CLTInterval", "clt_interval_benchmark", "clt_interval_population", "refused"]

FEWEST_SUCCESSES = 10
"""An interval for prompts like these needs this many successes, and failures, were each prompt one generation."""
FEWEST_MIXED = 10
"""An interval for these prompts needs this many prompts with both right and wrong generations."""


class CLTInterval(NamedTuple):
    """An approximate interval, NaN where it is refused, and the reason why, empty where it is given."""

    lower: float
    upper: float
    reason: str


def clt_interval_population(
    parts: VarianceComponents, prob: float = 0.95, *, ends: tuple[float, float] = (0.0, 1.0)
) -> CLTInterval:
    """Return mean ± t SE for prompts like these, Student's t with n - 1 degrees of freedom and ``SE^2 = S^2 / n``.

    Parameters
    ----------
    parts : VarianceComponents
        From `bayeseval.estimators.variance.variance_components`.
    prob : float
        Nominal probability, in (0, 1).
    ends : tuple of float
        The smallest and the largest value that generations were given, where these are not 0 and 1: what is refused is
        measured between them.

    Returns
    -------
    CLTInterval
        Refused where ``n m`` or ``n (1 - m)`` is below 10 for the mean's place m between the ends, which is the mean
        itself for 0 and 1, or where it would leave [0, 1].

    Examples
    --------
    >>> from bayeseval.estimators.variance import variance_components
    >>> parts = variance_components(correct=[3, 2, 0, 1] * 10, generations=3)
    >>> interval = clt_interval_population(parts)
    >>> print(f"{interval.lower:.3f} {interval.upper:.3f}")
    0.379 0.621
    >>> clt_interval_population(variance_components(correct=[1] * 30, generations=1)).reason
    'n·min(mean, 1 − mean) = 0 is below 10, too near 0 or 1 for so few prompts'
    """
    prob = require_probability("prob", prob)
    low, high = ends
    if low == high:
        return refused(f"every generation was given {number(low)}")
    place = parts.mean if ends == (0, 1) else (parts.mean - low) / (high - low)
    successes = parts.n_prompts * min(place, 1 - place)
    if successes < FEWEST_SUCCESSES - 1e-9:
        what = (
            ("mean", "0 or 1") if ends == (0, 1)
            else ("m", f"{number(low)} or {number(high)}, the smallest and the largest value given,")
        )  # fmt: skip
        return refused(
            f"n·min({what[0]}, 1 − {what[0]}) = {number(successes)} is below {FEWEST_SUCCESSES}, "
            f"too near {what[1]} for so few prompts"
        )
    from scipy.special import stdtrit

    return _around(parts.mean, float(stdtrit(parts.n_prompts - 1, 0.5 + prob / 2)) * parts.se_population)


def clt_interval_benchmark(
    parts: VarianceComponents, prob: float = 0.95, *, mixed: str = "both right and wrong generations"
) -> CLTInterval:
    """Return mean ± z SE for these very prompts, with ``SE^2 = sum v_i / n_i / n^2``.

    Parameters
    ----------
    parts : VarianceComponents
        From `bayeseval.estimators.variance.variance_components`.
    prob : float
        Nominal probability, in (0, 1).
    mixed : str
        What prompts have whose generations differ, for the reason.

    Returns
    -------
    CLTInterval
        Refused where fewer than 10 prompts have both right and wrong generations, or where it would leave [0, 1].

    Examples
    --------
    >>> from bayeseval.estimators.variance import variance_components
    >>> interval = clt_interval_benchmark(variance_components(correct=[3, 2, 0, 1] * 10, generations=3))
    >>> print(f"{interval.lower:.3f} {interval.upper:.3f}")
    0.427 0.573
    >>> clt_interval_benchmark(variance_components(correct=[1, 2], generations=3)).reason
    'only 2 of 2 prompts have both right and wrong generations, fewer than 10'
    """
    prob = require_probability("prob", prob)
    if math.isnan(parts.se_benchmark):
        return refused("with one generation for every prompt generation noise is not identified")
    if parts.n_mixed < FEWEST_MIXED:
        few = f"only {parts.n_mixed}" if parts.n_mixed else "none"
        return refused(f"{few} of {parts.n_prompts} prompts have {mixed}, fewer than {FEWEST_MIXED}")
    from scipy.special import ndtri

    return _around(parts.mean, float(ndtri(0.5 + prob / 2)) * parts.se_benchmark)


def _around(mean: float, half: float) -> CLTInterval:
    lower, upper = mean - half, mean + half
    if lower < 0 or upper > 1:
        return refused(f"it would reach from {number(lower)} to {number(upper)}, outside [0, 1]")
    return CLTInterval(lower, upper, "")


def refused(reason: str) -> CLTInterval:
    """No interval, and why."""
    return CLTInterval(math.nan, math.nan, reason)
