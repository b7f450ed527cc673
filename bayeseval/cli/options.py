"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "AsJson", "Assurance", "Benchmark", "Chains", "Column", "Credit", "Draws", "Engine", "Estimand", "Figure", "First",
    "Futures", "Generations", "Levels", "Metrics", "Model", "NPrompts", "Paths", "Power", "Prior", "PriorAlone",
    "Prob", "Prompts", "Published", "Quiet", "Refits", "Sampler", "Score", "Sd", "Second", "Seed", "SomePaths",
    "System", "Threshold", "Tune", "Width",
]  # fmt: skip

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="Files with results (.csv, .jsonl, .parquet, .npz, ...), folders or patterns; or posteriors saved as .nc.",
        show_default=False,
    ),
]
SomePaths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH",
        help="Files with results of a pilot (.csv, .jsonl, .parquet, .npz, ...), folders or patterns; or posteriors "
        "saved as .nc. None with --published, --prior-alone or --guess.",
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
Scorer = Annotated[
    list[str] | None,
    typer.Option(
        "--scorer",
        metavar="NAME",
        help="Scorer or metric in files of evaluation tools, where they have several that disagree; may be repeated, "
        "and the first that a benchmark has is taken.",
    ),
]
Filter = Annotated[
    str | None, typer.Option("--filter", metavar="NAME", help="Filter in files of lm-evaluation-harness.")
]
Errored = Annotated[
    str | None,
    typer.Option(
        "--errored",
        metavar="drop|wrong|bounds",
        help="What generations count as whose run failed; bounds leaves them out, and prints the score if all of them "
        "were wrong and if all were right.",
    ),
]
Unscored = Annotated[
    str | None,
    typer.Option("--unscored", metavar="drop|wrong|bounds", help="What generations without a score count as."),
]
Credit = Annotated[
    str | None,
    typer.Option(
        "--credit",
        metavar="COLUMN",
        help="Keep partial credit: the column with credits from 0 to 1, no threshold; in files of evaluation tools the "
        "scorer, named with --scorer as well.",
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

# Two systems ---------------------------------------------------------------------------------------------------------

First = Annotated[str | None, typer.Option("--a", metavar="NAME", help="First system, where there are more than two.")]
Second = Annotated[str | None, typer.Option("--b", metavar="NAME", help="Second system; the difference is a - b.")]

# Plans ----------------------------------------------------------------------------------------------------------------

Width = Annotated[
    float | None, typer.Option("--width", metavar="W", help="Target: width that the interval shall have at most.")
]
Sd = Annotated[
    float | None, typer.Option("--sd", metavar="S", help="Target: standard deviation of the posterior at most.")
]
Score = Annotated[
    str | None,
    typer.Option(
        "--metric", "-m", metavar="SCORE", help="Score: mean [default], pass@16, pass^4, g-pass@16:0.5, mg-pass@16."
    ),
]
Estimand = Annotated[
    str, typer.Option("--estimand", metavar="population|benchmark", help="Prompts like these, or these prompts.")
]
Prompts = Annotated[
    str | None,
    typer.Option(
        "--prompts",
        metavar="same|fresh",
        help="More generations on the pilot's prompts [default, where they are known], or fresh prompts.",
    ),
]
NPrompts = Annotated[int | None, typer.Option("--n-prompts", metavar="N", help="Number of fresh prompts.")]
Assurance = Annotated[
    float, typer.Option("--assurance", metavar="P", help="Probability with which the target shall be met.")
]
Power = Annotated[float, typer.Option("--power", metavar="P", help="Probability that is wanted.")]
Generations = Annotated[
    str | None, typer.Option("--generations", metavar="K,K,...", help="Numbers of generations to try.")
]
Futures = Annotated[
    int | None,
    typer.Option("--futures", metavar="N", help="Simulated futures for each number of generations [500; of NUTS 20]."),
]
Refits = Annotated[
    str,
    typer.Option("--refits", metavar="auto|exact|importance|nuts", help="How each simulated future is fitted."),
]
Published = Annotated[
    str | None,
    typer.Option(
        "--published",
        metavar="MEAN,SE,PROMPTS,GENERATIONS",
        help="Plan from a published mean and its standard error over prompts, such as 0.856,0.0068,1319,50. --prior is "
        "that of mu and rho; --system and --benchmark are names.",
    ),
]
PriorAlone = Annotated[
    bool,
    typer.Option(
        "--prior-alone", help="Plan from the prior alone, uniform or as --prior says: --prior mu=8,2 --prior rho=1,2."
    ),
]
Figure = Annotated[
    str | None,
    typer.Option(
        "--figure",
        metavar="FILE",
        help="Draw the result as .png, .svg or .pdf; of several runs one file each, with their names.",
    ),
]
