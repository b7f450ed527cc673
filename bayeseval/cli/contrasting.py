"""Commands about differences and orders of systems: `compare` and `rank`."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeseval.cli import options as opt
from bayeseval.cli.program import app, plainly

__all__ = ["compare", "rank"]

Score = Annotated[
    str,
    typer.Option(
        "--score", "--metric", "-m", metavar="SCORE", help="mean, pass@16, pass^4, g-pass@16:0.5 or mg-pass@16."
    ),
]
Rope = Annotated[
    float | None, typer.Option("--rope", metavar="D", help="Half width of the differences that do not matter.")
]


@app.command(
    short_help="Say whether one system is better than another.",
    help="Say whether system a is better than system b: the difference a - b of a score, with its interval and "
    "P(a > b), for prompts like these and for these prompts.\n\n"
    "Systems are matched by prompt. A model is fitted where an answer needs one: for these prompts, for scores beyond "
    "the generations that were run, with --unpaired and with --model. Where the files hold one row a generation, a "
    "line says whether the generations of both systems seem to share their noise.\n\n"
    "\b\nExamples:\n"
    "  bayeseval compare new.csv old.csv --rope 0.01\n"
    "  bayeseval compare results.csv --a new --b old --score pass@4 --engine quadrature\n"
    "  bayeseval compare results.csv --system new --system old --estimand benchmark --power 0.8\n"
    "  bayeseval compare coupled.csv --a new --b old --coupled --figure difference.svg\n"
    "  bayeseval compare new.nc old.nc --unpaired --json\n",
)
@plainly
def compare(
    paths: opt.Paths,
    a: opt.First = None,
    b: opt.Second = None,
    score: Score = "mean",
    estimand: Annotated[
        str | None,
        typer.Option(
            "--estimand",
            metavar="population|benchmark",
            help="Prompts like these, or these prompts [both; with --unpaired prompts like these].",
        ),
    ] = None,
    rope: Rope = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Each system had prompts of its own: do not match them.")
    ] = False,
    coupled: Annotated[
        bool | None,
        typer.Option(
            "--coupled/--independent",
            help="Generations of one number share their noise, and what that saves is printed; or they do not "
            "[independent, with a warning where seeds are equal].",
        ),
    ] = None,
    power: Annotated[
        float | None,
        typer.Option(
            "--power", metavar="P", help="Print the difference that a study like this resolves with this probability."
        ),
    ] = None,
    figure: opt.Figure = None,
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
    """Compare and print; see `bayeseval.cli.contrasted.run_compare`."""
    given = locals()
    from bayeseval.cli import contrasted

    contrasted.run_compare(given)


@app.command(
    short_help="Order systems, and say how sure the order is.",
    help="Order all systems of one benchmark by a score, with intervals of scores and of ranks, the probability of "
    "being best, and the groups that cannot be told apart.\n\n"
    "Prompts that one of the systems lacks are left out. A model is fitted only where compare would fit one.\n\n"
    "\b\nExamples:\n"
    "  bayeseval rank results/\n"
    "  bayeseval rank results.csv --benchmark sums --score pass@4 --figure leaderboard.svg\n"
    "  bayeseval rank results.csv --estimand benchmark --engine quadrature --rope 0.01\n"
    "  bayeseval rank results.csv --system a --system b --system c --json\n",
)
@plainly
def rank(
    paths: opt.Paths,
    score: Score = "mean",
    estimand: opt.Estimand = "population",
    rope: Rope = None,
    figure: opt.Figure = None,
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
    """Rank and print; see `bayeseval.cli.contrasted.run_rank`."""
    given = locals()
    from bayeseval.cli import contrasted

    contrasted.run_rank(given)
