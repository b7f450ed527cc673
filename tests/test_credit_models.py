"""Models of partial credit: densities, equality with counts at two levels, recovery, checks, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats

import bayeseval as be
from bayeseval.catalogue import load_model
from bayeseval.cli import app
from bayeseval.credit_data import CreditData, PromptCredits
from bayeseval.fitting import as_counts
from bayeseval.likelihoods import (
    beta_binomial_loglik,
    beta_binomial_logpmf,
    common_nodes,
    dirichlet_multinomial_loglik,
    dirichlet_multinomial_logpmf,
    interior_loglik,
    level_survival,
    survival_counts,
)
from bayeseval.likelihoods.interior import interior_nodes, log_gamma
from bayeseval.posterior.credit import CreditPosterior
from bayeseval.prompts import ContinuousCredit, GradedCredit
from bayeseval.prompts.credit import dirichlet
from tests.oracles import oracle_rows

LEVELS = (0.0, 0.5, 1.0)
FAST = {"draws": 500, "tune": 500, "progress": False}


def graded_data(rng, prompts, generations, phi, rho, levels=LEVELS):
    """Credits of simulated prompts (prompt, generation), and the prompts' own mean credits."""
    shares = rng.dirichlet(np.array(phi) * (1 - rho) / rho, size=prompts)
    credit = np.stack([rng.choice(levels, size=generations, p=share) for share in shares])
    return credit, shares @ np.array(levels)


def continuous_data(rng, prompts, generations, phi=(0.2, 0.6, 0.2), rho=0.2, delta=0.1, a=0.3, b=0.8):
    shares = rng.dirichlet(np.array(phi) * (1 - rho) / rho, size=prompts)
    m, kappa = special.expit(a + b * rng.standard_normal(prompts)), (1 - delta) / delta
    kind = np.stack([rng.choice(3, size=generations, p=share) for share in shares])
    between = rng.beta((m * kappa)[:, None], ((1 - m) * kappa)[:, None], size=kind.shape)
    credit = np.choose(kind, [0.0, between, 1.0])
    return credit, shares[:, 2] + shares[:, 1] * m


@pytest.fixture(scope="module")
def graded():
    credit, truth = graded_data(np.random.default_rng(1), 200, 4, [0.3, 0.3, 0.4], 0.3)
    credits = be.Credits.from_matrix(credit, levels=LEVELS, system="gpt-x", benchmark="essays")
    return be.fit(credits, seed=1, **FAST), truth


@pytest.fixture(scope="module")
def continuous():
    credit, truth = continuous_data(np.random.default_rng(2), 120, 4)
    return be.fit(be.Credits.from_matrix(credit), seed=1, **FAST), truth


# Densities ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("dirichlet_multinomial_logpmf"))
def test_dirichlet_multinomial_agrees_with_the_oracle(quantity, inputs, value):
    assert dirichlet_multinomial_logpmf(inputs["n"], inputs["phi"], inputs["rho"]) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("rho", [0.0, 1e-9, 0.3, 0.999])
def test_dirichlet_multinomial_sums_to_one_over_all_counts(rho):
    phi = np.array([0.2, 0.5, 0.3])
    cells = [np.array([i, j, 5 - i - j]) for i, j in product(range(6), range(6)) if i + j <= 5]
    total = sum(np.exp(dirichlet_multinomial_logpmf(cell, phi, np.array(rho))) for cell in cells)
    assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("rho", [1e-12, 0.4, 1 - 1e-9])
def test_two_levels_are_the_beta_binomial(rho):
    rng = np.random.default_rng(3)
    generations = rng.integers(0, 300, 40)  # beyond the head, so that the Euler-Maclaurin tail is compared, too
    correct = rng.binomial(generations, rng.random(40))
    mu, r = np.array(0.3), np.array(rho)
    arrays = level_survival(np.stack([generations - correct, correct], axis=1))
    ours = dirichlet_multinomial_loglik(np, np.array([0.7, 0.3]), r, 1 - r, arrays)
    theirs = beta_binomial_loglik(np, mu, 1 - mu, r, 1 - r, survival_counts(correct, generations).arrays)
    assert ours == pytest.approx(theirs, rel=1e-12)
    single = dirichlet_multinomial_logpmf([2, 5], [0.7, 0.3], r)
    assert single == pytest.approx(beta_binomial_logpmf([5], [7], mu, r)[0], rel=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.99])
