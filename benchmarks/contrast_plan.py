"""Plans of differences on real data: standard errors predicted from 4 of 10 generations, against those seen at 10.

    python benchmarks/contrast_plan.py ../shared/data

All pairs of systems of a family on GSM8K, with coupled and with independent generations. Predicted: `be.plan_contrast`
at 10 generations from the first 4 of each prompt, median over draws. Seen: sqrt(S²/n) of the differences of shares from
all 10, and for the benchmark the noise of the generations alone. The 4 are among the 10; `disjoint` is the same
ratio for a study of 6 generations, seen in the last 6.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayeseval as be

PILOT, FULL = 4, 10


def cubes(folder: Path) -> dict[tuple[str, str], dict[str, np.ndarray]]:
    """Outcomes (prompt, generation) of every system, by family and condition."""
    rows = pd.read_parquet(folder / "coupled-gsm8k" / "outcomes.parquet")
    rows = rows.sort_values(["prompt_id", "generation"])
    found: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    for (family, condition, model), part in rows.groupby(["family", "condition", "model"], observed=True):
        found.setdefault((family, condition), {})[model] = part["correct"].to_numpy().reshape(-1, FULL)
    return found


def outcomes(y: np.ndarray, system: str) -> be.Outcomes:
    """The first generations of a system."""
    return be.Outcomes.from_matrix(y[:, :PILOT].astype(float), system=system, benchmark="gsm8k")


def seen(a: np.ndarray, b: np.ndarray) -> dict[str, float]:
    """Standard errors of the difference from all generations, paired by number for the benchmark."""
    n, k = a.shape
    share = a.mean(axis=1) - b.mean(axis=1)
    noise = (a.astype(float) - b).var(axis=1, ddof=1).mean() / k
    return {"population": np.sqrt(share.var(ddof=1) / n), "benchmark": np.sqrt(noise / n)}


def compare(pair: dict[str, np.ndarray], condition: str) -> list[dict[str, object]]:
    """Predicted and seen, for both estimands."""
    (first, a), (second, b) = pair.items()
    runs = outcomes(a, first), outcomes(b, second)
    more = {"design": "coupled", "coupled_outcomes": runs} if condition == "coupled" else {}
    truth = seen(a, b)
    rows = []
    for estimand in ("population", "benchmark"):
        plan = be.plan_contrast(
            runs[0].counts(), runs[1].counts(), 0.03, estimand=estimand, generations=[FULL], seed=1, **more
        )
        row = plan.curve.iloc[0]
        rest = be.plan_contrast(
            runs[0].counts(),
            runs[1].counts(),
            0.03,
            estimand=estimand,
            prompts="fresh",
            generations=[FULL - PILOT],
            seed=1,
            **more,
        )
        disjoint = rest.curve["standard_error"].iloc[0] / seen(a[:, PILOT:], b[:, PILOT:])[estimand]
        inside = row["standard_error_lower"] <= truth[estimand] <= row["standard_error_upper"]
        rows.append(
            {
                "condition": condition,
                "pair": f"{first} - {second}",
                "estimand": estimand,
                "predicted": row["standard_error"],
                "seen": truth[estimand],
                "ratio": row["standard_error"] / truth[estimand],
                "disjoint": disjoint,
                "in_band": inside,
                "needed_for_.03": plan.n_prompts_needed,
            }
        )
    return rows


def main() -> None:
    """Print one row a pair and estimand, and a summary."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        print("no folder of real data was found; give one: python benchmarks/contrast_plan.py FOLDER")
        return
    rows = []
    for (_, condition), systems in cubes(folder).items():
        for names in itertools.combinations(sorted(systems), 2):
            rows += compare({name: systems[name] for name in names}, condition)
    frame = pd.DataFrame(rows)
    print(frame.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    for column in ("ratio", "disjoint"):
        summary = frame.groupby(["condition", "estimand"])[column].describe()[["count", "mean", "std", "min", "max"]]
        print(f"{column} of predicted to seen")
        print(summary.to_string(float_format=lambda value: f"{value:.3f}"))
    print("share inside the 90% band:", frame.groupby(["condition", "estimand"])["in_band"].mean().round(2).to_dict())


if __name__ == "__main__":
    main()
