"""Coupled generations: published tables, unbiased terms by brute force, exact tests, calibration, refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import bdtr

import bayeseval as be
from bayeseval.contrasts.marginals import same_rates
from bayeseval.errors import DataError, OptionError
from bayeseval.estimators.coupled import (
    checked_tables,
    cross_pair_products,
    expected_absolute_error,
    joint_null,
    kappa_hat,
    table_terms,
)
from tests.oracles import oracle_rows
from tests.test_plots import draw, new_ax, texts

NAMES = {
    "dC": "difference", "dI": "difference_runs", "VtotC": "variance_coupled", "VtotI": "variance_runs",
    "saving_total": "saving_population_runs", "within_C": "within_coupled", "within_I": "within_runs",
    "saving_within": "saving_benchmark_runs", "covC": "kappa", "covI": "kappa_runs", "between_C": "between",
    "between_I": "between_runs", "winA_C": "win_a_coupled", "winB_C": "win_b_coupled", "winA_I": "win_a_runs",
    "winB_I": "win_b_runs",
}  # fmt: skip
"""Columns of coupled_pairs_recomputed.csv and the names of the estimates."""
PRINTED = 1.1e-6
"""The table is printed to six decimals."""


def gumbel_runs(
    rng: np.random.Generator, prompts: int = 100, k: int = 6, gap: float = 0.05, shared: bool = True
) -> tuple[be.Outcomes, be.Outcomes]:
    """Two systems whose generations share one uniform number each, or do not."""
    p = rng.beta(1.2, 1.0, prompts)[:, None]
    noise = rng.random((2, prompts, k))
    noise[1] = noise[0] if shared else noise[1]
    values = (noise[0] < p).astype(int), (noise[1] < np.maximum(p - gap, 0)).astype(int)
    return tuple(be.Outcomes.from_matrix(y, system=name) for y, name in zip(values, "ab", strict=True))


# Published numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantity", "inputs", "value"),
    oracle_rows("kappa_hat", "cross_pair_mean_yAyB", "coupled_saving_total", "expected_abs_error_without_replacement"),
)
def test_formulas_have_the_values_of_the_oracles(quantity: str, inputs: dict[str, Any], value: float) -> None:
    if quantity == "kappa_hat":
        found = kappa_hat(inputs["tables_n11_n10_n01_n00"]).mean()
    elif quantity == "cross_pair_mean_yAyB":
        found = cross_pair_products(inputs["tables_n11_n10_n01_n00"]).mean()
    elif quantity == "expected_abs_error_without_replacement":
        found = expected_absolute_error(inputs["V"], inputs["n"], inputs["N"])
    else:
        found = 1 - inputs["V_coupled"] / inputs["V_indep"]
    assert found == pytest.approx(value, rel=1e-9)


def real_runs(folder: Any, group: Any) -> dict[tuple[str, str], be.Outcomes]:
    frame = pd.read_parquet(folder / "outcomes.parquet")
    roles = dict(system="model", benchmark="benchmark", prompt="prompt_id", generation="generation", correct="correct")
    return {
        key: be.Outcomes.from_frame(part, **roles, group=group, answer=False, gold=False, seed=False, quiet=True)
        for key, part in frame.groupby(["model", "condition"])
    }


def savings_of(runs: dict[tuple[str, str], be.Outcomes], a: str, b: str) -> Any:
    independent = runs[a, "independent"], runs[b, "independent"]
    return be.coupled_savings(runs[a, "coupled"], runs[b, "coupled"], independent, draws=50)


def test_all_pairs_of_gsm8k_are_reproduced(shared: Any) -> None:
    runs = real_runs(shared / "data" / "coupled-gsm8k", False)
    table = pd.read_csv(shared / "data" / "derived" / "coupled_pairs_recomputed.csv").query("benchmark == 'gsm8k'")
    assert len(table) == 53
    rejected = 0
    for row in table.itertuples():
        found = savings_of(runs, row.A, row.B)
        for column, name in NAMES.items():
            assert found.estimates[name].value == pytest.approx(getattr(row, column), abs=PRINTED), (row.A, row.B, name)
        rejected += be.shared_noise(found.independent, draws=2).shared
    assert bdtr(53 - rejected, 53, 0.95) > 0.001  # not found more often than by chance


def test_all_subjects_of_mmlu_are_reproduced(shared: Any) -> None:
    runs = real_runs(shared / "data" / "coupled-mmlu", "subject")
    long = {name.split("-")[2]: name for name, _ in runs}
    table = pd.read_csv(shared / "data" / "derived" / "coupled_pairs_recomputed.csv")
    table = table[table["benchmark"].str.startswith("MMLU:")]
    assert len(table) == 3 * 58
    for (a, b), part in table.groupby(["A", "B"]):
        a, b = (long.get(name.split("-")[-1], name) for name in (a, b))
        found = savings_of(runs, a, b)
        groups = found.groups().set_index("group")
        for row in part.itertuples():
            subject = row.benchmark.removeprefix("MMLU:")
            for column, name in NAMES.items():
                own = found.estimates[name].value if subject == "ALL" else groups.loc[subject, name]
                assert own == pytest.approx(getattr(row, column), abs=PRINTED), (a, b, subject, name)
        if {a, b} == {long["3B"], long["1B"]}:
            assert groups.loc["college_computer_science", "saving_population_runs"] == pytest.approx(0.407, abs=5e-4)
        assert be.shared_noise(found.pairs, draws=2).p_value == 1e-12
        assert not be.shared_noise(found.independent, draws=2).shared


# Unbiased terms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pi", [(0.4, 0.1, 0.2, 0.3), (0.0, 0.5, 0.5, 0.0), (0.7, 0.0, 0.1, 0.2)])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_terms_are_unbiased_by_enumeration(pi: tuple[float, ...], k: int) -> None:
    tables = np.array([cells for cells in product(range(k + 1), repeat=4) if sum(cells) == k])
    weight = np.array([
        float(np.prod([Fraction(p) ** int(n) for p, n in zip(pi, table, strict=True)], initial=Fraction(1)))
        * float(np.prod([comb(int(table[i:].sum()), int(table[i])) for i in range(4)]))
        for table in tables
    ])  # fmt: skip
    assert weight.sum() == pytest.approx(1)
    both, only_a, only_b, _ = pi
    p, q = both + only_a, both + only_b
    terms = table_terms(tables)
    assert weight @ terms.kappa == pytest.approx(both - p * q, abs=1e-12)
    assert weight @ cross_pair_products(tables) == pytest.approx(p * q)
    assert weight @ terms.difference == pytest.approx(p - q)
    assert weight @ terms.square == pytest.approx(only_a + only_b)
    assert weight @ terms.within == pytest.approx(only_a + only_b - (p - q) ** 2)
    assert weight @ terms.cross_square == pytest.approx(p + q - 2 * p * q)
    assert weight @ terms.cross_win_a == pytest.approx(p * (1 - q))
    assert weight @ terms.cross_win_b == pytest.approx(q * (1 - p))


def test_coupling_moves_both_wins_by_kappa_and_leaves_their_difference() -> None:
    found = be.coupled_savings(*gumbel_runs(np.random.default_rng(1))).estimates
    for name in ("a", "b"):
        moved = found[f"win_{name}_independent"].value - found[f"win_{name}_coupled"].value
        assert moved == pytest.approx(found["kappa"].value)
    assert found["variance_independent"].value - found["variance_coupled"].value == pytest.approx(
        2 * found["kappa"].value
    )


def test_savings_are_those_of_repeated_runs() -> None:
    """The variance of the mean difference over repeated coupled and independent runs of the same prompts."""
    rng, k, prompts = np.random.default_rng(2), 5, 200
    p = rng.beta(1.2, 1.0, prompts)[:, None]
    q = np.maximum(p - 0.05, 0)
    gaps = np.empty((2, 4000))
    for repeat in range(4000):
        noise = rng.random((2, prompts, k))
        gaps[:, repeat] = [((noise[0] < p).mean() - (noise[place] < q).mean()) for place in (0, 1)]
    ratio = gaps[0].var() / gaps[1].var()
    noise = rng.random((prompts, 40))
    a, b = (be.Outcomes.from_matrix((noise < x).astype(int), system=s) for x, s in ((p, "a"), (q, "b")))
    found = be.coupled_savings(a, b).saving_benchmark
    assert found.value == pytest.approx(1 - ratio, abs=4 * (found.sd + ratio * np.sqrt(4 / 4000)))


def test_intervals_of_the_saving_hold_the_truth() -> None:
    rng, repeats = np.random.default_rng(3), 200
    p = np.random.default_rng(0).beta(1.2, 1.0, 1_000_000)
    q = np.maximum(p - 0.05, 0)
    joint = np.minimum(p, q)
    coupled, independent = (p + q - 2 * x for x in (joint, p * q))
    truth = 1 - (coupled.mean() - (p - q).mean() ** 2) / (independent.mean() - (p - q).mean() ** 2)
    held = 0
    for repeat in range(repeats):
        found = be.coupled_savings(*gumbel_runs(rng), draws=500, seed=repeat).saving_population
        held += found.lower <= truth <= found.upper
    # A bootstrap of ratios at 100 prompts is not exact: two points are allowed below its name.
    assert bdtr(held, repeats, 0.93) > 0.001


# The test of shared noise --------------------------------------------------------------------------------------------


def test_exact_law_equals_all_matchings() -> None:
    tables = np.array([[2, 1, 0, 1], [1, 1, 1, 1], [0, 1, 2, 0]])
    laws = []
    for both, only_a, only_b, neither in tables:
        a = [1] * (both + only_a) + [0] * (only_b + neither)
        b = [1] * (both + only_b) + [0] * (only_a + neither)
        laws.append([sum(x * y for x, y in zip(a, order, strict=True)) for order in permutations(b)])
    sums = np.array([sum(one) for one in product(*laws)])
    found = joint_null(tables)
    assert found.observed == tables[:, 0].sum()
    assert found.mean == pytest.approx(sums.mean()) and found.variance == pytest.approx(sums.var())
    assert found.upper == pytest.approx((sums >= found.observed).mean(), rel=1e-9)
    assert found.lower == pytest.approx((sums <= found.observed).mean(), rel=1e-9)


def test_the_test_is_calibrated_where_no_noise_is_shared() -> None:
    rng, repeats = np.random.default_rng(4), 400
    found = [be.shared_noise(*gumbel_runs(rng, shared=False), draws=2).p_value for _ in range(repeats)]
    for level in (0.05, 0.2, 0.5):
        below = int(np.sum(np.array(found) <= level))
        assert 1 - bdtr(below - 1, repeats, level) > 0.001  # never more often than its level
        assert bdtr(below, repeats, 0.8 * level) > 0.001  # and not much less: the sum is nearly continuous


def test_the_covariance_said_to_be_detectable_is_detected_that_often() -> None:
    rng, repeats = np.random.default_rng(5), 300
    prompts, k = 100, 6
    p = np.full((prompts, 1), 0.5)  # so that the variance of one generation is a quarter
    detectable = be.shared_noise(*gumbel_runs(rng, prompts, k, gap=0, shared=False), draws=2).detectable
    kappa = 1.1 * detectable
    detected, size = 0, []
    for _ in range(repeats):
        same = rng.random((prompts, k)) < kappa / 0.25
        one, two = rng.random((2, prompts, k))
        y, z = (one < p).astype(int), (np.where(same, one, two) < p).astype(int)
        a, b = be.Outcomes.from_matrix(y, system="a"), be.Outcomes.from_matrix(z, system="b")
        found = be.shared_noise(a, b, draws=2)
        detected += found.shared
        size.append(found.detectable)
    from scipy.special import ndtr, ndtri

    power = float(ndtr(kappa / np.mean(size) * (ndtri(0.95) + ndtri(0.8)) - ndtri(0.95)))
    assert detected / repeats == pytest.approx(power, abs=4 * np.sqrt(power * (1 - power) / repeats) + 0.02)


def test_shared_noise_is_found_and_said() -> None:
    found = be.shared_noise(*gumbel_runs(np.random.default_rng(6)))
    assert found.shared and found.p_value == 1e-12 and found.lower > 0
    assert "share noise (p < 1e-12" in repr(found)
    frame = found.to_frame()
    assert frame.loc[0, "kappa"] == found.kappa and "<table>" in found._repr_html_()
    other = be.shared_noise(*gumbel_runs(np.random.default_rng(7), shared=False))
    assert not other.shared and "would be found with probability .8" in repr(other)


def test_steady_systems_cannot_show_shared_noise() -> None:
    a, b = (be.Outcomes.from_matrix(np.repeat([[1], [0]], 4, axis=1), system=name) for name in "ab")
    found = be.shared_noise(a, b)
    assert found.p_value == 1 and any("cannot be seen" in text for text in found.warnings)


# Independent runs ----------------------------------------------------------------------------------------------------


def test_marginals_of_correct_coupling_agree_and_of_wrong_coupling_do_not() -> None:
    rng = np.random.default_rng(8)
    p = rng.beta(1.2, 1.0, 150)[:, None]

    def runs(noise: list[np.ndarray], shift: float = 0.0) -> tuple[be.Outcomes, ...]:
        return tuple(
            be.Outcomes.from_matrix((one < np.maximum(p - gap, 0)).astype(int), system=s)
            for one, gap, s in zip(noise, (0.0, 0.05 + shift), "ab", strict=True)
        )

    coupled, independent = [rng.random((150, 6))] * 2, list(rng.random((2, 150, 6)))
    fine = be.coupled_savings(*runs(coupled), runs(independent))
    assert not fine.warnings and (fine.marginals[["p_mean", "p_prompts"]] > 0.01).all().all()
    wrong = be.coupled_savings(*runs(coupled, 0.15), runs(independent))
    assert wrong.marginals.loc[1, "p_mean"] < 0.001 and wrong.marginals.loc[0, "p_mean"] > 0.001
    assert any("runs of b do not have the same P(correct)" in text for text in wrong.warnings)


def test_tests_of_equal_rates_are_calibrated() -> None:
    rng, repeats = np.random.default_rng(9), 300
    found = []
    for _ in range(repeats):
        p = rng.beta(1, 1, 60)
        k = np.stack([np.full(60, 6), rng.integers(2, 9, 60)])
        found.append(same_rates(rng.binomial(k, p), k)[1:])
    for level in (0.1, 0.5):
        below = (np.array(found) <= level + 1e-12).sum(axis=0)
        assert (bdtr(below, repeats, level) > 0.001).all() and (1 - bdtr(below - 1, repeats, level) > 0.001).all()


def test_prompts_are_matched_between_conditions() -> None:
    a, b = gumbel_runs(np.random.default_rng(1), prompts=20)
    c, d = gumbel_runs(np.random.default_rng(2), prompts=12, shared=False)
    assert len(be.coupled_savings(a, b, (c, d)).pairs) == 12


# Refusals and display ------------------------------------------------------------------------------------------------


def test_what_cannot_be_estimated_is_refused() -> None:
    a, b = gumbel_runs(np.random.default_rng(1), prompts=20)
    with pytest.raises(OptionError, match="Counts was given"):
        be.coupled_savings(a, b.counts())
    with pytest.raises(OptionError, match="nothing was given"):
        be.coupled_savings(a)
    with pytest.raises(OptionError, match="coupled=True"):
        be.coupled_savings(be.Pairs.of(a, b))
    with pytest.raises(OptionError, match="takes Pairs alone"):
        be.shared_noise(be.Pairs.of(a, b, coupled=True), b)
    with pytest.raises(OptionError, match="independent takes"):
        be.coupled_savings(a, b, 3)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="independent takes Outcomes"):
        be.coupled_savings(a, b, be.Pairs.of(a, b))
    single = gumbel_runs(np.random.default_rng(1), k=1)
    with pytest.raises(DataError, match="two coupled pairs"):
        be.coupled_savings(*single)
    with pytest.raises(DataError, match="have no groups"):
        be.coupled_savings(a, b).groups()
    for tables in ([[1, 2, 3]], [[1, -1, 0, 0]], [[0.5, 0, 0, 1]]):
        with pytest.raises(DataError):
            checked_tables(tables)
    with pytest.raises(DataError, match="without a pair"):
        table_terms([[0, 0, 0, 0]])


def test_prompts_with_one_pair_are_left_out_and_said() -> None:
    pairs = be.Pairs(("a", "b"), "sums", ["1", "2"], [[3, 1], [4, 1]], [[4, 1], [4, 1]], both=[3, 1])
    found = be.coupled_savings(pairs)
    assert len(found.pairs) == 1 and any("one coupled pair" in text for text in found.warnings)


def test_the_result_says_itself_and_is_drawn() -> None:
    rng = np.random.default_rng(1)
    a, b = gumbel_runs(rng)
    found = be.coupled_savings(a, b, gumbel_runs(rng, shared=False))
    assert "of the generations for prompts like these" in repr(found) and "<table>" in found._repr_html_()
    frame = found.to_frame().set_index("quantity")
    assert frame.loc["kappa", "value"] == found.kappa.value
    ax = found.plot(new_ax())
    draw(ax)
    assert ax.lines[0].get_xdata()[0] == found.saving_population.lower and "independent runs" in texts(ax)
