"""All pairs of 19 systems on 1,319 prompts: the time, and the agreement with differences computed elsewhere.

    python benchmarks/contrasts.py ../shared/data/coupled-gsm8k

The first table says how long ranking and all 171 pairwise differences take, reading and fitting apart. The second
compares differences and their standard deviations with pairs.csv (moment estimates, prompts as clusters), and shows
what draws of P(correct) from separate posteriors would give under the same bootstrap weights: too wide a difference.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

import bayeseval as be
from bayeseval import metrics
from bayeseval.contrasts.joint import in_text_order, population_draws
from bayeseval.contrasts.ranking import Ranking
from bayeseval.posterior.aligned import aligned


def timed(label: str, rows: list[dict[str, object]], work):  # type: ignore[no-untyped-def]
    """Do the work and note how long it took."""
    start = time.perf_counter()
    found = work()
    rows.append({"what": label, "seconds": time.perf_counter() - start})
    return found


def ranked(source, **options) -> Ranking:  # type: ignore[no-untyped-def]
    """A ranking with all of its pairs."""
    ranking = be.rank(source, seed=1, **options)
    assert len(ranking.pairs()) == len(ranking) * (len(ranking) - 1) // 2
    return ranking


def agreement(ranking: Ranking, posteriors: be.Posteriors, published: pd.DataFrame) -> pd.DataFrame:
    """Differences and standard deviations of every published pair, over those published."""
    pairs = {frozenset((row.system_a, row.system_b)): row for row in ranking.pairs().itertuples()}
    found = in_text_order(aligned(list(posteriors), "the benchmark"))
    draws = dict(zip(found.systems, population_draws(posteriors, found, metrics.mean(), 2000, 1).T, strict=True))
    rows = []
    for row in published.itertuples():
        own = pairs[frozenset((row.model_a, row.model_b))]
        sign = 1 if own.system_a == row.model_a else -1
        separate = (draws[row.model_a] - draws[row.model_b]).std()
        se = row.se_diff_independent
        rows.append(((sign * own.difference - row.diff_independent) / se, own.sd / se, separate / se))
    names = ["difference, in standard errors", "sd over published", "sd of draws of P(correct) over published"]
    return pd.DataFrame(rows, columns=names)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    table = pd.read_csv(folder / "counts.csv.gz").query("condition == 'independent'")
    counts = be.Counts.from_frame(
        table, system="model", benchmark="benchmark", prompt="prompt_id", generations="n", correct="c", group=False,
        quiet=True,
    )  # fmt: skip
    rows: list[dict[str, object]] = []
    ranking = timed("171 pairs, population, from counts", rows, lambda: ranked(counts))
    posteriors = timed("fits by the exact engine", rows, lambda: be.fit(counts, engine="quadrature", progress=False))
    timed("checks of the fits", rows, posteriors.check)
    timed("171 pairs, benchmark", rows, lambda: ranked(posteriors, estimand="benchmark"))
    timed("171 pairs, pass@4, population", rows, lambda: ranked(posteriors, score="pass@4"))
    timed("171 pairs, pass@16, population", rows, lambda: ranked(posteriors, score="pass@16"))
    print(pd.DataFrame(rows).round(2).to_string(index=False))
    compared = agreement(ranking, posteriors, pd.read_csv(folder / "pairs.csv"))
    print(f"\n{len(compared)} pairs of pairs.csv")
    print(compared.agg(["mean", "min", "max"]).T.round(3).to_string())
    print(f"largest difference in standard errors: {np.abs(compared.iloc[:, 0]).max():.3f}")


if __name__ == "__main__":
    main()
