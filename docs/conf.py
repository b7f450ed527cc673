"""Configuration of the documentation: `make docs` builds it and runs every notebook once, with warnings as errors."""

from __future__ import annotations

import ast
import csv
import gzip
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bayeseval

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
GENERATED = HERE / "_generated"

project = "bayeseval"
author = "The bayeseval contributors"
project_copyright = author
version = release = bayeseval.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "numpydoc",
    "myst_nb",
]
templates_path = ["_templates"]
exclude_patterns = ["conf.py", "_templates"]

html_theme = "furo"
html_title = f"bayeseval {release}"
html_show_sphinx = False

# Names in single backticks are Python objects where there is one, and code where there is none.
default_role = "py:obj"
autodoc_typehints = "none"  # numpydoc sections say types, with shapes and units
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_exclude = ".linenos, .gp, .go"

# Notebooks are scripts in jupytext's percent format; a cell that raises fails the build.
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True


def page_of_model(path: Path) -> str:
    """Documentation page of a model file: its docstring, then the file."""
    story = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    title = f"``{path.stem}``"
    include = os.path.relpath(path, GENERATED / "models")
    return f"{title}\n{'=' * len(title)}\n\n{story}\n\nThe file\n--------\n\n.. literalinclude:: {include}\n"


PROGRAM = Path(sys.executable).with_name("bayeseval")

# Commands whose output is shown, and the exit status that each shall have; `transcripts` makes their files.
AIME = "aime24.csv --engine quadrature -q"
TRANSCRIPTS = {
    "plan": (f"plan {AIME} --system llama-3b-instruct-step800 --metric pass@4 --estimand benchmark --sd 0.008", 0),
    "published": ("plan --published 0.856,0.0068,1319,50 --system Llama --benchmark GSM8K --width 0.03 -q "
                  "--n-prompts 1319 --generations 1,2,4,8,16", 0),
    "frontier": (f"frontier {AIME} --system llama-3b-instruct-step800 --width 0.1 --prompt-cost 5 "
                 "--generation-cost 0.1 --unit $ --generations 1,2,4,8,16,32", 0),
    "allocate": (f"allocate {AIME} --system llama-3b-instruct-step800 --budget 200 --block 4 --out next.csv", 0),
    "plan-contrast": ("plan-contrast aime24.csv -q --a llama-3b-instruct-step800 --b llama-3b-instruct-step400 "
                      "--estimand benchmark --rope 0.01 --generations 50,75,100,200", 0),
    "plan-order": ("plan-order aime25.csv -q --benchmark AIME-2025-I --system DeepSeek-R1 --system 'o1 (medium)' "
                   "--system 'o3-mini (medium)' --estimand benchmark", 0),
    "looks": ("looks batch1.csv batch2.csv batch3.csv -q --system llama-3b-instruct-step800 --estimand benchmark "
              "--width 0.015 --most 1500", 3),
    "compare": ("compare aime25.csv -q --benchmark AIME-2025-I --a 'o3-mini (high)' --b DeepSeek-R1 --rope 0.02 "
                "--engine quadrature --power 0.8", 0),
    "rank": ("rank aime25.csv -q --benchmark AIME-2025-I", 0),
    "preferences": ("preferences votes.csv -q", 0),
    "map": ("map outcomes.csv.gz -q --top 3", 0),
}  # fmt: skip


def run_program(arguments: list[str], status: int = 0, folder: Path | None = None) -> str:
    """What the program prints."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    answer = subprocess.run(
        [PROGRAM, *arguments], env=environment, cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )
    if answer.returncode != status:
        raise RuntimeError(f"bayeseval {shlex.join(arguments)} ended with {answer.returncode}: {answer.stderr}")
    return "\n".join(line.rstrip() for line in answer.stdout.strip().splitlines())


def votes(counts: Path) -> str:
    """Comparisons of some systems on every prompt of AIME 2025 I: that one wins which was correct more often."""
    chosen = ("o3-mini (high)", "o3-mini (medium)", "DeepSeek-R1", "QwQ-32B-Preview", "gpt-4o")
    with counts.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["benchmark"] == "AIME-2025-I"]
    correct = {(row["model"], row["prompt_id"]): int(row["c"]) for row in rows}
    lines = ["model_a,model_b,winner,question_id"]
    for a, b in itertools.combinations(chosen, 2):
        for prompt in dict.fromkeys(row["prompt_id"] for row in rows):
            gap = correct[a, prompt] - correct[b, prompt]
            lines.append(f"{a},{b},{'model_a' if gap > 0 else 'model_b' if gap < 0 else 'tie'},{prompt}")
    return "\n".join(lines)


def transcripts() -> None:
    """Run commands on the data that come along, and write what a terminal shows."""
    target = GENERATED / "transcripts"
    target.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        data = Path(bayeseval.__file__).parent / "_data"
        shutil.copyfile(data / "aime24-50" / "counts.csv", folder / "aime24.csv")
        shutil.copyfile(data / "matharena-aime2025" / "counts.csv", folder / "aime25.csv")
        shutil.copyfile(data / "aime24-50" / "outcomes.csv.gz", folder / "outcomes.csv.gz")
        (folder / "votes.csv").write_text(votes(folder / "aime25.csv"), encoding="utf-8")
        with gzip.open(data / "aime24-50" / "outcomes.csv.gz", "rt", encoding="utf-8") as stream:
            head, *rows = stream.read().splitlines()
        for batch in range(3):  # ten generations of every prompt each
            kept = [row for row in rows if int(row.split(",")[3]) // 10 == batch]
            (folder / f"batch{batch + 1}.csv").write_text("\n".join([head, *kept]), encoding="utf-8")
        for name, (command, status) in TRANSCRIPTS.items():
            text = run_program(shlex.split(command), status, folder)
            page = f"```text\n$ bayeseval {command}\n{text}\n```\n"
            (target / f"{name}.md").write_text(page, encoding="utf-8")


def page_of_command_line() -> str:
    """What `bayeseval --help` says, for the program and each of its commands."""

    def help_of(*command: str) -> str:
        return run_program([*command, "--help"])

    def block(title: str, text: str) -> str:
        return f"## `{title}`\n\n```text\n{text}\n```\n"

    overview = help_of()
    listing = overview.partition("Commands")[2]
    commands = re.findall(r"^\W*([a-z][a-z-]*)  ", listing, re.MULTILINE)
    pages = [block("bayeseval", overview), *(block(f"bayeseval {name}", help_of(name)) for name in commands)]
    return "\n".join(pages)


def write_pages() -> None:
    """Write the pages that are made from the code, and copy the notebooks beside them."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    (GENERATED / "models").mkdir(parents=True)
    for path in sorted((ROOT / "models").glob("[!_]*.py")):
        (GENERATED / "models" / f"{path.stem}.rst").write_text(page_of_model(path), encoding="utf-8")
    (GENERATED / "cli.md").write_text(page_of_command_line(), encoding="utf-8")
    transcripts()
    shutil.copytree(ROOT / "notebooks", GENERATED / "notebooks", ignore=shutil.ignore_patterns("*.ipynb", ".*", "__*"))


write_pages()
exclude_patterns += ["_generated/cli.md", "_generated/transcripts/*"]  # included by cli.md
