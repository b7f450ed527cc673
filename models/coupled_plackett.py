r"""Coupled, Plackett: two systems with coupled generations; normal log odds, and one odds ratio within all prompts.

.. math::

    (n_{11}, n_{10}, n_{01}, n_{00})_i \mid \pi_i &\sim \mathrm{Multinomial}(k_i, \pi_i) \\
    \pi_{i,11} + \pi_{i,10} = p_{iA}, \quad \pi_{i,11} + \pi_{i,01} &= p_{iB}, \quad
        \frac{\pi_{i,11}\pi_{i,00}}{\pi_{i,10}\pi_{i,01}} = \psi \\
    (\mathrm{logit}\,p_{iA}, \mathrm{logit}\,p_{iB}) &\sim \mathrm{N}_2(m, S), \qquad
        S = \begin{pmatrix} s_A^2 & r s_A s_B \\ r s_A s_B & s_B^2 \end{pmatrix} \\
    m_A, m_B &\sim \mathrm{N}(0, 3), \quad s_A, s_B \sim \mathrm{HalfNormal}(3), \quad r \sim \mathrm{U}(-1, 1), \quad
        \log\psi \sim \mathrm{N}(0, 3)

Of each prompt the data are how often both systems, only A, only B, and neither were correct. Two things make systems
agree, and they are kept apart: prompts are hard for both (:math:`r`), and generations share their noise (:math:`\psi`,
which is 1 without coupling: the model is then ``paired``). The logits are integrated out by quadrature around the mode
of each distinct table, so the cost does not grow with the number of prompts.

**Priors.** Those of ``paired``; the odds ratio is most often between 1/400 and 400, and more or less than 1 with equal
probability.

**When to use it.** Coupled generations of systems whose spread over prompts differs, or whose prompts correlate more or
less than ``coupled`` allows, which has a single correlation for everything: check that one first, it is much faster.
**When not.** One generation to a prompt: :math:`r` and :math:`\psi` cannot be told apart, and their priors decide.

**Source.** The table with given margins and odds ratio: Plackett (1965),
https://doi.org/10.1080/01621459.1965.10480807.
"""

from bayeseval.likelihoods import pair_normal_cells
from bayeseval.prompts import LogitNormalPairs

PRIOR = {"m": (0.0, 3.0), "s": (3.0,), "r": (-1.0, 1.0), "log_psi": (0.0, 3.0)}

DATA = ("tables",)

FAMILY = "bivariate logit-normal with an odds ratio"

NUTS = {"tune": 500}

SENSITIVITY = {"s": [(1.5,), (6.0,)], "r": [(0.0, 1.0)], "log_psi": [(0.0, 1.5)]}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        *tables, prompts = (pm.Data(name, values) for name, values in data.tables_block.items())
        m = pm.Normal("m", *prior["m"], shape=2)
        s = pm.HalfNormal("s", *prior["s"], shape=2)
        r = pm.Uniform("r", *prior["r"])
        log_psi = pm.Normal("log_psi", *prior["log_psi"])
        log_p = pair_normal_cells(pt, (m[0], s[0]), (m[1], s[1]), r, tables, log_psi)
        pm.Potential("tables", (prompts * log_p).sum())
    return model


def prompt_distribution(draws):
    """Joint distribution of P(correct) of both systems over prompts, for each draw."""
    return LogitNormalPairs(draws["m"], draws["s"], draws["r"], draws["log_psi"])
