"""Commands about what comes along: `bayeseval models` and `demo`."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeseval.cli import options as opt
from bayeseval.cli.program import app, plainly


@app.command(
    short_help="List, show, copy, check and calibrate models.",
    help="List the built-in models, show one, copy it to be changed, or check or calibrate a model.\n\n"
    "Only files that you trust should be checked or calibrated: they are run.\n\n"
    "\b\nExamples:\n"
    "  bayeseval models\n"
    "  bayeseval models beta_binomial\n"
    "  bayeseval models beta_binomial --copy-to my_model.py\n"
    "  bayeseval models --check my_model.py\n"
    "  bayeseval models my_model.py --calibrate 200\n",
)
@plainly
def models(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A built-in model.", show_default=False)] = None,
    copy_to: Annotated[
        str | None, typer.Option("--copy-to", metavar="FILE", help="Copy the model's file there.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Let the copy replace a file.")] = False,
    check: Annotated[
        str | None, typer.Option("--check", metavar="FILE", help="Check a model file; exit status 1 if it fails.")
    ] = None,
    calibrate: Annotated[
        int | None,
        typer.Option(
            "--calibrate",
            metavar="N",
            help="Simulate N data sets from the prior and rank the truth; exit status 1 if it leaves the band.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show, copy and check models; see `bayeseval.cli.catalogue`."""
    from bayeseval.cli import catalogue

    if calibrate is not None:
        if not catalogue.calibrated(name, calibrate):
            raise typer.Exit(1)
        return
    if not catalogue.models(name, copy_to, overwrite, check, as_json):
        raise typer.Exit(1)


@app.command(
    short_help="Run the main job on data that come along.",
    help="Run the main job on data that come with the package, and write a report.\n\n"
    "The last line printed is the path of the report.\n\n"
    "\b\nExamples:\n"
    "  bayeseval demo\n"
    "  bayeseval demo -o my-folder\n"
    "  bayeseval demo -o aime.html\n",
)
@plainly
def demo(
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FOLDER|FILE", help="Folder for the results, or an .html file.")
    ] = "bayeseval-demo",
    engine: opt.Engine = "nuts",
    seed: opt.Seed = 1,
    as_json: opt.AsJson = False,
) -> None:
    """Run the demo; see `bayeseval.cli.main_job`."""
    from bayeseval.cli import main_job

    main_job.demo(out, engine, seed, as_json)
