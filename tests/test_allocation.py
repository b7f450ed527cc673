"""Allocation: gains against brute force and simulation, choices against all splits, plans against what then happens."""

from __future__ import annotations

import csv
import heapq
import itertools
import json
from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.special import expit
from scipy.stats import beta as beta_law
from scipy.stats import betabinom, binom, norm

import bayeseval as be
from bayeseval import metrics, prompts
from bayeseval.model_data import keyed_cells
from bayeseval.planning.allocating.choice import against_even, choose
from bayeseval.planning.allocating.gains import (
    beta_variance,
    between,
    envelope,
    expected_variance,
    expected_variances,
    reduced,
)
from bayeseval.planning.allocating.prompt_gains import DENSE, PromptGains
from bayeseval.planning.allocating.spending import Kinds, even, room, scattered, spend
from bayeseval.prompts import BetaMixture, Explicit, Joined, LogitNormal
from tests.oracles import oracle_rows

SCORES = [
    metrics.mean(),
    metrics.pass_at(4),
    metrics.pass_hat(3),
    metrics.g_pass(6, 0.5),
    metrics.mg_pass(4),
    metrics.mg_pass(5, "integral"),
]
NAMES = [score.key for score in SCORES]


def variances(a, b, score, most):
    """Expected variances under one Beta, from SciPy's beta-binomial."""
    length = most + 2 * score.k
    return expected_variances(betabinom.pmf(np.arange(length + 1), length, a, b), score.weights)


def brute(a, b, score, more):
    """Expected posterior variance under one Beta, by integrating over p for each number of correct ones."""
    p = (np.arange(50_000) + 0.5) / 50_000
    g, density = score.given_p(p), beta_law.pdf(p, a, b)
    density /= density.sum()
    total = 0.0
    for correct in range(more + 1):
        joint = density * binom.pmf(correct, more, p)
        chance = joint.sum()
        total += chance * ((joint * g**2).sum() / chance - ((joint * g).sum() / chance) ** 2)
    return total


def one_each(table, cap=None):
    """Every row of a table as a prompt of weight 1."""
    size = len(table)
    most = np.full(size, table.shape[1] - 1 if cap is None else cap)
    return Kinds(np.arange(size), np.ones(size), np.zeros(size, dtype=int), most, np.ones(size, dtype=int))


def levels(spent):
    return [int(given[0]) for given in spent.blocks]


@cache
def fitted(n=30, k=4, a=0.8, b=0.6, seed=0, **options):
    rng = np.random.default_rng(seed)
    counts = be.Counts.from_arrays(rng.binomial(k, rng.beta(a, b, n)), k, system="a", benchmark="b")
    return be.fit(counts, engine="quadrature", seed=1, progress=False, **options)


# Gains ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("expected_post_var_mean_after_m"))
def test_variance_of_the_mean_meets_the_oracle(quantity, inputs, value):
    assert beta_variance(inputs["a"], inputs["b"], inputs["m"]) == pytest.approx(value, rel=1e-12)
    table = variances(inputs["a"], inputs["b"], metrics.mean(), inputs["m"])
    assert table[-1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("expected_post_var_pass_r_after_m"))
def test_variance_of_pass_at_k_meets_the_oracle(quantity, inputs, value):
    table = variances(inputs["a"], inputs["b"], metrics.pass_at(inputs["r"]), inputs["m"])
    assert table[-1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("evr_gain_not_monotone"))
def test_a_later_generation_can_be_worth_more(quantity, inputs, value):
    gains = -np.diff(variances(inputs["a"], inputs["b"], metrics.pass_at(inputs["r"]), 8))
    assert gains[inputs["m"]] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("score", SCORES, ids=NAMES)
@pytest.mark.parametrize(("a", "b"), [(2.5, 4.0), (1.3, 6.0), (8.0, 1.5)])
def test_expected_variances_are_those_of_brute_force(score, a, b):
    table = variances(a, b, score, 5)
    assert table == pytest.approx([brute(a, b, score, more) for more in range(6)], rel=1e-5)
    pmf = betabinom.pmf(np.arange(6 + 2 * score.k), 5 + 2 * score.k, a, b)
    assert expected_variance(pmf, score.weights) == pytest.approx(table[5], rel=1e-9)


@pytest.mark.parametrize("score", SCORES, ids=NAMES)
def test_the_square_of_a_score_is_a_score(score):
    p = np.linspace(0, 1, 21)
    attempts = np.arange(2 * score.k + 1)
    square = binom.pmf(attempts, 2 * score.k, p[:, None]) @ metrics.square_weights(score.weights)
    assert square == pytest.approx(score.given_p(p) ** 2, abs=1e-12)


