"""More generations of a run that was fitted before: the posterior of all of its data."""

from __future__ import annotations

from typing import Any

from bayeseval.comparison.stacked import Stacked
from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.errors import DataError, OptionError
from bayeseval.fitting import as_counts, fit
from bayeseval.outcomes import Outcomes
from bayeseval.posterior.credit import CreditPosterior
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.posteriors import Posteriors
from bayeseval.readers.records import refuse_other_runs

__all__ = ["update"]

SETTINGS = ("draws", "tune", "chains", "target_accept")
CHANGEABLE = (*SETTINGS, "engine", "seed", "sampler", "vectorised", "importance")


def update(posterior: Any, more: Counts | Outcomes | Credits, *, progress: bool = True, **options: Any) -> Any:
    """Fit the same model, with the same priors, engine, seed and settings, to the data so far and more of them.

    Parameters
    ----------
    posterior : Posterior, Posteriors, Stacked or CreditPosterior
        Also one that `bayeseval.load` read. Posteriors of many runs are updated run by run.
    more : Counts, Outcomes or Credits
        Further generations of the same runs. Where the fit and ``more`` are both outcomes (or credits), a generation
        that occurs in both is refused. Counts cannot tell: of them, and after `bayeseval.load`, which knows counts
        only, it is up to the caller that no generation is given twice.
    progress : bool
        Whether a progress bar may appear.
    **options
        Settings of `bayeseval.fit` to change: draws, tune, chains, target_accept, engine, seed, sampler, vectorised,
        importance.

    Returns
    -------
    Posterior, Posteriors, Stacked or CreditPosterior
        As ``posterior``, and equal to a fit of all data at once. Nothing about the posterior depends on how often it
        was updated, or on what made one stop.

    Raises
    ------
    DataError
        If a generation occurs twice, a run is not one of those fitted, or groups do not agree.
    OptionError
        If a setting is none that can be changed, or the model needs outcomes and they are not at hand.

    Examples
    --------
    >>> import bayeseval as be
    >>> first = be.Counts.from_arrays(correct=[1, 0, 2], generations=2)
    >>> post = be.fit(first, engine="quadrature", seed=1, progress=False)
    >>> post = post.update(be.Counts.from_arrays(correct=[2, 1, 2], generations=2), progress=False)
    >>> post.counts
    Counts: system on benchmark, 3 prompts, 12 generations, 4 to each prompt
    """
    for name in options:
        if name not in CHANGEABLE:
            raise OptionError(
                f"an update cannot change {name!r}, only {', '.join(CHANGEABLE)}; for another model or prior call "
                f"be.fit with all of the data"
            )
    if isinstance(posterior, Posteriors):
        return _update_each(posterior, more, progress, options)
    if isinstance(posterior, Stacked):
        return Stacked.of([update(one, more, progress=progress, **options) for one in posterior.members])
    if isinstance(posterior, CreditPosterior):
        data: Any = _all_credits(posterior, more)
    else:
        data = _all_results(posterior, more)
    return fit(data, posterior.model, prior=posterior.prior, progress=progress, **{**_settings(posterior), **options})


def _settings(posterior: Posterior | CreditPosterior) -> dict[str, Any]:
    """How a posterior was made, as arguments of `fit`."""
    made = posterior.made
    known = {name: made[name] for name in SETTINGS if name in made}
    if made.get("sampler", "quadrature") != "quadrature":
        known["sampler"] = made["sampler"]
    return {**known, "importance": made.get("resample", True), "engine": posterior.engine, "seed": posterior.seed}


def _update_each(posteriors: Posteriors, more: Any, progress: bool, options: dict[str, Any]) -> Posteriors:
    there = {(item.system, item.benchmark) for item in posteriors}
    new = more.runs() if isinstance(more, Counts | Outcomes | Credits) else as_counts(more).runs()
    further = {run.run_names[0]: run for run in new}
    other = [run for run in further if run not in there]
    if other:
        raise DataError(
            f"the new results are of {other[0][0]!r} on {other[0][1]!r}, which is none of the {len(there)} runs that "
            f"were fitted: fit that run on its own"
        )
    return Posteriors(
        tuple(
            update(item, further[run], progress=progress, **options)
            if (run := (item.system, item.benchmark)) in further
            else item
            for item in posteriors
        )
    )


def _all_results(posterior: Posterior, more: Any) -> Counts | Outcomes:
    """Outcomes where the posterior has them and gets more of them, else counts."""
    if isinstance(more, Outcomes) and posterior.outcomes is not None:
        refuse_other_runs(posterior.outcomes, more)
        return _joined(posterior.outcomes, more)
    if "runs" in posterior.model.blocks:
        raise OptionError(
            f"model {posterior.model.name!r} needs the generations themselves, and here they are not at hand: join all "
            f"outcomes with be.Outcomes.concat([...]) and fit them again"
        )
    return posterior.counts.add(as_counts(more))


def _all_credits(posterior: CreditPosterior, more: Any) -> Credits:
    if not isinstance(more, Credits):
        raise OptionError(f"this posterior is of credits, and {type(more).__name__} was given: give be.Credits")
    refuse_other_runs(posterior.credits, more)
    return _joined(posterior.credits, more)


def _joined(here: Any, more: Any) -> Any:
    try:
        return here.add(more)
    except DataError as error:
        raise DataError(
            f"{error} and fit all of them"
            + ("" if isinstance(here, Credits) else ", or give their counts, outcomes.counts()")
        ) from None