def test_survival_counts_of_levels_sum_the_prompts(rho):
    rng = np.random.default_rng(4)
    counts = rng.multinomial(rng.integers(0, 200, 30), [0.5, 0.1, 0.4])
    phi, r = np.array([0.4, 0.25, 0.35]), np.array(rho)
    each = [
        dirichlet_multinomial_logpmf(row, phi, r) - special.gammaln(row.sum() + 1) + special.gammaln(row + 1).sum()
        for row in counts
    ]
    ours = dirichlet_multinomial_loglik(np, phi, r, 1 - r, level_survival(counts))
    assert ours == pytest.approx(np.sum(each), rel=1e-12)


def test_survival_counts_of_levels_do_not_grow_with_prompts():
    small = level_survival(np.tile([[1, 2, 0]], (10, 1)))
    large = level_survival(np.tile([[1, 2, 0]], (10_000, 1)))
    assert {name: values.shape for name, values in small.items()} == {
        name: values.shape for name, values in large.items()
    }


@pytest.mark.parametrize("x", np.geomspace(1e-6, 1e6, 13))
def test_log_gamma_agrees_with_scipy(x):
    assert log_gamma(np, x) == pytest.approx(special.gammaln(x), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("a", "b", "delta"), [(0.0, 1.0, 0.2), (-2.0, 0.3, 0.05), (1.0, 2.0, 0.6)])
def test_interior_density_agrees_with_adaptive_quadrature(a, b, delta):
    """Both rules: the nodes that all prompts share, and those around the mode of each prompt."""
    rng = np.random.default_rng(5)
    kappa = (1 - delta) / delta
    rows = []
    for size in (1, 3, 12):
        m = special.expit(a + b * rng.standard_normal())
        y = np.clip(rng.beta(m * kappa, (1 - m) * kappa, size), 1e-9, 1 - 1e-9)
        rows.append((size, np.log(y).sum(), np.log1p(-y).sum(), y.mean(), np.sum(y**2)))
    size, first, second, mean, squares = np.array(rows).T

    def direct(n, s, t):
        def log_density(z):
            p, q = kappa * special.expit(a + b * z), kappa * special.expit(-a - b * z)
            height = special.gammaln(kappa) - special.gammaln(p) - special.gammaln(q)
            return n * height + p * s + q * t + stats.norm.logpdf(z)

        top = max(log_density(z) for z in np.linspace(-8, 8, 2001))
        ends = np.linspace(-9, 9, 37)
        parts = [
            integrate.quad(lambda z: np.exp(log_density(z) - top), low, high)[0]
            for low, high in zip(ends[:-1], ends[1:], strict=True)
        ]
        return top + np.log(sum(parts))

    expected = [direct(*row) for row in zip(size, first, second, strict=True)]
    given = (np.array(a), np.array(b), np.array(kappa), size, first, second)
    assert interior_loglik(np, *given, common_nodes(size, mean, squares)) == pytest.approx(expected, abs=1e-4)
    _, height, scale, weight = interior_nodes(np, *given)
    around = np.log((np.exp(height) * weight).sum(axis=-1)) + np.log(scale) - 0.5 * np.log(2 * np.pi)
    assert around == pytest.approx(expected, abs=1e-4)


def test_no_credit_in_between_says_nothing():
    zero = np.zeros(1)
    value = interior_loglik(np, np.array(0.5), np.array(2.0), np.array(3.0), zero, zero, zero, np.linspace(-8, 8, 64))
    assert value == pytest.approx(0, abs=1e-8)


# Distributions ------------------------------------------------------------------------------------------------------


