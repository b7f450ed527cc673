"""Scores of a posterior: closed forms, both estimands, the robust answer, extrapolation, saving and loading."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayeseval as be
from bayeseval import metrics
from bayeseval.engines.quadrature import exact_posterior

CORRECT, GENERATIONS = [0, 1, 5, 4, 5, 2], [5] * 6
METRICS = [metrics.mean(), metrics.pass_at(3), metrics.pass_hat(3), metrics.g_pass(4, 0.5), metrics.mg_pass(4)]


def fit(correct=CORRECT, generations=GENERATIONS, **options):
    """Posterior by the exact engine."""
    return be.fit(be.Counts.from_arrays(correct, generations), engine="quadrature", progress=False, **options)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_population_score_averages_the_closed_form_over_the_exact_posterior(metric):
    from bayeseval.prompts import population_score

    exact = exact_posterior(CORRECT, GENERATIONS)
    expected = exact.expect(population_score(metric, exact.mu, exact.rho))
    score = fit(draws=4000).score(metric, "population", method="model")
    assert score.value == pytest.approx(expected, abs=0.01 * score.sd)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_benchmark_score_averages_the_conditional_means(metric):
    """E[g(p_i)] given the hyper-parameters is the score of a beta distribution with updated parameters."""
    from bayeseval.prompts import population_score

    exact = exact_posterior(CORRECT, GENERATIONS)
    precision = (1 - exact.rho) / exact.rho
    total = precision + 5
    expected = np.mean(
        [exact.expect(population_score(metric, (exact.mu * precision + c) / total, 1 / (total + 1))) for c in CORRECT]
    )
    score = fit(draws=4000).score(metric, "benchmark")
    assert score.value == pytest.approx(expected, abs=4 * score.sd / np.sqrt(16_000))


def test_benchmark_mean_has_the_oracle_moments(shared):
    score = fit(draws=20_000).mean("benchmark")
    assert score.value == pytest.approx(0.5666674028509454, abs=4 * score.sd / np.sqrt(80_000))
    assert score.sd == pytest.approx(0.063210507208115118, rel=0.02)


def test_exact_engine_gives_exact_population_intervals():
    score = fit().mean(method="model")
    assert score.value == pytest.approx(0.56348320964634939, rel=1e-8)
    assert score.interval == pytest.approx([0.2904119995628527, 0.81501562126949096], rel=1e-7)


def test_scores_lie_in_order_between_zero_and_one():
    post = fit()
    for estimand in ("population", "benchmark"):
        values = [post.pass_hat(3, estimand).value, post.mean(estimand).value, post.pass_at(3, estimand).value]
        assert 0 < values[0] < values[1] < values[2] < 1
    for score in post.scores(METRICS):
        assert 0 <= score.lower <= score.value <= score.upper <= 1


def test_intervals_never_collapse_or_leave_the_unit_interval_at_all_correct():
    post = fit([4] * 30, [4] * 30)
    for score in (post.mean(), post.mean("benchmark")):
        assert score.lower < score.upper <= 1
        assert score.width > 1e-3


def test_more_generations_narrow_the_benchmark_interval_but_not_below_the_population_floor():
    few, many = fit([2, 0, 4, 1] * 10, [4] * 40), fit([50, 0, 100, 25] * 10, [100] * 40)
    assert many.mean("benchmark").width < 0.3 * few.mean("benchmark").width
    assert many.mean().width > 0.6 * few.mean().width


def test_order_of_prompts_does_not_matter_to_the_model():
    rng = np.random.default_rng(0)
    order = rng.permutation(6)
    one, other = fit(), fit(np.array(CORRECT)[order], GENERATIONS)
    assert one.mean(method="model").value == other.mean(method="model").value


def test_swapping_correct_and_wrong_mirrors_the_interval():
    one, other = fit().mean(method="model"), fit(5 - np.array(CORRECT), GENERATIONS).mean(method="model")
    assert (one.lower, one.value) == pytest.approx((1 - other.upper, 1 - other.value), rel=1e-6)


def test_prompts_frame_shrinks_towards_the_mean():
    frame = fit(draws=4000).prompts()
    assert list(frame.columns) == ["system", "benchmark", "prompt", "generations", "correct", "mean", "lower", "upper"]
    raw = frame["correct"] / frame["generations"]
    assert ((frame["lower"] < frame["mean"]) & (frame["mean"] < frame["upper"])).all()
    assert (np.abs(frame["mean"] - 0.56) <= np.abs(raw - 0.56) + 0.05).all()


def test_prompts_without_generations_follow_the_population():
    post = fit([*CORRECT, 0], [*GENERATIONS, 0], draws=4000)
    row = post.prompts().iloc[-1]
    assert row["mean"] == pytest.approx(post.mean(method="model").value, abs=0.02)
    assert row["upper"] - row["lower"] > 0.8
    reference = fit(draws=4000)
    assert post.mean(method="model").value == pytest.approx(reference.mean(method="model").value, rel=1e-9)


def test_robust_answer_follows_the_bayesian_bootstrap():
    rng = np.random.default_rng(4)
    correct = rng.binomial(1000, rng.choice([0.02, 0.95], 200))
    score = fit(correct, [1000] * 200, draws=4000).mean(method="robust")
    p = correct / 1000
    assert score.value == pytest.approx(p.mean(), abs=0.005)
    assert score.sd == pytest.approx(p.std() / np.sqrt(201), rel=0.05)


def test_two_point_population_is_called_a_misfit_and_headlined_robust():
    rng = np.random.default_rng(5)
    correct = rng.binomial(16, rng.choice([0.02, 0.95], 200, p=[0.4, 0.6]))
    post = fit(correct, [16] * 200)
    score = post.mean()
    assert not post.check().ok
    assert post.check().misfit
    assert score.method == "robust"
    assert score.other.method == "model"
    assert "does not describe" in repr(score)
    assert post.mean("benchmark").method == "robust"
    assert post.mean("benchmark").other.method == "model"
    assert post.mean("benchmark", method="model").method == "model"


def test_a_fitting_beta_keeps_the_model_as_headline():
    rng = np.random.default_rng(6)
    correct = rng.binomial(16, rng.beta(0.7, 0.9, 200))
    post = fit(correct, [16] * 200)
    assert post.check().ok
    assert post.mean().method == "model"
    assert post.mean().other.method == "robust"


def test_looking_beyond_the_generations_is_labelled_warned_of_and_refused_in_turn():
    post = fit()
    assert not post.pass_at(5).extrapolated
    assert post.pass_at(6).extrapolated
    assert "beyond the 5 generations" in " ".join(post.pass_at(11).warnings)
    far = post.pass_at(51)
    assert np.isnan([far.lower, far.upper, far.sd]).all()
    assert "no interval" in repr(far)
    assert 0 < far.value < 1


def test_pass_at_k_beyond_the_generations_is_never_one():
    """Cases 1 and 2: n=2, c=0, k=5 and n=99, c=0, k=100 printed 1.0 elsewhere."""
    for generations, k in ((2, 5), (99, 100)):
        score = fit([0], [generations]).pass_at(k, "benchmark")
        assert 0 < score.value < 0.9
        assert score.extrapolated


def test_one_generation_per_prompt_says_that_the_spread_is_prior_driven():
    post = fit([1, 0, 1, 1], [1] * 4)
    assert "follows the prior" in repr(post.mean("benchmark"))
    assert post.mean(method="model").value == pytest.approx(2 / 3, rel=1e-9)
    assert "follows the prior" in repr(fit([3], [10]).mean())


def test_user_priors_move_the_answer():
    assert fit([0] * 5, [4] * 5, prior={"mu": (0.5, 0.5)}).mean().value < fit([0] * 5, [4] * 5).mean().value


def test_interval_probability_is_an_option_of_the_session_and_of_the_call():
    post = fit()
    assert post.mean(prob=0.5).width < post.mean().width
    try:
        be.options.prob = 0.5
        assert post.mean().prob == 0.5
        with pytest.raises(be.BayesevalError, match="did you mean 0.95"):
            be.options.prob = 95
    finally:
        be.options.prob = 0.95


def test_unknown_estimands_and_methods_are_refused_with_the_choices():
    with pytest.raises(be.BayesevalError, match="'population', 'benchmark'"):
        fit().mean("both")
    with pytest.raises(be.BayesevalError, match="'auto', 'model' or 'robust'"):
        fit().mean(method="magic")


def test_saved_posteriors_come_back_the_same(tmp_path):
    counts = be.Counts.from_arrays(
        CORRECT, GENERATIONS, prompt=["007", "é", "<b>", "x", "y", "z"], group=list("aabbcc"), system="s", benchmark="b"
    )
    for engine in ("quadrature", "nuts"):
        post = be.fit(counts, engine=engine, seed=3, draws=200, progress=False)
        back = be.load(post.save(tmp_path / f"{engine}.nc"))
        assert back.counts == post.counts
        assert back.provenance == post.provenance
        for estimand in ("population", "benchmark"):
            assert back.pass_at(3, estimand).interval == post.pass_at(3, estimand).interval
        assert repr(back) == repr(post)


def test_loading_refuses_other_files_and_changed_models(tmp_path):
    other = tmp_path / "other.nc"
    other.write_bytes(b"no NetCDF")
    with pytest.raises(be.BayesevalError, match="cannot be read as a saved posterior"):
        be.load(other)
    with pytest.raises(be.BayesevalError, match="cannot be read as a saved posterior"):
        be.load(tmp_path / "missing.nc")
    model = be.copy_model("beta_binomial", tmp_path / "mine.py")
    post = be.fit(be.Counts.from_arrays(CORRECT, GENERATIONS), model=model, engine="quadrature", progress=False)
    file = post.save(tmp_path / "mine.nc")
    assert be.load(file).model.name == "mine"
    model.write_text(model.read_text() + "\n# changed\n")
    with pytest.raises(be.BayesevalError, match="pass model= with the path of the unchanged file"):
        be.load(file)


def test_saving_to_an_unwritable_place_is_one_sentence(tmp_path):
    with pytest.raises(be.BayesevalError, match="cannot be written"):
        fit().save(tmp_path / "no" / "such" / "folder.nc")


def test_arviz_reads_the_data_tree():
    from arviz_stats import summary

    post = be.fit(be.Counts.from_arrays(CORRECT, GENERATIONS), seed=3, draws=200, progress=False)
    assert {"posterior", "sample_stats", "observed_data", "constant_data", "log_likelihood"} <= set(post.data.children)
    assert set(summary(post.data).index) == {"mu", "rho", "sigma"}
    likelihood = np.asarray(post.data["log_likelihood"]["correct"])
    assert likelihood.shape == (4, 200, 6)


def test_many_runs_answer_together_and_can_be_chosen():
    counts = be.Counts.concat(
        [be.Counts.from_arrays(CORRECT, GENERATIONS, system=name, benchmark="b") for name in ("one", "two")]
    )
    posts = be.fit(counts, engine="quadrature", progress=False)
    assert [score.system for score in posts.mean()] == ["one", "two"]
    assert posts.select(system="two").system == "two"
    assert len(posts.prompts()) == 12
    assert set(posts.check()) == {("one", "b"), ("two", "b")}
    with pytest.raises(be.BayesevalError, match="2 runs match"):
        posts.select(benchmark="b")
    with pytest.raises(be.BayesevalError, match="no runs match"):
        posts.select(system="three")


def test_representations_escape_names_and_read_as_sentences():
    post = be.fit(
        be.Counts.from_arrays(CORRECT, GENERATIONS, system="<script>alert(1)</script>", benchmark="b"),
        engine="quadrature",
        progress=False,
    )
    assert "<script>" not in post._repr_html_() + post.mean()._repr_html_() + post.check()._repr_html_()
    assert "(95% credible interval); estimand: population" in repr(post.mean())


def test_provenance_tells_how_the_result_was_made():
    post = fit(seed=9)
    assert post.provenance["seed"] == 9
    assert post.provenance["data"] == post.counts.fingerprint
    assert post.provenance["versions"]["bayeseval"] == be.__version__
    json.dumps(post.provenance)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from Linux's /proc")
def test_benchmark_scores_of_a_large_run_take_little_memory():
    """All draws of all P(correct) at once would be 450 MB; the peak is that of a process of its own.

    Not ru_maxrss: Linux hands the parent's peak down to it.
    """
    code = (
        "import re, numpy as np, bayeseval as be\n"
        "p = np.random.default_rng(7).beta(0.5, 0.4, 14042)\n"
        "counts = be.Counts.from_arrays(np.random.default_rng(8).binomial(10, p), np.full(14042, 10))\n"
        "post = be.fit(counts, engine='quadrature', progress=False)\n"
        "post.scores([be.metrics.mean(), be.metrics.pass_at(4)])\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(answer.stdout) < 420_000


@pytest.mark.parametrize("engine", ["quadrature", "nuts"])
def test_ten_million_correct_of_twenty_million_have_the_right_mean_and_sd(engine):
    """Case 23: mean .5, sd 1.118e-4, where single precision fails elsewhere."""
    counts = be.Counts.from_arrays([10_000_000], [20_000_000])
    score = be.fit(counts, engine=engine, seed=1, progress=False).mean("benchmark")
    assert score.value == pytest.approx(0.5, abs=1e-5)
    assert score.sd == pytest.approx(1.118e-4, rel=0.05)


def test_robust_pass_at_k_covers_where_some_prompts_are_never_solved():
    """40% of prompts at p = 0, the rest Beta(4, 4): one Beta puts mass near 0 where there is none."""
    p = np.linspace(0.001, 0.999, 999)
    weight = p**3 * (1 - p) ** 3
    truth = 0.6 * np.sum(weight * (1 - (1 - p) ** 16)) / weight.sum()
    rng = np.random.default_rng(8)
    covered = []
    for seed in range(30):
        rates = np.where(rng.random(200) < 0.4, 0.0, rng.beta(4, 4, 200))
        post = fit(rng.binomial(16, rates), [16] * 200, seed=seed, draws=500)
        score = post.pass_at(16)
        assert score.method == "robust"
        covered.append(score.lower <= truth <= score.upper)
    assert np.mean(covered) >= 0.8  # Binomial(30, 0.95) lies below 24 with probability 0.002
    assert "leans on the shape that fails" in repr(post.pass_at(16, "benchmark"))
    assert "leans on the shape" not in repr(post.mean("benchmark"))


def test_runs_with_the_same_counts_do_not_share_their_random_numbers():
    counts = be.Counts.concat(
        [be.Counts.from_arrays(CORRECT, GENERATIONS, system=name, benchmark="b") for name in ("one", "two")]
    )
    one, two = be.fit(counts, engine="quadrature", progress=False).mean("benchmark")
    assert abs(np.corrcoef(one.draws, two.draws)[0, 1]) < 0.5
    assert not np.array_equal(one.draws, two.draws)
