"""Posterior intervals beside those of moments: which is wide, which is refused, and why."""

from __future__ import annotations

import numpy as np
import pytest

import bayeseval as be


def compare(correct, generations, **options):
    """Comparison for one run by the exact engine."""
    post = be.fit(be.Counts.from_arrays(correct, generations), engine="quadrature", progress=False)
    return be.compare_intervals(post, **options)


def row(comparison, estimand, method):
    """The one row of an estimand and a method."""
    frame = comparison.to_frame()
    (found,) = frame[(frame["estimand"] == estimand) & (frame["method"] == method)].to_dict("records")
    return found


def beta_counts(n=300, k=10, seed=0):
    """Counts from a Beta population."""
    rng = np.random.default_rng(seed)
    return rng.binomial(k, rng.beta(0.8, 0.9, n)), np.full(n, k)


def test_large_samples_agree_with_the_clt_for_both_estimands():
    comparison = compare(*beta_counts(n=2000))
    for estimand, method in (("population", "CLT (t)"), ("benchmark", "CLT")):
        ours, theirs = row(comparison, estimand, "posterior"), row(comparison, estimand, method)
        assert ours["width"] == pytest.approx(theirs["width"], rel=0.06)
        assert ours["value"] == pytest.approx(theirs["value"], abs=0.1 * theirs["width"])


def test_naive_pooling_is_too_narrow_for_the_population_and_too_wide_for_the_benchmark():
    comparison = compare(*beta_counts())
    naive = row(comparison, "population", "naive pooled")["width"]
    assert naive < 0.6 * row(comparison, "population", "posterior")["width"]
    assert naive > 1.1 * row(comparison, "benchmark", "posterior")["width"]
    assert any("times too small" in sentence for sentence in comparison.explanation)


def test_clt_intervals_are_refused_at_the_edge_where_the_posterior_still_answers():
    comparison = compare([4] * 20, [4] * 20)
    for estimand, method in (("population", "CLT (t)"), ("benchmark", "CLT")):
        refused = row(comparison, estimand, method)
        assert np.isnan(refused["lower"])
        assert refused["note"] not in ("", "approximate")
        assert row(comparison, estimand, "posterior")["width"] > 0
    assert any("there is no CLT" in sentence for sentence in comparison.explanation)
    assert "refused" in repr(comparison)


def test_one_generation_per_prompt_has_no_benchmark_clt_interval():
    comparison = compare([1, 0] * 30, [1] * 60)
    assert np.isnan(row(comparison, "benchmark", "CLT")["lower"])
    assert row(comparison, "population", "posterior")["width"] == pytest.approx(
        row(comparison, "population", "CLT (t)")["width"], rel=0.08
    )


def test_several_runs_make_one_table():
    counts = be.Counts.concat(
        [be.Counts.from_arrays(*beta_counts(40, seed=s), system=f"<{s}>", benchmark="b") for s in (1, 2)]
    )
    posts = be.fit(counts, engine="quadrature", progress=False)
    comparison = be.compare_intervals(posts, prob=0.9)
    assert len(comparison.rows) == 12
    assert comparison.prob == 0.9
    assert "<1>" not in comparison._repr_html_()
    assert "&lt;1&gt;" in comparison._repr_html_()
    assert repr(comparison).startswith("90% intervals of the mean")
