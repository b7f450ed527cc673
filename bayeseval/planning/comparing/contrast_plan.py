"""The result of `bayeseval.plan_contrast`: what a comparison of two systems will find, and how it says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayeseval.display import html_table
from bayeseval.posterior.scores import ESTIMANDS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ContrastPlan"]


@dataclass(frozen=True, repr=False)
class ContrastPlan:
    """What a comparison of two systems will find, for each number of generations.

    Attributes
    ----------
    k : int or None
        Smallest number of generations per prompt and system that resolves the difference with probability `power`;
        None if none does.
    floor : float
        Standard error of the difference with infinitely many generations (median over draws).
    limit : float
        Probability that infinitely many generations resolve the difference.
    n_prompts_needed : int or None
        Where k is None, prompts that would reach `power`: with infinitely many generations where the given prompts
        cannot do it with any number, else with the largest number tried. None where no number of prompts does either.
    curve : pandas.DataFrame
        One row a number of generations: generations, standard_error (median over draws), standard_error_lower,
        standard_error_upper (90% band), resolved (probability that the interval lies outside ±rope), equivalent
        (inside ±rope), undecided, mcse (Monte Carlo standard error of resolved), detectable (true difference that is
        resolved with probability `power`), prompts_needed (fresh prompts that reach `power` at this number; NaN where
        none do).
    difference : float or None
        True difference that was assumed; None: averaged over what the pilot says.
    expected : float
        The difference assumed, or the pilot's own.
    rope, prob, power : float
    design : {"paired", "unpaired", "coupled"}
    estimand : {"population", "benchmark"}
    prompts : {"same", "fresh"}
    sizes : tuple of int
        Prompts of each system.
    generations_so_far : int
        Median number of generations that the prompts have already; 0 for fresh prompts.
    kappa : float
        Covariance of coupled generations within prompts (mean over draws); 0 for other designs.
    draws : int
    systems : tuple of str
    benchmark : str
    warnings : tuple of str
    """

    k: int | None
    floor: float
    limit: float
    n_prompts_needed: int | None
    curve: pd.DataFrame
    difference: float | None
    expected: float
    rope: float
    prob: float
    power: float
    design: str
    estimand: str
    prompts: str
    sizes: tuple[int, int]
    generations_so_far: int
    kappa: float
    draws: int
    systems: tuple[str, str]
    benchmark: str
    warnings: tuple[str, ...]

    @property
    def n_prompts(self) -> int:
        """Prompts of the system that has fewer."""
        return min(self.sizes)

    @property
    def prompt_words(self) -> str:
        """Number and kind of the prompts."""
        first, second = self.sizes
        count = f"{first:,}" if first == second else f"{first:,} and {second:,}"
        return f"the same {count} prompts" if self.prompts == "same" else f"{count} fresh prompts"

    @property
    def target_words(self) -> str:
        """What is to be resolved."""
        if self.difference is not None:
            return f"a true difference of {self.difference:g}"
        return f"the difference that the pilot suggests ({self.expected:+.3f})"

    def sentence(self) -> str:
        """The plan in words, for a proposal."""
        head = (
            f"{self.systems[0]} against {self.systems[1]} on {self.benchmark}, {self.estimand} estimand "
            f"({ESTIMANDS[self.estimand]}), {self.design}, {self.prompt_words}: "
        )
        zone = "excludes 0" if self.rope == 0 else f"lies outside ±{self.rope:g}"
        if self.k is not None:
            row = self.curve[self.curve["generations"] == self.k].iloc[0]
            noun, verb = ("generation", "resolves") if self.k == 1 else ("generations", "resolve")
            already = " (already run)" if self.k <= self.generations_so_far else ""
            error = f" (± {row['mcse']:.3f} from {self.draws} draws)" if self.draws > 1 else ""
            body = (
                f"{self.k:,} {noun} per prompt and system{already} {verb} {self.target_words} with probability "
                f"{row['resolved']:.2f}{error}, in that the {self.prob:.0%} interval {zone}; standard error "
                f"{row['standard_error']:.2g}."
            )
        else:
            body = self._out_of_reach(zone)
        floor = ""
        if self.floor > 0:
            floor = f" No number of generations brings the standard error below {self.floor:.2g}."
        return head + body + floor

    def _out_of_reach(self, zone: str) -> str:
        last = self.curve.iloc[-1]
        count = f"{self.n_prompts:,} prompts"
        goal = f"resolves {self.target_words} with probability {self.power:g} ({self.prob:.0%} interval {zone})"
        if self.limit < self.power:
            start, instead = f"with {count} no number of generations {goal}", "endless generations"
        else:
            most = f"{int(last['generations']):,}"
            start = f"with {count} no number of generations up to {most} {goal}"
            instead = f"{most} generations each"
        if self.n_prompts_needed is None:
            return f"{start}, nor would more prompts."
        return f"{start}; about {self.n_prompts_needed:,} prompts with {instead} would."

    def to_frame(self) -> pd.DataFrame:
        """The curve."""
        return self.curve.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Probability that the difference is resolved, against generations."""
        from bayeseval import plots

        return plots.plot_contrast_plan(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        body = [[f"{value:.4g}" if value == value else "none" for value in row] for row in self.curve.to_numpy()]
        return html_table(list(self.curve.columns), body, [*(f"⚠ {text}" for text in self.warnings), self.sentence()])
