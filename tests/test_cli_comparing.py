"""`plan-contrast`, `plan-order`, `compare-decoding` and `looks`: their numbers are those of the functions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeseval as be
from bayeseval.cli.words import guess_from
from tests.commands import complaint, document, run

EXACT = ["--engine", "quadrature", "--seed", "1"]
SYSTEMS = {"A": 2, "B": 3, "C": 4}
SIZE = 16


def counts_of(system: str, generations: int = 4) -> be.Counts:
    correct = [(i * SYSTEMS[system]) % (generations + 1) for i in range(SIZE)]
    names = [f"q{i}" for i in range(SIZE)]
    return be.Counts.from_arrays(correct, generations, prompt=names, system=system, benchmark="sums")


def rows_of(*runs: be.Counts) -> str:
    rows = ["model,task,question_id,n,c"]
    for one in runs:
        rows += [
            f"{one.system[0]},{one.benchmark[0]},{p},{n},{c}"
            for p, n, c in zip(one.prompt, one.generations, one.correct, strict=True)
        ]
    return "\n".join(rows)


def write(path: Path, *runs: be.Counts) -> Path:
    path.write_text(rows_of(*runs))
    return path


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return write(tmp_path / "two.csv", counts_of("A"), counts_of("B"))


@pytest.fixture
def three(tmp_path: Path) -> Path:
    return write(tmp_path / "three.csv", *(counts_of(name) for name in SYSTEMS))


@cache
def posterior(system: str, generations: int = 4) -> Any:
    return be.fit(counts_of(system, generations), engine="quadrature", seed=1, progress=False)


# plan-contrast --------------------------------------------------------------------------------------------------------


def test_contrast_of_the_two_systems_that_there_are(two: Path) -> None:
    options = ["--difference", 0.3, "--rope", 0.02, "--estimand", "benchmark", "--power", 0.7, "--prob", 0.9]
    options += ["--generations", "4,16,64", "--bootstrap", 50, "--seed", 3]
    plan = be.plan_contrast(
        counts_of("A"), counts_of("B"), 0.3, rope=0.02, estimand="benchmark", power=0.7, prob=0.9,
        generations=[4, 16, 64], draws=50, seed=3,
    )  # fmt: skip
    result = run("plan-contrast", two, *options, "-q")
    assert result.exit_code == 0 and plan.sentence() in result.stdout and "equivalent" in result.stdout
    entry = document(run("plan-contrast", two, *options, "--json"))["contrasts"][0]
    assert entry["systems"] == ["A", "B"] and entry["k"] == plan.k and entry["difference"] == 0.3
    assert [row["resolved"] for row in entry["curve"]] == plan.curve["resolved"].tolist()


def test_contrast_chooses_among_several(three: Path, tmp_path: Path) -> None:
    options = ["--generations", "4,16", "--bootstrap", 50, "-q"]
    names = [["--a", "C", "--b", "B"], ["--system", "B", "--system", "C", "--a", "C"]]
    expected = be.plan_contrast(counts_of("C"), counts_of("B"), generations=[4, 16], draws=50).sentence()
    for chosen in names:
        assert expected in run("plan-contrast", three, *chosen, *options).stdout
    saved = posterior("C").save(tmp_path / "c.nc")
    others = write(tmp_path / "b.csv", counts_of("B"))
    record = document(run("plan-contrast", saved, others, *options, "--json"))
    assert record["contrasts"][0]["sentence"] == expected
    assert [source["model"] for source in record["sources"]] == ["beta_binomial", None]


def test_contrast_designs(two: Path, tmp_path: Path) -> None:
    options = ["--generations", "4,16", "--bootstrap", 50]
    pair = (counts_of("A"), counts_of("B"))
    common: dict[str, Any] = {"generations": [4, 16], "draws": 50}
    entry = document(
        run("plan-contrast", two, *options, "--design", "unpaired", "--prompts", "fresh", "--n-prompts", 90, "--json")
    )["contrasts"][0]
    plan = be.plan_contrast(*pair, design="unpaired", prompts="fresh", n_prompts=90, **common)
    assert entry["n_prompts"] == [90, 90] and entry["sentence"] == plan.sentence()
    coupled = run("plan-contrast", two, *options, "--design", "coupled", "--kappa", 0.02, "--json")
    entry = document(coupled)["contrasts"][0]
    plan = be.plan_contrast(*pair, design="coupled", kappa=0.02, **common)
    assert entry["kappa"] == 0.02 and entry["sentence"] == plan.sentence()


def test_kappa_is_estimated_from_outcomes(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    noise, p = rng.random((20, 6)), rng.random((20, 1))
    outcomes = {name: (noise < p**power).astype(int) for name, power in (("A", 1.0), ("B", 1.4))}
    rows = [
        f"{name},sums,q{i},{j},{matrix[i, j]}" for name, matrix in outcomes.items() for i in range(20) for j in range(6)
    ]
    path = tmp_path / "outcomes.csv"
    path.write_text("\n".join(["model,task,question_id,generation,correct", *rows]))
    options = ["--design", "coupled", "--generations", "6,24", "--bootstrap", 50]
    entry = document(run("plan-contrast", path, *options, "--json"))["contrasts"][0]
    read: Any = be.read(path, quiet=True)
    pair = tuple(read.select(system=name) for name in "AB")
    plan = be.plan_contrast(
        *(one.counts() for one in pair), design="coupled", coupled_outcomes=pair, generations=[6, 24], draws=50
    )
    assert entry["kappa"] == plan.kappa > 0 and entry["sentence"] == plan.sentence()


def test_contrast_of_guesses() -> None:
    new, old = be.SystemGuess(0.63, 0.3, "new"), be.SystemGuess(0.60, 0.3, "old")
    options = ["--guess", "new=0.63,0.3", "--guess", "old=0.60,0.3", "--correlation", 0.9, "--n-prompts", 400]
    record = document(run("plan-contrast", *options, "--difference", 0.03, "--json"))
    plan = be.plan_contrast(new, old, 0.03, correlation=0.9, n_prompts=400)
    assert record["sources"] == [] and record["title"] == "new against old on a benchmark"
    assert record["contrasts"][0]["k"] == plan.k and record["contrasts"][0]["prompts"] == "fresh"


def test_contrast_of_a_pilot_and_a_guess(three: Path) -> None:
    options = ["--system", "A", "--guess", "new=0.7,0.2", "--a", "new", "--correlation", 0.5, "--n-prompts", 200]
    record = document(run("plan-contrast", three, *options, "--generations", "4,8", "--bootstrap", 50, "--json"))
    guess = be.SystemGuess(0.7, 0.2, "new")
    plan = be.plan_contrast(guess, counts_of("A"), correlation=0.5, n_prompts=200, generations=[4, 8], draws=50)
    assert record["contrasts"][0]["sentence"] == plan.sentence()
    assert [source["system"] for source in record["sources"]] == ["A"]


def test_one_generation_a_prompt_is_fitted(tmp_path: Path) -> None:
    path = write(tmp_path / "one.csv", counts_of("A", 1), counts_of("B"))
    options = ["--generations", "4,16", "--bootstrap", 50, *EXACT]
    record = document(run("plan-contrast", path, *options, "--json"))
    plan = be.plan_contrast(posterior("A", 1), counts_of("B"), generations=[4, 16], draws=50, seed=1)
    assert [source["model"] for source in record["sources"]] == ["beta_binomial", None]
    assert record["contrasts"][0]["sentence"] == plan.sentence()
    assert any("its spread comes from the prior" in entry["text"] for entry in record["problems"])
    asked = document(run("plan-contrast", path, *options, "--model", "beta_binomial", "--json"))
    assert [source["engine"] for source in asked["sources"]] == ["quadrature", "quadrature"]


# plan-order -----------------------------------------------------------------------------------------------------------


def test_order_of_all_systems(three: Path, tmp_path: Path) -> None:
    options = ["--estimand", "benchmark", "--power", 0.6, "--generations", "4,32", "--truths", 200, "--seed", 2]
    plan = be.plan_order(
        [counts_of(name) for name in SYSTEMS], estimand="benchmark", power=0.6, generations=[4, 32], draws=200, seed=2
    )
    figure = tmp_path / "order.svg"
    result = run("plan-order", three, *options, "-q", "--figure", figure)
    assert plan.sentence() in result.stdout and figure.read_text().startswith("<?xml")
    record = document(run("plan-order", three, *options, "--json"))
    entry = record["orders"][0]
    assert entry["systems"] == list(plan.systems) and (entry["k"], entry["k_best"]) == (plan.k, plan.k_best)
    assert [row["order"] for row in entry["curve"]] == plan.curve["order"].tolist()
    assert record["title"] == "3 systems on sums"


def test_order_on_fresh_prompts_of_some_systems(three: Path) -> None:
    options = ["--prompts", "fresh", "--n-prompts", 500, "--system", "A", "--system", "C", "--truths", 100]
    entry = document(run("plan-order", three, *options, "--generations", "2,4", "--json"))["orders"][0]
    runs = [counts_of(name) for name in "AC"]
    plan = be.plan_order(runs, prompts="fresh", n_prompts=500, generations=[2, 4], draws=100)
    assert entry["n_prompts"] == 500 and entry["sentence"] == plan.sentence()


# compare-decoding -----------------------------------------------------------------------------------------------------


def test_decoding_by_a_model_and_by_moments(tmp_path: Path) -> None:
    greedy = write(tmp_path / "greedy.csv", counts_of("A", 1))
    sampled = write(tmp_path / "sampled.csv", counts_of("A"), counts_of("B"))
    options = ["--system", "A", "--prob", 0.9]
    expected = {
        (): be.compare_decoding(counts_of("A", 1), posterior("A"), prob=0.9),
        ("--moments",): be.compare_decoding(counts_of("A", 1), counts_of("A"), prob=0.9),
    }
    saved = posterior("A").save(tmp_path / "a.nc")
    for flags, found in expected.items():
        for source in (sampled, saved):
            record = document(run("compare-decoding", greedy, source, *options, *flags, *EXACT, "--json"))
            entry = record["decodings"][0]
            assert entry["sentence"] == found.sentence()
            assert [row["se"] for row in entry["differences"]] == [row.se for row in found.rows]
    figure = tmp_path / "decoding.png"
    result = run("compare-decoding", greedy, saved, *options, "--figure", figure, "-q")
    assert expected[()].sentence() in result.stdout and figure.is_file()


# looks ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def batches(tmp_path: Path) -> list[Path]:
    files = [write(tmp_path / f"batch{i}.csv", counts_of("A"), counts_of("B")) for i in range(3)]
    for day, file in enumerate(files):  # equal counts of other generations: the files tell so
        header, *rows = file.read_text().splitlines()
        file.write_text("\n".join([f"{header},date", *(f"{row},2026-01-0{day + 1}" for row in rows)]) + "\n")
    return files


def log(rule: Any, *systems: str, most: int | None = None, times: int = 3) -> Any:
    """The log by the functions, of the same batch again and again."""
    looks, posts = be.Looks(rule, most=most), [posterior(name) for name in systems]
    for number in range(times):
        if number:
            posts = [post.update(counts_of(name), progress=False) for post, name in zip(posts, systems, strict=True)]
        looks = looks.add(posts[0] if len(posts) == 1 else tuple(posts))
    return looks


def test_looks_go_on_and_stop_at_a_width(batches: list[Path], tmp_path: Path) -> None:
    options = [*EXACT, "--system", "A", "--estimand", "benchmark", "--prob", 0.9]
    expected = log(be.stop_at_width(0.01, estimand="benchmark", prob=0.9), "A")
    result = run("looks", *batches, "--width", 0.01, *options, "-q")
    assert result.exit_code == 3 and expected.sentence() in result.stdout and not expected.stop
    record = document(run("looks", *batches, "--width", 0.01, *options, "--json"), status=3)
    entry = record["logs"][0]
    assert [one["width"] for one in entry["looks"]] == [one.width for one in expected.decisions]
    assert [one["n_generations"] for one in entry["looks"]] == [64, 128, 192]
    assert (entry["stop"], entry["stopped_at"], entry["systems"]) == (False, None, ["A"])
    middle = (expected.decisions[1].width + expected.decisions[2].width) / 2
    stopped = document(run("looks", *batches, "--width", middle, *options, "--json"))["logs"][0]
    assert stopped["stop"] and stopped["looks"][-1]["stop"] and stopped["looks"][-1]["verdict"] == "narrow"
    figure = tmp_path / "looks.png"
    spent = run("looks", *batches, "--width", 0.01, "--most", 128, *options, "--figure", figure, "-q")
    assert spent.exit_code == 0 and "budget spent" in spent.stdout and figure.is_file()


def test_looks_at_a_direction_and_at_a_difference(batches: list[Path]) -> None:
    options = ["--rope", 0.02, "--certainty", 0.9, "--metric", "pass@2"]
    rule = be.stop_at_direction(0.3, rope=0.02, certainty=0.9, score=be.metrics.pass_at(2))
    entry = document(run("looks", *batches, "--reference", 0.3, *options, *EXACT, "--system", "B", "--json"))["logs"][0]
    expected = log(rule, "B")
    assert entry["sentence"] == expected.sentence() and entry["stopped_at"] == expected.stopped_at
    assert [one["above"] for one in entry["looks"]] == [one.above for one in expected.decisions]
    rule = be.stop_at_direction(0, rope=0.5, certainty=0.9)
    pair = run("looks", *batches, "--reference", 0, "--rope", 0.5, "--certainty", 0.9, "--a", "B", "--b", "A", *EXACT,
               "--json")  # fmt: skip
    entry = document(pair)["logs"][0]
    assert entry["systems"] == ["B", "A"] and entry["sentence"] == log(rule, "B", "A").sentence()


@pytest.mark.parametrize(("option", "value"), [("width", 0.05), ("reference", 0.05)])
def test_looks_by_a_confidence_sequence(option: str, value: float, batches: list[Path]) -> None:
    rule = be.stop_anytime(**{option: value}, alpha=0.1)
    expected = log(rule, "A", times=2)
    options = ["--anytime", 0.1, f"--{option}", value, "--system", "A", *EXACT]
    result = run("looks", *batches[:2], *options, "--json")
    entry = document(result, status=0 if expected.stop else 3)["logs"][0]
    assert [one["lower"] for one in entry["looks"]] == [one.lower for one in expected.decisions]
    assert expected.stop == (option == "reference")


def test_looks_start_from_a_saved_posterior(batches: list[Path], tmp_path: Path) -> None:
    saved = posterior("A").save(tmp_path / "a.nc")
    expected = log(be.stop_at_width(0.01), "A", times=2)
    entry = document(run("looks", saved, batches[1], "--width", 0.01, "--system", "A", "--json"), status=3)["logs"][0]
    assert [one["value"] for one in entry["looks"]] == pytest.approx([one.value for one in expected.decisions])
    assert "only the first path" in complaint(run("looks", batches[0], saved, "--width", 0.01, "--system", "A", "-q"))


def test_generations_that_come_twice_are_refused(tmp_path: Path) -> None:
    numbered, plain = tmp_path / "numbered.csv", tmp_path / "plain.csv"
    rows = [(f"q{i}", j, (i + j) % 2) for i in range(6) for j in range(3)]
    numbered.write_text("\n".join(["model,task,id,generation,correct", *(f"A,s,{q},{j},{x}" for q, j, x in rows)]))
    plain.write_text("\n".join(["model,task,id,correct", *(f"A,s,{q},{x}" for q, _, x in rows)]))
    said = complaint(run("looks", numbered, numbered, "--width", 0.1, "-q"))
    assert f"{numbered} is no further batch" in said and "generation 0" in said and "--column generation=" in said
    again = tmp_path / "again.csv"
    for file, options in ((plain, []), (numbered, ["--column", "generation="])):
        again.write_text(file.read_text())
        said = complaint(run("looks", file, again, "--width", 0.1, *options, "-q"))
        assert str(file) in said and str(again) in said and "copies" in said
        again.write_text(file.read_text() + "\n")  # other generations, as far as files can tell
        entry = document(run("looks", file, again, "--width", 0.1, *options, "--json"), status=3)["logs"][0]
        assert [one["n_generations"] for one in entry["looks"]] == [18, 36]


# Mistakes -------------------------------------------------------------------------------------------------------------

GUESS = ["plan-contrast", "--guess", "new=0.6,0.3", "--guess", "old=0.5,0.3"]
LOOK = ["looks", "THREE", "--system", "A"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan-contrast"], "files with results, or from two systems guessed"),
        (["plan-contrast", "THREE"], "there are 'A', 'B', 'C'; choose with --a and --b"),
        (["plan-contrast", "THREE", "--a", "A"], "choose with --a and --b"),
        (["plan-contrast", "THREE", "--a", "A", "--b", "A"], "name two systems"),
        (["plan-contrast", "THREE", "--a", "D"], "--a names 'D', but there are 'A', 'B', 'C'"),
        (["plan-contrast", "THREE", "--system", "A"], "needs two systems, but there is 'A'"),
        (["plan-contrast", "THREE", "--a", "A", "--b", "B", "--design", "twins"], "design must be one of"),
        (["plan-contrast", "THREE", "--a", "A", "--b", "B", "--design", "coupled"], "a coupled design needs --kappa"),
        (["plan-contrast", "THREE", "--a", "A", "--b", "B", "--kappa", "0.1"], "kappa belongs to"),
        (["plan-contrast", "THREE", "--a", "A", "--b", "B", "--power", "80"], "power must lie strictly between"),
        (["plan-contrast", "THREE", "--a", "A", "--b", "B", "--bootstrap", "0"], "--bootstrap must be a whole number"),
        (["plan-contrast", "THREE", "--a", "A", "--b", "B", "--difference", "2"], "difference must lie strictly"),
        (["plan-contrast", "THREE", "--a", "A", "--b", "B", "--figure", "x.bmp"], "a figure is written as"),
        (GUESS, "with --n-prompts: a guess has none"),
        ([*GUESS, "--n-prompts", "9"], "give --correlation"),
        (["plan-contrast", "--guess", "new=0.6"], "--guess must look like"),
        (["plan-order", "THREE", "--system", "A"], "an order needs two systems or more"),
        (["plan-order", "THREE", "--estimand", "x"], "'x'"),
        (["plan-order", "THREE", "--truths", "-1"], "--truths must be a whole number"),
        (["plan-order", "THREE", "--generations", "2,x"], "--generations must look like"),
        (["compare-decoding", "THREE", "THREE"], "compare-decoding GREEDY takes one run, but there are 3"),
        (["compare-decoding", "THREE", "THREE", "--system", "D"], "there is no system 'D'"),
        (["compare-decoding", "THREE", "THREE", "--system", "A", "--moments"], "greedy decoding gives one answer"),
        (["looks", "THREE", "--width", "0.1"], "looks takes one run, but there are 3"),
        (LOOK, "give one rule: --width W, or --reference R"),
        ([*LOOK, "--width", "0.1", "--reference", "0.5"], "give one rule"),
        ([*LOOK, "--width", "0.1", "--rope", "0.1"], "--rope has no place beside --width"),
        ([*LOOK, "--width", "0.1", "--certainty", "0.9"], "--certainty has no place beside --width"),
        ([*LOOK, "--reference", "0.1", "--prob", "0.9"], "--prob has no place beside --reference"),
        ([*LOOK, "--reference", "0.1", "--certainty", "0.3"], "certainty must be more than 0.5"),
        ([*LOOK, "--anytime", "0.05", "--width", "0.1", "--prob", "0.9"], "--prob has no place beside --anytime"),
        ([*LOOK, "--anytime", "0.05", "--width", "0.1", "--metric", "pass@2"], "the mean of the population"),
        ([*LOOK, "--anytime", "0.05", "--width", "0.1", "--estimand", "benchmark"], "the mean of the population"),
        ([*LOOK, "--anytime", "5", "--width", "0.1"], "alpha must lie strictly between"),
        ([*LOOK, "--width", "0.1", "--most", "0"], "--most must be a whole number"),
        (["looks", "THREE", "--a", "A", "--reference", "0"], "give --a and --b, both"),
        (["looks", "THREE", "--a", "A", "--b", "A", "--reference", "0"], "name two systems"),
        (["looks", "THREE", "--a", "A", "--b", "B", "--width", "0.1"], "--a has no place beside --width"),
        ([*LOOK, "--a", "A", "--b", "B", "--reference", "0"], "leave out --system"),
        (["looks", "THREE", "--a", "A", "--b", "D", "--reference", "0"], "but 1 match --a and --b"),
        (["looks", "absent.csv", "--width", "0.1"], "no file or folder absent.csv"),
        (["compare-decoding", "THREE", "absent.nc", "--system", "A"], "absent.nc cannot be read"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_one_line(
    arguments: list[str], message: str, three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bayeseval.cli.work.fit", None)  # all of it is refused before any long work
    given = [str(three) if argument == "THREE" else argument for argument in arguments]
    assert message in complaint(run(*given))
    assert [item.name for item in tmp_path.iterdir()] == ["three.csv"]


def test_a_system_on_two_benchmarks_must_be_told(three: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(three.read_text().replace(",sums,", ",products,"))
    for command in ("plan-contrast", "plan-order"):
        assert "system 'A' occurs 2 times: choose a benchmark" in complaint(run(command, three, other, "-q"))
    chosen = document(run("plan-order", three, other, "--benchmark", "products", "--truths", 50, "--json"))
    assert chosen["orders"][0]["benchmark"] == "products"


def test_guesses_are_read() -> None:
    assert guess_from("a=b=0.5,0.2") == be.SystemGuess(0.5, 0.2, "a=b")
    for text in ("0.5,0.2", "=0.5,0.2", "a=0.5", "a=x,y", "a=0.5,0.9"):
        with pytest.raises(be.BayesevalError):
            guess_from(text)
