"""Bayesian modelling of language-model scores when every prompt is answered several times.

::

    import bayeseval as be

    counts = be.read("results.csv")          # how often was each prompt answered correctly?
    be.moments(counts)                       # the estimators that papers use
    post = be.fit(counts, seed=1)            # posterior of the hierarchical model
    post.mean(), post.pass_at(16)            # scores with intervals, for prompts like these
    post.mean(estimand="benchmark")          # ... and for these prompts
    be.plan(post, width=0.02)                # how many generations does the next run need?
    be.allocate(post, budget=2000)           # which prompts deserve the next generations?
    be.report(post, "report.html")

Heavy libraries are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayeseval._version import __version__

if TYPE_CHECKING:
    from bayeseval import coupling as coupling
    from bayeseval import metrics as metrics
    from bayeseval import plots as plots
    from bayeseval.calibration.ranks import calibrate as calibrate
    from bayeseval.catalogue import copy_model as copy_model
    from bayeseval.catalogue import models as models
    from bayeseval.comparison.loo import loo as loo
    from bayeseval.comparison.models import compare_models as compare_models
    from bayeseval.comparison.sensitivity import prior_sensitivity as prior_sensitivity
    from bayeseval.comparison.stacked import Stacked as Stacked
    from bayeseval.conformance import check_model as check_model
    from bayeseval.consistency.data_map import DataMap as DataMap
    from bayeseval.consistency.data_map import data_map as data_map
    from bayeseval.consistency.verdicts import read_verdicts as read_verdicts
    from bayeseval.contrasts.accident import shared_noise as shared_noise
    from bayeseval.contrasts.comparing import contrast as contrast
    from bayeseval.contrasts.ranks import rank as rank
    from bayeseval.contrasts.savings import coupled_savings as coupled_savings
    from bayeseval.counts import Counts as Counts
    from bayeseval.credits import Credits as Credits
    from bayeseval.datasets import example as example
    from bayeseval.defaults import options as options
    from bayeseval.errors import BayesevalError as BayesevalError
    from bayeseval.estimators import moments as moments
    from bayeseval.estimators.bounds import score_bounds as score_bounds
    from bayeseval.estimators.credit import credit_moments as credit_moments
    from bayeseval.fitting import fit as fit
    from bayeseval.intervals import compare_intervals as compare_intervals
    from bayeseval.metrics.table import metric_estimates as metric_estimates
    from bayeseval.outcomes import Outcomes as Outcomes
    from bayeseval.pairs import Pairs as Pairs
    from bayeseval.planning.allocating.allocation import allocate as allocate
    from bayeseval.planning.comparing.contrasts import plan_contrast as plan_contrast
    from bayeseval.planning.comparing.decoding import compare_decoding as compare_decoding
    from bayeseval.planning.comparing.orders import plan_order as plan_order
    from bayeseval.planning.comparing.sources import SystemGuess as SystemGuess
    from bayeseval.planning.costs import Cost as Cost
    from bayeseval.planning.designs import frontier as frontier
    from bayeseval.planning.looking.looks import Looks as Looks
    from bayeseval.planning.looking.stopping import stop_anytime as stop_anytime
    from bayeseval.planning.looking.stopping import stop_at_direction as stop_at_direction
    from bayeseval.planning.looking.stopping import stop_at_width as stop_at_width
    from bayeseval.planning.pilots import pilot_from_prior as pilot_from_prior
    from bayeseval.planning.pilots import pilot_from_published as pilot_from_published
    from bayeseval.planning.widths import plan as plan
    from bayeseval.posterior.credit import CreditPosterior as CreditPosterior
    from bayeseval.posterior.pairs import PairPosterior as PairPosterior
    from bayeseval.posterior.posterior import Posterior as Posterior
    from bayeseval.posterior.posteriors import Posteriors as Posteriors
    from bayeseval.posterior.storage import load as load
    from bayeseval.preferences.ranking import rank_preferences as rank_preferences
    from bayeseval.preferences.table import Preferences as Preferences
    from bayeseval.preferences.win_rates import win_rates as win_rates
    from bayeseval.priors import prior_predictive as prior_predictive
    from bayeseval.readers import read as read
    from bayeseval.reporting import report as report
    from bayeseval.seeds import shared_seeds as shared_seeds

_HOMES = {
    "BayesevalError": "errors",
    "Cost": "planning.costs",
    "Counts": "counts",
    "CreditPosterior": "posterior.credit",
    "Credits": "credits",
    "DataMap": "consistency.data_map",
    "Looks": "planning.looking.looks",
    "Outcomes": "outcomes",
    "PairPosterior": "posterior.pairs",
    "Pairs": "pairs",
    "Posterior": "posterior.posterior",
    "Posteriors": "posterior.posteriors",
    "Preferences": "preferences.table",
    "Stacked": "comparison.stacked",
    "allocate": "planning.allocating.allocation",
    "SystemGuess": "planning.comparing.sources",
    "calibrate": "calibration.ranks",
    "check_model": "conformance",
    "compare_decoding": "planning.comparing.decoding",
    "compare_intervals": "intervals",
    "compare_models": "comparison.models",
    "contrast": "contrasts.comparing",
    "coupled_savings": "contrasts.savings",
    "shared_noise": "contrasts.accident",
    "rank": "contrasts.ranks",
    "copy_model": "catalogue",
    "credit_moments": "estimators.credit",
    "data_map": "consistency.data_map",
    "example": "datasets",
    "fit": "fitting",
    "frontier": "planning.designs",
    "load": "posterior.storage",
    "loo": "comparison.loo",
    "metric_estimates": "metrics.table",
    "models": "catalogue",
    "moments": "estimators",
    "options": "defaults",
    "pilot_from_prior": "planning.pilots",
    "pilot_from_published": "planning.pilots",
    "plan": "planning.widths",
    "plan_contrast": "planning.comparing.contrasts",
    "plan_order": "planning.comparing.orders",
    "prior_predictive": "priors",
    "prior_sensitivity": "comparison.sensitivity",
    "rank_preferences": "preferences.ranking",
    "read": "readers",
    "read_verdicts": "consistency.verdicts",
    "report": "reporting",
    "score_bounds": "estimators.bounds",
    "shared_seeds": "seeds",
    "stop_anytime": "planning.looking.stopping",
    "stop_at_direction": "planning.looking.stopping",
    "stop_at_width": "planning.looking.stopping",
    "win_rates": "preferences.win_rates",
}

_MODULES = ("coupling", "metrics", "plots")

__all__ = ["__version__", *_MODULES, *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"bayeseval.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"bayeseval.{name}")
    else:
        raise AttributeError(f"module 'bayeseval' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
