"""GPU against CPU: the same posteriors, and how long each takes.

Run on a machine whose JAX sees an accelerator: ``python scripts/gpu_check.py`` (two minutes, or so). Without one it
says so and compares the vectorised program with the mapped one on the CPU, which checks the same code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import numpy as np

import bayeseval as be

RUNS, PROMPTS, GENERATIONS = 64, 500, 50
LIMIT = 4.5
"""Largest distance from exact quadrature in Monte Carlo standard errors; of 384 normal ones few come near."""


def simulate() -> be.Counts:
    """Many runs of different difficulty and spread."""
    rng = np.random.default_rng(0)
    parts = []
    for run in range(RUNS):
        mu, rho = rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.8)
        p = rng.beta(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho, PROMPTS)
        correct = rng.binomial(GENERATIONS, p)
        parts.append(be.Counts.from_arrays(correct, np.full(PROMPTS, GENERATIONS), system=f"run {run}"))
    return be.Counts.concat(parts)


def measure(vectorised: bool) -> dict[str, object]:
    """Fit twice in this process, and compare every run with the exact engine."""
    import jax

    counts, times = simulate(), []
    for _ in range(2):
        start = time.perf_counter()
        posteriors = be.fit(counts, seed=1, vectorised=vectorised, progress=False)
        times.append(time.perf_counter() - start)
    scores = [post.mean(method="model") for post in posteriors]
    return {
        "backend": jax.default_backend(),
        "devices": str(jax.devices()),
        "times": times,
        "distance": max(post.check().diagnostics.distance for post in posteriors),
        "means": [score.value for score in scores],
        "sds": [score.sd for score in scores],
    }


def in_process(way: str, platform: str | None) -> dict[str, object]:
    """`measure` in a process of its own, on the given platform."""
    environment = dict(os.environ) if platform is None else {**os.environ, "JAX_PLATFORMS": platform}
    command = [sys.executable, __file__, way]
    answer = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def main() -> int:
    """Compare, print, and return 0 when both agree with exact quadrature."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(vectorised=sys.argv[1] == "vectorised")))
        return 0
    ours, reference = in_process("vectorised", None), in_process("mapped", "cpu")
    print(f"JAX sees {ours['devices']}")
    if ours["backend"] == "cpu":
        print("no accelerator: the vectorised program ran on the CPU")
    print(f"{RUNS} runs x {PROMPTS} prompts x {GENERATIONS} generations, 4 chains x (1000 + 1000)")
    for way, facts in (("vectorised", ours), ("mapped", reference)):
        first, second = facts["times"]
        print(
            f"{way:>10} on {facts['backend']}: first fit {first:.2f} s, second {second:.2f} s, "
            f"at most {facts['distance']:.2f} MCSE from exact quadrature"
        )
    shift = np.max(np.abs(np.subtract(ours["means"], reference["means"])) / np.array(reference["sds"]))
    ratio = reference["times"][1] / ours["times"][1]
    print(f"means differ by at most {shift:.3f} posterior standard deviations; mapped / vectorised time {ratio:.1f}")
    agree = max(ours["distance"], reference["distance"]) <= LIMIT
    print("agree" if agree else "DISAGREE")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
