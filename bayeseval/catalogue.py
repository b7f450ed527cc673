"""Model files: finding, loading, copying and checking them.

A model is a Python file (the protocol is told in CONTRIBUTING.md). Built-in models lie in ``bayeseval/_models`` of an
installed package, or in ``models/`` of a checkout: the folder is the catalogue, there is no registry.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

from bayeseval.credit_data import CREDIT_BLOCKS
from bayeseval.errors import ModelFileError, OptionError
from bayeseval.model_data import BLOCKS
from bayeseval.model_file import ModelFile, line_of
from bayeseval.pair_data import PAIR_BLOCKS

__all__ = [
    "DEFAULT_MODEL",
    "Catalogue",
    "ModelFile",
    "alternatives",
    "copy_model",
    "load_model",
    "model_folder",
    "models",
]

DEFAULT_MODEL = "beta_binomial"

_loaded: dict[tuple[Path, str], ModelFile] = {}


class Catalogue(Mapping[str, str]):
    """Built-in models by name, each with its one-line title."""

    def __init__(self, titles: dict[str, str]) -> None:
        self._titles = titles

    def __getitem__(self, name: str) -> str:
        return self._titles[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._titles)

    def __len__(self) -> int:
        return len(self._titles)

    def __repr__(self) -> str:
        width = max(map(len, self._titles), default=0)
        return "\n".join(f"{name:<{width}}  {title}" for name, title in self._titles.items())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{escape(name)}</code></td><td style='text-align:left'>{escape(title)}</td></tr>"
            for name, title in self._titles.items()
        )
        return f"<table><thead><tr><th>model</th><th>what it says</th></tr></thead><tbody>{rows}</tbody></table>"


def model_folder() -> Path:
    """Folder of the built-in model files, in an installed package or in a checkout.

    Raises
    ------
    ModelFileError
        If neither place exists.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_models", package.parent / "models"):
        if (folder / f"{DEFAULT_MODEL}.py").is_file():
            return folder
    raise ModelFileError(
        f"the built-in models are missing: neither {package / '_models'} nor {package.parent / 'models'} holds "
        f"{DEFAULT_MODEL}.py; reinstall bayeseval"
    )


def models() -> Catalogue:
    """The built-in models.

    Returns
    -------
    Catalogue
        A mapping from name to the first line of the model's docstring.

    Examples
    --------
    >>> import bayeseval as be
    >>> "beta_binomial" in be.models()
    True
    """
    paths = sorted(path for path in model_folder().glob("*.py") if not path.name.startswith("_"))
    return Catalogue({path.stem: load_model(path).title for path in paths})


def alternatives(model: ModelFile) -> list[str]:
    """Built-in models of other families that need no more than counts, for data that a model does not describe.

    Parameters
    ----------
    model : ModelFile

    Returns
    -------
    list of str
        One name a family; none for what is not in the catalogue by that name, such as a stack.
    """
    if not model.path.is_file():
        return []
    families = {model.family}
    names = []
    for name in models():
        other = load_model(name)
        if other.family not in families and set(other.blocks) <= {"survival", "cells"}:
            families.add(other.family)
            names.append(name)
    return names


def load_model(model: str | Path | ModelFile = DEFAULT_MODEL) -> ModelFile:
    """Load a model by the name of a built-in one, or by the path of a file.

    The file is run: load only files that you trust.

    Parameters
    ----------
    model : str, pathlib.Path or ModelFile
        A name such as ``"beta_binomial"``, or a path that ends in ``.py``.

    Returns
    -------
    ModelFile

    Raises
    ------
    ModelFileError
        If there is no such model, the file cannot be run, or it lacks a part of the protocol.

    Examples
    --------
    >>> from bayeseval.catalogue import load_model
    >>> load_model("beta_binomial").title
    'Beta-binomial: every prompt has its own probability of a correct answer, drawn from one Beta distribution.'
    """
    if isinstance(model, ModelFile):
        return model
    path = _find(model)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"the model file {path} cannot be read: {error.strerror}") from None
    digest = hashlib.sha256(source).hexdigest()
    key = (path, digest)
    if key not in _loaded:
        module = _run(path, digest)
        _require_protocol(module, path)
        _loaded[key] = ModelFile(path.stem, path, digest, module)
    return _loaded[key]


