"""Coupled sampling inside `generate` of Hugging Face transformers: a logits processor for greedy decoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeseval.coupling.noise import row_keys
from bayeseval.coupling.sampler import Sampler
from bayeseval.coupling.sampling import Decoding
from bayeseval.coupling.vocabularies import Vocabulary
from bayeseval.errors import OptionError

__all__ = ["CoupledLogitsProcessor", "greedy_options"]


class CoupledLogitsProcessor:
    """Picks each row's next token with keyed noise, and leaves `generate` nothing else to take.

    Use it with ``do_sample=False, num_beams=1`` and without other settings of sampling: they belong in here, since
    greedy decoding skips them. All logits but that of the picked token become -inf.

    Parameters
    ----------
    seed : int
    prompts : sequence of str (row,)
        Ids of prompts, one for each row of the batch.
    generations : sequence of int (row,)
    prompt_length : int
        Length of the input that `generate` is given, padding included. Pad on the left, so that all rows begin at once.
    vocabulary : Vocabulary, int, or a tokenizer
        What the system's tokens are; a number stands for tokens that are their own keys.
    temperature, top_k, top_p
        See `Decoding`.
    stream : str, optional
        A system's own stream makes its generations independent of other systems'. None couples.

    Raises
    ------
    OptionError
        If the temperature is 0; or, while generating, if rows or positions are not those of plain decoding, as with
        beams, several sequences a row, and assisted (speculative) decoding.

    Examples
    --------
    With a model and a tokenizer of transformers::

        inputs = tokenizer([text, text], return_tensors="pt", padding=True)
        processor = CoupledLogitsProcessor(
            seed=1, prompts=["p1", "p1"], generations=[0, 1], prompt_length=inputs["input_ids"].shape[1],
            vocabulary=tokenizer, temperature=0.8,
        )
        model.generate(**inputs, logits_processor=[processor], do_sample=False, num_beams=1, max_new_tokens=32)
    """

    supports_continuous_batching = False

    def __init__(
        self,
        seed: int,
        prompts: Sequence[object],
        generations: Sequence[int],
        prompt_length: int,
        vocabulary: Any,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        stream: str | None = None,
    ) -> None:
        if isinstance(vocabulary, int):
            tokens: Any = np.arange(vocabulary)
        else:
            tokens = (vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary.of(vocabulary)).keys
        decoding = Decoding(temperature, top_k, top_p)
        self.prompt_length = int(prompt_length)
        self.sampler = Sampler(row_keys(seed, prompts, generations, stream=stream), tokens, decoding)
        self._last = -1

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Scores (row, token) in which the picked token of each row is 0 and every other -inf."""
        position = int(input_ids.shape[1]) - self.prompt_length
        rows = len(self.sampler.rows)
        if input_ids.shape[0] != rows:
            raise OptionError(
                f"{input_ids.shape[0]} rows are decoded, but noise was asked for {rows}: beams and "
                f"num_return_sequences are not coupled; use num_beams=1, and repeat the prompt with its generations"
            )
        if position not in (0, self._last + 1):
            raise OptionError(
                f"the token at position {position} is asked for after the one at {self._last}: assisted and "
                f"speculative decoding are not coupled, and prompt_length must be the length of the padded input"
            )
        self._last = position
        chosen = self.sampler.choose(scores, position)
        picked = scores.new_full(scores.shape, -float("inf"))
        return picked.scatter_(1, chosen[:, None].to(scores.device), 0.0)


REFUSED = {
    "assistant_model": "assisted (speculative) decoding",
    "prompt_lookup_num_tokens": "assisted (speculative) decoding",
    "assistant_early_exit": "assisted (speculative) decoding",
    "penalty_alpha": "contrastive search",
    "dola_layers": "decoding by contrasting layers",
    "constraints": "constrained beams",
    "force_words_ids": "constrained beams",
}


def greedy_options(**options: Any) -> dict[str, Any]:
    """Arguments for `generate` with which a `CoupledLogitsProcessor` works; what cannot be coupled is refused.

    Parameters
    ----------
    **options
        Further arguments of `generate`.

    Returns
    -------
    dict

    Raises
    ------
    OptionError
        If options ask for beams, several sequences a row, assisted decoding, or sampling outside the processor.

    Examples
    --------
    >>> greedy_options(max_new_tokens=8)
    {'max_new_tokens': 8, 'do_sample': False, 'num_beams': 1}
    """
    for name, what in REFUSED.items():
        if options.get(name):
            raise OptionError(f"{what} ({name}) cannot be coupled: its tokens are not drawn one by one; leave it out")
    for name in ("num_beams", "num_beam_groups", "num_return_sequences"):
        if (options.get(name) or 1) != 1:
            raise OptionError(
                f"{name}={options[name]!r} cannot be coupled: beams and several sequences a row share one key; leave "
                f"it out, and repeat the prompt with a number for each generation"
            )
    for name in ("temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty"):
        if options.get(name) is not None:
            raise OptionError(
                f"{name} must not be given to generate, which skips it or applies it where it does not belong; "
                f"temperature, top_k and top_p are settings of CoupledLogitsProcessor"
            )
    if options.get("do_sample"):
        raise OptionError("do_sample=True would draw a second time: the processor draws, and generate takes the token")
    return {**options, "do_sample": False, "num_beams": 1}
