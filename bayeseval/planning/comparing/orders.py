r"""How many generations put several systems into the right order.

Truths are drawn from what the pilot says, a future estimate is drawn given each truth, and the plan counts how often
both have the same order, and the same best system. All laws are multivariate normal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayeseval.arrays import Floats
from bayeseval.counts import Counts
from bayeseval.display import html_table
from bayeseval.errors import OptionError, require_choice, require_positive_integer, require_probability
from bayeseval.planning.comparing.contrasts import ladder
from bayeseval.planning.comparing.moments import Moments, noise_ratio
from bayeseval.planning.comparing.sources import Aligned, align, moments_of
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import ESTIMANDS, require_estimand

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["OrderPlan", "plan_order"]


@dataclass(frozen=True, repr=False)
class OrderPlan:
    """How probably future estimates put the systems into their true order.

    Attributes
    ----------
    k : int or None
        Smallest number of generations tried whose order is right with probability `power`; None if none is.
    k_best : int or None
        The same for the best system alone.
    limit_order, limit_best : float
        Both probabilities with infinitely many generations.
    curve : pandas.DataFrame
        One row a number of generations: generations, order (probability of the right order), order_mcse, best
        (probability that the best system is found), best_mcse.
    power : float
    estimand : {"population", "benchmark"}
    prompts : {"same", "fresh"}
    n_prompts, draws : int
    systems : tuple of str
        In the order of the pilot's means, best first.
    benchmark : str
    warnings : tuple of str
    """

    k: int | None
    k_best: int | None
    limit_order: float
    limit_best: float
    curve: pd.DataFrame
    power: float
    estimand: str
    prompts: str
    n_prompts: int
    draws: int
    systems: tuple[str, ...]
    benchmark: str
    warnings: tuple[str, ...]

    @property
    def prompt_words(self) -> str:
        """Number and kind of the prompts."""
        return f"the same {self.n_prompts:,} prompts" if self.prompts == "same" else f"{self.n_prompts:,} fresh prompts"

    def sentence(self) -> str:
        """The plan in words."""
        start = (
            f"{len(self.systems)} systems on {self.benchmark}, {self.estimand} estimand "
            f"({ESTIMANDS[self.estimand]}), {self.prompt_words}: "
        )
        parts = [
            self._part("the right order", self.k, self.limit_order, "order"),
            self._part("the best system", self.k_best, self.limit_best, "best"),
        ]
        return start + "; ".join(parts) + "."

    def _part(self, goal: str, k: int | None, limit: float, column: str) -> str:
        row = self.curve[self.curve["generations"] == k].iloc[0] if k is not None else self.curve.iloc[-1]
        error = f"± {row[f'{column}_mcse']:.2f}"
        if k is not None:
            words = "generation per prompt finds" if k == 1 else "generations per prompt find"
            return f"{k:,} {words} {goal} with probability {row[column]:.2f} ({error})"
        if limit < self.power:
            return (
                f"no number of generations finds {goal} with probability {self.power:g}; endless ones reach {limit:.2f}"
            )
        return (
            f"no number up to {int(row['generations']):,} finds {goal} with probability {self.power:g} (there "
            f"{row[column]:.2f} {error}, endless ones reach {limit:.2f})"
        )

    def to_frame(self) -> pd.DataFrame:
        """The curve."""
        return self.curve.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Both probabilities against generations."""
        from bayeseval import plots

        return plots.plot_order_plan(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        body = [[f"{value:.4g}" for value in row] for row in self.curve.to_numpy()]
        return html_table(list(self.curve.columns), body, [*(f"⚠ {text}" for text in self.warnings), self.sentence()])


def plan_order(
    systems: Iterable[Posterior | Counts],
    *,
    power: float = 0.8,
    estimand: str = "population",
    prompts: str = "same",
    n_prompts: int | None = None,
    generations: Sequence[int] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> OrderPlan:
    r"""Probability that future estimates order systems rightly, and find the best, against generations per prompt.

    Parameters
    ----------
    systems : sequence of Posterior or Counts
        Pilots of two systems or more on one benchmark, aligned by prompt id.
    power : float
        Probability that is wanted.
    estimand : {"population", "benchmark"}
        Whose order is the true one: on prompts like these, or on the prompts of the study.
    prompts : {"same", "fresh"}
        ``"same"``: the pilot's prompts get more generations, and its data are part of the future estimate.
        ``"fresh"``: new prompts, the pilot discarded.
    n_prompts : int, optional
        Number of fresh prompts; as many as the pilot's by default.
    generations : sequence of int, optional
        Numbers of generations per prompt and system to try; a geometric ladder by default.
    draws : int
        Simulated truths, each with one future.
    seed : int

    Returns
    -------
    OrderPlan

    Raises
    ------
    DataError
        If no prompt is shared by all, benchmarks differ, or a system occurs twice.
    OptionError
        If there are fewer than two systems, or an argument is out of range.

    Notes
    -----
    Truth for the population: bootstrap means :math:`\theta` with covariances :math:`\Sigma`, :math:`\Omega`. A study of
    n fresh prompts finds :math:`N(\theta, (\Sigma + \Omega/k)/n)`. With the same prompts the mean
    :math:`\theta_F` of these prompts is drawn given the pilot's estimate :math:`X` and :math:`\theta`,

    .. math::
        \theta_F \sim N\bigl(\theta + G(X-\theta),\ (I-G)\Sigma/n\bigr), \qquad
        G = \Sigma(\Sigma + \Omega/k_0)^{-1},

    and the future estimate averages the pilot's generations and the new ones.

    Examples
    --------
    >>> import bayeseval as be
    >>> rng = np.random.default_rng(1)
    >>> p = rng.beta(2, 2, size=200)
    >>> runs = [be.Counts.from_arrays(rng.binomial(4, p**power), 4, system=f"s{power}") for power in (1.0, 1.5, 1.6)]
    >>> plan = be.plan_order(runs, generations=[4, 64])
    >>> plan.k_best
    4
    """
    pilot, power, draws = _checked(systems, power, estimand, prompts, draws)
    size = len(pilot.prompt)
    if n_prompts is not None:
        wanted = require_positive_integer("n_prompts", n_prompts)
        if prompts == "same" and wanted != size:
            raise OptionError(f"the pilots share {size:,} prompts; for another number use prompts='fresh'")
        size = wanted
    rng = np.random.default_rng([seed, 8])
    moments, sentences = moments_of(pilot, rng, draws)
    kept = pilot if prompts == "same" else None
    have = None if kept is None else (int(pilot.generations.min()), int(np.median(pilot.generations)))
    future = _futures(moments, kept, size, estimand == "population", rng)
    rows = {k: _agreement(*future.at(k)) for k in [*ladder(generations, have), np.inf]}
    limit = rows.pop(np.inf)
    tried = sorted(rows)
    now = (pilot.correct / pilot.generations).mean(axis=1)
    return OrderPlan(
        k=next((int(k) for k in tried if rows[k][0] >= power), None),
        k_best=next((int(k) for k in tried if rows[k][1] >= power), None),
        limit_order=limit[0],
        limit_best=limit[1],
        curve=_curve({int(k): rows[k] for k in tried}, draws),
        power=power,
        estimand=estimand,
        prompts=prompts,
        n_prompts=size,
        draws=draws,
        systems=tuple(pilot.systems[place] for place in np.argsort(-now, kind="stable")),
        benchmark=pilot.benchmark,
        warnings=(*pilot.warnings, *sentences),
    )


def _checked(systems: object, power: float, estimand: str, prompts: str, draws: int) -> tuple[Aligned, float, int]:
    require_estimand(estimand)
    require_choice("prompts", prompts, ("same", "fresh"))
    if isinstance(systems, Posterior | Counts) or not isinstance(systems, Iterable):
        raise OptionError("plan_order takes a list of posteriors, one a system: be.plan_order([post_a, post_b])")
    runs = list(systems)
    if len(runs) < 2:
        raise OptionError(f"an order needs at least two systems, but {len(runs)} was given")
    return (
        align(runs, "an order of systems"),
        require_probability("power", power),
        require_positive_integer("draws", draws),
    )


class _Futures(NamedTuple):
    """Truths, and the normal law of the future estimate given each.

    Given the benchmark means ``centre`` (draw, system), the estimate has noise: ``within`` times the ratio that
    `noise_ratio` gives, over n prompts. ``now`` is the pilot's estimate where its data are kept.
    """

    truth: Floats
    centre: Floats
    within: Floats
    size: int
    shock: Floats
    pilot: Aligned | None

    def at(self, k: float) -> tuple[Floats, Floats]:
        """Truth and future estimate (draw, system) with k generations; the same shocks for every k."""
        if self.pilot is None:
            return self.truth, self.centre + np.sqrt(self.within / (k * self.size)) * self.shock
        now = (self.pilot.correct / self.pilot.generations).mean(axis=1)
        before, after = (
            self.within * noise_ratio(self.pilot.correct, self.pilot.generations, number) / self.size
            for number in (0, k)
        )
        kept = np.divide(after, before, out=np.zeros_like(after), where=before > 0)
        rest = np.sqrt(np.maximum(after - after * kept, 0.0))
        return self.truth, self.centre + kept * (now - self.centre) + rest * self.shock


def _futures(
    moments: Moments, pilot: Aligned | None, size: int, population: bool, rng: np.random.Generator
) -> _Futures:
    mean, between, within = moments.mean, moments.between, moments.within
    shape = mean.shape
    prompt_shock, shock = rng.standard_normal(shape), rng.standard_normal(shape)
    if pilot is None:
        centre = mean + _coloured(between / size, prompt_shock)
        return _Futures(mean if population else centre, centre, within, size, shock, None)
    now = (pilot.correct / pilot.generations).mean(axis=1)
    noise = within * noise_ratio(pilot.correct, pilot.generations, 0)
    if not population:
        centre = now + np.sqrt(noise / size) * prompt_shock
        return _Futures(centre, centre, within, size, shock, pilot)
    whole = between + noise[:, :, None] * np.eye(shape[1])
    gain = between @ np.linalg.pinv(whole, hermitian=True)
    rest = between - gain @ between
    rest = (rest + np.swapaxes(rest, 1, 2)) / 2
    centre = mean + np.einsum("sab,sb->sa", gain, now - mean) + _coloured(rest / size, prompt_shock)
    return _Futures(mean, centre, within, size, shock, pilot)


def _coloured(covariance: Floats, shock: Floats) -> Floats:
    """Normal values with these covariances (draw, system)."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(np.einsum("sab,sb->sa", vectors, np.sqrt(np.maximum(values, 0.0)) * shock))


def _agreement(truth: Floats, estimate: Floats) -> tuple[float, float]:
    """Shares of draws whose estimate has the order of the truth, and its best system."""
    right = (np.argsort(truth, axis=1) == np.argsort(estimate, axis=1)).all(axis=1)
    best = truth.argmax(axis=1) == estimate.argmax(axis=1)
    return float(right.mean()), float(best.mean())


def _curve(rows: dict[int, tuple[float, float]], draws: int) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(
        [(k, *rows[k]) for k in sorted(rows)],
        columns=["generations", "order", "best"],
    )
    errors = {name: np.sqrt(frame[name] * (1 - frame[name]) / draws) for name in ("order", "best")}
    return frame.assign(order_mcse=errors["order"], best_mcse=errors["best"])[
        ["generations", "order", "order_mcse", "best", "best_mcse"]
    ]
