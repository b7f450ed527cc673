"""What is done about chains that did not mix, in models with few parameters: they are resampled, and that is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayeseval import _compat
from bayeseval.catalogue import ModelFile
from bayeseval.credit_data import CreditData
from bayeseval.engines.importance import LARGEST_DIMENSION, PARETO_LIMIT, resample
from bayeseval.engines.programs import density_of, xla_folder
from bayeseval.engines.records import Draws
from bayeseval.model_data import ModelData
from bayeseval.pair_data import PairData

__all__ = ["ESS_LIMIT", "RHAT_LIMIT", "mend"]

RHAT_LIMIT = 1.01
ESS_LIMIT = 400
RHAT_AIM, ESS_AIM = 1.007, 800
"""Chains are mended before they reach the limits at which a check warns."""
MOST_NUMBERS, MOST_TOGETHER = 1 << 24, 1024
"""Numbers held at once, and points evaluated side by side, while a density is computed at many points."""
FEWEST = 10
"""Draws for each dimension without which no density can be fitted around them."""

_evaluators: dict[Any, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {}


def mend(draws: Draws, model: ModelFile, prior: Mapping[str, tuple[float, ...]], data: Any, seed: int) -> Draws:
    """Resample draws of chains that did not mix; draws that are well, or cannot be mended, come back as they are.

    Parameters
    ----------
    draws : Draws
    model : ModelFile
    prior : mapping of str to tuple of float
    data : ModelData, CreditData or PairData
    seed : int

    Returns
    -------
    Draws
        With ``resampled`` telling what was wrong and how the weights look, where it was done.
    """
    positions = draws.positions
    if positions is None or not 0 < positions.shape[-1] <= LARGEST_DIMENSION:
        return draws
    if positions[..., 0].size < FEWEST * positions.shape[-1]:
        return draws
    trouble = _trouble(draws, positions)
    if not trouble:
        return draws
    chains, length, dimension = positions.shape
    with _compat.double_precision(), _compat.compilation_cache(xla_folder()):
        density, constrain, facts = _evaluator(model, prior, data)
        arrays = [data.arrays[name] for name in facts["inputs"]]
        result = resample(
            lambda points: np.asarray(density(points, arrays)),
            positions.reshape(-1, dimension),
            chains * length,
            np.random.default_rng(seed),
        )
        if not result.pareto_k < PARETO_LIMIT:
            return draws
        values = [np.asarray(value) for value in constrain(result.positions, arrays)]
    parameters = {
        name: value.reshape(chains, length, *value.shape[1:])
        for name, value in zip(facts["names"], values, strict=True)
    }
    record = {**trouble, "pareto_k": result.pareto_k, "effective": result.effective}
    return Draws(parameters, {}, result.positions.reshape(positions.shape), record)


def _trouble(draws: Draws, positions: np.ndarray) -> dict[str, float]:
    """What is wrong with the chains: R-hat, effective draws, divergences; nothing if all is well."""
    from arviz_stats.base import array_stats

    axes = {"chain_axis": 0, "draw_axis": 1}
    rhat = max(float(array_stats.rhat(positions[..., d], **axes)) for d in range(positions.shape[-1]))
    ess = min(
        float(array_stats.ess(positions[..., d], method=method, **options, **axes))
        for d in range(positions.shape[-1])
        for method, options in (("bulk", {}), ("tail", {"prob": (0.05, 0.95)}))
    )
    divergences = int(np.sum(draws.statistics.get("diverging", 0)))
    if rhat <= RHAT_AIM and ess >= min(ESS_AIM, positions[..., 0].size / 5) and not divergences:
        return {}
    return {"rhat": rhat, "ess": ess, "divergences": divergences}


def _evaluator(
    model: ModelFile, prior: Mapping[str, tuple[float, ...]], data: ModelData | CreditData | PairData
) -> tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]:
    """Density and constrained quantities of many points at once, compiled once for each model, prior and shape."""
    import jax

    shapes = tuple((name, values.shape) for name, values in data.arrays.items())
    key = (model.digest, tuple(sorted(prior.items())), shapes, data.choices)
    if key not in _evaluators:
        _compat.import_pymc()
        density, constrain, facts = density_of(model, prior, data)
        sizes = sorted((int(values.size) for values in data.arrays.values()), reverse=True)
        # Some models hold an array for every pair of, say, prompts and nodes.
        together = int(np.clip(MOST_NUMBERS // max(int(np.prod(sizes[:2])), 1), 1, MOST_TOGETHER))

        def at_many(function: Callable[..., Any]) -> Callable[..., Any]:
            return jax.jit(
                lambda points, arrays: jax.lax.map(lambda one: function(one, arrays), points, batch_size=together)
            )

        _evaluators[key] = at_many(density), at_many(constrain), facts
    return _evaluators[key]
