r"""Continuous: credits anywhere from 0 to 1, with no and full credit apart from what lies in between.

.. math::

    (n_{i0}, n_{i*}, n_{i1}) \mid \pi_i &\sim \mathrm{Multinomial}(k_i, \pi_i), \qquad
        \pi_i \sim \mathrm{Dirichlet}(\nu\phi), \quad \nu = (1-\rho)/\rho \\
    y_{ij} \mid m_i &\sim \mathrm{Beta}(m_i\kappa,\ (1-m_i)\kappa), \qquad \kappa = (1-\delta)/\delta
        \qquad \text{for credits in between} \\
    \mathrm{logit}\,m_i &\sim \mathrm{N}(a, b) \\
    \phi &\sim \mathrm{Dirichlet}(1, 1, 1), \quad \rho \sim \mathrm{Beta}(1, 1), \quad
        \delta \sim \mathrm{Beta}(1, 3), \quad a \sim \mathrm{N}(0, 1.5), \quad b \sim \mathrm{HalfNormal}(1.5)

A generation of prompt i has credit 0, a credit strictly in between, or credit 1, with probabilities :math:`\pi_{i0},
\pi_{i*}, \pi_{i1}`; in between it is Beta with mean :math:`m_i`. The prompt scores :math:`\pi_{i1} + \pi_{i*}m_i`. The
:math:`\pi_i` are integrated out in closed form, the :math:`m_i` by quadrature.

**Priors.** :math:`\phi` and :math:`\rho` as in the other models. :math:`\delta` is how much credits in between vary
within a prompt, relative to 0s and 1s of the same mean; its prior has mean 1/4 and little beyond 1/2, where most
"credits in between" would lie next to 0 or 1. N(0, 1.5) on a logit is nearly uniform on the probability, and
HalfNormal(1.5) lets prompts differ by a factor of about four in the odds, more when data say so. The mean credit of
prompts like these then has a prior mean of 0.5, and 5% and 95% at .14 and .86.

**When to use it.** Shares of unit tests passed, similarities, judges that give any number: credits without declared
levels. **When not.** Few levels that occur again and again: that is ``graded``; where a pile of equal credits lies in
between, no Beta describes it, and the check of the fit says so. How often a prompt gets full marks, and how good its
credits in between are, are independent here given the data.

**Source.** Beta regression by mean and precision: Ferrari & Cribari-Neto (2004),
https://doi.org/10.1080/0266476042000214501; inflated at 0 and 1: Ospina & Ferrari (2010),
https://doi.org/10.1007/s00362-008-0125-4.
"""

import numpy as np

from bayeseval.likelihoods import dirichlet_multinomial_loglik, interior_loglik
from bayeseval.prompts import ContinuousCredit

PRIOR = {"phi": (1.0, 1.0, 1.0), "rho": (1.0, 1.0), "delta": (1.0, 3.0), "a": (0.0, 1.5), "b": (1.5,)}

DATA = ("credits",)

FAMILY = "inflated Beta, logit-normal over prompts"

SENSITIVITY = {"rho": [(0.5, 1.0), (2.0, 2.0)], "delta": [(1.0, 1.0)], "b": [(0.75,), (3.0,)]}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        arrays = {name: pm.Data(name, values) for name, values in data.credits.items()}
        phi = pm.Dirichlet("phi", np.array(prior["phi"]))
        rho = pm.Beta("rho", *prior["rho"])
        delta = pm.Beta("delta", *prior["delta"])
        a = pm.Normal("a", *prior["a"])
        b = pm.HalfNormal("b", *prior["b"])
        between = [arrays[f"interior_{name}"] for name in ("credits", "log_credit", "log_rest", "z")]
        log_p = interior_loglik(pt, a, b, (1 - delta) / delta, *between)
        pm.Potential("kinds", dirichlet_multinomial_loglik(pt, phi, rho, 1 - rho, arrays))
        pm.Potential("between", (arrays["interior_prompts"] * log_p).sum())
    return model


def prompt_distribution(draws):
    """Distribution of credits over prompts, for each draw."""
    return ContinuousCredit(*(draws[name] for name in ("phi", "rho", "delta", "a", "b")))
