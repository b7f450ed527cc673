r"""Whether a posterior can be trusted: whether the sampler converged, and whether the model describes the data.

*Convergence*: R-hat, bulk and tail effective sample size, divergences; and, for a model that the exact engine knows,
the distance between its means and standard deviations and those of the draws, in Monte Carlo standard errors.

*Fit*: the shift of :math:`E[\mu]` from the unbiased moment estimate in standard errors (``z_shift``), and a posterior
predictive check of the counts (`bayeseval.posterior.histogram`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.catalogue import alternatives
from bayeseval.display import html_table
from bayeseval.engines.mending import ESS_LIMIT, RHAT_LIMIT
from bayeseval.engines.quadrature import exact_under
from bayeseval.errors import FitError
from bayeseval.estimators import moments
from bayeseval.estimators.adaptivity import adaptive_hint
from bayeseval.estimators.variance import clustered_se
from bayeseval.posterior.histogram import PREDICTIVE_DRAWS, HistogramCheck, histogram_check

if TYPE_CHECKING:
    import pandas as pd

    from bayeseval.posterior.posterior import Posterior

__all__ = ["Check", "Diagnostics", "check_posterior", "diagnose"]

Z_SHIFT_LIMIT = 0.5
P_LIMIT = 0.05
MCSE_LIMIT = 5.0
EXPECTED_LIMIT = 10
"""Fewest expected successes and failures for which the moment estimate is precise enough to judge the model by."""
LONGEST_VECTOR = 20
"""Most entries of a vector that are looked at one by one: as many as credits may have levels."""
EXACT = "engine='quadrature' where it applies"


@dataclass(frozen=True)
class Diagnostics:
    """How well the sampler did.

    Attributes
    ----------
    table : dict of str to dict of str to float
        For each scalar parameter, and each entry of a short vector: mean, sd, rhat, ess_bulk, ess_tail, mcse_mean,
        mcse_sd and, where the exact engine applies, exact_mean, exact_sd, and the distances mean_mcse and sd_mcse in
        Monte Carlo standard errors.
    divergences : int
    warnings : tuple of str
    resampled : dict of str to float, optional
        Where the chains did not mix and the draws were resampled by importance: ``rhat``, ``ess`` and ``divergences``
        of the chains, ``pareto_k`` of the weights and ``effective`` number of weighted points.
    """

    table: dict[str, dict[str, float]]
    divergences: int
    warnings: tuple[str, ...]
    resampled: dict[str, float] | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.warnings

    @property
    def distance(self) -> float:
        """Largest distance from the exact engine in Monte Carlo standard errors; NaN where it does not apply."""
        distances = [row[name] for row in self.table.values() for name in ("mean_mcse", "sd_mcse") if name in row]
        return max(distances, default=float("nan"))

    def words(self) -> list[str]:
        """How the draws were made and how well, and how far they lie from the exact engine, as far as known."""
        parts = []
        rhat = max((row["rhat"] for row in self.table.values() if "rhat" in row), default=float("nan"))
        if self.resampled:
            parts.append(
                f"resampled by importance (Pareto k {self.resampled['pareto_k']:.2f}, "
                f"{self.resampled['effective']:,.0f} effective points) since the chains mixed slowly "
                f"(R-hat {self.resampled['rhat']:.3f}, {self.resampled['divergences']:.0f} divergences)"
            )
        elif not np.isnan(rhat):
            parts.append(f"R-hat at most {rhat:.3f}, {self.divergences} divergences")
        if not np.isnan(self.distance):
            parts.append(f"at most {self.distance:.1f} MCSE from exact quadrature")
        return parts


@dataclass(frozen=True, repr=False)
class Check:
    """Everything that speaks for or against a posterior.

    Attributes
    ----------
    ok : bool
        False when a diagnostic or a predictive check fails.
    misfit : bool
        Whether the model does not describe the data: the population headline is then the robust one.
    diagnostics : Diagnostics
    z_shift : float
        (E[mu] - moment estimate) / standard error of the moment estimate; NaN where that is 0 or undefined.
    histogram : HistogramCheck
    warnings : tuple of str
        What is wrong and what to do, in sentences; those that concern a population score alone are apart.
    population_warnings : tuple of str
    run : str
    """

    diagnostics: Diagnostics
    z_shift: float
    histogram: HistogramCheck
    misfit: bool
    warnings: tuple[str, ...]
    population_warnings: tuple[str, ...]
    run: str

    def warnings_for(self, estimand: str) -> tuple[str, ...]:
        """Sentences that belong beside a score of this estimand."""
        return self.warnings + (self.population_warnings if estimand == "population" else ())

    @property
    def ok(self) -> bool:
        """Whether neither a diagnostic nor a predictive check fails."""
        return self.diagnostics.ok and not self.misfit

    def to_frame(self) -> pd.DataFrame:
        """Diagnostics of each parameter, one row a parameter."""
        import pandas as pd

        return pd.DataFrame(self.diagnostics.table).T.rename_axis("parameter")

    @property
    def predictive(self) -> str:
        """The predictive check in words."""
        return f"predictive {self.histogram.p_text} ({self.histogram.kind})"

    def __repr__(self) -> str:
        verdict = "ok" if self.ok else "FAILS"
        parts = [f"z_shift {self.z_shift:.2f}, {self.predictive}", *self.diagnostics.words()]
        line = f"check of {self.run}: {verdict}; {'; '.join(parts)}"
        return "\n".join([line, *(f"Warning: {warning}" for warning in self.warnings_for("population"))])

    def _repr_html_(self) -> str:
        names = ("mean", "sd", "rhat", "ess_bulk", "ess_tail", "exact_mean", "exact_sd", "mean_mcse", "sd_mcse")
        shown = [name for name in names if all(name in row for row in self.diagnostics.table.values())]
        body = [
            [parameter, *(f"{row[name]:.4g}" for name in shown)] for parameter, row in self.diagnostics.table.items()
        ]
        return html_table(["parameter", *shown], body, repr(self).splitlines())

    def plot(self, ax=None):  # type: ignore[no-untyped-def]
        """Histogram of the data with the posterior predictive band."""
        from bayeseval import plots

        return plots.plot_check(self, ax=ax)


def check_posterior(posterior: Posterior) -> Check:
    """Check convergence and fit of a posterior; what `Posterior.check` calls."""
    counts = posterior.counts
    diagnostics = diagnose(posterior)
    rng = np.random.default_rng([posterior.seed, 1])
    chosen = rng.choice(posterior.n_draws, min(PREDICTIVE_DRAWS, posterior.n_draws), replace=False)
    histogram = histogram_check(
        posterior.distribution.take(chosen), counts.correct, counts.generations, rng, posterior.key
    )
    answered = counts.generations > 0
    z_shift, decisive = _z_shift(posterior)
    shifted = decisive and abs(z_shift) > Z_SHIFT_LIMIT
    misfit = bool(histogram.p < P_LIMIT or shifted)
    warnings = list(diagnostics.warnings)
    population_warnings = []
    units = "clusters" if posterior.distribution.keyed_by == "cluster" else "prompts"
    if misfit:
        reasons = []
        if histogram.p < P_LIMIT:
            reasons.append(f"it would seldom produce such counts (predictive {histogram.p_text})")
        if shifted:
            reasons.append(f"its mean lies {z_shift:+.1f} standard errors from the unbiased estimate")
        warnings.append(
            f"{posterior.model.name} does not describe these prompts: {' and '.join(reasons)}; see "
            f"post.check().plot(){_others(posterior)}"
        )
        population_warnings.append(
            f"for prompts like these the robust score (Bayesian bootstrap over {units}) is therefore the headline, "
            "not that of the model"
        )
    elif abs(z_shift) > Z_SHIFT_LIMIT:
        population_warnings.append(
            f"the posterior mean of mu lies {z_shift:+.1f} standard errors from the unbiased estimate: with so few "
            f"successes or failures the prior weighs in; compare with be.moments(counts) and other priors"
        )
    if misfit and (hint := adaptive_hint(counts.correct, counts.generations)):
        warnings.append(
            f"{hint}: estimates made of shares of correct answers are then biased, so scores of these prompts lean on "
            f"this model although it fails its check; fit several families"
        )
    if answered.any() and counts.generations[answered].max() == 1:
        warnings.append(
            "one generation per prompt: how P(correct) spreads over prompts (sigma, rho) is not seen, so everything "
            "that depends on it (the benchmark estimand, pass@k, single prompts) follows the prior"
        )
    elif answered.sum() == 1:
        warnings.append("a single prompt: how P(correct) spreads over prompts follows the prior alone")
    named, population_named = (
        tuple(f"{counts.label}: {text}" for text in texts) for texts in (warnings, population_warnings)
    )
    return Check(diagnostics, z_shift, histogram, misfit, named, population_named, counts.label)


def _others(posterior: Posterior) -> str:
    """Which models to try: built-in ones of another family that need no more than counts."""
    names = alternatives(posterior.model)
    return f", and try be.fit(counts, model={[posterior.model.name, *names]})" if names else ""


def diagnose(posterior: Posterior) -> Diagnostics:
    """R-hat, effective sample sizes, divergences, and the distance to the exact engine."""
    scalars = dict(_scalars(posterior.parameters))
    if posterior.engine == "quadrature":
        table: dict[str, dict[str, float]] = {
            name: {"mean": float(values.mean()), "sd": float(values.std())} for name, values in scalars.items()
        }
        return Diagnostics(table, 0, ())
    from arviz_stats.base import array_stats

    table = {}
    resampled = posterior.made.get("importance")
    for name, values in scalars.items():
        row = {"mean": float(values.mean()), "sd": float(values.std(ddof=1))}
        table[name] = row
        if resampled:
            _errors_of_resampled(row, values, resampled["effective"])
            continue
        axes = {"chain_axis": 0, "draw_axis": 1}
        row["rhat"] = float(array_stats.rhat(values, **axes))
        row["ess_bulk"] = float(array_stats.ess(values, method="bulk", **axes))
        row["ess_tail"] = float(array_stats.ess(values, method="tail", prob=(0.05, 0.95), **axes))
        row["mcse_mean"] = float(array_stats.mcse(values, method="mean", **axes))
        row["mcse_sd"] = float(array_stats.mcse(values, method="sd", **axes))
    if posterior.model.has_quadrature:
        _compare_with_exact(posterior, table)
    divergences = int(np.sum(posterior.statistics.get("diverging", 0)))
    warnings = tuple(_sampler_warnings(table, divergences, posterior.n_draws))
    return Diagnostics(table, divergences, warnings, resampled)


def _scalars(parameters: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Draws (chain, draw) of every parameter, vectors of up to `LONGEST_VECTOR` entry by entry; constants left out."""
    for name, values in parameters.items():
        entries = values.reshape(*values.shape[:2], -1)
        if entries.shape[2] > LONGEST_VECTOR:
            continue
        for entry in range(entries.shape[2]):
            if np.ptp(entries[..., entry]) > 0:
                yield name if values.ndim == 2 else f"{name}[{entry}]", entries[..., entry]


