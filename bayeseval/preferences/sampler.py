r"""Draws of strengths by NUTS, in coordinates in which the posterior is nearly a standard normal for every prior scale.

Around the mode, the log likelihood of log strengths is nearly quadratic, with information :math:`H = VhV^T` and
:math:`b = V^T(H\lambda + g)`. Given the prior scale :math:`s`, the posterior is then normal, and with

.. math:: \lambda = V z, \qquad z_k = \frac{s^2 b_k}{1+h_k s^2} + \frac{s}{\sqrt{1+h_k s^2}}\, x_k

the :math:`x_k` are independent standard normals whatever :math:`s` is: directions that the data settle are centred,
those that only the prior settles are not, and nothing pulls the sampler into a funnel. V has M - 1 columns, orthogonal
to the constant vector, so that log strengths sum to 0. NUTS samples the exact posterior in these coordinates.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeseval import _compat
from bayeseval.engines.programs import DENSE_LIMIT, xla_folder
from bayeseval.engines.records import NutsSettings
from bayeseval.preferences.davidson import Tallies, evidence

__all__ = ["Sampled", "sample_strengths", "scales_of"]

Floats = NDArray[np.float64]

GRID = 25
"""Prior scales at which Laplace's method looks for the likely ones."""


class Sampled(NamedTuple):
    """Posterior draws.

    Attributes
    ----------
    strength : float array (chain, draw, system)
        Log strengths, summing to 0.
    nu : float array (chain, draw) or None
        Davidson's parameter; None in a model without ties.
    scale : float array (chain, draw)
        Standard deviation of log strengths in the prior.
    diverging : bool array (chain, draw)
    """

    strength: Floats
    nu: Floats | None
    scale: Floats
    diverging: NDArray[np.bool_]


def scales_of(tallies: Tallies, prior_sd: float | None, hyper: float) -> tuple[Floats, Floats, list[Any]]:
    """Prior scales, how probable each is given the data (Laplace's method), and the modes there.

    Parameters
    ----------
    tallies : Tallies
    prior_sd : float or None
        The scale where it is fixed.
    hyper : float
        Scale of the half-normal prior of the scale otherwise.
    """
    if prior_sd is not None:
        scales = np.array([prior_sd])
        return scales, np.ones(1), evidence(tallies, scales)[1]
    # Evenly in the logarithm, so that each carries its own value times the density.
    scales = np.geomspace(0.02, 4, GRID) * hyper
    log_weight, modes = evidence(tallies, scales)
    log_weight += np.log(scales) - scales**2 / (2 * hyper**2)
    weight = np.exp(log_weight - log_weight.max())
    return scales, weight / weight.sum(), modes


def sample_strengths(
    tallies: Tallies, prior_sd: float | None, hyper: float, seed: int, settings: NutsSettings
) -> Sampled:
    """Sample log strengths, the parameter of ties, and the prior scale.

    Parameters
    ----------
    tallies : Tallies
        Of systems that are connected.
    prior_sd : float or None
        Prior scale, or None where it has the half-normal prior.
    hyper : float
        Scale of that half-normal.
    seed : int
    settings : NutsSettings
        Draws, warm-up, chains and target acceptance; other settings are not looked at.

    Returns
    -------
    Sampled
    """
    scales, weight, modes = scales_of(tallies, prior_sd, hyper)
    at = int(np.argmax(weight))
    peak = modes[at]
    basis = _contrasts(tallies.size)
    h, turn = np.linalg.eigh(basis.T @ peak.information @ basis)
    vectors = basis @ turn
    centre = float(weight @ np.log(scales))
    spread = max(float(np.sqrt(weight @ (np.log(scales) - centre) ** 2)), 0.1)
    data = {
        "wins": tallies.wins, "total": tallies.total, "tied": tallies.tied.sum() / 2,
        "vectors": vectors, "h": np.maximum(h, 0.0),
        "b0": vectors.T @ (peak.information @ peak.strength + peak.gradient),
        "tie": np.array([peak.tie, peak.precision[-1, -1] ** -0.5]),
        "scale": np.array([centre, spread, hyper]),
    }  # fmt: skip
    rng = np.random.default_rng([seed, 21])
    dimension = tallies.size - 1 + tallies.ties + (prior_sd is None)
    starts = rng.uniform(-1, 1, (settings.chains, dimension))
    keys = rng.integers(0, 2**32, (settings.chains, 2), dtype=np.uint32)
    with _compat.double_precision(), _compat.compilation_cache(xla_folder()):
        program = _program(tallies.ties, prior_sd is None, settings.draws, settings.tune, settings.target_accept)
        strength, tie, scale, diverging = (np.asarray(part) for part in program(keys, starts, data))
    nu = 2 * np.exp(tie) if tallies.ties else None
    return Sampled(strength, nu, np.exp(scale), diverging)


