"""Joint models of two systems: likelihoods against brute force, limits, mirrors, published cases, recovery."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logsumexp

import bayeseval as be
from bayeseval.catalogue import load_model
from bayeseval.conformance import log_density
from bayeseval.likelihoods import dirichlet_multinomial_loglik, level_survival, pair_normal_cells, plackett_logs
from bayeseval.pair_data import PairData
from bayeseval.prompts import DirichletPairs, LogitNormalPairs
from tests.oracles import oracle_rows

NAMES = ("a", "b")
METRICS = [be.metrics.mean(), be.metrics.pass_at(3), be.metrics.g_pass(4, 0.5)]


def pairs_of_tables(tables, **more):
    """Pairs of coupled generations from tables (prompt, 4): both, only A, only B, neither."""
    tables = np.asarray(tables)
    both, only_a, only_b, _ = tables.T
    size = tables.sum(axis=1)
    prompts = [f"p{index}" for index in range(len(tables))]
    return be.Pairs(NAMES, "sums", prompts, [both + only_a, both + only_b], [size, size], both, **more)


def independent(pairs):
    return be.Pairs(pairs.systems, pairs.benchmark, pairs.prompt, pairs.correct, pairs.generations)


def simulated_tables(n, k, m, s, r, log_psi, seed):
    rng = np.random.default_rng(seed)
    u, v = rng.standard_normal((2, n))
    shares = np.exp(
        np.stack(plackett_logs(np, m[0] + s[0] * u, m[1] + s[1] * (r * u + np.sqrt(1 - r * r) * v), np.array(log_psi)))
    )
    return rng.multinomial(k, (shares / shares.sum(axis=0)).T)


LONG = pytest.param("coupled_plackett", marks=pytest.mark.slow)
"""Its program takes a minute to compile."""


@pytest.fixture(scope="module")
def small():
    return pairs_of_tables(simulated_tables(24, 6, (0.3, -0.2), (1.5, 1.0), 0.7, 1.0, 1))


@pytest.fixture(scope="module", params=["coupled", "paired", LONG])
def post(request, small):
    data = independent(small) if request.param == "paired" else small
    return be.fit(data, model=request.param, seed=1, draws=250, tune=250, progress=False)


# Likelihoods ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log_psi", [-9.0, -2.0, -1e-9, 0.0, 1e-12, 0.7, 4.0, 12.0])
def test_plackett_has_its_margins_and_its_odds_ratio(log_psi):
    eta_a, eta_b = np.meshgrid(np.linspace(-14, 14, 29), np.linspace(-12, 16, 27))
    logs = plackett_logs(np, eta_a, eta_b, np.array(log_psi))
    both, only_a, only_b, neither = (np.exp(log) for log in logs)
    np.testing.assert_allclose(both + only_a, expit(eta_a), rtol=1e-11)
    np.testing.assert_allclose(both + only_b, expit(eta_b), rtol=1e-11)
    np.testing.assert_allclose(neither + only_a, expit(-eta_b), rtol=1e-11)
    np.testing.assert_allclose(logs[0] + logs[3] - logs[1] - logs[2], log_psi, atol=1e-8)


def test_plackett_without_association_is_the_product():
    eta = np.linspace(-5, 5, 11)
    logs = plackett_logs(np, eta, 1 - eta, np.array(0.0))
    products = [a * b for a, b in itertools.product((expit(eta), expit(-eta)), (expit(1 - eta), expit(eta - 1)))]
    np.testing.assert_allclose(np.exp(logs), products, rtol=1e-12)


def brute(a, b, r, cell, log_psi=None, size=1601):
    """The integral over both logits by the trapezoidal rule on a dense square around its highest point, one cell."""

    def square(u, v):
        return _height(u, v, a, b, r, cell, log_psi)

    far = np.linspace(-60, 60, 481)
    top = np.unravel_index(np.argmax(square(*np.meshgrid(far, far))), (far.size, far.size))
    z = np.linspace(-8, 8, size)
    height = square(*np.meshgrid(far[top[1]] + z, far[top[0]] + z))
    return logsumexp(height) + 2 * np.log(z[1] - z[0]) - np.log(2 * np.pi)


def _height(u, v, a, b, r, cell, log_psi):
    eta_a, eta_b = a[0] + a[1] * u, b[0] + b[1] * (r * u + np.sqrt(1 - r * r) * v)
    if log_psi is None:
        c_a, k_a, c_b, k_b = cell
        height = c_a * eta_a - k_a * np.logaddexp(0, eta_a) + c_b * eta_b - k_b * np.logaddexp(0, eta_b)
    else:
        height = sum(n * log for n, log in zip(cell, plackett_logs(np, eta_a, eta_b, np.array(log_psi)), strict=True))
    return height - (u * u + v * v) / 2


def rule(a, b, r, cell, log_psi=None):
    a, b = (tuple(np.array(float(value)) for value in pair) for pair in (a, b))
    cells = tuple(np.array([float(count)]) for count in cell)
    return pair_normal_cells(np, a, b, np.array(r), cells, None if log_psi is None else np.array(log_psi))[0]


NORMALS = [((0.3, 1.0), (-0.5, 1.5), 0.6), ((2.0, 0.05), (1.0, 0.3), -0.4), ((-1.0, 3.0), (1.0, 5.0), 0.97)]


@pytest.mark.parametrize(("a", "b", "r"), NORMALS)
@pytest.mark.parametrize("cell", [(0, 0, 0, 0), (1, 1, 0, 1), (0, 4, 4, 4), (3, 10, 12, 16), (60, 64, 700, 1000)])
def test_independent_cells_are_the_integral(a, b, r, cell):
    assert rule(a, b, r, cell) == pytest.approx(brute(a, b, r, cell), abs=3e-3)


@pytest.mark.parametrize(("a", "b", "r"), NORMALS)
@pytest.mark.parametrize("log_psi", [-1.5, 2.5])
@pytest.mark.parametrize("cell", [(1, 0, 0, 0), (0, 1, 0, 0), (2, 0, 0, 2), (5, 1, 3, 1), (200, 30, 20, 250)])
def test_coupled_cells_are_the_integral(a, b, r, log_psi, cell):
    assert rule(a, b, r, cell, log_psi) == pytest.approx(brute(a, b, r, cell, log_psi), abs=3e-3)


IMPROBABLE = [
    ((-0.69, 2.79), (-2.96, 0.44), 0.26, 3.2, (0, 1, 7, 0)),
    ((0.3, 2.0), (-1.0, 1.5), 0.5, 5.0, (0, 5, 3, 0)),
    ((0.0, 1.0), (0.0, 2.0), 0.9, -5.0, (4, 0, 0, 4)),
]


@pytest.mark.parametrize(("a", "b", "r", "log_psi", "cell"), IMPROBABLE)
def test_tables_that_the_odds_ratio_makes_improbable_are_the_integral(a, b, r, log_psi, cell):
    """Newton's method with full steps ran away from the mode of the first, which then seemed impossible."""
    assert rule(a, b, r, cell, log_psi) == pytest.approx(brute(a, b, r, cell, log_psi), abs=2e-2)


