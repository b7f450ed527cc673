"""More prompts or more generations: how far the same money goes, and what a target costs at the least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.display import html_table
from bayeseval.errors import OptionError, require_positive_integer
from bayeseval.metrics import Metric
from bayeseval.planning.analysis import Spread
from bayeseval.planning.costs import Cost
from bayeseval.planning.pilots import Pilot
from bayeseval.planning.setup import Setup, set_up
from bayeseval.posterior.posterior import EXTRAPOLATION_WARNING, Posterior
from bayeseval.progress import Progress

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Frontier", "frontier"]

LADDER = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
MOST_SIMULATED = 10_000
"""Prompts simulated at most; beyond, widths are scaled by the root of the number of prompts."""
START = 200
ROUNDS, MOST_ROUNDS = 6, 30


@dataclass(frozen=True, repr=False)
class Frontier:
    """For each number of generations the prompts that a target needs, or that a budget pays for.

    Attributes
    ----------
    k, n_prompts : int or None
        The optimum: generations per prompt, and prompts; None where no design meets the target.
    cost : float or None
        What the optimum costs.
    prices : Cost
    budget : float or None
        Given, or None where a target was given.
    width, sd : float or None
        The target, where one was given.
    assurance, prob : float
    least_prompts : int or None
        Prompts that the target needs, with the probability asked, even with endless generations.
    table : pandas.DataFrame
        One row a number of generations: generations, n_prompts, cost, width (median), width_lower, width_upper (90%
        band), sd (median), assurance (probability of meeting the target), assurance_mcse, feasible.
    score, system, benchmark, origin : str
    method : {"model", "robust"}
    futures : int
    warnings : tuple of str
    """

    k: int | None
    n_prompts: int | None
    cost: float | None
    prices: Cost
    budget: float | None
    width: float | None
    sd: float | None
    assurance: float
    prob: float
    least_prompts: int | None
    table: pd.DataFrame
    score: str
    method: str
    system: str
    benchmark: str
    origin: str
    futures: int
    warnings: tuple[str, ...]

    def sentence(self) -> str:
        """The optimum in words."""
        robust = ", robust" if self.method == "robust" else ""
        start = f"{self.score} of {self.system} on {self.benchmark}, population estimand (prompts like these{robust}): "
        if self.budget is not None:
            row = self._row()
            spent = self.prices.words(self.budget)
            return (
                f"{start}{spent} go furthest with {self._design()}: median width of the {self.prob:.0%} interval "
                f"{row['width']:.3g} ({self.futures} simulated futures; {self.origin})."
            )
        goal = (
            f"a {self.prob:.0%} interval no wider than {self.width:g}"
            if self.sd is None
            else f"a posterior standard deviation of at most {self.sd:g}"
        )
        least = f" Even endless generations need about {self.least_prompts:,} prompts." if self.least_prompts else ""
        if self.k is None:
            most = int(self.table["n_prompts"].max())
            return (
                f"{start}no design with up to {most:,} prompts gives {goal} with probability {self.assurance:g}.{least}"
            )
        row = self._row()
        return (
            f"{start}{goal} with probability {self.assurance:g} is cheapest with {self._design()}, "
            f"{self.prices.words(float(self.cost or 0))} (assurance {row['assurance']:.2f} ± "
            f"{row['assurance_mcse']:.2f} from {self.futures} simulated futures; {self.origin}).{least}"
        )

    def _design(self) -> str:
        noun = "generation" if self.k == 1 else "generations"
        return f"{self.k} {noun} on each of {self.n_prompts:,} fresh prompts"

    def _row(self) -> pd.Series:
        return self.table[self.table["generations"] == self.k].iloc[0]

    def to_frame(self) -> pd.DataFrame:
        """The table."""
        return self.table.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Cost (or width, for a budget) against generations per prompt, with the prompts of each design."""
        from bayeseval import plots

        return plots.plot_frontier(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        body = [[f"{value:,.4g}" if not isinstance(value, bool) else str(value) for value in row]
                for row in self.table.astype(object).to_numpy()]  # fmt: skip
        return html_table(list(self.table.columns), body, [*(f"⚠ {text}" for text in self.warnings), self.sentence()])


def frontier(
    source: Posterior | Pilot,
    cost: Cost,
    *,
    width: float | None = None,
    sd: float | None = None,
    budget: float | None = None,
    score: Metric | None = None,
    most_prompts: int | None = None,
    assurance: float = 0.8,
    prob: float | None = None,
    generations: Sequence[int] | None = None,
    futures: int | None = None,
    refits: str = "auto",
    seed: int = 0,
    progress: bool = True,
) -> Frontier:
    r"""Cheapest design that meets a target, or best design for a budget, over prompts and generations.

    The design is fresh: n prompts like the pilot's, k generations each, the pilot discarded. For each k futures are
    simulated and refitted as by `plan`, and n is found so that the target is met with the probability asked. For the
    mean the optimum lies near

    .. math:: k^* = \sqrt{\frac{c_p}{c_g}\,\frac{1-\rho}{\rho}} ;

    where prompts cost nothing it is one generation on as many prompts as there are.

    Parameters
    ----------
    source : Posterior or Pilot
    cost : Cost
    width, sd : float, optional
        Target, as in `plan`.
    budget : float, optional
        In place of a target: how much may be spent, in the unit of the cost.
    score : Metric, optional
        The mean by default.
    most_prompts : int, optional
        Prompts that there are; when they run out, more money can only go to more generations.
    assurance, prob, futures, refits, seed, progress
        As in `plan`; 200 futures by default, 20 where each is fitted by NUTS.
    generations : sequence of int, optional
        Numbers of generations to try; 1 to 64 by default.

    Returns
    -------
    Frontier

    Raises
    ------
    OptionError
        If an argument is out of range, targets contradict each other, or the budget does not pay for two prompts.

    References
    ----------
    Miller (2024). Adding error bars to evals: a statistical approach to language model evaluations.
    https://arxiv.org/abs/2411.00640

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 10, generations=[4] * 40)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> cheapest = be.frontier(post, be.Cost(prompt=5), width=0.1, generations=[1, 2, 4], futures=50, progress=False)
    >>> cheapest.k in (1, 2, 4) and cheapest.n_prompts > 100
    True
    """
    if not isinstance(cost, Cost):
        raise OptionError(f"cost must be made by be.Cost(...), but {type(cost).__name__} was given")
    if sum(value is not None for value in (width, sd, budget)) != 1:
        raise OptionError("give one of width=..., sd=... and budget=...: a target, or what may be spent")
    goal = 0.5 if width is None and sd is None else width
    futures = (20 if refits == "nuts" else 200) if futures is None else futures
    setup = set_up(source, goal, sd, score, "population", "fresh", 2, assurance, prob, futures, refits)
    if most_prompts is not None:
        require_positive_integer("most_prompts", most_prompts)
    ladder = (
        LADDER if generations is None else sorted({require_positive_integer("generations", k) for k in generations})
    )
    if not ladder:
        raise OptionError("generations is empty; give the numbers of generations to try, or leave it out")
    rows = []
    n = len(setup.pilot.counts) if setup.pilot.counts is not None else START
    with Progress("simulating designs", total=len(ladder), enabled=progress) as bar:
        for k in ladder:
            if budget is None:
                n, spread = _prompts_needed(setup, k, n, assurance, most_prompts, seed)
            else:
                n = min(cost.affordable(_checked(budget), k), most_prompts or 10**9)
                if n < 2:
                    break
                spread = _spread(setup, n, k, seed)
            rows.append(_row(setup, cost, n, k, spread, assurance, budget))
            bar.advance()
    if not rows:
        raise OptionError(
            f"a budget of {cost.words(float(budget or 0))} does not pay for two prompts with {ladder[0]} generations "
            f"each, which cost {cost.words(cost.total(2, ladder[0]))}"
        )
    least = None
    if budget is None and setup.analysis.known is not None:
        probe = setup.futures_of(START, seed)
        remains = float(np.quantile(setup.floor(probe), assurance, method="inverted_cdf"))
        least = int(np.ceil(START * (remains / setup.target) ** 2))
    return _result(setup, cost, rows, width, sd, budget, assurance, least)


def _checked(budget: float) -> float:
    if isinstance(budget, bool) or not isinstance(budget, int | float | np.number) or not budget > 0:
        raise OptionError(f"budget must be above 0, but {budget!r} was given")
    return float(budget)


def _prompts_needed(setup: Setup, k: int, n: int, assurance: float, most: int | None, seed: int) -> tuple[int, Spread]:
    """Fewest prompts with which the target is met with the probability asked; widths fall like the root of n."""
    limit = most or 10**7
    n, best = min(max(n, 2), limit), None
    for turn in range(MOST_ROUNDS):
        spread = _spread(setup, n, k, seed)
        reached = float(np.quantile(getattr(spread, setup.measure), assurance, method="inverted_cdf"))
        met = reached <= setup.target
        if met and (best is None or n < best[0]):
            best = n, spread
        needed = min(max(int(np.ceil(n * (reached / setup.target) ** 2)), 2), limit)
        if met and (needed >= 0.99 * n or turn >= ROUNDS) or n == limit and not met:
            break
        # Futures of another number of prompts are other futures: a little more, where the target is missed by chance.
        n = needed if met else min(max(needed, int(1.005 * n) + 1), limit)
    return best or (n, spread)


def _spread(setup: Setup, n: int, k: int, seed: int) -> Spread:
    """Widths with n prompts and k generations; simulated with fewer prompts and scaled where there are very many."""
    simulated = min(n, MOST_SIMULATED)
    spread = setup.spread_at(setup.futures_of(simulated, seed), k)
    scale = np.sqrt(simulated / n)
    return replace(spread, width=spread.width * scale, sd=spread.sd * scale)


def _row(
    setup: Setup, cost: Cost, n: int, k: int, spread: Spread, assurance: float, budget: float | None
) -> dict[str, float]:
    met = float(np.mean(getattr(spread, setup.measure) <= setup.target))
    error = float(np.sqrt(met * (1 - met) / spread.width.size))
    lower, middle, upper = np.quantile(spread.width, [0.05, 0.5, 0.95])
    return {
        "generations": k,
        "n_prompts": n,
        "cost": cost.total(n, k),
        "width": float(middle),
        "width_lower": float(lower),
        "width_upper": float(upper),
        "sd": float(np.median(spread.sd)),
        "assurance": np.nan if budget is not None else met,
        "assurance_mcse": np.nan if budget is not None else error,
        "feasible": budget is not None or met >= assurance - 1e-9,
    }


def _result(setup, cost, rows, width, sd, budget, assurance, least) -> Frontier:  # type: ignore[no-untyped-def]
    import pandas as pd

    table = pd.DataFrame(rows)
    feasible = table[table["feasible"]]
    by = "cost" if budget is None else "width"
    best = feasible.loc[feasible[by].idxmin()] if len(feasible) else None
    warnings = [*setup.pilot.remarks["population"], *setup.cautions]
    if setup.score.k > EXTRAPOLATION_WARNING * table["generations"].min():
        warnings.append(
            f"{setup.score.name} with few generations looks beyond what is run: those widths lean on the shape of the "
            f"fitted distribution, and do not show how uncertain that is"
        )
    return Frontier(
        k=None if best is None else int(best["generations"]),
        n_prompts=None if best is None else int(best["n_prompts"]),
        cost=None if best is None else float(best["cost"]),
        prices=cost,
        budget=budget,
        width=width,
        sd=sd,
        assurance=assurance,
        prob=setup.prob,
        least_prompts=least,
        table=table,
        score=setup.score.name,
        method="robust" if setup.robust else "model",
        system=setup.pilot.system,
        benchmark=setup.pilot.benchmark,
        origin=setup.pilot.origin,
        futures=setup.futures,
        warnings=tuple(warnings),
    )
