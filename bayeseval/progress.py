"""A progress bar for long work, in a terminal and in a notebook."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from types import TracebackType
from typing import Any

__all__ = ["Progress"]


class Progress:
    """A bar that appears only when the work lasts, and never when it is switched off.

    Parameters
    ----------
    description : str
        What is going on.
    total : int
        Number of steps.
    enabled : bool
        Whether to show anything.
    patience : float
        Seconds of work before the bar appears.

    Examples
    --------
    >>> from bayeseval.progress import Progress
    >>> with Progress("counting", total=3, enabled=False) as bar:
    ...     for _ in range(3):
    ...         bar.advance()
    """

    def __init__(self, description: str, total: int, *, enabled: bool = True, patience: float = 0.4) -> None:
        self.description, self.total, self.enabled = description, total, enabled
        self._deadline = time.perf_counter() + patience
        self._done = 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, steps: int = 1) -> None:
        """Say that some steps are done."""
        self._done += steps
        if self._bar is None and self.enabled and time.perf_counter() > self._deadline and self._done < self.total:
            self.show()
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self.description)

    def describe(self, description: str) -> None:
        """Change the text beside the bar."""
        self.description = description
        if self._bar is not None:
            self._bar.update(self._task, description=description)

    def show(self) -> None:
        """Make the bar appear now."""
        if not self.enabled or self._bar is not None:
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        console = Console(stderr=True)
        if console.is_jupyter and find_spec("ipywidgets") is None:
            # Rich draws its bar with widgets there; without them a line of text is better than a warning.
            self.enabled = False
            print(f"{self.description} (a progress bar needs: pip install ipywidgets)", file=sys.stderr)
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = RichProgress(*columns, console=console, transient=False)
        self._task = self._bar.add_task(self.description, total=self.total, completed=self._done)
        self._bar.start()
