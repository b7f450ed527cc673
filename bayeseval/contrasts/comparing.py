"""Is A better than B? The difference of a score of two systems, for these prompts and for prompts like these."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np

from bayeseval.contrasts.difference import Contrast, probability_greater
from bayeseval.contrasts.inputs import Run, coupled_pairs, fitted, run_of, seed_warning
from bayeseval.contrasts.joint import (
    Joint,
    benchmark_draws,
    in_text_order,
    joint_draws,
    model_warnings,
    shuffled,
    with_correlation,
)
from bayeseval.contrasts.noise import noise_terms, shared_noise_correlation
from bayeseval.counts import Counts
from bayeseval.defaults import options
from bayeseval.errors import DataError, OptionError, require_positive_integer, require_probability
from bayeseval.metrics import Metric
from bayeseval.metrics.names import metric_of
from bayeseval.outcomes import Outcomes
from bayeseval.pairs import Pairs
from bayeseval.planning.comparing.verdicts import detectable
from bayeseval.posterior.aligned import Aligned, aligned, counts_of
from bayeseval.posterior.posterior import EXTRAPOLATION_LIMIT, Posterior
from bayeseval.posterior.scores import require_estimand, summarise

__all__ = ["contrast"]

WHAT = "a contrast"


class Facts(NamedTuple):
    """What the difference was made of."""

    systems: tuple[str, str]
    benchmark: str
    sizes: tuple[int, int]
    generations: tuple[int, int]
    noise: float
    design: str


def contrast(
    a: Posterior | Counts | Outcomes | Any,
    b: Posterior | Counts | Outcomes | None = None,
    *,
    score: str | Metric = "mean",
    estimand: str = "population",
    rope: float | None = None,
    prob: float | None = None,
    paired: bool = True,
    coupled: bool | None = None,
    power: float = 0.8,
    draws: int = 4000,
    seed: int = 0,
) -> Contrast:
    r"""Difference of a score of two systems, a - b, with its interval and P(a > b).

    Systems are aligned by prompt id. Prompts that one of them lacks are left out, and a warning names them.

    Parameters
    ----------
    a, b : Posterior, Counts or Outcomes
        One run each, on one benchmark. Where a posterior is needed, counts are fitted with the default model by the
        exact engine. In place of both, one posterior of a model of both systems: it gives the draws, by
        `metric_difference`.
    score : str or Metric
        ``"mean"``, ``"pass@4"``, ``"pass^4"``, ``"g-pass@16:0.5"``, ``"mg-pass@16"``, or one of `bayeseval.metrics`.
    estimand : {"population", "benchmark"}
        Whether the difference is one on prompts like these, or on these prompts.
    rope : float, optional
        Half width of the region of differences that do not matter.
    prob : float, optional
        Probability inside the interval; `bayeseval.options.prob` by default.
    paired : bool
        Whether prompts that both answered are compared as such. ``False`` takes the two scores for independent, as they
        are where each system answered prompts of its own; for the population alone.
    coupled : bool, optional
        Whether generation j of a prompt was made with the same noise by both systems. Needs outcomes of both. Where
        nothing is said, generations are taken for independent, and a warning tells if their seeds say otherwise.
    power : float
        Probability with which a difference shall be resolved, for `Contrast.detectable`.
    draws, seed : int

    Returns
    -------
    Contrast

    Raises
    ------
    DataError
        If the benchmarks differ, the same system is given twice, or no prompt is shared.
    OptionError
        If an argument is out of range, or coupled generations are given without outcomes.

    Notes
    -----
    On *these prompts* the noise of generations alone is uncertain. Independent generations make the posteriors of the
    two scores independent, and draws of both are subtracted. Coupled ones have correlated noise [1]_: the draws are put
    into an order with the correlation

    .. math:: r = \frac{\sum_i g'_{iA}\,g'_{iB}\,\hat\kappa_i/k_i}
        {\sqrt{\sum_i g'^2_{iA}\,v_{iA}/k_i\;\sum_i g'^2_{iB}\,v_{iB}/k_i}},

    with draws of r from a Bayesian bootstrap over prompts. For *prompts like these* a Bayesian bootstrap weighs the
    prompts alike for both systems, and has every covariance in it, coupled or not; see `bayeseval.contrasts.joint`.
    `Contrast.detectable` takes the difference to be normal, with the standard deviation that was found.

    References
    ----------
    .. [1] Corvelo Benz et al. (2025). Evaluation of Large Language Models via Coupled Token Generation.
       https://arxiv.org/abs/2502.01754
    .. [2] Miller (2024). Adding error bars to evals. https://arxiv.org/abs/2411.00640

    Examples
    --------
    >>> import bayeseval as be
    >>> new = be.Counts.from_arrays([4, 4, 3, 1, 0, 4, 2, 4] * 10, 4, system="new", benchmark="sums")
    >>> old = be.Counts.from_arrays([4, 3, 3, 0, 0, 4, 1, 4] * 10, 4, system="old", benchmark="sums")
    >>> found = be.contrast(new, old, seed=1)
    >>> round(found.value, 2), found.p_greater > 0.99
    (0.09, True)
    """
    metric, prob = metric_of(score), options.interval_prob(prob)
    require_estimand(estimand)
    draws, power = require_positive_integer("draws", draws), require_probability("power", power)
    if rope is not None and not (np.isfinite(rope) and 0 < rope < 1):
        raise OptionError(f"rope is half a width, more than 0 and less than 1, but {rope!r} was given")
    if coupled and not paired:
        raise OptionError("coupled generations answer the same prompts: leave paired=False or coupled=True out")
    if hasattr(a, "pairs") and hasattr(a, "metric_difference"):
        if b is not None:
            raise OptionError("the posterior of a pair holds both systems already: leave b out")
        found, facts = _of_pair(a, metric, estimand, seed)
    else:
        if b is None:
            raise OptionError("a contrast takes two systems, but one was given")
        runs = run_of(a), run_of(b)
        if not paired:
            found, facts = _unpaired(runs, metric, estimand, draws, seed)
        elif coupled:
            found, facts = _coupled((a, b), runs, metric, estimand, draws, seed)
        else:
            found, facts = _paired(runs, metric, estimand, draws, seed)
            if coupled is None:
                found = Joint(found.draws, found.method, (*found.warnings, *_seeds(runs, facts.systems)))
    return _result(found, facts, metric, estimand, rope, prob, power)


def _seeds(runs: tuple[Run, Run], systems: tuple[str, str]) -> tuple[str, ...]:
    return seed_warning(runs[0].outcomes, runs[1].outcomes, systems)


# Designs -------------------------------------------------------------------------------------------------------------


def _paired(runs: tuple[Run, Run], metric: Metric, estimand: str, draws: int, seed: int) -> tuple[Joint, Facts]:
    found = in_text_order(aligned([run.source for run in runs], WHAT))
    joint = joint_draws(found, metric, estimand, draws, seed)
    return Joint(joint.draws, joint.method, (*found.warnings, *joint.warnings)), _facts(found, metric, "paired", 0.0)


def _coupled(
    given: tuple[Any, Any], runs: tuple[Run, Run], metric: Metric, estimand: str, draws: int, seed: int
) -> tuple[Joint, Facts]:
    pairs = coupled_pairs(given[0], given[1], "coupled=True")
    found = in_text_order(aligned([run.source for run in runs], WHAT))
    rng = np.random.default_rng([seed, 23, *sorted(zlib.crc32(name.encode()) for name in found.systems)])
    swapped = found.systems[0] > found.systems[1]
    value, correlation = shared_noise_correlation(metric, (pairs.swapped() if swapped else pairs).tables, draws, rng)
    facts = _facts(found, metric, "coupled", value)
    warnings = [*found.warnings, *pairs.warnings]
    if estimand == "population":
        joint = joint_draws(found, metric, estimand, draws, seed)
        return Joint(joint.draws, joint.method, (*warnings, *joint.warnings)), facts
    if (pairs.generations[0] < 2).all():
        warnings.append(
            "one coupled generation a prompt cannot tell noise that is shared from prompts that are alike: the noise "
            "is taken for independent, which makes the interval too wide where it is shared"
        )
    posteriors = [fitted(run, seed) for run in found.runs]
    first, second = (benchmark_draws(post, found, place, metric, draws, seed) for place, post in enumerate(posteriors))
    ordered = with_correlation(*((second, first) if swapped else (first, second)), correlation, rng)
    model = model_warnings(posteriors, metric, estimand)
    return Joint(ordered[:, ::-1] if swapped else ordered, "posterior", (*warnings, *model)), facts


def _unpaired(runs: tuple[Run, Run], metric: Metric, estimand: str, draws: int, seed: int) -> tuple[Joint, Facts]:
    if estimand == "benchmark":
        raise OptionError(
            "scores on these prompts are compared on the same prompts: leave paired=False out, or take "
            "estimand='population'"
        )
    counts = [counts_of(run.source, WHAT) for run in runs]
    names = (str(counts[0].system[0]), str(counts[1].system[0]))
    benchmarks = [str(one.benchmark[0]) for one in counts]
    if names[0] == names[1]:
        raise DataError(f"a contrast compares different systems, but {names[0]!r} was given twice; rename one of them")
    if benchmarks[0] != benchmarks[1]:
        raise DataError(
            f"a contrast needs one benchmark, but they are {benchmarks[0]!r} and {benchmarks[1]!r}; where that is one "
            f"benchmark under two names, give it one"
        )
    posteriors = [fitted(run.source, seed) for run in runs]
    scores = [post.score(metric, estimand) for post in posteriors]
    columns = [
        shuffled(one.draws, draws, np.random.default_rng([seed, 24, zlib.crc32(name.encode())]))
        for one, name in zip(scores, names, strict=True)
    ]
    answered = [one.generations > 0 for one in counts]
    noise = sum(
        float(noise_terms(metric, one.correct[rows], one.generations[rows]).mean() / rows.sum())
        for one, rows in zip(counts, answered, strict=True)
    )
    facts = Facts(
        names,
        benchmarks[0],
        (int(answered[0].sum()), int(answered[1].sum())),
        (_typical(counts[0].generations), _typical(counts[1].generations)),
        noise,
        "unpaired",
    )
    return Joint(np.stack(columns, axis=1), "separate", model_warnings(posteriors, metric, estimand)), facts


def _of_pair(pair: Any, metric: Metric, estimand: str, seed: int) -> tuple[Joint, Facts]:
    """Draws of the posterior of a model of both systems."""
    pairs: Pairs = pair.pairs
    design = "coupled" if pairs.coupled else "paired"
    found = pair.metric_difference(metric, estimand)
    joint = np.stack([found.draws, np.zeros_like(found.draws)], axis=1)
    said = (*pairs.warnings, *found.warnings)
    correlation = 0.0
    if pairs.coupled:
        correlation = shared_noise_correlation(metric, pairs.tables, 1, np.random.default_rng(seed))[0]
    noise = _noise(metric, pairs.correct, pairs.generations, correlation)
    typical = _typical(pairs.generations[0]), _typical(pairs.generations[1])
    facts = Facts(pairs.systems, pairs.benchmark, (len(pairs), len(pairs)), typical, noise, design)
    return Joint(joint, "joint", said), facts


# The result ----------------------------------------------------------------------------------------------------------


def _facts(found: Aligned, metric: Metric, design: str, correlation: float) -> Facts:
    size = len(found.prompt)
    return Facts(
        (found.systems[0], found.systems[1]),
        found.benchmark,
        (size, size),
        (_typical(found.generations[0]), _typical(found.generations[1])),
        _noise(metric, found.correct, found.generations, correlation),
        design,
    )


def _typical(generations: np.ndarray) -> int:
    return int(np.median(generations[generations > 0]))


def _noise(metric: Metric, correct: np.ndarray, generations: np.ndarray, correlation: float) -> float:
    """Variance of the difference of scores on these prompts."""
    size = correct.shape[1]
    one, two = (float(noise_terms(metric, c, k).mean()) / size for c, k in zip(correct, generations, strict=True))
    return one + two - 2 * correlation * float(np.sqrt(one * two))


def _result(
    joint: Joint, facts: Facts, metric: Metric, estimand: str, rope: float | None, prob: float, power: float
) -> Contrast:
    difference = np.clip(joint.draws[:, 0] - joint.draws[:, 1], -1.0, 1.0)
    value, sd, lower, upper = summarise(difference, prob)
    greater = float(probability_greater(difference))
    inside = float("nan") if rope is None else float((np.abs(difference) < rope).mean())
    spread, noise = sd, facts.noise
    if metric.k > EXTRAPOLATION_LIMIT * min(facts.generations):
        sd = lower = upper = greater = inside = spread = float("nan")
    elif estimand == "benchmark" and joint.method != "joint":
        noise = sd**2
    noise = min(noise, sd**2) if noise == noise else noise
    spreads = (spread, np.sqrt(spread**2 - noise / 2), spread / np.sqrt(2))
    from scipy.special import ndtri

    z = float(ndtri((1 + prob) / 2))
    reach = [float(detectable([one], z, rope or 0.0, power)) if one == one else float("nan") for one in spreads]
    return Contrast(
        systems=facts.systems,
        benchmark=facts.benchmark,
        score=metric.name,
        estimand=estimand,
        value=value,
        sd=sd,
        lower=lower,
        upper=upper,
        prob=prob,
        draws=difference,
        p_greater=greater,
        rope=rope,
        p_equivalent=inside,
        design=facts.design,
        method=joint.method,
        sizes=facts.sizes,
        generations=facts.generations,
        noise=noise,
        detectable=reach[0],
        detectable_generations=reach[1],
        detectable_prompts=reach[2],
        power=power,
        warnings=tuple(dict.fromkeys(joint.warnings)),
    )
