"""Importance resampling: it restores the proportions of modes, keeps what was right, and says when it cannot help."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bayeseval as be
from bayeseval.catalogue import load_model
from bayeseval.engines.importance import resample
from bayeseval.engines.mending import mend
from bayeseval.engines.records import Draws
from bayeseval.model_data import ModelData

CENTRES, WEIGHTS = np.array([[-4.0, 0.0], [3.0, 2.0]]), np.array([0.8, 0.2])


def two_modes(points):
    """Log density, up to a constant, of two normal modes far apart."""
    heights = [np.log(w) - ((points - c) ** 2).sum(axis=1) / 2 for w, c in zip(WEIGHTS, CENTRES, strict=True)]
    return np.logaddexp(*heights) + 7.0


def test_modes_get_their_proportions_whatever_the_chains_say():
    rng = np.random.default_rng(1)
    stuck = np.concatenate([c + rng.standard_normal((1000, 2)) for c in CENTRES])  # half and half
    result = resample(two_modes, stuck, 4000, rng)
    share = np.mean(result.positions[:, 0] < 0)
    assert share == pytest.approx(0.8, abs=4 * np.sqrt(0.16 * (1 / 4000 + 1 / result.effective)))
    assert result.pareto_k < 0.7
    left = result.positions[result.positions[:, 0] < 0, 0]
    assert left.mean() == pytest.approx(-4, abs=0.1)
    assert left.std() == pytest.approx(1, abs=0.06)


def test_a_curved_ridge_is_followed():
    def banana(points):
        x, y = points.T
        return stats.norm.logpdf(x, scale=2) + stats.norm.logpdf(y, loc=x**2, scale=0.6)

    rng = np.random.default_rng(2)
    x = 0.7 * rng.normal(0, 2, 2000)  # chains that did not reach the ends
    start = np.column_stack([x, x**2 + 0.6 * rng.standard_normal(2000)])
    result = resample(banana, start, 4000, rng)
    assert result.pareto_k < 0.7
    assert start[:, 0].std() < 1.45
    assert result.positions[:, 0].std() == pytest.approx(2, abs=0.2)


def test_weights_that_cannot_be_trusted_say_so():
    def far_away(points):
        return stats.norm.logpdf(points[:, 0], loc=60, scale=0.5)

    rng = np.random.default_rng(3)
    assert resample(far_away, rng.standard_normal((500, 1)), 500, rng).pareto_k > 0.7


def draws_of(post, positions):
    return Draws(post.parameters, post.statistics, positions)


def test_good_chains_are_left_alone_and_bad_ones_mended():
    counts = be.Counts.from_arrays([0, 3, 5, 5, 2, 1, 4, 0], 5)
    model = load_model("beta_binomial")
    data = ModelData.of(counts, model.blocks)
    exact = be.fit(counts, engine="quadrature", seed=1, progress=False)
    mu, rho = (exact.parameters[name] for name in ("mu", "rho"))
    good = np.stack([np.log(mu / (1 - mu)), np.log(rho / (1 - rho))], axis=-1)
    good = np.random.default_rng(4).permutation(good.reshape(-1, 2)).reshape(4, -1, 2)
    kept = draws_of(exact, good)
    assert mend(kept, model, model.prior(), data, seed=1) is kept
    bad = good + np.array([1.0, 0, 0, 0])[:, None, None]  # one chain somewhere else
    mended = mend(draws_of(exact, bad), model, model.prior(), data, seed=1)
    assert mended.resampled is not None and mended.resampled["rhat"] > 1.01
    error = exact.exact.sd("mu") * np.sqrt(1 / mended.resampled["effective"] + 1 / mu.size)
    assert mended.parameters["mu"].mean() == pytest.approx(exact.exact.mean("mu"), abs=4 * error)
    assert mended.parameters["mu"].shape == mu.shape


def test_a_fit_whose_chains_do_not_mix_says_how_it_was_mended():
    rng = np.random.default_rng(5)
    p = np.where(rng.random(1319) < 0.62, 0.0, rng.beta(0.35, 0.5, 1319))
    counts = be.Counts.from_arrays(rng.binomial(10, p), 10)
    post = be.fit(counts, model="zero_one_inflated", seed=1, progress=False)
    assert post.made.get("importance"), "the chains mixed: choose other data for this test"
    check = post.check()
    assert check.diagnostics.ok
    assert check.diagnostics.resampled["pareto_k"] < 0.7
    assert "resampled by importance" in repr(check)
    as_sampled = be.fit(counts, model="zero_one_inflated", seed=1, importance=False, progress=False)
    assert "importance" not in as_sampled.made
    assert "R-hat" in repr(as_sampled.check())


@pytest.mark.parametrize("size", [10, 20])
def test_very_few_draws_are_resampled_without_an_error(size):
    """Fewer draws than a kernel would like to have neighbours."""
    rng = np.random.default_rng(3)
    few = rng.standard_normal((size, 5))
    result = resample(lambda points: -(points**2).sum(axis=1) / 2, few, 100, rng)
    assert result.positions.shape == (100, 5)
    assert np.isfinite(result.positions).all()


def test_a_handful_of_draws_is_left_as_it_is():
    counts = be.Counts.from_arrays([0, 4, 2, 4, 0, 1] * 5, 4)
    post = be.fit(counts, model="beta_mixture", draws=20, tune=100, chains=1, seed=1, progress=False)
    assert post.n_draws == 20
    assert "importance" not in post.made
