"""Damaged files give right counts or a `BayesevalError`: no other exception, no warning, no hang, no flood."""

from __future__ import annotations

import csv
import random
import shutil
import time
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeseval as be
from bayeseval.errors import BayesevalError
from tests.mutations import Victim, harmless, mutate
from tests.test_formats import SMALL, parquet, text

LONGEST = 10.0
"""Seconds of computing that one file may take, whatever else the machine does."""
MOST = 2**30
"""Bytes of memory that one file may take beyond what was in use."""
LARGEST = 400_000
SHARED = Path(__file__).resolve().parents[2] / "shared" / "formats"


@lru_cache
def small_victims() -> list[Victim]:
    """A small file of every tool, and of every kind of table."""
    policies = {"errored": "drop", "unscored": "drop"}
    found = [Victim(name, content, {}, policies) for name, content, _, _ in SMALL.values()]
    rows = [{"model": "m", "prompt_id": f"p{i % 3}", "generation": i // 3, "correct": i % 2} for i in range(9)]
    header = ",".join(rows[0])
    found += [
        Victim("long.csv", "\n".join([header, *(",".join(map(str, r.values())) for r in rows), ""]).encode(), {}, {}),
        Victim("long.jsonl", b"".join(text(row) + b"\n" for row in rows), {}, {}),
        Victim("long.parquet", parquet(rows), {}, {}),
        Victim("counts.csv", b"prompt_id,n,c\na,4,1\nb,4,0\n007,8,8\n", {}, {}),
        Victim("wide.csv", b"prompt_id,gen_0,gen_1\na,1,0\nb,1,\n", {}, {}),
    ]
    return found


@lru_cache
def stored_victims(folder: Path) -> list[Victim]:
    """Files that bayeseval wrote, and what it wrote beside them."""
    outcomes = be.Outcomes("s", "b", ["a", "a", "7"], [0, 1, 0], [1, np.nan, 0], answer=["x", None, ""])
    found = []
    for suffix in (".csv", ".jsonl", ".parquet"):
        path = outcomes.write(folder / f"kept{suffix}")
        side = folder / f"kept{suffix}.meta.json"
        whole = {path.name: path.read_bytes()} | ({side.name: side.read_bytes()} if side.exists() else {})
        found += [Victim(name, data, {k: v for k, v in whole.items() if k != name}, {}) for name, data in whole.items()]
    return found


@lru_cache
def real_victims() -> list[Victim]:
    """Real files, each with a metric that it has and with the small files beside it."""
    metrics: dict[Path, set[str]] = {}
    for expected in sorted(SHARED.glob("*/expected.csv")):
        with expected.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                metrics.setdefault(expected.parent / row["file"], set()).add(row["metric"])
    found = []
    for path in sorted(p for p in SHARED.rglob("*") if p.is_file() and p.stat().st_size < LARGEST):
        if path.name in ("README.md", "expected.csv"):
            continue
        siblings = [p for p in path.parent.iterdir() if p.is_file() and p != path and p.stat().st_size < 50_000]
        beside = {p.name: p.read_bytes() for p in siblings if p.name.startswith(("results", "run_spec"))}
        options: dict[str, Any] = {"errored": "drop", "unscored": "drop", "threshold": 0.5}
        places = [place for place in (path, *path.parents) if place in metrics]
        if places and SHARED / "plain_tables" not in path.parents:
            options["metric"] = sorted(metrics[places[0]])
        name = "/".join(path.relative_to(SHARED).parts[-4:])
        found.append(Victim(name, path.read_bytes(), beside, options))
    return found


def put(folder: Path, victim: Victim, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    for other, content in victim.beside.items():
        if other != path.name:
            (path.parent / other).write_bytes(content)
    return path


def memory(what: str) -> int:
    """Bytes in use ("VmRSS"), or the most since the peak was reset ("VmHWM"); 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in status.splitlines() if line.startswith(what)), 0)


def reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def outcome(path: Path, options: dict[str, Any]) -> be.Counts | str:
    """Counts of a file, or the sentence that refuses it; anything else fails."""
    measured = reset_peak()
    before, start = memory("VmRSS"), time.process_time()
    result: be.Counts | str
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            read: Any = be.read(path, quiet=True, **options)
            if isinstance(read, be.Credits):
                read = read.outcomes(threshold=0.5)
            result = read if isinstance(read, be.Counts) else read.counts()
            assert (result.correct <= result.generations).all() and (result.correct >= 0).all()
        except BayesevalError as refusal:
            result = str(refusal)
            assert result and "\n" not in result and len(result) < 5000, f"{result[:300]!r}"
    assert time.process_time() - start < LONGEST
    if measured:
        assert memory("VmHWM") - before < MOST
    return result


def attack(folder: Path, victims: list[Victim], seed: int) -> tuple[str, bool]:
    """Let one thing happen to one file; what was done, and whether counts came out."""
    rng = random.Random(seed)
    victim = victims[rng.randrange(len(victims))]
    if rng.random() < 0.12 and (data := harmless(rng, victim)) is not None:
        options = dict(victim.options)
        plain = outcome(put(folder / "plain", victim, victim.name, victim.content), options)
        other = outcome(put(folder / "other", victim, victim.name, data), options)
        if isinstance(plain, be.Counts) and not victim.name.startswith("kept"):
            assert isinstance(other, be.Counts), f"{victim.name}: {other}"
            assert other == plain
        return victim.name, isinstance(other, be.Counts)
    options = dict(victim.options)
    if rng.random() < 0.3:
        options |= {
            "errored": rng.choice(["drop", "wrong", "bounds"]),
            "unscored": rng.choice(["drop", "wrong", "bounds", None]),
        }
    if rng.random() < 0.2:
        options["kind"] = rng.choice(["counts", "outcomes", "credits"])
    if options.get("kind") == "credits":
        options.pop("threshold", None)
    name, data = mutate(rng, victim)
    result = outcome(put(folder, victim, name, data), options)
    return name, isinstance(result, be.Counts)


def chunk(folder: Path, victims: list[Victim], seeds: range) -> None:
    survived, wrong = 0, []
    for seed in seeds:
        own = folder / str(seed)
        own.mkdir()
        try:
            survived += attack(own, victims, seed)[1]
        except Exception as problem:
            wrong.append(f"seed {seed}: {type(problem).__name__}: {str(problem)[:500]}")
        shutil.rmtree(own)
    assert not wrong, "\n".join(wrong)
    assert 0 < survived < len(seeds), "some mutations harm, and some do not"


@pytest.mark.parametrize("part", range(4))
def test_mutated_small_files(tmp_path: Path, part: int) -> None:
    folder = tmp_path / "stored"
    folder.mkdir()
    chunk(tmp_path, small_victims() + stored_victims(folder), range(30 * part, 30 * (part + 1)))


@pytest.mark.parametrize("part", range(4))
def test_mutated_real_files(shared: Path, tmp_path: Path, part: int) -> None:
    assert len(real_victims()) > 100
    chunk(tmp_path, real_victims(), range(1000 + 20 * part, 1000 + 20 * (part + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_many_mutated_files(shared: Path, tmp_path: Path, part: int) -> None:
    folder = tmp_path / "stored"
    folder.mkdir()
    victims = real_victims() + small_victims() + stored_victims(folder)
    chunk(tmp_path, victims, range(10_000 + 100 * part, 10_000 + 100 * (part + 1)))
