"""Checked arguments of a plan, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval.defaults import options
from bayeseval.errors import OptionError, require_choice, require_positive_integer, require_probability
from bayeseval.metrics import Metric
from bayeseval.planning.analysis import ENDLESS, Analysis, Spread, analysis_of
from bayeseval.planning.futures import Futures
from bayeseval.planning.pilots import Pilot
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import require_estimand

__all__ = ["DESIGNS", "REFITS", "Setup", "set_up"]

DESIGNS = ("same", "fresh")
REFITS = ("auto", "exact", "importance", "nuts")
FUTURES = {"exact": 500, "importance": 500, "nuts": 20}


@dataclass(frozen=True)
class Setup:
    """What is planned, from what, and how futures are simulated and analysed."""

    pilot: Pilot
    measure: str
    target: float
    prob: float
    estimand: str
    score: Metric
    design: str
    n_prompts: int
    rule: int | None
    robust: bool
    refits: str
    futures: int
    analysis: Analysis

    @property
    def cautions(self) -> tuple[str, ...]:
        """What must be said beside every plan from this pilot."""
        pilot, found = self.pilot, []
        if self.refits == "exact" and pilot.refits != "exact":
            found.append(
                f"futures come from {pilot.model}, but are refitted with the beta-binomial (priors {pilot.prior[0]} on "
                f"mu, {pilot.prior[1]} on rho), the model of the exact engine"
            )
        if pilot.misfit and not (self.robust and self.score.kind == "mean"):
            found.append(
                f"futures are drawn from {pilot.model}, which fails its check: for {self.score.name} the widths may "
                f"come out wider or narrower than this by several per cent, and the band does not show it; plan from "
                f"several families, be.fit(counts, model=[...])"
            )
        if pilot.clustered and self.design == "fresh":
            found.append(
                "every fresh prompt is taken to come from a cluster of its own: with several prompts to a cluster the "
                "number of clusters counts, and intervals are wider"
            )
        return tuple(found)

    def futures_of(self, n_prompts: int, seed: int) -> Futures:
        """Futures with a number of prompts."""
        robust = self.robust and self.estimand == "population"
        return Futures(self.pilot, self.design, n_prompts, robust, self.futures, seed)

    def spread_at(self, simulator: Futures, k: int) -> Spread:
        """Widths and standard deviations with k generations."""
        ((_, correct, have),) = simulator.data([k])
        return self.analysis.counted(correct, have, simulator.key)

    def floor(self, simulator: Futures) -> np.ndarray:
        """Width or standard deviation that remains with endless generations, in each future."""
        if self.estimand == "benchmark":
            return np.zeros(self.futures)
        if self.analysis.known is not None:
            spread = self.analysis.known(simulator.p)
        else:
            spread = self.spread_at(simulator, max(ENDLESS, 4 * int(simulator.start.max(initial=0))))
        return np.asarray(getattr(spread, self.measure))


def set_up(
    source: Posterior | Pilot,
    width: float | None,
    sd: float | None,
    score: Metric | None,
    estimand: str,
    prompts: str | None,
    n_prompts: int | None,
    assurance: float,
    prob: float | None,
    futures: int | None,
    refits: str,
    attempts: int | None = None,
) -> Setup:
    """Check the arguments of `bayeseval.plan`; see there."""
    pilot = Pilot.of(source)
    if (width is None) == (sd is None):
        raise OptionError("give one target: width=... (of the interval), or sd=... (posterior standard deviation)")
    measure = "sd" if width is None else "width"
    target = require_probability(measure, width if sd is None else sd)  # type: ignore[arg-type]
    require_probability("assurance", assurance)
    prob = options.interval_prob(prob)
    require_estimand(estimand)
    score = be_metrics.mean() if score is None else score
    if not isinstance(score, Metric):
        raise OptionError(f"score must be made by be.metrics, such as be.metrics.pass_at(16), not {score!r}")
    design = ("fresh" if pilot.counts is None else "same") if prompts is None else prompts
    require_choice("prompts", design, DESIGNS)
    rule = None if attempts is None else 3 * require_positive_integer("attempts", attempts)
    robust = pilot.misfit and (estimand == "population" or score.kind == "mean")
    refits = _refits(pilot, refits)
    size = require_positive_integer("futures", FUTURES[refits] if futures is None else futures)
    analysis = analysis_of(pilot, score, estimand, robust, prob, refits)
    prompts_planned = _size(pilot, design, n_prompts)
    return Setup(
        pilot, measure, target, prob, estimand, score, design, prompts_planned, rule, robust, refits, size, analysis
    )


def _size(pilot: Pilot, design: str, n_prompts: int | None) -> int:
    counts = pilot.counts
    if design == "same":
        if counts is None:
            raise OptionError(
                "the pilot's prompts are not known one by one, so they cannot get more generations: plan with "
                "prompts='fresh', or fit their counts and plan from the posterior"
            )
        if n_prompts is not None and n_prompts != len(counts):
            raise OptionError(f"the pilot has {len(counts)} prompts; for another number use prompts='fresh'")
        return len(counts)
    if n_prompts is not None:
        return require_positive_integer("n_prompts", n_prompts)
    if counts is None:
        raise OptionError("say how many fresh prompts there will be, with n_prompts=...")
    return len(counts)


def _refits(pilot: Pilot, refits: str) -> str:
    require_choice("refits", refits, REFITS)
    if refits == "nuts" and pilot.fitted is None:
        raise OptionError(f"refits='nuts' needs the posterior of a pilot, but this is {pilot.origin}")
    if refits == "nuts" and not pilot.can_be_sampled:
        raise OptionError(
            f"refits='nuts' fits every future to counts with one model, and {pilot.model} is several, or needs whole "
            f"runs: leave refits out, or plan from the posterior of one model of counts"
        )
    if refits == "importance" and pilot.refits == "stand-in":
        raise OptionError(
            f"the likelihood of {pilot.model} is no product over prompts, so draws cannot be re-weighted: use "
            f"refits='exact' for the beta-binomial in its place"
        )
    if refits == "importance" and pilot.counts is None:
        raise OptionError("refits='importance' needs the posterior of a pilot; leave refits out")
    if refits == "auto":
        return "importance" if pilot.refits == "importance" else "exact"
    return refits
