"""What a user may say about an allocation, checked and put into numbers for each prompt."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeseval.errors import OptionError

__all__ = ["FARTHEST", "checked_weights", "excluded", "limits", "require_room"]

FARTHEST = 100
"""A prompt without a limit may get so many times the budget, which is how far even budgets are followed."""


def checked_weights(weights: Any, size: int) -> np.ndarray:
    """Weights of the prompts, summing to 1."""
    if weights is None:
        return np.full(size, 1 / size)
    try:
        values = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise OptionError("weights must be numbers, one for each prompt in the order of the data") from None
    if values.shape != (size,):
        raise OptionError(f"weights must be one number for each of the {size:,} prompts, but have shape {values.shape}")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if wrong.size:
        raise OptionError(
            f"weights must be finite and not negative, but that of prompt number {wrong[0] + 1} is {values[wrong[0]]}"
        )
    if not values.any():
        raise OptionError("every weight is 0, so no prompt counts; give some prompt a weight")
    return values / values.max() / (values / values.max()).sum()


def limits(
    prompt: np.ndarray, generations: np.ndarray, budget: int, block: int, most: Any, least: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Fewest and most further blocks of each prompt."""
    size = generations.size
    fewest, room = np.zeros(size, dtype=np.int64), np.full(size, FARTHEST * budget, dtype=np.int64)
    if most is not None:
        top = _whole("most", most, size)
        if (top < generations).all():
            raise OptionError(
                f"most = {int(top.max()):,} is below what prompts already have, {int(generations.min()):,} generations "
                f"or more; it counts those too"
            )
        room = np.minimum(room, np.maximum(top - generations, 0) // block)
    if least is not None:
        fewest = -(-np.maximum(_whole("least", least, size) - generations, 0) // block)
        short = np.flatnonzero(fewest > room)
        if most is not None and short.size:
            raise OptionError(
                f"prompt {str(prompt[short[0]])!r} cannot get to its least number of generations in whole blocks of "
                f"{block} without going beyond most; lower least, or raise most"
            )
    return fewest, room


def _whole(name: str, value: Any, size: int) -> np.ndarray:
    """Whole numbers, one for each prompt."""
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if numbers.shape not in ((), (size,)):
        raise OptionError(f"{name} must be one number, or one for each of the {size:,} prompts; got {numbers.shape}")
    if not (np.isfinite(numbers) & (numbers == np.floor(numbers)) & (numbers >= 0)).all():
        raise OptionError(f"{name} must be whole numbers of at least 0, but {value!r} was given")
    return np.broadcast_to(numbers, (size,)).astype(np.int64)


def excluded(exclude: Any, prompt: np.ndarray) -> np.ndarray:
    """Which prompts get nothing (prompt,), from their ids or from truth values."""
    if exclude is None:
        return np.zeros(prompt.size, dtype=bool)
    if isinstance(exclude, str):
        raise OptionError(f"exclude must list prompts, but the text {exclude!r} was given; write [{exclude!r}]")
    values = np.asarray(exclude)
    if values.dtype == bool:
        if values.shape != prompt.shape:
            raise OptionError(f"exclude must hold one truth value for each of the {prompt.size:,} prompts")
        return values
    names = {str(name) for name in values.ravel().tolist()}
    known = {str(name) for name in prompt}
    if names - known:
        raise OptionError(
            f"exclude names prompt {min(names - known)!r}, which is not among the {prompt.size:,} prompts"
        )
    return np.array([str(name) in names for name in prompt])


def require_room(room: np.ndarray, fewest: np.ndarray, budget: int, block: int, most: Any) -> None:
    """Refuse a budget that nobody can take, or that does not reach for what everybody shall have."""
    if block > budget:
        raise OptionError(f"a budget of {budget:,} does not reach for one block of {block:,}; raise it")
    if not room.any():
        reason = f" or have most = {most!r} generations," if most is not None else ","
        raise OptionError(
            f"prompts that already have everything: all {room.size:,} are excluded, have weight 0{reason} so that "
            f"there is none to give generations to"
        )
    needed = int(fewest.sum()) * block
    if needed > budget:
        raise OptionError(
            f"least asks for {needed:,} further generations, but the budget is {budget:,}; lower least, or raise the "
            f"budget"
        )