def test_forgetting_generations_at_random_leaves_a_binomial_one():
    for longer, shorter in ((9, 5), (320, 300)):
        thinned = reduced(binom.pmf(np.arange(longer + 1), longer, 0.3), np.ones(longer - shorter + 1))
        assert thinned == pytest.approx(binom.pmf(np.arange(shorter + 1), shorter, 0.3), rel=1e-9)


@pytest.mark.parametrize("score", [score for score in SCORES if score.kind in ("mean", "g_pass")], ids=["mean", "g"])
def test_what_nothing_can_be_learned_about_gains_nothing(score):
    pmf = binom.pmf(np.arange(2 * score.k + 6), 2 * score.k + 5, 0.3)
    assert expected_variances(pmf, score.weights) == pytest.approx(np.zeros(6), abs=1e-15)


@pytest.mark.parametrize(
    ("score", "mirrored"), [(metrics.mean(), metrics.mean()), (metrics.pass_at(5), metrics.pass_hat(5))]
)
def test_swapping_right_and_wrong_swaps_a_and_b(score, mirrored):
    # pass@k asks for one success, pass^k for no failure: 1 - pass@k is pass^k with right and wrong swapped.
    assert variances(1.7, 0.6, score, 9) == pytest.approx(variances(0.6, 1.7, mirrored, 9), rel=1e-10)


def test_between_rungs_the_mean_of_a_beta_is_exact():
    more = np.arange(101)
    exact = beta_variance(0.4, 1.1, more)
    assert between(np.array([0, 3, 40, 100]), exact[[0, 3, 40, 100]], 100) == pytest.approx(exact, rel=1e-12)


def test_the_envelope_lies_below_and_is_convex():
    rng = np.random.default_rng(0)
    for _ in range(50):
        heights = np.sort(rng.random(12))[::-1]
        corners = envelope(heights)
        below = np.interp(np.arange(12), corners, heights[corners])
        assert (below <= heights + 1e-12).all()
        assert (np.diff(below, 2) >= -1e-12).all()
        assert corners[0] == 0
        assert corners[-1] == 11


# Families ------------------------------------------------------------------------------------------------------------


def mixture(draws=1):
    """Two Betas with a share of prompts that are never solved."""
    rows = np.ones((draws, 1))
    return BetaMixture(rows * [0.5, 0.3], rows * [0.2, 0.8], rows * [0.15, 0.3], np.array([0.0]), rows * [0.2])


@pytest.mark.parametrize("score", [metrics.mean(), metrics.pass_at(4)], ids=["mean", "pass"])
@pytest.mark.parametrize(("correct", "generations"), [(0, 4), (2, 4), (0, 0)])
def test_a_mixture_is_what_simulated_futures_give(score, correct, generations):
    cells = np.array([correct]), np.array([generations])
    gains = PromptGains(mixture(), *cells, None, score).upto(6)[0]
    rng, many = np.random.default_rng(3), 4000
    p = mixture().condition(*cells).draw(rng, np.zeros(many, dtype=int))[0]
    seen = correct + rng.binomial(6, p)
    again = mixture().condition(seen, np.full(many, generations + 6))
    within = score.given_p(np.stack([again.draw(rng, np.arange(many))[0] for _ in range(300)])).var(axis=0, ddof=1)
    assert abs(within.mean() - gains[6]) < 4 * within.std() / np.sqrt(many)


def test_a_logit_normal_is_what_a_fine_grid_gives():
    z = np.linspace(-9, 9, 20_001)
    p, score = expit(0.4 + 1.3 * z), metrics.pass_at(4)
    prior = norm.pdf(z) * binom.pmf(1, 4, p)
    prior /= prior.sum()
    expected = []
    for more in (0, 3, 20):
        joint = prior * binom.pmf(np.arange(more + 1)[:, None], more, p)
        mean = joint @ score.given_p(p) / joint.sum(axis=1)
        expected.append(prior @ score.given_p(p) ** 2 - joint.sum(axis=1) @ mean**2)
    family = LogitNormal(np.array([0.4]), np.array([1.3]))
    table = PromptGains(family, np.array([1]), np.array([4]), None, score).upto(20)[0]
    assert table[[0, 3, 20]] == pytest.approx(expected, rel=2e-3)


