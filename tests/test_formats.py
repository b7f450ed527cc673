"""Files of evaluation tools: real samples give what the raw files hold, and anything else is one sentence."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.outcomes import Outcomes
from bayeseval.readers import read
from bayeseval.readers.formats import kind_of_file

FOLDERS = ("deepeval", "evalplus", "every_eval_ever", "helm", "human_eval", "inspect_ai", "lighteval", "livecodebench",
           "lm_eval", "matharena", "openai_evals", "openai_simple_evals", "opencompass", "promptfoo", "tau2_bench",
           "tau_bench")  # fmt: skip


def quietly(source: object, **options: Any) -> Counts | Outcomes | Credits:
    return read(source, quiet=True, **options)


# Real samples


def expected_cells(folder: Path) -> dict[tuple[str, str, str, str], list[dict[str, str]]]:
    cells: dict[tuple[str, str, str, str], list[dict[str, str]]] = {}
    with (folder / "expected.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells.setdefault((row["file"], row["model"], row["task"], row["metric"]), []).append(row)
    return cells


def per_prompt(counts: Counts) -> dict[str, tuple[int, int]]:
    columns = (counts.prompt, counts.generations, counts.correct)
    return {prompt: (n, c) for prompt, n, c in zip(*(column.tolist() for column in columns), strict=True)}


def as_counts(results: Counts | Outcomes | Credits) -> Counts:
    assert not isinstance(results, Credits)
    return results if isinstance(results, Counts) else results.counts()


@pytest.mark.parametrize("folder", FOLDERS)
def test_samples_of_every_tool_give_what_is_expected(shared: Path, folder: str) -> None:
    place = shared / "formats" / folder
    for (name, model, task, metric), rows in expected_cells(place).items():
        path = place / name if (place / name).exists() else str(place / name)
        names = {"system": model or "system", "benchmark": task or "benchmark"}

        def only(results: Any, names: dict[str, str] = names) -> Any:
            return results.select(**names)

        said = f"{name} {task} {metric}"
        binary = all(row["c"] or row["n"] == "0" for row in rows)
        cut: dict[str, Any] = {} if binary else {"threshold": 1}
        dropped = only(quietly(path, metric=metric, errored="drop", unscored="drop", **cut))
        kept = only(quietly(path, metric=metric, errored="wrong", unscored="wrong", **cut))
        some = only(quietly(path, metric=metric, errored="wrong", unscored="drop", **cut))
        found, of_errored, of_all = (per_prompt(as_counts(results)) for results in (dropped, some, kept))
        assert set(found) == {row["prompt_id"] for row in rows}, said
        for row in rows:
            prompt, n = row["prompt_id"], int(row["n"])
            errored, unscored = int(row["n_errored"]), int(row["n_unscored"])
            assert found[prompt][0] == n, (said, prompt)
            assert of_errored[prompt][0] == n + errored, (said, prompt)
            assert of_all[prompt][0] == n + errored + unscored, (said, prompt)
            assert found[prompt][1] == of_errored[prompt][1] == of_all[prompt][1], (said, prompt)
            if row["c"]:
                assert found[prompt][1] == int(row["c"]), (said, prompt)
            if isinstance(dropped, Counts):
                assert found[prompt][1] == pytest.approx(float(row["score_sum"]))
                continue
            inside = dropped.prompt == prompt
            order = np.argsort(dropped.generation[inside], kind="stable")
            scores = (dropped.correct if dropped.score is None else dropped.score)[inside][order]
            assert np.nansum(scores) == pytest.approx(float(row["score_sum"]), abs=1e-8), (said, prompt)
            if row["scores"]:
                listed = [math.nan if part in "EU" else float(part) for part in row["scores"].split(";")]
                np.testing.assert_allclose(scores, listed, rtol=1e-8, atol=1e-9, err_msg=f"{said} {prompt}")


def test_every_sample_is_recognised_by_its_content(shared: Path) -> None:
    with (shared / "formats" / "sniff_expected.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {row["path"]: kind_of_file(shared / "formats" / row["path"]) for row in rows}
    assert found == {row["path"]: row["format"] for row in rows}
