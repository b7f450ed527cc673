"""How often an interval holds a fixed truth: the results of such studies, and how exact they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.display import html_table, rows_to_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Coverage", "CoverageRow", "least_coverage", "tolerance"]

PROB = 0.95
LEAST = ((50, 0.93), (20, 0.90))
"""From so many prompts on, 95% intervals must cover at least so often."""


@dataclass(frozen=True)
class CoverageRow:
    """Coverage of one interval in one cell of a study.

    Attributes
    ----------
    truth : str
        Population of prompts.
    mu, rho : float
        Its mean and intraclass correlation.
    prompts, generations : int
    estimand : {"population", "benchmark"}
    interval : {"model", "robust", "headline", "CLT (t)", "CLT (z)"}
    replicates : int
    coverage : float
        Share of intervals that hold the truth.
    below, above : float
        Shares of intervals that lie wholly below, and wholly above the truth.
    width : float
        Mean width.
    misfit : float
        Share of data sets for which the check calls the model wrong; NaN where it was not asked.
    rerun : bool
        Whether this is the second, larger run of a cell that had failed.
    """

    truth: str
    mu: float
    rho: float
    prompts: int
    generations: int
    estimand: str
    interval: str
    replicates: int
    coverage: float
    below: float
    above: float
    width: float
    misfit: float = float("nan")
    rerun: bool = False

    @property
    def error(self) -> float:
        """Binomial standard error of a coverage of 95%."""
        return float(np.sqrt(PROB * (1 - PROB) / self.replicates))


@dataclass(frozen=True, repr=False, eq=False)
class Coverage:
    """Coverage of several intervals in the cells of a study.

    Attributes
    ----------
    rows : tuple of CoverageRow
    made : dict
        Seed, versions, and what else belongs to the record.
    """

    rows: tuple[CoverageRow, ...]
    made: dict[str, Any] = field(default_factory=dict)

    def select(self, **values: object) -> Coverage:
        """Return the rows whose fields have these values; a tuple allows each of its values.

        Examples
        --------
        >>> from bayeseval.calibration.studies import coverage_on_grid
        >>> study = coverage_on_grid([20], [4], [0.3], [0.5], replicates=20, progress=False)
        >>> [row.interval for row in study.select(estimand="benchmark").rows]
        ['model', 'CLT (z)']
        """

        def fits(row: CoverageRow, name: str, value: object) -> bool:
            return getattr(row, name) in value if isinstance(value, tuple) else getattr(row, name) == value

        kept = tuple(row for row in self.rows if all(fits(row, name, value) for name, value in values.items()))
        return Coverage(kept, self.made)

    def short(self, least: Callable[[int], float] | None = None, *, level: float = 0.99) -> tuple[CoverageRow, ...]:
        """Rows that cover less than they must, by more than chance allows over all rows together.

        Parameters
        ----------
        least : callable, optional
            Least coverage for a number of prompts; `least_coverage` by default.
        level : float
            Probability that no row is returned if all cover exactly as little as they may.
        """
        least = least or least_coverage
        return tuple(
            row
            for row in self.rows
            if row.coverage < least(row.prompts) - tolerance(row.replicates, len(self.rows), least(row.prompts), level)
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each cell and interval, with the fields of `CoverageRow`."""
        return rows_to_frame(self.rows, CoverageRow)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Coverage of every cell, smallest first, for each interval."""
        from bayeseval import plots

        return plots.plot_coverage(self, ax=ax)

    def __repr__(self) -> str:
        lines = [f"coverage of {PROB:.0%} intervals, {len(self.rows):,} cells and intervals"]
        for estimand, interval in dict.fromkeys((row.estimand, row.interval) for row in self.rows):
            values = [row.coverage for row in self.select(estimand=estimand, interval=interval).rows]
            lines.append(
                f"{estimand}, {interval}: {min(values):.3f} to {max(values):.3f}, median {np.median(values):.3f}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names = ("truth", "prompts", "generations", "mu", "rho", "estimand", "interval")
        body = [
            [*(f"{value:.3g}" if isinstance(value := getattr(row, name), float) else str(value) for name in names)]
            + [f"{row.coverage:.3f}", f"{row.below:.3f}", f"{row.above:.3f}", f"{row.width:.3f}"]
            for row in self.rows
        ]
        return html_table([*names, "coverage", "below", "above", "width"], body, repr(self).splitlines())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, column by column, for a JSON file; numbers have six digits, and unknown ones are None."""
        listed = [asdict(row) for row in self.rows]
        names = [one.name for one in fields(CoverageRow)]
        return {"made": self.made, "columns": {name: [_plain(row[name]) for row in listed] for name in names}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Coverage:
        """Read back what `to_dict` gave."""
        columns = {name: [_number(value) for value in values] for name, values in data["columns"].items()}
        rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
        return cls(tuple(CoverageRow(**row) for row in rows), dict(data["made"]))


def least_coverage(prompts: int) -> float:
    """Coverage that 95% intervals must reach: 0.93 from 50 prompts on, 0.90 with fewer."""
    return next((share for size, share in LEAST if prompts >= size), LEAST[-1][1])


def tolerance(replicates: int, cells: int, share: float = PROB, level: float = 0.99) -> float:
    """How far an estimated coverage may lie from its true value, for all cells at once (Bonferroni).

    Parameters
    ----------
    replicates, cells : int
    share : float
        True coverage.
    level : float
        Probability that no cell lies further off.

    Examples
    --------
    >>> from bayeseval.calibration.coverage import tolerance
    >>> round(tolerance(1000, 128), 3)
    0.027
    """
    from scipy.special import ndtri

    return float(ndtri(1 - (1 - level) / (2 * cells)) * np.sqrt(share * (1 - share) / replicates))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if np.isnan(value) else float(f"{value:.6g}")
    return value


def _number(value: Any) -> Any:
    return float("nan") if value is None else value
