"""The command line: what it prints where, what it writes, and how it fails."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bayeseval as be
from bayeseval.cli.words import columns_from, metric_from, numbers_from, priors_from
from tests.commands import complaint, document, run

EXACT = ["--engine", "quadrature", "--seed", "1"]
COMMANDS = (
    "fit",
    "report",
    "counts",
    "plan",
    "frontier",
    "allocate",
    "plan-contrast",
    "plan-order",
    "compare-decoding",
)
COMMANDS += ("looks", "compare", "rank", "preferences", "map", "models", "demo")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    rows = [f"{system},sums,q{i},4,{(i * step) % 5}" for system, step in (("A", 2), ("B", 3)) for i in range(12)]
    path.write_text("\n".join(["model,task,question_id,n,c", *rows]))
    return path


# Help and start -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_explains_each_command_with_examples(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"  bayeseval {command}" in result.stdout.partition("Examples:")[2]
    assert "--json" in result.stdout or command == "counts", "the result of counts is a file"


def test_help_lists_the_commands_and_version_is_told() -> None:
    listing = run("--help").stdout.partition("Commands:")[2]
    assert re.findall(r"^  ([\w-]+)  ", listing, re.MULTILINE) == list(COMMANDS)
    assert run("--version").stdout == f"bayeseval {be.__version__}\n"
    assert run().exit_code == 2, "no command is a mistake, and shows the help"


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    heavy = ["jax", "matplotlib", "numpy", "pandas", "polars", "pymc", "rich.table", "scipy", "jinja2"]
    program = f"import sys, bayeseval.cli; print([name for name in {heavy!r} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


# fit ------------------------------------------------------------------------------------------------------------------


def test_fit_prints_scores_of_both_estimands_and_moments(results: Path) -> None:
    result = run("fit", results, *EXACT, "-m", "pass@2", "-m", "g-pass@4:0.5")
    assert result.exit_code == 0
    for text in ("population: model", "population: robust", "benchmark", "95% credible interval", "SE population"):
        assert text in result.stdout
    posts = be.fit(be.read(results, quiet=True), engine="quadrature", seed=1, progress=False)
    for score in posts.scores([be.metrics.mean(), be.metrics.pass_at(2)]):
        assert f"{score.value:.2f}" in result.stdout
    assert "G-Pass@4 (τ = 0.5)" in result.stdout
    assert "24 rows" in result.stderr, "what was read is told on standard error"


def test_fit_as_json_is_one_document_that_agrees(results: Path) -> None:
    record = document(run("fit", results, *EXACT, "--json", "--prob", 0.9))
    assert record["kind"] == "fit" and record["prob"] == 0.9 and "files" not in record
    post = be.fit(be.read(results, quiet=True), engine="quadrature", seed=1, progress=False)[0]
    first = record["runs"][0]["scores"][0]
    assert first["value"] == post.mean().value and first["lower"] == post.mean(prob=0.9).lower
    assert "prompts" not in record["runs"][0]


def test_fit_is_silent_on_standard_error_when_asked(results: Path) -> None:
    assert run("fit", results, *EXACT, "--quiet").stderr == ""


def test_fit_saves_one_posterior_and_a_saved_one_can_be_read_again(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.nc"
    saved = run("fit", results, *EXACT, "--system", "A", "--out", file, "-q")
    assert saved.exit_code == 0 and saved.stdout.splitlines()[-1] == f"saved {file}"
    again = document(run("fit", file, "--json"))
    assert [entry["system"] for entry in again["runs"]] == ["A"]
    assert again["runs"][0]["scores"][0]["value"] == be.load(file).mean().value


def test_fit_saves_several_posteriors_into_a_folder(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "posteriors"
    record = document(run("fit", results, *EXACT, "--out", folder, "--json"))
    assert sorted(item.name for item in folder.iterdir()) == ["A--sums.nc", "B--sums.nc"]
    assert record["files"]["posteriors"] == [str(folder / "A--sums.nc"), str(folder / "B--sums.nc")]
    chosen = document(run("fit", *folder.glob("*.nc"), "--system", "B", "--json"))
    assert [entry["system"] for entry in chosen["runs"]] == ["B"]
    assert "are 'A' on 'sums'" in complaint(run("fit", folder / "A--sums.nc", "--system", "C"))


def test_several_posteriors_do_not_go_into_one_file(results: Path, tmp_path: Path) -> None:
    message = complaint(run("fit", results, *EXACT, "--out", tmp_path / "a.nc"))
    assert "2 runs do not fit into the one file" in message and not (tmp_path / "a.nc").exists()


def test_columns_threshold_and_priors_are_handed_on(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    rows = [
        {"ckpt": f"s{s}", "item": i, "mark": (i + j + s) % 4 / 4} for s in (1, 2) for i in range(6) for j in range(3)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    options = ["--column", "system=ckpt", "--column", "prompt=item", "--column", "correct=mark", "--threshold", 0.5]
    record = document(run("fit", path, *options, *EXACT, "--prior", "mu=0.5,0.5", "--json"))
    assert [entry["system"] for entry in record["runs"]] == ["s1", "s2"]
    assert record["runs"][0]["model"]["prior"]["mu"] == [0.5, 0.5]
    correct = sum((i + j + 1) % 4 / 4 >= 0.5 for i in range(6) for j in range(3))
    assert record["runs"][0]["moments"]["mean"] == pytest.approx(correct / 18)


def test_names_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('model,task,id,n,c\n"[red]x[/red] \x1b[31m",b,1,4,2\n"[red]x[/red] \x1b[31m",b,2,4,3\n')
    result = run("fit", path, *EXACT)
    assert "[red]x[/red]" in result.stdout and "\x1b" not in result.stdout


# plan and report ------------------------------------------------------------------------------------------------------


def test_plan_prints_the_sentence_and_the_curve(results: Path) -> None:
    options = ["--width", 0.2, "--estimand", "benchmark", "--generations", "4,8,16", "--futures", 50, "--attempts", 4]
    result = run("plan", results, "--system", "A", *options, *EXACT, "-q")
    post = be.fit(be.read(results, quiet=True).select(system="A"), engine="quadrature", seed=1, progress=False)
    plan = be.plan(
        post, 0.2, estimand="benchmark", generations=[4, 8, 16], futures=50, attempts=4, seed=1, progress=False
    )
    assert plan.sentence() in result.stdout
    record = document(run("plan", results, "--system", "A", *options, *EXACT, "--json"))
    assert record["kind"] == "plan" and record["plans"][0]["k"] == plan.k
    assert [row["generations"] for row in record["plans"][0]["curve"]] == plan.curve["generations"].tolist()


def test_report_writes_the_file_and_prints_its_path(results: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = run("report", results, *EXACT, "-o", page, "--title", "Sums", "-m", "pass@3", "-q")
    assert result.exit_code == 0 and result.stdout == f"{page}\n" and result.stderr == ""
    text = page.read_text(encoding="utf-8")
    assert "<h1>Sums</h1>" in text and "pass@3" in text and "pass@2" not in text


def test_report_as_json_prints_the_document_and_writes_the_file(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    result = run("report", results, *EXACT, "--system", "B", "-o", file, "--width", 0.3, "--json", "-q")
    record = document(result)
    assert record["files"] == {"report": str(file)}
    assert [plan["estimand"] for plan in record["plans"]] == ["population", "benchmark"]
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["runs"][0]["scores"] == record["runs"][0]["scores"]


# models ---------------------------------------------------------------------------------------------------------------


def test_models_lists_shows_and_copies(tmp_path: Path) -> None:
    assert "beta_binomial" in run("models").stdout
    record = document(run("models", "--json"))
    assert {model["name"] for model in record["models"]} == set(be.models())
    assert "Priors." in run("models", "beta_binomial").stdout
    copy = tmp_path / "mine.py"
    assert run("models", "beta_binomial", "--copy-to", copy).stdout == f"{copy}\n"
    assert "exists already" in complaint(run("models", "beta_binomial", "--copy-to", copy))
    assert document(run("models", "beta_binomial", "--copy-to", copy, "--overwrite", "--json"))["models"][0]["path"]
    assert run("fit", "--help").exit_code == 0


def test_models_checks_a_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text('"""A model without anything."""\n')
    result = run("models", "--check", bad)
    assert result.exit_code == 1 and "build" in result.stdout
    as_json = run("models", "--check", bad, "--json")
    assert as_json.exit_code == 1 and not json.loads(as_json.stdout)["models"][0]["check"]["ok"]
    good = document(run("models", "--check", be.copy_model("beta_binomial", tmp_path / "good.py"), "--json"))
    assert good["models"][0]["check"] == {**good["models"][0]["check"], "ok": True, "problem": None}
    assert "--check takes" in complaint(run("models", "beta_binomial", "--check", bad))
    assert "--copy-to needs" in complaint(run("models", "--copy-to", tmp_path / "x.py"))


# demo -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def few_futures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayeseval.cli.main_job.plan", functools.partial(be.plan, futures=20))


def test_demo_ends_with_the_path_of_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_futures: None
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--engine", "quadrature")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[-1] == str(Path("bayeseval-demo", "report.html"))
    assert "<h1>" in Path(lines[-1]).read_text(encoding="utf-8")
    assert [line[:3] for line in lines if re.match(r"\[\d/6", line)] == [f"[{step}" + "/" for step in range(1, 7)]
    assert json.loads(Path("bayeseval-demo", "report.json").read_text(encoding="utf-8"))["plans"]
    assert len(list(Path("bayeseval-demo").glob("*.nc"))) == 2


def test_demo_writes_where_it_is_told_and_prints_json(tmp_path: Path, few_futures: None) -> None:
    page = tmp_path / "deep" / "aime.html"
    record = document(run("demo", "-o", page, "--engine", "quadrature", "--json"))
    assert record["kind"] == "demo" and record["files"]["report"] == str(page) and page.is_file()
    (tmp_path / "file").write_text("")
    assert "cannot be made" in complaint(run("demo", "-o", tmp_path / "file" / "below"))


# Failure --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "absent.csv"], "no file or folder absent.csv"),
        (["fit", "absent.nc"], "absent.nc cannot be read"),
        (["fit", "RESULTS", "--system", "C"], "there is no system 'C'; there are 'A', 'B'"),
        (["fit", "RESULTS", "--engine", "magic"], "engine must be one of"),
        (["fit", "RESULTS", "--model", "none"], "no model named 'none'"),
        (["fit", "RESULTS", "--prior", "mu"], "--prior must look like"),
        (["fit", "RESULTS", "--prior", "mu=a,b"], "--prior must look like"),
        (["fit", "RESULTS", "--column", "system"], "--column must look like"),
        (["fit", "RESULTS", "--metric", "pass@"], "--metric must look like"),
        (["fit", "RESULTS", "--prob", "95", *EXACT], "did you mean 0.95"),
        (["fit", "RESULTS", "--out", "post.csv"], "--out 'post.csv'"),
        (["fit", "RESULTS", "--out", "no/where.nc"], "there is no folder no"),
        (["plan", "RESULTS", "--width", "2", *EXACT], "width must lie strictly between 0 and 1"),
        (["plan", "RESULTS", "--width", "0.1", "--generations", "4;8"], "--generations must look like"),
        (["report", "RESULTS", "-o", "report.md"], "written as .html or .json"),
        (["report", "RESULTS", "-o", "no/where.html"], "cannot be written"),
    ],
)
def test_mistakes_are_told_in_one_line(
    arguments: list[str], message: str, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [str(results) if argument == "RESULTS" else argument for argument in arguments]
    assert message in complaint(run(*given))
    assert [item.name for item in tmp_path.iterdir()] == ["results.csv"]


def test_an_interrupt_ends_with_its_own_status(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bayeseval.cli.work.fit", interrupted)
    result = run("report", results, "-o", tmp_path / "r.html", "-q")
    assert result.exit_code == 130 and "Traceback" not in result.stderr
    assert result.stderr == "interrupted: nothing was written\n" and not (tmp_path / "r.html").exists()


def test_half_the_runs_are_no_result(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = be.fit(be.read(results, quiet=True), engine="quadrature", seed=1, progress=False)
    monkeypatch.setattr("bayeseval.cli.work.fit", lambda *_, **__: whole[:1])
    result = run("fit", results, "-q")
    assert result.exit_code == 130 and result.stdout == ""


def test_the_program_itself_keeps_streams_apart(results: Path) -> None:
    program = [sys.executable, "-c", "from bayeseval.cli import main; main()"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    answer = subprocess.run(
        [*program, "fit", str(results), *EXACT, "--json"], capture_output=True, text=True, env=environment
    )
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["kind"] == "fit" and "24 rows" in answer.stderr
    table = subprocess.run([*program, "fit", str(results), *EXACT], capture_output=True, text=True, env=environment)
    assert table.returncode == 0 and "credible interval" in table.stdout
    failed = subprocess.run([*program, "fit", "absent.csv"], capture_output=True, text=True, env=environment)
    assert (failed.returncode, failed.stdout) == (2, "") and failed.stderr.startswith("error: there is no file")


# What people type -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mean", "mean"),
        ("pass@16", "pass@16"),
        ("PASS^4", "pass^4"),
        ("g-pass@16:0.5", "G-Pass@16 (τ = 0.5)"),
        ("G-Pass@16_1/4", "G-Pass@16 (τ = 0.25)"),
        ("gpass@10:0.07", "G-Pass@10 (τ = 0.07)"),
        ("mG-Pass@8", "mG-Pass@8"),
    ],
)
def test_metrics_are_read_as_people_write_them(text: str, name: str) -> None:
    assert metric_from(text).name == name


@pytest.mark.parametrize(
    "text", ["", "pass", "pass@", "pass@0", "pass@1.5", "g-pass@4", "g-pass@4:2", "pass@4:0.5", "best"]
)
def test_other_metrics_are_refused(text: str) -> None:
    with pytest.raises(be.BayesevalError):
        metric_from(text)


def test_pairs_and_lists_are_read() -> None:
    assert priors_from(["mu=1,2", " rho = 0.5,1"]) == {"mu": (1.0, 2.0), "rho": (0.5, 1.0)}
    assert columns_from(["prompt=a=b"]) == {"prompt": "a=b"}
    assert columns_from(["benchmark=a", "benchmark=b"]) == columns_from(["benchmark=a,b"]) == {"benchmark": ["a", "b"]}
    assert numbers_from("4,8") == [4, 8]


# Several models -------------------------------------------------------------------------------------------------------


def test_several_models_are_compared_and_stacked(results: Path, tmp_path: Path) -> None:
    copy = be.copy_model("beta_binomial", tmp_path / "mine.py")
    both = ["--model", "beta_binomial", "--model", copy]
    answer = run("fit", results, *both, *EXACT, "-q")
    assert answer.exit_code == 0
    assert answer.stdout.count("Models of ") == 2, "one table a run"
    assert "cannot be told from it" in answer.stdout
    record = document(run("fit", results, *both, *EXACT, "--json"))
    assert {one["model"]["name"] for one in record["runs"]} == {"stack of beta_binomial, mine"}
    page = tmp_path / "report.html"
    assert run("report", results, *both, *EXACT, "-q", "-o", page).exit_code == 0
    assert "stack of beta_binomial, mine" in page.read_text(encoding="utf-8")


def test_a_stack_is_not_saved_and_says_so_before_any_work(results: Path, tmp_path: Path) -> None:
    said = complaint(run("fit", results, "--model", "beta_binomial", "--model", "none", "--out", tmp_path / "x.nc"))
    assert "leave out --out" in said and not (tmp_path / "x.nc").exists()


def test_fit_prints_groups_and_sensitivity(tmp_path):
    rows = [f"m,b,{i},{'xy'[i % 2]},4,{i % 5}" for i in range(12)]
    path = tmp_path / "grouped.csv"
    path.write_text("\n".join(["model,benchmark,prompt_id,group,n,c", *rows]))
    done = run("fit", str(path), "--engine", "quadrature", "--groups", "--sensitivity", "--quiet")
    assert done.exit_code == 0, done.output
    assert "Groups of m on b:" in done.output
    assert "rho (2, 2) in place of rho (1, 1)" in done.output
    refused = run("fit", str(path), "--groups", "--json")
    assert refused.exit_code == 2
    assert "leave out --groups" in refused.output


def test_models_can_be_calibrated():
    done = run("models", "beta_binomial", "--calibrate", "20")
    assert done.exit_code == 0, done.output
    assert "calibration of beta_binomial" in done.output
    assert "needs the name" in run("models", "--calibrate", "20").output


# Files of evaluation tools --------------------------------------------------------------------------------------------


def test_logs_of_tools_are_read_with_scorers_and_policies(tmp_path: Path) -> None:
    """An Inspect log with two scorers that disagree and one generation whose run failed."""
    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": "sums", "model": "acme/toy"},
        "samples": [
            {
                "id": f"q{prompt}",
                "epoch": epoch,
                "input": "?",
                "target": "1",
                "scores": {
                    "exact": {"value": "C" if (prompt + epoch) % 2 else "I", "answer": "1"},
                    "loose": {"value": 1.0 if prompt % 3 else 0.5},
                },
            }
            for prompt in range(6)
            for epoch in (1, 2)
        ],
    }
    log["samples"][-1].update(scores={}, error={"message": "timeout"})  # type: ignore[index,attr-defined]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    assert "exact" in complaint(run("fit", path, *EXACT, "--errored", "drop"))
    assert "errored" in complaint(run("fit", path, *EXACT, "--scorer", "exact"))
    for policy, generations in (("drop", 11), ("wrong", 12)):
        chosen = ["--scorer", "exact", "--errored", policy]
        record = document(run("fit", path, *EXACT, *chosen, "--json"))
        assert record["runs"][0]["data"]["n_generations"] == generations
        assert record["runs"][0]["system"] == "acme/toy"
    result = run("fit", path, "--scorer", "loose", "--credit", "loose", "--levels", "0,0.5,1", "--errored", "drop",
                 "--draws", 100, "--tune", 200, "--chains", 2)  # fmt: skip
    assert result.exit_code == 0
    assert "mean credit" in result.stdout
