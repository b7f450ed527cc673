"""What a model's priors say before any data: the prior predictive summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayeseval import _compat, metrics
from bayeseval.catalogue import DEFAULT_MODEL, ModelFile, load_model
from bayeseval.credit_data import CREDIT_BLOCKS, CreditData
from bayeseval.credit_tables import credit_table
from bayeseval.display import html_table, rows_to_frame
from bayeseval.errors import require_positive_integer
from bayeseval.model_data import BLOCKS, ModelData
from bayeseval.pair_data import PAIR_BLOCKS, PairData
from bayeseval.pairs import Pairs
from bayeseval.prompts import BetaMixture, CreditDistribution, PairDistribution, PromptDistribution

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PriorPredictive", "PriorRow", "prior_draws", "prior_predictive", "specimen"]


@dataclass(frozen=True)
class PriorRow:
    """One fact about the prior: its mean over prior draws, and the central 90% of draws (NaN for a single number)."""

    quantity: str
    mean: float
    lower: float
    upper: float


@dataclass(frozen=True, repr=False)
class PriorPredictive:
    """What a model expects before it has seen data.

    Attributes
    ----------
    model : str
    prior : dict of str to tuple of float
    rows : tuple of PriorRow
    distribution : PromptDistribution, CreditDistribution or PairDistribution
        Distribution of P(correct), of credits, or of P(correct) of two systems, over prompts for each prior draw.
    """

    model: str
    prior: dict[str, tuple[float, ...]]
    rows: tuple[PriorRow, ...]
    distribution: PromptDistribution | CreditDistribution | PairDistribution

    def to_frame(self) -> pd.DataFrame:
        """One row a quantity: quantity, mean, lower, upper (5% and 95% of prior draws)."""
        return rows_to_frame(self.rows, PriorRow)

    def __repr__(self) -> str:
        lines = [
            f"{row.quantity}: {row.mean:.3f}" + ("" if np.isnan(row.lower) else f" [{row.lower:.3f}, {row.upper:.3f}]")
            for row in self.rows
        ]
        return "\n".join([f"prior of {self.model} {self.prior}: mean [5%, 95%] over prior draws", *lines])

    def _repr_html_(self) -> str:
        body = [
            [
                row.quantity,
                f"{row.mean:.3f}",
                *("" if np.isnan(end) else f"{end:.3f}" for end in (row.lower, row.upper)),
            ]
            for row in self.rows
        ]
        return html_table(["quantity", "mean", "5%", "95%"], body, [f"prior of {self.model}: {self.prior}"])


def prior_predictive(
    model: str | Path | ModelFile = DEFAULT_MODEL,
    *,
    prior: Mapping[str, tuple[float, ...]] | None = None,
    generations: Sequence[int] = (4, 10, 50),
    draws: int = 4000,
    seed: int = 0,
) -> PriorPredictive:
    """Summarise what a model expects before it has seen data.

    Parameters
    ----------
    model : str, pathlib.Path or ModelFile
    prior : mapping of str to tuple of float, optional
        Prior parameters to change.
    generations : sequence of int
        Numbers of generations k for which the shares of prompts never and always solved are given.
    draws : int
        Prior draws.
    seed : int

    Returns
    -------
    PriorPredictive
        Mean and spread of P(correct) over prompts, the probability of a U-shaped distribution (for a single Beta),
        and the probabilities of no and of only correct generations out of k. For a model of credits the same of the
        mean credit, and of no and of full credit; for a model of two systems their means, their difference and kappa.

    Examples
    --------
    >>> import bayeseval as be
    >>> be.prior_predictive(draws=500).to_frame()["quantity"].tolist()[:2]
    ['mean of P(correct) over prompts', 'sd of P(correct) over prompts']
    """
    found = load_model(model)
    priors = found.prior(prior)
    size = require_positive_integer("draws", draws)
    distribution = found.prompt_distribution(prior_draws(found, priors, size, seed))
    for k in generations:
        require_positive_integer("generations", k)
    if isinstance(distribution, CreditDistribution):
        return PriorPredictive(found.name, priors, _credit_rows(distribution, generations), distribution)
    if isinstance(distribution, PairDistribution):
        return PriorPredictive(found.name, priors, _pair_rows(distribution), distribution)
    rows = [
        _row("mean of P(correct) over prompts", distribution.mean()),
        _row("sd of P(correct) over prompts", distribution.sd()),
    ]
    if isinstance(distribution, BetaMixture) and distribution.mu.shape[1] == 1 and distribution.atom.size == 0:
        mu, rho = distribution.mu[:, 0], distribution.rho[:, 0]
        precision = (1 - rho) / rho
        share = float(np.mean((mu * precision < 1) & ((1 - mu) * precision < 1)))
        rows.append(PriorRow("probability of a U-shaped distribution", share, float("nan"), float("nan")))
    for k in generations:
        none, every = np.exp(distribution.logpmf(np.array([0, k]), np.array([k, k]))).T
        rows += [_row(f"P(no generation of {k} is correct)", none), _row(f"P(all {k} are correct)", every)]
    return PriorPredictive(found.name, priors, tuple(rows), distribution)


def prior_draws(
    model: ModelFile,
    prior: Mapping[str, tuple[float, ...]],
    draws: int,
    seed: int,
    data: ModelData | CreditData | PairData | None = None,
) -> dict[str, np.ndarray]:
    """Draws of the model's parameters and deterministic quantities from the prior (draw, ...).

    Parameters
    ----------
    model : ModelFile
    prior : mapping of str to tuple of float
    draws, seed : int
    data : ModelData, CreditData or PairData, optional
        What the model is built for: how many groups, runs or prompts there are. Their counts do not matter.

    Returns
    -------
    dict of str to float array (draw, ...)
    """
    pm = _compat.import_pymc()
    pymc_model = model.build(specimen(model.blocks) if data is None else data, prior)
    variables = [*pymc_model.free_RVs, *pymc_model.deterministics]
    values = pm.draw(variables, draws=draws, random_seed=seed)
    return {str(variable.name): np.asarray(value) for variable, value in zip(variables, values, strict=True)}


def specimen(blocks: tuple[str, ...] = BLOCKS, copies: int = 1) -> ModelData | CreditData | PairData:
    """A small data set that has all that a model may ask for: four groups, four runs, and a prompt not answered.

    For a model of credits, generations with the levels 0, ½ and 1, or with any credit; for a model of pairs, two
    systems on five prompts.

    Parameters
    ----------
    blocks : tuple of str
        Kinds of arrays that the model takes.
    copies : int
        How often the prompts are repeated.

    Returns
    -------
    ModelData, CreditData or PairData
    """
    if set(blocks) & set(CREDIT_BLOCKS):
        return credit_specimen(blocks)
    if set(blocks) & set(PAIR_BLOCKS):
        return pair_specimen(blocks)
    correct = np.tile([0, 1, 3, 4, 4, 2, 0, 2], copies)
    full = "runs" in blocks
    generations = np.tile([4, 4, 4, 4, 4 if full else 5, 4 if full else 3, 0, 4], copies)
    group = np.tile([0, 0, 1, 1, 2, 2, 3, 3], copies)
    names = ("algebra", "geometry", "logic", "number theory")
    totals = copies * np.array([3, 5, 4, 4])
    return ModelData(correct, generations, group, names, totals, blocks, "the specimen")


def credit_specimen(blocks: tuple[str, ...], more: float = 0.0) -> CreditData:
    """Credits of five prompts, one not answered; other ones for another ``more`` up to 0.5."""
    levels = (0.0, 0.5, 1.0) if "levels" in blocks else None
    between = [0.5, 0.5, 0.5, 0.5] if levels else [0.3 + more, 0.4, 0.6, 0.45 + more / 2]
    last = 1.0 if more else 0.0
    credit = [0.0, between[0], 1.0, between[1], between[2], 1.0, last, 0.0, 0.0, between[3], 1.0, np.nan]
    prompt = np.repeat(np.array(["a", "b", "c", "d", "e"], dtype=object), [3, 3, 2, 3, 1])
    return CreditData(credit_table(prompt, np.array(credit), levels=levels), blocks)


def pair_specimen(blocks: tuple[str, ...], more: int = 0) -> PairData:
    """Two systems on five prompts, one of which was not answered; other counts for another ``more`` up to 1."""
    both = np.array([3 - more, 0, 1, 2 + more, 0])
    correct = np.array([[4 - more, 1, 1, 3 + more, 0], [3, 0, 4, 4, 0]])
    generations = np.array([[4, 4, 4, 5, 0], [4, 4, 4, 5, 0]])
    prompt = np.array(list("12345"), dtype=object)
    return PairData(Pairs(("a", "b"), "the specimen", prompt, correct, generations, both), blocks)


def _pair_rows(distribution: PairDistribution) -> tuple[PriorRow, ...]:
    a, b = distribution.score(metrics.mean()).T
    rows = [
        _row("mean of P(correct) of A over prompts", a),
        _row("mean of P(correct) of B over prompts", b),
        _row("mean of A minus mean of B", a - b),
    ]
    if distribution.coupled:
        rows.append(_row("covariance within prompts of coupled generations (kappa)", distribution.kappa()))
    return tuple(rows)


def _credit_rows(distribution: CreditDistribution, generations: Sequence[int]) -> tuple[PriorRow, ...]:
    rows = [
        _row("mean credit over prompts", distribution.mean()),
        _row("sd over prompts of a prompt's mean credit", distribution.sd()),
    ]
    for k in generations:
        rows.append(_row(f"P(no credit in {k} generations)", distribution.all_alike(0.0, k)))
        rows.append(_row(f"P(full credit in all {k})", distribution.all_alike(1.0, k)))
    return tuple(rows)


def _row(quantity: str, values: np.ndarray) -> PriorRow:
    values = np.asarray(values, dtype=float)
    lower, upper = np.quantile(values, [0.05, 0.95])
    return PriorRow(quantity, float(values.mean()), float(lower), float(upper))
