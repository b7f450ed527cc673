"""The few lines where two generations of PyMC, ArviZ and JAX differ, and where their global state is restored.

Supported: Python 3.11 with PyMC 5.28, ArviZ 0.23, JAX 0.10; Python 3.12 and later with PyMC 6, ArviZ 1.x, JAX 0.12.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["compilation_cache", "double_precision", "global_double_precision", "import_pymc", "package_version"]


@cache
def package_version(name: str) -> str:
    """Version of an installed package; looked up once, since that reads files."""
    return version(name)


def import_pymc() -> Any:
    """Import PyMC and its JAX sampling module, and leave JAX's global precision as the user had it.

    PyTensor sets ``jax_enable_x64`` when its JAX back end is imported; ArviZ 0.23 warns about its own future.
    """
    import jax

    before = _x64(jax)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS", UserWarning)
            import pymc
            import pymc.sampling.jax  # noqa: F401
            import pytensor

            str(pytensor.config.blas__ldflags)  # found when first asked for, which is when it warns
    finally:
        jax.config.update("jax_enable_x64", before)
    return pymc


@contextmanager
def global_double_precision() -> Iterator[None]:
    """JAX's global precision set to float64 inside the block, for samplers that look at nothing else."""
    import jax

    before = _x64(jax)
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


@contextmanager
def double_precision() -> Iterator[None]:
    """Compute in float64, whatever the user's global precision of JAX and PyTensor, and restore it afterwards."""
    import jax

    with jax.enable_x64(True):
        yield


@contextmanager
def compilation_cache(folder: Path) -> Iterator[None]:
    """Keep what JAX compiles inside the block in ``folder``, unless the user has set a cache of their own."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache as cache

    try:
        folder.mkdir(parents=True, exist_ok=True)
        usable = os.access(folder, os.W_OK)
    except OSError:
        usable = False
    if getattr(jax.config, "jax_compilation_cache_dir") is not None or not usable:  # noqa: B009 (no type is known)
        yield
        return
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = {name: getattr(jax.config, name) for name in names}
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    cache.reset_cache()
    try:
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        cache.reset_cache()


def _x64(jax: Any) -> bool:
    return bool(jax.config.jax_enable_x64)
