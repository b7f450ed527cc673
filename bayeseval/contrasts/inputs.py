"""What a comparison is given: posteriors, counts or outcomes of one run each, and the pairs that they make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import numpy as np

from bayeseval.counts import Counts
from bayeseval.errors import OptionError
from bayeseval.fitting import fit
from bayeseval.outcomes import Outcomes
from bayeseval.pairs import Pairs
from bayeseval.posterior.posterior import Posterior

__all__ = ["Run", "coupled_pairs", "equal_seeds", "fitted", "run_of", "runs_of", "seed_warning"]


class Run(NamedTuple):
    """One run: its posterior or counts, and the outcomes where they are known."""

    source: Posterior | Counts
    outcomes: Outcomes | None


def run_of(given: Any) -> Run:
    """What was given of one system; whether it can be compared is for `bayeseval.posterior.aligned` to say."""
    if isinstance(given, Outcomes):
        return Run(given.counts(), given)
    if isinstance(given, Posterior):
        return Run(given, given.outcomes)
    return Run(given, None)


def runs_of(given: Iterable[Any]) -> list[Run]:
    """Runs of several systems: Counts or Outcomes of many runs, or a sequence of posteriors, counts or outcomes."""
    if isinstance(given, Counts | Outcomes):
        return [run_of(one) for one in given.runs()]
    if isinstance(given, Posterior) or not isinstance(given, Iterable):
        raise OptionError(
            f"a ranking takes several systems: Posteriors, Counts or Outcomes of several runs, or a list of them, but "
            f"{type(given).__name__} was given"
        )
    return [run_of(one) for item in given for one in (item.runs() if isinstance(item, Counts | Outcomes) else [item])]


def fitted(run: Posterior | Counts, seed: int) -> Posterior:
    """The posterior itself, or that of the default model by the exact engine."""
    if isinstance(run, Posterior):
        return run
    post: Posterior = fit(run, engine="quadrature", seed=seed, progress=False)
    return post


def coupled_pairs(a: Any, b: Any, what: str) -> Pairs:
    """Pairs of generations with the same number of prompt and generation, whatever they were given as.

    Raises
    ------
    OptionError
        If there are no outcomes.
    """
    if isinstance(a, Pairs):
        if b is not None:
            raise OptionError(f"{what} takes Pairs alone, or the Outcomes of two systems")
        if not a.coupled:
            raise OptionError(
                f"{what} needs generations that belong together one by one: make the pairs with "
                f"Pairs.of(outcomes_a, outcomes_b, coupled=True)"
            )
        return a
    found = [one if isinstance(one, Outcomes) else getattr(one, "outcomes", None) for one in (a, b)]
    for given, outcomes in zip((a, b), found, strict=True):
        if not isinstance(outcomes, Outcomes):
            kind = "nothing" if given is None else type(given).__name__
            raise OptionError(
                f"{what} pairs generations one by one, which counts cannot tell: it takes the Outcomes of both "
                f"systems, or posteriors fitted to Outcomes, but {kind} was given"
            )
    first, second = cast(list[Outcomes], found)
    return Pairs.of(first, second, coupled=True)


def equal_seeds(a: Outcomes | None, b: Outcomes | None) -> tuple[int, int]:
    """Generations with the same prompt, number and seed in both, and generations with the same prompt and number."""
    if a is None or b is None or a.seed is None or b.seed is None:
        return 0, 0
    known = {(p, str(g)): s for p, g, s in zip(a.prompt, a.generation, a.seed, strict=True) if s is not None}
    missing = object()
    found = [
        (known.get((p, str(g)), missing), s)
        for p, g, s in zip(b.prompt, b.generation, b.seed, strict=True)
        if s is not None
    ]
    both = [(x, y) for x, y in found if x is not missing]
    return sum(str(x) == str(y) for x, y in both), len(both)


def seed_warning(a: Outcomes | None, b: Outcomes | None, systems: tuple[str, str]) -> tuple[str, ...]:
    """A sentence where seeds, or all generations, of two systems are the same."""
    same, total = equal_seeds(a, b)
    said = []
    if same:
        said.append(
            f"{same:,} of {total:,} generations of {systems[0]} and {systems[1]} have the same seed: systems with one "
            f"vocabulary may then share their noise, and are not independent; test it with be.shared_noise, and say "
            f"coupled=True or coupled=False"
        )
    if a is not None and b is not None and len(a.correct) == len(b.correct) and len(a.correct) > 1:
        matrix = [
            dict(zip(zip(one.prompt, map(str, one.generation), strict=True), one.correct, strict=True))
            for one in (a, b)
        ]
        values = np.array(list(matrix[0].values()))
        if np.unique(values[np.isfinite(values)]).size > 1 and _same(*matrix):
            said.append(
                f"every generation of {systems[0]} has the score that {systems[1]} has: is this one run with two names?"
            )
    return tuple(said)


def _same(a: dict[Any, float], b: dict[Any, float]) -> bool:
    return a.keys() == b.keys() and all(a[key] == b[key] or (a[key] != a[key] and b[key] != b[key]) for key in a)
