r"""What a plan starts from: the posterior of a pilot, a published mean with its standard error, or a prior alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayeseval.catalogue import DEFAULT_MODEL, load_model
from bayeseval.counts import Counts
from bayeseval.engines.quadrature import Prior
from bayeseval.errors import DataError, OptionError, require_positive_integer, require_probability
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import Posterior
from bayeseval.prompts import PromptDistribution, beta

__all__ = ["Pilot", "pilot_from_prior", "pilot_from_published"]

UNIFORM: tuple[Prior, Prior] = ((1.0, 1.0), (1.0, 1.0))
NODES = 200
NATS = 20.0
ZOOMS = 20
FALLBACK = ("runs", "prompts")
"""Data blocks of models whose likelihood is no product over cells: they are refitted by the beta-binomial."""


@dataclass(frozen=True)
class Pilot:
    """What is known before the run that is planned.

    Attributes
    ----------
    source : {"posterior", "published", "prior"}
    system, benchmark : str
    distribution : PromptDistribution
        Of P(correct) over prompts, one for each draw.
    counts : Counts or None
        Of the pilot's prompts; None where only a summary, or nothing, is known.
    key : int array (prompt,) or None
        What tells the pilot's prompts apart besides their counts.
    generations : int
        Median number of generations per prompt so far; 0 for a prior.
    prior : pair of pairs of float
        Beta priors of mu and rho with which futures are analysed.
    fitted : Posterior or None
        The posterior itself, where there is one.
    refits : {"exact", "importance", "stand-in"}
        How futures are refitted: exactly; by weights on the draws; or exactly with the beta-binomial in place of a
        model that allows neither.
    misfit : bool
        Whether the predictive check of the pilot failed, so that robust headlines are planned for.
    clustered : bool
        Whether prompts come in clusters.
    seed : int
    remarks : dict of str to tuple of str
        For each estimand what must be said beside every plan.
    """

    source: str
    system: str
    benchmark: str
    distribution: PromptDistribution
    counts: Counts | None
    key: np.ndarray | None
    generations: int
    prior: tuple[Prior, Prior]
    fitted: Posterior | None
    refits: str
    misfit: bool
    clustered: bool
    seed: int
    remarks: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, source: Posterior | Pilot) -> Pilot:
        """The pilot itself, or what a posterior says.

        Raises
        ------
        OptionError
            If something else is given.
        DataError
            If the posterior has seen no generation.
        """
        if isinstance(source, Pilot):
            return source
        refuse_credits(source)
        if not isinstance(source, Posterior):
            raise OptionError(
                f"a plan takes the posterior of one run, be.pilot_from_published(...) or be.pilot_from_prior(...), but "
                f"{type(source).__name__} was given; choose one of several posteriors with "
                f"posteriors.select(system=..., benchmark=...)"
            )
        if not source.typical_generations:
            raise DataError("the posterior has seen no generation, so there is nothing to plan from; run a pilot first")
        model, check = source.model, source.check()
        refits = "exact" if model.has_quadrature else "stand-in" if set(FALLBACK) & set(model.blocks) else "importance"
        return cls(
            source="posterior",
            system=source.system,
            benchmark=source.benchmark,
            distribution=source.distribution,
            counts=source.counts,
            key=source.key,
            generations=source.typical_generations,
            prior=_pair(source.prior) if model.has_quadrature else UNIFORM,
            fitted=source,
            refits=refits,
            misfit=check.misfit,
            clustered=source.distribution.keyed_by == "cluster",
            seed=source.seed,
            remarks={estimand: check.warnings_for(estimand) for estimand in ("population", "benchmark")},
        )

    @property
    def can_be_sampled(self) -> bool:
        """Whether each future can be fitted by NUTS: a single model that takes counts."""
        return (
            self.fitted is not None and not hasattr(self.fitted, "members") and "runs" not in self.fitted.model.blocks
        )

    @property
    def model(self) -> str:
        """Name of the model that the draws come from."""
        return DEFAULT_MODEL if self.fitted is None else self.fitted.model.name

    @property
    def origin(self) -> str:
        """Where the plan comes from, in words."""
        if self.source == "posterior":
            return f"planned from the posterior of a pilot ({self.model})"
        return {
            "published": "planned from a published mean and its standard error alone",
            "prior": "planned from a prior alone, without any data",
        }[self.source]


def pilot_from_published(
    mean: float,
    se: float,
    n_prompts: int,
    generations: int = 1,
    *,
    system: str = "published system",
    benchmark: str = "benchmark",
    prior: dict[str, tuple[float, float]] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Pilot:
    r"""What a published mean and standard error say about mu and rho, as the start of a plan.

    With S² = n·se² the observed variance of the per-prompt means,

    .. math:: \bar y \mid \mu, \rho \sim N(\mu, V/n), \quad S^2 \mid \mu, \rho \sim V \chi^2_\nu/\nu, \quad
        V = \mu(1-\mu)\left(\rho + \frac{1-\rho}{k}\right),

    where the degrees of freedom match the variance of S² under the beta-binomial, including its kurtosis. With one
    generation per prompt S² follows from the mean, and the spread over prompts keeps its prior.

    Parameters
    ----------
    mean : float
        Published score, between 0 and 1.
    se : float
        Its standard error over prompts (for prompts like these): the standard deviation of the per-prompt means
        divided by the square root of the number of prompts.
    n_prompts, generations : int
        Prompts, and generations per prompt, behind the published numbers.
    system, benchmark : str
        Names for sentences and figures.
    prior : dict, optional
        Beta priors of ``mu`` and ``rho``; uniform by default.
    draws : int
    seed : int

    Returns
    -------
    Pilot

    Raises
    ------
    OptionError
        If an argument is out of range, or no distribution over prompts gives such a standard error.

    References
    ----------
    Beyond the Singular: the essential role of multiple generations in effective benchmark evaluation.
    https://arxiv.org/abs/2502.08943 (its Lemma 2.1, inverted)

    Examples
    --------
    >>> import bayeseval as be
    >>> pilot = be.pilot_from_published(0.856, 0.0068, n_prompts=1319, generations=50, seed=1)
    >>> bool(abs((pilot.distribution.sd() ** 2).mean() - 0.0597) < 0.003)
    True
    """
    mean, se = require_probability("mean", mean), require_probability("se", se)
    n, k = require_positive_integer("n_prompts", n_prompts), require_positive_integer("generations", generations)
    if n < 2:
        raise OptionError("a standard error over prompts needs two prompts or more, but n_prompts=1 was given")
    square = n * se**2
    most = mean * (1 - mean) * n / (n - 1)
    if square > 1.02 * most:
        raise OptionError(
            f"no distribution over prompts gives a mean of {mean:g} with a standard error of {se:g} on {n:,} prompts: "
            f"at most {np.sqrt(most / n):.4f} is possible; was it the standard deviation, or are both in per cent?"
        )
    if k == 1 and square < 0.9 * most:
        raise OptionError(
            f"with one generation per prompt a mean of {mean:g} on {n:,} prompts has the standard error "
            f"{np.sqrt(most / n):.4f}, not {se:g}; how many generations per prompt were there?"
        )
    remarks = []
    if k == 1:
        remarks.append("one generation per prompt says nothing about the spread over prompts, which follows the prior")
    elif square < most / k:
        remarks.append(
            f"the published standard error is smaller than {k} generations per prompt alone would leave "
            f"({np.sqrt(most / k / n):.4f}): perhaps it speaks about these prompts, not about prompts like these"
        )
    mu_prior, rho_prior = _pair(load_model(DEFAULT_MODEL).prior(prior))

    def log_density(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        from scipy.special import expit, log_expit

        log_prior = mu_prior[0] * log_expit(x) + mu_prior[1] * log_expit(-x)
        log_prior = log_prior + rho_prior[0] * log_expit(y) + rho_prior[1] * log_expit(-y)
        return log_prior + _log_likelihood(mean, square, n, k, expit(x), expit(y))

    drawn = _draws(log_density, draws, np.random.default_rng([seed, 11]))
    return _summary_pilot("published", system, benchmark, drawn, k, (mu_prior, rho_prior), seed, remarks)


def pilot_from_prior(
    *,
    system: str = "a new system",
    benchmark: str = "benchmark",
    prior: dict[str, tuple[float, float]] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Pilot:
    """A prior as the start of a plan, where nothing has been run yet.

    Parameters
    ----------
    system, benchmark : str
        Names for sentences and figures.
    prior : dict, optional
        Beta priors of ``mu`` and ``rho``, such as ``{"mu": (8, 2)}`` for a system that is expected near 0.8; uniform
        by default. Futures are drawn from them, and analysed with uniform priors, as the reader of the result will.
    draws : int
    seed : int

    Returns
    -------
    Pilot

    Examples
    --------
    >>> import bayeseval as be
    >>> pilot = be.pilot_from_prior(prior={"mu": (8, 2)}, seed=1)
    >>> bool(abs(pilot.distribution.mean().mean() - 0.8) < 0.02)
    True
    """
    (mu_a, mu_b), (rho_a, rho_b) = _pair(load_model(DEFAULT_MODEL).prior(prior))
    rng = np.random.default_rng([seed, 12])
    drawn = rng.beta(mu_a, mu_b, draws), np.clip(rng.beta(rho_a, rho_b, draws), 1e-12, 1 - 1e-12)
    remark = "no data stand behind this plan: its futures are drawn from the prior"
    return _summary_pilot("prior", system, benchmark, drawn, 0, UNIFORM, seed, [remark])


def _pair(prior) -> tuple[Prior, Prior]:  # type: ignore[no-untyped-def]
    return (prior["mu"][0], prior["mu"][1]), (prior["rho"][0], prior["rho"][1])


def _summary_pilot(source, system, benchmark, drawn, generations, prior, seed, remarks) -> Pilot:  # type: ignore[no-untyped-def]
    said = {estimand: tuple(remarks) for estimand in ("population", "benchmark")}
    return Pilot(
        source, system, benchmark, beta(*drawn), None, None, generations, prior, None, "exact", False, False,
        int(seed), said,
    )  # fmt: skip


def _log_likelihood(mean: float, square: float, n: int, k: int, mu: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Log density of a published mean and variance S² of per-prompt means, at each mu and rho."""
    variance, fourth = _central_moments(mu, rho, k)
    result = -n * (mean - mu) ** 2 / (2 * variance) - np.log(variance) / 2
    if k == 1:
        return result
    spread = np.maximum((fourth - variance**2 * (n - 3) / (n - 1)) / n, 1e-300)
    freedom = 2 * variance**2 / spread
    from scipy.special import gammaln

    scaled = freedom * square / variance
    return (
        result
        + (freedom / 2 - 1) * np.log(scaled) - scaled / 2 - freedom / 2 * np.log(2) - gammaln(freedom / 2)
        + np.log(freedom / variance)
    )  # fmt: skip


