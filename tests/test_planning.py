"""Plans: the target is met by real follow-ups as often as promised, floors, ladders, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import bayeseval as be
from bayeseval.engines.quadrature import exact_posterior


def pilot(n=40, k=4, mu=0.5, rho=0.4, seed=0, **options):
    """Posterior of simulated counts."""
    rng = np.random.default_rng(seed)
    p = rng.beta(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho, n)
    counts = be.Counts.from_arrays(rng.binomial(k, p), np.full(n, k))
    return be.fit(counts, engine="quadrature", seed=1, progress=False, **options), p


def make(post, width, **options):
    """A plan with few futures."""
    return be.plan(post, width, **{"futures": 120, "progress": False, **options})


def test_the_chosen_k_is_the_first_that_meets_the_target():
    post, _ = pilot()
    plan = make(post, 0.06, estimand="benchmark")
    curve = plan.curve
    assert plan.k == curve.loc[curve["assurance"] >= plan.assurance, "generations"].min()
    below = curve[curve["generations"] < plan.k]
    assert (below["assurance"] < plan.assurance).all()
    assert plan.k - below["generations"].max() <= max(1, plan.k // 64)


def test_benchmark_width_falls_like_one_over_the_square_root_of_k():
    post, _ = pilot()
    curve = make(post, 0.01, estimand="benchmark", generations=[16, 64, 256]).curve
    assert curve["width"].iloc[0] / curve["width"].iloc[1] == pytest.approx(2, rel=0.15)
    assert curve["width"].iloc[1] / curve["width"].iloc[2] == pytest.approx(2, rel=0.1)


def test_population_width_approaches_the_floor_and_never_beats_it():
    post, _ = pilot()
    plan = make(post, 0.01, generations=[4, 16, 1024])
    assert plan.k is None
    assert plan.floor > 0.1
    assert plan.curve["width"].iloc[-1] == pytest.approx(plan.floor, rel=0.03)
    assert (plan.curve["width"] > 0.97 * plan.floor).all()
    assert "lies below the floor" in repr(plan)
    assert "More prompts would" in repr(plan)


def test_the_floor_shrinks_with_fresh_prompts():
    post, _ = pilot()
    few, many = (make(post, 0.1, prompts="fresh", n_prompts=n, generations=[4]).floor for n in (40, 640))
    assert few / many == pytest.approx(4, rel=0.15)


def test_more_fresh_prompts_reach_what_the_same_prompts_cannot():
    post, _ = pilot()
    assert make(post, 0.08).k is None
    plan = make(post, 0.08, prompts="fresh", n_prompts=600)
    assert plan.k is not None
    assert plan.generations_so_far == 0


def test_today_costs_nothing_more():
    post, _ = pilot(n=200)
    width = post.mean(method="model").width
    plan = make(post, 1.05 * width, generations=[4, 8])
    assert plan.k == 4
    assert plan.curve["width"].iloc[0] == pytest.approx(width, rel=0.01)
    assert plan.curve["assurance_mcse"].iloc[0] == 0


@pytest.mark.parametrize(
    ("estimand", "prompts"), [("population", "same"), ("benchmark", "same"), ("population", "fresh")]
)
def test_promised_widths_are_seen_in_real_follow_ups(estimand, prompts):
    """Median and band of the planned widths against follow-ups that are simulated and refitted one by one."""
    rng = np.random.default_rng(3)
    mu, rho, n, k, more = 0.4, 0.3, 40, 6, 18
    widths, inside = [], []
    for replicate in range(16):
        post, p = pilot(n, k, mu, rho, seed=100 + replicate)
        plan = make(post, 0.1, estimand=estimand, prompts=prompts, generations=[more])
        if prompts == "same":
            correct = post.counts.correct + rng.binomial(more - k, p)
        else:
            correct = rng.binomial(more, rng.beta(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho, n))
        counts = be.Counts.from_arrays(correct, np.full(n, more))
        follow_up = be.fit(counts, engine="quadrature", progress=False)
        widths.append(follow_up.mean(estimand, method="model").width / plan.curve["width"].iloc[0])
        row = plan.curve.iloc[0]
        inside.append(row["width_lower"] <= follow_up.mean(estimand, method="model").width <= row["width_upper"])
    assert np.median(widths) == pytest.approx(1, abs=0.06)
    assert np.mean(inside) > 0.6  # a 90% band: fewer than 10 of 16 inside has probability below 0.001


def test_planned_width_equals_a_single_exact_refit():
    post, _ = pilot()
    from bayeseval.engines.batches import batch_of_counts
    from bayeseval.engines.refits import refit

    correct, generations = post.counts.correct, post.counts.generations
    ends = refit(batch_of_counts(correct[None], generations), (1, 1), (1, 1), 0.95).interval(
        "population", "model", 0.95
    )
    exact = exact_posterior(correct, generations).quantile("mu", [0.025, 0.975])
    assert [ends[0][0], ends[1][0]] == pytest.approx(exact, abs=2e-4)


def test_misfit_pilots_are_planned_for_the_robust_headline():
    rng = np.random.default_rng(5)
    counts = be.Counts.from_arrays(rng.binomial(16, rng.choice([0.02, 0.95], 200)), np.full(200, 16))
    post = be.fit(counts, engine="quadrature", draws=4000, progress=False)
    plan = make(post, 0.1, generations=[16, 64])
    assert plan.method == "robust"
    assert plan.curve["width"].iloc[0] == pytest.approx(post.mean().width, rel=0.05)
    fresh = make(post, 0.1, generations=[16], prompts="fresh", n_prompts=200)
    assert fresh.curve["width"].iloc[0] == pytest.approx(post.mean().width, rel=0.1)


def test_ragged_pilots_are_filled_up_to_k():
    counts = be.Counts.from_arrays([3, 0, 8, 2, 0], [4, 2, 9, 3, 0], prompt=list("abcde"))
    post = be.fit(counts, engine="quadrature", progress=False)
    curve = make(post, 0.1, estimand="benchmark", generations=[1, 8, 64]).curve
    assert (curve["width"].diff().dropna() < 0).all()


def test_the_rule_of_the_g_pass_paper_stands_beside_the_plan():
    post, _ = pilot()
    plan = make(post, 0.05, estimand="benchmark", attempts=16)
    assert plan.rule_generations == 48
    assert 48 in plan.curve["generations"].tolist()
    assert "k ≥ 3r" in plan.sentence()


def test_same_seed_same_plan():
    post, _ = pilot()
    one, other = (make(post, 0.05, generations=[8, 16], seed=4).curve for _ in range(2))
    assert one.equals(other)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """The same data fitted exactly, and by NUTS with a file that hides that the exact engine knows the model."""
    file = be.copy_model("beta_binomial", tmp_path_factory.mktemp("models") / "mine.py")
    file.write_text(file.read_text().replace("QUADRATURE = True", "QUADRATURE = False"))
    exact, _ = pilot(n=60, k=6)
    return exact, be.fit(exact.counts, model=file, seed=1, progress=False)


def test_another_model_may_be_refitted_by_the_beta_binomial_and_says_so(sampled):
    plan = make(sampled[1], 0.3, generations=[8], refits="exact")
    assert plan.refits == "exact"
    assert "refitted with the beta-binomial" in repr(plan)


@pytest.mark.parametrize("estimand", ["population", "benchmark"])
@pytest.mark.parametrize("score", [be.metrics.mean(), be.metrics.pass_at(4), be.metrics.g_pass(4, 0.5)])
def test_weights_on_draws_agree_with_exact_refits(sampled, estimand, score):
    """The same model known to the exact engine, and not: plans by exact refits, and by re-weighting."""
    options = {"estimand": estimand, "generations": [6, 12, 48], "score": score, "futures": 200, "assurance": 0.5}
    exact, weighted = (make(post, 0.1, **options) for post in sampled)
    assert (exact.refits, weighted.refits) == ("exact", "importance")
    assert weighted.curve["width"].to_numpy() == pytest.approx(exact.curve["width"].to_numpy(), rel=0.06)
    assert weighted.curve["sd"].to_numpy() == pytest.approx(exact.curve["sd"].to_numpy(), rel=0.06)
    assert weighted.floor == pytest.approx(exact.floor, rel=0.06)


@pytest.mark.slow
def test_futures_fitted_by_nuts_agree_with_exact_refits(sampled):
    options = {"generations": [12], "assurance": 0.5}
    exact = make(sampled[0], 0.1, **options)
    by_nuts = make(sampled[1], 0.1, refits="nuts", futures=8, **options)
    assert by_nuts.curve["width"].iloc[0] == pytest.approx(exact.curve["width"].iloc[0], rel=0.1)


@pytest.mark.parametrize("estimand", ["population", "benchmark"])
@pytest.mark.parametrize(
    "score", [be.metrics.pass_at(4), be.metrics.pass_hat(4), be.metrics.g_pass(4, 0.5), be.metrics.mg_pass(4)]
)
def test_todays_width_of_any_score_is_that_of_the_posterior(estimand, score):
    """With no generation more, every future is the pilot itself."""
    post, _ = pilot(n=80, k=8)
    own = post.score(score, estimand, method="model")
    plan = make(post, 0.9, estimand=estimand, score=score, generations=[8], futures=10)
    assert plan.curve["width"].iloc[0] == pytest.approx(own.width, rel=0.05)
    assert plan.curve["sd"].iloc[0] == pytest.approx(own.sd, rel=0.05)
    assert plan.score == score.name
    assert score.name in plan.sentence()


def test_robust_scores_are_planned_as_the_report_headlines_them():
    rng = np.random.default_rng(5)
    counts = be.Counts.from_arrays(rng.binomial(16, rng.choice([0.02, 0.6, 0.98], 200)), np.full(200, 16))
    post = be.fit(counts, engine="quadrature", draws=4000, progress=False)
    assert post.check().misfit
    for score, estimand in ((be.metrics.pass_at(8), "population"), (be.metrics.mean(), "benchmark")):
        plan = make(post, 0.5, estimand=estimand, score=score, generations=[16], futures=10)
        assert plan.method == "robust"
        assert plan.curve["width"].iloc[0] == pytest.approx(post.score(score, estimand).width, rel=0.06)


def test_standard_deviations_are_targets_too():
    post, _ = pilot()
    curve = make(post, 0.06, estimand="benchmark", generations=[16, 32]).curve
    plan = make(post, None, sd=float(curve["sd"].iloc[1]) * 1.1, estimand="benchmark", generations=[16, 32])
    assert plan.k == 32
    assert plan.measure == "sd"
    assert "posterior standard deviation of at most" in plan.sentence()
    floor = make(post, None, sd=0.01).floor
    assert floor == pytest.approx(make(post, 0.01).floor / 3.92, rel=0.05)


def test_published_numbers_are_inverted():
    """Lemma 2.1 inverted: the spread over prompts behind a mean and its standard error."""
    found = be.pilot_from_published(0.856, 0.0068, n_prompts=1319, generations=50, seed=2)
    variance = found.distribution.sd() ** 2
    assert variance.mean() == pytest.approx(0.0597197, rel=0.03)
    assert found.distribution.mean().mean() == pytest.approx(0.856, abs=0.001)
    assert found.distribution.mean().std() == pytest.approx(0.0068, rel=0.1)


def test_published_pilots_know_as_much_as_data_would():
    """The posterior of mu and rho given the mean and standard error alone, against that given the counts."""
    post, _ = pilot(n=300, k=8, mu=0.4, rho=0.3, seed=3)
    share = post.counts.correct / 8
    known = be.pilot_from_published(share.mean(), share.std(ddof=1) / np.sqrt(300), 300, 8, seed=1)
    for name in ("mean", "sd"):
        one, other = (getattr(one, name)() for one in (known.distribution, post.distribution))
        assert one.mean() == pytest.approx(other.mean(), abs=0.25 * other.std())
        assert one.std() == pytest.approx(other.std(), rel=0.25)


def test_the_planner_keeps_the_floor_of_lighteval_661():
    """30 prompts, standard error .0910 at k = 1 and .0596 at k = 64, which implies a prompt sd of .326443."""
    found = be.pilot_from_published(0.6, 0.0596, n_prompts=30, generations=64, seed=1)
    plan = make(found, 0.05, n_prompts=30)
    assert plan.k is None
    assert plan.floor > 2 * 1.96 * 0.326443 / np.sqrt(30) * 0.85
    assert (plan.curve["width"] > 0.97 * plan.floor).all()
    assert "published mean" in plan.sentence()
    with pytest.raises(be.BayesevalError, match="how many generations per prompt"):
        be.pilot_from_published(0.6, 0.0596, n_prompts=30)


def test_a_prior_alone_is_a_start_and_says_so():
    found = be.pilot_from_prior(prior={"mu": (8, 2)}, seed=1)
    plan = make(found, 0.1, n_prompts=200, futures=300)
    assert "prior alone" in plan.sentence()
    assert "no data stand behind" in repr(plan)
    # the oracle of a plan without data: widths spread much more than those of a pilot's plan
    post, _ = pilot(n=200, mu=0.8)
    own = make(post, 0.1, prompts="fresh", n_prompts=200, futures=300)
    bands = [(one.curve["width_upper"] - one.curve["width_lower"]).iloc[-1] for one in (plan, own)]
    assert bands[0] > 1.5 * bands[1]


def test_the_moments_of_published_shares_are_those_of_the_beta_binomial():
    from scipy.stats import betabinom

    from bayeseval.planning.pilots import _central_moments

    mu, rho, k = np.array([0.3, 0.9]), np.array([0.2, 0.6]), 7
    variance, fourth = _central_moments(mu, rho, k)
    a, b = mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho
    c = np.arange(k + 1)
    mass = betabinom.pmf(c[:, None], k, a, b)
    for power, value in ((2, variance), (4, fourth)):
        assert value == pytest.approx((mass * (c[:, None] / k - mu) ** power).sum(axis=0), rel=1e-9)


def test_pilots_of_one_generation_say_that_spread_is_prior_driven():
    post, _ = pilot(k=1)
    assert "follows the prior" in repr(make(post, 0.1, generations=[4]))


def test_questions_that_make_no_sense_are_refused_in_sentences():
    post, _ = pilot(n=5)
    for call, message in (
        (lambda: make(post, 0), "width must lie strictly between 0 and 1"),
        (lambda: make(post, 2), "did you mean 0.02"),
        (lambda: make(post, 0.1, assurance=80), "did you mean 0.8"),
        (lambda: make(post, 0.1, estimand="mean"), "'population', 'benchmark'"),
        (lambda: make(post, 0.1, prompts="other"), "'same', 'fresh'"),
        (lambda: make(post, 0.1, n_prompts=100), "use prompts='fresh'"),
        (lambda: make(post, 0.1, generations=[2]), "has 4 generations already"),
        (lambda: make(post, 0.1, generations=[]), "generations is empty"),
        (lambda: make(post, 0.1, generations=[0.5]), "whole number of at least 1"),
        (lambda: make(post, 0.1, attempts=0), "attempts must be a whole number"),
        (lambda: make([post], 0.1), "posterior of one run"),
        (lambda: make(post, None), "give one target"),
        (lambda: make(post, 0.1, sd=0.1), "give one target"),
        (lambda: make(post, 0.1, score="pass@4"), "made by be.metrics"),
        (lambda: make(post, 0.1, refits="other"), "'auto', 'exact'"),
        (lambda: make(be.pilot_from_prior(), 0.1), "how many fresh prompts"),
        (lambda: make(be.pilot_from_prior(), 0.1, prompts="same"), "not known one by one"),
        (lambda: make(be.pilot_from_prior(), 0.1, n_prompts=9, refits="nuts"), "needs the posterior of a pilot"),
        (lambda: make(be.pilot_from_prior(), 0.1, n_prompts=9, refits="importance"), "needs the posterior"),
        (lambda: be.pilot_from_published(0.5, 0.3, 30), "at most"),
        (lambda: be.pilot_from_published(0.5, 0.05, 1), "two prompts"),
        (lambda: be.pilot_from_published(50, 0.05, 30), "mean must lie"),
    ):
        with pytest.raises(be.BayesevalError, match=message):
            call()


def test_nothing_seen_means_nothing_to_plan_from():
    post = be.fit(be.Counts.from_arrays([0, 0], [0, 0]), engine="quadrature", progress=False)
    with pytest.raises(be.BayesevalError, match="run a pilot first"):
        make(post, 0.1)


@pytest.mark.slow
def test_fresh_prompts_of_a_clustered_pilot_are_clusters_of_their_own_and_that_is_said():
    rng = np.random.default_rng(2)
    text = np.repeat(rng.beta(2, 2, 12), 6)
    group = np.repeat([f"text {number}" for number in range(12)], 6)
    counts = be.Counts.from_arrays(rng.binomial(6, text), 6, group=group)
    post = be.fit(counts, model="clustered", seed=1, draws=250, progress=False)
    plan = make(post, 0.1, prompts="fresh", n_prompts=100, generations=[6], futures=20)
    assert "cluster of its own" in repr(plan)
    assert "cluster of its own" not in repr(make(post, 0.1, generations=[8], futures=20))
    assert "cluster of its own" in repr(
        be.frontier(post, be.Cost(), width=0.3, generations=[4], futures=20, progress=False)
    )


def test_misfit_pilots_say_that_bands_of_other_scores_do_not_show_it():
    rng = np.random.default_rng(5)
    counts = be.Counts.from_arrays(rng.binomial(16, rng.choice([0.02, 0.95], 200)), np.full(200, 16))
    post = be.fit(counts, engine="quadrature", progress=False)
    options = {"score": be.metrics.pass_at(4), "generations": [16], "futures": 20}
    assert "the band does not show it" in repr(make(post, 0.1, **options))
    assert "the band does not show it" not in repr(make(post, 0.1, generations=[16], futures=20))


def test_what_endless_generations_reach_is_judged_by_the_assurance():
    """A median floor below the target does not mean that the target is reached with the probability asked."""
    found = be.pilot_from_published(0.027, 0.011, 30, 50, seed=1)
    floor = make(found, 0.05, n_prompts=100, generations=[50]).floor
    plan = make(found, 1.05 * floor, n_prompts=100, assurance=0.9)
    assert plan.k is None
    assert plan.floor < plan.width
    assert plan.floor_assurance < 0.9
    assert "Even endless generations would reach the target with probability" in plan.sentence()
    again = make(found, plan.width, n_prompts=int(1.3 * plan.prompts_needed), generations=[50], assurance=0.9)
    assert again.floor_assurance > 0.9
