"""Every figure: a result object in, matplotlib Axes out.

Each function takes the result first, the rest by keyword, draws into ``ax`` or into a figure of its own, and returns
the Axes. None shows anything or changes matplotlib's settings. Figures and tables agree, since both come from the
same object.
"""

from __future__ import annotations

from bayeseval.plots.allocation import plot_allocation
from bayeseval.plots.assurance import plot_kept_assurance
from bayeseval.plots.calibration import plot_calibration, plot_coverage
from bayeseval.plots.checks import plot_check
from bayeseval.plots.comparison import plot_comparison
from bayeseval.plots.contrast import plot_contrast, plot_coupled_savings
from bayeseval.plots.contrast_plan import plot_contrast_plan, plot_order_plan
from bayeseval.plots.credit import plot_credit_distribution
from bayeseval.plots.curves import plot_pass_curve
from bayeseval.plots.data_map import plot_data_map
from bayeseval.plots.decoding import plot_decoding
from bayeseval.plots.distribution import plot_prompt_distribution
from bayeseval.plots.extrapolation import plot_extrapolation
from bayeseval.plots.families import plot_families
from bayeseval.plots.forest import plot_scores
from bayeseval.plots.frontier import plot_frontier
from bayeseval.plots.groups import plot_groups
from bayeseval.plots.intervals import plot_intervals
from bayeseval.plots.looks import plot_looks, plot_simulated_error
from bayeseval.plots.planning import plot_assurance, plot_plan
from bayeseval.plots.preferences import plot_preference_ranking, plot_rank_probabilities, plot_win_rates
from bayeseval.plots.ranking import plot_pairwise, plot_ranking, plot_ranks
from bayeseval.plots.single import plot_score

__all__ = [
    "plot_assurance",
    "plot_allocation",
    "plot_calibration",
    "plot_check",
    "plot_comparison",
    "plot_credit_distribution",
    "plot_contrast",
    "plot_contrast_plan",
    "plot_coupled_savings",
    "plot_coverage",
    "plot_data_map",
    "plot_decoding",
    "plot_extrapolation",
    "plot_families",
    "plot_frontier",
    "plot_groups",
    "plot_intervals",
    "plot_kept_assurance",
    "plot_order_plan",
    "plot_looks",
    "plot_pairwise",
    "plot_pass_curve",
    "plot_plan",
    "plot_preference_ranking",
    "plot_prompt_distribution",
    "plot_rank_probabilities",
    "plot_ranking",
    "plot_ranks",
    "plot_score",
    "plot_scores",
    "plot_simulated_error",
    "plot_win_rates",
]
