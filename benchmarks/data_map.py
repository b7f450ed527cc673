"""Wrong gold answers planted in real results: who finds them, the posterior or the published rule.

    python benchmarks/data_map.py ../shared/data           # some minutes
    python benchmarks/data_map.py ../shared/data --write   # and writes docs/data-map/planted.json

In 3% of the prompts the gold answer is replaced by another one: of a multiple choice (at most eight different answers
in the group) by another letter that occurs in the group, else by a wrong answer that some system gave to the prompt,
and by one that nobody gave where there is none. Correct is then what equals the planted answer. The rest stays as it
is, with whatever wrong gold answers it has, which count as false alarms for both.

The rule flags prompts with at most 10% correct and S of at least -0.8; for several systems together, those that it
flags for half of them or more. The ranking flags as many. A second comparison takes as many prompts as were planted, of
the rule those that most systems and then the largest S speak for. Ties count with their expectation. Each system alone,
and all together. Data sets that are not in the folder are left out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayeseval as be

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "docs" / "data-map" / "planted.json"
SHARE = 0.03
SEEDS = {"aime24-50": 10, "llm-stability-strict": 10}
FEW_SEEDS = 3
FEW_ANSWERS = 8
NOBODY = "an answer that nobody gave"
DIGITS = 4
COLUMNS = ["system", "benchmark", "prompt", "group", "generation", "correct", "answer", "gold"]


def frames(folder: Path) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Name, equivalence and rows of every data set."""
    aime = be.example("aime24-50", "outcomes").to_frame()
    yield "aime24-50", "exact", aime.assign(group="all")[COLUMNS]
    renamed = {"model": "system", "prompt_id": "prompt"}
    if (path := folder / "reasoning-gym-easy").is_dir():
        rows = pd.read_csv(path / "outcomes.csv.gz", keep_default_na=False, dtype={"answer": str})
        prompts = pd.read_csv(path / "prompts.csv.gz", keep_default_na=False, dtype={"gold": str})
        rows = rows.merge(prompts, on="prompt_id").rename(columns={**renamed, "task": "group"})
        yield "reasoning-gym-easy", "exact", rows[COLUMNS]
    if (path := folder / "llm-stability-strict").is_dir():
        rows = pd.read_csv(path / "outcomes.csv.gz", keep_default_na=False).rename(columns=renamed)
        rows["prompt"] = rows["prompt"].astype(str)
        yield "llm-stability-strict", "exact", rows.assign(group=rows["benchmark"])[COLUMNS]
    if (path := folder / "coupled-mmlu").is_dir():
        rows = pd.read_parquet(path / "outcomes.parquet")
        rows = rows[rows["condition"] == "independent"].rename(columns={**renamed, "subject": "group"})
        rows["prompt"] = rows["prompt"].astype(str)
        yield "coupled-mmlu", "letter", rows[COLUMNS].astype({"correct": float})


def planted(rows: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, set[tuple[str, str]]]:
    """Rows with wrong gold answers, and the prompts that have them."""
    rng = np.random.default_rng(seed)
    key = pd.MultiIndex.from_frame(rows[["benchmark", "prompt"]].astype(str))
    prompts = key.unique()
    bad = prompts[np.sort(rng.choice(len(prompts), max(1, round(SHARE * len(prompts))), replace=False))]
    some = key.isin(bad)
    answers = rows["answer"].fillna("").astype(str)
    real = ~answers.isin(["", "-"])
    letters = {group: part.unique() for group, part in answers[real].groupby(rows["group"][real].astype(str))}
    golds = {}
    for prompt, part in rows[some].groupby(list(key.names), observed=True, sort=True):
        choice = letters[str(part["group"].iloc[0])]
        if len(choice) > FEW_ANSWERS:
            choice = np.unique(answers.loc[part.index][real.loc[part.index] & (part["correct"] == 0)])
        choice = np.sort(choice[choice != str(part["gold"].iloc[0])])
        golds[tuple(map(str, prompt))] = str(rng.choice(choice)) if len(choice) else NOBODY
    changed = rows.assign(answer=answers, gold=rows["gold"].astype(str), correct=rows["correct"].astype(float))
    changed.loc[some, "gold"] = [golds[tuple(one)] for one in key[some]]
    changed.loc[some, "correct"] = (changed.loc[some, "answer"] == changed.loc[some, "gold"]).astype(float)
    return changed, set(bad)


