"""The progress bar: silent when off or quick, on standard error, and without a warning where widgets are missing."""

from __future__ import annotations

import pytest

from bayeseval import progress
from bayeseval.progress import Progress


def test_nothing_is_shown_when_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("work", total=2, enabled=False, patience=0) as bar:
        bar.show()
        bar.advance(2)
    assert capsys.readouterr() == ("", "")


def test_quick_work_shows_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("work", total=3, patience=60) as bar:
        for _ in range(3):
            bar.advance()
    assert capsys.readouterr() == ("", "")


def test_long_work_shows_what_is_done_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("work", total=3, patience=-1) as bar:
        bar.advance()
        bar.describe("more work")
        bar.advance(2)
    output = capsys.readouterr()
    assert output.out == ""
    assert "more work" in output.err
    assert "3/3" in output.err


def test_a_notebook_without_widgets_gets_a_line_of_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    with Progress("work", total=3, patience=-1) as bar:
        bar.advance()
        bar.advance(2)
    assert capsys.readouterr().err == "work (a progress bar needs: pip install ipywidgets)\n"
