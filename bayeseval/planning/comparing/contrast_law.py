r"""Law of the difference that a future study of two systems will find, for every draw of the moments.

With :math:`\Sigma` the covariance of P(correct) over n prompts, :math:`\omega` the variances of one generation, and
:math:`\kappa` the covariance of generations that share their noise, k generations of each give the difference of the
means the variance [1]_

.. math::
    V_{\text{benchmark}} = \frac{\omega_A+\omega_B-2\kappa}{nk}, \qquad
    V_{\text{population}} = V_{\text{benchmark}} + \frac{\Sigma_{AA}+\Sigma_{BB}-2\Sigma_{AB}}{n},

without the covariances where the systems answer different prompts.

References
----------
.. [1] Miller (2024). Adding error bars to evals. https://arxiv.org/abs/2411.00640
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayeseval.arrays import Floats
from bayeseval.planning.comparing.moments import Moments, noise_ratio
from bayeseval.planning.comparing.verdicts import equivalent, fewest, resolved

__all__ = ["ContrastLaw", "PilotCounts"]


class PilotCounts(NamedTuple):
    """Counts of the pilot that are kept, one run a system, and whether its generations shared their noise."""

    correct: tuple[np.ndarray, np.ndarray]
    generations: tuple[np.ndarray, np.ndarray]
    coupled: bool

    @property
    def difference(self) -> float:
        """Difference of the means of shares."""
        means = [float((c / k).mean()) for c, k in zip(self.correct, self.generations, strict=True)]
        return means[0] - means[1]


@dataclass(frozen=True, eq=False)
class ContrastLaw:
    """What a study with k generations of both systems will find.

    Attributes
    ----------
    moments : Moments
        Of the two systems, (draw, ...).
    sizes : tuple of int
        Prompts of each system.
    paired, population : bool
        Whether both answer the same prompts; whether the estimand is the population.
    difference : float or None
        True difference, None for what the pilot says.
    z, rope : float
    pilot : PilotCounts or None
        Kept data of the same prompts.
    """

    moments: Moments
    sizes: tuple[int, int]
    paired: bool
    population: bool
    difference: float | None
    z: float
    rope: float
    pilot: PilotCounts | None

    def prompt_part(self, sizes: tuple[int, int] | None = None) -> Floats:
        """Variance of the difference from the choice of prompts (draw,)."""
        first, second = self.sizes if sizes is None else sizes
        between = self.moments.between
        part = between[:, 0, 0] / first + between[:, 1, 1] / second
        if self.paired:
            part = part - 2 * between[:, 0, 1] / first
        return np.maximum(part, 0.0)

    def noise_part(self, k: float) -> Floats:
        """Variance of the difference from the noise of generations (draw,), k of each or as many as there are."""
        return np.maximum(self._alone(k) - 2 * self.moments.kappa * self._shared(k) / self.sizes[0], 0.0)

    def _alone(self, k: float) -> Floats:
        within = self.moments.within
        if self.pilot is None:
            left: list[float] = [1 / k, 1 / k]
        else:
            left = [
                float(noise_ratio(c[None], g[None], k)[0])
                for c, g in zip(self.pilot.correct, self.pilot.generations, strict=True)
            ]
        return within[:, 0] * left[0] / self.sizes[0] + within[:, 1] * left[1] / self.sizes[1]

    def _shared(self, k: float) -> float:
        """Share of kappa in the covariance of the two means: 1/k where all generations share their noise."""
        if not self.paired:
            return 0.0
        if self.pilot is None:
            return 1 / k
        have = np.maximum(*self.pilot.generations)
        if self.pilot.coupled:
            return float((1 / np.maximum(have, k)).mean())
        if np.isinf(k):
            return 0.0
        return float((np.maximum(k - have, 0) / np.maximum(have, k) ** 2).mean())

    def standard_error(self, k: float) -> Floats:
        """Standard error that the study will state (draw,)."""
        return np.sqrt(self.noise_part(k) + (self.prompt_part() if self.population else 0.0))

    def found(self, k: float) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the difference that the study will find (draw,)."""
        if self.difference is not None:
            return np.full(len(self.moments.mean), self.difference), self.standard_error(k)
        if self.pilot is None:
            return self.moments.mean[:, 0] - self.moments.mean[:, 1], np.sqrt(self.prompt_part() + self.noise_part(k))
        # The pilot stays part of the study: given its difference, flat prior, only what is new is uncertain.
        overlap = self.noise_part(k) if self.pilot.coupled else self._alone(k)
        rest = self.noise_part(k) - 2 * overlap + self.noise_part(0)
        now = np.full(len(self.moments.mean), self.pilot.difference)
        return now, np.sqrt(np.where(rest > 1e-15, rest, 0.0))

    def resolved(self, k: float) -> Floats:
        """Probability that the interval lies outside ±rope (draw,)."""
        centre, spread = self.found(k)
        return resolved(centre, spread, self.z * self.standard_error(k), self.rope)

    def equivalent(self, k: float) -> Floats:
        """Probability that the interval lies inside ±rope (draw,)."""
        centre, spread = self.found(k)
        return equivalent(centre, spread, self.z * self.standard_error(k), self.rope)

    def prompts_needed(self, k: float, power: float) -> int | None:
        """Smallest number of fresh prompts whose difference is resolved with this probability at k generations."""
        centre = (
            np.full(len(self.moments.mean), self.difference)
            if self.difference is not None
            else self.moments.mean[:, 0] - self.moments.mean[:, 1]
        )
        noise = self.moments.within.sum(axis=1) - (2 * self.moments.kappa if self.paired else 0.0)
        noise, prompt = np.maximum(noise, 0.0) / k, self.prompt_part((1, 1))
        stated = noise + prompt if self.population else noise
        spread = stated if self.difference is not None else noise + prompt

        def reaches(n: int) -> bool:
            half = self.z * np.sqrt(stated / n)
            return bool(resolved(centre, np.sqrt(spread / n), half, self.rope).mean() >= power)

        return fewest(reaches)
