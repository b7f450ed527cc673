"""Files that appear whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from bayeseval.errors import OptionError

__all__ = ["write_whole"]


def write_whole(target: Path, write: Callable[[Path], object]) -> Path:
    """Write a file by way of a draft beside it, so that no reader, and no interrupt, ever leaves half of it.

    Parameters
    ----------
    target : pathlib.Path
    write : callable
        Called with the path of the draft, which it writes.

    Returns
    -------
    pathlib.Path
        The target.

    Raises
    ------
    OptionError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_whole(file, lambda draft: draft.write_text("whole")).read_text()
    'whole'
    """
    try:
        with tempfile.TemporaryDirectory(prefix=".bayeseval-", dir=target.parent) as scratch:
            draft = Path(scratch) / target.name
            write(draft)
            draft.replace(target)
    except OSError as error:
        raise OptionError(f"{target} cannot be written: {error.strerror or error}; choose another path") from None
    return target
