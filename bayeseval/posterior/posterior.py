"""The posterior of one run, and the scores that follow from it.

Everything here is a question put to draws that exist already: nothing re-reads files or samples again.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval.catalogue import ModelFile
from bayeseval.counts import Counts
from bayeseval.defaults import options
from bayeseval.engines.quadrature import ExactPosterior
from bayeseval.errors import OptionError
from bayeseval.estimators.adaptivity import adaptive_hint
from bayeseval.metrics import Metric
from bayeseval.model_data import ModelData
from bayeseval.posterior.prompt_draws import benchmark_scores, bootstrap_scores, prompt_summaries, unbiased_mean
from bayeseval.posterior.scores import Score, Scores, require_estimand, summarise
from bayeseval.prompts import PromptDistribution

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

    from bayeseval.outcomes import Outcomes
    from bayeseval.posterior.check import Check

__all__ = ["Posterior"]

EXTRAPOLATION_WARNING = 2
EXTRAPOLATION_LIMIT = 10


@dataclass(frozen=True, repr=False)
class Posterior:
    """Posterior of one model for one run; made by `bayeseval.fit`.

    Attributes
    ----------
    counts : Counts
        The data of the run.
    model : ModelFile
    prior : dict of str to tuple of float
    parameters : dict of str to float array (chain, draw, ...)
        Draws of the model's parameters and deterministic quantities.
    statistics : dict of str to array (chain, draw)
        What the sampler tells of each draw; empty for the exact engine.
    engine : {"nuts", "quadrature"}
    exact : ExactPosterior or None
        The grid of the exact engine, where that made the fit.
    seed : int
    made : dict
        How the result was made, besides the data: digest of the model file, priors, seed, settings, versions, time.
    outcomes : Outcomes or None
        The generations one by one, where the fit was given them; files do not keep them.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2], generations=[4, 4, 4, 4])
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> 0 < post.mean(estimand="benchmark").lower < post.mean(estimand="benchmark").upper < 1
    True
    """

    counts: Counts
    model: ModelFile
    prior: dict[str, tuple[float, ...]]
    parameters: dict[str, np.ndarray]
    statistics: dict[str, np.ndarray]
    engine: str
    exact: ExactPosterior | None
    seed: int
    made: dict[str, Any]
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    outcomes: Outcomes | None = field(default=None, compare=False, kw_only=True)

    # What was fitted -------------------------------------------------------------------------------------------------

    @property
    def system(self) -> str:
        """The run's system."""
        return str(self.counts.system[0])

    @property
    def benchmark(self) -> str:
        """The run's benchmark."""
        return str(self.counts.benchmark[0])

    @property
    def provenance(self) -> dict[str, Any]:
        """How the result was made: `made`, and the fingerprint of the data."""
        return {"data": self.counts.fingerprint, **self.made}

    @cached_property
    def distribution(self) -> PromptDistribution:
        """Distribution of P(correct) over prompts for each draw, chains one after another."""
        flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in self.parameters.items()}
        return self.model.prompt_distribution(flat)

    @cached_property
    def key(self) -> np.ndarray | None:
        """What tells prompts apart besides their counts, where the model knows: group, cluster or place (prompt,)."""
        if self.distribution.keyed_by is None:
            return None
        if self.distribution.keyed_by == "prompt":
            return np.arange(len(self.counts))
        return ModelData.of(self.counts, ("groups",)).group

    @property
    def n_draws(self) -> int:
        """Number of draws, all chains together."""
        chains, draws = next(iter(self.parameters.values())).shape[:2]
        return chains * draws

    @property
    def typical_generations(self) -> int:
        """Median number of generations of the prompts that have any; scores with a larger k extrapolate."""
        answered = self.counts.generations[self.counts.generations > 0]
        return int(np.median(answered)) if answered.size else 0

    # Scores ----------------------------------------------------------------------------------------------------------

    def mean(self, estimand: str = "population", prob: float | None = None, method: str = "auto") -> Score:
        """Mean of P(correct): the score that benchmarks report.

        Parameters
        ----------
        estimand : {"population", "benchmark"}
            Whether the number speaks about prompts like these, or about these prompts.
        prob : float, optional
            Probability inside the interval; `bayeseval.options.prob` by default.
        method : {"auto", "model", "robust"}
            ``"model"`` takes the fitted distribution. ``"robust"`` re-weights draws of P(correct) by a Bayesian
            bootstrap over prompts (population), or takes the unbiased mean with the noise of its generations
            (benchmark mean, where ten prompts or more were answered both ways). ``"auto"`` is the model while its
            predictive check holds, and robust when it fails; the other answer is kept as ``.other``.

        Returns
        -------
        Score
        """
        return self.score(be_metrics.mean(), estimand, prob, method)

    def pass_at(self, k: int, estimand: str = "population", prob: float | None = None, method: str = "auto") -> Score:
        """pass@k: probability that at least one of k attempts at a prompt is correct; arguments as in `mean`."""
        return self.score(be_metrics.pass_at(k), estimand, prob, method)

    def pass_hat(self, k: int, estimand: str = "population", prob: float | None = None, method: str = "auto") -> Score:
        """pass^k: probability that all of k attempts at a prompt are correct; arguments as in `mean`."""
        return self.score(be_metrics.pass_hat(k), estimand, prob, method)

    def g_pass(
        self, k: int, tau: Any, estimand: str = "population", prob: float | None = None, method: str = "auto"
    ) -> Score:
        """G-Pass@k: probability that at least a share ``tau`` of k attempts is correct; arguments as in `mean`."""
        return self.score(be_metrics.g_pass(k, tau), estimand, prob, method)

    def mg_pass(
        self,
        k: int,
        estimand: str = "population",
        prob: float | None = None,
        method: str = "auto",
        form: Any = None,
    ) -> Score:
        """mG-Pass@k: twice the mean of G-Pass@k over tau from 1/2 to 1; ``form`` as in `bayeseval.metrics.mg_pass`."""
        return self.score(be_metrics.mg_pass(k, form), estimand, prob, method)

    def score(
        self, metric: Metric, estimand: str = "population", prob: float | None = None, method: str = "auto"
    ) -> Score:
        """Any score; arguments as in `mean`."""
        return self.scores([metric], estimand, prob, method)[0]

    def scores(
        self,
        metrics: Sequence[Metric],
        estimand: str | None = None,
        prob: float | None = None,
        method: str = "auto",
    ) -> Scores:
        """Several scores from the same draws of P(correct).

        Parameters
        ----------
        metrics : sequence of Metric
            From `bayeseval.metrics`.
        estimand : {"population", "benchmark"}, optional
            Both by default.
        prob, method
            As in `mean`.

        Returns
        -------
        Scores
        """
        prob = options.interval_prob(prob)
        if method not in ("auto", "model", "robust"):
            raise OptionError(f"method must be 'auto', 'model' or 'robust', but {method!r} was given")
        estimands = ("population", "benchmark") if estimand is None else (require_estimand(estimand),)
        self._compute(metrics)
        make = {"population": self._population, "benchmark": self._benchmark}
        return Scores(tuple(make[name](metric, prob, method) for metric in metrics for name in estimands))

    def prompts(self, prob: float | None = None) -> pd.DataFrame:
        """P(correct) of every prompt.

        Returns
        -------
        pandas.DataFrame
            One row a prompt: system, benchmark, prompt, group (where there is one), generations, correct, mean,
            lower, upper.
        """
        mean, lower, upper = prompt_summaries(
            self.distribution,
            self.counts.correct,
            self.counts.generations,
            options.interval_prob(prob),
            self._stream,
            self.key,
        )
        return self.counts.to_frame().assign(mean=mean, lower=lower, upper=upper)

    def groups(self, prob: float | None = None) -> pd.DataFrame:
        """Mean of P(correct) in every group of prompts; see `bayeseval.posterior.groups.group_summaries`."""
        from bayeseval.posterior.groups import group_summaries

        return group_summaries(self, prob)

    def update(self, more: Counts | Outcomes, *, progress: bool = True, **options: Any) -> Posterior:
        """The posterior after further generations of the run: a fit of the same model to all of the data.

        Parameters
        ----------
        more : Counts or Outcomes
            New generations, of prompts that were there or of new ones; see `bayeseval.updating.update`.
        progress : bool
        **options
            Settings of `bayeseval.fit` to change (draws, chains, seed, engine, ...); else they stay as they were.
        """
        from bayeseval.updating import update

        return update(self, more, progress=progress, **options)

    # Trust -----------------------------------------------------------------------------------------------------------

    def check(self) -> Check:
        """Diagnostics of the sampler, comparison with the exact engine, and predictive checks of the model."""
        from bayeseval.posterior.check import check_posterior

        if "check" not in self._cache:
            self._cache["check"] = check_posterior(self)
        return self._cache["check"]

    @cached_property
    def data(self) -> xr.DataTree:
        """Draws, sampler statistics and data as an xarray DataTree with ArviZ's groups."""
        from bayeseval.posterior.storage import to_datatree

        return to_datatree(self)

    def save(self, path: str | Path) -> Path:
        """Write the posterior to a NetCDF file; `bayeseval.load` reads it back."""
        from bayeseval.posterior.storage import save

        return save(self, path)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The fitted distribution of P(correct) over prompts, with the shares of correct answers seen."""
        from bayeseval import plots

        return plots.plot_prompt_distribution(self, ax=ax)

    # Display ---------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return repr(self.scores([be_metrics.mean()]))

    def _repr_html_(self) -> str:
        title = f"<b>{escape(self.model.name)}</b>, posterior of {self.n_draws:,} draws ({escape(self.engine)})"
        return title + self.scores([be_metrics.mean()])._repr_html_()

    # How the scores are made -----------------------------------------------------------------------------------------

    def _compute(self, metrics: Sequence[Metric]) -> None:
        missing = [metric for metric in dict.fromkeys(metrics) if metric not in self._cache]
        if missing:
            counts = self.counts
            self._cache.update(
                benchmark_scores(self.distribution, counts.correct, counts.generations, missing, self._stream, self.key)
            )

    def _benchmark(self, metric: Metric, prob: float, method: str) -> Score:
        model = self._make(metric, "benchmark", self._cache[metric][0], prob, "model")
        if metric.kind != "mean" or method == "model" or (method == "auto" and not self.check().misfit):
            return model
        draws = unbiased_mean(self.counts.correct, self.counts.generations, self.n_draws, self._stream)
        if draws is None or self._adaptive:
            return model
        return replace(self._make(metric, "benchmark", draws, prob, "robust"), other=model)

    def _population(self, metric: Metric, prob: float, method: str) -> Score:
        answers = {
            "model": self._model_answer(metric, prob),
            "robust": self._make(metric, "population", self._robust_draws(metric), prob, "robust"),
        }
        if method == "auto":
            method = "robust" if self.check().misfit and np.isfinite(answers["robust"].value) else "model"
        headline = answers.pop(method)
        (other,) = answers.values()
        return replace(headline, other=other if np.isfinite(other.value) else None)

    @cached_property
    def _adaptive(self) -> bool:
        """Whether generations depend on what was answered: estimates made of shares are then biased."""
        return bool(adaptive_hint(self.counts.correct, self.counts.generations))

    @property
    def _stream(self) -> tuple[int, int]:
        """Seed of this run's own random numbers: runs with the same counts must not share them."""
        return self.seed, zlib.crc32(self.counts.label.encode())

    def _robust_draws(self, metric: Metric) -> np.ndarray:
        """Draws of P(correct), bootstrapped over prompts; without any model where that has failed and data suffice."""
        correct, generations = (
            values[self.counts.generations > 0] for values in (self.counts.correct, self.counts.generations)
        )
        clustered = self.distribution.keyed_by == "cluster"
        if self.check().misfit and 1 < metric.k <= generations.min() and not clustered and not self._adaptive:
            draws = bootstrap_scores(correct, generations, metric, self.n_draws, self._stream)
            if np.ptp(draws) > 0:
                return draws
        return self._cache[metric][1]

    def _model_answer(self, metric: Metric, prob: float) -> Score:
        score = self._make(metric, "population", self.distribution.score(metric), prob, "model")
        if self.exact is None or metric.kind != "mean":
            return score
        if prob not in self._cache:
            self._cache[prob] = self.exact.quantile("mu", np.array([(1 - prob) / 2, (1 + prob) / 2]))
        lower, upper = self._cache[prob]
        value, sd = self.exact.mean("mu"), self.exact.sd("mu")
        return replace(score, value=value, sd=sd, lower=float(lower), upper=float(upper))

    def _make(self, metric: Metric, estimand: str, draws: np.ndarray, prob: float, method: str) -> Score:
        value, sd, lower, upper = summarise(draws, prob)
        if metric.k > EXTRAPOLATION_LIMIT * self.typical_generations:
            sd = lower = upper = float("nan")
        return Score(
            name=metric.name,
            estimand=estimand,
            value=value,
            sd=sd,
            lower=lower,
            upper=upper,
            prob=prob,
            draws=draws,
            system=self.system,
            benchmark=self.benchmark,
            model=self.model.name,
            n_prompts=len(self.counts),
            n_generations=int(self.counts.generations.sum()),
            method=method,
            extrapolated=metric.k > self.typical_generations,
            warnings=self.check().warnings_for(estimand) + self.caveats(metric, estimand),
        )

    def caveats(self, metric: Metric, estimand: str) -> tuple[str, ...]:
        """What is to be said beside a score, besides what the check says."""
        seen = self.typical_generations
        if self.check().misfit and estimand == "benchmark" and metric.k > 1:
            return (
                f"{metric.name} of these prompts leans on the shape that fails its check, for prompts near p = 0 and "
                f"p = 1 most; set be.metric_estimates(counts, ...) beside it",
            )
        if metric.k > EXTRAPOLATION_LIMIT * seen:
            return (
                f"{metric.name} looks more than {EXTRAPOLATION_LIMIT} times beyond the {seen} generations that were "
                f"run: the shape of the prior decides it, so no interval is given",
            )
        if metric.k > EXTRAPOLATION_WARNING * seen:
            return (
                f"{metric.name} looks beyond the {seen} generations that were run: its value leans on the shape of "
                f"the fitted distribution near p = 0 and p = 1, and the interval does not show that",
            )
        return ()