def test_probabilities_of_all_tables_sum_to_one():
    tables = np.array([t for t in itertools.product(range(5), repeat=4) if sum(t) == 4])
    cells = tuple(tables.T.astype(float))
    a, b = (np.array(0.4), np.array(1.2)), (np.array(-0.3), np.array(2.0))
    logs = pair_normal_cells(np, a, b, np.array(0.5), cells, np.array(1.5))
    ways = [stats.multinomial.pmf(t, 4, np.full(4, 0.25)) * 4**4 for t in tables]
    assert np.exp(logs) @ ways == pytest.approx(1, abs=2e-4)


@pytest.mark.parametrize("table", [(3, 1, 0, 2), (0, 0, 0, 1), (20, 5, 9, 30)])
def test_an_odds_ratio_of_one_makes_two_binomials(table):
    both, only_a, only_b, _ = table
    k = sum(table)
    a, b, r = (0.2, 1.3), (-0.6, 0.8), 0.5
    margins = (both + only_a, k, both + only_b, k)
    assert rule(a, b, r, table, 0.0) == pytest.approx(rule(a, b, r, margins), abs=1e-6)


def test_without_correlation_a_pair_is_two_single_systems():
    from bayeseval.likelihoods import logit_normal_cells

    one = [
        logit_normal_cells(np, np.array(m), np.array(s), np.array([c]), np.array([k]))[0]
        for m, s, c, k in ((0.3, 1.2, 3.0, 8.0), (-0.4, 2.0, 1.0, 5.0))
    ]
    assert rule((0.3, 1.2), (-0.4, 2.0), 0.0, (3, 8, 1, 5)) == pytest.approx(sum(one), abs=1e-4)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("dirichlet_multinomial_logpmf"))
