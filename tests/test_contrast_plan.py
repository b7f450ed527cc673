"""Plans for comparisons: closed forms, brute-force studies with real counts, orders of systems, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayeseval as be
from bayeseval.estimators.coupled import kappa_hat
from bayeseval.estimators.variance import variance_components
from bayeseval.pairs import pair_tables
from bayeseval.planning.comparing.contrast_law import ContrastLaw
from bayeseval.planning.comparing.moments import (
    Moments,
    bootstrap_moments,
    given_moments,
    noise_ratio,
    project_covariance,
)
from bayeseval.planning.comparing.verdicts import detectable, equivalent, miller_sample_size, resolved
from tests.oracles import oracle_rows

STUDIES = 2000
Z = 1.959963984540054


def pair_of_systems(shift: float, size: int = 4000, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """P(correct) of two systems on a finite population of prompts, strongly related; a is better for shift > 0."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0.3, 1.6, size)
    a, b = (common + rng.normal(0, 0.6, size) + move for move in (shift, 0.0))
    return 1 / (1 + np.exp(-a)), 1 / (1 + np.exp(-b))


def guesses(p: np.ndarray, q: np.ndarray) -> tuple[be.SystemGuess, be.SystemGuess, float]:
    """Exact moments of a finite population."""
    return (
        be.SystemGuess(p.mean(), p.std(), "a"),
        be.SystemGuess(q.mean(), q.std(), "b"),
        float(np.corrcoef(p, q)[0, 1]),
    )


def runs(p: np.ndarray, q: np.ndarray, k: int, seed: int = 1) -> tuple[be.Counts, be.Counts]:
    """Counts of two systems on the same prompts."""
    rng = np.random.default_rng(seed)
    return tuple(be.Counts.from_arrays(rng.binomial(k, x), k, system=name) for x, name in ((p, "a"), (q, "b")))


def fit(counts: be.Counts) -> Any:
    return be.fit(counts, engine="quadrature", seed=1, progress=False)


def agrees(share: float, predicted: float, size: int = STUDIES) -> bool:
    """Whether a share of studies agrees with a probability within 3.5 binomial standard errors."""
    return abs(share - predicted) < 3.5 * np.sqrt(max(predicted * (1 - predicted), 0.002) / size)


# Closed forms ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantity", "inputs", "value"), oracle_rows("miller_sample_size", "var_diff_paired_coupled", "kappa_hat")
)
def test_formulas_agree_with_oracles(quantity: str, inputs: dict[str, Any], value: float) -> None:
    if quantity == "miller_sample_size":
        found = miller_sample_size(
            inputs["delta"],
            inputs["omega2"],
            inputs["sigA2"] / inputs["KA"],
            inputs["sigB2"] / inputs["KB"],
            prob=1 - inputs["alpha"],
            power=inputs["power"],
        )
    elif quantity == "kappa_hat":
        found = kappa_hat(inputs["tables_n11_n10_n01_n00"]).mean()
    else:
        between = np.array([[[inputs["sigA2"], inputs["cov_p"]], [inputs["cov_p"], inputs["sigB2"]]]])
        moments = Moments(
            np.array([[0.5, 0.5]]),
            between,
            np.array([[inputs["omA"], inputs["omB"]]]),
            np.array([inputs["kappa"]]),
            0.0,
        )
        law = ContrastLaw(moments, (inputs["n"], inputs["n"]), True, True, 0.0, Z, 0.0, None)
        found = law.standard_error(inputs["k"])[0] ** 2
    assert found == pytest.approx(value, rel=1e-9)


# Computed by a peer's formula: mean .6, sd .3 over prompts, a difference of .03, 80% power.
FLOORS = {0.0: [4187, 2224, 1734, 1611, 1570], 0.9: [2774, 812, 321, 198, 157]}


