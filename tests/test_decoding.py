"""Greedy decoding against sampling: what the intervals cover, what the curve finds, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.special import expit, logit

import bayeseval as be
from bayeseval.planning.comparing.greedy_curve import fit_curve

REPLICATES = 800
AT = np.array([0.25, 0.5, 0.75])


def world(n: int, rng: np.random.Generator, slope: float = 2.5, intercept: float = 0.3) -> tuple[np.ndarray, ...]:
    """P(correct) of prompts, P(greedy correct), and greedy bits."""
    p = rng.beta(1.2, 0.9, n)
    chance = expit(intercept + slope * logit(p))
    return p, chance, rng.random(n) < chance


def counts(p: np.ndarray, k: Any, rng: np.random.Generator, **options: Any) -> be.Counts:
    return be.Counts.from_arrays(rng.binomial(k, p), k, **options)


def bits(g: np.ndarray, **options: Any) -> be.Counts:
    return be.Counts.from_arrays(g.astype(int), 1, **options)


def fit(data: be.Counts) -> Any:
    return be.fit(data, engine="quadrature", seed=1, progress=False)


@pytest.fixture
def no_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the curve out, where only the intervals are looked at."""
    monkeypatch.setattr("bayeseval.planning.comparing.decoding.greedy_curve", lambda *_: (None, ()))


def covers(share: float, size: int = REPLICATES, prob: float = 0.95) -> bool:
    return abs(share - prob) < 3.5 * np.sqrt(prob * (1 - prob) / size)


def test_population_interval_covers_the_difference_on_fresh_prompts_and_the_unpaired_one_too_often(
    no_curve: None,
) -> None:
    rng = np.random.default_rng(1)
    p, chance, _ = world(400_000, rng)
    truth = (chance - p).mean()
    inside = []
    for _ in range(REPLICATES):
        rows = rng.integers(0, p.size, 150)
        result = be.compare_decoding(bits(rng.random(150) < chance[rows]), counts(p[rows], 5, rng))
        inside.append(
            [row.lower < truth < row.upper for row in (result.row("population"), result.row("population", "unpaired"))]
        )
    paired, unpaired = np.mean(inside, axis=0)
    assert covers(paired)
    assert unpaired > 0.98


def test_benchmark_interval_covers_the_difference_on_these_prompts(no_curve: None) -> None:
    rng = np.random.default_rng(2)
    p, _, g = world(150, rng)
    k = rng.integers(4, 9, 150)
    truth = g.mean() - p.mean()
    rows = [be.compare_decoding(bits(g), counts(p, k, rng)).row("benchmark") for _ in range(REPLICATES)]
    assert covers(float(np.mean([row.lower < truth < row.upper for row in rows])))
    assert np.std([row.difference for row in rows]) == pytest.approx(np.mean([row.se for row in rows]), rel=0.1)


def test_posterior_interval_for_these_prompts_covers_too(no_curve: None) -> None:
    rng = np.random.default_rng(3)
    inside = []
    for _ in range(80):
        p, _, g = world(80, rng)
        row = be.compare_decoding(bits(g), fit(counts(p, 4, rng))).row("benchmark")
        assert row.method == "posterior"
        inside.append(row.lower < g.mean() - p.mean() < row.upper)
    assert covers(float(np.mean(inside)), 80)


@pytest.mark.parametrize("k", [3, 12])
def test_curve_covers_the_chance_of_greedy_success_in_spite_of_the_noise_in_shares(k: int) -> None:
    rng = np.random.default_rng(4)
    truth = expit(0.3 + 2.5 * logit(AT))
    inside, values = [], []
    for _ in range(120):
        p, _, g = world(400, rng)
        curve = be.compare_decoding(bits(g), counts(p, k, rng)).curve
        assert curve is not None
        value, lower, upper = curve.at(AT, 0.95)
        inside.append((lower < truth) & (truth < upper))
        values.append(value)
    shares = np.mean(inside, axis=0)
    assert all(covers(float(share), 120) for share in shares), shares
    assert np.mean(values, axis=0) == pytest.approx(truth, abs=0.03)


def test_curve_of_a_posterior_agrees_with_that_of_counts() -> None:
    rng = np.random.default_rng(5)
    p, _, g = world(800, rng)
    sampled = counts(p, 8, rng)
    plain, fitted = (be.compare_decoding(bits(g), given).curve for given in (sampled, fit(sampled)))
    assert plain is not None and fitted is not None
    assert plain.at(AT, 0.95)[0] == pytest.approx(fitted.at(AT, 0.95)[0], abs=0.04)


def test_curve_with_known_p_is_logistic_regression() -> None:
    """Newton's method on the penalised likelihood of known regressors."""
    rng = np.random.default_rng(6)
    p, _, g = world(500, rng)
    curve = fit_curve(g, p[None, :], np.arange(500))
    design, beta = np.stack([np.ones(500), logit(p)], axis=1), np.zeros(2)
    for _ in range(50):
        fitted = expit(design @ beta)
        information = design.T @ (design * (fitted * (1 - fitted))[:, None]) + np.eye(2) / 25
        beta = beta + np.linalg.solve(information, design.T @ (g - fitted) - beta / 25)
    assert [curve.intercept, curve.slope] == pytest.approx(beta, abs=1e-4)
    assert curve.covariance == pytest.approx(np.linalg.inv(information), rel=1e-3)


