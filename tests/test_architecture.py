"""The shape of the house: which module may import which, what is public, and what importing bayeseval loads."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import bayeseval

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "bayeseval"

# From the bottom to the top. A room is a module of the package or a folder of modules; imports run downwards or within
# a floor. A new module must be given its place here.
FLOORS = [
    {
        "_compat",
        "_version",
        "arrays",
        "counts",
        "credit_data",
        "credit_tables",
        "credits",
        "defaults",
        "display",
        "errors",
        "files",
        "likelihoods",
    }
    | {"model_data", "outcomes", "pair_data", "pairs", "progress", "readers", "seeds"},
    {"datasets", "estimators", "metrics", "prompts"},
    {"catalogue", "engines", "model_file"},
    {"comparison", "conformance", "fitting", "intervals", "posterior", "priors", "updating"},
    {"calibration", "consistency", "contrasts", "coupling", "planning", "preferences"},
    {"plots"},
    {"reporting"},
    {"cli"},
]
FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor}
TOP = "__init__"
# `result.plot()` is a method for convenience: the drawing itself stays above everything that is drawn, and is imported
# when the method is called. No other upward import is allowed anywhere.
DRAWN_ON_CALL = "plots"

PUBLIC = {
    "BayesevalError",
    "Cost",
    "Counts",
    "CreditPosterior",
    "Credits",
    "DataMap",
    "Looks",
    "Outcomes",
    "PairPosterior",
    "Pairs",
    "Posterior",
    "Posteriors",
    "Preferences",
    "Stacked",
    "allocate",
    "SystemGuess",
    "calibrate",
    "check_model",
    "compare_decoding",
    "compare_intervals",
    "compare_models",
    "contrast",
    "copy_model",
    "coupled_savings",
    "coupling",
    "credit_moments",
    "data_map",
    "example",
    "fit",
    "frontier",
    "load",
    "loo",
    "metric_estimates",
    "metrics",
    "models",
    "moments",
    "options",
    "pilot_from_prior",
    "pilot_from_published",
    "plan",
    "plan_contrast",
    "plan_order",
    "plots",
    "prior_predictive",
    "prior_sensitivity",
    "rank",
    "rank_preferences",
    "read",
    "read_verdicts",
    "report",
    "score_bounds",
    "shared_noise",
    "shared_seeds",
    "stop_anytime",
    "stop_at_direction",
    "stop_at_width",
    "win_rates",
}
HEAVY = ["arviz", "jax", "matplotlib", "numpyro", "pandas", "polars", "pymc", "pytensor", "scipy.stats"]

FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = {".".join(("bayeseval", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in FILES}


class Import(NamedTuple):
    """An import of something in bayeseval: its full name, and whether it happens only when a function runs."""

    target: str
    lazy: bool
    line: int

    @property
    def room(self) -> str:
        """Module or folder right under the package; the package itself for what is no room, such as `be.fit`."""
        first = (self.target.split(".") + [TOP])[1]
        return first if first in FLOOR_OF else TOP


def imports(tree: ast.AST, lazy: bool = False) -> Iterator[Import]:
    """Find the imports of bayeseval in a file; those for type checkers alone are left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from imports(ast.Module(node.orelse, []), lazy)
            continue
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (Import(name, lazy, node.lineno) for name in names if name.split(".")[0] == "bayeseval")
        yield from imports(node, lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))


def imports_of(path: Path) -> list[Import]:
    return list(imports(ast.parse(path.read_text(encoding="utf-8"))))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def file_of(target: str) -> Path | None:
    """Return the file that holds an imported name: a module, or what a module or package defines."""
    for name in (target, f"{target}.__init__", *(target.rpartition(".")[0] + end for end in ("", ".__init__"))):
        if name in NAMES:
            return NAMES[name]
    return None


def test_every_module_has_a_floor() -> None:
    homeless = {room_of(path) for path in FILES} - FLOOR_OF.keys() - {TOP}
    assert not homeless, f"give {sorted(homeless)} a place in FLOORS"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_run_downwards(path: Path) -> None:
    own = len(FLOORS) if room_of(path) == TOP else FLOOR_OF.get(room_of(path), -1)
    upward = [
        f"line {found.line} imports {found.room} of floor {FLOOR_OF.get(found.room, len(FLOORS))}"
        for found in imports_of(path)
        if FLOOR_OF.get(found.room, len(FLOORS)) > own and not (found.room == DRAWN_ON_CALL and found.lazy)
    ]
    assert not upward, f"{path.name} is on floor {own}, but {'; '.join(upward)}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {path: {file_of(found.target) for found in imports_of(path) if not found.lazy} for path in FILES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"imports in a circle: {' -> '.join(path.stem for path in error.args[1])}")


def test_the_walk_over_imports_sees_what_it_should() -> None:
    source = """
import bayeseval.counts as c
from bayeseval import Counts
from bayeseval.engines import quadrature
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from bayeseval.cli import main
class Result:
    def plot(self):
        from bayeseval.plots import draw
"""
    assert [(found.room, found.lazy) for found in imports(ast.parse(source))] == [
        ("counts", False),
        (TOP, False),
        ("engines", False),
        ("plots", True),
    ]
    assert file_of("bayeseval.errors.BayesevalError") == file_of("bayeseval.errors") == PACKAGE / "errors.py"


def test_no_module_bears_the_name_of_a_public_function() -> None:
    # Importing such a module would put it in the place of the function.
    assert {room_of(path) for path in FILES} & PUBLIC <= {"coupling", "metrics", "plots"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_modules_stay_short(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 400, f"{path.name} has {lines} lines; look for the second noun"


def test_import_loads_no_heavy_library() -> None:
    program = f"import sys, bayeseval; print([name for name in {HEAVY!r} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_public_names_are_these() -> None:
    assert set(bayeseval.__all__) - {"__version__"} == PUBLIC
    assert set(dir(bayeseval)) >= PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_are_explained_by_an_example(name: str) -> None:
    thing = getattr(bayeseval, name)
    text = inspect.getdoc(thing) or ""
    assert text, f"bayeseval.{name} has no docstring"
    if inspect.ismodule(thing) or (isinstance(thing, type) and issubclass(thing, BaseException)):
        return  # what is in the module has examples, and an error is shown by what raises it
    assert re.search(r"^Examples\n-+$", text, re.MULTILINE), f"bayeseval.{name} has no Examples section"
    assert ">>>" in text, f"the Examples section of bayeseval.{name} has nothing to run"


def test_api_page_names_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^ +(\w+)$", page, re.MULTILINE))
    assert listed == PUBLIC
