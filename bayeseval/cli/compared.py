"""The work behind `bayeseval plan-contrast`, `plan-order` and `compare-decoding`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bayeseval.cli.figures import draw, figure_target
from bayeseval.cli.planned import common_targets, finish
from bayeseval.cli.planned_tables import show_contrast, show_decoding, show_order
from bayeseval.cli.words import guess_from
from bayeseval.cli.work import SAVED, Settings, fit_results, posteriors_of, read_results, require_one_run, settings
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
    pair = _pair([*_runs(given["paths"] or [], chosen), *guesses], given["a"], given["b"])
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
    runs = _runs(given["paths"], chosen)
    _require_different([_name(run) for run in runs])
    if len(runs) < 2:
        raise OptionError(f"an order needs two systems or more, but the files hold {_name(runs[0])!r} alone")
    pilots = _pilots(runs, given, chosen)
    asked = {**target, "prompts": target["prompts"] or "same", "n_prompts": given["n_prompts"], "seed": given["seed"]}
    found = plan_order(pilots, draws=given["truths"], **asked)
    finish("plan-order", [found], pilots, draw([found], figure), show_order, given["as_json"])


def run_decoding(given: Mapping[str, Any]) -> None:
    """Compare greedy decoding with sampling, and print the differences."""
    chosen, figure = settings(given), figure_target(given["figure"])
    common_targets(given)
    greedy, sampled = (_only(given[name], chosen, f"compare-decoding {name.upper()}") for name in ("greedy", "sampled"))
    if not isinstance(sampled, Posterior) and not given["moments"]:
        (sampled,) = fit_results(sampled, chosen)
    elif isinstance(sampled, Posterior) and given["moments"]:
        sampled = sampled.counts
    found = compare_decoding(greedy, sampled, prob=given["prob"])
    finish("compare-decoding", [found], [greedy, sampled], draw([found], figure), show_decoding, given["as_json"])


def _wanted(data: Any, chosen: Settings) -> list[Any]:
    """Runs of the systems and benchmarks asked for, each by itself; those that a file lacks are passed over."""
    return [
        run
        for run in data.runs()
        for system, benchmark in run.run_names
        if system in (chosen.system or [system]) and benchmark in (chosen.benchmark or [benchmark])
    ]


def _only(path: str, chosen: Settings, what: str) -> Any:
    """The single run of a file: a posterior where it is a saved one, else results as they are."""
    if path.endswith(SAVED):
        return posteriors_of([path], chosen)[0]
    data = read_results([path], chosen)
    runs = _wanted(data, chosen)
    if not runs:  # says which systems and benchmarks there are
        runs = data.select(system=chosen.system or None, benchmark=chosen.benchmark or None).runs()
    require_one_run([name for run in runs for name in run.run_names], what)
    return runs[0]


def _runs(paths: Sequence[str], chosen: Settings) -> list[Any]:
    """Every run of the files: saved posteriors, and results that are not fitted yet."""
    saved, results = ([path for path in paths if path.endswith(SAVED) == kept] for kept in (True, False))
    found: list[Any] = list(posteriors_of(saved, chosen)) if saved else []
    if results:
        data = read_results(results, chosen)
        found += data.select(system=chosen.system or None, benchmark=chosen.benchmark or None).runs()
    return found


def _pair(pool: Sequence[Any], a: str | None, b: str | None) -> list[Any]:
    """The two systems to be compared."""
    names = [_name(one) for one in pool]
    _require_different(names)
    for option, name in (("--a", a), ("--b", b)):
        if name is not None and name not in names:
            raise OptionError(f"{option} names {name!r}, but there are {_listed(names)}")
    if len(pool) < 2:
        raise OptionError(f"a comparison needs two systems, but there is {_listed(names) or 'none'}")
    if a is not None and a == b:
        raise OptionError(f"--a and --b both name {a!r}: name two systems")
    if len(pool) > 2 and (a is None or b is None):
        raise OptionError(f"a comparison needs two systems, but there are {_listed(names)}; choose with --a and --b")
    first = a if a is not None else next(name for name in names if name != b)
    second = b if b is not None else next(name for name in names if name != first)
    return [pool[names.index(first)], pool[names.index(second)]]


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


def _name(run: Any) -> str:
    if isinstance(run, SystemGuess):
        return run.name
    return run.system if isinstance(run, Posterior) else str(run.run_names[0][0])


def _require_different(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise OptionError(
                f"system {name!r} occurs {names.count(name)} times: choose a benchmark with --benchmark, or rename one"
            )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
