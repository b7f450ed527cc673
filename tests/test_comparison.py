"""Models of one run: leave-one-out densities, stacking weights, stacks, extrapolation and prior sensitivity."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import betaln, gammaln

import bayeseval as be
from bayeseval import metrics
from bayeseval.comparison import loo as loo_module
from bayeseval.comparison.loo import total
from bayeseval.comparison.models import ComparisonRow
from bayeseval.comparison.pointwise import cells_of, pointwise
from bayeseval.comparison.stacked import mixed_draws
from bayeseval.comparison.weights import stacked_density, stacking_weights
from bayeseval.likelihoods import beta_binomial_logpmf
from bayeseval.prompts import BetaMixture, Joined, PromptDistribution, beta
from tests.oracles import oracle_rows

NEVER_SOLVED = '''
"""Never solved: a share of prompts has P(correct) = 0, the others follow one Beta distribution."""

import numpy as np

from bayeseval.prompts import BetaMixture

PRIOR = {"pi": (1.0, 1.0), "mu": (1.0, 1.0), "rho": (1.0, 1.0)}
SENSITIVITY = {"pi": [(1.0, 9.0)]}


def build(data, prior=PRIOR):
    import pymc as pm

    with pm.Model() as model:
        cells = {name: pm.Data(name, values) for name, values in data.cells.items()}
        correct, generations = cells["cell_correct"], cells["cell_generations"]
        pi = pm.Beta("pi", *prior["pi"])
        mu = pm.Beta("mu", *prior["mu"])
        rho = pm.Beta("rho", *prior["rho"])
        nu = (1 - rho) / rho
        others = pm.BetaBinomial.dist(alpha=mu * nu, beta=(1 - mu) * nu, n=generations)
        log_other = pm.math.log(1 - pi) + pm.logp(others, correct)
        none = pm.math.eq(correct, 0)
        log_p = pm.math.switch(none, pm.math.logaddexp(pm.math.log(pi), log_other), log_other)
        pm.Potential("counts", pm.math.sum(cells["cell_prompts"] * log_p))
    return model


def prompt_distribution(draws):
    pi, mu, rho = (draws[name][:, None] for name in ("pi", "mu", "rho"))
    return BetaMixture(weight=1 - pi, mu=mu, rho=rho, atom=np.zeros(1), atom_weight=pi)
'''


def counts_of(correct, generations, **names):
    return be.Counts.from_arrays(correct, generations, **names)


def fit(correct, generations, **options):
    return be.fit(counts_of(correct, generations), progress=False, **{"engine": "quadrature", **options})


@pytest.fixture(scope="module")
def never_solved(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("models") / "never_solved.py"
    path.write_text(NEVER_SOLVED)
    return path


@pytest.fixture(scope="module")
def mixed_counts() -> be.Counts:
    """Four prompts in ten cannot be solved: not a Beta."""
    rng = np.random.default_rng(1)
    p = np.where(rng.random(150) < 0.4, 0.0, rng.beta(4, 4, 150))
    return counts_of(rng.binomial(8, p), 8, system="simulated", benchmark="mixed")


@pytest.fixture(scope="module")
def beta_counts() -> be.Counts:
    rng = np.random.default_rng(3)
    return counts_of(rng.binomial(8, rng.beta(0.5, 1, 60)), 8, system="simulated", benchmark="Beta")


@pytest.fixture(scope="module")
def mixed_stack(mixed_counts, never_solved) -> be.Stacked:
    return be.fit(mixed_counts, model=["beta_binomial", never_solved], engine="quadrature", seed=1, progress=False)


@pytest.fixture(scope="module")
def beta_stack(beta_counts, never_solved) -> be.Stacked:
    return be.fit(beta_counts, model=["beta_binomial", never_solved], engine="quadrature", seed=1, progress=False)


# Leave-one-prompt-out density -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("quad_elpd_loo_exact"))
def test_exact_elpd_equals_the_oracle(quantity, inputs, value):
    prior = {"mu": tuple(inputs["prior_mu"]), "rho": tuple(inputs["prior_rho"])}
    result = be.loo(fit(inputs["c"], inputs["k"], prior=prior))
    assert result.method == "exact"
    assert result.elpd == pytest.approx(value, rel=1e-8)


def gauss_legendre_elpd(correct, generations, nodes=200) -> np.ndarray:
    """Log density of each prompt given the others under uniform priors, as a ratio of integrals over (0, 1)^2."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    x, w = (x + 1) / 2, w / 2
    # x^2 (3 - 2x): the density is not smooth at the edges, and this flattens it there.
    node, weight = x**2 * (3 - 2 * x), w * 6 * x * (1 - x)
    loglik = beta_binomial_logpmf(np.array(correct), np.array(generations), node[:, None], node[None, :])
    mass = weight[:, None] * weight[None, :]
    everything = np.sum(mass * np.exp(loglik.sum(-1)))
    without = [np.sum(mass * np.exp(loglik.sum(-1) - loglik[..., i])) for i in range(len(correct))]
    return np.log(everything / np.array(without))


