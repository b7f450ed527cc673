"""Pairs: two systems on the same prompts, aligned by prompt id, and by generation where generations share noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.arrays import as_counts as checked_counts
from bayeseval.counts import Counts
from bayeseval.display import html_table
from bayeseval.errors import DataError, OptionError
from bayeseval.outcomes import Outcomes
from bayeseval.readers.codes import IntArray, TextArray, combine, factorize
from bayeseval.readers.records import number

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Pairs", "common_prompts", "listed", "pair_tables"]

MOST_NAMED = 5


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """Two systems on the same prompts: what each was answered, and how often both were right at once.

    Attributes
    ----------
    systems : tuple of str
        Names of system A and system B, in this order.
    benchmark : str
    prompt : object array (prompt,)
        Prompts that both systems answered.
    correct, generations : int array (2, prompt)
        Of A and of B. Where generations are coupled, those that have a partner.
    both : int array (prompt,) or None
        Coupled generations in which A and B were correct; None where generations of A and B are independent.
    group : object array (prompt,) or None
        Subject, category or cluster.
    warnings : tuple of str
        What was left out, and why.

    Raises
    ------
    DataError
        If counts are impossible, or coupled generations of A and B are not equally many.

    Examples
    --------
    >>> pairs = Pairs(("a", "b"), "sums", ["1", "2"], [[3, 0], [4, 1]], [[4, 4], [4, 4]], both=[3, 0])
    >>> pairs
    Pairs: a and b on sums, 2 prompts, 8 coupled generations
    >>> pairs.tables.tolist()
    [[3, 0, 1, 0], [0, 0, 1, 3]]
    """

    systems: tuple[str, str]
    benchmark: str
    prompt: TextArray
    correct: IntArray
    generations: IntArray
    both: IntArray | None = None
    group: TextArray | None = None
    warnings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        correct, generations = checked_counts(self.correct, self.generations)
        prompt = np.asarray(self.prompt, dtype=object)
        if correct.shape != (2, prompt.size):
            raise DataError(
                f"counts of two systems on {prompt.size:,} prompts were expected, not shape {correct.shape}"
            )
        if not prompt.size:
            raise DataError("there is no prompt that both systems answered: there is nothing to compare")
        both = None if self.both is None else np.asarray(self.both, dtype=np.int64)
        if both is not None:
            if (generations[0] != generations[1]).any():
                raise DataError("coupled generations come in pairs, but A and B have unequal numbers of them")
            least, most = np.maximum(correct.sum(axis=0) - generations[0], 0), correct.min(axis=0)
            if both.shape != prompt.shape or ((both < least) | (both > most)).any():
                raise DataError(
                    "the coupled generations in which both are correct must be between what the counts of A and of B "
                    "require and what they allow"
                )
        for name, value in (("prompt", prompt), ("correct", correct), ("generations", generations), ("both", both)):
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, a: Counts | Outcomes, b: Counts | Outcomes, *, coupled: bool = False) -> Pairs:
        """Align two runs by prompt id and, where their generations share noise, by generation.

        Parameters
        ----------
        a, b : Counts or Outcomes
            One run each, of different systems on one benchmark. Coupled generations need outcomes of both.
        coupled : bool
            Whether generation j of a prompt was made with the same random numbers by both systems.

        Returns
        -------
        Pairs
            Prompts that one of them lacks, or never scored, and coupled generations without a partner are left out; the
            warnings say how many and which.

        Raises
        ------
        DataError
            If benchmarks or systems do not fit together, or no prompt (no generation) is shared.
        OptionError
            If something else than one run each was given, or coupled generations without outcomes.

        Examples
        --------
        >>> a = Outcomes.from_matrix([[1, 1, 0]], system="a")
        >>> b = Outcomes.from_matrix([[1, 0, 0]], system="b")
        >>> Pairs.of(a, b, coupled=True).tables
        array([[1, 1, 0, 1]])
        """
        names = _names(a, b)
        benchmark = str(a.benchmark[0])
        if coupled:
            if not isinstance(a, Outcomes) or not isinstance(b, Outcomes):
                raise OptionError(
                    "coupled generations are paired one by one, which counts cannot tell: give the Outcomes of both "
                    "systems, generation j of both made with the same noise"
                )
            prompt, tables, warnings = pair_tables(a, b)
            both, only_a, only_b, _ = tables.T
            correct, size = np.stack([both + only_a, both + only_b]), tables.sum(axis=1)
            return cls(names, benchmark, prompt, correct, np.stack([size, size]), both, _groups(a, prompt), warnings)
        counts = [one if isinstance(one, Counts) else one.counts() for one in (a, b)]
        answered = [np.flatnonzero(one.generations > 0) for one in counts]
        empty = [len(one) - rows.size for one, rows in zip(counts, answered, strict=True)]
        said = [
            f"{number(left, 'prompt')} of {name} without a scored generation left out"
            for name, left in zip(names, empty, strict=True)
            if left
        ]
        ids = [one.prompt[rows] for one, rows in zip(counts, answered, strict=True)]
        prompt, place, unmatched = common_prompts(ids, names)
        rows = [own[at] for own, at in zip(answered, place, strict=True)]
        correct, generations = (
            np.stack([getattr(one, name)[at] for one, at in zip(counts, rows, strict=True)])
            for name in ("correct", "generations")
        )
        return cls(names, benchmark, prompt, correct, generations, None, _groups(a, prompt), (*said, *unmatched))

    @property
    def coupled(self) -> bool:
        """Whether generations share their noise, and are paired one by one."""
        return self.both is not None

    @property
    def tables(self) -> IntArray:
        """Coupled generations of every prompt (prompt, 4): both correct, only A, only B, neither.

        Raises
        ------
        DataError
            If generations are independent, so that no two of them belong together.
        """
        if self.both is None:
            raise DataError(
                f"generations of {self.systems[0]} and {self.systems[1]} are independent, so no two of them belong "
                f"together: a table of both needs coupled generations"
            )
        a, b = self.correct
        return np.stack([self.both, a - self.both, b - self.both, self.generations[0] - a - b + self.both], axis=1)

    def __len__(self) -> int:
        return int(self.prompt.size)

    @property
    def label(self) -> str:
        """Names of both systems and of the benchmark."""
        return f"{self.systems[0]} and {self.systems[1]} on {self.benchmark}"

    def swapped(self) -> Pairs:
        """The same with A and B in each other's place."""
        return Pairs(
            self.systems[::-1], self.benchmark, self.prompt, self.correct[::-1], self.generations[::-1], self.both,
            self.group, self.warnings,
        )  # fmt: skip

    def take(self, rows: Any) -> Pairs:
        """Some of the prompts."""
        group = None if self.group is None else self.group[rows]
        both = None if self.both is None else self.both[rows]
        return Pairs(
            self.systems, self.benchmark, self.prompt[rows], self.correct[:, rows], self.generations[:, rows], both,
            group, self.warnings,
        )  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with one row a prompt: prompt, group, and generations and correct of A and of B.

        Columns ``generations_a``, ``correct_a``, ``generations_b``, ``correct_b``, and ``both`` for coupled ones.
        """
        import pandas as pd

        columns: dict[str, Any] = {"prompt": self.prompt}
        if self.group is not None:
            columns["group"] = self.group
        for place, name in enumerate("ab"):
            columns[f"generations_{name}"] = self.generations[place]
            columns[f"correct_{name}"] = self.correct[place]
        if self.both is not None:
            columns["both"] = self.both
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        shown = f"Pairs: {self.label}, {number(len(self), 'prompt')}, "
        if self.coupled:
            return shown + number(int(self.generations[0].sum()), "coupled generation")
        a, b = self.generations.sum(axis=1)
        return shown + f"{a:,} and {b:,} independent generations"

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        rows = [[str(cell) for cell in row] for row in frame.itertuples(index=False)]
        return html_table(list(frame.columns), rows, (repr(self), *self.warnings))


def common_prompts(prompts: Sequence[np.ndarray], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Prompts that all have, by id: ids, their rows (system, prompt), and a sentence for each system that has others.

    Raises
    ------
    DataError
        If there is none.
    """
    rows = [{str(prompt): row for row, prompt in enumerate(ids)} for ids in prompts]
    shared = [prompt for prompt in rows[0] if all(prompt in other for other in rows[1:])]
    if not shared:
        examples = "; ".join(f"{name} has {listed(list(own))}" for name, own in zip(names, rows, strict=True))
        raise DataError(
            f"no prompt was answered by all of {', '.join(names)}, and prompts are matched by their ids: {examples}"
        )
    place = np.array([[own[prompt] for prompt in shared] for own in rows])
    known = set(shared)
    warnings = []
    for name, own in zip(names, rows, strict=True):
        left = [prompt for prompt in own if prompt not in known]
        if left:
            noun = "prompt" if len(left) == 1 else "prompts"
            warnings.append(f"{len(left):,} {noun} of {name} have no partner and are left out: {listed(left)}")
    return np.array(shared, dtype=object), place, warnings


