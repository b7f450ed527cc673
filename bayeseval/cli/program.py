"""The program: how commands are entered, how it fails, and what it prints where."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn, ParamSpec, TypeVar

import typer

from bayeseval._version import __version__
from bayeseval.errors import BayesevalError

__all__ = ["app", "main", "plainly"]

P = ParamSpec("P")
T = TypeVar("T")

INTERRUPTED = 130
FAILED = 2

app = typer.Typer(
    name="bayeseval",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Bayesian scores, intervals and sample-size plans for language models that answer every prompt several "
    "times.\n\n"
    "\b\nExamples:\n"
    "  bayeseval fit results.csv\n"
    "  bayeseval plan results.csv --width 0.02\n"
    "  bayeseval report results.csv -o report.html\n"
    "  bayeseval demo\n",
)


def main() -> None:
    """Run the command line; what the installed program ``bayeseval`` calls."""
    for stream in (sys.stdout, sys.stderr):
        # Names of systems may hold what the terminal's encoding does not.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        app(prog_name="bayeseval")
    except KeyboardInterrupt:
        _end("interrupted", INTERRUPTED)


def _end(message: str, code: int) -> NoReturn:
    typer.echo(message, err=True)
    raise SystemExit(code)


def plainly(command: Callable[P, T]) -> Callable[P, T]:
    """Make a command say what bayeseval found wrong in one line on standard error, instead of a traceback."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except BayesevalError as error:
            typer.echo("error: " + " ".join(str(error).split()), err=True)
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            typer.echo("interrupted: nothing was written", err=True)
            raise typer.Exit(INTERRUPTED) from None

    return wrapped


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"bayeseval {__version__}")
        raise typer.Exit


@app.callback()
def everything(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options of the program itself."""
