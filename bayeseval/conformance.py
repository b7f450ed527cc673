"""The conformance test of model files: what CI runs over every built-in model, and a user over their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from bayeseval import _compat, metrics
from bayeseval.catalogue import ModelFile, load_model
from bayeseval.credit_data import CreditData
from bayeseval.errors import BayesevalError, ModelFileError
from bayeseval.likelihoods import beta_binomial_loglik
from bayeseval.model_data import ModelData
from bayeseval.pair_data import PairData
from bayeseval.priors import credit_specimen, pair_specimen, prior_draws, specimen
from bayeseval.prompts import BetaMixture, PairDistribution

__all__ = ["ModelCheck", "check_model"]

POINTS = 5


@dataclass(frozen=True, repr=False)
class ModelCheck:
    """Result of checking a model file.

    Attributes
    ----------
    model : str
        Name or path.
    passed : tuple of str
        What holds.
    problem : str or None
        The first thing that is wrong, in a sentence; None when all is well.
    """

    model: str
    passed: tuple[str, ...]
    problem: str | None

    @property
    def ok(self) -> bool:
        """Whether the file follows the protocol."""
        return self.problem is None

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        lines = [f"  ok: {text}" for text in self.passed]
        verdict = "follows the protocol" if self.ok else f"does not follow the protocol: {self.problem}"
        return "\n".join([f"{self.model} {verdict}", *lines])

    def _repr_html_(self) -> str:
        return "<br>".join(escape(line) for line in repr(self).splitlines())


def check_model(model: str | Path | ModelFile) -> ModelCheck:
    """Check that a model file follows the protocol.

    The file is run: check only files that you trust.

    Parameters
    ----------
    model : str, pathlib.Path or ModelFile
        Name of a built-in model or path of a file.

    Returns
    -------
    ModelCheck
        True where all is well; else ``.problem`` says in a sentence what is wrong and where.

    Examples
    --------
    >>> import bayeseval as be
    >>> be.check_model("beta_binomial").ok
    True
    """
    passed: list[str] = []
    try:
        found = load_model(model)
        passed.append("the file runs and defines build(data, prior), prompt_distribution(draws) and PRIOR")
        for sentence, step in _steps(found):
            step()
            passed.append(sentence)
    except BayesevalError as error:
        return ModelCheck(str(model), tuple(passed), str(error))
    return ModelCheck(str(model), tuple(passed), None)


def _steps(model: ModelFile) -> list[tuple[str, Callable[[], None]]]:
    steps = [
        ("the log density is finite and becomes a JAX function of the data", lambda: _check_density(model)),
        ("prompt_distribution gives one distribution for each draw", lambda: _check_distribution(model)),
    ]
    if model.has_quadrature:
        steps.append(("the density is that of the exact engine", lambda: _check_quadrature(model)))
    return steps


def _check_density(model: ModelFile) -> None:
    small = specimen(model.blocks)
    more: ModelData | CreditData | PairData
    if isinstance(small, CreditData):
        more = credit_specimen(model.blocks, 0.2)
    elif isinstance(small, PairData):
        more = pair_specimen(model.blocks, 1)
    else:
        more = ModelData(
            np.where(small.generations == 4, 1, small.correct), small.generations, small.group, small.group_names,
            np.array([7, 0, 0, 0]), small.blocks, small.label,
        )  # fmt: skip
    values = log_density(model, model.prior(), [small, more], _points(model))
    if not np.isfinite(values).all():
        raise ModelFileError(f"{model.path}: the log density is not finite near the model's initial point")
    if np.ptp(values[1] - values[0]) < 1e-8:
        raise ModelFileError(
            f"{model.path}: the density does not depend on the data; enter them with pm.Data and use them in an "
            f"observed variable or a pm.Potential"
        )


def _check_distribution(model: ModelFile) -> None:
    draws = prior_draws(model, model.prior(), 50, seed=1)
    distribution = model.prompt_distribution(draws)
    if distribution.n_draws != 50:
        raise ModelFileError(
            f"{model.path}: prompt_distribution() got 50 draws but gave {distribution.n_draws} distributions"
        )
    if isinstance(distribution, BetaMixture):
        weight = distribution.weight.sum(axis=1) + distribution.atoms.sum(axis=1)
        inside = [(values >= 0).all() and (values <= 1).all() for values in (distribution.mu, distribution.rho)]
        proper = np.allclose(weight, 1, atol=1e-8) and all(inside)
    else:
        both = isinstance(distribution, PairDistribution)
        mean = distribution.score(metrics.mean()) if both else distribution.mean()
        proper = bool(np.isfinite(mean).all() and (mean >= 0).all() and (mean <= 1).all())
    if not proper:
        raise ModelFileError(
            f"{model.path}: prompt_distribution() must give weights that sum to 1, and means and correlations in [0, 1]"
        )


def _check_quadrature(model: ModelFile) -> None:
    from scipy.special import betaln, expit, log_expit

    prior = model.prior()
    if set(prior) != {"mu", "rho"}:
        raise ModelFileError(
            f"{model.path}: QUADRATURE needs exactly the priors 'mu' and 'rho', but it has {set(prior)}"
        )
    data = specimen(model.blocks)
    if not isinstance(data, ModelData):
        kind = "credits" if isinstance(data, CreditData) else "two systems"
        raise ModelFileError(f"{model.path}: QUADRATURE is for counts, and this model is for {kind}; remove it")
    points = _points(model)
    if points.shape[1] != 2:
        raise ModelFileError(f"{model.path}: QUADRATURE needs two parameters, but the model has {points.shape[1]}")
    values = log_density(model, prior, [data], points)[0]
    x, y = points.T
    closed = beta_binomial_loglik(np, expit(x), expit(-x), expit(y), expit(-y), data.survival)
    for z, (a, b) in ((x, prior["mu"]), (y, prior["rho"])):
        closed = closed + a * log_expit(z) + b * log_expit(-z) - betaln(a, b)
    if np.ptp(values - closed) > 1e-8 * max(1.0, float(np.abs(closed).max())):
        raise ModelFileError(
            f"{model.path}: QUADRATURE is declared, but the density is not that of p_i ~ Beta(mu, rho) with Beta "
            f"priors on mu and rho (in this order); remove the declaration"
        )


def log_density(
    model: ModelFile, prior: dict[str, tuple[float, ...]], data: Sequence[Any], points: np.ndarray
) -> np.ndarray:
    """Log density of the model at unconstrained points (point, D), for each data set (data, point)."""
    _compat.import_pymc()
    from bayeseval.engines.programs import density_of

    with _compat.double_precision():
        import jax

        values = []
        for one in data:
            density, _, facts = density_of(model, prior, one)
            arrays = [one.arrays[name] for name in facts["inputs"]]
            values.append([float(jax.jit(density)(point, arrays)) for point in points])
    return np.array(values)


def _points(model: ModelFile) -> np.ndarray:
    from bayeseval.engines.programs import density_of

    _compat.import_pymc()
    with _compat.double_precision():
        data: Any = specimen(model.blocks)
        _, _, facts = density_of(model, model.prior(), data)
    initial = np.array(facts["initial"])
    return initial + np.random.default_rng(1).uniform(-1, 1, (POINTS, initial.size))
