r"""Template: one line that says what is special about the model; it is the title in ``be.models()``.

.. math::

    c_i \mid p_i &\sim \mathrm{Binomial}(k_i, p_i) \\
    p_i &\sim \mathrm{Beta}(\mu\nu,\ (1-\mu)\nu), \qquad \nu = (1-\rho)/\rho \\
    \mu &\sim \mathrm{Beta}(2, 2) \\
    \rho &\sim \mathrm{Beta}(1, 3)

The model in the field's notation: the likelihood, how P(correct) spreads over prompts, the priors. Prompt i is answered
:math:`k_i` times and :math:`c_i` answers are correct. Say what is integrated out.

**Priors.** Each with its reason. Here: means near 0 or 1 are less likely than others, and answers to one prompt are
less alike than in most benchmarks (a mean correlation of a quarter).

**When to use it.** The data and the question for which it is better than the default. **When not.** Where it fails, and
what to take then.

**Source.** The paper that the model comes from, with its DOI or arXiv number.
"""

# How to use this file: be.copy_model("_template", "my_model.py"), change the copy, be.check_model("my_model.py"), and
# be.fit(counts, model="my_model.py"). It is a whole model as it stands. "Write your own model" in the documentation
# goes through one step by step.

from bayeseval.prompts import beta

# PRIOR, needed. Names of priors and their numbers, a tuple each, which users change by name: prior={"rho": (1, 1)}.
# The names are yours; build() gets the whole dictionary.
PRIOR = {"mu": (2.0, 2.0), "rho": (1.0, 3.0)}

# DATA, optional. The arrays that the model takes, a tuple of some of
#   "cells"     unique (correct, generations) pairs and the number of prompts that share each: for most models;
#   "survival"  survival counts, for bayeseval.likelihoods.beta_binomial_loglik alone: as fast at any number of cells;
#   "groups"    survival counts of every group (subject, category, cluster) and its share of the prompts;
#   "runs"      correct answers of each run, where generation j of every prompt was made in run j;
#   "prompts"   every prompt by itself, for models that do not integrate P(correct) out: slow for many prompts;
# or, for credits between right and wrong (see graded.py, continuous.py), "levels" or "credits", never with the others.
# Without it: ("survival", "cells").
DATA = ("cells",)

# FAMILY, optional. The shape of P(correct) over prompts in a few words. Without it: the name of the file.
FAMILY = "Beta"

# SENSITIVITY, optional. Other priors that are worth trying, for be.prior_sensitivity. Without it, a prior named "rho"
# with two numbers is tried under Beta(1/2, 1) and Beta(2, 2).
SENSITIVITY = {"rho": [(1.0, 1.0), (2.0, 2.0)], "mu": [(1.0, 1.0)]}

# NUTS, optional. Settings that suit the model better than the general ones (target_accept 0.9, tune 1000), if it is
# hard to sample: divergences ask for a target_accept of 0.95 or 0.99.
NUTS = {"target_accept": 0.9}

# QUADRATURE = True, optional, only where P(correct) follows one Beta with mean "mu" and correlation "rho" and both have
# Beta priors under these names, as here: the exact engine then applies, and checks every fit. be.check_model compares
# the densities. Left out here, because few changes of this file keep it true.


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm  # inside, so that listing models does not load PyMC

    with pm.Model() as model:
        # Data enter through pm.Data under their own names: the program is then compiled once for many data sets.
        # Arrays are padded, with 0 prompts in cells of 0 correct of 0 generations: the likelihood is a weighted sum,
        # and must be finite there.
        cells = {name: pm.Data(name, values) for name, values in data.cells.items()}
        mu = pm.Beta("mu", *prior["mu"])
        rho = pm.Beta("rho", *prior["rho"])
        # What is of interest besides the parameters themselves is kept as a deterministic quantity.
        pm.Deterministic("sigma", pm.math.sqrt(mu * (1 - mu) * rho))
        nu = (1 - rho) / rho
        counts = pm.BetaBinomial.dist(alpha=mu * nu, beta=(1 - mu) * nu, n=cells["cell_generations"])
        log_p = pm.logp(counts, cells["cell_correct"])
        pm.Potential("counts", pm.math.sum(cells["cell_prompts"] * log_p))
    return model


def prompt_distribution(draws):
    """Distribution of P(correct) over prompts, for each draw."""
    # draws: names of the model's variables and deterministic quantities, each an array (draw, ...). Return one of
    #   beta(mu, rho)                             one Beta, of arrays (draw,);
    #   BetaMixture(weight, mu, rho, ...)         Betas and point masses, of arrays (draw, component); with component_of
    #                                             and keyed_by="group" or "cluster" where the component of a prompt is
    #                                             known;
    #   LogitNormal(m, s)                         the logistic of a normal variable, of arrays (draw,);
    #   Explicit(p, population)                   every P(correct) as drawn (draw, prompt), and where fresh prompts come
    #                                             from,
    # all of bayeseval.prompts. Every score follows from it.
    return beta(draws["mu"], draws["rho"])
