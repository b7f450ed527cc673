r"""Several models of one run as one posterior: draws of the members, mixed in proportion to stacking weights.

Each draw of the stack is a draw of one member, so that questions about prompts are answered as by a single model, and
the disagreement of the models widens the intervals. Where a score looks beyond the generations that were run, what the
families say apart is said beside it: there the family decides, not the data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval.catalogue import ModelFile
from bayeseval.comparison.loo import Loo, loo, loo_among, total
from bayeseval.comparison.models import Comparison, compare_models, labels_of, same_run
from bayeseval.comparison.pointwise import shared_key
from bayeseval.comparison.weights import stacked_density, stacking_weights
from bayeseval.defaults import options
from bayeseval.errors import OptionError
from bayeseval.metrics import Metric
from bayeseval.posterior.check import Check, Diagnostics, check_posterior
from bayeseval.posterior.posterior import EXTRAPOLATION_LIMIT, EXTRAPOLATION_WARNING, Posterior
from bayeseval.posterior.scores import ESTIMANDS, Score, require_estimand
from bayeseval.prompts import Joined, PromptDistribution

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["Stacked", "mixed_draws"]


@dataclass(frozen=True, repr=False)
class Stacked(Posterior):
    """Posterior of several models of one run; made by ``be.fit(counts, model=[...])``, or from posteriors by `of`.

    It answers what a `Posterior` answers. `model` is a stand-in that names the members.

    Attributes
    ----------
    members : tuple of Posterior
    weights : float array (member,)
        Stacking weights.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 5, generations=4)
    >>> priors = [{}, {"rho": (2, 2)}]
    >>> stack = be.Stacked.of([be.fit(counts, prior=p, engine="quadrature", seed=1, progress=False) for p in priors])
    >>> stack.names
    ('beta_binomial', 'beta_binomial (rho 2, 2)')
    >>> stack.weights.sum().round(6) == 1 and 0 < stack.pass_at(4).lower < stack.pass_at(4).upper < 1
    True
    """

    members: tuple[Posterior, ...] = field(kw_only=True)
    weights: np.ndarray = field(kw_only=True)

    @classmethod
    def of(cls, posteriors: Sequence[Posterior]) -> Stacked:
        """Stack posteriors of the same run.

        Parameters
        ----------
        posteriors : sequence of Posterior

        Returns
        -------
        Stacked

        Raises
        ------
        OptionError
            If the posteriors are not of the same run.
        """
        members = same_run(posteriors)
        key = shared_key(members)
        results = [loo_among(member, key) for member in members]
        pointwise = np.stack([one.pointwise for one in results])
        weights = stacking_weights(pointwise, results[0].prompts)
        model = _stand_in(labels_of(members), members)
        stack = cls(
            counts=members[0].counts,
            model=model,
            prior={},
            parameters={},
            statistics={},
            engine="quadrature" if all(member.engine == "quadrature" for member in members) else "nuts",
            exact=None,
            seed=members[0].seed,
            made={
                "model": model.name,
                "model_digest": model.digest,
                "members": [member.made for member in members],
                "weights": weights.tolist(),
                "seed": members[0].seed,
                "versions": {name: text for one in members for name, text in one.made["versions"].items()},
                "made": max(member.made["made"] for member in members),
            },
            members=members,
            weights=weights,
        )
        stack._cache["loo", key is not None] = _stacked_loo(stack, results)
        return stack

    @cached_property
    def comparison(self) -> Comparison:
        """The members compared; see `bayeseval.compare_models`."""
        return compare_models(self.members)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the members, as in tables."""
        return labels_of(self.members)

    @property
    def n_draws(self) -> int:
        """Number of draws: as many as the largest member has."""
        return max(member.n_draws for member in self.members)

    @cached_property
    def distribution(self) -> PromptDistribution:
        """Distribution of P(correct) over prompts for each draw; a draw belongs to one member."""
        rng = np.random.default_rng([self.seed, 3])
        available = np.array([member.n_draws for member in self.members])
        chosen = mixed_draws(self.weights, available, self.n_draws, rng)
        parts = [
            member.distribution.take(draws) for member, draws in zip(self.members, chosen, strict=True) if draws.size
        ]
        return Joined.of(parts).take(rng.permutation(self.n_draws))

    def check(self) -> Check:
        """Diagnostics of every member, and the predictive checks of the stack."""
        if "check" not in self._cache:
            own = check_posterior(self)
            checks = [member.check() for member in self.members]
            table = {
                f"{name}: {parameter}": row
                for name, check in zip(self.names, checks, strict=True)
                for parameter, row in check.diagnostics.table.items()
            }
            # A member that hardly weighs in is not worth a warning.
            counted = [check for check, weight in zip(checks, self.weights, strict=True) if weight > 0.005]
            warnings = [text for check in counted for text in check.diagnostics.warnings]
            diagnostics = Diagnostics(table, sum(check.diagnostics.divergences for check in checks), tuple(warnings))
            told = tuple(f"{own.run}: {text}" for text in warnings) + loo(self).warnings
            self._cache["check"] = replace(own, diagnostics=diagnostics, warnings=(*told, *own.warnings))
        return self._cache["check"]

    def spread(
        self,
        metrics: Metric | int | Sequence[Metric | int],
        estimand: str = "population",
        prob: float | None = None,
    ) -> pd.DataFrame:
        """What each family says, and their stack.

        Parameters
        ----------
        metrics : Metric, int, or sequence of them
            A whole number k stands for pass@k.
        estimand, prob
            As in `mean`.

        Returns
        -------
        pandas.DataFrame
            For each metric one row a model and one for the stack: score, model, value, lower, upper, weight, and
            reach, the attempts over the generations that were run. Beyond a reach of 10 there are no intervals.
        """
        import pandas as pd

        asked = [metrics] if isinstance(metrics, Metric | int | np.integer) else list(metrics)
        chosen = [metric if isinstance(metric, Metric) else be_metrics.pass_at(metric) for metric in asked]
        if require_estimand(estimand) == "benchmark":
            for one in (*self.members, self):
                Posterior._compute(one, chosen)
        everyone: list[tuple[str, Posterior, float]] = [
            *zip(self.names, self.members, self.weights.tolist(), strict=True),
            ("stack", self, 1.0),
        ]
        prob = options.interval_prob(prob)
        answers = {name: [_alone(one, metric, estimand, prob) for metric in chosen] for name, one, _ in everyone}
        seen = self.typical_generations
        rows = [
            {
                "score": metric.name,
                "estimand": estimand,
                "model": name,
                "value": answers[name][place].value,
                "lower": answers[name][place].lower,
                "upper": answers[name][place].upper,
                "weight": weight,
                "reach": metric.k / seen if seen else np.inf,
            }
            for place, metric in enumerate(chosen)
            for name, _, weight in everyone
        ]
        return pd.DataFrame(rows)

    def plot_spread(self, ax: Axes | None = None, *, max_k: int | None = None) -> Axes:
        """pass@k of every family and of the stack, beyond the end of the data."""
        from bayeseval import plots

        return plots.plot_extrapolation(self, ax=ax, max_k=max_k)

    @property
    def data(self) -> xr.DataTree:
        """A stack has no parameters of its own: raises `OptionError`."""
        raise OptionError("a stack has no parameters of its own; see the data of its members, stack.members[0].data")

    def save(self, path: str | Path) -> Path:
        """A stack is kept by its members: raises `OptionError`."""
        raise OptionError(
            "a stack is not saved as one file: save its members, [m.save(...) for m in stack.members], and stack them "
            "again with be.Stacked.of([be.load(...), ...])"
        )

    def _repr_html_(self) -> str:
        mixed = ", ".join(f"{escape(n)} {w:.2f}" for n, w in zip(self.names, self.weights, strict=True))
        title = f"<b>stack of models</b>, {self.n_draws:,} draws mixed by weight: {mixed}"
        return title + self.scores([be_metrics.mean()])._repr_html_()

    def _compute(self, metrics: Sequence[Metric]) -> None:
        super()._compute(metrics)
        far = [metric for metric in metrics if metric.k > EXTRAPOLATION_WARNING * self.typical_generations]
        if far:
            for member in self.members:
                member._compute(far)

    def _make(self, metric: Metric, estimand: str, draws: np.ndarray, prob: float, method: str) -> Score:
        score = super()._make(metric, estimand, draws, prob, method)
        if metric.k <= EXTRAPOLATION_WARNING * self.typical_generations:
            return score
        return replace(score, warnings=(*score.warnings, self._families(metric, estimand, prob)))

    def caveats(self, metric: Metric, estimand: str) -> tuple[str, ...]:
        """What is to be said beside a score: of scores far beyond the data, what the families say apart."""
        # Far beyond the data the families themselves are told of, in place of the sentence about one of them.
        far = metric.k > EXTRAPOLATION_WARNING * self.typical_generations
        if far and not (estimand == "benchmark" and self.check().misfit):
            return ()
        return super().caveats(metric, estimand)

    def _families(self, metric: Metric, estimand: str, prob: float) -> str:
        """What the families say that the data do not rule out: least and most, in a sentence."""
        seen, what = self.typical_generations, f"{metric.name} of {ESTIMANDS[estimand]}"
        out = {row.model for row in self.comparison.rows if row.clearly_worse and row.weight < 0.01}
        answers = [
            (member.score(metric, estimand, prob, "model"), name)
            for name, member in zip(self.names, self.members, strict=True)
            if name not in out
        ]
        answers.sort(key=lambda answer: answer[0].value)
        words = [
            f"{one.value:.3f}{'' if np.isnan(one.lower) else f' [{one.lower:.3f}, {one.upper:.3f}]'} by {name}"
            for one, name in answers
        ]
        alone = len(words) == 1
        families = (
            f"{words[0]}, the only family here that the data do not rule out" if alone else f"{words[0]}, {words[-1]}"
        )
        if metric.k > EXTRAPOLATION_LIMIT * seen:
            return (
                f"{what} looks more than {EXTRAPOLATION_LIMIT} times beyond the {seen} generations that were run, "
                f"where the family decides it: {families}; so no interval is given"
            )
        mixed = (
            "the interval is that of this family"
            if alone
            else "the interval mixes the families in proportion to how well they predict what was run"
        )
        return (
            f"{what} looks beyond the {seen} generations that were run, where the family weighs in: {families}; "
            f"{mixed}, and families that are not among them may say otherwise"
        )


