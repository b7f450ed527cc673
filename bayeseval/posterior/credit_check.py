r"""Whether a posterior of credits can be trusted: the sampler, the shift from the moment estimate, and predictions.

Two histograms are compared with data that the model would produce for fresh prompts with as many generations: the mean
credits of prompts, and the credits of single generations. The discrepancy is the deviance from the posterior predictive
mean; its probability is the share of simulated data sets that are further away than the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.credit_data import CreditData
from bayeseval.estimators.credit import credit_moments
from bayeseval.posterior.check import EXPECTED_LIMIT, P_LIMIT, Z_SHIFT_LIMIT, Check, diagnose
from bayeseval.posterior.histogram import PREDICTIVE_DRAWS, HistogramCheck, deviance
from bayeseval.prompts import ContinuousCredit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeseval.posterior.credit import CreditPosterior

__all__ = ["CreditCheck", "check_credits"]

BINS = 20
MOST_NUMBERS = 1 << 25
FEWEST_DRAWS = 100
BLOCK = 1 << 21
SAME = 1e-9
COARSE = 1.6
"""Steps between nodes, in widths of the narrowest prompt, from which the integral errs by more than 1e-3."""


@dataclass(frozen=True, repr=False)
class CreditCheck(Check):
    """Everything that speaks for or against a posterior of credits.

    Attributes
    ----------
    generations : HistogramCheck
        Credits of single generations, beside `histogram`, the mean credits of prompts.
    """

    generations: HistogramCheck = field(kw_only=True)

    @property
    def predictive(self) -> str:
        """Both predictive checks in words."""
        return (
            f"predictive {self.histogram.p_text} (mean credits of prompts), {self.generations.p_text} (credits of "
            f"generations)"
        )

    def plot(self, ax: Axes | None = None, of: str = "prompts") -> Axes:
        """Histogram of the data with the posterior predictive band.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        of : {"prompts", "generations"}
            Mean credits of prompts, or credits of single generations.
        """
        from bayeseval import plots
        from bayeseval.errors import require_choice

        shown = require_choice("of", of, ("prompts", "generations"))
        return plots.plot_check(self if shown == "prompts" else replace(self, histogram=self.generations), ax=ax)


def check_credits(posterior: CreditPosterior) -> CreditCheck:
    """Check convergence and fit of a posterior of credits; what `CreditPosterior.check` calls."""
    run = f"{posterior.system} on {posterior.benchmark}"
    diagnostics = diagnose(posterior)  # type: ignore[arg-type]
    prompts, generations = predictive(posterior)
    z_shift, decisive = _z_shift(posterior)
    shifted = decisive and abs(z_shift) > Z_SHIFT_LIMIT
    unlikely = min(prompts.p, generations.p) < P_LIMIT / 2  # two looks at the data
    warnings, population_warnings = [*diagnostics.warnings, *_thin_data(posterior)], []
    if unlikely or shifted:
        reasons = []
        if prompts.p < P_LIMIT / 2:
            reasons.append(f"it would seldom produce such mean credits of prompts (predictive {prompts.p_text})")
        if generations.p < P_LIMIT / 2:
            reasons.append(f"it would seldom produce such credits of generations (predictive {generations.p_text})")
        if shifted:
            reasons.append(f"its mean lies {z_shift:+.1f} standard errors from the unbiased estimate")
        warnings.append(
            f"{posterior.model.name} does not describe these credits: {' and '.join(reasons)}; see post.check().plot()"
        )
        population_warnings.append(
            "for prompts like these the robust score (Bayesian bootstrap over prompts) is therefore the headline, "
            "not that of the model"
        )
    elif abs(z_shift) > Z_SHIFT_LIMIT:
        population_warnings.append(
            f"the posterior mean lies {z_shift:+.1f} standard errors from the unbiased estimate: with so few prompts "
            f"or such unequal credits the prior weighs in; compare with be.credit_moments(credits) and other priors"
        )
    named, population_named = (tuple(f"{run}: {text}" for text in texts) for texts in (warnings, population_warnings))
    misfit = bool(unlikely or shifted)
    return CreditCheck(diagnostics, z_shift, prompts, misfit, named, population_named, run, generations=generations)


def predictive(posterior: CreditPosterior) -> tuple[HistogramCheck, HistogramCheck]:
    """Mean credits of prompts, and credits of generations, compared with what the model would produce."""
    credits, table = posterior.credits, posterior.table
    scored = ~np.isnan(credits.credit)
    order = np.argsort(np.unique(credits.prompt[scored], return_inverse=True)[1].reshape(-1), kind="stable")
    seen = credits.credit[scored][order][None]
    sizes = np.unique(credits.prompt[scored], return_counts=True)[1]
    levels = table.levels if "levels" in posterior.model.blocks else None
    rng = np.random.default_rng([posterior.seed, 1])
    most = int(np.clip(MOST_NUMBERS // max(seen.size, 1), FEWEST_DRAWS, PREDICTIVE_DRAWS))
    chosen = rng.choice(posterior.n_draws, min(most, posterior.n_draws), replace=False)
    bins = {"mean credit": _prompt_bins(levels, sizes), "credit": _generation_bins(levels)}
    replicated: dict[str, list[np.ndarray]] = {kind: [] for kind in bins}
    for block in _blocks(chosen, seen.size):
        credit = posterior.distribution.take(block).fresh(sizes.size, rng).generate(sizes, rng)
        for kind, values in (("mean credit", _means(credit, sizes)), ("credit", credit)):
            replicated[kind].append(histogram_of(values, bins[kind][0]))
    observed = {"mean credit": _means(seen, sizes), "credit": seen}
    prompts, generations = (
        compared(kind, middles, histogram_of(observed[kind], ends)[0], np.concatenate(replicated[kind]))
        for kind, (ends, middles) in bins.items()
    )
    return prompts, generations


def _blocks(chosen: np.ndarray, width: int) -> Iterator[np.ndarray]:
    step = max(1, BLOCK // max(width, 1))
    return (chosen[start : start + step] for start in range(0, chosen.size, step))


def _means(credit: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Mean credit of each prompt (draw, prompt); generations of a prompt stand together."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.add.reduceat(credit, starts, axis=1) / sizes


def _prompt_bins(levels: tuple[float, ...] | None, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends and middles of the bins of mean credits: each value by itself where there are few, else equal bins."""
    if levels is None or np.unique(sizes).size > 1:
        return _generation_bins(None)
    totals = {0.0}
    for _ in range(int(sizes[0])):
        totals = {round(total + level, 9) for total in totals for level in levels}
        if len(totals) > 2 * BINS:
            return _generation_bins(None)
    return _generation_bins(tuple(np.array(sorted(totals)) / sizes[0]))


