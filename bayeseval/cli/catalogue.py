"""The work behind `bayeseval models`."""

from __future__ import annotations

from typing import Any

import typer

from bayeseval._version import __version__
from bayeseval.calibration.ranks import calibrate
from bayeseval.catalogue import copy_model, load_model
from bayeseval.catalogue import models as built_in
from bayeseval.cli.tables import say
from bayeseval.conformance import check_model
from bayeseval.errors import OptionError
from bayeseval.reporting.content import SCHEMA_VERSION
from bayeseval.reporting.files import as_json as json_text

__all__ = ["calibrated", "models"]


def models(name: str | None, copy_to: str | None, overwrite: bool, check: str | None, as_json: bool) -> bool:
    """List models, show one, copy it, or check a file; whether all is well."""
    if check is not None:
        if name is not None or copy_to is not None:
            raise OptionError("--check takes the file to be checked, and no other model beside it")
        return _check(check, as_json)
    if copy_to is not None:
        if name is None:
            raise OptionError("--copy-to needs the name of the model to be copied, such as beta_binomial")
        written = copy_model(name, copy_to, overwrite=overwrite)
        typer.echo(_document([_record(str(written))]) if as_json else str(written), nl=not as_json)
        return True
    names = list(built_in()) if name is None else [name]
    if as_json:
        typer.echo(_document([_record(one) for one in names]), nl=False)
    elif name is None:
        typer.echo(repr(built_in()))
    else:
        model = load_model(name)
        typer.echo(model.story.strip())
        typer.echo(
            f"\nprior: {', '.join(f'{key} {value}' for key, value in model.prior().items())}\nfile: {model.path}"
        )
    return True


def calibrated(name: str | None, replicates: int) -> bool:
    """Calibrate a model by simulation and print the result; whether the truth stays inside the band."""
    if name is None:
        raise OptionError("--calibrate needs the name or the file of a model, such as beta_binomial")
    result = calibrate(name, replicates=replicates)
    say(repr(result))
    say(result.to_frame().to_string(index=False, float_format="{:.3f}".format))
    return result.ok


def _check(path: str, as_json: bool) -> bool:
    result = check_model(path)
    if as_json:
        record = {"ok": result.ok, "passed": list(result.passed), "problem": result.problem}
        # A file that cannot be loaded has no title or prior to tell of.
        model = _record(path) if result.passed else {"name": path}
        typer.echo(_document([{**model, "check": record}]), nl=False)
    else:
        say(repr(result))
    return result.ok


def _record(name: str) -> dict[str, Any]:
    model = load_model(name)
    return {
        "name": model.name,
        "title": model.title,
        "story": model.story.strip(),
        "path": str(model.path),
        "digest": model.digest,
        "prior": model.prior(),
        "quadrature": model.has_quadrature,
    }


def _document(records: list[dict[str, Any]]) -> str:
    return json_text({"schema_version": SCHEMA_VERSION, "kind": "models", "bayeseval": __version__, "models": records})
