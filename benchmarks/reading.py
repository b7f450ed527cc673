"""Large tables to counts: `be.read(path, kind="counts")` against the bare scan and group-by of Polars.

    python benchmarks/reading.py                      # 10 million generations, as Parquet and as JSON Lines
    python benchmarks/reading.py --rows 1_000_000

Every measurement is a process of its own, in which both libraries are imported and have read a small table before the
clock starts; its peak memory is that of the whole process. They take turns, and the quickest of each counts. The
promise: at most 1.5 times the time of the bare group-by, and less than 2 GB. The bare group-by does not look whether a
generation occurs twice, nor keep the order of prompts; "checked" is Polars doing the first of these as well.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SYSTEMS, BENCHMARKS, GENERATIONS = 10, 10, 40
KEY = ["system", "benchmark", "prompt_id"]


def write(folder: Path, rows: int) -> None:
    """Write generations of 100 runs in the order in which they would be run, as Parquet and as JSON Lines."""
    import numpy as np
    import polars as pl

    place = np.arange(rows)
    run, within = np.divmod(place, max(rows // (SYSTEMS * BENCHMARKS), 1))
    random = np.random.default_rng(20260729)
    numbers = {"system": run // BENCHMARKS, "benchmark": run % BENCHMARKS, "prompt_id": within // GENERATIONS}
    frame = pl.DataFrame({**numbers, "generation": within % GENERATIONS, "correct": random.random(rows) < 0.4})
    frame = frame.with_columns(pl.format(f"{name}-{{}}", pl.col(name)).alias(name) for name in KEY)
    frame.write_parquet(folder / "generations.parquet")
    frame.write_ndjson(folder / "generations.jsonl")


def measure(reader: str, path: str) -> dict[str, float]:
    """Seconds, processor seconds, peak memory in MB, and what was counted, in this very process."""
    import resource

    import polars as pl

    import bayeseval as be

    be.read(pl.LazyFrame({"prompt_id": ["a"], "correct": [True]}), quiet=True)
    clock, processor = time.perf_counter(), time.process_time()
    if reader != "bayeseval":
        scan = pl.scan_parquet(path) if path.endswith(".parquet") else pl.scan_ndjson(path)
        more = [pl.col("generation").n_unique()] if reader == "checked" else []
        sums = scan.group_by(KEY).agg(pl.len().alias("generations"), pl.col("correct").sum(), *more)
        counts = sums.collect(engine="streaming")
        generations, correct = int(counts["generations"].sum()), int(counts["correct"].sum())
    else:
        read = be.read(path, kind="counts", quiet=True)
        counts, generations, correct = read, read.n_generations, int(read.correct.sum())
    seconds, processor = time.perf_counter() - clock, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    return {"seconds": seconds, "processor": processor, "peak": peak, "prompts": len(counts),
            "generations": generations, "correct": correct}  # fmt: skip


def in_a_process(reader: str, path: Path) -> dict[str, float]:
    """The same in a fresh process."""
    command = [sys.executable, __file__, "--measure", reader, str(path)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000, help="generations in each file")
    parser.add_argument("--repeats", type=int, default=3, help="processes for each reader")
    parser.add_argument("--measure", nargs=2, metavar=("READER", "PATH"), help=argparse.SUPPRESS)
    parser.add_argument("--write", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(Path(options.write), options.rows)
        sys.exit()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        sys.exit()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{options.rows:,} generations of {SYSTEMS * BENCHMARKS} runs, {GENERATIONS} to each prompt")
        # Linux counts the memory of the process that starts another as that one's peak, so this one stays small.
        subprocess.run([sys.executable, __file__, "--write", folder, "--rows", str(options.rows)], check=True)
        for path in sorted(Path(folder).iterdir(), reverse=True):
            taken = {reader: [] for reader in ("polars", "checked", "bayeseval")}
            for _ in range(options.repeats):
                for reader, several in taken.items():
                    several.append(in_a_process(reader, path))
            totals = {(t["prompts"], t["generations"], t["correct"]) for several in taken.values() for t in several}
            assert len(totals) == 1, f"the two count differently: {totals}"
            best = {
                reader: {name: min(t[name] for t in several) for name in several[0]}
                for reader, several in taken.items()
            }
            for reader, least in best.items():
                print(
                    f"{path.suffix[1:]:8s} {reader:10s} {least['seconds']:6.2f} s, {least['processor']:6.2f} s of "
                    f"processor, {least['peak']:6,.0f} MB"
                )
            ratios = [best["bayeseval"][name] / best["polars"][name] for name in ("seconds", "processor")]
            checked = best["bayeseval"]["seconds"] / best["checked"]["seconds"]
            print(
                f"{path.suffix[1:]:8s} ratio      {ratios[0]:6.2f} (promised 1.5), of processor {ratios[1]:.2f}; "
                f"{checked:.2f} where Polars checks too"
            )
