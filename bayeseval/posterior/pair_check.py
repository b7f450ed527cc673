r"""Whether a joint posterior of two systems can be trusted: the sampler, the shift from the moments, and predictions.

Two histograms are compared with data that the model would produce for fresh prompts with as many generations: the
difference of correct generations of A and B on a prompt, and the generations of which only one was correct (for
independent generations, which have no partner, the mean share correct of both systems instead).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.errors import require_choice
from bayeseval.posterior.check import EXPECTED_LIMIT, P_LIMIT, Z_SHIFT_LIMIT, Check, diagnose
from bayeseval.posterior.credit_check import compared, histogram_of
from bayeseval.posterior.histogram import PREDICTIVE_DRAWS, HistogramCheck

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.posterior.pairs import PairPosterior

__all__ = ["PairCheck", "check_pairs"]

MOST_BINS = 41
BINS = 20
BLOCK = 1 << 20
SAME = 1e-9
WORDS = {
    "difference": "differences of A and B on a prompt",
    "discordant": "numbers of generations of which only one is correct",
    "both systems": "shares correct of both systems together",
}


@dataclass(frozen=True, repr=False)
class PairCheck(Check):
    """Everything that speaks for or against a joint posterior of two systems.

    Attributes
    ----------
    second : HistogramCheck
        Discordant generations, or the share correct of both systems, beside `histogram`, the differences.
    """

    second: HistogramCheck = field(kw_only=True)

    @property
    def predictive(self) -> str:
        """Both predictive checks in words."""
        return f"predictive {self.histogram.p_text} (differences), {self.second.p_text} ({self.second.kind})"

    def plot(self, ax: Axes | None = None, of: str = "difference") -> Axes:
        """Histogram of the data with the posterior predictive band.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        of : {"difference", "second"}
            Differences of A and B on a prompt; or discordant generations (for independent generations the share correct
            of both systems).
        """
        from bayeseval import plots

        first = require_choice("of", of, ("difference", "second")) == "difference"
        shown = self.histogram if first else self.second
        # The title speaks of what is shown: one histogram may be as predicted where the other is not.
        return plots.plot_check(replace(self, histogram=shown, misfit=shown.p < P_LIMIT / 2), ax=ax)


def check_pairs(posterior: PairPosterior) -> PairCheck:
    """Check convergence and fit of a joint posterior; what `PairPosterior.check` calls."""
    pairs = posterior.pairs
    diagnostics = diagnose(posterior)  # type: ignore[arg-type]
    first, second = predictive(posterior)
    z_shift, decisive = _z_shift(posterior)
    shifted = decisive and abs(z_shift) > Z_SHIFT_LIMIT
    limit = P_LIMIT / 2  # two looks at the data
    warnings, population_warnings = [*diagnostics.warnings, *_thin_data(posterior)], []
    reasons = [
        f"it would seldom produce such {WORDS[one.kind]} (predictive {one.p_text})"
        for one in (first, second)
        if one.p < limit
    ]
    if shifted:
        reasons.append(f"its difference lies {z_shift:+.1f} standard errors from the unbiased estimate")
    if reasons:
        warnings.append(
            f"{posterior.model.name} does not describe these prompts: {' and '.join(reasons)}; see post.check().plot()"
        )
        population_warnings.append(
            "for prompts like these the robust score (Bayesian bootstrap over prompts) is therefore the headline, "
            "not that of the model"
        )
    elif abs(z_shift) > Z_SHIFT_LIMIT:
        population_warnings.append(
            f"the posterior mean of the difference lies {z_shift:+.1f} standard errors from the unbiased estimate: "
            f"with so few prompts on which the systems differ the prior weighs in"
        )
    named, population_named = (
        tuple(f"{pairs.label}: {text}" for text in texts) for texts in (warnings, population_warnings)
    )
    return PairCheck(diagnostics, z_shift, first, bool(reasons), named, population_named, pairs.label, second=second)


def predictive(posterior: PairPosterior) -> tuple[HistogramCheck, HistogramCheck]:
    """Differences, and discordant generations or shares correct, compared with what the model would produce."""
    pairs, model_is_coupled = posterior.pairs, posterior.distribution.coupled
    answered = (pairs.generations > 0).all(axis=0)
    generations, correct = pairs.generations[:, answered], pairs.correct[:, answered]
    both = pairs.both[answered] if pairs.both is not None and model_is_coupled else None
    rng = np.random.default_rng([posterior.seed, 1])
    chosen = rng.choice(posterior.n_draws, min(PREDICTIVE_DRAWS, posterior.n_draws), replace=False)
    observed = _quantities(correct[None], None if both is None else both[None], generations)
    bins = {kind: _bins(kind, generations) for kind in observed}
    replicated: dict[str, list[np.ndarray]] = {kind: [] for kind in observed}
    step = max(1, BLOCK // max(4 * generations.shape[1], 1))
    for start in range(0, chosen.size, step):
        part = posterior.distribution.take(chosen[start : start + step])
        drawn, drawn_both = part.fresh(generations.shape[1], rng).generate(generations, rng)
        values = _quantities(drawn, drawn_both, generations)
        for kind in observed:
            replicated[kind].append(histogram_of(values[kind], bins[kind][0]))
    first, second = (
        compared(kind, bins[kind][1], histogram_of(observed[kind], bins[kind][0])[0], np.concatenate(replicated[kind]))
        for kind in observed
    )
    return first, second


def _quantities(correct: np.ndarray, both: np.ndarray | None, generations: np.ndarray) -> dict[str, np.ndarray]:
    """What is compared, for each draw and prompt: counts where all prompts have as many generations, else shares."""
    size = generations.max() if _equal(generations) else 1
    a, b = (correct / generations * size).transpose(1, 0, 2)
    if both is None:
        return {"difference": a - b, "both systems": (a + b) / 2}
    return {"difference": a - b, "discordant": a + b - 2 * both / generations[0] * size}


def _equal(generations: np.ndarray) -> bool:
    return bool(generations.min() == generations.max() and 2 * generations.max() + 1 <= MOST_BINS)


def _bins(kind: str, generations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends and middles of the bins: one for each number where there are few, else equal ones of shares."""
    if _equal(generations):
        size = int(generations.max())
        step = 0.5 if kind == "both systems" else 1.0
        middles = np.arange(-size if kind == "difference" else 0, size + step / 2, step)
        return np.append(middles - step / 2, middles[-1] + step / 2), middles
    ends = np.linspace(-1 if kind == "difference" else 0, 1, BINS + 1)
    # Shares such as 1/2 lie on ends: all ends a little lower, so that rounding cannot part equal shares.
    lowered = np.append(ends[:-1] - SAME, 1 + SAME)
    return lowered, (ends[1:] + ends[:-1]) / 2