@pytest.mark.parametrize("correlation", FLOORS)
def test_prompts_needed_are_those_of_the_peer_with_generations_in_its_formula(correlation: float) -> None:
    a, b = be.SystemGuess(0.6, 0.3, "a"), be.SystemGuess(0.6, 0.3, "b")
    plan = be.plan_contrast(a, b, 0.03, correlation=correlation, n_prompts=100, generations=[1, 4, 16, 64])
    assert [*plan.curve["prompts_needed"], plan.n_prompts_needed] == FLOORS[correlation]
    assert "no number of generations resolves a true difference of 0.03" in plan.sentence()
    assert f"about {FLOORS[correlation][-1]:,} prompts with endless generations" in plan.sentence()


def test_prompts_needed_are_millers() -> None:
    a, b = be.SystemGuess(0.6, 0.25, "a"), be.SystemGuess(0.5, 0.3, "b")
    plan = be.plan_contrast(
        a, b, 0.05, correlation=0.7, n_prompts=50, generations=[2, 9], prob=0.9, power=0.7, prompts="fresh"
    )
    within = [0.24 - 0.25**2, 0.25 - 0.3**2]
    between = 0.25**2 + 0.3**2 - 2 * 0.7 * 0.25 * 0.3
    for k, needed in zip(plan.curve["generations"], plan.curve["prompts_needed"], strict=True):
        exact = miller_sample_size(0.05, between, within[0] / k, within[1] / k, prob=0.9, power=0.7)
        assert needed == pytest.approx(np.ceil(exact), abs=1)


def test_the_detectable_difference_is_detected_with_the_power_asked_for() -> None:
    errors = np.random.default_rng(1).uniform(0.01, 0.03, 200)
    for rope in (0.0, 0.02):
        found = detectable(errors, Z, rope, 0.8)
        assert resolved(found, errors, Z * errors, rope).mean() == pytest.approx(0.8, abs=1e-6)
    assert np.isnan(detectable(np.array([5.0]), Z, 0.0, 0.8))


def test_verdicts_agree_with_simulated_intervals() -> None:
    rng = np.random.default_rng(2)
    centre, spread, half, rope = 0.02, 0.015, 0.018, 0.03
    found = rng.normal(centre, spread, 200_000)
    outside = ((found - half > rope) | (found + half < -rope)).mean()
    inside = ((found - half > -rope) & (found + half < rope)).mean()
    assert agrees(outside, float(resolved(centre, spread, half, rope)), 200_000)
    assert agrees(inside, float(equivalent(centre, spread, half, rope)), 200_000)


def test_k_is_the_first_number_that_reaches_the_power() -> None:
    a, b = be.SystemGuess(0.6, 0.3, "a"), be.SystemGuess(0.6, 0.3, "b")
    plan = be.plan_contrast(a, b, 0.03, correlation=0.9, n_prompts=250)
    tried = be.plan_contrast(a, b, 0.03, correlation=0.9, n_prompts=250, generations=range(1, 60)).curve
    assert plan.k == tried.loc[tried["resolved"] >= 0.8, "generations"].min()
    assert plan.k is not None and plan.k > 1


def test_standard_error_falls_to_the_floor_and_no_further() -> None:
    p, q = pair_of_systems(0.2, 300)
    plan = be.plan_contrast(*runs(p, q, 4), 0.001, generations=[4, 64, 100_000])
    error = plan.curve["standard_error"].to_numpy()
    assert (np.diff(error) < 0).all() and error[-1] > plan.floor > 0
    assert error[-1] == pytest.approx(plan.floor, rel=1e-3)
    assert be.plan_contrast(*runs(p, q, 4), 0.001, estimand="benchmark").floor == 0


# Moments --------------------------------------------------------------------------------------------------------------


def test_bootstrap_moments_are_unbiased_for_ragged_generations() -> None:
    rng = np.random.default_rng(3)
    p = np.stack(pair_of_systems(0.5))
    found: list[np.ndarray] = []
    for _ in range(250):
        rows = rng.integers(0, p.shape[1], 40)
        k = rng.integers(2, 6, (2, 40))
        moments = bootstrap_moments(rng.binomial(k, p[:, rows]), k, rng, 60)
        raw = moments.between.mean(axis=0)
        found.append(np.array([*moments.mean.mean(axis=0), raw[0, 0], raw[1, 1], *moments.within.mean(axis=0)]))
    truth = [*p.mean(axis=1), *p.var(axis=1), *(p * (1 - p)).mean(axis=1)]
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - truth) < 4 * error).all()