def test_beyond_the_dense_table_values_are_close_to_exact():
    cells = np.array([0, 3]), np.array([4, 4])
    table = PromptGains(mixture(), *cells, None, metrics.pass_at(8)).upto(400)
    posterior = mixture().condition(*cells)
    for more in (DENSE + 3, 150, 333):
        _, pmf = posterior.predictive(more + 16)
        exact = expected_variance(pmf, metrics.pass_at(8).weights)[0]
        assert table[:, more] == pytest.approx(exact, rel=2e-3)


def test_variances_are_averages_over_draws():
    few = [(0.3, 0.2), (0.6, 0.5), (0.5, 0.05)]
    cells = np.array([1]), np.array([4])
    family = prompts.beta(*map(np.array, zip(*few, strict=True)))
    shapes = [((1 - rho) / rho * mu + 1, (1 - rho) / rho * (1 - mu) + 3) for mu, rho in few]
    for score in (metrics.mean(), metrics.pass_at(3)):
        each = [variances(a, b, score, 7) for a, b in shapes]
        assert PromptGains(family, *cells, None, score).upto(7)[0] == pytest.approx(np.mean(each, axis=0), rel=1e-9)


def test_joined_families_are_the_average_of_their_parts():
    parts = [prompts.beta([0.4], [0.3]), LogitNormal(np.array([0.0]), np.array([1.0]))]
    cells = np.array([1, 4]), np.array([4, 4])
    whole, *each = (PromptGains(one, *cells, None, metrics.pass_at(4)).upto(9) for one in (Joined.of(parts), *parts))
    assert whole == pytest.approx(np.mean(each, axis=0), rel=1e-12)


def test_sampled_prompts_are_what_their_law_says():
    rng = np.random.default_rng(5)
    a, b = np.array([0.7, 3.0]), np.array([2.0, 1.5])
    p = beta_law.ppf((np.arange(1000)[:, None] + 0.5) / 1000, a, b)
    family = Explicit(rng.permuted(p, axis=0), prompts.beta(np.full(1000, 0.4), np.full(1000, 0.3)))
    cells = np.array([0, 2]), np.array([2, 3]), np.array([0, 1])
    for score in (metrics.mean(), metrics.pass_at(4)):
        exact = [variances(*shape, score, 30) for shape in zip(a, b, strict=True)]
        assert PromptGains(family, *cells, score).upto(30) == pytest.approx(np.array(exact), rel=0.02)


# Spending ------------------------------------------------------------------------------------------------------------


def beta_tables(shapes, score, most):
    return np.array([variances(a, b, score, most) for a, b in shapes])


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("greedy_allocation_fixed_mean"))
def test_greedy_choice_meets_the_oracle(quantity, inputs, value):
    a, b = np.array(inputs["beta"]).T[:, :, None]
    table = beta_variance(a, b, np.arange(inputs["budget"] + 1))
    assert levels(spend(table, one_each(table), inputs["budget"])) == value


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("greedy_allocation_objective"))
def test_greedy_objective_meets_the_oracle(quantity, inputs, value):
    a, b = np.array(inputs["beta"]).T[:, :, None]
    table = beta_variance(a, b, np.arange(inputs["budget"] + 1))
    chosen = levels(spend(table, one_each(table), inputs["budget"]))
    assert table[np.arange(len(chosen)), chosen].sum() == pytest.approx(value, rel=1e-12)


def every_split(size, budget, cap):
    return (split for split in itertools.product(range(cap + 1), repeat=size) if sum(split) == budget)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("score", [metrics.mean(), metrics.pass_at(16), metrics.pass_hat(4)], ids=["mean", "@", "^"])
def test_no_split_beats_the_plan_by_more_than_a_corner(score, seed):
    rng = np.random.default_rng(seed)
    shapes = np.exp(rng.uniform(-2, 1.5, (4, 2)))
    budget, cap = 9, 8
    table = beta_tables(shapes, score, cap)
    scale = rng.uniform(0.5, 2, 4)
    kinds = Kinds(np.arange(4), scale, np.zeros(4, dtype=int), np.full(4, cap), np.ones(4, dtype=int))
    chosen = levels(spend(table, kinds, budget))
    assert sum(chosen) == budget

    def objective(split):
        return (scale * table[np.arange(4), list(split)]).sum()

    best = min(map(objective, every_split(4, budget, cap)))
    corners = [envelope(row) for row in table]
    step = max(
        size * -np.diff(row[corner])[np.diff(corner) > 1].min(initial=0.0)
        for size, row, corner in zip(scale, table, corners, strict=True)
    )
    if score.kind == "mean":
        assert step == 0
    largest = max((size * -np.diff(row[corner])).max() for size, row, corner in zip(scale, table, corners, strict=True))
    allowed = largest if any((np.diff(corner) > 1).any() for corner in corners) else 0.0
    assert objective(chosen) <= best + allowed + 1e-15


