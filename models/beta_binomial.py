r"""Beta-binomial: every prompt has its own probability of a correct answer, drawn from one Beta distribution.

.. math::

    c_i \mid p_i &\sim \mathrm{Binomial}(k_i, p_i) \\
    p_i &\sim \mathrm{Beta}(\mu\nu,\ (1-\mu)\nu), \qquad \nu = (1-\rho)/\rho \\
    \mu &\sim \mathrm{Beta}(1, 1) \\
    \rho &\sim \mathrm{Beta}(1, 1)

Prompt i is answered :math:`k_i` times and :math:`c_i` answers are correct. :math:`\mu` is the mean of
:math:`p_i` over prompts and :math:`\sigma^2 = \mu(1-\mu)\rho` its variance; :math:`\rho` is the intraclass
correlation of two answers to one prompt. The :math:`p_i` are integrated out, so the cost does not grow with the
number of prompts.

**Priors.** Uniform on the mean and on the intraclass correlation. :math:`\rho` rather than :math:`\sigma`, because its
range does not depend on :math:`\mu`, it treats correct and wrong alike, and real benchmarks fill it (0.24 to 0.85).
For rare successes take ``prior={"mu": (0.5, 0.5)}``.

**When to use it.** The default: few prompts, few generations, or a benchmark estimand. **When not.** A benchmark that
mixes prompts which are always solved, never solved and in between: the Beta then has the wrong shape, and :math:`\mu`
is off by more than its interval says. The predictive check and ``z_shift`` of every fit tell.

**Source.** The hierarchical model of "Beyond the Singular" (arXiv:2502.08943); the parametrisation by the intraclass
correlation is that of beta-binomial regression in toxicology, Crowder (1978), https://doi.org/10.2307/2346223.
"""

from bayeseval.likelihoods import beta_binomial_loglik
from bayeseval.prompts import beta

PRIOR = {"mu": (1.0, 1.0), "rho": (1.0, 1.0)}

DATA = ("survival",)

FAMILY = "Beta"

SENSITIVITY = {"rho": [(0.5, 1.0), (2.0, 2.0)]}

QUADRATURE = True
"""p_i ~ Beta(mu, rho) with independent Beta priors on both: the exact engine applies."""


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        counts = {name: pm.Data(name, values) for name, values in data.survival.items()}
        mu = pm.Beta("mu", *prior["mu"])
        rho = pm.Beta("rho", *prior["rho"])
        pm.Deterministic("sigma", pt.sqrt(mu * (1 - mu) * rho))
        pm.Potential("counts", beta_binomial_loglik(pt, mu, 1 - mu, rho, 1 - rho, counts))
    return model


def prompt_distribution(draws):
    """Distribution of P(correct) over prompts, for each draw."""
    return beta(draws["mu"], draws["rho"])
