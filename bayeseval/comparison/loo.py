r"""Leave-one-prompt-out predictive density: how well a model predicts the counts of a prompt it has not seen.

.. math::

    \mathrm{elpd} = \sum_i \log p(c_i \mid c_{-i}), \qquad
    \frac{1}{p(c_i \mid c_{-i})} = E\left[\frac{1}{p(c_i \mid \theta)}\right]

with the expectation over the posterior given all prompts [1]_. Where the exact engine knows the model, it is taken over
its grid. Elsewhere it is taken over draws by Pareto-smoothed importance sampling [2]_, whose shape parameter k tells
whether that can be trusted.

The unit is a prompt, P(correct) integrated out: a fresh prompt, not one more generation of a known one.

References
----------
.. [1] Gelfand, Dey & Chang (1992). Model determination using predictive distributions with implementation via
   sampling-based methods. Bayesian Statistics 4, 147-167.
.. [2] Vehtari, Gelman & Gabry (2017). Practical Bayesian model evaluation using leave-one-out cross-validation and
   WAIC. Statistics and Computing 27, 1413-1432. https://doi.org/10.1007/s11222-016-9696-4
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.comparison.pointwise import Cells, cells_of, pointwise, shared_key
from bayeseval.display import html_table, number
from bayeseval.engines.quadrature import ExactPosterior, exact_under, log_sigmoid
from bayeseval.errors import DataError, FitError, OptionError
from bayeseval.likelihoods import beta_binomial_logpmf, log_binomial
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import Posterior
from bayeseval.prompts import blocks

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PARETO_LIMIT", "Loo", "loo", "loo_among", "total"]

PARETO_LIMIT = 0.7
LONGEST_TABLE = 4096
"""Most generations for which products are tabulated."""
EDGE = 1e-12
"""Largest share of the held-out posterior at an edge of the grid for which the grid is taken to hold all of it."""


@dataclass(frozen=True, repr=False)
class Loo:
    """Expected log predictive density of one model for a prompt left out, summed over prompts.

    Attributes
    ----------
    elpd : float
        Nats; larger is better. The binomial coefficients are part of it.
    se : float
        Standard error of ``elpd`` over prompts; NaN for a single prompt.
    p_loo : float
        Effective number of parameters: log density of the data with each prompt kept in, less ``elpd``.
    correct, generations, prompts : int arrays (cell,)
        The distinct counts, and how many prompts share each.
    pointwise : float array (cell,)
        Log predictive density of one prompt of each cell, given all other prompts.
    fitted : float array (cell,)
        The same, given all prompts, itself among them.
    pareto_k : float array (cell,)
        Shape of the tail of the importance weights; NaN where none were needed.
    method : {"exact", "psis", "stacked"}
        ``"stacked"`` is the weighted mean of the densities of several models.
    model, run : str
    warnings : tuple of str
        What is wrong and what to do, in sentences.
    """

    elpd: float
    se: float
    p_loo: float
    correct: np.ndarray
    generations: np.ndarray
    prompts: np.ndarray
    pointwise: np.ndarray
    fitted: np.ndarray
    pareto_k: np.ndarray
    method: str
    model: str
    run: str
    warnings: tuple[str, ...]

    @property
    def worst_k(self) -> float:
        """Largest Pareto k; NaN where no importance weights were needed."""
        known = self.pareto_k[~np.isnan(self.pareto_k)]
        return float(known.max()) if known.size else float("nan")

    def to_frame(self) -> pd.DataFrame:
        """One row a cell: correct, generations, prompts, elpd and fitted (of one prompt), pareto_k."""
        import pandas as pd

        return pd.DataFrame(
            {
                "correct": self.correct,
                "generations": self.generations,
                "prompts": self.prompts,
                "elpd": self.pointwise,
                "fitted": self.fitted,
                "pareto_k": self.pareto_k,
            }
        )

    def sentence(self) -> str:
        """The number with its standard error, and how it was made."""
        how = {"exact": "exact", "psis": f"PSIS, Pareto k at most {self.worst_k:.2f}", "stacked": "stacked"}
        return (
            f"leave-one-prompt-out log predictive density of {self.model} for {self.run}: {self.elpd:.1f} "
            f"(standard error {number(self.se)}), {self.p_loo:.1f} effective parameters, {self.prompts.sum():,} "
            f"prompts, {how[self.method]}"
        )

    def __repr__(self) -> str:
        return "\n".join([*(f"Warning: {text}" for text in self.warnings), self.sentence()])

    def _repr_html_(self) -> str:
        header = ["model", "elpd", "SE", "p_loo", "prompts", "method", "largest Pareto k"]
        row = [self.model, f"{self.elpd:.1f}", number(self.se), f"{self.p_loo:.1f}", f"{self.prompts.sum():,}"]
        worst = "" if np.isnan(self.worst_k) else f"{self.worst_k:.2f}"
        return html_table(header, [[*row, self.method, worst]], (f"⚠ {text}" for text in self.warnings))


def loo(posterior: Posterior) -> Loo:
    """Leave-one-prompt-out log predictive density of a posterior.

    Parameters
    ----------
    posterior : Posterior
        From `bayeseval.fit`, one run. For a stack of models it is the density of their mixture.

    Returns
    -------
    Loo
        Computed over the grid for models that the exact engine knows, else by PSIS over the draws. Prompts without
        generations are left out.

    Raises
    ------
    DataError
        If no prompt has a generation.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[0, 1, 5, 4, 5, 2], generations=5)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> result = be.loo(post)
    >>> result.method, round(result.elpd, 4)
    ('exact', -12.1443)
    """
    refuse_credits(posterior)
    if not isinstance(posterior, Posterior):
        raise OptionError(
            f"loo takes the posterior of one run, but {type(posterior).__name__} was given; choose one with "
            f"posteriors.select(system=..., benchmark=...)"
        )
    return loo_among(posterior, shared_key([posterior]))


def loo_among(posterior: Posterior, key: np.ndarray | None) -> Loo:
    """As `loo`, on cells that are told apart by a group or cluster as well, for comparison with models that know it."""
    place = ("loo", key is not None)
    if place not in posterior._cache:
        posterior._cache[place] = _loo(posterior, key)
    return posterior._cache[place]


def total(pointwise: np.ndarray, prompts: np.ndarray) -> tuple[float, float]:
    """Sum over prompts of a quantity given for each cell, and its standard error over prompts.

    Parameters
    ----------
    pointwise : float array (cell,)
    prompts : int array (cell,)

    Returns
    -------
    total, se : float
        ``se`` is sqrt(n) times the standard deviation over the n prompts; NaN for a single prompt.
    """
    size = int(prompts.sum())
    value = float(pointwise @ prompts)
    if size < 2:
        return value, float("nan")
    variance = prompts @ (pointwise - value / size) ** 2 / (size - 1)
    return value, float(np.sqrt(size * variance))


def _loo(posterior: Posterior, key: np.ndarray | None) -> Loo:
    cells = cells_of(posterior, key)
    if not cells.prompts.size:
        raise DataError(f"{posterior.counts.label} has no generation: there is no prompt to leave out")
    exact = _grid(posterior) if posterior.model.has_quadrature else None
    if exact is None:
        held_out, kept, shape = _psis(posterior, cells)
    else:
        held_out, kept = _on_grid(posterior, exact, cells)
        shape = np.full(cells.prompts.size, np.nan)
    elpd, se = total(held_out, cells.prompts)
    return Loo(
        elpd,
        se,
        float(kept @ cells.prompts) - elpd,
        cells.correct,
        cells.generations,
        cells.prompts,
        held_out,
        kept,
        shape,
        "psis" if exact is None else "exact",
        posterior.model.name,
        posterior.counts.label,
        _warnings(posterior, cells, shape),
    )


def _grid(posterior: Posterior) -> ExactPosterior | None:
    """The exact posterior, if it can be had; draws need more nodes than this."""
    try:
        return exact_under(posterior.prior, posterior.counts.correct, posterior.counts.generations)
    except FitError:
        return None


def _on_grid(posterior: Posterior, exact: ExactPosterior, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Log density of one prompt of each cell, held out and kept in.

    Without the prompt the posterior may be so much wider that the grid does not hold it: at such cells the density is
    the ratio of two evidences, the second without the prompt.
    """
    with np.errstate(divide="ignore"):
        log_weight = np.log(exact.weight)
    last = exact.weight.shape[0] - 1
    width = exact.weight.shape[1] * max(int(cells.generations.max()) + 1, cells.prompts.size)
    parts: list[tuple[np.ndarray, ...]] = []
    for rows in blocks(last + 1, width):
        loglik = _grid_loglik(exact, rows, cells)
        weight = log_weight[rows, :, None]
        log_ratio = weight - loglik
        sides = [log_ratio[:, 0], log_ratio[:, -1]]
        sides += [log_ratio[0]] if rows.start == 0 else []
        sides += [log_ratio[-1]] if rows.stop == last + 1 else []
        parts.append((_log_sum(log_ratio), _log_sum(weight + loglik), np.concatenate(sides).max(axis=0)))
    ratios, inside, rims = (np.stack(values) for values in zip(*parts, strict=True))
    held_out, kept = -_log_sum(ratios), _log_sum(inside)
    edge = np.exp(rims.max(axis=0) + held_out)
    for index in np.flatnonzero(~(edge < EDGE)).tolist():
        held_out[index] = _evidence_ratio(posterior, exact, cells, index)
    return held_out, kept


