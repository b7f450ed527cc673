"""NUTS programs: agreement with exact quadrature, reproducibility, caching, and what they leave untouched."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import bayeseval as be
from bayeseval.catalogue import load_model
from bayeseval.engines import programs, sampling
from bayeseval.engines.records import NutsSettings
from bayeseval.model_data import ModelData

CASES = {
    "ordinary": ([3, 0, 4, 2, 4, 1, 0, 4], [4] * 8),
    "ragged": ([3, 0, 40, 2, 4, 1, 0, 0], [4, 9, 50, 7, 4, 3, 2, 0]),
    "all correct": ([16] * 20, [16] * 20),
    "all wrong": ([0] * 20, [16] * 20),
    "one generation": ([1, 0, 1, 1, 0, 1], [1] * 6),
    "one prompt": ([3], [10]),
    "ten thousand generations": ([120, 0, 9_000, 5_000, 1, 33], [10_000] * 6),
}


@pytest.mark.parametrize("case", CASES)
def test_nuts_agrees_with_exact_quadrature(case):
    correct, generations = CASES[case]
    post = be.fit(be.Counts.from_arrays(correct, generations), seed=11, progress=False)
    diagnostics = post.check().diagnostics
    assert diagnostics.distance < 4.5
    assert max(row["rhat"] for row in diagnostics.table.values()) < 1.01
    assert min(row["ess_bulk"] for row in diagnostics.table.values()) > 1000
    assert diagnostics.divergences == 0
    assert set(diagnostics.table) == {"mu", "rho", "sigma"}


def test_same_seed_gives_the_same_draws_and_another_seed_does_not():
    counts = be.Counts.from_arrays(*CASES["ordinary"])
    first, again, other = (be.fit(counts, seed=seed, progress=False).parameters["mu"] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_run_is_sampled_alike_alone_and_beside_others():
    parts = [be.Counts.from_arrays(*CASES["ordinary"], system="a"), be.Counts.from_arrays(*CASES["ragged"], system="b")]
    alone = be.fit(parts[0], seed=5, progress=False)
    together = be.fit(be.Counts.concat(parts), seed=5, progress=False)
    assert np.array_equal(alone.parameters["rho"], together[0].parameters["rho"])


def test_vectorised_chains_sample_the_same_posterior():
    counts = be.Counts.concat(
        [be.Counts.from_arrays(*CASES["ordinary"], system="a"), be.Counts.from_arrays(*CASES["one prompt"], system="b")]
    )
    posts = be.fit(counts, seed=3, vectorised=True, tune=500, draws=500, chains=2, progress=False)
    assert all(post.check().diagnostics.distance < 4.5 for post in posts)


def test_data_of_one_padded_shape_share_a_program():
    counts = be.Counts.from_arrays(*CASES["ordinary"])
    be.fit(counts, seed=1, progress=False)
    size = len(programs._in_memory)
    be.fit(be.Counts.from_arrays([0, 1, 2] * 300, [4] * 900), seed=1, progress=False)
    assert len(programs._in_memory) == size


def test_a_program_from_disk_needs_neither_pymc_nor_numpyro(tmp_path):
    code = (
        "import sys, bayeseval as be\n"
        "post = be.fit(be.Counts.from_arrays([3, 0, 4], [4, 4, 4]), seed=1, progress=False)\n"
        "print('pymc' in sys.modules, 'numpyro' in sys.modules, post.parameters['mu'].sum())\n"
    )
    environment = {**__import__("os").environ, "BAYESEVAL_CACHE": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first.startswith("True True ")
    assert second == first.replace("True True", "False False")


def test_half_written_programs_are_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESEVAL_CACHE", str(tmp_path))
    monkeypatch.setattr(programs, "_in_memory", {})
    counts = be.Counts.from_arrays(*CASES["ordinary"])
    first = be.fit(counts, seed=1, draws=250, tune=250, chains=1, progress=False).parameters["mu"]
    for file in (tmp_path / "programs").rglob("*.stablehlo"):
        file.write_bytes(file.read_bytes()[:100])
    monkeypatch.setattr(programs, "_in_memory", {})
    again = be.fit(counts, seed=1, draws=250, tune=250, chains=1, progress=False).parameters["mu"]
    assert np.array_equal(first, again)


def test_an_unwritable_cache_is_no_reason_to_fail(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("BAYESEVAL_CACHE", str(file))
    monkeypatch.setattr(programs, "_in_memory", {})
    counts = be.Counts.from_arrays(*CASES["ordinary"])
    assert be.fit(counts, seed=1, draws=250, tune=250, chains=1, progress=False).n_draws == 250


def test_the_global_precision_of_jax_is_left_as_it_was():
    import jax

    for precision in (True, False):
        jax.config.update("jax_enable_x64", precision)
        try:
            post = be.fit(be.Counts.from_arrays(*CASES["ragged"]), seed=1, draws=100, progress=False)
            assert jax.config.jax_enable_x64 is precision
            assert post.parameters["mu"].dtype == np.float64
        finally:
            jax.config.update("jax_enable_x64", False)
    assert jax.numpy.ones(1).dtype == np.float32


def test_draws_need_not_be_a_multiple_of_a_chunk():
    settings = {"draws": 123, "tune": 250, "chains": 1, "importance": False}
    post = be.fit(be.Counts.from_arrays(*CASES["ordinary"]), seed=1, progress=False, **settings)
    assert post.parameters["mu"].shape == (1, 123)
    assert post.statistics["diverging"].shape == (1, 123)


@pytest.mark.parametrize("sampler", ["pymc", "nutpie", "blackjax"])
def test_other_samplers_agree_with_exact_quadrature(sampler):
    if sampler != "pymc":
        pytest.importorskip(sampler)
    counts = be.Counts.from_arrays(*CASES["ordinary"])
    post = be.fit(counts, seed=2, sampler=sampler, draws=500, tune=500, chains=2, progress=False)
    assert post.check().diagnostics.distance < 4.5
    assert post.provenance["sampler"] == sampler


def test_an_interrupt_keeps_whole_runs_only(monkeypatch):
    counts = be.Counts.concat(
        [be.Counts.from_arrays(*CASES["ordinary"], system=name, benchmark="b") for name in ("a", "b", "c")]
    )
    original = sampling._collect
    seen = []

    def interrupted(*arguments):
        seen.append(1)
        if len(seen) > 9:  # four chains to a run: in the midst of the third
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(sampling, "_collect", interrupted)
    with pytest.warns(UserWarning, match="2 of 3 runs are fitted"):
        posts = be.fit(counts, seed=1, draws=250, progress=False)
    assert [post.system for post in posts] == ["a", "b"]


def test_an_interrupt_before_the_first_run_is_passed_on(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(sampling, "_collect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        be.fit(be.Counts.from_arrays(*CASES["ordinary"]), seed=1, draws=250, progress=False)


def test_settings_out_of_range_are_refused_in_a_sentence():
    for change, message in (
        ({"draws": 0}, "draws must be a whole number"),
        ({"chains": 1.5}, "chains must be a whole number"),
        ({"target_accept": 1.2}, "target_accept must lie strictly between 0 and 1"),
        ({"sampler": "stan"}, "sampler must be one of 'numpyro', 'nutpie', 'blackjax', 'pymc'"),
        ({"engine": "vi"}, "engine must be one of 'nuts', 'quadrature'"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"prior": {"tau": (1, 1)}}, "has no prior named 'tau'; it has mu, rho"),
        ({"prior": {"mu": (1, 1, 1)}}, "takes 2 finite numbers"),
    ):
        with pytest.raises(be.BayesevalError, match=message):
            be.fit(be.Counts.from_arrays([1], [2]), progress=False, **change)


def test_sample_yields_every_run_once():
    model = load_model()
    data = [ModelData(np.array([1, 2]), np.array([4, 100])), ModelData(np.array([1]), np.array([4]))]
    settings = NutsSettings(draws=50, tune=250, chains=1)
    indices = [index for index, _ in sampling.sample(model, model.prior(), data, 0, settings, progress=False)]
    assert sorted(indices) == [0, 1]