def test_the_table_likelihood_is_the_oracle(quantity, inputs, value):
    from scipy.special import gammaln

    table, rho = np.array(inputs["n"]), np.array(float(inputs["rho"]))
    data = PairData(pairs_of_tables([table]), ("kinds",))
    got = dirichlet_multinomial_loglik(np, np.array(inputs["phi"]), rho, 1 - rho, data.arrays)
    assert float(got) + gammaln(table.sum() + 1) - gammaln(table + 1).sum() == pytest.approx(value, rel=1e-9)
    assert data.kinds_block.keys() == level_survival([table]).keys()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "free"), [("paired", 5), ("coupled_plackett", 6)])
def test_the_slope_of_a_density_is_the_limit_of_its_differences(name, free):
    """The slope is written out by hand; a difference also moves the nodes, whose error is below 1e-3 here."""
    import jax

    from bayeseval import _compat
    from bayeseval.engines.programs import density_of

    model = load_model(name)
    data = PairData(pairs_of_tables([[2, 1, 0, 1], [0, 0, 1, 3], [4, 0, 0, 0], [1, 0, 2, 2]]), model.blocks)
    point, step = np.array([0.3, -0.4, -0.2, 0.1, 0.8, 0.9][:free]), 1e-4
    with _compat.double_precision():
        density, _, facts = density_of(model, model.prior(), data)
        arrays = [data.arrays[name] for name in facts["inputs"]]
        slope = np.asarray(jax.grad(density)(point, arrays))
        values = jax.vmap(lambda x: density(x, arrays))(
            np.concatenate([point + step * one for one in (np.eye(free), -np.eye(free))])
        )
    differences = (values[:free] - values[free:]) / (2 * step)
    np.testing.assert_allclose(slope, differences, atol=2e-3)


@pytest.mark.parametrize("name", ["paired", LONG])
def test_the_density_of_a_model_is_the_brute_force_likelihood(name):
    model = load_model(name)
    sets = [[[2, 1, 0, 1], [0, 0, 1, 3], [2, 1, 0, 1]], [[1, 1, 1, 1], [0, 2, 1, 1], [4, 0, 0, 0]]]
    data = [PairData(pairs_of_tables(tables), model.blocks) for tables in sets]
    free = np.array([0.3, -0.4, 0.2, 0.5, 0.8, 0.9][: 5 if name == "paired" else 6])
    got = np.diff(log_density(model, model.prior(), data, free[None]), axis=0)[0, 0]
    r = 2 * expit(free[4]) - 1
    a, b = (free[0], np.exp(free[2])), (free[1], np.exp(free[3]))
    psi = None if name == "paired" else free[5]
    ours, theirs = (sum(brute(a, b, r, cell, psi, 401) for cell in one.prompts) for one in data)
    assert got == pytest.approx(theirs - ours, abs=2e-3)


