r"""How many generations a run needs, said before the money is spent.

A plan simulates futures from the posterior: for each it draws :math:`(\mu, \rho)` and :math:`p_i`, then the generations
still to come, refits exactly, and records the width of the interval. The assurance of a number of generations k is the
share of futures whose interval is as narrow as asked [1]_. With infinitely many generations every :math:`p_i` would
be known; the width that remains then is the floor that no k can beat.

References
----------
.. [1] O'Hagan, Stevens & Campbell (2005). Assurance in clinical trial design. Pharmaceutical Statistics 4, 187-201.
   https://doi.org/10.1002/pst.175
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.defaults import options
from bayeseval.display import html_table
from bayeseval.engines.batches import Batch
from bayeseval.engines.quadrature import Prior
from bayeseval.engines.refits import refit
from bayeseval.errors import DataError, OptionError, require_choice, require_positive_integer, require_probability
from bayeseval.planning.futures import Futures
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import ESTIMANDS, require_estimand
from bayeseval.progress import Progress

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["DESIGNS", "Plan", "plan"]

DESIGNS = ("same", "fresh")
CURVE_POINTS = 12
SMALLEST_REACH = 64
MOST_GENERATIONS = 8192
BAND = (0.05, 0.95)


@dataclass(frozen=True, repr=False)
class Plan:
    """How wide the interval will be, for each number of generations.

    Attributes
    ----------
    k : int or None
        Smallest number of generations per prompt whose assurance reaches the target; None if none does.
    floor : float
        Median width with infinitely many generations: no k gets below it.
    width, assurance, prob : float
        Target width, target assurance, and probability inside the interval.
    estimand : {"population", "benchmark"}
    method : {"model", "robust"}
        How the population interval is computed.
    design : {"same", "fresh"}
        Whether the prompts already answered get more generations, or fresh prompts are answered.
    n_prompts : int
    generations_so_far : int
        Median number of generations that the prompts have already; 0 for fresh prompts.
    curve : pandas.DataFrame
        One row a k: generations, width (median over futures), width_lower, width_upper (90% band), assurance,
        assurance_mcse (its Monte Carlo standard error).
    futures : int
        Simulated futures for each k.
    rule_generations : int or None
        The rule k >= 3r of the G-Pass@k paper for r attempts.
    system, benchmark : str
    warnings : tuple of str
    """

    k: int | None
    floor: float
    width: float
    assurance: float
    prob: float
    estimand: str
    method: str
    design: str
    n_prompts: int
    generations_so_far: int
    curve: pd.DataFrame
    futures: int
    rule_generations: int | None
    system: str
    benchmark: str
    warnings: tuple[str, ...]

    @property
    def prompts(self) -> str:
        """The design, in the words of the call."""
        return self.design

    def sentence(self) -> str:
        """The plan in words, for a proposal."""
        prompts = f"the same {self.n_prompts:,}" if self.design == "same" else f"{self.n_prompts:,} fresh"
        start = (
            f"Mean of {self.system} on {self.benchmark}, {self.estimand} estimand ({ESTIMANDS[self.estimand]}"
            f"{', robust' if self.method == 'robust' else ''}), {prompts} prompts: "
        )
        target = f"a {self.prob:.0%} interval no wider than {self.width:g}"
        if self.k is not None:
            row = self.curve[self.curve["generations"] == self.k].iloc[0]
            noun = "generation" if self.k == 1 else "generations"
            already = " already run" if self.k == self.generations_so_far else ""
            body = (
                f"{self.k} {noun} per prompt{already} give {target} with probability {row['assurance']:.2f} "
                f"(± {row['assurance_mcse']:.2f} from {self.futures} simulated futures; median width "
                f"{row['width']:.3g})."
            )
        else:
            last = self.curve.iloc[-1]
            body = (
                f"no number of generations up to {int(last['generations']):,} gives {target} with probability "
                f"{self.assurance:g} (median width there {last['width']:.3g})."
            )
        floor = ""
        if self.estimand == "population":
            floor = f" With {self.n_prompts:,} prompts no number of generations gets below about ±{self.floor / 2:.3g}."
            if self.k is None and self.floor > self.width:
                needed = int(np.ceil(self.n_prompts * (self.floor / self.width) ** 2))
                floor += f" More prompts would: about {needed:,} or more."
            elif self.k is None:
                floor += " The target lies just above that: somewhat more prompts are the cheaper way to it."
        rule = ""
        if self.rule_generations is not None:
            rows = self.curve[self.curve["generations"] == self.rule_generations]
            seen = f", median width {rows['width'].iloc[0]:.3g}" if len(rows) else ""
            rule = f" The rule k ≥ 3r of the G-Pass@k paper asks for {self.rule_generations} generations{seen}."
        return start + body + floor + rule

    def to_frame(self) -> pd.DataFrame:
        """The curve."""
        return self.curve.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Width against generations, with its band, the target and the floor."""
        from bayeseval import plots

        return plots.plot_plan(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        body = [[f"{value:.4g}" for value in row] for row in self.curve.to_numpy()]
        return html_table(list(self.curve.columns), body, [*(f"⚠ {text}" for text in self.warnings), self.sentence()])


def plan(
    posterior: Posterior,
    width: float,
    *,
    estimand: str = "population",
    prompts: str = "same",
    n_prompts: int | None = None,
    assurance: float = 0.8,
    prob: float | None = None,
    generations: Sequence[int] | None = None,
    futures: int = 500,
    attempts: int | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Plan:
    r"""Smallest number of generations per prompt whose interval for the mean will probably be narrow enough.

    .. math:: k^* = \min\{k : P(\mathrm{width}_k \le w \mid \mathrm{data}) \ge a\}

    Parameters
    ----------
    posterior : Posterior
        Of a pilot.
    width : float
        Target width of the interval, between 0 and 1.
    estimand : {"population", "benchmark"}
    prompts : {"same", "fresh"}
        ``"same"``: the pilot's prompts get more generations and its data are kept. ``"fresh"``: as many generations to
        each of ``n_prompts`` new prompts, the pilot discarded.
    n_prompts : int, optional
        Number of fresh prompts; as many as the pilot's by default.
    assurance : float
        Probability with which the target shall be met.
    prob : float, optional
        Probability inside the interval; `bayeseval.options.prob` by default.
    generations : sequence of int, optional
        Numbers of generations per prompt to try; a geometric ladder by default.
    futures : int
        Simulated futures for each number of generations.
    attempts : int, optional
        Attempts r of a planned G-Pass@r: adds the rule k >= 3r of its paper to the plan.
    seed : int
    progress : bool

    Returns
    -------
    Plan

    Raises
    ------
    OptionError
        If an argument is out of range, or asks for fewer generations than were run.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 10, generations=[4] * 40)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> plan = be.plan(post, width=0.06, estimand="benchmark", futures=100, progress=False)
    >>> plan.k is not None and plan.k > 4
    True
    """
    refuse_credits(posterior)
    if not isinstance(posterior, Posterior):
        raise OptionError(
            f"plan takes the posterior of one run, but {type(posterior).__name__} was given; choose one with "
            f"posteriors.select(system=..., benchmark=...)"
        )
    width, assurance = require_probability("width", width), require_probability("assurance", assurance)
    prob = options.interval_prob(prob)
    require_estimand(estimand)
    require_choice("prompts", prompts, DESIGNS)
    require_positive_integer("futures", futures)
    if prompts == "same" and n_prompts is not None and n_prompts != len(posterior.counts):
        raise OptionError(f"the pilot has {len(posterior.counts)} prompts; for another number use prompts='fresh'")
    if attempts is not None:
        require_positive_integer("attempts", attempts)
    method = "robust" if estimand == "population" and posterior.check().misfit else "model"
    size = len(posterior.counts) if n_prompts is None else require_positive_integer("n_prompts", n_prompts)
    simulator = Futures(posterior, prompts, size, method, futures, seed)
    rule = None if attempts is None else 3 * attempts
    ladder = _ladder(posterior, simulator, generations, rule)
    priors = _analysis_prior(posterior)

    def widths(batch: Batch) -> np.ndarray:
        lower, upper = refit(batch, *priors, prob).interval(estimand, method, prob)
        return upper - lower

    rows: dict[int, tuple[float, ...]] = {}
    with Progress("simulating futures", total=len(ladder) + 1, enabled=progress) as bar:
        for k, batch in simulator.batches(ladder):
            rows[k] = _row(widths(batch), width)
            bar.advance()
        floor = 0.0 if estimand == "benchmark" else float(np.median(widths(simulator.limit())))
        bar.advance()
    if generations is None:
        _bisect(rows, simulator, widths, width, assurance)
    best = next((k for k in sorted(rows) if rows[k][3] >= assurance), None)
    return Plan(
        k=best,
        floor=floor,
        width=width,
        assurance=assurance,
        prob=prob,
        estimand=estimand,
        method=method,
        design=prompts,
        n_prompts=size,
        generations_so_far=posterior.typical_generations if prompts == "same" else 0,
        curve=_curve(rows, futures),
        futures=futures,
        rule_generations=rule,
        system=posterior.system,
        benchmark=posterior.benchmark,
        warnings=_warnings(posterior, estimand, width, floor, best, priors),
    )


def _ladder(posterior: Posterior, simulator: Futures, generations: Sequence[int] | None, rule: int | None) -> list[int]:
    least = max(1, int(simulator.start.min()))
    if generations is not None:
        ladder = sorted({require_positive_integer("generations", k) for k in generations})
        if not ladder:
            raise OptionError("generations is empty; give the numbers of generations to try, or leave it out")
        if ladder[0] < least and simulator.start.max(initial=0) > 0:
            raise OptionError(
                f"every prompt has {least} generations already, but generations={ladder[0]} was asked for; plan for "
                f"{least} or more, or for fresh prompts with prompts='fresh'"
            )
    else:
        typical = posterior.typical_generations
        if not typical:
            raise DataError("the posterior has seen no generation, so there is nothing to plan from; run a pilot first")
        first = max(least, typical) if simulator.start.any() else 1
        last = min(max(SMALLEST_REACH, 16 * typical), max(MOST_GENERATIONS, 2 * first))
        ladder = sorted({int(k) for k in np.unique(np.round(np.geomspace(first, last, CURVE_POINTS)))})
    if rule is not None and rule >= least and rule not in ladder:
        ladder = sorted([*ladder, rule])
    return ladder


def _bisect(rows, simulator, widths, width: float, assurance: float) -> None:  # type: ignore[no-untyped-def]
    """Narrow the gap between the last k of the ladder that fails and the first that passes, adding rows."""
    while True:
        ladder = sorted(rows)
        passing = next((k for k in ladder if rows[k][3] >= assurance), None)
        failing = [k for k in ladder if passing is not None and k < passing]
        if passing is None or not failing or passing - failing[-1] <= 1:
            return
        middle = (passing + failing[-1]) // 2
        if passing - failing[-1] <= max(1, passing // 64):
            return
        ((_, batch),) = simulator.batches([middle])
        rows[middle] = _row(widths(batch), width)


def _row(widths: np.ndarray, target: float) -> tuple[float, ...]:
    lower, middle, upper = np.quantile(widths, [BAND[0], 0.5, BAND[1]])
    return float(middle), float(lower), float(upper), float(np.mean(widths <= target))


def _curve(rows: dict[int, tuple[float, ...]], futures: int) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(
        [(k, *rows[k]) for k in sorted(rows)],
        columns=["generations", "width", "width_lower", "width_upper", "assurance"],
    )
    share = frame["assurance"]
    return frame.assign(assurance_mcse=np.sqrt(share * (1 - share) / futures))


def _analysis_prior(posterior: Posterior) -> tuple[Prior, Prior]:
    prior = posterior.prior if posterior.model.has_quadrature else {"mu": (1.0, 1.0), "rho": (1.0, 1.0)}
    return (prior["mu"][0], prior["mu"][1]), (prior["rho"][0], prior["rho"][1])


def _warnings(
    posterior: Posterior, estimand: str, width: float, floor: float, best: int | None, priors: tuple[Prior, Prior]
) -> tuple[str, ...]:
    warnings = list(posterior.check().warnings_for(estimand))
    if not posterior.model.has_quadrature:
        warnings.append(
            f"futures come from {posterior.model.name}, but are refitted with the beta-binomial (priors {priors[0]} on "
            f"mu, {priors[1]} on rho), the model of the exact engine"
        )
    if best is None and floor > width:
        warnings.append(
            f"the target width {width:g} lies below the floor {floor:.3g}: with these prompts no number of generations "
            f"reaches it"
        )
    return tuple(warnings)
