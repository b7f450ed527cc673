"""What a plan for several systems starts from: pilots aligned by prompt, or numbers that somebody guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayeseval.counts import Counts
from bayeseval.planning.comparing.moments import Moments, bootstrap_moments, given_moments, project_covariance
from bayeseval.posterior.aligned import Aligned, aligned, counts_of
from bayeseval.posterior.posterior import Posterior

__all__ = [
    "Aligned",
    "SystemGuess",
    "align",
    "counts_of",
    "apart",
    "moments_of",
]


@dataclass(frozen=True)
class SystemGuess:
    """A system without a pilot: what its P(correct) over prompts is guessed to be.

    Attributes
    ----------
    mean : float
        Mean of P(correct) over prompts, strictly between 0 and 1.
    sd : float
        Standard deviation of P(correct) over prompts, at most sqrt(mean (1 - mean)).
    name : str

    Raises
    ------
    OptionError
        If no P(correct) can have this mean and standard deviation.

    Examples
    --------
    >>> SystemGuess(0.6, 0.3, name="next release")
    SystemGuess(mean=0.6, sd=0.3, name='next release')
    """

    mean: float
    sd: float
    name: str = "system"

    def __post_init__(self) -> None:
        given_moments([self.mean], [self.sd])


def align(runs: Sequence[Posterior | Counts], what: str = "a plan") -> Aligned:
    """Align runs of several systems as `bayeseval.posterior.aligned.align` does; a plan takes prompts as independent.

    Raises
    ------
    DataError
        If benchmarks differ, a system occurs twice, or no prompt is shared.
    """
    found = aligned(runs, what)
    said = tuple(
        f"prompts of {run.system} come in clusters, which are taken for independent prompts here: what is said of the "
        f"population is too hopeful"
        for run in runs
        if isinstance(run, Posterior) and run.distribution.keyed_by == "cluster"
    )
    return replace(found, warnings=(*found.warnings, *said))


def moments_of(
    pilot: Aligned,
    rng: np.random.Generator,
    draws: int,
    kappa: np.ndarray | None = None,
    coupled: bool = False,
) -> tuple[Moments, tuple[str, ...]]:
    """Bootstrap the moments of aligned runs; where a system has one generation a prompt, its posterior says the spread.

    Returns
    -------
    moments : Moments
    warnings : tuple of str
        Whether a spread came from a prior, or the covariance had to be projected.
    """
    spread = np.full((draws, len(pilot.runs)), np.nan)
    warnings = []
    for place, run in enumerate(pilot.runs):
        if pilot.generations[place].max() > 1 or not isinstance(run, Posterior):
            continue
        spread[:, place] = rng.choice(run.distribution.sd(), draws)
        warnings.append(
            f"{pilot.systems[place]} has one generation a prompt, which cannot tell noise from differences between "
            f"prompts: its spread comes from the prior of {run.model.name}, and the plan with it"
        )
    moments = bootstrap_moments(
        pilot.correct, pilot.generations, rng, draws, spread=spread, kappa=kappa, coupled=coupled
    )
    mixed = ((pilot.correct > 0) & (pilot.correct < pilot.generations)).sum(axis=1)
    several = pilot.generations.max(axis=1) > 1
    steady = [name for name, some, many in zip(pilot.systems, mixed, several, strict=True) if many and not some]
    if steady:
        warnings.append(
            f"no prompt was answered both rightly and wrongly by {', '.join(steady)}: generations seem to have no "
            f"noise, and what is said here is too hopeful where that is chance"
        )
    if len(pilot.runs) == 2 and moments.projected > 0.05:
        warnings.append(
            f"in {moments.projected:.0%} of the draws the covariance of P(correct) was moved to the nearest possible "
            f"one: beyond the noise of generations, prompts hardly differ, or the systems hardly differ on any prompt, "
            f"so that the pilot hardly knows the floor"
        )
    return moments, tuple(warnings)


def apart(parts: Sequence[Moments], correlation: float = 0.0) -> Moments:
    """Join moments of systems that were drawn one by one, with a correlation of P(correct) that somebody said."""
    draws = max(len(part.mean) for part in parts)
    mean, within = (
        np.concatenate([np.broadcast_to(values, (draws, 1)) for values in columns], axis=1)
        for columns in ([part.mean for part in parts], [part.within for part in parts])
    )
    sd = np.concatenate(
        [np.broadcast_to(np.sqrt(np.maximum(part.between[:, 0], 0.0)), (draws, 1)) for part in parts], axis=1
    )
    size = len(parts)
    between = sd[:, :, None] * sd[:, None, :] * np.where(np.eye(size, dtype=bool), 1.0, correlation)
    projected = max(part.projected for part in parts)
    return Moments(mean, project_covariance(between)[0], within, np.zeros(draws), projected)
