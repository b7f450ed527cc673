r"""Grouped: every subject or category has its own mean and spread, partially pooled; the score keeps their shares.

.. math::

    c_i \mid p_i &\sim \mathrm{Binomial}(k_i, p_i) \\
    p_i &\sim \mathrm{Beta}(\mu_g\nu_g,\ (1-\mu_g)\nu_g), \qquad \nu_g = (1-\rho_g)/\rho_g,\quad g = g(i) \\
    \mathrm{logit}\,\mu_g &\sim \mathrm{N}(m, \tau), \qquad \mathrm{logit}\,\rho_g \sim \mathrm{N}(r, \kappa) \\
    m &\sim \mathrm{N}(0, 1.5), \quad \tau \sim \mathrm{HalfNormal}(1), \quad
    r \sim \mathrm{N}(0, 1.5), \quad \kappa \sim \mathrm{HalfNormal}(1)

The score of prompts like these is post-stratified, :math:`\sum_g (n_g/n)\,\mu_g`: fresh prompts of the same subjects in
the same shares. The :math:`p_i` are integrated out.

**Priors.** N(0, 1.5) on a logit is nearly uniform on the probability. HalfNormal(1) lets the subjects differ by a
factor of e in the odds, more when data say so.

**When to use it.** Benchmarks made of subjects, difficulty levels or tasks, when their scores are wanted, or when
prompts of one subject are alike. Small groups borrow strength from the others. **When not.** Where the groups were
sampled themselves and the claim is about fresh ones (one question in several languages, several questions to one text):
that is ``clustered``.

**Source.** Partial pooling and post-stratification: Gelman & Hill (2007), chapters 12 and 14.
"""

import numpy as np

from bayeseval.likelihoods import beta_binomial_loglik
from bayeseval.prompts import BetaMixture

PRIOR = {"m": (0.0, 1.5), "tau": (1.0,), "r": (0.0, 1.5), "kappa": (1.0,)}

DATA = ("groups",)

FAMILY = "a Beta for each group"

SENSITIVITY = {"tau": [(0.5,), (2.0,)], "kappa": [(0.5,), (2.0,)]}

NUTS = {"target_accept": 0.95}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        arrays = {name: pm.Data(name, values) for name, values in data.groups.items()}
        counts = {name.removeprefix("group_"): values for name, values in arrays.items()}
        size = len(data.groups["group_share"])
        m, r = pm.Normal("m", *prior["m"]), pm.Normal("r", *prior["r"])
        tau, kappa = pm.HalfNormal("tau", *prior["tau"]), pm.HalfNormal("kappa", *prior["kappa"])
        if data.large_groups:  # the same model, in the coordinates in which NUTS moves best
            x, y = pm.Normal("logit_mu", m, tau, shape=size), pm.Normal("logit_rho", r, kappa, shape=size)
        else:
            x = m + tau * pm.Normal("z_mu", 0, 1, shape=size)
            y = r + kappa * pm.Normal("z_rho", 0, 1, shape=size)
        mu, rho = pm.Deterministic("mu", pm.math.sigmoid(x)), pm.Deterministic("rho", pm.math.sigmoid(y))
        pm.Deterministic("share", arrays["group_share"])
        pm.Deterministic("mean", (arrays["group_share"] * mu).sum())
        not_mu, not_rho = pm.math.sigmoid(-x), pm.math.sigmoid(-y)
        pm.Potential("counts", beta_binomial_loglik(pt, mu, not_mu, rho, not_rho, counts).sum())
    return model


def prompt_distribution(draws):
    """Distribution of P(correct) over prompts: the groups in their shares, for each draw."""
    groups = np.arange(draws["mu"].shape[1])
    return BetaMixture(draws["share"], draws["mu"], draws["rho"], component_of=groups, keyed_by="group")