def test_bootstrap_moments_are_centred_on_the_estimates_of_each_run() -> None:
    p, q = pair_of_systems(0.3, 500)
    a, b = runs(p, q, 5)
    moments = bootstrap_moments([a.correct, b.correct], [a.generations, b.generations], np.random.default_rng(1), 2000)
    for place, counts in enumerate((a, b)):
        parts = variance_components(counts.correct, counts.generations)
        assert moments.mean[:, place].mean() == pytest.approx(parts.mean, abs=4 * parts.se_population / 2000**0.5)
        assert moments.mean[:, place].std() == pytest.approx(parts.se_population, rel=0.06)
        assert moments.between[:, place, place].mean() == pytest.approx(parts.sigma2, rel=0.02)
        assert moments.within[:, place].mean() == pytest.approx(parts.within_var, rel=0.02)


def test_projection_gives_the_nearest_covariance_and_leaves_covariances_alone() -> None:
    rng = np.random.default_rng(4)
    raw = rng.normal(size=(20, 3, 3))
    symmetric = (raw + np.swapaxes(raw, 1, 2)) / 2
    projected, changed = project_covariance(symmetric)
    assert (np.linalg.eigvalsh(projected) > -1e-12).all() and changed.any()
    own = np.linalg.norm(projected - symmetric, axis=(1, 2))
    for _ in range(300):
        factor = rng.normal(size=(20, 3, 3))
        other = factor @ np.swapaxes(factor, 1, 2) * rng.uniform(0, 1, (20, 1, 1))
        assert (np.linalg.norm(other - symmetric, axis=(1, 2)) >= own - 1e-9).all()
    good = raw @ np.swapaxes(raw, 1, 2)
    assert (project_covariance(good)[0] == good).all()


def test_noise_ratio_is_the_standard_error_of_the_benchmark() -> None:
    rng = np.random.default_rng(5)
    k = rng.integers(2, 9, 60)
    c = rng.binomial(k, rng.beta(1, 1, 60))
    parts = variance_components(c, k)
    assert noise_ratio(c[None], k[None], 0)[0] * parts.within_var / 60 == pytest.approx(parts.se_benchmark**2)
    assert noise_ratio(c[None], k[None], 32)[0] == pytest.approx(1 / 32)


def test_noise_that_pilots_share_does_not_count_as_likeness_of_prompts() -> None:
    p, q = pair_of_systems(0.3, 2000)
    q = np.roll(q, 1)  # prompts that are hard for one are not for the other
    truth = (np.minimum(p, q) - p * q).mean()
    generations, found = np.full((2, 2000), 3), []
    for seed in range(40):
        u = np.random.default_rng(seed).random((2000, 3))
        y = [(u < x[:, None]).astype(int) for x in (p, q)]
        both = (y[0] & y[1]).sum(axis=1)
        a, b = (m.sum(axis=1) for m in y)
        kappa = kappa_hat(np.stack([both, a - both, b - both, 3 - a - b + both], axis=1))
        honest, naive = (
            bootstrap_moments([a, b], generations, np.random.default_rng(seed), 30, kappa=kappa, coupled=coupled)
            for coupled in (True, False)
        )
        found.append([kappa.mean(), honest.between[:, 0, 1].mean(), naive.between[:, 0, 1].mean()])
    covariance = np.cov(p, q)[0, 1]
    error = np.std(found, axis=0) / 40**0.5
    assert (np.abs(np.mean(found, axis=0) - [truth, covariance, covariance + truth / 3]) < 4 * error).all()
    assert truth / 3 > 20 * error[2]


# Brute force: studies with real counts --------------------------------------------------------------------------------


