"""What a plan says: the curve over numbers of generations, in figures and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.display import html_table
from bayeseval.posterior.scores import ESTIMANDS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Plan", "Row", "curve_of"]

BAND = (0.05, 0.95)


@dataclass(frozen=True)
class Row:
    """One number of generations: summaries over the futures, in the order of the curve's columns."""

    width: float
    width_lower: float
    width_upper: float
    width_mcse: float
    sd: float
    assurance: float
    unreliable: float = 0.0

    @classmethod
    def of(cls, width: np.ndarray, sd: np.ndarray, met: np.ndarray, unreliable: float = 0.0) -> Row:
        """Summaries of widths, standard deviations, and whether each future meets the target (future,)."""
        lower, middle, upper = np.quantile(width, [BAND[0], 0.5, BAND[1]])
        step = min(0.5 / np.sqrt(width.size), 0.5)
        below, above = np.quantile(width, [0.5 - step, 0.5 + step])
        return cls(
            float(middle),
            float(lower),
            float(upper),
            float(above - below) / 2,
            float(np.median(sd)),
            float(np.mean(met)),
            unreliable,
        )


def curve_of(rows: dict[int, Row], futures: int) -> pd.DataFrame:
    """The curve: one row a number of generations, in rising order."""
    import pandas as pd

    names = ("width", "width_lower", "width_upper", "width_mcse", "sd", "assurance")
    frame = pd.DataFrame(
        [(k, *(getattr(rows[k], name) for name in names)) for k in sorted(rows)], columns=["generations", *names]
    )
    share = frame["assurance"]
    return frame.assign(assurance_mcse=np.sqrt(share * (1 - share) / futures))


