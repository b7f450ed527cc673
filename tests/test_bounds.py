"""Generations without a score: bounds that no way of filling the gaps leaves, and policies that are told."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeseval as be
from bayeseval.errors import DataError, OptionError
from tests.commands import document, run

TABLE = [[1, 1, None, 0], [1, None, None, 1], [0, 0, 0, 1]]


def log(path: Path, errored: int = 1, unscored: int = 0) -> Path:
    samples: list[dict[str, Any]] = [
        {"id": f"q{prompt}", "epoch": epoch, "scores": {"match": {"value": "C" if (prompt + epoch) % 3 else "I"}}}
        for prompt in range(6)
        for epoch in (1, 2)
    ]
    for sample in samples[:errored]:
        sample.update(scores={}, error={"message": "timeout"})
    for sample in samples[errored : errored + unscored]:
        sample.update(scores={})
    about = {"model": "acme/toy", "task": "sums"}
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": about, "samples": samples}))
    return path


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0, 1, None]), min_size=2, max_size=3), min_size=2, max_size=3))
def test_no_way_of_filling_the_gaps_leaves_the_bounds(cells: list[list[int | None]]) -> None:
    outcomes = be.Outcomes.from_matrix(
        [[math.nan if c is None else c for c in row] + [math.nan] * (3 - len(row)) for row in cells]
    )
    gaps = np.flatnonzero(np.isnan(outcomes.correct))
    filled = []
    for values in itertools.product([0.0, 1.0], repeat=len(gaps)):
        whole = outcomes.correct.copy()
        whole[gaps] = values
        filled.append(whole.reshape(len(cells), 3).mean(axis=1).mean())
    frame = be.score_bounds(outcomes).to_frame().set_index("policy")
    assert frame.loc["wrong", "mean"] == pytest.approx(min(filled))
    assert frame.loc["right", "mean"] == pytest.approx(max(filled))
    if outcomes.n_generations:
        assert frame.loc["wrong", "mean"] - 1e-12 <= frame.loc["drop", "mean"] <= frame.loc["right", "mean"] + 1e-12
    else:
        assert math.isnan(frame.loc["drop", "mean"])


def test_standard_errors_are_those_of_the_moments() -> None:
    outcomes = be.Outcomes.from_matrix(TABLE)
    rows = {row.policy: row for row in be.score_bounds(outcomes).rows}
    for policy, value in (("drop", None), ("wrong", 0), ("right", 1)):
        table = [[value if cell is None else cell for cell in row] for row in TABLE]
        moments = be.moments(be.Outcomes.from_matrix(table)).rows[0]
        row = rows[policy]  # type: ignore[index]
        assert (row.mean, row.se_population, row.se_benchmark) == (
            moments.mean,
            moments.se_population,
            moments.se_benchmark,
        )
        assert row.n_missing == 3


def test_credits_are_bounded_too() -> None:
    credits = be.Credits.from_matrix([[0.5, None], [1, 0.25]])
    means = {row.policy: row.mean for row in be.score_bounds(credits).rows}
    assert means == {"drop": pytest.approx((0.5 + 0.625) / 2), "wrong": pytest.approx((0.25 + 0.625) / 2),
                     "right": pytest.approx((0.75 + 0.625) / 2)}  # fmt: skip


def test_bounds_say_themselves() -> None:
    bounds = be.score_bounds(be.Outcomes.from_matrix(TABLE, system="<b>"))
    assert "\n" not in repr(bounds) and "without the 3 generations" in repr(bounds)
    assert "&lt;b&gt;" in bounds._repr_html_() and "<b>" not in bounds._repr_html_()
    assert "how hard a prompt is" in bounds.notes[0]
    whole = be.score_bounds(be.Outcomes.from_matrix([[1, 0]]))
    assert whole.notes == () and "every generation has a score" in repr(whole)
    with pytest.raises(DataError, match="single generations"):
        be.score_bounds(be.Counts.from_arrays([1], 2))  # type: ignore[arg-type]


def test_reading_with_bounds_keeps_what_has_no_score_and_tells_the_ends(tmp_path: Path) -> None:
    path = log(tmp_path / "a.json", errored=2, unscored=1)
    outcomes = be.read(path, errored="bounds", unscored="bounds", quiet=True)
    assert isinstance(outcomes, be.Outcomes)
    assert (len(outcomes), outcomes.n_unscored) == (12, 3)
    rows = {row.policy: row.mean for row in be.score_bounds(outcomes).rows}
    (line,) = [line for line in outcomes.account if "if all are right" in line]
    for mean in rows.values():
        assert f"{mean:.4g}" in line
    dropped = be.read(path, errored="drop", unscored="drop", quiet=True)
    assert outcomes.counts() == dropped.counts(), "whatever is computed later leaves them out"


def test_what_is_dropped_is_not_in_the_bounds(tmp_path: Path) -> None:
    path = log(tmp_path / "a.json", errored=2, unscored=1)
    only_errored = be.read(path, errored="bounds", unscored="drop", quiet=True)
    only_unscored = be.read(path, errored="drop", unscored="bounds", quiet=True)
    as_wrong = be.read(path, errored="wrong", unscored="bounds", quiet=True)
    assert [only_errored.n_unscored, only_unscored.n_unscored, as_wrong.n_unscored] == [2, 1, 1]
    assert [len(only_errored), len(only_unscored), len(as_wrong)] == [11, 10, 12]


def test_tables_have_bounds_too() -> None:
    import pandas as pd

    frame = pd.DataFrame({"prompt_id": ["a", "a", "b"], "generation": [0, 1, 0], "correct": [1, None, 0]})
    outcomes = be.read(frame, unscored="bounds", quiet=True)
    assert any("0.25 if all of them are wrong, 0.5 if all are right" in line for line in outcomes.account)


def test_counts_bear_no_bounds(tmp_path: Path) -> None:
    path = log(tmp_path / "a.json")
    with pytest.raises(OptionError, match="without kind='counts'"):
        be.read(path, errored="bounds", kind="counts", quiet=True)
    clean = log(tmp_path / "clean.json", errored=0)
    assert isinstance(be.read(clean, errored="bounds", kind="counts", quiet=True), be.Counts), "nothing to bound"
    with pytest.raises(OptionError, match="errored='bounds'"):
        be.read(path, quiet=True)


def test_the_command_prints_bounds_and_says_that_it_drops(tmp_path: Path) -> None:
    path = log(tmp_path / "a.json")
    exact = ["--engine", "quadrature"]
    result = run("fit", path, *exact, "--errored", "bounds")
    assert result.exit_code == 0, result.stderr
    assert "Bounds: mean scores" in result.stdout and "what follows leaves these generations out" in result.stdout
    assert result.stdout.index("Bounds") < result.stdout.index("Scores")
    asked = run("fit", path, *exact, "--errored", "bounds", "--json", "--quiet")
    record = document(asked)
    assert record["runs"][0]["data"]["n_generations"] == 11
    assert "if all of them are wrong" in asked.stderr
