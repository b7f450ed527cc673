"""Prompts that look mislabelled, ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayeseval.consistency.kinds import KINDS
from bayeseval.consistency.texts import answer_table, shown
from bayeseval.errors import OptionError, require_positive_integer
from bayeseval.files import write_table
from bayeseval.readers.records import number

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

__all__ = ["Suspects", "chosen_suspects"]

HEAD = ("prompt", "P(gold wrong)", "kind", "suspected", "gold", "agree", "correct", "answers")
MOST_SAID = 10


@dataclass(frozen=True, eq=False, repr=False)
class Suspects:
    """Prompts ranked by the posterior probability that their gold answer is wrong; from `DataMap.suspects`.

    Attributes
    ----------
    table : pandas.DataFrame
        What `to_frame` returns.
    total : int
        Prompts that were ranked.
    expected : float
        Expected number of wrong gold answers among these suspects.
    notes : tuple of str
    """

    table: pd.DataFrame
    total: int
    expected: float
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.table)

    def to_frame(self) -> pd.DataFrame:
        """One row a suspect, most probable first.

        Returns
        -------
        pandas.DataFrame
            Columns rank, benchmark, prompt, probability (that the gold answer is wrong), kind (of trouble),
            suspected_answer (what is most probably right if the gold answer is not) and suspected_probability; gold and
            gold_given (generations that gave it); systems, agreeing (systems whose commonest answer is the suspected
            one), generations, correct, not_extracted; low_and_consistent, dominant_wrong (means over systems); answers
            (the commonest, with counts), and group where there is one.
        """
        return self.table.copy()

    def write(self, path: str | Path) -> Path:
        """Write the table as .csv, .json, .jsonl or .parquet.

        Parameters
        ----------
        path : str or pathlib.Path

        Returns
        -------
        pathlib.Path
        """
        return write_table({name: self.table[name].tolist() for name in self.table}, path)

    def sentence(self) -> str:
        """The list in words."""
        return (
            f"{number(len(self), 'suspect')} of {number(self.total, 'prompt')}, {self.expected:.3g} wrong gold answers "
            f"expected among them"
        )

    def __repr__(self) -> str:
        lines = [
            f"{row.rank}. {shown(row.prompt)}: {row.probability:.2f}, {row.kind}; gold {shown(row.gold)}, "
            f"answers {shown(row.answers)}"
            for row in self.table.head(MOST_SAID).itertuples(index=False)
        ]
        more = [f"… and {len(self) - MOST_SAID:,} more, see to_frame()"] if len(self) > MOST_SAID else []
        return "\n".join([self.sentence(), *lines, *more, *(f"Note: {note}." for note in self.notes)])

    def _repr_html_(self) -> str:
        told = [f"{kind}: {KINDS[kind]}" for kind in dict.fromkeys(self.table["kind"]) if kind != "none"]
        rows = [
            (
                row.prompt, row.probability, row.kind, row.suspected_answer, row.gold,
                f"{row.agreeing} of {row.systems}", f"{row.correct} of {row.generations}", row.answers,
            )
            for row in self.table.itertuples()
        ]  # fmt: skip
        return answer_table(HEAD, rows, [self.sentence(), *told, *self.notes])


def chosen_suspects(prompts: pd.DataFrame, notes: tuple[str, ...], at_least: float | None, top: int | None) -> Suspects:
    """Rank prompts; equally probable ones by how surely a wrong answer dominates, then in order of the data."""
    ranked = prompts.sort_values(["probability", "dominant_wrong"], ascending=False, kind="stable")
    if at_least is not None:
        try:
            least = float(at_least)
        except (TypeError, ValueError):
            least = -1.0
        if not 0 <= least <= 1:
            raise OptionError(f"at_least must be a probability between 0 and 1, but {at_least!r} was given")
        ranked = ranked[ranked["probability"] >= least]
    if top is not None:
        ranked = ranked.head(require_positive_integer("top", top))
    table = ranked.reset_index(drop=True)
    table.insert(0, "rank", range(1, len(table) + 1))
    return Suspects(table, len(prompts), float(table["probability"].sum()), notes)