# Distributions over prompts -------------------------------------------------------------------------------------------

DISTRIBUTIONS = [
    DirichletPairs(np.array([[0.5, 0.2, 0.1, 0.2]]), np.array([0.3])),
    LogitNormalPairs(np.array([[0.4, -0.3]]), np.array([[1.5, 0.8]]), np.array([0.6])),
    LogitNormalPairs(np.array([[0.4, -0.3]]), np.array([[1.5, 0.8]]), np.array([0.6]), np.array([2.0])),
]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=["dirichlet", "normal", "plackett"])
def test_fresh_prompts_have_the_scores_and_the_covariance_that_are_said(distribution):
    size, rng = 200_000, np.random.default_rng(1)
    fresh = distribution.fresh(size, rng)
    for metric in METRICS:
        value = metric.given_p(fresh.p[0])
        error = 4 * value.std(axis=1) / np.sqrt(size)
        assert (np.abs(value.mean(axis=1) - distribution.score(metric)[0]) < error).all()
    correct, both = fresh.generate(np.ones((2, size), dtype=int), rng)
    assert np.abs(correct[0].mean(axis=1) - fresh.p[0].mean(axis=1)).max() < 4 * 0.5 / np.sqrt(size)
    if fresh.shares is None:
        assert both is None and distribution.kappa() == 0
        return
    covariance = fresh.shares[0, :, 0] - fresh.p[0].prod(axis=0)
    assert abs(covariance.mean() - distribution.kappa()[0]) < 4 * covariance.std() / np.sqrt(size) + 1e-12
    assert abs(both.mean() - fresh.shares[..., 0].mean()) < 4 * 0.5 / np.sqrt(size)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=["dirichlet", "normal", "plackett"])
def test_prompts_given_their_counts_are_drawn_from_the_joint_posterior(distribution):
    """Against fresh prompts that happened to have these counts."""
    rng = np.random.default_rng(2)
    size, table = 400_000, np.array([1, 1, 0, 1])
    fresh = distribution.fresh(size, rng)
    correct, both = fresh.generate(np.full((2, size), 3), rng)
    same = (correct[0, 0] == 2) & (correct[0, 1] == 1) & (True if both is None else both[0] == 1)
    cell = np.array([[2, 3, 1, 3]]) if both is None else table[None]
    like = fresh.p[0][:, same]
    drawn = distribution.draw(cell, np.zeros(20_000, dtype=int), rng)[0]
    for function in (lambda p: p[0], lambda p: p[1], lambda p: p[0] * p[1], lambda p: p[0] ** 2, lambda p: p[1] ** 3):
        one, other = function(like), function(drawn)
        error = np.sqrt(one.var() / one.size + other.var() / other.size)
        assert abs(one.mean() - other.mean()) < 4 * error
    assert np.abs(distribution.conditional_mean(cell)[0, :, 0] - like.mean(axis=1)).max() < 4 * 0.3 / np.sqrt(
        same.sum()
    )


# Limits, mirrors, published cases -----------------------------------------------------------------------------------


CASES = [((120, 25, 10, 65), 0.994335), ((780, 418, 439, 363), 1 - 0.76328), ((1963, 965, 1143, 929), 1 - 0.999947)]


@pytest.mark.parametrize(("table", "chance"), CASES, ids=str)
def test_one_generation_to_a_prompt_gives_the_dirichlet_answer(table, chance):
    """Cases 19 and 21: with one generation rho plays no role, and phi has the posterior Dirichlet(1 + table)."""
    post = be.fit(pairs_of_tables(np.repeat(np.eye(4, dtype=int), table, axis=0)), seed=1, progress=False)
    exact = np.random.default_rng(1).dirichlet(np.add(table, 1), 400_000)
    assert np.mean(exact[:, 1] > exact[:, 2]) == pytest.approx(chance, abs=3e-3)
    effective = post.n_draws / 4
    assert post.p_better(method="model") == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / effective))
    expected = (table[1] - table[2]) / (sum(table) + 4)
    score = post.difference(method="model")
    assert score.value == pytest.approx(expected, abs=4 * score.sd / np.sqrt(effective))
    assert any("one generation per prompt" in text for text in post.check().warnings)


