"""Configuration of the documentation: `make docs` builds it and runs every notebook once, with warnings as errors."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
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


def page_of_command_line() -> str:
    """What `bayeseval --help` says, for the program and each of its commands."""
    program = Path(sys.executable).with_name("bayeseval")
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}

    def help_of(*command: str) -> str:
        answer = subprocess.run([program, *command, "--help"], env=environment, capture_output=True, text=True)
        if answer.returncode:
            raise RuntimeError(f"bayeseval {' '.join(command)} --help failed: {answer.stderr}")
        return "\n".join(line.rstrip() for line in answer.stdout.strip().splitlines())

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
    shutil.copytree(ROOT / "notebooks", GENERATED / "notebooks", ignore=shutil.ignore_patterns("*.ipynb", ".*", "__*"))


write_pages()
exclude_patterns.append("_generated/cli.md")  # included by cli.md
