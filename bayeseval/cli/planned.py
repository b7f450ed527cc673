"""The work behind `bayeseval plan`, `frontier` and `allocate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from bayeseval.cli.figures import draw, figure_target
from bayeseval.cli.planned_tables import show_allocation, show_frontier
from bayeseval.cli.tables import show_plan
from bayeseval.cli.words import metric_from, numbers_from, priors_from, published_from, tokens_from
from bayeseval.cli.work import Settings, posteriors_of, print_document, settings
from bayeseval.errors import OptionError, require_choice, require_positive_integer, require_probability
from bayeseval.files import TABLES
from bayeseval.planning import DESIGNS, Cost, allocate, frontier, plan
from bayeseval.planning.pilots import Pilot, pilot_from_prior, pilot_from_published
from bayeseval.planning.setup import REFITS
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.posteriors import Posteriors
from bayeseval.posterior.scores import require_estimand
from bayeseval.reporting.files import as_json as json_text
from bayeseval.reporting.files import require_writable
from bayeseval.reporting.planned import planning_document

__all__ = ["common_targets", "finish", "run_allocate", "run_frontier", "run_plan"]


def run_plan(given: Mapping[str, Any]) -> None:
    """Plan every run, or what was published or believed, and print the plans."""
    chosen, figure = settings(given), figure_target(given["figure"])
    target = common_targets(given, "width", "sd", "assurance", "metric", "estimand", "prompts", "generations", "refits")
    _one_of(given, "width", "sd")
    _require_plannable(given)
    counted = {name: given[name] for name in ("n_prompts", "attempts", "futures")}
    pilots, posteriors = _pilots(given, chosen)
    asked = {**target, **counted, "prob": given["prob"], "seed": given["seed"], "progress": not given["quiet"]}
    plans = [plan(pilot, **asked) for pilot in pilots]
    figures = draw(plans, figure)
    if given["as_json"]:
        files = {"figures": [str(file) for file in figures]} if figures else None
        print_document(posteriors, "plan", [], given["prob"], plans, files=files)
        return
    for one in plans:
        show_plan(one)
    _tell(figures)


def run_frontier(given: Mapping[str, Any]) -> None:
    """Weigh prompts against generations for every run, and print the designs."""
    chosen, figure = settings(given), figure_target(given["figure"])
    target = common_targets(given, "width", "sd", "assurance", "metric", "generations", "refits")
    _one_of(given, "width", "sd", "budget")
    prices = cost_from(given)
    counted = {name: given[name] for name in ("budget", "most_prompts", "futures")}
    pilots, posteriors = _pilots(given, chosen)
    asked = {**target, **counted, "prob": given["prob"], "seed": given["seed"], "progress": not given["quiet"]}
    found = [frontier(pilot, prices, **asked) for pilot in pilots]
    finish("frontier", found, posteriors, draw(found, figure), show_frontier, given["as_json"])


def run_allocate(given: Mapping[str, Any]) -> None:
    """Spread a budget over the prompts of one run, and print or write who gets what."""
    chosen, figure = settings(given), figure_target(given["figure"])
    target = common_targets(given, "metric")
    for name in ("budget", "block"):
        require_positive_integer(f"--{name}", given[name])
    if given["every"] and given["out"] is None:
        raise OptionError("--every says which prompts are written: name the file with --out, too")
    out = None if given["out"] is None else require_writable(given["out"], TABLES, "an allocation")
    posteriors = posteriors_of(given["paths"], chosen, "allocate")
    limits = {name: given[name] for name in ("most", "least", "block", "exclude")}
    found = allocate(posteriors[0], given["budget"], **target, **limits)
    written = [] if out is None else [found.write(out, every=given["every"])]
    finish(
        "allocate", [found], posteriors, draw([found], figure), show_allocation, given["as_json"], allocation=written
    )


def finish(
    kind: str,
    results: Sequence[Any],
    sources: Sequence[Any],
    figures: Sequence[Path],
    show: Any,
    as_json: bool,
    **written: Sequence[Path],
) -> None:
    """Print the document of some results; or show each, and say which files were written."""
    if as_json:
        kinds = {"figures": figures, **written}
        named = {name: [str(file) for file in files] for name, files in kinds.items() if files}
        typer.echo(json_text(planning_document(kind, results, sources, named)), nl=False)
        return
    for one in results:
        show(one)
    for files in (*written.values(), figures):
        _tell(files)


def common_targets(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Arguments of a planning function, checked as far as they can be before any long work."""
    found = {name: given[name] for name in names if name not in ("metric", "generations")}
    for name in ("width", "sd", "assurance", "power", "prob"):
        if given.get(name) is not None:
            require_probability(name, given[name])
    if "metric" in names:
        found["score"] = None if given["metric"] is None else metric_from(given["metric"])
    if "generations" in names:
        found["generations"] = None if given["generations"] is None else numbers_from(given["generations"])
    if found.get("estimand") is not None:
        require_estimand(found["estimand"])
    if found.get("prompts") is not None:
        require_choice("prompts", found["prompts"], DESIGNS)
    if "refits" in names:
        require_choice("refits", found["refits"], REFITS)
    return found


