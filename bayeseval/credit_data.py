"""What a model file for credits may ask of the data: sufficient statistics of one run with partial credit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeseval.credit_tables import CreditTable
from bayeseval.errors import DataError
from bayeseval.likelihoods import common_nodes, head_length, level_survival
from bayeseval.model_data import padded_length

__all__ = ["CREDIT_BLOCKS", "CreditData", "PromptCredits"]

CREDIT_BLOCKS = ("levels", "credits")
"""Kinds of arrays that a model file for credits may name in its ``DATA``."""
FEWEST_CELLS = 32
LARGEST = 1 - 2.0**-53
ROUNDING = 1e-12


@dataclass(frozen=True)
class PromptCredits:
    """What the credits of prompts say of each of them.

    Attributes
    ----------
    counts : int array (prompt, kind)
        How often each level was given; for credits without levels, how often 0, something in between, and 1.
    log_credit, log_rest : float array (prompt,)
        Sums of log(y) and log(1 - y) over credits y in between; 0 where the model knows levels.
    """

    counts: np.ndarray
    log_credit: np.ndarray
    log_rest: np.ndarray

    def take(self, rows: np.ndarray | slice) -> PromptCredits:
        """The same for some of the prompts."""
        return PromptCredits(self.counts[rows], self.log_credit[rows], self.log_rest[rows])

    def distinct(self) -> tuple[PromptCredits, np.ndarray, np.ndarray]:
        """Prompts that differ, how many are alike, and the number of each prompt among them (prompt,)."""
        columns = np.column_stack([self.counts, self.log_credit, self.log_rest])
        _, first, cell, alike = np.unique(columns, axis=0, return_index=True, return_inverse=True, return_counts=True)
        return self.take(first), alike, cell.reshape(-1)


@dataclass(frozen=True)
class CreditData:
    """Credits of one run, in the forms that models use; the counterpart of `bayeseval.model_data.ModelData`.

    A model enters the arrays with ``pm.Data(name, values)`` under the names given here, and nothing else.

    Attributes
    ----------
    table : CreditTable
    blocks : tuple of str
        Kinds of arrays that the model takes, of `CREDIT_BLOCKS`.
    """

    table: CreditTable
    blocks: tuple[str, ...]

    @property
    def label(self) -> str:
        """Name of the run, for errors."""
        return f"{self.table.system} on {self.table.benchmark}"

    @cached_property
    def prompts(self) -> PromptCredits:
        """What the credits say of each prompt: by levels for models that take these, else by 0, between and 1.

        Raises
        ------
        DataError
            If the model needs levels, and none were declared.
        """
        table = self.table
        nothing = np.zeros(len(table.prompt))
        if "levels" not in self.blocks:
            counts = np.stack([table.zeros, table.interior, table.ones], axis=1)
            return PromptCredits(counts, table.log_credit, table.log_rest)
        if table.counts is None:
            raise DataError(
                f"{self.label}: the model needs the levels that can be given, and none were declared: pass levels= to "
                f"Credits.from_frame(...), take those that occur with credits.with_levels(), or fit "
                f"model='continuous'"
            )
        return PromptCredits(table.counts, nothing, nothing)

    @cached_property
    def levels(self) -> dict[str, np.ndarray]:
        """The credit of each level, ``level_credit`` (level,), and survival counts (see `level_survival`)."""
        counts = self.prompts.counts
        return {"level_credit": np.array(self.table.levels, dtype=float), **level_survival(counts)}

    @cached_property
    def credits(self) -> dict[str, np.ndarray]:
        """Survival counts of 0, between and 1 as for levels, and the credits in between.

        ``interior_credits``, ``interior_log_credit``, ``interior_log_rest`` and ``interior_prompts`` (cell,): how many
        credits in between a prompt has, the sums of log(y) and log(1 - y), and how many prompts are alike. Padded to a
        power of two of at least 32; padding has 0 prompts. ``interior_z`` (node,) are the nodes over which the means of
        prompts are integrated out.

        Raises
        ------
        DataError
            If credits in between never differ within a prompt, so that their spread has no finite estimate.
        """
        self._refuse_steps()
        table, some = self.table, self.table.interior > 0
        cells, alike, _ = self.prompts.take(some).distinct()
        squares = np.maximum(table.squares - table.ones, 0)[some]
        z = common_nodes(table.interior[some].astype(float), table.interior_mean[some], squares)
        padded = np.zeros((4, padded_length(max(alike.size, FEWEST_CELLS))))
        padded[:, : alike.size] = cells.counts[:, 1], cells.log_credit, cells.log_rest, alike
        names = ("interior_credits", "interior_log_credit", "interior_log_rest", "interior_prompts")
        return {**level_survival(self.prompts.counts), **dict(zip(names, padded, strict=True)), "interior_z": z}

    def _refuse_steps(self) -> None:
        table = self.table
        several = table.interior > 1
        n, mean = table.interior[several], table.interior_mean[several]
        # The mean of logarithms lies below the logarithm of the mean unless all are equal, however small they are.
        gaps = np.maximum(
            np.log(mean) - table.log_credit[several] / n,
            np.log1p(-np.minimum(mean, LARGEST)) - table.log_rest[several] / n,
        )
        if several.any() and gaps.max() <= ROUNDING:
            raise DataError(
                f"{self.label}: credits between 0 and 1 never differ between the generations of a prompt, so a "
                f"distribution of continuous credits would be infinitely narrow; if they are steps, declare them with "
                f"credits.with_levels() and fit model='graded'"
            )

    @property
    def choices(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """What a program depends on besides the shapes of arrays (see `ModelData.choices`)."""
        return (("head", (self.head,)),)

    @property
    def head(self) -> int:
        """How many factors of a product over generations are taken one by one."""
        return head_length(int(self.table.generations.max(initial=0)))

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Every array of the model's blocks, by its name."""
        return {name: values for block in self.blocks for name, values in getattr(self, block).items()}