def test_look_ahead_finds_what_one_step_at_a_time_misses():
    # The third generation decides; the first two tell nothing.
    table = np.array([[1.0, 1.0, 1.0, 0.1], [1.0, 0.9, 0.81, 0.73]])
    assert levels(spend(table, one_each(table), 3)) == [3, 0]


@pytest.mark.parametrize("budget", range(1, 13))
def test_equals_differ_by_one_and_the_budget_is_spent(budget):
    table = beta_variance(1.5, 2.0, np.arange(14))[None]
    kinds = Kinds(np.zeros(1, dtype=int), np.ones(1), np.zeros(1, dtype=int), np.array([13]), np.array([5]))
    (given,) = spend(table, kinds, budget).blocks
    assert given.sum() == budget
    assert np.ptp(given) <= 1


def test_scattered_orders_are_permutations_whose_beginnings_are_spread():
    for size in (1, 2, 3, 10, 100, 1319):
        order = scattered(size)
        assert sorted(order) == list(range(size))
        for some in (2, 4, 8):
            if some <= size // 8:
                gaps = np.diff(np.sort(order[:some]))
                assert gaps.min() > size / some / 3


def test_even_plans_stop_at_the_limits():
    kinds = Kinds(np.arange(2), np.ones(2), np.zeros(2, dtype=int), np.array([2, 10]), np.array([3, 2]))
    assert even(kinds, 10) == (2, 0.0)
    assert even(kinds, 13) == (3, 0.5)
    assert even(kinds, 26) == (10, 0.0)
    assert room(kinds, 10) == 26


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("kazdan_allocation_share"))
def test_with_much_known_already_pass_at_k_is_shared_by_the_theorem(quantity, inputs, value):
    p, r, known = np.array(inputs["p"][:2]), inputs["r"], 3000
    correct = (known * p).astype(int)
    cells = correct, np.full(2, known)
    gains = PromptGains(prompts.beta([0.5], [1 / 3]), *cells, None, metrics.pass_at(r))
    limits = np.zeros(2, dtype=int), np.full(2, 10**6)
    extra = choose(gains, np.arange(2), np.full(2, 0.5), limits, 12_000).extra
    total = known + extra
    assert total[0] / total[1] == pytest.approx(value[0] / value[1], rel=0.03)


def test_tables_reach_as_far_as_the_plan_needs():
    rng = np.random.default_rng(1)
    generations = np.array([4, 4, 4, 4, 4, 50])
    correct = np.array([0, 1, 2, 3, 4, 0])
    for a, b, budget in ((0.4, 0.3, 60), (3, 0.05, 200), (0.05, 0.6, 300), (2, 2, 500)):
        law = prompts.beta([a / (a + b)], [1 / (a + b + 1)])
        for score in (metrics.mean(), metrics.pass_at(16), metrics.pass_hat(8), metrics.g_pass(8, 0.5)):
            gains = PromptGains(law, correct, generations, None, score)
            weight = rng.dirichlet(np.ones(6))
            limits = np.zeros(6, dtype=int), np.full(6, budget)
            kinds = Kinds(np.arange(6), weight**2, *limits, np.ones(6, dtype=int))
            assert choose(gains, np.arange(6), weight, limits, budget).extra.tolist() == levels(
                spend(gains.upto(budget), kinds, budget)
            )


# The function --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [metrics.mean(), metrics.pass_at(8)], ids=["mean", "pass"])
@pytest.mark.parametrize("budget", [1, 7, 100, 1003])
def test_the_whole_budget_is_given(score, budget):
    frame = be.allocate(fitted(), budget, score).to_frame()
    assert frame["extra"].sum() == budget
    assert list(frame["prompt"]) == list(fitted().counts.prompt)


def test_the_numbers_are_those_of_the_table():
    plan = be.allocate(fitted(), 90)
    frame = plan.to_frame()
    assert plan.sd_before == pytest.approx(np.sqrt(frame["variance"].sum()) / 30)
    assert plan.sd_after == pytest.approx(np.sqrt(frame["variance_after"].sum()) / 30)
    assert plan.sd_after < plan.sd_uniform < plan.sd_before
    assert frame["mean"].to_numpy() == pytest.approx(fitted().prompts()["mean"].to_numpy(), abs=0.01)