@cache
def _program(ties: bool, free: bool, draws: int, tune: int, target: float) -> Any:
    """Compiled NUTS for tables of any content; JAX keeps one program a shape."""
    import jax
    from numpyro.infer.hmc import hmc

    init_kernel, sample_kernel = hmc(potential_fn_gen=lambda data: lambda x: -_density(x, data, ties, free))

    def chain(arguments: Any, data: Any) -> Any:
        key, start = arguments
        state = init_kernel(
            start,
            num_warmup=tune,
            dense_mass=start.size <= DENSE_LIMIT,
            target_accept_prob=target,
            model_args=(data,),
            rng_key=key,
        )

        def iterate(state: Any, _: None) -> Any:
            state = sample_kernel(state, (data,))
            return state, (state.z, state.diverging)

        _, (positions, diverging) = jax.lax.scan(iterate, state, None, length=tune + draws)
        placed = jax.vmap(lambda x: _placed(x, data, ties, free)[:3])(positions[tune:])
        return (*placed, diverging[tune:])

    return jax.jit(lambda keys, starts, data: jax.lax.map(lambda one: chain(one, data), (keys, starts)))


def _placed(x: Any, data: Any, ties: bool, free: bool) -> Any:
    """Log strengths, log odds of a tie, log prior scale, z, and the log Jacobian of where a point of NUTS lies."""
    import jax.numpy as jnp

    size = data["vectors"].shape[1]
    log_scale = data["scale"][0] + (data["scale"][1] * x[-1] if free else 0.0)
    square = jnp.exp(2 * log_scale)
    shrunk = square / (1 + data["h"] * square)
    z = shrunk * data["b0"] + jnp.sqrt(shrunk) * x[:size]
    tie = data["tie"][0] + (data["tie"][1] * x[size] if ties else 0.0)
    return data["vectors"] @ z, tie, log_scale, z, jnp.log(shrunk).sum() / 2


def _density(x: Any, data: Any, ties: bool, free: bool) -> Any:
    """Log posterior density of a point of NUTS."""
    import jax
    import jax.numpy as jnp

    strength, tie, log_scale, z, jacobian = _placed(x, data, ties, free)
    root = jnp.exp(strength / 2)
    odds = root[:, None] / root
    nu = 2 * jnp.exp(tie) if ties else 0.0
    value = ((data["wins"] - data["wins"].T).sum(axis=1) * strength).sum() / 2
    value += jacobian - (data["total"] * jnp.log(odds + 1 / odds + nu)).sum() / 2
    value += -(z**2).sum() / (2 * jnp.exp(2 * log_scale)) - z.size * log_scale
    if ties:
        value += data["tied"] * tie + jax.nn.log_sigmoid(tie) + jax.nn.log_sigmoid(-tie)
    if free:
        value += log_scale - jnp.exp(2 * log_scale) / (2 * data["scale"][2] ** 2)
    return value


def _contrasts(size: int) -> Floats:
    """Orthonormal columns (size, size - 1), orthogonal to the constant vector."""
    from scipy.linalg import helmert

    return np.asarray(helmert(size).T)
