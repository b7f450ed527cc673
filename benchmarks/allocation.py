"""What an allocation brings: promised and simulated, against an even plan and dynamic sampling, and on real data.

    python benchmarks/allocation.py                              # simulated populations and the time; two minutes
    python benchmarks/allocation.py ../shared/data/coupled-gsm8k   # real generations too

Every factor is a ratio of standard deviations of the benchmark score: how much wider the other plan leaves it. "known"
takes the hyper-parameters as known, and simulated standard deviations are posterior ones after the new generations;
"refitted" fits the pilot and everything after it anew. Dynamic sampling (Kazdan et al. 2025) always asks next the
prompt with the fewest successes and, among those, the fewest attempts.
"""

from __future__ import annotations

import argparse
import heapq
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

import bayeseval as be
from bayeseval import metrics, prompts
from bayeseval.metrics import Metric
from bayeseval.model_data import keyed_cells
from bayeseval.planning.allocating.choice import choose
from bayeseval.planning.allocating.gains import expected_variance
from bayeseval.planning.allocating.prompt_gains import PromptGains

POPULATIONS = {"U-shaped": (0.5, 0.8), "hard": (0.3, 1.2), "bell": (2.0, 3.0)}
PROMPTS, PILOT, ROUNDS = 120, 4, 4


def even(size: int, budget: int) -> np.ndarray:
    """As many for each prompt, the rest for the first ones."""
    return budget // size + (np.arange(size) < budget % size)


def dynamic(rng, p, correct, generations, budget):  # type: ignore[no-untyped-def]
    """Dynamic sampling, one generation at a time."""
    queue = [(int(c), int(n), i) for i, (c, n) in enumerate(zip(correct, generations, strict=True))]
    heapq.heapify(queue)
    for draw in rng.random(budget):
        c, n, i = heapq.heappop(queue)
        heapq.heappush(queue, (c + int(draw < p[i]), n + 1, i))
    done = np.array(sorted(queue, key=lambda row: row[2]))
    return done[:, 0], done[:, 1]


