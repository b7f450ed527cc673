"""How much of a score is the prior: the same model fitted again under the other priors that its file names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval.catalogue import ModelFile
from bayeseval.defaults import options
from bayeseval.display import html_table, rows_to_frame
from bayeseval.errors import OptionError
from bayeseval.fitting import fit
from bayeseval.metrics import Metric
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import ESTIMANDS, Score, decimals

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALTERNATIVES", "Sensitivity", "SensitivityRow", "prior_sensitivity"]

ALTERNATIVES = {"rho": ((0.5, 1.0), (2.0, 2.0))}
"""For a model with a Beta prior on the intraclass correlation whose file names no others: uniform on sigma, and a prior
that keeps away from both ends."""
SHARE_LIMIT = 0.25
"""Share of the interval's half width from which on a shift is worth a warning."""
SETTINGS = ("draws", "tune", "chains", "target_accept", "sampler")


@dataclass(frozen=True)
class SensitivityRow:
    """One score under one prior; shifts are against the fit under the priors asked about."""

    score: str
    estimand: str
    method: str
    prior: str
    value: float
    lower: float
    upper: float
    shift_value: float
    shift_lower: float
    shift_upper: float
    share: float


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """Scores under other priors.

    Attributes
    ----------
    rows : tuple of SensitivityRow
        The first of each score is the fit itself, with shifts of 0; ``share`` is the largest shift of value and
        interval ends over half the width of the fit's interval.
    prob : float
        Probability inside the intervals.
    model, run : str
    warnings : tuple of str
        Scores that lean on the prior, in sentences.
    """

    rows: tuple[SensitivityRow, ...]
    prob: float
    model: str
    run: str
    warnings: tuple[str, ...]

    @property
    def worst(self) -> float:
        """Largest shift over half the interval's width."""
        return max((row.share for row in self.rows if np.isfinite(row.share)), default=float("nan"))

    def sentence(self) -> str:
        """How far the scores move at most."""
        priors = list(dict.fromkeys(row.prior for row in self.rows))
        return (
            f"{self.run}, {self.model}: under {' and '.join(priors[1:])} in place of {priors[0]}, no score and no "
            f"interval end moves by more than {self.worst:.0%} of the interval's half width"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a score and prior.

        Returns
        -------
        pandas.DataFrame
            Columns score, estimand, method, prior, value, lower, upper, shift_value, shift_lower, shift_upper, share.
        """
        return rows_to_frame(self.rows, SensitivityRow)

    def cells(self) -> list[list[str]]:
        """The table as text, one row a score and prior."""
        lines = []
        for row in self.rows:
            digits = decimals(row.upper - row.lower)
            numbers = [row.value, row.lower, row.upper]
            shifts = [row.shift_value, row.shift_lower, row.shift_upper]
            value, lower, upper = (f"{number:.{digits}f}" for number in numbers)
            moved = ", ".join(f"{shift:+.{digits}f}" for shift in shifts)
            name = f"{row.score}, {row.estimand}"
            itself = row.prior == self.rows[0].prior
            told = ["", ""] if itself else [moved, f"{row.share:.0%}"]
            lines.append([name, row.prior, value, f"[{lower}, {upper}]", *told])
        return lines

    HEADER = ("score", "prior", "value", "interval", "shift of value and ends", "of half width")

    def __repr__(self) -> str:
        lines = [f"Warning: {text}" for text in self.warnings]
        lines += [
            f"{name}, prior {prior}: {value} {interval}"
            + (f", moves by {moved} ({share} of half the width)" if moved else "")
            for name, prior, value, interval, moved, share in self.cells()
        ]
        return "\n".join([*lines, self.sentence()])

    def _repr_html_(self) -> str:
        return html_table(self.HEADER, self.cells(), [*(f"⚠ {text}" for text in self.warnings), self.sentence()])


def prior_sensitivity(
    posterior: Posterior,
    metrics: Sequence[Metric] = (),
    *,
    prob: float | None = None,
    progress: bool = False,
) -> Sensitivity:
    """Fit again under other priors, and say how far the scores move.

    The other priors are those of the model file's ``SENSITIVITY``, a dictionary such as
    ``{"rho": [(0.5, 1.0), (2.0, 2.0)]}``; each is tried by itself. A model without it that has a Beta prior ``rho`` is
    tried under these two.

    Parameters
    ----------
    posterior : Posterior
    metrics : sequence of Metric
        Scores to look at beside the mean, from `bayeseval.metrics`; always for both estimands.
    prob : float, optional
        Probability inside the intervals; `bayeseval.options.prob` by default.
    progress : bool
        Whether a progress bar may appear.

    Returns
    -------
    Sensitivity
        Refitted exactly where the exact engine knows the model, else by NUTS with the settings of the posterior; then
        shifts of a few per cent of the half width are Monte Carlo noise. The method of a population score (model or
        robust) is the headline's.

    Raises
    ------
    OptionError
        If the model names no other priors.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 20, generations=4)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> be.prior_sensitivity(post).to_frame()["prior"].unique().tolist()
    ['rho (1, 1)', 'rho (0.5, 1)', 'rho (2, 2)']
    """
    refuse_credits(posterior)
    if not isinstance(posterior, Posterior):
        raise OptionError(
            f"prior_sensitivity takes the posterior of one run, but {type(posterior).__name__} was given; choose one "
            f"with posteriors.select(system=..., benchmark=...)"
        )
    if hasattr(posterior, "members"):
        raise OptionError("a stack has no prior of its own; ask its members: be.prior_sensitivity(stack.members[0])")
    prob = options.interval_prob(prob)
    changes = _alternatives(posterior.model, posterior.prior)
    names = list(dict.fromkeys(name for change in changes for name in change))
    exact = posterior.model.has_quadrature
    own = posterior if (posterior.engine == "quadrature" or not exact) else _refit(posterior, {}, exact, progress)
    fits = [own, *(_refit(posterior, change, exact, progress) for change in changes)]
    words = [_words({name: posterior.prior[name] for name in names}), *map(_words, changes)]
    wanted = list(dict.fromkeys([be_metrics.mean(), *metrics]))
    rows: list[SensitivityRow] = []
    for metric in wanted:
        for estimand in ESTIMANDS:
            base = posterior.score(metric, estimand, prob)
            first = own.score(metric, estimand, prob, base.method)
            for label, one in zip(words, fits, strict=True):
                rows.append(_row(one.score(metric, estimand, prob, base.method), first, label))
    return Sensitivity(tuple(rows), prob, posterior.model.name, posterior.counts.label, _warnings(rows, posterior))


def _alternatives(model: ModelFile, prior: dict[str, tuple[float, ...]]) -> list[dict[str, tuple[float, ...]]]:
    declared: Any = getattr(model.module, "SENSITIVITY", None)
    if declared is None:
        declared = {name: values for name, values in ALTERNATIVES.items() if len(prior.get(name, ())) == 2}
    changes = [
        {name: tuple(map(float, values))}
        for name, alternatives in declared.items()
        for values in alternatives
        if tuple(map(float, values)) != tuple(prior.get(name, ()))
    ]
    if not changes:
        raise OptionError(
            f"model {model.name!r} names no other priors to try: give its file SENSITIVITY, such as "
            f"{{'rho': [(0.5, 1.0), (2.0, 2.0)]}}, or fit with prior={{...}} yourself and compare"
        )
    return changes


def _refit(posterior: Posterior, change: dict[str, tuple[float, ...]], exact: bool, progress: bool) -> Posterior:
    settings = {name: posterior.made[name] for name in SETTINGS if name in posterior.made}
    if exact or settings.get("sampler") == "quadrature":
        settings.pop("sampler", None)
    answer = fit(
        posterior.counts,
        posterior.model,
        prior={**posterior.prior, **change},
        engine="quadrature" if exact else "nuts",
        seed=posterior.seed,
        progress=progress,
        **settings,
    )
    assert isinstance(answer, Posterior)
    return answer


def _words(prior: dict[str, tuple[float, ...]]) -> str:
    return ", ".join(f"{name} ({', '.join(f'{value:g}' for value in values)})" for name, values in prior.items())


def _row(score: Score, base: Score, prior: str) -> SensitivityRow:
    shifts = [score.value - base.value, score.lower - base.lower, score.upper - base.upper]
    half = base.width / 2
    known = [abs(shift) for shift in shifts if np.isfinite(shift)]
    share = max(known) / half if half > 0 else float("nan")
    return SensitivityRow(
        score=score.name,
        estimand=score.estimand,
        method=score.method,
        prior=prior,
        value=score.value,
        lower=score.lower,
        upper=score.upper,
        shift_value=shifts[0],
        shift_lower=shifts[1],
        shift_upper=shifts[2],
        share=share,
    )


def _warnings(rows: Sequence[SensitivityRow], posterior: Posterior) -> tuple[str, ...]:
    worst: dict[str, SensitivityRow] = {}
    for row in rows:
        name = f"{row.score} of {'prompts like these' if row.estimand == 'population' else 'these prompts'}"
        if row.share > SHARE_LIMIT and row.share > (worst[name].share if name in worst else 0):
            worst[name] = row
    return tuple(
        f"{posterior.counts.label}: the {name} moves by {row.share:.0%} of its interval's half width under the prior "
        f"{row.prior}, to {row.value:.3g} [{row.lower:.3g}, {row.upper:.3g}]: say which prior was used and what the "
        f"other gives, or run more prompts"
        for name, row in worst.items()
    )
