"""The command line: `fit`, `report` and `counts`, the commands that plan, compare, rank and look, `models` and `demo`.

Results go to standard output, progress and what was read to standard error. Each command is declared in `results`,
`planning`, `comparing`, `contrasting`, `preferring`, `mapping` or `builtin`, imported in the order in which the help
lists them, and hands its arguments to a module that does the work and loads heavy libraries.
"""

from __future__ import annotations

from bayeseval.cli import results  # isort: skip
from bayeseval.cli import planning  # isort: skip
from bayeseval.cli import comparing  # isort: skip
from bayeseval.cli import contrasting  # isort: skip
from bayeseval.cli import preferring  # isort: skip
from bayeseval.cli import mapping  # isort: skip
from bayeseval.cli import builtin  # isort: skip
from bayeseval.cli.program import app, main

__all__ = ["app", "builtin", "comparing", "contrasting", "main", "mapping", "planning", "preferring", "results"]
