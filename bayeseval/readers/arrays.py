"""NumPy files: .npy holds one matrix, .npz several, or the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayeseval.errors import OptionError, ReadError
from bayeseval.outcomes import Outcomes
from bayeseval.readers.cells import Origin
from bayeseval.readers.columns import ColumnChoice
from bayeseval.readers.frames import Table, first_line, from_frame
from bayeseval.readers.opening import refuse_growth
from bayeseval.readers.tables import reading

__all__ = ["ARRAY_SUFFIXES", "outcomes_from_arrays", "read_arrays"]

ARRAY_SUFFIXES = (".npy", ".npz")

_PROMPT_KEYS = ("prompt_ids", "prompts", "prompt_id", "task_ids", "question_ids", "ids")
_SYSTEM_KEYS = ("systems", "system_names", "models", "model_names")
_PLAIN_KEYS = ("R", "y", "Y", "correct", "scores", "outcomes", "results", "data", "matrix", "arr_0")


def read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Arrays of a .npy or .npz file by name; one that would need pickle is refused.

    Raises
    ------
    ReadError
        If the file is missing, damaged, empty, or holds Python objects.
    """
    with reading(path), path.open("rb") as file:
        try:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"": loaded}
            with loaded:
                for info in loaded.zip.infolist():
                    refuse_growth(info, f"{info.filename} in {path}")
                arrays = {name: loaded[name] for name in loaded.files}
        except (OSError, EOFError, ReadError):
            raise
        except Exception as problem:  # NumPy's parser of headers raises errors of many kinds on a damaged file
            if "allow_pickle" in str(problem) or "pickled" in str(problem).lower():
                raise ReadError(
                    f"{path} is not a plain NumPy file, or holds Python objects, which are not read because they may "
                    "run code: save numbers instead, with NaN where missing"
                ) from problem
            raise ReadError(
                f"{path} is cut off or is no NumPy file: {first_line(problem)}. Copy or make it again"
            ) from problem
    if not arrays:
        raise ReadError(f"{path} holds no arrays")
    other = next((name for name, array in arrays.items() if not isinstance(array, np.ndarray)), None)
    if other is not None:
        raise ReadError(f"{path} holds {other!r}, which is no array: it is damaged or no file of NumPy")
    return arrays


def as_table(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> Table | None:
    """The columns of a table, if a file holds nothing but arrays of one axis and one length."""
    import polars as pl

    if len(arrays) < 2 or any(array.ndim != 1 or array.dtype.kind not in "iufbU" for array in arrays.values()):
        return None
    if len({len(array) for array in arrays.values()}) > 1:
        return None
    frame = pl.DataFrame({name: array.tolist() for name, array in arrays.items()})
    return from_frame(frame, Origin(str(path), counting="counting from 0"))


def outcomes_from_arrays(
    path: Path | str, arrays: Mapping[str, npt.NDArray[Any]], given: Mapping[str, ColumnChoice], threshold: float | None
) -> Outcomes:
    """Outcomes of the matrices of one file: prompts × generations, or systems × prompts × generations.

    Each key of several is a benchmark. ``system`` and ``benchmark`` in ``given`` are names here.

    Raises
    ------
    ReadError
        If there is no matrix, or arrays that are neither matrices nor names.
    OptionError
        If a column is named that a matrix cannot have.
    """
    for role, value in given.items():
        if value is not None and value is not False and role not in ("system", "benchmark"):
            raise OptionError(f"{path} holds matrices, which have no columns: {role}= does not apply")
    prompts, prompt_key = _named(arrays, _PROMPT_KEYS)
    systems, system_key = _named(arrays, _SYSTEM_KEYS)
    matrices = {name: array for name, array in arrays.items() if array.ndim > 1 or name == ""}
    left = [name for name in arrays if name not in (*matrices, prompt_key, system_key)]
    if not matrices:
        raise ReadError(
            f"{path} holds no matrix of prompts x generations; it has "
            + ", ".join(f"{name!r} with shape {array.shape}" for name, array in arrays.items())
        )
    system, benchmark = given.get("system") or None, given.get("benchmark") or None
    if benchmark is not None and (not isinstance(benchmark, str) or len(matrices) > 1):
        raise OptionError(f"{path} holds {len(matrices)} matrices: benchmark= must be one name for one matrix")
    parts = []
    for name, array in matrices.items():
        plain = name == "" or (name in _PLAIN_KEYS and len(matrices) == 1)
        label = f"{path}" if name == "" else f"array {name!r} of {path}"
        outcomes = Outcomes._from_matrix(
            array,
            prompts=prompts,
            system=system or (None if systems is None else systems.tolist()),
            benchmark=benchmark or ("benchmark" if plain else name),
            threshold=threshold,
            label=label,
        )
        parts.append(outcomes)
    joined = Outcomes.concat(parts)
    notes = [f"{path}: not used: {', '.join(map(repr, left))}"] if left else []
    if len(matrices) > 1:
        notes.append(f"{path}: each array is taken for a benchmark")
    return joined._with_account(*joined.account, *notes)


def _named(arrays: Mapping[str, npt.NDArray[Any]], keys: tuple[str, ...]) -> tuple[npt.NDArray[Any] | None, str | None]:
    for key in keys:
        if key in arrays and arrays[key].ndim == 1:
            return arrays[key], key
    return None, None