@pytest.mark.parametrize(
    ("correct", "generations"),
    [([3, 0, 7, 2, 8], [8, 5, 9, 8, 8]), ([0, 6], [6, 6]), ([4, 1, 1, 2], [4, 1, 3, 6])],
    ids=["ragged", "two opposite prompts", "few"],
)
def test_exact_density_of_each_prompt_is_a_ratio_of_evidences(correct, generations):
    post = fit(correct, generations)
    result = be.loo(post)
    expected = gauss_legendre_elpd(correct, generations)
    assert result.pointwise[cells_of(post, None).cell] == pytest.approx(expected, abs=1e-7)
    assert result.elpd == pytest.approx(expected.sum(), abs=1e-6)


def test_a_single_prompt_is_predicted_by_the_prior_and_has_no_standard_error():
    # Its posterior is far narrower than the prior, which its grid does not hold: the evidences answer.
    result = be.loo(fit([25], [50]))
    expected = np.log(
        np.mean(
            [
                np.exp(beta_binomial_logpmf(np.array([25]), np.array([50]), (np.arange(400) + 0.5) / 400, rho)).mean()
                for rho in (np.arange(400) + 0.5) / 400
            ]
        )
    )
    assert result.elpd == pytest.approx(expected, abs=1e-3)
    assert np.isnan(result.se)


def test_one_generation_a_prompt_leaves_the_rule_of_succession():
    """With k = 1 the posterior of mu is a Beta: p(1 | others) = (successes + 1) / (prompts + 2)."""
    result = be.loo(fit([1, 0, 1, 1, 0, 1], [1] * 6))
    by_correct = dict(zip(result.correct.tolist(), np.exp(result.pointwise), strict=True))
    assert by_correct[1] == pytest.approx((3 + 1) / (5 + 2), rel=1e-8)
    assert by_correct[0] == pytest.approx((1 + 1) / (5 + 2), rel=1e-8)


def test_density_is_the_same_for_permuted_and_for_swapped_counts_and_without_unanswered_prompts():
    correct, generations = np.array([3, 0, 7, 2, 8, 0]), np.array([8, 5, 9, 8, 8, 0])
    first = be.loo(fit(correct, generations))
    assert first.prompts.sum() == 5
    for other in (
        be.loo(fit(correct[::-1], generations[::-1])),
        be.loo(fit(generations - correct, generations)),
        be.loo(fit(correct[:5], generations[:5])),
    ):
        assert other.elpd == pytest.approx(first.elpd, abs=1e-8)
        assert other.se == pytest.approx(first.se, rel=1e-6)


def test_effective_parameters_are_positive_and_few():
    """By Jensen a prompt is never less probable kept in than left out; two parameters are estimated."""
    rng = np.random.default_rng(2)
    result = be.loo(fit(rng.binomial(10, rng.beta(1, 2, 300)), [10] * 300))
    assert (result.fitted > result.pointwise).all()
    assert 1 < result.p_loo < 3
    frame = result.to_frame()
    assert frame["elpd"] @ frame["prompts"] == pytest.approx(result.elpd)
    assert "exact" in repr(result) and "<table>" in result._repr_html_()


def without_exact_engine(post: be.Posterior) -> be.Posterior:
    """The same draws, of a model that the exact engine does not know."""
    model = SimpleNamespace(**{**vars(post.model), "has_quadrature": False, "prompt_distribution": beta_of})
    return be.Posterior(
        post.counts, model, post.prior, post.parameters, {}, post.engine, None, post.seed, post.made
    )  # fmt: skip


def beta_of(draws) -> PromptDistribution:
    return beta(draws["mu"], draws["rho"])


