"""The models of the catalogue: densities against what they say of prompts, limits, recovery, and bad data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

import bayeseval as be
from bayeseval.catalogue import alternatives, load_model
from bayeseval.conformance import log_density
from bayeseval.engines.programs import density_of
from bayeseval.model_data import ModelData
from bayeseval.priors import prior_draws, specimen

MARGINAL = sorted(
    name
    for name in be.models()
    if not {"prompts", "runs"} & set(load_model(name).blocks)
    and not (load_model(name).for_credits or load_model(name).for_pairs)
)
GROUPS = ["a", "a", "b", "b", "c", "c", "c", "d"]


def values_at(model, data, points):
    """Parameters of the model at unconstrained points (point, ...)."""
    from bayeseval import _compat

    _compat.import_pymc()
    with _compat.double_precision():
        import jax

        _, constrain, facts = density_of(model, model.prior(), data)
        arrays = [data.arrays[name] for name in facts["inputs"]]
        outputs = jax.vmap(lambda point: constrain(point, arrays))(points)
    return {name: np.asarray(value) for name, value in zip(facts["names"], outputs, strict=True)}


def counts_of(correct, generations, **more):
    return be.Counts.from_arrays(correct, generations, **more)


@pytest.mark.parametrize("name", MARGINAL)
def test_the_density_of_a_model_is_what_its_distribution_says_of_the_counts(name):
    """The log likelihood, up to a constant, is the sum over prompts of the log probability of their counts."""
    model = load_model(name)
    generations = np.array([4, 4, 4, 90, 90, 3, 0, 4])
    sets = [np.array([0, 1, 4, 0, 70, 3, 0, 2]), np.array([1, 2, 2, 45, 90, 0, 0, 4])]
    first = counts_of(sets[0], generations, group=GROUPS)
    data = [ModelData.of(counts_of(correct, generations, group=GROUPS), model.blocks) for correct in sets]
    size = len(density_initial(model, data[0]))
    points = np.random.default_rng(1).uniform(-1.5, 1.5, (6, size))
    densities = log_density(model, model.prior(), data, points)
    distribution = model.prompt_distribution(values_at(model, data[0], points))
    key = ModelData.of(first, ("groups",)).group if distribution.keyed_by else None
    ours, theirs = (distribution.logpmf(correct, generations, key).sum(axis=1) for correct in sets)
    constant = sum((1 if index else -1) * _log_binomials(correct, generations) for index, correct in enumerate(sets))
    np.testing.assert_allclose(densities[1] - densities[0], theirs - ours - constant, rtol=1e-6, atol=1e-6)


def _log_binomials(correct, generations):
    from bayeseval.likelihoods import log_binomial

    return float(log_binomial(generations, correct).sum())


def density_initial(model, data):
    from bayeseval import _compat

    _compat.import_pymc()
    with _compat.double_precision():
        return density_of(model, model.prior(), data)[2]["initial"]


def test_the_density_of_run_effects_is_the_integral_over_the_table_of_outcomes():
    model = load_model("run_effects")
    y = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [1, 0, 0]])
    other = np.array([[0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 1, 0]])
    data = [ModelData.of(counts_of(t.sum(axis=1), 3), model.blocks, t.sum(axis=0)) for t in (y, other)]
    points = np.random.default_rng(2).uniform(-1, 1, (4, len(density_initial(model, data[0]))))
    got = np.diff(log_density(model, model.prior(), data, points), axis=0)[0]
    values = values_at(model, data[0], points)

    def by_hand(table, draw):
        m, s, shift = values["m"][draw], values["s"][draw], values["shift"][draw]
        total = 0.0
        for row in table:
            total += np.log(
                integrate.quad(
                    lambda z, row=row: np.prod(expit((2 * row - 1) * (m + s * z + shift))) * stats.norm.pdf(z),
                    -9,
                    9,
                    epsabs=1e-13,
                )[0]
            )
        return total

    expected = [by_hand(other, draw) - by_hand(y, draw) for draw in range(len(points))]
    np.testing.assert_allclose(got, expected, atol=1e-6)


def test_the_latent_form_has_the_posterior_of_the_collapsed_one():
    counts = counts_of([0, 1, 5, 3, 5, 4, 2, 5, 0, 1], 5)
    latent = be.fit(counts, model="beta_binomial_latent", seed=1, progress=False)
    exact = be.fit(counts, engine="quadrature", seed=1, progress=False)
    table = latent.check().diagnostics.table
    for name in ("mu", "rho", "sigma"):
        difference = abs(table[name]["mean"] - exact.exact.mean(name))
        assert difference < 4 * table[name]["mcse_mean"], name
    one, other = (post.prompts()["mean"].to_numpy() for post in (latent, exact))
    np.testing.assert_allclose(one, other, atol=0.02)
    assert latent.mean("benchmark").value == pytest.approx(exact.mean("benchmark").value, abs=0.01)


@pytest.mark.slow
def test_inflation_and_mixture_recover_what_was_simulated():
    rng = np.random.default_rng(3)
    kind = rng.choice(3, 1500, p=[0.2, 0.1, 0.7])
    p = np.where(kind == 0, 0.0, np.where(kind == 1, 1.0, rng.beta(3, 3, 1500)))
    inflated = be.fit(counts_of(rng.binomial(20, p), 20), model="zero_one_inflated", seed=1, progress=False)
    for entry, truth in enumerate((0.2, 0.1, 0.7)):
        draws = inflated.parameters["share"][..., entry]
        assert abs(draws.mean() - truth) < 4 * draws.std()
    two = np.where(rng.random(1500) < 0.3, rng.beta(1, 20, 1500), rng.beta(12, 3, 1500))
    mixture = be.fit(counts_of(rng.binomial(20, two), 20), model="beta_mixture", seed=1, progress=False)
    for entry, truth in enumerate((1 / 21, 12 / 15)):
        draws = mixture.parameters["mu"][..., entry]
        assert abs(draws.mean() - truth) < 4 * draws.std()
    assert mixture.check().ok
    assert not be.fit(mixture.counts, engine="quadrature", seed=1, progress=False).check().ok


@pytest.mark.slow
def test_run_effects_are_found_where_they_are_and_not_where_they_are_not():
    rng = np.random.default_rng(4)
    eta = rng.normal(0.3, 1.5, 300)
    with_runs = rng.binomial(1, expit(eta[:, None] + rng.normal(0, 0.8, 8)))
    without = rng.binomial(1, expit(eta[:, None] + np.zeros(8)))
    fits = [
        be.fit(be.Outcomes.from_matrix(y), model="run_effects", seed=1, progress=False) for y in (with_runs, without)
    ]
    tau = [post.parameters["tau"] for post in fits]
    assert np.quantile(tau[0], 0.025) > 0.3
    assert np.quantile(tau[1], 0.975) < 0.3
    plain = be.fit(be.Outcomes.from_matrix(with_runs), model="logit_normal", seed=1, progress=False)
    assert fits[0].mean("benchmark").width > 2 * plain.mean("benchmark").width


@pytest.mark.slow
def test_clusters_widen_the_population_interval_and_groups_do_not():
    rng = np.random.default_rng(5)
    centre = rng.normal(0, 2, 30)
    p = expit(np.repeat(centre, 4) + rng.normal(0, 0.3, 120))
    group = [f"text {index // 4}" for index in range(120)]
    counts = counts_of(rng.binomial(8, p), 8, group=group)
    widths = {
        name: be.fit(counts, model=name, seed=1, progress=False).mean(method="model").width
        for name in ("beta_binomial", "clustered", "grouped")
    }
    assert widths["clustered"] > 1.4 * widths["beta_binomial"]
    assert widths["grouped"] < widths["beta_binomial"]


@pytest.mark.slow
def test_the_robust_answer_of_clusters_bootstraps_whole_clusters():
    rng = np.random.default_rng(6)
    p = np.repeat(rng.beta(1, 1, 20), 5)
    counts = counts_of(rng.binomial(30, p), 30, group=[f"{index // 5}" for index in range(100)])
    by_cluster = be.fit(counts, model="clustered", seed=1, progress=False).mean(method="robust").sd
    by_prompt = be.fit(counts, engine="quadrature", seed=1, progress=False).mean(method="robust").sd
    assert by_cluster == pytest.approx(np.sqrt(5) * by_prompt, rel=0.25)


def test_post_stratification_keeps_the_shares_of_the_groups():
    correct = [0] * 30 + [4] * 10
    counts = counts_of(correct, 4, group=["hard"] * 30 + ["easy"] * 10)
    post = be.fit(counts, model="grouped", seed=1, progress=False)
    by_hand = (post.parameters["mu"] * np.array([0.75, 0.25])).sum(axis=-1).mean()
    assert post.mean(method="model").value == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("name", be.models())
def test_every_model_answers_every_question(name):
    model = load_model(name)
    if model.for_credits or model.for_pairs:
        pytest.skip("takes credits or pairs, not counts")
    rng = np.random.default_rng(7)
    y = rng.binomial(1, np.repeat(rng.beta(2, 2, (24, 1)), 6, axis=1))
    data = be.Outcomes.from_matrix(y)
    if "groups" in model.blocks:
        data = counts_of(y.sum(axis=1), 6, group=[f"g{index % 4}" for index in range(24)])
    post = be.fit(data, model=name, seed=1, draws=250, progress=False)
    for score in post.scores([be.metrics.mean(), be.metrics.pass_at(3), be.metrics.g_pass(6, 0.5)]):
        assert 0 <= score.lower <= score.value <= score.upper <= 1
    frame = post.prompts()
    assert (frame["lower"] <= frame["mean"]).all() and (frame["mean"] <= frame["upper"]).all()
    assert np.isfinite(be.loo(post).elpd)
    assert repr(post.check())
    assert post.plot().get_title(loc="left")
    assert post.check().plot() is not None


@pytest.mark.slow
def test_saved_posteriors_of_every_family_come_back(tmp_path):
    y = np.random.default_rng(8).binomial(1, 0.6, (12, 5))
    for name in ("run_effects", "beta_mixture", "beta_binomial_latent"):
        post = be.fit(be.Outcomes.from_matrix(y), model=name, seed=1, draws=100, progress=False)
        again = be.load(post.save(tmp_path / f"{name}.nc"))
        assert again.mean("benchmark").value == post.mean("benchmark").value
        assert again.pass_at(3, method="model").value == post.pass_at(3, method="model").value


def test_alternatives_have_other_families_and_need_only_counts():
    names = alternatives(load_model("beta_binomial"))
    assert {"beta_mixture", "logit_normal", "zero_one_inflated"} <= set(names)
    assert not {"beta_binomial_latent", "grouped", "run_effects"} & set(names)
    families = [load_model(name).family for name in names]
    assert len(set(families)) == len(families)


def test_misfit_names_models_to_try():
    rng = np.random.default_rng(9)
    correct = rng.binomial(16, rng.choice([0.02, 0.95], 200))
    warnings = " ".join(be.fit(counts_of(correct, 16), engine="quadrature", progress=False).check().warnings)
    assert "try be.fit(counts, model=['beta_binomial', " in warnings
    assert "beta_mixture" in warnings


def test_a_benchmark_mean_under_misfit_is_the_unbiased_one():
    rng = np.random.default_rng(10)
    correct = rng.binomial(16, np.where(rng.random(400) < 0.3, 0.0, rng.beta(2, 2, 400)))
    post = be.fit(counts_of(correct, 16), engine="quadrature", seed=1, progress=False)
    score = post.mean("benchmark")
    row = be.moments(post.counts).to_frame().iloc[0]
    assert score.method == "robust" and score.other.method == "model"
    assert score.value == pytest.approx(row["mean"], abs=1e-4)
    assert score.sd == pytest.approx(row["se_benchmark"], rel=0.01)


# Bad data ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["grouped", "clustered"])
def test_models_of_groups_refuse_data_without_them(name):
    with pytest.raises(be.BayesevalError, match="needs a group for every prompt"):
        be.fit(counts_of([1, 2], 4), model=name, progress=False)
    with pytest.raises(be.BayesevalError, match="all 2 prompts are of one group"):
        be.fit(counts_of([1, 2], 4, group=["x", "x"]), model=name, progress=False)


def test_missing_groups_are_named():
    with pytest.raises(be.BayesevalError, match="group"):
        counts_of([1, 2, 3], 4, group=["x", None, "y"])


def test_a_group_of_one_prompt_is_fitted_with_the_others():
    counts = counts_of([1, 2, 4, 3, 4], 4, group=["x", "x", "y", "y", "alone"])
    post = be.fit(counts, model="grouped", seed=1, draws=250, progress=False)
    spread = post.parameters["mu"].std(axis=(0, 1))
    assert np.isfinite(spread).all() and spread[2] > 0


def test_run_effects_refuse_counts_and_tables_with_holes():
    with pytest.raises(be.BayesevalError, match="fit Outcomes rather than Counts"):
        be.fit(counts_of([1, 2], 4), model="run_effects", progress=False)
    holes = np.array([[1.0, 0.0, np.nan], [1.0, 1.0, 0.0]])
    with pytest.raises(be.BayesevalError, match="1 of 2 prompts lack some, such as prompt '0', which has 2 of 3"):
        be.fit(be.Outcomes.from_matrix(holes), model="run_effects", progress=False)
    with pytest.raises(be.BayesevalError, match="at least two generations"):
        be.fit(be.Outcomes.from_matrix([[1], [0]]), model="run_effects", progress=False)


def test_prior_draws_are_made_for_the_data_at_hand():
    model = load_model("grouped")
    data = ModelData.of(counts_of([0] * 6, 4, group=list("aabbcc")), model.blocks)
    assert prior_draws(model, model.prior(), 5, 1, data)["mu"].shape == (5, 3)
    assert prior_draws(model, model.prior(), 5, 1)["mu"].shape == (5, len(specimen().group_names))
