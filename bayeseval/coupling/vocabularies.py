"""Vocabularies: one key for every token, by its bytes or its role, and whether two of them can be coupled at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from bayeseval.coupling.noise import Keys, hashed
from bayeseval.errors import DataError
from bayeseval.pairs import listed

__all__ = ["Vocabulary", "VocabularyMatch", "match_vocabularies", "require_match", "token_bytes"]

ROLES = ("eos_token", "bos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token")
LEAST = 0.95
"""Share of tokens, and of prompts split alike, that coupling asks for."""


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """What each token of a system is, and the key of its noise.

    Attributes
    ----------
    names : tuple of str (token,)
        The token's bytes in hexadecimal, or ``role:eos_token`` and the like for special ones. A name that occurs more
        than once, as byte tokens beside letters do, is numbered: two tokens of one vocabulary never share their noise,
        for then their chances would not add up.
    split : callable or None
        From a text to token ids, to see whether two systems split it alike.

    Examples
    --------
    >>> Vocabulary.of_tokens(["a", "b", "<end>"], special={2: "eos_token"})
    Vocabulary: 3 tokens, 1 of them special
    """

    names: tuple[str, ...]
    split: Callable[[str], Sequence[int]] | None = None

    @classmethod
    def of_tokens(
        cls,
        tokens: Sequence[str | bytes | None],
        *,
        special: Mapping[int, str] | None = None,
        split: Callable[[str], Sequence[int]] | None = None,
    ) -> Vocabulary:
        """From texts or bytes of tokens, in the order of their ids; None is a hole in the ids.

        Parameters
        ----------
        tokens : sequence of str or bytes
        special : mapping of int to str, optional
            Role, such as "eos_token", or a name of its own, of special tokens by id.
        split : callable, optional
        """
        roles = special or {}
        seen: dict[str, int] = {}
        names = []
        for place, token in enumerate(tokens):
            if place in roles:
                name = f"role:{roles[place]}"
            elif token is None:
                name = f"hole:{place}"
            else:
                name = (token.encode("utf-8", "surrogatepass") if isinstance(token, str) else token).hex()
            times = seen[name] = seen.get(name, 0) + 1
            names.append(name if times == 1 else f"{name}#{times}")
        return cls(tuple(names), split)

    @classmethod
    def of(cls, tokenizer: Any) -> Vocabulary:
        """From a Hugging Face tokenizer.

        Special tokens are known by their roles (end, begin, padding, …), whatever they are called; special tokens
        without a role by their text.
        """
        ids = tokenizer.get_vocab()
        if not ids:
            raise DataError("the tokenizer has no tokens")
        texts: list[str | None] = [None] * (max(ids.values()) + 1)
        for text, place in ids.items():
            texts[place] = text
        special = {ids[text]: f"text:{text}" for text in tokenizer.all_special_tokens if text in ids}
        for role in reversed(ROLES):  # a token with two roles is named by the first
            text = getattr(tokenizer, role, None)
            if text in ids:
                special[ids[text]] = role
        known = [text for text in texts if text is not None]
        to_bytes = token_bytes(known)
        raw = [None if text is None else to_bytes(text) for text in texts]
        return cls.of_tokens(raw, special=special, split=lambda text: tokenizer(text)["input_ids"])

    @cached_property
    def keys(self) -> Keys:
        """Keys of tokens (token,), 64 bits of a hash of their names."""
        return np.frombuffer(b"".join(hashed(name, 8) for name in self.names), dtype="<u8").astype(np.uint64)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        special = sum(name.startswith("role:") for name in self.names)
        return f"Vocabulary: {len(self):,} tokens, {special:,} of them special"


@dataclass(frozen=True)
class VocabularyMatch:
    """How far two systems share their tokens.

    Attributes
    ----------
    systems : tuple of str
    shared : int
        Tokens that both have.
    sizes : tuple of int
    share : float
        Shared tokens over the tokens of the smaller vocabulary.
    alike : float
        Share of texts that both split into the same tokens; NaN where that is not known.
    reason : str or None
        Why coupling would be lost; None where it would not.
    """

    systems: tuple[str, str]
    shared: int
    sizes: tuple[int, int]
    share: float
    alike: float
    reason: str | None = None

    def __repr__(self) -> str:
        a, b = self.systems
        split = "" if np.isnan(self.alike) else f", {self.alike:.1%} of texts split alike"
        said = f"VocabularyMatch: {a} and {b} share {self.shared:,} tokens ({self.share:.1%} of the smaller){split}"
        return said + ("" if self.reason is None else f"; coupling would be lost: {self.reason}")

    def to_frame(self) -> Any:
        """A pandas frame with one row."""
        import pandas as pd

        a, b = self.systems
        row = {"system_a": a, "system_b": b, "tokens_a": self.sizes[0], "tokens_b": self.sizes[1],
               "shared": self.shared, "share": self.share, "alike": self.alike, "reason": self.reason}  # fmt: skip
        return pd.DataFrame([row])


def match_vocabularies(
    a: Vocabulary,
    b: Vocabulary,
    texts: Sequence[str] = (),
    *,
    systems: tuple[str, str] = ("the first system", "the second system"),
    least: float = LEAST,
) -> VocabularyMatch:
    """Whether two systems can be coupled: same tokens, and the same texts split into the same tokens.

    Noise is shared token by token and position by position. Where one system writes "123" as one token and the other
    as three, positions drift apart, and noise is shared no longer; each system's own law stays right.

    Parameters
    ----------
    a, b : Vocabulary
    texts : sequence of str
        Texts to split, such as the prompts.
    systems : tuple of str
        Names for the sentence.
    least : float
        Share of tokens, and of texts, that must agree.

    Returns
    -------
    VocabularyMatch

    Examples
    --------
    >>> digits = Vocabulary.of_tokens([*"0123456789", "<end>"], special={10: "eos_token"})
    >>> pairs = Vocabulary.of_tokens([*[f"{n:02d}" for n in range(100)], "<stop>"], special={100: "eos_token"})
    >>> match_vocabularies(digits, pairs).shared
    1
    >>> match_vocabularies(digits, pairs).reason
    'they share 9.1% of the smaller vocabulary, and at least 95% is asked for'
    """
    first, second = frozenset(a.names), frozenset(b.names)
    shared = len(first & second)
    share = shared / min(len(a), len(b))
    alike = float("nan")
    different: list[str] = []
    if texts and a.split is not None and b.split is not None:
        different = [text for text in texts if _split(a, text) != _split(b, text)]
        alike = 1 - len(different) / len(texts)
    reason = None
    if share < least:
        reason = f"they share {share:.1%} of the smaller vocabulary, and at least {least:.0%} is asked for"
    elif alike < least:
        shown = listed([text if len(text) < 40 else text[:37] + "..." for text in different])
        reason = f"{len(different):,} of {len(texts):,} texts are split into different tokens: {shown}"
    return VocabularyMatch(systems, shared, (len(a), len(b)), share, alike, reason)


def require_match(vocabularies: Mapping[str, Vocabulary], texts: Sequence[str] = ()) -> list[VocabularyMatch]:
    """Matches of the first system with each other one.

    Raises
    ------
    DataError
        If coupling would be lost; the sentence says why.
    """
    (first, own), *rest = vocabularies.items()
    matches = [match_vocabularies(own, other, texts, systems=(first, name)) for name, other in rest]
    for match in matches:
        if match.reason is not None:
            raise DataError(
                f"{match.systems[0]} and {match.systems[1]} cannot be coupled: {match.reason}. Couple systems of one "
                f"family, with one tokenizer, or generate with coupled=False"
            )
    return matches


def _split(vocabulary: Vocabulary, text: str) -> list[str]:
    return [vocabulary.names[token] for token in vocabulary.split(text)]  # type: ignore[misc]


def token_bytes(tokens: Sequence[str]) -> Callable[[str], bytes]:
    r"""How the tokens of a vocabulary are spelled: a function from a token's text to its bytes.

    Parameters
    ----------
    tokens : sequence of str
        All of the vocabulary. Byte-level BPE is known by its "Ġ" for a space, SentencePiece by "▁"; anything else
        stands for itself.

    Examples
    --------
    >>> token_bytes(["Ġthe", "a"])("ĠÃ¤")
    b' \xc3\xa4'
    >>> token_bytes(["▁the", "a"])("▁a"), token_bytes(["▁the", "a"])("<0x0A>")
    (b' a', b'\n')
    """
    marked = {mark: sum(mark in token for token in tokens) for mark in ("Ġ", "▁")}
    if marked["Ġ"] > marked["▁"]:
        table = _byte_letters()

        def byte_level(token: str) -> bytes:
            if all(letter in table for letter in token):
                return bytes(table[letter] for letter in token)
            return token.encode("utf-8", "surrogatepass")  # an added token, which is spelled as it is

        return byte_level
    if marked["▁"]:

        def sentencepiece(token: str) -> bytes:
            if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
                try:
                    return bytes([int(token[3:5], 16)])
                except ValueError:
                    pass
            return token.replace("▁", " ").encode("utf-8", "surrogatepass")

        return sentencepiece
    return lambda token: token.encode("utf-8", "surrogatepass")


@cache
def _byte_letters() -> dict[str, int]:
    """Byte-level BPE writes each byte as a letter: printable ones as themselves, the rest from 256 on, in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + place): byte for place, byte in enumerate(rest)}
