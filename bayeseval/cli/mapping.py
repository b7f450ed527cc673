"""The command about answers: `map`."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeseval.cli import options as opt
from bayeseval.cli.program import app, plainly

__all__ = ["map_prompts"]


@app.command(
    "map",
    short_help="Find the prompts that look mislabelled.",
    help="Map the prompts of a benchmark by P(correct) and by the consistency of their answers, and rank them by the "
    "probability that the gold answer is wrong.\n\n"
    "The files hold one row a generation, with its answer. --review writes a file for a person; --verdicts reads it "
    "back and says how precise the flags were, and what the scores become.\n\n"
    "\b\nExamples:\n"
    "  bayeseval map results.csv\n"
    "  bayeseval map results.csv --equivalence letter --top 30 --review review.html --figure map.png\n"
    "  bayeseval map results.csv --verdicts verdicts.csv\n"
    "  bayeseval map results.csv --column answer=reply --column gold=target --json\n",
)
@plainly
def map_prompts(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Files with one row a generation and its answer, folders or patterns.",
            show_default=False,
        ),
    ],
    equivalence: Annotated[
        str,
        typer.Option(
            "--equivalence",
            metavar="exact|letter|math|embedding",
            help="When two answers are the same: as texts, as letters of a multiple choice, as formulas (extra math), "
            "or by the cosine of embeddings (extra embed, with --embedding).",
        ),
    ] = "exact",
    embedding: Annotated[
        str | None,
        typer.Option("--embedding", metavar="FOLDER", help="Model for sentence-transformers, for embedding."),
    ] = None,
    cosine: Annotated[
        float, typer.Option("--cosine", metavar="C", help="From which cosine on embeddings are the same.")
    ] = 0.9,
    top: Annotated[int, typer.Option("--top", metavar="N", help="Suspects to show, and to write for a review.")] = 20,
    at_least: Annotated[
        float | None, typer.Option("--at-least", metavar="P", help="Only suspects of this probability or more.")
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", metavar="R", help="Share of wrong gold answers before looking.")
    ] = 0.03,
    gamma: Annotated[
        float, typer.Option("--gamma", metavar="G", help="Concentration of the Dirichlet process over answers.")
    ] = 1.0,
    none: Annotated[
        list[str] | None,
        typer.Option("--none", metavar="TEXT", help='Answer that means that none was extracted ["" and "-"].'),
    ] = None,
    review: Annotated[
        str | None,
        typer.Option("--review", metavar="FILE", help="Write the suspects for a person, as .csv or as a page, .html."),
    ] = None,
    random: Annotated[
        int, typer.Option("--random", metavar="N", help="Other prompts in the review, drawn at random.")
    ] = 20,
    verdicts: Annotated[
        str | None, typer.Option("--verdicts", metavar="FILE", help="The reviewed .csv: print what it says.")
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
    seed: opt.Seed = 0,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
) -> None:
    """Map and print; see `bayeseval.cli.mapped.run_map`."""
    given = locals()
    from bayeseval.cli import mapped

    mapped.run_map(given)
