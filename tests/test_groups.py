"""Scores of groups: what follows from the draws of P(correct), whatever the model."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import bayeseval as be
from bayeseval.catalogue import load_model
from bayeseval.plots import plot_groups
from bayeseval.posterior.groups import group_draws, population_draws

SUBJECTS = ["law", "algebra", "law", "algebra", "algebra", "history"]
COUNTS = be.Counts.from_arrays([1, 8, 0, 7, 8, 0], [8, 8, 4, 8, 8, 0], group=SUBJECTS)


def exact(counts: be.Counts) -> be.Posterior:
    return be.fit(counts, engine="quadrature", seed=1, progress=False)


def keyed(model: str, **parameters: np.ndarray) -> be.Posterior:
    """A posterior of a model that tells groups apart, with draws of our own."""
    found = load_model(model)
    draws = {name: values[None] for name, values in parameters.items()}
    return be.Posterior(COUNTS, found, found.prior(), draws, {}, "quadrature", None, 1, {})


@pytest.fixture
def grouped() -> be.Posterior:
    rng = np.random.default_rng(2)
    share = np.tile([2 / 6, 3 / 6, 1 / 6], (400, 1))
    return keyed("grouped", share=share, mu=rng.beta(4, 4, (400, 3)), rho=rng.beta(2, 2, (400, 3)))


def test_groups_weighted_by_their_prompts_are_the_benchmark_score_draw_by_draw(grouped: be.Posterior) -> None:
    for post in (exact(COUNTS), grouped):
        together = group_draws(post) @ np.array([2, 3, 1]) / 6
        assert together == pytest.approx(post.mean("benchmark", method="model").draws, abs=1e-12)


def test_a_group_is_the_mean_of_its_prompts() -> None:
    post = exact(COUNTS)
    frame, prompts = post.groups(), post.prompts()
    assert frame["group"].tolist() == ["law", "algebra", "history"]
    assert frame["prompts"].tolist() == [2, 3, 1]
    assert frame["generations"].tolist() == [12, 24, 0]
    assert frame["raw_mean"].iloc[:2].tolist() == pytest.approx([(1 / 8 + 0) / 2, 23 / 24])
    assert np.isnan(frame["raw_mean"].iloc[2])
    draws = group_draws(post)
    error = draws.std(axis=0) / np.sqrt(draws.shape[0])
    means = prompts.groupby("group", sort=False)["mean"].mean().to_numpy()
    assert (np.abs(frame["mean"] - means) < 4.5 * error).all()
    assert (frame["lower"] < frame["mean"]).all() and (frame["mean"] < frame["upper"]).all()
    assert "population_mean" not in frame


def test_fresh_prompts_of_a_group_have_the_mean_of_its_component(grouped: be.Posterior) -> None:
    mu = grouped.parameters["mu"][0]
    assert population_draws(grouped) == pytest.approx(mu, rel=1e-12)
    frame = grouped.groups(prob=0.5)
    assert frame["population_mean"].tolist() == pytest.approx(mu.mean(axis=0))
    assert frame["population_lower"].tolist() == pytest.approx(np.quantile(mu, 0.25, axis=0))
    shares = frame["prompts"] / frame["prompts"].sum()
    assert shares @ frame["population_mean"] == pytest.approx(grouped.distribution.mean().mean())


def test_clusters_that_were_seen_have_their_own_mean() -> None:
    rng = np.random.default_rng(3)
    seen = rng.beta(2, 2, (50, 3))
    post = keyed("clustered", m=np.zeros(50), tau=np.ones(50), rho=np.full(50, 0.3), mu=seen)
    assert population_draws(post) == pytest.approx(seen, rel=1e-12)


def test_groups_of_several_runs_stand_one_below_another() -> None:
    other = be.Counts.from_arrays([1, 2], 4, system="other", group=["a", "b"])
    posts = be.fit(be.Counts.concat([COUNTS, other]), engine="quadrature", seed=1, progress=False)
    frame = posts.groups()
    assert frame["system"].tolist() == ["system"] * 3 + ["other"] * 2
    assert frame["group"].tolist() == ["law", "algebra", "history", "a", "b"]


def test_counts_without_groups_are_refused_with_what_to_do() -> None:
    with pytest.raises(be.BayesevalError, match="no groups; read the results with group='subject'"):
        exact(be.Counts.from_arrays([1, 2], 4)).groups()


def words(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_figure_shows_the_numbers_of_the_frame_best_first(grouped: be.Posterior) -> None:
    frame = grouped.groups(prob=0.8)
    for estimand, prefix in (("population", "population_"), ("benchmark", "")):
        ax = plot_groups(grouped, ax=Figure().subplots(), prob=0.8, estimand=estimand)
        order = frame.sort_values(f"{prefix}mean", ascending=False)
        assert words(ax) == [f"{row.group} ({row.prompts})" for row in order.itertuples()]
        assert ax.lines[0].get_xdata() == pytest.approx(order[f"{prefix}mean"].to_numpy())
        segments = np.array(ax.collections[0].get_segments())[:, :, 0]
        assert segments == pytest.approx(order[[f"{prefix}lower", f"{prefix}upper"]].to_numpy())
        whole = grouped.mean(estimand, method="model").value
        assert ax.lines[2].get_xdata()[0] == pytest.approx(whole), "the line of all groups"
        assert estimand in "".join(text.get_text() for text in ax.get_legend().get_texts())
    assert "80% credible interval" in ax.get_xlabel()


def test_the_figure_keeps_the_best_and_the_worst_of_many_groups() -> None:
    names = [f"group {index:02d}" for index in range(20)]
    counts = be.Counts.from_arrays(np.arange(20), 20, group=names)
    ax = plot_groups(exact(counts), ax=Figure().subplots(), most=5)
    assert words(ax) == [f"group {index:02d} (1)" for index in (19, 18, 17, 1, 0)]
    assert "15 groups in the middle left out" in ax.get_title() + ax.get_title(loc="left")


def test_the_figure_refuses_fresh_prompts_of_a_group_where_the_model_knows_none() -> None:
    with pytest.raises(be.BayesevalError, match="does not tell groups apart.*model='grouped'"):
        plot_groups(exact(COUNTS), ax=Figure().subplots(), estimand="population")