def test_dirichlet_draws_have_the_right_moments_however_small_the_shapes():
    rng = np.random.default_rng(6)
    shape = np.array([0.5, 1.5, 3.0])
    draws = dirichlet(np.broadcast_to(shape, (40_000, 3)), rng)
    share = shape / shape.sum()
    error = np.sqrt(share * (1 - share) / (shape.sum() + 1) / 40_000)
    assert (np.abs(draws.mean(axis=0) - share) < 4 * error).all()
    corners = dirichlet(np.broadcast_to([1e-300, 3e-300], (20_000, 2)), rng)
    assert corners.max(axis=1) == pytest.approx(1)
    tiny = dirichlet(np.broadcast_to([1e-9, 3e-9], (20_000, 2)), rng)
    assert tiny[:, 1].mean() == pytest.approx(0.75, abs=4 * np.sqrt(0.1875 / 20_000))


@pytest.mark.parametrize(
    "distribution",
    [
        GradedCredit(np.array([[0.2, 0.5, 0.3]]), np.array([0.4]), np.array(LEVELS)),
        ContinuousCredit(np.array([[0.2, 0.5, 0.3]]), *(np.array([value]) for value in (0.4, 0.2, -0.5, 1.2))),
    ],
    ids=["graded", "continuous"],
)
def test_moments_over_prompts_are_those_of_fresh_prompts_and_their_generations(distribution):
    rng = np.random.default_rng(7)
    size = 40_000
    fresh = distribution.fresh(size, rng)
    assert fresh.score.mean() == pytest.approx(distribution.mean()[0], abs=4 * distribution.sd()[0] / size**0.5)
    assert fresh.score.std() == pytest.approx(distribution.sd()[0], rel=0.03)
    credit = fresh.generate(np.full(size, 3), rng).reshape(size, 3)
    assert credit.mean() == pytest.approx(distribution.mean()[0], abs=4 * 0.5 / size**0.5)
    # Two generations of a prompt share nothing but the prompt.
    assert np.cov(rng.permuted(credit, axis=1).T)[0, 1] == pytest.approx(distribution.sd()[0] ** 2, abs=0.006)
    for end in (0.0, 1.0):
        share = np.mean((credit == end).all(axis=1))
        assert share == pytest.approx(distribution.all_alike(end, 3)[0], abs=4 * 0.5 / size**0.5)


@pytest.mark.parametrize(
    "distribution",
    [
        GradedCredit(np.tile([[0.2, 0.5, 0.3]], (8000, 1)), np.full(8000, 0.4), np.array(LEVELS)),
        ContinuousCredit(
            np.tile([[0.2, 0.5, 0.3]], (8000, 1)), *(np.full(8000, value) for value in (0.4, 0.2, -0.5, 1.2))
        ),
    ],
    ids=["graded", "continuous"],
)
def test_draws_of_a_prompt_average_to_its_conditional_mean(distribution):
    y = np.array([0.2, 0.35])
    prompts = PromptCredits(
        np.array([[1, 2, 0], [0, 0, 0]]), np.array([np.log(y).sum(), 0]), np.array([np.log1p(-y).sum(), 0])
    )
    draws = distribution.draw(prompts, np.random.default_rng(8))
    mean = distribution.conditional_mean(prompts)[0]
    assert (np.abs(draws.mean(axis=0) - mean) < 4 * draws.std(axis=0) / 8000**0.5).all()
    assert mean[1] == pytest.approx(distribution.mean()[0], abs=2e-4)  # nothing seen: a fresh prompt


# Fits ---------------------------------------------------------------------------------------------------------------


def test_two_levels_give_the_posterior_of_the_beta_binomial():
    rng = np.random.default_rng(9)
    credit = (rng.random((60, 5)) < rng.beta(1, 2, size=(60, 1))).astype(float)
    counts = be.Counts.from_matrix(credit)
    exact = be.fit(counts, engine="quadrature", progress=False)
    post = be.fit(be.Credits.from_matrix(credit, levels=(0, 1)), seed=1, progress=False)
    table = post.check().diagnostics.table
    for name, other in (("mean", "mu"), ("rho", "rho")):
        row = table[name]
        assert row["mean"] == pytest.approx(exact.exact.mean(other), abs=4 * row["mcse_mean"])
        assert row["sd"] == pytest.approx(exact.exact.sd(other), abs=4 * row["mcse_sd"])
    assert post.mean("benchmark").value == pytest.approx(exact.mean("benchmark").value, abs=0.003)
    assert post.prompts()["mean"].to_numpy() == pytest.approx(exact.prompts()["mean"].to_numpy(), abs=0.01)


