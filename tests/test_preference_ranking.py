"""Strengths and ranks: the law, exact integration for two systems, recovery, clusters, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import optimize, stats

import bayeseval as be
from bayeseval.preferences.davidson import Tallies, davidson_probabilities, mode
from bayeseval.preferences.graph import components, prior_driven
from bayeseval.preferences.ranked import ELO
from tests.oracles import oracle_rows

QUICK = {"draws": 500, "tune": 500, "progress": False}


def table(wins: Any, ties: Any = None, names: str = "abcdefgh", **more: Any) -> be.Preferences:
    """Preferences with these wins of the row over the column, and ties above the diagonal."""
    tied = np.zeros_like(np.asarray(wins)) if ties is None else np.asarray(ties)
    rows = [(a, b, "a", int(n)) for (a, b), n in np.ndenumerate(np.asarray(wins)) if n]
    rows += [(a, b, "tie", int(n)) for (a, b), n in np.ndenumerate(tied) if n]
    a, b, winner, count = zip(*rows, strict=True)
    named = [[f"{names[place]}" for place in column] for column in (a, b)]
    return be.Preferences(*named, list(winner), list(count), **more)


def simulated(strength: np.ndarray, nu: float, each: int, rng: np.random.Generator) -> be.Preferences:
    """Each pair compared so many times."""
    size = len(strength)
    wins, ties = np.zeros((size, size)), np.zeros((size, size))
    for a in range(size):
        for b in range(a + 1, size):
            law = [float(p) for p in davidson_probabilities(strength[a] - strength[b], nu)]
            wins[a, b], wins[b, a], ties[a, b] = rng.multinomial(each, law)
    return table(wins, ties)


def by_name(ranking: Any, values: Any) -> np.ndarray:
    """Values in the order of names."""
    return np.asarray(values)[np.argsort(ranking.systems)]


# The law and its maximum ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("davidson_bt"))
def test_law_of_davidson(quantity: str, inputs: Any, value: list[float]) -> None:
    one, two = np.log(inputs["strength"])
    assert [float(p) for p in davidson_probabilities(one - two, inputs["nu"])] == pytest.approx(value, abs=1e-12)


def test_law_without_ties_is_logistic_even_far_out() -> None:
    difference = np.array([-800.0, -3.0, 0.0, 3.0, 800.0])
    win, loss, tie = davidson_probabilities(difference)
    assert win == pytest.approx(1 / (1 + np.exp(-np.clip(difference, -700, 700)))) and not tie.any()
    assert win + loss == pytest.approx(np.ones(5))


@pytest.mark.parametrize("how", ["davidson", "half", "ignore"])
def test_mode_is_the_highest_point_that_a_general_search_finds(how: str) -> None:
    rng = np.random.default_rng(3)
    pairs = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    counts = rng.integers(1, 12, (4, 3)).astype(float)
    centre, tie_centre, scale = rng.normal(size=4), 0.4, 0.8

    def height(point: np.ndarray) -> float:
        law = davidson_probabilities(
            point[pairs[:, 0]] - point[pairs[:, 1]], 2 * np.exp(point[4]) * (how == "davidson")
        )
        won, lost, tied = counts.T
        half = tied / 2 if how == "half" else 0
        value = (won + half) * np.log(law[0]) + (lost + half) * np.log(law[1])
        if how == "davidson":
            value = value + tied * np.log(law[2])
        prior = stats.norm.logpdf(point[:4], centre - centre.mean(), scale).sum()
        return -float(value.sum() + prior + stats.logistic.logpdf(point[4], tie_centre))

    found = mode(Tallies.of_pairs(pairs, counts, 4, how), scale, centre=centre, tie_centre=tie_centre)
    searched = optimize.minimize(height, np.zeros(5), method="BFGS", options={"gtol": 1e-8}).x
    assert found.strength == pytest.approx(searched[:4], abs=1e-4)
    assert how != "davidson" or found.tie == pytest.approx(searched[4], abs=1e-4)
    assert found.strength.sum() == pytest.approx(0, abs=1e-9)


def test_mode_reaches_its_place_from_far_away_with_lopsided_counts() -> None:
    tallies = Tallies.of_pairs(np.array([[0, 1]]), np.array([[1e6, 0.0, 0.0]]), 2, "ignore")
    found = mode(tallies, 1.0)
    difference = found.strength[0] - found.strength[1]
    # The slope of the likelihood equals that of the prior.
    assert 1e6 / (1 + np.exp(difference)) == pytest.approx(difference / 2, rel=1e-5)


# Exact integration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wins", "losses"), [(7, 3), (12, 0)])
def test_two_systems_without_ties_are_integrated_exactly(wins: int, losses: int) -> None:
    ranking = be.rank_preferences(table([[0, wins], [losses, 0]]), ties="ignore", prior_sd=0.7, seed=1, progress=False)
    difference = np.linspace(-12, 12, 20_001)
    log_p = stats.norm.logpdf(difference, 0, 0.7 * 2**0.5)
    log_p += -wins * np.logaddexp(0, -difference) - losses * np.logaddexp(0, difference)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    mean = weight @ difference
    sd = (weight @ (difference - mean) ** 2) ** 0.5
    drawn = 2 * by_name(ranking, ranking.strength.T)[0]
    assert drawn.mean() == pytest.approx(mean, abs=5 * sd / 1000**0.5)
    assert drawn.std() == pytest.approx(sd, rel=0.1)
    first = ranking.systems.index("a")
    assert ranking.p_best[first] == pytest.approx(weight[difference > 0].sum(), abs=0.05)
    win, _ = ranking.outcomes()
    assert win[first, 1 - first] == pytest.approx(weight @ (1 / (1 + np.exp(-difference))), abs=0.02)


def test_a_wide_prior_leaves_a_beta_distribution() -> None:
    ranking = be.rank_preferences(table([[0, 8], [5, 0]]), ties="ignore", prior_sd=100.0, seed=2, progress=False)
    difference = 2 * by_name(ranking, ranking.strength.T)[0]
    share = 1 / (1 + np.exp(-difference))
    beta = stats.beta(8, 5)
    assert share.mean() == pytest.approx(beta.mean(), abs=5 * beta.std() / 1000**0.5)
    assert share.std() == pytest.approx(beta.std(), rel=0.1)


def test_ties_and_a_free_prior_scale_are_integrated_exactly() -> None:
    ranking = be.rank_preferences(table([[0, 6], [2, 0]], [[0, 3], [0, 0]]), seed=3, progress=False)
    difference, tie = np.linspace(-10, 10, 301)[:, None, None], np.linspace(-7, 5, 97)[None, :, None]
    scale = np.geomspace(0.01, 5, 80)[None, None, :]
    win, loss, both = davidson_probabilities(difference, 2 * np.exp(tie))
    log_p = 6 * np.log(win) + 2 * np.log(loss) + 3 * np.log(both) + stats.logistic.logpdf(tie)
    log_p = log_p + stats.norm.logpdf(difference, 0, scale * 2**0.5) + stats.halfnorm.logpdf(scale) + np.log(scale)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    drawn = 2 * by_name(ranking, ranking.strength.T)[0]
    assert ranking.nu is not None
    for values, points in ((drawn, difference), (np.log(ranking.nu / 2), tie), (np.log(ranking.scale), np.log(scale))):
        mean = (weight * points).sum()
        sd = (weight * (points - mean) ** 2).sum() ** 0.5
        assert values.mean() == pytest.approx(mean, abs=5 * sd / 800**0.5)
        assert values.std() == pytest.approx(sd, rel=0.1)


# Recovery -------------------------------------------------------------------------------------------------------------


def test_truths_drawn_from_the_prior_lie_evenly_among_draws() -> None:
    """Simulation-based calibration in its plainest form: intervals of 50% and 90% hold drawn truths that often."""
    rng = np.random.default_rng(8)
    held = {name: np.zeros(2) for name in ("strength", "nu", "scale")}
    for seed in range(repeats := 100):
        scale, share = abs(rng.normal()), rng.random()
        truth = rng.normal(0, scale, 4)
        truth -= truth.mean()
        preferences = simulated(truth, 2 * share / (1 - share), 6, rng)
        found = be.rank_preferences(preferences, seed=seed, draws=150, tune=150, chains=2, progress=False)
        drawn = {"strength": found.strength[:, found.systems.index("a")], "nu": found.nu, "scale": found.scale}
        true = {"strength": truth[0], "nu": 2 * share / (1 - share), "scale": scale}
        for name, values in drawn.items():
            for place, prob in enumerate((0.5, 0.9)):
                low, high = np.quantile(values, [(1 - prob) / 2, (1 + prob) / 2])
                held[name][place] += low <= true[name] <= high
    for prob, counts in zip((0.5, 0.9), np.array(list(held.values())).T, strict=True):
        assert np.abs(counts / repeats - prob).max() < 3.5 * (prob * (1 - prob) / repeats) ** 0.5


def test_much_data_recover_strengths_ties_and_order() -> None:
    truth = np.array([1.0, 0.5, 0.0, -0.5, -1.0])
    ranking = be.rank_preferences(simulated(truth, 0.6, 4000, np.random.default_rng(4)), seed=1, **QUICK)
    assert ranking.systems == tuple("abcde")
    frame = ranking.to_frame()
    assert np.abs((frame["strength"] - truth) / frame["sd"]).max() < 4
    assert ranking.nu is not None and abs(ranking.nu.mean() - 0.6) < 4 * ranking.nu.std()
    assert (ranking.p_best == [1, 0, 0, 0, 0]).all() and np.array_equal(ranking.rank_probabilities(), np.eye(5))
    win, tie = ranking.outcomes()
    law = davidson_probabilities(truth[:, None] - truth, 0.6)
    off = ~np.eye(5, dtype=bool)
    assert win[off] == pytest.approx(law[0][off], abs=0.02) and tie[off] == pytest.approx(law[2][off], abs=0.02)
    assert (win + win.T + tie)[off] == pytest.approx(1)


def test_equal_systems_are_best_equally_often() -> None:
    even = 5 * (1 - np.eye(4))
    ranking = be.rank_preferences(table(even), seed=1, draws=1000, progress=False)
    assert ranking.p_best == pytest.approx([0.25] * 4, abs=4 * (0.25 * 0.75 / 1000) ** 0.5)
    probability = ranking.rank_probabilities()
    assert probability.sum(axis=0) == pytest.approx(np.ones(4)) and probability.sum(axis=1) == pytest.approx(np.ones(4))


def test_names_and_sides_of_systems_do_not_matter() -> None:
    wins = np.array([[0, 9, 4], [2, 0, 7], [3, 1, 0]])
    ties = np.triu([[0, 2, 1], [0, 0, 3], [0, 0, 0]])
    plain = be.rank_preferences(table(wins, ties), seed=1, progress=False)
    order = [2, 0, 1]
    shuffled = table(wins[np.ix_(order, order)], (ties + ties.T)[np.ix_(order, order)] * np.tri(3), names="cab")
    other = be.rank_preferences(shuffled, seed=5, progress=False)
    mean = [by_name(one, one.strength.mean(axis=0)) for one in (plain, other)]
    assert mean[0] == pytest.approx(mean[1], abs=5 * 2**0.5 * plain.strength.std(axis=0).max() / 1500**0.5)
    reversed_ = be.rank_preferences(table(wins.T, ties), seed=1, progress=False)
    assert by_name(reversed_, reversed_.strength.mean(axis=0)) == pytest.approx(-mean[0], abs=0.12)


def test_ties_left_out_are_as_if_they_had_not_been() -> None:
    wins, ties = [[0, 6, 3], [2, 0, 5], [4, 1, 0]], np.triu(np.full((3, 3), 7), 1)
    with_ties = be.rank_preferences(table(wins, ties), ties="ignore", seed=4, **QUICK)
    without = be.rank_preferences(table(wins), ties="ignore", seed=4, **QUICK)
    assert np.array_equal(with_ties.strength, without.strength) and with_ties.nu is None
    assert "21 of 42 comparisons are ties" in " ".join(with_ties.warnings) and not without.warnings


def test_half_credit_is_half_a_win_for_each() -> None:
    wins = np.array([[0, 6, 3], [2, 0, 5], [4, 1, 0]])
    ties = np.triu(np.full((3, 3), 4), 1)
    half = be.rank_preferences(table(wins, ties), ties="half", seed=4, **QUICK)
    added = be.rank_preferences(table(wins + 2 * (1 - np.eye(3))), ties="ignore", seed=4, **QUICK)
    assert half.systems == added.systems and half.strength == pytest.approx(added.strength)


def test_two_systems_that_share_opponents_are_compared_through_them() -> None:
    wins = np.zeros((3, 3))
    wins[0, 2], wins[2, 0], wins[1, 2], wins[2, 1] = 40, 10, 10, 40
    ranking = be.rank_preferences(table(wins), ties="ignore", seed=1, **QUICK)
    assert ranking.systems == ("a", "c", "b") and ranking.stronger()[0, 2] > 0.99


# Clusters -------------------------------------------------------------------------------------------------------------


def clustered(copies: int, seed: int = 1, size: int = 150) -> be.Preferences:
    """Comparisons of three systems on prompts; every one of them as many times over."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, size)
    b = (a + rng.integers(1, 3, size)) % 3
    win, loss, _ = davidson_probabilities(np.array([0.6, 0.0, -0.6])[a] - np.array([0.6, 0.0, -0.6])[b], 0.5)
    u = rng.random(size)
    winner = np.where(u < win, "a", np.where(u < win + loss, "b", "tie"))
    names = np.array(["x", "y", "z"])
    return be.Preferences(names[a], names[b], winner, np.full(size, copies), np.arange(size).astype(str))


