"""The review loop: files for a person, verdicts back, and what they say."""

from __future__ import annotations

import csv
import json
import re
from html import unescape

import numpy as np
import pytest
from scipy import stats

import bayeseval as be
from bayeseval.consistency.reviewed import flag_precision
from bayeseval.consistency.verdicts import Verdicts
from tests.commands import run
from tests.test_data_map import NASTY, outcomes, rows, simulated


@pytest.fixture(scope="module")
def simulation():
    frame, bad = simulated(120, seed=5)
    return be.data_map(outcomes(frame)), bad, frame


def fill(path, target, judge):
    """What a person does: a verdict in every row."""
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    for row in table:
        row["verdict"] = judge(row)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table[0].keys())
        writer.writeheader()
        writer.writerows(table)
    return table


def test_a_review_goes_out_and_comes_back(simulation, tmp_path):
    found, bad, _ = simulation
    path = found.review(tmp_path / "review.csv", top=10, random=15, seed=1)
    table = fill(path, tmp_path / "done.csv", lambda row: "wrong label" if row["prompt"] in bad else "fine")
    why = [row["why"] for row in table]
    assert why.count("flagged") == 10 and why.count("random") == 15 and why != sorted(why)
    assert {row["prompt"] for row in table if row["why"] == "flagged"} == set(found.suspects(top=10).table["prompt"])
    verdicts = be.read_verdicts(tmp_path / "done.csv")
    assert len(verdicts) == 25
    result = found.reviewed(verdicts)
    hits = sum(row["why"] == "flagged" and row["prompt"] in bad for row in table)
    assert (result.hits, result.flags, result.unreviewed) == (hits, 10, 95)
    np.testing.assert_allclose(
        (result.precision_lower, result.precision_upper), stats.beta(1 + hits, 11 - hits).ppf([0.025, 0.975])
    )


def test_precision_of_the_published_study():
    _, lower, upper = flag_precision(8, 18)
    np.testing.assert_allclose((lower, upper), stats.beta(9, 11).ppf([0.025, 0.975]))
    with pytest.raises(be.BayesevalError, match="between 0 and"):
        flag_precision(3, 2)


def verdicts_on(prompts, bad, why="flagged"):
    names = list(prompts)
    return Verdicts(
        ("sums",) * len(names), tuple(names), tuple("wrong label" if name in bad else "fine" for name in names),
        (why,) * len(names),
    )  # fmt: skip


def test_scores_after_are_means_over_the_prompts_that_are_kept(simulation):
    found, bad, frame = simulation
    every = list(dict.fromkeys(frame["prompt"]))
    table = found.reviewed(verdicts_on(every, bad)).to_frame().set_index("system")
    for system, part in frame.groupby("system"):
        share = part.groupby("prompt")["correct"].mean()
        row = table.loc[system]
        assert row["removed"] == len(bad) and abs(row["before"] - share.mean()) < 0.02
        assert abs(row["after"] - share[~share.index.isin(bad)].mean()) < 0.02
        np.testing.assert_allclose(row["after"] - row["before"], row["difference"], atol=1e-12)
        assert row["lower"] < row["difference"] < row["upper"] and abs(row["after"] - row["after_all"]) < 1e-12


def test_nothing_found_bad_changes_nothing(simulation):
    found, _, frame = simulation
    table = found.reviewed(verdicts_on(dict.fromkeys(frame["prompt"]), set())).to_frame()
    assert (table["difference"].abs() < 1e-12).all() and (table["removed"] == 0).all()


def test_what_remains_follows_the_random_ones(simulation):
    found, _, frame = simulation
    names = list(dict.fromkeys(frame["prompt"]))
    few, many = (found.reviewed(verdicts_on(names[:40], set(names[:bad]), "random")) for bad in (0, 20))
    assert few.remaining < many.remaining and few.flags == 0 and np.isnan(few.precision)
    rate = (1 + 20) / (1 / found.rate + 40)
    assert abs(many.remaining - 80 * rate) < 4 * np.sqrt(80 * rate) / np.sqrt(1000) * 3
    assert few.remaining_lower <= few.remaining <= few.remaining_upper
    assert "drawn at random" in repr(few)


