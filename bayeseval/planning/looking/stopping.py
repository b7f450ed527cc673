"""Rules that say when to stop generating: at a width, at a direction, or by a confidence sequence.

The posterior does not depend on the rule that stopped the run. What depends on it is how often a statement is wrong in
repeated use, and each rule says what it promises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval.defaults import options
from bayeseval.errors import OptionError, require_probability
from bayeseval.metrics import Metric
from bayeseval.planning.looking.rules import StopAnytime, StopAtDirection, StopAtWidth
from bayeseval.posterior.scores import require_estimand

__all__ = ["stop_anytime", "stop_at_direction", "stop_at_width"]


def stop_at_width(
    width: float, *, estimand: str = "population", score: Metric | None = None, prob: float | None = None
) -> StopAtWidth:
    """Stop when the credible interval is narrow enough: the rule to take unless there is a reason for another.

    Looking often does little harm to its interval: in simulations that look after every generation, intervals that were
    95% by name held a fixed truth about as often ("When to stop" in the documentation has the numbers).

    Parameters
    ----------
    width : float
        Target width, between 0 and 1.
    estimand : {"population", "benchmark"}
        More generations of the same prompts narrow the benchmark interval as far as one likes, the population interval
        only to a floor: `bayeseval.plan` says where it lies.
    score : Metric, optional
        From `bayeseval.metrics`; the mean by default.
    prob : float, optional
        Probability inside the interval; `bayeseval.options.prob` by default.

    Returns
    -------
    StopAtWidth
        With `decide(posterior)`; or give it to `bayeseval.Looks`.

    Raises
    ------
    OptionError
        If an argument is out of range.

    Examples
    --------
    >>> import bayeseval as be
    >>> rule = be.stop_at_width(0.1, estimand="benchmark")
    >>> counts = be.Counts.from_arrays(correct=[30, 2, 38, 21] * 10, generations=40)
    >>> rule.decide(be.fit(counts, engine="quadrature", seed=1, progress=False)).stop
    True
    """
    return StopAtWidth(
        require_probability("width", width), require_estimand(estimand), _metric(score), options.interval_prob(prob)
    )


def stop_at_direction(
    reference: float | None = None,
    *,
    rope: float = 0.0,
    certainty: float = 0.975,
    estimand: str = "population",
    score: Metric | None = None,
) -> StopAtDirection:
    r"""Stop when a score, or the difference of two, is clearly above or below a reference, or clearly near it.

    .. math:: P(\theta > r + \delta), \quad P(\theta < r - \delta) \quad\text{or}\quad
              P(|\theta - r| \le \delta) \quad\text{exceeds the certainty.}

    **A direction that is looked for often is found, there or not.** Averaged over the prior the statement at the stop
    is right with the probability that it names. At a fixed truth it is not: of studies of two equal systems that look
    after every pair, about 40% declare a winner within 1,000 pairs. `StopAtDirection.simulated_error` says how often
    yours would; a region of equivalence lowers it, and lets a study end when there is nothing to find.

    Parameters
    ----------
    reference : float, optional
        Value that the score is held against; 0 for a difference of two posteriors.
    rope : float
        Half width of the region of equivalence around the reference; 0 for none.
    certainty : float
        Posterior probability that stops, more than one half.
    estimand : {"population", "benchmark"}
        Of two systems on the same prompts, the population difference takes their prompts as drawn apart, since each was
        fitted by itself: its interval is too wide rather than too narrow.
    score : Metric, optional
        From `bayeseval.metrics`; the mean by default.

    Returns
    -------
    StopAtDirection
        With `decide(posterior)`, `decide((first, second))` and `simulated_error(...)`.

    Raises
    ------
    OptionError
        If an argument is out of range.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[30, 12, 38, 21] * 10, generations=40)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> be.stop_at_direction(0.5, rope=0.02).decide(post).verdict
    'above'
    """
    if reference is not None and not -1 < _finite("reference", reference) < 1:
        raise OptionError(f"reference must lie between -1 and 1, but {reference!r} was given")
    if not 0 <= _finite("rope", rope) < 1:
        raise OptionError(f"rope is half the width of a region, from 0 to below 1, but {rope!r} was given")
    if not 0.5 < require_probability("certainty", certainty):
        raise OptionError(f"certainty must be more than 0.5, but {certainty!r} was given: every posterior has as much")
    where = None if reference is None else float(reference)
    return StopAtDirection(where, float(rope), float(certainty), require_estimand(estimand), _metric(score))


def stop_anytime(*, width: float | None = None, reference: float | None = None, alpha: float = 0.05) -> StopAnytime:
    r"""Stop by a confidence sequence for the mean, which holds at all looks at once whatever made one stop.

    .. math:: \{\mu : \max_\rho L(\mu, \rho) > \alpha Z\}

    with the evidence Z: the prior-posterior ratio (`bayeseval.planning.looking.anytime`). The true mean is outside at
    any look with probability alpha or less, if the model is right: P(correct) Beta over prompts, generations
    independent. The sequence is wider than the credible interval, about as much as the promise is stronger.

    Parameters
    ----------
    width : float, optional
        Stop when the sequence is no wider.
    reference : float, optional
        Stop when the sequence leaves this value out. Give this or ``width``.
    alpha : float
        Largest probability that the truth is ever outside.

    Returns
    -------
    StopAnytime
        With `decide(posterior)`, of posteriors by models that the exact engine knows.

    Raises
    ------
    OptionError
        If an argument is out of range, or not one of the two was given.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[30, 12, 38, 21] * 10, generations=40)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> be.stop_anytime(reference=0.2).decide(post).verdict
    'above'
    """
    if (width is None) == (reference is None):
        raise OptionError("stop_anytime takes a width or a reference, one of the two")
    return StopAnytime(
        None if width is None else require_probability("width", width),
        None if reference is None else require_probability("reference", reference),
        require_probability("alpha", alpha),
    )


def _metric(score: Metric | None) -> Metric:
    if score is None:
        return be_metrics.mean()
    if not isinstance(score, Metric):
        raise OptionError(
            f"score must come from bayeseval.metrics, such as metrics.pass_at(4), but {score!r} was given"
        )
    return score


def _finite(name: str, value: Any) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.integer | np.floating)
        or not np.isfinite(value)
    ):
        raise OptionError(f"{name} must be a finite number, but {value!r} was given")
    return float(value)
