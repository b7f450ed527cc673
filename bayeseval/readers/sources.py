"""What a user points at, made into a list of files: a path, a folder, a glob, or a list of these."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from bayeseval.errors import ReadError
from bayeseval.readers.arrays import ARRAY_SUFFIXES
from bayeseval.readers.formats import recognised
from bayeseval.readers.tables import SUFFIXES, has_table_suffix, reading

__all__ = ["expand", "is_known", "no_known_suffix"]


def is_known(path: Path) -> bool:
    """Whether the name of a file says that it may hold results."""
    return has_table_suffix(path) or path.name.lower().endswith(ARRAY_SUFFIXES)


def no_known_suffix(path: Path) -> str:
    """The sentence that refuses a file whose name is of no kind that is read."""
    return (
        f"{path} is not of a kind that is read: {', '.join((*SUFFIXES, *ARRAY_SUFFIXES))}; nor is its content that of "
        "an evaluation tool that is known"
    )


def expand(source: str | os.PathLike[str]) -> tuple[list[Path], list[str], bool]:
    """Files that a path means.

    Returns
    -------
    files : list of Path
    set_aside : list of str
        What lies in the folder or matches the pattern but is no file of results, with the reason.
    named : bool
        Whether the user named a single file, which then must be results.

    Raises
    ------
    ReadError
        If there is nothing of that name, or nothing in it that could be read.
    """
    text = os.path.expanduser(os.fspath(source))
    path = Path(text)
    with reading(path):
        try:
            is_file, is_folder = path.is_file(), path.is_dir()
        except ValueError as problem:
            raise ReadError(f"{text[:80]!r} is not a path: {problem}") from None
        if is_file:
            if not is_known(path) and recognised(path) is None:
                raise ReadError(no_known_suffix(path))
            return [path], [], True
        if is_folder:
            found = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
            return *_sorted_out(found, f"the folder {path}"), False
    if glob.has_magic(text):
        found = sorted(Path(name) for name in glob.glob(text, recursive=True))
        if "**" in text:
            found = [path for path in found if not path.is_dir()]
        if not found:
            raise ReadError(f"no file matches {text}")
        return *_sorted_out(found, f"the pattern {text}"), False
    raise ReadError(f"there is no file or folder {text[:200]}")


def _sorted_out(found: list[Path], where: str) -> tuple[list[Path], list[str]]:
    files = [path for path in found if path.is_file() and (is_known(path) or recognised(path))]
    there = set(files)
    others = [path for path in found if path not in there]
    if not files:
        seen = (
            f"; there are {', '.join(path.name for path in others[:5])}{', ...' if len(others) > 5 else ''}"
            if others
            else ""
        )
        folder = next((path for path in others if path.is_dir()), None)
        deeper = f"; for the files in its folders read the pattern '{folder.parent}/**'" if folder else ""
        raise ReadError(
            f"{where} holds no file of a kind that is read ({', '.join((*SUFFIXES, *ARRAY_SUFFIXES))}, or of an "
            f"evaluation tool that is known){seen}{deeper}"
        )
    return files, [
        f"set aside: {path} ({'a folder' if path.is_dir() else 'no results of a kind that is read'})" for path in others
    ]