def test_now_is_the_posterior_with_its_hyper_parameters():
    for score in (metrics.mean(), metrics.pass_at(4)):
        plan = be.allocate(fitted(), 10, score)
        sd = fitted().score(score, "benchmark", method="model").sd
        assert np.hypot(plan.sd_before, plan.sd_shared) == pytest.approx(sd, rel=0.06)


def test_an_even_budget_that_many_times_as_large_gets_as_far():
    post = fitted()
    plan = be.allocate(post, 120)
    counts = post.counts
    gains = PromptGains(post.distribution, *keyed_cells(counts.correct, counts.generations)[:3], metrics.mean())
    each = plan.saving * 120 / 30
    table = gains.upto(int(each) + 1)
    cell = keyed_cells(counts.correct, counts.generations)[3]
    low, high = (table[cell, int(each) + step].sum() for step in (0, 1))
    assert np.sqrt(low + (each - int(each)) * (high - low)) / 30 == pytest.approx(plan.sd_after, rel=1e-9)
    assert plan.saving > 1


def test_equal_prompts_get_the_same_up_to_one():
    frame = be.allocate(fitted(n=40), 133).to_frame()
    spread = frame.groupby(["correct", "generations"])["extra"].agg(np.ptp)
    assert spread.max() <= 1


def test_permuted_prompts_get_the_same_by_kind():
    counts = fitted().counts
    order = np.random.default_rng(2).permutation(30)
    other = be.Counts.from_arrays(
        counts.correct[order], 4, prompt=[counts.prompt[i] for i in order], system="a", benchmark="b"
    )
    again = be.fit(other, engine="quadrature", seed=1, progress=False)
    frames = [be.allocate(post, 77).to_frame() for post in (fitted(), again)]
    one, two = (sorted(zip(frame["correct"], frame["extra"], strict=True)) for frame in frames)
    assert one == two


def test_a_larger_budget_takes_nothing_away():
    plans = [be.allocate(fitted(), budget).to_frame()["extra"].to_numpy() for budget in (5, 6, 20, 50, 51, 400)]
    assert all((after >= before).all() for before, after in itertools.pairwise(plans))


def test_least_certain_prompts_come_first_for_the_mean():
    frame = be.allocate(fitted(n=100), 60).to_frame()
    uncertain = (frame["correct"] > 0) & (frame["correct"] < 4)
    assert frame.loc[uncertain, "extra"].mean() > frame.loc[~uncertain, "extra"].mean()


def test_unanswered_prompts_count_through_the_prior():
    counts = be.Counts.from_arrays([3, 0, 8, 2, 0], [8, 8, 8, 8, 0])
    frame = be.allocate(be.fit(counts, engine="quadrature", seed=1, progress=False), 12).to_frame()
    assert frame["extra"].to_numpy().argmax() == 4


def test_weights_move_generations():
    post = fitted()
    heavy = np.where(np.arange(30) < 15, 3.0, 1.0)
    even_handed, moved = (be.allocate(post, 150, weights=w).to_frame()["extra"] for w in (np.full(30, 7.0), heavy))
    assert (even_handed == be.allocate(post, 150).to_frame()["extra"]).all()
    assert moved[:15].sum() > even_handed[:15].sum()
    none = be.allocate(post, 150, weights=[0.0] * 10 + [1.0] * 20).to_frame()["extra"]
    assert none[:10].sum() == 0
    assert none.sum() == 150


def test_limits_hold():
    post = fitted()
    frame = be.allocate(post, 200, most=16, least=6, block=4).to_frame()
    total = frame["extra"] + frame["generations"]
    assert (frame["extra"] % 4 == 0).all()
    assert total.max() <= 16
    assert total.min() >= 6
    assert frame["extra"].sum() == 200
    mixed = be.allocate(post, 50, most=np.where(np.arange(30) < 10, 2, 30)).to_frame()
    assert mixed["extra"][:10].sum() == 0


def test_blocks_that_do_not_fit_and_full_prompts_are_told():
    plan = be.allocate(fitted(), 10, block=4)
    assert plan.spent == 8
    assert "2 of the 10 generations are not given: blocks of 4 do not fit" in repr(plan)
    full = be.allocate(fitted(), 500, most=6)
    assert full.spent == 60
    assert "no room for more" in repr(full)
    assert full.saving == pytest.approx(1)


