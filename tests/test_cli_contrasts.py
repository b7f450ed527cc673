"""`compare` and `rank`: their numbers are those of the functions, and what they refuse they refuse in a sentence."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeseval as be
from bayeseval.reporting.contrasted import Compared
from tests.commands import complaint, document, run

EXACT = ["--engine", "quadrature", "--seed", "1", "-q"]
CHOSEN = ("o3-mini (high)", "o1 (medium)", "gpt-4o")
BEST, SECOND, LAST = CHOSEN
PAIR = ["--a", BEST, "--b", SECOND]
NOISE_PAIR = ["--a", "A", "--b", "B"]


@cache
def counts_of(system: str) -> be.Counts:
    return be.example("matharena-aime2025").select(system=system, benchmark="AIME-2025-I")


@cache
def posterior(system: str) -> Any:
    return be.fit(counts_of(system), engine="quadrature", seed=1, progress=False)


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Three systems that MathArena ran, on the first contest."""
    found = be.example("matharena-aime2025").select(system=list(CHOSEN), benchmark="AIME-2025-I")
    path = tmp_path / "arena.csv"
    found.write(path)
    return path


@cache
def outcomes() -> dict[str, be.Outcomes]:
    """A and B share their noise, C has its own."""
    rng = np.random.default_rng(3)
    noise, other, p = rng.random((40, 6)), rng.random((40, 6)), rng.random((40, 1))
    scores = {"A": noise < p, "B": noise < p**1.3, "C": other < p}
    return {
        name: be.Outcomes.from_matrix(values.astype(int), system=name, benchmark="sums")
        for name, values in scores.items()
    }


@pytest.fixture
def generations(tmp_path: Path) -> Path:
    rows = [
        f"{name},sums,{q},{j},{int(x)}"
        for name, one in outcomes().items()
        for q, j, x in zip(one.prompt, one.generation, one.correct, strict=True)
    ]
    path = tmp_path / "generations.csv"
    path.write_text("\n".join(["model,task,question_id,generation,correct", *rows]))
    return path


def equals(entry: dict[str, Any], found: Any) -> None:
    """Whether a difference in a document is that of a contrast."""
    names = ("estimand", "value", "sd", "lower", "upper", "p_greater", "method", "detectable", "detectable_prompts")
    for name in names:
        expected = getattr(found, name)
        assert entry[name] == expected or (entry[name] is None and np.isnan(expected)), name
    assert entry["sentence"] == found.sentence()


# compare --------------------------------------------------------------------------------------------------------------


def test_both_estimands_are_told(arena: Path, tmp_path: Path) -> None:
    asked = {"rope": 0.02, "prob": 0.9, "seed": 1}
    posts = [posterior(name) for name in (BEST, SECOND)]
    expected = [be.contrast(*posts, estimand=name, power=0.7, **asked) for name in ("population", "benchmark")]
    options = [*PAIR, *EXACT, "--rope", 0.02, "--prob", 0.9, "--power", 0.7]
    figure = tmp_path / "difference.png"
    result = run("compare", arena, *options, "--figure", figure)
    assert result.exit_code == 0, result.stderr
    for one in expected:
        assert one.sentence() in result.stdout and f"{one.estimand}: {one.power_sentence()}" in result.stdout
    assert figure.read_bytes().startswith(b"\x89PNG") and "shared noise" not in result.stdout
    record = document(run("compare", arena, *options, "--json"))
    (entry,) = record["comparisons"]
    assert entry["systems"] == [BEST, SECOND] and entry["design"] == "paired" and entry["power"] == 0.7
    assert record["title"] == f"{BEST} against {SECOND} on AIME-2025-I"
    for one, found in zip(entry["differences"], expected, strict=True):
        equals(one, found)
        assert one["p_equivalent"] == found.p_equivalent
    assert [source["engine"] for source in record["sources"]] == ["quadrature", "quadrature"]
    assert entry["coupled_savings"] is None and entry["shared_noise"] is None


def test_figure_shows_both_estimands() -> None:
    posts = [posterior(name) for name in (BEST, SECOND)]
    found = [be.contrast(*posts, estimand=name, rope=0.02, seed=1) for name in ("population", "benchmark")]
    ax = Compared(tuple(found)).plot()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    for place, one in enumerate(found):
        assert one.estimand in legend[2 * place] and one.numbers in legend[2 * place]
        assert f"{one.p_greater:.3f}"[1:] in legend[2 * place + 1] and "P(|difference| < 0.02)" in legend[2 * place + 1]
        grid, height = ax.lines[place].get_xdata(), ax.lines[place].get_ydata()
        assert np.trapezoid(height, grid) == pytest.approx(1, abs=0.01)


def test_power_is_told_only_where_it_is_asked(arena: Path) -> None:
    assert "with probability" not in run("compare", arena, *PAIR, *EXACT, "--estimand", "population").stdout


