"""The one place for defaults that a user may change for the whole session."""

from __future__ import annotations

from bayeseval.errors import require_probability

__all__ = ["Options", "options"]


class Options:
    """Defaults of the session.

    Attributes
    ----------
    prob : float
        Probability inside every interval (equal-tailed), 0.95 unless changed.

    Examples
    --------
    >>> import bayeseval as be
    >>> be.options.prob
    0.95
    """

    def __init__(self) -> None:
        self._prob = 0.95

    @property
    def prob(self) -> float:
        """Probability inside every interval."""
        return self._prob

    @prob.setter
    def prob(self, value: float) -> None:
        self._prob = require_probability("prob", value)

    def interval_prob(self, prob: float | None) -> float:
        """``prob`` if one is given, else the default."""
        return self._prob if prob is None else require_probability("prob", prob)

    def __repr__(self) -> str:
        return f"options: prob = {self.prob:g}"


options = Options()
