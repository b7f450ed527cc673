"""One number with its interval, and everything that a reader must know beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayeseval.display import html_table
from bayeseval.errors import require_choice

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ESTIMANDS", "Estimand", "Score", "Scores", "require_estimand", "summarise"]

Estimand = Literal["population", "benchmark"]

ESTIMANDS = {
    "population": "prompts like these",
    "benchmark": "these prompts",
}
"""What each estimand speaks about."""


def require_estimand(value: str) -> str:
    """Return ``value`` if it names an estimand, else raise `OptionError`."""
    return require_choice("estimand", value, tuple(ESTIMANDS))


@dataclass(frozen=True, repr=False)
class Score:
    """A score of one run with its posterior interval.

    Attributes
    ----------
    name : str
        ``"mean"``, ``"pass@16"``, ...
    estimand : {"population", "benchmark"}
        ``"benchmark"``: these prompts, with infinitely many generations. ``"population"``: fresh prompts like these.
    value, sd : float
        Posterior mean and standard deviation.
    lower, upper : float
        Equal-tailed credible interval; NaN where no honest interval exists, and then `warnings` says why.
    prob : float
        Probability inside the interval.
    draws : float array (draw,)
        Posterior draws of the score.
    system, benchmark, model : str
        What was scored, and by which model.
    n_prompts, n_generations : int
        Prompts, and generations over all prompts.
    method : {"model", "robust"}
        For the population: ``"model"`` takes the fitted distribution of P(correct), ``"robust"`` draws of P(correct)
        re-weighted by a Bayesian bootstrap over prompts.
    extrapolated : bool
        Whether the score looks beyond the number of generations that were run.
    warnings : tuple of str
        Sentences that belong beside the number.
    other : Score or None
        The answer by the other method, for the population.
    """

    name: str
    estimand: str
    value: float
    sd: float
    lower: float
    upper: float
    prob: float
    draws: np.ndarray
    system: str
    benchmark: str
    model: str
    n_prompts: int
    n_generations: int
    method: str = "model"
    extrapolated: bool = False
    warnings: tuple[str, ...] = ()
    other: Score | None = field(default=None)

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the credible interval."""
        return self.lower, self.upper

    @property
    def width(self) -> float:
        """Width of the credible interval."""
        return self.upper - self.lower

    def sentence(self) -> str:
        """The number as a paper would print it."""
        if np.isnan(self.lower):
            interval = f"{self.value:.4g} (no interval)"
        else:
            digits = decimals(self.width)
            interval = (
                f"{self.value:.{digits}f} [{self.lower:.{digits}f}, {self.upper:.{digits}f}] "
                f"({self.prob:.0%} credible interval)"
            )
        label = " (extrapolated)" if self.extrapolated else ""
        method = ", robust" if self.method == "robust" else ""
        return (
            f"{self.name}{label} of {self.system} on {self.benchmark}: {interval}; estimand: {self.estimand} "
            f"({ESTIMANDS[self.estimand]}{method}); {self.n_prompts:,} prompts, {self.n_generations:,} generations, "
            f"{self.model}"
        )

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        return Scores((self,))._repr_html_()

    def to_frame(self) -> pd.DataFrame:
        """One row with the score and, for the population, a second one with the other method's answer."""
        return Scores((self,)).to_frame()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Density of the posterior draws with the interval."""
        from bayeseval import plots

        return plots.plot_score(self, ax=ax)


@dataclass(frozen=True, repr=False)
class Scores(Sequence[Score]):
    """Several scores, as one table.

    Examples
    --------
    >>> import bayeseval as be
    >>> post = be.fit(be.example("aime24-50"), engine="quadrature", seed=1, progress=False)
    >>> post.mean().to_frame()[["system", "estimand", "method"]].shape
    (4, 3)
    """

    items: tuple[Score, ...]

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return Scores(self.items[index]) if isinstance(index, slice) else self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.items)

    def to_frame(self) -> pd.DataFrame:
        """One row for each score and method.

        Returns
        -------
        pandas.DataFrame
            Columns system, benchmark, score, estimand, method, headline, value, sd, lower, upper, prob, extrapolated,
            n_prompts, n_generations, model, warnings.
        """
        import pandas as pd

        rows = [
            {
                "system": score.system,
                "benchmark": score.benchmark,
                "score": score.name,
                "estimand": score.estimand,
                "method": score.method,
                "headline": headline,
                "value": score.value,
                "sd": score.sd,
                "lower": score.lower,
                "upper": score.upper,
                "prob": score.prob,
                "extrapolated": score.extrapolated,
                "n_prompts": score.n_prompts,
                "n_generations": score.n_generations,
                "model": score.model,
                "warnings": " ".join(score.warnings),
            }
            for item in self.items
            for score, headline in ((item, True), (item.other, False))
            if score is not None
        ]
        return pd.DataFrame(rows)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Distinct warnings of all scores, in order."""
        return tuple(dict.fromkeys(warning for item in self.items for warning in item.warnings))

    def __repr__(self) -> str:
        return "\n".join(
            [f"Warning: {warning}" for warning in self.warnings] + [item.sentence() for item in self.items]
        )

    def _repr_html_(self) -> str:
        body = []
        for item in self.items:
            digits = decimals(item.width)
            interval = f"[{item.lower:.{digits}f}, {item.upper:.{digits}f}] ({item.prob:.0%})"
            body.append(
                [
                    item.system,
                    item.benchmark,
                    item.name + (" (extrapolated)" if item.extrapolated else ""),
                    f"{item.estimand}: {ESTIMANDS[item.estimand]}",
                    f"{item.value:.{digits}f}",
                    "no interval" if np.isnan(item.lower) else interval,
                    item.method,
                ]
            )
        header = ["system", "benchmark", "score", "estimand", "value", "interval", "method"]
        return html_table(header, body, (f"⚠ {warning}" for warning in self.warnings))


def summarise(draws: np.ndarray, prob: float) -> tuple[float, float, float, float]:
    """Posterior mean, standard deviation, and the ends of the equal-tailed interval of draws (draw,)."""
    lower, upper = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2])
    return float(draws.mean()), float(draws.std(ddof=1)), float(lower), float(upper)


def decimals(width: float) -> int:
    """Decimals with which a number of this uncertainty is worth printing: two digits of the interval's width."""
    if not np.isfinite(width) or width <= 0:
        return 4
    return int(np.clip(1 - np.floor(np.log10(width)), 2, 8))
