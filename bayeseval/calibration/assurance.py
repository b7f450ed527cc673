"""Is the assurance of a plan kept? Simulated pilots, each planned and then really followed up.

With truths drawn from the prior the promise is exact: of many plans, as large a share of the follow-ups meets the
target as was promised on average. What is left is binomial error, and how the planner refits each future.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics
from bayeseval.counts import Counts
from bayeseval.display import html_table, rows_to_frame
from bayeseval.fitting import fit
from bayeseval.metrics import Metric
from bayeseval.planning.widths import plan
from bayeseval.progress import Progress

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["CELLS", "Assurance", "AssuranceRow", "Cell", "assurance_study"]


@dataclass(frozen=True)
class Cell:
    """A pilot and what is planned after it: prompts, generations so far, generations planned, design and score."""

    prompts: int
    pilot: int
    planned: int
    estimand: str = "population"
    design: str = "same"
    score: Metric = metrics.mean()

    @property
    def words(self) -> str:
        """The cell in words."""
        return f"{self.score.name}, {self.estimand}, {self.design}: {self.prompts} × {self.pilot} → {self.planned}"


_DESIGNS = (("population", "same"), ("benchmark", "same"), ("population", "fresh"))
CELLS = (
    *(Cell(n, k, more, *design) for n, k, more in ((20, 4, 16), (100, 4, 16), (100, 1, 8)) for design in _DESIGNS),
    *(Cell(100, 4, 16, *design, score=metrics.pass_at(4)) for design in _DESIGNS),
    *(Cell(100, 8, 32, *design, score=metrics.g_pass(8, "0.5")) for design in _DESIGNS),
)
"""The grid of the documentation."""


@dataclass(frozen=True)
class AssuranceRow:
    """One cell of the study.

    Attributes
    ----------
    cell : str
    replicates : int
        Pilots, each planned and followed up.
    promised : float
        Mean assurance of the plans.
    kept : float
        Share of follow-ups that met their target.
    error : float
        Binomial standard error of that share, the promises being true.
    ratio : float
        Median of the follow-up's width over the median width that was planned.
    """

    cell: str
    replicates: int
    promised: float
    kept: float
    error: float
    ratio: float

    @property
    def z(self) -> float:
        """Distance of what was kept from what was promised, in standard errors."""
        return (self.kept - self.promised) / max(self.error, 1e-12)


@dataclass(frozen=True, repr=False)
class Assurance:
    """Promised and kept assurance in every cell of a study.

    Attributes
    ----------
    rows : tuple of AssuranceRow
    made : dict
    """

    rows: tuple[AssuranceRow, ...]
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def worst(self) -> float:
        """Largest distance between promised and kept, in standard errors."""
        return max(abs(row.z) for row in self.rows)

    def to_frame(self) -> pd.DataFrame:
        """One row a cell."""
        return rows_to_frame(self.rows, AssuranceRow).assign(z=[row.z for row in self.rows])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Kept against promised assurance, a dot a cell."""
        from bayeseval import plots

        return plots.plot_kept_assurance(self, ax=ax)

    def __repr__(self) -> str:
        return (
            f"assurance in {len(self.rows)} cells of {self.rows[0].replicates} pilots: promised and kept differ by at "
            f"most {self.worst:.1f} standard errors"
        )

    def _repr_html_(self) -> str:
        names = ["cell", "pilots", "promised", "kept", "±", "width, seen / planned"]
        body = [
            [row.cell, str(row.replicates), *(f"{x:.3f}" for x in (row.promised, row.kept, row.error, row.ratio))]
            for row in self.rows
        ]
        return html_table(names, body, [repr(self)])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        return {"made": self.made, "rows": [asdict(row) for row in self.rows]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Assurance:
        """Read back what `to_dict` gave."""
        names = {one.name for one in fields(AssuranceRow)}
        rows = tuple(AssuranceRow(**{name: row[name] for name in names}) for row in data["rows"])
        return cls(rows, dict(data["made"]))


def assurance_study(
    cells: Sequence[Cell] = CELLS, *, replicates: int = 200, futures: int = 200, seed: int = 0, progress: bool = True
) -> Assurance:
    """Plan after simulated pilots, follow up, and count how often the promise was kept.

    For each pilot mu and rho are drawn from the default priors, then prompts and counts. The target is drawn around the
    median width of a first plan, so that promises from 0 to 1 occur; a second plan with fresh random numbers states the
    assurance. The follow-up is fitted by `bayeseval.fit` and its interval measured.

    Parameters
    ----------
    cells : sequence of Cell
    replicates : int
        Pilots in each cell.
    futures : int
        Futures of each plan.
    seed : int
    progress : bool

    Returns
    -------
    Assurance

    Examples
    --------
    >>> from bayeseval.calibration.assurance import Cell, assurance_study
    >>> study = assurance_study([Cell(20, 4, 16, "benchmark")], replicates=20, futures=50, progress=False)
    >>> study.worst < 5
    True
    """
    rows = []
    with Progress("planning and following up", total=len(cells) * replicates, enabled=progress) as bar:
        for number, cell in enumerate(cells):
            found = []
            for replicate in range(replicates):
                found.append(_follow_up(cell, futures, [seed, number, replicate]))
                bar.advance()
            promised, kept, ratio = (np.array(values) for values in zip(*found, strict=True))
            error = np.sqrt((promised * (1 - promised)).sum()) / replicates
            rows.append(
                AssuranceRow(
                    cell.words, replicates, float(promised.mean()), float(kept.mean()), float(error),
                    float(np.median(ratio)),
                )
            )  # fmt: skip
    return Assurance(tuple(rows), {"seed": seed, "futures": futures})


def _follow_up(cell: Cell, futures: int, seed: Sequence[int]) -> tuple[float, bool, float]:
    """Promised assurance of one plan, whether the follow-up kept it, and its width over the planned one."""
    rng = np.random.default_rng(seed)
    mu, rho = rng.random(2)
    p = _prompts(rng, mu, rho, cell.prompts)
    pilot = Counts.from_arrays(rng.binomial(cell.pilot, p), np.full(cell.prompts, cell.pilot))
    number = int(rng.integers(1 << 31))
    post = fit(pilot, engine="quadrature", seed=number, progress=False)
    options: dict[str, Any] = {
        "estimand": cell.estimand, "score": cell.score, "generations": [cell.planned], "futures": futures,
        "prompts": cell.design, "progress": False,
    }  # fmt: skip
    first = plan(post, 0.5, seed=1, **options).curve.iloc[0]
    target = float(np.clip(rng.uniform(first["width_lower"], first["width_upper"]), 1e-9, 1 - 1e-9))
    promise = plan(post, target, seed=2, **options)
    if cell.design == "fresh":
        correct = rng.binomial(cell.planned, _prompts(rng, mu, rho, cell.prompts))
    else:
        correct = pilot.correct + rng.binomial(cell.planned - cell.pilot, p)
    counts = Counts.from_arrays(correct, np.full(cell.prompts, cell.planned))
    after = fit(counts, engine="quadrature", draws=2000, seed=number, progress=False)
    width = after.score(cell.score, cell.estimand, method=promise.method).width
    return float(promise.curve["assurance"].iloc[0]), width <= target, width / float(first["width"])


def _prompts(rng: np.random.Generator, mu: float, rho: float, size: int) -> np.ndarray:
    precision = (1 - rho) / rho
    return rng.beta(mu * precision, (1 - mu) * precision, size)