def _generation_bins(values: tuple[float, ...] | None) -> tuple[np.ndarray, np.ndarray]:
    """Ends and middles of the bins of credits: one a value, or 0, 1 and equal bins between them."""
    if values is not None:
        known = np.asarray(values)
        return np.concatenate([[known[0] - 1], (known[1:] + known[:-1]) / 2, [known[-1] + 1]]), known
    inner = np.linspace(0, 1, BINS + 1)
    ends = np.concatenate([[-SAME, SAME], inner[1:-1], [1 - SAME, 1 + SAME]])
    return ends, np.concatenate([[0], (inner[1:] + inner[:-1]) / 2, [1]])


def histogram_of(values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Counts in each bin (draw, bin)."""
    size = ends.size - 1
    place = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, size - 1)
    codes = place + size * np.arange(values.shape[0])[:, None]
    return np.bincount(codes.ravel(), minlength=size * values.shape[0]).reshape(values.shape[0], size)


def compared(kind: str, middles: np.ndarray, observed: np.ndarray, replicated: np.ndarray) -> HistogramCheck:
    """Deviance from the predictive mean, of the data and of simulated data; a bin never filled counts half a time."""
    expected = replicated.mean(axis=0)
    floor = np.maximum(expected, 0.5 / len(replicated))
    p = float(np.mean(deviance(replicated, floor) >= deviance(observed, floor)))
    lower, upper = np.quantile(replicated, [0.025, 0.975], axis=0)
    label = tuple(f"{middle:.3g}" for middle in middles)
    return HistogramCheck(kind, label, observed.astype(float), expected, lower, upper, p)


def _thin_data(posterior: CreditPosterior) -> list[str]:
    """What the data cannot tell, in sentences."""
    table, warnings = posterior.table, []
    answered = table.generations > 0
    if table.generations.max() == 1:
        warnings.append(
            "one generation per prompt: how credits spread over prompts is not seen, so everything that depends on it "
            "(the benchmark estimand, single prompts) follows the prior"
        )
    elif answered.sum() == 1:
        warnings.append("a single prompt: how credits spread over prompts follows the prior alone")
    if "levels" not in posterior.model.blocks and not table.interior.any():
        warnings.append(
            "no credit lies between 0 and 1, so what the model says of such credits is its prior; these are counts: "
            "be.fit(credits.outcomes(threshold=1)) asks for less"
        )
    distribution = posterior.distribution
    if isinstance(distribution, ContinuousCredit) and table.interior.any():
        z = CreditData(table, posterior.model.blocks).credits["interior_z"]
        narrowest = 1 / (distribution.b * np.sqrt(table.interior.max() * (distribution.kappa / 4 + 1)))
        if np.mean(z[1] - z[0] > COARSE * narrowest) > 0.01:
            warnings.append(
                "credits in between hardly vary within prompts, too little for the nodes over which their means are "
                "integrated, so delta and b are rough; if credits are steps, declare them with credits.with_levels()"
            )
    scored = posterior.credits.credit[~np.isnan(posterior.credits.credit)]
    if np.ptp(scored) == 0:
        warnings.append(f"every generation has the credit {scored[0]:g}: how much else there is follows the prior")
    return warnings


def _z_shift(posterior: CreditPosterior) -> tuple[float, bool]:
    """Shift of the model's mean from the moment estimate, and whether the latter is precise enough to judge by."""
    table = posterior.table
    answered = int((table.generations > 0).sum())
    if answered < 2:
        return float("nan"), False
    row = credit_moments(posterior.credits).rows[0]
    if not row.se_population > 0:
        return float("nan"), False
    place = (row.mean - table.smallest) / (table.largest - table.smallest)
    shift = (float(posterior.distribution.mean().mean()) - row.mean) / row.se_population
    return shift, bool(answered * min(place, 1 - place) >= EXPECTED_LIMIT)
