"""`bayeseval plan`, `frontier` and `allocate`: their numbers are those of the functions."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bayeseval as be
from bayeseval.cli.words import published_from, tokens_from
from tests.commands import complaint, document, run

EXACT = ["--engine", "quadrature", "--seed", "1"]
PUBLISHED = "0.6,0.05,60,4"
ROWS = [f"{system},sums,q{i},4,{(i * step) % 5}" for system, step in (("A", 2), ("B", 3)) for i in range(15)]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text("\n".join(["model,task,question_id,n,c", *ROWS]))
    return path


@cache
def posterior(system: str = "A") -> Any:
    step = {"A": 2, "B": 3}[system]
    counts = be.Counts.from_arrays(
        [(i * step) % 5 for i in range(15)], 4, prompt=[f"q{i}" for i in range(15)], system=system, benchmark="sums"
    )
    return be.fit(counts, engine="quadrature", seed=1, progress=False)


def planned(source: Any, *target: float, **options: Any) -> Any:
    return be.plan(source, *target, futures=30, generations=[4, 16], seed=1, progress=False, **options)


def same_curve(record: Any, frame: Any) -> None:
    assert [row["generations"] for row in record] == frame["generations"].tolist()
    assert [row["width"] for row in record] == frame["width"].tolist()


# plan -----------------------------------------------------------------------------------------------------------------

TRY = ["--futures", 30, "--generations", "4,16"]


def test_plan_for_a_standard_deviation_and_another_score(results: Path) -> None:
    options = ["--sd", 0.06, "--metric", "pass@2", "--estimand", "benchmark", "--assurance", 0.6, "--prob", 0.9]
    result = run("plan", results, *options, *TRY, *EXACT, "-q")
    wanted = {"sd": 0.06, "score": be.metrics.pass_at(2), "estimand": "benchmark", "assurance": 0.6, "prob": 0.9}
    for system in ("A", "B"):
        assert planned(posterior(system), **wanted).sentence() in result.stdout, "each run has its plan"
    assert "median standard deviation" in result.stdout
    record = document(run("plan", results, *options, *TRY, *EXACT, "--json"))
    for entry, system in zip(record["plans"], ("A", "B"), strict=True):
        plan = planned(posterior(system), **wanted)
        assert (entry["sd"], entry["width"], entry["k"], entry["score"]) == (0.06, None, plan.k, "pass@2")
        assert [row["sd"] for row in entry["curve"]] == plan.curve["sd"].tolist()


def test_plan_hands_on_prompts_and_refits(results: Path) -> None:
    options = ["--width", 0.2, "--prompts", "fresh", "--n-prompts", 40, "--refits", "importance", "--system", "A"]
    record = document(run("plan", results, *options, *TRY, *EXACT, "--json"))
    plan = planned(posterior(), 0.2, prompts="fresh", n_prompts=40, refits="importance")
    entry = record["plans"][0]
    assert (entry["prompts"], entry["n_prompts"], entry["refits"]) == ("fresh", 40, "importance")
    same_curve(entry["curve"], plan.curve)


def test_plan_from_published_numbers(results: Path) -> None:
    names = ["--system", "X", "--benchmark", "Y", "--prior", "rho=2,2"]
    options = ["--published", PUBLISHED, "--width", 0.1, "--n-prompts", 100]
    record = document(run("plan", *options, *names, *TRY, "--seed", 1, "--json"))
    pilot = be.pilot_from_published(0.6, 0.05, 60, 4, system="X", benchmark="Y", prior={"rho": (2, 2)}, seed=1)
    plan = planned(pilot, 0.1, n_prompts=100)
    assert record["runs"] == [] and record["title"] == "X on Y" and record["prob"] == plan.prob
    assert record["plans"][0]["source"] == "published" and record["plans"][0]["sentence"] == plan.sentence()
    assert plan.sentence() in run("plan", *options, *names, *TRY, "--seed", 1, "-q").stdout


def test_plan_from_the_prior_alone() -> None:
    prior = ["--prior", "mu=8,2", "--prior", "rho=1,3"]
    options = ["--prior-alone", *prior, "--width", 0.1, "--n-prompts", 50, *TRY, "--seed", 1]
    record = document(run("plan", *options, "--json"))
    plan = planned(be.pilot_from_prior(prior={"mu": (8, 2), "rho": (1, 3)}, seed=1), 0.1, n_prompts=50)
    assert record["plans"][0]["source"] == "prior"
    same_curve(record["plans"][0]["curve"], plan.curve)
    assert record["problems"] == [{"system": None, "benchmark": None, "text": text} for text in plan.warnings]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_figures_are_written_one_a_run(suffix: str, results: Path, tmp_path: Path) -> None:
    file = tmp_path / f"plan{suffix}"
    one = run("plan", results, "--width", 0.2, *TRY, *EXACT, "--system", "A", "--figure", file, "-q")
    assert one.stdout.splitlines()[-1] == f"saved {file}"
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    assert file.read_bytes().startswith(start)
    if suffix == ".svg":
        record = document(run("plan", results, "--width", 0.2, *TRY, *EXACT, "--figure", file, "--json"))
        assert record["files"]["figures"] == [str(tmp_path / f"plan--{name}--sums.svg") for name in "AB"]
        assert all(Path(name).is_file() for name in record["files"]["figures"])


# frontier -------------------------------------------------------------------------------------------------------------

LESS = ["--futures", 20, "--generations", "1,4"]
MONEY = ["--prompt-cost", 5, "--unit", "€"]


def designs(source: Any, cost: Any, **options: Any) -> Any:
    return be.frontier(source, cost, generations=[1, 4], futures=20, seed=1, progress=False, **options)


def test_frontier_for_a_target(results: Path) -> None:
    options = ["--width", 0.2, "--assurance", 0.7, "--prob", 0.9, "--most-prompts", 300, "--refits", "exact"]
    options += ["--metric", "pass^2", "--system", "A", *MONEY, "--generation-cost", 0.5, *LESS, *EXACT]
    score = be.metrics.pass_hat(2)
    cost = be.Cost(5, 0.5, "€")
    found = designs(
        posterior(), cost, width=0.2, assurance=0.7, prob=0.9, most_prompts=300, refits="exact", score=score
    )
    result = run("frontier", results, *options, "-q")
    assert result.exit_code == 0 and found.sentence() in result.stdout and "€" in result.stdout
    record = document(run("frontier", results, *options, "--json"))
    entry = record["frontiers"][0]
    assert (entry["k"], entry["n_prompts"], entry["cost"]) == (found.k, found.n_prompts, found.cost)
    assert entry["prices"] == {"prompt": 5, "generation": 0.5, "unit": "€", "parallel": 1}
    assert [row["n_prompts"] for row in entry["designs"]] == found.table["n_prompts"].tolist()
    assert record["sources"][0]["model"] == "beta_binomial" and record["sources"][0]["n_generations"] == 60


def test_frontier_for_a_budget_from_tokens_and_time() -> None:
    start = ["frontier", "--published", PUBLISHED, "--seed", 1, *LESS, "--json"]
    pilot = be.pilot_from_published(0.6, 0.05, 60, 4, seed=1)
    tokens = be.Cost.of_tokens(
        prompt_tokens=200, generation_tokens=1500, input_price=0.25, output_price=2, prompt=0.1, cached=True
    )
    bought = ["--budget", 10, "--tokens", "200,1500,0.25,2", "--cached", "--prompt-cost", 0.1]
    record = document(run(*start, *bought))
    found = designs(pilot, tokens, budget=10)
    assert record["sources"] == [] and record["frontiers"][0]["budget"] == 10
    assert record["frontiers"][0]["n_prompts"] == found.n_prompts
    same_curve(record["frontiers"][0]["designs"], found.table)
    assert {row["assurance"] for row in record["frontiers"][0]["designs"]} == {None}, "a budget has no target"
    timed = document(run(*start, "--sd", 0.05, "--seconds", 30, "--parallel", 8))
    found = designs(pilot, be.Cost.of_time(seconds=30, parallel=8), sd=0.05)
    assert timed["frontiers"][0]["prices"]["unit"] == "hours"
    assert timed["frontiers"][0]["cost"] == found.cost


def test_frontier_of_several_runs_and_of_the_prior(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "f.svg"
    record = document(run("frontier", results, "--budget", 900, *MONEY, *LESS, *EXACT, "--figure", file, "--json"))
    assert [entry["system"] for entry in record["frontiers"]] == ["A", "B"] and len(record["files"]["figures"]) == 2
    prior = document(run("frontier", "--prior-alone", "--budget", 900, *MONEY, *LESS, "--seed", 1, "--json"))
    found = designs(be.pilot_from_prior(seed=1), be.Cost(5, 1, "€"), budget=900)
    assert prior["frontiers"][0]["sentence"] == found.sentence()


# allocate -------------------------------------------------------------------------------------------------------------


def test_allocate_is_the_allocation(results: Path, tmp_path: Path) -> None:
    options = ["--budget", 40, "--metric", "pass@2", "--most", 16, "--least", 6, "--block", 2, "--exclude", "q1"]
    options += ["--exclude", "q3", "--system", "A", *EXACT]
    found = be.allocate(posterior(), 40, be.metrics.pass_at(2), most=16, least=6, block=2, exclude=["q1", "q3"])
    result = run("allocate", results, *options, "-q")
    assert result.exit_code == 0 and found.sentence() in result.stdout
    record = document(run("allocate", results, *options, "--json", "--figure", tmp_path / "a.png"))
    entry = record["allocations"][0]
    assert [row["extra"] for row in entry["prompts"]] == found.table["extra"].tolist()
    assert sum(row["extra"] for row in entry["prompts"]) == entry["spent"] == found.spent
    assert entry["prompts"][1]["extra"] == entry["prompts"][3]["extra"] == 0
    assert (entry["sd_after"], entry["score"]) == (found.sd_after, "pass@2")
    assert Path(record["files"]["figures"][0]).is_file()


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
def test_allocate_writes_for_a_harness(suffix: str, results: Path, tmp_path: Path) -> None:
    file = tmp_path / f"next{suffix}"
    options = ["--budget", 8, "--system", "A", *EXACT, "--out", file]
    assert run("allocate", results, *options, "-q").stdout.splitlines()[-1] == f"saved {file}"
    extra = be.allocate(posterior(), 8).table.set_index("prompt")["extra"]
    assert rows_of(file) == extra[extra > 0].to_dict()
    record = document(run("allocate", results, *options, "--every", "--json"))
    assert record["files"] == {"allocation": [str(file)]}
    assert rows_of(file) == extra.to_dict() and 0 in extra.to_numpy()


def rows_of(file: Path) -> dict[str, int]:
    """Further generations by prompt, as another program would read them."""
    if file.suffix == ".csv":
        with file.open(newline="") as stream:
            return {row["prompt"]: int(row["extra"]) for row in csv.DictReader(stream)}
    if file.suffix == ".parquet":
        rows = pl.read_parquet(file).to_dicts()
    else:
        text = file.read_text()
        rows = json.loads(text) if file.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    return {row["prompt"]: row["extra"] for row in rows}


def test_allocate_says_when_a_terminal_shows_some_alone(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("\n".join(["model,task,question_id,n,c", *(f"A,sums,q{i},4,{i % 5}" for i in range(30))]))
    assert "10 more prompts get something" in run("allocate", path, "--budget", 300, *EXACT, "-q").stdout


# Mistakes -------------------------------------------------------------------------------------------------------------

AGAIN = ["plan", "--published", PUBLISHED]
DEAR = ["frontier", "RESULTS", "--width", "0.1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "RESULTS"], "give one target: --width"),
        (["plan", "RESULTS", "--width", "0.1", "--sd", "0.1"], "give one target: --width"),
        (["plan", "RESULTS", "--sd", "3"], "sd must lie strictly between 0 and 1, but 3.0"),
        (["plan", "RESULTS", "--width", "0.1", "--assurance", "80"], "assurance must lie strictly between"),
        (["plan", "RESULTS", "--width", "0.1", "--metric", "pass"], "--metric must look like"),
        (["plan", "RESULTS", "--width", "0.1", "--estimand", "all"], "'all'"),
        (["plan", "RESULTS", "--width", "0.1", "--prompts", "new"], "prompts must be one of"),
        (["plan", "RESULTS", "--width", "0.1", "--refits", "mcmc"], "refits must be one of"),
        (["plan", "RESULTS", "--width", "0.1", "--figure", "plan.gif"], "a figure is written as .png or .svg or .pdf"),
        (["plan", "RESULTS", "--width", "0.1", "--figure", "no/where.png"], "there is no folder no"),
        (["plan", "--width", "0.1"], "a plan starts from files, from --published or from --prior-alone"),
        ([*AGAIN, "RESULTS", "--width", "0.1", "--n-prompts", "9"], "give one of the three"),
        ([*AGAIN, "--prior-alone", "--width", "0.1", "--n-prompts", "9"], "two different starts"),
        ([*AGAIN, "--width", "0.1"], "with --n-prompts"),
        ([*AGAIN, "--width", "0.1", "--n-prompts", "9", "--prompts", "same"], "leave out --prompts same"),
        ([*AGAIN, "--width", "0.1", "--n-prompts", "9", "--refits", "nuts"], "needs the results of a pilot"),
        ([*AGAIN, "--width", "0.1", "--n-prompts", "9", "--system", "a", "--system", "b"], "give it once"),
        (["plan", "--published", "0.6", "--width", "0.1", "--n-prompts", "9"], "--published must be mean"),
        (["plan", "--published", "0.6,0.4,60,4", "--width", "0.1", "--n-prompts", "9"], "no distribution over prompts"),
        (DEAR, "say what is paid"),
        ([*DEAR, "--generation-cost", "1", "--seconds", "3"], "say what is paid"),
        ([*DEAR, "--budget", "5", "--prompt-cost", "1"], "give one target"),
        ([*DEAR, "--tokens", "1,2,3"], "--tokens must be"),
        ([*DEAR, "--prompt-cost", "1", "--cached"], "--cached is about"),
        ([*DEAR, "--prompt-cost", "1", "--parallel", "2"], "--parallel is about"),
        ([*DEAR, "--seconds", "1", "--prompt-cost", "2"], "--prompt-cost has no place"),
        ([*DEAR, "--seconds", "1", "--unit", "h"], "--unit has no place"),
        ([*DEAR, "--generation-cost", "0"], "a generation must cost something"),
        (["allocate", "RESULTS", "--budget", "0"], "--budget must be a whole number"),
        (["allocate", "RESULTS", "--budget", "9", "--every"], "name the file with --out"),
        (["allocate", "RESULTS", "--budget", "9", "--out", "next.txt"], "an allocation is written as .csv"),
        (["allocate", "RESULTS", "--budget", "9"], "one run, but there are 2: 'A' on 'sums', 'B' on 'sums'"),
        (["allocate", "RESULTS", "--budget", "9", "--system", "A", "--exclude", "x", *EXACT], "exclude names prompt"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_one_line(
    arguments: list[str], message: str, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "exclude" not in message:
        # Everything else is refused before any long work.
        monkeypatch.setattr("bayeseval.cli.work.fit", None)
    given = [str(results) if argument == "RESULTS" else argument for argument in arguments]
    assert message in complaint(run(*given))
    assert [item.name for item in tmp_path.iterdir()] == ["results.csv"]


def test_lists_of_numbers_are_read() -> None:
    assert published_from("0.856, 0.0068, 1319, 50") == (0.856, 0.0068, 1319, 50)
    assert list(tokens_from("1,2,3,4").values()) == [1, 2, 3, 4]
    for text in ("0.5,0.1,60", "0.5,0.1,60.5,4", "a,b,c,d", ""):
        with pytest.raises(be.BayesevalError):
            published_from(text)
