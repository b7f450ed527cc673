r"""Logit-normal: the log odds of a correct answer are normally distributed over prompts.

.. math::

    c_i \mid p_i &\sim \mathrm{Binomial}(k_i, p_i) \\
    \mathrm{logit}\,p_i &= m + s z_i, \qquad z_i \sim \mathrm{N}(0, 1) \\
    m &\sim \mathrm{N}(0, 3), \qquad s \sim \mathrm{HalfNormal}(3)

The :math:`z_i` are integrated out by quadrature around the mode of each (correct, generations) pair, so the cost does
not grow with the number of prompts.

**Priors.** Together they make the mean over prompts nearly uniform (5% and 95% at .03 and .97) and let the intraclass
correlation reach from 0 to .75, where real benchmarks lie.

**When to use it.** As the counterpart of the Beta wherever pass@k is taken beyond the generations that were run: its
tail near 0 and 1 is lighter, so hopeless prompts are rarer and pass@k rises faster. On GSM8K it came closest to pass@20
from 4 generations. It is also the random intercept of a logistic mixed model, in which effects of runs or features add
up. **When not.** Prompts that are never or always solved, as in multiple choice: it has too few of them.

**Source.** Logistic-normal binomial: Williams (1982), https://doi.org/10.2307/2347977; quadrature around the mode: Liu
& Pierce (1994), https://doi.org/10.1093/biomet/81.3.624.
"""

from bayeseval.likelihoods import logit_normal_cells
from bayeseval.prompts import LogitNormal

PRIOR = {"m": (0.0, 3.0), "s": (3.0,)}

DATA = ("cells",)

FAMILY = "logit-normal"

SENSITIVITY = {"s": [(1.5,), (6.0,)], "m": [(0.0, 1.5)]}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        correct, generations, prompts = (pm.Data(name, values) for name, values in data.cells.items())
        m = pm.Normal("m", *prior["m"])
        s = pm.HalfNormal("s", *prior["s"])
        pm.Potential("counts", (prompts * logit_normal_cells(pt, m, s, correct, generations)).sum())
    return model


def prompt_distribution(draws):
    """Distribution of P(correct) over prompts, for each draw."""
    return LogitNormal(draws["m"], draws["s"])
