"""The command line: ``bayeseval fit``, ``plan``, ``report``, ``models`` and ``demo``.

Results go to standard output, progress and what was read to standard error. Heavy libraries load inside the commands.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn, ParamSpec, TypeVar

import typer

from bayeseval._version import __version__
from bayeseval.errors import BayesevalError

__all__ = ["app", "main"]

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


Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Files with results (.csv, .jsonl, .parquet, .npz, ...), folders or patterns; or posteriors saved as .nc.",
        show_default=False,
    ),
]
System = Annotated[
    list[str] | None, typer.Option("--system", metavar="NAME", help="Only this system; may be repeated.")
]
Benchmark = Annotated[
    list[str] | None, typer.Option("--benchmark", metavar="NAME", help="Only this benchmark; may be repeated.")
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="ROLE=NAME",
        help="Column for system, benchmark, prompt, generations, correct, ... in place of the guess, such as "
        "system=checkpoint. Several for a role, as in benchmark=task,condition, are joined; ROLE= means there is none.",
    ),
]
Threshold = Annotated[
    float | None, typer.Option("--threshold", metavar="NUMBER", help="Scores of at least this much are correct.")
]
Credit = Annotated[
    str | None,
    typer.Option(
        "--credit", metavar="COLUMN", help="Keep partial credit: the column with credits from 0 to 1, no threshold."
    ),
]
Levels = Annotated[
    str | None,
    typer.Option("--levels", metavar="W,W,...", help="Credits that can be given, such as 0,0.5,1; with --credit."),
]
Model = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Name of a built-in model [beta_binomial], or path of a model file to be run. Several, each with its own "
        "--model, are compared and stacked.",
    ),
]
Prior = Annotated[
    list[str] | None,
    typer.Option("--prior", metavar="NAME=A,B", help="Change a prior, such as mu=0.5,0.5; may be repeated."),
]
Engine = Annotated[str, typer.Option("--engine", metavar="nuts|quadrature", help="How the posterior is computed.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Same seed, same result.")]
Draws = Annotated[int, typer.Option("--draws", metavar="N", help="Draws kept in each chain.")]
Tune = Annotated[
    int | None, typer.Option("--tune", metavar="N", help="Warm-up iterations of each chain [1000, or the model's].")
]
Chains = Annotated[int, typer.Option("--chains", metavar="N", help="Chains.")]
Sampler = Annotated[str, typer.Option("--sampler", metavar="numpyro|nutpie|blackjax|pymc", help="Who runs NUTS.")]
Prob = Annotated[float | None, typer.Option("--prob", metavar="P", help="Probability inside intervals [0.95].")]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        metavar="SCORE",
        help="Score to show beside the mean: pass@16, pass^4, g-pass@16:0.5, mg-pass@16; may be repeated.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No account of what was read, and no progress bar.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else on standard output.")]


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
    short_help="Find how many generations the next run needs.",
    help="Find how many generations per prompt make the interval of the mean narrow enough.\n\n"
    "\b\nExamples:\n"
    "  bayeseval plan pilot.csv --width 0.02\n"
    "  bayeseval plan pilot.csv --width 0.02 --estimand benchmark --attempts 16\n"
    "  bayeseval plan post.nc --width 0.05 --prompts fresh --n-prompts 500\n",
)
@plainly
def plan(
    paths: Paths,
    width: Annotated[float, typer.Option("--width", metavar="W", help="Width that the interval shall have at most.")],
    estimand: Annotated[
        str,
        typer.Option("--estimand", metavar="population|benchmark", help="Prompts like these, or these prompts."),
    ] = "population",
    prompts: Annotated[
        str,
        typer.Option("--prompts", metavar="same|fresh", help="More generations on the same prompts, or fresh prompts."),
    ] = "same",
    n_prompts: Annotated[int | None, typer.Option("--n-prompts", metavar="N", help="Number of fresh prompts.")] = None,
    assurance: Annotated[
        float, typer.Option("--assurance", metavar="P", help="Probability with which the width shall be met.")
    ] = 0.8,
    generations: Annotated[
        str | None, typer.Option("--generations", metavar="K,K,...", help="Numbers of generations to try.")
    ] = None,
    attempts: Annotated[
        int | None,
        typer.Option("--attempts", metavar="R", help="Attempts of a planned G-Pass@R, for its rule k >= 3R."),
    ] = None,
    futures: Annotated[int, typer.Option("--futures", metavar="N", help="Simulated futures for each number.")] = 500,
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
    """Plan and print; see `bayeseval.cli.work.run_plan`."""
    given = locals()
    from bayeseval.cli import work

    work.run_plan(paths, work.settings(given), work.targets(given), as_json)


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
    as_json: AsJson = False,
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
    engine: Engine = "nuts",
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Run the demo; see `bayeseval.cli.main_job`."""
    from bayeseval.cli import main_job

    main_job.demo(out, engine, seed, as_json)
