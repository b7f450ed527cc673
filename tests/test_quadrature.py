"""The exact engine: oracles, closed forms, invariances, and agreement of its parts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from bayeseval import metrics
from bayeseval.engines.quadrature import exact_posterior
from bayeseval.errors import OptionError
from bayeseval.prompts import population_score
from tests.oracles import oracle_rows

QUANTITIES = (
    "quad_log_evidence_no_binom",
    "quad_post_mean_mu",
    "quad_post_sd_mu",
    "quad_post_mean_rho",
    "quad_post_sd_rho",
    "quad_post_mean_thetaF",
    "quad_post_sd_thetaF",
    "quad_post_mean_pass_at_r_super",
    "quad_elpd_loo_exact",
    "quad_post_quantiles_mu",
)


def fitted(inputs):
    """Exact posterior of an oracle row, and its counts."""
    if "hist_c_0_to_10" in inputs:
        correct = np.repeat(np.arange(11), inputs["hist_c_0_to_10"])
        generations = np.full(correct.size, inputs["k"])
    else:
        correct, generations = np.array(inputs["c"]), np.array(inputs["k"])
    return exact_posterior(correct, generations, inputs["prior_mu"], inputs["prior_rho"]), correct, generations


def theta(exact, correct, generations):
    """Mean and sd of the benchmark mean by total expectation and variance over the nodes."""
    precision = (1 - exact.rho) / exact.rho
    a, b = exact.mu * precision, (1 - exact.mu) * precision
    mean, variance = 0, 0
    for c, k in zip(correct, generations, strict=True):
        total = a + b + k
        mean = mean + (a + c) / total / correct.size
        variance = variance + (a + c) * (b + k - c) / (total**2 * (total + 1)) / correct.size**2
    first = exact.expect(mean)
    return first, np.sqrt(exact.expect(variance + mean**2) - first**2)


def elpd_loo(exact, correct, generations):
    """Exact leave-one-out predictive density: one over the posterior mean of one over the probability."""
    from bayeseval.likelihoods import beta_binomial_logpmf

    mu, rho = np.broadcast_arrays(exact.mu, exact.rho)
    inverse = np.exp(-beta_binomial_logpmf(correct, generations, mu, rho))
    return -sum(np.log(exact.expect(inverse[..., i])) for i in range(correct.size))


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows(*QUANTITIES))
def test_quadrature_gives_the_oracle_value(quantity, inputs, value):
    exact, correct, generations = fitted(inputs)
    result = {
        "quad_log_evidence_no_binom": lambda: exact.log_evidence,
        "quad_post_mean_mu": lambda: exact.mean("mu"),
        "quad_post_sd_mu": lambda: exact.sd("mu"),
        "quad_post_mean_rho": lambda: exact.mean("rho"),
        "quad_post_sd_rho": lambda: exact.sd("rho"),
        "quad_post_mean_thetaF": lambda: theta(exact, correct, generations)[0],
        "quad_post_sd_thetaF": lambda: theta(exact, correct, generations)[1],
        "quad_post_mean_pass_at_r_super": lambda: exact.expect(
            population_score(metrics.pass_at(inputs["r"]), exact.mu, exact.rho)
        ),
        "quad_elpd_loo_exact": lambda: elpd_loo(exact, correct, generations),
        "quad_post_quantiles_mu": lambda: exact.quantile("mu", inputs["probs"]),
    }[quantity]()
    assert result == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize(("correct", "n"), [(30, 30), (0, 30), (7, 20), (1, 1)])
def test_one_generation_per_prompt_gives_the_plain_beta_posterior(correct, n):
    exact = exact_posterior([1] * correct + [0] * (n - correct), [1] * n)
    truth = beta(1 + correct, 1 + n - correct)
    assert exact.mean("mu") == pytest.approx(truth.mean(), rel=1e-9)
    assert exact.quantile("mu", [0.025, 0.5, 0.975]) == pytest.approx(truth.ppf([0.025, 0.5, 0.975]), rel=1e-7)
    assert exact.mean("rho") == pytest.approx(0.5, rel=1e-9)


def test_all_correct_interval_is_the_published_right_value():
    """Case 22: 30 x 64 all correct; mean .98649, 95% [.93541, .99984]; all wrong mirrors it."""
    right, wrong = exact_posterior([64] * 30, [64] * 30, (1, 1), (0.5, 1)), exact_posterior([0] * 30, [64] * 30)
    mirrored = exact_posterior([64] * 30, [64] * 30)
    assert right.mean("mu") == pytest.approx(0.98649, abs=5e-6)
    assert right.quantile("mu", [0.025, 0.975]) == pytest.approx([0.93541, 0.99984], abs=5e-6)
    assert wrong.mean("mu") == pytest.approx(1 - mirrored.mean("mu"), rel=1e-9)


def test_permuting_prompts_and_splitting_nothing_changes_nothing():
    rng = np.random.default_rng(1)
    generations = rng.integers(0, 40, 25)
    correct = rng.binomial(generations, 0.4)
    order = rng.permutation(25)
    one, other = exact_posterior(correct, generations), exact_posterior(correct[order], generations[order])
    assert one.mean("mu") == other.mean("mu")
    assert one.sd("rho") == other.sd("rho")


@pytest.mark.parametrize("n", [5, 200, 20_000])
def test_evenly_spread_draws_have_the_moments_of_the_grid(n):
    rng = np.random.default_rng(2)
    correct = rng.binomial(8, rng.beta(0.6, 0.9, n))
    exact = exact_posterior(correct, np.full(n, 8), nodes=129)
    draws = exact.draws(4000, rng)
    for name in ("mu", "rho"):
        assert draws[name].mean() == pytest.approx(exact.mean(name), abs=0.01 * exact.sd(name))
        assert draws[name].std() == pytest.approx(exact.sd(name), rel=0.01)
        expected = exact.quantile(name, [0.025, 0.975])
        assert np.quantile(draws[name], [0.025, 0.975]) == pytest.approx(expected, abs=0.05 * exact.sd(name))
    grid_correlation = exact.expect((exact.mu - exact.mean("mu")) * (exact.rho - exact.mean("rho")))
    assert np.cov(draws["mu"], draws["rho"])[0, 1] == pytest.approx(
        grid_correlation, abs=0.02 * exact.sd("mu") * exact.sd("rho")
    )


def test_extreme_generations_are_integrated_without_trouble():
    exact = exact_posterior([0, 5, 0, 1], [128, 3_720_320, 10_112, 10_112])
    assert 0 < exact.mean("mu") < 0.2
    assert exact.error < 1e-8


def test_impossible_priors_are_refused_in_a_sentence():
    with pytest.raises(OptionError, match="prior of mu must be two positive numbers"):
        exact_posterior([1], [2], (0, 1))


def gauss_legendre(correct, generations, nodes=500):
    """Posterior mean and sd of mu and rho by a plain product rule on the unit square."""
    from bayeseval.likelihoods import beta_binomial_loglik, survival_counts

    points, weights = np.polynomial.legendre.leggauss(nodes)
    points, weights = (points + 1) / 2, weights / 2
    mu, rho = points[:, None], points[None, :]
    loglik = beta_binomial_loglik(np, mu, 1 - mu, rho, 1 - rho, survival_counts(correct, generations).arrays)
    weight = np.exp(loglik - loglik.max()) * weights[:, None] * weights[None, :]
    weight /= weight.sum()
    moments = {}
    for name, values in (("mu", mu), ("rho", rho)):
        mean = np.sum(weight * values)
        moments[name] = (mean, np.sqrt(np.sum(weight * (values - mean) ** 2)))
    return moments


@pytest.mark.parametrize("seed", range(12))
def test_quadrature_equals_a_plain_product_rule(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    generations = rng.integers(1, 17, n)
    mu, rho = rng.uniform(0.1, 0.9), rng.uniform(0.02, 0.9)
    correct = rng.binomial(generations, rng.beta(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho, n))
    exact, plain = exact_posterior(correct, generations), gauss_legendre(correct, generations)
    for name in ("mu", "rho"):
        assert (exact.mean(name), exact.sd(name)) == pytest.approx(plain[name], rel=1e-6)


def test_the_ridge_towards_rho_zero_is_not_cut_off():
    """Counts that look almost binomial: a coarse first look misses how far the posterior reaches to small rho."""
    correct = [2, 3, 4, 5, 5, 5, 5, 7, 8, 8, 8, 8, 9, 9, 9, 10, 10, 12, 12, 14]
    exact = exact_posterior(correct, [16] * 20)
    plain = gauss_legendre(correct, [16] * 20)
    assert exact.y[0] < -30
    for name in ("mu", "rho"):
        assert (exact.mean(name), exact.sd(name)) == pytest.approx(plain[name], rel=1e-9)
