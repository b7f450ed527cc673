"""From a model file to a compiled program of NUTS, with the data as arguments.

PyMC states the model; its log density becomes a JAX function whose ``pm.Data`` have been replaced by inputs; NumPyro's
NUTS runs on it. The program is traced once for each (model, prior, padded shape), kept in memory, and kept on disk as
portable StableHLO beside JAX's compilation cache: a new process that fits the same kind of data imports neither PyMC
nor NumPyro and compiles nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bayeseval import _compat
from bayeseval.catalogue import ModelFile
from bayeseval.credit_data import CreditData
from bayeseval.errors import FitError, ModelFileError
from bayeseval.model_data import ModelData
from bayeseval.pair_data import PairData

__all__ = ["CHUNK", "Program", "ProgramKey", "cache_folder", "get_program", "is_compiled", "xla_folder"]

CHUNK = 500
"""Iterations in one call of a compiled program; between calls the progress is shown and an interrupt is heard."""

STATISTICS = ("diverging", "n_steps", "acceptance_rate", "energy", "lp")
DENSE_LIMIT = 16
"""Largest number of unconstrained parameters for which a full mass matrix is adapted."""

_in_memory: dict[str, Program] = {}


@dataclass(frozen=True)
class ProgramKey:
    """What a compiled program depends on, besides the versions of the libraries.

    Attributes
    ----------
    model : str
        Digest of the model file.
    prior : tuple
        Prior parameters by name.
    shapes : tuple
        Shape of every data array by name.
    chains, tune, target_accept : int, int, float
        Settings of NUTS that are compiled in.
    runs : int
        Runs that one call samples.
    vectorised : bool
        Whether chains and runs are mapped by ``vmap`` (accelerators) or one after another (CPU).
    """

    model: str
    prior: tuple[tuple[str, tuple[float, ...]], ...]
    shapes: tuple[tuple[str, tuple[int, ...]], ...]
    chains: int
    tune: int
    target_accept: float
    runs: int
    vectorised: bool

    def digest(self) -> str:
        """Name of the program on disk: changes with the key, the libraries and the code of the likelihood."""
        import jax

        packages = {name: _compat.package_version(name) for name in ("jax", "jaxlib", "numpyro", "pymc")}
        parts = [asdict(self), packages, _code(), jax.default_backend(), jax.device_count()]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Program:
    """Compiled NUTS for one model and one padded shape of the data.

    Attributes
    ----------
    start : callable
        ``start(keys (run, chain, 2), positions (run, chain, D), data)`` -> state.
    advance : callable
        ``advance(state, data)`` -> (state, outputs), CHUNK iterations; outputs are arrays (run, chain, CHUNK, ...)
        for ``names``, then for `STATISTICS`, and the unconstrained positions of models of up to `DENSE_LIMIT`
        dimensions.
    names : tuple of str
        Parameters and deterministic quantities.
    initial : float array (D,)
        Where the model starts, on the unconstrained scale.
    inputs : tuple of str
        Names of the data arrays, in the order of the arguments.
    """

    start: Callable[..., Any]
    advance: Callable[..., Any]
    names: tuple[str, ...]
    initial: np.ndarray
    inputs: tuple[str, ...]


@cache
def _code() -> tuple[str, ...]:
    """Digests of the files that a compiled program comes from, besides the model's."""
    here = Path(__file__)
    sources = (here, *sorted((here.parents[1] / "likelihoods").glob("*.py")))
    return tuple(hashlib.sha256(source.read_bytes()).hexdigest() for source in sources)


def cache_folder() -> Path:
    """Where compiled programs are kept: ``$BAYESEVAL_CACHE``, or else the user's cache folder."""
    from platformdirs import user_cache_path

    return Path(os.environ.get("BAYESEVAL_CACHE") or user_cache_path("bayeseval"))


def is_compiled(key: ProgramKey) -> bool:
    """Whether the program of this key is in memory."""
    return key.digest() in _in_memory


