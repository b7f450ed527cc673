"""Which runs of some files a command is about: one, two, or all that there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayeseval.cli.work import SAVED, Settings, posteriors_of, read_results, require_one_run
from bayeseval.errors import OptionError
from bayeseval.planning import SystemGuess
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import Posterior

__all__ = ["name_of", "only_run", "require_different", "runs_of_files", "two_of"]


def _wanted(data: Any, chosen: Settings) -> list[Any]:
    """Runs of the systems and benchmarks asked for, each by itself; those that a file lacks are passed over."""
    return [
        run
        for run in data.runs()
        for system, benchmark in run.run_names
        if system in (chosen.system or [system]) and benchmark in (chosen.benchmark or [benchmark])
    ]


def only_run(path: str, chosen: Settings, what: str) -> Any:
    """The single run of a file: a posterior where it is a saved one, else results as they are."""
    if path.endswith(SAVED):
        return posteriors_of([path], chosen)[0]
    data = read_results([path], chosen)
    runs = _wanted(data, chosen)
    if not runs:  # says which systems and benchmarks there are
        runs = data.select(system=chosen.system or None, benchmark=chosen.benchmark or None).runs()
    require_one_run([name for run in runs for name in run.run_names], what)
    return runs[0]


def runs_of_files(paths: Sequence[str], chosen: Settings) -> list[Any]:
    """Every run of the files: saved posteriors, and results that are not fitted yet."""
    saved, results = ([path for path in paths if path.endswith(SAVED) == kept] for kept in (True, False))
    found: list[Any] = list(posteriors_of(saved, chosen)) if saved else []
    for one in found:
        refuse_credits(one)
    if results:
        data = read_results(results, chosen)
        found += data.select(system=chosen.system or None, benchmark=chosen.benchmark or None).runs()
    return found


def two_of(pool: Sequence[Any], a: str | None, b: str | None) -> list[Any]:
    """The two systems to be compared."""
    names = [name_of(one) for one in pool]
    require_different(names)
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


def name_of(run: Any) -> str:
    """The system of a run, or of a guess."""
    if isinstance(run, SystemGuess):
        return run.name
    return run.system if isinstance(run, Posterior) else str(run.run_names[0][0])


def require_different(names: Sequence[str]) -> None:
    """Refuse a system that occurs twice."""
    for name in names:
        if names.count(name) > 1:
            raise OptionError(
                f"system {name!r} occurs {names.count(name)} times: choose a benchmark with --benchmark, or rename one"
            )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
