r"""Mixture of two Betas: hard prompts and easy ones, each kind with its own mean and spread.

.. math::

    c_i \mid p_i &\sim \mathrm{Binomial}(k_i, p_i) \\
    p_i &\sim \omega_1\,\mathrm{Beta}(\mu_1\nu_1, (1-\mu_1)\nu_1) + \omega_2\,\mathrm{Beta}(\mu_2\nu_2, (1-\mu_2)\nu_2),
        \qquad \nu_h = (1-\rho_h)/\rho_h \\
    (\omega_1, \omega_2) &\sim \mathrm{Dirichlet}(2, 2) \\
    (\mu_1,\ \mu_2-\mu_1,\ 1-\mu_2) &\sim \mathrm{Dirichlet}(1, 1, 1) \\
    \rho_h &\sim \mathrm{Beta}(1, 1)

The three gaps make :math:`\mu_1 < \mu_2` two uniform numbers in order, so the components cannot change places. The mean
over prompts is :math:`\omega_1\mu_1 + \omega_2\mu_2`. The :math:`p_i` are integrated out.

**Priors.** Uniform means (in order) and correlations; the weights lean away from an empty component.

**When to use it.** Counts that one Beta does not produce, with 200 prompts or more and five generations or more to
each. On a public multiple-choice run (MMLU, 14,042 prompts) it predicts left-out prompts better than one Beta by 147
nats, and on GSM8K its predictive check holds where that of one Beta fails in most runs. **When not.** Fewer than five
generations: k generations show k moments of the distribution, and two components have five parameters, so the prior
decides; the fit is then no more than a look at sensitivity.

**Source.** Finite mixtures of beta-binomials: Brooks, Morgan, Ridout & Pack (1997), Finite mixture models for
proportions, Biometrics 53, 1097-1115.
"""

import numpy as np

from bayeseval.likelihoods import beta_binomial_cells
from bayeseval.prompts import BetaMixture

PRIOR = {"weight": (2.0, 2.0), "gap": (1.0, 1.0, 1.0), "rho": (1.0, 1.0)}

DATA = ("cells",)

FAMILY = "two Betas"

SENSITIVITY = {"rho": [(0.5, 1.0), (2.0, 2.0)], "weight": [(1.0, 1.0)]}

NUTS = {"target_accept": 0.95}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        correct, generations, prompts = (pm.Data(name, values) for name, values in data.cells.items())
        weight = pm.Dirichlet("weight", np.array(prior["weight"]))
        gap = pm.Dirichlet("gap", np.array(prior["gap"]))
        rho = pm.Beta("rho", *prior["rho"], shape=2)
        mu = pm.Deterministic("mu", pt.stack([gap[0], gap[0] + gap[1]]))
        pm.Deterministic("mean", (weight * mu).sum())
        not_mu = pt.stack([gap[1] + gap[2], gap[2]])
        parts = beta_binomial_cells(pt, mu, not_mu, rho, 1 - rho, correct, generations, data.head)
        log_p = pt.logsumexp(pt.log(weight)[:, None] + parts, axis=0)
        pm.Potential("counts", (prompts * log_p).sum())
    return model


def prompt_distribution(draws):
    """Distribution of P(correct) over prompts, for each draw."""
    return BetaMixture(draws["weight"], np.clip(draws["mu"], 0, 1), draws["rho"])