def get_program(model: ModelFile, prior: Mapping[str, tuple[float, ...]], data: ModelData, key: ProgramKey) -> Program:
    """The compiled program of a key: from memory, from disk, or made anew.

    Raises
    ------
    ModelFileError
        If the model file does not follow the protocol.
    """
    digest = key.digest()
    if digest not in _in_memory:
        folder = cache_folder() / "programs" / digest
        program = _load(folder, key)
        if program is None:
            program = _make(model, prior, data, key, folder)
        _in_memory[digest] = program
    return _in_memory[digest]


def _make(
    model: ModelFile, prior: Mapping[str, tuple[float, ...]], data: ModelData, key: ProgramKey, folder: Path
) -> Program:
    """Trace the model, export the program to disk and compile it."""
    import jax
    import jax.export

    _compat.import_pymc()
    with _compat.double_precision():
        density, constrain, facts = density_of(model, prior, data)
        start, advance = _nuts(density, constrain, key)
        shapes = _shapes(key, facts)
        state = jax.eval_shape(start, *shapes)
        exported = {
            "start": jax.export.export(jax.jit(start))(*shapes),
            "advance": jax.export.export(jax.jit(advance))(state, shapes[2]),
        }
        files = {f"{name}.stablehlo": bytes(part.serialize()) for name, part in exported.items()}
    files["facts.json"] = json.dumps(facts).encode()
    _write(folder, files)
    return _compiled(exported["start"], exported["advance"], facts, key)


def _load(folder: Path, key: ProgramKey) -> Program | None:
    import jax.export

    try:
        facts = json.loads((folder / "facts.json").read_text())
        start, advance = (
            jax.export.deserialize(bytearray((folder / f"{name}.stablehlo").read_bytes()))
            for name in ("start", "advance")
        )
    except (OSError, ValueError, struct.error, RuntimeError):
        return None  # not there, or half-written by another program: it is made anew
    return _compiled(start, advance, facts, key)


def _compiled(start: Any, advance: Any, facts: dict[str, Any], key: ProgramKey) -> Program:
    import jax

    with _compat.double_precision(), _compat.compilation_cache(xla_folder()):
        shapes = _shapes(key, facts)
        compiled_start = jax.jit(start.call).lower(*shapes).compile()
        state = jax.eval_shape(start.call, *shapes)
        compiled_advance = jax.jit(advance.call).lower(state, shapes[2]).compile()
    return Program(
        compiled_start,
        compiled_advance,
        tuple(facts["names"]),
        np.asarray(facts["initial"], dtype=float),
        tuple(facts["inputs"]),
    )


