"""Speed, as ratios side by side in one run on one machine.

Run with ``python benchmarks/speed.py`` on an idle machine; ``--quick`` leaves out ``pm.sample`` at 5,000 prompts.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version

import numpy as np

import bayeseval as be

GENERATIONS = 50


def simulate(n_prompts: int, generations: int = GENERATIONS, seed: int = 0) -> be.Counts:
    """Counts of prompts with P(correct) ~ Beta of mean 0.6 and standard deviation 0.3."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1.0, 0.6666667, n_prompts)
    return be.Counts.from_arrays(rng.binomial(generations, p), np.full(n_prompts, generations))


def seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """Median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def explicit_pymc(counts: be.Counts) -> Callable[[], object]:
    """``pm.sample`` on the textbook model with every p_i, at the same numbers of chains and draws."""
    import pymc as pm

    def call() -> object:
        with pm.Model():
            mu, rho = pm.Beta("mu", 1, 1), pm.Beta("rho", 1, 1)
            nu = (1 - rho) / rho
            p = pm.Beta("p", mu * nu, (1 - mu) * nu, shape=len(counts))
            pm.Binomial("correct", counts.generations, p, observed=counts.correct)
            return pm.sample(
                1000,
                tune=1000,
                chains=4,
                cores=os.cpu_count(),
                random_seed=1,
                progressbar=False,
                nuts_sampler="pymc",
                compute_convergence_checks=False,
            )

    return call


def fits(quick: bool) -> None:
    """Second fit in the same process: ours, ours with its checks, and pm.sample."""
    be.fit(simulate(100), seed=1, progress=False)
    print("\nNUTS, 50 generations, 4 chains x (1000 + 1000), second fit in the process [s]")
    print(f"{'prompts':>8} {'be.fit':>8} {'+ check':>8} {'pm.sample':>10} {'ratio':>7}")
    for n in (500, 5_000, 50_000):
        counts = simulate(n)
        ours = seconds(lambda counts=counts: be.fit(counts, seed=2, progress=False))
        checked = seconds(lambda counts=counts: be.fit(counts, seed=2, progress=False).check())
        theirs = float("nan")
        if n == 500 or (n == 5_000 and not quick):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sample = explicit_pymc(counts)
                if n == 500:
                    sample()  # the first call compiles; at 5,000 prompts compiling is a small part
                theirs = seconds(sample, 1)
        print(f"{n:>8,} {ours:>8.3f} {checked:>8.3f} {theirs:>10.2f} {theirs / ours:>7.0f}", flush=True)


def processes() -> None:
    """From process start to a posterior, imports included; and the import alone."""
    code = "import bayeseval as be; be.fit(be.Counts.from_arrays([3, 0, 4, 2] * 20, [4] * 80), seed=1, progress=False)"

    def run(program: str, folder: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "BAYESEVAL_CACHE": folder})
        return time.perf_counter() - start

    with tempfile.TemporaryDirectory() as folder:
        cold = run(code, folder)
        warm = statistics.median(run(code, folder) for _ in range(5))
        bare = statistics.median(run("pass", folder) for _ in range(5))
        imported = statistics.median(run("import bayeseval", folder) for _ in range(5))
    print("\nfrom process start to the first posterior [s]")
    print(f"cold cache {cold:.2f}, warm cache {warm:.2f}; import bayeseval {imported - bare:.3f} beyond a bare start")


def refits() -> None:
    """Exact refits a second, 200 prompts x 16 generations, reducing the counts included or not."""
    from bayeseval.engines.batches import batch_of_counts
    from bayeseval.engines.refits import refit

    rng = np.random.default_rng(1)
    correct = rng.binomial(16, rng.beta(0.8, 1.2, (8000, 200)))
    generations = np.full(200, 16)
    batch = batch_of_counts(correct, generations)
    alone = seconds(lambda: refit(batch, (1, 1), (1, 1), 0.95), 3)
    whole = seconds(lambda: refit(batch_of_counts(correct, generations), (1, 1), (1, 1), 0.95), 3)
    print("\nexact refits for planning, 16 generations")
    print(f"{8000 / alone:,.0f} a second; {8000 / whole:,.0f} with the reduction of the counts")

    post = be.fit(simulate(1000, 8), engine="quadrature", seed=1, progress=False)
    post.check()
    ladder = [8, 9, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192]
    times = {
        futures: seconds(
            lambda futures=futures: be.plan(post, 0.03, generations=ladder, futures=futures, progress=False), 3
        )
        for futures in (250, 500, 1000)
    }
    text = ", ".join(f"{futures} futures {value:.2f} s" for futures, value in times.items())
    print(f"plan of 12 k for 1,000 prompts: {text}")


def memory() -> None:
    """Peak memory of benchmark and robust scores, 14,042 prompts x 4,000 draws."""
    code = (
        "import re, numpy as np, bayeseval as be\n"
        "def peak(): return int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) // 1024\n"
        "rng = np.random.default_rng(0)\n"
        "counts = be.Counts.from_arrays(rng.binomial(10, rng.beta(.5, .4, 14042)), np.full(14042, 10))\n"
        "post = be.fit(counts, engine='quadrature', seed=1, progress=False)\n"
        "before = peak()\n"
        "post.mean('benchmark'), post.mean('population')\n"
        "print(before, peak())\n"
    )
    # From /proc, since Linux hands the parent's peak down to ru_maxrss.
    if not os.path.exists("/proc/self/status"):
        print("\nmemory is measured on Linux alone")
        return
    answer = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    print(f"\nmean of 14,042 prompts x 4,000 draws: peak {answer[1]} MiB in all, {answer[0]} MiB before")


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the longest run of pm.sample")
    quick = parser.parse_args().quick
    versions = ", ".join(f"{name} {version(name)}" for name in ("pymc", "jax", "numpyro", "numpy"))
    print(f"Python {platform.python_version()}, {versions}, {os.cpu_count()} cores")
    processes()
    refits()
    memory()
    fits(quick)


if __name__ == "__main__":
    main()
