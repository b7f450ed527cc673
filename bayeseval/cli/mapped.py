"""The work behind `bayeseval map`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayeseval.cli.figures import draw, figure_target
from bayeseval.cli.planned import finish
from bayeseval.cli.tables import add_row, new_table, print_table, say, warn
from bayeseval.cli.words import columns_from
from bayeseval.consistency import DataMap, data_map
from bayeseval.consistency.clustering import NOT_EXTRACTED
from bayeseval.consistency.equivalences import NAMED
from bayeseval.consistency.reviewed import Reviewed
from bayeseval.consistency.texts import shown
from bayeseval.consistency.verdicts import read_verdicts
from bayeseval.display import number
from bayeseval.errors import OptionError, require_choice, require_positive_integer
from bayeseval.readers import read
from bayeseval.reporting.files import require_writable

__all__ = ["run_map"]

HEAD = ("rank", "prompt", "P(gold wrong)", "kind", "gold", "suspected answer", "systems agree", "answers")


def run_map(given: Mapping[str, Any]) -> None:
    """Map the prompts of all runs, and print the suspects, or what verdicts say about them."""
    figure = figure_target(given["figure"])
    review = None if given["review"] is None else require_writable(given["review"], (".csv", ".html"), "a review")
    require_choice("--equivalence", given["equivalence"], [name for name in NAMED if name != "entailment"])
    require_positive_integer("--top", given["top"])
    if given["embedding"] is not None and given["equivalence"] != "embedding":
        raise OptionError("--embedding names a model: give --equivalence embedding, too")
    verdicts = None if given["verdicts"] is None else read_verdicts(given["verdicts"])
    if verdicts is not None and given["as_json"]:
        raise OptionError("--json documents the map alone: leave out --verdicts, or --json")
    found = data_map(
        _outcomes(given), given["equivalence"], gamma=given["gamma"], model=given["embedding"],
        threshold=given["cosine"], not_extracted=given["none"] or NOT_EXTRACTED, rate=given["rate"],
        prob=given["prob"], seed=given["seed"],
    )  # fmt: skip
    chosen = {"at_least": given["at_least"], "top": given["top"]}
    found.suspects(**chosen)  # refuses what is out of range before anything is written
    written = [] if review is None else [found.review(review, **chosen, random=given["random"], seed=given["seed"])]

    def show(one: DataMap) -> None:
        _show(one, chosen)
        if verdicts is not None:
            _show_reviewed(one.reviewed(verdicts, seed=given["seed"]))

    finish("map", [found], found.outcomes.runs(), draw([found], figure), show, given["as_json"], review=written)


def _outcomes(given: Mapping[str, Any]) -> Any:
    paths = given["paths"]
    names = ("filter", "errored", "unscored", "threshold", "quiet")
    reading: dict[str, Any] = {name: given[name] for name in names}
    columns: dict[str, Any] = columns_from(given["column"] or ())
    outcomes = read(
        paths[0] if len(paths) == 1 else list(paths), kind="outcomes", metric=given["scorer"] or None,
        **reading, **columns,
    )  # fmt: skip
    return outcomes.select(system=given["system"] or None, benchmark=given["benchmark"] or None)


def _show(found: DataMap, chosen: Mapping[str, Any]) -> None:
    """Print the map in words, and the suspects."""
    warn(found.notes)
    say(f"{found.sentence()}.")
    suspects = found.suspects(**chosen)
    table = new_table(f"Suspects: {suspects.sentence()}")
    for name in HEAD:
        table.add_column(name, overflow="fold")
    for row in suspects.table.itertuples(index=False):
        agree = f"{row.agreeing} of {row.systems}"
        cells = [f"{row.rank}", shown(row.prompt), f"{row.probability:.3f}", row.kind, shown(row.gold, 30)]
        add_row(table, [*cells, shown(row.suspected_answer, 30), agree, shown(row.answers, 80)])
    print_table(table)


def _show_reviewed(found: Reviewed) -> None:
    """Print what the verdicts say."""
    warn(found.notes)
    say(f"{found.verdicts!r}; {found.sentence()}.")
    table = new_table("Scores of these prompts (benchmark), before and after bad prompts are left out")
    for name in ("system", "benchmark", "prompts", "before", "removed", "after", "difference", "all bad ones left out"):
        table.add_column(name, overflow="fold")
    for row in found.scores.itertuples(index=False):
        cells = [row.system, row.benchmark, f"{row.prompts:,}", number(row.before, 4), f"{row.removed:,}"]
        ends = (f"{row.difference:+.4f} [{row.lower:+.4f}, {row.upper:+.4f}]",
                f"{row.difference_all:+.4f} [{row.lower_all:+.4f}, {row.upper_all:+.4f}]")  # fmt: skip
        add_row(table, [*cells, number(row.after, 4), *ends])
    print_table(table)