def _central_moments(mu: np.ndarray, rho: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Variance and fourth central moment of a share c/k of correct generations, c beta-binomial."""
    factorial, step = [], np.ones(np.shape(mu))
    for j in range(4):
        # E[c(c-1)...(c-j)] = k(k-1)...(k-j) * prod (a+i)/(a+b+i), without dividing by rho
        step = step * (k - j) * (mu * (1 - rho) + j * rho) / ((1 - rho) + j * rho)
        factorial.append(step)
    first, second, third, last = factorial
    raw = [first, second + first, third + 3 * second + first, last + 6 * third + 7 * second + first]
    shares = [value / k ** (power + 1) for power, value in enumerate(raw)]
    variance = shares[1] - shares[0] ** 2
    fourth = shares[3] - 4 * shares[0] * shares[2] + 6 * shares[0] ** 2 * shares[1] - 3 * shares[0] ** 4
    return np.maximum(variance, 1e-12), np.maximum(fourth, 1e-12)


def _draws(
    log_density: Callable[[np.ndarray, np.ndarray], np.ndarray], size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draws of mu and rho from a log density of their logits, by a grid that zooms in; its cells are filled evenly."""
    from scipy.special import expit

    ends = [(-16.0, 16.0), (-16.0, 16.0)]
    for _ in range(ZOOMS):
        grids = [np.linspace(*pair, NODES) for pair in ends]
        height = log_density(*np.meshgrid(*grids, indexing="ij"))
        inside = height > height.max() - NATS
        wide = [pair[1] - pair[0] for pair in ends]
        for axis, grid in enumerate(grids):
            index = np.flatnonzero(inside.any(axis=1 - axis))
            ends[axis] = grid[max(index[0] - 1, 0)], grid[min(index[-1] + 1, NODES - 1)]
        if all(pair[1] - pair[0] > 0.6 * width for pair, width in zip(ends, wide, strict=True)):
            break
    weight = np.exp(height - height.max()).ravel()
    chosen = np.unravel_index(rng.choice(weight.size, size, p=weight / weight.sum()), height.shape)
    x, y = (
        grid[index] + (grid[1] - grid[0]) * (rng.random(size) - 0.5) for grid, index in zip(grids, chosen, strict=True)
    )
    return expit(x), expit(y)
