r"""One step of coupled sampling: warp the logits, add the noise of the tokens, take the largest.

With probabilities :math:`p_v` after temperature, top-k and top-p, and noise :math:`E_v \sim \mathrm{Exp}(1)`,

.. math:: \arg\max_v \{\log p_v - \log E_v\}

is a draw from p (Gumbel-max): the system keeps its own law, whoever else uses the same noise. The warping must happen
before the noise is added, and is done here in the order of Hugging Face: temperature, top-k, top-p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bayeseval.coupling.devices import library_of
from bayeseval.errors import DataError, OptionError

__all__ = ["Decoding", "coupled_argmax", "noisy_argmax", "warp"]


@dataclass(frozen=True)
class Decoding:
    """Settings of sampling.

    Attributes
    ----------
    temperature : float
        Logits are divided by it.
    top_k : int or None
        Only so many of the most likely tokens are sampled from; ties at the edge stay.
    top_p : float or None
        Only the most likely tokens that together have this probability are sampled from; ties at the edge stay.

    Raises
    ------
    OptionError
        If the temperature is 0 (greedy decoding takes no noise, so there is nothing to couple) or another setting is
        impossible.

    Examples
    --------
    >>> Decoding(temperature=0.7, top_p=0.95)
    Decoding(temperature=0.7, top_k=None, top_p=0.95)
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        if not _is_number(self.temperature) or not 0 <= self.temperature < math.inf:
            raise OptionError(f"temperature must be a positive number, but {self.temperature!r} was given")
        if self.temperature == 0:
            raise OptionError(
                "temperature 0 is greedy decoding: no noise is used, every generation is the same, and coupling does "
                "nothing; give a positive temperature, or decode greedily, once a prompt"
            )
        if self.top_k is not None and (isinstance(self.top_k, bool) or self.top_k != int(self.top_k) or self.top_k < 1):
            raise OptionError(f"top_k must be a whole number of at least 1, or None, but {self.top_k!r} was given")
        if self.top_p is not None and (not _is_number(self.top_p) or not 0 < self.top_p <= 1):
            raise OptionError(f"top_p must lie above 0 and not above 1, or be None, but {self.top_p!r} was given")

    @property
    def cuts(self) -> bool:
        """Whether some tokens are left out."""
        return self.top_k is not None or (self.top_p is not None and self.top_p < 1)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def warp(logits: Any, decoding: Decoding, size: int | None = None) -> Any:
    """Logits after temperature, top-k and top-p; tokens that are left out get -inf.

    Parameters
    ----------
    logits : array (row, token)
        NumPy, torch or JAX, at least float32. -inf stays.
    decoding : Decoding
    size : int, optional
        Tokens of the tokenizer. Rows of logits are often padded beyond it; the rest is masked.

    Returns
    -------
    array (row, token)
        Of the same library. Not normalised: a constant that is added to a row changes no draw.

    Examples
    --------
    >>> import numpy as np
    >>> warp(np.log([[0.5, 0.3, 0.2]]), Decoding(top_p=0.6)).round(3)
    array([[-0.693, -1.204,    -inf]])
    """
    xp = library_of(logits)
    out = logits / decoding.temperature
    if size is not None and size < out.shape[-1]:
        inside = xp.arange(out.shape[-1], **({"device": out.device} if xp.__name__ == "torch" else {})) < size
        out = xp.where(inside, out, -math.inf)
    if not decoding.cuts:
        return out
    torch = xp.__name__ == "torch"
    if decoding.top_k is not None and decoding.top_k < out.shape[-1]:
        k = int(decoding.top_k)
        edge = xp.topk(out, k, dim=-1).values[..., -1:] if torch else xp.partition(out, -k, axis=-1)[..., -k, None]
        out = xp.where(out < edge, -math.inf, out)
    if decoding.top_p is not None and decoding.top_p < 1:
        rising = xp.sort(out, axis=-1)
        rising = rising.values if torch else rising
        mass = xp.cumsum(xp.exp(rising - rising[..., -1:]), axis=-1)
        left_out = mass <= (1 - decoding.top_p) * mass[..., -1:]
        edge = xp.where(left_out[..., :-1], math.inf, rising[..., :-1])
        edge = xp.amin(xp.concatenate((edge, rising[..., -1:]), axis=-1), axis=-1)[..., None]
        out = xp.where(out < edge, -math.inf, out)
    return out


def noisy_argmax(warped: Any, noise: Any) -> Any:
    """The token of each row with the largest log p - log E.

    Parameters
    ----------
    warped : array (row, token)
        From `warp`.
    noise : array (row, token)
        Exp(1), of the same library.

    Returns
    -------
    int array (row,)

    Raises
    ------
    DataError
        If a row holds a NaN, or no token is left.
    """
    xp = library_of(warped)
    scores = warped - xp.log(noise)
    best = xp.argmax(scores, axis=-1)
    if xp.__name__.startswith("jax"):
        return best  # inside jit no value can be looked at
    highest = xp.amax(scores, axis=-1)
    wrong = ~(highest > -math.inf)
    if bool(wrong.any()):
        row = int(xp.argmax(wrong * 1))
        raise DataError(
            f"row {row} of the logits has no token to choose: they are NaN, or all -inf; look at what the system "
            f"computes, and at the processors that run before this one"
        )
    return best


def coupled_argmax(
    logits: Any,
    noise: Any,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    size: int | None = None,
) -> Any:
    """Draw one token a row from the warped logits, with this noise.

    Parameters
    ----------
    logits : array (row, token)
        NumPy, torch or JAX; raw, as the system gives them. -inf stays.
    noise : array (row, token)
        Exp(1), of the same library: `bayeseval.coupling.exponential_noise`.
    temperature, top_k, top_p
        As in `Decoding`.
    size : int, optional
        Tokens of the tokenizer; logits beyond it are padding and are masked.

    Returns
    -------
    int array (row,)

    Raises
    ------
    OptionError
        If the temperature is 0, or another setting is impossible.
    DataError
        If a row has no token to choose.

    Examples
    --------
    Two systems, one noise: they pick the same token more often than independent draws would.

    >>> import numpy as np
    >>> from bayeseval.coupling import exponential_noise
    >>> p, q = np.log([0.5, 0.3, 0.2]), np.log([0.2, 0.3, 0.5])
    >>> noise = exponential_noise(1, "p", 0, position=np.arange(2000), tokens=3)
    >>> a, b = (coupled_argmax(np.tile(one, (2000, 1)), noise) for one in (p, q))
    >>> bool(0.59 < np.mean(a == b) < 0.67)  # exactly 0.6308, independent 0.29
    True
    """
    return noisy_argmax(warp(logits, Decoding(temperature, top_k, top_p), size), noise)
