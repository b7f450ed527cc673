"""Moment estimates: variance components, standard errors, CLT intervals and their refusal, on arrays and on counts."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeseval import metrics
from bayeseval.counts import Counts
from bayeseval.errors import BayesevalError, DataError, OptionError
from bayeseval.estimators import moments
from bayeseval.estimators.clt import clt_interval_benchmark, clt_interval_population
from bayeseval.estimators.designs import (
    blue_weights,
    design_effect,
    expected_range,
    generations_near_floor,
    implied_sigma2,
    uniform_variance_ratio,
    variance_of_mean,
)
from bayeseval.estimators.variance import (
    bayesian_bootstrap_variance,
    clustered_se,
    combined_se,
    rank_correlation,
    run_effect,
    variance_components,
    within_variances,
)
from bayeseval.metrics.table import metric_estimates
from bayeseval.outcomes import Outcomes
from tests.oracles import oracle_rows

ANSWERS = {
    "mu_hat_equal_weights": lambda c, k: variance_components(c, k).mean,
    "mu_hat_pooled": lambda c, k: variance_components(c, k).pooled,
    "S2_between_means": lambda c, k: variance_components(c, k).total_var,
    "sigma2_hat_ragged": lambda c, k: variance_components(c, k).sigma2,
    "se_super": lambda c, k: variance_components(c, k).se_population,
    "se_fixed": lambda c, k: variance_components(c, k).se_benchmark,
    "lemma21_variance": lambda k, mu, n, sigma2: variance_of_mean(mu, sigma2, k, n),
    "lemma21_variance_ragged": lambda k, mu, sigma2: variance_of_mean(mu, sigma2, k),
    "implied_sigma2_from_se": lambda k, mu, n, se: implied_sigma2(mu, se, n, k),
    "expected_range_of_normals_d2": lambda m: expected_range(m),
    "design_effect": lambda k, rho: design_effect(k, rho),
    "blue_weights": lambda k, mu, sigma2: blue_weights(mu, sigma2, k),
    "resampling_variance_ratio_uniform_p": lambda k: uniform_variance_ratio(k),
    "clustered_se_mean": lambda cluster, scores: clustered_se(scores, cluster, correction=False),
    "min_k_relative_floor": lambda eps, rho: generations_near_floor(rho, eps),
    "bayesian_bootstrap_var_mean": lambda c, k: bayesian_bootstrap_variance(c, k),
    "run_overdispersion_X2": lambda y: run_effect(y).statistic,
}


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows(*ANSWERS))
def test_oracles_are_met(quantity: str, inputs: dict, value: object) -> None:
    np.testing.assert_allclose(ANSWERS[quantity](**inputs), value, rtol=1e-9, atol=1e-15)


# exact fractions and exact enumeration


def exact_components(correct: list[int], generations: list[int]) -> dict[str, Fraction]:
    """Theory B by fractions: prompts with one generation borrow the pooled within variance of the others."""
    share = [Fraction(c, n) for c, n in zip(correct, generations, strict=True)]
    size = len(share)
    mean = sum(share) / size
    several = [(Fraction(c * (n - c), n * (n - 1)), n) for c, n in zip(correct, generations, strict=True) if n > 1]
    omega = sum(v * (n - 1) for v, n in several) / sum(n - 1 for _, n in several)
    noise = sum(v / n for v, n in several) + sum(omega for n in generations if n == 1)
    total = sum((x - mean) ** 2 for x in share) / (size - 1)
    return {"mean": mean, "total_var": total, "within_part": noise / size, "sigma2": total - noise / size}


@pytest.mark.parametrize(
    ("correct", "generations"),
    [([2, 3, 0, 7], [5, 3, 2, 8]), ([2, 2, 2], [4, 4, 4]), ([1, 0, 3, 2], [1, 1, 4, 3]), ([0, 5, 1], [5, 5, 1])],
)
def test_components_equal_exact_fractions(correct: list[int], generations: list[int]) -> None:
    parts = variance_components(correct, generations)
    for name, value in exact_components(correct, generations).items():
        assert getattr(parts, name) == pytest.approx(float(value), rel=1e-12), name


def test_known_values() -> None:
    parts = variance_components([2, 3, 0, 7], [5, 3, 2, 8])
    assert parts.mean == pytest.approx(91 / 160)
    assert parts.pooled == pytest.approx(12 / 18)
    assert parts.sigma2 == pytest.approx(23 / 120)
    assert parts.se_benchmark == pytest.approx(0.06875)
    assert variance_components([2, 2, 2], [4, 4, 4]).sigma2 == pytest.approx(-1 / 12)
    assert variance_components([0, 0, 4, 4], 4).se_benchmark == 0.0


def expectation(statistic, p: list[float], generations: list[int]) -> float:
    """Mean of a statistic of the counts over every outcome, for known P(correct)."""
    total = 0.0
    for counts in product(*(range(n + 1) for n in generations)):
        mass = math.prod(
            math.comb(n, c) * x**c * (1 - x) ** (n - c) for c, x, n in zip(counts, p, generations, strict=True)
        )
        total += mass * statistic(list(counts), generations)
    return total


@pytest.mark.parametrize("generations", [[2, 3, 5], [4, 2, 2]])
def test_components_are_unbiased_given_the_prompts(generations: list[int]) -> None:
    p = [0.1, 0.5, 0.85]
    sigma2 = expectation(lambda c, n: variance_components(c, n).sigma2, p, generations)
    assert sigma2 == pytest.approx(np.var(p, ddof=1), rel=1e-11)  # variance of these very p_i, ragged or not
    mean = expectation(lambda c, n: variance_components(c, n).mean, p, generations)
    assert mean == pytest.approx(np.mean(p), rel=1e-12)
    noise = expectation(lambda c, n: variance_components(c, n).se_benchmark ** 2, p, generations)
    exact = sum(x * (1 - x) / n for x, n in zip(p, generations, strict=True)) / 9
    assert noise == pytest.approx(exact, rel=1e-11)


def test_population_variance_is_unbiased_over_prompts_and_generations() -> None:
    # P(correct) is .2 or .9 with equal chance; every pair of prompts is enumerated
    generations = [2, 3]
    expected = np.mean(
        [
            expectation(lambda c, n: variance_components(c, n).se_population ** 2, list(p), generations)
            for p in product((0.2, 0.9), repeat=2)
        ]
    )
    mu, sigma2 = 0.55, 0.35**2
    assert expected == pytest.approx(variance_of_mean(mu, sigma2, generations), rel=1e-11)


def test_components_change_sides_with_right_and_wrong() -> None:
    c, n = np.array([1, 0, 4, 2]), np.array([3, 2, 4, 7])
    one, other = variance_components(c, n), variance_components(n - c, n)
    assert other.mean == pytest.approx(1 - one.mean)
    for name in ("sigma2", "rho", "within_var", "se_population", "se_benchmark"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=2, max_size=12), st.randoms())
def test_components_ignore_the_order_of_prompts(pairs: list[tuple[int, int]], random) -> None:
    pairs = [(min(c, n), n) for c, n in pairs]
    shuffled = list(pairs)
    random.shuffle(shuffled)
    one = variance_components(*zip(*pairs, strict=True))
    other = variance_components(*zip(*shuffled, strict=True))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-15, equal_nan=True)
    assert one.total_var == pytest.approx(one.sigma2 + one.within_part, abs=1e-15, nan_ok=True) or math.isnan(
        one.sigma2
    )
    assert one.se_population >= 0


def test_prompts_without_generations_change_nothing() -> None:
    with_empty = variance_components([2, 0, 3, 0], [5, 0, 3, 0])
    assert with_empty == variance_components([2, 3], [5, 3])
    assert with_empty.n_prompts == 2
    with pytest.raises(DataError, match="no prompt has a generation"):
        variance_components([0], [0])


def test_one_generation_for_every_prompt_identifies_no_variance() -> None:
    parts = variance_components([1, 0, 1, 1], 1)
    assert math.isnan(parts.sigma2) and math.isnan(parts.within_var) and math.isnan(parts.se_benchmark)
    assert parts.se_population == pytest.approx(math.sqrt(0.25 / 4))


def test_one_prompt_has_no_spread() -> None:
    parts = variance_components([3], [5])
    assert math.isnan(parts.total_var) and math.isnan(parts.se_population) and math.isnan(parts.sigma2)
    assert parts.se_benchmark == pytest.approx(math.sqrt(3 * 2 / 20 / 5))


def test_within_variances_need_two_generations() -> None:
    np.testing.assert_allclose(within_variances([0, 1, 2, 1], [0, 1, 4, 2]), [np.nan, np.nan, 1 / 3, 0.5])


# designs and published tables


def test_implied_variance_inverts_the_variance_of_the_mean() -> None:
    variance = variance_of_mean(0.7, 0.08, 12, 300)
    assert float(implied_sigma2(0.7, math.sqrt(variance), 300, 12)) == pytest.approx(0.08, rel=1e-11)


def test_published_standard_errors_imply_the_recomputed_variances(shared: Path) -> None:
    import pandas as pd

    table = pd.read_csv(shared / "data" / "published" / "beyond_singular_table1.csv")
    derived = pd.read_csv(shared / "data" / "derived" / "table1_consistency.csv")
    both = table.merge(derived, on=["benchmark", "model"])
    assert len(both) == len(derived)
    mean, error = both["sampled_k50_pct"] / 100, both["sampled_k50_se_pct"] / 100
    sigma2 = implied_sigma2(mean, error, both["n_prompts"], 50)
    np.testing.assert_allclose(sigma2, both["implied_sigma2"], atol=6e-6)
    run = np.sqrt((mean * (1 - mean) - sigma2) / both["n_prompts"])
    np.testing.assert_allclose(100 * expected_range(50) * run, both["expected_range_of_50_runs_pct"], atol=6e-4)


def test_published_error_of_a_planner_case_implies_its_spread() -> None:
    # 30 prompts: .0910 at one generation is sqrt(.24/29), .0596 at 64 leaves a prompt sd of .326443
    assert math.sqrt(0.24 / 29) == pytest.approx(0.0910, abs=5e-5)
    spread = math.sqrt(implied_sigma2(0.6, 0.0596, 30, 10**12))
    assert spread == pytest.approx(0.326443, abs=5e-7)
    assert implied_sigma2(0.6, 0.0596, 30, 64) < spread**2
    floor = 0.0596  # spread / sqrt(30): what no number of generations on 30 prompts gets below
    assert math.sqrt(variance_of_mean(0.6, spread**2, 10**12, 30)) == pytest.approx(floor, rel=1e-9)


def test_ragged_and_balanced_variances_agree() -> None:
    assert variance_of_mean(0.3, 0.02, [7] * 5) == pytest.approx(variance_of_mean(0.3, 0.02, 7, 5), rel=1e-14)
    np.testing.assert_allclose(blue_weights(0.3, 0.02, [7] * 5), 0.2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: variance_of_mean(0.5, 0.3, 4, 10),
        lambda: variance_of_mean(0.5, -0.1, 4, 10),
        lambda: variance_of_mean(0.5, 0.1, 4),
        lambda: variance_of_mean(0.5, 0.1, [4, 4], 3),
        lambda: variance_of_mean(50, 0.1, 4, 10),
        lambda: variance_of_mean(0.5, 0.1, 0, 10),
        lambda: implied_sigma2(0.5, 0.1, 10, 1),
        lambda: implied_sigma2(85.6, 0.68, 1319, 50),
        lambda: implied_sigma2(0.5, -0.1, 10, 4),
        lambda: generations_near_floor(0.0, 0.1),
        lambda: generations_near_floor(0.5, 0.0),
        lambda: expected_range(0),
        lambda: combined_se([]),
        lambda: combined_se([0.1], [0.0]),
        lambda: combined_se([0.1], [1.0, 2.0]),
    ],
)
def test_impossible_designs_are_refused(wrong) -> None:
    with pytest.raises(OptionError):
        wrong()


def test_expected_range_of_one_or_two_runs() -> None:
    assert expected_range(1) == pytest.approx(0.0, abs=1e-14)
    assert expected_range(2) == pytest.approx(2 / math.sqrt(math.pi), rel=1e-12)


# clusters, benchmarks, runs


def test_clustered_error_of_the_reported_case() -> None:
    scores = [1, 1, 0, 0]
    assert clustered_se(scores, ["a", "a", "b", "b"]) == pytest.approx(0.5)
    assert np.std(scores, ddof=1) / 2 == pytest.approx(0.288675, abs=5e-7)


def test_every_item_its_own_cluster_gives_the_plain_error() -> None:
    scores = [0.2, 0.9, 0.4, 0.4]
    assert clustered_se(scores, range(4)) == pytest.approx(np.std(scores, ddof=1) / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("cluster", "complaint"),
    [
        (["a", None, "b", "b"], "position 1 has no cluster"),
        ([0.0, float("nan"), 1.0, 1.0], "position 1 has no cluster"),
        (["a"] * 4, "at least two"),
        ([1, "1", True, 1.0], "mix the types"),
        ([1, True, 2, 2], "mix the types"),
        (["a", "b"], "one cluster a score"),
    ],
)
def test_doubtful_clusters_are_refused(cluster: list, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        clustered_se([1, 1, 0, 0], cluster)


def test_unweighted_mean_of_benchmarks_keeps_the_error_of_the_small_one() -> None:
    counts = Counts.from_arrays(
        correct=np.repeat([1, 0, 1, 0], [5, 5, 900, 100]),
        generations=1,
        benchmark=np.repeat(["small", "large"], [10, 1000]),
    )
    rows = moments(counts).rows
    assert np.mean([row.mean for row in rows]) == pytest.approx(0.7)
    assert combined_se([row.se_population for row in rows]) == pytest.approx(0.083468, abs=5e-7)


def test_accuracy_of_a_published_log_has_its_error() -> None:
    assert variance_components(np.repeat([1, 0], [14, 293]), 1).se_population == pytest.approx(0.011926, abs=5e-7)


def test_bootstrap_errors_of_five_and_five() -> None:
    parts = variance_components(np.repeat([1, 0], 5), 1)
    assert parts.se_population == pytest.approx(1 / 6)
    assert parts.se_population * math.sqrt(9 / 10) == pytest.approx(0.158114, abs=5e-7)  # the plain bootstrap
    assert bayesian_bootstrap_variance(np.repeat([1, 0], 5), 1) == pytest.approx(0.25 / 11)  # Dirichlet weights
    assert math.isnan(bayesian_bootstrap_variance([1], [1]))


def test_first_generation_alone_is_not_the_score() -> None:
    counts = Counts.from_matrix([[1, 0, 0, 0], [1, 0, 0, 0]])
    assert moments(counts).rows[0].mean == 0.25


def test_run_effects_are_found_and_noise_is_not() -> None:
    rng = np.random.default_rng(5)
    p = rng.beta(2, 2, 400)[:, None]
    noise = run_effect(rng.random((400, 8)) < p)
    shifted = run_effect(rng.random((400, 8)) < p + np.linspace(-0.15, 0.15, 8))
    assert noise.df == 7 and noise.p_value > 1e-3
    assert shifted.p_value < 1e-6
    for bad in ([[1, 0], [np.nan, 1]], [[1], [0]], [[1, 1], [0, 0]], [1, 0]):
        with pytest.raises(DataError):
            run_effect(bad)


def test_rank_correlation_handles_ties_and_constants() -> None:
    r, p = rank_correlation([1, 2, 2, 3, 5], [3, 3, 1, 1, 0])
    x, y = [1, 2.5, 2.5, 4, 5], [4.5, 4.5, 2.5, 2.5, 1]
    assert r == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-12) and 0 < p < 1
    assert rank_correlation([1, 2, 3], [1, 2, 3]) == (1.0, 0.0)
    assert all(math.isnan(value) for value in rank_correlation([1, 2, 3], [2, 2, 2]))


# CLT intervals


def test_intervals_are_student_and_normal() -> None:
    c, n = np.tile([3, 2, 0, 1], 10), 3
    parts = variance_components(c, n)
    population, benchmark = clt_interval_population(parts), clt_interval_benchmark(parts)
    assert (population.upper - parts.mean) / parts.se_population == pytest.approx(2.022691, abs=5e-7)  # t, 39 df
    assert (benchmark.upper - parts.mean) / parts.se_benchmark == pytest.approx(1.959964, abs=5e-7)
    assert parts.mean - population.lower == pytest.approx(population.upper - parts.mean)
    narrow = clt_interval_population(parts, prob=0.5)
    assert narrow.upper - narrow.lower < population.upper - population.lower


def test_population_interval_needs_ten_successes_and_ten_failures() -> None:
    for successes, shown in [(9, False), (10, True), (30, True), (31, False)]:
        interval = clt_interval_population(variance_components(np.repeat([1, 0], [successes, 40 - successes]), 1))
        assert math.isfinite(interval.lower) is shown and (interval.reason == "") is shown


def test_benchmark_interval_needs_ten_mixed_prompts() -> None:
    for mixed, shown in [(9, False), (10, True)]:
        interval = clt_interval_benchmark(variance_components(np.repeat([1, 0, 2], [mixed, 10, 10]), 2))
        assert math.isfinite(interval.upper) is shown and (interval.reason == "") is shown
    assert "one generation" in clt_interval_benchmark(variance_components([1] * 9 + [0] * 9, 1)).reason


def test_intervals_outside_the_unit_interval_are_refused() -> None:
    parts = variance_components([1] * 10, [2] + [10_000] * 9)
    assert parts.mean - 1.96 * parts.se_benchmark < 0
    assert "outside [0, 1]" in clt_interval_benchmark(parts).reason


def test_impossible_probabilities_are_refused() -> None:
    parts = variance_components([1, 0], 2)
    for prob in (0.0, 1.0, 95, float("nan")):
        with pytest.raises(OptionError, match="prob"):
            clt_interval_population(parts, prob)
        with pytest.raises(OptionError, match="prob"):
            moments(Counts.from_arrays([1, 0], 2), prob=prob)


# moments of counts


def test_moments_have_one_row_a_run_with_the_promised_columns() -> None:
    counts = Counts.from_arrays(
        correct=[1, 2, 3, 0], generations=[4, 4, 3, 3], prompt=list("abab"), system=["x", "x", "y", "y"]
    )
    frame = moments(counts).to_frame()
    promised = {"system", "benchmark", "n_prompts", "n_generations", "mean", "sigma2", "within_var"}
    assert promised | {"se_population", "se_benchmark", "lower_population", "reason_benchmark"} <= set(frame.columns)
    assert frame["system"].tolist() == ["x", "y"]
    assert frame["n_generations"].tolist() == [8, 6]
    assert frame.loc[0, "mean"] == pytest.approx(0.375)
    assert (frame["between_part"] == frame["sigma2"]).all()


def test_moments_of_outcomes_are_those_of_their_counts() -> None:
    y = [[1, 0, 1, 1], [0, 0, 1, 0]]
    of_outcomes, of_counts = moments(Outcomes.from_matrix(y)), moments(Counts.from_matrix(y))
    assert of_outcomes.rows[0].mean == of_counts.rows[0].mean == 0.5
    assert metric_estimates(Outcomes.from_matrix(y), metrics.pass_at(2)).rows[0].n_prompts == 2


def test_all_correct_gets_no_interval_of_width_zero() -> None:
    row = moments(Counts.from_arrays([1] * 30, 1)).rows[0]
    assert row.se_population == 0.0
    assert math.isnan(row.lower_population) and math.isnan(row.lower_benchmark)
    notes = " ".join(moments(Counts.from_arrays([1] * 30, 1)).notes)
    assert "no certainty" in notes and "not identified" in notes and "be.fit" in notes


def test_equal_shares_have_no_variance_at_all() -> None:
    # .1 summed ten times is not 1, so that a careless variance would not be 0
    assert variance_components([1] * 10, [10] * 10).total_var == 0.0
    assert variance_components([1, 2, 3] * 3, [10, 20, 30] * 3).total_var == 0.0
    assert metric_estimates(Counts.from_arrays([1] * 10, 10), metrics.pass_at(3)).rows[0].se_population == 0.0


def test_negative_variance_is_reported_and_flagged() -> None:
    result = moments(Counts.from_arrays([2, 2, 2], 4))
    assert result.rows[0].sigma2 == pytest.approx(-1 / 12)
    assert result.rows[0].reason_sigma2.startswith("negative")
    assert any("-0.0833" in note for note in result.notes)


def test_prompts_without_generations_are_counted_in_a_note() -> None:
    result = moments(Counts.from_arrays([1, 0, 2, 0], [3, 0, 3, 0]))
    assert result.rows[0].n_prompts == 2 and result.rows[0].prompts_without_generations == 2
    assert any("2 of 4 prompts have no generation" in note for note in result.notes)
    with pytest.raises(DataError, match="m on b has no generation"):
        moments(Counts.from_arrays([0, 0], [0, 0], system="m", benchmark="b"))


def test_sampling_until_success_is_suspected() -> None:
    # stop at the first success, or after 20: the share correct is biased
    generations = np.repeat([1, 2, 3, 5, 8, 20], 6)
    correct = np.where(generations < 20, 1, 0)
    notes = moments(Counts.from_arrays(correct, generations)).notes
    assert "Spearman r = -1.00" in notes[0] and "likelihood is not" in notes[0]
    assert "Spearman" in metric_estimates(Counts.from_arrays(correct, generations), metrics.mean()).notes[0]
    steady = np.tile([4, 5, 6], 12)
    assert not any("Spearman" in note for note in moments(Counts.from_arrays(steady // 2, steady)).notes)


def test_many_runs_make_few_notes() -> None:
    runs = 40
    counts = Counts.from_arrays(
        np.tile([2, 2, 2], runs),
        4,
        prompt=np.tile(list("abc"), runs),
        system=np.repeat([f"s{i}" for i in range(runs)], 3),
    )
    result = moments(counts)
    assert len(result.rows) == runs and len(result.notes) == 4
    negative = next(note for note in result.notes if "negative" in note)
    assert "in 40 of 40 runs (s0 on benchmark, s1 on benchmark, s2 on benchmark and 37 more)" in negative
    assert "32 more" in repr(result) and len(repr(result)) < 5000


def test_moments_read_like_a_sentence_and_escape_html() -> None:
    counts = Counts.from_arrays(np.tile([3, 2, 0, 1], 10), 3, system="<script>x</script>", benchmark="a & b")
    text, html = repr(moments(counts)), moments(counts)._repr_html_()
    assert "mean 0.5 over 40 prompts of 3 generations" in text
    assert "(population)" in text and "(benchmark)" in text and "95% CLT interval" in text
    assert "<script>" not in html and "&lt;script&gt;" in html and "a &amp; b" in html
    estimates = metric_estimates(counts, metrics.pass_at(2))
    assert "<script>" not in estimates._repr_html_() and "pass@2 is" in repr(estimates)


@pytest.mark.parametrize("nothing", [None, [1, 2], "counts", 3, {"correct": [1]}])
def test_what_is_no_counts_is_refused(nothing: object) -> None:
    for question in (moments, lambda x: metric_estimates(x, metrics.mean())):
        with pytest.raises(BayesevalError, match="needs Counts or Outcomes"):
            question(nothing)  # type: ignore[arg-type]


# metrics of counts


def test_unequal_trials_give_coverage() -> None:
    counts = Counts.from_arrays([3, 4, 2], [3, 4, 4], prompt=["T1", "T2", "T3"])
    three, four = metric_estimates(counts, [metrics.pass_hat(3), metrics.pass_hat(4)]).rows
    assert (three.value, three.coverage) == (pytest.approx(2 / 3), 1.0)
    assert (four.value, four.coverage) == (pytest.approx(1 / 2), pytest.approx(2 / 3))
    assert any("pass^4 rests on 2 of 3 prompts" in note for note in metric_estimates(counts, metrics.pass_hat(4)).notes)


def test_too_few_generations_everywhere_is_refused_with_the_posterior_offered() -> None:
    with pytest.raises(DataError, match=r"at least 5.*is 2.*be\.fit\(\.\.\.\)\.pass_at\(5\)"):
        metric_estimates(Counts.from_arrays([0, 1], 2), metrics.pass_at(5))


def test_a_run_that_cannot_answer_says_so_beside_one_that_can() -> None:
    counts = Counts.from_arrays([1, 1, 3, 0], [2, 2, 6, 6], prompt=list("abab"), system=["x", "x", "y", "y"])
    result = metric_estimates(counts, metrics.pass_at(4))
    x, y = result.rows
    assert math.isnan(x.value) and x.coverage == 0 and "be.fit(...).pass_at(4)" in x.reason_value
    assert math.isfinite(y.value)
    assert any("x on benchmark" in note for note in result.notes)


def test_errors_of_the_mean_metric_are_those_of_the_moments() -> None:
    counts = Counts.from_arrays([2, 3, 0, 7, 1], [5, 3, 2, 8, 1])
    row = moments(counts).rows[0]
    for metric in (metrics.mean(), metrics.pass_at(1), metrics.pass_hat(1)):
        estimate = metric_estimates(counts, metric).rows[0]
        assert estimate.value == pytest.approx(row.mean, rel=1e-14)
        assert estimate.se_population == pytest.approx(row.se_population, rel=1e-12)
        assert estimate.se_benchmark == pytest.approx(row.se_benchmark, rel=1e-12)


def test_benchmark_error_of_pass_at_k_averages_unbiased_variances() -> None:
    c, n = np.array([1, 4, 0, 6]), np.array([6, 8, 6, 9])
    row = metric_estimates(Counts.from_arrays(c, n), metrics.pass_at(3)).rows[0]
    assert row.se_benchmark == pytest.approx(math.sqrt(metrics.pass_at_k_variance(c, n, 3).sum()) / 4)
    assert row.se_population == pytest.approx(np.std(metrics.pass_at_k(c, n, 3), ddof=1) / 2)
    mirrored = metric_estimates(Counts.from_arrays(n - c, n), metrics.pass_hat(3)).rows[0]
    assert mirrored.se_benchmark == pytest.approx(row.se_benchmark, rel=1e-12)
    assert mirrored.value == pytest.approx(1 - row.value, rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "reason"),
    [(metrics.pass_at(4), "fewer than 2k = 8"), (metrics.g_pass(2, 0.9), ""), (metrics.mg_pass(2), "mG-Pass@2")],
)
def test_missing_benchmark_errors_say_why(metric: metrics.Metric, reason: str) -> None:
    row = metric_estimates(Counts.from_arrays([1, 3, 2], 6), metric).rows[0]
    assert (reason in row.reason_benchmark) if reason else row.reason_benchmark == ""
    assert math.isnan(row.se_benchmark) is bool(reason)


@pytest.mark.parametrize("chosen", [[], None, "pass@4", [metrics.mean(), "pass@4"], 4])
def test_what_is_no_metric_is_refused(chosen: object) -> None:
    with pytest.raises(OptionError, match="metrics"):
        metric_estimates(Counts.from_arrays([1], 2), chosen)  # type: ignore[arg-type]


# real data


def read_counts(folder: Path):
    import pandas as pd

    file = next(path for path in (folder / "counts.csv", folder / "counts.csv.gz") if path.is_file())
    table = pd.read_csv(file, dtype={"prompt_id": str}, keep_default_na=False)
    if "condition" in table.columns:
        table["benchmark"] = table["benchmark"] + ":" + table["condition"]
    return table


FOLDERS = [
    "aime24-50",
    "bon-jailbreak-ragged",
    "coupled-gsm8k",
    "coupled-mmlu",
    "livecodebench",
    "llm-stability-strict",
    "matharena-aime2025",
    "mle-bench-fm-agent",
    "pythia-checkpoints-ragged",
    "pythia-math-10k",
    "reasoning-gym-easy",
    "single-generation",
    "tau-bench-airline",
    "terminal-bench-trials",
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_summaries_of_the_data_sets_are_reproduced(shared: Path, folder: str) -> None:
    import pandas as pd

    table = read_counts(shared / "data" / folder)
    if folder == "mle-bench-fm-agent":
        strata = table.assign(benchmark=table["benchmark"] + ":" + table["category"])
        table = pd.concat([table, strata])
    summary = pd.read_csv(shared / "data" / folder / "summary.csv").set_index(["model", "benchmark"])
    groups = dict(list(table.groupby(["model", "benchmark"])))
    assert set(groups) == set(summary.index)
    for key, group in groups.items():
        expected = summary.loc[key]
        c, n = group["c"].to_numpy(), group["n"].to_numpy()
        parts = variance_components(c, n)
        ours = {"prompts": parts.n_prompts, "mu_hat": parts.mean, "pooled": parts.pooled}
        ours |= {"total_var": parts.total_var, "se_mu": parts.se_population}
        if (n == 1).any() and (n > 1).any():
            # the summaries leave prompts with one generation out of the within part, theory B gives them a stand-in
            several = variance_components(c[n > 1], n[n > 1])
            ours |= {"within_draw_var": several.within_var, "within_part": several.within_part}
            ours |= {"between_part": several.sigma2, "icc": several.rho}
        else:
            ours |= {"within_draw_var": parts.within_var, "within_part": parts.within_part}
            ours |= {"between_part": parts.sigma2, "icc": parts.rho}
        for name, value in ours.items():
            if not (name == "icc" and not parts.mean * (1 - parts.mean)):
                assert value == pytest.approx(expected[name], rel=1e-7, abs=6e-9, nan_ok=True), (key, name)


def test_published_accuracies_of_matharena(shared: Path) -> None:
    table = read_counts(shared / "data" / "matharena-aime2025")
    first = table[table["benchmark"] == "AIME-2025-I"]
    published = {"o3-mini (high)": 80.00, "o1 (medium)": 78.33, "o3-mini (medium)": 73.33, "DeepSeek-R1": 65.00}
    published |= {"o3-mini (low)": 53.33, "QwQ-32B-Preview": 36.67, "gemini-2.0-flash": 30.00, "DeepSeek-V3": 28.33}
    published |= {"gemini-2.0-pro": 26.67, "gpt-4o": 13.33, "claude-3.5-sonnet": 3.33}
    for model, accuracy in published.items():
        group = first[first["model"] == model]
        assert round(100 * variance_components(group["c"], group["n"]).mean, 2) == accuracy, model


def test_published_means_of_aime24_and_mle_bench(shared: Path) -> None:
    aime = read_counts(shared / "data" / "aime24-50")
    means = [variance_components(group["c"], group["n"]).mean for _, group in aime.groupby("model")]
    assert [round(value, 5) for value in means] == [0.024, 0.02667]
    mle = read_counts(shared / "data" / "mle-bench-fm-agent")
    by_stratum = {name: 100 * variance_components(g["c"], g["n"]).mean for name, g in mle.groupby("category")}
    assert {name: round(value, 2) for name, value in by_stratum.items()} == {
        "high": 33.33,
        "low": 62.12,
        "medium": 36.84,
    }
    assert round(100 * variance_components(mle["c"], mle["n"]).mean, 2) == 43.56
    # the published standard error of .89 points counts three runs and no competitions
    assert 100 * variance_components(mle["c"], mle["n"]).se_population > 5


def test_runs_of_mle_bench_do_not_differ_by_more_than_noise(shared: Path) -> None:
    import pandas as pd

    outcomes = pd.read_csv(shared / "data" / "mle-bench-fm-agent" / "outcomes.csv")
    matrix = outcomes.pivot(index="prompt_id", columns="generation", values="correct").to_numpy()
    assert run_effect(matrix).p_value > 0.05


def test_clustered_error_of_reasoning_gym_exceeds_the_plain_one(shared: Path) -> None:
    import pandas as pd

    table = read_counts(shared / "data" / "reasoning-gym-easy")
    summary = pd.read_csv(shared / "data" / "reasoning-gym-easy" / "summary.csv").set_index("model")
    group = table[table["model"] == "anthropic/claude-sonnet-4"]
    share = (group["c"] / group["n"]).to_numpy()
    expected = summary.loc["anthropic/claude-sonnet-4"]
    # clusters are equal in size, so that the clustered error is the spread of task means over sqrt(tasks)
    assert clustered_se(share, group["task"]) == pytest.approx(expected["se_mu_clustered_by_task"], abs=6e-9)
    assert clustered_se(share, group["task"]) > 4 * variance_components(group["c"], group["n"]).se_population


def test_adaptive_stopping_of_the_jailbreak_data_is_noticed(shared: Path) -> None:
    table = read_counts(shared / "data" / "bon-jailbreak-ragged")
    counts = Counts.from_arrays(
        table["c"].to_numpy(),
        table["n"].to_numpy(),
        prompt=table["prompt_id"].tolist(),
        system=table["model"].tolist(),
        benchmark=table["benchmark"].tolist(),
    )
    assert "in 7 of 7 runs" in moments(counts).notes[0]


def test_published_pass_hat_of_tau_bench_with_errors(shared: Path) -> None:
    table = read_counts(shared / "data" / "tau-bench-airline")
    counts = Counts.from_arrays(table["c"].to_numpy(), table["n"].to_numpy())
    frame = metric_estimates(counts, [metrics.pass_hat(k) for k in (1, 2, 3, 4)]).to_frame()
    assert frame["value"].round(3).tolist() == [0.420, 0.273, 0.220, 0.200]
    assert frame["se_population"].notna().all()
    assert frame["se_benchmark"].notna().tolist() == [True, True, False, False]
    assert frame.loc[3, "reason_benchmark"]