def test_copies_within_a_cluster_narrow_the_posterior_but_not_the_bootstrap() -> None:
    once, often = clustered(1), clustered(9)
    boot = [be.rank_preferences(one, prior_sd=1.0, seed=1, **QUICK) for one in (once, often)]
    assert {one.intervals for one in boot} == {"bootstrap"} and not boot[0].warnings
    sd = [one.strength.std(axis=0).mean() for one in boot]
    assert sd[1] == pytest.approx(sd[0], rel=0.15)
    naive = [be.rank_preferences(one, prior_sd=1.0, intervals="posterior", seed=1, **QUICK) for one in (once, often)]
    spread = [one.strength.std(axis=0).mean() for one in naive]
    assert spread[0] == pytest.approx(sd[0], rel=0.15) and spread[1] == pytest.approx(spread[0] / 3, rel=0.15)
    assert "1,350 comparisons share 150 clusters" in " ".join(naive[1].warnings) and not naive[0].warnings
    assert "Bayesian bootstrap over 150 clusters" in repr(boot[0])


@pytest.mark.slow
def test_intervals_of_the_bootstrap_hold_the_truth_as_often_as_they_say() -> None:
    truth, held = np.array([0.6, 0.0, -0.6]), np.zeros(3)
    for seed in range(repeats := 120):
        preferences = clustered(4, seed=seed)
        ranking = be.rank_preferences(
            preferences, prior_sd=1.0, prob=0.9, seed=seed, draws=150, chains=1, progress=False
        )
        frame = ranking.to_frame().sort_values("system")
        held += (frame["lower"].to_numpy() <= truth) & (truth <= frame["upper"].to_numpy())
    # The bootstrap and its 150 draws are approximate by about a hundredth each.
    assert np.abs(held / repeats - 0.9).max() < 3 * (0.09 / repeats) ** 0.5 + 0.02


