r"""Clustered: prompts come in clusters that are alike, and other clusters might have been drawn.

.. math::

    c_i \mid p_i &\sim \mathrm{Binomial}(k_i, p_i) \\
    p_i &\sim \mathrm{Beta}(\mu_g\nu,\ (1-\mu_g)\nu), \qquad \nu = (1-\rho)/\rho,\quad g = g(i) \\
    \mathrm{logit}\,\mu_g &= m + \tau z_g, \qquad z_g \sim \mathrm{N}(0, 1) \\
    m &\sim \mathrm{N}(0, 3), \quad \tau \sim \mathrm{HalfNormal}(3), \quad \rho \sim \mathrm{Beta}(1, 1)

The score of prompts like these is that of prompts from *fresh* clusters, :math:`E[\sigma(m+\tau z)]`, so its interval
is that of a sample of clusters, not of prompts. The :math:`p_i` are integrated out; the :math:`z_g` are sampled.

**Priors.** Those of ``logit_normal`` for the clusters, and a uniform correlation within a cluster.

**When to use it.** One question in several languages or phrasings, several questions to one text, several tasks of one
repository: treating such prompts as independent makes intervals too narrow (published standard errors grow up to
threefold when clusters are counted). **When not.** Where the groups are fixed, as subjects of a benchmark are: that is
``grouped``.

**Source.** Clustered standard errors of evaluations: Miller (2024), https://arxiv.org/abs/2411.00640; clustered
questions in a Bayesian model: Bowyer et al. (2025), https://arxiv.org/abs/2503.01747.
"""

import numpy as np

from bayeseval.likelihoods import beta_binomial_loglik
from bayeseval.prompts import BetaMixture

PRIOR = {"m": (0.0, 3.0), "tau": (3.0,), "rho": (1.0, 1.0)}

DATA = ("groups",)

FAMILY = "Betas in logit-normal clusters"

SENSITIVITY = {"tau": [(1.5,), (6.0,)], "rho": [(0.5, 1.0), (2.0, 2.0)]}

NUTS = {"target_accept": 0.95}

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
"""Gauss-Hermite rule for fresh clusters."""


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        arrays = {name: pm.Data(name, values) for name, values in data.groups.items()}
        counts = {name.removeprefix("group_"): values for name, values in arrays.items()}
        m = pm.Normal("m", *prior["m"])
        tau = pm.HalfNormal("tau", *prior["tau"])
        rho = pm.Beta("rho", *prior["rho"])
        size = len(data.groups["group_share"])
        if data.large_groups:  # the same model, in the coordinates in which NUTS moves best
            x = pm.Normal("logit_mu", m, tau, shape=size)
        else:
            x = m + tau * pm.Normal("z", 0, 1, shape=size)
        mu = pm.Deterministic("mu", pm.math.sigmoid(x))
        every = pt.ones_like(mu)
        loglik = beta_binomial_loglik(pt, mu, pm.math.sigmoid(-x), rho * every, (1 - rho) * every, counts)
        pm.Potential("counts", loglik.sum())
    return model


def prompt_distribution(draws):
    """Distribution of P(correct) over prompts of fresh clusters, for each draw, and the clusters seen."""
    m, tau, rho, seen = (draws[name] for name in ("m", "tau", "rho", "mu"))
    fresh = 1 / (1 + np.exp(-(m[:, None] + tau[:, None] * NODES)))
    weight = np.tile(np.append(WEIGHTS / WEIGHTS.sum(), np.zeros(seen.shape[1])), (m.size, 1))
    mu = np.concatenate([fresh, seen], axis=1)
    clusters = NODES.size + np.arange(seen.shape[1])
    return BetaMixture(
        weight, mu, np.repeat(rho[:, None], mu.shape[1], axis=1), component_of=clusters, keyed_by="cluster"
    )
