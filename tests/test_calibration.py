"""Intervals cover at their rate: averaged over the prior exactly, at fixed truths closely, and robustly when wrong.

Tolerances are Bonferroni-corrected binomial ones (theory I.4); seeds are not tuned.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bayeseval as be
from bayeseval.engines.batches import batch_of_counts
from bayeseval.engines.refits import refit

PROB = 0.95
UNIFORM = ((1.0, 1.0), (1.0, 1.0))


def tolerance(replicates, cells, share=PROB):
    """Half-width within which an estimated coverage must lie, 99% over all cells."""
    return stats.norm.ppf(1 - 0.01 / (2 * cells)) * np.sqrt(share * (1 - share) / replicates)


def coverage(p, correct, generations, mu, estimand, method="model"):
    """Share of data sets whose interval holds the truth: mu, or the mean of the p_i."""
    lower, upper = refit(batch_of_counts(correct, generations), *UNIFORM, PROB).interval(estimand, method, PROB)
    truth = mu if estimand == "population" else p.mean(axis=1)
    return np.mean((lower <= truth) & (truth <= upper))


def beta_population(rng, mu, rho, shape):
    """P(correct) of prompts (replicate, prompt)."""
    precision = (1 - rho) / rho
    return rng.beta(np.maximum(mu * precision, 1e-12), np.maximum((1 - mu) * precision, 1e-12), shape)


DESIGNS = [(5, 1), (5, 16), (20, 4), (20, 16), (200, 1), (200, 4), (200, 16)]


@pytest.mark.parametrize(("n", "k"), DESIGNS)
def test_intervals_cover_exactly_when_averaged_over_the_prior(n, k):
    replicates = 2000
    rng = np.random.default_rng([1, n, k])
    mu, rho = rng.random((2, replicates, 1))
    p = beta_population(rng, mu, rho, (replicates, n))
    correct, generations = rng.binomial(k, p), np.full(n, k)
    limit = tolerance(replicates, 2 * len(DESIGNS))
    assert coverage(p, correct, generations, mu[:, 0], "population") == pytest.approx(PROB, abs=limit)
    # The planner's benchmark interval is a Beta with the right two moments: coarse for few prompts, where it is not
    # what `fit` reports (below).
    slack = 0.05 if n == 5 else 0.015
    assert coverage(p, correct, generations, mu, "benchmark") == pytest.approx(PROB, abs=limit + slack)


@pytest.mark.parametrize(("n", "k"), [(5, 1), (5, 4), (20, 16)])
def test_benchmark_scores_of_a_fit_cover_exactly_when_averaged_over_the_prior(n, k):
    replicates = 200
    rng = np.random.default_rng([7, n, k])
    mu, rho = rng.random((2, replicates, 1))
    p = beta_population(rng, mu, rho, (replicates, n))
    correct = rng.binomial(k, p)
    counts = be.Counts.concat(
        [be.Counts.from_arrays(row, np.full(n, k), system=f"{index}") for index, row in enumerate(correct)]
    )
    scores = be.fit(counts, engine="quadrature", seed=1, draws=500, progress=False).mean("benchmark")
    truth = p.mean(axis=1)
    covered = [score.lower <= value <= score.upper for score, value in zip(scores, truth, strict=True)]
    assert np.mean(covered) == pytest.approx(PROB, abs=tolerance(replicates, 3))


FIXED = [(20, 4, 0.6, 0.5), (50, 4, 0.02, 0.5), (50, 4, 0.3, 0.5), (50, 16, 0.6, 0.05), (200, 4, 0.02, 0.5)]


@pytest.mark.parametrize(("n", "k", "mu", "rho"), FIXED)
def test_intervals_cover_at_fixed_truths(n, k, mu, rho):
    """Theory I.3: at least .93 from 50 prompts on, .90 at 20; the CLT covers .57 to .75 where mu = .02."""
    replicates = 1000
    rng = np.random.default_rng([2, n, k])
    p = beta_population(rng, mu, rho, (replicates, n))
    correct = rng.binomial(k, p)
    least = 0.93 if n >= 50 else 0.90
    assert coverage(p, correct, np.full(n, k), mu, "population") >= least - tolerance(replicates, len(FIXED), least)
    assert coverage(p, correct, np.full(n, k), mu, "benchmark") >= least - tolerance(replicates, len(FIXED), least)


WRONG = {
    "two points": lambda rng, shape: rng.choice([0.02, 0.95], shape),
    "30% never solved": lambda rng, shape: np.where(rng.random(shape) < 0.3, 0.0, rng.beta(2, 2, shape)),
    "logit-normal": lambda rng, shape: 1 / (1 + np.exp(-(1 + 2 * rng.standard_normal(shape)))),
}


@pytest.mark.parametrize("population", WRONG)
def test_robust_interval_covers_where_one_beta_is_wrong(population):
    replicates, n, k = 600, 200, 16
    rng = np.random.default_rng([3, n, k])
    p = WRONG[population](rng, (replicates, n))
    truth = WRONG[population](np.random.default_rng(0), (4_000_000,)).mean()
    correct, generations = rng.binomial(k, p), np.full(n, k)
    limit = tolerance(replicates, len(WRONG), 0.93)
    assert coverage(p, correct, generations, truth, "population", "robust") >= 0.93 - limit
    assert coverage(p, correct, generations, truth, "benchmark") >= 0.93 - limit


def test_one_beta_fails_on_two_points_and_the_check_says_so():
    """Peers 5c: mu covers about .49 of simulations at n = 200, k = 16; every fit must then be called a misfit."""
    rng = np.random.default_rng(4)
    p = WRONG["two points"](rng, (300, 200))
    correct = rng.binomial(16, p)
    assert coverage(p, correct, np.full(200, 16), 0.485, "population") < 0.8
    for row in correct[:10]:
        post = be.fit(be.Counts.from_arrays(row, np.full(200, 16)), engine="quadrature", draws=200, progress=False)
        assert post.mean().method == "robust"


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(5, 4), (20, 1), (20, 16), (200, 4)])
def test_nuts_ranks_of_the_truth_are_uniform(n, k):
    """Simulation-based calibration of mu, rho, the benchmark mean and pass@4 (Talts et al. 2018, arXiv 1804.06788)."""
    replicates = 300
    rng = np.random.default_rng([5, n, k])
    mu, rho = rng.random((2, replicates))
    p = beta_population(rng, mu[:, None], rho[:, None], (replicates, n))
    correct = rng.binomial(k, p)
    counts = be.Counts.concat(
        [be.Counts.from_arrays(row, np.full(n, k), system=f"{index}") for index, row in enumerate(correct)]
    )
    posteriors = be.fit(counts, seed=1, progress=False)
    from bayeseval import metrics
    from bayeseval.prompts import population_score

    truths = {
        "mu": mu,
        "rho": rho,
        "benchmark": p.mean(axis=1),
        "pass@4": population_score(metrics.pass_at(4), mu, rho),
    }
    shares = {name: np.empty(replicates) for name in truths}
    for index, post in enumerate(posteriors):
        draws = {
            "mu": post.parameters["mu"].ravel(),
            "rho": post.parameters["rho"].ravel(),
            "benchmark": post.mean("benchmark").draws,
            "pass@4": post.pass_at(4, method="model").draws,
        }
        for name, values in draws.items():
            shares[name][index] = np.mean(values < truths[name][index])
    for name, values in shares.items():
        assert stats.kstest(values, "uniform").pvalue > 0.01 / (4 * len(shares)), name


@pytest.mark.slow
@pytest.mark.parametrize("design", ["benchmark", "population", "fresh"])
def test_assurance_is_kept_by_real_follow_ups(design):
    """Of many pilots, each planned and then really followed up, as many meet the width as was promised."""
    rng = np.random.default_rng([6, len(design)])
    n, k, more, replicates = 40, 6, 24, 150
    promised, met = [], []
    for replicate in range(replicates):
        mu, rho = rng.uniform(0.05, 0.95), rng.uniform(0.05, 0.9)
        p = beta_population(rng, mu, rho, n)
        counts = be.Counts.from_arrays(rng.binomial(k, p), np.full(n, k))
        post = be.fit(counts, engine="quadrature", seed=replicate, progress=False)
        estimand = "benchmark" if design == "benchmark" else "population"
        fresh = {"prompts": "fresh"} if design == "fresh" else {}
        options = {"estimand": estimand, "generations": [more], "progress": False, "futures": 200, **fresh}
        target = float(be.plan(post, 0.5, **options).curve["width"].iloc[0])
        plan = be.plan(post, target, seed=1, **options)
        if plan.method == "robust":
            continue
        if fresh:
            correct = rng.binomial(more, beta_population(rng, mu, rho, n))
        else:
            correct = counts.correct + rng.binomial(more - k, p)
        follow_up = be.fit(be.Counts.from_arrays(correct, np.full(n, more)), engine="quadrature", progress=False)
        promised.append(plan.curve["assurance"].iloc[0])
        met.append(follow_up.mean(estimand, method="model").width <= target)
    error = np.sqrt(np.mean(np.array(promised) * (1 - np.array(promised))) / len(met))
    assert np.mean(met) == pytest.approx(np.mean(promised), abs=3.3 * error)