def test_where_comparisons_say_little_the_bootstrap_returns_the_prior() -> None:
    winner = ["a", "b"] * 15
    even = be.Preferences(["x"] * 30, ["y"] * 30, winner, cluster=[str(place) for place in range(30)])
    ranking = be.rank_preferences(even, ties="ignore", prior_sd=0.1, seed=1, progress=False)
    # Half the difference d of both: precision 1 / (2 s^2) of d from the prior, and n / 4 from n even comparisons.
    assert ranking.strength.std(axis=0)[0] == pytest.approx((1 / (2 * 0.1**2) + 30 / 4) ** -0.5 / 2, rel=0.1)


def test_a_system_that_won_everything_is_told_to_have_too_narrow_a_bootstrap() -> None:
    wins = be.Preferences(["x"] * 40, ["y"] * 40, ["a"] * 40, cluster=[str(place) for place in range(40)])
    ranking = be.rank_preferences(wins, ties="ignore", prior_sd=1.0, seed=1, **QUICK)
    assert "'x' won every comparison" in ranking.warnings[0] and "'y' lost" in ranking.warnings[1]
    assert "too narrow" in ranking.warnings[2]
    exact = be.rank_preferences(wins, ties="ignore", prior_sd=1.0, intervals="posterior", seed=1, **QUICK)
    assert len(exact.warnings) == 2
    assert exact.strength.std(axis=0)[0] > ranking.strength.std(axis=0)[0]


