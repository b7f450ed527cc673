"""What to run next, decided before the money is spent: how many generations, on which prompts, and when to stop.

`plan` says how many generations a target needs, `plan_contrast` how many tell two systems apart, `plan_order` how many
put several into order; `compare_decoding` sets greedy decoding beside sampling.
"""

from __future__ import annotations

from bayeseval.planning.contrast_plan import ContrastPlan
from bayeseval.planning.contrasts import plan_contrast
from bayeseval.planning.decoding import DecodingComparison, compare_decoding
from bayeseval.planning.orders import OrderPlan, plan_order
from bayeseval.planning.pilots import SystemGuess
from bayeseval.planning.widths import DESIGNS, Plan, plan

__all__ = [
    "DESIGNS",
    "ContrastPlan",
    "DecodingComparison",
    "OrderPlan",
    "Plan",
    "SystemGuess",
    "compare_decoding",
    "plan",
    "plan_contrast",
    "plan_order",
]