def pair_tables(a: Outcomes, b: Outcomes) -> tuple[TextArray, IntArray, tuple[str, ...]]:
    """Pairs of generations of two systems with the same prompt and number, counted by prompt.

    Parameters
    ----------
    a, b : Outcomes
        One run each. Generations without a score make no pair.

    Returns
    -------
    prompt : object array (prompt,)
    tables : int array (prompt, 4)
        Both correct, only a, only b, neither.
    warnings : tuple of str
        How many scored generations have no partner.

    Raises
    ------
    OptionError
        If these are not the outcomes of one run each.
    DataError
        If no generation has a partner.

    Examples
    --------
    >>> a = Outcomes.from_matrix([[1, 1, 0]], system="a")
    >>> b = Outcomes.from_matrix([[1, 0, 0]], system="b")
    >>> pair_tables(a, b)[1]
    array([[1, 1, 0, 1]])
    """
    for given in (a, b):
        if not isinstance(given, Outcomes) or len(given.run_names) != 1:
            raise OptionError(
                "pairing coupled generations takes the Outcomes of one run for each system, generation j of both made "
                "with the same noise"
            )
    scored = [np.flatnonzero(~np.isnan(one.correct)) for one in (a, b)]
    prompts, generations = (
        factorize(np.concatenate([getattr(one, name)[rows] for one, rows in zip((a, b), scored, strict=True)]))
        for name in ("prompt", "generation")
    )
    key = combine(prompts[0], _numbers_as_text(generations))
    first, second = key[: scored[0].size], key[scored[0].size :]
    shared, at_a, at_b = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    if not shared.size:
        raise DataError(
            "no generation of the first outcomes has a partner of the same prompt and number in the second, so the "
            "noise that they share cannot be estimated"
        )
    order = np.argsort(at_a)
    at_a, at_b = at_a[order], at_b[order]
    rows, seen = factorize(prompts[0][: scored[0].size][at_a])
    right = [one.correct[own][at] > 0 for one, own, at in zip((a, b), scored, (at_a, at_b), strict=True)]
    kind = np.where(right[0], np.where(right[1], 0, 1), np.where(right[1], 2, 3))
    tables = np.bincount(rows * 4 + kind, minlength=4 * len(seen)).reshape(-1, 4).astype(np.int64)
    alone = len(key) - 2 * shared.size
    warnings = (f"{alone:,} generations of the coupled outcomes have no partner and are left out",) if alone else ()
    return np.array([prompts[1][code] for code in seen], dtype=object), tables, warnings


