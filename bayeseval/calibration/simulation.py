"""The one step of calibration that knows how data come about: truths from a model's prior, and data given the truths.

A distribution of P(correct) that needs more than its counts (groups, effects of runs) brings a method
``simulate(design, rng)`` of its own, which is then asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeseval.catalogue import ModelFile
from bayeseval.counts import Counts
from bayeseval.errors import DataError
from bayeseval.priors import prior_draws

__all__ = ["Truths", "simulate"]


@dataclass(frozen=True, eq=False)
class Truths:
    """What is true in each replicate.

    Attributes
    ----------
    parameters : dict of str to float array (replicate, ...)
        The model's parameters and deterministic quantities, drawn from the prior.
    distribution : PromptDistribution
        Distribution of P(correct) over prompts in each replicate.
    p : float array (replicate, prompt)
        P(correct) of the prompts of each replicate.
    """

    parameters: dict[str, np.ndarray]
    distribution: Any
    p: np.ndarray


def simulate(
    model: ModelFile, prior: Mapping[str, tuple[float, ...]], design: Counts, replicates: int, seed: int
) -> tuple[Truths, Counts]:
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
    runs : Counts
        One run for each replicate; its system is the number of the replicate.

    Notes
    -----
    P(correct) of the prompts is drawn by conditioning the distribution on no generation at all, and the counts are
    binomial. A distribution with a method ``simulate(design, rng)`` is asked for both instead; it returns ``p`` and
    ``correct``, arrays (replicate, prompt).

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
    parameters = prior_draws(model, prior, replicates, seed)
    distribution = model.prompt_distribution(parameters)
    rng = np.random.default_rng([seed, 2])
    if hasattr(distribution, "simulate"):
        p, correct = distribution.simulate(design, rng)
    else:
        nothing = np.zeros(1, dtype=int)
        p = distribution.condition(nothing, nothing).draw(rng, np.zeros(len(design), dtype=int))
        correct = rng.binomial(design.generations, p)
    digits = len(str(replicates - 1))
    kept: dict[str, Any] = {"prompt": design.prompt, "benchmark": design.benchmark, "group": design.group}
    runs = [
        Counts.from_arrays(row, design.generations, system=f"{index:0{digits}d}", **kept)
        for index, row in enumerate(correct)
    ]
    return Truths(parameters, distribution, p), Counts.concat(runs)
