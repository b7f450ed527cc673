"""Answers of several systems compared by correctness: coupled, generation by generation, or independent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayeseval.errors import DataError, OptionError
from bayeseval.outcomes import Outcomes
from bayeseval.pairs import common_prompts
from bayeseval.readers.codes import IntArray, TextArray

__all__ = ["Compared", "compared_answers"]


class Compared(NamedTuple):
    """Comparisons of all pairs of systems: counts (prompt, pair) of wins and losses of the first, and of ties."""

    systems: tuple[str, ...]
    prompt: TextArray
    first: IntArray
    second: IntArray
    wins: IntArray
    losses: IntArray
    ties: IntArray
    warnings: tuple[str, ...]


def compared_answers(outcomes: Outcomes | Sequence[Outcomes], *, coupled: bool, shared_noise: bool = True) -> Compared:
    r"""Compare the answers of all systems to the prompts that all of them have.

    Parameters
    ----------
    outcomes : Outcomes or sequence of Outcomes
        Two systems or more on one benchmark.
    coupled : bool
        Whether generation j is compared with generation j, else with all others.
    shared_noise : bool
        Without coupling: whether generations of equal number are left out, because they may share their noise.

    Returns
    -------
    Compared

    Notes
    -----
    With :math:`c` correct of :math:`k` generations of each system, :math:`m` numbers that both have and
    :math:`n_{11}` of those in which both are correct, the pairs of different numbers are :math:`k_A k_B - m`, among
    them :math:`c_A c_B - n_{11}` with both correct.
    """
    runs = _runs(outcomes)
    names = [run.run_names[0][0] for run in runs]
    prompts = []
    for run in runs:
        scored = ~np.isnan(run.correct)
        prompts.append(np.array(list(dict.fromkeys(run.prompt[scored].tolist())), dtype=object))
    shared, _, warnings = common_prompts(prompts, names)
    seen, right = _cubes(runs, shared)
    first, second = np.triu_indices(len(runs), 1)
    sums = {
        name: (one[:, :, first] * two[:, :, second]).sum(axis=1)
        for name, one, two in (
            ("both", right, right), ("win", right, seen - right), ("loss", seen - right, right), ("pair", seen, seen),
        )
    }  # fmt: skip
    if not coupled:
        k, c = seen.sum(axis=1), right.sum(axis=1)
        kept = 1 if shared_noise else 0
        sums = {
            "win": c[:, first] * (k - c)[:, second] - kept * sums["win"],
            "loss": (k - c)[:, first] * c[:, second] - kept * sums["loss"],
            "pair": k[:, first] * k[:, second] - kept * sums["pair"],
        }
    _require_pairs(sums["pair"], coupled, [(names[a], names[b]) for a, b in zip(first, second, strict=True)])
    empty = (sums["pair"] == 0).any(axis=1)
    if empty.any():
        warnings.append(
            f"{int(empty.sum()):,} of {empty.size:,} prompts lack generations that may be compared for some pair of "
            f"systems, which then rests on the others"
        )
    ties = sums["pair"] - sums["win"] - sums["loss"]
    return Compared(tuple(names), shared, first, second, sums["win"], sums["loss"], ties, tuple(warnings))


def _runs(outcomes: Outcomes | Sequence[Outcomes]) -> list[Outcomes]:
    """One run a system, of one benchmark."""
    listed = [outcomes] if isinstance(outcomes, Outcomes) else list(outcomes)
    if not listed or not all(isinstance(one, Outcomes) for one in listed):
        raise OptionError("answers are compared one by one, which takes Outcomes: one object, or a list of them")
    runs = [run for one in listed for run in one.runs()]
    systems = [run.run_names[0][0] for run in runs]
    benchmarks = list(dict.fromkeys(run.run_names[0][1] for run in runs))
    if len(benchmarks) > 1:
        raise DataError(
            f"systems are compared on one benchmark, but there are {', '.join(map(repr, benchmarks[:5]))}; choose one "
            f"with .select(benchmark=...)"
        )
    if len(runs) < 2:
        raise DataError(f"a comparison needs at least two systems, but there is {systems[0]!r} alone")
    for name in systems:
        if systems.count(name) > 1:
            raise DataError(f"system {name!r} was given twice; rename one of them where they differ")
    return runs


def _cubes(runs: Sequence[Outcomes], shared: TextArray) -> tuple[IntArray, IntArray]:
    """Whether a generation is there, and whether it is correct (prompt, generation, system); 0 where there is none."""
    place = {prompt: row for row, prompt in enumerate(shared.tolist())}
    numbers: dict[str, int] = {}
    cells = []
    for run in runs:
        rows = np.flatnonzero([prompt in place for prompt in run.prompt.tolist()] & ~np.isnan(run.correct))
        prompt = np.array([place[name] for name in run.prompt[rows].tolist()])
        column = np.array([numbers.setdefault(str(name), len(numbers)) for name in run.generation[rows].tolist()])
        cells.append((prompt, column, run.correct[rows]))
    seen = np.zeros((len(shared), len(numbers), len(runs)), dtype=np.int64)
    right = np.zeros_like(seen)
    for system, (prompt, column, correct) in enumerate(cells):
        seen[prompt, column, system] = 1
        right[prompt, column, system] = correct > 0
    return seen, right


def _require_pairs(pairs: IntArray, coupled: bool, names: Sequence[tuple[str, str]]) -> None:
    none = np.flatnonzero(pairs.sum(axis=0) == 0)
    if not none.size:
        return
    a, b = names[int(none[0])]
    if coupled:
        raise DataError(
            f"no generation of {a!r} has a partner of the same prompt and number among those of {b!r}: coupled answers "
            f"are paired by number"
        )
    raise DataError(
        f"{a!r} and {b!r} have no two generations of different numbers on one prompt: those of equal number may share "
        f"their noise and are left out; where they do not, say shared_noise=False"
    )