def _errors_of_resampled(row: dict[str, float], values: np.ndarray, effective: float) -> None:
    """Effective draws and Monte Carlo errors after importance resampling, which adds the noise of choosing draws."""
    ess = 1 / (1 / effective + 1 / values.size)
    fourth = float(((values - row["mean"]) ** 4).mean())
    row["ess_bulk"] = row["ess_tail"] = ess
    row["mcse_mean"] = row["sd"] / np.sqrt(ess)
    row["mcse_sd"] = float(np.sqrt(max(fourth - row["sd"] ** 4, 0.0) / ess) / (2 * max(row["sd"], 1e-300)))


def _compare_with_exact(posterior: Posterior, table: dict[str, dict[str, float]]) -> None:
    counts = posterior.counts
    try:
        exact = exact_under(posterior.prior, counts.correct, counts.generations, tolerance=1e-6)
    except FitError:
        return  # no second opinion; R-hat, effective draws and divergences still speak
    for name in ("mu", "rho", "sigma"):
        if name in table:
            row = table[name]
            row["exact_mean"], row["exact_sd"] = exact.mean(name), exact.sd(name)
            row["mean_mcse"] = abs(row["mean"] - row["exact_mean"]) / row["mcse_mean"]
            row["sd_mcse"] = abs(row["sd"] - row["exact_sd"]) / row["mcse_sd"]


