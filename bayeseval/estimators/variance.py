"""Where the uncertainty of a benchmark mean comes from: variance components and standard errors on plain arrays.

Prompt i has n_i generations of which c_i are correct; its unknown P(correct) is p_i, drawn from a population of prompts
with mean mu and variance sigma^2. Generation noise has variance ``omega = E[p (1 - p)]``. Two standard errors follow,
and they answer different questions: over prompts like these (population), and over these very prompts (benchmark).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayeseval.arrays import Floats, Integers, as_counts
from bayeseval.errors import DataError, OptionError

__all__ = [
    "RunEffect",
    "VarianceComponents",
    "bayesian_bootstrap_variance",
    "clustered_se",
    "combined_se",
    "components",
    "rank_correlation",
    "run_effect",
    "sample_variance",
    "variance_components",
    "within_variances",
]


class VarianceComponents(NamedTuple):
    """Moment estimates for one run, all with equal weights on the prompts unless said otherwise.

    Attributes
    ----------
    n_prompts : int
        Prompts with at least one generation; the others are left out.
    n_mixed : int
        Prompts whose generations differ: both right and wrong ones.
    mean : float
        Mean of ``c_i / n_i``: unbiased for these prompts and for prompts like these.
    pooled : float
        ``sum c_i / sum n_i``: weights prompts by their generations, so that it equals the mean only where those are
        equal.
    total_var : float
        Sample variance S^2 of ``c_i / n_i``; NaN for one prompt.
    within_var : float
        Estimate of omega, the mean of ``v_i = c_i (n_i - c_i) / (n_i (n_i - 1))`` over prompts with two generations or
        more; NaN where there are none.
    within_part : float
        Estimate of what generation noise adds to S^2, the mean of ``v_i / n_i``.
    sigma2 : float
        ``S^2 - within_part``, unbiased for sigma^2 whatever the n_i, and therefore sometimes negative. NaN where every
        prompt has one generation: sigma^2 is then not identified.
    rho : float
        ``sigma2 / (sigma2 + within_var)``, the intraclass correlation.
    se_population : float
        ``sqrt(S^2 / n)``: generation noise and the choice of prompts.
    se_benchmark : float
        ``sqrt(sum v_i / n_i) / n``: generation noise alone.
    """

    n_prompts: int
    n_mixed: int
    mean: float
    pooled: float
    total_var: float
    within_var: float
    within_part: float
    sigma2: float
    rho: float
    se_population: float
    se_benchmark: float


class RunEffect(NamedTuple):
    """Test of whether whole runs differ by more than generation noise: statistic, degrees of freedom, p-value."""

    statistic: float
    df: int
    p_value: float


def variance_components(correct: ArrayLike, generations: ArrayLike) -> VarianceComponents:
    """Estimate mean, variance components and standard errors from counts; numbers of generations may differ.

    Parameters
    ----------
    correct, generations : int array, shape (prompts,)
        Counts per prompt. Prompts without generations are left out.

    Returns
    -------
    VarianceComponents

    Raises
    ------
    DataError
        If counts cannot be right, or no prompt has a generation.

    Notes
    -----
    ``E[S^2] = sigma^2 + omega mean(1 / n_i)``, and v_i is unbiased for ``p_i (1 - p_i)``; hence ``sigma2`` above, which
    stays unbiased where n_i goes with p_i. A prompt with one generation has no v_i: the average of the others' v_i,
    weighted by ``n_i - 1``, stands in, which assumes that n_i does not go with p_i. If generation was stopped by
    outcome (until the first success, say), ``c_i / n_i`` itself is biased; the likelihood is not.

    References
    ----------
    .. [1] Zhang, Cai & Chen (2025). Beyond the Singular, Lemma 2.1. https://arxiv.org/abs/2502.08943
    .. [2] Miller (2024). Adding error bars to evals. https://arxiv.org/abs/2411.00640

    Examples
    --------
    >>> parts = variance_components(correct=[2, 3, 0, 7], generations=[5, 3, 2, 8])
    >>> print(f"{parts.mean:.5f} {parts.pooled:.5f} {parts.sigma2:.5f}")
    0.56875 0.66667 0.19167
    >>> print(f"{parts.se_population:.5f} {parts.se_benchmark:.5f}")
    0.22944 0.06875
    """
    c, n = _one_axis(correct, generations)
    return components(c, within_variances(c, n), n)


def components(totals: Floats | Integers, variances: Floats, generations: Integers) -> VarianceComponents:
    """Mean, variance components and standard errors from the sum and the sample variance of each prompt.

    Parameters
    ----------
    totals : array, shape (prompts,)
        Sum of what the generations of a prompt were given, such as the number of correct ones.
    variances : float array, shape (prompts,)
        Unbiased variance of one generation; NaN where there are fewer than two.
    generations : int array, shape (prompts,)
        Prompts without generations are left out.

    Returns
    -------
    VarianceComponents
        With these variances in the place of v_i, and ``totals / generations`` in that of ``c_i / n_i``.
    """
    used = generations > 0
    t, v, n = totals[used], variances[used], generations[used]
    if not n.size:
        raise DataError("no prompt has a generation, so there is nothing to estimate a mean from")
    share = t / n
    total_var = sample_variance(share)
    several = n > 1
    if several.any():
        average = np.average(v[several], weights=n[several] - 1)
        noise = np.where(several, v, average) / n
        within_var, within_part = float(v[several].mean()), float(noise.mean())
    else:
        within_var = within_part = np.nan
    sigma2 = total_var - within_part
    whole = sigma2 + within_var
    return VarianceComponents(
        n_prompts=n.size,
        n_mixed=int((v > 0).sum()),
        mean=float(share.mean()),
        pooled=float(t.sum() / n.sum()),
        total_var=total_var,
        within_var=within_var,
        within_part=within_part,
        sigma2=sigma2,
        rho=sigma2 / whole if whole > 0 else np.nan,
        se_population=float(np.sqrt(total_var / n.size)),
        se_benchmark=float(np.sqrt(within_part / n.size)),
    )


def sample_variance(values: Floats) -> float:
    """Return the variance with n - 1; NaN for one value, and exactly 0 where all are equal."""
    if values.size < 2:
        return np.nan
    return float(values.var(ddof=1)) if values.min() < values.max() else 0.0


def within_variances(correct: ArrayLike, generations: ArrayLike) -> Floats:
    """Unbiased estimate of ``p (1 - p)``, the variance of one generation, for every prompt.

    Parameters
    ----------
    correct, generations : int arrays that broadcast
        Counts per prompt.

    Returns
    -------
    float array
        ``c (n - c) / (n (n - 1))``; NaN for prompts with fewer than two generations.

    Examples
    --------
    >>> within_variances(correct=[2, 1], generations=[4, 1]).round(6)
    array([0.333333,      nan])
    """
    c, n = as_counts(correct, generations)
    pairs = np.where(n > 1, n * (n - 1.0), np.nan)
    return np.asarray(c * (n - c.astype(float)) / pairs)


def clustered_se(scores: ArrayLike, cluster: Iterable[Hashable], *, correction: bool = True) -> float:
    """Return the standard error of a mean whose items come in clusters, such as translations of one question.

    Parameters
    ----------
    scores : float array, shape (items,)
    cluster : iterable, shape (items,)
        Cluster of every item; ids of one type.
    correction : bool
        Multiply the variance by ``G / (G - 1)`` for G clusters, which makes it ``S^2 / n`` where every item is its own
        cluster. Without it the formula is Miller's.

    Returns
    -------
    float
        ``sqrt(sum over clusters of (sum of residuals)^2) / items``, corrected.

    Raises
    ------
    DataError
        If a cluster is missing (None or NaN), ids mix types (1 and "1" are they one cluster?), a score is not finite,
        or there is one cluster alone: the standard error is then undefined, not 0.

    References
    ----------
    .. [1] Miller (2024). Adding error bars to evals. https://arxiv.org/abs/2411.00640

    Examples
    --------
    >>> print(f"{clustered_se([1, 1, 0, 0], ['a', 'a', 'b', 'b']):.6f}")
    0.500000
    """
    values = np.asarray(scores, dtype=float)
    ids = [item.item() if isinstance(item, np.generic) else item for item in cluster]
    if values.ndim != 1 or len(ids) != values.size:
        raise DataError(f"scores has shape {values.shape} and cluster has {len(ids)} items; give one cluster a score")
    if not np.isfinite(values).all():
        raise DataError(f"the score at position {int(np.argmax(~np.isfinite(values)))} is not a finite number")
    for position, item in enumerate(ids):
        if item is None or item != item:
            raise DataError(
                f"the item at position {position} has no cluster ({item!r}); name one or leave the item out"
            )
    kinds = sorted({type(item).__name__ for item in ids})
    if len(kinds) > 1:
        raise DataError(f"cluster ids mix the types {', '.join(kinds)}, so that 1 and '1' may be one cluster or two")
    code = {item: number for number, item in enumerate(dict.fromkeys(ids))}
    if len(code) < 2:
        raise DataError(f"{len(code)} cluster is too few: a clustered standard error needs at least two")
    sums = np.bincount([code[item] for item in ids], weights=values - values.mean())
    factor = len(code) / (len(code) - 1) if correction else 1.0
    return float(np.sqrt(factor * np.sum(sums**2)) / values.size)


def combined_se(standard_errors: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the standard error of a weighted mean of independent scores, such as one score a benchmark.

    Parameters
    ----------
    standard_errors : float array, shape (parts,)
    weights : float array, shape (parts,), optional
        Scaled to add to 1; equal by default, which is what an unweighted mean over benchmarks uses whatever their
        sizes.

    Returns
    -------
    float
        ``sqrt(sum w^2 se^2)``.

    Examples
    --------
    >>> print(f"{combined_se([1 / 6, 0.0094916]):.6f}")
    0.083468
    """
    errors = np.asarray(standard_errors, dtype=float)
    share = np.ones(errors.shape) if weights is None else np.asarray(weights, dtype=float)
    if errors.ndim != 1 or share.shape != errors.shape or not errors.size:
        raise OptionError(f"give one weight for each of the {errors.size} standard errors, in one axis")
    if not (share >= 0).all() or not 0 < share.sum() < np.inf:
        raise OptionError("weights must be at least 0, finite, and not all 0")
    return float(np.sqrt(np.sum((share / share.sum() * errors) ** 2)))


