"""How probable each prompt's count is under each posterior draw: the one place that asks the distributions for it.

The unit is the prompt with P(correct) integrated out. Prompts with the same counts are equally probable, so everything
is computed on the unique cells (correct, generations) with the number of prompts in each, never per draw and prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.model_data import unique_cells

if TYPE_CHECKING:
    from bayeseval.posterior.posterior import Posterior

__all__ = ["Cells", "cells_of", "pointwise"]

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
    """

    correct: np.ndarray
    generations: np.ndarray
    prompts: np.ndarray
    cell: np.ndarray


def cells_of(posterior: Posterior) -> Cells:
    """The cells of a posterior's run."""
    answered = posterior.counts.generations > 0
    return Cells(*unique_cells(posterior.counts.correct[answered], posterior.counts.generations[answered]))


def pointwise(posterior: Posterior, cells: Cells) -> Iterator[np.ndarray]:
    """Log probability of the cells under each draw, P(correct) integrated out: blocks (draw, cells of the block)."""
    step = max(1, BLOCK // posterior.n_draws)
    for start in range(0, cells.prompts.size, step):
        part = slice(start, start + step)
        yield posterior.distribution.logpmf(cells.correct[part], cells.generations[part])