@dataclass(frozen=True, repr=False)
class Plan:
    """How well a score will be known, for each number of generations.

    Attributes
    ----------
    k : int or None
        Smallest number of generations per prompt whose assurance reaches the target; None if none does.
    floor : float
        Median width (or standard deviation, where that is the target) with infinitely many generations: no k gets
        below it. Known p_i say more about the mean of a Beta than their average does, so that it may lie up to a tenth
        below that of the plain mean, 2 z sigma / sqrt(n).
    floor_assurance : float
        Probability of meeting the target with infinitely many generations.
    prompts_needed : int or None
        About how many prompts like these would meet it then with the probability asked; None for the benchmark.
    width, sd : float or None
        The target: width of the interval, or posterior standard deviation. One of them is None.
    assurance, prob : float
        Probability with which the target shall be met, and probability inside the interval.
    score : str
        Name of the score, such as ``"mean"`` or ``"pass@16"``.
    estimand : {"population", "benchmark"}
    method : {"model", "robust"}
        How the interval is computed; see `Posterior.mean`.
    design : {"same", "fresh"}
        Whether the prompts already answered get more generations, or fresh prompts are answered.
    n_prompts : int
    generations_so_far : int
        Median number of generations that the prompts have already; 0 for fresh prompts.
    curve : pandas.DataFrame
        One row a k: generations, width (median over futures), width_lower, width_upper (90% band), width_mcse (Monte
        Carlo standard error of the median), sd (median), assurance, assurance_mcse.
    futures : int
        Simulated futures for each k.
    refits : {"exact", "importance", "nuts"}
        How every future was fitted.
    source : {"posterior", "published", "prior"}
        What the futures are drawn from.
    origin : str
        The same in words.
    rule_generations : int or None
        The rule k >= 3r of the G-Pass@k paper for r attempts.
    system, benchmark : str
    warnings : tuple of str
    """

    k: int | None
    floor: float
    floor_assurance: float
    prompts_needed: int | None
    width: float | None
    sd: float | None
    assurance: float
    prob: float
    score: str
    estimand: str
    method: str
    design: str
    n_prompts: int
    generations_so_far: int
    curve: pd.DataFrame
    futures: int
    refits: str
    source: str
    origin: str
    rule_generations: int | None
    system: str
    benchmark: str
    warnings: tuple[str, ...]

    @property
    def prompts(self) -> str:
        """The design, in the words of the call."""
        return self.design

    @property
    def measure(self) -> str:
        """Column of the curve that the target is about: ``"width"`` or ``"sd"``."""
        return "sd" if self.width is None else "width"

    @property
    def target(self) -> float:
        """The target, be it a width or a standard deviation."""
        return float(self.sd if self.width is None else self.width)  # type: ignore[arg-type]

    def sentence(self) -> str:
        """The plan in words, for a proposal."""
        return self._start() + self._answer() + self._beyond() + self._rule() + self._source()

    def _start(self) -> str:
        prompts = f"the same {self.n_prompts:,}" if self.design == "same" else f"{self.n_prompts:,} fresh"
        name = self.score[0].upper() + self.score[1:] if self.score == "mean" else self.score
        return (
            f"{name} of {self.system} on {self.benchmark}, {self.estimand} estimand ({ESTIMANDS[self.estimand]}"
            f"{', robust' if self.method == 'robust' else ''}), {prompts} prompts: "
        )

    def _answer(self) -> str:
        goal = (
            f"a posterior standard deviation of at most {self.target:g}"
            if self.measure == "sd"
            else f"a {self.prob:.0%} interval no wider than {self.target:g}"
        )
        median = "median standard deviation" if self.measure == "sd" else "median width"
        if self.k is None:
            last = self.curve.iloc[-1]
            return (
                f"no number of generations up to {int(last['generations']):,} gives {goal} with probability "
                f"{self.assurance:g} ({median} there {last[self.measure]:.3g})."
            )
        row = self.curve[self.curve["generations"] == self.k].iloc[0]
        noun, verb = ("generation", "gives") if self.k == 1 else ("generations", "give")
        already = " already run" if self.k == self.generations_so_far else ""
        return (
            f"{self.k} {noun} per prompt{already} {verb} {goal} with probability {row['assurance']:.2f} "
            f"(± {row['assurance_mcse']:.2f} from {self.futures} simulated futures; {median} {row[self.measure]:.3g})."
        )

    def _beyond(self) -> str:
        if self.estimand == "benchmark":
            return ""
        lowest = f"±{self.floor / 2:.3g}" if self.measure == "width" else f"a standard deviation of {self.floor:.3g}"
        text = f" With {self.n_prompts:,} prompts no number of generations gets below about {lowest}."
        if self.k is None and self.floor_assurance < self.assurance:
            if self.floor <= self.target:
                text += f" Even endless generations would reach the target with probability {self.floor_assurance:.2f}."
            text += f" More prompts would do: about {self.prompts_needed:,} or more."
        elif self.k is None:
            text += " The target lies just above that: somewhat more prompts are the cheaper way to it."
        return text

    def _rule(self) -> str:
        if self.rule_generations is None:
            return ""
        rows = self.curve[self.curve["generations"] == self.rule_generations]
        seen = f", median width {rows['width'].iloc[0]:.3g}" if len(rows) else ""
        return f" The rule k ≥ 3r of the G-Pass@k paper asks for {self.rule_generations} generations{seen}."

    def _source(self) -> str:
        return "" if self.source == "posterior" else f" ({self.origin[0].upper()}{self.origin[1:]}.)"

    def to_frame(self) -> pd.DataFrame:
        """The curve."""
        return self.curve.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Width against generations, with its band, the target and the floor."""
        from bayeseval import plots

        return plots.plot_plan(self, ax=ax)

    def plot_assurance(self, ax: Axes | None = None) -> Axes:
        """Probability of meeting the target against generations."""
        from bayeseval import plots

        return plots.plot_assurance(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        body = [[f"{value:.4g}" for value in row] for row in self.curve.to_numpy()]
        return html_table(list(self.curve.columns), body, [*(f"⚠ {text}" for text in self.warnings), self.sentence()])