def test_systems_that_never_differ_are_as_good_as_each_other():
    """Case 20: no discordant pair."""
    tables = np.repeat(np.array([[4, 0, 0, 0], [0, 0, 0, 4], [2, 0, 0, 2]]), [20, 15, 5], axis=0)
    post = be.fit(pairs_of_tables(tables), seed=1, progress=False)
    assert post.p_better() == pytest.approx(0.5, abs=0.06)
    score = post.difference()
    assert score.value == pytest.approx(0, abs=score.sd / 5)
    # No wider than one generation for each of the 40 prompts would leave it under the Dirichlet prior of weight 4.
    assert score.lower < 0 < score.upper and score.width < 4 * np.sqrt(2 / 44 / 45)


@pytest.mark.slow
def test_swapping_the_systems_mirrors_the_difference(small, post):
    data = small.swapped() if post.pairs.coupled else independent(small).swapped()
    other = be.fit(data, model=post.model, seed=2, draws=250, tune=250, progress=False)
    for estimand in ("population", "benchmark"):
        one, two = (fitted.difference(estimand, method="model") for fitted in (post, other))
        assert one.value == pytest.approx(-two.value, abs=0.3 * one.sd)
        assert one.sd == pytest.approx(two.sd, rel=0.25)


def test_rho_goes_to_zero_where_prompts_are_alike():
    tables = np.random.default_rng(3).multinomial(40, [0.4, 0.3, 0.1, 0.2], 60)
    post = be.fit(pairs_of_tables(tables), seed=1, draws=500, tune=500, progress=False)
    assert post.parameters["rho"].mean() < 0.02
    shares = tables.sum(axis=0) / tables.sum()
    score = post.difference(method="model")
    assert score.value == pytest.approx(shares[1] - shares[2], abs=0.01)
    binomial = np.sqrt((shares[1] + shares[2] - (shares[1] - shares[2]) ** 2) / tables.sum())
    assert binomial <= score.sd < 1.6 * binomial
    kappa = shares[0] - (shares[0] + shares[1]) * (shares[0] + shares[2])
    assert post.kappa().lower < kappa < post.kappa().upper


def test_the_data_of_a_model_do_not_grow_with_the_prompts():
    tables = [[2, 1, 0, 1], [0, 0, 1, 3], [4, 0, 0, 0]]
    for blocks in (("pairs",), ("tables",), ("kinds",)):
        once, often = (PairData(pairs_of_tables(np.repeat(tables, times, axis=0)), blocks) for times in (1, 500))
        assert [a.shape for a in once.arrays.values()] == [a.shape for a in often.arrays.values()]
        assert sum(a.size for a in often.arrays.values()) < 300


def test_a_padded_cell_changes_nothing():
    model = load_model("paired")
    few = pairs_of_tables([[2, 1, 0, 1]])
    data = PairData(few, model.blocks)
    names = ["pair_correct_a", "pair_generations_a", "pair_correct_b", "pair_generations_b", "pair_prompts"]
    assert list(data.arrays) == names
    assert data.arrays["pair_prompts"].sum() == 1
    density = log_density(model, model.prior(), [data], np.zeros((1, 5)))
    assert np.isfinite(density).all()


# What a posterior answers ---------------------------------------------------------------------------------------------


