"""How NUTS is run, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeseval.errors import require_choice, require_positive_integer, require_probability

__all__ = ["SAMPLERS", "Draws", "NutsSettings"]

SAMPLERS = ("numpyro", "nutpie", "blackjax", "pymc")


@dataclass(frozen=True)
class NutsSettings:
    """How NUTS samples.

    Attributes
    ----------
    draws, tune, chains : int
        Draws kept in each chain, warm-up iterations before them, and chains.
    target_accept : float
        Mean acceptance probability that the step size is adapted to.
    sampler : {"numpyro", "nutpie", "blackjax", "pymc"}
    vectorised : bool or None
        Whether chains and runs are sampled side by side; None: on an accelerator yes, on a CPU no.
    importance : bool
        Whether chains of models with few parameters that did not mix are mended by importance resampling.
    """

    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.9
    sampler: str = "numpyro"
    vectorised: bool | None = None
    importance: bool = True

    def __post_init__(self) -> None:
        for name in ("draws", "tune", "chains"):
            require_positive_integer(name, getattr(self, name))
        require_probability("target_accept", self.target_accept)
        require_choice("sampler", self.sampler, SAMPLERS)


@dataclass(frozen=True)
class Draws:
    """Posterior draws of one run.

    Attributes
    ----------
    parameters : dict of str to float array (chain, draw, ...)
    statistics : dict of str to array (chain, draw)
        ``diverging``, ``n_steps``, ``acceptance_rate``, ``energy``, ``lp`` (as far as the sampler has them).
    positions : float array (chain, draw, D) or None
        The draws on the unconstrained scale, of models with few parameters.
    resampled : dict of str to float, optional
        Where the draws were resampled because the chains did not mix: ``rhat``, ``ess`` and ``divergences`` of the
        chains, ``pareto_k`` and ``effective`` number of the weighted points.
    """

    parameters: dict[str, np.ndarray]
    statistics: dict[str, np.ndarray]
    positions: np.ndarray | None = None
    resampled: dict[str, float] | None = None
