"""The beta-binomial likelihood: oracles, brute force, edges, and the two forms against each other."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeseval.engines.quadrature import log_sigmoid
from bayeseval.likelihoods import (
    beta_binomial_loglik,
    beta_binomial_logpmf,
    log_binomial,
    log_rising,
    survival_counts,
)
from bayeseval.likelihoods.beta_binomial import HEAD
from tests.oracles import oracle_rows


def loglik(correct, generations, mu, rho):
    """Log likelihood by survival counts, with scalar parameters."""
    mu, rho = np.asarray(mu, dtype=float), np.asarray(rho, dtype=float)
    return beta_binomial_loglik(np, mu, 1 - mu, rho, 1 - rho, survival_counts(correct, generations).arrays)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("betabinom_logpmf"))
def test_logpmf_gives_the_oracle_value(quantity, inputs, value):
    result = beta_binomial_logpmf([inputs["c"]], [inputs["k"]], inputs["mu"], inputs["rho"])
    assert result[0] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("betabinom_loglik_no_binom"))
def test_loglik_gives_the_oracle_value(quantity, inputs, value):
    assert loglik(inputs["c"], inputs["k"], inputs["mu"], inputs["rho"]) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("betabinom_grad_logit"))
def test_gradient_on_the_logit_scale_gives_the_oracle_value(quantity, inputs, value):
    from bayeseval import _compat

    _compat.import_pymc()
    import pytensor
    import pytensor.tensor as pt

    x, y = pt.dscalar(), pt.dscalar()
    counts = survival_counts(inputs["c"], inputs["k"]).arrays
    mu, rho = pt.sigmoid(x), pt.sigmoid(y)
    density = beta_binomial_loglik(pt, mu, 1 - mu, rho, 1 - rho, {name: pt.constant(v) for name, v in counts.items()})
    gradient = pytensor.function([x, y], pt.grad(density, [x, y]), mode="FAST_COMPILE")
    logit = [np.log(p / (1 - p)) for p in (inputs["mu"], inputs["rho"])]
    assert gradient(*logit) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("c", "k"), [(c, k) for k in range(6) for c in range(k + 1)])
def test_logpmf_equals_exact_fractions(c, k):
    mu, rho = Fraction(3, 10), Fraction(1, 5)
    product = Fraction(comb(k, c))
    for j in range(c):
        product *= mu * (1 - rho) + j * rho
    for j in range(k - c):
        product *= (1 - mu) * (1 - rho) + j * rho
    for j in range(k):
        product /= 1 - rho + j * rho
    assert np.exp(beta_binomial_logpmf([c], [k], 0.3, 0.2)[0]) == pytest.approx(float(product), rel=1e-12)


@given(st.integers(1, 300), st.floats(1e-6, 1 - 1e-6), st.floats(0, 1))
def test_probabilities_of_all_counts_sum_to_one(k, mu, rho):
    cells = np.arange(k + 1)
    assert np.exp(beta_binomial_logpmf(cells, np.full(k + 1, k), mu, rho)).sum() == pytest.approx(1, rel=1e-9)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=1, max_size=20))
def test_survival_counts_and_cells_give_the_same_likelihood(pairs):
    correct, wrong = np.array(pairs).T
    generations = correct + wrong
    for mu, rho in ((0.3, 0.2), (0.01, 0.7), (0.9, 1e-9)):
        cells = beta_binomial_logpmf(correct, generations, mu, rho) - log_binomial(generations, correct)
        assert loglik(correct, generations, mu, rho) == pytest.approx(cells.sum(), rel=1e-10, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), min_size=1, max_size=10), st.floats(0.01, 0.99))
def test_swapping_correct_and_wrong_swaps_mu(pairs, mu):
    correct, wrong = np.array(pairs).T
    one, other = loglik(correct, correct + wrong, mu, 0.3), loglik(wrong, correct + wrong, 1 - mu, 0.3)
    assert one == pytest.approx(other, rel=1e-12, abs=1e-12)


def test_likelihood_at_rho_zero_is_the_binomial():
    mu, correct, generations = 0.3, np.array([3, 0, 70]), np.array([10, 5, 200])
    binomial = correct * np.log(mu) + (generations - correct) * np.log1p(-mu)
    assert loglik(correct, generations, mu, 0.0) == pytest.approx(binomial.sum(), rel=1e-13)


def test_likelihood_at_rho_one_allows_all_or_nothing_only():
    assert loglik([5, 0, 5], [5, 5, 5], 0.3, 1.0) == pytest.approx(2 * np.log(0.3) + np.log(0.7), rel=1e-12)
    assert loglik([4], [5], 0.3, 1.0) < -600


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 0.01, 0.5, 0.999])
@pytest.mark.parametrize("length", [HEAD, HEAD + 1, 200, 5000])
def test_euler_maclaurin_tail_equals_the_plain_sum(length, rho):
    plain = np.sum(np.log(0.02 + np.arange(length) * rho))
    assert log_rising(np.array(0.02), np.array(rho), [length])[0] == pytest.approx(plain, rel=1e-12, abs=1e-10)


def test_millions_of_generations_cost_a_few_segments():
    counts = survival_counts([0, 3_720_320 // 2, 7], [128, 3_720_320, 10_112])
    assert counts.shape == (64, 32)
    value = loglik([0, 3_720_320 // 2, 7], [128, 3_720_320, 10_112], 0.1, 0.3)
    from scipy.special import betaln

    a, b = 0.1 * 0.7 / 0.3, 0.9 * 0.7 / 0.3
    exact = sum(betaln(a + c, b + k - c) - betaln(a, b) for c, k in ((0, 128), (1_860_160, 3_720_320), (7, 10_112)))
    assert value == pytest.approx(exact, rel=1e-10)


def test_prompts_without_generations_add_nothing():
    assert loglik([3, 0, 0], [10, 0, 0], 0.3, 0.2) == pytest.approx(loglik([3], [10], 0.3, 0.2), rel=1e-14)


def test_log_sigmoid_keeps_digits_at_both_ends():
    assert log_sigmoid(np.array([-700.0, 700.0])).tolist() == [-700.0, -np.exp(-700.0)]
