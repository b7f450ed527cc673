"""The joint posterior of two systems on the same prompts: their difference, and whether it can be trusted.

What `Posterior` is for one run, for a pair. Both systems are in one model, so the difference of a draw is that of two
P(correct) of the same prompts, and its interval has what they share taken out.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval.catalogue import ModelFile
from bayeseval.defaults import options
from bayeseval.errors import OptionError, require_choice, require_positive_integer
from bayeseval.metrics import Metric
from bayeseval.pair_data import PairData
from bayeseval.pairs import Pairs
from bayeseval.posterior.prompt_draws import BLOCK, evaluator, in_threads
from bayeseval.posterior.scores import ESTIMANDS, Score, Scores, require_estimand, summarise
from bayeseval.prompts import PairDistribution

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

    from bayeseval.posterior.pair_check import PairCheck

__all__ = ["PairPosterior"]

MOST_WORK = 1 << 27
"""Draws × distinct prompts × numbers held for each: beyond that, prompts take every second, third, ... draw."""
LEAST_DRAWS = 1000
KAPPA = "covariance within prompts (kappa)"


@dataclass(frozen=True, repr=False)
class PairPosterior:
    """Posterior of one joint model of two systems on the same prompts; made by `bayeseval.fit` from `Pairs`.

    Attributes
    ----------
    pairs : Pairs
        The data; system A and system B in their order.
    model : ModelFile
    prior : dict of str to tuple of float
    parameters : dict of str to float array (chain, draw, ...)
        Draws of the model's parameters and deterministic quantities.
    statistics : dict of str to array (chain, draw)
        What the sampler tells of each draw.
    engine : {"nuts"}
    seed : int
    made : dict
        How the result was made, besides the data.

    Examples
    --------
    >>> import bayeseval as be
    >>> pairs = be.Pairs(("a", "b"), "sums", list("1234"), [[3, 1, 4, 2], [2, 0, 4, 1]], [[4] * 4] * 2, [2, 0, 4, 1])
    >>> post = be.fit(pairs, seed=1, draws=200, tune=300, progress=False)
    >>> post.difference("benchmark").value > 0
    True
    """

    pairs: Pairs
    model: ModelFile
    prior: dict[str, tuple[float, ...]]
    parameters: dict[str, np.ndarray]
    statistics: dict[str, np.ndarray]
    engine: str
    seed: int
    made: dict[str, Any]
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    # What was fitted -------------------------------------------------------------------------------------------------

    @property
    def systems(self) -> tuple[str, str]:
        """Names of system A and system B."""
        return self.pairs.systems

    @property
    def system(self) -> str:
        """Both systems as one name."""
        return " minus ".join(self.pairs.systems)

    @property
    def benchmark(self) -> str:
        """The benchmark."""
        return self.pairs.benchmark

    @property
    def counts(self) -> NoReturn:
        """Raise: whatever asks for counts of one run gets none from a posterior of two systems."""
        raise OptionError(
            f"{self.pairs.label}: this posterior is one of two systems together, and what was asked takes the "
            f"posterior of one run: fit each system by itself, be.fit(counts)"
        )

    @cached_property
    def data_of_prompts(self) -> PairData:
        """What the model was given of each prompt."""
        return PairData(self.pairs, self.model.blocks)

    @property
    def provenance(self) -> dict[str, Any]:
        """How the result was made: `made`, and the fingerprint of the data."""
        digest = hashlib.sha256("\0".join((*self.systems, self.benchmark, *map(str, self.pairs.prompt))).encode())
        digest.update(self.data_of_prompts.prompts.tobytes())
        return {"data": digest.hexdigest()[:16], **self.made}

    @cached_property
    def distribution(self) -> PairDistribution:
        """Joint distribution of both P(correct) over prompts for each draw, chains one after another."""
        flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in self.parameters.items()}
        return self.model.prompt_distribution(flat)

    @property
    def n_draws(self) -> int:
        """Number of draws, all chains together."""
        chains, draws = next(iter(self.parameters.values())).shape[:2]
        return chains * draws

    # Scores ----------------------------------------------------------------------------------------------------------

    def difference(self, estimand: str = "population", prob: float | None = None, method: str = "auto") -> Score:
        """Mean of P(correct) of A minus that of B; arguments as for `metric_difference`."""
        return self.metric_difference(be_metrics.mean(), estimand, prob, method)

    def metric_difference(
        self, metric: Metric, estimand: str = "population", prob: float | None = None, method: str = "auto"
    ) -> Score:
        """Score of A minus score of B.

        Parameters
        ----------
        metric : Metric
            Such as ``be.metrics.pass_at(8)``.
        estimand : {"population", "benchmark"}
            Whether the number speaks about prompts like these, or about these prompts.
        prob : float, optional
            Probability inside the interval; `bayeseval.options.prob` by default.
        method : {"auto", "model", "robust"}
            For the population: ``"model"`` takes the fitted distribution, ``"robust"`` re-weights the prompts'
            differences by a Bayesian bootstrap over prompts. ``"auto"`` is the model while its predictive check holds,
            and robust when it fails; the other answer is kept as ``.other``.

        Returns
        -------
        Score
        """
        return self._score(metric, None, estimand, prob, method)

    def mean(self, system: str, estimand: str = "population", prob: float | None = None, method: str = "auto") -> Score:
        """Mean of P(correct) of one of the two systems; arguments as for `metric_difference`."""
        return self.score(be_metrics.mean(), system, estimand, prob, method)

    def score(
        self, metric: Metric, system: str, estimand: str = "population", prob: float | None = None, method: str = "auto"
    ) -> Score:
        """Score of one of the two systems; arguments as for `metric_difference`."""
        place = self.systems.index(require_choice("system", system, self.systems))
        return self._score(metric, place, estimand, prob, method)

    def scores(
        self, metrics: list[Metric], estimand: str | None = None, prob: float | None = None, method: str = "auto"
    ) -> Scores:
        """Scores of A, of B, and their difference, for one or both estimands."""
        estimands = tuple(ESTIMANDS) if estimand is None else (require_estimand(estimand),)
        return Scores(
            tuple(
                self._score(metric, place, name, prob, method)
                for metric in metrics
                for place in (0, 1, None)
                for name in estimands
            )
        )

    def p_better(self, estimand: str = "population", metric: Metric | None = None, method: str = "auto") -> float:
        """Probability that the score of A is above that of B (the mean by default); draws that are equal count half."""
        draws = self.metric_difference(metric or be_metrics.mean(), estimand, method=method).draws
        return float(np.mean(draws > 0) + np.mean(draws == 0) / 2)

    def kappa(self, prob: float | None = None) -> Score:
        r"""Covariance of two coupled generations within a prompt, :math:`E[\pi_{11} - p_Ap_B]` over prompts like these.

        Sharing noise lowers the variance of the difference of one pair of generations by twice as much.

        Raises
        ------
        OptionError
            If the model takes generations as independent.
        """
        if not self.distribution.coupled:
            raise OptionError(
                f"model {self.model.name!r} takes generations as independent, so it knows no covariance within "
                f"prompts: fit model='coupled' or 'coupled_plackett' to coupled generations"
            )
        found = self._make(KAPPA, " and ".join(self.systems), "population", self.distribution.kappa(), prob, "model")
        check = self.check()
        own = f"{self.pairs.label}: kappa is that of the model which fails its check: set its moment estimate beside it"
        return replace(found, warnings=check.warnings + ((own,) if check.misfit else ()))

    def prompt_draws(self, draws: int = LEAST_DRAWS) -> np.ndarray:
        """Draws of P(correct) of both systems on every prompt.

        Parameters
        ----------
        draws : int
            Evenly spaced posterior draws; all of them if there are fewer.

        Returns
        -------
        float array (draw, 2, prompt)
            A and B of one draw and prompt belong together.
        """
        wanted = min(require_positive_integer("draws", draws), self.n_draws)
        chosen = np.linspace(0, self.n_draws - 1, wanted).round().astype(int)
        parts = self._in_blocks(self.distribution.take(chosen), lambda p, rng: p, 5)
        return np.concatenate(parts)

    def prompts(self, prob: float | None = None) -> pd.DataFrame:
        """P(correct) of both systems and their difference on every prompt.

        Returns
        -------
        pandas.DataFrame
            The columns of `Pairs.to_frame`, then p_a, lower_a, upper_a, p_b, lower_b, upper_b, difference, lower,
            upper (posterior means and intervals).
        """
        tails = (1 + np.array([-1, 1]) * options.interval_prob(prob)) / 2
        cells, _, cell = self.data_of_prompts.distinct()
        distribution = self._thinned
        step = max(1, BLOCK // (distribution.n_draws * distribution.width))

        def work(start: int) -> np.ndarray:
            rng = np.random.default_rng([*self._stream, 6, start])
            part = cells[start : start + step]
            mean = distribution.conditional_mean(part).mean(axis=0)
            p = distribution.draw(part, np.arange(len(part)), rng)
            three = np.stack([p[:, 0], p[:, 1], p[:, 0] - p[:, 1]])
            ends = np.quantile(three, tails, axis=1)
            return np.stack([np.stack([*mean, mean[0] - mean[1]]), *ends], axis=1)

        summaries = np.concatenate(in_threads(work, range(0, len(cells), step)), axis=2)[:, :, cell]
        frame = self.pairs.to_frame()
        for (value, lower, upper), ends in zip(
            (("p_a", "lower_a", "upper_a"), ("p_b", "lower_b", "upper_b"), ("difference", "lower", "upper")),
            summaries,
            strict=True,
        ):
            frame[value], frame[lower], frame[upper] = ends
        return frame

    # Trust -----------------------------------------------------------------------------------------------------------

    def check(self) -> PairCheck:
        """Diagnostics of the sampler, shift from the moment estimate, and predictive checks of the model."""
        from bayeseval.posterior.pair_check import check_pairs

        if "check" not in self._cache:
            self._cache["check"] = check_pairs(self)
        return self._cache["check"]

    @cached_property
    def data(self) -> xr.DataTree:
        """Draws, sampler statistics and data as an xarray DataTree with ArviZ's groups."""
        from bayeseval.posterior.storage import pairs_to_datatree

        return pairs_to_datatree(self)

    def save(self, path: str | Path) -> Path:
        """Write the posterior to a NetCDF file; `bayeseval.load` reads it back."""
        from bayeseval.posterior.storage import save

        return save(self, path)

    def plot(self, ax: Axes | None = None, estimand: str = "population") -> Axes:
        """Density of the difference with its interval."""
        return self.difference(estimand).plot(ax)

    # Display ---------------------------------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """Means of A and of B and their difference, for both estimands and by both methods."""
        return self.scores([be_metrics.mean()]).to_frame()

    def __repr__(self) -> str:
        score = self.difference()
        warned = [f"Warning: {text}" for text in score.warnings]
        chance = f"P({self.systems[0]} above {self.systems[1]}) = {self.p_better():.3g}"
        return "\n".join([*warned, f"{score.sentence()}; {chance}"])

    def _repr_html_(self) -> str:
        title = f"<b>{escape(self.model.name)}</b>, posterior of {self.n_draws:,} draws ({escape(self.engine)})"
        return title + self.scores([be_metrics.mean()])._repr_html_()

    # How the scores are made -----------------------------------------------------------------------------------------

    @property
    def _stream(self) -> tuple[int, int]:
        """Seed of this pair's own random numbers."""
        return self.seed, zlib.crc32(self.pairs.label.encode())

    @cached_property
    def _thinned(self) -> PairDistribution:
        """The draws that scores of prompts take: all, or evenly spaced ones where that would be too much work."""
        cells, _, cell = self.data_of_prompts.distinct()
        work = self.n_draws * max(len(cells) * self.distribution.width, 2 * cell.size)
        most = max(LEAST_DRAWS, self.n_draws * MOST_WORK // max(work, 1))
        return self.distribution.take(slice(None, None, max(1, -(-self.n_draws // most))))

    def _in_blocks(self, distribution: PairDistribution, function: Any, stream: int) -> list[Any]:
        """What a function makes of P(correct) of prompts (draw, 2, prompt), a block of draws at a time."""
        cells, _, cell = self.data_of_prompts.distinct()
        step = max(1, BLOCK // max(len(cells) * distribution.width, 2 * cell.size))

        def work(start: int) -> Any:
            rng = np.random.default_rng([*self._stream, stream, start])
            return function(distribution.take(slice(start, start + step)).draw(cells, cell, rng), rng)

        return in_threads(work, range(0, distribution.n_draws, step))

    def _prompt_scores(self, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
        """Draws of the benchmark scores of both systems, and of the robust population scores (draw, 2)."""
        if ("prompts", metric) not in self._cache:
            value = evaluator(metric)
            answered = (self.pairs.generations > 0).all(axis=0)

            def work(p: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
                scores = value(p)
                weights = rng.standard_exponential((p.shape[0], p.shape[2])) * answered
                with np.errstate(invalid="ignore"):
                    weights /= weights.sum(axis=1, keepdims=True)
                return scores.mean(axis=2), np.einsum("dsp,dp->ds", scores, weights)

            parts = self._in_blocks(self._thinned, work, 4)
            self._cache["prompts", metric] = tuple(np.concatenate([part[one] for part in parts]) for one in (0, 1))
        return self._cache["prompts", metric]

    def _score(self, metric: Metric, place: int | None, estimand: str, prob: float | None, method: str) -> Score:
        """Score of system ``place``, or the difference where it is None."""
        require_estimand(estimand)
        require_choice("method", method, ("auto", "model", "robust"))
        name = metric.name if place is not None else f"difference of {metric.name}"
        system = self.system if place is None else self.systems[place]

        def of(both: np.ndarray) -> np.ndarray:
            return both[:, 0] - both[:, 1] if place is None else both[:, place]

        benchmark, robust = self._prompt_scores(metric)
        if estimand == "benchmark":
            return self._make(name, system, estimand, of(benchmark), prob, "model", metric.k)
        if ("population", metric) not in self._cache:
            self._cache["population", metric] = self.distribution.score(metric)
        fitted = self._cache["population", metric]
        answers = {
            "model": self._make(name, system, estimand, of(fitted), prob, "model", metric.k),
            "robust": self._make(name, system, estimand, of(robust), prob, "robust", metric.k),
        }
        if method == "auto":
            method = "robust" if self.check().misfit else "model"
        headline = answers.pop(method)
        (other,) = answers.values()
        return Score(**{**vars(headline), "other": other})

    def _make(
        self, name: str, system: str, estimand: str, draws: np.ndarray, prob: float | None, method: str, k: int = 1
    ) -> Score:
        level = options.interval_prob(prob)
        value, sd, lower, upper = summarise(draws, level)
        seen = int(np.median(self.pairs.generations.min(axis=0)))
        beyond = (
            f"{name} looks beyond the {seen} generations that were run: its value leans on the shape of the fitted "
            f"distribution near p = 0 and p = 1, and the interval does not show that"
        )
        return Score(
            name=name, estimand=estimand, value=value, sd=sd, lower=lower, upper=upper, prob=level, draws=draws,
            system=system, benchmark=self.benchmark, model=self.model.name, n_prompts=len(self.pairs),
            n_generations=int(self.pairs.generations.sum()), method=method, extrapolated=k > seen,
            warnings=self.check().warnings_for(estimand) + ((beyond,) if k > 2 * seen else ()),
        )  # fmt: skip
