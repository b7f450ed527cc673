"""Further generations: they join those that are there, and none is counted twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeseval as be
from bayeseval.errors import DataError, OptionError
from bayeseval.readers.cells import Origin
from bayeseval.readers.places import Places, Source, digest_of_file, twice_counted
from tests.commands import complaint, run


def quietly(source: object, **options: Any) -> Any:
    return be.read(source, quiet=True, **options)


def table(path: Path, rows: list[tuple[Any, ...]], header: str) -> Path:
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in [tuple(header.split(",")), *rows]))
    return path


def inspect_log(path: Path, days: dict[str, list[str]], seed: int | None = None, model: str = "acme/toy") -> Path:
    samples = [
        {"id": prompt, "epoch": epoch, "scores": {"match": {"value": word}}}
        for prompt, words in days.items()
        for epoch, word in enumerate(words, 1)
    ]
    about = {"model": model, "task": "sums", "model_generate_config": {"seed": seed}}
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": about, "samples": samples}))
    return path


def test_places_name_the_record_after_any_choice_of_rows() -> None:
    rng = np.random.default_rng(3)
    parts, names = [], []
    for file in range(4):
        size = int(rng.integers(1, 9))
        origin = Origin(f"f{file}", first=2)
        rows = rng.permutation(size)[: rng.integers(1, size + 1)]
        whole = Places.whole(origin, size)
        parts.append(whole.take(rows) if file % 2 else whole)
        names += [origin.row(int(row)) for row in (rows if file % 2 else range(size))]
    joined = Places.joined(parts)
    picked = rng.permutation(len(joined))
    assert [joined.row(i) for i in range(len(joined))] == names
    assert [joined.take(picked).row(i) for i in range(len(picked))] == [names[i] for i in picked]


def test_one_generation_in_two_files_is_refused_with_file_and_row_of_both(tmp_path: Path) -> None:
    header = "prompt_id,generation,correct"
    one = table(tmp_path / "a.csv", [("p", 0, 1), ("q", 0, 0), ("q", 1, 1)], header)
    two = table(tmp_path / "b.csv", [("p", 1, 1), ("q", 1, 1)], header)
    both = r"row 4 of .*a\.csv .* and row 3 of .*b\.csv .*prompt 'q', generation 1"
    with pytest.raises(DataError, match=both):
        quietly([one, two])
    with pytest.raises(DataError, match=both):
        quietly(one).add(quietly(two))
    with pytest.raises(DataError, match=both):
        quietly(two, add_to=quietly(one))
    with pytest.raises(DataError, match=r"row 2 of .*a\.csv .* and row 2 of .*a\.csv .*prompt 'p'"):
        quietly(one).add(quietly(one).select(system="system"))


def test_lines_and_samples_of_tools_are_named_as_the_file_has_them(tmp_path: Path) -> None:
    one = inspect_log(tmp_path / "a.json", {"p": ["C"], "q": ["I", "C"]})
    two = inspect_log(tmp_path / "b.json", {"q": ["C"]})
    with pytest.raises(DataError, match=r"sample 2 of .*a\.json .* and sample 1 of .*b\.json .*renumber=True"):
        quietly(one).add(quietly(two))


def test_added_generations_are_those_of_one_read(tmp_path: Path) -> None:
    header = "prompt_id,generation,correct"
    one = table(tmp_path / "a.csv", [("p", 0, 1), ("q", 0, 0)], header)
    two = table(tmp_path / "b.csv", [("p", 1, 0), ("r", 0, 1)], header)
    at_once = quietly([one, two])
    assert quietly(one).add(quietly(two)) == at_once
    assert quietly(two, add_to=quietly(one)) == at_once
    assert quietly(one).counts().add(quietly(two).counts()) == at_once.counts()
    assert quietly(two, add_to=quietly(one).counts()) == at_once.counts()


def test_numbers_go_on_where_the_user_says_so(tmp_path: Path) -> None:
    monday = quietly(inspect_log(tmp_path / "a.json", {"p": ["C", "I"], "q": ["C"]}))
    tuesday = quietly(inspect_log(tmp_path / "b.json", {"p": ["C"], "r": ["I", "I"]}))
    both = monday.add(tuesday, renumber=True)
    numbers = {prompt: both.generation[both.prompt == prompt].tolist() for prompt in "pqr"}
    assert numbers == {"p": [1, 2, 3], "q": [1], "r": [0, 1]}
    assert both.counts() == monday.counts().add(tuesday.counts())


def test_numbers_go_on_as_texts_where_those_there_are_texts() -> None:
    def named(*names: str) -> be.Outcomes:
        return be.Outcomes("s", "b", ["p"] * len(names), list(names), [1] * len(names))

    both = named("try", "7").add(named("try"), renumber=True)
    assert both.generation.tolist() == ["try", "7", "8"]


def test_files_that_number_nothing_are_numbered_on_and_a_copy_is_refused(tmp_path: Path) -> None:
    one = table(tmp_path / "a.csv", [("p", 1), ("p", 0), ("q", 1)], "prompt_id,correct")
    two = table(tmp_path / "b.csv", [("p", 1), ("q", 0)], "prompt_id,correct")
    both = quietly(one).add(quietly(two))
    assert both.counts() == quietly([one, two]).counts()
    assert both.counts().generations.tolist() == [3, 2]
    copy = Path(shutil.copy(one, tmp_path / "copy.csv"))
    with pytest.raises(DataError, match=r"copy\.csv and .*a\.csv, which was added before, are copies"):
        both.add(quietly(copy))
    with pytest.raises(DataError, match=r"b\.csv was added before"):
        both.add(quietly(two))


@pytest.mark.parametrize("kind", ["counts", "outcomes"])
def test_counts_of_a_file_that_was_added_before_are_refused(tmp_path: Path, kind: str) -> None:
    one = inspect_log(tmp_path / "a.json", {"p": ["C", "I"]})
    two = inspect_log(tmp_path / "b.json", {"p": ["C", "C"]})
    copy = Path(shutil.copy(two, tmp_path / "renamed.json"))

    def counts(path: Path) -> be.Counts:
        return quietly(path, kind=kind) if kind == "counts" else quietly(path).counts()

    both = counts(one).add(counts(two))
    assert (both.generations.tolist(), both.correct.tolist()) == ([4], [3])
    with pytest.raises(DataError, match=r"renamed\.json and .*b\.json"):
        both.add(counts(copy))
    with pytest.raises(DataError, match=r"a\.json was added before"):
        quietly(one, add_to=both)
    post = be.fit(both, engine="quadrature", progress=False)
    with pytest.raises(be.BayesevalError, match=r"a\.json was added before"):
        post.update(counts(one), progress=False)


def test_a_source_counts_for_the_runs_that_were_taken_from_it(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", [("A", "p", 4, 1), ("B", "p", 4, 2)], "system,prompt_id,n,c")
    other = table(tmp_path / "b.csv", [("B", "p", 4, 3)], "system,prompt_id,n,c")
    a, b = quietly(path).select(system="A"), quietly(path).runs()[1]
    both = be.Counts.concat([a, quietly(other)])
    assert both.add(b).correct.tolist() == [1, 5], "B of the first file is new, though its A was counted"
    with pytest.raises(DataError, match=r"a\.csv was added before"):
        both.add(a)


def test_new_runs_may_come_along_when_results_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = inspect_log(tmp_path / "a.json", {"p": ["C"]})
    two = inspect_log(tmp_path / "b.json", {"p": ["C"]}, model="acme/other")
    both = be.read(two, add_to=quietly(one))
    assert [name for name, _ in both.run_names] == ["acme/toy", "acme/other"]
    assert "added 1 generation to 1 earlier one; 1 run is new" in capsys.readouterr().err
    with pytest.raises(DataError, match="same system and benchmark"):
        quietly(one).add(quietly(two))


def test_kinds_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    counts = table(tmp_path / "a.csv", [("p", 4, 1)], "prompt_id,n,c")
    outcomes = table(tmp_path / "b.csv", [("p", 0, 1)], "prompt_id,generation,correct")
    with pytest.raises(OptionError, match=r"outcomes\.counts\(\)"):
        quietly(counts, add_to=quietly(outcomes))
    with pytest.raises(OptionError, match="earlier days, but str"):
        quietly(counts, add_to="a.csv")
    with pytest.raises(DataError, match="Outcomes are added to Outcomes, but Counts"):
        quietly(outcomes).add(quietly(counts))


def test_credits_are_added_and_keep_declared_levels(tmp_path: Path) -> None:
    header = "prompt_id,generation,credit"
    one = quietly(table(tmp_path / "a.csv", [("p", 0, 0.5)], header), kind="credits").with_levels((0, 0.5, 1))
    both = quietly(table(tmp_path / "b.csv", [("p", 1, 1)], header), add_to=one)
    assert both.credit.tolist() == [0.5, 1] and both.levels == (0, 0.5, 1)
    with pytest.raises(DataError, match="levels"):
        quietly(table(tmp_path / "c.csv", [("p", 2, 0.25)], header), add_to=one)


def test_a_prompt_does_not_change_its_group() -> None:
    def grouped(number: int, group: str) -> be.Outcomes:
        return be.Outcomes("s", "b", ["p"], [number], [1], group=[group])

    assert len(grouped(0, "x").add(grouped(1, "x"))) == 2
    with pytest.raises(DataError, match="groups 'x' and 'y'"):
        grouped(0, "x").add(grouped(1, "y"))


def test_the_digest_tells_files_apart_by_content_alone(tmp_path: Path) -> None:
    for name, data in (("a", b"x" * 10), ("b", b"x" * 10), ("c", b"x" * 9 + b"y")):
        (tmp_path / name).write_bytes(data)
    a, b, c = (digest_of_file(tmp_path / name) for name in "abc")
    assert a == b != c and digest_of_file(tmp_path / "a", "day 2") != a
    assert digest_of_file(tmp_path / "none") == ""
    run = frozenset({("s", "b")})
    assert twice_counted([Source("x", "", run)], [Source("y", "", run)]) is None, "an unknown digest tells nothing"


def test_a_large_file_is_known_again_by_its_blocks(tmp_path: Path) -> None:
    data = np.random.default_rng(1).integers(0, 256, 2**24 + 2**20, dtype=np.uint8)
    (tmp_path / "a").write_bytes(data.tobytes())
    (tmp_path / "b").write_bytes(data.tobytes())
    data[-1] ^= 1
    (tmp_path / "c").write_bytes(data.tobytes())
    a, b, c = (digest_of_file(tmp_path / name) for name in "abc")
    assert a == b != c


def test_the_command_counts_writes_and_adds(tmp_path: Path) -> None:
    one = inspect_log(tmp_path / "a.json", {"p": ["C", "I"], "007": ["C"]})
    two = inspect_log(tmp_path / "b.json", {"p": ["C"], "7": ["I"]})
    store = tmp_path / "counts.parquet"
    result = run("counts", one, "--out", store)
    assert result.exit_code == 0 and "acme/toy" in result.stdout and f"wrote {store}" in result.stdout
    assert "in all" in result.stderr
    assert quietly(store) == quietly(one).counts()
    result = run("counts", two, "--add-to", store)
    assert result.exit_code == 0 and "added 2 generations to 3 earlier ones" in result.stderr
    assert quietly(store) == quietly(one).counts().add(quietly(two).counts())
    assert "was added before" in complaint(run("counts", two, "--add-to", store, "--quiet"))
    outcomes = tmp_path / "outcomes.jsonl"
    assert run("counts", one, "--outcomes", "-o", outcomes).exit_code == 0
    assert quietly(outcomes) == quietly(one)
    assert "--outcomes" in complaint(run("counts", store, "--outcomes"))
    assert ".xlsx" in complaint(run("counts", one, "-o", tmp_path / "a.xlsx"))
    other = table(tmp_path / "mine.csv", [("p", 4, 1)], "prompt_id,n,c")
    assert "did not write it" in complaint(run("counts", one, "-o", other))
    assert run("counts", one, "-o", other, "--overwrite").exit_code == 0
