"""How often a direction rule is wrong at a fixed truth, counted in simulated studies that look when yours would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.display import html_table
from bayeseval.engines.batches import batch_of_counts
from bayeseval.engines.quadrature import Prior
from bayeseval.engines.refits import refit
from bayeseval.errors import OptionError, require_positive_integer, require_probability
from bayeseval.planning.looking.directions import CLEAR, beta_of, difference_above

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayeseval.planning.looking.rules import StopAtDirection

__all__ = ["SimulatedError", "simulated_error"]

VERDICTS = ("above", "below", "equivalent")
Betas = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, repr=False)
class SimulatedError:
    """Verdicts of simulated studies, added up look by look.

    Attributes
    ----------
    looks : int array (look,)
        Fresh prompts so far, or generations of every prompt so far, at each look.
    above, below, equivalent : float arrays (look,)
        Share of the studies that had stopped with this verdict by then.
    wrong : float array (look,)
        Share of the studies that had stopped with a verdict that is not true.
    studies : int
    rule : StopAtDirection
    truth : str
        What was simulated, in words.
    """

    looks: np.ndarray
    above: np.ndarray
    below: np.ndarray
    equivalent: np.ndarray
    wrong: np.ndarray
    studies: int
    rule: StopAtDirection
    truth: str

    @property
    def error(self) -> float:
        """Share of studies with a wrong verdict by the last look."""
        return float(self.wrong[-1])

    @property
    def mcse(self) -> float:
        """Monte Carlo standard error of `error`."""
        return float(np.sqrt(self.error * (1 - self.error) / self.studies))

    def sentence(self) -> str:
        """The error with its Monte Carlo error."""
        last = {name: float(getattr(self, name)[-1]) for name in VERDICTS}
        shares = ", ".join(f"{share:.1%} {name}" for name, share in last.items() if share or name != "equivalent")
        return (
            f"{self.error:.1%} (± {self.mcse:.1%}, Monte Carlo) of {self.studies:,} simulated studies stop with a "
            f"wrong verdict by the last of {self.looks.size:,} looks: {self.truth}; rule: {self.rule.sentence()}; "
            f"stopped {shares}; {max(0.0, 1 - sum(last.values())):.1%} undecided"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a look: look, above, below, equivalent, undecided, wrong, mcse; shares by then."""
        import pandas as pd

        frame = pd.DataFrame({"look": self.looks, **{name: getattr(self, name) for name in VERDICTS}})
        frame["undecided"] = 1 - frame[list(VERDICTS)].sum(axis=1)
        frame["wrong"] = self.wrong
        return frame.assign(mcse=np.sqrt(frame["wrong"] * (1 - frame["wrong"]) / self.studies))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Shares of the verdicts against the looks."""
        from bayeseval import plots

        return plots.plot_simulated_error(self, ax=ax)

    def __repr__(self) -> str:
        return self.sentence()

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        shown = frame.iloc[np.unique(np.linspace(0, len(frame) - 1, 12).astype(int))]
        body = [[f"{value:.4g}" for value in row] for row in shown.to_numpy()]
        return html_table(list(frame.columns), body, [self.sentence()])


def simulated_error(
    rule: StopAtDirection,
    mean: float,
    looks: Sequence[int],
    *,
    versus: float | None = None,
    prompts: int | None = None,
    rho: float = 0.5,
    prior_mu: Prior = (1.0, 1.0),
    prior_rho: Prior = (1.0, 1.0),
    studies: int = 1000,
    seed: int = 0,
) -> SimulatedError:
    """Simulate studies that look at given times, and count the verdicts of a direction rule.

    Parameters
    ----------
    rule : StopAtDirection
        For the mean.
    mean : float
        True mean of P(correct) of the system, or the first of two.
    looks : sequence of int
        When to look: at so many fresh prompts, each answered once, and of two systems by both; with ``prompts``, at so
        many generations of every prompt.
    versus : float, optional
        True mean of a second system: the rule looks at the difference.
    prompts : int, optional
        Number of prompts that get more and more generations. Their P(correct) are drawn anew in each study, from a Beta
        with correlation ``rho``; two systems of equal means are equal on every prompt.
    rho : float
    prior_mu, prior_rho : pair of float
        Priors of the analysis.
    studies, seed : int

    Returns
    -------
    SimulatedError

    Raises
    ------
    OptionError
        If an argument is out of range, or the rule and the design do not fit.

    Notes
    -----
    With fresh prompts the posterior of each mean is a Beta, exactly. With ``prompts`` every study is refitted on a grid
    at every look, and means have the Beta with their posterior mean and standard deviation.

    Examples
    --------
    >>> import bayeseval as be
    >>> rule = be.stop_at_direction(rope=0.05)
    >>> error = rule.simulated_error(0.5, range(20, 201, 20), versus=0.5, studies=200)
    >>> error.error < 0.2
    True
    """
    times = _checked_looks(looks)
    require_probability("mean", mean)
    require_probability("rho", rho)
    require_positive_integer("studies", studies)
    if rule.score.kind != "mean":
        raise OptionError(f"simulated studies speak of the mean, but the rule is for {rule.score.name}")
    if versus is None and rule.reference is None:
        raise OptionError("the rule has no reference: give one, or the mean of a second system, versus=")
    if versus is not None:
        require_probability("versus", versus)
    if prompts is None and rule.estimand == "benchmark":
        raise OptionError(
            "fresh prompts answered once say nothing about these prompts (benchmark): give prompts=, the number of "
            "prompts that get more and more generations, or take estimand='population'"
        )
    rng = np.random.default_rng([seed, 5])
    means = [mean] if versus is None else [mean, versus]
    if prompts is None:
        truth = np.full(studies, mean - (versus or 0.0))
        posteriors: Any = _fresh(means, times, prior_mu, studies, rng)
    else:
        require_positive_integer("prompts", prompts)
        p = _prompt_truths(means, rho, prompts, studies, rng)
        truth = np.full(studies, mean - (versus or 0.0))
        if rule.estimand == "benchmark":
            truth = p[0].mean(axis=1) - (p[1].mean(axis=1) if versus is not None else 0.0)
        posteriors = _same(p, times, rule.estimand, (prior_mu, prior_rho), rng)
    verdict, at = _verdicts(rule, posteriors, studies)
    return SimulatedError(
        looks=times,
        **{name: _by_look((verdict == place), at, times.size) for place, name in enumerate(VERDICTS)},
        wrong=_by_look(_wrong(rule, verdict, truth), at, times.size),
        studies=studies,
        rule=rule,
        truth=_truth_words(mean, versus, prompts, rho, times),
    )


def _checked_looks(looks: Sequence[int]) -> np.ndarray:
    times = np.array([require_positive_integer("looks", look) for look in looks], dtype=np.int64)
    if not times.size or (np.diff(times) <= 0).any():
        raise OptionError("looks must be one or more whole numbers, each larger than the one before")
    return times


def _fresh(
    means: Sequence[float], times: np.ndarray, prior: Prior, studies: int, rng: np.random.Generator
) -> Callable[[np.ndarray], Iterator[list[Betas]]]:
    """Posteriors of the means at every look, of studies whose prompts are fresh and answered once."""

    def at_looks(alive: np.ndarray) -> Iterator[list[Betas]]:
        correct = np.zeros((len(means), studies), dtype=np.int64)
        for step, n in zip(np.diff(times, prepend=0), times, strict=True):
            correct += rng.binomial(step, np.array(means)[:, None], correct.shape)
            yield [(prior[0] + one[alive], prior[1] + n - one[alive]) for one in correct]

    return at_looks


def _same(
    p: Sequence[np.ndarray],
    times: np.ndarray,
    estimand: str,
    priors: tuple[Prior, Prior],
    rng: np.random.Generator,
) -> Callable[[np.ndarray], Iterator[list[Betas]]]:
    """Posteriors of the means at every look, of studies whose prompts get more and more generations."""

    def fitted(correct: np.ndarray, k: int) -> Betas:
        refits = refit(batch_of_counts(correct, np.full(correct.shape[1], k)), *priors, 0.95)
        if estimand == "benchmark":
            return beta_of(refits.benchmark_mean, refits.benchmark_sd)
        return beta_of(refits.population_mean, refits.population_sd)

    def at_looks(alive: np.ndarray) -> Iterator[list[Betas]]:
        correct = [np.zeros(one.shape, dtype=np.int64) for one in p]
        for step, k in zip(np.diff(times, prepend=0), times, strict=True):
            for counts, one in zip(correct, p, strict=True):
                counts += rng.binomial(step, one)
            yield [fitted(counts[alive], int(k)) for counts in correct]

    return at_looks


def _prompt_truths(
    means: Sequence[float], rho: float, prompts: int, studies: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """P(correct) of every prompt of every study (study, prompt), of each system; the same quantiles for both."""
    from scipy.special import betaincinv

    precision, share = (1 - rho) / rho, rng.random((studies, prompts))
    return [betaincinv(mean * precision, (1 - mean) * precision, share) for mean in means]


def _verdicts(rule: StopAtDirection, posteriors: Any, studies: int) -> tuple[np.ndarray, np.ndarray]:
    """Number of the verdict of every study, -1 for none, and the look at which it came."""
    verdict, at = np.full(studies, -1), np.zeros(studies, dtype=np.int64)
    alive = np.ones(studies, dtype=bool)
    low, high = rule.region
    for look, betas in enumerate(posteriors(alive)):
        above = _above(betas, high, rule.certainty)
        below = 1 - (above if low == high else _above(betas, low, 1 - rule.certainty))
        chances = [above, below] + ([1 - above - below] if rule.rope else [])
        passed = np.stack(chances) > rule.certainty
        where = np.flatnonzero(alive)[passed.any(axis=0)]
        verdict[where], at[where] = passed.argmax(axis=0)[passed.any(axis=0)], look
        alive[where] = False
        if not alive.any():
            break
    return verdict, at


def _above(betas: list[Betas], threshold: float, certainty: float) -> np.ndarray:
    """P(above) for every study; a difference far from where it would matter is settled by the normal law."""
    from scipy.special import betainc, ndtr, ndtri

    if len(betas) == 1:
        return 1 - betainc(*betas[0], np.clip(threshold, 0, 1))
    moments = [(a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))) for a, b in betas]
    distance = (moments[0][0] - moments[1][0] - threshold) / np.sqrt(moments[0][1] + moments[1][1])
    chance = ndtr(distance)
    critical = ndtri(max(certainty, 1 - certainty))
    few = np.minimum.reduce([value for pair in betas for value in pair]) < 4
    near = few | (np.abs(np.abs(distance) - critical) < CLEAR)
    if near.any():
        first, second = ((a[near], b[near]) for a, b in betas)
        chance[near] = difference_above(first, second, threshold)
    return chance


def _wrong(rule: StopAtDirection, verdict: np.ndarray, truth: np.ndarray) -> np.ndarray:
    low, high = rule.region
    inside = (truth >= low - 1e-12) & (truth <= high + 1e-12)
    true = np.stack([truth > high + 1e-12, truth < low - 1e-12, inside])
    return (verdict >= 0) & ~true[np.maximum(verdict, 0), np.arange(verdict.size)]


def _by_look(chosen: np.ndarray, at: np.ndarray, looks: int) -> np.ndarray:
    return np.cumsum(np.bincount(at[chosen], minlength=looks)) / chosen.size


def _truth_words(mean: float, versus: float | None, prompts: int | None, rho: float, times: np.ndarray) -> str:
    who = f"a system of true mean {mean:g}"
    if versus is not None:
        who = f"two equal systems of mean {mean:g}" if versus == mean else f"systems of means {mean:g} and {versus:g}"
    if prompts is None:
        return f"{who}, {times[0]:,} to {times[-1]:,} fresh prompts answered once"
    return f"{who}, {prompts:,} prompts (ρ = {rho:g}), {times[0]:,} to {times[-1]:,} generations each"
