r"""What verdicts say: how precise the flags are, what remains, and what the scores become.

Model probabilities are set right by one shift of their log odds,
:math:`\mathrm{logit}\,q_i' = \mathrm{logit}\,q_i + \delta`.
Where prompts that were not flagged were drawn at random and looked at, δ follows from their share of bad ones, a Beta
posterior; otherwise from all verdicts, with :math:`\delta\sim N(0, 1.5^2)` before.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv, expit, logit, xlog1py, xlogy

from bayeseval.arrays import Floats
from bayeseval.consistency.texts import answer_table, shortened
from bayeseval.consistency.verdicts import BAD, Verdicts, read_verdicts
from bayeseval.errors import DataError, OptionError, require_probability
from bayeseval.fitting import fit
from bayeseval.model_data import keyed_cells
from bayeseval.readers.records import number

if TYPE_CHECKING:
    import pandas as pd

    from bayeseval.consistency.data_map import DataMap

__all__ = ["Reviewed", "flag_precision", "review_result"]

DRAWS = 1000
SHIFT_SD = 1.5
SHIFTS = np.linspace(-9.0, 9.0, 721)
HEAD = [
    "system", "benchmark", "prompts", "before", "removed", "after", "difference", "lower", "upper", "after_all",
    "difference_all", "lower_all", "upper_all",
]  # fmt: skip


def flag_precision(
    hits: int, flags: int, prob: float = 0.95, prior: tuple[float, float] = (1.0, 1.0)
) -> tuple[float, float, float]:
    r"""Posterior of the precision of flags: mean and interval of :math:`\mathrm{Beta}(a + h,\ b + n - h)`.

    Parameters
    ----------
    hits, flags : int
        Flagged prompts that a person found bad, and flagged prompts that a person looked at.
    prob : float
    prior : tuple of two floats
        a and b.

    Returns
    -------
    mean, lower, upper : float

    Raises
    ------
    OptionError
        If there are more hits than flags, or a number is negative.

    Notes
    -----
    It says nothing of the bad prompts that were not flagged.

    Examples
    --------
    The published study: 8 of 18 flagged prompts had wrong or ambiguous labels.

    >>> [round(value, 3) for value in flag_precision(8, 18)]
    [0.45, 0.244, 0.665]
    """
    level = require_probability("prob", prob)
    if not 0 <= hits <= flags:
        raise OptionError(f"hits must lie between 0 and the number of flags, but {hits} of {flags} were given")
    a, b = prior[0] + hits, prior[1] + flags - hits
    ends = betaincinv(a, b, [(1 - level) / 2, (1 + level) / 2])
    return a / (a + b), float(ends[0]), float(ends[1])


@dataclass(frozen=True, eq=False, repr=False)
class Reviewed:
    """What a person's verdicts say; made by `DataMap.reviewed`.

    Attributes
    ----------
    verdicts : Verdicts
    hits, flags : int
        Flagged prompts found bad (wrong label, ambiguous or grader), and flagged prompts that have a verdict.
    precision, precision_lower, precision_upper : float
        Posterior mean and interval of the precision of the flags; NaN where none has a verdict.
    remaining, remaining_lower, remaining_upper : float
        Bad prompts among those without a verdict: posterior mean and interval.
    unreviewed : int
    scores : pandas.DataFrame
        What `to_frame` returns.
    prob : float
    notes : tuple of str
        What the numbers rest on.
    """

    verdicts: Verdicts
    hits: int
    flags: int
    precision: float
    precision_lower: float
    precision_upper: float
    remaining: float
    remaining_lower: float
    remaining_upper: float
    unreviewed: int
    scores: pd.DataFrame
    prob: float
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Scores of these prompts (benchmark estimand) before and after removal, one row a run.

        Returns
        -------
        pandas.DataFrame
            Columns system, benchmark, prompts; before (posterior mean over all prompts), removed (prompts with a bad
            verdict), after (over those kept), difference with its lower and upper end; after_all, difference_all,
            lower_all, upper_all: with the prompts left out, too, that nobody looked at and that are bad in a draw.
        """
        return self.scores.copy()

    def sentence(self) -> str:
        """The result in words."""
        level = f"{100 * self.prob:.4g}%"
        flagged = (
            f"{self.hits} of {number(self.flags, 'flagged prompt')} are bad: precision {self.precision:.2f}, {level} "
            f"interval {self.precision_lower:.2f} to {self.precision_upper:.2f}"
            if self.flags
            else "no flagged prompt has a verdict"
        )
        return (
            f"{flagged}; of {number(self.unreviewed, 'prompt')} without a verdict {self.remaining:.3g} are expected to "
            f"be bad, {self.remaining_lower:.3g} to {self.remaining_upper:.3g}"
        )

    def __repr__(self) -> str:
        lines = [
            f"{shortened(row.system)} on {shortened(row.benchmark)}, these prompts (benchmark): {row.before:.3f} "
            f"before, {row.after:.3f} without {number(row.removed, 'prompt')}, difference {row.difference:+.3f} "
            f"[{row.lower:+.3f}, {row.upper:+.3f}]"
            for row in self.scores.head(20).itertuples(index=False)
        ]
        more = [f"… and {len(self.scores) - 20:,} more runs, see to_frame()"] if len(self.scores) > 20 else []
        return "\n".join([self.sentence(), *lines, *more, *(f"Note: {note}." for note in self.notes)])

    def _repr_html_(self) -> str:
        return answer_table(HEAD, self.scores[HEAD].itertuples(index=False), [self.sentence(), *self.notes])


