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

_FEW = 5


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

    A folder means everything below it, depth first and sorted by name, then what links in it lead to. Hidden files and
    folders are skipped; no folder is entered twice, whatever links there are.

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
        aside: list[tuple[Path, str]] = []
        return *_sorted_out(_below(path, aside), aside, f"the folder {path}"), False
    if glob.has_magic(text):
        found = sorted(Path(name) for name in glob.glob(text, recursive=True))
        if "**" in text:
            found = [path for path in found if not path.is_dir()]
        if not found:
            raise ReadError(f"no file matches {text}")
        folders = [(path, "a folder") for path in found if path.is_dir()]
        return *_sorted_out([path for path in found if not path.is_dir()], folders, f"the pattern {text}"), False
    raise ReadError(f"there is no file or folder {text[:200]}")


def _below(folder: Path, aside: list[tuple[Path, str]]) -> list[Path]:
    """Files below a folder; what cannot be entered, or was entered before, is put aside with the reason."""
    files: list[Path] = []
    entered: set[Path] = set()
    links: list[Path] = []
    pending = [folder]
    while pending or links:
        path = pending.pop() if pending else links.pop(0)
        real = Path(os.path.realpath(path))  # unlike `resolve`, it bears links in a circle
        if path.is_file():
            files.append(path)
        elif not path.is_dir():
            aside.append((path, "a link that leads nowhere" if path.is_symlink() else "no file"))
        elif real in entered:
            aside.append((path, f"a link to {real}, which is read once"))
        else:
            entered.add(real)
            try:
                inside = sorted((entry for entry in path.iterdir() if not entry.name.startswith(".")), reverse=True)
            except OSError as problem:
                aside.append((path, f"a folder that may not be entered: {problem.strerror}"))
                continue
            pending += [entry for entry in inside if not entry.is_symlink()]
            links += [entry for entry in reversed(inside) if entry.is_symlink()]
    return files


def _sorted_out(found: list[Path], aside: list[tuple[Path, str]], where: str) -> tuple[list[Path], list[str]]:
    """Files that may hold results, and a line for everything else; those of one reason share a line."""
    files = []
    for path in found:
        if not os.access(path, os.R_OK):
            aside.append((path, "may not be read by this user"))
        elif path.is_file() and (is_known(path) or recognised(path)):
            files.append(path)
        else:
            aside.append((path, "no results of a kind that is read"))
    if not files:
        names = [path.name + (f" ({reason})" if "may not" in reason else "") for path, reason in aside]
        seen = f"; there are {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}" if names else ""
        raise ReadError(
            f"{where} holds no file of a kind that is read ({', '.join((*SUFFIXES, *ARRAY_SUFFIXES))}, or of an "
            f"evaluation tool that is known){seen}"
        )
    reasons: dict[str, list[Path]] = {}
    for path, reason in aside:
        reasons.setdefault(reason, []).append(path)
    lines = []
    for reason, paths in reasons.items():
        if len(paths) > _FEW:
            lines.append(f"set aside: {paths[0]} and {len(paths) - 1:,} more ({reason})")
        else:
            lines += [f"set aside: {path} ({reason})" for path in paths]
    return files, lines