def test_a_model_is_fitted_only_where_an_answer_needs_it(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayeseval.cli.work.fit", None)
    options = [*PAIR, "--estimand", "population", "--score", "pass^2", "--seed", 2, "-q"]
    record = document(run("compare", arena, *options, "--json"))
    found = be.contrast(counts_of(BEST), counts_of(SECOND), score="pass^2", seed=2)
    equals(record["comparisons"][0]["differences"][0], found)
    assert [source["model"] for source in record["sources"]] == [None, None]
    for more in (["--model", "beta_binomial"], ["--unpaired"], ["--metric", "pass@8"], ["--estimand", "benchmark"]):
        with pytest.raises(TypeError, match="not callable"):
            run("compare", arena, *options, *more)


def test_saved_posteriors_and_unpaired_systems(arena: Path, tmp_path: Path) -> None:
    saved = [posterior(name).save(tmp_path / f"{number}.nc") for number, name in enumerate((LAST, BEST))]
    paired = be.contrast(posterior(LAST), posterior(BEST), estimand="benchmark", seed=1)
    record = document(run("compare", *saved, "--estimand", "benchmark", *EXACT, "--json"))
    equals(record["comparisons"][0]["differences"][0], paired)
    apart = be.contrast(posterior(LAST), posterior(BEST), paired=False, seed=1)
    options = ["--a", LAST, "--b", BEST, "--unpaired", *EXACT, "--json"]
    for paths in (saved, [arena]):
        (entry,) = document(run("compare", *paths, *options))["comparisons"]
        (one,) = entry["differences"]
        equals(one, apart)
        assert entry["design"] == "unpaired" and one["estimand"] == "population"
    assert complaint(run("compare", saved[0], arena, *EXACT, *PAIR)).startswith(f"system {LAST!r} occurs 2 times")


def test_coupled_generations(generations: Path, tmp_path: Path) -> None:
    a, b = (outcomes()[name] for name in "AB")
    posts = [be.fit(one, engine="quadrature", seed=1, progress=False) for one in (a, b)]
    savings, noise = be.coupled_savings(a, b, seed=1), be.shared_noise(a, b, seed=1)
    result = run("compare", generations, *NOISE_PAIR, *EXACT, "--coupled")
    assert result.exit_code == 0, result.stderr
    assert savings.sentence() in result.stdout and noise.sentence() in result.stdout and noise.shared
    (entry,) = document(run("compare", generations, *NOISE_PAIR, *EXACT, "--coupled", "--json"))["comparisons"]
    assert entry["design"] == "coupled"
    for one in entry["differences"]:
        equals(one, be.contrast(*posts, estimand=one["estimand"], coupled=True, seed=1))
    told = {row["quantity"]: row for row in entry["coupled_savings"]["estimates"]}
    for name in ("kappa", "saving_population", "saving_benchmark"):
        assert [told[name][key] for key in ("value", "lower", "upper")] == [
            getattr(savings.estimates[name], key) for key in ("value", "lower", "upper")
        ]
    assert entry["shared_noise"]["p_value"] == noise.p_value and entry["shared_noise"]["shared"]


def test_noise_that_is_shared_is_told_unasked(generations: Path) -> None:
    for other, words in (("B", "share noise"), ("C", "show no sign of shared noise")):
        options = ["--a", "A", "--b", other, "--estimand", "population", *EXACT]
        assert f"A and {other} on sums {words}" in run("compare", generations, *options).stdout
        entry = document(run("compare", generations, *options, "--independent", "--json"))["comparisons"][0]
        assert entry["design"] == "paired" and entry["shared_noise"]["shared"] == (other == "B")
    alone = run("compare", generations, *NOISE_PAIR, *EXACT, "--unpaired")
    assert alone.exit_code == 0 and "noise" not in alone.stdout, "prompts of its own share nothing"


def test_one_coupled_pair_a_prompt_cannot_tell_what_is_saved(generations: Path, tmp_path: Path) -> None:
    head, *rows = generations.read_text().splitlines()
    path = tmp_path / "one.csv"
    path.write_text("\n".join([head, *(row for row in rows if row.split(",")[3] == "0")]))
    result = run("compare", path, *NOISE_PAIR, *EXACT, "--coupled", "--json")
    (entry,) = document(result)["comparisons"]
    assert entry["design"] == "coupled" and entry["coupled_savings"] is None and entry["shared_noise"] is None


def test_a_posterior_of_both_systems_is_refused_in_a_sentence(tmp_path: Path) -> None:
    pairs = be.Pairs.of(counts_of(BEST), counts_of(SECOND))
    both = be.fit(pairs, draws=20, tune=20, chains=1, seed=1, progress=False).save(tmp_path / "both.nc")
    for command in ("compare", "rank"):
        assert "is one of two systems together" in complaint(run(command, both, "-q"))


# rank -----------------------------------------------------------------------------------------------------------------


def test_systems_are_ranked(arena: Path, tmp_path: Path) -> None:
    expected = be.rank([counts_of(name) for name in CHOSEN], score="pass@2", rope=0.05, prob=0.9, seed=1)
    options = ["--score", "pass@2", "--rope", 0.05, "--prob", 0.9, *EXACT]
    figure = tmp_path / "leaderboard.svg"
    result = run("rank", arena, *options, "--figure", figure)
    assert result.exit_code == 0 and expected.sentence() in result.stdout and f"saved {figure}" in result.stdout
    assert "P(best)" in result.stdout and "by more than 0.05" in result.stdout
    assert all(name in figure.read_text() for name in ("<svg", "</svg>"))
    record = document(run("rank", arena, *options, "--json"))
    (entry,) = record["leaderboards"]
    assert entry["systems"] == list(expected.systems) and record["title"] == "3 systems on AIME-2025-I"
    assert [tuple(group) for group in entry["groups"]] == list(expected.groups)
    for row, told in zip(entry["rows"], expected.to_frame().to_dict(orient="records"), strict=True):
        assert {name: row[name] for name in row if name in told} == {name: told[name] for name in row if name in told}
    assert [row["rank_probabilities"] for row in entry["rows"]] == expected.rank_probabilities.tolist()
    assert [row["verdict"] for row in entry["pairs"]] == expected.pairs()["verdict"].tolist()
    assert [source["model"] for source in record["sources"]] == [None] * 3


def test_ranks_on_these_prompts_come_from_posteriors(arena: Path, tmp_path: Path) -> None:
    saved = posterior(BEST).save(tmp_path / "best.nc")
    others = tmp_path / "others.csv"
    be.example("matharena-aime2025").select(system=[SECOND, LAST], benchmark="AIME-2025-I").write(others)
    expected = be.rank([posterior(name) for name in CHOSEN], estimand="benchmark", seed=1)
    for paths in ([arena], [saved, others]):
        record = document(run("rank", *paths, "--estimand", "benchmark", *EXACT, "--json"))
        assert record["leaderboards"][0]["sentence"] == expected.sentence()
        assert {source["engine"] for source in record["sources"]} == {"quadrature"}


# Mistakes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "ARENA"], "choose with --a and --b"),
        (["compare", "ARENA", "--a", BEST], "choose with --a and --b"),
        (["compare", "ARENA", "--a", BEST, "--b", BEST], "name two systems"),
        (["compare", "ARENA", "--a", "x", "--b", BEST], "--a names 'x', but there are"),
        (["compare", "ARENA", "--system", BEST], f"needs two systems, but there is {BEST!r}"),
        (["compare", "ARENA", "OTHER", *PAIR], "occurs 2 times: choose a benchmark with --benchmark"),
        (["compare", "ARENA", *PAIR, "--rope", "0"], "rope must lie strictly between"),
        (["compare", "ARENA", *PAIR, "--power", "80"], "power must lie strictly between"),
        (["compare", "ARENA", *PAIR, "--prob", "95"], "prob must lie strictly between"),
        (["compare", "ARENA", *PAIR, "--estimand", "both"], "'both'"),
        (["compare", "ARENA", *PAIR, "--score", "pass"], "--score"),
        (["compare", "ARENA", *PAIR, "--coupled"], "--coupled pairs generations one by one, which counts cannot tell"),
        (["compare", "ARENA", *PAIR, "--coupled", "--unpaired"], "leave out --unpaired or --coupled"),
        (["compare", "ARENA", *PAIR, "--unpaired", "--estimand", "benchmark"], "leave out --unpaired"),
        (["compare", "ARENA", *PAIR, "--figure", "x.bmp"], "a figure is written as"),
        (["compare", "absent.csv"], "no file or folder absent.csv"),
        (["compare", "APART"], "no prompt was answered by all of A, B"),
        (["rank", "APART"], "no prompt was answered by all of A, B"),
        (
            ["rank", "ARENA", "--system", BEST],
            f"two systems or more, but the files hold {BEST!r} alone",
        ),
        (["rank", "ARENA", "--estimand", "both"], "'both'"),
        (["rank", "ARENA", "--rope", "2"], "rope must lie strictly between"),
        (["rank", "ARENA", "OTHER"], "occurs 2 times"),
    ],
)
def test_mistakes_are_told_in_one_line(
    arguments: list[str], message: str, arena: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, apart = tmp_path / "other.csv", tmp_path / "apart.csv"
    other.write_text(arena.read_text().replace("AIME-2025-I", "AIME-2025-II"))
    apart.write_text("model,task,question_id,n,c\nA,sums,q1,4,3\nA,sums,q2,4,1\nB,sums,q3,4,2\nB,sums,q4,4,2\n")
    files = {"ARENA": str(arena), "OTHER": str(other), "APART": str(apart)}
    there = set(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bayeseval.cli.work.fit", None)  # all of it is refused before any long work
    assert message in complaint(run(*(files.get(argument, argument) for argument in arguments), "-q"))
    assert set(tmp_path.iterdir()) == there, "nothing is written"
