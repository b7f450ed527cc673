"""Batch refits against the exact engine, one data set at a time."""

from __future__ import annotations

import numpy as np
import pytest

import bayeseval as be
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
        assert refits.population_mean[future] == pytest.approx(exact.mean("mu"), abs=2e-4 * sd)
        assert refits.population_sd[future] == pytest.approx(sd, rel=2e-3)
        ends = exact.quantile("mu", [0.025, 0.975])
        assert refits.population_lower[future] == pytest.approx(ends[0], abs=0.02 * sd)
        assert refits.population_upper[future] == pytest.approx(ends[1], abs=0.02 * sd)
        mean, spread, robust = benchmark_moments(exact, correct[future], generations)
        assert refits.benchmark_mean[future] == pytest.approx(mean, rel=1e-4)
        assert refits.benchmark_sd[future] == pytest.approx(spread, rel=2e-3)
        assert refits.robust_sd[future] == pytest.approx(robust, rel=2e-3)


def test_one_generation_each_gives_plain_betas():
    refits = refit(batch_of_counts(np.array([[1, 0, 1, 1], [0, 0, 0, 1]]), np.ones(4, int)), (1, 1), (1, 1), 0.9)
    assert refits.population_mean == pytest.approx([2 / 3, 1 / 3], rel=1e-5)


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

    for future in range(5):
        counts = be.Counts.from_arrays(correct[future], generations)
        score = be.fit(counts, engine="quadrature", draws=5000, progress=False).mean("benchmark")
        assert lower[future] == pytest.approx(score.lower, abs=0.05 * score.width)
        assert upper[future] == pytest.approx(score.upper, abs=0.05 * score.width)


METRICS = {
    "pass@4": be.metrics.pass_at(4),
    "pass^3": be.metrics.pass_hat(3),
    "G-Pass@8": be.metrics.g_pass(8, 0.5),
    "mG-Pass@4": be.metrics.mg_pass(4),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("design", ["few prompts, rare", "ragged", "many generations"])
def test_scores_of_batch_refits_equal_draws_of_the_exact_engine(design, name):
    """Against 40,000 draws of (mu, rho), and of the benchmark score given them."""
    from bayeseval import prompts
    from bayeseval.posterior.prompt_draws import benchmark_scores

    metric = METRICS[name]
    correct, generations, _ = simulate(design, futures=3)
    refits = refit(batch_of_counts(correct, generations, cells=True), (1, 1), (1, 1), 0.95, metric)
    for future in range(3):
        drawn = exact_posterior(correct[future], generations, nodes=129).draws(40_000, np.random.default_rng(1))
        distribution = prompts.beta(drawn["mu"], drawn["rho"])
        fresh = distribution.score(metric)
        sd = fresh.std()
        assert refits.population_mean[future] == pytest.approx(fresh.mean(), abs=0.02 * sd)
        assert refits.population_sd[future] == pytest.approx(sd, rel=0.02)
        ends = refits.population_lower[future], refits.population_upper[future]
        assert ends == pytest.approx(np.quantile(fresh, [0.025, 0.975]), abs=0.12 * sd)
        own, robust = benchmark_scores(distribution, correct[future], generations, [metric], [2])[metric]
        assert refits.benchmark_mean[future] == pytest.approx(own.mean(), abs=0.03 * own.std())
        assert refits.benchmark_sd[future] == pytest.approx(own.std(), rel=0.03)
        assert refits.robust_sd[future] == pytest.approx(robust.std(), rel=0.03)


def test_a_score_with_known_probabilities_has_no_error_for_the_benchmark():
    metric = be.metrics.pass_at(4)
    _, _, p = simulate("many prompts", futures=8)
    known = refit(batch_of_known(p, metric), (1, 1), (1, 1), 0.95, metric)
    values = metric.given_p(p)
    assert known.benchmark_mean == pytest.approx(values.mean(axis=1))
    assert known.benchmark_sd == pytest.approx(0)
    assert known.robust_sd == pytest.approx(values.std(axis=1) / np.sqrt(301), rel=1e-6)


def test_tables_of_many_counts_are_splined_without_loss():
    """More counts than knots: the moments of the cells against those computed at every count."""
    from bayeseval.engines.batches import Cells
    from bayeseval.engines.refit_scores import _cell_moments
    from bayeseval.prompts import population_score, population_square

    counts = np.arange(1001)
    cells = Cells(counts, np.full(1001, 1000), np.ones((1, 1001)))
    a, b = np.array([0.3, 2.0]), np.array([3.0, 0.5])
    for metric in METRICS.values():
        first, square = _cell_moments(metric, a, b, cells)
        at, bt = a + counts[:, None], b + 1000 - counts[:, None]
        exact = [f(metric, at / (at + bt), 1 / (at + bt + 1)) for f in (population_score, population_square)]
        assert first == pytest.approx(exact[0], abs=1e-6)
        assert square == pytest.approx(exact[1], abs=1e-6)


def test_squares_of_scores_are_scores_of_twice_as_many_attempts():
    p = np.linspace(0, 1, 7)
    for metric in METRICS.values():
        weights = be.metrics.square_weights(metric.weights)
        attempts = np.arange(weights.size)
        from scipy.stats import binom

        mass = binom.pmf(attempts[:, None], weights.size - 1, p)
        assert weights @ mass == pytest.approx(metric.given_p(p) ** 2, abs=1e-12)