def test_few_clusters_are_told() -> None:
    few = be.Preferences(["x", "x"], ["y", "y"], ["a", "b"], cluster=["1", "2"])
    assert "only 2 clusters" in " ".join(be.rank_preferences(few, seed=1, **QUICK).warnings)


# Who was compared with whom -------------------------------------------------------------------------------------------


def test_a_disconnected_graph_is_refused_with_its_groups() -> None:
    preferences = be.Preferences(["x", "y", "v"], ["y", "z", "w"], ["a", "b", "a"])
    with pytest.raises(be.BayesevalError, match=r"group 1: 'x', 'y', 'z'; group 2: 'v', 'w'"):
        be.rank_preferences(preferences, progress=False)
    tied = be.Preferences(["x", "y"], ["y", "z"], ["tie", "b"])
    with pytest.raises(be.BayesevalError, match=r"group 1: 'y', 'z'; group 2: 'x'"):
        be.rank_preferences(tied, ties="ignore", progress=False)
    with pytest.raises(be.BayesevalError, match="every comparison is a tie"):
        be.rank_preferences(be.Preferences(["x"], ["y"], ["tie"]), ties="ignore", progress=False)


@pytest.mark.parametrize(
    ("wins", "ties", "said"),
    [
        ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], 0, []),
        ([[0, 1, 1], [0, 0, 1], [0, 1, 0]], 0, ["'a' won every"]),
        ([[0, 1, 1], [1, 0, 1], [0, 0, 0]], 0, ["'c' lost every"]),
        ([[0, 1, 1], [0, 0, 1], [0, 1, 0]], np.ones((3, 3)), []),
        ([[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], 0, ["some groups of systems never lost"]),
    ],
)
def test_strengths_that_only_the_prior_holds_are_told(wins: Any, ties: Any, said: list[str]) -> None:
    found = prior_driven(wins, np.zeros_like(np.asarray(wins)) + ties, "abcd")
    assert len(found) == len(said) and all(one.startswith(start) for one, start in zip(found, said, strict=True))