def review_result(data: DataMap, verdicts: str | Path | Verdicts, seed: int = 0) -> Reviewed:
    """Posterior of precision, remaining bad prompts and corrected scores; see `DataMap.reviewed`.

    Parameters
    ----------
    data : DataMap
    verdicts : path or Verdicts
    seed : int

    Returns
    -------
    Reviewed

    Raises
    ------
    DataError
        If there is no verdict, or one is about a prompt that the map does not have.
    """
    found = verdicts if isinstance(verdicts, Verdicts) else read_verdicts(verdicts)
    if not len(found):
        raise DataError("there are no verdicts yet: enter them into the column verdict, or choose them in the page")
    key = list(zip(data.prompts["benchmark"], data.prompts["prompt"], strict=True))
    place = {one: row for row, one in enumerate(key)}
    unknown = [one for one in zip(found.benchmark, found.prompt, strict=True) if one not in place]
    if unknown:
        raise DataError(
            f"there {'is a verdict' if len(unknown) == 1 else f'are {len(unknown)} verdicts'} on prompts that this map "
            f"does not have, such as {unknown[0][1]!r} of {unknown[0][0]!r}: give the map that was reviewed"
        )
    rows = np.array([place[one] for one in zip(found.benchmark, found.prompt, strict=True)])
    bad = np.array([verdict in BAD for verdict in found.verdict])
    flagged = np.array([why == "flagged" for why in found.why])
    hits, flags = int(bad[flagged].sum()), int(flagged.sum())
    precision = flag_precision(hits, flags, data.prob) if flags else (np.nan, np.nan, np.nan)
    log_odds = logit(np.clip(data.prompts["probability"].to_numpy(dtype=float), 1e-9, 1 - 1e-9))
    left = np.ones(len(key), dtype=bool)
    left[rows] = False
    rng = np.random.default_rng(seed)
    shift, note = _shifts(log_odds, left, rows, bad, flagged, data.rate, rng)
    known = np.zeros(len(key), dtype=bool)
    known[rows[bad]] = True
    more = np.zeros((DRAWS, len(key)), dtype=bool)
    some = np.flatnonzero(left)
    more[:, some] = rng.random((DRAWS, len(some))) < expit(log_odds[some] + shift[:, None])
    many = more.sum(axis=1)
    tails = [(1 - data.prob) / 2, (1 + data.prob) / 2]
    lower, upper = np.quantile(many, tails) if len(some) else (0.0, 0.0)
    scores = _scores(data, known, more, place, tails, seed)
    return Reviewed(
        found, hits, flags, *precision, float(many.mean()), float(lower), float(upper), len(some), scores, data.prob,
        (note, *NOTES),
    )  # fmt: skip


