"""Where reports are written, and JSON without NaN."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bayeseval.errors import OptionError
from bayeseval.files import write_whole

__all__ = ["as_json", "plain_data", "require_writable", "write_text"]


def require_writable(path: str | Path, suffixes: tuple[str, ...], what: str = "a report") -> Path:
    """Look, before any long work, whether a file can be written there.

    Parameters
    ----------
    path : str or pathlib.Path
    suffixes : tuple of str
        The formats that exist.
    what : str
        What is written, for the sentence.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    OptionError
        If the suffix is another one, the folder does not exist or may not be written, or the path is a folder.

    Examples
    --------
    >>> require_writable("report.html", (".html", ".json")).name
    'report.html'
    """
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise OptionError(f"path must name a file, such as 'report{suffixes[0]}', but {path!r} was given")
    target = Path(path).expanduser()
    if target.suffix.lower() not in suffixes:
        raise OptionError(
            f"{what} is written as {' or '.join(suffixes)}, but {str(path)!r} was given: choose one of these suffixes"
        )
    folder = target.parent
    if target.is_dir():
        trouble = "it is a folder"
    elif not folder.exists():
        trouble = f"there is no folder {folder}"
    elif not folder.is_dir():
        trouble = f"{folder} is no folder"
    elif not os.access(folder, os.W_OK):
        trouble = f"you may not write to {folder}"
    else:
        return target
    raise OptionError(f"{target} cannot be written: {trouble}; choose another path")


def write_text(target: Path, text: str) -> Path:
    """Write a text to a file that appears whole or not at all.

    Raises
    ------
    OptionError
        If that is not possible.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> write_text(pathlib.Path(tempfile.mkdtemp()) / "a.txt", "whole").read_text()
    'whole'
    """
    # What is no valid Unicode, such as half a surrogate pair in a prompt id, is shown as an escape.
    return write_whole(
        target, lambda draft: draft.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    )


def as_json(value: Any) -> str:
    """Text of a JSON document; what is not finite becomes null.

    Examples
    --------
    >>> print(as_json({"value": float("nan"), "k": np.int64(3)}))
    {
      "value": null,
      "k": 3
    }
    """
    return json.dumps(plain_data(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain_data(value: Any) -> Any:
    """Numbers, texts, lists and dictionaries in place of arrays, dataclasses and NumPy numbers.

    Examples
    --------
    >>> plain_data({"a": np.array([1.0, np.inf]), "b": (True, None)})
    {'a': [1.0, None], 'b': [True, None]}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain_data(value.tolist())
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    if isinstance(value, np.generic):
        return plain_data(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if value is None or isinstance(value, bool | int):
        return value
    return str(value) if isinstance(value, Fraction | Path) else repr(value)
