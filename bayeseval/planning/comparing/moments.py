r"""Moments of several systems on shared prompts: what the standard error of a difference is made of.

Prompt i is answered :math:`k_{im}` times by system m, :math:`c_{im}` times correctly, with P(correct)
:math:`p_{im}`. Over prompts, :math:`p_i` has mean :math:`\mu` and covariance :math:`\Sigma`; one generation of system m
adds noise of variance :math:`\omega_m = E[p_m(1-p_m)]`, and generations that share their noise have within-prompt
covariance :math:`\kappa = E[\mathrm{Cov}(y_A, y_B \mid i)]`. The uncertainty of these moments comes from a Bayesian
bootstrap over prompts [1]_: no distribution of P(correct) is assumed.

References
----------
.. [1] Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134. https://doi.org/10.1214/aos/1176345338
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayeseval.arrays import Floats, as_counts
from bayeseval.errors import DataError, OptionError
from bayeseval.estimators.variance import within_variances

__all__ = [
    "Moments",
    "bootstrap_moments",
    "given_moments",
    "kappa_bound",
    "noise_ratio",
    "project_covariance",
]

BLOCK = 1 << 21
"""Bootstrap weights held at once."""


class Moments(NamedTuple):
    """Draws of the moments of M systems.

    Attributes
    ----------
    mean : float array (draw, system)
        Mean of P(correct) over prompts.
    between : float array (draw, system, system)
        Covariance of P(correct) over prompts.
    within : float array (draw, system)
        Variance of one generation around the P(correct) of its prompt, averaged over prompts.
    kappa : float array (draw,)
        Covariance of one generation of the first two systems within a prompt; 0 where no noise is shared.
    projected : float
        Share of draws whose covariance had to be projected; see `project_covariance`.
    """

    mean: Floats
    between: Floats
    within: Floats
    kappa: Floats
    projected: float


def bootstrap_moments(
    correct: ArrayLike,
    generations: ArrayLike,
    rng: np.random.Generator,
    draws: int = 500,
    *,
    spread: ArrayLike | None = None,
    kappa: ArrayLike | None = None,
    coupled: bool = False,
) -> Moments:
    r"""Draw the moments of systems on shared prompts by a Bayesian bootstrap over prompts.

    With weights :math:`d \sim \mathrm{Dirichlet}(1, \ldots, 1)`, shares :math:`\hat p_i` and unbiased variances
    :math:`v_{im}` of one generation,

    .. math::
        \mu = \sum_i d_i \hat p_i, \qquad
        \Sigma = \frac{\sum_i d_i(\hat p_i-\mu)(\hat p_i-\mu)'}{1 - \sum_i d_i^2}
            - \mathrm{diag}\Bigl(\sum_i d_i \frac{v_{im}}{k_{im}}\Bigr), \qquad
        \omega_m = \sum_i d_i v_{im}.

    Parameters
    ----------
    correct, generations : int array (system, prompt)
        Every prompt answered by every system.
    rng : numpy.random.Generator
    draws : int
    spread : float array (draw, system), optional
        Standard deviation of P(correct) over prompts, for systems whose counts cannot tell it; NaN for the others.
        The variance of one generation is then :math:`\mu(1-\mu)-\sigma^2`.
    kappa : float array (prompt,), optional
        Within-prompt covariances of two systems, from `kappa_hat`; NaN takes the average of the others.
    coupled : bool
        Whether these very generations shared their noise: its part is taken off the covariance.

    Returns
    -------
    Moments
        A prompt with one generation takes the average of its system's v in the place of its own, weighted by k - 1.

    Raises
    ------
    DataError
        If there are fewer than two prompts, a prompt has no generation, or a system has one generation a prompt and no
        spread is given: the spread of P(correct) cannot be known from that.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> moments = bootstrap_moments([[3, 0, 4, 2] * 10, [4, 1, 4, 2] * 10], np.full((2, 40), 4), rng, draws=200)
    >>> moments.mean.shape, moments.between.shape
    ((200, 2), (200, 2, 2))
    """
    c, k = as_counts(correct, generations)
    systems, prompts = c.shape
    if prompts < 2:
        raise DataError(f"{prompts} prompt is too few: how prompts differ needs two of them at least")
    if (k < 1).any():
        raise DataError("a prompt without a generation has no share of correct answers; leave it out")
    sd = np.full((draws, systems), np.nan) if spread is None else np.broadcast_to(spread, (draws, systems))
    variances = _filled_variances(c, k)
    unknown = np.isnan(variances).any(axis=1) & np.isnan(sd).any(axis=0)
    if unknown.any():
        raise DataError(
            "the spread of P(correct) over prompts cannot be known from one generation a prompt: noise of generations "
            "and differences between prompts look the same; give a posterior, whose prior supplies the spread, or "
            "say it yourself with be.SystemGuess(mean, sd)"
        )
    share = c / k
    shared = np.zeros(prompts) if kappa is None else np.asarray(kappa, dtype=float)
    shared = np.where(np.isnan(shared), np.nanmean(shared) if np.isfinite(shared).any() else 0.0, shared)
    blocks = []
    step = max(1, BLOCK // prompts)
    for start in range(0, draws, step):
        weights = rng.standard_exponential((min(step, draws - start), prompts))
        weights /= weights.sum(axis=1, keepdims=True)
        blocks.append(_weighted(weights, share, variances, k, shared, coupled))
    mean, between, within, kappas = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    known = np.isfinite(sd)
    diagonal = np.arange(systems)
    between[:, diagonal, diagonal] = np.where(known, sd**2, between[:, diagonal, diagonal])
    within = np.where(known, np.maximum(mean * (1 - mean) - sd**2, 0.0), within)
    between, changed = project_covariance(between)
    if systems == 2:
        bound = np.sqrt(within[:, 0] * within[:, 1])
        kappas = np.clip(kappas, -bound, bound)
    return Moments(mean, between, within, kappas, float(changed.mean()))


def _weighted(
    weights: Floats, share: Floats, variances: Floats, k: np.ndarray, kappa: Floats, coupled: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    systems = len(share)
    mean = weights @ share.T
    size = 1 - (weights**2).sum(axis=1)
    between = np.empty((len(weights), systems, systems))
    a, b = np.tril_indices(systems)
    products = weights @ (share[a] * share[b]).T - mean[:, a] * mean[:, b]
    between[:, a, b] = between[:, b, a] = products / size[:, None]
    noise = weights @ (variances / k).T
    between[:, np.arange(systems), np.arange(systems)] -= noise
    if coupled:
        off = weights @ (kappa / k.min(axis=0))
        between[:, 0, 1] -= off
        between[:, 1, 0] -= off
    return mean, between, weights @ variances.T, weights @ kappa


def _filled_variances(c: np.ndarray, k: np.ndarray) -> Floats:
    """Variances of one generation; the system's average where a prompt has one generation, NaN where all have."""
    variances = within_variances(c, k)
    several = k > 1
    total = np.where(several, k - 1, 0).sum(axis=1)
    summed = np.where(several, (k - 1) * np.nan_to_num(variances), 0.0).sum(axis=1)
    average = np.divide(summed, total, out=np.full(len(c), np.nan), where=total > 0)
    return np.where(several, variances, average[:, None])


def project_covariance(matrix: ArrayLike) -> tuple[Floats, np.ndarray]:
    """Nearest covariance matrices: negative eigenvalues are set to 0.

    An unbiased estimate of a covariance can have negative eigenvalues, where prompts differ little more than the noise
    of generations does, or two systems are almost one.

    Parameters
    ----------
    matrix : float array (..., system, system)
        Symmetric.

    Returns
    -------
    projected : float array (..., system, system)
        Nearest in the sum of squares; a covariance matrix stays as it is.
    changed : bool array (...)

    Examples
    --------
    >>> project_covariance([[0.1, 0.0], [0.0, -0.2]])
    (array([[0.1, 0. ],
           [0. , 0. ]]), array(True))
    """
    given = np.asarray(matrix, dtype=float)
    values, vectors = np.linalg.eigh(given)
    changed = np.asarray(values[..., 0] < -1e-12)
    repaired = (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return np.where(changed[..., None, None], repaired, given), changed


def given_moments(mean: ArrayLike, sd: ArrayLike, correlation: float = 0.0) -> Moments:
    """Moments that were said instead of estimated, as one draw.

    Parameters
    ----------
    mean, sd : float array (system,)
        Mean and standard deviation of P(correct) over prompts.
    correlation : float
        Of P(correct) between any two systems, over prompts.

    Returns
    -------
    Moments
        The variance of one generation follows: mean (1 - mean) - sd².

    Raises
    ------
    OptionError
        If a mean lies outside (0, 1), a standard deviation is larger than P(correct) with this mean can have, or the
        correlation is impossible.

    Examples
    --------
    >>> given_moments([0.6, 0.63], [0.3, 0.3], 0.9).within.round(4)
    array([[0.15  , 0.1431]])
    """
    mu, sigma = np.atleast_1d(np.asarray(mean, dtype=float)), np.atleast_1d(np.asarray(sd, dtype=float))
    for m, s in zip(mu, sigma, strict=True):
        if not 0 < m < 1:
            raise OptionError(f"a mean of P(correct) must lie strictly between 0 and 1, but {m:g} was given")
        most = np.sqrt(m * (1 - m))
        if not 0 <= s <= most:
            raise OptionError(
                f"with mean {m:g} the standard deviation of P(correct) over prompts lies between 0 and {most:.3g}, "
                f"but {s:g} was given"
            )
    least = -1 / (mu.size - 1) if mu.size > 1 else -1.0
    if not least <= correlation <= 1:
        raise OptionError(f"correlation must lie between {least:g} and 1, but {correlation!r} was given")
    between = np.outer(sigma, sigma) * np.where(np.eye(mu.size, dtype=bool), 1.0, correlation)
    within = mu * (1 - mu) - sigma**2
    return Moments(mu[None], between[None], within[None], np.zeros(1), 0.0)


def kappa_bound(within: ArrayLike) -> float:
    """Largest covariance within a prompt that two variances of one generation allow, by Cauchy and Schwarz.

    Examples
    --------
    >>> kappa_bound([0.09, 0.16]).round(2)
    np.float64(0.12)
    """
    return np.sqrt(np.prod(np.asarray(within, dtype=float)))


def noise_ratio(correct: np.ndarray, generations: np.ndarray, k: float) -> Floats:
    r"""Share of the variance of one generation that is left in each system's mean of shares (system,).

    Prompts are answered k times, or as often as they were already if that is more:
    :math:`\sum_i v_{im}/\max(k_{im}, k) \big/ \sum_i v_{im}`, which is 1/k where no prompt has more.

    Parameters
    ----------
    correct, generations : int array (system, prompt)
    k : float
        May be infinite.

    Examples
    --------
    >>> noise_ratio(np.array([[1, 2]]), np.array([[4, 4]]), 16)
    array([0.0625])
    """
    variances = np.nan_to_num(_filled_variances(correct, generations))
    rest = 1 / np.maximum(generations, k)
    total = variances.sum(axis=1)
    plain = rest.mean(axis=1)
    return np.divide((variances * rest).sum(axis=1), total, out=plain, where=total > 0)
