r"""Zero-one-inflated Beta: some prompts are never solved, some always, and the others follow one Beta distribution.

.. math::

    c_i \mid p_i &\sim \mathrm{Binomial}(k_i, p_i) \\
    p_i &\sim \pi_0\,\delta_0 + \pi_1\,\delta_1 + (1-\pi_0-\pi_1)\,\mathrm{Beta}(\mu\nu,\ (1-\mu)\nu),
        \qquad \nu = (1-\rho)/\rho \\
    (\pi_0, \pi_1, 1-\pi_0-\pi_1) &\sim \mathrm{Dirichlet}(1/2, 1/2, 4) \\
    \mu &\sim \mathrm{Beta}(1, 1), \qquad \rho \sim \mathrm{Beta}(1, 1)

The mean over prompts is :math:`\pi_1 + (1-\pi_0-\pi_1)\mu`. The :math:`p_i` are integrated out.

**Priors.** Uniform on the mean and the correlation of the Beta part, as in ``beta_binomial``. The Dirichlet expects a
tenth of the prompts at each end and puts much of its mass near none: inflation has to be earned by the data.

**When to use it.** Broken prompts that nobody solves, or prompts so easy that nothing ever fails, in a benchmark with
many generations to each: only they tell :math:`p_i = 0` from a small :math:`p_i`. pass@k then levels off at
:math:`1-\pi_0` instead of creeping to 1. **When not.** Few generations: a small :math:`p_i` looks like none, the prior
shares the prompts out, and pass@k beyond the generations that were run is biased low. On multiple-choice benchmarks
try ``beta_mixture`` first.

**Source.** Zero-inflation of pass@k fits: Kazdan et al. (2025), https://arxiv.org/abs/2510.05197; the inflated Beta
distribution: Ospina & Ferrari (2010), https://doi.org/10.1007/s00362-008-0125-4.
"""

import numpy as np

from bayeseval.likelihoods import beta_binomial_cells
from bayeseval.prompts import BetaMixture

PRIOR = {"share": (0.5, 0.5, 4.0), "mu": (1.0, 1.0), "rho": (1.0, 1.0)}

DATA = ("cells",)

FAMILY = "Beta with point masses at 0 and 1"

SENSITIVITY = {"rho": [(0.5, 1.0), (2.0, 2.0)], "share": [(1.0, 1.0, 1.0)]}

NUTS = {"target_accept": 0.95}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        correct, generations, prompts = (pm.Data(name, values) for name, values in data.cells.items())
        share = pm.Dirichlet("share", np.array(prior["share"]))
        mu = pm.Beta("mu", *prior["mu"])
        rho = pm.Beta("rho", *prior["rho"])
        pm.Deterministic("mean", share[1] + share[2] * mu)
        others = pt.log(share[2]) + beta_binomial_cells(pt, mu, 1 - mu, rho, 1 - rho, correct, generations, data.head)
        never = pt.switch(correct > 0, -np.inf, pt.log(share[0]))
        always = pt.switch(correct < generations, -np.inf, pt.log(share[1]))
        log_p = pt.logaddexp(pt.logaddexp(others, never), always)
        pm.Potential("counts", (prompts * log_p).sum())
    return model


def prompt_distribution(draws):
    """Distribution of P(correct) over prompts, for each draw."""
    share, mu, rho = draws["share"], draws["mu"][:, None], draws["rho"][:, None]
    return BetaMixture(share[:, 2:], mu, rho, atom=np.array([0.0, 1.0]), atom_weight=share[:, :2])
