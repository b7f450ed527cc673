"""The log of a sequential run: what was seen at every look, and which look said stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayeseval.display import html_table
from bayeseval.errors import DataError, OptionError, require_positive_integer
from bayeseval.planning.looking.decisions import Decision, ends
from bayeseval.planning.looking.rules import RULES, StopAnytime, StopAtDirection, StopAtWidth

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Looks"]


@dataclass(frozen=True, repr=False)
class Looks:
    """A log of looks at a run that is going on; `add` returns a new log.

    Parameters
    ----------
    rule : StopAtWidth, StopAtDirection or StopAnytime
        From `bayeseval.stop_at_width`, `bayeseval.stop_at_direction` or `bayeseval.stop_anytime`.
    most : int, optional
        Budget: generations in all, of both systems where there are two. A look at so many stops, whatever it sees.

    Attributes
    ----------
    decisions : tuple of Decision
        One a look, in order.

    Raises
    ------
    OptionError
        If the rule is none, or the budget no number of generations.

    Examples
    --------
    >>> import bayeseval as be
    >>> batch = be.Counts.from_arrays(correct=[3, 0, 4, 2] * 10, generations=4)
    >>> post = be.fit(batch, engine="quadrature", seed=1, progress=False)
    >>> looks = be.Looks(be.stop_at_width(0.05, estimand="benchmark"), most=1000).add(post)
    >>> while not looks.stop:
    ...     post = post.update(batch, progress=False)
    ...     looks = looks.add(post)
    >>> looks.last.width <= 0.05 and len(looks) == looks.stopped_at > 1
    True
    """

    rule: StopAtWidth | StopAtDirection | StopAnytime
    most: int | None = None
    decisions: tuple[Decision, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.rule, RULES):
            raise OptionError(
                f"a log needs a rule, be.stop_at_width(...), be.stop_at_direction(...) or be.stop_anytime(...), but "
                f"{type(self.rule).__name__} was given"
            )
        if self.most is not None:
            require_positive_integer("most", self.most)

    def add(self, posterior: Any) -> Looks:
        """The log with one look more.

        Parameters
        ----------
        posterior : Posterior, or a pair of them
            Of all the data so far; a pair, (first, second), for a difference.

        Returns
        -------
        Looks
            The log stays stopped once it has stopped; looks after that are written down all the same.

        Raises
        ------
        DataError
            If the posterior has seen fewer generations than at the last look, or is of another run.
        OptionError
            If the rule does not know what to do with it.
        """
        decision = self.rule.decide(posterior)
        if self.decisions:
            _refuse_steps_back(self.decisions[-1], decision)
        if not decision.stop and self.most is not None and decision.n_generations >= self.most:
            reason = f"budget spent: {decision.n_generations:,} generations of {self.most:,}; {decision.reason}"
            decision = replace(decision, stop=True, reason=reason)
        return replace(self, decisions=(*self.decisions, decision))

    @property
    def stopped_at(self) -> int | None:
        """Number of the look that said stop first, counted from 1; None if none did."""
        return next((number for number, one in enumerate(self.decisions, 1) if one.stop), None)

    @property
    def stop(self) -> bool:
        """Whether a look has said stop."""
        return self.stopped_at is not None

    @property
    def last(self) -> Decision | None:
        """The latest decision."""
        return self.decisions[-1] if self.decisions else None

    @property
    def reason(self) -> str:
        """Why the run stopped, or else why it goes on."""
        if self.stopped_at is not None:
            return self.decisions[self.stopped_at - 1].reason
        return self.decisions[-1].reason if self.decisions else "no look was taken yet"

    def __len__(self) -> int:
        return len(self.decisions)

    def to_frame(self) -> pd.DataFrame:
        """One row a look.

        Returns
        -------
        pandas.DataFrame
            Columns look, prompts, generations, value, lower, upper, width, stop, reason.
        """
        import pandas as pd

        columns = ("look", "prompts", "generations", "value", "lower", "upper", "width", "stop", "reason")
        rows = [
            (number, one.n_prompts, one.n_generations, one.value, one.lower, one.upper, one.width, one.stop, one.reason)
            for number, one in enumerate(self.decisions, 1)
        ]
        return pd.DataFrame(rows, columns=list(columns))

    def plot(self, ax: Axes | None = None) -> Axes:
        """The interval at every look against the generations spent, with the target."""
        from bayeseval import plots

        return plots.plot_looks(self, ax=ax)

    def sentence(self) -> str:
        """The run so far, in words."""
        budget = "" if self.most is None else f", or at {self.most:,} generations"
        rule = f"rule: {self.rule.sentence()}{budget}"
        last = self.last
        if last is None:
            return f"no look yet; {rule}"
        number = self.stopped_at
        shown = last if number is None else self.decisions[number - 1]
        state = f"going on after look {len(self)}" if number is None else f"stopped at look {number} of {len(self)}"
        return (
            f"{shown.quantity}: {ends(shown.value, shown.lower, shown.upper)} ({shown.interval}), {state} with "
            f"{shown.n_generations:,} generations; {shown.reason}; {rule}"
        )

    def __repr__(self) -> str:
        warnings = self.last.warnings if self.last else ()
        return "\n".join([*(f"Warning: {warning}" for warning in warnings), self.sentence()])

    def _repr_html_(self) -> str:
        body = [
            [str(number), f"{one.n_generations:,}", ends(one.value, one.lower, one.upper), f"{one.width:.3g}",
             "stop" if one.stop else "go on", one.reason]
            for number, one in enumerate(self.decisions, 1)
        ]  # fmt: skip
        warnings = self.last.warnings if self.last else ()
        header = ["look", "generations", "value", "width", "", "reason"]
        return html_table(header, body, [*(f"⚠ {warning}" for warning in warnings), self.sentence()])


def _refuse_steps_back(before: Decision, now: Decision) -> None:
    if now.n_generations < before.n_generations:
        raise DataError(
            f"the last look saw {before.n_generations:,} generations, and this posterior has seen "
            f"{now.n_generations:,}: give the posterior of all data so far, posterior.update(more)"
        )
    if now.runs != before.runs:
        raise DataError(f"the log is of {_named(before.runs)}, but this look at {_named(now.runs)}: start another log")


def _named(runs: Sequence[tuple[str, str]]) -> str:
    return " and ".join(f"{system!r} on {benchmark!r}" for system, benchmark in runs)