def test_every_model_of_pairs_answers_every_question(post, small):
    assert post.difference().estimand == "population"
    for metric in METRICS:
        for estimand in ("population", "benchmark"):
            scores = [post.score(metric, name, estimand) for name in NAMES]
            difference = post.metric_difference(metric, estimand)
            assert all(0 <= score.lower <= score.value <= score.upper <= 1 for score in scores)
            if scores[0].method == difference.method:
                assert difference.value == pytest.approx(scores[0].value - scores[1].value, abs=1e-12)
    assert len(post.scores(METRICS)) == 18
    draws = post.prompt_draws(300)
    assert draws.shape == (300, 2, len(small)) and (draws >= 0).all() and (draws <= 1).all()
    frame = post.prompts()
    assert len(frame) == len(small)
    error = draws.std(axis=0) / np.sqrt(100)
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - frame[["p_a", "p_b"]].to_numpy().T), 4 * error + 1e-3)
    assert (frame["lower"] <= frame["difference"]).all() and (frame["difference"] <= frame["upper"]).all()
    np.testing.assert_allclose(frame["difference"], frame["p_a"] - frame["p_b"], atol=1e-12)
    benchmark = post.difference("benchmark")
    assert benchmark.value == pytest.approx(frame["difference"].mean(), abs=0.3 * benchmark.sd)
    assert post.check().ok == (post.check().diagnostics.ok and not post.check().misfit)
    assert "a minus b on sums" in repr(post)
    assert "<table>" in post._repr_html_() and "headline" in post.to_frame()
    for ax in (post.plot(), post.check().plot(), post.check().plot(of="second")):
        assert ax.get_xlabel() and ax.get_title(loc="left")


@pytest.mark.parametrize(("score", "metric"), [("mean", be.metrics.mean()), ("pass@4", be.metrics.pass_at(4))])
@pytest.mark.parametrize("estimand", ["population", "benchmark"])
def test_a_contrast_of_a_joint_posterior_is_its_own_difference(post, score, metric, estimand):
    own = post.metric_difference(metric, estimand)
    found = be.contrast(post, score=score, estimand=estimand)
    np.testing.assert_array_equal(found.draws, own.draws)
    assert found.method == "joint" and found.systems == NAMES and found.estimand == estimand
    assert found.value == pytest.approx(own.value, abs=1e-12)
    assert found.p_greater == pytest.approx(post.p_better(estimand, metric), abs=1e-12)
    assert set(own.warnings) <= set(found.warnings)
    with pytest.raises(be.BayesevalError, match="leave b out"):
        be.contrast(post, be.Counts.from_arrays([1], 4))


def test_a_saved_posterior_comes_back(post, tmp_path):
    again = be.load(post.save(tmp_path / "pairs.nc"))
    assert isinstance(again, be.PairPosterior)
    assert again.systems == NAMES and again.pairs.coupled == post.pairs.coupled
    for estimand in ("population", "benchmark"):
        assert again.difference(estimand).value == post.difference(estimand).value
    assert {"posterior", "sample_stats", "observed_data", "constant_data"} <= set(post.data.children)


def test_kappa_needs_a_model_that_knows_it(post):
    if post.distribution.coupled:
        assert -0.25 <= post.kappa().lower < post.kappa().upper <= 0.25
    else:
        with pytest.raises(be.BayesevalError, match="takes generations as independent"):
            post.kappa()


@pytest.mark.slow
def test_pairing_narrows_the_difference():
    """Theory E(v): paired prompts subtract 2 Cov(p_A, p_B) / n."""
    tables = simulated_tables(150, 8, (0.5, 0.2), (2.0, 2.0), 0.95, 0.0, 4)
    pairs = independent(pairs_of_tables(tables))
    joint = be.fit(pairs, seed=1, draws=500, progress=False).difference(method="model")
    alone = [
        be.fit(be.Counts.from_arrays(c, 8), model="logit_normal", seed=1, draws=500, progress=False).mean(
            method="model"
        )
        for c in pairs.correct
    ]
    assert joint.sd < 0.6 * np.hypot(alone[0].sd, alone[1].sd)
    share = pairs.correct / 8
    assert joint.sd == pytest.approx((share[0] - share[1]).std(ddof=1) / np.sqrt(150), rel=0.25)