def study(p: np.ndarray, q: np.ndarray, n: int, k: int, design: str, rng: np.random.Generator) -> tuple[float, float]:
    """Difference and standard error that an analyst of fresh prompts finds."""
    rows = rng.integers(0, p.size, n)
    other = rng.integers(0, p.size, n) if design == "unpaired" else rows
    if design == "coupled":
        u = rng.random((n, k))
        a, b = (u < p[rows, None]).mean(axis=1), (u < q[rows, None]).mean(axis=1)
    else:
        a, b = rng.binomial(k, p[rows]) / k, rng.binomial(k, q[other]) / k
    if design == "unpaired":
        return a.mean() - b.mean(), np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / n)
    return (a - b).mean(), np.sqrt((a - b).var(ddof=1) / n)


@pytest.mark.parametrize(
    ("design", "n", "k", "shift", "rope"),
    [
        ("paired", 150, 1, 0.6, 0.0),
        ("paired", 150, 8, 0.3, 0.0),
        ("paired", 300, 8, 0.5, 0.03),
        ("paired", 400, 8, 0.02, 0.04),
        ("unpaired", 200, 4, 0.6, 0.0),
        ("unpaired", 200, 32, 0.5, 0.01),
        ("coupled", 150, 2, 0.3, 0.0),
        ("coupled", 150, 8, 0.25, 0.01),
    ],
)
def test_population_power_is_seen_in_studies_with_real_counts(
    design: str, n: int, k: int, shift: float, rope: float
) -> None:
    p, q = pair_of_systems(shift)
    a, b, correlation = guesses(p, q)
    kappa = {"kappa": float((np.minimum(p, q) - p * q).mean())} if design == "coupled" else {}
    more = {} if design == "unpaired" else {"correlation": correlation}
    plan = be.plan_contrast(
        a, b, p.mean() - q.mean(), design=design, n_prompts=n, generations=[k], rope=rope, **kappa, **more
    )
    rng = np.random.default_rng(7)
    found = np.array([study(p, q, n, k, design, rng) for _ in range(STUDIES)])
    low, high = found[:, 0] - Z * found[:, 1], found[:, 0] + Z * found[:, 1]
    row = plan.curve.iloc[0]
    assert agrees(((low > rope) | (high < -rope)).mean(), row["resolved"])
    assert agrees(((low > -rope) & (high < rope)).mean(), row["equivalent"])
    assert row["resolved"] + row["equivalent"] + row["undecided"] == pytest.approx(1)
    assert found[:, 0].std() == pytest.approx(row["standard_error"], rel=0.06)
    assert 0.15 < row["resolved"] + row["equivalent"] < 0.97, "a cell that decides nothing tests nothing"


@pytest.mark.parametrize(("design", "k", "rope"), [("paired", 6, 0.0), ("paired", 12, 0.01), ("coupled", 6, 0.0)])
def test_benchmark_power_is_seen_in_studies_on_the_same_prompts(design: str, k: int, rope: float) -> None:
    p, q = pair_of_systems(0.3, 200)
    a, b, correlation = guesses(p, q)
    kappa = {"kappa": float((np.minimum(p, q) - p * q).mean())} if design == "coupled" else {}
    plan = be.plan_contrast(
        a,
        b,
        p.mean() - q.mean(),
        design=design,
        correlation=correlation,
        n_prompts=200,
        generations=[k],
        rope=rope,
        estimand="benchmark",
        **kappa,
    )
    rng = np.random.default_rng(8)
    u, v = rng.random((2, STUDIES, 200, k))
    y, z = u < p[:, None], (u if design == "coupled" else v) < q[:, None]
    if design == "coupled":
        error = np.sqrt((y.astype(float) - z).var(axis=2, ddof=1).mean(axis=1) / k / 200)
    else:
        error = np.sqrt((y.var(axis=2, ddof=1) + z.var(axis=2, ddof=1)).mean(axis=1) / k / 200)
    found = y.mean(axis=(1, 2)) - z.mean(axis=(1, 2))
    share = (np.abs(found) - Z * error > rope).mean()
    assert agrees(share, plan.curve["resolved"].iloc[0])
    assert found.std() == pytest.approx(plan.curve["standard_error"].iloc[0], rel=0.06)
    assert plan.floor == 0