NOTES = (
    "prompts are flagged because few answers agree with the gold answer, so that leaving bad ones out raises scores; "
    "mending the gold answers and scoring anew says more than leaving prompts out",
)


def _shifts(
    log_odds: Floats, left: np.ndarray, rows: np.ndarray, bad: np.ndarray, flagged: np.ndarray, rate: float,
    rng: np.random.Generator,
) -> tuple[Floats, str]:  # fmt: skip
    """Draws of the shift δ, and on what they rest."""
    if (~flagged).any() and left.any():
        looked, hits = int((~flagged).sum()), int(bad[~flagged].sum())
        share = rng.beta(1.0 + hits, (1.0 - rate) / rate + looked - hits, DRAWS)
        expected = expit(log_odds[left] + SHIFTS[:, None]).sum(axis=1)
        note = (
            f"what remains follows from {number(looked, 'prompt')} drawn at random among those not flagged, {hits} of "
            f"them bad, with a Beta prior of mean {rate:g} worth {1 / rate:.3g} prompts; which ones are bad is told by "
            f"the model, whose log odds are shifted to that share"
        )
        return np.interp(share * left.sum(), expected, SHIFTS), note
    q = expit(log_odds[rows] + SHIFTS[:, None])
    log = (xlogy(bad, q) + xlog1py(~bad, -q)).sum(axis=1) - 0.5 * (SHIFTS / SHIFT_SD) ** 2
    weight = np.exp(log - log.max())
    note = (
        "what remains follows from the probabilities of the model, whose log odds are shifted as the verdicts on "
        "flagged prompts say; whether the same shift holds for prompts that were not flagged nobody knows: look at "
        "some of them, drawn at random (review writes them)"
    )
    return rng.choice(SHIFTS, DRAWS, p=weight / weight.sum()), note


def _scores(
    data: DataMap, known: np.ndarray, more: np.ndarray, place: dict[Any, int], tails: list[float], seed: int
) -> pd.DataFrame:
    """Scores before and after, from draws of P(correct) of every prompt that all of them share."""
    import pandas as pd

    found = []
    for run in data.outcomes.runs():
        counts = run.counts()
        if not counts.generations.any():
            continue
        post = fit(counts, engine="quadrature", draws=DRAWS // 4, chains=4, seed=seed, progress=False)
        correct, generations, key, cell = keyed_cells(counts.correct, counts.generations, post.key)
        p = post.distribution.condition(correct, generations, key).draw(np.random.default_rng(seed), cell)
        where = np.array([place[one] for one in zip(counts.benchmark, counts.prompt, strict=True)])
        out = known[where]
        before = p.mean(axis=1)
        size = len(where)
        after = p[:, ~out].mean(axis=1) if (~out).any() else np.full(DRAWS, np.nan)
        kept = ~(out | more[:, where])
        with np.errstate(invalid="ignore"):
            after_all = (p * kept).sum(axis=1) / kept.sum(axis=1)
        ends, ends_all = np.quantile(after - before, tails), np.quantile(after_all - before, tails)
        cells = (size, before.mean(), int(out.sum()), after.mean(), (after - before).mean(), *ends)
        cells_all = (after_all.mean(), (after_all - before).mean(), *ends_all)
        found.append((counts.system[0], counts.benchmark[0], *cells, *cells_all))
    return pd.DataFrame(found, columns=HEAD)