def test_where_the_model_fails_the_robust_difference_is_the_headline():
    """One rho for both systems: A all or nothing, B the same on every prompt."""
    rng = np.random.default_rng(5)
    a = np.where(np.arange(300) < 195, 10, 0)
    b = rng.binomial(10, 0.5, 300)
    both = np.where(a == 10, b, 0)
    post = be.fit(
        pairs_of_tables(np.stack([both, a - both, b - both, 10 - a - b + both], axis=1)), seed=1, progress=False
    )
    assert post.check().misfit
    score = post.difference()
    assert score.method == "robust" and score.other.method == "model"
    difference = (a - b) / 10
    assert score.value == pytest.approx(difference.mean(), abs=0.02)
    assert score.sd == pytest.approx(difference.std() / np.sqrt(300), rel=0.2)
    assert any("robust score" in text for text in score.warnings)


@pytest.mark.slow
def test_coupled_generations_in_a_model_of_independent_ones_are_told(small):
    post = be.fit(small, model="paired", seed=1, draws=100, tune=250, progress=False)
    assert any("takes them as independent" in text for text in post.difference().warnings)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paired", "coupled_plackett"])
def test_simulated_parameters_are_recovered(name):
    truth = {"m": (0.8, -0.2), "s": (2.0, 1.0), "r": 0.8, "log_psi": 1.5}
    if name == "paired":
        truth["log_psi"] = 0.0
    pairs = pairs_of_tables(simulated_tables(600, 8, truth["m"], truth["s"], truth["r"], truth["log_psi"], 6))
    post = be.fit(independent(pairs) if name == "paired" else pairs, model=name, seed=1, draws=500, progress=False)
    for parameter, draws in post.parameters.items():
        flat = draws.reshape(-1, *draws.shape[2:])
        assert (np.abs(flat.mean(axis=0) - truth[parameter]) < 4 * flat.std(axis=0)).all(), parameter
    assert not post.check().misfit


@pytest.mark.slow
def test_without_coupling_plackett_is_the_model_of_independent_generations():
    pairs = pairs_of_tables(simulated_tables(200, 6, (0.5, 0.0), (1.5, 1.5), 0.7, 0.0, 7))
    one = be.fit(pairs, model="coupled_plackett", seed=1, progress=False)
    two = be.fit(independent(pairs), model="paired", seed=1, progress=False)
    assert abs(one.parameters["log_psi"].mean()) < 4 * one.parameters["log_psi"].std()
    scores = [post.difference(method="model") for post in (one, two)]
    assert scores[0].value == pytest.approx(scores[1].value, abs=0.2 * scores[0].sd)
    assert scores[0].sd == pytest.approx(scores[1].sd, rel=0.1)


# Calibration ----------------------------------------------------------------------------------------------------------


def test_ranks_of_the_truth_are_uniform_under_the_default_model_of_pairs():
    result = be.calibrate("coupled", prompts=10, generations=[1, 4], replicates=40, seed=1, progress=False)
    assert result.ok, result
    assert {"rho", "difference", "kappa, population", "difference of mean, benchmark"} <= set(result.quantities)


# Real data ------------------------------------------------------------------------------------------------------------


def real_pair(shared, benchmark, a, b, condition, first=None):
    import pandas as pd

    frame = pd.read_parquet(shared / "data" / benchmark / "outcomes.parquet")
    frame = frame[(frame["condition"] == condition) & frame["model"].isin([a, b])]
    y = [
        frame[frame["model"] == name].pivot(index="prompt_id", columns="generation", values="correct").to_numpy(int)
        for name in (a, b)
    ]
    both = (y[0] * y[1]).sum(axis=1) if condition == "coupled" else None
    correct = np.stack([one.sum(axis=1) for one in y])
    generations = np.full(correct.shape, y[0].shape[1])
    pairs = be.Pairs((a, b), benchmark, np.arange(correct.shape[1]).astype(str), correct, generations, both)
    return pairs if first is None else pairs.take(slice(first))


