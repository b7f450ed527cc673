"""Scores by the names that papers give them."""

from __future__ import annotations

import re

from bayeseval import metrics
from bayeseval.errors import OptionError
from bayeseval.metrics import Metric

__all__ = ["metric_named", "metric_of"]

_METRIC = re.compile(r"(?P<kind>pass@|pass\^|g-?pass@|mg-?pass@)(?P<k>\d+)(?:[:_](?P<tau>[\d./]+))?", re.IGNORECASE)


def metric_named(text: str, what: str = "score") -> Metric:
    """A metric as people write it.

    Parameters
    ----------
    text : str
    what : str
        What the text is called in the message of the error.

    Raises
    ------
    OptionError
        If no metric has that name.

    Examples
    --------
    >>> [metric_named(text).name for text in ("mean", "pass@16", "pass^4", "g-pass@16:0.5", "mG-Pass@8")]
    ['mean', 'pass@16', 'pass^4', 'G-Pass@16 (τ = 0.5)', 'mG-Pass@8']
    """
    found = _METRIC.fullmatch(text.strip())
    if text.strip().lower() == "mean":
        return metrics.mean()
    if found is None or (found["tau"] is None) == found["kind"].lower().startswith("g"):
        raise OptionError(f"{what} must look like pass@16, pass^4, g-pass@16:0.5 or mg-pass@16, but {text!r} was given")
    kind, k = found["kind"].lower().replace("-", ""), int(found["k"])
    if kind == "gpass@":
        return metrics.g_pass(k, found["tau"])
    return {"pass@": metrics.pass_at, "pass^": metrics.pass_hat, "mgpass@": metrics.mg_pass}[kind](k)


def metric_of(score: str | Metric) -> Metric:
    """The metric itself, or the one of that name.

    Raises
    ------
    OptionError
        If it is neither.

    Examples
    --------
    >>> metric_of("pass@4") == metrics.pass_at(4)
    True
    """
    if isinstance(score, Metric):
        return score
    if isinstance(score, str):
        return metric_named(score)
    raise OptionError(f"score must be a name such as 'pass@4', or made by be.metrics, not {score!r}")
