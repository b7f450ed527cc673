"""Distributions of P(correct): oracles, moments by simulation, conditioning, and point masses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from bayeseval import metrics, prompts
from bayeseval.prompts import BetaMixture, population_score
from tests.oracles import oracle_rows

ZERO_ONE = BetaMixture(
    weight=np.array([[0.5, 0.2]]),
    mu=np.array([[0.3, 0.8]]),
    rho=np.array([[0.2, 0.1]]),
    atom=np.array([0.0, 1.0]),
    atom_weight=np.array([[0.2, 0.1]]),
)


def metric_of(quantity, inputs):
    """Metric of an oracle row."""
    return {
        "pass_at_r_super": lambda: metrics.pass_at(inputs["r"]),
        "pass_hat_r_super": lambda: metrics.pass_hat(inputs["r"]),
        "gpass_super": lambda: metrics.g_pass(inputs["r"], f"{inputs['m']}/{inputs['r']}"),
        "mgpass_super_exact_integral": lambda: metrics.mg_pass(inputs["r"], "integral"),
    }[quantity]()


@pytest.mark.parametrize(
    ("quantity", "inputs", "value"),
    oracle_rows("pass_at_r_super", "pass_hat_r_super", "gpass_super", "mgpass_super_exact_integral"),
)
def test_population_score_gives_the_oracle_value(quantity, inputs, value):
    tolerance = 1e-8 if inputs["r"] == 10_000 else 1e-9
    assert population_score(metric_of(quantity, inputs), inputs["mu"], inputs["rho"]) == pytest.approx(
        value, rel=tolerance
    )


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("shrinkage_mean_p"))
def test_conditional_mean_gives_the_oracle_value(quantity, inputs, value):
    posterior = prompts.beta(inputs["mu"], inputs["rho"]).condition([inputs["c"]], [inputs["k"]])
    assert posterior.mean()[0, 0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("prompt_pass_at_r_posterior_mean_var"))
def test_updated_beta_gives_the_oracle_moments_of_pass_at_r(quantity, inputs, value):
    posterior = prompts.beta(inputs["mu"], inputs["rho"]).condition([inputs["c"]], [inputs["k"]])
    a, b = posterior.a[0, 0, 0], posterior.b[0, 0, 0]
    fail, fail_twice = (
        1 - population_score(metrics.pass_at(r), a / (a + b), 1 / (a + b + 1)) for r in (inputs["r"], 2 * inputs["r"])
    )
    assert [1 - fail, fail_twice - fail**2] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("finite_mixture_bb_logpmf"))
def test_mixture_logpmf_gives_the_oracle_value(quantity, inputs, value):
    mixture = BetaMixture(np.array([inputs["w"]]), np.array([inputs["mu"]]), np.array([inputs["rho"]]))
    assert mixture.logpmf([inputs["c"]], [inputs["k"]])[0, 0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("zoibb_logpmf"))
def test_zero_one_inflated_logpmf_gives_the_oracle_value(quantity, inputs, value):
    inflated = BetaMixture(
        np.array([[1 - inputs["pi0"] - inputs["pi1"]]]),
        np.array([[inputs["mu"]]]),
        np.array([[inputs["rho"]]]),
        np.array([0.0, 1.0]),
        np.array([[inputs["pi0"], inputs["pi1"]]]),
    )
    assert inflated.logpmf([inputs["c"]], [inputs["k"]])[0, 0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "metric",
    [metrics.mean(), metrics.pass_at(7), metrics.pass_hat(3), metrics.g_pass(8, 0.5), metrics.mg_pass(6)],
    ids=lambda metric: metric.key,
)
@pytest.mark.parametrize(("mu", "rho"), [(0.3, 0.4), (0.05, 0.2), (0.9, 0.1)])
def test_population_score_equals_the_integral_over_p(metric, mu, rho):
    density = stats.beta(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho)

    def over_quantiles(u):
        return float(metric.given_p(np.array([density.ppf(u)]))[0])

    integral = integrate.quad(over_quantiles, 0, 1, limit=400)[0]
    assert population_score(metric, mu, rho) == pytest.approx(integral, abs=2e-6)


def test_moments_and_scores_of_a_mixture_with_point_masses_agree_with_draws():
    many = BetaMixture(
        *(np.repeat(values, 200_000, axis=0) for values in (ZERO_ONE.weight, ZERO_ONE.mu, ZERO_ONE.rho)),
        ZERO_ONE.atom,
        np.repeat(ZERO_ONE.atoms, 200_000, axis=0),
    )
    p = many.condition([0], [0]).draw(np.random.default_rng(1), np.array([0]))[:, 0]
    assert p.mean() == pytest.approx(ZERO_ONE.mean()[0], abs=0.004)
    assert p.std() == pytest.approx(ZERO_ONE.sd()[0], abs=0.003)
    metric = metrics.pass_at(4)
    assert metric.given_p(p).mean() == pytest.approx(ZERO_ONE.score(metric)[0], abs=0.004)
    assert (p == 0).mean() == pytest.approx(0.2, abs=0.004)


def test_never_solved_prompts_stay_possible_only_without_success():
    posterior = ZERO_ONE.condition([0, 1, 5], [5, 5, 5])
    chance_of_zero, chance_of_one = posterior.weight[0, :, 2], posterior.weight[0, :, 3]
    expected = 0.2 / np.exp(ZERO_ONE.logpmf([0], [5]))[0, 0]
    assert chance_of_zero == pytest.approx([expected, 0, 0])
    assert chance_of_one[:2].tolist() == [0, 0]
    assert chance_of_one[2] > 0
    assert posterior.weight.sum(-1) == pytest.approx(1)


def test_distribution_function_is_uniform_at_its_own_draws():
    rng = np.random.default_rng(3)
    cells = np.zeros(4000, dtype=int)
    p = ZERO_ONE.condition([0], [0]).draw(rng, cells)
    assert stats.kstest(ZERO_ONE.cdf(p, rng)[0], "uniform").pvalue > 0.001


def test_conditional_second_moment_matches_the_beta():
    posterior = prompts.beta(0.3, 0.2).condition([2], [6])
    a, b = posterior.a[0, 0, 0], posterior.b[0, 0, 0]
    assert posterior.second_moment()[0, 0] == pytest.approx(stats.beta(a, b).moment(2))
    assert (a, b) == pytest.approx((0.3 * 4 + 2, 0.7 * 4 + 4))


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("beta_params_from_mu_rho"))
def test_conditioning_on_nothing_gives_the_beta_of_mu_and_rho(quantity, inputs, value):
    posterior = prompts.beta(inputs["mu"], inputs["rho"]).condition([0], [0])
    assert [posterior.a[0, 0, 0], posterior.b[0, 0, 0]] == pytest.approx(value, rel=1e-12)