REAL = [
    ("coupled-gsm8k", "Llama-3.1-8B-Instruct", "Llama-3.1-8B-Instruct-bnb-8bit"),
    pytest.param("coupled-mmlu", "Llama-3.1-8B-Instruct", "Llama-3.2-3B-Instruct", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("benchmark", "a", "b"), REAL)
def test_a_real_pair_of_coupled_systems_has_its_published_difference(shared, benchmark, a, b):
    import pandas as pd

    published = pd.read_csv(shared / "data" / benchmark / "pairs.csv")
    row = published[(published["model_a"] == a) & (published["model_b"] == b)].iloc[0]
    post = be.fit(real_pair(shared, benchmark, a, b, "coupled"), seed=1, progress=False)
    assert post.check().diagnostics.ok
    score = post.difference()
    # The robust difference keeps a part of the model's shrinkage of single prompts.
    assert score.value == pytest.approx(row["diff_coupled"], abs=0.5 * row["se_diff_coupled"])
    assert score.sd == pytest.approx(row["se_diff_coupled"], rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize(("benchmark", "a", "b"), REAL)
@pytest.mark.parametrize("condition", ["coupled", "independent"])
def test_a_real_pair_fits_the_richer_models(shared, benchmark, a, b, condition):
    pairs = real_pair(shared, benchmark, a, b, condition)
    name = "coupled_plackett" if condition == "coupled" else "paired"
    post = be.fit(pairs, model=name, seed=1, draws=500, progress=False)
    share = pairs.correct / pairs.generations
    difference = share[0] - share[1]
    error = difference.std(ddof=1) / np.sqrt(difference.size)
    assert post.difference().value == pytest.approx(difference.mean(), abs=error)
    assert post.difference().sd == pytest.approx(error, rel=0.3)


# Refusals -------------------------------------------------------------------------------------------------------------


def test_models_and_data_that_do_not_belong_together_are_refused(small):
    counts = be.Counts.from_arrays([1, 2], 4)
    with pytest.raises(be.BayesevalError, match=r"compares two systems.*be.Pairs.of\(a, b\)"):
        be.fit(counts, model="paired", progress=False)
    with pytest.raises(be.BayesevalError, match="is for one system, and Pairs of two were given"):
        be.fit(small, model="beta_binomial", progress=False)
    with pytest.raises(be.BayesevalError, match="not stacked"):
        be.fit(small, model=["paired", "coupled"], progress=False)
    for name in ("coupled", "coupled_plackett"):
        with pytest.raises(be.BayesevalError, match="these are independent.*fit model='paired'"):
            be.fit(independent(small), model=name, progress=False)
    with pytest.raises(be.BayesevalError, match="the exact engine does not know"):
        be.fit(small, engine="quadrature", progress=False)


def test_questions_for_one_run_are_refused(post):
    with pytest.raises(be.BayesevalError, match="fit each system by itself"):
        be.loo(post)
    with pytest.raises(be.BayesevalError, match="system"):
        post.mean("c")
    with pytest.raises(be.BayesevalError, match="estimand"):
        post.difference("sample")


def test_several_pairs_make_several_posteriors(small):
    fitted = be.fit([small, small.swapped()], seed=1, draws=100, tune=250, progress=False)
    assert [one.systems for one in fitted] == [("a", "b"), ("b", "a")]


def test_prior_predictive_knows_pairs():
    summary = be.prior_predictive("coupled", draws=2000)
    rows = {row.quantity: row.mean for row in summary.rows}
    assert rows["mean of A minus mean of B"] == pytest.approx(0, abs=0.03)
    assert rows["covariance within prompts of coupled generations (kappa)"] == pytest.approx(0, abs=0.01)
