"""How many of k attempts must be correct: thresholds of G-Pass@k and mG-Pass@k in exact arithmetic."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np

from bayeseval.errors import OptionError, require_choice, require_positive_integer

__all__ = ["Form", "Threshold", "ceil_share", "exact_tau", "mg_form", "mg_level", "tau_text", "threshold_successes"]

Threshold = float | int | str | Fraction | Decimal
Form = Literal["published", "integral"]

_NUMBER = r"(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,3})?"
_TAU_TEXT = re.compile(rf"\s*[-+]?{_NUMBER}\s*(?:/\s*\d{{1,40}}\s*)?")
_SNAP_ULPS = 4


def threshold_successes(tau: Threshold, k: int) -> int:
    """Fewest correct attempts of k that reach the threshold tau, ``m = max(1, ceil(tau k))`` in exact arithmetic.

    Parameters
    ----------
    tau : float, int, str, Fraction or Decimal
        Share in [0, 1]. Text such as ``"0.07"`` or ``"7/25"`` and fractions are exact. A float is read as the shortest
        decimal that stands for it, or as j/k where it lies within four units in its last place of that, so that
        ``7 / 25`` and ``0.1 * 3`` mean 7/25 and 3/10.
    k : int
        Attempts.

    Returns
    -------
    int
        Between 1 and k. Rounding up in floating point would give 8 for ``0.07 * 100``.

    Raises
    ------
    OptionError
        If tau is NaN, outside [0, 1] or not a number.

    Examples
    --------
    >>> threshold_successes(0.07, 100), threshold_successes("7/25", 25), threshold_successes(0, 16)
    (7, 7, 1)
    """
    k = require_positive_integer("k", k)
    return ceil_share(exact_tau(tau, k), k)


def ceil_share(tau: Fraction, k: int) -> int:
    """Return ``max(1, ceil(tau k))`` for an exact tau."""
    return max(1, -((-tau.numerator * k) // tau.denominator))


def exact_tau(tau: Threshold, k: int) -> Fraction:
    """Return tau as an exact fraction, read as `threshold_successes` says, or raise `OptionError`."""
    refused = OptionError(
        f"tau must be a share in [0, 1] such as 0.5, '0.07' or '7/25' (number, text or Fraction), but {tau!r} was given"
    )
    if isinstance(tau, np.integer):
        tau = int(tau)
    try:
        if isinstance(tau, bool | np.bool_):
            raise refused
        if isinstance(tau, str | Decimal):
            exact = _read_text(str(tau))
        elif isinstance(tau, float | np.floating):
            exact = Fraction(str(tau))
            nearest = Fraction(round(exact * k), k)
            if abs(exact - nearest) <= _SNAP_ULPS * Fraction(float(np.spacing(tau))):
                exact = nearest
        elif isinstance(tau, int | Fraction):
            exact = Fraction(tau)
        else:
            raise refused
    except (ValueError, ZeroDivisionError):
        raise refused from None
    if not 0 <= exact <= 1:
        if 1 < exact <= 100 and "/" not in str(tau):
            raise OptionError(f"{refused}; did you mean {float(exact / 100):g}?")
        raise refused
    return exact


def tau_text(tau: Fraction) -> str:
    """Return tau as the decimal that is exact with at most 12 digits, else as a fraction: ``0.5``, ``1/3``."""
    text = f"{float(tau):.12g}"
    return text if "e" not in text and Fraction(text) == tau else f"{tau.numerator}/{tau.denominator}"


def mg_form(k: int, form: Form | None) -> Form:
    """Return which definition of mG-Pass@k is meant; `OptionError` for an odd k where none is named."""
    if form is not None:
        return "integral" if require_choice("form", form, ("published", "integral")) == "integral" else "published"
    if k % 2:
        raise OptionError(
            f"mG-Pass@{k} has two definitions because {k} is odd, so say which: form='published' is the sum in the "
            f"paper and code of G-Pass@k, under which a perfect system scores (k - 1)/k = {(k - 1) / k:.3g}; "
            "form='integral' is twice the integral of G-Pass@k over thresholds from 1/2 to 1, under which it scores 1. "
            "For even k they agree"
        )
    return "published"


def mg_level(k: int, form: Form) -> float:
    """Return the successes that earn nothing in mG-Pass@k; each one above earns 2/k."""
    return k / 2 if form == "integral" else float(-(-k // 2))


def _read_text(text: str) -> Fraction:
    if not _TAU_TEXT.fullmatch(text):
        raise ValueError
    numerator, _, denominator = text.partition("/")
    return Fraction(numerator.strip()) / Fraction(denominator.strip() or 1)
