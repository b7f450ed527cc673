"""The same noise as in `noise`, computed where the logits are: torch and JAX, with equal integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayeseval.coupling.noise import MASK, MULTIPLIERS, ROUNDS, STEPS
from bayeseval.errors import MissingDependencyError

__all__ = [
    "jax_exponential",
    "jax_noise_block",
    "library_of",
    "require_torch",
    "torch_exponential",
    "torch_noise_block",
]


def library_of(array: Any) -> Any:
    """The library that an array belongs to: torch, jax.numpy or numpy.

    Examples
    --------
    >>> import numpy as np
    >>> library_of(np.zeros(2)).__name__
    'numpy'
    """
    home = type(array).__module__.partition(".")[0]
    if home == "torch":
        import torch

        return torch
    if home in ("jax", "jaxlib"):
        import jax.numpy as jnp

        return jnp
    return np


def require_torch(what: str) -> Any:
    """Torch, or a sentence that says how to get it."""
    try:
        import torch
    except ImportError:
        raise MissingDependencyError(
            f"{what} needs torch and transformers, which are not installed: pip install 'bayeseval[hf]'"
        ) from None
    return torch


def torch_noise_block(rows: ArrayLike, block: ArrayLike, tokens: Any, device: Any = None) -> Any:
    """Random words of four positions as an int64 tensor (4, row, token); see `bayeseval.coupling.noise.noise_block`.

    Parameters
    ----------
    rows : uint32 array (row, 3)
    block : int or int array (row,)
    tokens : uint64 array (token,), or a pair of int64 tensors (token,)
        Keys of tokens, or their low and high halves, already on the device.
    device : torch.device, optional

    Returns
    -------
    torch.Tensor
        Words from 0 to 2^32 - 1, equal to those of NumPy. Torch has no unsigned products of 64 bits; signed ones have
        the same bits, and what a shift drags in is masked away.
    """
    torch = require_torch("noise on a torch device")

    def column(values: Any) -> Any:
        return torch.as_tensor(np.asarray(values).astype(np.int64), device=device)[:, None]

    keys = np.asarray(rows)
    low, high = tokens if isinstance(tokens, tuple) else halves(tokens, device)
    c0, c1 = low[None], high[None]
    c2, c3 = column(np.broadcast_to(np.asarray(block), keys.shape[:1])), column(keys[:, 2])
    k0, k1 = column(keys[:, 0]), column(keys[:, 1])
    for number in range(ROUNDS):
        if number:
            k0, k1 = (k0 + STEPS[0]) & MASK, (k1 + STEPS[1]) & MASK
        first, second = c0 * MULTIPLIERS[0], c2 * MULTIPLIERS[1]
        c0, c1 = ((second >> 32) ^ c1 ^ k0) & MASK, second & MASK
        c2, c3 = ((first >> 32) ^ c3 ^ k1) & MASK, first & MASK
    return torch.stack(torch.broadcast_tensors(c0, c1, c2, c3))


def halves(tokens: ArrayLike, device: Any = None) -> tuple[Any, Any]:
    """Low and high 32 bits of token keys as int64 tensors on a device."""
    torch = require_torch("noise on a torch device")
    keys = np.asarray(tokens, dtype=np.uint64)
    low, high = (keys & np.uint64(MASK)).astype(np.int64), (keys >> np.uint64(32)).astype(np.int64)
    return torch.as_tensor(low, device=device), torch.as_tensor(high, device=device)


def torch_exponential(words: Any) -> Any:
    """Exp(1) noise of words as a float64 tensor; equal to NumPy's up to the last bit of a logarithm.

    Apple's devices have no float64: there, move the words to the CPU first.
    """
    torch = require_torch("noise on a torch device")
    return -torch.log((words.to(torch.float64) + 0.5) * 2.0**-32)


def jax_noise_block(rows: Any, block: Any, tokens: ArrayLike) -> Any:
    """Random words of four positions as a uint32 array (4, row, token); see `bayeseval.coupling.noise.noise_block`.

    Parameters
    ----------
    rows : uint32 array (row, 3)
    block : int or int array (row,)
    tokens : uint64 NumPy array (token,), or uint32 array (2, token)
        Keys of tokens, or their low and high halves.

    Returns
    -------
    jax.Array
        Equal to the words of NumPy. Works inside `jax.jit` with or without 64-bit types: products of two words are
        put together from halves.

    Examples
    --------
    >>> from bayeseval.coupling.noise import noise_block, row_keys
    >>> rows = row_keys(1, ["p"], [0])
    >>> bool((jax_noise_block(rows, 2, [5, 6]) == noise_block(rows, 2, [5, 6])).all())
    True
    """
    import jax.numpy as jnp

    if np.ndim(tokens) == 1:
        keys = np.asarray(tokens, dtype=np.uint64)
        tokens = np.stack([keys & np.uint64(MASK), keys >> np.uint64(32)]).astype(np.uint32)
    low, high = jnp.asarray(tokens, dtype=jnp.uint32)
    row = jnp.asarray(rows, dtype=jnp.uint32)
    c0, c1 = low[None], high[None]
    c2 = jnp.broadcast_to(jnp.asarray(block).astype(jnp.uint32), row.shape[:1])[:, None]
    k0, k1, c3 = (row[:, place : place + 1] for place in range(3))
    for number in range(ROUNDS):
        if number:
            k0, k1 = k0 + jnp.uint32(STEPS[0]), k1 + jnp.uint32(STEPS[1])
        (high0, low0), (high1, low1) = _product(c0, MULTIPLIERS[0]), _product(c2, MULTIPLIERS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    shape = jnp.broadcast_shapes(c0.shape, c1.shape, c2.shape, c3.shape)
    return jnp.stack([jnp.broadcast_to(word, shape) for word in (c0, c1, c2, c3)])


def _product(word: Any, factor: int) -> tuple[Any, Any]:
    """High and low word of a product of two 32-bit words, from products of 16-bit halves."""
    import jax.numpy as jnp

    half = jnp.uint32(0xFFFF)
    a, b = word & half, word >> 16
    c, d = jnp.uint32(factor & 0xFFFF), jnp.uint32(factor >> 16)
    middle = a * d + ((a * c) >> 16)  # below 2^32: (2^16 - 1)^2 + 2^16 - 1
    other = b * c + (middle & half)
    return b * d + (middle >> 16) + (other >> 16), word * jnp.uint32(factor)


def jax_exponential(words: Any) -> Any:
    r"""Exp(1) noise of words as a JAX array, in float32 unless 64-bit types are on.

    Large words are near 1, where float32 has no digits left: :math:`-\log(1-u)` is then taken as ``-log1p(-u)``, so
    the noise is right to about 1e-7 of itself everywhere.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> jax_exponential(jnp.array([0, 2**31, 2**32 - 1], dtype=jnp.uint32)).round(4).tolist()[1]
    0.693...
    """
    import jax
    import jax.numpy as jnp

    real = jnp.float64 if jax.config.read("jax_enable_x64") else jnp.float32
    word = jnp.asarray(words, dtype=jnp.uint32)
    large = word >> 31 == 1
    near = (jnp.where(large, ~word, word).astype(real) + 0.5) * 2.0**-32
    return -jnp.where(large, jnp.log1p(-near), jnp.log(near))
