"""tau-bench: a list of trials, each with ``task_id``, ``trial``, ``reward`` and ``traj``.

A run that crashed is stored with reward 0 and ``info.error``: it is errored, not wrong. The model is named by the
file, ``<model>-<domain>.json``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "tau-bench"


def sniff(peek: Peek) -> str | None:
    """A list of objects with ``task_id``, ``reward`` and ``traj`` or ``trial``."""
    keys = peek.item.keys()
    return "tau_bench" if {"task_id", "reward", "info"} <= keys and {"traj", "trial"} & keys else None


def samples(file: File) -> Iterator[Sample]:
    """One sample a trial."""
    system, _, domain = file.stem.rpartition("-")
    if domain not in ("airline", "retail", "telecom"):
        domain = next((name for name in ("airline", "retail", "telecom") if name in file.stem), NAME)
        system = file.stem
    for number, trial in enumerate(file.json(), 1):
        info = trial.get("info")
        errored = isinstance(info, dict) and bool(info.get("error"))
        yield Sample(
            trial.get("task_id"), {"reward": None if errored else _reward(trial["reward"])}, f"element {number}",
            trial.get("trial"), errored=errored, system=system, benchmark=domain,
        )  # fmt: skip


def _reward(value: Any) -> Any:
    """A reward within a millionth of 1 is a success, as the tool says itself."""
    return 1.0 if isinstance(value, (int, float)) and abs(value - 1) < 1e-6 else value
