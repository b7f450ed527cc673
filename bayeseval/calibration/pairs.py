"""Calibration of models of two systems: truths from the prior and pairs given the truths, and what is ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bayeseval.calibration.simulation import Truths
from bayeseval.catalogue import ModelFile
from bayeseval.counts import Counts
from bayeseval.metrics import Metric
from bayeseval.pairs import Pairs
from bayeseval.posterior.pairs import PairPosterior
from bayeseval.posterior.scores import ESTIMANDS
from bayeseval.priors import prior_draws

__all__ = ["pair_quantities", "simulate_pairs"]


def simulate_pairs(
    model: ModelFile, prior: Mapping[str, tuple[float, ...]], design: Counts, replicates: int, seed: int
) -> tuple[Truths, list[Pairs]]:
    """Draw truths from the prior, and one pair of systems on the design's prompts for each.

    Parameters
    ----------
    model : ModelFile
    prior : mapping of str to tuple of float
    design : Counts
        One run: its prompts and numbers of generations, which both systems get.
    replicates, seed : int

    Returns
    -------
    truths : Truths
        ``p`` is (replicate, 2, prompt).
    pairs : list of Pairs

    Examples
    --------
    >>> from bayeseval import Counts
    >>> from bayeseval.calibration.pairs import simulate_pairs
    >>> from bayeseval.catalogue import load_model
    >>> model = load_model("coupled")
    >>> truths, pairs = simulate_pairs(model, model.prior(), Counts.from_arrays([0, 0], [4, 8]), 3, seed=1)
    >>> truths.p.shape, pairs[0]
    ((3, 2, 2), Pairs: 0a and 0b on benchmark, 2 prompts, 12 coupled generations)
    """
    parameters = prior_draws(model, prior, replicates, seed)
    distribution = model.prompt_distribution(parameters)
    rng = np.random.default_rng([seed, 2])
    fresh = distribution.fresh(len(design), rng)
    generations = np.stack([design.generations, design.generations])
    correct, both = fresh.generate(generations, rng)
    benchmark = str(design.benchmark[0])
    pairs = [
        Pairs(
            (f"{index}a", f"{index}b"), benchmark, design.prompt, correct[index], generations,
            None if both is None else both[index],
        )
        for index in range(replicates)
    ]  # fmt: skip
    return Truths(parameters, distribution, fresh.p), pairs


def pair_quantities(
    truths: Truths, index: int, posterior: PairPosterior, metrics: Sequence[Metric]
) -> dict[str, tuple[float, np.ndarray]]:
    """Truth and posterior draws of the scores of one replicate: of A, of the difference, and kappa."""
    found: dict[str, tuple[float, np.ndarray]] = {}
    of_truth = truths.distribution.take(slice(index, index + 1))
    for metric in metrics:
        true = {"population": of_truth.score(metric)[0], "benchmark": metric.given_p(truths.p[index]).mean(axis=-1)}
        for estimand in ESTIMANDS:
            a, b = true[estimand]
            first = posterior.score(metric, posterior.systems[0], estimand, method="model")
            difference = posterior.metric_difference(metric, estimand, method="model")
            found[f"{metric.name} of A, {estimand}"] = float(a), first.draws
            found[f"difference of {metric.name}, {estimand}"] = float(a - b), difference.draws
    if of_truth.coupled:
        found["kappa, population"] = float(of_truth.kappa()[0]), posterior.kappa().draws
    return found
