"""Commands about several systems or looks: `plan-contrast`, `plan-order`, `compare-decoding` and `looks`."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeseval.cli import options as opt
from bayeseval.cli.program import app, plainly

__all__ = ["compare_decoding", "looks", "plan_contrast", "plan_order"]

GO_ON = 3


@app.command(
    "plan-contrast",
    short_help="Find how many generations tell two systems apart.",
    help="Find how many generations per prompt tell two systems apart, and whether any number does.\n\n"
    "Pilots are matched by prompt. They are fitted only where a system has one generation a prompt, whose spread a "
    "prior must supply, or where --model is given.\n\n"
    "\b\nExamples:\n"
    "  bayeseval plan-contrast old.csv new.csv --a new --b old\n"
    "  bayeseval plan-contrast results.csv --difference 0.02 --rope 0.01 --estimand benchmark\n"
    "  bayeseval plan-contrast results.csv --design unpaired --prompts fresh --n-prompts 500\n"
    "  bayeseval plan-contrast pilot.csv --design coupled --kappa 0.05 --figure contrast.svg\n"
    "  bayeseval plan-contrast --guess new=0.63,0.3 --guess old=0.60,0.3 --correlation 0.9 --n-prompts 400\n",
)
@plainly
def plan_contrast(
    paths: opt.SomePaths = None,
    a: opt.First = None,
    b: opt.Second = None,
    guess: Annotated[
        list[str] | None,
        typer.Option(
            "--guess",
            metavar="NAME=MEAN,SD",
            help="A system without a pilot: guessed mean and standard deviation of P(correct) over prompts.",
        ),
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option("--correlation", metavar="R", help="Of P(correct) of both over prompts; with guesses."),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option("--difference", metavar="D", help="True difference a - b [what the pilot says about it]."),
    ] = None,
    design: Annotated[
        str,
        typer.Option(
            "--design",
            metavar="paired|unpaired|coupled",
            help="The same prompts; prompts of its own for each; the same prompts, and generations that share their "
            "noise.",
        ),
    ] = "paired",
    kappa: Annotated[
        float | None,
        typer.Option(
            "--kappa",
            metavar="K",
            help="Of a coupled design: covariance of generations that share their noise [estimated from the files, "
            "which then hold one row a generation, of the same number where they share it].",
        ),
    ] = None,
    rope: Annotated[
        float, typer.Option("--rope", metavar="D", help="Half width of the differences that do not matter.")
    ] = 0.0,
    estimand: opt.Estimand = "population",
    power: opt.Power = 0.8,
    prompts: opt.Prompts = None,
    n_prompts: opt.NPrompts = None,
    generations: opt.Generations = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", metavar="N", help="Bootstrap draws of what the pilot says.")
    ] = 500,
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
    """Plan a comparison and print; see `bayeseval.cli.compared.run_contrast`."""
    given = locals()
    from bayeseval.cli import compared

    compared.run_contrast(given)


@app.command(
    "plan-order",
    short_help="Find how many generations order several systems.",
    help="Find how many generations per prompt put all systems of one benchmark into the right order, and find the "
    "best.\n\nPilots are fitted only where plan-contrast would.\n\n"
    "\b\nExamples:\n"
    "  bayeseval plan-order results/\n"
    "  bayeseval plan-order results.csv --system a --system b --system c --estimand benchmark --power 0.9\n"
    "  bayeseval plan-order results.csv --benchmark sums --prompts fresh --n-prompts 1000 --figure order.png\n",
)
@plainly
def plan_order(
    paths: opt.Paths,
    estimand: opt.Estimand = "population",
    power: opt.Power = 0.8,
    prompts: opt.Prompts = None,
    n_prompts: opt.NPrompts = None,
    generations: opt.Generations = None,
    truths: Annotated[
        int, typer.Option("--truths", metavar="N", help="Simulated truths, each with one future.")
    ] = 2000,
    figure: opt.Figure = None,
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
    """Plan an order and print; see `bayeseval.cli.compared.run_order`."""
    given = locals()
    from bayeseval.cli import compared

    compared.run_order(given)


@app.command(
    "compare-decoding",
    short_help="Set greedy decoding beside sampling.",
    help="Set greedy decoding, one generation a prompt, beside sampling: the difference for both estimands, and "
    "P(greedy correct) by P(correct).\n\n"
    "The sampled run is fitted, unless --moments asks for intervals by the central limit theorem.\n\n"
    "\b\nExamples:\n"
    "  bayeseval compare-decoding greedy.csv sampled.csv\n"
    "  bayeseval compare-decoding greedy.csv sampled.csv --moments --figure decoding.svg\n"
    "  bayeseval compare-decoding greedy.csv post.nc --json\n",
)
@plainly
def compare_decoding(
    greedy: Annotated[
        str, typer.Argument(metavar="GREEDY", help="File with one generation a prompt.", show_default=False)
    ],
    sampled: Annotated[
        str,
        typer.Argument(metavar="SAMPLED", help="File with sampled generations, or a saved .nc.", show_default=False),
    ],
    moments: Annotated[
        bool, typer.Option("--moments", help="Fit no model: intervals by the central limit theorem.")
    ] = False,
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
    """Compare and print; see `bayeseval.cli.compared.run_decoding`."""
    given = locals()
    from bayeseval.cli import compared

    compared.run_decoding(given)


@app.command(
    short_help="Look at a run as it grows, and say when to stop.",
    help="Look at a run as it grows, batch by batch, and say whether to stop: exit status 0 when a look says stop, 3 "
    "when the run shall go on.\n\n"
    "Each PATH is a further batch of the same run, in order of time; the first may be a saved posterior. A numbered "
    "generation that comes twice is refused; --column generation= takes the numbers away. The rule is --width, or "
    "--reference, or one of them for the confidence sequence of --anytime.\n\n"
    "\b\nExamples:\n"
    "  bayeseval looks batch1.csv batch2.csv --width 0.05 --estimand benchmark --most 5000\n"
    "  bayeseval looks batch*.csv --reference 0.5 --rope 0.02\n"
    "  bayeseval looks batch*.csv --reference 0 --rope 0.02 --a new --b old\n"
    "  bayeseval looks batch*.csv --anytime 0.05 --width 0.1 --figure looks.png --json\n",
)
@plainly
def looks(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Batches of the run in order of time: files, or a folder or a quoted pattern for a batch of several.",
            show_default=False,
        ),
    ],
    width: opt.Width = None,
    reference: Annotated[
        float | None,
        typer.Option(
            "--reference", metavar="R", help="Stop when the score is clearly above, below, or within --rope of, R."
        ),
    ] = None,
    rope: Annotated[
        float | None, typer.Option("--rope", metavar="D", help="Half width of the region of equivalence [0].")
    ] = None,
    certainty: Annotated[
        float | None, typer.Option("--certainty", metavar="P", help="Posterior probability that stops [0.975].")
    ] = None,
    anytime: Annotated[
        float | None,
        typer.Option(
            "--anytime", metavar="ALPHA", help="By a confidence sequence, ever wrong with this probability at most."
        ),
    ] = None,
    a: Annotated[
        str | None, typer.Option("--a", metavar="NAME", help="Look at the difference of two systems: the first one.")
    ] = None,
    b: opt.Second = None,
    most: Annotated[
        int | None, typer.Option("--most", metavar="N", help="Budget: stop at so many generations in all.")
    ] = None,
    metric: opt.Score = None,
    estimand: Annotated[
        str | None,
        typer.Option(
            "--estimand", metavar="population|benchmark", help="Prompts like these [default], or these prompts."
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
    engine: opt.Engine = "quadrature",
    sampler: opt.Sampler = "numpyro",
    seed: opt.Seed = 0,
    draws: opt.Draws = 1000,
    tune: opt.Tune = None,
    chains: opt.Chains = 4,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
) -> None:
    """Look and print; see `bayeseval.cli.looked.run_looks`."""
    given = locals()
    from bayeseval.cli import looked

    if not looked.run_looks(given):
        raise typer.Exit(GO_ON)
