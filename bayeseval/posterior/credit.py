"""The posterior of one run with partial credit: mean credits, and whether they can be trusted.

What `Posterior` is for counts, for credits. A credit is not right or wrong, so there is one score, the mean.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval.catalogue import ModelFile
from bayeseval.credit_data import CreditData, PromptCredits
from bayeseval.credit_tables import CreditTable
from bayeseval.credits import Credits
from bayeseval.defaults import options
from bayeseval.errors import OptionError
from bayeseval.metrics import Metric
from bayeseval.posterior.pairs import PairPosterior
from bayeseval.posterior.prompt_draws import BLOCK, in_threads
from bayeseval.posterior.scores import Score, Scores, require_estimand, summarise
from bayeseval.prompts import CreditDistribution
from bayeseval.prompts.credit import require_mean

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

    from bayeseval.posterior.credit_check import CreditCheck

__all__ = ["CreditPosterior", "refuse_credits"]

MOST_WORK = 1 << 27
"""Draws × prompts × numbers held for each: beyond that, scores of prompts take every second, third, ... draw."""
LEAST_DRAWS = 1000
NAME = "mean credit"


@dataclass(frozen=True, repr=False)
class CreditPosterior:
    """Posterior of one model of credits for one run; made by `bayeseval.fit`.

    Attributes
    ----------
    credits : Credits
        The data of the run.
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
    >>> credits = be.Credits.from_matrix([[0, 0.5, 0.5], [1, 1, 0.5], [0, 0, 0.5], [1, 0.5, 1]], levels=(0, 0.5, 1))
    >>> post = be.fit(credits, seed=1, draws=200, tune=300, progress=False)
    >>> 0.3 < post.mean(estimand="benchmark").value < 0.7
    True
    """

    credits: Credits
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
    def system(self) -> str:
        """The run's system."""
        return str(self.credits.system[0])

    @property
    def benchmark(self) -> str:
        """The run's benchmark."""
        return str(self.credits.benchmark[0])

    @property
    def counts(self) -> NoReturn:
        """Raise: whatever asks for counts of correct generations needs right and wrong."""
        raise OptionError(
            f"{self.system} on {self.benchmark}: this posterior is one of credits, which are not right or wrong, and "
            f"what was asked needs counts of correct generations: say from which credit on a generation is correct, "
            f"and fit be.fit(credits.outcomes(threshold=1))"
        )

    @cached_property
    def table(self) -> CreditTable:
        """Sums over the generations of each prompt."""
        return self.credits.tables()[0]

    @cached_property
    def prompt_credits(self) -> PromptCredits:
        """What the model knows of each prompt."""
        return CreditData(self.table, self.model.blocks).prompts

    @property
    def provenance(self) -> dict[str, Any]:
        """How the result was made: `made`, and the fingerprint of the data."""
        digest = hashlib.sha256()
        for column in (self.credits.system, self.credits.benchmark, self.credits.prompt):
            digest.update("\0".join(map(str, column)).encode())
        digest.update(self.credits.credit.tobytes())
        return {"data": digest.hexdigest()[:16], **self.made}

    @cached_property
    def distribution(self) -> CreditDistribution:
        """Distribution of credits over prompts for each draw, chains one after another."""
        flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in self.parameters.items()}
        return self.model.prompt_distribution(flat)

    @property
    def n_draws(self) -> int:
        """Number of draws, all chains together."""
        chains, draws = next(iter(self.parameters.values())).shape[:2]
        return chains * draws

    # Scores ----------------------------------------------------------------------------------------------------------

    def mean(self, estimand: str = "population", prob: float | None = None, method: str = "auto") -> Score:
        """Mean credit.

        Parameters
        ----------
        estimand : {"population", "benchmark"}
            Whether the number speaks about prompts like these, or about these prompts.
        prob : float, optional
            Probability inside the interval; `bayeseval.options.prob` by default.
        method : {"auto", "model", "robust"}
            For the population: ``"model"`` takes the fitted distribution, ``"robust"`` re-weights draws of the prompts'
            mean credits by a Bayesian bootstrap over prompts. ``"auto"`` is the model while its predictive check
            holds, and robust when it fails; the other answer is kept as ``.other``.

        Returns
        -------
        Score
        """
        return self.scores([be_metrics.mean()], require_estimand(estimand), prob, method)[0]

    def score(
        self, metric: Metric, estimand: str = "population", prob: float | None = None, method: str = "auto"
    ) -> Score:
        """The mean credit, as a metric; every other metric is refused."""
        return self.scores([metric], require_estimand(estimand), prob, method)[0]

    def scores(
        self, metrics: Sequence[Metric], estimand: str | None = None, prob: float | None = None, method: str = "auto"
    ) -> Scores:
        """The mean credit for one or both estimands, as `Posterior.scores`.

        Raises
        ------
        OptionError
            If a metric asks what is correct, such as pass@k.
        """
        for metric in metrics:
            require_mean(metric)
        level = options.interval_prob(prob)
        if method not in ("auto", "model", "robust"):
            raise OptionError(f"method must be 'auto', 'model' or 'robust', but {method!r} was given")
        estimands = ("population", "benchmark") if estimand is None else (require_estimand(estimand),)
        make = {"population": self._population, "benchmark": self._benchmark}
        return Scores(tuple(make[name](level, method) for _ in metrics for name in estimands))

    def pass_at(self, k: int, *_: Any, **__: Any) -> NoReturn:
        """Raise: pass@k needs right and wrong, and a threshold makes them."""
        self._refuse(be_metrics.pass_at(k))

    def pass_hat(self, k: int, *_: Any, **__: Any) -> NoReturn:
        """Raise: pass^k needs right and wrong, and a threshold makes them."""
        self._refuse(be_metrics.pass_hat(k))

    def g_pass(self, k: int, tau: Any, *_: Any, **__: Any) -> NoReturn:
        """Raise: G-Pass@k needs right and wrong, and a threshold makes them."""
        self._refuse(be_metrics.g_pass(k, tau))

    def mg_pass(self, k: int, *_: Any, **__: Any) -> NoReturn:
        """Raise: mG-Pass@k needs right and wrong, and a threshold makes them."""
        self._refuse(be_metrics.mg_pass(k))

    def prompts(self, prob: float | None = None) -> pd.DataFrame:
        """Mean credit of every prompt.

        Returns
        -------
        pandas.DataFrame
            One row a prompt: system, benchmark, prompt, group (where there is one), generations, credit (mean of the
            credits seen), mean, lower, upper (posterior).
        """
        import pandas as pd

        table, level = self.table, options.interval_prob(prob)
        with np.errstate(invalid="ignore"):
            seen = table.total / np.where(table.generations > 0, table.generations, np.nan)
        mean, lower, upper = self._prompt_summaries(level)
        group = {} if table.group is None else {"group": np.array(table.groups, dtype=object)[table.group]}
        return pd.DataFrame(
            {
                "system": self.system,
                "benchmark": self.benchmark,
                "prompt": table.prompt,
                **group,
                "generations": table.generations,
                "credit": seen,
                "mean": mean,
                "lower": lower,
                "upper": upper,
            }
        )

    # Trust -----------------------------------------------------------------------------------------------------------

    def update(self, more: Credits, *, progress: bool = True, **options: Any) -> CreditPosterior:
        """The posterior after further credits of the run; see `bayeseval.updating.update`."""
        from bayeseval.updating import update

        return update(self, more, progress=progress, **options)

    def check(self) -> CreditCheck:
        """Diagnostics of the sampler, shift from the moment estimate, and predictive checks of the model."""
        from bayeseval.posterior.credit_check import check_credits

        if "check" not in self._cache:
            self._cache["check"] = check_credits(self)
        return self._cache["check"]

    @cached_property
    def data(self) -> xr.DataTree:
        """Draws, sampler statistics and data as an xarray DataTree with ArviZ's groups."""
        from bayeseval.posterior.storage import credits_to_datatree

        return credits_to_datatree(self)

    def save(self, path: str | Path) -> Path:
        """Write the posterior to a NetCDF file; `bayeseval.load` reads it back."""
        from bayeseval.posterior.storage import save

        return save(self, path)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The fitted distribution of mean credits over prompts, with the mean credits seen."""
        from bayeseval import plots

        return plots.plot_credit_distribution(self, ax=ax)

    # Display ---------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return repr(self.scores([be_metrics.mean()]))

    def _repr_html_(self) -> str:
        title = f"<b>{escape(self.model.name)}</b>, posterior of {self.n_draws:,} draws ({escape(self.engine)})"
        return title + self.scores([be_metrics.mean()])._repr_html_()

    # How the scores are made -----------------------------------------------------------------------------------------

    def _refuse(self, metric: Metric) -> NoReturn:
        require_mean(metric)
        raise AssertionError("a mean is not refused")

    @property
    def _stream(self) -> tuple[int, int]:
        """Seed of this run's own random numbers."""
        return self.seed, zlib.crc32(f"{self.system} on {self.benchmark}".encode())

    @cached_property
    def _thinned(self) -> CreditDistribution:
        """The draws that scores of prompts take: all, or evenly spaced ones where that would be too much work."""
        work = self.n_draws * len(self.table.prompt) * self.distribution.width
        most = max(LEAST_DRAWS, self.n_draws * MOST_WORK // max(work, 1))
        return self.distribution.take(slice(None, None, max(1, -(-self.n_draws // most))))

    @cached_property
    def _prompt_scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Draws of the benchmark score, and of the robust population score (draw,)."""
        distribution, prompts = self._thinned, self.prompt_credits
        answered = self.table.generations > 0
        step = max(1, BLOCK // (answered.size * distribution.width))

        def work(start: int) -> tuple[np.ndarray, np.ndarray]:
            rng = np.random.default_rng([*self._stream, start])
            scores = distribution.take(slice(start, start + step)).draw(prompts, rng)
            weights = rng.standard_exponential(scores.shape) * answered
            return scores.mean(axis=1), (scores * weights).sum(axis=1) / weights.sum(axis=1)

        parts = in_threads(work, range(0, distribution.n_draws, step))
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _prompt_summaries(self, prob: float) -> np.ndarray:
        """Posterior mean and interval of every prompt (3, prompt); prompts that are alike share theirs."""
        distribution = self._thinned
        cells, _, cell = self.prompt_credits.distinct()
        tails = [(1 - prob) / 2, (1 + prob) / 2]
        step = max(1, BLOCK // (distribution.n_draws * distribution.width))

        def work(start: int) -> np.ndarray:
            rng = np.random.default_rng([*self._stream, start])
            part = cells.take(slice(start, start + step))
            mean = distribution.conditional_mean(part).mean(axis=0)
            return np.vstack([mean, np.quantile(distribution.draw(part, rng), tails, axis=0)])

        return np.concatenate(in_threads(work, range(0, len(cells.counts), step)), axis=1)[:, cell]

    def _benchmark(self, prob: float, method: str) -> Score:
        return self._make("benchmark", self._prompt_scores[0], prob, "model")

    def _population(self, prob: float, method: str) -> Score:
        answers = {
            "model": self._make("population", self.distribution.mean(), prob, "model"),
            "robust": self._make("population", self._prompt_scores[1], prob, "robust"),
        }
        if method == "auto":
            method = "robust" if self.check().misfit else "model"
        headline = answers.pop(method)
        (other,) = answers.values()
        return Score(**{**vars(headline), "other": other})

    def _make(self, estimand: str, draws: np.ndarray, prob: float, method: str) -> Score:
        value, sd, lower, upper = summarise(draws, prob)
        return Score(
            name=NAME, estimand=estimand, value=value, sd=sd, lower=lower, upper=upper, prob=prob, draws=draws,
            system=self.system, benchmark=self.benchmark, model=self.model.name, n_prompts=len(self.table.prompt),
            n_generations=int(self.table.generations.sum()), method=method,
            warnings=self.check().warnings_for(estimand),
        )  # fmt: skip


def refuse_credits(given: object) -> None:
    """Raise `OptionError` for a posterior of credits or of two systems, where counts of one run are needed."""
    if isinstance(given, CreditPosterior | PairPosterior):
        _ = given.counts
