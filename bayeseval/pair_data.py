"""What a model file for pairs may ask of the data: sufficient statistics of two systems on the same prompts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeseval.errors import DataError
from bayeseval.likelihoods import head_length, level_survival
from bayeseval.model_data import padded_length
from bayeseval.pairs import Pairs

__all__ = ["COUPLED_BLOCKS", "PAIR_BLOCKS", "PairData"]

PAIR_BLOCKS = ("pairs", "tables", "kinds")
"""Kinds of arrays that a model file for pairs may name in its ``DATA``."""
COUPLED_BLOCKS = ("tables", "kinds")
"""Those that need coupled generations."""
FEWEST_CELLS = 16
STEP = 64
"""Above it lengths are multiples of it: each cell costs some hundred nodes, so padding is not free."""


@dataclass(frozen=True)
class PairData:
    """Two systems on the same prompts, in the forms that models use; the counterpart of `ModelData`.

    A model enters the arrays with ``pm.Data(name, values)`` under the names given here, and nothing else.

    Attributes
    ----------
    pairs : Pairs
    blocks : tuple of str
        Kinds of arrays that the model takes, of `PAIR_BLOCKS`.

    Examples
    --------
    >>> from bayeseval.pairs import Pairs
    >>> from bayeseval.pair_data import PairData
    >>> pairs = Pairs(("a", "b"), "sums", ["1", "2", "3"], [[3, 0, 3], [4, 1, 4]], [[4, 4, 4], [4, 4, 4]])
    >>> PairData(pairs, ("pairs",)).pairs_block["pair_prompts"][:3].tolist()
    [1.0, 2.0, 0.0]
    """

    pairs: Pairs
    blocks: tuple[str, ...]

    @property
    def label(self) -> str:
        """Names of both systems and the benchmark, for errors."""
        return self.pairs.label

    @cached_property
    def prompts(self) -> np.ndarray:
        """What the model knows of each prompt (prompt, 4).

        Correct and generations of A, correct and generations of B; or for models of coupled generations how often both
        were correct, only A, only B, neither.

        Raises
        ------
        DataError
            If the model needs coupled generations, and these are independent.
        """
        if not set(self.blocks) & set(COUPLED_BLOCKS):
            (correct_a, correct_b), (generations_a, generations_b) = self.pairs.correct, self.pairs.generations
            return np.stack([correct_a, generations_a, correct_b, generations_b], axis=1)
        if not self.pairs.coupled:
            raise DataError(
                f"{self.label}: the model is one of coupled generations, and these are independent, so that no two of "
                f"them belong together: fit model='paired', or pair the outcomes with be.Pairs.of(a, b, coupled=True) "
                f"if generation j of both was made with the same random numbers"
            )
        return self.pairs.tables

    def distinct(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Prompts that differ (cell, 4), how many are alike (cell,), and the cell of every prompt (prompt,)."""
        cells, cell, alike = np.unique(self.prompts, axis=0, return_inverse=True, return_counts=True)
        return cells, alike, cell.reshape(-1)

    @cached_property
    def pairs_block(self) -> dict[str, np.ndarray]:
        """Distinct counts of both systems, and how many prompts have them.

        ``pair_correct_a``, ``pair_generations_a``, ``pair_correct_b``, ``pair_generations_b`` and ``pair_prompts``
        (cell,), padded to a few lengths; padding has 0 prompts and no generations.
        """
        return self._padded("pair", ("correct_a", "generations_a", "correct_b", "generations_b"))

    @cached_property
    def tables_block(self) -> dict[str, np.ndarray]:
        """Distinct tables of coupled generations, and how many prompts have them.

        ``table_both``, ``table_only_a``, ``table_only_b``, ``table_neither`` and ``table_prompts`` (cell,), padded
        likewise.
        """
        return self._padded("table", ("both", "only_a", "only_b", "neither"))

    @cached_property
    def kinds_block(self) -> dict[str, np.ndarray]:
        """Survival counts of the four kinds of coupled generations (see `bayeseval.likelihoods.level_survival`)."""
        return level_survival(self.prompts)

    @property
    def choices(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """What a program depends on besides the shapes of arrays (see `ModelData.choices`)."""
        return (("head", (self.head,)),)

    @property
    def head(self) -> int:
        """How many factors of a product over generations are taken one by one."""
        return head_length(int(self.pairs.generations.max(initial=0)))

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Every array of the model's blocks, by its name."""
        return {name: values for block in self.blocks for name, values in getattr(self, f"{block}_block").items()}

    def _padded(self, kind: str, names: tuple[str, ...]) -> dict[str, np.ndarray]:
        cells, alike, _ = self.distinct()
        size = max(alike.size, FEWEST_CELLS)
        length = padded_length(size) if size <= STEP else -(-size // STEP) * STEP
        values = np.zeros((len(names) + 1, length))
        values[:, : alike.size] = *cells.T, alike
        return {f"{kind}_{name}": row for name, row in zip((*names, "prompts"), values, strict=True)}
