"""What to run next, decided before the money is spent: how many generations, on which prompts, and when to stop.

A question a module: `widths` (how many generations), `designs` (more prompts or more generations), `allocation` (which
prompts). They stand on `pilots` (where a plan starts), `futures` (what may happen), `analysis` (how each future is
analysed) and, for allocation, `gains` and `spending`.
"""

from __future__ import annotations

from bayeseval.planning.allocation import Allocation, allocate
from bayeseval.planning.costs import Cost
from bayeseval.planning.designs import Frontier, frontier
from bayeseval.planning.pilots import Pilot
from bayeseval.planning.plans import Plan
from bayeseval.planning.setup import DESIGNS
from bayeseval.planning.widths import plan

__all__ = ["DESIGNS", "Allocation", "Cost", "Frontier", "Pilot", "Plan", "allocate", "frontier", "plan"]
