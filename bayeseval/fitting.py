"""From counts to posteriors: the one function that most people call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import _compat
from bayeseval._version import __version__
from bayeseval.catalogue import DEFAULT_MODEL, ModelFile, load_model
from bayeseval.counts import Counts
from bayeseval.credit_data import CreditData
from bayeseval.credits import Credits
from bayeseval.engines.quadrature import DRAW_NODES, ExactPosterior, exact_under
from bayeseval.engines.records import Draws, NutsSettings
from bayeseval.engines.sampling import sample
from bayeseval.errors import DataError, OptionError, require_choice
from bayeseval.model_data import ModelData
from bayeseval.pair_data import PairData
from bayeseval.pairs import Pairs
from bayeseval.posterior.credit import CreditPosterior
from bayeseval.posterior.pairs import PairPosterior
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.posteriors import Posteriors

if TYPE_CHECKING:
    from bayeseval.outcomes import Outcomes

__all__ = ["ENGINES", "as_counts", "fit"]

ENGINES = ("nuts", "quadrature")


def fit(
    counts: Counts | Outcomes | Credits | Pairs | Sequence[Pairs],
    model: str | Path | ModelFile | Sequence[str | Path | ModelFile] | None = None,
    *,
    prior: Mapping[str, tuple[float, ...]] | None = None,
    engine: str = "nuts",
    seed: int = 0,
    draws: int = 1000,
    tune: int | None = None,
    chains: int = 4,
    target_accept: float | None = None,
    sampler: str = "numpyro",
    vectorised: bool | None = None,
    importance: bool = True,
    progress: bool = True,
) -> Any:
    r"""Fit a model to every run.

    The default model gives every prompt its own probability of a correct answer,

    .. math:: c_i \mid p_i \sim \mathrm{Binomial}(k_i, p_i),\quad p_i \sim \mathrm{Beta}(\mu, \sigma),

    with hyperpriors on :math:`\mu` and on :math:`\rho = \sigma^2/(\mu(1-\mu))`.

    Parameters
    ----------
    counts : Counts, Outcomes, Credits or Pairs
        One run or many; each (system, benchmark) is fitted on its own. `Pairs` of two systems, or a list of them: both
        systems are fitted together.
    model : str, pathlib.Path or ModelFile, or a list of them, optional
        ``"beta_binomial"`` by default; for credits ``"graded"`` where levels were declared, else ``"continuous"``; for
        pairs ``"coupled"`` where generations are coupled, else ``"paired"``.
        Name of a built-in model (see `bayeseval.models`), or path of a model file. A file is run: use only files that
        you trust. Several models in a list are all fitted to every run and stacked (see `bayeseval.Stacked`).
    prior : mapping of str to tuple of float, optional
        Prior parameters to change, such as ``{"mu": (0.5, 0.5)}``; of several models, those that have them.
    engine : {"nuts", "quadrature"}
        ``"nuts"`` samples any model; ``"quadrature"`` is exact, for two-parameter models that declare it. Of several
        models, those that do not are sampled.
    seed : int
        Same seed, same result.
    draws, tune, chains : int
        Draws kept in each chain, warm-up iterations (1,000 unless the model file says otherwise), and chains.
        ``"quadrature"`` gives as many draws in all.
    target_accept : float, optional
        Target acceptance probability of NUTS; 0.9 unless the model file says otherwise.
    sampler : {"numpyro", "nutpie", "blackjax", "pymc"}
        Who runs NUTS: compiled programs of our own, ``pm.sample`` (nutpie, pymc), or BlackJAX on the same density.
        nutpie and BlackJAX come with ``bayeseval[samplers]``.
    vectorised : bool, optional
        Sample chains and runs side by side; by default on an accelerator only.
    importance : bool
        Whether draws of a model with up to eight parameters, which the exact engine does not know, are resampled by
        importance where its chains did not mix (see `bayeseval.engines.importance`); the check says so.
    progress : bool
        Whether a progress bar may appear.

    Returns
    -------
    Posterior, CreditPosterior, PairPosterior or Posteriors
        A `Posterior` for one run, of credits a `CreditPosterior`; `Posteriors` for several; of several models, each is
        a `Stacked`. Of pairs a `PairPosterior`, or a list of them.

    Raises
    ------
    DataError
        If there is nothing to fit.
    ModelFileError
        If the model file does not follow the protocol.
    OptionError
        If an argument is out of range, the exact engine does not know the model, or the model is for other data:
        counts, credits or pairs.

    Examples
    --------
    >>> import bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2], generations=[4, 4, 4, 4])
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> round(post.mean().value, 4)
    0.5326
    """
    source: Any = counts
    if model is None:
        model = _default_model(source)
    require_choice("engine", engine, ENGINES)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise OptionError(f"seed must be a whole number of at least 0, but {seed!r} was given")
    data = _as_data(source, model)
    if isinstance(model, Sequence) and not isinstance(model, str):
        from bayeseval.comparison.fits import fit_stacked

        options = {
            "seed": int(seed), "draws": draws, "tune": tune, "chains": chains, "target_accept": target_accept,
            "sampler": sampler, "vectorised": vectorised, "importance": importance, "progress": progress,
        }  # fmt: skip
        return fit_stacked(fit, source, [load_model(one) for one in model], prior or {}, engine, options)
    found = load_model(model)
    tune = found.nuts.get("tune", 1000) if tune is None else tune
    target_accept = found.nuts.get("target_accept", 0.9) if target_accept is None else target_accept
    settings = NutsSettings(draws, tune, chains, target_accept, sampler, vectorised, importance)
    priors = found.prior(prior)
    of_pairs = found.for_pairs
    runs = data if of_pairs else data.runs()
    if not runs:
        raise DataError("there is nothing to fit: the counts hold no prompt")
    outcomes = [None] * len(runs) if of_pairs else _outcomes_of(source, len(runs))
    posteriors: dict[int, Any] = {}

    def keep(index: int, parts: Draws, exact: ExactPosterior | None) -> None:
        run = runs[index]
        made = _how_made(found, priors, engine, seed, settings)
        if parts.resampled:
            made["importance"] = parts.resampled
        draws = (run, found, priors, parts.parameters, parts.statistics, engine)
        if isinstance(run, Credits | Pairs):
            kind: Any = CreditPosterior if isinstance(run, Credits) else PairPosterior
            posteriors[index] = kind(*draws, int(seed), made)
        else:
            posteriors[index] = Posterior(*draws, exact, int(seed), made, outcomes=outcomes[index])

    if engine == "quadrature":
        if not found.has_quadrature:
            raise OptionError(f"the exact engine does not know model {found.name!r}; use engine='nuts'")
        for index, run in enumerate(runs):
            keep(index, *_exact_draws(run, priors, int(seed), settings))
    else:
        try:
            for index, parts in sample(found, priors, _model_data(source, runs, found), int(seed), settings, progress):
                keep(index, parts, None)
        except KeyboardInterrupt:
            if not posteriors:
                raise
            warnings.warn(
                f"interrupted: {len(posteriors)} of {len(runs)} runs are fitted, and only they are returned",
                stacklevel=2,
            )
    ordered = tuple(posteriors[index] for index in sorted(posteriors))
    if of_pairs:
        return ordered[0] if isinstance(source, Pairs) else list(ordered)
    return ordered[0] if len(runs) == 1 else Posteriors(ordered)


def _default_model(data: Any) -> str:
    if isinstance(data, Credits):
        return "graded" if data.levels else "continuous"
    pairs = _pairs_of(data)
    if pairs is None:
        return DEFAULT_MODEL
    return "coupled" if all(one.coupled for one in pairs) else "paired"


def _pairs_of(data: Any) -> list[Pairs] | None:
    """The pairs that were given, if pairs were given."""
    if isinstance(data, Pairs):
        return [data]
    if isinstance(data, Sequence) and not isinstance(data, str) and data:
        return list(data) if all(isinstance(one, Pairs) for one in data) else None
    return None


def _as_pairs(pairs: list[Pairs], models: list[ModelFile]) -> list[Pairs]:
    """The pairs themselves, once the model is known to be made for them."""
    if len(models) > 1:
        raise OptionError("models of two systems are fitted one at a time, not stacked: name one model")
    if not models[0].for_pairs:
        known = "'coupled' or 'coupled_plackett'" if all(one.coupled for one in pairs) else "'paired'"
        raise OptionError(
            f"model {models[0].name!r} is for one system, and Pairs of two were given: fit model={known}, or fit the "
            f"counts of each system by itself"
        )
    return pairs


def _as_data(data: Any, model: Any) -> Any:
    """Counts, or the credits or pairs themselves, once the model is known to be made for them."""
    models = model if isinstance(model, Sequence) and not isinstance(model, str) else [model]
    found = [load_model(one) for one in models]
    pairs = _pairs_of(data)
    if pairs is not None:
        return _as_pairs(pairs, found)
    of_credits = isinstance(data, Credits)
    for one in found:
        if one.for_pairs:
            raise OptionError(
                f"model {one.name!r} compares two systems on the same prompts, and {type(data).__name__} of single "
                f"systems were given: align two runs with be.Pairs.of(a, b), or be.Pairs.of(a, b, coupled=True) where "
                f"generations share their noise, and fit that"
            )
    if of_credits and len(models) > 1:
        raise OptionError("models of credits are fitted one at a time, not stacked: name one model")
    for one in found:
        if of_credits and not one.for_credits:
            raise OptionError(
                f"model {one.name!r} is for counts of correct generations, and credits were given: fit "
                f"model='graded' or 'continuous', or say which credits are correct with credits.outcomes(threshold=1)"
            )
        if one.for_credits and not of_credits:
            raise OptionError(
                f"model {one.name!r} is for credits, and {type(data).__name__} holds right and wrong alone: make "
                f"be.Credits.from_frame(...) or be.Credits.from_outcomes(...)"
            )
    if not of_credits:
        return as_counts(data)
    for run in data.runs():
        if not run.n_generations:
            raise DataError(
                f"{run.label} has no scored generation on any of its {run.n_prompts:,} prompts; leave that run out"
            )
    return data


def _model_data(source: Any, runs: Sequence[Any], model: ModelFile) -> list[Any]:
    """What the model is given of every run."""
    if model.for_pairs:
        data = [PairData(run, model.blocks) for run in runs]
        for one in data:
            _ = one.prompts  # refused before anything is compiled
        return data
    if model.for_credits:
        return [CreditData(run.tables()[0], model.blocks) for run in runs]
    totals = _run_totals(source) if "runs" in model.blocks else [None] * len(runs)
    return [ModelData.of(run, model.blocks, total) for run, total in zip(runs, totals, strict=True)]


def as_counts(data: Counts | Outcomes) -> Counts:
    """Counts of what the user gave.

    Raises
    ------
    OptionError
        If it is neither Counts nor Outcomes.
    """
    if isinstance(data, Counts):
        return data
    if isinstance(data, Pairs):
        raise OptionError(
            "Counts or Outcomes of single systems are needed, but Pairs of two were given: give the runs themselves"
        )
    if isinstance(data, Credits):
        raise OptionError(
            "Counts or Outcomes are needed, but Credits were given: say from which credit on a generation is correct, "
            "as in credits.outcomes(threshold=1)"
        )
    if hasattr(data, "counts") and callable(data.counts):
        return data.counts()
    raise OptionError(
        f"Counts or Outcomes are needed, but {type(data).__name__} was given; make them with be.read(...), "
        f"be.Counts.from_frame(...) or be.Counts.from_matrix(...)"
    )


def _outcomes_of(data: Any, runs: int) -> Sequence[Any]:
    """The outcomes of each run, where they were given: an update finds generations there that it has seen."""
    if isinstance(data, Counts | Credits):
        return [None] * runs
    return [data] if runs == 1 else data.runs()


def _run_totals(data: Counts | Outcomes) -> list[np.ndarray | None]:
    """Correct generations of each run over all prompts, for each (system, benchmark), as far as outcomes tell."""
    if isinstance(data, Counts):
        return [None] * len(data.runs())
    return [outcomes.run_totals() for outcomes in data.runs()]


def _exact_draws(
    counts: Counts, prior: Mapping[str, tuple[float, ...]], seed: int, settings: NutsSettings
) -> tuple[Draws, ExactPosterior]:
    exact = exact_under(prior, counts.correct, counts.generations, nodes=DRAW_NODES)
    shape = (settings.chains, settings.draws)
    parts = exact.draws(settings.chains * settings.draws, np.random.default_rng([seed, 0]))
    # Neighbours of the sequence go to different chains, so that every chain covers the posterior evenly.
    mu, not_mu, rho = (parts[name].reshape(shape[::-1]).T for name in ("mu", "not_mu", "rho"))
    parameters = {"mu": mu, "rho": rho, "sigma": np.sqrt(mu * not_mu * rho)}
    return Draws(parameters, {}), exact


def _how_made(
    model: ModelFile,
    prior: Mapping[str, tuple[float, ...]],
    engine: str,
    seed: int,
    settings: NutsSettings,
) -> dict[str, Any]:
    packages = ("numpy", "scipy", *(("jax", "numpyro", "pymc") if engine == "nuts" else ()))
    return {
        "model": model.name,
        "model_digest": model.digest,
        "prior": {name: list(values) for name, values in prior.items()},
        "engine": engine,
        "sampler": settings.sampler if engine == "nuts" else "quadrature",
        "seed": int(seed),
        "draws": settings.draws,
        "tune": settings.tune,
        "chains": settings.chains,
        "target_accept": settings.target_accept,
        "resample": settings.importance,
        "versions": {"bayeseval": __version__, **{name: _compat.package_version(name) for name in packages}},
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }
