"""Commands as tests run them: what they print, and how they refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from bayeseval.cli import app
from bayeseval.reporting import schema


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def document(result: Any, status: int = 0) -> Any:
    """The one JSON document on standard output, checked against the public schema."""
    assert result.exit_code == status, result.stderr
    record = json.loads(result.stdout)
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema checks the public schema")
    jsonschema.Draft202012Validator(schema()).validate(record)
    return record


def complaint(result: Any) -> str:
    """The sentence of a command that refused: one line on standard error, and nothing on standard output."""
    assert result.exit_code == 2
    assert result.stdout == "" and "Traceback" not in result.stderr
    (line,) = [line for line in result.stderr.splitlines() if not line.startswith("bayeseval: ")]
    assert line.startswith("error: ")
    return str(line.removeprefix("error: "))
