r"""Beta-binomial with every P(correct) sampled: the textbook form, for teaching and as a check of the collapsed one.

.. math::

    c_i \mid p_i &\sim \mathrm{Binomial}(k_i, p_i) \\
    p_i &\sim \mathrm{Beta}(\mu\nu,\ (1-\mu)\nu), \qquad \nu = (1-\rho)/\rho \\
    \mu &\sim \mathrm{Beta}(1, 1), \qquad \rho \sim \mathrm{Beta}(1, 1)

The same posterior as that of ``beta_binomial``, found by sampling all :math:`p_i` beside :math:`\mu` and :math:`\rho`.

**Priors.** Those of ``beta_binomial``, for the same reasons.

**When to use it.** To read a hierarchical model as it stands in textbooks, to change the likelihood of single prompts
in a copy, and to see what integrating the :math:`p_i` out is worth. **When not.** For results: NUTS moves in as many
dimensions as there are prompts, so that 5,000 prompts take a minute instead of a tenth of a second.

**Coordinates.** Sampled as it stands, the model is a funnel: where :math:`\alpha = \mu\nu` or
:math:`\beta = (1-\mu)\nu` is small, :math:`p_i` of a prompt that was never (or always) solved lies anywhere over many
powers of ten, and NUTS does not get there. So what is sampled is :math:`z_i` with

.. math:: \mathrm{logit}\,p_i = \log\frac{a_i + 1/2}{b_i + 1/2} + z_i\sqrt{\tfrac{1}{a_i + 1/2} + \tfrac{1}{b_i + 1/2}}
    + \frac{\log \Lambda(z_i)}{a_i} - \frac{\log \Lambda(-z_i)}{b_i},

where :math:`a_i = \alpha + c_i`, :math:`b_i = \beta + k_i - c_i` and :math:`\Lambda` is the logistic function. Given
:math:`\mu` and :math:`\rho`, :math:`p_i \sim \mathrm{Beta}(a_i, b_i)`, and then :math:`z_i` is near a standard
distribution whatever :math:`a_i` and :math:`b_i`. It need not be exact: the density carries the Jacobian.

**Source.** Gelman et al., Bayesian Data Analysis (2013), section 5.3 (rat tumours), in the parametrisation of
``beta_binomial``.
"""

from bayeseval.prompts import Explicit, beta

PRIOR = {"mu": (1.0, 1.0), "rho": (1.0, 1.0)}

DATA = ("prompts",)

FAMILY = "Beta"

SENSITIVITY = {"rho": [(0.5, 1.0), (2.0, 2.0)]}


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
        prior_a, prior_b = mu * nu, (1 - mu) * nu
        a, b = prior_a + correct, prior_b + generations - correct
        scale = pt.sqrt(1 / (a + 0.5) + 1 / (b + 0.5))
        z = pm.Logistic("z", 0, 1, shape=len(data.prompts["prompt_correct"]))
        logit = pt.log((a + 0.5) / (b + 0.5)) + scale * z - pt.softplus(-z) / a + pt.softplus(z) / b
        jacobian = pt.log(scale + pt.sigmoid(-z) / a + pt.sigmoid(z) / b)
        stand_in = -pt.softplus(z) - pt.softplus(-z)  # the density that z has been given, taken back
        pm.Deterministic("p", pt.sigmoid(logit))
        log_beta = pt.gammaln(prior_a) + pt.gammaln(prior_b) - pt.gammaln(nu)
        log_density = -a * pt.softplus(-logit) - b * pt.softplus(logit) - log_beta + jacobian
        pm.Potential("prompts", (log_density - stand_in).sum())
    return model


def prompt_distribution(draws):
    """P(correct) of every prompt as drawn, and the Beta that fresh prompts come from."""
    return Explicit(draws["p"], beta(draws["mu"], draws["rho"]))
