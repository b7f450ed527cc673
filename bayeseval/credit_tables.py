"""Credits of one run, prompt by prompt: how often each level was given, and the sums that continuous models need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.display import html_table, number
from bayeseval.readers.codes import FloatArray, IntArray, TextArray, factorize
from bayeseval.readers.values import SAME, level_words

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CreditTable", "LevelCounts", "credit_table", "level_counts"]


@dataclass(frozen=True, eq=False, repr=False)
class LevelCounts:
    """How often each level was given to each prompt.

    Attributes
    ----------
    system, benchmark, prompt : object array (prompt,)
        In order of first appearance.
    levels : tuple of float
        Increasing.
    counts : int64 array (prompt, level)
        Generations without a score are in none of them.
    """

    system: TextArray
    benchmark: TextArray
    prompt: TextArray
    levels: tuple[float, ...]
    counts: IntArray

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with columns system, benchmark, prompt and one for each level."""
        import pandas as pd

        columns = {"system": self.system, "benchmark": self.benchmark, "prompt": self.prompt}
        named = {level_words((level,)): self.counts[:, place] for place, level in enumerate(self.levels)}
        return pd.DataFrame({**columns, **named})

    def __repr__(self) -> str:
        total = ", ".join(
            f"{level_words((level,))}: {count:,}"
            for level, count in zip(self.levels, self.counts.sum(axis=0).tolist(), strict=True)
        )
        return f"LevelCounts: {len(self.prompt):,} prompts, {int(self.counts.sum()):,} generations ({total})"

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        return html_table(
            [*frame], [[str(cell) for cell in row] for row in frame.itertuples(index=False)], [repr(self)]
        )


@dataclass(frozen=True, eq=False, repr=False)
class CreditTable:
    """What models and moments need to know of the credits of one run.

    "Interior" credits lie strictly between 0 and 1.

    Attributes
    ----------
    system, benchmark : str
    prompt : object array (prompt,)
        In order of first appearance; prompts without a scored generation are among them.
    group : int64 array (prompt,) or None
        Number of the group of each prompt in ``groups``.
    groups : tuple of str
        Names of the groups, in order of first appearance; empty without groups.
    levels : tuple of float or None
        Levels, where they were declared.
    counts : int64 array (prompt, level) or None
        How often each level was given, where levels were declared.
    generations : int64 array (prompt,)
        Scored generations.
    zeros, ones, interior : int64 array (prompt,)
        How many of them have credit 0, credit 1 and a credit in between.
    log_credit, log_rest : float array (prompt,)
        Sums of log(y) and of log(1 - y) over interior credits y; 0 where there are none.
    interior_mean : float array (prompt,)
        Mean of the interior credits; NaN where there are none.
    total, squares : float array (prompt,)
        Sum of all credits and of their squares.
    variance : float array (prompt,)
        Sample variance of the credits (divided by generations - 1), exactly 0 where all are equal; NaN for fewer than
        two generations.
    smallest, largest : float
        The ends that credits come near to: 0 and 1 where no other credits occur, else the smallest and the largest one
        that occurs.
    """

    system: str
    benchmark: str
    prompt: TextArray
    group: IntArray | None
    groups: tuple[str, ...]
    levels: tuple[float, ...] | None
    counts: IntArray | None
    generations: IntArray
    zeros: IntArray
    ones: IntArray
    interior: IntArray
    log_credit: FloatArray
    log_rest: FloatArray
    interior_mean: FloatArray
    total: FloatArray
    squares: FloatArray
    variance: FloatArray
    smallest: float
    largest: float

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with one row a prompt; levels are left to `LevelCounts`."""
        import pandas as pd

        names = ("generations", "zeros", "ones", "interior", "log_credit", "log_rest", "interior_mean")
        columns = {name: getattr(self, name) for name in (*names, "total", "squares", "variance")}
        group = {} if self.group is None else {"group": np.array(self.groups, dtype=object)[self.group]}
        return pd.DataFrame({"prompt": self.prompt, **group, **columns})

    def __repr__(self) -> str:
        levels = "" if self.levels is None else f", levels {level_words(self.levels)}"
        return (
            f"CreditTable: {self.system} on {self.benchmark}, {len(self.prompt):,} prompts, {self.zeros.sum():,} "
            f"credits of 0, {self.interior.sum():,} in between, {self.ones.sum():,} of 1{levels}"
        )

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        body = [
            [number(cell) if isinstance(cell, float) else str(cell) for cell in row]
            for row in frame.itertuples(index=False)
        ]
        return html_table([*frame], body, [repr(self)])


def level_counts(prompt: IntArray, credit: FloatArray, levels: tuple[float, ...], size: int) -> IntArray:
    """Count the levels of every prompt.

    Parameters
    ----------
    prompt : int array (row,)
        Number of the prompt of each row, below ``size``.
    credit : float array (row,)
        One of the levels or within rounding above it, or NaN.
    levels : tuple of float
        Increasing.
    size : int
        Number of prompts.

    Returns
    -------
    int64 array (prompt, level)

    Examples
    --------
    >>> level_counts(np.array([0, 0, 1]), np.array([0.5, np.nan, 1.0]), (0.0, 0.5, 1.0), 2).tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    known = ~np.isnan(credit)
    cell = prompt[known] * len(levels) + np.searchsorted(np.asarray(levels), credit[known] + SAME, side="right") - 1
    return np.bincount(cell, minlength=size * len(levels)).reshape(size, len(levels)).astype(np.int64)


