"""The work behind `bayeseval preferences`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from bayeseval.cli.figures import draw, figure_target
from bayeseval.cli.tables import add_row, new_table, print_table, say, warn
from bayeseval.cli.words import columns_from
from bayeseval.errors import OptionError, require_choice, require_probability
from bayeseval.preferences import PreferenceRanking, Preferences, WinRates, rank_preferences, win_rates
from bayeseval.preferences.davidson import TIES
from bayeseval.preferences.labels import COLUMNS
from bayeseval.reporting.files import as_json as json_text
from bayeseval.reporting.preferring import preference_document

__all__ = ["run_preferences"]


def run_preferences(given: Mapping[str, Any]) -> None:
    """Rank the systems of a file, and print the ranking and win rates."""
    figure = figure_target(given["figure"])
    require_choice("ties", given["ties"], TIES)
    if given["prob"] is not None:
        require_probability("prob", given["prob"])
    preferences = Preferences.from_file(given["path"], **_columns(given["column"] or ()))
    names = ("ties", "intervals", "prior_sd", "prob", "draws", "tune", "chains", "seed")
    ranking = rank_preferences(preferences, progress=not given["quiet"], **{name: given[name] for name in names})
    rates = win_rates(preferences, prob=given["prob"], seed=given["seed"])
    files = [str(file) for file in draw([ranking], figure)]
    if given["as_json"]:
        typer.echo(json_text(preference_document(ranking, rates, {"figures": files} if files else None)), nl=False)
        return
    _show(ranking, rates, "elo" if given["elo"] else "log")
    for file in files:
        typer.echo(f"saved {file}")


def _columns(texts: Sequence[str]) -> dict[str, Any]:
    """Columns by role."""
    columns = columns_from(texts)
    for role, name in columns.items():
        if role not in COLUMNS:
            raise OptionError(f"--column names {role!r}, but comparisons have {', '.join(COLUMNS)}")
        if isinstance(name, list):
            raise OptionError(f"--column {role}= takes one column, but {len(name)} were given")
    return columns


def _show(ranking: PreferenceRanking, rates: WinRates, scale: str) -> None:
    warn(dict.fromkeys((*ranking.warnings, *rates.warnings)))
    say(f"{ranking.sentence()}.")
    for title, header, cells in (
        (f"Strengths: {ranking.interval_kind}", ranking.header_of(scale), ranking.cells(scale)),
        (f"Win rates, a tie half a win: {rates.interval_kind}", rates.header, rates.cells()),
    ):
        table = new_table(title)
        for name in header:
            table.add_column(name, justify="left" if name == "system" else "right", overflow="fold")
        for row in cells:
            add_row(table, row)
        print_table(table)
