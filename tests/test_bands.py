"""Simultaneous bands hold with the probability that they state."""

from __future__ import annotations

from itertools import product
from math import factorial

import numpy as np
import pytest

import bayeseval as be
from bayeseval.calibration.bands import band_probability, simultaneous_band


@pytest.mark.parametrize(("size", "bins"), [(3, 2), (4, 3), (5, 4)])
def test_band_probability_is_that_of_all_cases_counted(size, bins):
    rng = np.random.default_rng([size, bins])
    for _ in range(20):
        lower, upper = np.sort(rng.integers(0, size + 1, (2, bins - 1)), axis=0)
        total = 0.0
        for numbers in product(range(size + 1), repeat=bins):
            heights = np.cumsum(numbers)
            if heights[-1] == size and np.all((lower <= heights[:-1]) & (heights[:-1] <= upper)):
                total += factorial(size) / np.prod([factorial(one) for one in numbers]) / bins**size
        assert band_probability(lower, upper, size) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize(("size", "prob"), [(50, 0.9), (200, 0.95)])
def test_uniform_values_stay_inside_as_often_as_the_band_says(size, prob):
    band = simultaneous_band(size, prob)
    limits = (np.round(ends * size).astype(int) for ends in (band.lower, band.upper))
    exact = band_probability(*limits, size)
    assert prob <= exact < 1
    inside = band.holds(np.random.default_rng(size).random((4000, size))).mean()
    assert inside == pytest.approx(exact, abs=3.3 * np.sqrt(exact * (1 - exact) / 4000))


def test_a_band_of_a_higher_probability_holds_the_other():
    narrow, wide = (simultaneous_band(100, prob) for prob in (0.8, 0.99))
    assert (wide.lower <= narrow.lower).all()
    assert (narrow.upper <= wide.upper).all()
    assert (wide.upper - wide.lower > narrow.upper - narrow.lower).any()


@pytest.mark.parametrize("shape", [(2, 1), (0.5, 0.5), (3, 3)], ids=["shifted", "too narrow", "too wide"])
def test_ranks_of_a_wrong_posterior_leave_the_band(shape):
    ranks = np.random.default_rng(4).beta(*shape, 300)
    assert not simultaneous_band(300, 0.99).holds(ranks)


def test_a_band_cannot_be_asked_for_without_values():
    with pytest.raises(be.BayesevalError, match="size"):
        simultaneous_band(0)
    with pytest.raises(be.BayesevalError, match="prob"):
        simultaneous_band(10, 1.0)
