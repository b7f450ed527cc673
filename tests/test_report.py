"""The report: self-contained, escaped, in agreement with the posterior, and never half written."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayeseval as be
from bayeseval.posterior.scores import decimals
from bayeseval.reporting import schema
from bayeseval.reporting.content import Material, default_metrics, document
from bayeseval.reporting.figures import inline_svg
from bayeseval.reporting.files import as_json, plain_data

EVIL = "<script>alert('x')</script>"
EVIL_BENCHMARK = 'b"><img src=x onerror=alert(1)> & $\\frac{$'
VOID = {"meta", "br", "img", "link", "input", "hr", "use", "path"}


def fit(counts: be.Counts, **options: Any) -> Any:
    return be.fit(counts, engine="quadrature", seed=1, progress=False, **options)


class Page(HTMLParser):
    """Tags, attributes and texts of a page; tags must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def aime() -> Any:
    return fit(be.example("aime24-50"))


@pytest.fixture(scope="module")
def plans(aime: Any) -> list[Any]:
    return [
        be.plan(aime[1], width=0.01, estimand="benchmark", futures=50, attempts=16, progress=False),
        be.plan(aime[1], width=0.05, generations=[50, 100], futures=50, progress=False),
    ]


@pytest.fixture(scope="module")
def html(aime: Any, plans: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert be.report(aime, path, plans=plans, commands=["bayeseval report <here>"]) == path
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> str:
    counts = be.Counts.from_arrays(
        [1, 2, 3, 0] * 2,
        4,
        system=[EVIL] * 4 + ["日本\x07\x1b[31m"] * 4,
        benchmark=EVIL_BENCHMARK,
        prompt=[f"{EVIL}{index}" for index in range(8)],
    )
    path = tmp_path_factory.mktemp("evil") / "report.html"
    be.report(fit(counts), path, title=f"T {EVIL}", commands=[EVIL])
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def misfit() -> Any:
    post = fit(be.Counts.from_arrays([0] * 150 + [5] * 120 + [10] * 150, 10, system="three kinds"))
    assert post.check().misfit
    return post


# The page -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["html", "evil"])
def test_page_needs_nothing_from_outside(which: str, request: pytest.FixtureRequest) -> None:
    text = request.getfixturevalue(which)
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert not page.tags.keys() & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), f"{tag} has {name}"
        if name in ("src", "href", "xlink:href", "action", "data"):
            assert value.startswith("#"), f"<{tag} {name}={value!r}>"
        assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", value))
    assert "@import" not in text and not re.search(r"https?:", text)
    (policy,) = [value for _, name, value in page.attributes if name == "content" and "default-src" in value]
    assert "default-src 'none'" in policy and "script-src" not in policy


@pytest.mark.parametrize("which", ["html", "evil"])
def test_every_reference_in_the_page_has_exactly_one_target(which: str, request: pytest.FixtureRequest) -> None:
    page = Page(request.getfixturevalue(which))
    ids = Counter(value for _, name, value in page.attributes if name == "id")
    assert max(ids.values()) == 1
    wanted = {value[1:] for _, name, value in page.attributes if name == "href"}
    wanted |= {target for *_, value in page.attributes for target in re.findall(r"url\(#([^)]*)\)", value)}
    assert wanted <= ids.keys()


def test_names_are_escaped_wherever_they_stand(evil: str) -> None:
    page = Page(evil)
    assert page.tags["script"] == page.tags["img"] == 0
    assert page.text.count(EVIL) > 10, "the name itself is shown"
    assert EVIL_BENCHMARK in page.text
    assert "\x07" not in "".join(re.findall(r"<svg.*?</svg>", evil, re.DOTALL))


def test_page_shows_the_numbers_of_the_posterior(html: str, aime: Any) -> None:
    text = Page(html).text
    for post in aime:
        for score in post.scores(default_metrics(50)):
            for answer in (score, score.other):
                if answer is None or decimals(answer.width) > 4:
                    continue
                d = decimals(answer.width)
                assert f"{answer.value:.{d}f} [{answer.lower:.{d}f}, {answer.upper:.{d}f}]" in text.replace("  ", " ")
    assert "95% credible interval" in text
    assert "population" in text and "benchmark" in text


