"""What a model file may ask of the data: sufficient statistics that do not grow with the number of prompts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeseval.counts import Counts
from bayeseval.errors import DataError
from bayeseval.likelihoods import head_length, survival_counts
from bayeseval.readers.codes import factorize

__all__ = ["BLOCKS", "ModelData", "keyed_cells", "padded_length", "unique_cells"]

BLOCKS = ("survival", "cells", "groups", "runs", "prompts")
"""Kinds of arrays that a model file may name in its ``DATA``."""
LARGE_GROUP = 20


@dataclass(frozen=True)
class ModelData:
    """Counts of one run, in the forms that models use.

    Arrays are padded with weights of 0 to a few standard lengths, so that one compiled program serves many data sets.
    A model enters them with ``pm.Data(name, values)`` under the names given here, and nothing else.

    Attributes
    ----------
    correct, generations : int arrays (prompt,)
    group : int array (prompt,) or None
        Number of the group that each prompt belongs to.
    group_names : tuple of str
    run_totals : int array (run,) or None
        Correct generations of each run over all prompts, where generation j is one run on all of them.
    blocks : tuple of str
        Kinds of arrays that the model takes, of `BLOCKS`.
    label : str
        Name of the run, for errors.
    """

    correct: np.ndarray
    generations: np.ndarray
    group: np.ndarray | None = None
    group_names: tuple[str, ...] = ()
    run_totals: np.ndarray | None = None
    blocks: tuple[str, ...] = ("survival", "cells")
    label: str = "these counts"

    @classmethod
    def of(cls, run: Counts, blocks: tuple[str, ...], run_totals: np.ndarray | None = None) -> ModelData:
        """Data of one run for a model that takes the given blocks."""
        group, names = None, tuple[str, ...]()
        if run.group is not None and "groups" in blocks:
            missing = [str(prompt) for prompt, name in zip(run.prompt, run.group, strict=True) if name is None]
            if missing:
                raise DataError(
                    f"{run.label}: {len(missing):,} of {len(run):,} prompts have no group, such as prompt "
                    f"{missing[0]!r}; give each one a group, or leave those prompts out"
                )
            group, values = factorize(run.group)
            names = tuple(str(value) for value in values)
        return cls(run.correct, run.generations, group, names, run_totals, blocks, run.label)

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
        padded = np.zeros((3, padded_length(prompts.size)))
        padded[:, : prompts.size] = correct, generations, prompts
        return dict(zip(("cell_correct", "cell_generations", "cell_prompts"), padded, strict=True))

    @property
    def head(self) -> int:
        """How many factors of a product over generations are taken one by one (see `beta_binomial_cells`)."""
        return head_length(int(self.generations.max(initial=0)))

    @cached_property
    def groups(self) -> dict[str, np.ndarray]:
        """Survival counts of each group, and its share of the prompts.

        The arrays of `survival` with ``group_`` before their names and one row a group (group, ...), and
        ``group_share`` (group,).

        Raises
        ------
        DataError
            If prompts have no groups, or only one.
        """
        if self.group is None:
            raise DataError(
                f"{self.label}: the model needs a group for every prompt (a subject, a category, a cluster), but the "
                f"data have no column 'group'"
            )
        if len(self.group_names) < 2:
            raise DataError(
                f"{self.label}: the model compares groups, but all {self.correct.size:,} prompts are of one group "
                f"({self.group_names[0]!r}); use a model without groups"
            )
        members = [self.group == index for index in range(len(self.group_names))]
        counts = [survival_counts(self.correct[rows], self.generations[rows]) for rows in members]
        shape = tuple(np.max([one.shape for one in counts], axis=0))
        stacked = [one.resized(shape).arrays for one in counts]
        arrays = {f"group_{name}": np.stack([one[name] for one in stacked]) for name in stacked[0]}
        return {**arrays, "group_share": np.array([rows.mean() for rows in members])}

    @property
    def large_groups(self) -> bool:
        """Whether groups have 20 prompts or more on average: their means are then better sampled as they are (centred).

        Small ones are better sampled as deviations in units of their spread.
        """
        return self.group is not None and self.correct.size >= LARGE_GROUP * len(self.group_names)

    @property
    def choices(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """What a model may decide by besides the shapes of arrays, in the form of shapes: programs depend on it."""
        return ("head", (self.head,)), ("large_groups", (int(self.large_groups),))

    @cached_property
    def runs(self) -> dict[str, np.ndarray]:
        """Correct generations of each run over all prompts: ``run_total`` (run,).

        Raises
        ------
        DataError
            If it is not known which generations belong to one run.
        """
        if self.run_totals is None:
            raise DataError(
                f"{self.label}: the model needs to know which generations were made together (generation j is one run "
                f"on all prompts): fit Outcomes rather than Counts"
            )
        return {"run_total": np.asarray(self.run_totals, dtype=float)}

    @cached_property
    def prompts(self) -> dict[str, np.ndarray]:
        """Every prompt by itself: ``prompt_correct`` and ``prompt_generations`` (prompt,), padded with 0 of 0."""
        padded = np.zeros((2, padded_length(self.correct.size)))
        padded[:, : self.correct.size] = self.correct, self.generations
        return dict(zip(("prompt_correct", "prompt_generations"), padded, strict=True))

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Every array of the model's blocks, by its name."""
        return {name: values for block in self.blocks for name, values in getattr(self, block).items()}


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


def keyed_cells(
    correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
    """Distinct (correct, generations, key) triples, and the cell of every prompt; without keys, as `unique_cells`.

    Parameters
    ----------
    correct, generations : int array (prompt,)
    key : int array (prompt,), optional
        Group, cluster or number of each prompt.

    Returns
    -------
    correct, generations : int arrays (cell,)
    key : int array (cell,) or None
    cell : int array (prompt,)

    Examples
    --------
    >>> from bayeseval.model_data import keyed_cells
    >>> [array.tolist() for array in keyed_cells([1, 1, 1], [2, 2, 2], [0, 1, 0])]
    [[1, 1], [2, 2], [0, 1], [0, 1, 0]]
    """
    if key is None:
        cell_correct, cell_generations, _, cell = unique_cells(correct, generations)
        return cell_correct, cell_generations, None, cell
    key = np.asarray(key, dtype=np.int64)
    plain = unique_cells(correct, generations)
    codes, cell = np.unique(key * plain[0].size + plain[3], return_inverse=True)
    return plain[0][codes % plain[0].size], plain[1][codes % plain[0].size], codes // plain[0].size, cell


def padded_length(size: int) -> int:
    """The next power of two, and at least 8: few lengths, few compiled programs."""
    return max(8, 1 << (size - 1).bit_length()) if size else 8
