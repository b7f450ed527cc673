"""How each stopping rule looks at a posterior; made by the functions of `bayeseval.planning.looking.stopping`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval.engines.quadrature import exact_under
from bayeseval.errors import OptionError
from bayeseval.metrics import Metric
from bayeseval.planning.looking.anytime import mean_sequence
from bayeseval.planning.looking.decisions import Decision, difference, one_score, the_one, the_pair, wording
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import ESTIMANDS, Score, summarise

if TYPE_CHECKING:
    from bayeseval.planning.looking.simulated import SimulatedError

__all__ = ["RULES", "StopAnytime", "StopAtDirection", "StopAtWidth"]


@dataclass(frozen=True)
class StopAtWidth:
    """Stop when the credible interval is narrow enough; made by `bayeseval.stop_at_width`."""

    width: float
    estimand: str
    score: Metric
    prob: float

    def decide(self, posterior: Any) -> Decision:
        """Whether to stop, given the posterior of one run."""
        posterior = the_one(posterior, "stop_at_width")
        score = one_score(posterior, self.score, self.estimand, self.prob)
        stop = bool(score.width <= self.width)
        if stop:
            reason = f"the interval is {score.width:.3g} wide, within the target {self.width:g}"
        elif np.isnan(score.width):
            reason = f"there is no interval yet: {score.name} looks too far beyond the generations that were run"
        else:
            reason = f"the interval is {score.width:.3g} wide, more than the target {self.width:g}"
            reason += _floor_words(posterior, score, self.width)
        return Decision(stop, reason, "narrow" if stop else None, **_numbers([score], self.prob))

    def sentence(self) -> str:
        """The rule in words."""
        return (
            f"stop when the {self.prob:.0%} credible interval of the {self.score.name}, {self.estimand} estimand, is "
            f"no wider than {self.width:g}"
        )


@dataclass(frozen=True)
class StopAtDirection:
    """Stop when a score is clearly above, below or near a reference; made by `bayeseval.stop_at_direction`."""

    reference: float | None
    rope: float
    certainty: float
    estimand: str
    score: Metric

    @property
    def region(self) -> tuple[float, float]:
        """Ends of the region of equivalence; both are the reference where there is none."""
        middle = self.reference or 0.0
        return middle - self.rope, middle + self.rope

    def decide(self, posterior: Any) -> Decision:
        """Whether to stop, given the posterior of one run, or two, (first, second), for first − second."""
        prob = 2 * self.certainty - 1
        if isinstance(posterior, Sequence):
            scores = [one_score(one, self.score, self.estimand, prob) for one in the_pair(posterior)]
            draws = difference(*(score.draws for score in scores))
            value, _, lower, upper = summarise(draws, prob)
            numbers = {**_numbers(scores, prob), "value": value, "lower": lower, "upper": upper}
        elif self.reference is None:
            raise OptionError(
                "a direction needs a reference: stop_at_direction(reference=0.5) for one posterior, or two posteriors, "
                "(first, second), for their difference"
            )
        else:
            scores = [one_score(the_one(posterior, "stop_at_direction"), self.score, self.estimand, prob)]
            draws, numbers = scores[0].draws, _numbers(scores, prob)
        low, high = self.region
        above, below = float(np.mean(draws > high)), float(np.mean(draws < low))
        chances = {"above": above, "below": below}
        if self.rope:
            chances["equivalent"] = 1 - above - below
        verdict = next((name for name, chance in chances.items() if chance > self.certainty), None)
        likeliest = verdict or max(chances, key=lambda name: chances[name])
        reason = f"P({self._words(likeliest)}) = {chances[likeliest]:.3g}, "
        reason += f"{'more than' if verdict else 'and'} {self.certainty:g}{'' if verdict else ' is needed'}"
        return Decision(verdict is not None, reason, verdict, **numbers, above=above, below=below)

    def simulated_error(
        self,
        mean: float,
        looks: Sequence[int],
        *,
        versus: float | None = None,
        prompts: int | None = None,
        rho: float = 0.5,
        prior_mu: tuple[float, float] = (1.0, 1.0),
        prior_rho: tuple[float, float] = (1.0, 1.0),
        studies: int = 1000,
        seed: int = 0,
    ) -> SimulatedError:
        """How often the rule is wrong at a fixed truth; see `bayeseval.planning.looking.simulated.simulated_error`."""
        from bayeseval.planning.looking.simulated import simulated_error

        return simulated_error(
            self, mean, looks, versus=versus, prompts=prompts, rho=rho, prior_mu=prior_mu, prior_rho=prior_rho,
            studies=studies, seed=seed,
        )  # fmt: skip

    def sentence(self) -> str:
        """The rule in words."""
        names = ("above", "below", *(["equivalent"] if self.rope else []))
        words = ", ".join(f"P({self._words(name)})" for name in names)
        return f"stop when one of {words} is more than {self.certainty:g}, for the {self.score.name}, {self.estimand}"

    def _words(self, verdict: str) -> str:
        low, high = self.region
        if verdict == "equivalent":
            return f"between {low:g} and {high:g}"
        return f"above {high:g}" if verdict == "above" else f"below {low:g}"


@dataclass(frozen=True)
class StopAnytime:
    """Stop by a confidence sequence; made by `bayeseval.stop_anytime`."""

    width: float | None
    reference: float | None
    alpha: float

    def decide(self, posterior: Any) -> Decision:
        """Whether to stop, given the posterior of one run by a model that the exact engine knows."""
        refuse_credits(posterior)
        posterior = the_one(posterior, "stop_anytime")
        if not posterior.model.has_quadrature:
            raise OptionError(
                f"the confidence sequence needs the evidence of the model, and the exact engine does not know "
                f"{posterior.model.name!r}: fit 'beta_binomial', or stop at a width"
            )
        counts = posterior.counts
        exact = posterior.exact or exact_under(posterior.prior, counts.correct, counts.generations)
        lower, upper = mean_sequence(counts.correct, counts.generations, exact.log_evidence, self.alpha)
        verdict, reason = self._verdict(lower, upper)
        label = f"mean of {posterior.system} on {posterior.benchmark}, population estimand"
        return Decision(
            stop=verdict is not None,
            reason=reason,
            verdict=verdict,
            quantity=f"{label} ({ESTIMANDS['population']})",
            value=exact.mean("mu"),
            lower=lower,
            upper=upper,
            interval=self._kind,
            runs=((posterior.system, posterior.benchmark),),
            n_prompts=len(counts),
            n_generations=counts.n_generations,
            warnings=posterior.check().warnings_for("population"),
        )

    def sentence(self) -> str:
        """The rule in words."""
        if self.width is not None:
            return f"stop when the {self._kind} of the mean, population estimand, is no wider than {self.width:g}"
        return f"stop when the {self._kind} of the mean, population estimand, leaves {self.reference:g} out"

    @property
    def _kind(self) -> str:
        return f"{100 * (1 - self.alpha):.4g}% confidence sequence"

    def _verdict(self, lower: float, upper: float) -> tuple[str | None, str]:
        if self.width is not None:
            narrow = upper - lower <= self.width
            words = f"within the target {self.width:g}" if narrow else f"and {self.width:g} is the target"
            return "narrow" if narrow else None, f"the sequence is {upper - lower:.3g} wide, {words}"
        assert self.reference is not None
        side = "above" if lower > self.reference else "below" if upper < self.reference else None
        if side is None:
            return None, f"the sequence holds the reference {self.reference:g}"
        return side, f"the sequence lies {side} the reference {self.reference:g}"


RULES = (StopAtWidth, StopAtDirection, StopAnytime)


def _numbers(scores: Sequence[Score], prob: float) -> dict[str, Any]:
    first = scores[0]
    return {
        "quantity": wording(scores),
        "value": first.value,
        "lower": first.lower,
        "upper": first.upper,
        "interval": f"{100 * prob:.4g}% credible interval",
        "runs": tuple((score.system, score.benchmark) for score in scores),
        "n_prompts": first.n_prompts,
        "n_generations": sum(score.n_generations for score in scores),
        "warnings": tuple(dict.fromkeys(warning for score in scores for warning in score.warnings)),
    }


def _floor_words(posterior: Any, score: Score, target: float) -> str:
    """A word of warning where the prompts alone leave the population mean less certain than asked."""
    if score.estimand != "population" or score.name != "mean" or not isinstance(posterior, Posterior):
        return ""
    spread = posterior.distribution.score(be_metrics.pass_hat(2)) - posterior.distribution.score(be_metrics.mean()) ** 2
    variance = float(np.mean(np.maximum(spread, 0)))
    quantile = score.width / (2 * score.sd) if score.sd > 0 else 0.0
    floor = 2 * quantile * np.sqrt(variance / score.n_prompts)
    if floor <= target:
        return ""
    return (
        f"; with these {score.n_prompts:,} prompts no number of generations gets below about {floor:.2g}: more prompts "
        f"would"
    )
