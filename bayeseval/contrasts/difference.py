"""The result of `bayeseval.contrast`: the difference of two systems, and how it says itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.contrasts.joint import METHODS
from bayeseval.display import html_table
from bayeseval.posterior.scores import ESTIMANDS, decimals

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Contrast", "chance_words", "probability_greater", "share"]


@dataclass(frozen=True, repr=False)
class Contrast:
    r"""Difference of one score of two systems, a - b, with its posterior interval.

    Attributes
    ----------
    systems : tuple of str
        a and b.
    benchmark : str
    score : str
        Name of the score, such as ``"mean"`` or ``"pass@16"``.
    estimand : {"population", "benchmark"}
    value, sd : float
        Posterior mean and standard deviation of a - b.
    lower, upper : float
        Equal-tailed credible interval; NaN where no honest interval exists, and then `warnings` says why.
    prob : float
        Probability inside the interval.
    draws : float array (draw,)
    p_greater : float
        P(a > b); draws that are equal count half. NaN where there is no interval.
    rope : float or None
        Half width of the region of differences that do not matter.
    p_equivalent : float
        P(\|a - b\| < rope); NaN without a rope.
    design : {"paired", "unpaired", "coupled"}
        Same prompts; prompts of each system's own; same prompts and same noise of generations.
    method : str
        Where the draws come from: a key of `bayeseval.contrasts.joint.METHODS`.
    sizes : tuple of int
        Prompts of a and of b; those that both answered, unless unpaired.
    generations : tuple of int
        Median number of generations a prompt.
    noise : float
        Part of ``sd**2`` that comes from the noise of generations; NaN where one generation a prompt cannot tell.
    detectable : float
        Smallest true difference that a study like this one resolves with probability `power`, in that its interval
        excludes 0 (or lies outside the rope); NaN where none below 1 is.
    detectable_generations, detectable_prompts : float
        The same with twice the generations, and with twice the prompts.
    power : float
    warnings : tuple of str
    """

    systems: tuple[str, str]
    benchmark: str
    score: str
    estimand: str
    value: float
    sd: float
    lower: float
    upper: float
    prob: float
    draws: np.ndarray
    p_greater: float
    rope: float | None
    p_equivalent: float
    design: str
    method: str
    sizes: tuple[int, int]
    generations: tuple[int, int]
    noise: float
    detectable: float
    detectable_generations: float
    detectable_prompts: float
    power: float
    warnings: tuple[str, ...]

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the credible interval."""
        return self.lower, self.upper

    @property
    def width(self) -> float:
        """Width of the credible interval."""
        return self.upper - self.lower

    @property
    def numbers(self) -> str:
        """Value and interval."""
        digits = decimals(self.width) + 1
        if np.isnan(self.lower):
            return f"{self.value:+.{digits}f} (no interval)"
        return (
            f"{self.value:+.{digits}f} [{self.lower:+.{digits}f}, {self.upper:+.{digits}f}] "
            f"({100 * self.prob:.4g}% credible interval)"
        )

    @property
    def design_words(self) -> str:
        """How the two systems were compared, and on what."""
        first, second = self.sizes
        prompts = f"{first:,} prompts" if self.design != "unpaired" else f"{first:,} and {second:,} prompts"
        one, two = self.generations
        many = f"{one:,} generations each" if one == two else f"{one:,} and {two:,} generations"
        return f"{self.design}, {prompts}, {many.replace('1 generations', '1 generation') if one == two == 1 else many}"

    def sentence(self) -> str:
        """The difference as a paper would print it."""
        a, b = self.systems
        chance = "" if np.isnan(self.p_greater) else f"; {chance_words(f'P({a} > {b})', self.p_greater)}"
        zone = ""
        if self.rope is not None and not np.isnan(self.p_equivalent):
            zone = f", {chance_words(f'P(|difference| < {self.rope:g})', self.p_equivalent)}"
        return (
            f"{self.score} of {a} minus {b} on {self.benchmark}: {self.numbers}{chance}{zone}; estimand: "
            f"{self.estimand} ({ESTIMANDS[self.estimand]}); {self.design_words}; {METHODS[self.method]}"
        )

    def power_sentence(self) -> str:
        """What a study of this size can resolve, in words."""
        zone = "excludes 0" if not self.rope else f"lies outside ±{self.rope:g}"
        if np.isnan(self.detectable):
            return f"No true difference is resolved with probability {self.power:g} (interval {zone})."
        more = ", ".join(
            f"{value:.3g} with twice the {noun}"
            for value, noun in ((self.detectable_generations, "generations"), (self.detectable_prompts, "prompts"))
            if not np.isnan(value)
        )
        return (
            f"A study like this resolves a true difference of {self.detectable:.3g} with probability {self.power:g} "
            f"(interval {zone})" + (f"; {more}." if more else ".")
        )

    def to_frame(self) -> pd.DataFrame:
        """One row.

        Returns
        -------
        pandas.DataFrame
            Columns system_a, system_b, benchmark, score, estimand, design, value, sd, lower, upper, prob, p_greater,
            rope, p_equivalent, detectable, detectable_generations, detectable_prompts, power, n_prompts_a, n_prompts_b,
            method, warnings.
        """
        import pandas as pd

        return pd.DataFrame([self.row()])

    def row(self) -> dict[str, object]:
        """The row of `to_frame`."""
        names = ["benchmark", "score", "estimand", "design", "value", "sd", "lower", "upper", "prob", "p_greater"]
        names += ["rope", "p_equivalent", "detectable", "detectable_generations", "detectable_prompts", "power"]
        row: dict[str, object] = {"system_a": self.systems[0], "system_b": self.systems[1]}
        row |= {name: getattr(self, name) for name in names}
        row["rope"] = float("nan") if self.rope is None else self.rope
        row |= {"n_prompts_a": self.sizes[0], "n_prompts_b": self.sizes[1], "method": self.method}
        return {**row, "warnings": " ".join(self.warnings)}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Density of the difference, with its interval, the rope, and P(a > b)."""
        from bayeseval import plots

        return plots.plot_contrast(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        digits = decimals(self.width)
        body = [
            [f"{self.score}, {self.systems[0]} minus {self.systems[1]}", self.numbers],
            [f"P({self.systems[0]} > {self.systems[1]})", share(self.p_greater)],
            *([[f"P(|difference| < {self.rope:g})", share(self.p_equivalent)]] if self.rope is not None else []),
            ["estimand", f"{self.estimand}: {ESTIMANDS[self.estimand]}"],
            ["design", self.design_words],
            ["draws", METHODS[self.method]],
            ["resolvable difference", f"{self.detectable:.{digits}f} with probability {self.power:g}"],
        ]
        return html_table([self.benchmark, ""], body, (f"⚠ {warning}" for warning in self.warnings))


def probability_greater(difference: np.ndarray) -> np.ndarray:
    """Share of positive differences over the first axis; equal ones count half.

    Examples
    --------
    >>> float(probability_greater(np.array([0.1, 0.0, -0.2, 0.3])))
    0.625
    """
    return np.asarray((difference > 0).mean(axis=0) + (difference == 0).mean(axis=0) / 2)


def chance_words(what: str, probability: float) -> str:
    """A probability and what it is of.

    Examples
    --------
    >>> chance_words("P(a > b)", 0.25), chance_words("P(a > b)", 1.0)
    ('P(a > b) = .250', 'P(a > b) > .999')
    """
    text = share(probability)
    return f"{what} {text}" if text[0] in "<>" else f"{what} = {text}"


def share(probability: float) -> str:
    """A probability from draws: never closer to 0 or 1 than some thousand draws can tell.

    Examples
    --------
    >>> share(0.25), share(1.0), share(0.0001)
    ('.250', '> .999', '< .001')
    """
    if np.isnan(probability):
        return "unknown"
    if probability < 0.001:
        return "< .001"
    return "> .999" if probability > 0.999 else f"{probability:.3f}".lstrip("0")