@pytest.mark.parametrize("design", ["few", "many generations", "ragged"])
def test_psis_agrees_with_the_exact_density(design):
    rng = np.random.default_rng(5)
    size, generations = {"few": (20, 4), "many generations": (50, 64), "ragged": (120, rng.integers(1, 30, 120))}[
        design
    ]
    p = rng.beta(0.7, 1.1, size)
    post = fit(rng.binomial(generations, p), np.broadcast_to(generations, size))
    exact, sampled = be.loo(post), be.loo(without_exact_engine(post))
    assert sampled.method == "psis" and sampled.worst_k < 0.7 and not sampled.warnings
    assert sampled.elpd == pytest.approx(exact.elpd, abs=0.1)
    assert sampled.pointwise == pytest.approx(exact.pointwise, abs=0.05)
    assert sampled.p_loo == pytest.approx(exact.p_loo, abs=0.1)


@pytest.mark.parametrize("engine", ["quadrature", "nuts"])
def test_psis_agrees_with_the_exact_density_on_real_histograms(shared, engine):
    with (shared / "data" / "derived" / "outcome_histograms_k10.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows[:: max(1, len(rows) // (6 if engine == "quadrature" else 1))]:
        prompts = [int(row[f"c{c}"]) for c in range(11)]
        post = fit(np.repeat(np.arange(11), prompts), [10] * sum(prompts), engine=engine, seed=1)
        assert be.loo(without_exact_engine(post)).elpd == pytest.approx(be.loo(post).elpd, abs=0.1)


def test_psis_of_a_model_with_a_known_posterior_is_its_closed_form(tmp_path):
    """One common p with a uniform prior: p(c_i | others) is beta-binomial in the sums of the others."""
    rng = np.random.default_rng(8)
    correct, size, k = rng.binomial(6, 0.3, 40), 40, 6
    a, b = 1 + correct.sum(), 1 + size * k - correct.sum()
    draws = rng.beta(a, b, (4, 1000))
    model = SimpleNamespace(name="common p", has_quadrature=False, digest="", prompt_distribution=common_p)
    post = be.Posterior(counts_of(correct, k), model, {}, {"p": draws}, {}, "nuts", None, 1, {})
    left = betaln(a, b) - betaln(a - correct, b - (k - correct))
    binomial = gammaln(k + 1) - gammaln(correct + 1) - gammaln(k - correct + 1)
    assert be.loo(post).pointwise[cells_of(post, None).cell] == pytest.approx(left + binomial, abs=0.02)


def common_p(draws) -> PromptDistribution:
    return beta(draws["p"], np.zeros_like(draws["p"]))


def test_a_prompt_that_rules_the_posterior_has_a_high_pareto_k_and_a_warning():
    rng = np.random.default_rng(4)
    correct = np.append(np.zeros(30, int), 900)  # one prompt that is nothing like the rest
    a, b = 1 + correct.sum(), 1 + 31 * 1000 - correct.sum()
    model = SimpleNamespace(name="common p", has_quadrature=False, digest="", prompt_distribution=common_p)
    post = be.Posterior(counts_of(correct, 1000), model, {}, {"p": rng.beta(a, b, (4, 1000))}, {}, "nuts", None, 1, {})
    result = be.loo(post)
    assert result.worst_k > 0.7
    (warning,) = result.warnings
    assert "900 of 1,000 correct" in warning and "refit" in warning
    assert repr(result).startswith("Warning: ")


def test_blocks_of_cells_give_what_one_block_gives(monkeypatch):
    rng = np.random.default_rng(6)
    generations = rng.integers(1, 12, 40)
    post = fit(rng.binomial(generations, 0.4), generations)
    cells = cells_of(post, None)
    whole = np.concatenate(list(pointwise(post, cells)), axis=1)
    assert whole.shape == (post.n_draws, cells.prompts.size)
    monkeypatch.setattr("bayeseval.comparison.pointwise.BLOCK", 3 * post.n_draws)
    parts = list(pointwise(post, cells))
    assert len(parts) > 3 and np.array_equal(np.concatenate(parts, axis=1), whole)


def test_rows_of_the_grid_and_long_products_give_the_same_density(monkeypatch):
    rng = np.random.default_rng(6)
    generations = rng.integers(1, 12, 40)
    correct = rng.binomial(generations, 0.4)
    first = be.loo(fit(correct, generations))
    for name, value in (("LONGEST_TABLE", 0), ("blocks", lambda size, width: (slice(i, i + 1) for i in range(size)))):
        with monkeypatch.context() as patch:
            patch.setattr(loo_module, name, value)
            again = be.loo(fit(correct, generations))
        assert again.pointwise == pytest.approx(first.pointwise, abs=1e-11)
        assert again.fitted == pytest.approx(first.fitted, abs=1e-11)


def test_sums_over_cells_are_those_over_prompts():
    values, prompts = np.array([1.0, -2.0, 5.0]), np.array([3, 1, 2])
    each = np.repeat(values, prompts)
    assert total(values, prompts) == pytest.approx((each.sum(), np.sqrt(6 * each.var(ddof=1))))


def test_loo_refuses_what_is_no_run():
    posts = be.fit(be.example("aime24-50"), engine="quadrature", seed=1, progress=False)
    with pytest.raises(be.BayesevalError, match="select"):
        be.loo(posts)
    with pytest.raises(be.BayesevalError, match="no generation"):
        be.loo(fit([0, 0], [0, 0]))


# Stacking weights -----------------------------------------------------------------------------------------------------


def objective(pointwise, prompts, weights):
    return float(stacked_density(pointwise, np.asarray(weights)) @ prompts)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("models", [2, 3])
def test_weights_are_the_best_of_a_grid_on_the_simplex(models, seed):
    rng = np.random.default_rng(seed)
    pointwise = rng.normal(-2, [0.1, 0.7, 2.0][seed % 3], (models, 12))
    prompts = rng.integers(1, 50, 12)
    steps = 400 if models == 2 else 60
    grid = [np.array(w) / steps for w in itertools.product(range(steps + 1), repeat=models) if sum(w) == steps]
    best = max(objective(pointwise, prompts, w) for w in grid)
    weights = stacking_weights(pointwise, prompts)
    assert weights.min() >= 0 and weights.sum() == pytest.approx(1)
    assert objective(pointwise, prompts, weights) >= best - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_weights_satisfy_the_optimality_conditions_for_many_models(seed):
    """The mean density ratio of a model to the stack is 1 where it has weight, and at most 1 elsewhere."""
    rng = np.random.default_rng(seed)
    pointwise, prompts = rng.normal(-3, 1.5, (7, 40)), rng.integers(1, 2000, 40)
    weights = stacking_weights(pointwise, prompts)
    ratio = np.exp(pointwise - stacked_density(pointwise, weights)) @ (prompts / prompts.sum())
    assert ratio.max() <= 1 + 1e-6
    assert ratio[weights > 1e-4] == pytest.approx(1, abs=1e-6)


def test_a_duplicate_model_shares_the_weight_and_leaves_the_density():
    rng = np.random.default_rng(9)
    pointwise, prompts = rng.normal(-2, 0.5, (3, 15)), rng.integers(1, 30, 15)
    alone = stacking_weights(pointwise, prompts)
    twice = stacking_weights(pointwise[[0, 1, 2, 0, 0]], prompts)
    assert twice[[0, 3, 4]] == pytest.approx(np.full(3, alone[0] / 3), abs=1e-5)
    density = stacked_density(pointwise[[0, 1, 2, 0, 0]], twice)
    assert density == pytest.approx(stacked_density(pointwise, alone), abs=1e-5)


def test_equal_models_weigh_the_same_and_a_hopeless_one_nothing():
    prompts = np.array([10, 20])
    assert stacking_weights(np.log([[0.5, 0.5]] * 4), prompts) == pytest.approx(np.full(4, 0.25))
    weights = stacking_weights(np.array([[-1.0, -1.0], [-800.0, -900.0], [-np.inf, -np.inf]]), prompts)
    assert weights == pytest.approx([1, 0, 0], abs=1e-6)
    assert stacking_weights(np.array([[-1.0, -np.inf], [-np.inf, -2.0]]), prompts) == pytest.approx([1 / 3, 2 / 3])


def test_a_count_that_no_model_explains_is_an_error():
    with pytest.raises(be.BayesevalError, match="no model gives"):
        stacking_weights(np.array([[-1.0, -np.inf], [-2.0, -np.inf]]), np.array([1, 1]))


# Comparison -----------------------------------------------------------------------------------------------------------


def test_the_true_model_is_found(mixed_stack):
    comparison = be.compare_models(mixed_stack)
    assert comparison.best.model.name == "never_solved"
    first, second = comparison.rows
    assert (first.elpd_diff, first.misfit, second.misfit) == (0, False, True)
    assert second.elpd_diff < -4 and second.clearly_worse
    assert second.elpd_diff == pytest.approx(second.elpd - first.elpd)
    assert first.weight > 0.95
    assert "never_solved describes these prompts best" in repr(comparison)
    assert "✗" not in comparison._repr_html_() and "<table>" in comparison._repr_html_()


def test_models_that_the_data_cannot_tell_apart_are_said_to_be_so(beta_stack):
    comparison = beta_stack.comparison
    assert not comparison.rows[1].clearly_worse
    assert "cannot be told from it" in comparison.sentence()
    assert comparison.to_frame()["weight"].sum() == pytest.approx(1)
    assert comparison.to_frame()["elpd"].is_monotonic_decreasing


def test_standard_error_of_a_difference_is_taken_over_prompts(mixed_stack):
    one, other = (be.loo(member) for member in mixed_stack.members)
    each = np.repeat(one.pointwise - other.pointwise, one.prompts)
    row = mixed_stack.comparison.rows[1]
    assert row.se_diff == pytest.approx(np.sqrt(each.size) * each.std(ddof=1))


@pytest.mark.parametrize(
    ("difference", "error", "clear"), [(-3.9, 0.1, False), (-4.1, 0.1, True), (-9, 5, False), (-11, 5, True)]
)
def test_a_difference_is_clear_from_four_nats_and_two_standard_errors_on(difference, error, clear):
    row = ComparisonRow("m", -10, 1, difference, error, 2, np.nan, "exact", 0.5, 0.5, False)
    assert row.clearly_worse == clear


def test_comparison_of_a_model_with_itself_differs_by_nothing():
    post = fit([3, 0, 4, 2] * 5, [4] * 20)
    comparison = be.compare_models([post, post])
    assert [row.model for row in comparison.rows] == ["beta_binomial #1", "beta_binomial #2"]
    assert comparison.rows[1].elpd_diff == comparison.rows[1].se_diff == 0
    assert [row.weight for row in comparison.rows] == pytest.approx([0.5, 0.5])


def test_only_fits_of_the_same_counts_are_compared():
    post, other = fit([3, 0, 4], [4] * 3), fit([3, 1, 4], [4] * 3)
    with pytest.raises(be.BayesevalError, match="different counts"):
        be.compare_models([post, other])
    elsewhere = be.fit(counts_of([3, 0, 4], 4, system="B"), engine="quadrature", progress=False)
    with pytest.raises(be.BayesevalError, match="same run"):
        be.compare_models([post, elsewhere])
    with pytest.raises(be.BayesevalError, match="nothing to compare"):
        be.compare_models([])
    with pytest.raises(be.BayesevalError, match="str was given"):
        be.compare_models([post, "beta_binomial"])
    with pytest.raises(be.BayesevalError, match="compare its members"):
        be.compare_models([post, be.Stacked.of([post])])


# Stacks ---------------------------------------------------------------------------------------------------------------


def test_mixed_draws_hold_the_models_in_proportion_to_their_weights():
    weights, available = np.array([0.123, 0.0, 0.6, 0.277]), np.array([100, 50, 1000, 4000])
    for seed in range(20):
        chosen = mixed_draws(weights, available, 1000, np.random.default_rng(seed))
        numbers = np.array([draws.size for draws in chosen])
        assert numbers.sum() == 1000 and numbers[1] == 0
        assert np.abs(numbers - 1000 * weights).max() <= 1
        assert all((draws >= 0).all() and (draws < top).all() for draws, top in zip(chosen, available, strict=True))
        assert np.unique(chosen[3]).size == chosen[3].size, "a model with draws to spare repeats none"


def test_joined_distributions_say_what_their_parts_say():
    rng = np.random.default_rng(0)
    one = beta(rng.random(5), rng.random(5))
    weight = rng.dirichlet([1, 1, 1, 1], 7)
    two = BetaMixture(
        weight[:, :2], rng.random((7, 2)), rng.random((7, 2)), np.array([1.0, 0.0]), weight[:, 2:]
    )  # fmt: skip
    three = BetaMixture(np.full((3, 1), 0.5), rng.random((3, 1)), rng.random((3, 1)), np.zeros(1), np.full((3, 1), 0.5))
    joined = Joined.of([one, two, three])
    assert joined.n_draws == 15
    correct, generations = np.array([0, 2, 5]), np.array([5, 5, 5])
    for ask in (
        lambda d: d.mean(),
        lambda d: d.sd(),
        lambda d: d.score(metrics.pass_at(9)),
        lambda d: d.logpmf(correct, generations),
        lambda d: d.condition(correct, generations).mean(),
    ):
        assert ask(joined) == pytest.approx(np.concatenate([ask(part) for part in (one, two, three)]))


def test_a_stack_is_the_weighted_mean_of_its_members(beta_stack):
    for metric in (metrics.mean(), metrics.pass_at(4), metrics.pass_hat(4)):
        expected = beta_stack.weights @ [
            member.distribution.score(metric).mean() for member in beta_stack.members
        ]  # fmt: skip
        score = beta_stack.score(metric, method="model")
        assert score.value == pytest.approx(expected, abs=4 * score.sd / np.sqrt(beta_stack.n_draws))
        benchmark = beta_stack.score(metric, "benchmark")
        expected = beta_stack.weights @ [member.score(metric, "benchmark").value for member in beta_stack.members]
        assert benchmark.value == pytest.approx(expected, abs=6 * benchmark.sd / np.sqrt(beta_stack.n_draws))


def test_a_stack_of_one_model_is_that_model():
    post = fit([3, 0, 4, 2] * 5, [4] * 20)
    stack = be.fit(post.counts, model=["beta_binomial"], engine="quadrature", progress=False)
    assert stack.weights.tolist() == [1.0]
    assert np.array_equal(np.sort(stack.mean(method="model").draws), np.sort(post.distribution.mean()))
    assert be.loo(stack).elpd == pytest.approx(be.loo(post).elpd, abs=1e-9)
    assert stack.check().histogram.p == pytest.approx(post.check().histogram.p, abs=0.15)


def test_a_stack_answers_what_a_posterior_answers(beta_stack, beta_counts):
    assert isinstance(beta_stack, be.Posterior)
    assert (beta_stack.system, beta_stack.benchmark, len(beta_stack.counts)) == ("simulated", "Beta", 60)
    chosen = [metrics.mean(), metrics.pass_at(4), metrics.pass_hat(4), metrics.g_pass(4, 0.5), metrics.mg_pass(4)]
    scores = beta_stack.scores(chosen)
    assert len(scores) == 10 and all(0 < score.lower < score.value < score.upper < 1 for score in scores)
    assert beta_stack.pass_at(4).value == scores[2].value
    assert beta_stack.g_pass(4, 0.5).value == scores[6].value and beta_stack.mg_pass(4).value == scores[8].value
    assert len(beta_stack.prompts()) == 60
    assert beta_stack.provenance["data"] == beta_counts.fingerprint
    assert [made["model"] for made in beta_stack.provenance["members"]] == ["beta_binomial", "never_solved"]
    assert "stack of beta_binomial, never_solved" in repr(beta_stack)
    assert "stack of models" in beta_stack._repr_html_()
    assert be.compare_intervals(beta_stack).to_frame()["method"].iloc[0] == "posterior"


def test_the_same_seed_gives_the_same_stack(beta_stack):
    again = be.Stacked.of(beta_stack.members)
    assert np.array_equal(again.mean().draws, beta_stack.mean().draws)
    assert again.model.digest == beta_stack.model.digest


def test_the_check_of_a_stack_is_of_the_mixture_with_the_members_diagnostics(mixed_stack):
    check = mixed_stack.check()
    assert not check.misfit, "nearly all weight lies on the true model"
    assert {"beta_binomial: mu", "never_solved: pi", "never_solved: mu"} <= set(check.diagnostics.table)
    assert mixed_stack.mean().method == "model"


def test_a_stack_of_wrong_models_falls_back_on_the_robust_answer():
    rng = np.random.default_rng(1)
    correct = rng.binomial(32, np.where(rng.random(200) < 0.15, 0.95, 0.02))  # two kinds of prompts: not a Beta
    stack = be.Stacked.of([fit(correct, [32] * 200), fit(correct, [32] * 200, prior={"rho": (2, 2)})])
    assert stack.check().misfit
    assert stack.mean().method == "robust" and stack.mean().other.method == "model"
    assert "every one of the models fails" in stack.comparison.sentence()


def test_elpd_of_a_stack_is_at_least_that_of_its_best_member(beta_stack, mixed_stack):
    for stack in (beta_stack, mixed_stack):
        assert be.loo(stack).elpd >= max(be.loo(member).elpd for member in stack.members) - 1e-6
        assert be.loo(stack).method == "stacked"


def test_several_runs_make_several_stacks():
    counts = be.example("aime24-50")
    priors = {"mu": (0.5, 0.5)}
    stacks = be.fit(counts, model=["beta_binomial"] * 2, prior=priors, engine="quadrature", seed=1, progress=False)
    assert isinstance(stacks, be.Posteriors) and len(stacks) == 2
    assert all(isinstance(stack, be.Stacked) and stack.members[0].prior["mu"] == (0.5, 0.5) for stack in stacks)
    assert len(stacks.mean()) == 2


def test_runs_without_the_fit_of_some_model_are_left_out():
    from bayeseval.catalogue import load_model
    from bayeseval.comparison.fits import fit_stacked

    counts = be.example("aime24-50")
    whole = be.fit(counts, engine="quadrature", seed=1, progress=False)
    answers = iter([whole, be.Posteriors(whole.items[1:])])  # as after an interrupt
    models = [load_model(), load_model()]
    stacks = fit_stacked(lambda *_, **__: next(answers), counts, models, {}, "quadrature", {})
    assert [stack.system for stack in stacks] == [whole[1].system]
    answers = iter([be.Posteriors(whole.items[:1]), be.Posteriors(whole.items[1:])])
    with pytest.raises(KeyboardInterrupt):
        fit_stacked(lambda *_, **__: next(answers), counts, models, {}, "quadrature", {})


def test_stacks_refuse_what_they_cannot_do(beta_stack, tmp_path, never_solved):
    with pytest.raises(be.BayesevalError, match="save its members"):
        beta_stack.save(tmp_path / "stack.nc")
    with pytest.raises(be.BayesevalError, match="members"):
        _ = beta_stack.data
    counts = beta_stack.counts
    with pytest.raises(be.BayesevalError, match="names no model"):
        be.fit(counts, model=[])
    with pytest.raises(be.BayesevalError, match="'tau'; there are mu, rho, pi"):
        be.fit(counts, model=["beta_binomial", never_solved], prior={"tau": (1, 1)})
    saved = beta_stack.members[0].save(tmp_path / "one.nc")
    again = be.Stacked.of([be.load(saved), beta_stack.members[1]])
    assert again.weights == pytest.approx(beta_stack.weights, abs=1e-6)


def test_a_stack_is_reported_and_planned_with(beta_stack, tmp_path):
    page = be.report(beta_stack, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "be.Stacked.of([" in page and "never_solved: weight" in page
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema checks the public schema")
    import json

    from bayeseval.reporting import schema

    record = json.loads(be.report(beta_stack, tmp_path / "report.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema()).validate(record)
    plan = be.plan(beta_stack, width=0.3, futures=50, progress=False)
    assert plan.refits == "importance"
    assert "stack of" in plan.origin
    with pytest.raises(be.BayesevalError, match="fits every future to counts with one model"):
        be.plan(beta_stack, width=0.3, refits="nuts", progress=False)


# Extrapolation --------------------------------------------------------------------------------------------------------


def test_scores_far_beyond_the_data_say_what_each_family_says(beta_stack):
    near, far, too_far = (beta_stack.pass_at(k) for k in (16, 40, 100))
    assert not near.warnings
    frame = beta_stack.spread([16, 40, 100])
    assert frame["reach"].unique().tolist() == [2, 5, 12.5]
    for score, k in ((far, 40), (too_far, 100)):
        (warning,) = score.warnings
        members = frame[(frame["score"] == f"pass@{k}") & (frame["model"] != "stack")]
        for row in members.itertuples():
            ends = "" if k == 100 else f" [{row.lower:.3f}, {row.upper:.3f}]"
            assert f"{row.value:.3f}{ends} by {row.model}" in warning
    assert np.isfinite(far.lower) and np.isnan(too_far.lower)
    assert "no interval is given" in too_far.warnings[0]
    wide = frame[frame["score"] == "pass@100"]
    assert wide["lower"].isna().all() and wide["value"].notna().all()


def test_a_family_that_the_data_rule_out_is_no_part_of_the_range(mixed_stack):
    (warning,) = mixed_stack.pass_at(64).warnings
    assert "by never_solved" in warning and "by beta_binomial" not in warning


def test_spread_has_a_row_for_each_family_and_the_stack(beta_stack):
    frame = beta_stack.spread(metrics.pass_hat(4), "benchmark")
    assert frame["model"].tolist() == ["beta_binomial", "never_solved", "stack"]
    assert frame["weight"].tolist() == pytest.approx([*beta_stack.weights, 1])
    values = frame["value"].to_numpy()
    assert values[:2].min() - 0.01 <= values[2] <= values[:2].max() + 0.01
    assert frame["value"].iloc[2] == beta_stack.pass_hat(4, "benchmark").value
    assert beta_stack.spread(4)["score"].unique().tolist() == ["pass@4"]


# Prior sensitivity ----------------------------------------------------------------------------------------------------


def test_shifts_are_those_of_fits_under_the_other_priors():
    correct, generations = [3, 0, 4, 2, 1, 0], [4] * 6
    post = fit(correct, generations, seed=3)
    result = be.prior_sensitivity(post)
    frame = result.to_frame()
    assert frame["prior"].unique().tolist() == ["rho (1, 1)", "rho (0.5, 1)", "rho (2, 2)"]
    assert set(frame["estimand"]) == {"population", "benchmark"}
    base = post.mean()
    for prior in ((0.5, 1), (2, 2)):
        other = fit(correct, generations, seed=3, prior={"rho": prior}).mean(method=base.method)
        row = frame[(frame["prior"] == f"rho ({prior[0]:g}, {prior[1]:g})") & (frame["estimand"] == "population")].iloc[
            0
        ]
        shifts = [other.value - base.value, other.lower - base.lower, other.upper - base.upper]
        assert row[["shift_value", "shift_lower", "shift_upper"]].tolist() == pytest.approx(shifts, abs=1e-12)
        assert row["share"] == pytest.approx(np.abs(shifts).max() / (base.width / 2))
    assert result.worst == frame["share"].max()
    assert f"{result.worst:.0%}" in result.sentence()
    assert "<table>" in result._repr_html_()


def test_the_prior_decides_with_few_prompts_and_not_with_many():
    few = be.prior_sensitivity(fit([0] * 10 + [1], [20] * 11), [metrics.pass_at(16)])
    assert few.worst > 0.25 and few.warnings and repr(few).startswith("Warning: ")
    rng = np.random.default_rng(2)
    many = be.prior_sensitivity(fit(rng.binomial(16, rng.beta(2, 2, 400)), [16] * 400))
    assert many.worst < 0.15 and not many.warnings


def test_a_nuts_fit_of_an_exact_model_is_judged_by_exact_refits():
    counts = counts_of([3, 0, 4, 2] * 5, 4)
    sampled = be.fit(counts, draws=200, tune=200, chains=2, seed=1, progress=False)
    exact = be.fit(counts, engine="quadrature", draws=200, chains=2, seed=1, progress=False)
    assert be.prior_sensitivity(sampled).rows == be.prior_sensitivity(exact).rows


def test_a_model_file_names_its_own_alternatives(mixed_counts, mixed_stack):
    member = mixed_stack.members[1]
    frame = be.prior_sensitivity(member).to_frame()
    assert frame["prior"].unique().tolist() == ["pi (1, 1)", "pi (1, 9)"]
    moved = frame[frame["prior"] == "pi (1, 9)"]
    assert (moved["share"] > 0).all()


def test_sensitivity_refuses_what_has_no_other_prior(beta_stack, tmp_path):
    with pytest.raises(be.BayesevalError, match="ask its members"):
        be.prior_sensitivity(beta_stack)
    with pytest.raises(be.BayesevalError, match="one run"):
        be.prior_sensitivity([beta_stack])
    path = tmp_path / "bare.py"
    path.write_text(NEVER_SOLVED.replace('SENSITIVITY = {"pi": [(1.0, 9.0)]}', "SENSITIVITY = {}"))
    bare = be.Posterior(
        beta_stack.counts, be.catalogue.load_model(path), {}, {}, {}, "nuts", None, 1, {}
    )  # fmt: skip
    with pytest.raises(be.BayesevalError, match="names no other priors"):
        be.prior_sensitivity(bare)


# Figures --------------------------------------------------------------------------------------------------------------


def test_the_comparison_is_drawn_row_by_row(mixed_stack):
    from matplotlib.figure import Figure

    ax = mixed_stack.comparison.plot(ax=Figure().subplots())
    rows = mixed_stack.comparison.rows
    assert [label.get_text() for label in ax.get_yticklabels()] == [row.model for row in rows]
    lines = [line.get_xdata() for line in ax.lines]
    for row, ends, mark in zip(rows, lines[::2], lines[1::2], strict=True):
        assert list(mark) == [row.elpd_diff]
        assert list(ends) == pytest.approx([row.elpd_diff - 2 * row.se_diff, row.elpd_diff + 2 * row.se_diff])
    words = [text.get_text() for text in ax.texts]
    assert words[0] == f"weight {rows[0].weight:.2f}" and words[1].endswith("fails its check")


def test_the_curves_of_all_families_are_drawn_and_the_data_end_is_marked(beta_stack):
    from matplotlib.figure import Figure

    ax = beta_stack.plot_spread(ax=Figure().subplots(), max_k=100)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0].startswith("beta_binomial, weight") and labels[-1] == "8 generations run: the data end here"
    stack = next(line for line in ax.lines if line.get_label().startswith("stack"))
    assert stack.get_xdata()[-1] == 100
    assert stack.get_ydata()[-1] == pytest.approx(beta_stack.pass_at(100, method="model").value)
    end = next(line for line in ax.lines if line.get_label().endswith("end here"))
    assert list(end.get_xdata()) == [8, 8]
