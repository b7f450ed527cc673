r"""The Dirichlet-multinomial likelihood, stable from rho = 0 to rho = 1, by survival counts of every level.

Prompt i gives its generations one of several levels with probabilities :math:`\pi_i \sim \mathrm{Dirichlet}(\nu\phi)`,
:math:`\nu = (1-\rho)/\rho`. Multiplied through by :math:`\rho`, with :math:`\pi_i` integrated out,

.. math:: P(n) = \frac{k!}{\prod_c n_c!}
    \frac{\prod_c \prod_{j<n_c} (\phi_c(1-\rho)+j\rho)}{\prod_{j<k} ((1-\rho)+j\rho)} .

Two levels make the beta-binomial. Summed over prompts the logarithm is linear in the survival counts #{n_ic > j} of
each level and #{k_i > j}, with the head and the Euler-Maclaurin tail of `bayeseval.likelihoods.beta_binomial`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeseval.likelihoods.beta_binomial import (
    TINY,
    log_rising,
    survival_counts,
    weighted_log_rising,
)

__all__ = ["dirichlet_multinomial_loglik", "dirichlet_multinomial_logpmf", "level_survival"]

PARTS = ("head", "step", "start", "stop", "weight")


def level_survival(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Survival counts of every level, and of all generations.

    Parameters
    ----------
    counts : int array (prompt, level)

    Returns
    -------
    dict of str to float array
        ``level_head``, ``level_step`` (level, H), ``level_start``, ``level_stop``, ``level_weight`` (level, T), and the
        same for ``total``, (H,) and (T,), padded to a few standard lengths.

    Examples
    --------
    >>> from bayeseval.likelihoods import level_survival
    >>> level_survival([[2, 1, 0], [1, 0, 3]])["level_head"][:, :3].tolist()
    [[2.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    counts = np.asarray(counts, dtype=np.int64)
    generations = counts.sum(axis=1)
    each = [survival_counts(column, generations) for column in counts.T]
    shape = tuple(np.max([one.shape for one in each], axis=0))
    arrays = [one.resized(shape).arrays for one in each]
    stacked = {f"level_{part}": np.stack([one[f"correct_{part}"] for one in arrays]) for part in PARTS}
    return {**stacked, **{f"total_{part}": arrays[0][f"total_{part}"] for part in PARTS}}


def dirichlet_multinomial_loglik(xp: Any, phi: Any, rho: Any, not_rho: Any, counts: dict[str, Any]) -> Any:
    r"""Log likelihood of all prompts, without the constant sum of log multinomial coefficients.

    Parameters
    ----------
    xp : module
        ``numpy`` or ``pytensor.tensor``.
    phi : array (..., level)
        Mean share of each level.
    rho, not_rho : array (...,)
        Intraclass correlation, and one minus it.
    counts : dict of str to array
        What `level_survival` gives.

    Returns
    -------
    array (...,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.likelihoods import dirichlet_multinomial_loglik, level_survival
    >>> phi, rho = np.array([0.5, 0.25, 0.25]), np.array(0.0)
    >>> float(np.exp(dirichlet_multinomial_loglik(np, phi, rho, 1 - rho, level_survival([[1, 1, 0]]))).round(9))
    0.125
    """
    some, all_ = counts["level_head"][..., 0], counts["total_head"][..., 0]
    first = (some * xp.log(xp.maximum(phi, TINY))).sum(axis=-1)
    first = first + (some.sum(axis=-1) - all_) * xp.log(xp.maximum(not_rho, TINY))
    levels = weighted_log_rising(xp, phi * not_rho[..., None], rho[..., None], "level", counts).sum(axis=-1)
    return first + levels - weighted_log_rising(xp, not_rho, rho, "total", counts)


def dirichlet_multinomial_logpmf(counts: np.ndarray, phi: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Log probability of the level counts of one prompt.

    Parameters
    ----------
    counts : int array (level,)
    phi : float array (..., level)
        Mean share of each level; they sum to 1.
    rho : float array (...,)
        Intraclass correlation in [0, 1]; 0 is the multinomial.

    Returns
    -------
    float array (...,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.likelihoods import dirichlet_multinomial_logpmf
    >>> float(np.exp(dirichlet_multinomial_logpmf([1, 1, 0], [0.5, 0.25, 0.25], 0.0)).round(9))
    0.25
    """
    from scipy.special import gammaln

    counts = np.asarray(counts, dtype=np.int64)
    phi, rho = np.asarray(phi, dtype=float), np.asarray(rho, dtype=float)
    k = counts.sum()
    first = (counts > 0) * np.log(np.maximum(phi, TINY))
    crossed = (np.sum(counts > 0) - int(k > 0)) * np.log(np.maximum(1 - rho, TINY))
    result = first.sum(axis=-1) + crossed - log_rising(1 - rho, rho, np.array([k]), first=1)[..., 0]
    for level, count in enumerate(counts):
        result = result + log_rising(phi[..., level] * (1 - rho), rho, np.array([count]), first=1)[..., 0]
    return result + gammaln(k + 1.0) - gammaln(counts + 1.0).sum()
