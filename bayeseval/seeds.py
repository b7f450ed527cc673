"""Seeds that systems share: generations made with equal seeds may be coupled though nobody meant it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayeseval.display import html_table
from bayeseval.errors import DataError, OptionError
from bayeseval.readers.codes import IntArray, combine, factorize
from bayeseval.readers.records import number

if TYPE_CHECKING:
    import pandas as pd

    from bayeseval.outcomes import Outcomes

__all__ = ["SharedSeeds", "shared_seed_lines", "shared_seeds", "systems_that_share"]


@dataclass(frozen=True, repr=False)
class SharedSeeds:
    """How many generations of two systems were made with equal seeds.

    Attributes
    ----------
    systems : tuple of str
        Names of system A and system B.
    benchmark : str
    pairs : int
        Generations that both systems have: the same prompt, and the same number or name within it.
    known : int
        Those of which the seeds of A and of B are known.
    equal : int
        Those with equal seeds.
    prompts : int
        Prompts on which some generation of A has the seed of some generation of B, whatever their numbers.
    """

    systems: tuple[str, str]
    benchmark: str
    pairs: int
    known: int
    equal: int
    prompts: int

    @property
    def explanation(self) -> str:
        """What that means for a comparison, in a sentence."""
        a, b = self.systems
        if not self.pairs:
            return f"{a} and {b} have no generation of the same prompt and number"
        if not self.known:
            return (
                f"the seeds of {a} and {b} are not known, so nothing tells whether their generations share noise: "
                "treat them as independent only if you know that the seeds differed"
            )
        if not self.prompts:
            return f"{a} and {b} share no seed on any prompt, as far as seeds are known"
        advice = "Sample one of them anew with other seeds" + (
            ", or compare generations of the same number as coupled pairs, Pairs.of(a, b, coupled=True)"
            if self.equal
            else ""
        )
        return (
            f"generations of {a} and {b} share seeds on {number(self.prompts, 'prompt')}, and in {self.equal:,} of "
            f"{number(self.known, 'pair')} of the same number: where both ran on the same sampler they may be coupled "
            f"by accident, and then they are not independent. {advice}"
        )

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with one row: system_a, system_b, benchmark, pairs, known, equal, prompts."""
        import pandas as pd

        return pd.DataFrame([self._row()])

    def _row(self) -> dict[str, Any]:
        numbers = {name: getattr(self, name) for name in ("pairs", "known", "equal", "prompts")}
        return {"system_a": self.systems[0], "system_b": self.systems[1], "benchmark": self.benchmark, **numbers}

    def __repr__(self) -> str:
        a, b = self.systems
        return (
            f"SharedSeeds: {a} and {b} on {self.benchmark}, {self.equal:,} of {self.pairs:,} pairs of generations with "
            f"equal seeds, {self.pairs - self.known:,} with unknown ones"
        )

    def _repr_html_(self) -> str:
        row = self._row()
        return html_table(list(row), [[str(value) for value in row.values()]], (repr(self), self.explanation))


