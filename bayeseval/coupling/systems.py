"""Systems that can be coupled: a model of transformers with its tokenizer, or a function that gives logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from bayeseval.arrays import Floats
from bayeseval.coupling.devices import require_torch
from bayeseval.coupling.noise import hashed, row_keys
from bayeseval.coupling.sampler import Sampler
from bayeseval.coupling.sampling import Decoding
from bayeseval.coupling.transformers_processor import CoupledLogitsProcessor, greedy_options
from bayeseval.coupling.vocabularies import Vocabulary
from bayeseval.errors import DataError, OptionError

__all__ = ["LogitsSystem", "Request", "System", "TransformersSystem", "as_system"]


class Request(NamedTuple):
    """One generation that is to be made."""

    prompt: str
    text: str
    generation: int


class System(Protocol):
    """What `generate_coupled` asks of a system."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Its tokens."""
        ...

    @property
    def fingerprint(self) -> str:
        """A text that changes when the system does."""
        ...

    @property
    def identity(self) -> object:
        """The object that must not be given twice."""
        ...

    def answers(
        self, requests: Sequence[Request], seed: int, stream: str | None, decoding: Decoding, max_new_tokens: int
    ) -> list[str]:
        """Texts of the generations, in order."""
        ...


@dataclass(frozen=True, eq=False)
class LogitsSystem:
    """A system that is a function: logits of the next token, given prompts and what was written so far.

    Attributes
    ----------
    logits : callable
        Takes the texts of prompts (row,) and the tokens written so far, an int array (row, position), and returns a
        float array (row, token).
    tokens : sequence of str
        What each token writes.
    stop : int
        The token that ends a generation; it writes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> coin = LogitsSystem(lambda texts, written: np.zeros((len(texts), 3)), ["head ", "tail ", ""], stop=2)
    >>> coin
    LogitsSystem: 3 tokens
    """

    logits: Callable[[Sequence[str], np.ndarray], Floats]
    tokens: Sequence[str]
    stop: int

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its tokens."""
        return Vocabulary.of_tokens(list(self.tokens), special={self.stop: "eos_token"})

    @property
    def fingerprint(self) -> str:
        """Of its tokens; a function cannot be told from another."""
        return hashed(["function", self.vocabulary.names], 16).hex()

    @property
    def identity(self) -> object:
        """The function."""
        return self.logits

    def answers(
        self, requests: Sequence[Request], seed: int, stream: str | None, decoding: Decoding, max_new_tokens: int
    ) -> list[str]:
        """Texts of the generations, token by token; rows that have ended are not computed any more."""
        keys = row_keys(seed, [one.prompt for one in requests], [one.generation for one in requests], stream=stream)
        written = np.zeros((len(requests), 0), dtype=np.int64)
        going = np.arange(len(requests))
        for position in range(max_new_tokens):
            logits = np.asarray(
                self.logits([requests[row].text for row in going.tolist()], written[going]), dtype=np.float64
            )
            chosen = Sampler(keys[going], self.vocabulary.keys, decoding).choose(logits, position)
            column = np.full(len(requests), self.stop)
            column[going] = chosen
            written = np.concatenate([written, column[:, None]], axis=1)
            going = going[chosen != self.stop]
            if not going.size:
                break
        return ["".join(self.tokens[token] for token in row if token != self.stop) for row in written]

    def __repr__(self) -> str:
        return f"LogitsSystem: {len(self.tokens):,} tokens"


@dataclass(frozen=True, eq=False)
class TransformersSystem:
    """A causal language model of transformers with its tokenizer.

    Attributes
    ----------
    model, tokenizer
        Prompts are given to the tokenizer as they are: apply a chat template before. Penalties in the model's own
        generation settings stay, and are applied before the noise.
    """

    model: Any
    tokenizer: Any

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its tokens, by their bytes and roles."""
        return Vocabulary.of(self.tokenizer)

    @cached_property
    def fingerprint(self) -> str:
        """Of the tokens, and of a few numbers of every weight."""
        sample = []
        for name, weight in sorted(self.model.state_dict().items()):
            if not hasattr(weight, "numel"):
                continue
            flat = weight.detach().reshape(-1)
            some = flat[:: max(1, flat.numel() // 8)][:8].float().cpu().numpy().astype(np.float64)
            sample.append([name, list(weight.shape), some.tolist()])
        return hashed(["transformers", self.vocabulary.names, sample], 16).hex()

    @property
    def identity(self) -> object:
        """The model."""
        return self.model

    def answers(
        self, requests: Sequence[Request], seed: int, stream: str | None, decoding: Decoding, max_new_tokens: int
    ) -> list[str]:
        """Texts of the generations, made in one batch by `generate` of transformers."""
        torch = require_torch("a system of transformers")
        from transformers import GenerationConfig

        ids = [list(self.tokenizer(one.text)["input_ids"]) for one in requests]
        if not all(ids):
            empty = next(one.prompt for one, tokens in zip(requests, ids, strict=True) if not tokens)
            raise DataError(f"prompt {empty!r} has no token; a system cannot go on from nothing")
        ends = self._ends
        pad = self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else (ends or [0])[0]
        width = max(len(tokens) for tokens in ids)
        device = self.model.get_input_embeddings().weight.device
        inputs = torch.tensor([[pad] * (width - len(tokens)) + tokens for tokens in ids], device=device)
        mask = torch.tensor([[0] * (width - len(tokens)) + [1] * len(tokens) for tokens in ids], device=device)
        processor = CoupledLogitsProcessor(
            seed, [one.prompt for one in requests], [one.generation for one in requests], width, self.vocabulary,
            temperature=decoding.temperature, top_k=decoding.top_k, top_p=decoding.top_p, stream=stream,
        )  # fmt: skip
        settings = greedy_options(max_new_tokens=max_new_tokens, eos_token_id=ends or None, pad_token_id=pad)
        with torch.inference_mode():
            output = self.model.generate(
                inputs,
                attention_mask=mask,
                logits_processor=[processor],
                generation_config=GenerationConfig(**settings),
            )
        texts = []
        for row in output[:, width:].tolist():
            end = next((place for place, token in enumerate(row) if token in ends), len(row))
            texts.append(self.tokenizer.decode(row[:end], skip_special_tokens=True))
        return texts

    @property
    def _ends(self) -> list[int]:
        """Tokens that end a generation."""
        config = getattr(self.model, "generation_config", None)
        ends = getattr(config, "eos_token_id", None)
        ends = self.tokenizer.eos_token_id if ends is None else ends
        return [] if ends is None else [int(end) for end in (ends if isinstance(ends, list | tuple) else [ends])]


def as_system(name: str, given: Any) -> System:
    """A system from what users give: a pair of model and tokenizer, or a `LogitsSystem` or the like.

    Raises
    ------
    OptionError
        If it is something else.
    """
    if isinstance(given, tuple) and len(given) == 2:
        require_torch(f"{name}, a pair of model and tokenizer,")
        model, tokenizer = given
        if not hasattr(model, "generate") or not hasattr(tokenizer, "get_vocab"):
            raise OptionError(f"{name} must be a pair (model, tokenizer) of transformers, in this order")
        return TransformersSystem(model, tokenizer)
    if all(hasattr(given, part) for part in ("vocabulary", "fingerprint", "identity", "answers")):
        return given
    raise OptionError(
        f"{name} must be a pair (model, tokenizer) of transformers or a LogitsSystem, but "
        f"{type(given).__name__} was given"
    )
