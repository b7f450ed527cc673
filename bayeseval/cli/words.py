"""What people type: metrics, priors, columns, lists of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bayeseval import metrics
from bayeseval.errors import OptionError
from bayeseval.metrics import Metric

__all__ = ["columns_from", "levels_from", "metric_from", "numbers_from", "priors_from"]

_METRIC = re.compile(r"(?P<kind>pass@|pass\^|g-?pass@|mg-?pass@)(?P<k>\d+)(?:[:_](?P<tau>[\d./]+))?", re.IGNORECASE)


def metric_from(text: str) -> Metric:
    """A metric as people write it.

    Examples
    --------
    >>> [metric_from(text).name for text in ("mean", "pass@16", "pass^4", "g-pass@16:0.5", "mG-Pass@8")]
    ['mean', 'pass@16', 'pass^4', 'G-Pass@16 (τ = 0.5)', 'mG-Pass@8']
    """
    found = _METRIC.fullmatch(text.strip())
    if text.strip().lower() == "mean":
        return metrics.mean()
    if found is None or (found["tau"] is None) == found["kind"].lower().startswith("g"):
        raise OptionError(
            f"--metric must look like pass@16, pass^4, g-pass@16:0.5 or mg-pass@16, but {text!r} was given"
        )
    kind, k = found["kind"].lower().replace("-", ""), int(found["k"])
    if kind == "gpass@":
        return metrics.g_pass(k, found["tau"])
    return {"pass@": metrics.pass_at, "pass^": metrics.pass_hat, "mgpass@": metrics.mg_pass}[kind](k)


def priors_from(texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Prior parameters by name.

    Examples
    --------
    >>> priors_from(["mu=0.5,0.5"])
    {'mu': (0.5, 0.5)}
    """
    priors = {}
    for text in texts:
        name, equals, values = text.partition("=")
        try:
            priors[name.strip()] = tuple(float(value) for value in values.split(","))
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise OptionError(f"--prior must look like mu=0.5,0.5, but {text!r} was given")
    return priors


def columns_from(texts: Sequence[str]) -> dict[str, str | list[str] | bool]:
    """Columns by role; several for a role are joined, and none means that there is no such column.

    Examples
    --------
    >>> columns_from(["system=checkpoint", "benchmark=task,condition", "group="])
    {'system': 'checkpoint', 'benchmark': ['task', 'condition'], 'group': False}
    """
    named: dict[str, list[str]] = {}
    for text in texts:
        role, equals, column = text.partition("=")
        if not equals or not role.strip():
            raise OptionError(f"--column must look like system=checkpoint, but {text!r} was given")
        named.setdefault(role.strip(), []).extend(column.split(","))
    return {
        role: False if columns == [""] else columns[0] if len(columns) == 1 else columns
        for role, columns in named.items()
    }


def numbers_from(text: str) -> list[int]:
    """Whole numbers between commas.

    Examples
    --------
    >>> numbers_from("4, 8,16")
    [4, 8, 16]
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"--generations must look like 4,8,16, but {text!r} was given") from None


def levels_from(text: str) -> tuple[float, ...]:
    """Levels of credit between commas.

    Examples
    --------
    >>> levels_from("0, 0.5, 1")
    (0.0, 0.5, 1.0)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"--levels must look like 0,0.5,1, but {text!r} was given") from None
