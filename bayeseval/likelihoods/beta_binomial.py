r"""The beta-binomial likelihood in a form that stays exact from rho = 0 to rho = 1 and never grows with the prompts.

With :math:`p_i \sim \mathrm{Beta}` of mean :math:`\mu` and intraclass correlation :math:`\rho` integrated out,

.. math:: P(c \mid k) = \binom kc
    \frac{\prod_{j<c}(\mu(1-\rho)+j\rho)\,\prod_{j<k-c}((1-\mu)(1-\rho)+j\rho)}{\prod_{j<k}((1-\rho)+j\rho)} .

Summed over prompts the logarithm is linear in the *survival counts* #{c_i > j}, #{k_i - c_i > j} and #{k_i > j}.
Survival counts are piecewise constant, so everything past the first 64 values of j is a few segments, and the sum of
log(m + j rho) along a segment is one Euler-Maclaurin formula. A data set with 3.7 million generations to a prompt
therefore costs no more than one with a hundred.

Mixtures and point masses need the probability of each cell instead of the sum: `beta_binomial_cells`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "SurvivalCounts",
    "beta_binomial_cells",
    "beta_binomial_loglik",
    "beta_binomial_logpmf",
    "head_length",
    "log_binomial",
    "log_rising",
    "survival_counts",
]

HEAD = 64
"""How many terms are summed one by one before the Euler-Maclaurin formula takes over (its error is then < 1e-16)."""

HEAD_SHAPES = (8, 16, 32, HEAD)
TAIL_SHAPES = (0, 32, 128, 512, 2048, 8192, 32768)
TINY = 1e-300


@dataclass(frozen=True)
class SurvivalCounts:
    """How many prompts have more than j correct, wrong, and generations in all: what the likelihood needs, no more.

    Each of the three families has ``head`` weights for j = 0, 1, .. and tail segments [start, stop) that share one
    weight. Arrays are padded with zero weights to a few standard shapes, so that one compiled program serves many
    data sets.

    Attributes
    ----------
    arrays : dict of str to float array
        ``{family}_step`` = 0 .. H - 1 and ``{family}_head`` (H,), ``{family}_start``, ``{family}_stop`` and
        ``{family}_weight`` (T,) for the families ``correct``, ``wrong`` and ``total``.
    """

    arrays: dict[str, np.ndarray]

    FAMILIES = ("correct", "wrong", "total")

    @property
    def shape(self) -> tuple[int, int]:
        """Lengths (H, T) of the padded head and tail."""
        return self.arrays["correct_head"].size, self.arrays["correct_start"].size

    def resized(self, shape: tuple[int, int]) -> SurvivalCounts:
        """The same counts with more padding: ``shape`` is at least the present one."""
        head, tail = shape
        arrays = {}
        for family in self.FAMILIES:
            weights = np.zeros(head)
            weights[: self.shape[0]] = self.arrays[f"{family}_head"]
            segments = np.zeros((3, tail))
            segments[:2] = [[HEAD], [HEAD + 1]]
            for row, part in enumerate(("start", "stop", "weight")):
                segments[row, : self.shape[1]] = self.arrays[f"{family}_{part}"]
            arrays[f"{family}_head"], arrays[f"{family}_step"] = weights, np.arange(head, dtype=float)
            arrays[f"{family}_start"], arrays[f"{family}_stop"], arrays[f"{family}_weight"] = segments
        return SurvivalCounts(arrays)


def survival_counts(correct: np.ndarray, generations: np.ndarray) -> SurvivalCounts:
    """Reduce counts per prompt to padded survival counts.

    Parameters
    ----------
    correct, generations : int array (prompt,)
        Counts per prompt, 0 <= correct <= generations.

    Returns
    -------
    SurvivalCounts
        Of a size that depends on how many distinct counts there are, not on the number of prompts.

    Examples
    --------
    >>> from bayeseval.likelihoods import survival_counts
    >>> survival_counts([2, 0], [3, 3]).arrays["correct_head"]
    array([1., 1., 0., 0., 0., 0., 0., 0.])
    """
    correct = np.asarray(correct, dtype=np.int64)
    generations = np.asarray(generations, dtype=np.int64)
    values = {"correct": correct, "wrong": generations - correct, "total": generations}
    heads = {name: _head(value) for name, value in values.items()}
    tails = {name: _tail(value) for name, value in values.items()}
    head_size = head_length(max(int(generations.max(initial=0)), 1))
    tail_size = _padded(max(len(tail) for tail in tails.values()), TAIL_SHAPES)
    arrays = {}
    for name in SurvivalCounts.FAMILIES:
        arrays[f"{name}_head"] = heads[name][:head_size]
        arrays[f"{name}_step"] = np.arange(head_size, dtype=float)
        tail = np.zeros((tail_size, 3))
        tail[:, :2] = HEAD, HEAD + 1
        tail[: len(tails[name])] = tails[name]
        arrays[f"{name}_start"], arrays[f"{name}_stop"], arrays[f"{name}_weight"] = tail.T.copy()
    return SurvivalCounts(arrays)


def head_length(generations: int) -> int:
    """How many factors of a product over this many generations are summed one by one: 8, 16, 32 or 64."""
    return next((shape for shape in HEAD_SHAPES if generations <= shape), HEAD)


def beta_binomial_loglik(xp: Any, mu: Any, not_mu: Any, rho: Any, not_rho: Any, counts: dict[str, Any]) -> Any:
    r"""Log likelihood of all prompts, p_i integrated out, without the constant sum of log binomial coefficients.

    .. math:: \ell = \sum_j A_j\log(\mu(1-\rho)+j\rho) + B_j\log((1-\mu)(1-\rho)+j\rho) - D_j\log((1-\rho)+j\rho)

    Parameters
    ----------
    xp : module
        ``numpy`` or ``pytensor.tensor``.
    mu, not_mu, rho, not_rho : array (...,)
        Mean and intraclass correlation, and one minus each (passed apart, so that callers who work on the logit
        scale lose no digits near 1).
    counts : dict of str to array
        The arrays of `SurvivalCounts`; or stacked ones (group, H), for parameters (group,).

    Returns
    -------
    array (...,)
        One log likelihood for each parameter value.
    """
    some, fail, all_ = (counts[f"{family}_head"][..., 0] for family in SurvivalCounts.FAMILIES)
    first_factors = some * _log(xp, mu) + fail * _log(xp, not_mu) + (some + fail - all_) * _log(xp, not_rho)
    return (
        first_factors
        + weighted_log_rising(xp, mu * not_rho, rho, "correct", counts)
        + weighted_log_rising(xp, not_mu * not_rho, rho, "wrong", counts)
        - weighted_log_rising(xp, not_rho, rho, "total", counts)
    )


def beta_binomial_cells(
    xp: Any, mu: Any, not_mu: Any, rho: Any, not_rho: Any, correct: Any, generations: Any, head: int = HEAD
) -> Any:
    """Log probability of each cell, without its binomial coefficient; smooth from rho = 0 to rho = 1.

    Parameters
    ----------
    xp : module
        ``numpy`` or ``pytensor.tensor``.
    mu, not_mu, rho, not_rho : array () or (component,)
        Mean and intraclass correlation, and one minus each.
    correct, generations : float array (cell,)
    head : {8, 16, 32, 64}
        What `head_length` gives for the largest number of generations; less work for few generations.

    Returns
    -------
    array (..., cell)

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.likelihoods import beta_binomial_cells
    >>> half = np.array(0.5)
    >>> correct, generations = np.array([0.0, 1.0]), np.array([2.0, 2.0])
    >>> np.exp(beta_binomial_cells(np, half, half, np.array(0.0), np.array(1.0), correct, generations))
    array([0.25, 0.25])
    """
    wrong = generations - correct
    some, fail, all_ = (xp.where(value > 0, 1.0, 0.0) for value in (correct, wrong, generations))
    first_factors = (
        some * _log(xp, mu)[..., None]
        + fail * _log(xp, not_mu)[..., None]
        + (some + fail - all_) * _log(xp, not_rho)[..., None]
    )
    return (
        first_factors
        + _log_rising_cells(xp, mu * not_rho, rho, correct, head)
        + _log_rising_cells(xp, not_mu * not_rho, rho, wrong, head)
        - _log_rising_cells(xp, not_rho, rho, generations, head)
    )


def _log_rising_cells(xp: Any, m: Any, rho: Any, length: Any, head: int) -> Any:
    """Sum of log(m + j rho) over 1 <= j < length, for each length (..., cell)."""
    m, rho = m[..., None], rho[..., None]
    steps = np.arange(1.0, head)
    used = xp.where(steps[:, None] < length[None, :], 1.0, 0.0)
    total = xp.matmul(_log(xp, m + steps * rho), used)
    if head < HEAD:
        return total
    return total + _log_rising_segment(xp, m, rho, float(HEAD), xp.maximum(length, float(HEAD)))


def log_rising(m: np.ndarray, rho: np.ndarray, length: np.ndarray, first: int = 0) -> np.ndarray:
    r"""Sum of :math:`\log(m + j\rho)` over j = first .. length - 1: the logarithm of a rising product.

    Parameters
    ----------
    m, rho : float array (...,)
        They broadcast against each other; m > 0, rho >= 0.
    length : int array (cell,)
        One past the last j, from 0 to millions.
    first : {0, 1}
        Where the product starts.

    Returns
    -------
    float array (..., cell)

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.likelihoods import log_rising
    >>> np.exp(log_rising(1.0, 1.0, [3, 4]))  # 3! and 4!
    array([ 6., 24.])
    """
    m, rho = np.broadcast_arrays(np.asarray(m, dtype=float), np.asarray(rho, dtype=float))
    length = np.asarray(length, dtype=np.int64)
    head = min(HEAD, int(length.max(initial=0)))
    logs = _log(np, m[..., None] + np.arange(head) * rho[..., None])
    logs[..., :first] = 0.0
    sums = np.concatenate([np.zeros((*m.shape, 1)), np.cumsum(logs, axis=-1)], axis=-1)
    result = sums[..., np.minimum(length, head)]
    long = length > HEAD
    if long.any():
        stop = length[long].astype(float)
        result[..., long] += _log_rising_segment(np, m[..., None], rho[..., None], float(HEAD), stop)
    return result


def log_binomial(generations: np.ndarray | int, correct: np.ndarray) -> np.ndarray:
    """Logarithm of the binomial coefficient, elementwise."""
    from scipy.special import betaln

    n, c = np.asarray(generations, dtype=float), np.asarray(correct, dtype=float)
    return -betaln(n - c + 1.0, c + 1.0) - np.log1p(n)


def beta_binomial_logpmf(correct: np.ndarray, generations: np.ndarray, mu: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Log probability of ``correct`` out of ``generations`` when p ~ Beta with mean mu, intraclass correlation rho.

    Parameters
    ----------
    correct, generations : int array (cell,)
        Cells to evaluate.
    mu, rho : float array (...,)
        Parameters in [0, 1]; rho = 0 is the binomial, rho = 1 puts all mass on 0 and ``generations``.

    Returns
    -------
    float array (..., cell)

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.likelihoods import beta_binomial_logpmf
    >>> np.exp(beta_binomial_logpmf([0, 1, 2], [2, 2, 2], 0.5, 0.0)).round(2)
    array([0.25, 0.5 , 0.25])
    """
    mu, rho = np.broadcast_arrays(np.asarray(mu, dtype=float), np.asarray(rho, dtype=float))
    correct, generations = np.broadcast_arrays(np.asarray(correct), np.asarray(generations))
    wrong = generations - correct
    result = np.empty((*mu.shape, correct.size))
    low = mu <= 0.5
    result[low] = _logpmf_of_few(correct, wrong, mu[low], rho[low])
    result[~low] = _logpmf_of_few(wrong, correct, 1 - mu[~low], rho[~low])
    return result + log_binomial(generations, correct)