def _sampler_warnings(table: dict[str, dict[str, float]], divergences: int, draws: int) -> list[str]:
    warnings = []
    rhat = max((row.get("rhat", 1.0) for row in table.values()), default=1.0)
    if not rhat <= RHAT_LIMIT:
        warnings.append(
            f"the chains have not converged (R-hat up to {rhat:.3f}, above {RHAT_LIMIT}): do not use these numbers; "
            f"run longer (tune=2000, draws=2000), or use {EXACT}"
        )
    ess = min((min(row["ess_bulk"], row["ess_tail"]) for row in table.values()), default=np.inf)
    if not ess >= min(ESS_LIMIT, draws / 10):
        warnings.append(f"few effective draws ({ess:.0f}): interval ends are rough; take more draws, or use {EXACT}")
    if divergences:
        warnings.append(
            f"{divergences} divergent transitions of {draws:,}: the tails may be cut off; raise target_accept to 0.99, "
            f"or use {EXACT}"
        )
    distance = max((row.get(name, 0.0) for row in table.values() for name in ("mean_mcse", "sd_mcse")), default=0.0)
    if distance > MCSE_LIMIT:
        warnings.append(
            f"the draws lie {distance:.1f} Monte Carlo standard errors from the exact posterior, so they have missed a "
            f"part of it (a rare tail, most often): use engine='quadrature'"
        )
    return warnings


def _z_shift(posterior: Posterior) -> tuple[float, bool]:
    """Shift of the model's mean from the moment estimate, and whether the latter is precise enough to judge by."""
    counts = posterior.counts
    answered = counts.generations > 0
    if answered.sum() < 2:
        return float("nan"), False
    frame = moments(counts).to_frame()
    estimate, error = float(frame["mean"].iloc[0]), float(frame["se_population"].iloc[0])
    units = answered.sum()
    if posterior.distribution.keyed_by == "cluster" and posterior.key is not None:
        cluster = posterior.key[answered]
        units = np.unique(cluster).size
        if units < 2:
            return float("nan"), False
        error = clustered_se(counts.correct[answered] / counts.generations[answered], cluster)
    if not error > 0:
        return float("nan"), False
    expected = units * min(estimate, 1 - estimate)
    # Where more generations went to prompts for what they had answered, the moment estimate is the biased one.
    judges = expected >= EXPECTED_LIMIT and not adaptive_hint(counts.correct, counts.generations)
    return (float(posterior.distribution.mean().mean()) - estimate) / error, bool(judges)
