"""What a model file may ask of the data: sufficient statistics that do not grow with the number of prompts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeseval.likelihoods import survival_counts

__all__ = ["ModelData", "unique_cells"]


@dataclass(frozen=True)
class ModelData:
    """Counts of one run, in the forms that models use.

    Arrays are padded with weights of 0 to a few standard lengths, so that one compiled program serves many data sets.
    A model enters them with ``pm.Data(name, values)`` under the names given here, and nothing else.

    Attributes
    ----------
    correct, generations : int arrays (prompt,)
    """

    correct: np.ndarray
    generations: np.ndarray

    @cached_property
    def survival(self) -> dict[str, np.ndarray]:
        """Survival counts, all that a beta-binomial likelihood needs (see `bayeseval.likelihoods`)."""
        return survival_counts(self.correct, self.generations).arrays

    @cached_property
    def cells(self) -> dict[str, np.ndarray]:
        """Unique (correct, generations) pairs and how many prompts share each.

        ``cell_correct``, ``cell_generations`` and ``cell_prompts``, float arrays (cell,) padded to a power of two;
        padding has 0 prompts.
        """
        correct, generations, prompts, _ = unique_cells(self.correct, self.generations)
        size = max(8, 1 << (prompts.size - 1).bit_length()) if prompts.size else 8
        padded = np.zeros((3, size))
        padded[:, : prompts.size] = correct, generations, prompts
        return dict(zip(("cell_correct", "cell_generations", "cell_prompts"), padded, strict=True))

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Every array by its name."""
        return {**self.survival, **self.cells}


def unique_cells(correct: np.ndarray, generations: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Distinct (correct, generations) pairs, how many prompts share each, and the cell of every prompt.

    Parameters
    ----------
    correct, generations : int array (prompt,)

    Returns
    -------
    correct, generations, prompts : int arrays (cell,)
    cell : int array (prompt,)

    Examples
    --------
    >>> from bayeseval.model_data import unique_cells
    >>> [array.tolist() for array in unique_cells([1, 0, 1], [2, 2, 2])]
    [[0, 1], [2, 2], [1, 2], [1, 0, 1]]
    """
    correct, generations = np.asarray(correct, dtype=np.int64), np.asarray(generations, dtype=np.int64)
    base = int(generations.max(initial=0)) + 1
    codes, cell, prompts = np.unique(generations * base + correct, return_inverse=True, return_counts=True)
    return codes % base, codes // base, prompts, cell
