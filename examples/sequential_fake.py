"""Generate a batch, update, look, stop: the loop of a sequential evaluation, with a system that is made up.

Run it with Python from a checkout, or after ``pip install bayeseval``; it takes a few seconds::

    python examples/sequential_fake.py

Replace `generate` with a call of your own system and grader, and the loop stays as it is.
"""

from __future__ import annotations

import numpy as np

import bayeseval as be

PROMPTS = [f"prompt-{number}" for number in range(60)]
BATCH = 4  # generations of every prompt between two looks
WIDTH = 0.06
MOST = 6_000  # generations in all


def fake_system(seed: int = 0) -> tuple[np.ndarray, np.random.Generator]:
    """The system's true P(correct) of every prompt, which an evaluation never sees, and its source of chance."""
    rng = np.random.default_rng(seed)
    return rng.beta(0.8, 0.6, len(PROMPTS)), rng


def generate(p: np.ndarray, rng: np.random.Generator, generations: int) -> be.Counts:
    """Answer every prompt so many times, and grade the answers."""
    correct = rng.binomial(generations, p)
    return be.Counts.from_arrays(correct, generations, prompt=PROMPTS, system="made-up", benchmark="demo")


def main(seed: int = 0) -> be.Looks:
    """The loop; returns its log."""
    p, rng = fake_system(seed)
    post = be.fit(generate(p, rng, BATCH), engine="quadrature", seed=1, progress=False)
    looks = be.Looks(be.stop_at_width(WIDTH, estimand="benchmark"), most=MOST).add(post)
    while not looks.stop:
        post = post.update(generate(p, rng, BATCH), progress=False)
        looks = looks.add(post)
    print(looks.to_frame().drop(columns="reason").to_string(index=False, float_format="%.3f"))
    print(looks)
    print(f"The true score, known here alone, is {p.mean():.3f}.")
    return looks


if __name__ == "__main__":
    main()
