"""Unbiased estimates of pass@k, pass^k, G-Pass@k and mG-Pass@k from counts, and of their sampling variance.

A prompt with c correct of n generations has, for every function of the number of successes among k <= n attempts, one
unbiased estimate that depends on the counts alone: its mean over k generations drawn without replacement. None exists
for n < k, whatever the formula returns there; these functions refuse.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayeseval.arrays import Floats, Integers, as_counts, require_generations
from bayeseval.errors import require_positive_integer
from bayeseval.metrics.hypergeometric import expected_excess, log_probability_of_none, on_unique_cells, upper_tail
from bayeseval.metrics.thresholds import Form, Threshold, ceil_share, exact_tau, mg_form, mg_level, tau_text

__all__ = [
    "g_pass_at_k",
    "mg_pass_at_k",
    "one_minus_pass_at_k",
    "pass_at_k",
    "pass_at_k_variance",
    "pass_hat_k",
    "pass_hat_k_variance",
]


def pass_at_k(correct: ArrayLike, generations: ArrayLike, k: int) -> Floats:
    """Unbiased estimate of pass@k for every prompt, ``1 - C(n - c, k) / C(n, k)``.

    Parameters
    ----------
    correct, generations : int arrays that broadcast
        Counts per prompt, c and n, with ``0 <= c <= n`` and ``n >= k``.
    k : int
        Attempts.

    Returns
    -------
    float array
        In [0, 1]; the mean over prompts is the usual pass@k of a benchmark. Unbiased for ``1 - (1 - p)^k``; it says
        nothing about uncertainty.

    Raises
    ------
    DataError
        If some prompt has fewer than k generations; the message names the first such prompt, both numbers, and the
        posterior, which can extrapolate.

    References
    ----------
    .. [1] Chen et al. (2021). Evaluating large language models trained on code. https://arxiv.org/abs/2107.03374

    Examples
    --------
    >>> pass_at_k(correct=[0, 2, 5], generations=[5, 5, 5], k=2)
    array([0. , 0.7, 1. ])
    """
    k = require_positive_integer("k", k)
    c, n = as_counts(correct, generations)
    require_generations(n, k, f"pass@{k}", f"pass_at({k})")
    return on_unique_cells(lambda n, c: _at_least_one(n, c, k), n, c)


def pass_hat_k(correct: ArrayLike, generations: ArrayLike, k: int) -> Floats:
    """Unbiased estimate of pass^k for every prompt, ``C(c, k) / C(n, k)``.

    Parameters
    ----------
    correct, generations : int arrays that broadcast
        Counts per prompt, c and n, with ``0 <= c <= n`` and ``n >= k``.
    k : int
        Attempts, all of which must be correct.

    Returns
    -------
    float array
        In [0, 1]. Unbiased for ``p^k``; the plug-in ``(c/n)^k`` is not.

    Raises
    ------
    DataError
        If some prompt has fewer than k generations.

    References
    ----------
    .. [1] Yao et al. (2024). tau-bench: a benchmark for tool-agent-user interaction in real-world domains.
       https://arxiv.org/abs/2406.12045

    Examples
    --------
    >>> pass_hat_k(correct=[3, 4], generations=4, k=2).round(12)
    array([0.5, 1. ])
    """
    k = require_positive_integer("k", k)
    c, n = as_counts(correct, generations)
    require_generations(n, k, f"pass^{k}", f"pass_hat({k})")
    return on_unique_cells(lambda n, c: _all(n, c, k), n, c)


def g_pass_at_k(correct: ArrayLike, generations: ArrayLike, k: int, tau: Threshold) -> Floats:
    """Unbiased estimate of G-Pass@k at threshold tau for every prompt, a hypergeometric upper tail.

    Parameters
    ----------
    correct, generations : int arrays that broadcast
        Counts per prompt, c and n, with ``0 <= c <= n`` and ``n >= k``.
    k : int
        Attempts.
    tau : float, int, str, Fraction or Decimal
        Share of the attempts that must be correct; m successes, see `threshold_successes`.

    Returns
    -------
    float array
        ``sum over j >= m of C(c, j) C(n - c, k - j) / C(n, k)``, in [0, 1]; unbiased for I_p(m, k - m + 1).

    Raises
    ------
    DataError
        If some prompt has fewer than k generations.
    OptionError
        If tau is not a number in [0, 1].

    References
    ----------
    .. [1] Liu et al. (2024). Are your LLMs capable of stable reasoning? https://arxiv.org/abs/2412.13147

    Examples
    --------
    >>> g_pass_at_k(correct=[8, 16], generations=16, k=8, tau=0.75).round(6)
    array([0.065967, 1.      ])
    """
    k = require_positive_integer("k", k)
    exact = exact_tau(tau, k)
    m = ceil_share(exact, k)
    c, n = as_counts(correct, generations)
    require_generations(n, k, f"G-Pass@{k}", f"g_pass({k}, {tau_text(exact)!r})")
    if m == 1:
        return on_unique_cells(lambda n, c: _at_least_one(n, c, k), n, c)
    if m == k:
        return on_unique_cells(lambda n, c: _all(n, c, k), n, c)
    return on_unique_cells(lambda n, c: upper_tail(n, c, k, m), n, c)


def mg_pass_at_k(correct: ArrayLike, generations: ArrayLike, k: int, form: Form | None = None) -> Floats:
    """Unbiased estimate of mG-Pass@k for every prompt, ``(2/k) E[max(X - a, 0)]`` with X hypergeometric.

    Parameters
    ----------
    correct, generations : int arrays that broadcast
        Counts per prompt, c and n, with ``0 <= c <= n`` and ``n >= k``.
    k : int
        Attempts.
    form : {"published", "integral"}, optional
        ``a = ceil(k/2)`` or ``a = k/2``; needed for odd k, where they differ: see `bayeseval.metrics.mg_pass`.

    Returns
    -------
    float array
        In [0, 1].

    Raises
    ------
    DataError
        If some prompt has fewer than k generations.
    OptionError
        If k is odd and no form is given.

    References
    ----------
    .. [1] Liu et al. (2024). Are your LLMs capable of stable reasoning? https://arxiv.org/abs/2412.13147

    Examples
    --------
    >>> mg_pass_at_k(correct=[8, 16], generations=16, k=8).round(6)
    array([0.095183, 1.      ])
    """
    k = require_positive_integer("k", k)
    level = mg_level(k, mg_form(k, form))
    c, n = as_counts(correct, generations)
    require_generations(n, k, f"mG-Pass@{k}", f"mg_pass({k})")
    return on_unique_cells(lambda n, c: 2 / k * expected_excess(n, c, k, level), n, c)


def one_minus_pass_at_k(correct: ArrayLike, generations: ArrayLike, k: int) -> Floats:
    """Unbiased estimate of 1 - pass@k, ``C(n - c, k) / C(n, k)``, to full relative accuracy where it is tiny.

    Parameters
    ----------
    correct, generations : int arrays that broadcast
        Counts per prompt, c and n, with ``0 <= c <= n`` and ``n >= k``.
    k : int
        Attempts.

    Returns
    -------
    float array
        In [0, 1].

    Raises
    ------
    DataError
        If some prompt has fewer than k generations.

    Examples
    --------
    >>> print(f"{one_minus_pass_at_k(correct=100, generations=200, k=50):.12g}")
    2.22296975121e-19
    """
    k = require_positive_integer("k", k)
    c, n = as_counts(correct, generations)
    require_generations(n, k, f"pass@{k}", f"pass_at({k})")
    return on_unique_cells(lambda n, c: np.exp(log_probability_of_none(n, c, k)), n, c)


def pass_at_k_variance(correct: ArrayLike, generations: ArrayLike, k: int) -> Floats:
    """Unbiased estimate of the sampling variance of `pass_at_k` for every prompt, given its P(correct).

    Parameters
    ----------
    correct, generations : int arrays that broadcast
        Counts per prompt, c and n, with ``0 <= c <= n`` and ``n >= 2 k``.
    k : int
        Attempts.

    Returns
    -------
    float array
        ``f^2 - C(n - c, 2k) / C(n, 2k)`` with ``f = C(n - c, k) / C(n, k)``. Unbiased, and therefore sometimes
        negative. At k = 1 it is ``c (n - c) / (n^2 (n - 1))``.

    Raises
    ------
    DataError
        If some prompt has fewer than 2 k generations: the square of pass@k then has no unbiased estimate.

    Examples
    --------
    >>> pass_at_k_variance(correct=[5, 0], generations=48, k=16).round(6)
    array([0.01128, 0.     ])
    """
    k = require_positive_integer("k", k)
    c, n = as_counts(correct, generations)
    require_generations(n, 2 * k, f"the unbiased variance of pass@{k}", f"pass_at({k})")
    return on_unique_cells(lambda n, c: _variance_of_none(n, c, k), n, c)


def pass_hat_k_variance(correct: ArrayLike, generations: ArrayLike, k: int) -> Floats:
    """Unbiased estimate of the sampling variance of `pass_hat_k` for every prompt, given its P(correct).

    Parameters
    ----------
    correct, generations : int arrays that broadcast
        Counts per prompt, c and n, with ``0 <= c <= n`` and ``n >= 2 k``.
    k : int
        Attempts.

    Returns
    -------
    float array
        ``f^2 - C(c, 2k) / C(n, 2k)`` with ``f = C(c, k) / C(n, k)``: `pass_at_k_variance` with right and wrong
        exchanged.

    Raises
    ------
    DataError
        If some prompt has fewer than 2 k generations.

    Examples
    --------
    >>> pass_hat_k_variance(correct=[3, 0], generations=4, k=1).round(6)
    array([0.0625, 0.    ])
    """
    k = require_positive_integer("k", k)
    c, n = as_counts(correct, generations)
    require_generations(n, 2 * k, f"the unbiased variance of pass^{k}", f"pass_hat({k})")
    return on_unique_cells(lambda n, c: _variance_of_none(n, n - c, k), n, c)


def _at_least_one(n: Integers, c: Integers, k: int) -> Floats:
    # 0.0 - x rather than -x, so that a hopeless prompt gets 0.0 and not -0.0
    return c / n if k == 1 else 0.0 - np.expm1(log_probability_of_none(n, c, k))


def _all(n: Integers, c: Integers, k: int) -> Floats:
    return c / n if k == 1 else np.exp(log_probability_of_none(n, n - c, k))


def _variance_of_none(n: Integers, c: Integers, k: int) -> Floats:
    one, two = log_probability_of_none(n, c, k), log_probability_of_none(n, c, 2 * k)
    never = np.isneginf(one)
    one = np.where(never, 0.0, one)
    return np.where(never, 0.0, 0.0 - np.exp(2 * one) * np.expm1(two - 2 * one))