@pytest.mark.parametrize("estimand", ["population", "benchmark"])
@pytest.mark.parametrize("prompts", ["same", "fresh"])
def test_assurance_is_the_share_of_pilots_whose_continuation_resolves(estimand: str, prompts: str) -> None:
    """Truths spread widely; each has a pilot, a plan, and its continuation with real counts."""
    rng = np.random.default_rng(9)
    n, k0, k = 120, 3, 12
    predicted, happened = [], []
    for world in range(250):
        p, q = pair_of_systems(rng.normal(0, 0.8), n, seed=1000 + world)
        c = np.stack([rng.binomial(k0, x) for x in (p, q)])
        pilots = [be.Counts.from_arrays(x, k0, system=name) for x, name in zip(c, "ab", strict=True)]
        plan = be.plan_contrast(*pilots, estimand=estimand, prompts=prompts, generations=[k], draws=100, seed=world)
        predicted.append(plan.curve["resolved"].iloc[0])
        if prompts == "same":
            full = c + np.stack([rng.binomial(k - k0, x) for x in (p, q)])
        else:
            shift = np.log(p / (1 - p)).mean() - np.log(q / (1 - q)).mean()
            fresh = pair_of_systems(shift, n, seed=9000 + world)
            full = np.stack([rng.binomial(k, x) for x in fresh])
        share = full / k
        if estimand == "population":
            error = np.sqrt((share[0] - share[1]).var(ddof=1) / n)
        else:
            error = np.sqrt((share * (1 - share) / (k - 1)).sum()) / n
        happened.append(abs((share[0] - share[1]).mean()) > Z * error)
    chance = np.array(predicted)
    assert abs(np.sum(happened) - chance.sum()) < 3.5 * np.sqrt((chance * (1 - chance)).sum() + 1)
    assert np.corrcoef(chance, happened)[0, 1] > 0.4


def test_a_pilot_that_is_not_continued_has_nothing_uncertain_left() -> None:
    p, q = pair_of_systems(0.4, 200)
    a, b = runs(p, q, 4)
    plan = be.plan_contrast(a, b, generations=[4])
    share = a.correct / 4 - b.correct / 4
    clear = abs(share.mean()) > Z * share.std(ddof=1) / 200**0.5
    assert plan.curve["resolved"].iloc[0] == pytest.approx(float(clear), abs=0.02)
    assert plan.expected == pytest.approx(share.mean())


# Coupled generations --------------------------------------------------------------------------------------------------


def coupled_outcomes(p: np.ndarray, q: np.ndarray, k: int) -> tuple[be.Outcomes, be.Outcomes]:
    u = np.random.default_rng(11).random((p.size, k))
    return tuple(be.Outcomes.from_matrix((u < x[:, None]).astype(int), system=s) for x, s in ((p, "a"), (q, "b")))


def test_kappa_is_estimated_from_outcomes_that_share_their_noise() -> None:
    p, q = pair_of_systems(0.3, 2000)
    first, second = coupled_outcomes(p, q, 6)
    plan = be.plan_contrast(
        fit(first.counts()), fit(second.counts()), 0.03, design="coupled", coupled_outcomes=(first, second)
    )
    truth = (np.minimum(p, q) - p * q).mean()
    assert plan.kappa == pytest.approx(truth, rel=0.05)
    k = plan.curve["generations"].to_numpy()
    within = (p * (1 - p) + q * (1 - q)).mean() - 2 * truth
    exact = np.sqrt(((p - q).var() + within / k) / 2000)
    assert plan.curve["standard_error"].to_numpy() == pytest.approx(exact, rel=0.06)
    paired = be.plan_contrast(fit(first.counts()), fit(second.counts()), 0.03)
    assert plan.curve["standard_error"].iloc[0] < paired.curve["standard_error"].iloc[0]