def planned(law, score: Metric, correct, generations, budget):  # type: ignore[no-untyped-def]
    """The allocation under known hyper-parameters, and the variance of the score it and an even plan promise."""
    *cells, cell = keyed_cells(correct, generations)
    gains, size = PromptGains(law, *cells, score), correct.size
    limits = np.zeros(size, dtype=int), np.full(size, budget)
    extra = choose(gains, cell, np.full(size, 1 / size), limits, budget).extra
    table = gains.upto(int(max(extra.max(), budget // size + 1)))
    return extra, table[cell, extra].sum(), table[cell, even(size, budget)].sum()


def variance_now(law, score: Metric, correct, generations) -> float:  # type: ignore[no-untyped-def]
    """Posterior variance of the sum of scores."""
    *cells, cell = keyed_cells(correct, generations)
    _, pmf = law.condition(*cells).predictive(2 * score.k)
    return float(expected_variance(pmf, score.weights)[0][cell].sum())


def known(
    score: Metric, shape: tuple[float, float], budget: int, repeats: int = 100, seed: int = 0
) -> dict[str, object]:
    """Factors where the hyper-parameters are known."""
    rng, (a, b) = np.random.default_rng(seed), shape
    law, kept = prompts.beta([a / (a + b)], [1 / (a + b + 1)]), []
    for _ in range(repeats):
        p = rng.beta(a, b, PROMPTS)
        correct, generations = rng.binomial(PILOT, p), np.full(PROMPTS, PILOT)
        extra, promised, promised_even = planned(law, score, correct, generations, budget)
        after = [(correct + rng.binomial(m, p), generations + m) for m in (extra, even(PROMPTS, budget))]
        after.append(dynamic(rng, p, correct, generations, budget))
        for _ in range(ROUNDS):
            extra = planned(law, score, correct, generations, budget // ROUNDS)[0]
            correct, generations = correct + rng.binomial(extra, p), generations + extra
        after.append((correct, generations))
        kept.append([promised, promised_even, *(variance_now(law, score, *end) for end in after)])
    promised, promised_even, plan, uniform, rival, rounds = np.sqrt(np.mean(kept, axis=0))
    return {
        "even, promised": promised_even / promised,
        "even, simulated": uniform / plan,
        "dynamic": rival / plan,
        f"dynamic, {ROUNDS} rounds": rival / rounds,
    }


def refitted(score: Metric, shape: tuple[float, float], budget: int, repeats: int = 25) -> dict[str, object]:
    """Factors where the pilot is fitted, and everything is fitted again after the new generations."""
    rng, promised, found = np.random.default_rng(1), [], []
    for repeat in range(repeats):
        p = rng.beta(*shape, PROMPTS)
        correct = rng.binomial(PILOT, p)
        pilot = fit(correct, np.full(PROMPTS, PILOT), repeat)
        plan = be.allocate(pilot, budget, score)
        promised.append((plan.sd_uniform**2, plan.sd_after**2))
        row = []
        for extra in (even(PROMPTS, budget), plan.to_frame()["extra"].to_numpy()):
            again = fit(correct + rng.binomial(extra, p), PILOT + extra, repeat)
            answer = again.score(score, "benchmark", method="model")
            row += [np.var(answer.draws), (answer.value - score.given_p(p).mean()) ** 2]
        found.append(row)
    wide, error, narrow, plan_error = np.sqrt(np.mean(found, axis=0))
    one, two = np.sqrt(np.mean(promised, axis=0))
    return {"refitted: promised": one / two, "posterior sd": wide / narrow, "error": error / plan_error}


def fit(correct, generations, seed: int) -> be.Posterior:  # type: ignore[no-untyped-def]
    """The exact engine on one run."""
    return be.fit(be.Counts.from_arrays(correct, generations), engine="quadrature", seed=seed, progress=False)


def two_betas(correct, generations):  # type: ignore[no-untyped-def]
    """The most likely mixture of two Betas, under flat priors on its five parameters."""
    base = int(generations.max()) + 1
    codes, count = np.unique(generations * base + correct, return_counts=True)

    def law(x: np.ndarray) -> prompts.BetaMixture:
        share = expit(x[0])
        return prompts.BetaMixture(np.array([[share, 1 - share]]), expit(x[None, 1:3]), expit(x[None, 3:]))

    def loss(x: np.ndarray) -> float:
        flat = np.log(expit(x) * expit(-x)).sum()
        return float(-(law(x).logpmf(codes % base, codes // base)[0] @ count) - flat)

    starts = ([0.0, -2.0, 1.0, -1.0, -1.0], [0.0, -1.0, 2.0, 0.0, -1.5])
    return law(min((minimize(loss, np.array(x)) for x in starts), key=lambda found: found.fun).x)


def mean_under(law, correct, generations) -> float:  # type: ignore[no-untyped-def]
    """Posterior mean of the benchmark mean."""
    *cells, cell = keyed_cells(correct, generations)
    return float(law.condition(*cells).mean().mean(axis=0)[cell].mean())


def real(folder: Path, share: int = 2, orders: int = 4) -> pd.DataFrame:
    """First 4 of 10 real generations as pilot, the next ones as allocated; error against all 10, in four ways."""
    outcomes = pd.read_parquet(folder / "outcomes.parquet")
    rows = []
    for system, run in outcomes[outcomes["condition"] == "independent"].groupby("model"):
        matrix = run.pivot_table(index="prompt_id", columns="generation", values="correct", aggfunc="first")
        answers, rng = matrix.to_numpy().astype(int), np.random.default_rng(0)
        size, width = answers.shape
        for order in range(orders):
            shuffled = answers if order == 0 else rng.permuted(answers, axis=1)
            pilot = fit(shuffled[:, :PILOT].sum(axis=1), np.full(size, PILOT), order)
            plan = be.allocate(pilot, share * size, most=width)
            row = []
            for extra in (even(size, share * size), plan.to_frame()["extra"].to_numpy()):
                generations = PILOT + extra
                correct = (shuffled * (np.arange(width) < generations[:, None])).sum(axis=1)
                one = mean_under(fit(correct, generations, order).distribution, correct, generations)
                two = mean_under(two_betas(correct, generations), correct, generations)
                row += [estimate - answers.mean() for estimate in (one, two, (correct / generations).mean())]
            rows.append([system, *row, plan.sd_uniform / plan.sd_after])
    ways = ("one Beta", "two Betas", "shares")
    return pd.DataFrame(
        rows, columns=["system", *(f"{plan}, {way}" for plan in ("even", "plan") for way in ways), "promised"]
    )


def seconds(size: int = 14_042, budget: int = 20_000) -> None:
    """Time of one call on a large benchmark."""
    rng = np.random.default_rng(0)
    post = fit(rng.binomial(PILOT, rng.beta(0.5, 0.8, size)), np.full(size, PILOT), 1)
    post.check()
    for score in (metrics.mean(), metrics.pass_at(16)):
        start = time.perf_counter()
        be.allocate(post, budget, score)
        print(f"{size:,} prompts, {budget:,} generations, {score.name}: {time.perf_counter() - start:.2f} s")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="a folder with outcomes.parquet, as coupled-gsm8k")
    folder = parser.parse_args().folder
    rows = []
    for score in (metrics.mean(), metrics.pass_at(16)):
        for name, shape in POPULATIONS.items():
            for budget in (480, 1920):
                row = {"score": score.name, "population": name, "budget": budget, **known(score, shape, budget)}
                rows.append(row | (refitted(score, shape, budget) if budget == 480 else {}))
    print(f"{PROMPTS} prompts, pilot of {PILOT}: how many times as wide other plans leave the score")
    print(pd.DataFrame(rows).round(3).to_string(index=False, na_rep=""))
    seconds()
    if folder is not None:
        table = real(folder)
        print(f"\n{folder.name}: 4 of 10 real generations as pilot, 2 more a prompt; error of the mean against all 10,")
        print(
            f"root mean square over {len(table)} pilots of {table['system'].nunique()} systems, by what is fitted last"
        )
        errors = table.drop(columns=["system", "promised"])
        print(np.sqrt((errors**2).mean()).round(5).to_string())
        print(f"promised: {table['promised'].mean():.3f} times as wide when spread evenly")


if __name__ == "__main__":
    main()
