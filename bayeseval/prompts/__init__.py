"""Distributions of P(correct) over prompts: what a model implies, draw by draw, in forms that all questions use.

A model file returns one of them from ``prompt_distribution(draws)``. They know their moments, the scores of fresh
prompts, how to condition on the counts of a prompt, and how to draw P(correct):

- `BetaMixture`: Beta components and point masses, in closed form; `beta` makes a single Beta;
- `LogitNormal`: the logistic of a normal variable, with or without run effects, by quadrature;
- `Explicit`: draws of P(correct) of every prompt, for models that sample them;
- `Joined`: draws of several models, mixed.

Models of credits return `GradedCredit` or `ContinuousCredit` (`bayeseval.prompts.credit`), models of pairs
`DirichletPairs` or `LogitNormalPairs` (`bayeseval.prompts.pairs`).
"""

from bayeseval.prompts.base import PromptDistribution, PromptPosterior
from bayeseval.prompts.credit import ContinuousCredit, CreditDistribution, GradedCredit
from bayeseval.prompts.explicit import Explicit
from bayeseval.prompts.joined import Joined
from bayeseval.prompts.logit_normal import LogitNormal
from bayeseval.prompts.mixture import BetaMixture, MixturePosterior, beta
from bayeseval.prompts.pairs import DirichletPairs, LogitNormalPairs, PairDistribution
from bayeseval.prompts.population import BLOCK, blocks, population_score, population_square

__all__ = [
    "BLOCK",
    "BetaMixture",
    "ContinuousCredit",
    "CreditDistribution",
    "DirichletPairs",
    "Explicit",
    "GradedCredit",
    "Joined",
    "LogitNormal",
    "LogitNormalPairs",
    "MixturePosterior",
    "PairDistribution",
    "PromptDistribution",
    "PromptPosterior",
    "beta",
    "blocks",
    "population_score",
    "population_square",
]