def test_an_even_budget_out_of_reach_is_said_in_words():
    # With a cap the even plan wastes generations on prompts without worth, and cannot make up for it.
    post = fitted()
    gains = PromptGains(
        post.distribution, *keyed_cells(post.counts.correct, post.counts.generations)[:3], metrics.mean()
    )
    cell = keyed_cells(post.counts.correct, post.counts.generations)[3]
    limits = np.zeros(30, dtype=int), np.full(30, 5)
    choice = choose(gains, cell, np.full(30, 1 / 30), limits, 40)
    floor = gains.upto(5)[cell, 5].sum() / 900
    assert against_even(gains, choice, 1, floor / 2)[1] == np.inf
    assert np.isnan(against_even(gains, choice, 1, 0.0)[1])


def test_excluded_prompts_get_nothing_but_count():
    post = fitted()
    names = [str(name) for name in post.counts.prompt[:12]]
    plan = be.allocate(post, 100, exclude=names)
    assert plan.to_frame()["extra"][:12].sum() == 0
    assert plan.spent == 100
    assert plan.sd_after > be.allocate(post, 100).sd_after
    mask = np.arange(30) < 12
    assert (be.allocate(post, 100, exclude=mask).to_frame()["extra"] == plan.to_frame()["extra"]).all()


def test_a_stack_and_sampled_prompts_are_allocated_too():
    members = [
        be.fit(fitted().counts, prior=prior, engine="quadrature", seed=1, progress=False)
        for prior in ({}, {"rho": (2, 2)})
    ]
    plan = be.allocate(be.Stacked.of(members), 60)
    assert plan.spent == 60
    post = be.fit(fitted().counts, engine="quadrature", seed=1, progress=False)
    counts = post.counts
    p = post.distribution.condition(counts.correct, counts.generations).draw(np.random.default_rng(1), np.arange(30))
    post.__dict__["distribution"] = Explicit(p, post.distribution)
    sampled, whole = be.allocate(post, 60), be.allocate(fitted(), 60)
    assert sampled.spent == 60
    # Its variances hold the uncertainty about the hyper-parameters too, as far as one prompt shows it.
    assert whole.sd_after < sampled.sd_after < np.hypot(whole.sd_after, whole.sd_shared)
    total = np.hypot(whole.sd_before, whole.sd_shared)
    assert np.hypot(sampled.sd_before, sampled.sd_shared) == pytest.approx(total, rel=0.1)


def test_the_plan_says_itself():
    plan = be.allocate(fitted(), 60, metrics.pass_at(4))
    text = plan.sentence()
    assert text.startswith("pass@4 of a on b, benchmark estimand (these prompts): 60 more generations on ")
    assert f"{plan.saving:.3g} times as large" in text
    assert text in repr(plan)
    assert "<table>" in plan._repr_html_()