def test_groups_are_found_along_chains() -> None:
    chain = np.diag(np.ones(5), 1)
    assert len(components(chain)) == 1 and len(components(chain, directed=True)) == 6
    chain[5, 0] = 1
    assert len(components(chain, directed=True)) == 1


# Options and what is shown --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ties": "half-win"}, "ties must be one of"),
        ({"intervals": "bootstrap"}, "needs clusters"),
        ({"intervals": "normal"}, "intervals must be one of"),
        ({"prior_sd": 0}, "positive number"),
        ({"prior_sd": float("nan")}, "positive number"),
        ({"prob": 95}, "did you mean 0.95"),
        ({"draws": 0}, "draws must be"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(be.BayesevalError, match=words):
        be.rank_preferences(table([[0, 2], [1, 0]]), **options)


def test_something_else_than_preferences_is_refused() -> None:
    with pytest.raises(be.BayesevalError, match=r"Preferences\.from_frame"):
        be.rank_preferences([[0, 1], [1, 0]])  # type: ignore[arg-type]


def test_rankings_say_show_and_draw_the_same() -> None:
    evil = be.Preferences(["<b>$", "y", "y"], ["y", "z", "<b>$"], ["a", "tie", "a"], count=[9, 5, 3])
    ranking = be.rank_preferences(evil, seed=1, **QUICK)
    html = ranking._repr_html_()
    assert "<table" in html and "<b>$" not in html and ranking.sentence() in repr(ranking)
    frame, elo = ranking.to_frame(), ranking.to_frame("elo")
    assert elo["strength"].to_numpy() == pytest.approx(1000 + ELO * frame["strength"].to_numpy())
    assert ELO * np.log(10) == pytest.approx(400)
    assert (frame["rank_lower"] <= frame["rank_upper"]).all() and frame["p_best"].sum() == pytest.approx(1)
    ax = ranking.plot(ax=Figure().subplots())
    assert np.asarray(ax.lines[0].get_xdata()) == pytest.approx(frame["strength"].to_numpy())
    ax.get_figure().canvas.draw()
    panels = ranking.plot().get_figure().axes
    assert len(panels) == 2
    shown = panels[1].collections[0].get_array()
    assert np.asarray(shown).reshape(3, 3) == pytest.approx(ranking.rank_probabilities())
    panels[0].get_figure().canvas.draw()
    alone = be.plots.plot_rank_probabilities(ranking, ax=Figure().subplots(), most=2)
    assert len(alone.get_yticklabels()) == 2
    shorter = be.plots.plot_preference_ranking(ranking, scale="elo", ax=Figure().subplots(), most=2)
    assert "1 weaker systems left out" in shorter.get_title(loc="left") + shorter.get_title()


def test_chains_that_disagree_speak_up() -> None:
    ranking = be.rank_preferences(table([[0, 90], [10, 0]]), seed=1, draws=8, tune=2, chains=2, progress=False)
    assert any("raise" in text for text in ranking.warnings)


def test_the_same_seed_gives_the_same_ranking() -> None:
    one, two, other = (be.rank_preferences(clustered(1), seed=seed, draws=20, progress=False) for seed in (1, 1, 2))
    assert np.array_equal(one.strength, two.strength) and not np.array_equal(one.strength, other.strength)
