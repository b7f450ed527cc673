"""What to run next, decided before the money is spent: how many generations, on which prompts, and when to stop.

`plan` says how many generations a target needs, `allocate` which prompts deserve them.
"""

from __future__ import annotations

from bayeseval.planning.allocation import Allocation, allocate
from bayeseval.planning.widths import DESIGNS, Plan, plan

__all__ = ["DESIGNS", "Allocation", "Plan", "allocate", "plan"]
