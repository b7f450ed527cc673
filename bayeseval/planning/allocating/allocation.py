r"""Which prompts deserve the next generations, for the score of these prompts.

The benchmark estimand is :math:`\sum_i w_i g(p_i)`. Given the hyper-parameters prompts are independent, so that its
posterior variance is :math:`\sum_i w_i^2\,\mathrm{Var}(g(p_i))`, and what :math:`m_i` more generations leave of it is
expected to be :math:`\sum_i w_i^2 V_i(m_i)`: a sum over prompts, spent on greedily. Averages run over draws of the
hyper-parameters; what the new generations tell about those is left out of the plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayeseval import metrics
from bayeseval.display import html_table, number
from bayeseval.errors import OptionError, require_positive_integer
from bayeseval.files import write_table
from bayeseval.metrics import Metric
from bayeseval.model_data import keyed_cells
from bayeseval.planning.allocating.choice import against_even, choose
from bayeseval.planning.allocating.limits import FARTHEST, checked_weights, excluded, limits, require_room
from bayeseval.planning.allocating.prompt_gains import PromptGains
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import EXTRAPOLATION_WARNING, Posterior
from bayeseval.posterior.scores import ESTIMANDS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Allocation", "allocate"]

SHARED = 0.5
"""From which share of ``sd_after`` on the uncertainty about hyper-parameters is told."""
HEAD = ["prompt", "generations", "correct", "mean", "extra", "variance", "variance_after"]


@dataclass(frozen=True, repr=False)
class Allocation:
    """Further generations for each prompt, and what they are expected to bring; made by `allocate`.

    Attributes
    ----------
    table : pandas.DataFrame
        What `to_frame` returns.
    score : str
        ``"mean"``, ``"pass@16"``, ...
    budget, spent : int
        Generations that were to be given, and that are: fewer where caps leave no room, or blocks do not go in.
    sd_before, sd_after, sd_uniform : float
        Expected posterior standard deviation of the benchmark score, given the hyper-parameters: now, with these
        generations, and with as many spread evenly.
    sd_shared : float
        What not knowing the hyper-parameters adds now, as a standard deviation of its own; the plan does not count it.
    saving : float
        How many times as large an evenly spread budget would have to be for `sd_after`; infinite where no such budget
        up to 100 times reaches it, NaN where there is nothing left to learn.
    system, benchmark : str
    warnings : tuple of str
    """

    table: pd.DataFrame
    score: str
    budget: int
    spent: int
    sd_before: float
    sd_after: float
    sd_uniform: float
    sd_shared: float
    saving: float
    system: str
    benchmark: str
    warnings: tuple[str, ...]

    def sentence(self) -> str:
        """The plan in words."""
        some = int((self.table["extra"] > 0).sum())
        prompts = f"{some:,} of {len(self.table):,} prompts" if some < len(self.table) else f"all {some:,} prompts"
        if math.isnan(self.saving):
            than = "there is nothing left to learn"
        elif math.isinf(self.saving):
            than = f"no even budget up to {FARTHEST} times as large gets there under the same limits"
        else:
            than = f"an even budget would have to be {self.saving:.3g} times as large to get as far"
        return (
            f"{self.score} of {self.system} on {self.benchmark}, benchmark estimand ({ESTIMANDS['benchmark']}): "
            f"{self.spent:,} more generation{'s' if self.spent != 1 else ''} on {prompts} bring its posterior standard "
            f"deviation, given the hyper-parameters, from {number(self.sd_before)} to an expected "
            f"{number(self.sd_after)}; spread evenly they bring it to {number(self.sd_uniform)}, and {than}."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a prompt, in the order of the data.

        Returns
        -------
        pandas.DataFrame
            Columns system, benchmark, prompt, group (where there is one), generations, correct, mean (posterior mean
            of P(correct)), extra (further generations), variance and variance_after (of the score of the prompt: now,
            and as expected with its further generations).
        """
        return self.table.copy()

    def write(self, path: str | Path, *, every: bool = False) -> Path:
        """Write what a harness needs to run the plan: columns ``prompt`` and ``extra``.

        Parameters
        ----------
        path : str or pathlib.Path
            A file that ends in .csv, .json, .jsonl or .parquet; the ending decides.
        every : bool
            Whether prompts that get nothing are written too, with 0.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        OptionError
            If the ending is another one, or the file cannot be written.
        """
        rows = self.table if every else self.table[self.table["extra"] > 0]
        return write_table({name: rows[name].tolist() for name in ("prompt", "extra")}, path)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Further generations against the posterior mean of P(correct)."""
        from bayeseval import plots

        return plots.plot_allocation(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        rows = self.table[self.table["extra"] > 0].sort_values("extra", ascending=False, kind="stable")
        body = [
            [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
            for row in rows[HEAD].itertuples(index=False)
        ]
        return html_table(HEAD, body, [*(f"⚠ {text}" for text in self.warnings), self.sentence()])


def allocate(
    posterior: Posterior,
    budget: int,
    score: Metric | None = None,
    *,
    weights: Sequence[float] | np.ndarray | None = None,
    most: int | Sequence[int] | np.ndarray | None = None,
    least: int | Sequence[int] | np.ndarray | None = None,
    block: int = 1,
    exclude: Sequence[str] | np.ndarray | None = None,
) -> Allocation:
    r"""Spread a budget of generations over the prompts so that the benchmark score gets as certain as it can.

    .. math:: \min_{m} \sum_i w_i^2\,V_i(m_i)\ \text{ with }\sum_i m_i = B,\quad
        V_i(m) = E[\mathrm{Var}(g(p_i)) \mid m\text{ more}]

    Parameters
    ----------
    posterior : Posterior
        Of one run, of any model; a `Stacked` is one.
    budget : int
        Generations to give.
    score : Metric, optional
        From `bayeseval.metrics`; the mean by default.
    weights : float array (prompt,), optional
        What each prompt counts in the score, in the order of ``posterior.counts``; equal by default. They are scaled
        to sum to 1; a prompt of weight 0 gets nothing.
    most, least : int or int array (prompt,), optional
        Most and fewest generations of a prompt in all, those that it has already among them. A prompt that has more
        than ``most`` keeps them.
    block : int
        Generations come in blocks of so many, such as the batches of a server. What is left of the budget when no
        further block fits is not spent.
    exclude : sequence of str, or bool array (prompt,), optional
        Prompts that get nothing, but count in the score.

    Returns
    -------
    Allocation

    Raises
    ------
    OptionError
        If an argument is out of range, no prompt may get anything, or the budget does not reach for ``least``.

    Notes
    -----
    For the mean and one Beta, :math:`V_i(m) = A_i/(s_i + m)` with :math:`s = a + b` and :math:`A = ab/(s(s+1))`. Each
    further generation is worth less than the one before, so that taking the most valuable ones of all prompts is
    optimal [1]_. For mixtures, other families and other scores the expectation is a sum over the numbers of correct
    ones that may come, and a generation can be worth more than the one before: for pass@k the first successes decide.
    There the lower convex envelope of V is followed, which is optimal up to one of its steps. Up to 64 further
    generations V is exact, for families other than Beta up to quadrature; beyond, on a ladder, with 1/V linear in
    between.

    Afterwards the number of generations depends on what was answered, so that the mean of the shares of correct
    answers is biased, while a posterior is not, if its model describes the prompts: fit again, with several families
    where the check of one fails. Plans in a few rounds learn more than one large one.

    About 200 draws of the hyper-parameters are used (1,000 of P(correct) where a model samples that of every prompt).
    With run effects a further generation is taken as one of a run of its own.

    Prompts that are worth the same differ by one step at most; those that get more are spread over the order of the
    prompts, always the same ones.

    References
    ----------
    .. [1] Fox (1966). Discrete optimization via marginal analysis. Management Science 13, 210-216.
       https://doi.org/10.1287/mnsc.13.3.210

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[4, 2, 0, 1], generations=4)
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> extra = be.allocate(post, budget=20).to_frame()["extra"]
    >>> int(extra.sum()), bool(extra[1] > extra[0])
    (20, True)
    """
    refuse_credits(posterior)
    if not isinstance(posterior, Posterior):
        raise OptionError(
            f"allocate takes the posterior of one run, but {type(posterior).__name__} was given; choose one with "
            f"posteriors.select(system=..., benchmark=...)"
        )
    budget, block = require_positive_integer("budget", budget), require_positive_integer("block", block)
    score = metrics.mean() if score is None else score
    if not isinstance(score, Metric):
        raise OptionError(f"score must be a Metric such as bayeseval.metrics.pass_at(16), but {score!r} was given")
    counts = posterior.counts
    weight = checked_weights(weights, len(counts))
    fewest, most_blocks = limits(counts.prompt, counts.generations, budget, block, most, least)
    most_blocks[excluded(exclude, counts.prompt) | (weight == 0)] = 0
    fewest = np.minimum(fewest, most_blocks)
    require_room(most_blocks, fewest, budget, block, most)

    cell_correct, cell_generations, cell_key, cell = keyed_cells(counts.correct, counts.generations, posterior.key)
    gains = PromptGains(posterior.distribution, cell_correct, cell_generations, cell_key, score)
    choice = choose(gains, cell, weight, (fewest, most_blocks), budget // block, block)
    extra = choice.extra
    variance = gains.upto(int(extra.max()))
    before, after = variance[cell, 0], variance[cell, extra]
    total = float(weight**2 @ after)
    shared = _shared(gains, cell, weight, float(weight**2 @ before))
    uniform, saving = against_even(gains, choice, block, total)
    frame = counts.to_frame().assign(mean=gains.mean[cell], extra=extra, variance=before, variance_after=after)
    return Allocation(
        table=frame,
        score=score.name,
        budget=budget,
        spent=int(extra.sum()),
        sd_before=math.sqrt(weight**2 @ before),
        sd_after=math.sqrt(total),
        sd_uniform=math.sqrt(uniform),
        sd_shared=shared,
        saving=saving,
        system=posterior.system,
        benchmark=posterior.benchmark,
        warnings=_warnings(posterior, score, (budget, int(extra.sum()), block), shared, math.sqrt(total)),
    )


def _shared(gains: PromptGains, cell: np.ndarray, weight: np.ndarray, own: float) -> float:
    """What the hyper-parameters add to the posterior variance of the score, as a standard deviation."""
    if gains.scores.size:
        return float((gains.scores @ np.bincount(cell, weight, gains.mean.size)).std())
    return math.sqrt(max(float((gains.draws(cell) @ weight).var()) - own, 0.0))


def _warnings(
    posterior: Posterior, score: Metric, plan: tuple[int, int, int], shared: float, after: float
) -> tuple[str, ...]:
    budget, spent, block = plan
    warnings = list(posterior.check().warnings_for("benchmark"))
    if spent < budget:
        reason = "the prompts have no room for more" if budget - spent >= block else f"blocks of {block} do not fit"
        warnings.append(f"{budget - spent:,} of the {budget:,} generations are not given: {reason}")
    if score.k > EXTRAPOLATION_WARNING * posterior.typical_generations:
        warnings.append(
            f"{score.name} looks beyond the {posterior.typical_generations} generations that were run: which prompts "
            f"seem worth more leans on the shape of the fitted distribution near p = 0 and p = 1"
        )
    if shared > SHARED * after:
        warnings.append(
            f"what is not known about all prompts together (the hyper-parameters) adds a standard deviation of "
            f"{number(shared)} now, which the plan does not count; fit again after the new generations"
        )
    return tuple(warnings)