def test_coupling_new_generations_leaves_the_noise_of_an_independent_pilot() -> None:
    p, q = pair_of_systems(0.3, 2000)
    a, b = runs(p, q, 4)
    kappa = float((np.minimum(p, q) - p * q).mean())
    plan = be.plan_contrast(
        a, b, 0.03, design="coupled", kappa=kappa, estimand="benchmark", generations=[4, 16, 10_000]
    )
    noise = (p * (1 - p) + q * (1 - q)).mean()
    exact = [noise / 4, noise / 16 - 2 * kappa * 12 / 16**2, (noise - 2 * kappa) / 10_000]
    assert plan.curve["standard_error"].to_numpy() == pytest.approx(np.sqrt(np.array(exact) / 2000), rel=0.04)


def test_generations_are_paired_by_prompt_and_number() -> None:
    a = be.Outcomes(["a"] * 4, ["x"] * 4, ["1", "1", "2", "3"], [0, 1, 0, 0], [1.0, 0.0, 1.0, np.nan])
    b = be.Outcomes(["b"] * 4, ["x"] * 4, ["2", "1", "1", "3"], [0, 1, 0, 0], [1.0, 1.0, 0.0, 1.0])
    prompt, tables, warnings = pair_tables(a, b)
    assert dict(zip(prompt.tolist(), tables.tolist(), strict=True)) == {"1": [0, 1, 1, 0], "2": [1, 0, 0, 0]}
    assert "1 generations" in warnings[0]


# Orders ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimand", ["population", "benchmark"])
@pytest.mark.parametrize("prompts", ["same", "fresh"])
def test_orders_are_right_as_often_as_planned(estimand: str, prompts: str) -> None:
    rng = np.random.default_rng(12)
    n, k0, k, systems = 100, 3, 9, 3

    def population(move: np.ndarray, size: int) -> np.ndarray:
        common = rng.normal(0.2, 1.4, size)
        return 1 / (1 + np.exp(-(common + rng.normal(0, 0.7, (systems, size)) + move[:, None])))

    predicted, happened = [], []
    for world in range(300):
        move = rng.normal(0, 0.5, systems)
        p = population(move, n)
        truth = move if estimand == "population" else p.mean(axis=1)  # means go up with the shift
        c = rng.binomial(k0, p)
        pilots = [be.Counts.from_arrays(row, k0, system=f"s{i}") for i, row in enumerate(c)]
        plan = be.plan_order(pilots, estimand=estimand, prompts=prompts, generations=[k], draws=150, seed=world)
        predicted.append(plan.curve[["order", "best"]].iloc[0].to_numpy())
        if prompts == "same":
            share = (c + rng.binomial(k - k0, p)).mean(axis=1)
        else:
            fresh = population(move, n)
            share = rng.binomial(k, fresh).mean(axis=1)
            truth = truth if estimand == "population" else fresh.mean(axis=1)
        happened.append([(np.argsort(share) == np.argsort(truth)).all(), share.argmax() == truth.argmax()])
    chance, seen = np.array(predicted), np.array(happened)
    error = np.sqrt((chance * (1 - chance)).sum(axis=0) + 1)
    assert (np.abs(seen.sum(axis=0) - chance.sum(axis=0)) < 3.5 * error).all()


def test_endless_generations_order_these_prompts_rightly_and_their_kind_not_always() -> None:
    p, q = pair_of_systems(0.05, 100)
    pilots = runs(p, q, 4)
    sure = be.plan_order(pilots, estimand="benchmark", generations=[4, 10_000_000])
    assert sure.limit_order == sure.limit_best == 1
    assert sure.curve["order"].iloc[-1] == pytest.approx(1, abs=0.01)
    doubtful = be.plan_order(pilots)
    assert doubtful.limit_order < 1
    assert (doubtful.curve["order"] == doubtful.curve["best"]).all()  # two systems: one question
    assert set(doubtful.systems) == {"a", "b"}


# Refusals and warnings ------------------------------------------------------------------------------------------------


def some(system: str = "a", k: int = 4, prompts: Any = None, benchmark: str = "sums") -> be.Counts:
    return be.Counts.from_arrays([0, 1, 1, 0] * 10, k, system=system, prompt=prompts, benchmark=benchmark)


