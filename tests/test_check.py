"""Checks: they stay silent on data from the model, fire on data that is not, and say it in words."""

from __future__ import annotations

import numpy as np
import pytest

import bayeseval as be
from bayeseval.posterior.histogram import histogram_check
from bayeseval.prompts import beta


def fit(correct, generations, **options):
    """Posterior by the exact engine."""
    return be.fit(be.Counts.from_arrays(correct, generations), engine="quadrature", progress=False, **options)


@pytest.mark.parametrize(
    "generations",
    [np.full(150, 8), pytest.param(np.tile([3, 40, 500], 50), marks=pytest.mark.slow)],
    ids=["histogram", "latent"],
)
def test_predictive_check_seldom_fires_on_data_from_the_model(generations):
    rng = np.random.default_rng(0)
    fired = 0
    for seed in range(24):
        mu, rho = rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.7)
        p = rng.beta(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho, 150)
        fired += fit(rng.binomial(generations, p), generations, seed=seed).check().histogram.p < 0.05
    assert fired <= 5  # Binomial(24, 0.05) exceeds 5 with probability 0.001; the check is conservative besides


@pytest.mark.parametrize("generations", [np.full(300, 16), np.tile([10, 40, 500], 100)], ids=["histogram", "latent"])
@pytest.mark.parametrize(
    "population",
    [
        lambda rng: rng.choice([0.02, 0.95], 300),
        lambda rng: np.where(rng.random(300) < 0.3, 0.0, rng.beta(8, 4, 300)),
    ],
    ids=["two points", "never solved"],
)
def test_predictive_check_fires_on_populations_of_another_shape(generations, population):
    rng = np.random.default_rng(1)
    post = fit(rng.binomial(generations, population(rng)), generations)
    assert post.check().histogram.p < 0.05
    assert not post.check().ok


def test_predictive_p_is_uniform_enough_when_the_parameters_are_known():
    rng = np.random.default_rng(2)
    distribution = beta(np.full(200, 0.4), np.full(200, 0.3))
    a, b = 0.4 * 0.7 / 0.3, 0.6 * 0.7 / 0.3
    values = [
        histogram_check(distribution, rng.binomial(6, rng.beta(a, b, 80)), np.full(80, 6), rng).p for _ in range(150)
    ]
    assert np.mean(np.array(values) < 0.05) < 0.12
    assert np.mean(values) == pytest.approx(0.5, abs=0.1)


def test_mmlu_and_gsm8k_are_said_to_be_misfits(shared):
    """Theory C: the single Beta is rejected on every MMLU run, its mean 3 to 4 standard errors off."""
    counts = be.read(
        shared / "data" / "coupled-mmlu" / "counts.csv.gz", benchmark=["benchmark", "condition"], quiet=True
    )
    for run in counts.select(benchmark="mmlu-test:independent").runs():
        check = be.fit(run, engine="quadrature", draws=200, progress=False).check()
        assert check.misfit
        assert "does not describe" in " ".join(check.warnings)


def test_z_shift_is_the_shift_in_standard_errors():
    post = fit([3, 0, 4, 2, 1, 4] * 10, [4] * 60, draws=4000)
    frame = be.moments(post.counts).to_frame().iloc[0]
    shift = (post.mean(method="model").value - frame["mean"]) / frame["se_population"]
    assert post.check().z_shift == pytest.approx(shift, abs=0.02)


def test_rare_successes_warn_of_the_prior_but_keep_the_model():
    post = fit([1] + [0] * 29, [50] * 30)
    check = post.check()
    assert check.z_shift > 0.5
    assert not check.misfit
    assert "the prior weighs in" in " ".join(check.warnings_for("population"))
    assert check.warnings_for("benchmark") == ()


def test_degenerate_data_have_no_z_shift():
    assert np.isnan(fit([4] * 10, [4] * 10).check().z_shift)
    assert np.isnan(fit([3], [4]).check().z_shift)


def test_a_sampler_that_failed_is_said_loudly_on_every_result():
    counts = be.Counts.from_arrays([3, 0, 4, 2, 1], [4] * 5)
    post = be.fit(counts, seed=1, draws=250, progress=False)
    broken = {name: values + 0.2 + np.arange(4)[:, None] * 0.05 for name, values in post.parameters.items()}
    broken = {name: np.clip(values, 0.001, 0.999) for name, values in broken.items()}
    from bayeseval.posterior.posterior import Posterior

    spoilt = Posterior(
        post.counts, post.model, post.prior, broken, {"diverging": np.ones((4, 250))}, "nuts", None, 1, post.made
    )
    text = repr(spoilt.mean("benchmark"))
    assert not spoilt.check().ok
    for words in ("have not converged", "1000 divergent transitions", "from the exact posterior"):
        assert words in text
    assert all("engine='quadrature'" in warning for warning in spoilt.check().diagnostics.warnings)


def test_check_frame_compares_with_the_exact_engine():
    post = be.fit(be.Counts.from_arrays([3, 0, 4, 2, 1], [4] * 5), seed=1, progress=False)
    frame = post.check().to_frame()
    assert set(frame.index) == {"mu", "rho", "sigma"}
    assert {"rhat", "ess_bulk", "ess_tail", "mcse_mean", "exact_mean", "exact_sd", "mean_mcse"} <= set(frame.columns)
    assert "MCSE from exact quadrature" in repr(post.check())
