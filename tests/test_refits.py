"""Batch refits against the exact engine, one data set at a time."""

from __future__ import annotations

import numpy as np
import pytest

from bayeseval.engines.batches import batch_of_counts, batch_of_known
from bayeseval.engines.quadrature import exact_posterior
from bayeseval.engines.refits import refit

DESIGNS = {
    "few prompts, rare": (20, np.full(20, 4), 0.05, 0.3),
    "many prompts": (300, np.full(300, 16), 0.6, 0.5),
    "ragged": (30, np.tile([3, 8, 0, 50, 8], 6), 0.3, 0.4),
    "near one": (10, np.full(10, 4), 0.999, 0.3),
    "many generations": (30, np.full(30, 200), 0.5, 0.7),
}


def simulate(name, futures=60, seed=0):
    """Counts (future, prompt) and generations of a design."""
    n, generations, mu, rho = DESIGNS[name]
    rng = np.random.default_rng(seed)
    p = rng.beta(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho, (futures, n))
    return rng.binomial(generations, p), generations, p


def benchmark_moments(exact, correct, generations):
    """Mean and sd of the benchmark mean, by the law of total variance over the nodes."""
    precision = (1 - exact.rho) / exact.rho
    a, b = exact.mu * precision, (1 - exact.mu) * precision
    mean, variance, second = 0, 0, 0
    for c, k in zip(correct, generations, strict=True):
        total = a + b + k
        mean = mean + (a + c) / total / correct.size
        variance = variance + (a + c) * (b + k - c) / (total**2 * (total + 1)) / correct.size**2
        second = second + (a + c) * (a + c + 1) / (total * (total + 1)) / correct.size
    first, square = exact.expect(mean), exact.expect(variance + mean**2)
    spread = (exact.expect(second) - square) / (correct.size + 1)
    return first, np.sqrt(square - first**2), np.sqrt(square - first**2 + spread)


@pytest.mark.parametrize("design", DESIGNS)
def test_batch_refits_equal_the_exact_engine(design):
    correct, generations, _ = simulate(design)
    refits = refit(batch_of_counts(correct, generations), (1, 1), (1, 1), 0.95)
    for future in range(0, 60, 12):
        exact = exact_posterior(correct[future], generations, tolerance=1e-8)
        sd = exact.sd("mu")
        assert refits.mu_mean[future] == pytest.approx(exact.mean("mu"), abs=2e-4 * sd)
        assert refits.mu_sd[future] == pytest.approx(sd, rel=2e-3)
        ends = exact.quantile("mu", [0.025, 0.975])
        assert refits.population_lower[future] == pytest.approx(ends[0], abs=0.02 * sd)
        assert refits.population_upper[future] == pytest.approx(ends[1], abs=0.02 * sd)
        mean, spread, robust = benchmark_moments(exact, correct[future], generations)
        assert refits.benchmark_mean[future] == pytest.approx(mean, rel=1e-4)
        assert refits.benchmark_sd[future] == pytest.approx(spread, rel=2e-3)
        assert refits.robust_sd[future] == pytest.approx(robust, rel=2e-3)


def test_one_generation_each_gives_plain_betas():
    refits = refit(batch_of_counts(np.array([[1, 0, 1, 1], [0, 0, 0, 1]]), np.ones(4, int)), (1, 1), (1, 1), 0.9)
    assert refits.mu_mean == pytest.approx([2 / 3, 1 / 3], rel=1e-5)


def test_many_generations_approach_known_probabilities():
    _, _, p = simulate("many prompts", futures=8)
    known = refit(batch_of_known(p), (1, 1), (1, 1), 0.95)
    counted = refit(batch_of_counts(np.round(p * 4000).astype(int), np.full(300, 4000)), (1, 1), (1, 1), 0.95)
    assert known.benchmark_mean == pytest.approx(p.mean(axis=1))
    assert known.benchmark_sd == pytest.approx(0, abs=1e-9)
    width = known.population_upper - known.population_lower
    assert counted.population_upper - counted.population_lower == pytest.approx(width, rel=0.03)
    assert known.robust_sd == pytest.approx(p.std(axis=1) / np.sqrt(301), rel=1e-6)


def test_benchmark_interval_by_moments_is_close_to_draws():
    correct, generations, _ = simulate("ragged", futures=5)
    refits = refit(batch_of_counts(correct, generations), (1, 1), (1, 1), 0.95)
    lower, upper = refits.interval("benchmark", "model", 0.95)
    import bayeseval as be

    for future in range(5):
        counts = be.Counts.from_arrays(correct[future], generations)
        score = be.fit(counts, engine="quadrature", draws=5000, progress=False).mean("benchmark")
        assert lower[future] == pytest.approx(score.lower, abs=0.05 * score.width)
        assert upper[future] == pytest.approx(score.upper, abs=0.05 * score.width)
