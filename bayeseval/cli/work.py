"""The work behind `bayeseval fit` and `report`, and how files become posteriors for every command."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from bayeseval.catalogue import DEFAULT_MODEL
from bayeseval.cli.tables import say, show_bounds, show_comparison, show_moments, show_scores
from bayeseval.cli.words import columns_from, levels_from, metric_from, priors_from
from bayeseval.comparison.sensitivity import prior_sensitivity
from bayeseval.comparison.stacked import Stacked
from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.errors import OptionError, require_probability
from bayeseval.estimators.bounds import score_bounds
from bayeseval.fitting import fit
from bayeseval.planning import Plan, plan
from bayeseval.posterior.credit import CreditPosterior
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.posteriors import Posteriors
from bayeseval.posterior.storage import load
from bayeseval.readers import read
from bayeseval.reporting import FORMATS, report
from bayeseval.reporting.content import Material, document
from bayeseval.reporting.files import as_json as json_text
from bayeseval.reporting.files import require_writable

__all__ = [
    "SAVED", "Settings", "distinct_files", "fit_results", "posteriors_of", "print_document", "read_results",
    "require_one_run", "run_fit", "run_report", "save", "settings",
]  # fmt: skip

SAVED = ".nc"


@dataclass(frozen=True)
class Settings:
    """How files become posteriors; the options that `fit`, `plan` and `report` share."""

    system: list[str]
    benchmark: list[str]
    columns: dict[str, Any]
    threshold: float | None
    reading: dict[str, Any]
    fitting: dict[str, Any]
    quiet: bool
    credit: str | None = None
    levels: tuple[float, ...] | None = None
    as_json: bool = False


def settings(given: Mapping[str, Any]) -> Settings:
    """Settings from the arguments of a command."""
    names = ("engine", "sampler", "seed", "draws", "tune", "chains")
    credit, levels = given.get("credit"), given.get("levels")
    if credit is None and levels is not None:
        raise OptionError("--levels are the credits that can be given: name the column with --credit, too")
    if credit is not None and given["threshold"] is not None:
        raise OptionError("--credit keeps partial credit and --threshold cuts it into right and wrong: give one")
    models = given["model"] or [DEFAULT_MODEL if credit is None else None]
    return Settings(
        system=given["system"] or [],
        benchmark=given["benchmark"] or [],
        columns=columns_from(given["column"] or ()),
        threshold=given["threshold"],
        reading={
            "metric": given["scorer"] or None,
            **{name: given[name] for name in ("filter", "errored", "unscored")},
        },
        fitting={
            "model": models[0] if len(models) == 1 else models,
            **{name: given[name] for name in names},
            "prior": priors_from(given["prior"] or ()) or None,
        },
        quiet=given["quiet"],
        credit=credit,
        levels=None if levels is None else levels_from(levels),
        as_json=bool(given.get("as_json")),
    )


def posteriors_of(paths: Sequence[str], chosen: Settings, only_one: str | None = None) -> Posteriors:
    """Load saved posteriors; read and fit everything else.

    Parameters
    ----------
    paths : sequence of str
    chosen : Settings
    only_one : str, optional
        What needs a single run: several are refused before any is fitted.

    Raises
    ------
    KeyboardInterrupt
        Also when an interrupt left some runs without a posterior: a result must not look whole when it is not.
    """
    found = _chosen([load(path) for path in paths if path.endswith(SAVED)], chosen)
    results = [path for path in paths if not path.endswith(SAVED)]
    counts = read_results(results, chosen) if results else None
    if counts is not None:
        counts = counts.select(system=chosen.system or None, benchmark=chosen.benchmark or None)
    if only_one is not None:
        new = [] if counts is None else counts.run_names
        require_one_run([*((one.system, one.benchmark) for one in found), *new], only_one)
    if counts is not None:
        found += fit_results(counts, chosen)
    return Posteriors(tuple(found))


def read_results(paths: Sequence[str], chosen: Settings) -> Any:
    """Counts, outcomes or credits of all runs in some files."""
    source: Any = paths[0] if len(paths) == 1 else list(paths)
    if chosen.credit is not None:
        results: Any = _credits(source, chosen)
    else:
        results = read(source, threshold=chosen.threshold, quiet=chosen.quiet, **chosen.reading, **chosen.columns)
    if "bounds" in (chosen.reading["errored"], chosen.reading["unscored"]) and not isinstance(results, Counts):
        wanted = results.select(system=chosen.system or None, benchmark=chosen.benchmark or None)
        show_bounds(score_bounds(wanted), chosen.as_json)
    return results


def fit_results(counts: Any, chosen: Settings) -> list[Any]:
    """A posterior of every run.

    Raises
    ------
    KeyboardInterrupt
        When an interrupt left some runs without one.
    """
    fitted = fit(counts, progress=not chosen.quiet, **chosen.fitting)
    new = list(fitted) if isinstance(fitted, Posteriors) else [fitted]
    if len(new) < len(counts.run_names):
        raise KeyboardInterrupt
    return new


def require_one_run(names: Sequence[tuple[str, str]], what: str) -> None:
    """Refuse several runs where one is asked about."""
    if len(names) != 1:
        there = ", ".join(f"{system!r} on {benchmark!r}" for system, benchmark in names[:20])
        raise OptionError(
            f"{what} takes one run, but there are {len(names)}: {there}; choose one with --system and --benchmark"
        )


def _credits(source: Any, chosen: Settings) -> Credits:
    """Credits of the files: their scores as they are, with the levels that were declared."""
    named: dict[str, Any] = {} if chosen.reading["metric"] else {"credit": chosen.credit}
    given: dict[str, Any] = {**chosen.reading, **named, **chosen.columns}
    credits = read(source, kind="credits", quiet=chosen.quiet, **given)
    return credits if chosen.levels is None else credits.with_levels(chosen.levels)


def _chosen(saved: list[Posterior], chosen: Settings) -> list[Posterior]:
    """The saved posteriors of the systems and benchmarks asked for."""
    kept = [
        item
        for item in saved
        if item.system in (chosen.system or [item.system]) and item.benchmark in (chosen.benchmark or [item.benchmark])
    ]
    if saved and not kept:
        there = ", ".join(f"{item.system!r} on {item.benchmark!r}" for item in saved)
        raise OptionError(f"none of the saved posteriors is of the system and benchmark asked for; there are {there}")
    return kept


def run_fit(
    paths: Sequence[str],
    chosen: Settings,
    metric: Sequence[str] | None,
    prob: float | None,
    out: str | None,
    as_json: bool,
    groups: bool = False,
    sensitivity: bool = False,
) -> None:
    """Fit, print scores and moments, and save where asked to."""
    if as_json and (groups or sensitivity):
        raise OptionError("--json documents scores alone: leave out --groups and --sensitivity, or --json")
    metrics = [metric_from(text) for text in metric or ()]
    target = None if out is None else _save_target(out)
    if target is not None and isinstance(chosen.fitting["model"], list):
        raise OptionError(
            "several models make a stack, which is not saved as a file: leave out --out, or save the posterior of each "
            "model by a command of its own"
        )
    posteriors = posteriors_of(paths, chosen)
    files = [] if target is None else save(posteriors, target)
    if as_json and any(isinstance(item, CreditPosterior) for item in posteriors):
        raise OptionError(
            "--json documents scores of right and wrong, and these are credits: leave it out, or take "
            "post.mean().to_frame() in Python"
        )
    if as_json:
        print_document(
            posteriors, "fit", metrics, prob, files={"posteriors": [str(file) for file in files]} if files else None
        )
        return
    show_scores(posteriors, metrics, prob)
    for posterior in posteriors:
        if isinstance(posterior, Stacked):
            show_comparison(posterior.comparison)
    show_moments(posteriors, prob)
    for posterior in posteriors if groups else ():
        say(f"Groups of {posterior.system} on {posterior.benchmark}:")
        say(posterior.groups(prob).to_string(index=False, float_format="{:.3f}".format))
    for posterior in posteriors if sensitivity else ():
        say(repr(prior_sensitivity(posterior, progress=not chosen.quiet)))
    for file in files:
        typer.echo(f"saved {file}")


def run_report(
    paths: Sequence[str],
    chosen: Settings,
    out: str,
    title: str | None,
    metric: Sequence[str] | None,
    prob: float | None,
    width: float | None,
    as_json: bool,
) -> None:
    """Write a report and print its path, or the document itself."""
    target = require_writable(out, FORMATS)
    if width is not None:
        require_probability("width", width)  # before any long work
    metrics = [metric_from(text) for text in metric or ()] or None
    posteriors = posteriors_of(paths, chosen)
    plans = []
    if width is not None:
        asked: dict[str, Any] = {"width": width, "prob": prob, "progress": not chosen.quiet}
        plans = [plan(item, estimand=name, **asked) for item in posteriors for name in ("population", "benchmark")]
    command = shlex.join(["bayeseval", *sys.argv[1:]])
    report(posteriors, target, title=title, metrics=metrics, plans=plans, prob=prob, commands=[command])
    if as_json:
        files = {"report": str(target)}
        print_document(posteriors, "report", metrics, prob, plans, title=title, files=files, commands=[command])
    else:
        typer.echo(str(target))


def print_document(
    posteriors: Posteriors,
    kind: str,
    metrics: Sequence[Any] | None,
    prob: float | None,
    plans: Sequence[Plan] = (),
    *,
    title: str | None = None,
    files: Mapping[str, Any] | None = None,
    commands: Sequence[str] = (),
) -> None:
    """Print the document of runs and their plans; of plans alone where there is no run."""
    if len(posteriors):
        material = Material.gather(
            posteriors, title=title, metrics=metrics, plans=list(plans), prob=prob, commands=commands
        )
    else:
        material = Material.of_plans(plans)
    record = document(material, kind, prompts=False)
    typer.echo(json_text({**record, "files": dict(files)} if files else record), nl=False)


def _save_target(out: str) -> Path:
    """Where posteriors go, refused before any long work where it cannot be."""
    target = Path(out).expanduser()
    if target.suffix == SAVED:
        return require_writable(target, (SAVED,))
    if target.suffix or target.is_file():
        raise OptionError(f"posteriors are saved as {SAVED} files or into a folder, but --out {out!r} was given")
    return target


def save(posteriors: Posteriors, target: Path) -> list[Path]:
    """Save posteriors as one file, or one a run into a folder that is made where there is none.

    Parameters
    ----------
    posteriors : Posteriors
    target : pathlib.Path
        A file that ends in .nc, for a single run, or a folder.

    Returns
    -------
    list of pathlib.Path
    """
    if target.suffix == SAVED:
        if len(posteriors) > 1:
            raise OptionError(
                f"{len(posteriors)} runs do not fit into the one file {target}: name a folder, such as "
                f"--out {target.with_suffix('')}, or choose a run with --system and --benchmark"
            )
        return [posteriors[0].save(target)]
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"the folder {target} cannot be made: {error.strerror}; choose another one") from None
    runs = [(posterior.system, posterior.benchmark) for posterior in posteriors]
    files = distinct_files(runs, target, SAVED)
    return [posterior.save(file) for posterior, file in zip(posteriors, files, strict=True)]


def distinct_files(runs: Sequence[tuple[str, str]], folder: Path, suffix: str, start: str = "") -> list[Path]:
    """Names of files for runs, made of system and benchmark, no two of them alike."""
    files: dict[Path, None] = {}
    for system, benchmark in runs:
        stem = start + (re.sub(r"[^\w.-]+", "-", f"{system}--{benchmark}")[:120].strip("-.") or "run")
        name, copy = folder / f"{stem}{suffix}", 2
        while name in files:
            name, copy = folder / f"{stem}-{copy}{suffix}", copy + 1
        files[name] = None
    return list(files)
