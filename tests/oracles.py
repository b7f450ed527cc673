"""Rows of ../shared/oracles/formulas.csv, for tests that are parametrised over them."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest

from tests.conftest import SHARED


def oracle_rows(*quantities: str) -> list[Any]:
    """Parameters (quantity, inputs, value) of these quantities; one skipped parameter where the file is absent."""
    path = SHARED / "oracles" / "formulas.csv"
    if not path.is_file():
        reason = "the folder ../shared with real data and oracles is not beside this checkout"
        return [pytest.param(quantities[0], {}, None, marks=pytest.mark.skip(reason=reason))]
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if row["quantity"] in quantities]
    assert {row["quantity"] for row in rows} == set(quantities)
    return [
        pytest.param(row["quantity"], json.loads(row["inputs"]), json.loads(row["value"]), id=f"{row['quantity']}-{i}")
        for i, row in enumerate(rows)
    ]
