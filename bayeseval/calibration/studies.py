"""Studies of coverage at fixed truths: inside the model's family, and outside of it.

Nothing guarantees this coverage, in contrast to that of `calibrate`. Within the family the posterior of each simulated
data set is found by exact refits of the whole batch. Outside of it what counts is the number that a report headlines,
so every data set goes through `fit` and its check, and the headline is what that check decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from bayeseval.calibration.coverage import PROB, Coverage, CoverageRow, least_coverage, tolerance
from bayeseval.calibration.populations import Population, beta
from bayeseval.catalogue import DEFAULT_MODEL, ModelFile
from bayeseval.counts import Counts
from bayeseval.engines.batches import batch_of_counts
from bayeseval.engines.quadrature import Prior
from bayeseval.engines.refits import refit
from bayeseval.fitting import fit
from bayeseval.posterior.posteriors import Posteriors
from bayeseval.progress import Progress

__all__ = [
    "HEADLINE",
    "MODEL",
    "clt_intervals",
    "confirmed",
    "coverage_of_headlines",
    "coverage_of_refits",
    "coverage_on_grid",
]

UNIFORM: tuple[Prior, Prior] = ((1.0, 1.0), (1.0, 1.0))
MODEL = (("population", "model"), ("benchmark", "model"))
HEADLINE = (("population", "headline"), ("benchmark", "headline"))
CHUNK = 25
RERUN = 4

Ends = tuple[np.ndarray, np.ndarray]


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
    >>> from bayeseval.calibration.studies import coverage_of_refits
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
    >>> from bayeseval.calibration.studies import coverage_on_grid
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
        Headline, model and robust interval of the population, headline and model of the benchmark, and the CLT.
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
            scores = {
                ("population", "headline"): headline,
                ("benchmark", "headline"): light.mean("benchmark"),
                ("benchmark", "model"): light.mean("benchmark", method="model"),
            }
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
            rho=round(population.rho, 12),
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
