r"""Noise that belongs to a token: one number for (seed, prompt, generation, position, token), and no state at all.

A counter-based generator turns a key and a counter into random bits [1]_, so the noise of a token does not depend on
what else is in the batch, in which order rows come, where they are computed, or what was drawn before. Two systems that
use the same numbers are coupled [2]_; each keeps its own law.

Seed, prompt and generation (and the system's name, where systems shall be independent) are hashed to 96 bits: 64 are
the key of Philox 4x32-10, 32 a word of its counter. The other words are the token's own 64-bit key and a quarter of
the position: a counter gives four words, which serve four positions in a row.

References
----------
.. [1] Salmon, Moraes, Dror and Shaw (2011). Parallel random numbers: as easy as 1, 2, 3. SC '11.
   https://doi.org/10.1145/2063384.2063405
.. [2] Corvelo Benz et al. (2025). Evaluation of Large Language Models via Coupled Token Generation.
   https://arxiv.org/abs/2502.01754
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeseval.arrays import Floats
from bayeseval.errors import OptionError

__all__ = [
    "SCHEME",
    "exponential_noise",
    "gumbel_noise",
    "hashed",
    "noise_block",
    "noise_words",
    "philox",
    "row_keys",
    "to_exponential",
]

Words = NDArray[np.uint32]
Keys = NDArray[np.uint64]

SCHEME = "bayeseval-1"
"""Name of the way in which noise is keyed; generations of two schemes do not belong together."""

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
STEPS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
MASK = 0xFFFFFFFF
PER_BLOCK = 4
"""Positions that one counter serves."""

AT_ONCE = 1 << 16
"""Counters that are turned into words together: few enough for the processor's cache."""


def philox(counter: ArrayLike, key: ArrayLike) -> Words:
    """Philox 4x32-10: four random words for every counter and key.

    Parameters
    ----------
    counter : int array (..., 4)
        Words below 2^32.
    key : int array (..., 2)
        Broadcast against the counters.

    Returns
    -------
    uint32 array (..., 4)

    Examples
    --------
    >>> [f"{word:08x}" for word in philox([0, 0, 0, 0], [0, 0])]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    words, keys = np.asarray(counter, dtype=np.uint64), np.asarray(key, dtype=np.uint64)
    c0, c1, c2, c3 = (words[..., place] for place in range(4))
    made = _rounds(c0, c1, c2, c3, keys[..., 0], keys[..., 1])
    return np.stack(made, axis=-1).astype(np.uint32)


def _rounds(c0: Keys, c1: Keys, c2: Keys, c3: Keys, k0: Keys, k1: Keys) -> tuple[Keys, Keys, Keys, Keys]:
    """Ten rounds on words held in 64 bits, in place: the products of two words need the room."""
    mask, half = np.uint64(MASK), np.uint64(32)
    shape = np.broadcast_shapes(*(np.shape(word) for word in (c0, c1, c2, c3, k0, k1)))
    c0, c1, c2, c3 = (np.array(np.broadcast_to(word, shape)) for word in (c0, c1, c2, c3))
    first, second = np.empty_like(c0), np.empty_like(c0)
    for number in range(ROUNDS):
        if number:
            k0, k1 = (k0 + np.uint64(STEPS[0])) & mask, (k1 + np.uint64(STEPS[1])) & mask
        np.multiply(c0, np.uint64(MULTIPLIERS[0]), out=first)
        np.multiply(c2, np.uint64(MULTIPLIERS[1]), out=second)
        np.right_shift(second, half, out=c0)
        c0 ^= c1
        c0 ^= k0
        np.right_shift(first, half, out=c2)
        c2 ^= c3
        c2 ^= k1
        np.bitwise_and(second, mask, out=c1)
        np.bitwise_and(first, mask, out=c3)
    return c0, c1, c2, c3


def hashed(parts: object, size: int) -> bytes:
    """A hash that is the same on every machine and in every version: BLAKE2b of the parts as JSON.

    Examples
    --------
    >>> hashed(["007", 1], 4) == hashlib.blake2b(b'["007",1]', digest_size=4, person=b"bayeseval-1").digest()
    True
    """
    text = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("ascii"), digest_size=size, person=SCHEME.encode("ascii")).digest()


def row_keys(seed: int, prompts: Sequence[object], generations: Sequence[int], *, stream: str | None = None) -> Words:
    """Keys of rows: what a row's noise depends on, beside position and token.

    Parameters
    ----------
    seed : int
    prompts : sequence of str (row,)
        Ids; their text counts, so that prompt 7 and prompt "7" are one.
    generations : sequence of int (row,)
        Number of the generation within its prompt.
    stream : str, optional
        Systems with different streams have independent noise. None is the noise that coupled systems share.

    Returns
    -------
    uint32 array (row, 3)

    Raises
    ------
    OptionError
        If the seed or a generation is no whole number, or there are not as many prompts as generations.

    Examples
    --------
    >>> row_keys(1, ["p1", "p1"], [0, 1]).shape
    (2, 3)
    >>> bool((row_keys(1, ["p1"], [0]) == row_keys(1, ["p1"], [0], stream="system a")).any())
    False
    """
    if isinstance(prompts, str | bytes) or len(prompts) != len(generations):
        raise OptionError(
            "noise is keyed by row: give as many prompt ids as generation numbers, each as a list with one entry a row"
        )
    start = whole_number("seed", seed)
    digests = [
        hashed([start, str(prompt), whole_number("a generation", number), stream], 12)
        for prompt, number in zip(prompts, generations, strict=True)
    ]
    return np.frombuffer(b"".join(digests), dtype="<u4").astype(np.uint32).reshape(-1, 3)


def whole_number(name: str, value: Any) -> int:
    """An int, also from NumPy; everything else is refused with a sentence."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise OptionError(f"{name} must be a whole number, but {value!r} was given")
    return int(value)


