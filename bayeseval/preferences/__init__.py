"""Preferences: which of two systems won each comparison, how often each wins, and who ranks where.

`table` holds the comparisons, `labels` reads the words of exports, `correctness` makes comparisons of right and wrong
answers, `graph` asks who was compared with whom, `davidson` and `sampler` are the model of strengths, `resampling` is
the bootstrap over clusters, `win_rates` and `ranking` are what users call.
"""

from __future__ import annotations

from bayeseval.preferences.ranked import PreferenceRanking
from bayeseval.preferences.ranking import rank_preferences
from bayeseval.preferences.table import Preferences
from bayeseval.preferences.win_rates import WinRates, win_rates

__all__ = ["PreferenceRanking", "Preferences", "WinRates", "rank_preferences", "win_rates"]
