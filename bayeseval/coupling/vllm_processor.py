"""Coupled sampling inside vLLM: a batch-level logits processor of its V1 engine.

Written against the interface of vLLM's ``vllm/v1/sample/logits_processor/interface.py``, which vLLM calls unstable, and
tested with a stand-in of that interface, never inside vLLM itself. Load it when the engine starts, and say for each
request what its noise is keyed by::

    from vllm import LLM, SamplingParams

    llm = LLM("...", logits_processors=["bayeseval.coupling.vllm_processor:CoupledVllmProcessor"])
    llm.generate(text, SamplingParams(temperature=0, max_tokens=64, extra_args={
        "coupled_seed": 1, "coupled_prompt": "p1", "coupled_generation": 0,
        "coupled_temperature": 0.8, "coupled_top_p": 0.95,
    }))

The request itself must be greedy (temperature 0): vLLM then takes the token that the processor leaves. Requests without
``coupled_seed`` are left alone. Over HTTP the same arguments go into ``vllm_xargs``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.coupling.noise import row_keys
from bayeseval.coupling.sampler import Sampler
from bayeseval.coupling.sampling import Decoding
from bayeseval.coupling.vocabularies import Vocabulary
from bayeseval.errors import OptionError

if TYPE_CHECKING:
    Base: Any = object
else:
    try:
        from vllm.v1.sample.logits_processor import LogitsProcessor as Base
    except ImportError:  # the class can be looked at and tested without vLLM
        Base = object

__all__ = ["CoupledVllmProcessor", "request_settings"]

KEYS = ("seed", "prompt", "generation")
SETTINGS = ("temperature", "top_k", "top_p", "stream")


def request_settings(params: Any) -> tuple[np.ndarray, Decoding] | None:
    """Key (1, 3) and settings of a request, from its ``SamplingParams``; None where it is not to be coupled.

    Raises
    ------
    OptionError
        If an argument is missing, unknown or impossible, or the request is not greedy. It is a ValueError, which
        vLLM reports to whoever sent the request.
    """
    given = {name: value for name, value in (params.extra_args or {}).items() if name.startswith("coupled_")}
    if not given:
        return None
    named = {name.removeprefix("coupled_"): value for name, value in given.items()}
    missing = [f"coupled_{name}" for name in KEYS if name not in named]
    unknown = [f"coupled_{name}" for name in named if name not in (*KEYS, *SETTINGS)]
    if missing or unknown:
        raise OptionError(
            f"coupled requests have the extra_args {', '.join(f'coupled_{name}' for name in (*KEYS, *SETTINGS))}, the "
            f"first three always; missing: {', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}"
        )
    if params.temperature != 0:
        raise OptionError(
            f"a coupled request is greedy, since the processor draws: give SamplingParams(temperature=0) and "
            f"coupled_temperature={params.temperature!r} in extra_args"
        )
    if (getattr(params, "n", 1) or 1) != 1:
        raise OptionError("n > 1 would give every sequence the same noise: send a request for each generation")
    penalties = ("presence_penalty", "frequency_penalty", "repetition_penalty")
    for name, neutral in zip(penalties, (0.0, 0.0, 1.0), strict=True):
        if getattr(params, name, neutral) != neutral:
            raise OptionError(f"{name} would have no effect: vLLM applies it after the token has been picked")
    key = row_keys(named["seed"], [named["prompt"]], [named["generation"]], stream=named.get("stream"))
    return key, Decoding(named.get("temperature", 1.0), named.get("top_k"), named.get("top_p"))


class CoupledVllmProcessor(Base):
    """Picks the next token of every coupled request with keyed noise; see the module for how it is loaded.

    Attributes
    ----------
    vocabulary : Vocabulary or None
        What the tokens are. None reads the engine's tokenizer with transformers; a subclass may say it.
    """

    vocabulary: Vocabulary | None = None

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a request that cannot be coupled, before it runs."""
        request_settings(sampling_params)

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        if getattr(vllm_config, "speculative_config", None) is not None:
            raise OptionError(
                "speculative decoding cannot be coupled: its tokens are not drawn one by one; start the engine without"
            )
        vocabulary = self.vocabulary or _engine_vocabulary(vllm_config)
        self.tokens = vocabulary.keys
        self.requests: dict[int, tuple[np.ndarray, Decoding, list[int]]] = {}
        self._sampler: Sampler | None = None

    def is_argmax_invariant(self) -> bool:
        """False: it changes which token is largest, so greedy requests need it."""
        return False

    def update_state(self, batch_update: Any) -> None:
        """Follow the batch: requests that left, came and moved, in this order."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self.requests.pop(index, None)
        for index, params, _prompt, output in batch_update.added:
            self.requests.pop(index, None)
            settings = request_settings(params)
            if settings is not None:
                self.requests[index] = (*settings, output)  # `output` is the request's own list, which grows
        for start, end, direction in batch_update.moved:
            one, other = self.requests.pop(start, None), self.requests.pop(end, None)
            if one is not None:
                self.requests[end] = one
            if other is not None and direction.name == "SWAP":
                self.requests[start] = other
        self._sampler = None

    def apply(self, logits: Any) -> Any:
        """Logits (request, token), in which coupled requests keep one token."""
        if not self.requests:
            return logits
        import torch

        rows = list(self.requests)
        keys, decoding, outputs = zip(*self.requests.values(), strict=True)
        if self._sampler is None:
            self._sampler = Sampler(np.concatenate(keys), self.tokens, decoding)
        place = torch.as_tensor(rows, device=logits.device)
        chosen = self._sampler.choose(logits[place], [len(output) for output in outputs])
        logits[place] = -float("inf")
        logits[place, chosen.to(logits.device)] = 0.0
        return logits


def _engine_vocabulary(vllm_config: Any) -> Vocabulary:
    from transformers import AutoTokenizer

    model = vllm_config.model_config
    return Vocabulary.of(
        AutoTokenizer.from_pretrained(
            model.tokenizer, revision=getattr(model, "tokenizer_revision", None),
            trust_remote_code=getattr(model, "trust_remote_code", False),
        )
    )  # fmt: skip
