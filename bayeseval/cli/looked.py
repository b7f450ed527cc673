"""The work behind `bayeseval looks`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bayeseval.cli.figures import draw, figure_target
from bayeseval.cli.planned import common_targets, finish
from bayeseval.cli.planned_tables import show_looks
from bayeseval.cli.work import SAVED, Settings, fit_results, posteriors_of, read_results, require_one_run, settings
from bayeseval.errors import DataError, OptionError, require_positive_integer
from bayeseval.outcomes import Outcomes
from bayeseval.planning import Looks, stop_anytime, stop_at_direction, stop_at_width
from bayeseval.posterior.posteriors import Posteriors
from bayeseval.readers.generations import UNNUMBERED

__all__ = ["rule_from", "run_looks"]


def run_looks(given: Mapping[str, Any]) -> bool:
    """Look after every batch, and print the log; whether a look said stop."""
    chosen, figure = settings(given), figure_target(given["figure"])
    pair = _pair(given)
    rule = rule_from(given)
    if given["most"] is not None:
        require_positive_integer("--most", given["most"])
    if pair:
        chosen = replace(chosen, system=list(pair))
    looks = Looks(rule, given["most"])
    for posteriors in _growing(given["paths"], chosen, pair):
        seen = [posteriors.select(system=name) for name in pair] if pair else posteriors[0]
        looks = looks.add(tuple(seen) if pair else seen)
    finish("looks", [looks], posteriors, draw([looks], figure), show_looks, given["as_json"])
    return looks.stop


def rule_from(given: Mapping[str, Any]) -> Any:
    """The stopping rule that the options describe."""
    target = common_targets(given, "metric", "estimand")
    width, reference, alpha = given["width"], given["reference"], given["anytime"]
    if (width is None) == (reference is None):
        raise OptionError("give one rule: --width W, or --reference R, either of them with --anytime ALPHA or without")
    if alpha is not None:
        _refuse(given, "--anytime, the sequence of one population mean", "rope", "certainty", "prob", "a")
        if (target["score"] is not None and target["score"].kind != "mean") or target["estimand"] == "benchmark":
            raise OptionError("the sequence of --anytime is about the mean of the population: leave --anytime out")
        return stop_anytime(width=width, reference=reference, alpha=alpha)
    target["estimand"] = target["estimand"] or "population"
    if width is not None:
        _refuse(given, "--width", "rope", "certainty", "a")
        return stop_at_width(width, prob=given["prob"], **target)
    _refuse(given, "--reference, whose interval follows from --certainty", "prob")
    more = {name: given[name] for name in ("rope", "certainty") if given[name] is not None}
    return stop_at_direction(reference, **more, **target)


def _growing(paths: Sequence[str], chosen: Settings, pair: tuple[str, ...]) -> Iterator[Posteriors]:
    """Posteriors of all data up to each batch."""
    posteriors: Posteriors | None = None
    for path in paths:
        if path.endswith(SAVED):
            if posteriors is not None:
                raise OptionError(f"only the first path may be a saved posterior, but {path} is a later one")
            posteriors = posteriors_of([path], chosen)
            _require_runs([(one.system, one.benchmark) for one in posteriors], pair)
            yield posteriors
            continue
        batch = _batch(path, chosen, pair)
        if posteriors is None:
            _require_runs(batch.run_names, pair)
            posteriors = Posteriors(tuple(fit_results(batch, chosen)))
        else:
            posteriors = _further(posteriors, batch, path, chosen)
        yield posteriors


def _further(posteriors: Posteriors, batch: Any, path: str, chosen: Settings) -> Posteriors:
    """Posteriors of what was seen before and one batch more."""
    try:
        return posteriors.update(batch, progress=not chosen.quiet)
    except DataError as error:
        numbers = "; or take the numbers away with --column generation=" if isinstance(batch, Outcomes) else ""
        raise DataError(f"{path} is no further batch of the run: {error}{numbers}") from None


def _batch(path: str, chosen: Settings, pair: tuple[str, ...]) -> Any:
    """One batch; counts where nothing numbers its generations, which other batches would repeat."""
    data = read_results([path], chosen)
    there = {system for system, _ in data.run_names}
    wanted = [name for name in chosen.system if name in there] if pair else chosen.system
    data = data.select(system=wanted or chosen.system or None, benchmark=chosen.benchmark or None)
    if isinstance(data, Outcomes) and any(UNNUMBERED in line for line in data.account):
        return data.counts()
    return data


def _require_runs(names: Sequence[tuple[str, str]], pair: tuple[str, ...]) -> None:
    if not pair:
        require_one_run(names, "looks")
    elif len(names) != 2:
        raise OptionError(
            f"a difference is that of two runs on one benchmark, but {len(names)} match --a and --b: choose with "
            f"--benchmark, and let the first batch hold both systems"
        )


def _pair(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The two systems whose difference is looked at, or nothing."""
    a, b = given["a"], given["b"]
    if (a is None) != (b is None):
        raise OptionError("a difference is that of two systems: give --a and --b, both")
    if a is not None and a == b:
        raise OptionError(f"--a and --b both name {a!r}: name two systems")
    if a is not None and given["system"]:
        raise OptionError("--a and --b choose the systems: leave out --system")
    return () if a is None else (a, b)


def _refuse(given: Mapping[str, Any], rule: str, *names: str) -> None:
    for name in names:
        if given[name] is not None:
            raise OptionError(f"--{name} has no place beside {rule}: leave one of them out")