def test_curve_stays_finite_where_greedy_success_is_the_majority() -> None:
    rng = np.random.default_rng(7)
    p = rng.beta(0.5, 0.5, 200)
    for g in (p > 0.5, np.ones(200, dtype=bool), np.zeros(200, dtype=bool)):
        curve = be.compare_decoding(bits(g), counts(p, 10, rng)).curve
        assert curve is not None
        value, lower, upper = curve.at(np.linspace(0, 1, 11), 0.95)
        assert np.isfinite([value, lower, upper]).all() and (lower <= value).all() and (value <= upper).all()


def test_difference_is_the_difference_of_the_scores_of_matched_prompts() -> None:
    rng = np.random.default_rng(8)
    p, _, g = world(60, rng)
    names = [f"p{i}" for i in range(60)]
    order = rng.permutation(50)
    greedy = bits(g[order], prompt=[names[i] for i in order])
    c = rng.binomial(4, p)
    sampled = be.Counts.from_arrays(c[5:], 4, prompt=names[5:])
    result = be.compare_decoding(greedy, sampled)
    assert result.n_matched == 45 and result.unmatched == (5, 10)
    assert result.row("population").difference == pytest.approx((g[5:50] - c[5:50] / 4).mean())
    assert any("5 prompts of system (greedy)" in text for text in result.warnings)
    assert any("10 prompts of system (sampled)" in text for text in result.warnings)
    whole = be.compare_decoding(greedy, fit(sampled))
    assert whole.row("benchmark").difference == pytest.approx((g[5:50] - c[5:50] / 4).mean(), abs=0.05)
    again = be.compare_decoding(be.Outcomes.from_matrix(g[:, None].astype(int), prompts=names), sampled)
    assert again.n_matched == 55


def test_one_sampled_generation_gives_no_benchmark_interval_and_no_curve() -> None:
    rng = np.random.default_rng(9)
    p, _, g = world(60, rng)
    result = be.compare_decoding(bits(g), counts(p, 1, rng))
    assert np.isnan(result.row("benchmark").lower) and result.curve is None
    assert np.isfinite(result.row("population").lower)
    assert "no interval, see the warnings" in result.sentence() and "no curve is fitted" in repr(result)
    fitted = be.compare_decoding(bits(g), fit(counts(p, 1, rng)))
    assert np.isfinite(fitted.row("benchmark").lower) and "leans on the prior" in repr(fitted)


def test_sampling_without_noise_is_said_to_tell_little() -> None:
    result = be.compare_decoding(bits(np.ones(40)), be.Counts.from_arrays([4] * 40, 4))
    assert result.row("population").difference == 0 and "0 of the prompts were answered both ways" in repr(result)


def test_what_is_no_greedy_decoding_is_refused() -> None:
    rng = np.random.default_rng(10)
    p, _, g = world(40, rng)
    sampled = counts(p, 4, rng)
    with pytest.raises(be.BayesevalError, match=r"prompt '0' has 4 generations.*wrong order"):
        be.compare_decoding(sampled, bits(g))
    with pytest.raises(be.BayesevalError, match="no prompt was answered by all"):
        be.compare_decoding(bits(g, prompt=[f"q{i}" for i in range(40)]), sampled)
    with pytest.raises(be.BayesevalError, match="two names"):
        be.compare_decoding(bits(g, benchmark="other"), sampled)
    with pytest.raises(be.BayesevalError, match="list was given"):
        be.compare_decoding([1, 0], sampled)  # type: ignore[arg-type]
    with pytest.raises(be.BayesevalError, match="Credits was given"):
        be.compare_decoding(be.Credits.from_matrix([[0.5], [1.0]]), sampled)  # type: ignore[arg-type]
    with pytest.raises(be.BayesevalError, match="one prompt is matched"):
        be.compare_decoding(bits(g[:1]), sampled)


def test_comparison_is_said_and_drawn() -> None:
    rng = np.random.default_rng(11)
    p, _, g = world(300, rng)
    evil = "<i>$\\x{" + "y" * 90
    result = be.compare_decoding(bits(g, system=evil), counts(p, 16, rng, system=evil))
    html = result._repr_html_()
    assert "<i>$" not in html and result.sentence() in repr(result)
    assert list(result.to_frame().columns) == ["estimand", "method", "difference", "se", "lower", "upper"]
    assert len(result.to_frame()) == 3
    ax = result.plot(ax=Figure().subplots())
    ax.get_figure().canvas.draw()
    (dots,) = ax.collections[1:]
    positions = np.asarray(dots.get_offsets())
    low = result.correct / result.generations < 0.1
    assert positions[0, 1] == pytest.approx(result.bits[low].mean())
