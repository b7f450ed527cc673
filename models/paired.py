r"""Paired: two systems on the same prompts, with independent generations and correlated normal log odds.

.. math::

    c_{iA} \mid p_{iA} &\sim \mathrm{Binomial}(k_{iA}, p_{iA}), \qquad
        c_{iB} \mid p_{iB} \sim \mathrm{Binomial}(k_{iB}, p_{iB}) \\
    (\mathrm{logit}\,p_{iA}, \mathrm{logit}\,p_{iB}) &\sim \mathrm{N}_2(m, S), \qquad
        S = \begin{pmatrix} s_A^2 & r s_A s_B \\ r s_A s_B & s_B^2 \end{pmatrix} \\
    m_A, m_B &\sim \mathrm{N}(0, 3), \qquad s_A, s_B \sim \mathrm{HalfNormal}(3), \qquad r \sim \mathrm{U}(-1, 1)

A prompt that is hard for one system is mostly hard for the other: that is what :math:`r` says, and why a difference on
shared prompts is known better than from two separate fits. The logits are integrated out by quadrature around the mode
of each distinct (correct, generations) of both systems, so the cost does not grow with the number of prompts.

**Priors.** Those of ``logit_normal`` for each system, under which the mean of each over prompts is nearly uniform; any
correlation is as probable as any other.

**When to use it.** Two systems, the same prompts, and generations that share nothing: other seeds, or other hardware.
Numbers of generations may differ, between systems and between prompts. **When not.** Generations made with the same
random numbers, which are to be paired one by one: ``coupled`` or ``coupled_plackett``. Prompts that are never or always
solved, as in multiple choice: of those it has too few, the check says so, and the robust difference is the headline.

**Source.** Bivariate logistic-normal: Coull & Agresti (2000), https://doi.org/10.1111/j.0006-341X.2000.00073.x.
"""

from bayeseval.likelihoods import pair_normal_cells
from bayeseval.prompts import LogitNormalPairs

PRIOR = {"m": (0.0, 3.0), "s": (3.0,), "r": (-1.0, 1.0)}

DATA = ("pairs",)

FAMILY = "bivariate logit-normal"

NUTS = {"tune": 500}

SENSITIVITY = {"s": [(1.5,), (6.0,)], "r": [(0.0, 1.0)]}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        *cells, prompts = (pm.Data(name, values) for name, values in data.pairs_block.items())
        m = pm.Normal("m", *prior["m"], shape=2)
        s = pm.HalfNormal("s", *prior["s"], shape=2)
        r = pm.Uniform("r", *prior["r"])
        log_p = pair_normal_cells(pt, (m[0], s[0]), (m[1], s[1]), r, cells)
        pm.Potential("counts", (prompts * log_p).sum())
    return model


def prompt_distribution(draws):
    """Joint distribution of P(correct) of both systems over prompts, for each draw."""
    return LogitNormalPairs(draws["m"], draws["s"], draws["r"])
