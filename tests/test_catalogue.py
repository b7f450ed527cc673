"""Model files: finding, copying, checking; a user's own file takes the same road as a built-in one."""

from __future__ import annotations

import re

import numpy as np
import pytest

import bayeseval as be
from bayeseval.catalogue import load_model, model_folder
from bayeseval.model_data import BLOCKS

SOURCE = (model_folder() / "beta_binomial.py").read_text()


def variant(tmp_path, old, new):
    """A changed copy of the default model."""
    assert old in SOURCE
    path = tmp_path / "mine.py"
    path.write_text(SOURCE.replace(old, new))
    return path


LONG = {"coupled_plackett"}
"""Models whose program takes a minute to compile."""
MODELS = [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in sorted(be.models())]


@pytest.mark.parametrize("name", MODELS)
def test_every_built_in_model_follows_the_protocol(name):
    check = be.check_model(name)
    assert check.ok, repr(check)


def test_the_catalogue_is_the_folder():
    assert set(be.models()) == {path.stem for path in model_folder().glob("*.py") if not path.name.startswith("_")}
    assert "Beta-binomial" in repr(be.models())
    assert "beta_binomial" in be.models()._repr_html_()


def test_the_template_is_a_whole_model_that_stands_in_no_list(tmp_path):
    assert "_template" not in be.models()
    path = be.copy_model("_template", tmp_path / "mine.py")
    check = be.check_model(path)
    assert check.ok, repr(check)
    model = load_model(path)
    assert set(model.module.SENSITIVITY) <= set(model.prior())
    with pytest.raises(be.BayesevalError, match="no model named 'template'.*beta_binomial") as refused:
        load_model("template")
    assert "_template" not in str(refused.value).partition("the built-in ones are")[2].partition(";")[0]


def test_the_template_tells_of_everything_that_a_model_file_may_hold():
    text = (model_folder() / "_template.py").read_text()
    for name in ("PRIOR", "DATA", "FAMILY", "SENSITIVITY", "NUTS", "QUADRATURE", *map(repr, BLOCKS)):
        assert name.replace("'", '"') in text
    for path in model_folder().glob("*.py"):
        declared = re.findall(r"^([A-Z]+)\b.* = ", path.read_text(), re.MULTILINE)
        assert set(declared) - {"NODES"} <= set(re.findall(r"\b[A-Z]+\b", text)), f"{path.name} has an unknown name"


def test_a_copied_model_fits_alike_and_a_changed_prior_moves_it(tmp_path):
    counts = be.Counts.from_arrays([0, 1, 4, 4], [4] * 4)
    path = be.copy_model("beta_binomial", tmp_path / "mine.py")
    same = be.fit(counts, model=path, engine="quadrature", progress=False)
    default = be.fit(counts, engine="quadrature", progress=False)
    assert same.mean().value == default.mean().value
    assert same.model.name == "mine"
    path.write_text(SOURCE.replace('PRIOR = {"mu": (1.0, 1.0)', 'PRIOR = {"mu": (1.0, 30.0)'))
    assert be.fit(counts, model=path, engine="quadrature", progress=False).mean().value < default.mean().value


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("return model", "return None", "must return a pm.Model, but it returned NoneType"),
        ("import pymc as pm", "import no_such_package as pm", "build() raised ModuleNotFoundError"),
        ("def build(data, prior=PRIOR)", "def build(stuff)", "build must take (data, prior)"),
        ("def prompt_distribution", "def other", "must define a function prompt_distribution(draws)"),
        ('pm.Potential("counts", ', "(", "does not depend on the data"),
        ("pm.Data(name, values)", 'pm.Data("my_" + name, values)', "must carry the names and values of the data"),
        ("PRIOR = {", "OTHER = {", "must define PRIOR"),
        ('beta(draws["mu"], draws["rho"])', 'draws["nu"]', "prompt_distribution() raised KeyError"),
        ('beta(draws["mu"], draws["rho"])', "1", "must return a PromptDistribution"),
        ('beta(draws["mu"], draws["rho"])', 'beta(draws["mu"][:3], draws["rho"][:3])', "got 50 draws but gave 3"),
        ('beta(draws["mu"], draws["rho"])', 'beta(draws["mu"] + 1, draws["rho"])', "in [0, 1]"),
        ('pm.Beta("rho", *prior["rho"])', 'pm.Uniform("rho", 0, 0.5)', "QUADRATURE is declared, but"),
        ("from bayeseval.prompts import beta", "from bayeseval.prompts import beta(", "SyntaxError"),
    ],
)
def test_a_wrong_model_file_gets_a_sentence(tmp_path, old, new, message):
    path = variant(tmp_path, old, new)
    if old == "PRIOR = {":
        path.write_text(path.read_text().replace("prior=PRIOR", "prior=OTHER"))
    check = be.check_model(path)
    assert not check
    assert message in check.problem
    assert str(path) in check.problem


