"""Matrices of outcomes or credits: prompts × generations, or systems × prompts × generations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayeseval.errors import DataError
from bayeseval.readers.cells import Origin, id_texts
from bayeseval.readers.codes import FloatArray, TextArray
from bayeseval.readers.values import checked_threshold, scores

__all__ = ["Cube", "Matrix", "as_array", "named_cube", "score_matrix"]


@dataclass(frozen=True)
class Cube:
    """Cells on three axes, with names for two of them.

    Attributes
    ----------
    cells : array (system, prompt, generation)
    systems : object array (system,)
    prompts : object array (prompt,)
    label : str
        What messages call the matrix.
    flat : bool
        Whether it was given on two axes, without one for systems.
    """

    cells: npt.NDArray[Any]
    systems: TextArray
    prompts: TextArray
    label: str
    flat: bool

    def cell(self, index: int) -> str:
        """Name one cell, counted over all axes."""
        which, prompt, generation = (int(i) for i in np.unravel_index(index, self.cells.shape))
        where = "" if self.flat else f"system {self.systems[which]!r}, "
        return f"{self.label}, {where}prompt {self.prompts[prompt]!r}, generation {generation}"

    def said(self, gaps: int, what: str) -> str:
        """Shape and gaps in words."""
        axes = list(zip(self.cells.shape, ("systems", "prompts", "generations"), strict=True))[int(self.flat) :]
        shape = " x ".join(f"{size:,} {axis}" for size, axis in axes)
        return f"{self.label}: {shape}" + (f", {gaps:,} cells without {what}" if gaps else "")


@dataclass(frozen=True)
class Matrix:
    """Outcomes on three axes.

    Attributes
    ----------
    correct : float array (system, prompt, generation)
        1, 0 or NaN.
    score : float array (system, prompt, generation) or None
        Scores before a threshold was applied.
    systems : object array (system,)
    prompts : object array (prompt,)
    said : str
        Shape and gaps in words.
    """

    correct: FloatArray
    score: FloatArray | None
    systems: TextArray
    prompts: TextArray
    said: str


def score_matrix(
    y: object,
    *,
    prompts: Sequence[object] | npt.NDArray[Any] | None,
    system: str | Sequence[str] | None,
    threshold: float | None,
    label: str = "the matrix",
) -> Matrix:
    """Check a matrix of outcomes and name its axes.

    Parameters
    ----------
    y : array-like (prompt, generation) or (system, prompt, generation)
        0 or 1; NaN, None or masked where there is no generation.
    prompts : sequence (prompt,) or None
        Ids; "0", "1", ... when None.
    system : str or sequence of str (system,) or None
        One name, or one for each entry of the first of three axes; "0", "1", ... there by default.
    threshold : float or None
        Scores of at least this much count as correct.
    label : str
        What messages call the matrix.

    Raises
    ------
    DataError
        If the number of axes is neither 2 nor 3, an axis is empty, names do not fit, or a value is not an outcome.
    """
    cube = named_cube(y, prompts=prompts, system=system, label=label)
    correct, score = scores(cube.cells.reshape(-1), "score", cube.cell, checked_threshold(threshold))
    shape = cube.cells.shape
    said = cube.said(int(np.isnan(correct).sum()), "an outcome")
    if threshold is not None:
        said += f"; scores of at least {threshold:g} count as correct"
    return Matrix(
        correct.reshape(shape), None if score is None else score.reshape(shape), cube.systems, cube.prompts, said
    )


def named_cube(
    y: object,
    *,
    prompts: Sequence[object] | npt.NDArray[Any] | None,
    system: str | Sequence[str] | None,
    label: str = "the matrix",
) -> Cube:
    """Put a matrix on three axes and name systems and prompts; its cells stay as they are. See `score_matrix`."""
    values = as_array(y, label)
    if values.ndim == 1:
        raise DataError(
            f"{label} has one axis: a matrix of prompts x generations is needed. For one generation to each of "
            f"{len(values)} prompts reshape it to ({len(values)}, 1); for counts use Counts.from_arrays"
        )
    if values.ndim not in (2, 3):
        raise DataError(
            f"{label} has {values.ndim} axes: prompts x generations or systems x prompts x generations are needed"
        )
    if 0 in values.shape:
        raise DataError(f"{label} has shape {values.shape}: there is nothing to estimate")
    cells = values[None] if values.ndim == 2 else values
    names = _system_names(system, cells.shape[0], is_cube=values.ndim == 3, label=label)
    return Cube(cells, names, _prompt_names(prompts, cells.shape, label), label, flat=values.ndim == 2)


def as_array(y: object, label: str) -> npt.NDArray[Any]:
    """An array of whatever is given; masked cells become None, and lists of unequal length are filled up with None."""
    if isinstance(y, np.ma.MaskedArray):
        cells = np.array(y.data, dtype=object)
        cells[np.ma.getmaskarray(y)] = None
        return cells
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    try:
        return np.asarray(y)
    except ValueError:
        pass
    if isinstance(y, Sequence) and all(
        isinstance(row, (Sequence, np.ndarray)) and not isinstance(row, str) for row in y
    ):
        width = max(len(row) for row in y)
        filled = [[*row, *[None] * (width - len(row))] for row in y]
        try:
            return np.array(filled, dtype=object)
        except ValueError:
            pass
    raise DataError(f"{label} is not a matrix: its rows do not have the same number of axes")


def _system_names(system: str | Sequence[str] | None, size: int, *, is_cube: bool, label: str) -> TextArray:
    if not is_cube:
        if system is not None and not isinstance(system, str):
            if len(system) != 1:
                raise DataError(f"{label} has two axes and so one system, but {len(system)} were named")
            system = system[0]
        return id_texts([system or "system"], "system name", Origin("the names given").row)
    if isinstance(system, str) and system != "system" and size > 1:
        raise DataError(
            f"{label} has {size} systems on its first axis: give a list of {size} names, not {system!r} alone"
        )
    if system is None or (isinstance(system, str) and size > 1):
        return np.array([str(i) for i in range(size)], dtype=object)
    names = id_texts(
        [system] if isinstance(system, str) else list(system), "system name", Origin("the names given").row
    )
    if len(names) != size:
        raise DataError(f"{label} has {size} systems on its first axis, but {len(names)} names were given")
    return _refuse_twins(names, "system", label)


def _prompt_names(prompts: Sequence[object] | npt.NDArray[Any] | None, shape: tuple[int, ...], label: str) -> TextArray:
    if prompts is None:
        return np.array([str(i) for i in range(shape[1])], dtype=object)
    names = id_texts(prompts, "prompt id", Origin("the ids given").row)
    if len(names) != shape[1]:
        turned = "; the generations axis has that many: turn the matrix round" if len(names) == shape[2] else ""
        raise DataError(f"{label} has {shape[1]} prompts, but {len(names)} ids were given{turned}")
    return _refuse_twins(names, "prompt", label)


def _refuse_twins(names: TextArray, what: str, label: str) -> TextArray:
    seen: dict[str, int] = {}
    for index, name in enumerate(names.tolist()):
        if name in seen:
            raise DataError(f"{what}s {seen[name]} and {index} of {label} (counting from 0) are both called {name!r}")
        seen[name] = index
    return names
