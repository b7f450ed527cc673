r"""Confidence sequences that hold at every look, however the looks were chosen: the prior-posterior ratio.

For the true parameter the ratio :math:`R_t = \pi(\theta) / \pi(\theta \mid \mathrm{data}_t)`, which is the evidence
over the likelihood :math:`Z_t / L_t(\theta)`, is a martingale that starts at 1. By Ville's inequality it reaches
:math:`1/\alpha` with probability :math:`\alpha` at most, at any time. So the sets

.. math:: C_t = \{\theta : \pi(\theta) / \pi(\theta \mid \mathrm{data}_t) < 1/\alpha\}

all hold the truth at once with probability :math:`1 - \alpha` or more [1]_, whatever the rule that stops. That needs
the likelihood to be right, and the prior to be chosen before the data; the prior need not be right, it only makes the
sets wide or narrow.

References
----------
.. [1] Waudby-Smith & Ramdas (2020). Confidence sequences for sampling without replacement. NeurIPS 33.
   https://arxiv.org/abs/2006.04347
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayeseval.engines.quadrature import EXTENT, Prior, log_sigmoid
from bayeseval.errors import DataError, require_probability
from bayeseval.likelihoods import beta_binomial_loglik, survival_counts

__all__ = ["mean_sequence", "profile_loglik", "prompt_sequence"]

NODES = 46
ZOOMS = 5
HALVINGS = 48


def prompt_sequence(
    correct: np.ndarray, generations: np.ndarray, alpha: float = 0.05, prior: Prior = (1.0, 1.0)
) -> tuple[np.ndarray, np.ndarray]:
    r"""Ends of the confidence sequence for P(correct) of one prompt, or of one stream of fresh prompts.

    .. math:: \{p : B(a + c, b + t - c) / B(a, b) < p^c (1 - p)^{t - c} / \alpha\}

    Parameters
    ----------
    correct, generations : int arrays (...,)
        Correct generations c among the first t. They broadcast.
    alpha : float
        Largest probability that the truth is ever outside.
    prior : pair of float
        Parameters (a, b) of the Beta prior.

    Returns
    -------
    lower, upper : float arrays (...,)

    Raises
    ------
    DataError
        If a count is negative or exceeds its number of generations.
    OptionError
        If alpha is no probability.

    Examples
    --------
    >>> from bayeseval.planning.looking.anytime import prompt_sequence
    >>> lower, upper = prompt_sequence(7, 20)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.1035, 0.6728)
    """
    from scipy.special import betaln

    require_probability("alpha", alpha)
    c, t = np.broadcast_arrays(np.asarray(correct, dtype=float), np.asarray(generations, dtype=float))
    if (c < 0).any() or (c > t).any():
        raise DataError("correct must lie between 0 and the number of generations")
    least = betaln(prior[0] + c, prior[1] + t - c) - betaln(*prior) + np.log(alpha)

    def inside(x: np.ndarray) -> np.ndarray:
        # c log p + (t - c) log(1 - p) with p = sigmoid(x)
        return c * log_sigmoid(x) + (t - c) * log_sigmoid(-x) > least

    with np.errstate(divide="ignore", invalid="ignore"):
        mode = np.where(t > 0, np.clip(np.log(c) - np.log(t - c), -EXTENT, EXTENT), 0.0)
    return _ends(inside, mode)


def profile_loglik(x: np.ndarray, correct: np.ndarray, generations: np.ndarray) -> np.ndarray:
    r"""Largest log likelihood over the intraclass correlation, :math:`\max_\rho \ell(\mu, \rho)`, at some means.

    Parameters
    ----------
    x : float array (point,)
        Logits of mu.
    correct, generations : int arrays (prompt,)

    Returns
    -------
    float array (point,)
        Without the binomial coefficients, as `bayeseval.likelihoods.beta_binomial_loglik`.
    """
    return _profile(np.asarray(x, dtype=float), survival_counts(correct, generations).arrays)


def mean_sequence(
    correct: np.ndarray, generations: np.ndarray, log_evidence: float, alpha: float = 0.05
) -> tuple[float, float]:
    r"""Ends of the confidence sequence for the population mean mu of the beta-binomial model.

    The joint set of :math:`(\mu, \rho)` seen from the side of mu,

    .. math:: \{\mu : \max_\rho L(\mu, \rho) > \alpha Z\},

    which holds for every true rho. (The ratio of the marginal densities of mu would hold on average over the prior of
    rho only.)

    Parameters
    ----------
    correct, generations : int arrays (prompt,)
    log_evidence : float
        Logarithm of the marginal likelihood Z, as in `bayeseval.engines.quadrature.ExactPosterior`.
    alpha : float
        Largest probability that the truth is ever outside.

    Returns
    -------
    lower, upper : float

    Examples
    --------
    One generation to a prompt tells nothing about rho: the closed form of one prompt comes back.

    >>> import numpy as np
    >>> from bayeseval.engines.quadrature import exact_posterior
    >>> from bayeseval.planning.looking.anytime import mean_sequence
    >>> correct = np.repeat([1, 0], [7, 13])
    >>> exact = exact_posterior(correct, np.ones(20, dtype=int))
    >>> lower, upper = mean_sequence(correct, np.ones(20, dtype=int), exact.log_evidence)
    >>> round(lower, 4), round(upper, 4)
    (0.1035, 0.6728)
    """
    require_probability("alpha", alpha)
    counts = survival_counts(correct, generations).arrays
    least = log_evidence + np.log(alpha)
    _, mode = _climb(lambda x: _profile(x[0], counts)[None, :], np.array([-EXTENT]), np.array([EXTENT]))
    lower, upper = _ends(lambda x: _profile(x, counts) > least, mode)
    return float(lower[0]), float(upper[0])


def _profile(x: np.ndarray, counts: dict[str, np.ndarray]) -> np.ndarray:
    mu, not_mu = np.exp(log_sigmoid(x))[:, None], np.exp(log_sigmoid(-x))[:, None]

    def height(y: np.ndarray) -> np.ndarray:
        return beta_binomial_loglik(np, mu, not_mu, np.exp(log_sigmoid(y)), np.exp(log_sigmoid(-y)), counts)

    return _climb(height, np.full(x.shape, -EXTENT), np.full(x.shape, EXTENT))[0]


def _climb(
    height: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Maximum and its place between ``low`` and ``high`` (row,): nodes (row, node), again and again around the best."""
    rows = np.arange(low.size)
    for _ in range(ZOOMS):
        nodes = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, NODES)
        values = height(nodes)
        best = values.argmax(axis=1)
        low, high = nodes[rows, np.maximum(best - 1, 0)], nodes[rows, np.minimum(best + 1, NODES - 1)]
    return values[rows, best], nodes[rows, best]


def _ends(inside: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of what is inside, by halving the logit scale on either side of a point inside; 0 and 1 where it has none.

    Of a mode with rounding, such as that of all correct, the point itself stands for the end.
    """
    ends = []
    for far in (-EXTENT, EXTENT):
        near, out = start.astype(float), np.full(start.shape, far)
        open_ended = inside(out)
        for _ in range(HALVINGS):
            middle = (near + out) / 2
            within = inside(middle)
            near, out = np.where(within, middle, near), np.where(within, out, middle)
        ends.append(np.where(open_ended, float(far > 0), np.exp(log_sigmoid(near))))
    return ends[0], ends[1]
