"""Where the moments of a contrast come from: pilots, guesses, and outcomes that share their noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeseval.errors import DataError, OptionError, require_positive_integer
from bayeseval.estimators.coupled import kappa_hat
from bayeseval.outcomes import Outcomes
from bayeseval.pairs import pair_tables
from bayeseval.planning.comparing.contrast_law import PilotCounts
from bayeseval.planning.comparing.moments import Moments, given_moments, kappa_bound
from bayeseval.planning.comparing.sources import Aligned, SystemGuess, align, apart, moments_of

__all__ = ["ContrastSource", "contrast_source", "sizes_of", "with_kappa"]


@dataclass(frozen=True, eq=False)
class ContrastSource:
    """Moments of two systems, the pilot's counts where there are any, and what to know about both."""

    moments: Moments
    counts: PilotCounts | None
    sizes: tuple[int, int] | None
    systems: tuple[str, str]
    benchmark: str
    warnings: tuple[str, ...]

    @property
    def have(self) -> tuple[int, int]:
        """Fewest and typical generations of the pilot's prompts."""
        assert self.counts is not None
        every = np.concatenate(self.counts.generations)
        return int(every.min()), int(np.median(every))


def contrast_source(
    given: Any, design: str, coupled: Any, correlation: float | None, rng: Any, draws: int
) -> ContrastSource:
    """Moments of two systems: of aligned pilots where the design is paired, else of each by itself."""
    guesses = [isinstance(one, SystemGuess) for one in given]
    tables = None if coupled is None else pair_tables(*coupled)
    if not any(guesses) and design != "unpaired":
        if correlation is not None:
            raise OptionError("the correlation follows from the pilots' prompts; leave correlation out")
        pilot = align(given, "a paired plan")
        kappas = None if tables is None else _matched(pilot, *tables[:2])
        own = tables is not None and _same_data(pilot, coupled)
        moments, sentences = moments_of(pilot, rng, draws, kappas, own)
        kept = PilotCounts((pilot.correct[0], pilot.correct[1]), (pilot.generations[0], pilot.generations[1]), own)
        size = len(pilot.prompt)
        notes = (*pilot.warnings, *sentences, *(tables[2] if tables else ()))
        return ContrastSource(moments, kept, (size, size), (pilot.systems[0], pilot.systems[1]), pilot.benchmark, notes)
    if any(guesses) and design != "unpaired" and correlation is None:
        raise OptionError(
            f"a {design} plan from guesses needs the correlation of P(correct) of the two systems over prompts; it is "
            f"often between 0.5 and 0.9: give correlation=..."
        )
    if correlation is not None and not -1 <= correlation <= 1:
        raise OptionError(f"correlation must lie between -1 and 1, but {correlation!r} was given")
    parts, names, benchmarks, runs, warnings = [], [], [], [], []
    for one in given:
        if isinstance(one, SystemGuess):
            parts.append(given_moments([one.mean], [one.sd]))
            names.append(one.name)
            continue
        single = align([one], "a plan")
        part, sentences = moments_of(single, rng, draws)
        parts.append(part)
        names.append(single.systems[0])
        benchmarks.append(single.benchmark)
        runs.append(single)
        warnings += [*single.warnings, *sentences]
    moments = apart(parts, correlation or 0.0)
    if tables is not None:
        moments = moments._replace(kappa=_bootstrapped(tables[1], rng, len(moments.mean)))
    counts: PilotCounts | None = None
    if not any(guesses):
        counts = PilotCounts(
            (runs[0].correct[0], runs[1].correct[0]), (runs[0].generations[0], runs[1].generations[0]), False
        )
    size_pair = None if len(runs) == 0 else (len(runs[0].prompt), len(runs[-1].prompt))
    benchmark = " and ".join(dict.fromkeys(benchmarks)) or "a benchmark"
    return ContrastSource(moments, counts, size_pair, (names[0], names[1]), benchmark, tuple(warnings))


def _matched(pilot: Aligned, prompt: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Within-prompt covariances for the pilot's prompts, NaN where the outcomes lack one."""
    known = dict(zip(prompt, kappa_hat(tables), strict=True))
    matched = np.array([known.get(str(one), np.nan) for one in pilot.prompt])
    if np.isnan(matched).all():
        raise DataError(
            "the coupled outcomes hold no pilot prompt with two pairs of generations or more, so the covariance of "
            "coupled generations cannot be estimated; give kappa=..."
        )
    return matched


def _same_data(pilot: Aligned, outcomes: tuple[Outcomes, Outcomes]) -> bool:
    """Whether the pilots' counts are those of the coupled outcomes."""
    for place, one in enumerate(outcomes):
        counts = one.counts()
        known = {str(p): (c, k) for p, c, k in zip(counts.prompt, counts.correct, counts.generations, strict=True)}
        rows = zip(pilot.prompt, pilot.correct[place], pilot.generations[place], strict=True)
        if any(known.get(str(p)) != (c, k) for p, c, k in rows):
            return False
    return True


def _bootstrapped(tables: np.ndarray, rng: np.random.Generator, draws: int) -> np.ndarray:
    """Bootstrap draws of kappa for guessed systems."""
    values = kappa_hat(tables)
    values = values[np.isfinite(values)]
    if values.size < 2:
        raise DataError(
            "the coupled outcomes hold fewer than two prompts with two pairs of generations, which is too few to "
            "estimate kappa; give kappa=..."
        )
    return rng.dirichlet(np.ones(values.size), draws) @ values


def with_kappa(source: ContrastSource, design: str, kappa: float | None) -> tuple[Moments, tuple[str, ...]]:
    """The moments with the covariance of coupled generations: 0 elsewhere, refused where it is impossible."""
    moments = source.moments
    bounds = np.sqrt(np.prod(moments.within, axis=1))
    if design != "coupled":
        return moments._replace(kappa=np.zeros(len(bounds))), ()
    if kappa is None:
        return moments._replace(kappa=np.clip(moments.kappa, -bounds, bounds)), ()
    most = kappa_bound(moments.within.mean(axis=0))
    if abs(kappa) > most * (1 + 1e-9):
        raise OptionError(
            f"kappa is a covariance of two generations within a prompt, and their variances allow at most "
            f"{most:.4g} (Cauchy-Schwarz), but {kappa:g} was given"
        )
    return moments._replace(kappa=np.clip(np.full(len(bounds), float(kappa)), -bounds, bounds)), ()


def sizes_of(source: ContrastSource, prompts: str, n_prompts: int | None) -> tuple[int, int]:
    """Prompts of each system in the study that is planned."""
    if n_prompts is not None:
        size = require_positive_integer("n_prompts", n_prompts)
        if prompts == "same" and source.sizes != (size, size):
            assert source.sizes is not None
            raise OptionError(
                f"the pilots share {source.sizes[0]:,} prompts; for another number use prompts='fresh'"
                if source.sizes[0] == source.sizes[1]
                else f"the pilots have {source.sizes[0]:,} and {source.sizes[1]:,} prompts; for another number use "
                f"prompts='fresh'"
            )
        return size, size
    if source.sizes is None:
        raise OptionError("guesses know no prompts: say how many there will be with n_prompts=...")
    return source.sizes
