"""Several models fitted to every run, and stacked: what ``be.fit(counts, model=[...])`` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayeseval.catalogue import ModelFile
from bayeseval.comparison.stacked import Stacked
from bayeseval.counts import Counts
from bayeseval.errors import OptionError
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.posteriors import Posteriors

if TYPE_CHECKING:
    from bayeseval.outcomes import Outcomes

__all__ = ["fit_stacked"]


def fit_stacked(
    fit: Callable[..., Posterior | Posteriors],
    counts: Counts | Outcomes,
    models: Sequence[ModelFile],
    prior: Mapping[str, tuple[float, ...]],
    engine: str,
    options: Mapping[str, Any],
) -> Stacked | Posteriors:
    """Fit every model by ``fit``, and stack the fits of each run.

    Parameters
    ----------
    fit : callable
        `bayeseval.fit`, which takes one model at a time.
    counts : Counts or Outcomes
    models : sequence of ModelFile
    prior : mapping of str to tuple of float
        A model takes those that it has; one that no model has is refused.
    engine : {"nuts", "quadrature"}
        Models that the exact engine does not know are sampled.
    options : mapping
        Further arguments of ``fit``.

    Returns
    -------
    Stacked or Posteriors
        Posteriors of Stacked for several runs. Where an interrupt left a run without the fit of some model, it is
        left out, after the warning of ``fit``.

    Raises
    ------
    OptionError
        If there is no model, or no model has a prior of that name.
    """
    if not models:
        raise OptionError("model=[] names no model; give a name, a path, or a list of them")
    known = [model.prior() for model in models]
    for name in prior:
        if not any(name in own for own in known):
            there = ", ".join(dict.fromkeys(key for own in known for key in own))
            raise OptionError(f"none of the models has a prior named {name!r}; there are {there}")
    fits: list[dict[tuple[str, str], Posterior]] = []
    for model, own in zip(models, known, strict=True):
        changes = {name: values for name, values in prior.items() if name in own}
        used = engine if model.has_quadrature else "nuts"
        answer = fit(counts, model, prior=changes, engine=used, **options)
        answers = [answer] if isinstance(answer, Posterior) else list(answer)
        fits.append({(item.system, item.benchmark): item for item in answers})
    runs = [run for run in fits[0] if all(run in one for one in fits)]
    if not runs:
        raise KeyboardInterrupt
    stacks = tuple(Stacked.of([one[run] for one in fits]) for run in runs)
    return stacks[0] if len(counts.run_names) == 1 else Posteriors(stacks)