def _thin_data(posterior: PairPosterior) -> list[str]:
    """What the data cannot tell, in sentences."""
    pairs, warnings = posterior.pairs, []
    if pairs.coupled and not posterior.model.for_coupled:
        warnings.append(
            f"generations of both systems were paired as coupled, and model {posterior.model.name!r} takes them as "
            f"independent: what they share is not taken out, so intervals are too wide or, rarely, too narrow; fit "
            f"model='coupled' or 'coupled_plackett'"
        )
    if pairs.generations.max() == 1:
        warnings.append(
            "one generation per prompt: how P(correct) spreads over prompts, and what prompts share apart from "
            "generations, is not seen, so everything that depends on it (the benchmark estimand, single prompts, "
            "correlations, kappa) follows the prior"
        )
    elif (pairs.generations > 0).all(axis=0).sum() == 1:
        warnings.append("a single prompt: how P(correct) spreads over prompts follows the prior alone")
    return warnings


def _z_shift(posterior: PairPosterior) -> tuple[float, bool]:
    """Shift of the model's difference from the moment estimate, and whether the latter is good enough to judge by."""
    pairs = posterior.pairs
    answered = (pairs.generations > 0).all(axis=0)
    if answered.sum() < 2:
        return float("nan"), False
    share = pairs.correct[:, answered] / pairs.generations[:, answered]
    difference = share[0] - share[1]
    error = float(difference.std(ddof=1) / np.sqrt(difference.size))
    if not error > 0:
        return float("nan"), False
    from bayeseval.metrics import mean

    fitted = posterior.distribution.score(mean()).mean(axis=0)
    shift = (float(fitted[0] - fitted[1]) - float(difference.mean())) / error
    return shift, bool(np.sum(difference != 0) >= EXPECTED_LIMIT)
