"""Intervals from the central limit theorem, and when they must be refused."""

from __future__ import annotations

import math
from typing import NamedTuple

from bayeseval.display import number
from bayeseval.errors import require_probability
from bayeseval.estimators.variance import VarianceComponents

__all__ = ["CLTInterval", "clt_interval_benchmark", "clt_interval_population"]

FEWEST_SUCCESSES = 10
"""An interval for prompts like these needs this many successes, and failures, were each prompt one generation."""
FEWEST_MIXED = 10
"""An interval for these prompts needs this many prompts with both right and wrong generations."""


class CLTInterval(NamedTuple):
    """An approximate interval, NaN where it is refused, and the reason why, empty where it is given."""

    lower: float
    upper: float
    reason: str


def clt_interval_population(parts: VarianceComponents, prob: float = 0.95) -> CLTInterval:
    """Return mean ± t SE for prompts like these, Student's t with n - 1 degrees of freedom and ``SE^2 = S^2 / n``.

    Parameters
    ----------
    parts : VarianceComponents
        From `bayeseval.estimators.variance.variance_components`.
    prob : float
        Nominal probability, in (0, 1).

    Returns
    -------
    CLTInterval
        Refused where ``n mean`` or ``n (1 - mean)`` is below 10, or where it would leave [0, 1].

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
    successes = parts.n_prompts * min(parts.mean, 1 - parts.mean)
    if successes < FEWEST_SUCCESSES - 1e-9:
        return _refused(
            f"n·min(mean, 1 − mean) = {number(successes)} is below {FEWEST_SUCCESSES}, "
            "too near 0 or 1 for so few prompts"
        )
    from scipy.special import stdtrit

    return _around(parts.mean, float(stdtrit(parts.n_prompts - 1, 0.5 + prob / 2)) * parts.se_population)


def clt_interval_benchmark(parts: VarianceComponents, prob: float = 0.95) -> CLTInterval:
    """Return mean ± z SE for these very prompts, with ``SE^2 = sum v_i / n_i / n^2``.

    Parameters
    ----------
    parts : VarianceComponents
        From `bayeseval.estimators.variance.variance_components`.
    prob : float
        Nominal probability, in (0, 1).

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
        return _refused("with one generation for every prompt generation noise is not identified")
    if parts.n_mixed < FEWEST_MIXED:
        few = f"only {parts.n_mixed}" if parts.n_mixed else "none"
        return _refused(
            f"{few} of {parts.n_prompts} prompts have both right and wrong generations, fewer than {FEWEST_MIXED}"
        )
    from scipy.special import ndtri

    return _around(parts.mean, float(ndtri(0.5 + prob / 2)) * parts.se_benchmark)


def _around(mean: float, half: float) -> CLTInterval:
    lower, upper = mean - half, mean + half
    if lower < 0 or upper > 1:
        return _refused(f"it would reach from {number(lower)} to {number(upper)}, outside [0, 1]")
    return CLTInterval(lower, upper, "")


def _refused(reason: str) -> CLTInterval:
    return CLTInterval(math.nan, math.nan, reason)
