"""`bayeseval preferences`: its numbers are those of the functions, and what it refuses it refuses in a sentence."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import bayeseval as be
from tests.commands import complaint, document, run

QUICK = ["--draws", 500, "--tune", 500, "--seed", 2, "-q"]


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    rows = [("x", "y", "model_a", 9), ("x", "y", "model_b", 4), ("y", "z", "tie", 6), ("z", "x", "model_b", 5),
            ("y", "z", "model_a", 3), ("z", "y", "model_a", 2), ("z", "x", "model_a", 1)]  # fmt: skip
    path = tmp_path / "arena.csv"
    pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "count"]).to_csv(path, index=False)
    return path


def test_document_holds_the_numbers_of_the_functions(arena: Path) -> None:
    preferences = be.Preferences.from_file(arena)
    ranking = be.rank_preferences(preferences, draws=500, tune=500, seed=2, progress=False)
    record = document(run("preferences", arena, *QUICK, "--json"))["rankings"][0]
    assert record["systems"] == list(ranking.systems) and record["intervals"] == "posterior"
    for row, expected in zip(record["strengths"], ranking.to_frame().to_dict(orient="records"), strict=True):
        assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert ranking.nu is not None and record["nu"]["value"] == pytest.approx(ranking.nu.mean())
    rates = be.win_rates(preferences, seed=2)
    assert [row["average"] for row in record["win_rates"]["averages"]] == pytest.approx(list(rates.average))


def test_tables_and_figure_are_made(arena: Path, tmp_path: Path) -> None:
    figure = tmp_path / "ranks.svg"
    result = run("preferences", arena, *QUICK, "--ties", "ignore", "--elo", "--figure", figure)
    assert result.exit_code == 0 and "6 of 30 comparisons are ties" in result.stdout
    assert "Elo points" in result.stdout and "average win rate" in result.stdout and "10" in result.stdout
    assert figure.stat().st_size > 1000 and f"saved {figure}" in result.stdout


def test_columns_of_other_names_and_prompts_are_taken(tmp_path: Path) -> None:
    rows = [
        (f"p{i % 30}", "x" if i % 2 else "y", "y" if i % 2 else "x", "left" if i % 3 else "right") for i in range(90)
    ]
    path = tmp_path / "votes.jsonl"
    pd.DataFrame(rows, columns=["where", "one", "two", "who"]).to_json(path, orient="records", lines=True)
    columns = [item for text in ("a=one", "b=two", "winner=who", "prompt=where") for item in ("--column", text)]
    record = document(run("preferences", path, *columns, "--prior-sd", 1, *QUICK, "--json"))["rankings"][0]
    assert record["intervals"] == "bootstrap" and record["n_clusters"] == 30
    assert record["prior_sd"] == {"value": 1.0, "lower": 1.0, "upper": 1.0}


def test_what_is_refused_is_said_in_a_sentence(arena: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text("model_a,model_b,winner\nx,y,model_a\nx,y,both good?\n")
    apart = tmp_path / "apart.csv"
    apart.write_text("model_a,model_b,winner\nx,y,model_a\nv,w,model_b\n")
    for arguments, words in (
        ((broken,), "both good?"),
        ((apart,), "no chain of comparisons"),
        ((tmp_path / "none.csv",), "none.csv"),
        ((tmp_path / "votes.txt",), "no file of a kind"),
        ((arena, "--ties", "half a win"), "ties must be one of"),
        ((arena, "--prob", 95), "0.95"),
        ((arena, "--intervals", "bootstrap"), "needs clusters"),
        ((arena, "--column", "system=x"), "'system'"),
        ((arena, "--column", "a=x,y"), "one column"),
        ((arena, "--figure", tmp_path / "x.doc"), ".png"),
    ):
        assert words in complaint(run("preferences", *arguments, "-q"))
