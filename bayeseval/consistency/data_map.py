"""The data map: P(correct) and consistency of every system at every prompt, and which prompts look mislabelled."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.consistency.answered import answered
from bayeseval.consistency.clustering import NOT_EXTRACTED
from bayeseval.consistency.entropy import require_concentration
from bayeseval.consistency.equivalences import SIMILAR, chosen_equivalence
from bayeseval.consistency.kinds import KINDS
from bayeseval.consistency.mislabelling import RATE
from bayeseval.consistency.patterns import LEAST_CONSISTENT, MOST_CORRECT, summaries
from bayeseval.consistency.prompt_rows import leading_answers, prompt_table
from bayeseval.consistency.suspects import Suspects, chosen_suspects
from bayeseval.consistency.texts import answer_table, shortened
from bayeseval.counts import Counts
from bayeseval.defaults import options
from bayeseval.errors import DataError, OptionError, require_probability
from bayeseval.outcomes import Outcomes
from bayeseval.readers.records import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayeseval.consistency.reviewed import Reviewed
    from bayeseval.consistency.verdicts import Verdicts

__all__ = ["DataMap", "data_map"]


@dataclass(frozen=True, eq=False, repr=False)
class DataMap:
    """P(correct) and consistency of every system at every prompt; made by `data_map`.

    Attributes
    ----------
    table : pandas.DataFrame
        One row a system and prompt; what `to_frame` returns.
    prompts : pandas.DataFrame
        One row a prompt, over all systems: what `suspects` is made of.
    outcomes : Outcomes
        What it was made from.
    equivalence : str
        When two answers count as the same.
    gamma : float
        Concentration of the Dirichlet process.
    prob : float
        Probability inside the intervals.
    rate : float
        Share of wrong gold answers before looking.
    notes : tuple of str
        What a reader must know.

    Examples
    --------
    >>> import bayeseval as be
    >>> found = be.data_map(be.example("aime24-50", "outcomes"), seed=1)
    >>> found.systems, found.benchmark
    (['llama-3b-instruct-step400', 'llama-3b-instruct-step800'], 'AIME-2024')
    >>> found.to_frame()[["consistency", "mean"]].shape
    (60, 2)
    """

    table: pd.DataFrame
    prompts: pd.DataFrame
    outcomes: Outcomes
    equivalence: str
    gamma: float
    prob: float
    rate: float
    notes: tuple[str, ...]

    @property
    def systems(self) -> list[str]:
        """Names of the systems, in order of first appearance."""
        return [str(name) for name in dict.fromkeys(self.table["system"])]

    @property
    def benchmark(self) -> str:
        """Name of the benchmark, or how many there are."""
        names = list(dict.fromkeys(self.table["benchmark"]))
        return str(names[0]) if len(names) == 1 else f"{len(names)} benchmarks"

    def to_frame(self) -> pd.DataFrame:
        """One row a system and prompt, in the order of the data.

        Returns
        -------
        pandas.DataFrame
            Columns system, benchmark, prompt, group (where there is one), generations, correct; mean, lower, upper (of
            P(correct)); consistency (S, as published), normalised (1 + S/log k); entropy, entropy_lower, entropy_upper
            (posterior mean and interval, in nats, comparable over numbers of generations); modal_answer, modal_share,
            modal_share_held_out, modal_correct, distinct (answers), not_extracted, gold, judged (correct does not
            follow from the answer); low_and_consistent (P(P(correct) ≤ 0.1 and entropy ≤ 0.8)) and dominant_wrong
            (P(a wrong answer leads the right one by more than 0.5)).
        """
        return self.table.copy()

    def suspects(self, at_least: float | None = None, top: int | None = None) -> Suspects:
        """Prompts ranked by the posterior probability that their gold answer is wrong.

        Parameters
        ----------
        at_least : float, optional
            Only prompts of this probability or more.
        top : int, optional
            Only so many.

        Returns
        -------
        Suspects

        Examples
        --------
        >>> import bayeseval as be
        >>> found = be.data_map(be.example("aime24-50", "outcomes"), seed=1).suspects(top=3)
        >>> found.to_frame()["probability"].is_monotonic_decreasing
        True
        """
        return chosen_suspects(self.prompts, self.notes, at_least, top)

    def published_rule(self) -> pd.DataFrame:
        """Rows that the published rule flags: at most 10% correct, and S at least -0.8.

        Any split over two answers passes, 25 against 25 of 50 too; no uncertainty is regarded. For comparison.

        Returns
        -------
        pandas.DataFrame
            Rows of `to_frame`.

        Examples
        --------
        >>> import bayeseval as be
        >>> len(be.data_map(be.example("aime24-50", "outcomes")).published_rule())
        0
        """
        share = self.table["correct"] / self.table["generations"].clip(lower=1)
        flagged = (share <= MOST_CORRECT) & (self.table["consistency"] >= LEAST_CONSISTENT)
        return self.table[flagged & (self.table["generations"] > 0)].copy()

    def review(
        self, path: str | Path, *, at_least: float | None = None, top: int | None = 20, random: int = 20, seed: int = 0
    ) -> Path:
        """Write the suspects, and some other prompts at random, for a person to look at.

        The random ones make it possible to say how many wrong gold answers remain among what was not flagged.

        Parameters
        ----------
        path : str or pathlib.Path
            Ends in .csv, for a spreadsheet, or .html, a page with a choice of verdicts that it saves as .csv.
        at_least, top : float, int, optional
            Which suspects; see `suspects`.
        random : int
            Number of other prompts, drawn at random and shuffled in.
        seed : int

        Returns
        -------
        pathlib.Path
            Read the verdicts back with `bayeseval.read_verdicts` or `reviewed`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import bayeseval as be
        >>> found = be.data_map(be.example("aime24-50", "outcomes"))
        >>> found.review(pathlib.Path(tempfile.mkdtemp()) / "review.csv", top=5, random=5).name
        'review.csv'
        """
        from bayeseval.consistency.review import write_review

        return write_review(self, path, at_least=at_least, top=top, random=random, seed=seed)

    def reviewed(self, verdicts: str | Path | Verdicts, *, seed: int = 0) -> Reviewed:
        """What a person's verdicts say: precision of the flags, wrong gold answers that remain, corrected scores.

        Parameters
        ----------
        verdicts : path or Verdicts
            A reviewed file of `review`, or what `bayeseval.read_verdicts` returned.
        seed : int

        Returns
        -------
        Reviewed

        Examples
        --------
        >>> import bayeseval as be
        >>> from bayeseval.consistency.verdicts import Verdicts
        >>> found = be.data_map(be.example("aime24-50", "outcomes"))
        >>> looked = Verdicts(("AIME-2024",), ("18",), ("fine",), ("flagged",))
        >>> result = found.reviewed(looked)
        >>> result.hits, result.flags, result.unreviewed
        (0, 1, 29)
        """
        from bayeseval.consistency.reviewed import review_result

        return review_result(self, verdicts, seed)

    def plot(self, ax: Axes | None = None, *, system: str | None = None, label: int = 5) -> Axes:
        """P(correct) against consistency; see `bayeseval.plots.plot_data_map`."""
        from bayeseval import plots

        return plots.plot_data_map(self, ax=ax, system=system, label=label)

    def sentence(self) -> str:
        """The map in words."""
        likely = int((self.prompts["probability"] >= 0.5).sum())
        ruled = self.published_rule().groupby(["benchmark", "prompt"], sort=False).ngroups
        return (
            f"Data map of {number(len(self.systems), 'system')} and {number(len(self.prompts), 'prompt')}, "
            f"{int(self.prompts['generations'].sum()):,} generations, answers compared by {self.equivalence}: "
            f"{number(likely, 'prompt')} with a gold answer more probably wrong than right, "
            f"{self.prompts['probability'].sum():.3g} wrong ones expected in all; the published rule flags "
            f"{number(ruled, 'prompt')}"
        )

    def __repr__(self) -> str:
        return "\n".join([self.sentence(), *(f"Note: {shortened(note, 600)}." for note in self.notes)])

    def _repr_html_(self) -> str:
        counts = self.prompts["kind"].value_counts()
        rows = [(kind, f"{counts[kind]:,}", text) for kind, text in KINDS.items() if kind in counts]
        return answer_table(("kind of trouble", "prompts", ""), rows, [self.sentence(), *self.notes])


def data_map(
    outcomes: Outcomes,
    equivalence: Any = "exact",
    *,
    gold: Mapping[Any, Any] | None = None,
    gamma: float = 1.0,
    model: Any = None,
    threshold: float = SIMILAR,
    not_extracted: Collection[str] | Sequence[str] = NOT_EXTRACTED,
    rate: float = RATE,
    prob: float | None = None,
    seed: int = 0,
) -> DataMap:
    r"""Map prompts by P(correct) and by the consistency of their answers, and find those that look mislabelled.

    Parameters
    ----------
    outcomes : Outcomes
        One row a generation, with answers, of any number of systems and benchmarks.
    equivalence : str, Equivalence or callable
        When two answers to a prompt are the same. ``"exact"`` after Unicode NFKC, case, white space, trailing
        punctuation and thousands separators; ``"letter"`` of a multiple choice; ``"math"`` by math-verify (extra
        ``math``); ``"embedding"`` by cosine (extra ``embed``, or a function as ``model``); ``"entailment"`` in both
        directions by a function as ``model``; a function of one answer, its normal form; a function of two answers.
    gold : mapping of prompt to answer, optional
        Gold answers that the outcomes lack, or others; they are shown and looked for among the answers. What was
        correct stays as scored.
    gamma : float
        Concentration of the Dirichlet process: with k generations seen, the next answer is a new one with probability
        :math:`\gamma/(k + \gamma)`.
    model : path or callable, optional
        For ``"embedding"`` and ``"entailment"``.
    threshold : float
        Cosine from which on answers are the same, for ``"embedding"``.
    not_extracted : collection of str
        Answers that mean that none could be extracted.
    rate : float
        Share of wrong gold answers before looking. Data without a person's verdicts cannot tell it.
    prob : float, optional
        Probability inside the intervals; that of `bayeseval.options` by default.
    seed : int

    Returns
    -------
    DataMap

    Raises
    ------
    DataError
        If there are no answers, a prompt has neither scores nor a gold answer, or the equivalence raises.
    OptionError
        If an argument is out of range.
    MissingDependencyError
        If the equivalence needs a package that is not installed.

    Notes
    -----
    For every system and prompt, probabilities of answers are drawn from :math:`\mathrm{Dir}(n_1, \ldots, n_C, \gamma)`.
    P(correct) is the sum over right answers where correct follows from the answer, which is looked up in the data.
    P(gold wrong) is the posterior of a two-component model over all prompts and systems; see
    `bayeseval.consistency.mislabelled`.

    References
    ----------
    .. [1] Beyond the Singular (2025). https://arxiv.org/abs/2502.08943
    .. [2] Kuhn, Gal, Farquhar (2023). Semantic Uncertainty. https://arxiv.org/abs/2302.09664

    Examples
    --------
    >>> import bayeseval as be
    >>> found = be.data_map(be.example("aime24-50", "outcomes"), seed=1)
    >>> len(found.to_frame()), len(found.prompts)
    (60, 30)
    """
    import pandas as pd

    if isinstance(outcomes, Counts):
        raise DataError(
            "a data map is made of answers, and counts have none: read the results with kind='outcomes', one row a "
            "generation, with the column of the answers"
        )
    if not isinstance(outcomes, Outcomes):
        raise OptionError(f"data_map takes Outcomes, such as be.read returns, but {type(outcomes).__name__} was given")
    concentration = require_concentration("gamma", gamma)
    level = options.interval_prob(prob)
    prior = require_probability("rate", rate)
    if isinstance(not_extracted, str) or not all(isinstance(one, str) for one in not_extracted):
        raise OptionError(f"not_extracted must be a list of texts, but {not_extracted!r} was given")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise OptionError(f"seed must be a whole number of at least 0, but {seed!r} was given")
    chosen = chosen_equivalence(equivalence, model, threshold)
    data = answered(outcomes, chosen, gold, not_extracted)
    values, _, _ = summaries(data, concentration, level, int(seed))
    rows, prompt = data.unit_row, data.unit_prompt
    modal, modal_right, distinct = leading_answers(data)
    columns: dict[str, Any] = {name: getattr(outcomes, name)[rows] for name in ("system", "benchmark", "prompt")}
    if outcomes.group is not None:
        columns["group"] = outcomes.group[rows]
    columns |= {"generations": data.generations, "correct": data.correct}
    before, after = ("mean", "lower", "upper"), ("low_and_consistent", "dominant_wrong")
    middle = [name for name in values if name not in (*before, *after, "modal_share", "modal_share_held_out")]
    columns |= {name: values[name] for name in (*before, *middle)}
    columns |= {"modal_answer": modal} | {name: values[name] for name in ("modal_share", "modal_share_held_out")}
    columns |= {"modal_correct": modal_right, "distinct": distinct, "not_extracted": data.none}
    columns |= {"gold": data.gold[prompt], "judged": data.judged[prompt]} | {name: values[name] for name in after}
    prompts = prompt_table(outcomes, data, values["low_and_consistent"], values["dominant_wrong"], prior)
    return DataMap(
        pd.DataFrame(columns), prompts, outcomes, chosen.name, concentration, level, prior,
        (*data.notes, *_several(data.systems)),
    )  # fmt: skip


def _several(systems: list[str]) -> list[str]:
    if len(systems) < 2:
        return []
    return [
        f"P(gold wrong) joins {number(len(systems), 'system')}; where they are relatives that make the same mistakes, "
        f"it is more extreme than it should be, and its order is worth more than its value"
    ]
