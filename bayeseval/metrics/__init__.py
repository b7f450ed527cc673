"""Scores of a prompt that is answered several times: mean, pass@k, pass^k, G-Pass@k and mG-Pass@k.

Every one of them is ``g(p) = E[u(X)]`` with X ~ Binomial(k, p), the number of correct ones among k attempts, and
weights u(0), ..., u(k) that say what each number of successes is worth. A `Metric` names one such score; it can be
evaluated at a known P(correct) (`Metric.given_p`) or estimated without bias from counts (`Metric.estimate`, and the
functions `pass_at_k`, `pass_hat_k`, `g_pass_at_k`, `mg_pass_at_k`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bayeseval.arrays import Floats, as_counts, as_probabilities, require_generations
from bayeseval.errors import OptionError, require_choice, require_positive_integer
from bayeseval.metrics.hypergeometric import log_binomial_mass
from bayeseval.metrics.squares import square_weights
from bayeseval.metrics.thresholds import (
    Form,
    Threshold,
    ceil_share,
    exact_tau,
    mg_form,
    mg_level,
    tau_text,
    threshold_successes,
)
from bayeseval.metrics.unbiased import (
    g_pass_at_k,
    mg_pass_at_k,
    one_minus_pass_at_k,
    pass_at_k,
    pass_at_k_variance,
    pass_hat_k,
    pass_hat_k_variance,
)

__all__ = [
    "Metric",
    "g_pass",
    "g_pass_at_k",
    "mean",
    "metric_variance_given_p",
    "mg_pass",
    "mg_pass_at_k",
    "one_minus_pass_at_k",
    "pass_at",
    "pass_at_k",
    "pass_at_k_variance",
    "pass_hat",
    "pass_hat_k",
    "pass_hat_k_variance",
    "square_weights",
    "threshold_successes",
]

Kind = Literal["mean", "pass_at", "pass_hat", "g_pass", "mg_pass"]


@dataclass(frozen=True)
class Metric:
    """One score of a prompt answered k times; made by `mean`, `pass_at`, `pass_hat`, `g_pass` or `mg_pass`.

    Attributes
    ----------
    kind : {"mean", "pass_at", "pass_hat", "g_pass", "mg_pass"}
    k : int
        Attempts inside the metric; 1 for the mean.
    tau : fractions.Fraction or None
        Share of the k attempts that must be correct; for G-Pass@k alone.
    form : {"published", "integral"} or None
        Which of the two definitions; for mG-Pass@k alone.

    Examples
    --------
    >>> metric = g_pass(16, 0.5)
    >>> metric.name, metric.key, metric.threshold
    ('G-Pass@16 (τ = 0.5)', 'g_pass_at_16_tau_0.5', 8)
    >>> metric.given_p([0.4, 1.0]).round(6)
    array([0.283937, 1.      ])
    >>> metric.estimate(correct=[8, 12], generations=[48, 16]).round(6)
    array([3.4e-05, 1.0e+00])
    """

    kind: Kind
    k: int
    tau: Fraction | None = None
    form: Form | None = None

    def __post_init__(self) -> None:
        require_choice("kind", self.kind, ("mean", "pass_at", "pass_hat", "g_pass", "mg_pass"))
        object.__setattr__(self, "k", require_positive_integer("k", self.k))
        if self.kind == "mean" and self.k != 1:
            raise OptionError(f"the mean has k = 1, but k = {self.k} was given; did you mean pass_at({self.k})?")
        if (self.tau is None) == (self.kind == "g_pass"):
            raise OptionError(f"tau belongs to G-Pass@k and to nothing else, but {self.kind} got tau = {self.tau!r}")
        if self.form is not None and self.kind != "mg_pass":
            raise OptionError(f"form belongs to mG-Pass@k alone, but {self.kind} got form = {self.form!r}")
        if self.tau is not None:
            object.__setattr__(self, "tau", exact_tau(self.tau, self.k))
        if self.kind == "mg_pass":
            object.__setattr__(self, "form", mg_form(self.k, self.form))

    @property
    def name(self) -> str:
        """The metric as papers write it, such as ``pass@16`` or ``G-Pass@16 (τ = 0.5)``."""
        if self.kind == "mean":
            return "mean"
        if self.tau is not None:
            return f"G-Pass@{self.k} (τ = {tau_text(self.tau)})"
        if self.kind == "mg_pass":
            return f"mG-Pass@{self.k}" + (f" ({self.form})" if self.k % 2 else "")
        return f"pass@{self.k}" if self.kind == "pass_at" else f"pass^{self.k}"

    @property
    def key(self) -> str:
        """The metric as one plain word, for columns and file names, such as ``pass_at_16``."""
        if self.kind == "mean":
            return "mean"
        if self.tau is not None:
            return f"g_pass_at_{self.k}_tau_{tau_text(self.tau).replace('/', '_of_')}"
        if self.kind == "mg_pass":
            return f"mg_pass_at_{self.k}" + (f"_{self.form}" if self.k % 2 else "")
        return f"{self.kind}_{self.k}"

    @property
    def threshold(self) -> int | None:
        """Fewest correct attempts that count as success; None for mG-Pass@k, which averages over thresholds."""
        if self.kind == "mg_pass":
            return None
        if self.tau is not None:
            return ceil_share(self.tau, self.k)
        return self.k if self.kind == "pass_hat" else 1

    @property
    def call(self) -> str:
        """How a posterior, or this module, is asked for the metric: ``pass_at(16)``, ``g_pass(16, '0.5')``."""
        if self.kind == "mean":
            return "mean()"
        if self.tau is not None:
            return f"g_pass({self.k}, {tau_text(self.tau)!r})"
        if self.kind == "mg_pass" and self.k % 2:
            return f"mg_pass({self.k}, {self.form!r})"
        return f"{self.kind}({self.k})"

    @cached_property
    def weights(self) -> Floats:
        """Worth of 0, 1, ..., k correct attempts: read-only float array, shape (k + 1,)."""
        successes = np.arange(self.k + 1, dtype=float)
        if self.form is not None:
            weights = 2 / self.k * np.maximum(successes - mg_level(self.k, self.form), 0.0)
        else:
            weights = (successes >= (self.threshold or 1)).astype(float)
        weights.setflags(write=False)
        return weights

    def given_p(self, p: ArrayLike) -> Floats:
        """Value of the metric for prompts whose P(correct) is known.

        Parameters
        ----------
        p : float array, any shape
            In [0, 1].

        Returns
        -------
        float array, same shape
            In [0, 1]. pass@k is ``1 - (1 - p)^k`` and pass^k is ``p^k``, relatively accurate for tiny p; G-Pass@k is
            the regularised incomplete beta function I_p(m, k - m + 1); mG-Pass@k with level a and m = floor(a) + 1 is
            ``(2/k) (k p I_p(m - 1, k - m + 1) - a I_p(m, k - m + 1))``.

        Raises
        ------
        OptionError
            If some p is NaN or outside [0, 1].

        Examples
        --------
        >>> pass_at(1000).given_p([0.0, 1e-12, 1.0])
        array([0.e+00, 1.e-09, 1.e+00])
        """
        p = as_probabilities(p)
        k, m = self.k, self.threshold
        if self.form is not None:
            return _mg_given_p(p, k, mg_level(k, self.form))
        if m is None or k == 1:
            return p.copy()
        if m == 1:
            with np.errstate(divide="ignore"):
                return np.asarray(-np.expm1(k * np.log1p(-p)))
        if m == k:
            return np.asarray(p**k)
        from scipy.special import betainc

        return np.asarray(betainc(m, k - m + 1, p))

    def estimate(self, correct: ArrayLike, generations: ArrayLike) -> Floats:
        """Unbiased estimate of the metric for every prompt, from its counts.

        Parameters
        ----------
        correct, generations : int arrays that broadcast
            Counts per prompt, ``0 <= correct <= generations`` and ``generations >= k``.

        Returns
        -------
        float array
            Mean of the weights over k generations drawn without replacement, ``E[u(X)]`` with X hypergeometric.

        Raises
        ------
        DataError
            If counts cannot be right, or some prompt has fewer generations than k: no unbiased estimate exists then.

        Examples
        --------
        >>> pass_hat(2).estimate(correct=[3, 4], generations=4).round(12)
        array([0.5, 1. ])
        """
        if self.kind == "mean":
            c, n = as_counts(correct, generations)
            require_generations(n, 1, "the mean", "mean()")
            return np.asarray(c / n)
        if self.kind == "pass_at":
            return pass_at_k(correct, generations, self.k)
        if self.kind == "pass_hat":
            return pass_hat_k(correct, generations, self.k)
        if self.tau is not None:
            return g_pass_at_k(correct, generations, self.k, self.tau)
        return mg_pass_at_k(correct, generations, self.k, self.form)


def mean() -> Metric:
    """Return the plain score: the probability that one generation is correct.

    Examples
    --------
    >>> mean().estimate(correct=[1, 3], generations=4)
    array([0.25, 0.75])
    """
    return Metric("mean", 1)


def pass_at(k: int) -> Metric:
    """Return pass@k: the probability that at least one of k attempts is correct, ``1 - (1 - p)^k``.

    References
    ----------
    .. [1] Chen et al. (2021). Evaluating large language models trained on code. https://arxiv.org/abs/2107.03374

    Examples
    --------
    >>> pass_at(16).name, pass_at(2).weights
    ('pass@16', array([0., 1., 1.]))
    """
    return Metric("pass_at", k)


def pass_hat(k: int) -> Metric:
    """Return pass^k: the probability that all of k attempts are correct, ``p^k``.

    References
    ----------
    .. [1] Yao et al. (2024). tau-bench: a benchmark for tool-agent-user interaction in real-world domains.
       https://arxiv.org/abs/2406.12045

    Examples
    --------
    >>> pass_hat(4).name, pass_hat(2).weights
    ('pass^4', array([0., 0., 1.]))
    """
    return Metric("pass_hat", k)


def g_pass(k: int, tau: Threshold) -> Metric:
    """Return G-Pass@k: the probability that at least ``max(1, ceil(tau k))`` of k attempts are correct.

    Parameters
    ----------
    k : int
        Attempts.
    tau : float, int, str, Fraction or Decimal
        Share of them that must be correct, in [0, 1], read exactly: see `threshold_successes`. 0 gives pass@k and 1
        gives pass^k.

    References
    ----------
    .. [1] Liu et al. (2024). Are your LLMs capable of stable reasoning? https://arxiv.org/abs/2412.13147

    Examples
    --------
    >>> g_pass(25, "7/25").threshold
    7
    >>> g_pass(10, 0.1 * 3) == g_pass(10, "0.3")
    True
    """
    return Metric("g_pass", k, tau=exact_tau(tau, require_positive_integer("k", k)))


def mg_pass(k: int, form: Form | None = None) -> Metric:
    """Return mG-Pass@k: G-Pass@k averaged over thresholds from one half to one.

    Parameters
    ----------
    k : int
        Attempts.
    form : {"published", "integral"}, optional
        ``"published"`` is the sum that paper, code and metric card of G-Pass@k share,
        ``(2/k) E[max(X - ceil(k/2), 0)]``; ``"integral"`` is what it stands for, twice the integral of G-Pass@k over
        tau from 1/2 to 1, ``(2/k) E[max(X - k/2, 0)]``. For even k they are equal and none need be given.

    Raises
    ------
    OptionError
        If k is odd and no form is given: the published sum then gives a perfect system ``(k - 1)/k`` and not 1.

    References
    ----------
    .. [1] Liu et al. (2024). Are your LLMs capable of stable reasoning? https://arxiv.org/abs/2412.13147

    Examples
    --------
    >>> mg_pass(16).estimate(correct=[30], generations=48).round(6)
    array([0.259245])
    >>> mg_pass(3, "published").given_p([1.0]).round(3), mg_pass(3, "integral").given_p([1.0]).round(3)
    (array([0.667]), array([1.]))
    """
    return Metric("mg_pass", k, form=form)


def metric_variance_given_p(metric: Metric, p: ArrayLike, generations: ArrayLike) -> Floats:
    """Compute the sampling variance of a metric's unbiased estimate for prompts whose P(correct) is known.

    Parameters
    ----------
    metric : Metric
    p : float array
        In [0, 1].
    generations : int array that broadcasts with p
        Generations of each prompt, at least ``metric.k``.

    Returns
    -------
    float array
        ``sum over c of Binomial(c; n, p) (estimate(c) - g(p))^2``; ``g (1 - g)`` where n = k and every weight is 0 or
        1. For n above 20,000 the sum runs over 40 standard deviations on either side.

    Raises
    ------
    DataError
        If some prompt has fewer generations than the metric needs.

    Examples
    --------
    >>> metric_variance_given_p(g_pass(16, 0.5), p=0.4, generations=[16, 48]).round(6)
    array([0.203317, 0.042444])
    """
    p, n = np.broadcast_arrays(as_probabilities(p), as_counts(0, generations)[1])
    require_generations(n, metric.k, metric.name, metric.call)
    values = [_variance_at(metric, float(p_i), int(n_i)) for p_i, n_i in zip(p.ravel(), n.ravel(), strict=True)]
    return np.array(values, dtype=float).reshape(p.shape)


def _mg_given_p(p: Floats, k: int, level: float) -> Floats:
    m = math.floor(level) + 1
    if m > k:
        return np.zeros(p.shape)
    from scipy.special import betainc

    reach = betainc(m - 1, k - m + 1, p) if m > 1 else 1.0
    value: Floats = np.clip(2 / k * (k * p * reach - level * betainc(m, k - m + 1, p)), 0.0, 1.0)
    return value


def _variance_at(metric: Metric, p: float, n: int) -> float:
    lowest, highest = 0, n
    if n > 20_000:
        margin = 40 * math.sqrt(n * p * (1 - p)) + 100
        lowest, highest = max(0, math.floor(n * p - margin)), min(n, math.ceil(n * p + margin))
    c = np.arange(lowest, highest + 1)
    mass = np.exp(log_binomial_mass(c.astype(float), np.asarray(float(n)), np.asarray(p)))
    return float(np.sum(mass * (metric.estimate(c, n) - metric.given_p(p)) ** 2))
