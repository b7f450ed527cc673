"""The work behind `bayeseval compare` and `rank`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bayeseval.cli.contrasted_tables import show_compared, show_ranking
from bayeseval.cli.figures import draw, figure_target
from bayeseval.cli.planned import common_targets, finish
from bayeseval.cli.runs import name_of, require_different, runs_of_files, two_of
from bayeseval.cli.work import Settings, fit_results, settings
from bayeseval.contrasts.accident import SharedNoise, shared_noise
from bayeseval.contrasts.comparing import contrast
from bayeseval.contrasts.inputs import coupled_pairs, run_of
from bayeseval.contrasts.joint import needs_posteriors
from bayeseval.contrasts.ranks import rank
from bayeseval.contrasts.savings import CoupledSavings, coupled_savings
from bayeseval.errors import DataError, OptionError, require_probability
from bayeseval.metrics import Metric
from bayeseval.metrics.names import metric_named
from bayeseval.posterior.aligned import aligned
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import ESTIMANDS
from bayeseval.reporting.contrasted import Compared

__all__ = ["run_compare", "run_rank"]


def run_compare(given: Mapping[str, Any]) -> None:
    """Compare two systems, and print their difference."""
    chosen, figure = settings(given), figure_target(given["figure"])
    asked, estimands = _asked(given), _estimands(given)
    raw = two_of(runs_of_files(given["paths"], chosen), given["a"], given["b"])
    savings, noise = _savings(raw, given), _noise(raw, given)
    first, second = _ready(raw, asked["score"], estimands, given, chosen, "a comparison")
    resolved = given["power"] is not None
    asked |= {"paired": not given["unpaired"], "coupled": given["coupled"]}
    asked |= {"power": given["power"]} if resolved else {}
    contrasts = [contrast(first, second, estimand=estimand, **asked) for estimand in estimands]
    found = Compared(tuple(contrasts), savings, noise)
    show = partial(show_compared, resolved=resolved)
    finish("compare", [found], [first, second], draw([found], figure), show, given["as_json"])


def run_rank(given: Mapping[str, Any]) -> None:
    """Order all systems, and print who ranks where."""
    chosen, figure = settings(given), figure_target(given["figure"])
    asked = _asked(given)
    runs = runs_of_files(given["paths"], chosen)
    require_different([name_of(run) for run in runs])
    if len(runs) < 2:
        raise OptionError(f"a ranking needs two systems or more, but the files hold {name_of(runs[0])!r} alone")
    runs = _ready(runs, asked["score"], [given["estimand"]], given, chosen, "a ranking")
    found = rank(runs, estimand=given["estimand"], **asked)
    finish("rank", [found], runs, draw([found], figure), show_ranking, given["as_json"])


def _asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """What both functions are asked, checked before any long work."""
    common_targets(given, "estimand")
    if given["rope"] is not None:
        require_probability("rope", given["rope"])
    names = ("rope", "prob", "seed")
    return {"score": metric_named(given["score"], "--score"), **{name: given[name] for name in names}}


def _estimands(given: Mapping[str, Any]) -> Sequence[str]:
    """The estimands that are asked about."""
    if given["unpaired"] and given["coupled"]:
        raise OptionError("coupled generations answer the same prompts: leave out --unpaired or --coupled")
    if given["unpaired"] and given["estimand"] == "benchmark":
        raise OptionError("scores on these prompts are compared on the same prompts: leave out --unpaired")
    if given["estimand"] is not None:
        return [given["estimand"]]
    return ["population"] if given["unpaired"] else list(ESTIMANDS)


def _savings(pair: Sequence[Any], given: Mapping[str, Any]) -> CoupledSavings | None:
    """What coupled generations save; nothing where one pair a prompt cannot tell."""
    if not given["coupled"]:
        return None
    if any(run_of(run).outcomes is None for run in pair):
        raise OptionError(
            "--coupled pairs generations one by one, which counts cannot tell: it needs files with one row a "
            "generation of both systems"
        )
    pairs = coupled_pairs(pair[0], pair[1], "--coupled")
    if not (pairs.generations[0] > 1).any():
        return None
    return coupled_savings(pairs, prob=given["prob"], seed=given["seed"])


def _noise(pair: Sequence[Any], given: Mapping[str, Any]) -> SharedNoise | None:
    """The test of shared noise, where outcomes of both have generations of the same number."""
    if given["unpaired"] or any(run_of(run).outcomes is None for run in pair):
        return None
    try:
        return shared_noise(*pair, prob=given["prob"], seed=given["seed"])
    except DataError:  # no generation of the same number, or one of them a prompt: nothing to be told
        return None


def _ready(
    runs: Sequence[Any],
    metric: Metric,
    estimands: Sequence[str],
    given: Mapping[str, Any],
    chosen: Settings,
    what: str,
) -> list[Any]:
    """The runs as they are; posteriors of all where an answer needs them, or a model was asked for."""
    wanted = bool(given["model"] or given.get("unpaired"))
    if not given.get("unpaired"):
        found = aligned([run_of(run).source for run in runs], what)  # refuses before any long work
        wanted = wanted or any(needs_posteriors(found, metric, estimand) for estimand in estimands)
    if not wanted:
        return list(runs)
    return [post for run in runs for post in ([run] if isinstance(run, Posterior) else fit_results(run, chosen))]
