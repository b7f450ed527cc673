"""What a stopping rule says of a posterior: stop or go on, why, and the interval that it looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeseval.display import html_table
from bayeseval.errors import OptionError
from bayeseval.metrics import Metric
from bayeseval.posterior.credit import CreditPosterior
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import ESTIMANDS, Score, decimals

__all__ = ["Decision", "difference", "ends", "one_score", "the_one", "the_pair", "wording"]


@dataclass(frozen=True, repr=False)
class Decision:
    """Stop, or go on.

    Attributes
    ----------
    stop : bool
    reason : str
        A sentence.
    verdict : {"narrow", "above", "below", "equivalent"} or None
        What made it stop.
    quantity : str
        What was estimated, of which run or runs, for which estimand.
    value, lower, upper : float
        Posterior mean, and the ends of the interval.
    interval : str
        Kind and probability of the interval.
    runs : tuple of (system, benchmark)
        The run, or the two runs.
    n_prompts, n_generations : int
        Prompts, and generations in all; of two systems, prompts of the first and generations of both.
    above, below : float
        Posterior probabilities of lying above and below the reference, or the region of equivalence; NaN where the rule
        does not ask.
    warnings : tuple of str
        What the posteriors warn of.
    """

    stop: bool
    reason: str
    verdict: str | None
    quantity: str
    value: float
    lower: float
    upper: float
    interval: str
    runs: tuple[tuple[str, str], ...]
    n_prompts: int
    n_generations: int
    above: float = float("nan")
    below: float = float("nan")
    warnings: tuple[str, ...] = ()

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.upper - self.lower

    def sentence(self) -> str:
        """The decision with its numbers."""
        return (
            f"{'stop' if self.stop else 'go on'}: {self.quantity} is {ends(self.value, self.lower, self.upper)} "
            f"({self.interval}) after {self.n_generations:,} generations; {self.reason}"
        )

    def to_frame(self) -> Any:
        """One row: prompts, generations, value, lower, upper, width, above, below, verdict, stop, reason."""
        import pandas as pd

        row = {"prompts": self.n_prompts, "generations": self.n_generations}
        names = ("value", "lower", "upper", "width", "above", "below", "verdict", "stop", "reason")
        return pd.DataFrame([{**row, **{name: getattr(self, name) for name in names}}])

    def __repr__(self) -> str:
        return "\n".join([*(f"Warning: {warning}" for warning in self.warnings), self.sentence()])

    def _repr_html_(self) -> str:
        row = [f"{value:.4g}" for value in (self.value, self.lower, self.upper, self.width)]
        body = [[f"{self.n_generations:,}", *row, "stop" if self.stop else "go on"]]
        notes = [*(f"⚠ {warning}" for warning in self.warnings), self.sentence()]
        return html_table(["generations", "value", "lower", "upper", "width", ""], body, notes)


def ends(value: float, lower: float, upper: float) -> str:
    """A number and its interval with as many digits as the interval is worth."""
    if not np.isfinite(lower):
        return f"{value:.4g} (no interval)"
    digits = decimals(upper - lower)
    return f"{value:.{digits}f} [{lower:.{digits}f}, {upper:.{digits}f}]"


def the_one(given: Any, rule: str) -> Any:
    """The posterior of one run that was given.

    Raises
    ------
    OptionError
        If something else was given.
    """
    if isinstance(given, Posterior | CreditPosterior):
        return given
    many = f"{len(given)} posteriors were" if isinstance(given, Sequence) else f"{type(given).__name__} was"
    raise OptionError(f"{rule} looks at the posterior of one run, but {many} given")


def the_pair(given: Sequence[Any]) -> tuple[Any, Any]:
    """Two posteriors of two systems on one benchmark.

    Raises
    ------
    OptionError
        If something else was given, or the difference of their scores would mean nothing.
    """
    pair = tuple(given)
    if len(pair) != 2 or not all(isinstance(one, Posterior | CreditPosterior) for one in pair):
        words = ", ".join(type(one).__name__ for one in pair)
        raise OptionError(f"a difference needs the posteriors of two systems, (first, second), but got ({words})")
    first, second = pair
    if first.benchmark != second.benchmark:
        raise OptionError(
            f"the posteriors are of two benchmarks, {first.benchmark!r} and {second.benchmark!r}: a difference of "
            f"their scores means nothing"
        )
    if first.system == second.system:
        raise OptionError(f"both posteriors are of system {first.system!r} on {first.benchmark!r}: give two systems")
    return first, second


def one_score(posterior: Any, metric: Metric, estimand: str, prob: float) -> Score:
    """The score that a rule asks for."""
    return posterior.score(metric, estimand, prob)


def wording(scores: Sequence[Score]) -> str:
    """What was estimated: score, run or pair of systems, estimand."""
    first = scores[0]
    systems = " − ".join(score.system for score in scores)
    robust = ", robust" if any(score.method == "robust" for score in scores) else ""
    return (
        f"{'difference in ' if len(scores) > 1 else ''}{first.name} of {systems} on {first.benchmark}, "
        f"{first.estimand} estimand ({ESTIMANDS[first.estimand]}{robust})"
    )


def difference(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Draws of a difference of two scores whose posteriors are independent (draw,).

    Draws of two fits with one seed may go up and down together, since both engines draw from streams that the seed
    starts. So those of the second are shuffled first.
    """
    size = min(first.size, second.size)
    order = np.random.default_rng([first.size, second.size, 7]).permutation(second.size)
    return first[:size] - second[order][:size]