def cost_from(given: Mapping[str, Any]) -> Cost:
    """Prices from the options of a command."""
    ways = [name for name in ("generation_cost", "tokens", "seconds") if given[name] is not None]
    if len(ways) > 1 or not ways and given["prompt_cost"] is None:
        raise OptionError(
            "say what is paid in one of three ways: --prompt-cost and --generation-cost, --tokens, or --seconds"
        )
    if given["cached"] and given["tokens"] is None:
        raise OptionError("--cached is about the tokens of prompts: give --tokens, too")
    if given["parallel"] is not None and given["seconds"] is None:
        raise OptionError("--parallel is about time: give --seconds, too")
    prompt = 0.0 if given["prompt_cost"] is None else given["prompt_cost"]
    if given["tokens"] is not None:
        unit = "$" if given["unit"] is None else given["unit"]
        return Cost.of_tokens(**tokens_from(given["tokens"]), prompt=prompt, cached=given["cached"], unit=unit)
    if given["seconds"] is not None:
        for name in ("prompt_cost", "unit"):
            if given[name] is not None:
                raise OptionError(f"--seconds counts hours, so that --{name.replace('_', '-')} has no place beside it")
        return Cost.of_time(seconds=given["seconds"], parallel=1 if given["parallel"] is None else given["parallel"])
    generation = 1.0 if given["generation_cost"] is None else given["generation_cost"]
    return Cost(prompt, generation, given["unit"] or "")


def _pilots(given: Mapping[str, Any], chosen: Settings) -> tuple[list[Posterior | Pilot], Posteriors]:
    """What the plans start from, and the posteriors among it."""
    summary = _summary(given)
    if bool(summary) == bool(given["paths"]):
        raise OptionError("a plan starts from files, from --published or from --prior-alone: give one of the three")
    if summary is None:
        posteriors = posteriors_of(given["paths"], chosen)
        return list(posteriors), posteriors
    if given["refits"] in ("importance", "nuts"):
        raise OptionError(
            f"--refits {given['refits']} needs the results of a pilot, and {summary} has none: leave it out"
        )
    names: dict[str, Any] = {}
    for name in ("system", "benchmark"):
        if len(given[name] or ()) > 1:
            raise OptionError(f"--{name} names what {summary} is about: give it once")
        names |= {name: given[name][0]} if given[name] else {}
    prior: Any = priors_from(given["prior"] or ()) or None
    if given["prior_alone"]:
        return [pilot_from_prior(**names, prior=prior, seed=given["seed"])], Posteriors(())
    numbers = published_from(given["published"])
    return [pilot_from_published(*numbers, **names, prior=prior, seed=given["seed"])], Posteriors(())


def _summary(given: Mapping[str, Any]) -> str | None:
    """The option that stands for a pilot."""
    if given["published"] is not None and given["prior_alone"]:
        raise OptionError("--published and --prior-alone are two different starts of a plan: give one")
    return "--published" if given["published"] is not None else "--prior-alone" if given["prior_alone"] else None


def _require_plannable(given: Mapping[str, Any]) -> None:
    """Refuse, in the words of the command, what a plan without known prompts lacks."""
    if (summary := _summary(given)) is None:
        return
    if given["prompts"] == "same":
        raise OptionError(f"the prompts behind {summary} are not known one by one: leave out --prompts same")
    if given["n_prompts"] is None:
        raise OptionError("say how many fresh prompts there will be, with --n-prompts")


def _one_of(given: Mapping[str, Any], *names: str) -> None:
    told = {
        "width": "--width for the interval",
        "sd": "--sd for the standard deviation of the posterior",
        "budget": "--budget for what may be spent",
    }
    if sum(given[name] is not None for name in names) != 1:
        listed = ", ".join(told[name] for name in names[:-1])
        raise OptionError(f"give one target: {listed}, or {told[names[-1]]}")


def _tell(files: Sequence[Path]) -> None:
    for file in files:
        typer.echo(f"saved {file}")