def test_one_generation_a_prompt_needs_a_posterior_and_says_that_its_prior_decides() -> None:
    with pytest.raises(be.BayesevalError, match=r"cannot be known from one generation a prompt.*SystemGuess"):
        be.plan_contrast(some("a", 1), some("b", 1))
    other = be.Counts.from_arrays([0, 0, 1, 1] * 10, 1, system="b", benchmark="sums")
    plan = be.plan_contrast(fit(some("a", 1)), fit(other), 0.1)
    assert sum("comes from the prior" in text for text in plan.warnings) == 2
    assert 0 < plan.floor < 0.2
    assert sum("from the prior" in text for text in be.plan_contrast(fit(some("a", 1)), some("b"), 0.1).warnings) == 1


def test_prompts_without_a_partner_are_named() -> None:
    a = some("a", prompts=[f"p{i}" for i in range(40)])
    b = some("b", prompts=[f"p{i}" for i in range(3, 43)])
    plan = be.plan_contrast(a, b)
    assert plan.n_prompts == 37
    assert any("3 prompts of a have no partner" in text and "'p0'" in text for text in plan.warnings)
    with pytest.raises(be.BayesevalError, match="no prompt was answered by all"):
        be.plan_contrast(a, some("b", prompts=[f"q{i}" for i in range(40)]))
    apart = be.plan_contrast(a, some("b", prompts=[f"q{i}" for i in range(40)]), design="unpaired")
    assert apart.sizes == (40, 40)