def mixed_draws(weights: np.ndarray, available: np.ndarray, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Draws to take of each model, so that a mixture of ``size`` draws holds them in proportion to the weights.

    Parameters
    ----------
    weights : float array (model,)
        Sum to 1.
    available : int array (model,)
        Draws of each model.
    size : int
        Draws of the mixture.
    rng : numpy.random.Generator

    Returns
    -------
    list of int array
        Positions of the draws of each model, evenly spread over its draws from a random start. Their numbers are
        within 1 of ``weights * size`` (systematic resampling), and sum to ``size``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.comparison.stacked import mixed_draws
    >>> chosen = mixed_draws(np.array([0.25, 0.75]), np.array([100, 100]), 8, np.random.default_rng(1))
    >>> [draws.size for draws in chosen]
    [2, 6]
    """
    ends = np.floor(np.cumsum(weights) / np.sum(weights) * size + rng.random()).astype(int)
    ends[-1] = size
    numbers = np.diff(ends, prepend=0)
    return [
        np.floor((np.arange(number) + rng.random()) * total_draws / max(number, 1)).astype(int)
        for number, total_draws in zip(numbers, available, strict=True)
    ]


def _alone(one: Posterior, metric: Metric, estimand: str, prob: float) -> Score:
    """What one model says, without the robust answer and without what other families say."""
    if estimand == "population" and one.exact is not None:
        return one._model_answer(metric, prob)
    draws = one._cache[metric][0] if estimand == "benchmark" else one.distribution.score(metric)
    return Posterior._make(one, metric, estimand, draws, prob, "model")


def _stand_in(names: Sequence[str], members: Sequence[Posterior]) -> ModelFile:
    """What stands in the place of the model file: a name, a title and a digest made of those of the members."""
    name = f"stack of {', '.join(names)}"
    module = ModuleType("stack")
    module.__doc__ = f"Stack: draws of {', '.join(names)}, mixed in proportion to their stacking weights."
    module.PRIOR = {}  # type: ignore[attr-defined]
    text = "|".join(f"{member.model.digest} {sorted(member.prior.items())}" for member in members)
    return ModelFile(name, Path("stack"), hashlib.sha256(text.encode()).hexdigest(), module)


def _stacked_loo(stack: Stacked, results: Sequence[Loo]) -> Loo:
    first = results[0]
    held_out, kept = (
        stacked_density(np.stack([getattr(one, name) for one in results]), stack.weights)
        for name in ("pointwise", "fitted")
    )
    elpd, se = total(held_out, first.prompts)
    used = [one for one, weight in zip(results, stack.weights, strict=True) if weight > 0]
    shape = np.full(held_out.shape, np.nan)
    for one in used:
        shape = np.fmax(shape, one.pareto_k)
    return replace(
        first,
        elpd=elpd,
        se=se,
        p_loo=float(kept @ first.prompts) - elpd,
        pointwise=held_out,
        fitted=kept,
        pareto_k=shape,
        method="stacked",
        model=stack.model.name,
        warnings=tuple(dict.fromkeys(text for one in used for text in one.warnings)),
    )