def density_of(
    model: ModelFile, prior: Mapping[str, tuple[float, ...]], data: ModelData | CreditData | PairData
) -> tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]:
    """The model's log density and its constrained quantities as JAX functions of (position (D,), data)."""
    import jax.numpy as jnp
    import pytensor
    from pymc.sampling.jax import get_jaxified_graph
    from pytensor.graph.replace import graph_replace

    with pytensor.config.change_flags(floatX="float64"):
        pymc_model = model.build(data, prior)
        inputs = {variable: variable.type(name=variable.name) for variable in pymc_model.data_vars}
        wanted = {variable.name for variable in (*pymc_model.free_RVs, *pymc_model.deterministics)}
        outputs = [variable for variable in pymc_model.unobserved_value_vars if variable.name in wanted]
        copies = [variable.copy() for variable in outputs]  # a variable without transform is an input as well
        graphs = graph_replace([pymc_model.logp(), *copies], inputs, strict=False)
        names = [str(variable.name) for variable in outputs]
        arguments = [*pymc_model.value_vars, *inputs.values()]
        log_density = get_jaxified_graph(inputs=arguments, outputs=graphs[:1])
        quantities = get_jaxified_graph(inputs=arguments, outputs=graphs[1:])
        point = pymc_model.initial_point()
    initial = [np.asarray(point[variable.name], dtype=float) for variable in pymc_model.value_vars]
    shapes = [values.shape for values in initial]
    ends = np.cumsum([values.size for values in initial]).tolist()

    def split(position: Any) -> list[Any]:
        parts = jnp.split(position, ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def density(position: Any, data: Any) -> Any:
        return log_density(*split(position), *data)[0]

    def constrain(position: Any, data: Any) -> Any:
        return tuple(quantities(*split(position), *data))

    facts = {
        "names": names,
        "initial": np.concatenate([values.ravel() for values in initial]).tolist(),
        "inputs": [str(variable.name) for variable in inputs],
    }
    if not np.isfinite(facts["initial"]).all():
        raise ModelFileError(f"{model.path}: the model's initial point is not finite; give its variables an `initval`")
    return density, constrain, facts


def _nuts(
    density: Callable[..., Any], constrain: Callable[..., Any], key: ProgramKey
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    import jax
    from numpyro.infer.hmc import hmc

    init_kernel, sample_kernel = hmc(potential_fn_gen=lambda data: lambda position: -density(position, data))
    structure: list[Any] = []

    def start_chain(arguments: Any, data: Any) -> Any:
        rng_key, position = arguments
        state = init_kernel(
            position,
            num_warmup=key.tune,
            dense_mass=position.size <= DENSE_LIMIT,
            target_accept_prob=key.target_accept,
            model_args=(data,),
            rng_key=rng_key,
        )
        leaves, tree = jax.tree.flatten(state)
        structure[:] = [tree]
        return leaves

    def advance_chain(leaves: Any, data: Any) -> Any:
        def iterate(state: Any, _: None) -> Any:
            state = sample_kernel(state, (data,))
            statistics = (state.diverging, state.num_steps, state.accept_prob, state.energy, -state.potential_energy)
            return state, (state.z, statistics)

        state, (positions, statistics) = jax.lax.scan(
            iterate, jax.tree.unflatten(structure[0], leaves), None, length=CHUNK
        )
        kept = positions if positions.shape[-1] <= DENSE_LIMIT else positions[:, :0]
        return jax.tree.leaves(state), (jax.vmap(partial(constrain, data=data))(positions), statistics, kept)

    def over(function: Callable[..., Any], arguments: Any) -> Any:
        return jax.vmap(function)(arguments) if key.vectorised else jax.lax.map(function, arguments)

    def start(rng_keys: Any, positions: Any, data: Any) -> Any:
        return over(lambda run: over(partial(start_chain, data=run[1]), run[0]), ((rng_keys, positions), data))

    def advance(state: Any, data: Any) -> Any:
        return over(lambda run: over(partial(advance_chain, data=run[1]), run[0]), (state, data))

    return start, advance


def _shapes(key: ProgramKey, facts: dict[str, Any]) -> tuple[Any, Any, Any]:
    import jax

    lanes = (key.runs, key.chains)
    by_name = dict(key.shapes)
    return (
        jax.ShapeDtypeStruct((*lanes, 2), np.uint32),
        jax.ShapeDtypeStruct((*lanes, len(facts["initial"])), np.float64),
        [jax.ShapeDtypeStruct((key.runs, *by_name[name]), np.float64) for name in facts["inputs"]],
    )


def xla_folder() -> Path:
    """Where JAX keeps what it has compiled."""
    return cache_folder() / "xla"


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """Write all files or none; a cache that cannot be written is no reason to fail."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            draft = Path(scratch) / "program"
            draft.mkdir()
            for name, content in files.items():
                (draft / name).write_bytes(content)
            draft.rename(folder)
    except OSError:
        return


def require_finite(values: np.ndarray, model: ModelFile) -> None:
    """Raise `FitError` when a program returned numbers that are not finite."""
    if not np.isfinite(values).all():
        raise FitError(
            f"model {model.name!r} gave draws that are not finite; its log density is probably undefined at the "
            f"starting point: check the priors, or give its variables an `initval`"
        )