def expected_hits(score: np.ndarray, bad: np.ndarray, flags: int) -> float:
    """Expected number of bad prompts among so many of the highest score, ties in random order."""
    table = pd.DataFrame({"score": -score, "bad": bad}).groupby("score")["bad"].agg(["sum", "size"])
    before = table["size"].cumsum() - table["size"]
    taken = (flags - before).clip(lower=0, upper=table["size"])
    return float((table["sum"] * taken / table["size"]).sum())


def compare(rows: pd.DataFrame, bad: set[tuple[str, str]], equivalence: str) -> dict[str, Any]:
    """Hits of the rule and of the ranking, with as many flags."""
    outcomes = be.Outcomes.from_frame(rows, quiet=True)
    start = time.perf_counter()
    found = be.data_map(outcomes, equivalence, seed=0)
    seconds = time.perf_counter() - start
    prompts = found.prompts.set_index(["benchmark", "prompt"])
    is_bad = np.array([key in bad for key in prompts.index])
    ruled = found.published_rule().groupby(["benchmark", "prompt"]).size().reindex(prompts.index, fill_value=0)
    flagged = (ruled >= prompts["systems"] / 2).to_numpy() & (ruled > 0).to_numpy()
    # Within the rule: more systems first, then the more consistent ones; what it does not flag comes last.
    table = found.to_frame()
    spread = table.groupby(["benchmark", "prompt"])["consistency"].mean().reindex(prompts.index).fillna(-99).to_numpy()
    by_rule = np.where(flagged, 1000.0 * ruled / prompts["systems"] + spread, -1e6)
    by_model = prompts["probability"].to_numpy() + 1e-9 * prompts["dominant_wrong"].to_numpy()
    flags, many = int(flagged.sum()), int(is_bad.sum())
    hits = {"rule": float(is_bad[flagged].sum()), "ranking": expected_hits(by_model, is_bad, flags)}
    few = {"rule": expected_hits(by_rule, is_bad, many), "ranking": expected_hits(by_model, is_bad, many)}
    return {
        "prompts": len(prompts), "generations": len(rows), "planted": many, "flags": flags,
        **{f"precision_{name}": value / flags if flags else None for name, value in hits.items()},
        **{f"recall_{name}": value / many for name, value in hits.items()},
        **{f"top_{name}": value / many for name, value in few.items()},
        "expected_in_top": float(np.sort(prompts["probability"])[::-1][:many].mean()), "seconds": seconds,
    }  # fmt: skip


def runs(folder: Path) -> Iterator[dict[str, Any]]:
    """One row a data set, seed and system, or all systems together."""
    for data, equivalence, rows in frames(folder):
        for seed in range(SEEDS.get(data, FEW_SEEDS)):
            changed, bad = planted(rows, seed)
            systems = list(changed["system"].unique())
            for system in [*systems, *(["all together"] if len(systems) > 1 else [])]:
                part = changed if system == "all together" else changed[changed["system"] == system]
                here = set(zip(part["benchmark"].astype(str), part["prompt"].astype(str), strict=True)) & bad
                yield {"data": data, "seed": seed, "system": system, **compare(part, here, equivalence)}


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row a data set, for systems alone and together."""
    table = table.assign(who=np.where(table["system"] == "all together", "together", "alone"))
    names = [f"{what}_{who}" for what in ("precision", "recall", "top") for who in ("rule", "ranking")]
    return table.groupby(["data", "who"], sort=False)[["planted", "flags", *names, "seconds"]].mean().reset_index()


def write(rows: list[dict[str, Any]], path: Path = RESULT) -> None:
    """One row a line, so that a change can be looked at."""
    short = [
        {name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    ]
    made = {"date": datetime.now(UTC).date().isoformat(), "version": be.__version__, "share": SHARE}
    lines = ",\n".join(json.dumps(row) for row in short)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{"made": {json.dumps(made)},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}")


def main() -> None:
    """Print one row a run, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT.parent / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="write the result that the documentation shows")
    chosen = parser.parse_args()
    rows = []
    for row in runs(chosen.folder):
        rows.append(row)
        print(
            f"{row['data']}, seed {row['seed']}, {row['system']}: {row['flags']} flags, recall "
            f"{row['recall_rule']:.3f} rule, {row['recall_ranking']:.3f} ranking; first {row['planted']}: "
            f"{row['top_rule']:.3f} rule, {row['top_ranking']:.3f} ranking; {row['seconds']:.1f} s",
            flush=True,
        )
    table = pd.DataFrame(rows)
    print(summary(table).round(3).to_string(index=False))
    large = table[(table["generations"] == 140_420)]
    if len(large):
        print(f"14,042 prompts with 10 answers: {large['seconds'].max():.1f} s at most (promised: under 10 s)")
    if chosen.write:
        write(rows)


if __name__ == "__main__":
    main()