def _grid_loglik(exact: ExactPosterior, rows: slice, cells: Cells) -> np.ndarray:
    """Log probability of every cell at some rows of the grid (row, Y, cell)."""
    longest = int(cells.generations.max())
    if longest > LONGEST_TABLE:
        mu, rho = np.broadcast_arrays(exact.mu[rows], exact.rho)
        return beta_binomial_logpmf(cells.correct, cells.generations, mu, rho)
    # Products over the generations from tables of cumulative sums: every cell is then a look-up.
    x, y = exact.x[rows], exact.y[None, :]
    log_rest, rho = log_sigmoid(-y), exact.rho
    right = _rising(log_sigmoid(x) + log_rest, rho, longest)[..., cells.correct]
    wrong = _rising(log_sigmoid(-x) + log_rest, rho, longest)[..., cells.generations - cells.correct]
    both = _rising(log_rest, rho, longest)[..., cells.generations]
    return right + wrong - both + log_binomial(cells.generations, cells.correct)


def _rising(log_first: np.ndarray, rho: np.ndarray, longest: int) -> np.ndarray:
    """Sums over j < length of log(exp(log_first) + j rho), for every length from 0 to the longest (..., length)."""
    terms = np.exp(log_first)[..., None] + np.arange(longest) * rho[..., None]
    terms[..., :1] = log_first[..., None]
    np.log(terms[..., 1:], out=terms[..., 1:])
    return np.concatenate([np.zeros((*terms.shape[:-1], 1)), np.cumsum(terms, axis=-1)], axis=-1)