def shared_seeds(a: Outcomes, b: Outcomes) -> SharedSeeds:
    r"""Count the generations of two systems that were made with equal seeds.

    Samplers such as ``torch.multinomial`` and vLLM's take :math:`\arg\max_v p_v / E_v` with exponential noise
    :math:`E_v` that follows from the seed. With equal seeds, vocabularies and places in the batch, the generations of
    two systems therefore share their noise, and agree more often than independent ones do.

    Parameters
    ----------
    a, b : Outcomes
        One run each, of different systems on one benchmark, with ``seed`` where it is known.

    Returns
    -------
    SharedSeeds
        Equal seeds make a coupling possible, they do not prove one: it is not there where both ran on samplers that
        use their seed in other ways.

    Raises
    ------
    OptionError
        If something else than outcomes of one run each was given.
    DataError
        If their benchmarks differ.

    Examples
    --------
    >>> import bayeseval as be
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["x", "x", "y", "y"], "prompt_id": "p", "generation": [0, 1, 0, 1],
    ...                       "seed": [7, 8, 7, 9], "correct": [1, 0, 1, 1]})
    >>> outcomes = be.Outcomes.from_frame(frame, quiet=True)
    >>> be.shared_seeds(outcomes.select(system="x"), outcomes.select(system="y"))
    SharedSeeds: x and y on benchmark, 1 of 2 pairs of generations with equal seeds, 0 with unknown ones
    """
    for given in (a, b):
        if getattr(given, "_given", None) != "correct" or len(given.run_names) != 1:
            raise OptionError(
                "shared_seeds takes the Outcomes of one run for each of two systems; choose one with "
                ".select(system=...)"
            )
    (name_a, benchmark), (name_b, other) = a.run_names[0], b.run_names[0]
    if benchmark != other:
        raise DataError(f"the benchmarks differ, {benchmark!r} and {other!r}: seeds are matched prompt by prompt")
    key = combine(_codes([a.prompt, b.prompt]), _codes([a.generation, b.generation]))
    _, at_a, at_b = np.intersect1d(key[: len(a)], key[len(a) :], assume_unique=True, return_indices=True)
    seeds = [_texts(one, rows) for one, rows in ((a, at_a), (b, at_b))]
    known = np.array([x is not None and y is not None for x, y in zip(*seeds, strict=True)], dtype=bool)
    equal = known & np.array([x == y for x, y in zip(*seeds, strict=True)], dtype=bool)
    both = [set(zip(one.prompt.tolist(), _texts(one, np.arange(len(one))), strict=True)) for one in (a, b)]
    prompts = {prompt for prompt, seed in both[0] & both[1] if seed is not None}
    return SharedSeeds((name_a, name_b), benchmark, len(at_a), int(known.sum()), int(equal.sum()), len(prompts))


def systems_that_share(outcomes: Outcomes) -> list[tuple[str, tuple[str, ...], int]]:
    """Systems with equal seeds on a prompt, for every benchmark that has such.

    Returns
    -------
    list of (benchmark, systems, prompts)
        Systems that share a seed with another one, and on how many prompts two of them do.
    """
    if outcomes.seed is None or len(set(outcomes.system.tolist())) < 2:
        return []
    rows = np.flatnonzero(np.array([seed is not None for seed in outcomes.seed.tolist()], dtype=bool))
    if not rows.size:
        return []
    columns = (outcomes.benchmark, outcomes.prompt, outcomes.seed)
    key = factorize(combine(*(_codes([column[rows]]) for column in columns)))[0]
    systems, names = factorize(outcomes.system[rows])
    distinct = np.unique(key * len(names) + systems)
    shared = np.bincount(distinct // len(names))[key] > 1
    benchmarks, labels = factorize(outcomes.benchmark[rows])
    result = []
    for code, label in enumerate(labels):
        inside = shared & (benchmarks == code)
        if inside.any():
            there = tuple(names[system] for system in np.unique(systems[inside]))
            result.append((label, there, len(set(outcomes.prompt[rows][inside]))))
    return result


def shared_seed_lines(outcomes: Outcomes) -> list[str]:
    """Lines of an account about `systems_that_share`."""
    lines = []
    for benchmark, systems, size in systems_that_share(outcomes):
        few = systems if len(systems) < 6 else (*systems[:4], f"{len(systems) - 4} more systems")
        lines.append(
            f"generations of {', '.join(few[:-1])} and {few[-1]} share seeds on {number(size, 'prompt')} of "
            f"{benchmark}: they may be coupled by accident, and are then not independent; see be.shared_seeds"
        )
    return lines


def _codes(columns: Sequence[npt.NDArray[Any]]) -> IntArray:
    """Codes of values of one or more columns by their texts, so that generation 3 and "3" are one."""
    codes, values = factorize(np.concatenate([column.astype(object) for column in columns]))
    place: dict[str, int] = {}
    return np.array([place.setdefault(str(value), len(place)) for value in values], dtype=np.int64)[codes]


def _texts(outcomes: Outcomes, rows: npt.NDArray[np.integer]) -> list[str | None]:
    if outcomes.seed is None:
        return [None] * len(rows)
    return [None if seed is None else str(seed) for seed in outcomes.seed[rows].tolist()]