def test_graded_recovers_what_was_simulated(graded):
    post, truth = graded
    for name, true in (("mean", 0.55), ("rho", 0.3)):
        row = post.check().diagnostics.table[name]
        assert abs(row["mean"] - true) < 3.5 * row["sd"]
    score = post.mean(estimand="benchmark")
    assert abs(score.value - truth.mean()) < 3.5 * score.sd
    moments = be.credit_moments(post.credits).rows[0]
    assert post.mean(method="model").value == pytest.approx(moments.mean, abs=0.5 * moments.se_population)
    assert score.sd == pytest.approx(moments.se_benchmark, rel=0.15)
    assert post.mean(method="robust").sd == pytest.approx(moments.se_population, rel=0.2)


def test_continuous_recovers_what_was_simulated(continuous):
    post, truth = continuous
    for name, true in (("rho", 0.2), ("delta", 0.1), ("a", 0.3), ("b", 0.8), ("phi[1]", 0.6)):
        row = post.check().diagnostics.table[name]
        assert abs(row["mean"] - true) < 3.5 * row["sd"], name
    score = post.mean(estimand="benchmark")
    assert abs(score.value - truth.mean()) < 3.5 * score.sd
    moments = be.credit_moments(post.credits).rows[0]
    assert score.value == pytest.approx(moments.mean, abs=moments.se_benchmark)


def test_prompts_are_covered_by_their_intervals(graded, continuous):
    for post, truth in (graded, continuous):
        frame = post.prompts(prob=0.8)
        share = np.mean((frame["lower"] <= truth) & (truth <= frame["upper"]))
        assert share == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / len(frame)))
        assert frame["mean"].mean() == pytest.approx(post.mean("benchmark").value, abs=0.005)


def test_checks_hold_where_the_model_is_right(graded, continuous):
    for post, _ in (graded, continuous):
        check = post.check()
        assert not check.misfit, check
        assert abs(check.z_shift) < 1
        assert check.histogram.observed.sum() == len(post.table.prompt)
        assert check.generations.observed.sum() == post.credits.n_generations
        assert "mean credits of prompts" in repr(check)
        assert {"mean", "rhat"} <= set(check.to_frame().columns)


def test_a_shape_that_is_wrong_is_found_out_and_the_robust_score_takes_over():
    rng = np.random.default_rng(10)
    kinds = np.where(rng.random(250) < 0.5, 0.5, rng.choice([0.02, 0.98], 250))  # half of the prompts always get ½
    half = np.isclose(kinds, 0.5)
    credit = np.where(half[:, None], 0.5, (rng.random((250, 8)) < kinds[:, None]).astype(float))
    post = be.fit(be.Credits.from_matrix(credit, levels=LEVELS), seed=1, **FAST)
    assert post.check().misfit
    assert post.mean().method == "robust"
    assert "does not describe these credits" in repr(post)


def test_a_prompt_without_scores_has_only_its_prior(graded):
    credit = [[0.5, 1.0], [0.0, 0.5], [1.0, 1.0], [np.nan, np.nan]]
    post = be.fit(be.Credits.from_matrix(credit, levels=LEVELS), seed=1, **FAST)
    frame = post.prompts()
    assert frame["generations"].tolist() == [2, 2, 2, 0]
    assert np.isnan(frame["credit"].iloc[3])
    assert frame["mean"].iloc[3] == pytest.approx(post.distribution.mean().mean(), abs=0.02)
    assert post.mean("benchmark").n_prompts == 4


def test_several_runs_stand_in_one_container():
    rng = np.random.default_rng(11)
    credit = np.stack([graded_data(rng, 30, 3, [0.3, 0.3, 0.4], 0.3)[0] for _ in range(2)])
    credits = be.Credits.from_matrix(credit, system=["one", "two"], levels=LEVELS)
    posts = be.fit(credits, seed=1, **FAST)
    assert isinstance(posts, be.Posteriors)
    assert [item.system for item in posts] == ["one", "two"]
    assert len(posts.prompts()) == 60
    assert posts.mean("benchmark").to_frame()["score"].tolist() == ["mean credit"] * 2
    with pytest.raises(be.BayesevalError, match="credits have no such thing"):
        posts.pass_at(4)


