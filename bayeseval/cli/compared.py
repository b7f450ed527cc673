"""The work behind `bayeseval plan-contrast`, `plan-order` and `compare-decoding`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bayeseval.cli.figures import draw, figure_target
from bayeseval.cli.planned import common_targets, finish
from bayeseval.cli.planned_tables import show_contrast, show_decoding, show_order
from bayeseval.cli.runs import name_of, only_run, require_different, runs_of_files, two_of
from bayeseval.cli.words import guess_from
from bayeseval.cli.work import Settings, fit_results, settings
from bayeseval.errors import OptionError, require_choice, require_positive_integer
from bayeseval.outcomes import Outcomes
from bayeseval.planning import SystemGuess, compare_decoding, plan_contrast, plan_order
from bayeseval.planning.comparing.contrasts import CONTRAST_DESIGNS
from bayeseval.posterior.posterior import Posterior

__all__ = ["run_contrast", "run_decoding", "run_order"]

TARGETS = ("estimand", "power", "generations")


def run_contrast(given: Mapping[str, Any]) -> None:
    """Plan the comparison of two systems, and print it."""
    chosen, figure = settings(given), figure_target(given["figure"])
    target = common_targets(given, "prompts", *TARGETS)
    require_choice("design", given["design"], CONTRAST_DESIGNS)
    require_positive_integer("--bootstrap", given["bootstrap"])
    guesses = [guess_from(text) for text in given["guess"] or ()]
    if not guesses and not given["paths"]:
        raise OptionError("a comparison starts from files with results, or from two systems guessed with --guess")
    if guesses and given["n_prompts"] is None:
        raise OptionError("say how many prompts there will be, with --n-prompts: a guess has none")
    if guesses and given["correlation"] is None and given["design"] != "unpaired":
        raise OptionError(
            "guesses need the correlation of P(correct) of the two systems over prompts, often between 0.5 and 0.9: "
            "give --correlation, or --design unpaired"
        )
    pair = two_of([*runs_of_files(given["paths"] or [], chosen), *guesses], given["a"], given["b"])
    coupled = _coupled(pair, given)
    a, b = _pilots(pair, given, chosen)
    names = ("difference", "design", "kappa", "correlation", "rope", "prob", "n_prompts", "seed")
    asked = {**{name: given[name] for name in names}, **target, "prompts": target["prompts"] or "same"}
    found = plan_contrast(a, b, coupled_outcomes=coupled, draws=given["bootstrap"], **asked)
    finish("plan-contrast", [found], [a, b], draw([found], figure), show_contrast, given["as_json"])


def run_order(given: Mapping[str, Any]) -> None:
    """Plan the order of all systems, and print it."""
    chosen, figure = settings(given), figure_target(given["figure"])
    target = common_targets(given, "prompts", *TARGETS)
    require_positive_integer("--truths", given["truths"])
    runs = runs_of_files(given["paths"], chosen)
    require_different([name_of(run) for run in runs])
    if len(runs) < 2:
        raise OptionError(f"an order needs two systems or more, but the files hold {name_of(runs[0])!r} alone")
    pilots = _pilots(runs, given, chosen)
    asked = {**target, "prompts": target["prompts"] or "same", "n_prompts": given["n_prompts"], "seed": given["seed"]}
    found = plan_order(pilots, draws=given["truths"], **asked)
    finish("plan-order", [found], pilots, draw([found], figure), show_order, given["as_json"])


def run_decoding(given: Mapping[str, Any]) -> None:
    """Compare greedy decoding with sampling, and print the differences."""
    chosen, figure = settings(given), figure_target(given["figure"])
    common_targets(given)
    greedy, sampled = (
        only_run(given[name], chosen, f"compare-decoding {name.upper()}") for name in ("greedy", "sampled")
    )
    if not isinstance(sampled, Posterior) and not given["moments"]:
        (sampled,) = fit_results(sampled, chosen)
    elif isinstance(sampled, Posterior) and given["moments"]:
        sampled = sampled.counts
    found = compare_decoding(greedy, sampled, prob=given["prob"])
    finish("compare-decoding", [found], [greedy, sampled], draw([found], figure), show_decoding, given["as_json"])


def _pilots(runs: Sequence[Any], given: Mapping[str, Any], chosen: Settings) -> list[Any]:
    """Counts of runs; posteriors of all where a model was asked for, and of those with one generation a prompt."""
    pilots: list[Any] = []
    for run in runs:
        if isinstance(run, Posterior | SystemGuess):
            pilots.append(run)
            continue
        counts = run.counts() if isinstance(run, Outcomes) else run
        alone = counts.generations.max(initial=0) == 1
        pilots += fit_results(run, replace(chosen, system=[], benchmark=[])) if given["model"] or alone else [counts]
    return pilots


def _coupled(pair: Sequence[Any], given: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """The outcomes that share their noise, where its covariance is to be estimated from them."""
    if given["design"] != "coupled" or given["kappa"] is not None:
        return None
    if not all(isinstance(run, Outcomes) for run in pair):
        raise OptionError(
            "a coupled design needs --kappa, the covariance of generations that share their noise, or files with one "
            "row a generation of both systems, from which it is estimated"
        )
    return pair[0], pair[1]