def _numbers_as_text(generations: tuple[IntArray, list[Any]]) -> IntArray:
    """Codes of generations by their text, so that generation 3 of one file is generation "3" of another."""
    codes, names = generations
    place: dict[str, int] = {}
    return np.array([place.setdefault(str(name), len(place)) for name in names], dtype=np.int64)[codes]


def _names(a: object, b: object) -> tuple[str, str]:
    for given in (a, b):
        if not isinstance(given, Counts | Outcomes) or len(given.run_names) != 1:
            shape = f"{type(given).__name__} of {given.label}" if hasattr(given, "label") else type(given).__name__
            raise OptionError(
                f"a pair is made of the Counts or Outcomes of one run each, but {shape} was given; choose one with "
                f".select(system=..., benchmark=...)"
            )
    (name_a, benchmark_a), (name_b, benchmark_b) = a.run_names[0], b.run_names[0]  # type: ignore[attr-defined]
    if benchmark_a != benchmark_b:
        raise DataError(
            f"two systems are compared on the same prompts, but their benchmarks are {benchmark_a!r} and "
            f"{benchmark_b!r}; where that is one benchmark under two names, give it one"
        )
    if name_a == name_b:
        raise DataError(
            f"different systems are compared, but {name_a!r} was given twice; rename one of them where they differ"
        )
    return name_a, name_b


def _groups(one: Counts | Outcomes, prompt: TextArray) -> TextArray | None:
    if one.group is None:
        return None
    known = dict(zip(one.prompt.tolist(), one.group.tolist(), strict=True))
    return np.array([known.get(name) for name in prompt.tolist()], dtype=object)


def listed(items: Sequence[str]) -> str:
    """A few of the items, and how many more there are."""
    shown = ", ".join(map(repr, items[:MOST_NAMED]))
    return shown + (f" and {len(items) - MOST_NAMED:,} more" if len(items) > MOST_NAMED else "")
