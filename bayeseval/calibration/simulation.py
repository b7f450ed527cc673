"""The one step of calibration that knows how data come about: truths from a model's prior, and data given the truths.

Where generation j of all prompts is one run, whole runs are simulated, and the data are outcomes instead of counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeseval.catalogue import ModelFile
from bayeseval.counts import Counts
from bayeseval.credit_data import CreditData
from bayeseval.credits import Credits
from bayeseval.errors import DataError
from bayeseval.model_data import ModelData
from bayeseval.outcomes import Outcomes
from bayeseval.priors import prior_draws, specimen
from bayeseval.prompts import LogitNormal

__all__ = ["Truths", "simulate"]


@dataclass(frozen=True, eq=False)
class Truths:
    """What is true in each replicate.

    Attributes
    ----------
    parameters : dict of str to float array (replicate, ...)
        The model's parameters and deterministic quantities, drawn from the prior.
    distribution : PromptDistribution
        Distribution of P(correct), or of credits, over prompts in each replicate.
    p : float array (replicate, prompt)
        P(correct) of the prompts of each replicate; their mean credit, for a model of credits.
    """

    parameters: dict[str, np.ndarray]
    distribution: Any
    p: np.ndarray


def simulate(
    model: ModelFile, prior: Mapping[str, tuple[float, ...]], design: Counts, replicates: int, seed: int
) -> tuple[Truths, Counts | Outcomes | Credits]:
    """Draw truths from the prior, and one data set for each.

    Parameters
    ----------
    model : ModelFile
    prior : mapping of str to tuple of float
        All prior parameters of the model.
    design : Counts
        One run: its prompts, their groups and numbers of generations. Its correct counts are not used.
    replicates : int
    seed : int

    Returns
    -------
    truths : Truths
    runs : Counts, Outcomes or Credits
        One run for each replicate; its system is the number of the replicate.

    Notes
    -----
    Credits are those of fresh prompts; models that need levels get 0, ½ and 1. Otherwise
    P(correct) of the prompts is drawn by conditioning the distribution on no generation at all, and the counts are
    binomial.

    Raises
    ------
    DataError
        If the design has no prompt with a generation, or more than one run.

    Examples
    --------
    >>> from bayeseval import Counts
    >>> from bayeseval.calibration.simulation import simulate
    >>> from bayeseval.catalogue import load_model
    >>> model = load_model("beta_binomial")
    >>> design = Counts.from_arrays([0, 0, 0], [4, 4, 8])
    >>> truths, runs = simulate(model, model.prior(), design, replicates=5, seed=1)
    >>> truths.p.shape, len(runs.runs())
    ((5, 3), 5)
    """
    if len(design.runs()) != 1 or not design.n_generations:
        raise DataError(
            f"a design is one run with at least one generation, but this has {len(design.runs())} runs and "
            f"{design.n_generations:,} generations; select one run, or give numbers of generations"
        )
    if model.for_credits:
        return _simulate_credits(model, prior, design, replicates, seed)
    whole_runs = "runs" in model.blocks
    data = ModelData.of(design, model.blocks, np.zeros(design.generations.max(), dtype=int) if whole_runs else None)
    parameters = prior_draws(model, prior, replicates, seed, data)
    distribution = model.prompt_distribution(parameters)
    rng = np.random.default_rng([seed, 2])
    if isinstance(distribution, LogitNormal) and whole_runs:
        p, outcomes = distribution.simulate_runs(len(design), rng)
        return Truths(parameters, distribution, p), Outcomes.concat(
            [
                Outcomes.from_matrix(table, system=f"{index}", prompts=design.prompt)
                for index, table in enumerate(outcomes)
            ]
        )
    nothing = np.zeros(len(design), dtype=int)
    # Models that sample P(correct) may do so in coordinates that depend on the counts: fresh prompts have none.
    key = None if distribution.keyed_by == "prompt" else data.group
    p = distribution.condition(nothing, nothing, key).draw(rng, np.arange(len(design)))
    correct = rng.binomial(design.generations, p)
    digits = len(str(replicates - 1))
    kept: dict[str, Any] = {"prompt": design.prompt, "benchmark": design.benchmark, "group": design.group}
    runs = [
        Counts.from_arrays(row, design.generations, system=f"{index:0{digits}d}", **kept)
        for index, row in enumerate(correct)
    ]
    return Truths(parameters, distribution, p), Counts.concat(runs)


def _simulate_credits(
    model: ModelFile, prior: Mapping[str, tuple[float, ...]], design: Counts, replicates: int, seed: int
) -> tuple[Truths, Credits]:
    data = specimen(model.blocks)
    assert isinstance(data, CreditData)
    parameters = prior_draws(model, prior, replicates, seed, data)
    distribution = model.prompt_distribution(parameters)
    rng = np.random.default_rng([seed, 2])
    fresh = distribution.fresh(len(design), rng)
    credit = fresh.generate(design.generations, rng)
    size, digits = credit.shape[1], len(str(replicates - 1))
    names = np.array([f"{index:0{digits}d}" for index in range(replicates)], dtype=object)
    runs = Credits(
        system=np.repeat(names, size),
        benchmark=np.tile(np.repeat(design.benchmark, design.generations), replicates),
        prompt=np.tile(np.repeat(design.prompt, design.generations), replicates),
        generation=np.tile(np.concatenate([np.arange(k) for k in design.generations]), replicates),
        credit=credit.ravel(),
        levels=data.table.levels,
    )
    return Truths(parameters, distribution, fresh.score), runs