def test_without_random_ones_the_probabilities_are_shifted_and_it_says_so(simulation):
    found, _, _ = simulation
    top = found.suspects(top=12).table["prompt"]
    none, all_bad = (found.reviewed(verdicts_on(top, bad)) for bad in (set(), set(top)))
    assert none.remaining < all_bad.remaining and any("nobody knows" in note for note in none.notes)


def test_the_page_is_self_contained_and_escaped(tmp_path):
    frame = rows({"<b>p</b>": NASTY, '"; drop': ["1"] * 5}, {"<b>p</b>": "<img src=x>", '"; drop': "1"})
    page = be.data_map(outcomes(frame)).review(tmp_path / "r.html", top=2, random=0).read_text(encoding="utf-8")
    assert page.count("<script>") == 1 and "<img" not in page and "<b>p</b>" not in page
    assert "alert(1)</script>" not in page and "\x1b" not in page and "x" * 500 not in page
    assert not re.search(r"(?:src|href)\s*=\s*['\"]?https?:", page)
    kept = [json.loads(unescape(text)) for text in re.findall(r'data-key="([^"]*)"', page)]
    assert sorted(kept) == sorted([["sums", "<b>p</b>", "flagged"], ["sums", '"; drop', "flagged"]])


def test_names_that_look_like_formulas_come_back_as_they_were(tmp_path):
    names = ["=1+1", "-5", "@x", "'quoted", "a,b\nc"]
    frame = rows({name: ["1", "2"] for name in names}, dict.fromkeys(names, "1"))
    found = be.data_map(outcomes(frame))
    path = found.review(tmp_path / "r.csv", top=5, random=0)
    table = fill(path, tmp_path / "d.csv", lambda row: "fine")
    assert not any(row["prompt"].startswith(("=", "-", "@")) for row in table)
    assert set(be.read_verdicts(tmp_path / "d.csv").prompt) == set(names)
    assert found.reviewed(tmp_path / "d.csv").flags == 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prompt,verdict\nq,fine\n", "no column 'benchmark'"),
        ("benchmark,prompt,verdict\ns,q,maybe\n", "line 2: the verdict must be one of"),
        ("benchmark,prompt,verdict\ns,q,fine\ns,q,grader\n", "lines 2 and 3"),
        ("benchmark,prompt,verdict,why\ns,q,fine,because\n", "line 2: why must be"),
        ("<!doctype html>", "the page itself"),
    ],
)
def test_files_that_cannot_be_verdicts_are_refused(text, says, tmp_path):
    path = tmp_path / "v.csv"
    path.write_text(text)
    with pytest.raises(be.BayesevalError, match=says):
        be.read_verdicts(path)


def test_verdicts_on_other_prompts_or_none_are_refused(simulation, tmp_path):
    found, _, _ = simulation
    with pytest.raises(be.BayesevalError, match="does not have"):
        found.reviewed(verdicts_on(["elsewhere"], set()))
    with pytest.raises(be.BayesevalError, match="no verdicts yet"):
        found.reviewed(Verdicts((), (), (), ()))
    with pytest.raises(be.BayesevalError, match="cannot be read"):
        be.read_verdicts(tmp_path / "missing.csv")
    for path in ("r.txt", tmp_path / "no" / "r.csv"):
        with pytest.raises(be.BayesevalError):
            found.review(path)


def test_command_writes_a_review_and_reads_it(simulation, tmp_path):
    found, bad, frame = simulation
    source = tmp_path / "answers.csv"
    frame.to_csv(source, index=False)
    result = run("map", source, "--review", tmp_path / "r.csv", "--top", 6, "--random", 4, "-q")
    assert result.exit_code == 0 and "saved" in result.stdout
    fill(tmp_path / "r.csv", tmp_path / "v.csv", lambda row: "wrong label" if row["prompt"] in bad else "fine")
    result = run("map", source, "--verdicts", tmp_path / "v.csv", "-q")
    expected = be.data_map(be.read(source, quiet=True)).reviewed(tmp_path / "v.csv")
    assert result.exit_code == 0 and expected.sentence() in result.stdout