def test_the_default_model_depends_on_levels(graded, continuous):
    assert graded[0].model.name == "graded"
    assert continuous[0].model.name == "continuous"


def test_a_posterior_is_shown_saved_and_drawn(graded, tmp_path):
    from matplotlib.figure import Figure

    post, _ = graded
    assert repr(post).startswith("mean credit of gpt-x on essays")
    assert "<b>graded</b>" in post._repr_html_()
    again = be.load(post.save(tmp_path / "post.nc"))
    assert isinstance(again, CreditPosterior)
    assert again.mean().value == post.mean().value
    assert again.credits.levels == LEVELS
    assert again.provenance["data"] == post.provenance["data"]
    assert post.data["posterior"]["rho"].shape == (4, 500)
    assert post.plot(ax=Figure().subplots()).get_ylabel() == "share of prompts"
    axes = post.check().plot(ax=Figure().subplots(), of="generations")
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "0.5", "1"]


# Refusals -----------------------------------------------------------------------------------------------------------


def test_what_needs_right_and_wrong_says_so(graded):
    post, _ = graded
    for ask in (
        lambda: post.pass_at(4),
        lambda: post.pass_hat(2),
        lambda: post.g_pass(4, 0.5),
        lambda: post.mg_pass(4),
        lambda: post.score(be.metrics.pass_at(2)),
        lambda: be.plan(post, width=0.02),
        lambda: be.report(post, "never.html"),
        lambda: be.compare_intervals(post),
        lambda: be.loo(post),
        lambda: be.prior_sensitivity(post),
    ):
        with pytest.raises(be.BayesevalError, match=r"credits\.outcomes\(threshold=1\)"):
            ask()


def test_models_and_data_must_be_of_one_kind():
    credits = be.Credits.from_matrix([[0, 0.5], [1, 0.5]])
    for given, model, message in (
        (credits, "beta_binomial", "is for counts of correct generations, and credits were given"),
        (be.Counts.from_arrays([1], [2]), "graded", "is for credits, and Counts holds right and wrong alone"),
        (credits, ["graded", "continuous"], "fitted one at a time"),
        (credits, "graded", "none were declared"),
        (credits, "continuous", "never differ between the generations of a prompt"),
        (be.Credits.from_matrix([[0.3, 0.6]]).outcomes(threshold=0.5), "continuous", "Outcomes holds right and wrong"),
    ):
        tried = (
            given
            if model != "continuous" or not isinstance(given, be.Credits)
            else be.Credits.from_matrix([[0.5, 0.5], [0.2, 0.2]])
        )
        with pytest.raises(be.BayesevalError, match=message):
            be.fit(tried, model=model, progress=False)
    with pytest.raises(be.BayesevalError, match="does not know model 'graded'"):
        be.fit(credits.with_levels(), model="graded", engine="quadrature", progress=False)
    with pytest.raises(be.BayesevalError, match="no scored generation"):
        be.fit(be.Credits.from_matrix([[np.nan, np.nan]], levels=LEVELS), progress=False)
    with pytest.raises(be.BayesevalError, match="say from which credit on"):
        as_counts(credits)


def test_thin_data_are_told():
    ones = be.fit(be.Credits.from_matrix(np.ones((6, 1)), levels=LEVELS), seed=1, **FAST)
    said = repr(ones)
    assert "one generation per prompt" in said
    assert "every generation has the credit 1" in said


def test_blocks_of_counts_and_of_credits_do_not_mix(tmp_path):
    path = be.copy_model("graded", tmp_path / "mine.py")
    path.write_text(path.read_text().replace('DATA = ("levels",)', 'DATA = ("levels", "cells")'))
    with pytest.raises(be.BayesevalError, match="or of"):
        load_model(path)


def test_prior_predictive_of_credits_agrees_with_the_closed_forms():
    """Dirichlet of total weight 2: the sd of the score is sqrt(Var(w) / 3); E P(no credit in 1) is the mean share."""
    summary = be.prior_predictive("graded", generations=[1], draws=8000)
    mean = summary.distribution.mean()
    assert mean.mean() == pytest.approx(0.5, abs=4 * mean.std() / 8000**0.5)
    assert mean.std() == pytest.approx(np.sqrt((1 / 6) / 3), rel=0.05)
    rows = {row.quantity: row.mean for row in summary.rows}
    assert rows["P(no credit in 1 generations)"] == pytest.approx(1 / 3, abs=0.02)


