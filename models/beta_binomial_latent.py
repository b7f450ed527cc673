r"""Beta-binomial with every P(correct) sampled: the textbook form, for teaching and as a check of the collapsed one.

.. math::

    c_i \mid p_i &\sim \mathrm{Binomial}(k_i, p_i) \\
    p_i &\sim \mathrm{Beta}(\mu\nu,\ (1-\mu)\nu), \qquad \nu = (1-\rho)/\rho \\
    \mu &\sim \mathrm{Beta}(1, 1), \qquad \rho \sim \mathrm{Beta}(1, 1)

The same posterior as that of ``beta_binomial``, found by sampling all :math:`p_i` beside :math:`\mu` and :math:`\rho`.

**Priors.** Those of ``beta_binomial``, for the same reasons.

**When to use it.** To read a hierarchical model as it stands in textbooks, to change the likelihood of single prompts
in a copy, and to see what integrating the :math:`p_i` out is worth. **When not.** For results: NUTS moves in as many
dimensions as there are prompts, so that 5,000 prompts take a minute instead of a tenth of a second, and where
:math:`\alpha` or :math:`\beta` is small it may diverge.

**Source.** Gelman et al., Bayesian Data Analysis (2013), section 5.3 (rat tumours), in the parametrisation of
``beta_binomial``.
"""

from bayeseval.prompts import Explicit, beta

PRIOR = {"mu": (1.0, 1.0), "rho": (1.0, 1.0)}

DATA = ("prompts",)

FAMILY = "Beta"

SENSITIVITY = {"rho": [(0.5, 1.0), (2.0, 2.0)]}

NUTS = {"target_accept": 0.95}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        correct, generations = (pm.Data(name, values) for name, values in data.prompts.items())
        mu = pm.Beta("mu", *prior["mu"])
        rho = pm.Beta("rho", *prior["rho"])
        pm.Deterministic("sigma", pt.sqrt(mu * (1 - mu) * rho))
        nu = (1 - rho) / rho
        p = pm.Beta("p", mu * nu, (1 - mu) * nu, shape=len(data.prompts["prompt_correct"]))
        pm.Potential("counts", (correct * pt.log(p) + (generations - correct) * pt.log1p(-p)).sum())
    return model


def prompt_distribution(draws):
    """P(correct) of every prompt as drawn, and the Beta that fresh prompts come from."""
    return Explicit(draws["p"], beta(draws["mu"], draws["rho"]))
