r"""Greedy decoding against sampling: one deterministic answer beside the share of correct sampled ones.

Greedy decoding gives prompt i one bit :math:`g_i`, sampling a probability :math:`p_i`. On these prompts the only noise
in :math:`\bar g - \bar p` is that of the sampled generations. For prompts like these the differences
:math:`g_i - \hat p_i` are what varies; g and p go together, so that standard errors of the two scores, added up as if
they were independent, are too wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics
from bayeseval.arrays import Floats
from bayeseval.counts import Counts
from bayeseval.defaults import options
from bayeseval.display import html_table, rows_to_frame
from bayeseval.errors import DataError, OptionError
from bayeseval.estimators.variance import VarianceComponents, sample_variance, variance_components
from bayeseval.outcomes import Outcomes
from bayeseval.pairs import common_prompts
from bayeseval.planning.comparing.greedy_curve import GreedyCurve, greedy_curve
from bayeseval.planning.comparing.sources import counts_of
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.prompt_draws import benchmark_scores, unbiased_mean
from bayeseval.posterior.scores import ESTIMANDS, summarise

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["DecodingComparison", "DecodingRow", "compare_decoding"]

FEW_PROMPTS = 30
MIXED = 10
"""Prompts answered both ways from which on their noise tells enough."""


@dataclass(frozen=True)
class DecodingRow:
    """Difference greedy - sampling for one estimand, by one method."""

    estimand: str
    method: str
    difference: float
    se: float
    lower: float
    upper: float


@dataclass(frozen=True, repr=False)
class DecodingComparison:
    """Greedy decoding against sampling on the same prompts.

    Attributes
    ----------
    rows : tuple of DecodingRow
        Benchmark (only noise of sampled generations), population paired, and population unpaired for contrast.
    greedy, sampled : float
        Share of prompts that greedy decoding solves, and mean share of correct sampled generations.
    curve : GreedyCurve or None
        P(greedy correct | p) by a logistic curve on logit p; None where the counts say nothing about the spread of p.
    correct, generations : int array (prompt,)
        Sampled counts of the matched prompts.
    bits : bool array (prompt,)
        Whether greedy decoding was correct.
    n_matched : int
    unmatched : tuple of int
        Prompts of greedy and of sampling without a partner.
    prob : float
    systems : tuple of str
    benchmark : str
    warnings : tuple of str
    """

    rows: tuple[DecodingRow, ...]
    greedy: float
    sampled: float
    curve: GreedyCurve | None
    correct: np.ndarray
    generations: np.ndarray
    bits: np.ndarray
    n_matched: int
    unmatched: tuple[int, int]
    prob: float
    systems: tuple[str, str]
    benchmark: str
    warnings: tuple[str, ...]

    def row(self, estimand: str, method: str = "paired") -> DecodingRow:
        """The row of one estimand; ``method`` is ``"paired"`` or ``"unpaired"`` for the population."""
        found = [row for row in self.rows if row.estimand == estimand and method in (row.method, "paired")]
        if not found:
            raise OptionError(f"there is no row for estimand {estimand!r} and method {method!r}")
        return found[0]

    def sentence(self) -> str:
        """The comparison in words."""
        system = self.systems[0] if self.systems[0] == self.systems[1] else " against ".join(self.systems)
        texts = []
        for estimand in ("benchmark", "population"):
            row = self.row(estimand)
            interval = (
                f"[{row.lower:+.3f}, {row.upper:+.3f}]" if np.isfinite(row.lower) else "no interval, see the warnings"
            )
            texts.append(f"{row.difference:+.3f} {interval} for {ESTIMANDS[estimand]} ({estimand})")
        paired, unpaired = self.row("population").se, self.row("population", "unpaired").se
        ratio = ""
        if paired > 0:
            ratio = f"; standard errors added up as if unpaired would be {unpaired / paired:.1f} times as wide"
        slope = f" {self.curve.sentence(self.prob)}" if self.curve is not None else ""
        return (
            f"{system} on {self.benchmark}: greedy decoding solves {self.greedy:.3f}, sampling {self.sampled:.3f} of "
            f"{self.n_matched:,} prompts; difference, {self.prob:.0%} interval: {', '.join(texts)}{ratio}.{slope}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row an interval: estimand, method, difference, se, lower, upper."""
        return rows_to_frame(self.rows, DecodingRow)

    def plot(self, ax: Axes | None = None) -> Axes:
        """P(greedy correct | p) with its interval, and shares of greedy successes by sampled counts."""
        from bayeseval import plots

        return plots.plot_decoding(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        header = ["estimand", "method", "difference", "se", f"{self.prob:.0%} interval"]
        body = [
            [row.estimand, row.method, f"{row.difference:+.4f}", f"{row.se:.4f}", f"[{row.lower:.4f}, {row.upper:.4f}]"]
            for row in self.rows
        ]
        return html_table(header, body, [*(f"⚠ {text}" for text in self.warnings), self.sentence()])


def compare_decoding(
    greedy: Counts | Outcomes | Posterior, sampled: Posterior | Counts | Outcomes, *, prob: float | None = None
) -> DecodingComparison:
    r"""Difference of greedy decoding and sampling, for both estimands, and P(greedy correct) given P(correct).

    Parameters
    ----------
    greedy : Counts, Outcomes or Posterior
        One run with one generation a prompt.
    sampled : Posterior, Counts or Outcomes
        One run of the same benchmark; prompts are matched by id.
    prob : float, optional
        Probability inside the intervals; `bayeseval.options.prob` by default.

    Returns
    -------
    DecodingComparison

    Raises
    ------
    DataError
        If a prompt has several greedy generations, no prompt is shared, benchmarks differ, or there are fewer than two
        matched prompts.
    OptionError
        If something else than one run is given; partial credits are refused.

    Notes
    -----
    With :math:`D_i = g_i - \hat p_i` over the n matched prompts the difference is :math:`\bar D`. Benchmark: posterior
    draws of :math:`p_i` where a posterior is given, else :math:`\bar D \pm z\,\frac1n\sqrt{\sum v_i/k_i}`. Population:
    :math:`\bar D \pm t_{n-1}\sqrt{S_D^2/n}`; unpaired, :math:`S_D^2` is replaced by :math:`S_g^2 + S_{\hat p}^2`.

    Examples
    --------
    >>> import bayeseval as be
    >>> rng = np.random.default_rng(1)
    >>> p = rng.beta(1, 1, size=300)
    >>> sampled = be.Counts.from_arrays(rng.binomial(8, p), 8)
    >>> greedy = be.Counts.from_arrays((p > 0.45).astype(int), 1)
    >>> result = be.compare_decoding(greedy, sampled)
    >>> result.row("benchmark").se < result.row("population").se < result.row("population", "unpaired").se
    True
    """
    prob = options.interval_prob(prob)
    bits_of, counts = _counts(greedy), _counts(sampled)
    _check_greedy(bits_of, counts)
    answered = [np.flatnonzero(one.generations > 0) for one in (bits_of, counts)]
    names = (f"{bits_of.system[0]} (greedy)", f"{counts.system[0]} (sampled)")
    ids = [one.prompt[rows] for one, rows in zip((bits_of, counts), answered, strict=True)]
    shared, place, warnings = common_prompts(ids, names)
    if len(shared) < 2:
        raise DataError("one prompt is matched, and the spread of differences needs two at least")
    first, second = (own[at] for own, at in zip(answered, place, strict=True))
    bits = bits_of.correct[first] > 0
    correct, generations = counts.correct[second], counts.generations[second]
    posterior = sampled if isinstance(sampled, Posterior) else None
    parts = variance_components(correct, generations)
    if len(shared) < FEW_PROMPTS:
        warnings.append(f"{len(shared)} matched prompts are few for the population intervals, which may be too narrow")
    benchmark, notes = _benchmark_row(bits, correct, generations, parts, posterior, second, prob)
    curve, more = greedy_curve(bits, correct, generations, posterior, None if posterior is None else second)
    return DecodingComparison(
        rows=(benchmark, *_population_rows(bits, correct, generations, prob)),
        greedy=float(bits.mean()),
        sampled=float((correct / generations).mean()),
        curve=curve,
        correct=correct,
        generations=generations,
        bits=bits,
        n_matched=len(shared),
        unmatched=(len(ids[0]) - len(shared), len(ids[1]) - len(shared)),
        prob=prob,
        systems=(str(bits_of.system[0]), str(counts.system[0])),
        benchmark=str(counts.benchmark[0]),
        warnings=(*warnings, *notes, *more),
    )


def _counts(run: Any) -> Counts:
    return counts_of(run.counts() if isinstance(run, Outcomes) else run, "a comparison of decoding")


def _check_greedy(greedy: Counts, sampled: Counts) -> None:
    several = greedy.generations > 1
    if several.any():
        row = int(np.argmax(several))
        raise DataError(
            f"greedy decoding gives one answer a prompt, but prompt {greedy.prompt[row]!r} has "
            f"{greedy.generations[row]:,} generations; are the two arguments in the wrong order? They are (greedy, "
            f"sampled)"
        )
    if greedy.benchmark[0] != sampled.benchmark[0]:
        raise DataError(
            f"greedy decoding answered {greedy.benchmark[0]!r}, sampling {sampled.benchmark[0]!r}: prompts can be "
            f"matched within one benchmark only; where that is one benchmark under two names, give it one"
        )


def _benchmark_row(
    bits: np.ndarray,
    correct: np.ndarray,
    generations: np.ndarray,
    parts: VarianceComponents,
    posterior: Posterior | None,
    rows: np.ndarray,
    prob: float,
) -> tuple[DecodingRow, tuple[str, ...]]:
    """Only the noise of sampled generations is uncertain on these prompts."""
    from scipy.special import ndtri

    greedy = float(bits.mean())
    if posterior is not None:
        value, sd, lower, upper = summarise(greedy - _mean_draws(posterior, correct, generations, rows), prob)
        return DecodingRow("benchmark", "posterior", value, sd, lower, upper), posterior.check().warnings_for(
            "benchmark"
        )
    difference, error = greedy - parts.mean, parts.se_benchmark
    if np.isnan(error):
        note = (
            "one sampled generation a prompt says nothing about the noise of generations, so there is no interval for "
            "these prompts; give a posterior, whose prior supplies it, or sample more"
        )
        return DecodingRow("benchmark", "CLT", difference, np.nan, np.nan, np.nan), (note,)
    reach = float(ndtri((1 + prob) / 2)) * error
    notes: tuple[str, ...] = ()
    if parts.n_mixed < MIXED:
        notes = (
            f"{parts.n_mixed} of the prompts were answered both ways by sampling, fewer than {MIXED}: the benchmark "
            f"interval hardly knows the noise of generations and may be too narrow; give a posterior",
        )
    return DecodingRow("benchmark", "CLT", difference, error, difference - reach, difference + reach), notes


def _mean_draws(posterior: Posterior, correct: np.ndarray, generations: np.ndarray, rows: np.ndarray) -> Floats:
    """Draws of the mean of P(correct) over the matched prompts, without the model where that fails its check."""
    stream = (posterior.seed, 9)
    if posterior.check().misfit:
        draws = unbiased_mean(correct, generations, posterior.n_draws, stream)
        if draws is not None:
            return draws
    metric = metrics.mean()
    key = None if posterior.key is None else posterior.key[rows]
    return benchmark_scores(posterior.distribution, correct, generations, [metric], stream, key)[metric][0]


def _population_rows(
    bits: np.ndarray, correct: np.ndarray, generations: np.ndarray, prob: float
) -> tuple[DecodingRow, DecodingRow]:
    from scipy.special import stdtrit

    share = correct / generations
    difference, size = float((bits - share).mean()), bits.size
    factor = float(stdtrit(size - 1, (1 + prob) / 2))
    paired = np.sqrt(sample_variance(bits - share) / size)
    unpaired = np.sqrt((sample_variance(bits.astype(float)) + sample_variance(share)) / size)
    made = [
        DecodingRow("population", method, difference, float(se), difference - factor * se, difference + factor * se)
        for method, se in (("paired", paired), ("unpaired", unpaired))
    ]
    return made[0], made[1]
