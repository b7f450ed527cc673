"""What to run next, decided before the money is spent: how many generations, on which prompts, and when to stop.

A question a module: `widths` (how many generations) and `designs` (more prompts or more generations) stand on `pilots`
(where a plan starts), `futures` (what may happen) and `analysis` (how each future is analysed). `allocating` says which
prompts deserve the next generations, `comparing` what it takes to tell systems apart, `looking` when to stop.
"""

from __future__ import annotations

from bayeseval.planning.allocating.allocation import Allocation, allocate
from bayeseval.planning.comparing.contrast_plan import ContrastPlan
from bayeseval.planning.comparing.contrasts import plan_contrast
from bayeseval.planning.comparing.decoding import DecodingComparison, compare_decoding
from bayeseval.planning.comparing.orders import OrderPlan, plan_order
from bayeseval.planning.comparing.sources import SystemGuess
from bayeseval.planning.costs import Cost
from bayeseval.planning.designs import Frontier, frontier
from bayeseval.planning.looking.decisions import Decision
from bayeseval.planning.looking.looks import Looks
from bayeseval.planning.looking.rules import StopAnytime, StopAtDirection, StopAtWidth
from bayeseval.planning.looking.simulated import SimulatedError
from bayeseval.planning.looking.stopping import stop_anytime, stop_at_direction, stop_at_width
from bayeseval.planning.pilots import Pilot
from bayeseval.planning.plans import Plan
from bayeseval.planning.setup import DESIGNS
from bayeseval.planning.widths import plan

__all__ = [
    "DESIGNS",
    "Allocation",
    "ContrastPlan",
    "Cost",
    "Decision",
    "DecodingComparison",
    "Frontier",
    "Looks",
    "OrderPlan",
    "Pilot",
    "Plan",
    "SimulatedError",
    "StopAnytime",
    "StopAtDirection",
    "StopAtWidth",
    "SystemGuess",
    "allocate",
    "compare_decoding",
    "frontier",
    "plan",
    "plan_contrast",
    "plan_order",
    "stop_anytime",
    "stop_at_direction",
    "stop_at_width",
]
