r"""Run effects: generation j of every prompt was made in one run, and whole runs may be better or worse than others.

.. math::

    y_{ij} \mid z_i, s_j &\sim \mathrm{Bernoulli}(\sigma(m + s z_i + s_j)) \\
    z_i &\sim \mathrm{N}(0, 1), \qquad s_j = \tau \varepsilon_j,\quad \varepsilon_j \sim \mathrm{N}(0, 1) \\
    m &\sim \mathrm{N}(0, 3), \qquad s \sim \mathrm{HalfNormal}(3), \qquad \tau \sim \mathrm{HalfNormal}(1/2)

The :math:`z_i` are integrated out by quadrature. As in Rasch's model the correct answers of each prompt and of each run
are all that the likelihood needs, so the cost does not grow with the number of prompts. P(correct) of a prompt is that
of a generation in a fresh run, and scores are those of fresh runs: a shift that whole runs share adds about
:math:`\omega^2\tau^2/R` to the variance of the mean over R runs, with :math:`\omega = E[p(1-p)]`, and no number of
prompts removes it.

**Priors.** Those of ``logit_normal``; runs that differ by more than half a unit of log odds would be a surprise.

**When to use it.** When runs differ in something that all prompts share: a seed, a server, a day, a version of the
grader. ``bayeseval.estimators.variance.run_effect`` is the chi-squared test of it. In public data with independent
seeds the test finds nothing, and a published range of 18.6 points over 50 runs cannot be explained without such an
effect. **When not.** If generation j has no meaning across prompts, or some prompts lack a run.

**Source.** Sufficiency of margins: Rasch (1960), Andersen (1970), https://doi.org/10.1111/j.2517-6161.1970.tb00842.x.
"""

from bayeseval.likelihoods import logit_normal_cells
from bayeseval.prompts import LogitNormal

PRIOR = {"m": (0.0, 3.0), "s": (3.0,), "tau": (0.5,)}

DATA = ("cells", "runs")

FAMILY = "logit-normal"

SENSITIVITY = {"tau": [(0.2,), (1.0,)]}

NUTS = {"target_accept": 0.95}


def build(data, prior=PRIOR):
    """State the model in PyMC."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        correct, generations, prompts = (pm.Data(name, values) for name, values in data.cells.items())
        totals = pm.Data("run_total", data.runs["run_total"])
        m = pm.Normal("m", *prior["m"])
        s = pm.HalfNormal("s", *prior["s"])
        tau = pm.HalfNormal("tau", *prior["tau"])
        shift = pm.Deterministic("shift", tau * pm.Normal("z_run", 0, 1, shape=len(data.runs["run_total"])))
        log_p = logit_normal_cells(pt, m, s, correct, generations, shift)
        pm.Potential("counts", (prompts * log_p).sum() + (totals * shift).sum())
    return model


def prompt_distribution(draws):
    """Distribution of P(correct) over prompts in a fresh run, for each draw."""
    return LogitNormal(draws["m"], draws["s"], draws["shift"], draws["tau"])
