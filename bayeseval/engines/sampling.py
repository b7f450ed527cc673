"""NUTS: from counts and a model file to draws.

The default sampler is NumPyro's NUTS in a program that is compiled once (`bayeseval.engines.programs`).
``sampler="nutpie"`` or ``"pymc"`` hands the same PyMC model to ``pm.sample``, ``"blackjax"`` its log density to
BlackJAX.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bayeseval import _compat
from bayeseval.catalogue import ModelFile
from bayeseval.engines.mending import mend
from bayeseval.engines.programs import (
    CHUNK,
    DENSE_LIMIT,
    STATISTICS,
    Program,
    ProgramKey,
    density_of,
    get_program,
    is_compiled,
    require_finite,
)
from bayeseval.engines.records import Draws, NutsSettings
from bayeseval.errors import MissingDependencyError
from bayeseval.model_data import ModelData
from bayeseval.progress import Progress

__all__ = ["sample"]

RUNS_PER_CALL = 64
"""Most runs that one call samples side by side on an accelerator."""


def sample(
    model: ModelFile,
    prior: Mapping[str, tuple[float, ...]],
    data: Sequence[ModelData],
    seed: int,
    settings: NutsSettings,
    progress: bool = True,
) -> Iterator[tuple[int, Draws]]:
    """Sample the posterior of every run, and yield each as soon as it is done.

    Parameters
    ----------
    model : ModelFile
    prior : mapping of str to tuple of float
        All prior parameters of the model.
    data : sequence of ModelData
        One for each run.
    seed : int
        Run r uses the seed (seed, r), whatever runs are sampled beside it.
    settings : NutsSettings
    progress : bool
        Whether a bar may be shown.

    Yields
    ------
    int, Draws
        Index of the run, and its draws. Runs of one padded shape come together, so the order may differ from ``data``.

    Raises
    ------
    FitError
        If draws are not finite.
    MissingDependencyError
        If the package of the sampler is not installed.
    """
    with Progress("sampling", total=len(data) if len(data) > 1 else 0, enabled=progress) as bar:
        if settings.sampler != "numpyro":
            for index, one in enumerate(data):
                other = _sample_with_blackjax if settings.sampler == "blackjax" else _sample_with_pymc
                yield index, other(model, prior, one, _run_seed(seed, index), settings, progress)
                bar.advance()
            return
        yield from _sample_with_programs(model, prior, data, seed, settings, bar)


def _sample_with_programs(
    model: ModelFile,
    prior: Mapping[str, tuple[float, ...]],
    data: Sequence[ModelData],
    seed: int,
    settings: NutsSettings,
    bar: Progress,
) -> Iterator[tuple[int, Draws]]:
    import jax

    vectorised = jax.default_backend() != "cpu" if settings.vectorised is None else settings.vectorised
    by_shape: dict[tuple[tuple[str, tuple[int, ...]], ...], list[int]] = {}
    for index, one in enumerate(data):
        shapes = (*((name, values.shape) for name, values in one.arrays.items()), *one.choices)
        by_shape.setdefault(shapes, []).append(index)
    single = len(data) == 1
    if single:
        bar.total = _chunks(settings) * (1 if vectorised else settings.chains)

    def tick() -> None:
        if single:
            bar.advance()

    for shapes, indices in by_shape.items():
        width = min(RUNS_PER_CALL, 1 << (len(indices) - 1).bit_length()) if vectorised else 1
        lanes = [slice(0, settings.chains)] if vectorised else [slice(c, c + 1) for c in range(settings.chains)]
        key = ProgramKey(
            model.digest,
            tuple(sorted((name, tuple(values)) for name, values in prior.items())),
            shapes,
            settings.chains if vectorised else 1,
            settings.tune,
            settings.target_accept,
            width,
            vectorised,
        )
        if not is_compiled(key):
            bar.describe(f"preparing {model.name}")
            bar.show()
        program = get_program(model, prior, data[indices[0]], key)
        bar.describe(f"sampling {model.name}")
        batches = [indices[first : first + width] for first in range(0, len(indices), width)]

        def work(members: list[int], chains: slice, program: Program = program, width: int = width) -> list[Draws]:
            part = [data[index] for index in members]
            return _advance(program, part, members, width, chains, seed, settings, model, tick)

        # Programs run outside Python's lock, and each is sequential on a CPU: as many run at once as there are cores.
        pool = ThreadPoolExecutor(1 if vectorised else os.cpu_count() or 1)
        try:
            submitted = [(members, [pool.submit(work, members, chains) for chains in lanes]) for members in batches]
            for members, jobs in submitted:
                for index, *parts in zip(members, *(job.result() for job in jobs), strict=True):
                    joined = _join_chains(parts)
                    # Models that the exact engine knows are checked against it, and need no more imports and no time.
                    if settings.importance and not model.has_quadrature:
                        joined = mend(joined, model, prior, data[index], _run_seed(seed, index))
                    yield index, joined
                if not single:
                    bar.advance(len(members))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _advance(
    program: Program,
    data: Sequence[ModelData],
    members: Sequence[int],
    width: int,
    chains: slice,
    seed: int,
    settings: NutsSettings,
    model: ModelFile,
    tick: Callable[[], None],
) -> list[Draws]:
    """Draws of some chains of up to ``width`` runs that one program samples side by side."""
    import jax

    lanes = list(range(len(data))) + [len(data) - 1] * (width - len(data))
    arrays = [np.stack([data[lane].arrays[name] for lane in lanes]) for name in program.inputs]
    rng = [np.random.default_rng(_run_seed(seed, members[lane])) for lane in lanes]
    shape = (settings.chains, program.initial.size)
    positions = np.stack([program.initial + r.uniform(-1, 1, shape) for r in rng])[:, chains]
    keys = np.stack([r.integers(0, 2**32, (settings.chains, 2), dtype=np.uint32) for r in rng])[:, chains]
    outputs = []
    with _compat.double_precision():
        state = program.start(keys, positions, arrays)
        for _ in range(_chunks(settings)):
            state, output = program.advance(state, arrays)
            outputs.append(jax.tree.map(np.asarray, output))
            tick()
    return [_collect(program.names, outputs, lane, settings, model) for lane in range(len(data))]


def _chunks(settings: NutsSettings) -> int:
    return -(-(settings.tune + settings.draws) // CHUNK)


def _join_chains(parts: Sequence[Draws]) -> Draws:
    if len(parts) == 1:
        return parts[0]
    parameters, statistics = (
        {name: np.concatenate([getattr(part, kind)[name] for part in parts]) for name in getattr(parts[0], kind)}
        for kind in ("parameters", "statistics")
    )
    positions = [part.positions for part in parts if part.positions is not None]
    return Draws(parameters, statistics, np.concatenate(positions) if positions else None)


def _collect(
    names: tuple[str, ...], outputs: list[object], lane: int, settings: NutsSettings, model: ModelFile
) -> Draws:
    kept = slice(settings.tune, settings.tune + settings.draws)

    def join(part: int, position: int) -> np.ndarray:
        return np.concatenate([output[part][position][lane] for output in outputs], axis=1)[:, kept]  # type: ignore[index]

    parameters = {name: join(0, position) for position, name in enumerate(names)}
    for values in parameters.values():
        require_finite(values, model)
    statistics = {name: join(1, position) for position, name in enumerate(STATISTICS)}
    positions = np.concatenate([output[2][lane] for output in outputs], axis=1)[:, kept]  # type: ignore[index]
    return Draws(parameters, statistics, positions)


def _sample_with_pymc(
    model: ModelFile,
    prior: Mapping[str, tuple[float, ...]],
    data: ModelData,
    seed: int,
    settings: NutsSettings,
    progress: bool,
) -> Draws:
    pm = _compat.import_pymc()
    try:
        with warnings.catch_warnings(), _compat.global_double_precision(), model.build(data, prior):
            warnings.simplefilter("ignore")
            trace = pm.sample(
                draws=settings.draws,
                tune=settings.tune,
                chains=settings.chains,
                random_seed=seed,
                target_accept=settings.target_accept,
                nuts_sampler=settings.sampler,
                progressbar=progress,
                compute_convergence_checks=False,
                return_inferencedata=True,
            )
    except ImportError as error:
        raise MissingDependencyError(
            f"sampler={settings.sampler!r} needs a package that is not installed ({error}); "
            f"install it with: pip install 'bayeseval[samplers]'"
        ) from None
    parameters = {str(name): np.asarray(trace["posterior"][name]) for name in trace["posterior"].data_vars}
    known = trace["sample_stats"].data_vars
    statistics = {name: np.asarray(known[name]) for name in STATISTICS if name in known}
    return Draws(parameters, statistics)


def _sample_with_blackjax(
    model: ModelFile,
    prior: Mapping[str, tuple[float, ...]],
    data: ModelData,
    seed: int,
    settings: NutsSettings,
    progress: bool,
) -> Draws:
    # Not through pm.sample: what PyMC 5.28 and 6.4 pass on, BlackJAX from 1.6 on refuses; older ones need an older JAX.
    _compat.import_pymc()
    try:
        import blackjax  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingDependencyError(
            f"sampler='blackjax' needs a package that is not installed ({error}); install it with: "
            f"pip install 'bayeseval[samplers]'"
        ) from None
    import jax

    with _compat.double_precision():
        density, constrain, facts = density_of(model, prior, data)
        arrays = [data.arrays[name] for name in facts["inputs"]]
        initial = np.asarray(facts["initial"])
        rng = np.random.default_rng(seed)

        def logdensity(position: Any) -> Any:
            return density(position, arrays)

        def chain(key: Any, position: Any) -> Any:
            adaptation = blackjax.window_adaptation(
                blackjax.nuts,
                logdensity,
                is_mass_matrix_diagonal=initial.size > DENSE_LIMIT,
                target_acceptance_rate=settings.target_accept,
            )
            warm, cold = jax.random.split(key)
            (state, parameters), _ = adaptation.run(warm, position, settings.tune)
            step = blackjax.nuts(logdensity, **parameters).step

            def iterate(state: Any, key: Any) -> Any:
                state, info = step(key, state)
                kept = (info.is_divergent, info.num_integration_steps, info.acceptance_rate, info.energy)
                return state, (constrain(state.position, arrays), (*kept, state.logdensity))

            return jax.lax.scan(iterate, state, jax.random.split(cold, settings.draws))[1]

        positions = initial + rng.uniform(-1, 1, (settings.chains, initial.size))
        keys = jax.random.split(jax.random.PRNGKey(rng.integers(2**31)), settings.chains)
        values, statistics = jax.jit(jax.vmap(chain))(keys, positions)
    parameters = {name: np.asarray(value) for name, value in zip(facts["names"], values, strict=True)}
    return Draws(parameters, dict(zip(STATISTICS, map(np.asarray, statistics), strict=True)))


def _run_seed(seed: int, index: int) -> int:
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0])
