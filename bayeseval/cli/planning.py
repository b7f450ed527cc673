"""Commands that plan one run: `bayeseval plan`, `frontier` and `allocate`."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeseval.cli import options as opt
from bayeseval.cli.program import app, plainly

__all__ = ["allocate", "frontier", "plan"]


@app.command(
    short_help="Find how many generations the next run needs.",
    help="Find how many generations per prompt make a score known well enough.\n\n"
    "\b\nExamples:\n"
    "  bayeseval plan pilot.csv --width 0.02\n"
    "  bayeseval plan pilot.csv --sd 0.01 --metric pass@16 --estimand benchmark --figure plan.png\n"
    "  bayeseval plan post.nc --width 0.05 --prompts fresh --n-prompts 500\n"
    "  bayeseval plan --published 0.856,0.0068,1319,50 --width 0.02 --n-prompts 1319\n"
    "  bayeseval plan --prior-alone --prior mu=8,2 --width 0.05 --n-prompts 400\n",
)
@plainly
def plan(
    paths: opt.SomePaths = None,
    width: opt.Width = None,
    sd: opt.Sd = None,
    metric: opt.Score = None,
    estimand: opt.Estimand = "population",
    prompts: opt.Prompts = None,
    n_prompts: opt.NPrompts = None,
    assurance: opt.Assurance = 0.8,
    generations: opt.Generations = None,
    attempts: Annotated[
        int | None,
        typer.Option("--attempts", metavar="R", help="Attempts of a planned G-Pass@R, for its rule k >= 3R."),
    ] = None,
    futures: opt.Futures = None,
    refits: opt.Refits = "auto",
    published: opt.Published = None,
    prior_alone: opt.PriorAlone = False,
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
    """Plan and print; see `bayeseval.cli.planned.run_plan`."""
    given = locals()
    from bayeseval.cli import planned

    planned.run_plan(given)


@app.command(
    short_help="Weigh more prompts against more generations.",
    help="Find the cheapest design for a target, or the best one for a budget: how many prompts, and how many "
    "generations of each.\n\n"
    "\b\nExamples:\n"
    "  bayeseval frontier pilot.csv --width 0.04 --prompt-cost 5 --generation-cost 0.2 --unit €\n"
    "  bayeseval frontier pilot.csv --budget 100 --tokens 200,1500,0.25,2 --cached\n"
    "  bayeseval frontier --published 0.856,0.0068,1319,50 --sd 0.01 --seconds 30 --parallel 8\n"
    "  bayeseval frontier --prior-alone --width 0.05 --prompt-cost 2 --most-prompts 500\n",
)
@plainly
def frontier(
    paths: opt.SomePaths = None,
    width: opt.Width = None,
    sd: opt.Sd = None,
    budget: Annotated[
        float | None, typer.Option("--budget", metavar="B", help="In place of a target: what may be spent.")
    ] = None,
    prompt_cost: Annotated[
        float | None, typer.Option("--prompt-cost", metavar="C", help="Cost of one prompt, beside its tokens [0].")
    ] = None,
    generation_cost: Annotated[
        float | None, typer.Option("--generation-cost", metavar="C", help="Cost of one generation [1].")
    ] = None,
    unit: Annotated[
        str | None, typer.Option("--unit", metavar="TEXT", help="What is counted, such as € [of tokens $].")
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(
            "--tokens",
            metavar="READ,WRITTEN,PRICE,PRICE",
            help="Tokens of a prompt and of a generation, and prices of a million tokens read and written.",
        ),
    ] = None,
    cached: Annotated[
        bool, typer.Option("--cached", help="The tokens of a prompt are paid for once, not for every generation.")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="S", help="Count hours: time of one generation.")
    ] = None,
    parallel: Annotated[
        int | None, typer.Option("--parallel", metavar="N", help="Generations that run side by side [1].")
    ] = None,
    most_prompts: Annotated[
        int | None, typer.Option("--most-prompts", metavar="N", help="Prompts that there are.")
    ] = None,
    metric: opt.Score = None,
    assurance: opt.Assurance = 0.8,
    generations: opt.Generations = None,
    futures: Annotated[
        int | None,
        typer.Option("--futures", metavar="N", help="Simulated futures for each design [200; of NUTS 20]."),
    ] = None,
    refits: opt.Refits = "auto",
    published: opt.Published = None,
    prior_alone: opt.PriorAlone = False,
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
    """Weigh designs and print; see `bayeseval.cli.planned.run_frontier`."""
    given = locals()
    from bayeseval.cli import planned

    planned.run_frontier(given)


@app.command(
    short_help="Spread further generations over the prompts of a run.",
    help="Spread a budget of further generations over the prompts of one run, so that its benchmark score becomes as "
    "certain as it can.\n\n"
    "\b\nExamples:\n"
    "  bayeseval allocate pilot.csv --budget 1000 --out next.csv\n"
    "  bayeseval allocate post.nc --budget 1000 --metric pass@16 --most 64 --block 4 --out next.jsonl\n"
    "  bayeseval allocate results/ --system new --benchmark sums --budget 500 --exclude q7 --exclude q9\n",
)
@plainly
def allocate(
    paths: opt.Paths,
    budget: Annotated[int, typer.Option("--budget", metavar="B", help="Further generations to give.")],
    metric: opt.Score = None,
    most: Annotated[
        int | None, typer.Option("--most", metavar="K", help="Most generations of a prompt, old ones among them.")
    ] = None,
    least: Annotated[
        int | None, typer.Option("--least", metavar="K", help="Fewest generations of a prompt, old ones among them.")
    ] = None,
    block: Annotated[int, typer.Option("--block", metavar="N", help="Generations come in blocks of so many.")] = 1,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="PROMPT", help="A prompt that gets nothing, but counts; may be repeated."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write columns prompt, extra: .csv, .json, .jsonl, .parquet."),
    ] = None,
    every: Annotated[bool, typer.Option("--every", help="Write prompts that get nothing, too, with 0.")] = False,
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
    """Allocate and print; see `bayeseval.cli.planned.run_allocate`."""
    given = locals()
    from bayeseval.cli import planned

    planned.run_allocate(given)
