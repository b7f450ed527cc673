"""Which of many prompts get a budget, given what each number of generations is worth to each of them.

Prompts that are worth the same are of one *kind*; a kind is spent on as a whole until the budget ends. Generations
come in blocks, and everything here counts blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeseval.planning.allocating.gains import envelope

__all__ = ["Kinds", "Spent", "even", "objective", "room", "scattered", "spend"]


@dataclass(frozen=True)
class Kinds:
    """Kinds of prompts, in order of their first prompt.

    Attributes
    ----------
    row : int array (kind,)
        Row of the table of variances.
    scale : float array (kind,)
        What the variance of one prompt counts: its squared weight.
    start, stop : int array (kind,)
        Fewest and most blocks for each of its prompts.
    count : int array (kind,)
        Prompts.
    """

    row: np.ndarray
    scale: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    count: np.ndarray


@dataclass(frozen=True)
class Spent:
    """What each prompt of each kind gets.

    Attributes
    ----------
    blocks : list of int array (prompt of the kind,)
        For each kind, largest first.
    left : int
        Blocks for which there was no room.
    slope : float
        What the last block was worth: no prompt has more to offer; 0 where blocks are left.
    """

    blocks: list[np.ndarray]
    left: int
    slope: float


def spend(variance: np.ndarray, kinds: Kinds, budget: int) -> Spent:
    """Spend a budget where the expected posterior variance falls most: greedily along lower convex envelopes.

    Where variances are convex the plan is optimal: gains fall from block to block, so that the largest ones of all
    prompts together form a plan, and no plan can collect more. Elsewhere it is optimal up to one corner of an
    envelope, and what is left before that corner is spent on the best steps that still fit.

    Parameters
    ----------
    variance : float array (row, block + 1)
        Expected variance after 0, 1, ... blocks.
    kinds : Kinds
        Blocks beyond the table are not considered.
    budget : int
        Blocks; at least what all prompts get in any case.

    Returns
    -------
    Spent

    Examples
    --------
    >>> halves = 1 / np.array([[1.0, 2.0, 3.0, 4.0]])
    >>> two = Kinds(*(np.array([value]) for value in (0, 1.0, 0, 3, 2)))
    >>> spend(halves, two, budget=3).blocks
    [array([2, 1])]
    """
    stop = np.minimum(kinds.stop, variance.shape[1] - 1)
    kind, first, last, slope = _steps(variance, kinds, stop)
    left = budget - int((kinds.start * kinds.count).sum())
    order = np.argsort(-slope, kind="stable")
    cost = (last - first)[order] * kinds.count[kind[order]]
    whole = int(np.searchsorted(np.cumsum(cost), left, side="right"))
    taken = order[:whole]
    left -= int(cost[:whole].sum())
    level = kinds.start.copy()
    np.maximum.at(level, kind[taken], last[taken])
    groups = [[[int(reached), int(count)]] for reached, count in zip(level, kinds.count, strict=True)]
    edge = 0.0
    if whole < order.size:
        step = order[whole]
        edge, one = float(slope[step]), int(kind[step])
        some = left // int(last[step] - first[step])
        left -= some * int(last[step] - first[step])
        if some:
            groups[one] = [[int(last[step]), some], [int(level[one]), int(kinds.count[one]) - some]]
        while left and (best := _best_step(variance, kinds, stop, groups, left)):
            left -= _take(groups, *best)
    sizes = [np.array(sorted(group, reverse=True)) for group in groups]
    blocks = [np.repeat(size[:, 0], size[:, 1]) for size in sizes]
    return Spent(blocks, left, 0.0 if left else edge)


def even(kinds: Kinds, budget: int) -> tuple[int, float]:
    """The even plan: as many blocks for every prompt, up to its most, and one more for a share of them.

    Parameters
    ----------
    kinds : Kinds
    budget : int
        Blocks.

    Returns
    -------
    blocks : int
        Of every prompt that has room for them.
    share : float
        Share of the prompts with still more room that get one block more.
    """
    low, high = 0, int(kinds.stop.max(initial=0))
    if room(kinds, high) <= budget:
        return high, 0.0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if room(kinds, middle) <= budget else (low, middle)
    return low, (budget - room(kinds, low)) / (room(kinds, low + 1) - room(kinds, low))


def objective(variance: np.ndarray, kinds: Kinds, blocks: int) -> float:
    """Variance of the score after an even plan of so many blocks."""
    each = np.minimum(blocks, kinds.stop)
    return float((kinds.count * kinds.scale * variance[kinds.row, each]).sum())


def scattered(size: int) -> np.ndarray:
    """An order of prompts in which the first few are spread over all of them, however few: bit reversal.

    Examples
    --------
    >>> scattered(6)
    array([0, 4, 2, 1, 5, 3])
    """
    bits = max(size - 1, 1).bit_length()
    numbers, turned = np.arange(size), np.zeros(size, dtype=np.int64)
    for bit in range(bits):
        turned |= ((numbers >> bit) & 1) << (bits - 1 - bit)
    return np.argsort(turned, kind="stable")


def room(kinds: Kinds, blocks: int) -> int:
    """Blocks that an even plan of so many for every prompt has room for."""
    return int((kinds.count * np.minimum(blocks, kinds.stop)).sum())


def _steps(
    variance: np.ndarray, kinds: Kinds, stop: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All steps from corner to corner of the kinds' envelopes: kind, first and last block, worth of each block."""
    known: dict[tuple[int, int, int], np.ndarray] = {}
    corners = []
    for key in zip(kinds.row.tolist(), kinds.start.tolist(), stop.tolist(), strict=True):
        if key not in known:
            row, start, end = key
            known[key] = start + envelope(variance[row, start : end + 1]) if end > start else np.zeros(0, dtype=int)
        corners.append(known[key])
    kind = np.repeat(np.arange(len(corners)), [max(found.size - 1, 0) for found in corners])
    first = np.concatenate([found[:-1] for found in corners]).astype(np.int64)
    last = np.concatenate([found[1:] for found in corners]).astype(np.int64)
    row = kinds.row[kind]
    return kind, first, last, kinds.scale[kind] * (variance[row, first] - variance[row, last]) / (last - first)


def _best_step(
    variance: np.ndarray, kinds: Kinds, stop: np.ndarray, groups: list[list[list[int]]], left: int
) -> tuple[int, int, int] | None:
    """Kind, place of the group in it, and size of the step of at most ``left`` blocks with the largest mean gain."""
    flat = [(one, place, level) for one, group in enumerate(groups) for place, (level, n) in enumerate(group) if n]
    kind, place, level = (np.array(values) for values in zip(*flat, strict=True))
    size = np.arange(1, left + 1)
    reached = level[:, None] + size
    fits = reached <= stop[kind][:, None]
    if not fits.any():
        return None
    row = kinds.row[kind]
    after = variance[row[:, None], np.minimum(reached, variance.shape[1] - 1)]
    gain = kinds.scale[kind][:, None] * (variance[row, level][:, None] - after) / size
    best = int(np.argmax(np.where(fits, gain, -np.inf)))
    return int(kind[best // left]), int(place[best // left]), best % left + 1


def _take(groups: list[list[list[int]]], kind: int, place: int, size: int) -> int:
    """Let one prompt of a group go so many blocks further; returns the blocks."""
    group = groups[kind]
    group[place][1] -= 1
    group.append([group[place][0] + size, 1])
    return size
