"""Shipped data: what is there, and that it is what it says."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

import bayeseval as be

DATA = Path(be.__file__).parent / "_data"


def test_the_default_is_aime24_with_its_published_means() -> None:
    frame = be.moments(be.example()).to_frame().set_index("system")
    assert frame["mean"].round(5).tolist() == [0.024, 0.02667]  # `average_score` of the source files
    assert (frame["n_prompts"] == 30).all() and (frame["n_generations"] == 1500).all()


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.iterdir() if (path / "counts.csv").is_file()))
def test_every_shipped_data_set_loads_as_counts_without_a_word(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    counts = be.example(name)
    with (DATA / name / "counts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert counts.generations.tolist() == [int(row["n"]) for row in rows]
    assert counts.correct.tolist() == [int(row["c"]) for row in rows]
    assert counts.system.tolist() == [row["model"] for row in rows]
    assert capfd.readouterr() == ("", "")


def test_outcomes_sum_to_counts_and_keep_their_answers() -> None:
    outcomes = be.example("aime24-50", kind="outcomes")
    assert outcomes.counts() == be.example("aime24-50")
    with gzip.open(DATA / "aime24-50" / "outcomes.csv.gz", "rt", encoding="utf-8", newline="") as file:
        answers = [row["answer"] for row in csv.DictReader(file)]
    assert outcomes.answer is not None
    kept = [answer or "" for answer in outcomes.answer]
    assert np.mean([one == two for one, two in zip(kept, answers, strict=True)]) == 1


def test_matharena_has_thirty_five_runs() -> None:
    assert len(be.example("matharena-aime2025").runs()) == 35


def test_an_unknown_name_lists_what_is_there() -> None:
    with pytest.raises(be.BayesevalError, match="no data set 'aime'.*'aime24-50', 'matharena-aime2025'"):
        be.example("aime")
    with pytest.raises(be.BayesevalError, match="no data set '../_data/aime24-50'"):
        be.example("../_data/aime24-50")


def test_missing_outcomes_say_where_there_are_some() -> None:
    with pytest.raises(be.BayesevalError, match="'matharena-aime2025' holds no outcomes; 'aime24-50' does"):
        be.example("matharena-aime2025", kind="outcomes")
    with pytest.raises(be.BayesevalError, match="kind must be one of 'counts', 'outcomes'"):
        be.example(kind="answers")  # type: ignore[call-overload]
