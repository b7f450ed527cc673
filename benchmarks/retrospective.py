"""Plans held against what came: from part of the generations of real runs, the width at all of them.

    python benchmarks/retrospective.py ../shared/data           # some minutes
    python benchmarks/retrospective.py ../shared/data --write   # and writes docs/planning/retrospective.json

Pilots are the first 4 of 10 generations (coupled-gsm8k), the first 8 of 50 (aime24-50, which comes with the package),
and 1,000 of 10,000 drawn without replacement (pythia-math-10k, which has counts only). Predicted: `be.plan` of the
pilot at all generations, median and 90% band of the widths in its futures. Seen: the width of the interval in a fit of
all of the data, with the method that the plan foresaw. Data sets that are not in the folder are left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import bayeseval as be
from bayeseval import metrics
from bayeseval.metrics import Metric

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "docs" / "planning" / "retrospective.json"
FUTURES = 300
SEED = 1
DRAWS = 10_000
"""Draws in each of four chains of what is seen: bands of a thousand prompts are narrow, and noise must be narrower."""
DIGITS = 5


class Run(NamedTuple):
    """A run: its pilot, all of it, and the scores that are planned."""

    data: str
    pilot: be.Counts
    full: be.Counts
    scores: tuple[Metric, ...]


def counts_of(correct: np.ndarray, generations: int, system: str, benchmark: str) -> be.Counts:
    """Counts of one run with as many generations of every prompt."""
    return be.Counts.from_arrays(correct, generations, system=system, benchmark=benchmark)


def first_of(y: np.ndarray, few: int, data: str, system: str, benchmark: str, score: Metric) -> Run:
    """A run (prompt, generation) whose first generations are the pilot."""
    pilot, full = (counts_of(y[:, :k].sum(axis=1), k, system, benchmark) for k in (few, y.shape[1]))
    return Run(data, pilot, full, (metrics.mean(), score))


def gsm8k(folder: Path) -> Iterator[Run]:
    """19 systems, with coupled and with independent generations: 4 of 10."""
    path = folder / "coupled-gsm8k" / "outcomes.parquet"
    if not path.is_file():
        return
    rows = pd.read_parquet(path).sort_values(["prompt_id", "generation"])
    for (condition, system), part in rows.groupby(["condition", "model"], observed=True):
        y = part["correct"].to_numpy().astype(int).reshape(part["prompt_id"].nunique(), -1)
        yield first_of(y, 4, "coupled-gsm8k", system, f"gsm8k, {condition}", metrics.pass_at(4))


def aime() -> Iterator[Run]:
    """Two checkpoints: 8 of 50."""
    rows = be.example("aime24-50", kind="outcomes").to_frame().sort_values(["prompt", "generation"])
    for (system, benchmark), part in rows.groupby(["system", "benchmark"], observed=True):
        y = part["correct"].to_numpy().astype(int).reshape(part["prompt"].nunique(), -1)
        yield first_of(y, 8, "aime24-50", system, benchmark, metrics.pass_at(16))


def pythia(folder: Path) -> Iterator[Run]:
    """Seven systems: 1,000 of 10,000, drawn without replacement."""
    path = folder / "pythia-math-10k" / "counts.csv"
    if not path.is_file():
        return
    rng = np.random.default_rng(SEED)
    for (system, benchmark), part in pd.read_csv(path).groupby(["model", "benchmark"]):
        correct, generations = part["c"].to_numpy(), int(part["n"].iloc[0])
        few = rng.hypergeometric(correct, generations - correct, generations // 10)
        pair = (counts_of(c, k, system, benchmark) for c, k in ((few, generations // 10), (correct, generations)))
        yield Run("pythia-math-10k", *pair, (metrics.mean(), metrics.pass_at(16)))


def compare(run: Run) -> Iterator[dict[str, object]]:
    """Predicted and seen, for every score and both estimands."""
    pilot = be.fit(run.pilot, engine="quadrature", seed=SEED, progress=False)
    full = be.fit(run.full, engine="quadrature", draws=DRAWS, seed=SEED, progress=False)
    last = int(run.full.generations.max())
    for score in run.scores:
        for estimand in ("population", "benchmark"):
            plan = be.plan(
                pilot, 0.5, score=score, estimand=estimand, generations=[last], futures=FUTURES, progress=False
            )
            row = plan.curve.iloc[0]
            seen, headline = full.score(score, estimand, method=plan.method), full.score(score, estimand)
            yield {
                "data": run.data,
                "benchmark": run.full.benchmark[0],
                "system": run.full.system[0],
                "score": score.name,
                "estimand": estimand,
                "method": plan.method,
                "predicted": row["width"],
                "lower": row["width_lower"],
                "upper": row["width_upper"],
                "seen": seen.width,
                "ratio": row["width"] / seen.width,
                "inside": bool(row["width_lower"] <= seen.width <= row["width_upper"]),
                "predicted_sd": row["sd"],
                "seen_sd": seen.sd,
                "ratio_sd": row["sd"] / seen.sd,
                "headline": headline.method,
                "seen_headline": headline.width,
                "warnings": len(plan.warnings),
            }


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row a data set, score and estimand."""
    grouped = table.groupby(["data", "score", "estimand"], sort=False)
    return grouped.agg(
        runs=("inside", "size"),
        inside=("inside", "mean"),
        ratio_median=("ratio", "median"),
        ratio_least=("ratio", "min"),
        ratio_most=("ratio", "max"),
        sd_ratio_median=("ratio_sd", "median"),
        robust=("method", lambda values: (values == "robust").sum()),
        robust_at_last=("headline", lambda values: (values == "robust").sum()),
    ).reset_index()


def write(rows: list[dict[str, object]], path: Path = RESULT) -> None:
    """One row a line, so that a change can be looked at."""
    short = [
        {name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    ]
    made = {
        "date": datetime.now(UTC).date().isoformat(), "version": be.__version__, "seed": SEED, "futures": FUTURES,
        "draws": 4 * DRAWS,
    }  # fmt: skip
    lines = ",\n".join(json.dumps(row) for row in short)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{"made": {json.dumps(made)},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}")


def main() -> None:
    """Print one row a run, score and estimand, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT.parent / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="write the result that the documentation shows")
    chosen = parser.parse_args()
    rows = []
    for run in (*aime(), *pythia(chosen.folder), *gsm8k(chosen.folder)):
        for row in compare(run):
            rows.append(row)
            print(
                f"{row['data']}, {row['benchmark']}, {row['system']}, {row['score']}, {row['estimand']} "
                f"({row['method']}): predicted {row['predicted']:.4g} [{row['lower']:.4g}, {row['upper']:.4g}], "
                f"seen {row['seen']:.4g}, ratio {row['ratio']:.3f}{'' if row['inside'] else ', OUTSIDE'}",
                flush=True,
            )
    print(summary(pd.DataFrame(rows)).round(3).to_string(index=False))
    if chosen.write:
        write(rows)


if __name__ == "__main__":
    main()
