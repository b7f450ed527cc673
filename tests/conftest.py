"""Fixtures that many tests use."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# One cache of compiled programs for all workers and repeated runs, apart from the user's own.
os.environ.setdefault("BAYESEVAL_CACHE", str(Path(tempfile.gettempdir()) / f"bayeseval-tests-{sys.version_info.minor}"))

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of real data and oracles beside the checkout; the test is skipped where it is absent."""
    if not (SHARED / "oracles" / "formulas.csv").is_file():
        pytest.skip("the folder ../shared with real data and oracles is not beside this checkout")
    return SHARED


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    """Close what a test has drawn: pyplot warns of more than 20 figures, and a worker runs many tests."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
