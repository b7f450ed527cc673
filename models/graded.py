r"""Graded: every generation gets one of a few levels of credit; every prompt has its own probabilities of them.

.. math::

    (n_{i1}, \dots, n_{iL}) \mid \pi_i &\sim \mathrm{Multinomial}(k_i, \pi_i) \\
    \pi_i &\sim \mathrm{Dirichlet}(\nu\phi), \qquad \nu = (1-\rho)/\rho \\
    \phi &\sim \mathrm{Dirichlet}(2/L, \dots, 2/L) \\
    \rho &\sim \mathrm{Beta}(1, 1)

Level c is worth the credit :math:`w_c`. A prompt scores :math:`\sum_c w_c\pi_{ic}`, and prompts like these score
:math:`\sum_c w_c\phi_c` on average; :math:`\rho` is the intraclass correlation of two generations of a prompt. The
:math:`\pi_i` are integrated out, so the cost does not grow with the number of prompts. With the two levels 0 and 1 this
is ``beta_binomial``.

**Priors.** Uniform on the intraclass correlation. The Dirichlet over levels has total weight 2, shared among them: for
two levels that is uniform, and for more the score keeps a wide prior (standard deviation 0.24 for three equally spaced
levels, 0.18 for eleven). With weight 1 on each of eleven levels, the prior would have the weight of eleven generations
that favour no level, and hold the score to 0.5 ± 0.09.

**When to use it.** Rubrics with a few marks, half points, a judge's scale: levels that are declared, with at most some
twenty of them. **When not.** Credits that may take any value: that is ``continuous``. One correlation serves all
levels, and levels know nothing of their order: 0.4 is as far from 0.5 as from 0. Where many levels are given next to
each other the check of a fit may say so, and the robust score is then the headline.

**Source.** The compound multinomial: Mosimann (1962), https://doi.org/10.1093/biomet/49.1-2.65; a prior whose total
weight does not grow with the number of cells: Perks (1947), Journal of the Institute of Actuaries 73, 285-334.
"""

import numpy as np

from bayeseval.likelihoods import dirichlet_multinomial_loglik
from bayeseval.prompts import GradedCredit

PRIOR = {"phi": (2.0,), "rho": (1.0, 1.0)}

DATA = ("levels",)

FAMILY = "Dirichlet over levels"

SENSITIVITY = {"rho": [(0.5, 1.0), (2.0, 2.0)]}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        arrays = {name: pm.Data(name, values) for name, values in data.levels.items()}
        size = len(data.levels["level_credit"])
        phi = pm.Dirichlet("phi", np.full(size, prior["phi"][0] / size))
        rho = pm.Beta("rho", *prior["rho"])
        level = pm.Deterministic("level", arrays["level_credit"])
        pm.Deterministic("mean", (level * phi).sum())
        pm.Potential("credits", dirichlet_multinomial_loglik(pt, phi, rho, 1 - rho, arrays))
    return model


def prompt_distribution(draws):
    """Distribution of the levels' probabilities over prompts, for each draw."""
    return GradedCredit(draws["phi"], draws["rho"], draws["level"][0])
