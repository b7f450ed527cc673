"""tau2-bench: ``simulations`` in one file, or a ``results.json`` with ``simulation_index`` beside a folder of them.

``task_id`` is the prompt, ``trial`` the generation, ``reward_info.reward`` the score, ``info.agent_info.llm`` the
model and ``info.environment_info.domain_name`` the benchmark. Where an error ended the simulation, the reward 0 is no
answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayeseval.readers.opening import content, parsed
from bayeseval.readers.peeks import Peek
from bayeseval.readers.samples import File, Sample

__all__ = ["NAME", "samples", "sniff"]

NAME = "tau2-bench"

_ERRORS = frozenset({"agent_error", "user_error", "infrastructure_error", "unexpected_error"})


def sniff(peek: Peek) -> str | None:
    """An object with ``info`` and ``simulations`` or ``simulation_index``, or ``info`` about agent and environment."""
    if "info" in peek.record and {"simulation_index", "simulations"} & peek.record.keys():
        return "tau2_bench"
    info = peek.record.get("info")
    return "tau2_bench" if isinstance(info, dict) and {"agent_info", "environment_info"} <= info.keys() else None


def samples(file: File) -> Iterator[Sample]:
    """One sample a simulation."""
    value = file.json()
    info = value.get("info") or {}
    system = (info.get("agent_info") or {}).get("llm") or ""
    benchmark = (info.get("environment_info") or {}).get("domain_name") or ""
    for place, simulation in _simulations(file, value):
        reward = simulation.get("reward_info")
        errored = simulation.get("termination_reason") in _ERRORS
        score = reward.get("reward") if isinstance(reward, dict) and not errored else None
        yield Sample(
            simulation.get("task_id"), {"reward": score}, place, simulation.get("trial"), errored=errored,
            seed=simulation.get("seed"), system=str(system), benchmark=str(benchmark),
        )  # fmt: skip


def _simulations(file: File, value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if "simulations" in value:
        for number, simulation in enumerate(value["simulations"], 1):
            yield f"simulation {number}", simulation
        return
    folder = file.path.parent / "simulations"
    found = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not found:
        file.refuse(f"names simulations, but {folder} holds none of them")
    for path in found:
        yield f"simulations/{path.name}", parsed(content(path), str(path))