def bayesian_bootstrap_variance(correct: ArrayLike, generations: ArrayLike) -> float:
    """Return the variance of the mean under a Bayesian bootstrap of prompts, ``(n - 1) S^2 / (n (n + 1))``.

    Parameters
    ----------
    correct, generations : int array, shape (prompts,)
        Counts per prompt.

    Returns
    -------
    float
        Contains generation noise already; NaN for one prompt, and 0 where every ``c_i / n_i`` is equal.

    Examples
    --------
    >>> print(f"{bayesian_bootstrap_variance(correct=[2, 3, 0, 7], generations=[5, 3, 2, 8]):.6f}")
    0.031586
    """
    parts = variance_components(correct, generations)
    n = parts.n_prompts
    return (n - 1) * parts.total_var / (n * (n + 1))


def run_effect(outcomes: ArrayLike) -> RunEffect:
    """Test whether whole runs (generation j of every prompt) differ by more than generation noise.

    Parameters
    ----------
    outcomes : array of 0 and 1, shape (prompts, runs)
        Column j holds one run over all prompts.

    Returns
    -------
    RunEffect
        ``X^2 = sum over runs of (run mean - mean)^2 / (sum v_i / n^2)``, about chi-squared with runs - 1 degrees of
        freedom if nothing but noise tells the runs apart.

    Raises
    ------
    DataError
        If outcomes are missing or other than 0 and 1, there are fewer than two runs, or every prompt has the same
        outcome in all runs.

    Examples
    --------
    >>> run_effect([[1, 0, 1, 1], [1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 0], [0, 1, 0, 0]]).statistic.round(6)
    np.float64(0.6)
    """
    y = np.asarray(outcomes, dtype=float)
    if y.ndim != 2 or y.shape[1] < 2 or not np.isin(y, (0.0, 1.0)).all():
        raise DataError("outcomes must be a full table of 0 and 1, prompts by runs, with at least two runs")
    prompts, runs = y.shape
    noise = y.var(axis=1, ddof=1).sum() / prompts**2
    if noise == 0:
        raise DataError("every prompt has the same outcome in all runs, so there is no noise to compare the runs with")
    from scipy.special import chdtrc

    statistic = np.sum((y.mean(axis=0) - y.mean()) ** 2) / noise
    return RunEffect(statistic, runs - 1, float(chdtrc(runs - 1, statistic)))


