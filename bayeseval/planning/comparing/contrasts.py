"""How many generations tell two systems apart, and what no number of generations can tell.

A plan draws the moments of both systems from the pilot and asks, for each number of generations, how probable it is
that the interval of the difference will lie outside ±rope. The choice of prompts adds a part to the standard error that
no generation removes: the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayeseval.counts import Counts
from bayeseval.defaults import options
from bayeseval.errors import OptionError, require_choice, require_positive_integer, require_probability
from bayeseval.outcomes import Outcomes
from bayeseval.planning.comparing.contrast_law import ContrastLaw
from bayeseval.planning.comparing.contrast_plan import ContrastPlan
from bayeseval.planning.comparing.contrast_source import contrast_source, sizes_of, with_kappa
from bayeseval.planning.comparing.sources import SystemGuess
from bayeseval.planning.comparing.verdicts import detectable
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import require_estimand

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CONTRAST_DESIGNS", "ladder", "plan_contrast"]

CONTRAST_DESIGNS = ("paired", "unpaired", "coupled")
CURVE_POINTS = 12
SMALLEST_REACH = 256
BAND = (0.05, 0.95)
FEW_PROMPTS = 30


def plan_contrast(
    a: Posterior | Counts | SystemGuess,
    b: Posterior | Counts | SystemGuess,
    difference: float | None = None,
    *,
    design: str = "paired",
    kappa: float | None = None,
    coupled_outcomes: tuple[Outcomes, Outcomes] | None = None,
    correlation: float | None = None,
    rope: float = 0.0,
    prob: float | None = None,
    power: float = 0.8,
    estimand: str = "population",
    prompts: str = "same",
    n_prompts: int | None = None,
    generations: Sequence[int] | None = None,
    draws: int = 500,
    seed: int = 0,
) -> ContrastPlan:
    r"""How many generations per prompt tell two systems apart, and whether any number does.

    For each draw of the moments the future difference is normal, with the variance that
    `bayeseval.planning.comparing.contrast_law` states; probabilities are averages over draws.

    Parameters
    ----------
    a, b : Posterior, Counts or SystemGuess
        Pilots of one run each, aligned by prompt id, or guessed numbers.
    difference : float, optional
        True difference a - b at which the power is wanted. By default the average over what the pilot says about it
        (assurance), which for two guesses is the difference of their means.
    design : {"paired", "unpaired", "coupled"}
        Both systems answer the same prompts; each answers prompts of its own; the same prompts, and generation j of
        both is made with the same noise.
    kappa : float, optional
        For coupled designs: covariance of two generations with the same noise, averaged over prompts.
    coupled_outcomes : tuple of two Outcomes, optional
        For coupled designs: outcomes of both systems that share their noise, from which kappa is estimated.
    correlation : float, optional
        Of P(correct) of the two systems over prompts; needed with guesses, unless the design is unpaired.
    rope : float
        Half width of the region of differences that do not matter, 0 for none.
    prob : float, optional
        Probability inside the interval; `bayeseval.options.prob` by default.
    power : float
        Probability with which the difference shall be resolved.
    estimand : {"population", "benchmark"}
        Whether the difference is one on prompts like these, or on these prompts.
    prompts : {"same", "fresh"}
        ``"same"``: the pilot's prompts get more generations, and its data are kept. ``"fresh"``: new prompts, the pilot
        discarded. With guesses all prompts are fresh.
    n_prompts : int, optional
        Number of fresh prompts (of each system); as many as the pilot's by default, needed with guesses.
    generations : sequence of int, optional
        Numbers of generations per prompt and system to try; a geometric ladder, refined around the answer, by default.
        For the same prompts they include those that the pilot has.
    draws : int
        Bootstrap draws of the moments.
    seed : int

    Returns
    -------
    ContrastPlan

    Raises
    ------
    DataError
        If no prompt is shared, benchmarks differ, or one generation a prompt leaves the spread unknown.
    OptionError
        If an argument is out of range or missing, or kappa is larger than the noise of the generations allows.

    Notes
    -----
    With the same prompts and a given difference, the pilot tells the moments alone: the power is that of a study whose
    outcome is not known yet. Without one, the pilot's generations are a part of the future estimate. Pilots are taken
    to have been generated independently, unless they are the ``coupled_outcomes`` themselves.

    References
    ----------
    .. [1] Miller (2024). Adding error bars to evals. https://arxiv.org/abs/2411.00640
    .. [2] O'Hagan, Stevens & Campbell (2005). Assurance in clinical trial design. Pharmaceutical Statistics 4, 187-201.
       https://doi.org/10.1002/pst.175

    Examples
    --------
    >>> import bayeseval as be
    >>> old, new = be.SystemGuess(0.60, 0.3, name="old"), be.SystemGuess(0.63, 0.3, name="new")
    >>> plan = be.plan_contrast(new, old, 0.03, correlation=0.9, n_prompts=400)
    >>> plan.k
    11
    >>> be.plan_contrast(new, old, 0.03, correlation=0.9, n_prompts=150).n_prompts_needed
    157
    """
    require_choice("design", design, CONTRAST_DESIGNS)
    require_estimand(estimand)
    require_choice("prompts", prompts, ("same", "fresh"))
    prob, power = options.interval_prob(prob), require_probability("power", power)
    draws = require_positive_integer("draws", draws)
    _check_numbers(difference, rope)
    _check_coupling(design, kappa, coupled_outcomes)
    if design == "unpaired" and estimand == "benchmark":
        raise OptionError(
            "two systems that answer different prompts have no benchmark in common: take estimand='population', or "
            "design='paired'"
        )
    rng = np.random.default_rng([seed, 7])
    source = contrast_source((a, b), design, coupled_outcomes, correlation, rng, draws)
    moments, sentences = with_kappa(source, design, kappa)
    guessed = source.counts is None
    sizes = sizes_of(source, "fresh" if guessed else prompts, n_prompts)
    from scipy.special import ndtri

    law = ContrastLaw(
        moments=moments,
        sizes=sizes,
        paired=design != "unpaired",
        population=estimand == "population",
        difference=difference,
        z=float(ndtri((1 + prob) / 2)),
        rope=rope,
        pilot=source.counts if prompts == "same" else None,
    )
    rows = {k: _row(law, k, power) for k in ladder(generations, None if law.pilot is None else source.have)}
    if generations is None:
        _refine(rows, law, power)
    best = next((k for k in sorted(rows) if rows[k][3] >= power), None)
    limit = float(law.resolved(np.inf).mean())
    needed = None
    if best is None:
        needed = law.prompts_needed(np.inf if limit < power else max(rows), power)
    expected = difference
    if expected is None:
        mean = moments.mean.mean(axis=0)
        expected = float(mean[0] - mean[1]) if source.counts is None else source.counts.difference
    return ContrastPlan(
        k=best,
        floor=float(np.median(np.sqrt(law.prompt_part()))) if law.population else 0.0,
        limit=limit,
        n_prompts_needed=needed,
        curve=_curve(rows),
        difference=difference,
        expected=expected,
        rope=rope,
        prob=prob,
        power=power,
        design=design,
        estimand=estimand,
        prompts="fresh" if guessed else prompts,
        sizes=sizes,
        generations_so_far=0 if law.pilot is None else source.have[1],
        kappa=float(moments.kappa.mean()) if design == "coupled" else 0.0,
        draws=len(moments.mean),
        systems=source.systems,
        benchmark=source.benchmark,
        warnings=(*source.warnings, *sentences, *_warnings(sizes, difference, rope)),
    )


# The curve -----------------------------------------------------------------------------------------------------------


def ladder(generations: Sequence[int] | None, have: tuple[int, int] | None) -> list[int]:
    """Numbers of generations to try; ``have``: fewest and typical generations of prompts that are kept, if any."""
    least, typical = have or (1, 1)
    if generations is None:
        first = max(least, typical)
        last = max(SMALLEST_REACH, 16 * typical)
        return sorted({int(k) for k in np.round(np.geomspace(first, last, CURVE_POINTS))})
    chosen = sorted({require_positive_integer("generations", k) for k in generations})
    if not chosen:
        raise OptionError("generations is empty; give the numbers of generations to try, or leave it out")
    if have is not None and chosen[0] < least:
        raise OptionError(
            f"every prompt has {least} generations already, but generations={chosen[0]} was asked for; plan for "
            f"{least} or more, or for fresh prompts with prompts='fresh'"
        )
    return chosen


def _row(law: ContrastLaw, k: int, power: float) -> tuple[float, ...]:
    errors, found = law.standard_error(k), law.resolved(k)
    lower, middle, upper = np.quantile(errors, [BAND[0], 0.5, BAND[1]])
    same = float(law.equivalent(k).mean())
    mcse = float(found.std() / np.sqrt(found.size))
    share = float(found.mean())
    needed = law.prompts_needed(k, power)
    return (
        float(middle),
        float(lower),
        float(upper),
        share,
        same,
        max(1 - share - same, 0.0),
        mcse,
        float(detectable(errors, law.z, law.rope, power)),
        float("nan") if needed is None else float(needed),
    )


def _refine(rows: dict[int, tuple[float, ...]], law: ContrastLaw, power: float) -> None:
    """Narrow the gap between the last number that fails and the first that passes, until k is exact."""
    while True:
        passing = next((k for k in sorted(rows) if rows[k][3] >= power), None)
        failing = [k for k in rows if passing is not None and k < passing]
        if passing is None or not failing or passing - max(failing) <= 1:
            return
        middle = (passing + max(failing)) // 2
        rows[middle] = _row(law, middle, power)


def _curve(rows: dict[int, tuple[float, ...]]) -> pd.DataFrame:
    import pandas as pd

    names = ["generations", "standard_error", "standard_error_lower", "standard_error_upper", "resolved", "equivalent"]
    names += ["undecided", "mcse", "detectable", "prompts_needed"]
    return pd.DataFrame([(k, *rows[k]) for k in sorted(rows)], columns=names)


# What cannot be right -------------------------------------------------------------------------------------------------


def _check_numbers(difference: float | None, rope: float) -> None:
    if difference is not None and not (np.isfinite(difference) and abs(difference) < 1):
        raise OptionError(f"difference must lie strictly between -1 and 1, but {difference!r} was given")
    if not (np.isfinite(rope) and 0 <= rope < 1):
        raise OptionError(f"rope is half a width, at least 0 and less than 1, but {rope!r} was given")


def _check_coupling(design: str, kappa: float | None, coupled: object) -> None:
    given = [name for name, value in (("kappa", kappa), ("coupled_outcomes", coupled)) if value is not None]
    if design != "coupled" and given:
        raise OptionError(f"{given[0]} belongs to design='coupled', but the design is {design!r}")
    if design == "coupled" and len(given) != 1:
        raise OptionError(
            "a coupled design needs the covariance of generations that share their noise: give kappa=..., or "
            "coupled_outcomes=(outcomes_a, outcomes_b), one of the two"
        )
    if kappa is not None and not np.isfinite(kappa):
        raise OptionError(f"kappa must be a finite number, but {kappa!r} was given")
    if coupled is not None and not (isinstance(coupled, tuple | list) and len(coupled) == 2):
        raise OptionError("coupled_outcomes takes two Outcomes: (outcomes_a, outcomes_b)")


def _warnings(sizes: tuple[int, int], difference: float | None, rope: float) -> list[str]:
    warnings = []
    if min(sizes) < FEW_PROMPTS:
        warnings.append(
            f"{min(sizes)} prompts are few for a normal law: intervals of the real data will be wider, and the "
            f"probabilities stated here are too hopeful"
        )
    if difference is not None and abs(difference) <= rope:
        warnings.append(
            f"a true difference of {difference:g} lies within ±{rope:g}, so no interval is meant to exclude that "
            f"region; look at the column equivalent"
        )
    return warnings
