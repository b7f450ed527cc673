"""Likelihoods of counts with P(correct) integrated out, on NumPy arrays and PyTensor variables alike.

The first argument ``xp`` is ``numpy`` or ``pytensor.tensor``. Constants that do not depend on parameters (binomial
coefficients) are left out of what models use.
"""

from bayeseval.likelihoods.beta_binomial import (
    SurvivalCounts,
    beta_binomial_cells,
    beta_binomial_loglik,
    beta_binomial_logpmf,
    head_length,
    log_binomial,
    log_rising,
    survival_counts,
)
from bayeseval.likelihoods.dirichlet_multinomial import (
    dirichlet_multinomial_loglik,
    dirichlet_multinomial_logpmf,
    level_survival,
)
from bayeseval.likelihoods.interior import common_nodes, interior_loglik
from bayeseval.likelihoods.logit_normal import logit_normal_cells
from bayeseval.likelihoods.pair_normal import pair_normal_cells, pair_rule
from bayeseval.likelihoods.plackett import plackett_logs

__all__ = [
    "SurvivalCounts",
    "beta_binomial_cells",
    "beta_binomial_loglik",
    "beta_binomial_logpmf",
    "common_nodes",
    "dirichlet_multinomial_loglik",
    "dirichlet_multinomial_logpmf",
    "head_length",
    "interior_loglik",
    "level_survival",
    "log_binomial",
    "log_rising",
    "logit_normal_cells",
    "pair_normal_cells",
    "pair_rule",
    "plackett_logs",
    "survival_counts",
]
