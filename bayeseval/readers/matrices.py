"""Matrices of outcomes: prompts × generations, or systems × prompts × generations."""

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

__all__ = ["Matrix", "as_array", "score_matrix"]


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
    cube = values[None] if values.ndim == 2 else values
    names = _system_names(system, cube.shape[0], is_cube=values.ndim == 3, label=label)
    ids = _prompt_names(prompts, cube.shape, label)

    def named(index: int) -> str:
        which, prompt, generation = (int(i) for i in np.unravel_index(index, cube.shape))
        where = f"system {names[which]!r}, " if values.ndim == 3 else ""
        return f"{label}, {where}prompt {ids[prompt]!r}, generation {generation}"

    correct, score = scores(cube.reshape(-1), "score", named, checked_threshold(threshold))
    gaps = int(np.isnan(correct).sum())
    shape = " x ".join(f"{size:,} {axis}" for size, axis in zip(
        cube.shape if values.ndim == 3 else cube.shape[1:],
        ("systems", "prompts", "generations")[3 - values.ndim:], strict=True))  # fmt: skip
    said = f"{label}: {shape}" + (f", {gaps:,} cells without an outcome" if gaps else "")
    if threshold is not None:
        said += f"; scores of at least {threshold:g} count as correct"
    return Matrix(correct.reshape(cube.shape), None if score is None else score.reshape(cube.shape), names, ids, said)


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