def rank_correlation(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Return Spearman's rank correlation and its two-sided p-value by Student's t; NaN where an array is constant.

    Parameters
    ----------
    x, y : float array, shape (prompts,)

    Examples
    --------
    >>> r, p = rank_correlation([1, 2, 3, 4], [1, 3, 2, 4])
    >>> print(f"{r:.1f} {p:.1f}")
    0.8 0.2
    """
    ranks = np.stack([_average_ranks(np.asarray(x)), _average_ranks(np.asarray(y))])
    ranks -= ranks.mean(axis=1, keepdims=True)
    size = ranks.shape[1]
    scale = float(np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    if size < 3 or scale == 0:
        return np.nan, np.nan
    r = float(np.clip(ranks[0] @ ranks[1] / scale, -1.0, 1.0))
    if abs(r) == 1:
        return r, 0.0
    from scipy.special import stdtr

    return r, float(2 * stdtr(size - 2, -abs(r) * np.sqrt((size - 2) / (1 - r * r))))


def _average_ranks(values: Floats) -> Floats:
    _, where, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(np.cumsum(sizes) - (sizes - 1) / 2)[where]


def _one_axis(correct: ArrayLike, generations: ArrayLike) -> tuple[Integers, Integers]:
    c, n = as_counts(correct, generations)
    if c.ndim > 1:
        raise DataError(f"counts of one run have one axis, the prompts, but shape {c.shape} was given")
    return np.atleast_1d(c), np.atleast_1d(n)