def noise_block(rows: ArrayLike, block: ArrayLike, tokens: ArrayLike) -> Words:
    """Random words of four positions in a row, 4 block to 4 block + 3.

    Parameters
    ----------
    rows : uint32 array (row, 3)
        From `row_keys`.
    block : int or int array (row,)
        A quarter of the position, rounded down.
    tokens : uint64 array (token,)
        Keys of tokens.

    Returns
    -------
    uint32 array (4, row, token)

    Examples
    --------
    >>> noise_block(row_keys(1, ["p"], [0]), 0, [0, 1, 2]).shape
    (4, 1, 3)
    """
    keys = np.asarray(rows, dtype=np.uint64)
    token = np.asarray(tokens, dtype=np.uint64)
    blocks = np.broadcast_to(np.asarray(block, dtype=np.uint64), keys.shape[:1])
    low, high = token & np.uint64(MASK), token >> np.uint64(32)
    made = np.empty((PER_BLOCK, len(keys), token.size), dtype=np.uint32)
    step = max(1, AT_ONCE // max(1, token.size))
    for start in range(0, len(keys), step):
        part = slice(start, start + step)
        k0, k1, rest = keys[part].T[..., None]
        made[:, part] = _rounds(low, high, blocks[part, None], rest, k0, k1)
    return made


def noise_words(rows: ArrayLike, position: ArrayLike, tokens: ArrayLike) -> Words:
    """Random words of one position, uniform on 0 to 2^32 - 1.

    Parameters
    ----------
    rows : uint32 array (row, 3)
        From `row_keys`.
    position : int or int array (row,)
        Tokens that were generated before this one.
    tokens : uint64 array (token,)
        Keys of tokens.

    Returns
    -------
    uint32 array (row, token)

    Examples
    --------
    >>> rows = row_keys(1, ["p", "q"], [0, 0])
    >>> alone, together = noise_words(rows[1:], 5, [8, 9]), noise_words(rows, [0, 5], [7, 8, 9])
    >>> bool((alone[0] == together[1, 1:]).all())
    True
    """
    where = np.broadcast_to(np.asarray(position, dtype=np.int64), np.asarray(rows).shape[:1])
    if (where < 0).any():
        raise OptionError(f"a position counts the tokens generated before, from 0, but {int(where.min())} was given")
    made = noise_block(rows, where // PER_BLOCK, tokens)
    return made[where % PER_BLOCK, np.arange(where.size)]


def to_exponential(words: ArrayLike) -> Floats:
    r"""Exponential noise from random words: :math:`E = -\log\{(w + \tfrac12)/2^{32}\}`.

    Parameters
    ----------
    words : uint32 array (...)

    Returns
    -------
    float64 array (...)
        Exp(1), from 1.2e-10 to 22.9, so that :math:`-\log E` lies between -3.2 and 22.9.

    Notes
    -----
    Steps of 2^-32 distort the chances of tokens with a probability of about 1e-10 or less, and of no other.

    Examples
    --------
    >>> to_exponential([0, 2**31, 2**32 - 1]).round(4)
    array([22.8739,  0.6931,  0.    ])
    """
    uniform = np.asarray(words, dtype=np.float64)
    uniform = uniform + 0.5
    uniform *= 2.0**-32
    np.log(uniform, out=uniform)
    return np.negative(uniform, out=uniform)


def exponential_noise(
    seed: int,
    prompt: object,
    generation: int,
    position: ArrayLike,
    tokens: ArrayLike,
    *,
    stream: str | None = None,
) -> Floats:
    """Exp(1) noise of tokens at positions of one generation.

    Parameters
    ----------
    seed, prompt, generation, stream
        As in `row_keys`.
    position : int or int array (position,)
        Tokens that were generated before.
    tokens : int or uint64 array (token,)
        Keys of tokens, or how many there are: tokens 0, 1, 2, … are then their own keys.

    Returns
    -------
    float array (token,) or (position, token)

    Examples
    --------
    >>> noise = exponential_noise(7, "prompt 1", 0, position=3, tokens=4)
    >>> noise.shape, bool((noise == exponential_noise(7, "prompt 1", 0, [3, 4], [0, 1, 2, 3])[0]).all())
    ((4,), True)
    """
    keys = np.arange(int(tokens)) if np.ndim(tokens) == 0 else tokens  # type: ignore[arg-type]
    where = np.atleast_1d(np.asarray(position, dtype=np.int64))
    rows = np.repeat(row_keys(seed, [prompt], [generation], stream=stream), where.size, axis=0)
    made = to_exponential(noise_words(rows, where, keys))
    return made[0] if np.ndim(position) == 0 else made


def gumbel_noise(
    seed: int,
    prompt: object,
    generation: int,
    position: ArrayLike,
    tokens: ArrayLike,
    *,
    stream: str | None = None,
) -> Floats:
    r"""Standard Gumbel noise, :math:`-\log E` of `exponential_noise`, which takes the same arguments.

    Examples
    --------
    >>> import numpy as np
    >>> noise = gumbel_noise(7, "prompt 1", 0, position=np.arange(50), tokens=100)
    >>> round(float(noise.mean()), 1)  # Euler's constant, 0.577
    0.6
    """
    return -np.log(exponential_noise(seed, prompt, generation, position, tokens, stream=stream))