def _logpmf_of_few(few: np.ndarray, many: np.ndarray, mu: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Log probability of one order of ``few`` successes and ``many`` failures, precise where it is near 0.

    Numerator and denominator are paired factor by factor, so that nothing cancels when mu is tiny.
    """
    precision = (1 - rho)[..., None]
    first = (few > 0) * (_log(np, mu)[..., None] + (many > 0) * _log(np, precision))
    successes = log_rising(mu * (1 - rho), rho, few, first=1)
    rest = log_rising(1 - rho, rho, few + many, first=1) - log_rising(1 - rho, rho, many, first=1)
    head = min(HEAD, int(many.max(initial=0)))
    steps = np.arange(1, head)
    share = precision / (precision + steps * rho[..., None])
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.concatenate([mu[..., None], mu[..., None] * share], axis=-1))
    sums = np.concatenate([np.zeros((*mu.shape, 1)), np.cumsum(logs, axis=-1)], axis=-1)
    failures = sums[..., np.minimum(many, sums.shape[-1] - 1)]
    long = many > HEAD
    if long.any():
        stop = many[long].astype(float)
        failures[..., long] += _log_rising_segment(
            np, (1 - mu[..., None]) * precision, rho[..., None], float(HEAD), stop
        ) - _log_rising_segment(np, precision, rho[..., None], float(HEAD), stop)
    return first + successes + failures - rest


def weighted_log_rising(xp: Any, m: Any, rho: Any, family: str, counts: dict[str, Any]) -> Any:
    """The factors j >= 1 of one family; those of j = 0 are taken apart, where they would cancel at rho = 1."""
    head = counts[f"{family}_head"]
    m, rho = m[..., None], rho[..., None]
    total = (head[..., 1:] * _log(xp, m + counts[f"{family}_step"][..., 1:] * rho)).sum(axis=-1)
    weight = counts[f"{family}_weight"]
    if xp is np and weight.size == 0:
        return total
    start, stop = counts[f"{family}_start"], counts[f"{family}_stop"]
    return total + (weight * _log_rising_segment(xp, m, rho, start, stop)).sum(axis=-1)


def _log_rising_segment(xp: Any, m: Any, rho: Any, start: Any, stop: Any) -> Any:
    """Euler-Maclaurin sum of log(m + j rho) over start <= j < stop; start >= HEAD keeps the remainder below 1e-16."""
    first = xp.maximum(m + start * rho, TINY)
    last = xp.maximum(m + stop * rho, TINY)
    growth = (stop - start) * rho / first
    safe = xp.maximum(growth, 1e-12)
    mean_excess = xp.where(growth < 1e-12, growth / 2, ((1 + safe) * xp.log1p(safe) - safe) / safe)
    integral = (stop - start) * (xp.log(first) + mean_excess)
    half = (xp.log(last) - xp.log(first)) / 2
    return integral - half + _derivative_terms(rho / last) - _derivative_terms(rho / first)


def _log(xp: Any, value: Any) -> Any:
    return xp.log(xp.maximum(value, TINY))


def _derivative_terms(ratio: Any) -> Any:
    square = ratio * ratio
    return ratio * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))


def _head(values: np.ndarray) -> np.ndarray:
    counts = np.bincount(np.minimum(values, HEAD), minlength=HEAD + 1)
    return counts[::-1].cumsum()[::-1][1:].astype(float)


def _tail(values: np.ndarray) -> np.ndarray:
    stops, counts = np.unique(values[values > HEAD], return_counts=True)
    weights = counts[::-1].cumsum()[::-1]
    starts = np.concatenate([[HEAD], stops[:-1]]) if stops.size else stops
    return np.stack([starts, stops, weights], axis=1).astype(float)


def _padded(size: int, shapes: tuple[int, ...]) -> int:
    for shape in shapes:
        if size <= shape:
            return shape
    return 1 << (size - 1).bit_length()