def test_fit_refuses_a_wrong_model_file_with_the_same_sentence(tmp_path):
    path = variant(tmp_path, "return model", "return None")
    with pytest.raises(be.BayesevalError, match="must return a pm.Model"):
        be.fit(be.Counts.from_arrays([1], [2]), model=path, progress=False)


def test_unknown_models_are_refused_with_the_known_ones(tmp_path):
    with pytest.raises(be.BayesevalError, match="the built-in ones are beta_binomial"):
        load_model("betabinomial")
    with pytest.raises(be.BayesevalError, match="there is no model file"):
        load_model(tmp_path / "none.py")
    with pytest.raises(be.BayesevalError, match="must be a name or a path"):
        load_model(3)


def test_copying_never_overwrites_unasked(tmp_path):
    path = be.copy_model("beta_binomial", tmp_path / "mine.py")
    with pytest.raises(be.BayesevalError, match="exists already"):
        be.copy_model("beta_binomial", path)
    be.copy_model("beta_binomial", path, overwrite=True)
    with pytest.raises(be.BayesevalError, match="must end in .py"):
        be.copy_model("beta_binomial", tmp_path / "mine.txt")
    with pytest.raises(be.BayesevalError, match="cannot be written"):
        be.copy_model("beta_binomial", tmp_path / "no" / "mine.py")


def test_the_exact_engine_refuses_models_that_do_not_declare_it(tmp_path):
    path = variant(tmp_path, "QUADRATURE = True", "QUADRATURE = False")
    with pytest.raises(be.BayesevalError, match="the exact engine does not know model 'mine'"):
        be.fit(be.Counts.from_arrays([1], [2]), model=path, engine="quadrature", progress=False)


def test_prior_predictive_gives_the_numbers_of_theory_c():
    """Uniform defaults: E sigma = .262, P(U-shaped) = .575, P(c = 0) = .349, .286, .223 for k = 4, 10, 50."""
    summary = be.prior_predictive(draws=20_000, seed=1)
    means = {row.quantity: row.mean for row in summary.rows}
    assert means["mean of P(correct) over prompts"] == pytest.approx(0.5, abs=0.01)
    assert means["sd of P(correct) over prompts"] == pytest.approx(0.262, abs=0.004)
    assert means["probability of a U-shaped distribution"] == pytest.approx(0.575, abs=0.015)
    for k, value in ((4, 0.349), (10, 0.286), (50, 0.223)):
        assert means[f"P(no generation of {k} is correct)"] == pytest.approx(value, abs=0.01)
        assert means[f"P(all {k} are correct)"] == pytest.approx(value, abs=0.01)
    assert "prior of beta_binomial" in repr(summary)


def test_prior_predictive_follows_the_users_prior():
    summary = be.prior_predictive(prior={"mu": (2, 98)}, draws=2000)
    assert summary.rows[0].mean == pytest.approx(0.02, abs=0.003)
    assert np.isclose(summary.distribution.mean().mean(), summary.rows[0].mean)