def credit_table(
    prompt: TextArray,
    credit: FloatArray,
    *,
    system: str = "system",
    benchmark: str = "benchmark",
    group: TextArray | None = None,
    levels: tuple[float, ...] | None = None,
) -> CreditTable:
    """Sums over the generations of each prompt of one run.

    Parameters
    ----------
    prompt : object array (row,)
    credit : float array (row,)
        In [0, 1], NaN where not scored; one of the levels where these are given.
    system, benchmark : str
    group : object array (row,), optional
        The same for all rows of a prompt.
    levels : tuple of float, optional
        Increasing.

    Returns
    -------
    CreditTable

    Notes
    -----
    The variance is computed from differences d to the first credit of a prompt, ``(k sum d^2 - (sum d)^2) / (k (k-1))``
    for k generations. Equal credits then give 0 without rounding, and credits of 0 and 1 give
    ``c (k - c) / (k (k - 1))`` in whole numbers.

    Examples
    --------
    >>> prompt = np.array(["a", "a", "a", "b"], dtype=object)
    >>> table = credit_table(prompt, np.array([0.0, 0.5, 1.0, 0.25]))
    >>> table
    CreditTable: system on benchmark, 2 prompts, 1 credits of 0, 2 in between, 1 of 1
    >>> table.variance
    array([0.25,  nan])
    """
    row, names = factorize(prompt)
    size = len(names)
    known = ~np.isnan(credit)
    code, y = row[known], credit[known]
    inside = (y > 0) & (y < 1)

    def count(where: np.ndarray) -> IntArray:
        return np.bincount(code[where], minlength=size).astype(np.int64)

    def add(values: FloatArray, which: IntArray = code) -> FloatArray:
        return np.bincount(which, weights=values, minlength=size).astype(np.float64)

    generations, interior = np.bincount(code, minlength=size).astype(np.int64), count(inside)
    first = np.zeros(size)
    first[code[::-1]] = y[::-1]  # the first one is written last
    apart = y - first[code]
    pairs = np.where(generations > 1, generations * (generations - 1.0), np.nan)
    with np.errstate(invalid="ignore"):
        interior_mean = add(y[inside], code[inside]) / np.where(interior > 0, interior, np.nan)
    group_row, group_names = (None, []) if group is None else factorize(group)
    smallest, largest = (0.0, 1.0) if not inside.any() else (float(y.min()), float(y.max()))
    start = np.unique(row, return_index=True)[1]
    return CreditTable(
        system=system,
        benchmark=benchmark,
        prompt=np.array(names, dtype=object),
        group=None if group_row is None else group_row[start],
        groups=tuple(group_names),
        levels=levels,
        counts=None if levels is None else level_counts(row, credit, levels, size),
        generations=generations,
        zeros=count(y == 0),
        ones=count(y == 1),
        interior=interior,
        log_credit=add(np.log(y[inside]), code[inside]),
        log_rest=add(np.log1p(-y[inside]), code[inside]),
        interior_mean=interior_mean,
        total=add(y),
        squares=add(y * y),
        variance=np.maximum(generations * add(apart * apart) - add(apart) ** 2, 0.0) / pairs,
        smallest=smallest,
        largest=largest,
    )
