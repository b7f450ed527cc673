"""Resolve the newest versions that fit pyproject.toml and print them as constraints.txt.

Usage: python scripts/pin.py python3.11 python3.12 > constraints.txt

The two interpreters are the oldest of each generation of dependencies, so that what fits them fits younger ones too.
Nothing is installed: pip resolves the project with all its extras but `cuda` and `embed`, and only names and versions
are kept.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = """\
# The versions that bayeseval is tested with, for `pip install -c constraints.txt`.
# Python 3.11 has the generation PyMC 5 / JAX 0.10, Python 3.12 and later PyMC 6 / JAX 0.12.
# Made by `make constraints`.
"""


def resolve(python: str) -> dict[str, str]:
    """Versions by package name that pip would install for this interpreter."""
    command = [python, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    answer = subprocess.run([*command, f"{ROOT}[dev,notebook]"], check=True, capture_output=True, text=True)
    packages = [entry["metadata"] for entry in json.loads(answer.stdout)["install"]]
    versions = {re.sub(r"[-_.]+", "-", package["name"]).lower(): package["version"] for package in packages}
    del versions["bayeseval"]
    return versions


def lines(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Requirement lines, marked with the Python they hold for where the two differ."""
    pins = []
    for name in sorted(old | new):
        if old.get(name) == new.get(name):
            pins.append(f"{name}=={old[name]}")
            continue
        pins += [f'{name}=={old[name]} ; python_version < "3.12"'] if name in old else []
        pins += [f'{name}=={new[name]} ; python_version >= "3.12"'] if name in new else []
    return pins


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(HEADER + "\n".join(lines(resolve(sys.argv[1]), resolve(sys.argv[2]))))
