"""How often an interval holds a fixed truth: inside the model's family, and outside of it.

Nothing guarantees this coverage, in contrast to that of `calibrate`. Within the family the posterior of each simulated
data set is found by exact refits of the whole batch. Outside of it what counts is the number that a report headlines,
so every data set goes through `fit` and its check, and the headline is what that check decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.calibration.populations import Population, beta
from bayeseval.catalogue import DEFAULT_MODEL, ModelFile
from bayeseval.counts import Counts
from bayeseval.display import html_table, rows_to_frame
from bayeseval.engines.batches import batch_of_counts
from bayeseval.engines.quadrature import Prior
from bayeseval.engines.refits import refit
from bayeseval.fitting import fit
from bayeseval.posterior.posteriors import Posteriors
from bayeseval.progress import Progress

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "HEADLINE",
    "MODEL",
    "Coverage",
    "CoverageRow",
    "clt_intervals",
    "confirmed",
    "coverage_of_headlines",
    "coverage_of_refits",
    "coverage_on_grid",
    "least_coverage",
    "tolerance",
]

PROB = 0.95
UNIFORM: tuple[Prior, Prior] = ((1.0, 1.0), (1.0, 1.0))
LEAST = ((50, 0.93), (20, 0.90))
"""From so many prompts on, 95% intervals must cover at least so often."""
MODEL = (("population", "model"), ("benchmark", "model"))
HEADLINE = (("population", "headline"), ("benchmark", "model"))
CHUNK = 25
RERUN = 4

Ends = tuple[np.ndarray, np.ndarray]


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
        >>> from bayeseval.calibration.coverage import coverage_on_grid
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


def clt_intervals(correct: np.ndarray, generations: int) -> dict[tuple[str, str], Ends]:
    """Intervals of the central limit theorem, with no look at whether it applies.

    Parameters
    ----------
    correct : int array (replicate, prompt)
    generations : int
        The same for all prompts.

    Returns
    -------
    dict of (estimand, interval) to (lower, upper), float arrays (replicate,)
        The mean ± t or z times S / √n for the population; ± z times the standard error within prompts for the
        benchmark, where prompts have several generations.
    """
    from scipy.special import ndtri, stdtrit

    n = correct.shape[1]
    share = correct / generations
    mean, error = share.mean(axis=1), share.std(axis=1, ddof=1) / np.sqrt(n)
    z, t = ndtri((1 + PROB) / 2), stdtrit(n - 1, (1 + PROB) / 2)
    ends = {
        ("population", "CLT (t)"): (mean - t * error, mean + t * error),
        ("population", "CLT (z)"): (mean - z * error, mean + z * error),
    }
    if generations > 1:
        within = np.sqrt((share * (1 - share)).sum(axis=1) / (generations - 1)) / n
        ends["benchmark", "CLT (z)"] = (mean - z * within, mean + z * within)
    return ends


def coverage_of_refits(
    population: Population,
    prompts: int,
    generations: int,
    *,
    replicates: int = 1000,
    prior: tuple[Prior, Prior] = UNIFORM,
    seed: Sequence[int] = (0,),
) -> tuple[CoverageRow, ...]:
    """Coverage of the exact posterior intervals of the beta-binomial model, and of the CLT, in one cell.

    Parameters
    ----------
    population : Population
    prompts, generations : int
    replicates : int
    prior : pair of pairs of float
        Parameters of the Beta priors of mu and rho.
    seed : sequence of int

    Returns
    -------
    tuple of CoverageRow

    Examples
    --------
    >>> from bayeseval.calibration import populations
    >>> from bayeseval.calibration.coverage import coverage_of_refits
    >>> rows = coverage_of_refits(populations.beta(0.02, 0.5), 50, 4, replicates=200)
    >>> [(row.interval, row.coverage > 0.9) for row in rows[::3]]
    [('model', True), ('CLT (t)', False)]
    """
    p, correct = _simulated(population, prompts, generations, replicates, seed)
    refits = refit(batch_of_counts(correct, np.full(prompts, generations)), *prior, PROB)
    asked = [("population", "model"), ("benchmark", "model"), ("population", "robust")]
    ends = {pair: refits.interval(*pair, PROB) for pair in asked}
    return _rows(population, p, generations, {**ends, **clt_intervals(correct, generations)})


def coverage_on_grid(
    prompts: Sequence[int] = (20, 50, 200, 1000),
    generations: Sequence[int] = (1, 4, 16, 64),
    mu: Sequence[float] = (0.02, 0.3, 0.6, 0.98),
    rho: Sequence[float] = (0.05, 0.5),
    *,
    replicates: int = 1000,
    prior: tuple[Prior, Prior] = UNIFORM,
    seed: int = 0,
    progress: bool = True,
) -> Coverage:
    """Coverage when P(correct) really follows a Beta, for fixed means and correlations.

    A cell in which the model's interval covers less than it must (`least_coverage`), by more than chance allows, is run
    again with a fresh seed and four times the replicates, and that run counts.

    Parameters
    ----------
    prompts, generations : sequence of int
    mu, rho : sequence of float
    replicates : int
    prior : pair of pairs of float
        Parameters of the Beta priors of mu and rho.
    seed : int
    progress : bool

    Returns
    -------
    Coverage

    Examples
    --------
    >>> from bayeseval.calibration.coverage import coverage_on_grid
    >>> coverage_on_grid([20], [4], [0.3], [0.5], replicates=200, progress=False).short()
    ()
    """
    cells = list(product(prompts, generations, mu, rho))
    limits = {n: least_coverage(n) - tolerance(replicates, 2 * len(cells), least_coverage(n)) for n in prompts}
    rows: list[CoverageRow] = []
    with Progress("coverage", len(cells), enabled=progress) as bar:
        for number, (n, k, mean, correlation) in enumerate(cells):
            run = partial(coverage_of_refits, beta(mean, correlation), n, k, prior=prior)
            rows += confirmed(run, replicates, (seed, number), limits[n], MODEL)
            bar.advance()
    return Coverage(tuple(rows), {"seed": seed, "replicates": replicates, "prior": [list(one) for one in prior]})


def coverage_of_headlines(
    population: Population,
    prompts: int,
    generations: int,
    *,
    replicates: int = 400,
    model: str | Path | ModelFile = DEFAULT_MODEL,
    engine: str = "quadrature",
    draws: int = 125,
    seed: Sequence[int] = (0,),
) -> tuple[CoverageRow, ...]:
    """Coverage of the number that a report headlines, which its check chooses, in one cell.

    Parameters
    ----------
    population : Population
    prompts, generations : int
    replicates : int
    model : str, pathlib.Path or ModelFile
    engine : {"quadrature", "nuts"}
    draws : int
        Posterior draws in each of four chains. All interval ends are quantiles of draws, those of the exact engine
        too, whose own quantiles take as long as the fit. 500 draws widen or narrow an end by an eighth of a standard
        deviation, which costs two thousandths of coverage; the check takes as many draws as it always does.
    seed : sequence of int

    Returns
    -------
    tuple of CoverageRow
        Headline, model and robust interval of the population, model interval of the benchmark, and the CLT.
    """
    p, correct = _simulated(population, prompts, generations, replicates, seed)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    misfit = []
    for start in range(0, replicates, CHUNK):
        runs = [
            Counts.from_arrays(row, generations, system=f"{start + index}")
            for index, row in enumerate(correct[start : start + CHUNK])
        ]
        own_seed = int(np.random.default_rng([*seed, 1, start]).integers(1 << 31))
        fitted = fit(Counts.concat(runs), model, engine=engine, draws=draws, seed=own_seed, progress=False)
        for posterior in fitted if isinstance(fitted, Posteriors) else (fitted,):
            light = replace(posterior, exact=None)
            headline = light.mean()
            misfit.append(light.check().misfit)
            scores = {("population", "headline"): headline, ("benchmark", "model"): light.mean("benchmark")}
            for score in filter(None, (headline, headline.other)):
                scores["population", score.method] = score
            for pair, score in scores.items():
                found.setdefault(pair, []).append(score.interval)
    ends: dict[tuple[str, str], Ends] = {
        pair: (np.array([low for low, _ in pairs]), np.array([high for _, high in pairs]))
        for pair, pairs in found.items()
    }
    rows = _rows(population, p, generations, {**ends, **clt_intervals(correct, generations)})
    return tuple(replace(row, misfit=float(np.mean(misfit))) for row in rows)


def confirmed(
    run: Callable[..., tuple[CoverageRow, ...]],
    replicates: int,
    seed: tuple[int, ...],
    limit: float,
    judged: Sequence[tuple[str, str]],
) -> tuple[CoverageRow, ...]:
    """Rows of one cell; where one that is judged covers less than the limit, of a second, larger and fresh run.

    Parameters
    ----------
    run : callable
        ``run(replicates=..., seed=...)`` -> tuple of CoverageRow.
    replicates : int
    seed : tuple of int
    limit : float
        Coverage below which chance is no longer a likely explanation.
    judged : sequence of (estimand, interval)
        Those that must cover.

    Returns
    -------
    tuple of CoverageRow
    """
    rows = run(replicates=replicates, seed=seed)
    if all(row.coverage >= limit for row in rows if (row.estimand, row.interval) in judged):
        return rows
    again = run(replicates=RERUN * replicates, seed=(*seed, 1))
    return tuple(replace(row, rerun=True) for row in again)


def _simulated(
    population: Population, prompts: int, generations: int, replicates: int, seed: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """P(correct) and correct counts (replicate, prompt)."""
    rng = np.random.default_rng(list(seed))
    p = population.draw(rng, (replicates, prompts))
    return p, rng.binomial(generations, p)


def _rows(
    population: Population, p: np.ndarray, generations: int, ends: Mapping[tuple[str, str], Ends]
) -> tuple[CoverageRow, ...]:
    rows = []
    for (estimand, interval), (lower, upper) in ends.items():
        truth = population.mean if estimand == "population" else p.mean(axis=1)
        below, above = upper < truth, lower > truth
        row = CoverageRow(
            truth=population.name,
            mu=population.mean,
            rho=population.rho,
            prompts=p.shape[1],
            generations=generations,
            estimand=estimand,
            interval=interval,
            replicates=p.shape[0],
            coverage=float(np.mean(~below & ~above)),
            below=float(np.mean(below)),
            above=float(np.mean(above)),
            width=float(np.mean(upper - lower)),
        )
        rows.append(row)
    return tuple(rows)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if np.isnan(value) else float(f"{value:.6g}")
    return value


def _number(value: Any) -> Any:
    return float("nan") if value is None else value
