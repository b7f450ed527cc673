"""What the page "Planning sample budgets" shows: the files are read, and what it says about them holds."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayeseval.calibration.assurance import Assurance

ROOT = Path(__file__).resolve().parents[1]
RETROSPECTIVE = ROOT / "docs" / "planning" / "retrospective.json"
ASSURANCE = ROOT / "docs" / "calibration" / "assurance.json"


@pytest.fixture(scope="module")
def runs():
    """Rows of the retrospective check."""
    return pd.DataFrame(json.loads(RETROSPECTIVE.read_text(encoding="utf-8"))["rows"])


@pytest.fixture(scope="module")
def script():
    """The benchmark that made them."""
    spec = importlib.util.spec_from_file_location("retrospective", ROOT / "benchmarks" / "retrospective.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def least_share(size, promised=0.9):
    """Fewest of so many bands that hold, with a chance of one in a thousand to fall below."""
    return stats.binom.ppf(0.001, size, promised) / size


def test_every_run_is_there_once(runs):
    assert runs.groupby("data")["system"].nunique().to_dict() == {
        "aime24-50": 2,
        "coupled-gsm8k": 19,
        "pythia-math-10k": 7,
    }
    assert not runs.duplicated(["data", "benchmark", "system", "score", "estimand"]).any()
    assert len(runs) == (2 + 2 * 19 + 7) * 2 * 2


def test_derived_columns_follow_from_widths(runs):
    np.testing.assert_allclose(runs["ratio"], runs["predicted"] / runs["seen"], rtol=1e-4)
    np.testing.assert_allclose(runs["ratio_sd"], runs["predicted_sd"] / runs["seen_sd"], rtol=1e-4)
    assert (runs["lower"] <= runs["predicted"]).all() and (runs["predicted"] <= runs["upper"]).all()
    inside = (runs["lower"] <= runs["seen"]) & (runs["seen"] <= runs["upper"])
    assert (inside != runs["inside"]).mean() < 0.02  # widths on the edge of a band may be rounded across it


def test_benchmark_means_lie_inside_their_bands_as_often_as_they_should(runs):
    chosen = runs[(runs["score"] == "mean") & (runs["estimand"] == "benchmark")]
    assert chosen["inside"].mean() >= least_share(len(chosen))


def test_medians_on_gsm8k_are_off_by_a_few_percent(runs):
    chosen = runs[runs["data"] == "coupled-gsm8k"]
    for column in ("ratio", "ratio_sd"):
        assert chosen.loc[chosen["score"] == "mean", column].between(0.92, 1.08).all()
        assert chosen[column].between(0.85, 1.15).all()


def test_bands_of_pass_at_4_are_too_narrow_where_one_beta_is_wrong(runs):
    chosen = runs[(runs["data"] == "coupled-gsm8k") & (runs["score"] == "pass@4")]
    assert chosen["inside"].mean() < least_share(len(chosen))


def test_checks_fail_more_often_on_all_generations_than_on_the_pilot(runs):
    chosen = runs[(runs["score"] == "mean") & (runs["estimand"] == "population")]
    assert (chosen["headline"] == "robust").sum() > (chosen["method"] == "robust").sum()


def test_shipped_runs_give_the_rows_again(runs, script):
    run = next(iter(script.aime()))
    for row in script.compare(run):
        same = [runs[name] == row[name] for name in ("data", "benchmark", "system", "score", "estimand")]
        stored = runs[np.logical_and.reduce(same)].iloc[0]
        assert row["method"] == stored["method"]
        for name, tolerance in (("predicted", 0.08), ("seen", 0.03), ("seen_sd", 0.03)):
            assert row[name] == pytest.approx(stored[name], rel=tolerance)


def test_promised_assurance_was_kept():
    study = Assurance.from_dict(json.loads(ASSURANCE.read_text(encoding="utf-8"))[0])
    size = len(study.rows)
    assert study.worst <= stats.norm.isf(0.001 / (2 * size))
    assert all(row.replicates >= 100 for row in study.rows)
