"""Scores of the groups of one benchmark: subjects, categories, levels of difficulty, clusters.

The draws of P(correct) are those behind the model's benchmark score, averaged within each group instead of over all
prompts: weighted by their prompts, the groups give that score back, draw by draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeseval.defaults import options
from bayeseval.errors import DataError
from bayeseval.model_data import ModelData, keyed_cells
from bayeseval.posterior.prompt_draws import BLOCK, in_threads

if TYPE_CHECKING:
    import pandas as pd

    from bayeseval.posterior.posterior import Posterior

__all__ = ["group_draws", "group_summaries", "population_draws"]


def group_summaries(posterior: Posterior, prob: float | None = None) -> pd.DataFrame:
    """Mean of P(correct) in every group; what `Posterior.groups` calls.

    Parameters
    ----------
    posterior : Posterior
        Of counts that have groups.
    prob : float, optional
        Probability inside the intervals; `bayeseval.options.prob` by default.

    Returns
    -------
    pandas.DataFrame
        One row a group, in the order of the counts: system, benchmark, group, prompts, generations; raw_mean, the mean
        share of correct answers of its prompts (NaN where none was answered); mean, lower, upper of the group's
        benchmark mean, that of these prompts. Where the model tells groups apart, population_mean, population_lower
        and population_upper of fresh prompts of the group.

    Raises
    ------
    DataError
        If the counts have no groups.

    Examples
    --------
    >>> import bayeseval as be
    >>> subject = ["algebra"] * 3 + ["law"] * 3
    >>> counts = be.Counts.from_arrays(correct=[8, 7, 8, 1, 4, 0], generations=8, group=subject)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> post.groups()[["group", "prompts", "raw_mean", "mean"]].round(2)
         group  prompts  raw_mean  mean
    0  algebra        3      0.96  0.92
    1      law        3      0.21  0.24
    """
    import pandas as pd

    counts, prob = posterior.counts, options.interval_prob(prob)
    group, names = groups_of(posterior)
    answered = counts.generations > 0
    with np.errstate(invalid="ignore"):
        shares = np.bincount(group[answered], counts.correct[answered] / counts.generations[answered], len(names))
        raw = shares / np.bincount(group[answered], minlength=len(names))
    columns = {
        "system": posterior.system,
        "benchmark": posterior.benchmark,
        "group": names,
        "prompts": np.bincount(group, minlength=len(names)),
        "generations": np.bincount(group, counts.generations, len(names)).astype(np.int64),
        "raw_mean": raw,
    }
    answers = {"": group_draws(posterior)}
    if posterior.distribution.keyed_by in ("group", "cluster"):
        answers["population_"] = population_draws(posterior)
    for name, draws in answers.items():
        lower, upper = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
        columns.update({f"{name}mean": draws.mean(axis=0), f"{name}lower": lower, f"{name}upper": upper})
    return pd.DataFrame(columns)


def groups_of(posterior: Posterior) -> tuple[np.ndarray, tuple[str, ...]]:
    """Number of the group of each prompt (prompt,), and names of the groups.

    Raises
    ------
    DataError
        If the counts have no groups.
    """
    data = ModelData.of(posterior.counts, ("groups",))
    if data.group is None:
        raise DataError(
            f"{posterior.counts.label}: the prompts have no groups; read the results with group='subject', whatever "
            f"the column is called, or give Counts.from_arrays(..., group=[...])"
        )
    return data.group, data.group_names


def group_draws(posterior: Posterior) -> np.ndarray:
    """Draws of the benchmark mean of every group (draw, group): P(correct) averaged over the group's own prompts."""
    if "groups" not in posterior._cache:
        posterior._cache["groups"] = _averaged(posterior)
    return posterior._cache["groups"]


def population_draws(posterior: Posterior) -> np.ndarray:
    """Draws of the mean of fresh prompts of every group (draw, group), for models that tell groups apart."""
    _, names = groups_of(posterior)
    none = np.zeros(len(names), dtype=np.int64)
    # A fresh prompt of a group is one of which nothing is known but its group.
    return posterior.distribution.condition(none, none, np.arange(len(names))).mean()


def _averaged(posterior: Posterior) -> np.ndarray:
    counts, distribution = posterior.counts, posterior.distribution
    group, names = groups_of(posterior)
    cell_correct, cell_generations, cell_key, cell = keyed_cells(counts.correct, counts.generations, posterior.key)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=len(names))
    first = np.cumsum(sizes) - sizes
    step = max(1, BLOCK // max(cell.size, 1))

    def work(start: int) -> np.ndarray:
        rng = np.random.default_rng([*posterior._stream, start])
        part = distribution.take(slice(start, start + step))
        p = part.condition(cell_correct, cell_generations, cell_key).draw(rng, cell)
        return np.add.reduceat(p[:, order], first, axis=1) / sizes

    return np.concatenate(in_threads(work, range(0, distribution.n_draws, step)))