def test_page_tells_how_the_results_were_made(html: str, aime: Any) -> None:
    text = Page(html).text
    for post in aime:
        assert post.provenance["data"] in text and post.model.digest in text
        for name, version in post.provenance["versions"].items():
            assert f"{name} {version}" in text
    assert "be.fit(run, model='beta_binomial'" in text
    assert "bayeseval report <here>" in text
    assert "What the intervals do not cover" in text and "arXiv:2502.08943" in text


def test_page_has_the_plans(html: str, plans: Any) -> None:
    text = Page(html).text
    for plan in plans:
        assert " ".join(plan.sentence().split()) in text


def test_page_says_first_what_is_wrong(misfit: Any, tmp_path: Path) -> None:
    text = be.report(misfit, tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.index("does not describe these prompts") < text.index('id="scores"')
    assert "⚠ fails" in text and "No problem found" not in text
    bold = re.findall(r'<td class="score headline"><span class="value">([^<]*)', text)
    robust = misfit.mean()
    assert robust.method == "robust" and f"{robust.value:.{decimals(robust.width)}f}" == bold[0]


def test_page_without_problems_says_what_was_looked_at(tmp_path: Path) -> None:
    post = fit(be.Counts.from_arrays(np.random.default_rng(1).binomial(8, np.linspace(0.02, 0.98, 60)), 8))
    assert post.check().ok
    text = Page(be.report(post, tmp_path / "r.html").read_text(encoding="utf-8")).text
    assert "No problem found" in text and "predictive check" in text


def test_page_of_a_sampled_posterior_reports_the_sampler(tmp_path: Path) -> None:
    counts = be.Counts.from_arrays([3, 0, 4, 2, 1, 3], 4)
    post = be.fit(counts, seed=1, draws=400, tune=300, chains=2, progress=False)
    text = Page(be.report(post, tmp_path / "r.html").read_text(encoding="utf-8")).text
    assert "R-hat" in text and "ess_bulk" in text and "engine='nuts'" in text


def test_few_runs_are_open_and_many_are_folded(tmp_path: Path) -> None:
    arena = be.example("matharena-aime2025")
    few = arena.select(system=["o1 (medium)", "gpt-4o"], benchmark="AIME-2025-I")
    some = arena.select(system=["o1 (medium)", "gpt-4o", "DeepSeek-R1"])
    few_text = be.report(fit(few), tmp_path / "few.html").read_text(encoding="utf-8")
    many_text = be.report(fit(some), tmp_path / "many.html").read_text(encoding="utf-8")
    assert few_text.count('<article id="run-') == 2 and 'class="run"' not in few_text
    assert many_text.count('<details class="run" id="run-') == 6 and "<article" not in many_text
    Page(many_text)
    order = re.findall(r'<a href="#run-\d+">([^<]+)</a></td><td>', many_text)[:3]
    assert order == ["o1 (medium)", "DeepSeek-R1", "gpt-4o"]


def test_few_prompts_are_all_shown_and_of_many_the_extremes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for size, rows in ((12, 12), (200, 216)):
        post = fit(
            be.Counts.from_arrays(rng.binomial(8, rng.beta(1, 1, size)), 8, prompt=[f"q{i}" for i in range(size)])
        )
        text = be.report(post, tmp_path / "r.html").read_text(encoding="utf-8")
        assert len(re.findall(r'<td class="name">q\d+</td>', text)) == rows
        assert ("All 200 prompts" in text) == (size == 200)
        hardest = post.prompts().sort_values("mean").iloc[0]
        first = re.search(r'<td class="name">(q\d+)</td><td class="n">(\d+) of 8', text)
        assert first and int(first[2]) == hardest["correct"]


def test_prob_title_and_metrics_are_those_asked_for(aime: Any, tmp_path: Path) -> None:
    metrics = [be.metrics.pass_at(7), be.metrics.pass_at(3000)]
    path = be.report(aime[0], tmp_path / "r.HTML", prob=0.5, title="A title", metrics=metrics)
    text = Page(path.read_text(encoding="utf-8")).text
    assert "A title" in text and "50% credible interval" in text and "95%" not in text.replace("95% predictive", "")
    assert "pass@7" in text and "pass@16" not in text
    assert "no interval" in text and "extrapolated" in text


def test_a_run_without_any_generation_can_be_reported(tmp_path: Path) -> None:
    post = fit(be.Counts.from_arrays([0, 0], [0, 0]))
    text = Page(be.report(post, tmp_path / "r.html").read_text(encoding="utf-8")).text
    assert "2 of 2 prompts have no generation" in text
    record = json.loads(be.report(post, tmp_path / "r.json").read_text(encoding="utf-8"))
    assert record["runs"][0]["moments"] is None and record["runs"][0]["intervals"] == []


@pytest.mark.slow
def test_thirty_five_runs_are_reported_quickly_and_in_little_space(tmp_path: Path) -> None:
    posts = fit(be.example("matharena-aime2025"))
    start = time.perf_counter()
    path = be.report(posts, tmp_path / "r.html")
    assert time.perf_counter() - start < 20
    assert path.stat().st_size < 5e6


# Figures in the page --------------------------------------------------------------------------------------------------


def test_figures_keep_their_texts_and_lose_their_colours() -> None:
    def plot() -> Any:
        ax = Figure(figsize=(4, 3)).subplots()
        ax.plot([0.0123456, 0.0223456], [1, 2], color="#5790fc")
        ax.set_xticks([0.0175], ["0.0175 #ffffff url(#p)"])
        return ax

    svg = inline_svg(plot, 'a "label" of 0.12345', 7)
    assert "0.0175 #ffffff url(#p)" in svg and "of 0.12345" in svg
    assert "var(--c0)" in svg and "#5790fc" not in svg
    ids = re.findall(r' id="([^"]*)"', svg)
    assert ids and all(name.startswith("f7-") for name in ids)
    assert Page(svg).tags["svg"] == 1


def test_every_colour_of_a_figure_follows_the_page(html: str) -> None:
    figures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(figures) == 1 + 2 + 2 * 4
    tags = "".join(tag for svg in figures for tag in re.findall(r"<[^>]*>", svg))
    assert not re.findall(r"#[0-9a-f]{6}\b", tags)
    used = set(re.findall(r"var\((--\w+)\)", tags))
    defined = set(re.findall(r"(--\w+):", html.partition("@media")[0]))
    assert used <= defined
    dark = html.partition("prefers-color-scheme: dark")[2].partition("@media")[0]
    assert {name for name in used if name != "--font"} <= set(re.findall(r"(--\w+):", dark))


# JSON -----------------------------------------------------------------------------------------------------------------


def check_against_schema(record: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema checks the public schema")
    jsonschema.Draft202012Validator(schema()).validate(record)


def test_schema_is_a_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema checks the public schema")
    jsonschema.Draft202012Validator.check_schema(schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate({"schema_version": "0.1", "kind": "fit", "bayeseval": "0"})


def test_json_report_follows_the_schema_and_agrees_with_the_posterior(aime: Any, plans: Any, tmp_path: Path) -> None:
    text = be.report(aime, tmp_path / "r.json", plans=plans).read_text(encoding="utf-8")
    record = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    check_against_schema(record)
    for post, run in zip(aime, record["runs"], strict=True):
        assert (run["system"], run["benchmark"]) == (post.system, post.benchmark)
        answers = {(s["name"], s["estimand"], s["method"]): s for s in run["scores"]}
        score = post.mean()
        stored = answers["mean", "population", score.method]
        assert stored["headline"] and (stored["value"], stored["lower"]) == (score.value, score.lower)
        assert score.other is not None and not answers["mean", "population", score.other.method]["headline"]
        assert [row["mean"] for row in run["prompts"]] == post.prompts()["mean"].tolist()
        assert run["moments"]["mean"] == be.moments(post.counts).rows[0].mean
        assert run["provenance"]["data"] == post.counts.fingerprint
    assert record["plans"][0]["k"] == plans[0].k
    assert record["plans"][1]["k"] is None and record["plans"][1]["warnings"]
    assert record["problems"]


def test_json_holds_null_where_there_is_no_number(aime: Any, tmp_path: Path) -> None:
    path = be.report(aime[0], tmp_path / "r.json", metrics=[be.metrics.pass_at(10_000)])
    record = json.loads(path.read_text(encoding="utf-8"))
    check_against_schema(record)
    far = [score for score in record["runs"][0]["scores"] if score["name"] == "pass@10000"]
    assert far and all(score["lower"] is None and score["extrapolated"] for score in far)
    refused = [row for row in record["runs"][0]["intervals"] if row["method"].startswith("CLT")]
    assert refused and all(row["lower"] is None and row["note"] for row in refused)


def test_json_of_awkward_runs_follows_the_schema(misfit: Any, tmp_path: Path) -> None:
    runs = [
        misfit,
        fit(be.Counts.from_arrays([0, 0], [0, 0])),
        fit(be.Counts.from_arrays([1], [1])),
        fit(be.Counts.from_arrays([4] * 30, 4, system=EVIL, group=["g"] * 30)),
        fit(be.Counts.from_arrays([1, 0, 2, 3], [1, 0, 4, 3])),
    ]
    record = json.loads(be.report(runs, tmp_path / "r.json").read_text(encoding="utf-8"))
    check_against_schema(record)
    assert len(record["runs"]) == 5 and record["runs"][3]["prompts"][0]["group"] == "g"


def test_commands_leave_the_prompts_out(aime: Any) -> None:
    record = document(Material.gather(aime[0]), "fit", prompts=False)
    assert "prompts" not in record["runs"][0]
    check_against_schema(plain_data(record))


def test_plain_data_knows_what_json_knows() -> None:
    value = {"a": np.float64("nan"), "b": [np.int64(1), np.bool_(True)], 3: math.inf, "p": Path("x"), "s": "\ud800"}
    assert json.loads(as_json(value)) == {"a": None, "b": [1, True], "3": None, "p": "x", "s": "\\ud800"}


# Files and arguments --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["report.md", "report.tex", "report", "report.html.gz"])
def test_another_format_is_refused_with_those_that_exist(name: str, aime: Any, tmp_path: Path) -> None:
    with pytest.raises(be.BayesevalError, match=r"\.html or \.json"):
        be.report(aime, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_an_unwritable_path_is_refused_before_any_work(
    aime: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Material, "gather", lambda *_, **__: pytest.fail("work began"))
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.html").mkdir()
    for path in ("nowhere/report.html", "file/report.html", "folder.html"):
        with pytest.raises(be.BayesevalError, match="cannot be written: .*choose another path"):
            be.report(aime, tmp_path / path)
    with pytest.raises(be.BayesevalError, match="must name a file"):
        be.report(aime, None)  # type: ignore[arg-type]


def test_a_report_appears_whole_or_not_at_all(aime: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    path.write_text("before")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(be.BayesevalError, match="No space left on device; choose another path"):
        be.report(aime[0], path)
    monkeypatch.undo()
    assert path.read_text() == "before" and [item.name for item in tmp_path.iterdir()] == ["report.json"]
    be.report(aime[0], str(path))
    assert json.loads(path.read_text(encoding="utf-8"))["kind"] == "report"
    assert [item.name for item in tmp_path.iterdir()] == ["report.json"]


def test_arguments_of_the_wrong_kind_are_refused(aime: Any, plans: Any, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        ([], {}, "no posterior to report"),
        ("post", {}, "posteriors must come from be.fit"),
        ([aime[0], aime[0].mean()], {}, "posteriors holds a Score"),
        (SimpleNamespace(), {}, "posteriors must come from"),
        (aime, {"plans": [0.02]}, "plans holds a float"),
        (aime, {"metrics": ["pass@3"]}, "metrics holds a str"),
        (aime, {"prob": 95}, "did you mean 0.95"),
    ]
    for posteriors, options, message in wrong:
        with pytest.raises(be.BayesevalError, match=message):
            be.report(posteriors, path, **options)
    assert not path.exists()


def test_default_metrics_never_extrapolate_and_stay_few() -> None:
    for generations in (1, 2, 3, 4, 10, 50, 64, 10_000):
        metrics = default_metrics(generations)
        assert all(metric.k <= generations for metric in metrics)
        assert len(metrics) <= 14
        assert len({metric.name for metric in metrics}) == len(metrics)
