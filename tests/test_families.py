"""The figure of several models against one histogram."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayeseval as be
from bayeseval.plots import plot_families

RNG = np.random.default_rng(1)
COUNTS = be.Counts.from_arrays(RNG.binomial(6, RNG.beta(1, 2, 80)), 6)


def fits(counts: be.Counts) -> list[be.Posterior]:
    priors = [{}, {"rho": (200, 2)}]
    return [be.fit(counts, prior=prior, engine="quadrature", seed=1, progress=False) for prior in priors]


def test_each_line_is_what_a_model_expects_less_what_was_seen() -> None:
    members = fits(COUNTS)
    ax = plot_families(members, ax=Figure().subplots())
    seen = np.bincount(COUNTS.correct, minlength=7)
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) == 7]
    assert len(lines) == 2
    for line, member in zip(lines, members, strict=True):
        assert line.get_ydata() + seen == pytest.approx(member.check().histogram.expected)
        assert np.sum(line.get_ydata()) == pytest.approx(0, abs=1e-9)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[:2] == ["beta_binomial (passes its check)", "beta_binomial (rho 200, 2) (fails its check)"]


def test_histograms_of_several_numbers_of_generations_stand_apart() -> None:
    counts = be.Counts.from_arrays([0, 1, 2, 3, 1, 4], [2, 2, 2, 4, 4, 4])
    ax = plot_families(fits(counts), ax=Figure().subplots())
    line = next(line for line in ax.get_lines() if len(line.get_xdata()) == 3 + 1 + 5)
    assert np.flatnonzero(np.isnan(line.get_ydata())).tolist() == [3]


def test_a_stack_stands_for_its_members() -> None:
    members = fits(COUNTS)
    alone, stacked = (plot_families(one, ax=Figure().subplots()) for one in (members, be.Stacked.of(members)))
    for one, other in zip(alone.get_lines(), stacked.get_lines(), strict=True):
        assert np.array_equal(one.get_ydata(), other.get_ydata(), equal_nan=True)


def test_counts_without_a_common_histogram_and_other_runs_are_refused() -> None:
    ragged = be.Counts.from_arrays(np.ones(40, int), np.arange(1, 41))
    with pytest.raises(be.BayesevalError, match="too many different numbers of generations"):
        plot_families(fits(ragged), ax=Figure().subplots())
    with pytest.raises(be.BayesevalError, match="same run|different counts"):
        plot_families([fits(COUNTS)[0], fits(ragged)[0]], ax=Figure().subplots())
