"""Commands about results: `bayeseval fit`, `report` and `counts`."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeseval.cli import options as opt
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
    paths: opt.Paths,
    system: opt.System = None,
    benchmark: opt.Benchmark = None,
    column: opt.Column = None,
    threshold: opt.Threshold = None,
    scorer: opt.Scorer = None,
    filter: opt.Filter = None,
    errored: opt.Errored = None,
    unscored: opt.Unscored = None,
    credit: opt.Credit = None,
    levels: opt.Levels = None,
    model: opt.Model = None,
    prior: opt.Prior = None,
    engine: opt.Engine = "nuts",
    sampler: opt.Sampler = "numpyro",
    seed: opt.Seed = 0,
    draws: opt.Draws = 1000,
    tune: opt.Tune = None,
    chains: opt.Chains = 4,
    metric: opt.Metrics = None,
    prob: opt.Prob = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE|FOLDER", help="Save the posterior as .nc; several runs into a folder."),
    ] = None,
    groups: Annotated[bool, typer.Option("--groups", help="Print the score of every group, too.")] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Fit again under other priors, and print how far scores move.")
    ] = False,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
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
    paths: opt.Paths,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The report: .html or .json.")
    ] = "report.html",
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Title of the report.")] = None,
    width: Annotated[
        float | None,
        typer.Option("--width", metavar="W", help="Add a plan for an interval of this width, both estimands."),
    ] = None,
    metric: opt.Metrics = None,
    prob: opt.Prob = None,
    system: opt.System = None,
    benchmark: opt.Benchmark = None,
    column: opt.Column = None,
    threshold: opt.Threshold = None,
    scorer: opt.Scorer = None,
    filter: opt.Filter = None,
    errored: opt.Errored = None,
    unscored: opt.Unscored = None,
    model: opt.Model = None,
    prior: opt.Prior = None,
    engine: opt.Engine = "nuts",
    sampler: opt.Sampler = "numpyro",
    seed: opt.Seed = 0,
    draws: opt.Draws = 1000,
    tune: opt.Tune = None,
    chains: opt.Chains = 4,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
) -> None:
    """Write a report; see `bayeseval.cli.work.run_report`."""
    given = locals()
    from bayeseval.cli import work

    work.run_report(paths, work.settings(given), out, title, metric, prob, width, as_json)


@app.command(
    short_help="Read results, and write them as counts.",
    help="Read results from files of any tool, print what was found, and write it as one table.\n\n"
    "With --add-to, the generations are added to those of an earlier day; one that is there already is refused.\n\n"
    "\b\nExamples:\n"
    "  bayeseval counts logs/\n"
    "  bayeseval counts logs/ --scorer match --errored bounds --out counts.parquet\n"
    "  bayeseval counts tuesday.eval --errored drop --add-to outcomes.jsonl\n",
)
@plainly
def counts(
    paths: opt.Paths,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Write a .parquet, .csv or .jsonl file.")
    ] = None,
    outcomes: Annotated[
        bool, typer.Option("--outcomes", help="Keep single generations, with their answers, not counts.")
    ] = False,
    add_to: Annotated[
        str | None,
        typer.Option(
            "--add-to",
            metavar="FILE",
            help="Add to the results in this file, and write the whole there [or to --out].",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Let the file replace one that bayeseval did not write.")
    ] = False,
    system: opt.System = None,
    benchmark: opt.Benchmark = None,
    column: opt.Column = None,
    threshold: opt.Threshold = None,
    scorer: opt.Scorer = None,
    filter: opt.Filter = None,
    errored: opt.Errored = None,
    unscored: opt.Unscored = None,
    credit: opt.Credit = None,
    levels: opt.Levels = None,
    quiet: opt.Quiet = False,
) -> None:
    """Read, print and write; see `bayeseval.cli.counted.run_counts`."""
    given = locals()
    from bayeseval.cli import counted

    counted.run_counts(given)
