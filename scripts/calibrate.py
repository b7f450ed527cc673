"""Run the calibration studies anew and write their results, as plain data, to docs/calibration.

    make calibration                                         # all of it, then the long tests
    python scripts/calibrate.py --only grid                  # one part: sbc, grid, headlines or assurance
    python scripts/calibrate.py --only sbc --model NAME      # one model, built in or a file

sbc: simulation-based calibration of every built-in model, in several designs. grid: coverage at fixed truths within the
Beta family. assurance: plans after simulated pilots, and how many follow-ups keep the promise. headlines: coverage of
what a report headlines, at truths that no single Beta describes; the real ones among them need the folder `shared`
beside the checkout, and are left out where it is absent.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import bayeseval as be
from bayeseval import _compat
from bayeseval.calibration import populations
from bayeseval.calibration.assurance import assurance_study
from bayeseval.calibration.coverage import Coverage, CoverageRow, tolerance
from bayeseval.calibration.populations import Population
from bayeseval.calibration.studies import HEADLINE, confirmed, coverage_of_headlines, coverage_on_grid
from bayeseval.catalogue import load_model

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "docs" / "calibration"
SHARED = ROOT.parent / "shared"
SEED = 20

DESIGNS: tuple[tuple[int, list[int]], ...] = ((5, [4]), (20, [1]), (20, [1, 4, 16]), (20, [16]), (200, [4]))
NUTS_DESIGNS: tuple[tuple[int, list[int]], ...] = ((20, [4]), (20, [1, 4, 16]))
PAIR_DESIGNS: tuple[tuple[int, list[int]], ...] = ((10, [4]),)
"""Of models that integrate the logits of two systems in every cell, which takes seconds for each data set."""
SECOND_ENGINE: tuple[tuple[int, list[int]], ...] = ((20, [1, 4, 16]), (200, [4]))
REPLICATES = {"quadrature": 500, "nuts": 200, "credits": 100}
PRIORS: dict[str, dict[str, tuple[float, ...]]] = {
    "credits": {"delta": (4.0, 16.0), "a": (0.0, 0.75), "b": (0.75,)},
    "prompts": {"rho": (2.0, 2.0)},
}
"""Priors by what a model takes, where the default draws data beyond what can be computed.

Of continuous credits some come so near 0 or 1 that floats cannot tell them apart; a sampled P(correct) is out of reach
for NUTS where rho is above about 0.99.
"""
GRID_REPLICATES = 1000
PILOTS = 200
HEADLINE_REPLICATES = {50: 200, 200: 400, 1000: 400}
JUDGED_FROM = 200
"""Fewest prompts at which headlines are held to their coverage."""
REAL = (("gsm8k", "Llama-3.2-1B-Instruct"), ("gsm8k", "Qwen2.5-7B-Instruct"), ("mmlu", "8B"))


def record(**facts: Any) -> dict[str, Any]:
    """What belongs to every result: versions, date, and the facts given."""
    names = ("numpy", "scipy", "pymc", "jax", "numpyro")
    versions = {"bayeseval": be.__version__, **{name: _compat.package_version(name) for name in names}}
    return {**facts, "versions": versions, "date": datetime.now(UTC).date().isoformat()}


def write(path: Path, items: Iterable[dict[str, Any]]) -> None:
    """One item a line, so that a change can be looked at."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(item) for item in items) + "\n]\n", encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}", flush=True)


def suits(blocks: tuple[str, ...], prompts: int, generations: list[int]) -> bool:
    """Whether a design is one for a model: whole runs need several of equal size, explicit p few prompts.

    Credits in between are integrated prompt by prompt, which takes time: one design.
    """
    if "credits" in blocks:
        return generations == [4]
    if "runs" in blocks:
        return len(generations) == 1 and generations[0] > 1
    return "prompts" not in blocks or prompts <= 20


def sbc(model: str, output: Path, replicates: int | None = None) -> None:
    """Every design with the model's own engine, and two with NUTS where that is another one."""
    found = load_model(model)
    own = "quadrature" if found.has_quadrature else "nuts"
    designs = DESIGNS if own == "quadrature" else NUTS_DESIGNS
    if {"pairs", "tables"} & set(found.blocks):
        designs = PAIR_DESIGNS
    runs = [(own, *design) for design in designs if suits(found.blocks, *design)]
    runs += [("nuts", *design) for design in SECOND_ENGINE if own != "nuts"]
    results = []
    for number, (engine, prompts, generations) in enumerate(runs):
        begun = time.process_time()
        result = be.calibrate(
            found,
            prompts=prompts,
            generations=generations,
            replicates=replicates or REPLICATES["credits" if "credits" in found.blocks else engine],
            engine=engine,
            prior=next((prior for block, prior in PRIORS.items() if block in found.blocks), None),
            seed=SEED + number,
        )
        print(result, f"[{time.process_time() - begun:.0f} s of CPU]", flush=True)
        result.made.update(record(cpu_seconds=round(time.process_time() - begun)))
        results.append(result.to_dict())
    write(output / f"sbc-{found.name}.json", results)


