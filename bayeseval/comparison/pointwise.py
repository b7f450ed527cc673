"""How probable each prompt's count is under each posterior draw: the one place that asks the distributions for it.

The unit is the prompt with P(correct) integrated out. Prompts with the same counts are equally probable, so everything
is computed on the unique cells (correct, generations) with the number of prompts in each, never per draw and prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.model_data import keyed_cells

if TYPE_CHECKING:
    from bayeseval.posterior.posterior import Posterior

__all__ = ["Cells", "cells_of", "pointwise", "shared_key"]

BLOCK = 1 << 20
"""Most numbers held at once: draws times cells of a block (8 MiB of float64)."""


@dataclass(frozen=True)
class Cells:
    """The distinct counts of a run; prompts without generations are left out, since nothing was predicted of them.

    Attributes
    ----------
    correct, generations, prompts : int arrays (cell,)
        Counts, and how many prompts share them.
    cell : int array (prompt,)
        Cell of each prompt that has generations.
    key : int array (cell,) or None
        Group or cluster, where one of the models compared asks for it.
    """

    correct: np.ndarray
    generations: np.ndarray
    prompts: np.ndarray
    cell: np.ndarray
    key: np.ndarray | None = None


def shared_key(posteriors: Sequence[Posterior]) -> np.ndarray | None:
    """Group or cluster of each prompt, where one of the models knows it (prompt,)."""
    return next((one.key for one in posteriors if one.distribution.keyed_by in ("group", "cluster")), None)


def cells_of(posterior: Posterior, key: np.ndarray | None) -> Cells:
    """The cells of a posterior's run."""
    answered = posterior.counts.generations > 0
    correct, generations, cell_key, cell = keyed_cells(
        posterior.counts.correct[answered],
        posterior.counts.generations[answered],
        None if key is None else key[answered],
    )
    return Cells(correct, generations, np.bincount(cell, minlength=correct.size), cell, cell_key)


def pointwise(posterior: Posterior, cells: Cells) -> Iterator[np.ndarray]:
    """Log probability of the cells under each draw, P(correct) integrated out: blocks (draw, cells of the block)."""
    step = max(1, BLOCK // posterior.n_draws)
    keyed = posterior.distribution.keyed_by in ("group", "cluster")
    for start in range(0, cells.prompts.size, step):
        part = slice(start, start + step)
        key = cells.key[part] if keyed and cells.key is not None else None
        yield posterior.distribution.logpmf(cells.correct[part], cells.generations[part], key)