def copy_model(name: str, path: str | Path, *, overwrite: bool = False) -> Path:
    """Copy a model file, to be opened and changed; then ``be.fit(counts, model=path)``.

    Parameters
    ----------
    name : str
        Name of a built-in model, or a path; ``"_template"`` is a commented skeleton to start from.
    path : str or pathlib.Path
        New file, ending in ``.py``.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The new file.

    Raises
    ------
    OptionError
        If the file exists already, does not end in ``.py``, or cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib, bayeseval as be
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> be.copy_model("beta_binomial", folder / "my_model.py").name
    'my_model.py'
    """
    source, target = load_model(name), Path(path)
    if target.suffix != ".py":
        raise OptionError(f"a model file must end in .py, but {str(path)!r} was given")
    if target.exists() and not overwrite:
        raise OptionError(f"{target} exists already; choose another path or pass overwrite=True")
    try:
        target.write_bytes(source.path.read_bytes())
    except OSError as error:
        raise OptionError(f"{target} cannot be written: {error.strerror}; choose another path") from None
    return target


def _find(model: str | Path) -> Path:
    if isinstance(model, Path) or (isinstance(model, str) and (model.endswith(".py") or "/" in model)):
        path = Path(model).expanduser().resolve()
        if not path.is_file():
            raise ModelFileError(f"there is no model file {path}")
        return path
    if not isinstance(model, str):
        raise OptionError(f"model must be a name or a path, but {model!r} was given")
    path = model_folder() / f"{model}.py"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in model_folder().glob("*.py") if not p.name.startswith("_")))
        raise ModelFileError(
            f"there is no model named {model!r}; the built-in ones are {known}; a file of your own is given by its "
            f"path, such as 'my_model.py', and be.copy_model('_template', 'my_model.py') starts one"
        )
    return path


def _run(path: Path, digest: str) -> ModuleType:
    # The module must be in sys.modules before it runs, or dataclasses with postponed annotations fail inside it.
    name = f"bayeseval_model_{path.stem}_{digest[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ModelFileError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ModelFileError(
            f"{path}: running the file raised {type(error).__name__}: {error} (line {line_of(error, path)})"
        ) from error
    return module


def _require_protocol(module: ModuleType, path: Path) -> None:
    for name, parameters in (("build", ["data", "prior"]), ("prompt_distribution", ["draws"])):
        function: Any = getattr(module, name, None)
        if not callable(function):
            raise ModelFileError(f"{path}: the file must define a function {name}({', '.join(parameters)})")
        given = list(inspect.signature(function).parameters)
        if given[: len(parameters)] != parameters:
            raise ModelFileError(
                f"{path}: {name} must take ({', '.join(parameters)}), but it takes ({', '.join(given)})"
            )
    if not isinstance(getattr(module, "PRIOR", None), dict):
        raise ModelFileError(f"{path}: the file must define PRIOR, a dictionary of prior parameters by name")
    blocks = getattr(module, "DATA", ())
    known = (BLOCKS, CREDIT_BLOCKS, PAIR_BLOCKS)
    if not isinstance(blocks, tuple) or not any(set(blocks) <= set(kind) for kind in known):
        raise ModelFileError(
            f"{path}: DATA must be a tuple of some of {BLOCKS}, or of {CREDIT_BLOCKS} for a model of credits, or of "
            f"{PAIR_BLOCKS} for a model of two systems, but it is {blocks!r}"
        )
    if not (module.__doc__ or "").strip():
        raise ModelFileError(f"{path}: the file must begin with a docstring that states the model")
