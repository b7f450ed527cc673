"""OpenAI simple-evals: ``<eval>_<model>_<date>_allresults.json``.

The score of a sample stands only in its HTML, ``<p>Score: 1.0</p>``. Samples are examples times repeats, one repeat
after another, but neither number is stored: samples with the same text, whatever the order of its lines and of the
choices, are taken for generations of one prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "simple-evals"

_SCORE = re.compile(r"<p>\s*Score:\s*([^<]*?)\s*</p>")
_NAMED = re.compile(r"(?P<eval>[^_]+)_(?P<model>.+?)(?:_\d{8}_\d{6})?_allresults$")


def sniff(peek: Peek) -> str | None:
    """An object with ``htmls`` and ``convos``; totals have keys such as "score:std"."""
    if "htmls" in peek.record:
        return "simple_evals_all"
    return "simple_evals_totals" if "score" in peek.record and any(n.endswith(":std") for n in peek.record) else None


def samples(file: File) -> Iterator[Sample]:
    """One sample a conversation."""
    if file.label == "simple_evals_totals":
        file.refuse("holds totals of simple-evals: read ..._allresults.json beside it")
    value = file.json()
    htmls, conversations = value["htmls"], value.get("convos") or []
    named = _NAMED.match(file.stem)
    names: dict[str, Any] = {"system": named["model"], "benchmark": named["eval"]} if named else {}
    prompts: dict[Any, str] = {}
    for index, html in enumerate(htmls):
        conversation = conversations[index] if index < len(conversations) else None
        key = _prompt_text(conversation) or index
        prompt = prompts.setdefault(key, f"item{len(prompts)}")
        scores = _SCORE.findall(html)
        answer = conversation[-1].get("content") if conversation else None
        yield Sample(
            prompt, {"score": scores[-1] if scores else None}, f"sample {index + 1}",
            answer=answer if isinstance(answer, str) else None, **names,
        )  # fmt: skip
    file.note(
        f"{len(htmls)} samples of {len(prompts)} prompts: those with the same text, whatever the order of its lines, "
        "are taken for generations of one prompt, as the file has no ids"
    )


def _prompt_text(conversation: Any) -> tuple[str, ...] | None:
    """The lines of what was asked, in an order that does not depend on how choices were shuffled."""
    if not conversation:
        return None
    texts = [str(message.get("content")) for message in conversation if message.get("role") != "assistant"]
    lines = (re.sub(r"^\s*\(?[A-Z][).:]\s*", "", line).strip() for text in texts for line in text.splitlines())
    return tuple(sorted(line for line in lines if line))
