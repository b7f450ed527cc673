r"""Simulation-based calibration: posteriors must cover at their rate, exactly, when truths come from the prior.

Draw :math:`\theta \sim p(\theta)`, data :math:`y \sim p(y \mid \theta)`, and posterior draws given y. The share of
draws below :math:`\theta` is then uniform, for every scalar function of the parameters and whatever the model [1]_.
An error in the likelihood, the priors, the sampler or the computation of a score shows as a share that is not.

References
----------
.. [1] Talts, Betancourt, Simpson, Vehtari & Gelman (2018). Validating Bayesian inference algorithms with
   simulation-based calibration. https://arxiv.org/abs/1804.06788
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval.calibration.bands import Band, simultaneous_band
from bayeseval.calibration.pairs import pair_quantities, simulate_pairs
from bayeseval.calibration.simulation import Truths, simulate
from bayeseval.catalogue import DEFAULT_MODEL, ModelFile, load_model
from bayeseval.counts import Counts
from bayeseval.display import html_table
from bayeseval.errors import OptionError, require_positive_integer
from bayeseval.fitting import fit
from bayeseval.metrics import Metric
from bayeseval.posterior.credit import CreditPosterior
from bayeseval.posterior.pairs import PairPosterior
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.posteriors import Posteriors
from bayeseval.posterior.scores import ESTIMANDS
from bayeseval.progress import Progress

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["PROBS", "Calibration", "calibrate"]

PROBS = (0.5, 0.8, 0.95)
PROB = 0.99
MOST_RANKED = 255
"""Draws of NUTS that a rank is taken among, evenly spaced; neighbours in a chain depend on each other."""
PER_GROUP = 4
"""Prompts of a group, for models that need groups."""
MOST_ENTRIES = 8
"""Parameters with more entries than this are left out."""
TIE = 1e-12
UNIT = 1e-4


@dataclass(frozen=True, repr=False, eq=False)
class Calibration:
    """Ranks of the truth among posterior draws, over many simulated data sets.

    Attributes
    ----------
    model : str
    engine : {"quadrature", "nuts"}
    design : str
        Prompts and generations, in words.
    quantities : tuple of str
        Parameters and scores.
    ranks : float array (quantity, replicate)
        Share of posterior draws below the truth, ties broken at random; uniform on (0, 1) if all is right.
    misfit : float
        Share of replicates in which the check of the fit calls the (right) model wrong.
    sampler_warnings : float
        Share of replicates in which the sampler's diagnostics complain.
    prob : float
        Probability that all quantities stay inside their bands if all is right.
    made : dict
        Seed, prior, settings, versions.
    """

    model: str
    engine: str
    design: str
    quantities: tuple[str, ...]
    ranks: np.ndarray
    misfit: float
    sampler_warnings: float
    prob: float = PROB
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def replicates(self) -> int:
        """Number of simulated data sets."""
        return self.ranks.shape[1]

    @cached_property
    def band(self) -> Band:
        """The simultaneous band of one quantity, so narrow that all of them stay inside with probability `prob`."""
        return simultaneous_band(self.replicates, 1 - (1 - self.prob) / len(self.quantities))

    @cached_property
    def inside(self) -> np.ndarray:
        """Whether the ranks of each quantity stay inside the band (quantity,)."""
        return self.band.holds(self.ranks)

    @property
    def ok(self) -> bool:
        """Whether all quantities stay inside: of right models, one in a hundred does not (at prob = 0.99)."""
        return bool(self.inside.all())

    def __bool__(self) -> bool:
        return self.ok

    def coverage(self, prob: float) -> np.ndarray:
        """Share of replicates whose central interval of this probability holds the truth (quantity,)."""
        return (np.abs(self.ranks - 0.5) <= prob / 2).mean(axis=1)

    def error(self, prob: float) -> float:
        """Binomial standard error of a coverage that is as it should be."""
        return float(np.sqrt(prob * (1 - prob) / self.replicates))

    def to_frame(self) -> pd.DataFrame:
        """One row a quantity.

        Returns
        -------
        pandas.DataFrame
            Columns quantity, ok, mean_rank, then coverage_50, coverage_80, coverage_95 and error_50, error_80,
            error_95, the binomial standard errors.
        """
        import pandas as pd

        columns = {
            "quantity": list(self.quantities),
            "ok": self.inside,
            "mean_rank": self.ranks.mean(axis=1),
            **{f"coverage_{100 * prob:.0f}": self.coverage(prob) for prob in PROBS},
            **{f"error_{100 * prob:.0f}": self.error(prob) for prob in PROBS},
        }
        return pd.DataFrame(columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Empirical distribution of the ranks minus the uniform one, with the band, a panel for each quantity."""
        from bayeseval import plots

        return plots.plot_calibration(self, ax=ax)

    def __repr__(self) -> str:
        outside = [name for name, inside in zip(self.quantities, self.inside, strict=True) if not inside]
        verdict = "ok" if self.ok else f"FAILS for {', '.join(outside)}"
        return (
            f"calibration of {self.model} ({self.engine}), {self.design}, {self.replicates:,} replicates: {verdict}; "
            f"95% intervals cover {self.coverage(0.95).min():.1%} to {self.coverage(0.95).max():.1%} "
            f"(± {self.error(0.95):.1%})"
        )

    def _repr_html_(self) -> str:
        header = ["quantity", "inside the band", *(f"{prob:.0%} covers" for prob in PROBS)]
        covers = [self.coverage(prob) for prob in PROBS]
        body = [
            [name, "yes" if inside else "NO", *(f"{cover[row]:.1%}" for cover in covers)]
            for row, (name, inside) in enumerate(zip(self.quantities, self.inside, strict=True))
        ]
        return html_table(header, body, [repr(self)])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a JSON file; ranks become whole numbers of ten-thousandths."""
        parts = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "ranks"}
        ranks = np.round(self.ranks / UNIT).astype(int).tolist()
        return {**parts, "quantities": list(self.quantities), "ranks_in_ten_thousandths": ranks}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Calibration:
        """Read back what `to_dict` gave."""
        parts = dict(data)
        ranks = UNIT * np.asarray(parts.pop("ranks_in_ten_thousandths"), dtype=float)
        return cls(**{**parts, "quantities": tuple(data["quantities"]), "ranks": ranks})


def calibrate(
    model: str | Path | ModelFile = DEFAULT_MODEL,
    *,
    prompts: int = 20,
    generations: int | Sequence[int] | np.ndarray | Counts = 4,
    replicates: int = 200,
    prior: Mapping[str, tuple[float, ...]] | None = None,
    metrics: Sequence[Metric] | None = None,
    engine: str | None = None,
    seed: int = 0,
    draws: int = 250,
    progress: bool = True,
) -> Calibration:
    """Check a model and its computation by simulation: draw truths from the prior, simulate, fit, and rank the truths.

    Parameters
    ----------
    model : str, pathlib.Path or ModelFile
        Name of a built-in model, or path of a file of your own. The file is run: use only files that you trust.
    prompts : int
        Prompts of each simulated data set.
    generations : int, sequence of int, or Counts
        Generations for each prompt: one number, several that are dealt out to the prompts in turn, or Counts of one
        run, whose prompts, groups and generations are taken, and whose answers are not. Without Counts, models that
        need groups get four prompts to each.
    replicates : int
        Simulated data sets.
    prior : mapping of str to tuple of float, optional
        Prior parameters to change.
    metrics : sequence of Metric, optional
        Scores to rank beside the parameters, for both estimands; mean, pass@4, pass^4 and G-Pass@4 (τ = 0.5) by
        default, and the mean alone for a model of credits or of two systems, of which the difference is ranked too.
    engine : {"quadrature", "nuts"}, optional
        The exact engine where the model declares it, NUTS elsewhere, by default.
    seed : int
    draws : int
        Draws kept in each of four chains; ranks are taken among 255 of them for NUTS, among all for the exact engine,
        whose draws are spread evenly.
    progress : bool

    Returns
    -------
    Calibration

    Raises
    ------
    OptionError
        If an argument is out of range.
    ModelFileError
        If the model file does not follow the protocol.

    Examples
    --------
    >>> import bayeseval as be
    >>> calibration = be.calibrate(prompts=5, generations=[2, 6], replicates=20, seed=1, progress=False)
    >>> calibration.ok, calibration.ranks.shape
    (True, (11, 20))
    """
    found = load_model(model)
    priors = found.prior(prior)
    design = _design(prompts, generations, "groups" in found.blocks)
    replicates = require_positive_integer("replicates", replicates)
    engine = engine or ("quadrature" if found.has_quadrature else "nuts")
    if metrics is None:
        of_counts = [be_metrics.pass_at(4), be_metrics.pass_hat(4), be_metrics.g_pass(4, 0.5)]
        metrics = [be_metrics.mean(), *(() if found.for_credits or found.for_pairs else of_counts)]
    truths, runs = (simulate_pairs if found.for_pairs else simulate)(found, priors, design, replicates, seed)
    fitted = fit(runs, found, prior=priors, engine=engine, seed=seed, draws=draws, progress=progress)
    posteriors = fitted if isinstance(fitted, Posteriors | list) else [fitted]
    rng = np.random.default_rng([seed, 3])
    ranks, misfit, complaints = [], [], []
    with Progress("ranking the truths", len(posteriors), enabled=progress) as bar:
        for index, posterior in enumerate(posteriors):
            ranks.append(_ranks(truths, index, posterior, metrics, rng))
            misfit.append(posterior.check().misfit)
            complaints.append(not posterior.check().diagnostics.ok)
            bar.advance()
    return Calibration(
        model=found.name,
        engine=engine,
        design=_words(design),
        quantities=tuple(ranks[0]),
        ranks=np.array([list(row.values()) for row in ranks]).T,
        misfit=float(np.mean(misfit)),
        sampler_warnings=float(np.mean(complaints)),
        made=dict(posteriors[0].made),
    )


def _design(prompts: int, generations: int | Sequence[int] | np.ndarray | Counts, grouped: bool) -> Counts:
    if isinstance(generations, Counts):
        return generations
    prompts = require_positive_integer("prompts", prompts)
    numbers = np.atleast_1d(np.asarray(generations))
    if numbers.ndim != 1 or not 0 < numbers.size <= prompts or not np.issubdtype(numbers.dtype, np.integer):
        raise OptionError(
            f"generations must be a whole number or at most {prompts} of them, one for each prompt, "
            f"but {generations!r} was given"
        )
    group = [f"group {index // PER_GROUP + 1}" for index in range(prompts)] if grouped else None
    return Counts.from_arrays(np.zeros(prompts, dtype=int), np.resize(numbers, prompts), group=group)


def _words(design: Counts) -> str:
    numbers = np.unique(design.generations)
    several = f"{numbers[0]}" if numbers.size == 1 else f"{numbers[0]} to {numbers[-1]}"
    return f"{len(design):,} prompts × {several} generation{'s' if numbers[-1] > 1 else ''}"


def _ranks(
    truths: Truths,
    index: int,
    posterior: Posterior | CreditPosterior | PairPosterior,
    metrics: Sequence[Metric],
    rng: np.random.Generator,
) -> dict[str, float]:
    """Rank of every quantity of one replicate."""
    pairs: dict[str, tuple[float, np.ndarray]] = {}
    for name, values in posterior.parameters.items():
        entries = int(np.prod(values.shape[2:]))
        if name in truths.parameters and entries <= MOST_ENTRIES:
            truth, flat = np.ravel(truths.parameters[name][index]), values.reshape(-1, entries)
            for entry in np.flatnonzero(np.ptp(flat, axis=0) > 0):  # what never varies, such as a level, has no rank
                pairs[name if values.ndim == 2 else f"{name}[{entry}]"] = (float(truth[entry]), flat[:, entry])
    if isinstance(posterior, PairPosterior):
        pairs |= pair_quantities(truths, index, posterior, metrics)
    else:
        pairs |= _scores(truths, index, posterior, metrics)
    step = 1 if posterior.engine == "quadrature" else -(-posterior.n_draws // MOST_RANKED)
    return {name: _rank(truth, draws[::step], rng) for name, (truth, draws) in pairs.items()}


def _scores(
    truths: Truths, index: int, posterior: Posterior | CreditPosterior, metrics: Sequence[Metric]
) -> dict[str, tuple[float, np.ndarray]]:
    """Truth and posterior draws of the scores of one replicate."""
    pairs: dict[str, tuple[float, np.ndarray]] = {}
    # The exact quantiles are not needed here, and without the grid they are not computed.
    light = replace(posterior, exact=None) if isinstance(posterior, Posterior) else posterior
    answers = list(light.scores(metrics, method="model"))
    scores = {(place // len(ESTIMANDS), score.estimand): score.draws for place, score in enumerate(answers)}
    truth_of = truths.distribution.take(slice(index, index + 1))
    for place, metric in enumerate(metrics):
        true = {"population": truth_of.score(metric)[0], "benchmark": metric.given_p(truths.p[index]).mean()}
        for estimand in ESTIMANDS:
            pairs[f"{metric.name}, {estimand}"] = (float(true[estimand]), scores[place, estimand])
    return pairs


def _rank(truth: float, draws: np.ndarray, rng: np.random.Generator) -> float:
    """Share of draws below the truth, as a continuous number in (0, 1); ties are broken at random.

    Draws and truth are tied where they agree to 12 digits: sums over prompts round differently.
    """
    near = np.abs(draws - truth) <= TIE * np.abs(truth)
    below, tied = np.sum((draws < truth) & ~near), np.sum(near)
    return float((below + rng.random() * (tied + 1)) / (draws.size + 1))
