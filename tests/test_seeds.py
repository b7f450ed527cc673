"""Seeds in logs are kept, and systems that share them are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeseval as be
from bayeseval.errors import DataError, OptionError
from bayeseval.seeds import systems_that_share
from tests.test_adding import inspect_log, quietly


def outcomes(
    system: str, seeds: Any, prompts: str = "ppq", benchmark: str = "b", numbers: Any = (0, 1, 0)
) -> be.Outcomes:
    return be.Outcomes(system, benchmark, list(prompts), list(numbers), [1] * len(prompts), seed=seeds)


def test_equal_seeds_are_counted_pair_by_pair() -> None:
    shared = be.shared_seeds(outcomes("x", [1, 2, 3]), outcomes("y", [1, 9, 3]))
    assert (shared.pairs, shared.known, shared.equal, shared.prompts) == (3, 3, 2, 2)
    assert "coupled by accident" in shared.explanation
    assert shared.to_frame().loc[0, "equal"] == 2


def test_counts_of_pairs_agree_with_brute_force() -> None:
    rng = np.random.default_rng(5)

    def some(name: str) -> tuple[be.Outcomes, dict[tuple[str, int], int]]:
        cells = {(f"p{rng.integers(6)}", int(rng.integers(4))): int(rng.integers(3)) for _ in range(20)}
        prompts, numbers = zip(*cells, strict=True)
        return be.Outcomes(name, "b", list(prompts), list(numbers), [1] * len(cells), seed=list(cells.values())), cells

    for _ in range(20):
        (a, of_a), (b, of_b) = some("a"), some("b")
        pairs = of_a.keys() & of_b.keys()
        equal = {key for key in pairs if of_a[key] == of_b[key]}
        shared = be.shared_seeds(a, b)
        assert (shared.pairs, shared.known, shared.equal) == (len(pairs), len(pairs), len(equal))
        seeds = [{(prompt, seed) for (prompt, _), seed in cells.items()} for cells in (of_a, of_b)]
        prompts = {prompt for prompt, _ in seeds[0] & seeds[1]}
        assert shared.prompts == len(prompts)
        told = systems_that_share(be.Outcomes.concat([a, b]))
        assert told == ([("b", ("a", "b"), len(prompts))] if prompts else [])


def test_numbers_and_texts_are_one_seed_and_one_generation() -> None:
    a, b = outcomes("x", [1, 2, 3]), outcomes("y", ["1", "2", "no"], numbers=("0", "1", "0"))
    assert be.shared_seeds(a, b).equal == 2


def test_seeds_are_shared_whatever_the_numbers_of_generations() -> None:
    shared = be.shared_seeds(outcomes("x", [1, 2, 3]), outcomes("y", [2, 1, 4]))
    assert (shared.equal, shared.prompts) == (0, 1) and "share seeds on 1 prompt" in shared.explanation
    none = be.shared_seeds(outcomes("x", [1, 2, 3]), outcomes("y", [1, 2, 3], prompts="uuv"))
    assert none.pairs == 0 and "no generation of the same prompt" in none.explanation


def test_unknown_seeds_are_not_equal() -> None:
    a, b = outcomes("x", [None, "2", "3"]), outcomes("y", [None, "2", None])
    shared = be.shared_seeds(a, b)
    assert (shared.pairs, shared.known, shared.equal) == (3, 1, 1)
    none = be.shared_seeds(outcomes("x", None), outcomes("y", [1, 2, 3]))
    assert (none.known, none.equal) == (0, 0) and "not known" in none.explanation


def test_what_is_no_pair_is_refused() -> None:
    a = outcomes("x", [1, 2, 3])
    with pytest.raises(OptionError, match="one run"):
        be.shared_seeds(a, be.Counts.from_arrays([1], 2))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="one run"):
        be.shared_seeds(a, be.Outcomes.concat([a, outcomes("y", None)]))
    with pytest.raises(DataError, match="benchmarks differ"):
        be.shared_seeds(a, outcomes("y", None, benchmark="c"))


def test_inspect_logs_with_one_seed_are_told(tmp_path: Path) -> None:
    one = inspect_log(tmp_path / "a.json", {"p": ["C", "I"]}, seed=42)
    two = inspect_log(tmp_path / "b.json", {"p": ["C", "C"]}, seed=42, model="acme/other")
    other = inspect_log(tmp_path / "c.json", {"p": ["C", "C"]}, seed=7, model="acme/third")
    both = quietly([one, two, other])
    assert set(both.seed.tolist()) == {42, 7}
    (line,) = [line for line in both.account if "share seeds" in line]
    assert "acme/toy and acme/other" in line and "third" not in line and "1 prompt of sums" in line
    assert not any("share seeds" in line for line in quietly([one, other]).account)


def lm_eval(folder: Path, model: str, config: dict[str, Any]) -> Path:
    folder.mkdir()
    date = "2026-01-01T00-00-00.000001"
    record = {"doc_id": 0, "resps": [["1"]], "filtered_resps": ["1"], "filter": "none", "metrics": ["acc"], "acc": 1.0}
    (folder / f"samples_sums_{date}.jsonl").write_text(json.dumps(record) + "\n")
    (folder / f"results_{date}.json").write_text(json.dumps({"results": {}, "model_name": model, "config": config}))
    return folder / f"samples_sums_{date}.jsonl"


@pytest.mark.parametrize(
    ("config", "seed"),
    [
        ({"model": "hf", "model_args": "pretrained=x", "torch_seed": 1234}, 1234),
        ({"model": "hf", "model_args": {"pretrained": "x", "seed": 7}, "torch_seed": 1234}, 7),
        ({"model": "vllm", "model_args": "pretrained=x,seed=8,dtype=auto", "torch_seed": 1234}, 8),
        ({"model": "vllm", "model_args": "", "gen_kwargs": {"seed": 9}}, 9),
        ({"model": "local-completions", "model_args": "", "random_seed": 0, "torch_seed": 1234}, None),
        (None, None),
    ],
)
def test_lm_eval_tells_the_seed_of_generations(tmp_path: Path, config: Any, seed: int | None) -> None:
    found = quietly(lm_eval(tmp_path / "a", "acme/toy", config)).seed
    assert (None if found is None else found.tolist()) == (None if seed is None else [seed])


def test_promptfoo_tells_the_seed_of_a_provider(tmp_path: Path) -> None:
    results = [
        {"testIdx": i, "promptIdx": 0, "provider": {"id": name}, "vars": {"q": "1"}, "success": True, "score": 1}
        for i, name in enumerate(("one", "two"))
    ]
    config = {"providers": [{"id": "one", "config": {"seed": 3}}, "two"]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"evalId": "e", "config": config, "results": {"results": results}}))
    assert quietly(path).seed.tolist() == ["3", None]


def test_real_trials_keep_their_seeds(shared: Path) -> None:
    found = quietly(
        shared / "formats" / "tau2_bench" / "acme_toy-agent-1b_mock_4trials.json", errored="wrong", unscored="drop"
    )
    assert found.seed is not None and len(set(found.seed.tolist())) == 4
