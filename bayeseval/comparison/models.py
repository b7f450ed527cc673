"""Which of several models describes a run: predictive densities, stacking weights and checks in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.comparison.loo import Loo, loo_among, total
from bayeseval.comparison.pointwise import shared_key
from bayeseval.comparison.weights import stacking_weights
from bayeseval.display import html_table, number, rows_to_frame
from bayeseval.errors import OptionError
from bayeseval.posterior.posterior import Posterior

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Comparison", "ComparisonRow", "compare_models", "labels_of", "same_run"]

CLEAR_ERRORS = 2
CLEAR_NATS = 4
"""A difference is clear from this many of its standard errors, and this many nats, on."""


@dataclass(frozen=True)
class ComparisonRow:
    """One model of a comparison; ``elpd_diff`` is its predictive density less that of the best."""

    model: str
    elpd: float
    se: float
    elpd_diff: float
    se_diff: float
    p_loo: float
    pareto_k: float
    method: str
    weight: float
    predictive_p: float
    misfit: bool

    @property
    def clearly_worse(self) -> bool:
        """Whether the data tell it from the best: 2 standard errors and 4 nats or more below."""
        return -self.elpd_diff >= max(CLEAR_NATS, CLEAR_ERRORS * np.nan_to_num(self.se_diff, nan=np.inf))


@dataclass(frozen=True, repr=False)
class Comparison:
    """Models of one run, best first.

    Attributes
    ----------
    rows : tuple of ComparisonRow
        Ranked by leave-one-prompt-out log predictive density (elpd).
    posteriors : tuple of Posterior
        In the same order.
    run : str
    warnings : tuple of str
        What makes the ranking doubtful, in sentences.
    """

    rows: tuple[ComparisonRow, ...]
    posteriors: tuple[Posterior, ...]
    run: str
    warnings: tuple[str, ...]

    @property
    def best(self) -> Posterior:
        """The posterior of the model that predicts left-out prompts best."""
        return self.posteriors[0]

    def sentence(self) -> str:
        """Which model describes the data, as far as they tell."""
        first, rest = self.rows[0], self.rows[1:]
        fit = "passes its predictive check" if not first.misfit else "fails its predictive check"
        if not rest:
            return f"{self.run}: {first.model} is the only model, and {fit}"
        alike = [row.model for row in rest if not row.clearly_worse]
        if alike:
            others = " and ".join(filter(None, [", ".join(alike[:-1]), alike[-1]]))
            words = (
                f"{first.model} predicts left-out prompts best, but {others} cannot be told from it (differences below "
                f"{CLEAR_ERRORS} standard errors or {CLEAR_NATS} nats); report what each says, or their stack"
            )
        else:
            near = rest[0]
            words = (
                f"{first.model} describes these prompts best: {near.model} predicts a left-out prompt worse by "
                f"{-near.elpd_diff:.1f} nats in all (standard error {number(near.se_diff)})"
            )
        if first.misfit:
            all_fail = all(row.misfit for row in self.rows)
            words += "; every one of the models fails its predictive check" if all_fail else f"; {first.model} {fit}"
        return f"{self.run}: {words}"

    def to_frame(self) -> pd.DataFrame:
        """One row a model, best first.

        Returns
        -------
        pandas.DataFrame
            Columns model, elpd, se, elpd_diff, se_diff, p_loo, pareto_k, method, weight, predictive_p, misfit.
        """
        return rows_to_frame(self.rows, ComparisonRow)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Differences of predictive density with their standard errors, and the stacking weights."""
        from bayeseval import plots

        return plots.plot_comparison(self, ax=ax)

    def cells(self) -> list[list[str]]:
        """The table as text, one row a model."""
        return [
            [
                row.model,
                f"{row.elpd:.1f}",
                number(row.se),
                f"{row.elpd_diff:.1f}",
                number(row.se_diff),
                f"{row.p_loo:.1f}",
                row.method if np.isnan(row.pareto_k) else f"{row.pareto_k:.2f}",
                f"{row.weight:.2f}",
                f"{row.predictive_p:.2g}",
                "fails" if row.misfit else "ok",
            ]
            for row in self.rows
        ]

    HEADER = ("model", "elpd", "SE", "difference", "SE of it", "p_loo", "Pareto k", "weight", "predictive p", "check")

    def __repr__(self) -> str:
        lines = [f"Warning: {text}" for text in self.warnings]
        for name, *cells in self.cells():
            lines.append(f"{name}: " + ", ".join(f"{a} {b}" for a, b in zip(self.HEADER[1:], cells, strict=True)))
        return "\n".join([*lines, self.sentence()])

    def _repr_html_(self) -> str:
        return html_table(self.HEADER, self.cells(), [*(f"⚠ {text}" for text in self.warnings), self.sentence()])


