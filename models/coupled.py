r"""Coupled: two systems with coupled generations; each prompt has its own probabilities of the four joint outcomes.

.. math::

    (n_{11}, n_{10}, n_{01}, n_{00})_i \mid \pi_i &\sim \mathrm{Multinomial}(k_i, \pi_i) \\
    \pi_i &\sim \mathrm{Dirichlet}(\nu\phi), \qquad \rho = 1/(1+\nu) \\
    \phi &\sim \mathrm{Dirichlet}(1, 1, 1, 1) \\
    \rho &\sim \mathrm{Beta}(1, 1)

Generation j of both systems was made with the same random numbers, so pairs of generations are counted: both correct,
only A, only B, neither. The difference of prompts like these is :math:`\Delta = \phi_{10} - \phi_{01}`, that of these
prompts the mean of :math:`\pi_{i,10} - \pi_{i,01}`, and what coupling gains is the covariance within prompts,
:math:`\kappa = E[\pi_{11} - p_Ap_B] = (1-\rho)(\phi_{11} - \phi_A\phi_B)`. The :math:`\pi_i` are integrated out by
products that hold for every :math:`\rho` from 0 to 1, so the cost does not grow with the number of prompts.

**Priors.** Uniform over all tables, and on the intraclass correlation. With one generation to a prompt the posterior
of :math:`\phi` is the Dirichlet of one table, whatever :math:`\rho`.

**When to use it.** The default for coupled generations: fast, and without a shape to choose for either system.
**When not.** Independent generations, of which no two belong together: ``paired``. One :math:`\rho` serves both systems
and fixes how their prompts correlate; where it fails its check, ``coupled_plackett`` has a spread for each system, and
the robust difference is the headline meanwhile.

**Source.** The compound multinomial: Mosimann (1962), https://doi.org/10.1093/biomet/49.1-2.65; coupled generations:
Corvelo Benz et al. (2025), https://arxiv.org/abs/2502.01754.
"""

from bayeseval.likelihoods import dirichlet_multinomial_loglik
from bayeseval.prompts import DirichletPairs

PRIOR = {"phi": (1.0, 1.0, 1.0, 1.0), "rho": (1.0, 1.0)}

DATA = ("kinds",)

FAMILY = "Dirichlet over joint outcomes"

SENSITIVITY = {"rho": [(0.5, 1.0), (2.0, 2.0)], "phi": [(0.5, 0.5, 0.5, 0.5)]}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        arrays = {name: pm.Data(name, values) for name, values in data.kinds_block.items()}
        phi = pm.Dirichlet("phi", prior["phi"])
        rho = pm.Beta("rho", *prior["rho"])
        pm.Deterministic("difference", phi[1] - phi[2])
        pm.Potential("tables", dirichlet_multinomial_loglik(pt, phi, rho, 1 - rho, arrays))
    return model


def prompt_distribution(draws):
    """Joint distribution of the four probabilities over prompts, for each draw."""
    return DirichletPairs(draws["phi"], draws["rho"])
