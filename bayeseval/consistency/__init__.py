"""Which answers agree, how consistent systems are, and which prompts look mislabelled."""

from __future__ import annotations

from bayeseval.consistency.data_map import DataMap, data_map
from bayeseval.consistency.equivalences import Equivalence, by_embedding, by_entailment, by_key, by_pair
from bayeseval.consistency.mislabelling import Mislabelling, mislabelled
from bayeseval.consistency.suspects import Suspects

__all__ = [
    "DataMap", "Equivalence", "Mislabelling", "Suspects", "by_embedding", "by_entailment", "by_key", "by_pair",
    "data_map", "mislabelled",
]  # fmt: skip