@pytest.mark.parametrize("every", [False, True])
def test_files_hold_what_a_harness_needs(tmp_path, every):
    counts = be.Counts.from_arrays([4, 2, 0, 4], 4, prompt=["007", 'a,"b"', "日\n", "x"])
    plan = be.allocate(be.fit(counts, engine="quadrature", seed=1, progress=False), 5)
    frame = plan.to_frame()
    rows = frame if every else frame[frame["extra"] > 0]
    expected = list(zip(rows["prompt"].tolist(), rows["extra"].tolist(), strict=True))
    assert 0 < len(expected) <= 4
    paths = {
        ending: plan.write(tmp_path / f"plan.{ending}", every=every) for ending in ("csv", "json", "jsonl", "parquet")
    }
    with paths["csv"].open(newline="", encoding="utf-8") as file:
        assert [(row["prompt"], int(row["extra"])) for row in csv.DictReader(file)] == expected
    whole = json.loads(paths["json"].read_text(encoding="utf-8"))
    lines = [json.loads(line) for line in paths["jsonl"].read_text(encoding="utf-8").split("\n")[:-1]]
    for read in (whole, lines, pl.read_parquet(paths["parquet"]).to_dicts()):
        assert [(row["prompt"], row["extra"]) for row in read] == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 0}, "budget must be a whole number of at least 1"),
        ({"budget": 2.5}, "budget must be a whole number"),
        ({"budget": 10, "score": "mean"}, "score must be a Metric"),
        ({"budget": 10, "block": 0}, "block must be a whole number"),
        ({"budget": 10, "block": 20}, "does not reach for one block of 20"),
        ({"budget": 10, "most": 3}, "most = 3 is below what prompts already have, 4 generations or more"),
        ({"budget": 10, "most": 4}, "prompts that already have everything"),
        ({"budget": 10, "most": [5, 6]}, "most must be one number, or one for each of the 30 prompts"),
        ({"budget": 10, "most": 5.5}, "most must be whole numbers"),
        ({"budget": 10, "least": 9}, "least asks for 150 further generations, but the budget is 10"),
        ({"budget": 500, "least": 9, "most": 10, "block": 4}, "without going beyond most"),
        ({"budget": 10, "exclude": [True] * 30}, "prompts that already have everything: all 30 are excluded"),
        ({"budget": 10, "exclude": ["nobody"]}, "exclude names prompt 'nobody'"),
        ({"budget": 10, "exclude": "p"}, "write \\['p'\\]"),
        ({"budget": 10, "weights": [1.0]}, "one number for each of the 30 prompts"),
        ({"budget": 10, "weights": [float("nan")] + [1.0] * 29}, "that of prompt number 1 is nan"),
        ({"budget": 10, "weights": [-1.0] * 30}, "not negative"),
        ({"budget": 10, "weights": [0.0] * 30}, "every weight is 0"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(options, words):
    with pytest.raises(be.BayesevalError, match=words):
        be.allocate(fitted(), **options)


def test_only_one_run_of_counts_is_taken():
    posts = be.fit(be.example("aime24-50"), engine="quadrature", seed=1, progress=False)
    with pytest.raises(be.BayesevalError, match="select"):
        be.allocate(posts, 10)
    with pytest.raises(be.BayesevalError, match=r"written as \.csv"):
        be.allocate(posts[0], 10).write("plan.txt")
    with pytest.raises(be.BayesevalError, match="no folder"):
        be.allocate(posts[0], 10).write("no/such/plan.csv")


# What then happens ---------------------------------------------------------------------------------------------------


def moments_of(score, correct, generations, a, b):
    """Posterior mean and variance of the score of each prompt under a known Beta; mean and pass@k alone."""
    a, b = a + correct, b + generations - correct
    total = a + b
    if score.kind == "mean":
        return a / total, a * b / total**2 / (total + 1)
    factors = np.arange(2 * score.k)
    missed = np.cumprod((b[:, None] + factors) / (total[:, None] + factors), axis=1)
    return 1 - missed[:, score.k - 1], missed[:, -1] - missed[:, score.k - 1] ** 2


def dynamic(rng, p, correct, generations, budget):
    """Kazdan's practical rule: next comes the prompt with the fewest successes, among those the fewest attempts."""
    correct, generations = correct.copy(), generations.copy()
    queue = [(int(c), int(n), i) for i, (c, n) in enumerate(zip(correct, generations, strict=True))]
    heapq.heapify(queue)
    for draw in rng.random(budget):
        c, n, i = heapq.heappop(queue)
        heapq.heappush(queue, (c + int(draw < p[i]), n + 1, i))
    for c, n, i in queue:
        correct[i], generations[i] = c, n
    return correct, generations


def futures(score, repeats, a=0.5, b=0.8, n=120, pilot=4, budget=480, seed=0):
    """Squared errors, posterior variances and predictions over simulated benchmarks, for three ways to spend."""
    rng = np.random.default_rng(seed)
    law = prompts.beta([a / (a + b)], [1 / (a + b + 1)])
    found = {name: [] for name in ("plan", "even", "dynamic")}
    for _ in range(repeats):
        p = rng.beta(a, b, n)
        truth = score.given_p(p).mean()
        correct, generations = rng.binomial(pilot, p), np.full(n, pilot)
        *cells, cell = keyed_cells(correct, generations)
        gains = PromptGains(law, *cells, score)
        choice = choose(gains, cell, np.full(n, 1 / n), (np.zeros(n, dtype=int), np.full(n, budget)), budget)
        each = np.full(n, budget // n)
        ends = {"dynamic": (*dynamic(rng, p, correct, generations, budget), np.nan)}
        for name, extra in (("plan", choice.extra), ("even", each)):
            predicted = gains.upto(int(extra.max()))[cell, extra].sum() / n**2
            ends[name] = correct + rng.binomial(extra, p), generations + extra, predicted
        for name, (c, k, predicted) in ends.items():
            mean, variance = moments_of(score, c, k, a, b)
            found[name].append(((mean.mean() - truth) ** 2, variance.sum() / n**2, predicted))
    return {name: np.array(rows).T for name, rows in found.items()}


@pytest.mark.parametrize("score", [metrics.mean(), metrics.pass_at(16)], ids=["mean", "pass"])
def test_plans_bring_what_they_promise(score):
    repeats = 200
    found = futures(score, repeats)
    for name in ("plan", "even"):
        error, realised, predicted = found[name]
        off = realised - predicted
        assert abs(off.mean()) < 4 * off.std() / np.sqrt(repeats)
        assert error.mean() / realised.mean() == pytest.approx(1, abs=4 * error.std() / error.mean() / np.sqrt(repeats))
    # The ratio of the two, which the saving rests on, by the realised posterior variance.
    ratio = found["plan"][1].mean() / found["even"][1].mean()
    assert ratio == pytest.approx(found["plan"][2].mean() / found["even"][2].mean(), rel=0.03)
    assert ratio < 1


def in_rounds(score, rng, p, correct, generations, budget, law, rounds):
    """Plan, answer, plan again."""
    limits = np.zeros(p.size, dtype=int), np.full(p.size, budget)
    for _ in range(rounds):
        *cells, cell = keyed_cells(correct, generations)
        gains = PromptGains(law, *cells, score)
        extra = choose(gains, cell, np.full(p.size, 1 / p.size), limits, budget // rounds).extra
        correct, generations = correct + rng.binomial(extra, p), generations + extra
    return correct, generations


@pytest.mark.parametrize(("budget", "most"), [(480, 1.02), (1920, 0.8)])
def test_plans_in_rounds_keep_up_with_dynamic_sampling_and_win_when_budgets_are_large(budget, most):
    # Dynamic sampling looks at every outcome, but goes on with prompts whose pass@16 is long known.
    score, a, b, size = metrics.pass_at(16), 0.5, 0.8, 120
    rng, law = np.random.default_rng(4), prompts.beta([a / (a + b)], [1 / (a + b + 1)])
    variance = {"rounds": [], "dynamic": []}
    for _ in range(40):
        p = rng.beta(a, b, size)
        correct, generations = rng.binomial(4, p), np.full(size, 4)
        ends = {
            "rounds": in_rounds(score, rng, p, correct, generations, budget, law, 4),
            "dynamic": dynamic(rng, p, correct, generations, budget),
        }
        for name, end in ends.items():
            variance[name].append(moments_of(score, *end, a, b)[1].sum())
    ratio = np.array(variance["rounds"]) / np.array(variance["dynamic"])
    assert ratio.mean() < most + 4 * ratio.std() / np.sqrt(40)


# The figure ----------------------------------------------------------------------------------------------------------


def test_the_figure_shows_what_the_table_says():
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure

    plan = be.allocate(fitted(), 60, metrics.pass_at(4))
    ax = plan.plot(ax=Figure().subplots())
    frame = plan.to_frame()
    drawn = np.concatenate([np.asarray(found.get_offsets()) for found in ax.collections])
    expected = {(round(mean, 6), extra) for mean, extra in zip(frame["mean"], frame["extra"], strict=True)}
    assert {(round(x, 6), int(y)) for x, y in drawn} == expected
    filled, hollow = ax.collections
    assert (np.asarray(filled.get_offsets())[:, 1] > 0).all()
    assert (np.asarray(hollow.get_offsets())[:, 1] == 0).all()
    assert to_rgba(filled.get_facecolor()[0])[3] > 0
    assert not len(hollow.get_facecolor()) or hollow.get_facecolor()[0][3] == 0
    (line,) = ax.lines
    assert line.get_ydata()[0] == 60 / 30
    assert "benchmark (these prompts)" in ax.get_title(loc="left")


def test_what_a_plan_leaves_behind_is_not_judged_by_shares_of_correct_answers():
    """After adaptive generations the unbiased mean is biased: no headline and no alarm may be made of it."""
    rng = np.random.default_rng(4)
    p = rng.choice([0.02, 0.5, 0.97], 400)
    pilot = be.Counts.from_arrays(rng.binomial(4, p), 4)
    extra = be.allocate(be.fit(pilot, engine="quadrature", progress=False), 1200).to_frame()["extra"].to_numpy()
    counts = be.Counts.from_arrays(pilot.correct + rng.binomial(extra, p), 4 + extra)
    post = be.fit(counts, engine="quadrature", progress=False)
    assert post.check().misfit
    assert post.mean("benchmark").method == "model"
    assert "although it fails its check" in repr(post)
    assert "go with" in repr(be.moments(counts))


def test_generations_that_do_not_depend_on_answers_are_no_cause_for_alarm():
    from bayeseval.estimators.adaptivity import adaptive_hint

    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        generations = rng.integers(1, 30, 100)
        alarms += bool(adaptive_hint(rng.binomial(generations, rng.random(100)), generations))
    assert alarms <= 8  # two tests at 1%: more than 8 of 200 has probability below 0.03
