"""A batch of rows whose tokens are drawn step by step with keyed noise; the core of every processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeseval.coupling.devices import halves, library_of, torch_exponential, torch_noise_block
from bayeseval.coupling.noise import PER_BLOCK, noise_block, noise_words, to_exponential
from bayeseval.coupling.sampling import Decoding, noisy_argmax, warp
from bayeseval.errors import DataError, OptionError

__all__ = ["Sampler"]

FEW = 8
"""Noise is computed for the surviving tokens alone where fewer than one in so many survive."""


class Sampler:
    """Draws the next token of every row; what it draws depends on the row's key and position, and on no other row.

    It keeps the random words of four positions, since one counter gives four; they are a cache and no state.

    Parameters
    ----------
    rows : uint32 array (row, 3)
        From `bayeseval.coupling.noise.row_keys`.
    tokens : uint64 array (token,)
        Keys of the tokenizer's tokens. Logits beyond them are padding and are masked.
    decoding : Decoding, or one for each row

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.coupling.noise import row_keys
    >>> rows, logits = row_keys(1, ["p", "q"], [0, 0]), np.zeros((2, 50))
    >>> both = Sampler(rows, np.arange(50), Decoding()).choose(logits, 3)
    >>> alone = Sampler(rows[1:], np.arange(50), Decoding()).choose(logits[1:], 3)
    >>> bool(both[1] == alone[0])
    True
    """

    def __init__(self, rows: ArrayLike, tokens: ArrayLike, decoding: Decoding | Sequence[Decoding]) -> None:
        self.rows = np.asarray(rows, dtype=np.uint32)
        self.tokens = np.asarray(tokens, dtype=np.uint64)
        each = [decoding] * len(self.rows) if isinstance(decoding, Decoding) else list(decoding)
        if len(each) != len(self.rows):
            raise OptionError(f"{len(self.rows)} rows have {len(each)} settings of sampling: give one to each, or one")
        self.decoding = each
        self._blocks = np.full(len(self.rows), -1)
        self._words: Any = None
        self._halves: Any = None

    def choose(self, logits: Any, position: ArrayLike) -> Any:
        """The next token of every row.

        Parameters
        ----------
        logits : array (row, token)
            Raw; NumPy, or a torch tensor on any device.
        position : int or int array (row,)
            Tokens of the row that were generated before.

        Returns
        -------
        int array (row,), of the same library and device
        """
        if tuple(logits.shape[:1]) != (len(self.rows),) or logits.shape[-1] < self.tokens.size:
            raise DataError(
                f"logits of {len(self.rows)} rows and at least {self.tokens.size:,} tokens were expected, not shape "
                f"{tuple(logits.shape)}; beams and several sequences a row are not coupled: give each row its own "
                f"prompt and generation, and the tokenizer that belongs to the system"
            )
        where = np.broadcast_to(np.asarray(position, dtype=np.int64), self.rows.shape[:1])
        if library_of(logits).__name__ != "torch":
            return self._choose(np.asarray(logits), where)
        torch = library_of(logits)
        raw = logits.detach().to(torch.float32)
        if raw.device.type in ("cpu", "mps"):  # NumPy's integers are faster than torch's on a CPU; mps has no float64
            return torch.as_tensor(self._choose(raw.cpu().numpy(), where), device=logits.device)
        warped = self._warp(raw, torch.cat)
        return noisy_argmax(warped, torch_exponential(self._torch_words(where, raw.device)))

    def _warp(self, logits: Any, join: Any) -> Any:
        """Rows with equal settings are warped together."""
        logits = logits[:, : self.tokens.size]
        if len(set(self.decoding)) == 1:
            return warp(logits, self.decoding[0])
        return join([warp(logits[row : row + 1], one) for row, one in enumerate(self.decoding)])

    def _choose(self, logits: NDArray[Any], where: NDArray[np.int64]) -> NDArray[np.int64]:
        if logits.dtype not in (np.float32, np.float64):
            logits = logits.astype(np.float32)
        warped = self._warp(logits, np.concatenate)
        kept = np.flatnonzero((warped > -np.inf).any(axis=0))
        if FEW * kept.size < self.tokens.size and kept.size:
            noise = to_exponential(noise_words(self.rows, where, self.tokens[kept]))
            return kept[noisy_argmax(warped[:, kept], noise)]
        return np.asarray(noisy_argmax(warped, to_exponential(self._numpy_words(where))))

    def _numpy_words(self, where: NDArray[np.int64]) -> NDArray[np.uint32]:
        blocks, places = np.divmod(where, PER_BLOCK)
        if self._words is None:
            self._words = np.empty((PER_BLOCK, len(self.rows), self.tokens.size), dtype=np.uint32)
        stale = np.flatnonzero(blocks != self._blocks)
        if stale.size:
            self._words[:, stale] = noise_block(self.rows[stale], blocks[stale], self.tokens)
            self._blocks[stale] = blocks[stale]
        return np.asarray(self._words[places, np.arange(places.size)])

    def _torch_words(self, where: NDArray[np.int64], device: Any) -> Any:
        """The same on an accelerator; words are kept as int32 with the sign bit flipped, to save memory."""
        import torch

        blocks, places = np.divmod(where, PER_BLOCK)
        if self._words is None:
            self._halves = halves(self.tokens, device)
            shape = (PER_BLOCK, len(self.rows), self.tokens.size)
            self._words = torch.empty(shape, dtype=torch.int32, device=device)
        stale = np.flatnonzero(blocks != self._blocks)
        if stale.size:
            made = torch_noise_block(self.rows[stale], blocks[stale], self._halves, device)
            self._words[:, torch.as_tensor(stale, device=device)] = (made - 2**31).to(torch.int32)
            self._blocks[stale] = blocks[stale]
        row = torch.arange(len(self.rows), device=device)
        return self._words[torch.as_tensor(places, device=device), row].to(torch.int64) + 2**31
