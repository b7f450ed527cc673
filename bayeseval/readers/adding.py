"""Further generations joined with those of an earlier day; none of them is counted twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.errors import DataError, OptionError
from bayeseval.outcomes import Outcomes
from bayeseval.readers.cells import Origin
from bayeseval.readers.records import number

__all__ = ["added_to"]

Results = Counts | Outcomes | Credits


def added_to(old: Results, new: Results) -> Results:
    """What was there and what is new, also of runs that were not there before.

    Parameters
    ----------
    old, new : Counts, Outcomes or Credits
        Outcomes are counted where ``old`` is counts.

    Raises
    ------
    OptionError
        If counts shall be added to outcomes, or anything else to credits.
    DataError
        If a generation is there already.

    Examples
    --------
    >>> old = Counts.from_arrays([1, 0], 4, prompt=["a", "b"], system="one")
    >>> new = Outcomes.from_matrix([[1, 1]], prompts=["a"], system=["one"])
    >>> both = added_to(old, Outcomes.concat([new, Outcomes.from_matrix([[0]], prompts=["a"], system="two")]))
    >>> both.to_frame()[["system", "prompt", "generations", "correct"]].values.tolist()
    [['one', 'a', 6, 3], ['one', 'b', 4, 0], ['two', 'a', 1, 0]]
    """
    if not isinstance(old, Counts | Outcomes | Credits):
        raise OptionError(
            f"add_to= takes the Counts, Outcomes or Credits of earlier days, but {type(old).__name__} was given"
        )
    more = _of_the_same_kind(old, new)
    there = set(old.run_names)
    known = [run for run in more.run_names if run in there]
    fresh = [run for run in more.run_names if run not in there]
    whole: Any = old
    if known:
        whole = whole.add(_runs(more, known))
    if fresh:
        whole = type(old)._concat(
            [whole, _runs(more, fresh)], [Origin("the earlier results"), Origin("the new results")]
        )
    said = f"added {number(more.n_generations, 'generation')} to {number(old.n_generations, 'earlier one')}"
    runs = f"; {number(len(fresh), 'run')} {'is' if len(fresh) == 1 else 'are'} new" if fresh else ""
    return cast(Results, whole._with_account(*whole.account, f"{said}{runs}"))


def _of_the_same_kind(old: Results, new: Results) -> Any:
    if isinstance(old, Counts) and isinstance(new, Outcomes):
        return new.counts()
    if type(old) is not type(new):
        advice = (
            "add them to their counts, outcomes.counts()"
            if isinstance(old, Outcomes) and isinstance(new, Counts)
            else "read the new ones with the same kind="
        )
        raise OptionError(f"{type(new).__name__} were read, and the earlier results are {type(old).__name__}: {advice}")
    if isinstance(old, Credits) and old.levels is not None:
        try:
            return cast(Credits, new).with_levels(old.levels)
        except DataError as problem:
            raise DataError(f"the earlier credits declare levels that the new ones do not keep: {problem}") from None
    return new


def _runs(results: Any, names: Iterable[tuple[str, str]]) -> Any:
    """The rows of some runs, in their order."""
    wanted = set(names)
    if wanted >= set(results.run_names):
        return results
    keep = np.array([name in wanted for name in results.run_names])[results._runs[0]]
    return results._of_runs(np.flatnonzero(keep))
