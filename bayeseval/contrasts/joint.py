r"""Draws of one score of several systems together, so that a difference of two has the right spread.

**These prompts.** Given the prompts, independent generations make the scores of two systems independent: each has draws
of its own, from its own posterior. Where generations share their noise, the draws are put into an order that has the
correlation of the noise, and every system keeps its own distribution (`with_correlation`).

**Prompts like these.** What is hard for one system is hard for the other, and the same prompts are chance for both. A
Bayesian bootstrap [1]_ weighs the prompts alike for all systems:

.. math:: \theta_m = \sum_i w_i\,\hat g_{im} \Big/ \sum_i w_i, \qquad w_i \sim \mathrm{Exponential}(1),

with :math:`\hat g_{im}` the unbiased estimate of the score. Its spread has the differences between prompts, the noise
of generations, and the covariances of both, shared noise included. Draws of :math:`p_{im}` from separate posteriors
would not do: each is drawn to the mean of its own system, which leaves :math:`(1-\lambda_A)(1-\lambda_B)` of the
covariance (:math:`\lambda` the shrinkage), and makes intervals of paired differences too wide, by a third where four
generations of two similar systems are compared. They are used where no unbiased estimate exists: for scores that look
beyond the generations, and where generations depend on what was answered.

A bootstrap cannot draw what was not seen. For two systems, pseudo-prompts on which one or the other is better by
:math:`\delta`, each of weight Exponential(1), are added. With one generation a prompt :math:`\delta = 1`, and P(A > B)
is that of a Dirichlet(1, 1, 1, 1) prior on the table of both. With more, it is the typical difference :math:`d_i` where
there is one, :math:`\delta^2 = (1 + \sum_i d_i^2)/(1 + \#\{i: d_i \ne 0\})`.

References
----------
.. [1] Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134. https://doi.org/10.1214/aos/1176345338
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayeseval.arrays import Floats
from bayeseval.contrasts.inputs import fitted
from bayeseval.estimators.adaptivity import adaptive_hint
from bayeseval.metrics import Metric
from bayeseval.model_data import keyed_cells
from bayeseval.posterior.aligned import Aligned
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.prompt_draws import BLOCK, evaluator, in_threads, unbiased_mean

__all__ = [
    "METHODS",
    "Joint",
    "benchmark_draws",
    "bootstrap_draws",
    "clusters_of",
    "in_text_order",
    "joint_draws",
    "needs_posteriors",
    "model_warnings",
    "population_draws",
    "pseudo_sizes",
    "shuffled",
    "with_correlation",
]

METHODS = {
    "bootstrap": "Bayesian bootstrap of unbiased estimates",
    "reweighted": "Bayesian bootstrap of draws of P(correct)",
    "posterior": "draws of P(correct)",
    "separate": "separate posteriors",
    "joint": "model of both systems",
}


@dataclass(frozen=True, eq=False)
class Joint:
    """Draws of one score of several systems.

    Attributes
    ----------
    draws : float array (draw, system)
    method : str
        A key of `METHODS`.
    warnings : tuple of str
    """

    draws: Floats
    method: str
    warnings: tuple[str, ...]


def in_text_order(aligned: Aligned) -> Aligned:
    """The same with prompts in the order of their ids, so that nothing depends on which system came first."""
    order = np.argsort(aligned.prompt.astype(str), kind="stable")
    return replace(
        aligned,
        prompt=aligned.prompt[order],
        correct=aligned.correct[:, order],
        generations=aligned.generations[:, order],
        place=aligned.place[:, order],
    )


def joint_draws(aligned: Aligned, metric: Metric, estimand: str, draws: int, seed: int) -> Joint:
    """Draws of a score of aligned systems, whose generations are independent of each other."""
    if estimand == "benchmark":
        posteriors = [fitted(run, seed) for run in aligned.runs]
        found = np.stack(
            [benchmark_draws(post, aligned, place, metric, draws, seed) for place, post in enumerate(posteriors)], 1
        )
        return Joint(found, "posterior", model_warnings(posteriors, metric, estimand))
    if not needs_posteriors(aligned, metric, estimand):
        estimates = np.stack([metric.estimate(c, k) for c, k in zip(aligned.correct, aligned.generations, strict=True)])
        found = bootstrap_draws(estimates, aligned.systems, draws, seed, clusters_of(aligned))
        return Joint(found, "bootstrap", ())
    adaptive = _adaptive(aligned)
    posteriors = [fitted(run, seed) for run in aligned.runs]
    found = population_draws(posteriors, aligned, metric, draws, seed)
    why = (
        f"generations of {', '.join(adaptive)} depend on what was answered, so that shares of correct ones are biased"
        if adaptive
        else f"{metric.name} looks beyond the {aligned.generations.min()} generations of some prompt"
    )
    said = (
        f"{why}: the difference comes from draws of P(correct), and its interval is wider than paired data could give"
    )
    model = model_warnings(posteriors, metric, estimand)
    return Joint(found, "reweighted", (*model, said))


def needs_posteriors(aligned: Aligned, metric: Metric, estimand: str) -> bool:
    """Whether draws of a score need posteriors, because unbiased estimates for every prompt do not say enough."""
    return estimand == "benchmark" or bool(metric.k > aligned.generations.min() or _adaptive(aligned))


def _adaptive(aligned: Aligned) -> list[str]:
    """Systems whose generations seem to depend on what was answered."""
    return [
        name
        for name, c, k in zip(aligned.systems, aligned.correct, aligned.generations, strict=True)
        if adaptive_hint(c, k)
    ]


# These prompts -------------------------------------------------------------------------------------------------------


def benchmark_draws(post: Posterior, aligned: Aligned, place: int, metric: Metric, draws: int, seed: int) -> Floats:
    """Draws (draw,) of the score of one system on the common prompts, as `Posterior.score` makes them.

    Where the model of P(correct) fails its check, the mean is the unbiased one with the noise of its generations.
    """
    correct, generations = aligned.correct[place], aligned.generations[place]
    if metric.kind == "mean" and post.check().misfit and not adaptive_hint(correct, generations):
        plain = unbiased_mean(correct, generations, draws, (seed, zlib.crc32(aligned.systems[place].encode())))
        if plain is not None:
            return plain
    evaluate, conditioned = evaluator(metric), prompt_sampler(post, aligned, place, draws, seed)
    starts = range(0, draws, block(aligned))
    return np.concatenate(in_threads(lambda start: evaluate(conditioned(start)).mean(axis=1), starts))


def with_correlation(first: Floats, second: Floats, correlation: Floats, rng: np.random.Generator) -> Floats:
    """Draws of two scores in an order that correlates them, each keeping its own distribution.

    Parameters
    ----------
    first, second : float array (draw,)
    correlation : float array (draw,)
        Of the normal scores that put both in order, one a draw, so that its own uncertainty counts.
    rng : numpy.random.Generator

    Returns
    -------
    float array (draw, 2)

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> pair = with_correlation(rng.normal(size=4000), rng.normal(size=4000), np.full(4000, 0.8), rng)
    >>> bool(abs(np.corrcoef(pair.T)[0, 1] - 0.8) < 0.03)
    True
    """
    normal = rng.standard_normal((2, first.size))
    normal[1] = correlation * normal[0] + np.sqrt(1 - correlation**2) * normal[1]
    ranks = normal.argsort(axis=1).argsort(axis=1)
    return np.stack([np.sort(first)[ranks[0]], np.sort(second)[ranks[1]]], axis=1)


# Prompts like these --------------------------------------------------------------------------------------------------


def bootstrap_draws(
    estimates: Floats, systems: Sequence[str], draws: int, seed: int, clusters: np.ndarray | None = None
) -> Floats:
    """Bayesian bootstrap over prompts (or clusters) of estimates of all systems, with the same weights.

    Parameters
    ----------
    estimates : float array (system, prompt)
    systems : sequence of str
        Names; the result does not depend on their order.
    draws, seed : int
    clusters : int array (prompt,), optional
        Number of the cluster of every prompt: whole clusters are weighed.

    Returns
    -------
    float array (draw, system)
        Not cut off at 0 and 1, where pseudo-prompts reach beyond: that would bias differences near the ends.

    Examples
    --------
    >>> bootstrap_draws(np.array([[1.0, 0.5, 0.0], [0.5, 0.5, 0.0]]), ("a", "b"), 4, seed=1).shape
    (4, 2)
    """
    order = np.argsort(np.asarray(systems, dtype=str), kind="stable")
    table = estimates[order].T
    if clusters is None:
        rows, times = np.unique(table, axis=0, return_counts=True)
        size = np.ones(len(rows))
        pseudo = pseudo_sizes(table.T)
    else:
        size = np.bincount(clusters).astype(float)
        rows = np.stack([np.bincount(clusters, column) for column in table.T], axis=1)
        rows, size = rows[size > 0], size[size > 0]
        times = np.ones(len(rows), dtype=np.int64)
        pseudo = pseudo_sizes((rows / size[:, None]).T) * size.mean()
    step = max(1, BLOCK // len(rows))

    def work(start: int) -> Floats:
        rng = np.random.default_rng([seed, 21, start])
        count = min(step, draws - start)
        weights = rng.standard_gamma(times, (count, times.size))
        extra = rng.standard_exponential((count, 2, len(systems)))
        shift = extra[:, 0] - extra[:, 1]
        if len(systems) == 2:
            shift[:, 1] = -shift[:, 0]
        return np.asarray((weights @ rows + shift * pseudo) / (weights @ size)[:, None])

    found = np.concatenate(in_threads(work, range(0, draws, step)))
    return found[:, np.argsort(order)]


def pseudo_sizes(estimates: Floats) -> Floats:
    r"""How much better or worse each system is on its pseudo-prompts (system,).

    Of two systems each takes half of :math:`\delta`, as the one is better where the other is worse. Of more, whose
    pseudo-prompts are independent, each takes :math:`1/\sqrt2` of the smallest :math:`\delta` of its pairs.

    Examples
    --------
    >>> pseudo_sizes(np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]))
    array([0.5, 0.5])
    """
    count = len(estimates)
    squares = np.full((count, count), np.inf)
    for one in range(count):
        gaps = estimates[one] - estimates[one + 1 :]
        found = ((gaps**2).sum(axis=1) + 1) / ((np.abs(gaps) > 1e-12).sum(axis=1) + 1)
        squares[one, one + 1 :] = squares[one + 1 :, one] = found
    nearest = np.sqrt(squares.min(axis=1))
    return nearest / 2 if count == 2 else nearest / np.sqrt(2)


def population_draws(
    posteriors: Sequence[Posterior], aligned: Aligned, metric: Metric, draws: int, seed: int
) -> Floats:
    """Draws of P(correct) of all systems, averaged over prompts with the same bootstrap weights (draw, system)."""
    clusters = clusters_of(aligned)
    evaluate = evaluator(metric)
    units = len(aligned.prompt) if clusters is None else int(clusters.max()) + 1

    samplers = [prompt_sampler(post, aligned, place, draws, seed) for place, post in enumerate(posteriors)]

    def work(start: int) -> Floats:
        count = min(block(aligned), draws - start)
        weights = np.random.default_rng([seed, 22, start]).standard_exponential((count, units))
        weights = weights if clusters is None else weights[:, clusters]
        sums = [np.einsum("sn,sn->s", evaluate(sampler(start)), weights) for sampler in samplers]
        return np.asarray(np.stack(sums, axis=1) / weights.sum(axis=1, keepdims=True))

    return np.clip(np.concatenate(in_threads(work, range(0, draws, block(aligned)))), 0.0, 1.0)


# What both need ------------------------------------------------------------------------------------------------------


def block(aligned: Aligned) -> int:
    """Draws that are made at once."""
    return max(1, BLOCK // len(aligned.prompt))


def prompt_sampler(post: Posterior, aligned: Aligned, place: int, draws: int, seed: int) -> Callable[[int], np.ndarray]:
    """A function that makes draws of P(correct) (draw, prompt) of the common prompts, for the block that begins there.

    The posterior's draws come in an order of the system's own.
    """
    at = aligned.place[place]
    key = None if post.key is None else post.key[at]
    correct, generations, cell_key, cell = keyed_cells(aligned.correct[place], aligned.generations[place], key)
    chosen = shuffled(np.arange(post.n_draws), draws, _stream(seed, aligned.systems[place], 2))

    def sample(start: int) -> np.ndarray:
        part = post.distribution.take(chosen[start : start + block(aligned)])
        rng = _stream(seed, aligned.systems[place], 3, start)
        return part.condition(correct, generations, cell_key).draw(rng, cell)

    return sample


def shuffled(values: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """As many of the values in random order, all of them equally often as far as that goes.

    Fits of several runs with one seed order their draws alike; put side by side as they are, they would be correlated.
    """
    rounds = -(-size // len(values))
    return np.concatenate([values[rng.permutation(len(values))] for _ in range(rounds)])[:size]


def clusters_of(aligned: Aligned) -> np.ndarray | None:
    """Cluster of every common prompt, where a model knows clusters."""
    for run, at in zip(aligned.runs, aligned.place, strict=True):
        if isinstance(run, Posterior) and run.distribution.keyed_by == "cluster":
            assert run.key is not None
            return np.unique(run.key[at], return_inverse=True)[1]
    return None


def _stream(seed: int, system: str, *more: int) -> np.random.Generator:
    """Random numbers of one system: no two share them, and its place in a list does not matter."""
    return np.random.default_rng([seed, zlib.crc32(system.encode()), *more])


def model_warnings(posteriors: Iterable[Posterior], metric: Metric, estimand: str) -> tuple[str, ...]:
    """What is to be said beside the scores of several systems, each sentence beginning with its system."""
    return tuple(
        text if text.startswith(post.system) else f"{post.system}: {text}"
        for post in posteriors
        for text in (*post.check().warnings_for(estimand), *post.caveats(metric, estimand))
    )
