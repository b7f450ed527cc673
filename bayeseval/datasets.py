"""Small real data sets that come with the package, for examples, tests and the demo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from bayeseval.errors import OptionError, require_choice
from bayeseval.readers import read

if TYPE_CHECKING:
    from bayeseval.counts import Counts
    from bayeseval.outcomes import Outcomes

__all__ = ["example"]

_FOLDER = Path(__file__).resolve().parent / "_data"
_FILES = {"counts": "counts.csv", "outcomes": "outcomes.csv.gz"}


@overload
def example(name: str = ..., kind: Literal["counts"] = ...) -> Counts: ...
@overload
def example(name: str, kind: Literal["outcomes"]) -> Outcomes: ...
@overload
def example(name: str = ..., *, kind: Literal["outcomes"]) -> Outcomes: ...
def example(name: str = "aime24-50", kind: str = "counts") -> Counts | Outcomes:
    """Load a data set that is shipped with the package.

    Parameters
    ----------
    name : str
        ``"aime24-50"``: AIME 2024, 30 prompts with 50 generations each, two checkpoints of one system.
        ``"matharena-aime2025"``: AIME 2025 papers I and II, 15 prompts with 4 generations each, 35 runs.
    kind : {"counts", "outcomes"}
        One row a prompt, or one row a generation with its answer; ``"aime24-50"`` has both.

    Returns
    -------
    Counts or Outcomes

    Raises
    ------
    OptionError
        If there is no such data set, or it holds no outcomes; the message lists what is there.

    Notes
    -----
    Source, licence and changes are told in ``README.md`` beside each file, in ``bayeseval/_data``.

    Examples
    --------
    >>> import bayeseval as be
    >>> be.example("aime24-50")
    Counts: 2 systems x 1 benchmark, 60 prompts, 3,000 generations, 50 to each prompt
    """
    require_choice("kind", kind, tuple(_FILES))
    there = {folder.name: {kind for kind, file in _FILES.items() if (folder / file).is_file()} for folder in _folders()}
    if name not in there:
        raise OptionError(f"there is no data set {name!r}; shipped with bayeseval are {', '.join(map(repr, there))}")
    if kind not in there[name]:
        having = ", ".join(repr(other) for other, kinds in there.items() if kind in kinds)
        raise OptionError(f"the data set {name!r} holds no {kind}; {having} does, and kind='counts' works for all")
    return read(_FOLDER / name / _FILES[kind], kind=kind, quiet=True)  # type: ignore[call-overload]


def _folders() -> list[Path]:
    return sorted(folder for folder in _FOLDER.iterdir() if (folder / _FILES["counts"]).is_file())
