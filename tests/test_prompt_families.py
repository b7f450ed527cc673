"""Distributions of P(correct) other than mixtures of Betas: against integrals, enumeration and their own draws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, logit

from bayeseval import metrics
from bayeseval.errors import OptionError
from bayeseval.prompts import BetaMixture, Explicit, Joined, LogitNormal, beta
from bayeseval.prompts.logit_normal import log_symmetric
from tests.oracles import oracle_rows

METRICS = [metrics.mean(), metrics.pass_at(5), metrics.pass_hat(3), metrics.g_pass(8, 0.5)]
LEVEL = 0.01 / 20


def one(m, s, **runs):
    """A single logit-normal distribution."""
    return LogitNormal(np.array([float(m)]), np.array([float(s)]), **runs)


def over_z(function, limit=9.0):
    """Integral of a function of z against the standard normal density."""
    return integrate.quad(lambda z: function(z) * stats.norm.pdf(z), -limit, limit, limit=400, epsabs=1e-13)[0]


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("logitnormal_binom_logpmf"))
def test_logit_normal_logpmf_gives_the_oracle_value(quantity, inputs, value):
    got = one(inputs["m"], inputs["s"]).logpmf([inputs["c"]], [inputs["k"]])[0, 0]
    assert got == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize(("m", "s"), [(0.0, 1.0), (-3.0, 2.5), (4.0, 0.3), (1.0, 6.0)])
@pytest.mark.parametrize("k", [1, 7, 200])
def test_logit_normal_logpmf_equals_the_integral_and_sums_to_one(m, s, k):
    cells = np.arange(k + 1)
    pmf = np.exp(one(m, s).logpmf(cells, np.full(k + 1, k))[0])
    assert pmf.sum() == pytest.approx(1, abs=3e-6)
    for c in {0, k // 3, k}:
        integral = over_z(lambda z, c=c: stats.binom.pmf(c, k, expit(m + s * z)))
        assert pmf[c] == pytest.approx(integral, rel=1e-4, abs=1e-12)


def test_logit_normal_without_spread_is_binomial():
    pmf = np.exp(one(logit(0.3), 1e-9).logpmf(np.arange(6), np.full(6, 5))[0])
    np.testing.assert_allclose(pmf, stats.binom.pmf(np.arange(6), 5, 0.3), rtol=1e-7)


def test_logit_normal_swaps_with_correct_and_wrong():
    given = one(0.7, 1.4).logpmf([1, 5, 0], [4, 9, 3])
    swapped = one(-0.7, 1.4).logpmf([3, 4, 3], [4, 9, 3])
    np.testing.assert_allclose(given, swapped, rtol=1e-10)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
@pytest.mark.parametrize(("m", "s"), [(0.5, 1.5), (-4.0, 3.0)])
def test_logit_normal_scores_equal_integrals(metric, m, s):
    integral = over_z(lambda z: float(metric.given_p(np.array([expit(m + s * z)]))[0]))
    assert one(m, s).score(metric)[0] == pytest.approx(integral, abs=1e-8)


@pytest.mark.parametrize(("c", "k"), [(0, 0), (0, 8), (3, 8), (8, 8), (0, 400), (399, 400)])
@pytest.mark.parametrize(("m", "s"), [(0.5, 1.5), (-4.0, 3.0)])
def test_conditioned_moments_and_draws_agree_with_the_exact_posterior(c, k, m, s):
    def posterior(z):
        return np.exp(stats.binom.logpmf(c, k, expit(m + s * z)) + stats.norm.logpdf(z))

    z = np.linspace(-9, 9, 400_001)
    density = posterior(z)
    cumulative = np.cumsum(density) / density.sum()
    p = expit(m + s * z)
    mean, square = (density @ p**power / density.sum() for power in (1, 2))
    conditioned = one(m, s).condition([c], [k])
    assert conditioned.mean()[0, 0] == pytest.approx(mean, abs=1e-8)
    assert conditioned.second_moment()[0, 0] == pytest.approx(square, abs=1e-8)
    draws = conditioned.draw(np.random.default_rng([1, c, k]), np.zeros(20_000, dtype=int))[0]
    places = np.interp(logit(draws), m + s * z, cumulative)
    assert stats.kstest(places, "uniform").pvalue > LEVEL


def test_log_symmetric_polynomials_equal_enumeration():
    shift = np.array([[0.3, -1.0, 0.0, 2.0]])
    odds = np.exp(shift[0])
    by_hand = np.zeros(5)
    for pattern in product((0, 1), repeat=4):
        by_hand[sum(pattern)] += np.prod(odds ** np.array(pattern))
    np.testing.assert_allclose(np.exp(log_symmetric(shift)[0]), by_hand, rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_symmetric(np.zeros((1, 4)))[0]), [1, 4, 6, 4, 1], rtol=1e-12)


def test_counts_under_run_effects_equal_enumeration_over_outcomes():
    shift, m, s = np.array([[0.8, -0.5, 0.1]]), -0.4, 1.3
    pmf = np.exp(one(m, s, shift=shift, tau=np.array([0.5])).logpmf(np.arange(4), np.full(4, 3))[0])
    by_hand = np.zeros(4)
    for pattern in product((0, 1), repeat=3):
        y = np.array(pattern)
        by_hand[y.sum()] += over_z(lambda z, y=y: np.prod(expit((2 * y - 1) * (m + s * z + shift[0]))))
    np.testing.assert_allclose(pmf, by_hand, rtol=1e-5)
    assert pmf.sum() == pytest.approx(1, abs=1e-5)


def test_run_effects_of_zero_are_no_run_effects():
    with_runs = one(0.4, 1.2, shift=np.zeros((1, 6)), tau=np.array([1e-9]))
    without = one(0.4, 1.2)
    cells, sizes = np.arange(7), np.full(7, 6)
    np.testing.assert_allclose(with_runs.logpmf(cells, sizes), without.logpmf(cells, sizes), rtol=1e-9)
    np.testing.assert_allclose(
        with_runs.condition(cells, sizes).mean(), without.condition(cells, sizes).mean(), rtol=1e-9
    )
    np.testing.assert_allclose(with_runs.score(METRICS[1]), without.score(METRICS[1]), rtol=1e-9)


def test_p_of_a_fresh_run_is_the_average_over_runs():
    distribution = one(0.0, 1.0, shift=np.zeros((1, 2)), tau=np.array([0.7]))
    for eta in (-2.0, 0.3, 4.0):
        expected = over_z(lambda e, eta=eta: expit(eta + 0.7 * e))
        assert distribution.p_at(np.array([[eta]]))[0, 0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("tau", [None, np.array([0.8])], ids=["one run", "run effects"])
def test_below_and_density_belong_together_and_to_the_draws(tau):
    shift = None if tau is None else np.zeros((1, 3))
    distribution = one(-0.5, 1.7, shift=shift, tau=tau)
    grid = np.linspace(0.02, 0.98, 97)
    below = distribution.below(grid)[0]
    assert (np.diff(below) > 0).all()
    np.testing.assert_allclose(np.gradient(below, grid)[5:-5], distribution.density(grid)[0][5:-5], rtol=0.02)
    draws = distribution.condition([0], [0]).draw(np.random.default_rng(2), np.zeros(20_000, dtype=int))
    places = distribution.cdf(draws, np.random.default_rng(3))[0]
    assert stats.kstest(places, "uniform").pvalue > LEVEL


def test_simulated_runs_have_the_right_totals():
    shift = np.repeat([[1.0, -1.0]], 400, axis=0)
    many = LogitNormal(np.zeros(400), np.ones(400), shift, np.ones(400))
    p, outcomes = many.simulate_runs(30, np.random.default_rng(4))
    assert p.shape == (400, 30)
    for run, value in enumerate((1.0, -1.0)):
        expected = over_z(lambda z, value=value: expit(z + value))
        error = 4 * np.sqrt(0.25 / outcomes[..., run].size)
        assert outcomes[..., run].mean() == pytest.approx(expected, abs=error)


GROUPED = BetaMixture(
    np.array([[0.25, 0.75]]), np.array([[0.2, 0.8]]), np.array([[0.3, 0.1]]),
    component_of=np.array([0, 1]), keyed_by="group",
)  # fmt: skip


def test_prompts_of_a_group_follow_the_component_of_their_group():
    cells, sizes = np.array([2, 2]), np.array([5, 5])
    keyed = GROUPED.logpmf(cells, sizes, np.array([0, 1]))[0]
    alone = [beta([mu], [rho]).logpmf(cells[:1], sizes[:1])[0, 0] for mu, rho in ((0.2, 0.3), (0.8, 0.1))]
    np.testing.assert_allclose(keyed, alone, rtol=1e-12)
    fresh = np.exp(GROUPED.logpmf(cells[:1], sizes[:1])[0, 0])
    assert fresh == pytest.approx(0.25 * np.exp(alone[0]) + 0.75 * np.exp(alone[1]))
    conditioned = GROUPED.condition(cells, sizes, np.array([0, 1])).mean()[0]
    by_hand = [beta([mu], [rho]).condition([2], [5]).mean()[0, 0] for mu, rho in ((0.2, 0.3), (0.8, 0.1))]
    np.testing.assert_allclose(conditioned, by_hand, rtol=1e-12)


def test_a_component_without_weight_serves_its_group_alone():
    seen = BetaMixture(
        np.array([[1.0, 0.0]]), np.array([[0.5, 0.9]]), np.array([[0.3, 0.1]]),
        component_of=np.array([1]), keyed_by="cluster",
    )  # fmt: skip
    assert seen.mean()[0] == pytest.approx(0.5)
    assert seen.condition([0], [0]).mean()[0, 0] == pytest.approx(0.5)
    assert seen.condition([0], [0], np.array([0])).mean()[0, 0] == pytest.approx(0.9)


JOINED = Joined.of([beta([0.3, 0.4], [0.2, 0.2]), one(0.0, 1.0), BetaMixture(
    np.array([[0.6]]), np.array([[0.5]]), np.array([[0.2]]), np.array([1.0]), np.array([[0.4]])
)])  # fmt: skip


def test_joined_draws_are_those_of_their_parts():
    cells, sizes = np.array([0, 3, 4]), np.array([4, 4, 4])
    for row, part, place in ((0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 2, 0)):
        alone = JOINED.parts[part].take(np.array([place]))
        assert JOINED.mean()[row] == alone.mean()[0]
        assert JOINED.sd()[row] == alone.sd()[0]
        assert JOINED.score(METRICS[1])[row] == alone.score(METRICS[1])[0]
        np.testing.assert_array_equal(JOINED.logpmf(cells, sizes)[row], alone.logpmf(cells, sizes)[0])
        np.testing.assert_array_equal(
            JOINED.condition(cells, sizes).mean()[row], alone.condition(cells, sizes).mean()[0]
        )
    assert JOINED.atom.tolist() == [1.0]
    assert JOINED.atoms[:, 0].tolist() == [0, 0, 0, 0.4]


def test_joined_draws_can_be_taken_in_any_order():
    order = np.array([3, 0, 2])
    np.testing.assert_array_equal(JOINED.take(order).mean(), JOINED.mean()[order])
    assert JOINED.take(order).condition([1], [2]).draw(np.random.default_rng(0), np.zeros(5, dtype=int)).shape == (3, 5)


def test_models_with_different_keys_are_not_mixed():
    with pytest.raises(OptionError, match="cannot be mixed"):
        Joined.of([GROUPED, Explicit(np.full((1, 2), 0.5), beta([0.5], [0.5]))])


def test_explicit_prompts_are_their_draws_and_fresh_ones_the_population():
    explicit = Explicit(np.array([[0.1, 0.7], [0.2, 0.9]]), beta([0.4, 0.5], [0.2, 0.3]))
    known = explicit.condition([0, 4], [4, 4], np.array([0, 1]))
    np.testing.assert_array_equal(known.mean(), explicit.p)
    np.testing.assert_array_equal(known.draw(np.random.default_rng(0), np.array([1, 0])), explicit.p[:, ::-1])
    np.testing.assert_array_equal(explicit.mean(), [0.4, 0.5])
    np.testing.assert_array_equal(explicit.take(slice(1, 2)).p, explicit.p[1:])
    fresh = explicit.condition([2], [4]).mean()
    np.testing.assert_array_equal(fresh, explicit.population.condition([2], [4]).mean())
