"""Contrasts of two systems: closed forms, coverage, symmetries, shared noise, and what is refused or said."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import bdtr, betainc

import bayeseval as be
from bayeseval import metrics
from bayeseval.contrasts.difference import Contrast
from bayeseval.contrasts.joint import bootstrap_draws, pseudo_sizes, shuffled, with_correlation
from bayeseval.contrasts.noise import noise_terms, shared_noise_correlation, slopes
from bayeseval.errors import DataError, OptionError
from bayeseval.metrics.names import metric_named, metric_of
from tests.test_plots import EVIL, draw, new_ax, texts

Z = 1.959963984540054


def counts(c: Any, k: Any, system: str, **more: Any) -> be.Counts:
    return be.Counts.from_arrays(c, k, system=system, benchmark="sums", **more)


def fit(data: Any, seed: int = 1) -> Any:
    return be.fit(data, engine="quadrature", seed=seed, progress=False)


def logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def one_each(both: int, only_a: int, only_b: int, neither: int) -> tuple[be.Counts, be.Counts]:
    """Two systems with one generation a prompt."""
    times = (both, only_a, only_b, neither)
    return counts(np.repeat([1, 1, 0, 0], times), 1, "a"), counts(np.repeat([1, 0, 1, 0], times), 1, "b")


def alike(rng: np.random.Generator, size: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """P(correct) of two systems on prompts that are hard for both or for neither."""
    common = rng.normal(0.3, 1.6, size)
    a, b = (common + rng.normal(0, 0.5, size) + move for move in (shift, 0.0))
    return logistic(a), logistic(b)


# One generation a prompt: a Dirichlet(1, 1, 1, 1) prior on the table -------------------------------------------------


@pytest.mark.parametrize(
    ("table", "expected"),
    [((120, 25, 10, 65), 0.994335), ((780, 418, 439, 363), 1 - 0.76328), ((1963, 965, 1143, 929), 1 - 0.999947)],
    ids=["lm-eval 3831", "bayes_evals 2000", "bayes_evals 5000"],
)
def test_one_generation_a_prompt_has_the_probability_of_a_dirichlet(table: Any, expected: float) -> None:
    draws = 100_000
    found = be.contrast(*one_each(*table), draws=draws, seed=1)
    # P(Gamma(only_a + 1) > Gamma(only_b + 1)) is a Beta tail.
    exact = betainc(table[2] + 1, table[1] + 1, 0.5)
    assert exact == pytest.approx(expected, abs=6e-6)
    assert found.p_greater == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / draws) + 1e-9)


def test_nothing_is_cut_off_where_scores_are_near_one() -> None:
    found = be.contrast(*one_each(28, 2, 0, 0), draws=100_000, seed=1)
    exact = 1 - 0.5**3  # P(Gamma(3) > Gamma(1))
    assert found.p_greater == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 100_000))
    ranking = be.rank(one_each(28, 2, 0, 0), seed=1)
    assert ranking.to_frame().loc[0, "value"] == pytest.approx(1, abs=0.005)
    assert ranking.to_frame()["upper"].max() <= 1


def test_systems_that_never_differ_are_equally_good() -> None:
    found = be.contrast(*one_each(30, 0, 0, 10), seed=3)
    assert found.p_greater == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(4000))
    assert found.value == pytest.approx(0, abs=4 * found.sd / np.sqrt(4000))
    assert found.lower < 0 < found.upper


def test_pseudo_prompts_differ_by_one_where_nothing_was_seen_and_by_what_is_typical_where_much_was() -> None:
    assert pseudo_sizes(np.zeros((2, 5))).tolist() == [0.5, 0.5]
    many = np.stack([np.full(100_000, 0.4), np.full(100_000, 0.1)])
    assert pseudo_sizes(many) == pytest.approx([0.15, 0.15], abs=1e-4)
    assert pseudo_sizes(np.vstack([many, many[1:]])) == pytest.approx(
        np.full(3, np.sqrt((100_000 * 0.09 + 1) / 100_001)) / np.sqrt(2)
    )


# Prompts like these --------------------------------------------------------------------------------------------------


def test_bootstrap_has_the_moments_of_rubin() -> None:
    rng = np.random.default_rng(1)
    gaps = rng.normal(0.2, 0.2, 400)
    estimates = np.stack([0.5 + gaps / 2, 0.5 - gaps / 2])
    draws = 40_000
    values = np.subtract(*bootstrap_draws(estimates, ("a", "b"), draws, seed=5).T)
    n, square = 400, gaps.var(ddof=1)
    variance = (n - 1) * square / (n * (n + 1)) + 2 * ((gaps**2).sum() + 1) / (n + 1) / n**2
    assert values.mean() == pytest.approx(gaps.mean(), abs=4 * np.sqrt(variance / draws))
    assert values.var() == pytest.approx(variance, rel=4 * np.sqrt(2 / draws) + 2e-3)


def test_equal_rows_are_drawn_together_without_changing_the_law() -> None:
    estimates = np.array([[1.0, 0.0, 1.0, 0.5] * 20, [0.5, 0.0, 1.0, 0.5] * 20])
    together = bootstrap_draws(estimates, ("a", "b"), 20_000, seed=1)
    apart = bootstrap_draws(estimates, ("a", "b"), 20_000, seed=2, clusters=np.arange(80))
    assert together.mean(axis=0) == pytest.approx(apart.mean(axis=0), abs=0.003)
    assert np.cov(together.T) == pytest.approx(np.cov(apart.T), rel=0.05)


@pytest.mark.parametrize(("prompts", "k"), [(20, 4), (60, 1), (60, 4)])
def test_population_intervals_hold_the_true_difference(prompts: int, k: int) -> None:
    rng, repeats = np.random.default_rng(prompts + k), 400
    p, q = alike(np.random.default_rng(0), 1_000_000, 0.4)
    truth, held = (p - q).mean(), 0
    for repeat in range(repeats):
        p, q = alike(rng, prompts, 0.4)
        found = be.contrast(
            counts(rng.binomial(k, p), k, "a"), counts(rng.binomial(k, q), k, "b"), draws=800, seed=repeat
        )
        held += found.lower <= truth <= found.upper
    assert bdtr(held, repeats, 0.95) > 0.001  # not fewer than chance leaves out
    assert held < repeats


def test_equal_systems_have_uniform_probabilities() -> None:
    rng, repeats = np.random.default_rng(8), 400
    found = []
    for repeat in range(repeats):
        p, q = alike(rng, 60, 0.0)
        a, b = counts(rng.binomial(4, p), 4, "a"), counts(rng.binomial(4, q), 4, "b")
        found.append(be.contrast(a, b, draws=800, seed=repeat).p_greater)
    gap = np.abs(np.sort(found) - (np.arange(repeats) + 0.5) / repeats).max()
    assert gap < 1.95 / np.sqrt(repeats)  # Kolmogorov's 0.1% point


def test_pairing_narrows_the_interval_of_systems_that_find_the_same_prompts_hard() -> None:
    p, q = alike(np.random.default_rng(2), 300, 0.2)
    rng = np.random.default_rng(3)
    a, b = counts(rng.binomial(6, p), 6, "a"), counts(rng.binomial(6, q), 6, "b")
    paired, unpaired = be.contrast(a, b, seed=1), be.contrast(a, b, paired=False, seed=1)
    shares = [one.correct / one.generations for one in (a, b)]
    assert paired.sd == pytest.approx((shares[0] - shares[1]).std(ddof=1) / np.sqrt(300), rel=0.06)
    assert unpaired.sd == pytest.approx(np.sqrt(sum(one.var(ddof=1) for one in shares) / 300), rel=0.1)
    assert unpaired.design == "unpaired" and unpaired.method == "separate"


def test_scores_beyond_the_generations_come_from_draws_of_p_and_say_so() -> None:
    p, q = alike(np.random.default_rng(2), 120, 0.6)
    rng = np.random.default_rng(3)
    a, b = fit(counts(rng.binomial(4, p), 4, "a")), fit(counts(rng.binomial(4, q), 4, "b"))
    found = be.contrast(a, b, score="pass@8", seed=1)
    assert found.method == "reweighted"
    assert any("looks beyond the 4 generations" in text for text in found.warnings)
    robust = [post.score(metrics.pass_at(8), method="robust") for post in (a, b)]
    error = 5 * max(one.sd for one in robust) / np.sqrt(4000) * np.sqrt(2)
    assert found.value == pytest.approx(robust[0].value - robust[1].value, abs=error)
    far = be.contrast(a, b, score="pass@64", seed=1)
    assert np.isnan([far.lower, far.upper, far.p_greater, far.detectable]).all() and "no interval" in repr(far)


@pytest.mark.parametrize("score", ["pass@2", "pass^3", "g-pass@4:0.5", "mg-pass@4"])
def test_unbiased_estimates_of_any_score_are_compared(score: str) -> None:
    p, q = alike(np.random.default_rng(2), 200, 0.5)
    rng = np.random.default_rng(3)
    a, b = counts(rng.binomial(6, p), 6, "a"), counts(rng.binomial(6, q), 6, "b")
    metric = metric_named(score)
    gaps = metric.estimate(a.correct, a.generations) - metric.estimate(b.correct, b.generations)
    found = be.contrast(a, b, score=score, seed=1)
    assert found.score == metric.name
    assert found.value == pytest.approx(gaps.mean(), abs=5 * found.sd / np.sqrt(4000))
    assert found.sd == pytest.approx(gaps.std(ddof=1) / np.sqrt(200), rel=0.06)


# These prompts -------------------------------------------------------------------------------------------------------


def test_benchmark_difference_is_that_of_the_scores_even_where_fits_share_their_seed() -> None:
    p, q = alike(np.random.default_rng(4), 80, 0.3)
    rng = np.random.default_rng(5)
    a, b = (fit(counts(rng.binomial(6, x), 6, name), seed=1) for x, name in ((p, "a"), (q, "b")))
    found = be.contrast(a, b, estimand="benchmark", seed=1)
    scores = [post.mean("benchmark") for post in (a, b)]
    assert found.value == pytest.approx(scores[0].value - scores[1].value, abs=6 * found.sd / np.sqrt(4000))
    assert found.sd == pytest.approx(np.hypot(scores[0].sd, scores[1].sd), rel=0.06)


def test_benchmark_difference_of_two_prompts_equals_integration() -> None:
    """With the hyper-parameters known, P(correct) is Beta, and the difference is integrated on a grid."""
    a, b = fit(counts([3, 1], 4, "a")), fit(counts([1, 1], 4, "b"))
    draws = 40_000
    found = be.contrast(a, b, estimand="benchmark", draws=draws, seed=2)
    means = [post.distribution.condition(post.counts.correct, post.counts.generations).mean() for post in (a, b)]
    exact = float(means[0].mean() - means[1].mean())
    assert found.value == pytest.approx(exact, abs=5 * found.sd / np.sqrt(4000))


def test_common_prompts_alone_count() -> None:
    p, q = alike(np.random.default_rng(4), 60, 0.3)
    rng = np.random.default_rng(5)
    c, d = rng.binomial(6, p), rng.binomial(6, q)
    ids = [f"p{i}" for i in range(60)]
    a, b = counts(c, 6, "a", prompt=ids), counts(d[10:], 6, "b", prompt=ids[10:])
    for estimand in ("population", "benchmark"):
        found = be.contrast(a, b, estimand=estimand, seed=1)
        assert found.sizes == (50, 50)
        assert any("10 prompts of a have no partner" in text for text in found.warnings)
        assert found.value == pytest.approx((c[10:] - d[10:]).mean() / 6, abs=0.02)


def test_benchmark_intervals_hold_the_truth_coupled_or_not() -> None:
    rng, repeats, k, prompts = np.random.default_rng(6), 60, 6, 60
    held, widths = np.zeros(2, dtype=int), np.zeros((repeats, 2))
    for repeat in range(repeats):
        p, q = alike(rng, prompts, 0.3)
        noise = rng.random((prompts, k))
        runs = [be.Outcomes.from_matrix((noise < x[:, None]).astype(int), system=s) for x, s in ((p, "a"), (q, "b"))]
        other = be.Outcomes.from_matrix((rng.random((prompts, k)) < q[:, None]).astype(int), system="c")
        posts = [fit(one) for one in (*runs, other)]
        both = (
            be.contrast(posts[0], posts[1], estimand="benchmark", coupled=True, draws=800, seed=repeat),
            be.contrast(posts[0], posts[2], estimand="benchmark", coupled=False, draws=800, seed=repeat),
        )
        truth = (p - q).mean()
        held += [found.lower <= truth <= found.upper for found in both]
        widths[repeat] = [found.width for found in both]
    assert (bdtr(held, repeats, 0.95) > 0.001).all()
    assert widths[:, 0].mean() < 0.6 * widths[:, 1].mean()


# Coupled generations -------------------------------------------------------------------------------------------------


def test_correlation_of_shared_noise_is_that_of_repeated_runs() -> None:
    rng = np.random.default_rng(9)
    p, q = alike(rng, 400, 0.3)
    runs = []
    for _ in range(400):
        noise = rng.random((400, 6))
        runs.append([(noise < x[:, None]).mean() for x in (p, q)])
    noise = rng.random((400, 6))
    y, z = (noise < p[:, None]).astype(int), (noise < q[:, None]).astype(int)
    tables = np.stack([(y * z).sum(1), (y * (1 - z)).sum(1), ((1 - y) * z).sum(1), ((1 - y) * (1 - z)).sum(1)], 1)
    value, draws = shared_noise_correlation(metrics.mean(), tables, 2000, rng)
    truth = np.corrcoef(np.transpose(runs))[0, 1]
    assert value == pytest.approx(truth, abs=4 * (draws.std() + (1 - truth**2) / 20))
    assert draws.mean() == pytest.approx(value, abs=0.02)


def test_ordering_draws_keeps_both_distributions() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.beta(2, 5, 4000), rng.normal(size=4000)
    pair = with_correlation(first, second, np.full(4000, 0.7), rng)
    assert np.sort(pair[:, 0]).tolist() == np.sort(first).tolist()
    assert np.sort(pair[:, 1]).tolist() == np.sort(second).tolist()


def test_population_bootstrap_has_coupling_in_it_already() -> None:
    rng = np.random.default_rng(3)
    p, q = alike(rng, 150, 0.1)
    noise = rng.random((150, 5))
    a, b = (be.Outcomes.from_matrix((noise < x[:, None]).astype(int), system=s) for x, s in ((p, "a"), (q, "b")))
    said, unsaid = be.contrast(a, b, coupled=True, seed=1), be.contrast(a, b, coupled=False, seed=1)
    assert said.draws.tolist() == unsaid.draws.tolist()
    assert said.noise < unsaid.noise  # and so more generations would help less


def test_equal_seeds_are_said_unless_the_user_has_said_what_they_mean() -> None:
    rng = np.random.default_rng(3)
    a, b = (be.Outcomes.from_matrix(rng.integers(0, 2, (20, 4)), system=name) for name in "ab")
    seeds = np.arange(len(a.correct))
    a, b = replace(a, seed=seeds), replace(b, seed=np.where(seeds < 30, seeds, seeds + 1000))
    assert any("30 of 80 generations of a and b have the same seed" in text for text in be.contrast(a, b).warnings)
    assert not be.contrast(a, b, coupled=False).warnings
    assert any("30 of 80" in text for text in be.rank([a, b]).warnings)
    same = replace(b, correct=a.correct, seed=None)
    assert any("one run with two names" in text for text in be.contrast(a, same).warnings)


# Symmetry and numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("score", ["mean", "pass@9"])
@pytest.mark.parametrize("estimand", ["population", "benchmark"])
def test_swapping_the_systems_changes_the_sign_and_nothing_else(estimand: str, score: str, coupled: bool) -> None:
    rng = np.random.default_rng(3)
    p, q = alike(rng, 40, 0.3)
    noise = rng.random((40, 5))
    a, b = (
        fit(be.Outcomes.from_matrix((noise < x[:, None]).astype(int), system=s, prompts=[str(i) for i in order]))
        for x, s, order in ((p, "a", range(40)), (q, "b", range(39, -1, -1)))
    )
    one = be.contrast(a, b, score=score, estimand=estimand, coupled=coupled, draws=1000, seed=4)
    two = be.contrast(b, a, score=score, estimand=estimand, coupled=coupled, draws=1000, seed=4)
    assert one.draws == pytest.approx(-two.draws, abs=1e-12)
    assert one.p_greater == pytest.approx(1 - two.p_greater)
    assert one.systems == two.systems[::-1]


def test_the_result_states_what_its_draws_say() -> None:
    p, q = alike(np.random.default_rng(2), 100, 0.3)
    rng = np.random.default_rng(3)
    a, b = counts(rng.binomial(6, p), 6, "a"), counts(rng.binomial(6, q), 6, "b")
    found = be.contrast(a, b, rope=0.03, prob=0.8, seed=1)
    assert found.lower == pytest.approx(np.quantile(found.draws, 0.1))
    assert found.p_equivalent == pytest.approx((np.abs(found.draws) < 0.03).mean())
    frame = found.to_frame()
    assert frame.loc[0, "system_a"] == "a" and frame.loc[0, "p_greater"] == found.p_greater
    assert "80% credible interval" in repr(found) and "prompts like these" in repr(found)
    assert "P(|difference| < 0.03)" in found.sentence() and "<table>" in found._repr_html_()


def test_detectable_difference_is_that_of_the_normal_law() -> None:
    p, q = alike(np.random.default_rng(2), 200, 0.3)
    rng = np.random.default_rng(3)
    a, b = counts(rng.binomial(4, p), 4, "a"), counts(rng.binomial(4, q), 4, "b")
    found = be.contrast(a, b, seed=1)
    reach = Z + 0.8416212335729143
    assert found.detectable == pytest.approx(reach * found.sd, rel=1e-3)
    assert found.detectable_prompts == pytest.approx(reach * found.sd / np.sqrt(2), rel=1e-3)
    within = sum((one.correct * (4 - one.correct) / 12).mean() / 4 / 200 for one in (a, b))
    assert found.noise == pytest.approx(within)
    assert found.detectable_generations == pytest.approx(reach * np.sqrt(found.sd**2 - within / 2), rel=1e-3)
    single = be.contrast(*one_each(60, 25, 10, 65), seed=1)
    assert np.isnan(single.detectable_generations) and "twice the prompts" in single.power_sentence()
    assert "generations" not in single.power_sentence()


def test_slopes_and_noise_are_those_of_the_delta_method() -> None:
    c, k = np.array([1, 3, 4]), np.array([5, 5, 5])
    p = (c + 0.5) / 6
    assert slopes(metrics.pass_at(4), c, k) == pytest.approx(4 * (1 - p) ** 3, rel=1e-3)
    assert noise_terms(metrics.mean(), c, k) == pytest.approx(c * (5 - c) / 20 / 5)
    assert np.isnan(noise_terms(metrics.mean(), np.array([1]), np.array([1]))).all()


def test_shuffled_uses_every_value_equally_often() -> None:
    found = shuffled(np.arange(5), 12, np.random.default_rng(1))
    assert set(np.bincount(found)) <= {2, 3}


def test_clusters_are_weighed_as_wholes() -> None:
    estimates = np.array([[1.0, 1.0, 0.0, 0.5], [0.5, 0.0, 0.0, 0.5]]).repeat(10, axis=1)
    single = np.subtract(*bootstrap_draws(estimates, ("a", "b"), 4000, 1).T)
    whole = np.subtract(*bootstrap_draws(estimates, ("a", "b"), 4000, 1, np.repeat(np.arange(4), 10)).T)
    assert whole.std() > 2 * single.std()


def test_a_posterior_of_a_pair_gives_its_own_draws() -> None:
    rng = np.random.default_rng(1)
    pairs = be.Pairs(("a", "b"), "sums", list("xyz"), [[3, 1, 2], [2, 1, 0]], [[4] * 3] * 2)
    draws = rng.normal(0.1, 0.05, 500)
    answer = SimpleNamespace(draws=draws, warnings=("mind the gap",))
    pair = SimpleNamespace(pairs=pairs, metric_difference=lambda metric, estimand: answer)
    found = be.contrast(pair, estimand="benchmark")
    assert found.draws.tolist() == draws.tolist() and found.method == "joint"
    assert found.systems == ("a", "b") and found.warnings == ("mind the gap",)
    with pytest.raises(OptionError, match="leave b out"):
        be.contrast(pair, counts([1], 4, "c"))


# What cannot be right ------------------------------------------------------------------------------------------------


def test_what_cannot_be_compared_is_refused_in_sentences() -> None:
    a, b = counts([1, 2], 4, "a"), counts([2, 3], 4, "b")
    with pytest.raises(DataError, match="'a' was given twice"):
        be.contrast(a, a)
    with pytest.raises(DataError, match="'a' was given twice"):
        be.contrast(a, a, paired=False)
    with pytest.raises(DataError, match="their benchmarks are"):
        be.contrast(a, be.Counts.from_arrays([1, 2], 4, system="b", benchmark="other"))
    with pytest.raises(DataError, match="needs one benchmark"):
        be.contrast(a, be.Counts.from_arrays([1, 2], 4, system="b", benchmark="other"), paired=False)
    with pytest.raises(DataError, match="no prompt was answered by all"):
        be.contrast(a, counts([1], 4, "b", prompt=["elsewhere"]))
    with pytest.raises(OptionError, match="two systems, but one"):
        be.contrast(a)
    with pytest.raises(OptionError, match="compared on the same prompts"):
        be.contrast(a, b, paired=False, estimand="benchmark")
    with pytest.raises(OptionError, match="leave paired=False or coupled=True out"):
        be.contrast(a, b, paired=False, coupled=True)
    with pytest.raises(OptionError, match="which counts cannot tell"):
        be.contrast(a, b, coupled=True)
    with pytest.raises(OptionError, match="rope is half a width"):
        be.contrast(a, b, rope=0)
    with pytest.raises(OptionError, match="must look like pass@16"):
        be.contrast(a, b, score="accuracy")
    with pytest.raises(OptionError, match="made by be.metrics"):
        be.contrast(a, b, score=4)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="takes the posterior or the counts"):
        be.contrast(a, [1, 2])  # type: ignore[arg-type]
    credits = be.Credits.from_matrix([[1, 0.5], [0, 1]], system="c")
    with pytest.raises(OptionError):
        be.contrast(a, credits)  # type: ignore[arg-type]
    assert metric_of(metrics.pass_at(2)) == metric_named("pass@2")


def test_adaptive_generations_are_not_compared_by_shares() -> None:
    rng = np.random.default_rng(1)
    p = rng.beta(1, 1, 200)
    k = np.where(p > 0.5, 4, 16)
    a, b = counts(rng.binomial(k, p), k, "a"), counts(rng.binomial(8, p), 8, "b")
    found = be.contrast(a, b, draws=500)
    assert found.method == "reweighted" and any("depend on what was answered" in text for text in found.warnings)


def contrast_of(**changes: Any) -> Contrast:
    p, q = alike(np.random.default_rng(2), 100, 0.3)
    rng = np.random.default_rng(3)
    found = be.contrast(counts(rng.binomial(6, p), 6, "a"), counts(rng.binomial(6, q), 6, "b"), rope=0.02, seed=1)
    return replace(found, **changes)


def test_figure_shows_the_difference_zero_and_the_rope() -> None:
    found = contrast_of()
    ax = found.plot(new_ax())
    draw(ax)
    assert f"{found.value:+.4f}"[:6] in texts(ax)
    assert "P(|difference| < 0.02)" in texts(ax) and "population" in texts(ax) and "95% credible interval" in texts(ax)
    grid, height = ax.lines[0].get_xdata(), ax.lines[0].get_ydata()
    assert np.trapezoid(height, grid) == pytest.approx(1, abs=0.01)
    assert ax.lines[1].get_xdata()[0] == 0


def test_figure_of_evil_names_and_without_an_interval() -> None:
    nothing = dict(lower=np.nan, upper=np.nan, p_greater=np.nan, p_equivalent=np.nan)
    ax = contrast_of(systems=(EVIL, EVIL[::-1]), benchmark=EVIL, **nothing).plot(new_ax())
    draw(ax)
    assert "no interval" in texts(ax) and "\n日" not in texts(ax)
