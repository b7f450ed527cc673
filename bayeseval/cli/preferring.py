"""The command about judged comparisons: `bayeseval preferences`."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeseval.cli import options as opt
from bayeseval.cli.program import app, plainly

__all__ = ["preferences"]


@app.command(
    short_help="Rank systems by pairwise preferences.",
    help="Rank systems by pairwise preferences: strengths, ranks and win rates, with intervals.\n\n"
    "FILE has one row a comparison: the two systems, and who won (model_a, model_b, tie, the name of a system, ...). "
    "Where a column names prompts, intervals are those of a bootstrap over prompts, since comparisons on one prompt "
    "depend on each other.\n\n"
    "\b\nExamples:\n"
    "  bayeseval preferences arena.csv\n"
    "  bayeseval preferences votes.jsonl --column winner=verdict --column prompt=question --ties half\n"
    "  bayeseval preferences votes.parquet --column prompt= --prior-sd 0.5 --elo\n"
    "  bayeseval preferences arena.csv --figure ranks.svg --json\n",
)
@plainly
def preferences(
    path: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Comparisons: .csv, .tsv, .jsonl, .parquet, ...", show_default=False),
    ],
    ties: Annotated[
        str,
        typer.Option(
            "--ties",
            metavar="davidson|half|ignore",
            help="A tie is an outcome of its own, half a win for each, or left out.",
        ),
    ] = "davidson",
    intervals: Annotated[
        str | None,
        typer.Option(
            "--intervals",
            metavar="bootstrap|posterior",
            help="Resample prompts [where there are any], or take comparisons as independent.",
        ),
    ] = None,
    prior_sd: Annotated[
        float | None,
        typer.Option("--prior-sd", metavar="S", help="Standard deviation of log strengths in the prior [estimated]."),
    ] = None,
    elo: Annotated[bool, typer.Option("--elo", help="Strengths as points around 1000.")] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="ROLE=NAME",
            help="Column for a, b, winner, prompt, seed or count in place of the guess; ROLE= means there is none.",
        ),
    ] = None,
    figure: opt.Figure = None,
    prob: opt.Prob = None,
    seed: opt.Seed = 0,
    draws: opt.Draws = 1000,
    tune: Annotated[int, typer.Option("--tune", metavar="N", help="Warm-up iterations of each chain.")] = 1000,
    chains: opt.Chains = 4,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Rank and print; see `bayeseval.cli.preferred.run_preferences`."""
    given = locals()
    from bayeseval.cli import preferred

    preferred.run_preferences(given)
