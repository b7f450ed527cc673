"""Commands about results: `bayeseval fit` and `report`."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeseval.cli.options import (
    AsJson, Benchmark, Chains, Column, Credit, Draws, Engine, Levels, Metrics, Model, Paths, Prior, Prob, Quiet, Sampler,
    Seed, System, Threshold, Tune,
)  # fmt: skip
from bayeseval.cli.program import app, plainly


@app.command(
    short_help="Fit a model to every run, and print scores.",
    help="Fit a model to every run in the files, and print scores with intervals and the moment estimates.\n\n"
    "\b\nExamples:\n"
    "  bayeseval fit results.csv\n"
    "  bayeseval fit results/ -m pass@16 -m pass^4 --out post.nc\n"
    "  bayeseval fit scores.jsonl --column system=checkpoint --threshold 0.5 --json\n"
    "  bayeseval fit results.csv --prior mu=0.5,0.5 --engine quadrature\n"
    "  bayeseval fit results.csv --model beta_binomial --model my_model.py\n"
    "  bayeseval fit results.csv --model grouped --column group=subject --groups\n",
)
@plainly
def fit(
    paths: Paths,
    system: System = None,
    benchmark: Benchmark = None,
    column: Column = None,
    threshold: Threshold = None,
    credit: Credit = None,
    levels: Levels = None,
    model: Model = None,
    prior: Prior = None,
    engine: Engine = "nuts",
    sampler: Sampler = "numpyro",
    seed: Seed = 0,
    draws: Draws = 1000,
    tune: Tune = None,
    chains: Chains = 4,
    metric: Metrics = None,
    prob: Prob = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE|FOLDER", help="Save the posterior as .nc; several runs into a folder."),
    ] = None,
    groups: Annotated[bool, typer.Option("--groups", help="Print the score of every group, too.")] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Fit again under other priors, and print how far scores move.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Fit and print; see `bayeseval.cli.work.run_fit`."""
    given = locals()
    from bayeseval.cli import work

    work.run_fit(paths, work.settings(given), metric, prob, out, as_json, groups, sensitivity)


@app.command(
    short_help="Write a report, as an HTML page or JSON.",
    help="Write a report: one self-contained HTML page, or JSON.\n\n"
    "\b\nExamples:\n"
    "  bayeseval report results.csv -o report.html\n"
    "  bayeseval report post.nc -o report.json\n"
    "  bayeseval report results/ -o report.html --title 'Spring run' --width 0.02\n",
)
@plainly
def report(
    paths: Paths,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The report: .html or .json.")
    ] = "report.html",
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Title of the report.")] = None,
    width: Annotated[
        float | None,
        typer.Option("--width", metavar="W", help="Add a plan for an interval of this width, both estimands."),
    ] = None,
    metric: Metrics = None,
    prob: Prob = None,
    system: System = None,
    benchmark: Benchmark = None,
    column: Column = None,
    threshold: Threshold = None,
    model: Model = None,
    prior: Prior = None,
    engine: Engine = "nuts",
    sampler: Sampler = "numpyro",
    seed: Seed = 0,
    draws: Draws = 1000,
    tune: Tune = None,
    chains: Chains = 4,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write a report; see `bayeseval.cli.work.run_report`."""
    given = locals()
    from bayeseval.cli import work

    work.run_report(paths, work.settings(given), out, title, metric, prob, width, as_json)
