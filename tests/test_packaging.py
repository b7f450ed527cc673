"""What is shipped, and that the files around the code say the same as the code."""

from __future__ import annotations

import csv
import filecmp
import gzip
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

import pytest

import bayeseval

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "bayeseval" / "_data"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODELS = {path.name for path in (ROOT / "models").glob("*.py")}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """Names of the files in the wheel and, below its top folder, in the sdist; both built from this tree."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        in_wheel = set(wheel.namelist())
    with tarfile.open(next(folder.glob("*.tar.gz"))) as sdist:
        in_sdist = {name.partition("/")[2] for name in sdist.getnames()}
    return in_wheel, in_sdist


def test_wheel_holds_models_and_data_and_nothing_but_the_package(archives: tuple[set[str], set[str]]) -> None:
    wheel, _ = archives
    inside = {name for name in wheel if not re.match(r"bayeseval-[^/]+\.dist-info/", name)}
    assert {Path(name).name for name in inside if name.startswith("bayeseval/_models/")} >= MODELS
    assert "bayeseval/py.typed" in inside
    assert {name for name in inside if name.startswith("bayeseval/_data/")} == {
        path.relative_to(ROOT).as_posix() for path in DATA.rglob("*") if path.is_file()
    }
    assert {name.partition("/")[0] for name in inside} == {"bayeseval"}
    assert not [name for name in wheel if "__pycache__" in name]


def test_wheel_carries_the_licences(archives: tuple[set[str], set[str]]) -> None:
    wheel, _ = archives
    licences = {name.partition("/licenses/")[2] for name in wheel if "/licenses/" in name}
    assert licences == {"LICENSE", "bayeseval/_data/matharena-aime2025/LICENSE-MIT"}


def test_sdist_holds_what_is_needed_to_build_and_to_test(archives: tuple[set[str], set[str]]) -> None:
    _, sdist = archives
    assert {f"models/{name}" for name in MODELS} <= sdist
    assert {"README.md", "LICENSE", "Makefile", "constraints.txt", "tests/conftest.py", "docs/conf.py"} <= sdist


@pytest.mark.parametrize("folder", sorted(path.name for path in DATA.iterdir()))
def test_shipped_data_name_their_source_and_licence(folder: str) -> None:
    text = (DATA / folder / "README.md").read_text(encoding="utf-8")
    assert re.search(r"`[0-9a-f]{40}`", text), "the commit that the data were taken from"
    assert re.search(r"Apache License|MIT licence", text)
    assert "## Changes made" in text


@pytest.mark.parametrize("path", sorted(path.relative_to(DATA) for path in DATA.rglob("*.csv*")), ids=str)
def test_shipped_data_are_those_of_the_source(path: Path, shared: Path) -> None:
    assert filecmp.cmp(DATA / path, shared / "data" / path, shallow=False)


def test_shipped_outcomes_sum_to_the_shipped_counts() -> None:
    folder = DATA / "aime24-50"
    generations: Counter[tuple[str, str]] = Counter()
    correct: Counter[tuple[str, str]] = Counter()
    with gzip.open(folder / "outcomes.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["model"], row["prompt_id"]
            generations[key] += 1
            correct[key] += int(row["correct"])
    with (folder / "counts.csv").open(encoding="utf-8", newline="") as file:
        counts = {(row["model"], row["prompt_id"]): (int(row["n"]), int(row["c"])) for row in csv.DictReader(file)}
    assert counts == {key: (generations[key], correct[key]) for key in generations}


def test_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    cited, logged = re.search(r"^version: (\S+)$", citation, re.MULTILINE), re.search(r"^## (\S+)", changelog, re.M)
    assert cited and logged
    assert {bayeseval.__version__, cited[1], logged[1]} == {PROJECT["version"]}


def test_constraints_pin_every_dependency_by_name_and_version() -> None:
    pins: dict[str, set[str]] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        found = re.fullmatch(r'([a-z0-9-]+)==[\w.]+(?: ; python_version (<|>=) "3\.12")?', line)
        assert found, f"{line!r} is no pin by name and version"
        pins.setdefault(found[1], set()).update([found[2]] if found[2] else ["<", ">="])
    extras = PROJECT["optional-dependencies"]
    wanted = [
        *PROJECT["dependencies"],
        *(name for extra in extras.keys() - {"cuda", "embed", "hf"} for name in extras[extra]),
    ]
    names = {re.split(r"[\[<>=;! ]", requirement)[0] for requirement in wanted} - {"bayeseval"}
    assert {name for name in names if pins.get(name) != {"<", ">="}} == set()


def test_no_machine_path_or_registry_address_is_committed() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the tree is no git checkout")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    home = re.compile(r"/(root|home|work)/|pypi[.]org|--(extra-)?index[-]url")  # written so as not to match itself
    guilty = []
    for name in filter(None, tracked.split("\0")):
        path = ROOT / name
        if path.suffix not in {".gz", ".png", ".npz", ".parquet", ".nc"} and path.is_file():
            guilty += [name] if home.search(path.read_text(encoding="utf-8")) else []
    assert not guilty


def test_console_script_runs_from_any_folder(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("bayeseval")
    if not script.is_file():
        pytest.skip("bayeseval is on the path but not installed in this environment")
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    answer = subprocess.run([script, "--help"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    for command in ("fit", "plan", "report", "models", "demo"):
        assert re.search(rf"\b{command}\b", answer.stdout), f"`bayeseval --help` does not list {command}"