def _log_sum(values: np.ndarray) -> np.ndarray:
    """Log of the sum of exponentials over all axes but the last."""
    flat = values.reshape(-1, values.shape[-1])
    top = flat.max(axis=0)
    return top + np.log(np.exp(flat - np.where(np.isfinite(top), top, 0.0)).sum(axis=0))


def _evidence_ratio(posterior: Posterior, exact: ExactPosterior, cells: Cells, index: int) -> float:
    correct, generations = cells.correct[cells.cell], cells.generations[cells.cell]
    others = np.arange(cells.cell.size) != np.flatnonzero(cells.cell == index)[0]
    # One prompt without a generation stands for none at all, where no other prompt is left.
    rest = exact_under(posterior.prior, np.append(correct[others], 0), np.append(generations[others], 0))
    coefficient = log_binomial(cells.generations[index], cells.correct[index])
    return float(exact.log_evidence - rest.log_evidence + coefficient)


def _psis(posterior: Posterior, cells: Cells) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from arviz_stats.base import array_stats

    efficiency = _relative_efficiency(posterior)
    parts = []
    for loglik in pointwise(posterior, cells):
        log_weight, shape = array_stats.psislw(loglik.T, r_eff=efficiency)  # it takes the inverse itself
        held_out = np.logaddexp.reduce(log_weight + loglik.T, axis=1)
        kept = np.logaddexp.reduce(loglik, axis=0) - np.log(loglik.shape[0])
        parts.append(np.stack([held_out, kept, shape]))
    held_out, kept, shape = np.concatenate(parts, axis=1)
    return held_out, kept, shape


def _relative_efficiency(posterior: Posterior) -> float:
    """Mean effective sample size of the parameters, for each draw."""
    if posterior.engine == "quadrature":
        return 1.0
    from arviz_stats.base import array_stats

    scalars = [values for values in posterior.parameters.values() if values.ndim == 2]
    if not scalars or scalars[0].shape[1] < 4:
        return 1.0
    each = [array_stats.ess(v, method="mean", relative=True, chain_axis=0, draw_axis=1) for v in scalars]
    return float(np.clip(np.nanmean(each), 0.01, 1.0)) if np.isfinite(each).any() else 1.0


def _warnings(posterior: Posterior, cells: Cells, shape: np.ndarray) -> tuple[str, ...]:
    bad = np.flatnonzero(shape > PARETO_LIMIT)
    if not bad.size:
        return ()
    worst = bad[np.argmax(shape[bad])]
    return (
        f"{posterior.counts.label}, {posterior.model.name}: leaving out {cells.prompts[bad].sum():,} of "
        f"{cells.prompts.sum():,} prompts changes the posterior too much for importance sampling (Pareto k up to "
        f"{shape[worst]:.2f}, above {PARETO_LIMIT}, at {cells.correct[worst]:,} of {cells.generations[worst]:,} "
        f"correct), so the density is most likely too high: look at such prompts, take more draws, or refit without "
        f"them",
    )
