"""Draws of several models as one distribution: each draw belongs to one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeseval.errors import OptionError
from bayeseval.metrics import Metric
from bayeseval.prompts.base import PromptDistribution, PromptPosterior

__all__ = ["Joined"]


@dataclass(frozen=True)
class Joined(PromptDistribution):
    """Distributions of several models, a draw of the whole being a draw of one of them.

    Attributes
    ----------
    parts : tuple of PromptDistribution
    part, row : int arrays (draw,)
        Which part each draw belongs to, and its number there.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval import prompts
    >>> both = prompts.Joined.of([prompts.beta([0.3], [0.2]), prompts.LogitNormal(np.zeros(1), np.ones(1))])
    >>> both.mean().round(6)
    array([0.3, 0.5])
    """

    parts: tuple[PromptDistribution, ...]
    part: np.ndarray
    row: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[PromptDistribution]) -> Joined:
        """All draws of the parts, one part after another."""
        keys = {part.keyed_by for part in parts} - {None}
        if len(keys) > 1:
            raise OptionError(
                f"models that tell prompts apart by their {' and by their '.join(sorted(map(str, keys)))} cannot be "
                f"mixed; stack them apart"
            )
        sizes = [part.n_draws for part in parts]
        number = np.repeat(np.arange(len(parts)), sizes)
        return cls(tuple(parts), number, np.concatenate([np.arange(size) for size in sizes]))

    @property
    def keyed_by(self) -> str | None:  # type: ignore[override]
        """What tells prompts apart in the parts that ask for it."""
        return next((part.keyed_by for part in self.parts if part.keyed_by), None)

    @cached_property
    def atom(self) -> np.ndarray:  # type: ignore[override]
        """Positions of the point masses of all parts."""
        return np.unique(np.concatenate([part.atom for part in self.parts]))

    @property
    def atoms(self) -> np.ndarray:
        """Their weights (draw, atom); 0 in a draw whose part has no such point mass."""

        def spread(part: PromptDistribution) -> np.ndarray:
            return part.atoms @ (part.atom[:, None] == self.atom[None, :]).astype(float)

        return self._gather(spread, (self.atom.size,))

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.part.size)

    def mean(self) -> np.ndarray:
        """Mean of P(correct) over prompts, for each draw (draw,)."""
        return self._gather(lambda part: part.mean())

    def sd(self) -> np.ndarray:
        """Standard deviation of P(correct) over prompts, for each draw (draw,)."""
        return self._gather(lambda part: part.sd())

    def score(self, metric: Metric) -> np.ndarray:
        """Score of fresh prompts for each draw (draw,)."""
        return self._gather(lambda part: part.score(metric))

    def logpmf(self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None) -> np.ndarray:
        """Log probability of each cell (correct, generations), p integrated out (draw, cell)."""
        return self._gather(lambda part: part.logpmf(correct, generations, _asked(part, key)), (len(correct),))

    def condition(self, correct: np.ndarray, generations: np.ndarray, key: np.ndarray | None = None) -> PromptPosterior:
        """Distribution of P(correct) of prompts with the given counts, for each draw."""
        size = np.asarray(correct).size
        conditioned = [
            (rows, part.condition(correct, generations, _asked(part, key))) for rows, part in self._by_part()
        ]
        return _JoinedPosterior(self.n_draws, size, conditioned)

    def density(self, p: np.ndarray) -> np.ndarray:
        """Density at each p inside (0, 1), point masses left out (draw, p)."""
        return self._gather(lambda part: part.density(p), (p.size,))

    def below(self, p: np.ndarray) -> np.ndarray:
        """Probability of less than each p, point masses left out (draw, p)."""
        return self._gather(lambda part: part.below(p), (p.size,))

    def cdf(self, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Distribution function of each draw at its own p (draw, prompt)."""
        result = np.empty(p.shape)
        for rows, part in self._by_part():
            result[rows] = part.cdf(p[rows], rng)
        return result

    def take(self, draws: slice | np.ndarray) -> Joined:
        """The same distribution for a part of the draws."""
        return Joined(self.parts, self.part[draws], self.row[draws])

    def _by_part(self) -> Iterator[tuple[np.ndarray, PromptDistribution]]:
        """For each part that has draws here: their places, and the part with those draws alone."""
        for number, part in enumerate(self.parts):
            rows = np.flatnonzero(self.part == number)
            if rows.size:
                yield rows, part.take(self.row[rows])

    def _gather(self, function: Callable[[PromptDistribution], np.ndarray], shape: tuple[int, ...] = ()) -> np.ndarray:
        result = np.empty((self.n_draws, *shape))
        for rows, part in self._by_part():
            result[rows] = function(part)
        return result


@dataclass(frozen=True)
class _JoinedPosterior(PromptPosterior):
    """Posteriors of the parts, and the draws that each of them holds."""

    draws: int
    cells: int
    parts: list[tuple[np.ndarray, PromptPosterior]]

    def mean(self) -> np.ndarray:
        return self._gather(lambda part: part.mean(), self.cells)

    def second_moment(self) -> np.ndarray:
        return self._gather(lambda part: part.second_moment(), self.cells)

    def moments(self, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
        first, second = np.empty((2, self.draws, self.cells))
        for rows, part in self.parts:
            first[rows], second[rows] = part.moments(metric)
        return first, second

    def draw(self, rng: np.random.Generator, cell: np.ndarray) -> np.ndarray:
        return self._gather(lambda part: part.draw(rng, cell), cell.size)

    def predictive(self, more: int) -> tuple[np.ndarray, np.ndarray]:
        """Probability of each number of correct ones among further generations, the rows of all parts."""
        found = [(rows.size / self.draws, *part.predictive(more)) for rows, part in self.parts]
        return np.concatenate([size * share for size, share, _ in found]), np.concatenate([pmf for *_, pmf in found])

    def _gather(self, function: Callable[[PromptPosterior], np.ndarray], width: int) -> np.ndarray:
        result = np.empty((self.draws, width))
        for rows, part in self.parts:
            result[rows] = function(part)
        return result


def _asked(part: PromptDistribution, key: np.ndarray | None) -> np.ndarray | None:
    return key if part.keyed_by else None
