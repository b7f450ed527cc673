"""NUTS on every run of every data set: R-hat, effective draws, divergences, and the distance from the exact engine.

    python benchmarks/real_data.py ../shared/data                              # the default model, a few minutes
    python benchmarks/real_data.py ../shared/data --model beta_mixture --only coupled-gsm8k coupled-mmlu

Chains of models with few parameters that did not mix are resampled by importance: ``resampled`` counts such runs, and
``divergences`` are those of the chains, before that.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

import bayeseval as be

KEYS = {"coupled-gsm8k": ["benchmark", "condition"], "coupled-mmlu": ["benchmark", "condition"]}


def counts_of(folder: Path) -> be.Counts | None:
    """Counts of a data set, or None where the folder has none."""
    files = sorted(folder.glob("counts.csv*"))
    if not files:
        return None
    benchmark = KEYS.get(folder.name, "benchmark")
    return be.read(
        files[0], system="model", benchmark=benchmark, prompt="prompt_id", generations="n", correct="c", quiet=True
    )


def extremes() -> be.Counts:
    """Runs at the edge of what can be seen: all correct, all wrong, one generation, one prompt, huge k."""
    cases = {
        "all correct 30x64": ([64] * 30, [64] * 30),
        "all wrong 30x64": ([0] * 30, [64] * 30),
        "all correct 30x1": ([1] * 30, [1] * 30),
        "one generation 20": ([1, 0] * 10, [1] * 20),
        "one prompt 3/10": ([3], [10]),
        "one prompt 1/1": ([1], [1]),
        "k = 10,000": ([0, 3, 120, 9_000, 5_000, 1], [10_000] * 6),
        "prompts without generations": ([3, 0, 0, 4], [4, 4, 0, 4]),
    }
    return be.Counts.concat(
        [be.Counts.from_arrays(correct, n, system=name, benchmark="extreme") for name, (correct, n) in cases.items()]
    )


def measure(counts: be.Counts, model: str) -> pd.DataFrame:
    """One row a run: the worst figures of its check."""
    posteriors = be.fit(counts, model=model, seed=1)
    items = [posteriors] if isinstance(posteriors, be.Posterior) else list(posteriors)
    rows = []
    for post in items:
        diagnostics = post.check().diagnostics
        table = diagnostics.table.values()
        resampled = diagnostics.resampled
        rows.append(
            {
                "system": post.system,
                "benchmark": post.benchmark,
                "prompts": len(post.counts),
                "generations": int(post.counts.generations.max()),
                "mcse": diagnostics.distance,
                "rhat": max((row["rhat"] for row in table if "rhat" in row), default=1.0),
                "ess_bulk": min(row["ess_bulk"] for row in table),
                "ess_tail": min(row["ess_tail"] for row in table),
                "divergences": int(resampled["divergences"]) if resampled else diagnostics.divergences,
                "resampled": resampled is not None,
                "warned": not diagnostics.ok,
                "misfit": post.check().misfit,
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Print a table with a row for each data set, and the runs that miss a target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default="../shared/data", help="folder of data sets")
    parser.add_argument("--model", default="beta_binomial", help="name of a built-in model, or a file")
    parser.add_argument("--only", nargs="*", help="names of data sets")
    chosen = parser.parse_args()
    root = Path(chosen.data)
    if not root.is_dir():
        print(f"there is no folder {root}: name one whose folders hold counts.csv files")
        return
    sets = {"extremes": extremes()} if not chosen.only else {}
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        counts = counts_of(folder)
        if counts is not None and (not chosen.only or folder.name in chosen.only):
            sets[folder.name] = counts
    frames = []
    for name, counts in sets.items():
        start = time.perf_counter()
        frame = measure(counts, chosen.model).assign(data=name, seconds=time.perf_counter() - start)
        frames.append(frame)
    everything = pd.concat(frames, ignore_index=True)
    table = everything.groupby("data", sort=False).agg(
        runs=("system", "size"),
        mcse_worst=("mcse", "max"),
        rhat_worst=("rhat", "max"),
        ess_bulk_least=("ess_bulk", "min"),
        ess_tail_least=("ess_tail", "min"),
        divergences=("divergences", "sum"),
        resampled=("resampled", "sum"),
        warned=("warned", "sum"),
        misfit=("misfit", "sum"),
        seconds=("seconds", "first"),
    )
    with pd.option_context("display.width", 180, "display.max_columns", 20, "display.max_rows", 100):
        print(table.round(3))
        missed = everything[
            (everything["mcse"] > 4)
            | (everything["rhat"] >= 1.01)
            | (everything["ess_bulk"] < 1000)
            | ((everything["divergences"] > 0) & ~everything["resampled"])
        ]
        share = np.mean(everything["mcse"] > 2)
        print(f"\n{len(everything)} runs; {share:.1%} of the worst distances (of six) exceed 2 MCSE")
        print("runs that miss a target:" if len(missed) else "no run misses a target (4 MCSE, 1.01, 1000, 0)")
        if len(missed):
            print(missed.drop(columns="seconds").to_string(index=False))


if __name__ == "__main__":
    main()
