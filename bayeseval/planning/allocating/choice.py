"""The choice of prompts for a budget, with tables of gains that reach as far as any prompt could be worth going."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayeseval.planning.allocating.limits import FARTHEST
from bayeseval.planning.allocating.prompt_gains import PromptGains
from bayeseval.planning.allocating.spending import Kinds, Spent, even, objective, room, scattered, spend

__all__ = ["Choice", "against_even", "choose"]


@dataclass(frozen=True)
class Choice:
    """A budget spread over prompts.

    Attributes
    ----------
    extra : int array (prompt,)
        Further generations.
    kinds : Kinds
    spent : int
        Blocks given.
    """

    extra: np.ndarray
    kinds: Kinds
    spent: int


def choose(
    gains: PromptGains,
    cell: np.ndarray,
    weight: np.ndarray,
    limits: tuple[np.ndarray, np.ndarray],
    budget: int,
    block: int = 1,
) -> Choice:
    """Spread a budget over prompts.

    Parameters
    ----------
    gains : PromptGains
    cell : int array (prompt,)
        Cell of the gains that each prompt belongs to.
    weight : float array (prompt,)
    limits : tuple of two int arrays (prompt,)
        Fewest and most further blocks of each prompt.
    budget, block : int
        Blocks to give, and generations in each.

    Returns
    -------
    Choice
    """
    kinds, kind = _kinds(cell, weight, *limits)
    spent = _spend(gains, kinds, budget, block)
    extra = np.empty(cell.size, dtype=np.int64)
    for members, given in zip(_members(kind, kinds.count), spent.blocks, strict=True):
        extra[members[scattered(members.size)]] = block * given
    return Choice(extra, kinds, budget - spent.left)


def _kinds(cell: np.ndarray, weight: np.ndarray, start: np.ndarray, stop: np.ndarray) -> tuple[Kinds, np.ndarray]:
    """Prompts that are worth the same and have the same limits, in order of the first one of each kind."""
    columns = np.column_stack([cell, weight, start, stop])
    _, first, kind, count = np.unique(columns, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    first = first[order]
    return Kinds(cell[first], weight[first] ** 2, start[first], stop[first], count[order]), place[kind.ravel()]


def _members(kind: np.ndarray, count: np.ndarray) -> list[np.ndarray]:
    """Prompts of each kind, in order."""
    return np.split(np.argsort(kind, kind="stable"), np.cumsum(count)[:-1])


def _spend(gains: PromptGains, kinds: Kinds, budget: int, block: int) -> Spent:
    """Spend the budget with tables that reach as far as any prompt could be worth going."""
    limit = min(budget, int(kinds.stop.max()))
    reach = min(limit, int(kinds.start.max()) + 8 + 4 * budget // int(kinds.count[kinds.stop > 0].sum()))
    while True:
        variance = gains.upto(block * reach)[:, ::block]
        spent = spend(variance, kinds, budget)
        farther = _farther(variance, kinds, spent, gains.convex)
        if reach >= limit or farther <= reach:
            return spent
        reach = int(min(limit, np.ceil(farther), 4 * reach))


def _farther(variance: np.ndarray, kinds: Kinds, spent: Spent, convex: bool) -> float:
    """How many blocks a prompt could be worth getting: a step can gain no more than all the variance there is."""
    end = variance.shape[1] - 1
    level = np.array([given[0] for given in spent.blocks])
    if spent.left or (convex and (level >= end).any()):
        return math.inf
    if convex:
        return end
    lowest = np.array([given[-1] for given in spent.blocks])
    worth = np.maximum(kinds.scale * variance[kinds.row, lowest], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(worth > 0, worth / spent.slope, 0.0)
    return float(np.max(np.minimum(level + steps, kinds.stop)))


def against_even(gains: PromptGains, choice: Choice, block: int, target: float) -> tuple[float, float]:
    """Set a choice beside an even plan under the same limits.

    Parameters
    ----------
    gains : PromptGains
    choice : Choice
    block : int
    target : float
        Expected posterior variance of the score with the choice.

    Returns
    -------
    uniform : float
        The same with as many generations spread evenly.
    times : float
        How many times as many an even plan needs for the target; infinite where 100 times as many do not do, or the
        limits stop it, and NaN where the target is 0.
    """
    kinds, budget = choice.kinds, choice.spent
    highest = int(kinds.stop.max())

    def after(blocks: int) -> float:
        return objective(gains.upto(block * min(blocks, highest))[:, ::block], kinds, blocks)

    blocks, share = even(kinds, budget)
    uniform = (1 - share) * after(blocks) + share * after(blocks + 1) if share else after(blocks)
    if target <= 0:
        return uniform, math.nan
    low, high, near = 0, max(1, blocks), target * (1 + 1e-12)
    while after(high) > near:
        if high >= highest or room(kinds, high) >= FARTHEST * budget:
            return uniform, math.inf
        low, high = high, min(2 * high, highest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if after(middle) <= near else (middle, high)
    drop = after(low) - after(high)
    part = min(max((after(low) - target) / drop, 0.0), 1.0) if drop > 0 else 0.0
    times = (room(kinds, low) * (1 - part) + room(kinds, high) * part) / budget
    return uniform, times if times <= FARTHEST else math.inf