def compare_models(posteriors: Sequence[Posterior]) -> Comparison:
    r"""Compare models of the same run by how well they predict a prompt that is left out.

    Parameters
    ----------
    posteriors : sequence of Posterior
        Several models, or one model under several priors, fitted to the same run; or what
        ``be.fit(counts, model=[...])`` returned for it.

    Returns
    -------
    Comparison
        The difference of two models has the standard error :math:`\sqrt{n\,\mathrm{Var}_i(\Delta\mathrm{elpd}_i)}`
        over n prompts [1]_; the weights are those of stacking [2]_.

    Raises
    ------
    OptionError
        If the posteriors are not of the same run.

    Notes
    -----
    Predictive density judges a model by all its predictions; a check asks whether it can be the truth. The best of
    several models may still fail its check. With few prompts, differences below 4 nats say little, whatever their
    standard error [1]_.

    References
    ----------
    .. [1] Sivula, Magnusson, Matamoros & Vehtari (2025). Uncertainty in Bayesian leave-one-out cross-validation based
       model comparison. Bayesian Analysis. https://arxiv.org/abs/2008.10296
    .. [2] Yao, Vehtari, Simpson & Gelman (2018). Using stacking to average Bayesian predictive distributions. Bayesian
       Analysis 13, 917-1007. https://doi.org/10.1214/17-BA1091

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 5, generations=4)
    >>> priors = [{}, {"rho": (2, 2)}]
    >>> fits = [be.fit(counts, prior=p, engine="quadrature", seed=1, progress=False) for p in priors]
    >>> be.compare_models(fits).to_frame()["model"].tolist()
    ['beta_binomial (rho 2, 2)', 'beta_binomial']
    """
    members = same_run(posteriors)
    names = labels_of(members)
    key = shared_key(members)
    results = [loo_among(member, key) for member in members]
    weights = stacking_weights(np.stack([one.pointwise for one in results]), results[0].prompts)
    order = sorted(range(len(members)), key=lambda index: -results[index].elpd)
    best = results[order[0]]
    rows = tuple(_row(names[i], members[i], results[i], best, float(weights[i])) for i in order)
    warnings = dict.fromkeys(text for index in order for text in results[index].warnings)
    return Comparison(rows, tuple(members[i] for i in order), members[0].counts.label, tuple(warnings))


def same_run(posteriors: Any) -> tuple[Posterior, ...]:
    """Return the posteriors if all are of one run, else raise `OptionError`; a stack stands for its members."""
    if isinstance(posteriors, Posterior):
        posteriors = getattr(posteriors, "members", (posteriors,))
    listed = list(posteriors) if isinstance(posteriors, Sequence) and not isinstance(posteriors, str) else []
    for item in listed:
        if not isinstance(item, Posterior):
            raise OptionError(
                f"models are compared by their posteriors, but {type(item).__name__} was given among them"
            )
        if hasattr(item, "members"):
            raise OptionError(f"{item.model.name} is a stack: compare its members, be.compare_models(stack.members)")
    if not listed:
        raise OptionError("there is nothing to compare; give a list of posteriors of one run, from be.fit(...)")
    first = listed[0]
    for item in listed[1:]:
        if item.counts.label != first.counts.label:
            raise OptionError(
                f"models can only be compared on the same run, but {first.counts.label} and {item.counts.label} were "
                f"given; to compare systems set their scores side by side, posteriors.mean()"
            )
        if item.counts.fingerprint != first.counts.fingerprint:
            raise OptionError(
                f"the posteriors of {first.counts.label} come from different counts (fingerprints "
                f"{first.counts.fingerprint[:12]} and {item.counts.fingerprint[:12]}); fit all models to the same data"
            )
    return tuple(listed)


def labels_of(members: Sequence[Posterior]) -> tuple[str, ...]:
    """Names of models that tell them apart: the priors that differ from the model's own, then a number."""
    plain = [member.model.name for member in members]
    named = []
    for name, member in zip(plain, members, strict=True):
        own = member.model.prior()
        changed = [f"{key} {', '.join(f'{v:g}' for v in values)}" for key, values in member.prior.items()
                   if values != own.get(key)]  # fmt: skip
        named.append(f"{name} ({'; '.join(changed)})" if changed and plain.count(name) > 1 else name)
    return tuple(
        f"{name} #{named[: index + 1].count(name)}" if named.count(name) > 1 else name
        for index, name in enumerate(named)
    )


def _row(name: str, member: Posterior, result: Loo, best: Loo, weight: float) -> ComparisonRow:
    difference, error = total(result.pointwise - best.pointwise, result.prompts)
    check = member.check()
    return ComparisonRow(
        name,
        result.elpd,
        result.se,
        difference,
        error,
        result.p_loo,
        result.worst_k,
        result.method,
        weight,
        check.histogram.p,
        check.misfit,
    )