def test_the_data_of_a_model_of_credits_are_padded():
    credit, _ = continuous_data(np.random.default_rng(12), 20, 3)
    arrays = CreditData(be.Credits.from_matrix(credit).tables()[0], ("credits",)).arrays
    assert arrays["interior_prompts"].size == 32
    assert arrays["interior_prompts"].sum() == np.any((credit > 0) & (credit < 1), axis=1).sum()


# Calibration --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("generations", [[1, 4]])
def test_ranks_are_uniform_under_graded(generations):
    result = be.calibrate("graded", prompts=8, generations=generations, replicates=30, seed=1, progress=False)
    assert result.ok, result
    assert "mean, benchmark" in result.quantities
    assert not any(name.startswith("level") for name in result.quantities)


# Command line and real data -----------------------------------------------------------------------------------------


def test_the_command_line_fits_credits(tmp_path):
    from typer.testing import CliRunner

    credit, _ = graded_data(np.random.default_rng(13), 30, 3, [0.3, 0.3, 0.4], 0.3)
    frame = pd.DataFrame({"model": "m", "prompt_id": np.repeat(np.arange(30), 3), "score": credit.ravel()})
    path = tmp_path / "essays.csv"
    frame.to_csv(path, index=False)
    run = CliRunner().invoke
    fast = ["--draws", "200", "--tune", "300", "--quiet"]
    answer = run(app, ["fit", str(path), "--credit", "score", "--levels", "0,0.5,1", *fast])
    assert answer.exit_code == 0, answer.output
    assert "mean credit" in answer.output
    assert f"{credit.mean():.4g}"[:5] in answer.output  # the moment estimate
    for wrong, message in (
        (["--levels", "0,1"], "name the column with --credit"),
        (["--credit", "score", "--threshold", "1"], "give one"),
        (["--credit", "score", "--levels", "0,1"], "none of the levels"),
        (["--credit", "score", "--levels", "low,high"], "must look like"),
        (["--credit", "score", "--levels", "0,0.5,1", "--model", "beta_binomial"], "is for counts"),
    ):
        refused = run(app, ["fit", str(path), *wrong, *fast])
        assert refused.exit_code == 2
        assert message in refused.output


@pytest.mark.slow
def test_posterior_means_agree_with_moments_on_reasoning_gym(shared):
    frame = pd.read_csv(shared / "data" / "reasoning-gym-easy" / "outcomes.csv.gz")
    frame = frame[frame["model"] == "google/gemma-3-27b-it"].drop(columns=["correct", "answer"])
    frame = frame[frame["prompt_id"].isin(frame["prompt_id"].unique()[::10])]  # a tenth of the prompts of each task
    credits = be.Credits.from_frame(frame, quiet=True)
    post = be.fit(credits, seed=1, **FAST)
    row = be.credit_moments(credits).rows[0]
    assert post.mean("benchmark").value == pytest.approx(row.mean, abs=0.5 * row.se_population)
    headline = post.mean()
    assert headline.value == pytest.approx(row.mean, abs=row.se_population)
    assert post.mean(method="robust").sd == pytest.approx(row.se_population, rel=0.25)


def test_a_resampled_fit_of_credits_says_so():
    """After importance resampling there is no R-hat of the draws; the check must be shown all the same."""
    rng = np.random.default_rng(3)
    credits = be.Credits.from_matrix(rng.choice([0, 0.5, 1], (12, 4)), levels=(0, 0.5, 1))
    fitted = be.fit(credits, seed=1, draws=100, progress=False)
    facts = {"rhat": 1.02, "ess": 90.0, "divergences": 3, "pareto_k": 0.2, "effective": 900.0}
    check = replace(fitted, made={**fitted.made, "importance": facts}, _cache={}).check()
    assert "resampled by importance (Pareto k 0.20" in repr(check)
    assert "rhat" not in check.to_frame().columns
    assert "resampled by importance" in check._repr_html_()