def grid(output: Path) -> None:
    """Fixed truths within the Beta family."""
    begun = time.process_time()
    study = coverage_on_grid(replicates=GRID_REPLICATES, seed=SEED)
    made = record(**study.made, cpu_seconds=round(time.process_time() - begun))
    print(study, f"[{made['cpu_seconds']} s of CPU]", flush=True)
    write(output / "grid.json", [Coverage(study.rows, made).to_dict()])


def assurance(output: Path) -> None:
    """Plans after simulated pilots, and what became of their promises."""
    begun = time.process_time()
    study = assurance_study(replicates=PILOTS, seed=SEED)
    study.made.update(record(cpu_seconds=round(time.process_time() - begun)))
    print(study, f"[{study.made['cpu_seconds']} s of CPU]", flush=True)
    write(output / "assurance.json", [study.to_dict()])


def histogram(benchmark: str, model: str, shared: Path) -> np.ndarray | None:
    """Prompts of a benchmark with 0, ..., 10 correct of 10 generations; None where the data are absent."""
    import pandas as pd

    path = shared / "data" / "derived" / "outcome_histograms_k10.csv"
    if not path.is_file():
        return None
    table = pd.read_csv(path)
    row = table[(table["benchmark"] == benchmark) & (table["model"] == model) & (table["noise"] == "independent")]
    return row[[f"c{count}" for count in range(11)]].to_numpy(int)[0]


def truths(shared: Path) -> dict[str, tuple[Population, tuple[int, ...]]]:
    """Populations by name, with the numbers of generations to try; a Beta is the control."""
    chosen = [populations.beta(0.3, 0.5), *populations.wrong_populations()]
    found = {population.name: (population, (4, 16)) for population in chosen}
    for benchmark, model in REAL:
        counts = histogram(benchmark, model, shared)
        if counts is None:
            print(f"left out {model} on {benchmark}: no histograms beside this checkout", flush=True)
            continue
        population = populations.seen(f"{benchmark.upper()}, {model.removesuffix('-Instruct')}", counts)
        found[population.name] = population, (10,)
    return found


def headline_cell(cell: tuple[int, str, int, int], cells: int, shared: Path) -> tuple[CoverageRow, ...]:
    """One cell, run again where it fails."""
    number, name, prompts, generations = cell
    run = partial(coverage_of_headlines, truths(shared)[name][0], prompts, generations)
    replicates = HEADLINE_REPLICATES[prompts]
    limit = 0.93 - tolerance(replicates, 2 * cells, 0.93) if prompts >= JUDGED_FROM else 0.0
    rows = confirmed(run, replicates, (SEED, number), limit, HEADLINE)
    print(f"{name}, {prompts} prompts x {generations}: headline covers {rows[0].coverage:.3f}", flush=True)
    return rows


def headlines(output: Path, shared: Path, processes: int) -> None:
    """Truths outside the Beta family."""
    begun = time.perf_counter()
    known = truths(shared)
    named = [(name, n, k) for n, name in product(sorted(HEADLINE_REPLICATES), known) for k in known[name][1]]
    cells = [(number, *cell) for number, cell in enumerate(named)]
    work = partial(headline_cell, cells=sum(n >= JUDGED_FROM for _, n, _ in named), shared=shared)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        rows = [row for found in pool.map(work, cells) for row in found]
    made = record(seed=SEED, replicates=HEADLINE_REPLICATES, seconds=round(time.perf_counter() - begun))
    write(output / "headlines.json", [Coverage(tuple(rows), made).to_dict()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("sbc", "grid", "headlines", "assurance"), help="run one part")
    parser.add_argument("--model", help="for sbc: one model, by name or path; all built-in ones by default")
    parser.add_argument("--replicates", type=int, help="for sbc: data sets of each design, where there is less time")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder of the results (docs/calibration)")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder of real data (beside the checkout)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="for headlines")
    options = parser.parse_args()
    if options.only in (None, "grid"):
        grid(options.output)
    if options.only in (None, "assurance"):
        assurance(options.output)
    if options.only in (None, "headlines"):
        headlines(options.output, options.shared, options.processes)
    if options.only in (None, "sbc"):
        for model in [options.model] if options.model else be.models():
            sbc(model, options.output, options.replicates)


if __name__ == "__main__":
    main()
