r"""How many generations a run needs, said before the money is spent.

A plan simulates futures from the pilot: for each it draws the parameters and :math:`p_i`, then the generations still to
come, refits, and records how wide the interval is. The assurance of a number of generations k is the share of futures
whose interval is as narrow as asked [1]_. With infinitely many generations every :math:`p_i` would be known; the width
that remains then is the floor that no k can beat.

References
----------
.. [1] O'Hagan, Stevens & Campbell (2005). Assurance in clinical trial design. Pharmaceutical Statistics 4, 187-201.
   https://doi.org/10.1002/pst.175
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bayeseval.errors import OptionError, require_positive_integer
from bayeseval.metrics import Metric
from bayeseval.planning.analysis import Spread
from bayeseval.planning.futures import Futures
from bayeseval.planning.pilots import Pilot
from bayeseval.planning.plans import Plan, Row, curve_of
from bayeseval.planning.setup import Setup, set_up
from bayeseval.posterior.posterior import EXTRAPOLATION_WARNING, Posterior
from bayeseval.progress import Progress

__all__ = ["plan"]

CURVE_POINTS = 12
SMALLEST_REACH = 64
MOST_GENERATIONS = 8192


def plan(
    source: Posterior | Pilot,
    width: float | None = None,
    *,
    sd: float | None = None,
    score: Metric | None = None,
    estimand: str = "population",
    prompts: str | None = None,
    n_prompts: int | None = None,
    assurance: float = 0.8,
    prob: float | None = None,
    generations: Sequence[int] | None = None,
    futures: int | None = None,
    refits: str = "auto",
    attempts: int | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Plan:
    r"""Smallest number of generations per prompt with which a score will probably be known well enough.

    .. math:: k^* = \min\{k : P(\mathrm{width}_k \le w \mid \mathrm{data}) \ge a\}

    Parameters
    ----------
    source : Posterior or Pilot
        Posterior of a pilot; or what `pilot_from_published` or `pilot_from_prior` makes, where there is none.
    width : float, optional
        Target width of the interval, between 0 and 1.
    sd : float, optional
        Target posterior standard deviation, in place of a width.
    score : Metric, optional
        From `bayeseval.metrics`, such as ``metrics.pass_at(16)``; the mean by default.
    estimand : {"population", "benchmark"}
    prompts : {"same", "fresh"}, optional
        ``"same"``: the pilot's prompts get more generations and its data are kept; the default, where they are known.
        ``"fresh"``: as many generations to each of ``n_prompts`` new prompts, the pilot discarded.
    n_prompts : int, optional
        Number of fresh prompts; as many as the pilot's by default.
    assurance : float
        Probability with which the target shall be met.
    prob : float, optional
        Probability inside the interval; `bayeseval.options.prob` by default.
    generations : sequence of int, optional
        Numbers of generations per prompt to try; a geometric ladder by default.
    futures : int, optional
        Simulated futures for each number of generations: 500, or 20 where each is fitted by NUTS.
    refits : {"auto", "exact", "importance", "nuts"}
        How each future is fitted. ``"auto"`` is exact for models that the exact engine knows, and for other models
        weights on the pilot's draws (see `bayeseval.planning.analysis`); ``"exact"`` for those is the beta-binomial in
        their place, and says so; ``"nuts"`` takes a fit for every future.
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
        If an argument is out of range, targets contradict each other, or fewer generations are asked for than were run.
    DataError
        If the posterior has seen no generation.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 10, generations=[4] * 40)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> plan = be.plan(post, width=0.06, estimand="benchmark", futures=100, progress=False)
    >>> plan.k is not None and plan.k > 4
    True
    """
    setup = set_up(source, width, sd, score, estimand, prompts, n_prompts, assurance, prob, futures, refits, attempts)
    pilot, measure, target = setup.pilot, setup.measure, setup.target
    simulator = setup.futures_of(setup.n_prompts, seed)
    ladder = _ladder(pilot, simulator, generations, setup.rule)

    def row(spread: Spread) -> Row:
        return Row.of(spread.width, spread.sd, getattr(spread, measure) <= target, spread.unreliable)

    rows: dict[int, Row] = {}
    with Progress("simulating futures", total=len(ladder) + 1, enabled=progress) as bar:
        for k, correct, have in simulator.data(ladder):
            rows[k] = row(setup.analysis.counted(correct, have, simulator.key))
            bar.advance()
        floors = setup.floor(simulator)
        bar.advance()
    if generations is None:
        _bisect(rows, lambda k: row(setup.spread_at(simulator, k)), assurance)
    best = next((k for k in sorted(rows) if rows[k].assurance >= assurance), None)
    remains = float(np.quantile(floors, assurance, method="inverted_cdf"))
    floor = float(np.median(floors))
    return Plan(
        k=best,
        floor=floor,
        floor_assurance=float(np.mean(floors <= target)),
        prompts_needed=None if estimand == "benchmark" else int(np.ceil(setup.n_prompts * (remains / target) ** 2)),
        width=width,
        sd=sd,
        assurance=assurance,
        prob=setup.prob,
        score=setup.score.name,
        estimand=estimand,
        method="robust" if setup.robust else "model",
        design=setup.design,
        n_prompts=setup.n_prompts,
        generations_so_far=pilot.generations if setup.design == "same" else 0,
        curve=curve_of(rows, setup.futures),
        futures=setup.futures,
        refits=setup.refits,
        source=pilot.source,
        origin=pilot.origin,
        rule_generations=setup.rule,
        system=pilot.system,
        benchmark=pilot.benchmark,
        warnings=_warnings(setup, rows, floor, best),
    )


def _ladder(pilot: Pilot, simulator: Futures, generations: Sequence[int] | None, rule: int | None) -> list[int]:
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
        typical = pilot.generations
        first = max(least, typical) if simulator.start.any() else 1
        last = min(max(SMALLEST_REACH, 16 * typical), max(MOST_GENERATIONS, 2 * first))
        ladder = sorted({int(k) for k in np.unique(np.round(np.geomspace(first, last, CURVE_POINTS)))})
    if rule is not None and rule >= least and rule not in ladder:
        ladder = sorted([*ladder, rule])
    return ladder


def _bisect(rows: dict[int, Row], row_at: Callable[[int], Row], assurance: float) -> None:
    """Narrow the gap between the last k of the ladder that fails and the first that passes, adding rows."""
    while True:
        passing = next((k for k in sorted(rows) if rows[k].assurance >= assurance), None)
        failing = [k for k in sorted(rows) if passing is not None and k < passing]
        if passing is None or not failing or passing - failing[-1] <= max(1, passing // 64):
            return
        middle = (passing + failing[-1]) // 2
        rows[middle] = row_at(middle)


def _warnings(setup: Setup, rows: dict[int, Row], floor: float, best: int | None) -> tuple[str, ...]:
    warnings = [*setup.pilot.remarks[setup.estimand], *setup.cautions]
    heavy = max(row.unreliable for row in rows.values())
    if heavy > 0.05:
        remedy = (
            "refits='nuts' fits every future anew" if setup.pilot.can_be_sampled else "plan from a single model, too"
        )
        warnings.append(
            f"in up to {heavy:.0%} of the futures the weights on the pilot's draws have too heavy a tail (Pareto k "
            f"above 0.7), so widths are uncertain: {remedy}"
        )
    if setup.score.k > EXTRAPOLATION_WARNING * min(rows):
        warnings.append(
            f"{setup.score.name} with {_generations(min(rows))} looks beyond what is run: those widths lean on the "
            f"shape of the fitted distribution, and do not show how uncertain that is"
        )
    if best is None and floor > setup.target:
        what = "width" if setup.measure == "width" else "standard deviation"
        warnings.append(
            f"the target {what} {setup.target:g} lies below the floor {floor:.3g}: with these prompts no number of "
            f"generations reaches it"
        )
    return tuple(warnings)


def _generations(k: int) -> str:
    return "1 generation" if k == 1 else f"{k:,} generations"
