"""Metrics: thresholds, weights, values at a known P(correct), and unbiased estimates from counts."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeseval import metrics
from bayeseval.errors import BayesevalError, DataError, OptionError
from bayeseval.metrics import (
    Metric,
    g_pass,
    g_pass_at_k,
    mean,
    metric_variance_given_p,
    mg_pass,
    mg_pass_at_k,
    one_minus_pass_at_k,
    pass_at,
    pass_at_k,
    pass_at_k_variance,
    pass_hat,
    pass_hat_k,
    pass_hat_k_variance,
    threshold_successes,
)
from bayeseval.metrics.hypergeometric import log_probability_of_none, upper_tail
from tests.oracles import oracle_rows

# quantity of the oracle file -> our answer to its inputs
ANSWERS = {
    "pass_at_r_hyper": lambda c, k, r: pass_at_k(c, k, r),
    "one_minus_pass_at_r_hyper": lambda c, k, r: one_minus_pass_at_k(c, k, r),
    "gpass_hyper": lambda c, k, m, r: g_pass_at_k(c, k, r, Fraction(m, r)),
    "mgpass_published": lambda c, k, r: mg_pass_at_k(c, k, r, "published"),
    "mgpass_exact_integral": lambda c, k, r: mg_pass_at_k(c, k, r, "integral"),
    "gpass_threshold_m": lambda r, tau: threshold_successes(tau, r),
    "gpass_given_p": lambda m, p, r: g_pass(r, Fraction(m, r)).given_p(p),
    "pass_at_r_given_p": lambda p, r: pass_at(r).given_p(p),
    "gpass_hyper_variance_given_p": lambda k, m, p, r: metric_variance_given_p(g_pass(r, Fraction(m, r)), p, k),
    "pass_at_r_unbiased_var_est": lambda c, k, r: pass_at_k_variance(c, k, r),
}


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows(*ANSWERS))
def test_oracles_are_met(quantity: str, inputs: dict, value: float) -> None:
    assert float(ANSWERS[quantity](**inputs)) == pytest.approx(value, rel=1e-9, abs=0)


# exact values, by fractions


def hypergeometric(n: int, c: int, k: int) -> list[Fraction]:
    """Probability of 0..k correct among k of n generations, c of which are correct."""
    return [Fraction(math.comb(c, j) * math.comb(n - c, k - j), math.comb(n, k)) for j in range(k + 1)]


def worth(metric: Metric, j: int) -> Fraction:
    """Weight of j successes, from the definitions."""
    k = metric.k
    if metric.kind == "mg_pass":
        level = Fraction(k, 2) if metric.form == "integral" else Fraction(math.ceil(k / 2))
        return Fraction(2, k) * max(j - level, Fraction(0))
    if metric.kind == "pass_hat":
        return Fraction(int(j == k))
    tau = metric.tau or Fraction(0)
    return Fraction(int(j >= max(1, math.ceil(tau * k))))


def all_metrics(k: int) -> list[Metric]:
    found = [pass_at(k), pass_hat(k), mg_pass(k, "published"), mg_pass(k, "integral")]
    return found + [g_pass(k, Fraction(m, k)) for m in range(k + 1)] + ([mean()] if k == 1 else [])


@pytest.mark.parametrize("n", range(1, 9))
def test_estimates_equal_the_exact_hypergeometric_sums(n: int) -> None:
    counts = np.arange(n + 1)
    for k in range(1, n + 1):
        for metric in all_metrics(k):
            exact = [
                float(sum(worth(metric, j) * mass for j, mass in enumerate(hypergeometric(n, int(c), k))))
                for c in counts
            ]
            np.testing.assert_allclose(metric.estimate(counts, n), exact, rtol=1e-12, atol=1e-15, err_msg=str(metric))


@pytest.mark.parametrize("k", range(1, 9))
def test_weights_and_values_at_known_p_equal_the_exact_binomial_sums(k: int) -> None:
    for metric in all_metrics(k):
        weights = [worth(metric, j) for j in range(k + 1)]
        np.testing.assert_allclose(metric.weights, [float(u) for u in weights], rtol=1e-15)
        for p in (Fraction(0), Fraction(1, 1000), Fraction(1, 3), Fraction(9, 10), Fraction(1)):
            exact = sum(u * math.comb(k, j) * p**j * (1 - p) ** (k - j) for j, u in enumerate(weights))
            assert float(metric.given_p(float(p))) == pytest.approx(float(exact), rel=1e-12, abs=1e-16)


@pytest.mark.parametrize(("n", "k"), [(3, 2), (6, 3), (8, 8)])
def test_estimates_are_unbiased(n: int, k: int) -> None:
    counts = np.arange(n + 1)
    for metric in all_metrics(k):
        for p in (0.05, 0.5, 0.8):
            mass = np.array([math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in counts])
            assert mass @ metric.estimate(counts, n) == pytest.approx(float(metric.given_p(p)), rel=1e-12)


@pytest.mark.parametrize(("estimate", "metric"), [(pass_at_k_variance, pass_at(3)), (pass_hat_k_variance, pass_hat(3))])
def test_variance_estimates_are_unbiased(estimate, metric: Metric) -> None:
    counts, n = np.arange(8), 7
    for p in (0.1, 0.6):
        mass = np.array([math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in counts])
        expected = float(metric_variance_given_p(metric, p, n))
        assert mass @ estimate(counts, n, 3) == pytest.approx(expected, rel=1e-11)


def test_variance_estimates_match_exact_fractions() -> None:
    for n, c, k in [(6, 2, 3), (7, 7, 2), (8, 0, 4), (5, 4, 1)]:
        f = Fraction(math.comb(n - c, k), math.comb(n, k))
        exact = f**2 - Fraction(math.comb(n - c, 2 * k), math.comb(n, 2 * k))
        assert float(pass_at_k_variance(c, n, k)) == pytest.approx(float(exact), rel=1e-12, abs=1e-16)
        assert float(pass_hat_k_variance(n - c, n, k)) == pytest.approx(float(exact), rel=1e-12, abs=1e-16)


def test_variance_at_as_many_generations_as_attempts_is_that_of_one_bit() -> None:
    metric = g_pass(6, 0.5)
    g = metric.given_p([0.2, 0.7])
    np.testing.assert_allclose(metric_variance_given_p(metric, [0.2, 0.7], 6), g * (1 - g), rtol=1e-12)


def test_variance_for_very_many_generations_is_that_of_the_delta_method() -> None:
    p, n, k = 0.3, 1_000_000, 4
    delta = k**2 * p * (1 - p) ** (2 * k - 1) / n
    assert float(metric_variance_given_p(pass_at(k), p, n)) == pytest.approx(delta, rel=1e-4)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_relations_between_metrics_hold(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 400))
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    taus = [Fraction(j, 8) for j in range(9)]
    values = [float(g_pass_at_k(c, n, k, tau)) for tau in taus]
    assert all(0 <= value <= 1 for value in values)
    assert all(a >= b - 1e-12 for a, b in zip(values, values[1:], strict=False))  # falls with tau
    assert values[0] == pytest.approx(float(pass_at_k(c, n, k)), rel=1e-12)
    assert values[-1] == pytest.approx(float(pass_hat_k(c, n, k)), rel=1e-12)
    assert float(pass_hat_k(n - c, n, k)) == pytest.approx(float(one_minus_pass_at_k(c, n, k)), rel=1e-12)
    assert float(pass_at_k(c, n, 1)) == c / n
    if k % 4 == 0:
        middle = 0.5 * (values[6] + values[8]), 0.5 * (values[4] + values[6])
        assert middle[0] - 1e-12 <= float(mg_pass_at_k(c, n, k)) <= middle[1] + 1e-12
    if k % 2 == 0:
        assert mg_pass(k, "published").weights == pytest.approx(mg_pass(k, "integral").weights)


# numerics far from small


@pytest.mark.parametrize(
    ("n", "c", "k", "threshold"),
    [(1000, 30, 500, 20), (1000, 970, 500, 490), (3000, 1500, 1000, 520), (3000, 10, 2990, 10), (500, 250, 480, 245)],
)
def test_large_counts_keep_their_relative_accuracy(n: int, c: int, k: int, threshold: int) -> None:
    masses = hypergeometric(n, c, k)
    assert upper_tail(np.array([n]), np.array([c]), k, threshold)[0] == pytest.approx(
        float(sum(masses[threshold:])), rel=1e-12
    )
    exact = Fraction(math.comb(n - c, k), math.comb(n, k))
    if exact:
        logarithm = math.log(exact.numerator) - math.log(exact.denominator)
        assert log_probability_of_none(np.array([n]), np.array([c]), k)[0] == pytest.approx(logarithm, rel=1e-12)


def test_millions_of_generations_match_the_product() -> None:
    n, c = 3_720_320, np.array([0, 1, 37, 100_000])
    exact = [-math.fsum(math.log1p(-10_000 / (n - j)) for j in range(int(count))) for count in c]
    np.testing.assert_allclose(-np.log(one_minus_pass_at_k(c, n, 10_000)), exact, rtol=1e-12, atol=1e-300)


def test_many_attempts_have_weights_and_values() -> None:
    metric = mg_pass(10_000)
    assert metric.weights.shape == (10_001,) and metric.weights[-1] == 1.0
    p = np.array([0.2, 0.49, 0.51, 0.9])
    spread = np.sqrt(10_000 * p * (1 - p))
    np.testing.assert_allclose(metric.given_p(p)[[0, 3]], [0.0, 0.8], atol=1e-12)
    assert 0 < metric.given_p(p)[1] < metric.given_p(p)[2] < 2 * spread[2] / 10_000 * 5


def test_estimates_for_many_prompts_come_from_unique_cells() -> None:
    rng = np.random.default_rng(1)
    n = rng.integers(4, 9, 500)
    c = rng.integers(0, n + 1)
    together = g_pass_at_k(c, n, 4, 0.5)
    np.testing.assert_array_equal(together, [float(g_pass_at_k(a, b, 4, 0.5)) for a, b in zip(c, n, strict=True)])
    assert pass_at_k(c.reshape(20, 25), n.reshape(20, 25), 3).shape == (20, 25)


# thresholds


@pytest.mark.parametrize(
    ("tau", "k", "m"),
    [
        (0.55, 100, 55),
        (0.28, 25, 7),
        (0.07, 100, 7),
        (0.14, 50, 7),
        ("7/25", 25, 7),
        (" 7 / 25 ", 25, 7),
        ("0.07", 100, 7),
        ("1e-2", 100, 1),
        (".5", 3, 2),
        (0.1 * 3, 10, 3),
        (0.1, 10, 1),
        (2 / 3, 3, 2),
        (0, 16, 1),
        (1e-17, 16, 1),
        (1, 16, 16),
        (np.float32(0.07), 100, 7),
        (np.int64(1), 4, 4),
        (Fraction(1, 3), 3, 1),
        (Fraction(1, 3), 4, 2),
        (Decimal("0.28"), 25, 7),
        (0.5000001, 16, 9),
    ],
)
def test_thresholds_are_exact(tau: object, k: int, m: int) -> None:
    assert threshold_successes(tau, k) == m  # type: ignore[arg-type]


def test_every_share_of_successes_as_a_float_means_itself() -> None:
    for k in range(1, 201):
        assert [threshold_successes(j / k, k) for j in range(1, k + 1)] == list(range(1, k + 1))


def test_tau_as_float_text_and_fraction_agree() -> None:
    assert g_pass(16, 0.3) == g_pass(16, "0.3") == g_pass(16, Fraction(3, 10)) == g_pass(16, "3/10")
    assert len({g_pass(16, 0.3), g_pass(16, "0.3")}) == 1


@pytest.mark.parametrize(
    "tau",
    [
        float("nan"),
        -0.1,
        1.5,
        float("inf"),
        "nan",
        "a",
        "",
        "1/0",
        "-1/2",
        "5/4",
        True,
        None,
        [0.5],
        "1e-999999999",
        50,
    ],
)
def test_impossible_thresholds_are_refused(tau: object) -> None:
    with pytest.raises(OptionError, match="tau must be a share"):
        g_pass(16, tau)  # type: ignore[arg-type]


def test_percentages_get_a_hint() -> None:
    with pytest.raises(OptionError, match=r"did you mean 0\.5\?"):
        g_pass(16, 50)


def test_float_rounding_does_not_turn_a_perfect_prompt_into_zero() -> None:
    for tau, k, m in [(0.55, 100, 55), (0.28, 25, 7), (0.07, 100, 7), (0.14, 50, 7)]:
        assert float(g_pass_at_k(m, k, k, tau)) == 1.0
    assert float(g_pass_at_k(20, 100, 25, 0.28)) == pytest.approx(0.191213, abs=5e-7)


# the metric itself


@pytest.mark.parametrize(
    ("metric", "name", "key", "call"),
    [
        (mean(), "mean", "mean", "mean()"),
        (pass_at(16), "pass@16", "pass_at_16", "pass_at(16)"),
        (pass_hat(4), "pass^4", "pass_hat_4", "pass_hat(4)"),
        (g_pass(16, 0.5), "G-Pass@16 (τ = 0.5)", "g_pass_at_16_tau_0.5", "g_pass(16, '0.5')"),
        (g_pass(3, "1/3"), "G-Pass@3 (τ = 1/3)", "g_pass_at_3_tau_1_of_3", "g_pass(3, '1/3')"),
        (g_pass(4, 1), "G-Pass@4 (τ = 1)", "g_pass_at_4_tau_1", "g_pass(4, '1')"),
        (mg_pass(16), "mG-Pass@16", "mg_pass_at_16", "mg_pass(16)"),
        (mg_pass(5, "integral"), "mG-Pass@5 (integral)", "mg_pass_at_5_integral", "mg_pass(5, 'integral')"),
    ],
)
def test_metrics_have_names(metric: Metric, name: str, key: str, call: str) -> None:
    assert (metric.name, metric.key, metric.call) == (name, key, call)
    assert key.isascii() and not set(key) & set(" /()")
    assert eval(call, vars(metrics)) == metric


def test_metrics_are_values() -> None:
    assert pass_at(4) == pass_at(4) and hash(pass_at(4)) == hash(pass_at(4))
    with pytest.raises(AttributeError):
        pass_at(4).k = 5  # type: ignore[misc]
    with pytest.raises(ValueError):
        pass_at(4).weights[0] = 1.0


@pytest.mark.parametrize("k", [0, -1, 1.5, "a", float("nan"), True])
def test_impossible_attempts_are_refused(k: object) -> None:
    for make in (pass_at, pass_hat, mg_pass, lambda k: g_pass(k, 0.5)):
        with pytest.raises(OptionError):
            make(k)  # type: ignore[arg-type]


def test_contradictory_metrics_are_refused() -> None:
    for arguments in (
        {"kind": "pass", "k": 1},
        {"kind": "mean", "k": 4},
        {"kind": "g_pass", "k": 4},
        {"kind": "pass_at", "k": 4, "tau": Fraction(1, 2)},
        {"kind": "pass_at", "k": 4, "form": "integral"},
    ):
        with pytest.raises(OptionError):
            Metric(**arguments)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="one of 'published', 'integral'"):
        mg_pass(4, "exact")  # type: ignore[arg-type]


def test_odd_mg_pass_must_say_which_definition_it_means() -> None:
    with pytest.raises(OptionError, match=r"published.*integral"):
        mg_pass(5)
    with pytest.raises(OptionError):
        mg_pass_at_k(3, 5, 3)


@pytest.mark.parametrize(("k", "published"), [(1, 0), (3, Fraction(2, 3)), (5, Fraction(4, 5))])
def test_perfect_prompts_under_both_forms_of_odd_mg_pass(k: int, published: Fraction) -> None:
    assert float(mg_pass_at_k(k, k, k, "published")) == pytest.approx(float(published))
    assert float(mg_pass_at_k(k, k, k, "integral")) == pytest.approx(1.0)
    assert float(mg_pass(k, "published").given_p(1.0)) == pytest.approx(float(published))


def test_both_forms_of_mg_pass_on_the_reported_case() -> None:
    assert float(mg_pass_at_k(3, 5, 3, "published")) == pytest.approx(1 / 15, rel=1e-12)
    assert float(mg_pass_at_k(3, 5, 3, "integral")) == pytest.approx(0.3, rel=1e-12)
    assert float(mg_pass_at_k(30, 48, 16, "published")) == pytest.approx(0.259245, abs=5e-7)
    assert float(mg_pass_at_k(30, 48, 16, "integral")) == pytest.approx(0.259245, abs=5e-7)


def test_mg_pass_is_twice_the_integral_over_thresholds() -> None:
    k, p = 7, 0.6
    steps = [Fraction(j, 2 * k * 5) for j in range(k * 5, 2 * k * 5)]  # each lies in one step of ceil(tau k)
    middles = [step + Fraction(1, 4 * k * 5) for step in steps]
    integral = np.mean([float(g_pass(k, tau).given_p(p)) for tau in middles])
    assert float(mg_pass(k, "integral").given_p(p)) == pytest.approx(integral, rel=1e-12)


def test_metric_card_example_is_reproduced() -> None:
    assert float(g_pass_at_k(8, 16, 8, 0.75)) == pytest.approx(0.06596736596736597, rel=1e-14)
    assert float(mg_pass_at_k(8, 16, 8)) == pytest.approx(0.09518259518259518, rel=1e-14)


def test_tiny_probabilities_do_not_vanish() -> None:
    assert float(pass_at(1000).given_p(1e-12)) == pytest.approx(9.999999995005e-10, rel=1e-12)
    assert float(pass_hat(3).given_p(1e-100)) == pytest.approx(1e-300, rel=1e-12)
    assert float(g_pass(4, 0.5).given_p(1e-50)) == pytest.approx(6e-100, rel=1e-12)
    assert float(mg_pass(4).given_p(1e-20)) == pytest.approx(0.5 * 4 * 1e-60, rel=1e-12)


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), [0.5, float("inf")]])
def test_values_outside_the_unit_interval_are_no_probabilities(p: object) -> None:
    with pytest.raises(OptionError, match="probabilities"):
        pass_at(2).given_p(p)  # type: ignore[arg-type]


def test_given_p_leaves_its_input_alone() -> None:
    p = np.array([0.1, 0.2])
    mean().given_p(p)[0] = 9.0
    assert p[0] == 0.1


# counts that cannot be right, or are too few


@pytest.mark.parametrize(("n", "c", "k"), [(2, 0, 5), (99, 0, 100), (1, 1, 10)])
def test_fewer_generations_than_attempts_are_refused(n: int, c: int, k: int) -> None:
    for estimate in (
        pass_at_k,
        pass_hat_k,
        one_minus_pass_at_k,
        lambda c, n, k: g_pass_at_k(c, n, k, 0.5),
        lambda c, n, k: mg_pass_at_k(c, n, k, "published"),
    ):
        with pytest.raises(DataError, match=rf"at least {k} generations.*has {n}.*be\.fit\("):
            estimate(c, n, k)


def test_the_first_short_prompt_is_named() -> None:
    with pytest.raises(DataError, match=r"position 2 .*has 3 \(and 1 other too few\).*be\.fit\(\.\.\.\)\.pass_at\(4\)"):
        pass_at_k([0, 1, 2, 2], [4, 4, 3, 2], 4)
    with pytest.raises(DataError, match="at least 1 generations"):
        mean().estimate([0], [0])
    with pytest.raises(DataError, match="at least 8 generations"):
        pass_at_k_variance(1, 7, 4)
    with pytest.raises(DataError):
        metric_variance_given_p(pass_at(4), 0.5, 3)


@pytest.mark.parametrize(
    ("correct", "generations", "complaint"),
    [
        ([1, 3], [2, 2], "position 1.*3 correct of 2"),
        ([-1], [2], "whole numbers"),
        ([0.5], [2], "whole numbers"),
        ([float("nan")], [2], "whole numbers"),
        ([float("inf")], [2], "whole numbers"),
        ([1], [None], "whole numbers"),
        (["1"], [2], "whole numbers"),
        (np.array(["1", 1], dtype=object), 2, "whole numbers"),
        ([1, 2, 3], [4, 4], "shape"),
        ([[1], [1, 2]], [2], "whole numbers"),
        (1e300, 1e300, "whole numbers"),
    ],
)
def test_counts_that_cannot_be_right_are_refused(correct: object, generations: object, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        pass_at_k(correct, generations, 1)  # type: ignore[arg-type]


def test_a_hopeless_prompt_scores_zero_and_a_perfect_one_one() -> None:
    for metric in (pass_at(2), pass_hat(2), g_pass(2, 0), g_pass(4, 0.5), mg_pass(2)):
        low, high = metric.estimate([0, 4], 4)
        assert (low, high) == (0.0, 1.0)
        assert not np.signbit(low)


# cases from public bug reports


def test_scores_with_holes_use_what_was_run() -> None:
    c, n = 1, 2  # scores NaN, 1, NaN, 0
    assert float(pass_at_k(c, n, 2)) == 1.0
    assert float(pass_at_k(c, n, 1)) == 0.5
    with pytest.raises(DataError):
        pass_at_k(c, n, 3)


def test_one_generation_a_prompt_has_pass_at_one_alone() -> None:
    c = np.repeat([1, 0], [50, 114])
    assert pass_at_k(c, 1, 1).mean() == pytest.approx(0.304878, abs=5e-7)
    with pytest.raises(DataError):
        pass_at_k(c, 1, 10)
    assert float(pass_at_k(50, 164, 10)) == pytest.approx(0.976786, abs=5e-7)  # what pooling prompts would give


def test_partial_rewards_are_not_counted_as_successes() -> None:
    with pytest.raises(DataError, match="whole numbers"):
        pass_at_k([0.5, 0.5], 1, 1)


def test_pass_hat_is_not_the_plug_in() -> None:
    assert float(pass_hat_k(3, 4, 2)) == pytest.approx(0.5, rel=1e-12)  # plug-in .5625
    assert float(pass_hat_k(3, 4, 4)) == 0.0  # plug-in .316406


def test_tasks_with_unequal_trials() -> None:
    assert pass_hat_k([3, 4, 2], [3, 4, 4], 3).mean() == pytest.approx(2 / 3)


def test_zero_threshold_needs_one_success() -> None:
    assert float(g_pass_at_k(0, 4, 2, 0)) == 0.0


def test_all_generations_count_not_the_first_nor_the_best() -> None:
    assert pass_at_k([1, 1], 4, 1).mean() == 0.25
    assert float(pass_at_k(4, 32, 8)) == pytest.approx(0.704505, abs=5e-7)


# real data


@pytest.fixture(scope="module")
def pythia(shared: Path):
    import pandas as pd

    return pd.read_csv(shared / "data" / "pythia-math-10k" / "counts.csv")


def test_published_pass_at_k_of_ten_thousand_generations(shared: Path, pythia) -> None:
    import pandas as pd

    reference = pd.read_csv(shared / "data" / "pythia-math-10k" / "reference_pass_at_k.csv")
    ours = [
        pass_at_k(group["c"], group["n"], k).mean()
        for model, k in zip(reference["model"], reference["k"], strict=True)
        for group in [pythia[pythia["model"] == model]]
    ]
    # the source's grid is printed to ten decimals
    np.testing.assert_allclose(ours, reference["mean_pass_at_k"], rtol=1e-6, atol=6e-11)


def test_published_coverage_of_pythia_160m(pythia) -> None:
    group = pythia[pythia["model"] == "Pythia 160M"]
    assert round(100 * pass_at_k(group["c"], group["n"], 1).mean(), 2) == 0.27
    assert round(100 * pass_at_k(group["c"], group["n"], 10_000).mean()) == 57


def test_published_pass_hat_of_tau_bench(shared: Path) -> None:
    import pandas as pd

    counts = pd.read_csv(shared / "data" / "tau-bench-airline" / "counts.csv")
    ours = [round(float(pass_hat_k(counts["c"], counts["n"], k).mean()), 3) for k in (1, 2, 3, 4)]
    assert ours == [0.420, 0.273, 0.220, 0.200]


def test_published_g_pass_tables_obey_the_bounds_on_mg_pass(shared: Path) -> None:
    import pandas as pd

    table = pd.read_csv(shared / "data" / "published" / "gpassk_v5_tables6_to_9.csv")
    half, threequarters, all_of = table["gpass16_0.5"], table["gpass16_0.75"], table["gpass16_1.0"]
    rounding = 0.1
    assert (table["mgpass16"] >= (threequarters + all_of) / 2 - rounding).all()
    assert (table["mgpass16"] <= (half + threequarters) / 2 + rounding).all()
    assert (half >= threequarters).all() and (threequarters >= all_of).all()


def test_every_error_is_ours() -> None:
    for wrong in (lambda: pass_at_k("x", 3, 2), lambda: g_pass_at_k(1, 3, 2, object()), lambda: pass_at_k(1, 3, None)):
        with pytest.raises(BayesevalError):
            wrong()
