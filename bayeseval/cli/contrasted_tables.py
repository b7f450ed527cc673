"""Tables for a terminal of differences and orders of systems."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeseval.cli.tables import add_row, new_table, print_table, say, warn
from bayeseval.contrasts.difference import share
from bayeseval.contrasts.ranking import Ranking
from bayeseval.plots.canvas import interval_words
from bayeseval.posterior.scores import decimals
from bayeseval.reporting.contrasted import Compared

__all__ = ["show_compared", "show_ranking"]


def show_compared(found: Compared, resolved: bool = False) -> None:
    """Print the difference for every estimand; what could be resolved, where that was asked; and shared noise."""
    first = found.contrasts[0]
    warn(found.warnings)
    for one in found.contrasts:
        say(f"{one.sentence()}.")
    table = new_table(f"{first.score}, a - b, with {interval_words(first.prob)}s")
    names = ["estimand", "difference", "interval", "P(a > b)"]
    for name in (*names, *([] if first.rope is None else [f"P(|a - b| < {first.rope:g})"])):
        table.add_column(name, justify="left" if name == "estimand" else "right", overflow="fold")
    for one in found.contrasts:
        digits = decimals(one.width) + 1
        ends = "none" if np.isnan(one.lower) else f"{one.lower:+.{digits}f} to {one.upper:+.{digits}f}"
        cells = [one.estimand, f"{one.value:+.{digits}f}", ends, share(one.p_greater)]
        add_row(table, [*cells, *([] if one.rope is None else [share(one.p_equivalent)])])
    print_table(table)
    for one in found.contrasts if resolved else ():
        say(f"{one.estimand}: {one.power_sentence()}")
    if found.savings is not None:
        say(f"{found.savings.sentence()}.")
    if found.noise is not None:
        warn(text for text in found.noise.warnings if text not in found.warnings)
        say(f"{found.noise.sentence()}.")


def show_ranking(found: Ranking) -> None:
    """Print the order, one row a system."""
    warn(found.warnings)
    say(f"{found.sentence()}.")
    table = new_table(f"{found.score} on {found.benchmark} ({found.estimand}), with {interval_words(found.prob)}s")
    for name in ("", "system", found.score, "interval", "rank", "P(best)", "group"):
        table.add_column(name, justify="left" if name in ("system", "group") else "right", overflow="fold")
    rows: list[dict[str, Any]] = found.to_frame().to_dict(orient="records")
    for place, row in enumerate(rows, 1):
        digits = decimals(row["upper"] - row["lower"])
        ends = f"{row['lower']:.{digits}f} to {row['upper']:.{digits}f}"
        low, high = row["rank_lower"], row["rank_upper"]
        ranks = f"{low}" if low == high else f"{low} to {high}"
        score = f"{row['value']:.{digits}f}"
        add_row(table, [f"{place}", row["system"], score, ends, ranks, share(row["p_best"]), row["groups"]])
    print_table(table)
    edge = "" if found.rope is None else f" by more than {found.rope:g}"
    say(f"Systems that share a letter are not told apart{edge}.")