A, B = be.SystemGuess(0.6, 0.3, "a"), be.SystemGuess(0.5, 0.3, "b")


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((A, B, 0.1), {"n_prompts": 50}, "needs the correlation"),
        ((A, B, 0.1), {"correlation": 0.5}, "say how many there will be"),
        ((A, B, 1.5), {"correlation": 0.5, "n_prompts": 50}, "difference must lie"),
        ((A, B, 0.1), {"correlation": 1.5, "n_prompts": 50}, "must lie between -1 and 1"),
        ((A, B, 0.1), {"correlation": 0.5, "n_prompts": 50, "rope": -0.1}, "rope"),
        ((A, B, 0.1), {"correlation": 0.5, "n_prompts": 50, "generations": []}, "generations is empty"),
        ((A, B, 0.1), {"correlation": 0.5, "n_prompts": 50, "kappa": 0.1}, "belongs to design='coupled'"),
        ((A, B, 0.1), {"correlation": 0.5, "n_prompts": 50, "design": "coupled"}, "give kappa"),
        ((A, B), {"correlation": 0.5, "n_prompts": 50, "design": "coupled", "kappa": 0.3}, "Cauchy-Schwarz"),
        ((A, B), {"design": "paired?"}, "design must be one of"),
        ((A, B), {"design": "unpaired", "estimand": "benchmark"}, "no benchmark in common"),
        ((some("a"), some("b")), {"correlation": 0.5}, "leave correlation out"),
        ((some("a"), some("a")), {}, "given twice"),
        ((some("a"), some("b", benchmark="words")), {}, "their benchmarks are"),
        ((some("a"), some("b")), {"n_prompts": 50}, "prompts='fresh'"),
        ((some("a"), some("b")), {"generations": [2]}, "4 generations already"),
        ((some("a"), "b"), {}, "str was given"),
        ((some("a"), be.Counts.concat([some("b"), some("c")])), {}, "one run at a time"),
        ((some("a"), some("b")), {"design": "coupled", "coupled_outcomes": (1, 2)}, "takes the Outcomes"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_a_sentence(arguments: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(be.BayesevalError, match=words):
        be.plan_contrast(*arguments, **options)


def test_guesses_that_no_system_can_have_are_refused() -> None:
    for mean, sd in ((0.0, 0.1), (1.2, 0.1), (0.5, 0.6), (0.5, -0.1), (float("nan"), 0.1)):
        with pytest.raises(be.BayesevalError):
            be.SystemGuess(mean, sd)
    with pytest.raises(be.BayesevalError, match=r"between -0.5 and 1"):
        given_moments([0.5] * 3, [0.1] * 3, -0.9)


def test_orders_need_two_different_systems() -> None:
    for given, words in (
        ([some("a")], "at least two systems"),
        ([some("a"), some("a")], "given twice"),
        (some("a"), "takes a list"),
    ):
        with pytest.raises(be.BayesevalError, match=words):
            be.plan_order(given)
    with pytest.raises(be.BayesevalError, match="prompts='fresh'"):
        be.plan_order([some("a"), some("b")], n_prompts=12)


def test_a_difference_inside_the_rope_and_few_prompts_are_warned_of() -> None:
    plan = be.plan_contrast(A, B, 0.01, correlation=0.5, n_prompts=20, rope=0.02)
    assert "column equivalent" in repr(plan) and "few for a normal law" in repr(plan)
    assert plan.n_prompts_needed is None and "nor would more prompts" in plan.sentence()


def test_pilots_without_any_noise_are_warned_of() -> None:
    sure, other = (be.Counts.from_arrays([4] * n + [0] * (40 - n), 4, system=f"s{n}") for n in (40, 30))
    assert "s40, s30" in repr(be.plan_contrast(sure, other)) and "too hopeful" in repr(be.plan_order([sure, other]))


def test_a_guess_beside_a_pilot() -> None:
    p, q = pair_of_systems(0.2, 400)
    a, _ = runs(p, q, 6)
    plan = be.plan_contrast(a, be.SystemGuess(q.mean(), q.std(), "next"), correlation=0.9, n_prompts=500)
    assert plan.prompts == "fresh" and plan.systems == ("a", "next") and plan.n_prompts == 500
    assert plan.expected == pytest.approx(p.mean() - q.mean(), abs=0.06)


# What is shown --------------------------------------------------------------------------------------------------------


def test_plans_say_and_draw_what_their_curves_hold() -> None:
    evil = "<b>$\\frac{ " + "x" * 80
    a = be.Counts.from_arrays([1, 2, 3, 4, 0] * 30, 4, system=evil)
    b = be.Counts.from_arrays([0, 1, 3, 4, 1] * 30, 4, system="b")
    plan, order = be.plan_contrast(a, b, 0.1, rope=0.02), be.plan_order([a, b])
    for result, column in ((plan, "resolved"), (order, "best")):
        html = result._repr_html_()
        assert "<table" in html and "<b>$" not in html
        assert result.sentence() in repr(result)
        ax = result.plot(ax=Figure().subplots())
        ax.get_figure().canvas.draw()
        drawn = next(line for line in ax.lines if len(line.get_xdata()) == len(result.curve))
        assert np.asarray(drawn.get_ydata()) == pytest.approx(result.curve[column].to_numpy())
        assert result.to_frame().equals(result.curve) and result.to_frame() is not result.curve
    assert plan.k is not None and f"{plan.k:,} generations" in plan.sentence()


def test_the_same_seed_gives_the_same_plan() -> None:
    p, q = pair_of_systems(0.2, 100)
    one, two, other = (be.plan_contrast(*runs(p, q, 4), seed=seed).curve for seed in (1, 1, 2))
    assert one.equals(two) and not one.equals(other)


def test_real_pairs_are_predicted_from_four_of_ten_generations(shared: Any) -> None:
    import pandas as pd

    rows = pd.read_parquet(shared / "data" / "coupled-gsm8k" / "outcomes.parquet")
    rows = rows[rows["condition"] == "independent"].sort_values(["prompt_id", "generation"])
    y = [
        rows[rows["model"] == name]["correct"].to_numpy().reshape(-1, 10)
        for name in ("Llama-3.2-3B-Instruct", "Llama-3.2-1B-Instruct")
    ]
    pilots = [be.Counts.from_arrays(m[:, :4].sum(axis=1), 4, system=s) for m, s in zip(y, "ab", strict=True)]
    plan = be.plan_contrast(*pilots, 0.03, generations=[10])
    seen = (y[0].mean(axis=1) - y[1].mean(axis=1)).std(ddof=1) / len(y[0]) ** 0.5
    assert plan.curve["standard_error_lower"].iloc[0] < seen < plan.curve["standard_error_upper"].iloc[0]
