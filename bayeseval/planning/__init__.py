"""What to run next, decided before the money is spent: how many generations, on which prompts, and when to stop.

`plan` says how many generations a target needs. The rules `stop_at_width`, `stop_at_direction` and `stop_anytime` say
when to stop a run that is going on, and `Looks` is its log.
"""

from __future__ import annotations

from bayeseval.planning.decisions import Decision
from bayeseval.planning.looks import Looks
from bayeseval.planning.rules import StopAnytime, StopAtDirection, StopAtWidth
from bayeseval.planning.simulated import SimulatedError
from bayeseval.planning.stopping import stop_anytime, stop_at_direction, stop_at_width
from bayeseval.planning.widths import DESIGNS, Plan, plan

__all__ = [
    "DESIGNS",
    "Decision",
    "Looks",
    "Plan",
    "SimulatedError",
    "StopAnytime",
    "StopAtDirection",
    "StopAtWidth",
    "plan",
    "stop_anytime",
    "stop_at_direction",
    "stop_at_width",
]
