"""Which of several systems is best, and how surely: posterior ranks from draws of all scores together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from bayeseval.contrasts.inputs import Run, runs_of, seed_warning
from bayeseval.contrasts.joint import in_text_order, joint_draws
from bayeseval.contrasts.ranking import Ranking
from bayeseval.counts import Counts
from bayeseval.defaults import options
from bayeseval.errors import DataError, OptionError, require_positive_integer
from bayeseval.metrics import Metric
from bayeseval.metrics.names import metric_of
from bayeseval.outcomes import Outcomes
from bayeseval.posterior.aligned import aligned
from bayeseval.posterior.posterior import EXTRAPOLATION_LIMIT, Posterior
from bayeseval.posterior.scores import require_estimand

__all__ = ["rank"]

MOST_SEED_PAIRS = 200


def rank(
    systems: Iterable[Posterior | Counts | Outcomes] | Counts | Outcomes,
    *,
    score: str | Metric = "mean",
    estimand: str = "population",
    rope: float | None = None,
    prob: float | None = None,
    draws: int = 4000,
    seed: int = 0,
) -> Ranking:
    """Order systems by a score, with posterior ranks, the probability of being best, and all pairwise differences.

    Parameters
    ----------
    systems : Posteriors, Counts or Outcomes of several runs, or a sequence of them
        Two systems or more on one benchmark, aligned by prompt id: prompts that one of them lacks are left out for all,
        and a warning names them. Where posteriors are needed, counts are fitted with the default model by the exact
        engine.
    score : str or Metric
        As in `bayeseval.contrast`.
    estimand : {"population", "benchmark"}
        Whether the order is one on prompts like these, or on these prompts.
    rope : float, optional
        Differences smaller than this count as ties in `Ranking.pairs` and `Ranking.groups`.
    prob : float, optional
        Probability inside intervals of scores and of ranks; `bayeseval.options.prob` by default.
    draws, seed : int

    Returns
    -------
    Ranking

    Raises
    ------
    DataError
        If benchmarks differ, a system is given twice, there are fewer than two, or no prompt is common to all.
    OptionError
        If an argument is out of range.

    Notes
    -----
    Draws are made as for `bayeseval.contrast`: for the population with the same bootstrap weights of prompts for all
    systems, for the benchmark from posteriors that are independent given the prompts. The rank of a system in a draw is
    1 plus the number of systems above it. Generations are taken for independent; compare systems that share noise in
    pairs, with ``be.contrast(a, b, coupled=True)``.

    References
    ----------
    .. [1] Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134.
       https://doi.org/10.1214/aos/1176345338

    Examples
    --------
    >>> import bayeseval as be
    >>> p = np.random.default_rng(1).beta(1, 1, 100)
    >>> runs = [be.Counts.from_arrays(np.round(8 * p**x), 8, system=name) for name, x in (("a", 1), ("b", 2))]
    >>> be.rank(runs, seed=1).systems
    ('a', 'b')
    """
    metric, prob = metric_of(score), options.interval_prob(prob)
    require_estimand(estimand)
    draws = require_positive_integer("draws", draws)
    if rope is not None and not (np.isfinite(rope) and 0 < rope < 1):
        raise OptionError(f"rope is half a width, more than 0 and less than 1, but {rope!r} was given")
    given: Any = systems
    runs = runs_of(given)
    if len(runs) < 2:
        raise DataError(f"a ranking needs two systems or more, but {len(runs)} was given")
    found = in_text_order(aligned([run.source for run in runs], "a ranking"))
    typical = int(np.median(found.generations))
    if metric.k > EXTRAPOLATION_LIMIT * typical:
        raise OptionError(
            f"{metric.name} looks more than {EXTRAPOLATION_LIMIT} times beyond the {typical} generations that were "
            f"run: the shape of the prior would decide the order"
        )
    joint = joint_draws(found, metric, estimand, draws, seed)
    order = np.argsort(-joint.draws.mean(axis=0), kind="stable")
    return Ranking(
        systems=tuple(found.systems[place] for place in order),
        benchmark=found.benchmark,
        score=metric.name,
        estimand=estimand,
        draws=joint.draws[:, order],
        method=joint.method,
        rope=rope,
        prob=prob,
        n_prompts=len(found.prompt),
        generations=typical,
        warnings=tuple(dict.fromkeys((*found.warnings, *joint.warnings, *_seeds(runs, found.systems)))),
    )


def _seeds(runs: list[Run], names: tuple[str, ...]) -> list[str]:
    """What seeds say, for a few dozens of systems with seeds at most."""
    seeded = [place for place, run in enumerate(runs) if run.outcomes is not None and run.outcomes.seed is not None]
    said: list[str] = []
    for one, two in list(combinations(seeded, 2))[:MOST_SEED_PAIRS]:
        said += seed_warning(runs[one].outcomes, runs[two].outcomes, (names[one], names[two]))
    return said
