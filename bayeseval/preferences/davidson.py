r"""Strengths of systems from wins, losses and ties: the models of Bradley and Terry, and of Davidson.

With log strengths :math:`\lambda` and :math:`\nu \ge 0`, the first of two systems wins, loses or ties with
probabilities proportional to

.. math:: e^{(\lambda_a-\lambda_b)/2}, \qquad e^{-(\lambda_a-\lambda_b)/2}, \qquad \nu,

which are :math:`\pi_a`, :math:`\pi_b` and :math:`\nu\sqrt{\pi_a\pi_b}` of [1]_ divided by :math:`\sqrt{\pi_a\pi_b}`.
Without ties, and :math:`\nu = 0`, this is the model of [2]_. Both log likelihoods are concave in
:math:`(\lambda, \log\nu)`.

Priors: :math:`\lambda \sim N(0, s^2)`, of which only differences matter, so that the mean is taken off; two systems of
equal strength tie with probability :math:`t = \nu/(2+\nu) \sim U(0,1)`; :math:`s` is fixed, or half-normal.

References
----------
.. [1] Davidson (1970). On extending the Bradley-Terry model to accommodate ties in paired comparison experiments.
   Journal of the American Statistical Association 65, 317-328. https://doi.org/10.1080/01621459.1970.10481082
.. [2] Bradley & Terry (1952). Rank analysis of incomplete block designs: I. The method of paired comparisons.
   Biometrika 39, 324-345. https://doi.org/10.2307/2334029
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["TIES", "Mode", "Tallies", "davidson_probabilities", "evidence", "mode"]

Floats = NDArray[np.float64]

TIES = ("davidson", "half", "ignore")
"""What becomes of ties: a third outcome with its own parameter, half a win for each, or nothing."""

STEPS, HALVINGS = 100, 40
LONGEST = 4.0
"""Longest step of the search, in logarithms."""
FLATTEST = 1e-6
CLOSE = 1e-14


class Tallies(NamedTuple):
    """Outcomes of all pairs of systems.

    Attributes
    ----------
    wins : float array (system, system)
        How often the row beat the column; halves and weights are allowed.
    tied : float array (system, system)
        How often two systems tied, a symmetric matrix.
    ties : bool
        Whether a tie is an outcome of the model; else `tied` is 0.
    """

    wins: Floats
    tied: Floats
    ties: bool

    @classmethod
    def of_pairs(cls, pairs: NDArray[np.int64], counts: Floats, size: int, how: str) -> Tallies:
        """From counts (pair, 3) of wins of the first system, of the second, and of ties, treated as in `TIES`."""
        wins, tied = np.zeros((size, size)), np.zeros((size, size))
        first, second = pairs.T
        half = counts[:, 2] / 2 if how == "half" else 0.0
        wins[first, second], wins[second, first] = counts[:, 0] + half, counts[:, 1] + half
        if how == "davidson":
            tied[first, second] = tied[second, first] = counts[:, 2]
        return cls(wins, tied, how == "davidson")

    @property
    def size(self) -> int:
        """Number of systems."""
        return len(self.wins)

    @property
    def total(self) -> Floats:
        """Comparisons that count, by pair (system, system)."""
        return np.asarray(self.wins + self.wins.T + self.tied)


class Mode(NamedTuple):
    """Where the posterior density of log strengths and log odds of a tie is highest, for one prior scale.

    Attributes
    ----------
    strength : float array (system,)
        Log strengths; their sum is 0.
    tie : float
        Log odds of a tie between equals.
    log_density : float
        Of the posterior, up to a constant that does not depend on the scale.
    gradient : float array (system,)
        Of the log likelihood, by log strengths.
    precision : float array (system + 1, system + 1)
        Minus the second derivatives of the log posterior.
    information : float array (system, system)
        Those of the log likelihood alone, by log strengths.
    """

    strength: Floats
    tie: float
    log_density: float
    gradient: Floats
    precision: Floats
    information: Floats


def davidson_probabilities(difference: ArrayLike, nu: ArrayLike = 0.0) -> tuple[Floats, Floats, Floats]:
    r"""Probabilities that the first of two systems wins, loses and ties.

    Parameters
    ----------
    difference : float array
        Log strength of the first minus that of the second.
    nu : float array that broadcasts
        Davidson's :math:`\nu`; 0 makes ties impossible.

    Returns
    -------
    win, loss, tie : float arrays

    Examples
    --------
    >>> [round(float(p), 4) for p in davidson_probabilities(np.log(2 / 1), 0.7)]
    [0.5013, 0.2506, 0.2481]
    """
    half, nu = np.broadcast_arrays(np.asarray(difference, dtype=float) / 2, np.asarray(nu, dtype=float))
    top = np.abs(half)
    win, loss, tie = np.exp(half - top), np.exp(-half - top), nu * np.exp(-top)
    total = win + loss + tie
    return win / total, loss / total, tie / total


def mode(
    tallies: Tallies,
    scale: float,
    *,
    centre: Floats | None = None,
    tie_centre: float = 0.0,
    start: Mode | None = None,
    close: float = CLOSE,
) -> Mode:
    """Highest posterior density for one prior scale, by Newton's method.

    Parameters
    ----------
    tallies : Tallies
    scale : float
        Standard deviation of log strengths in the prior.
    centre : float array (system,), optional
        Means of the prior; 0 by default.
    tie_centre : float
        Centre of the prior of the log odds of a tie.
    start : Mode, optional
        Where to begin.
    close : float
        Squared length, in standard deviations, of the last step of the search; the error left is much smaller.

    Returns
    -------
    Mode
    """
    size = tallies.size
    centre = np.zeros(size) if centre is None else centre - centre.mean()
    point = np.zeros(size + 1) if start is None else np.append(start.strength, start.tie)
    value, gradient, hessian = _posterior(tallies, point, scale, centre, tie_centre)
    for _ in range(STEPS):
        step = np.linalg.solve(-hessian, gradient)
        # Twice what the step gains where the density is normal: its square root is an error in standard deviations.
        gain = float(gradient @ step)
        step = step * min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300))
        for _ in range(HALVINGS):
            new = _posterior(tallies, point + step, scale, centre, tie_centre)
            if new[0] >= value - 1e-9 * abs(value):
                break
            step = step / 2  # the density is concave: a shorter step that goes up exists
        point = point + step
        value, gradient, hessian = new
        if gain < close:
            break
    strength = point[:size] - point[:size].mean()
    _, slope, curvature = _likelihood(tallies, point)
    return Mode(strength, float(point[size]), float(value), slope[:size], -hessian, -curvature[:size, :size])


def evidence(tallies: Tallies, scales: Floats) -> tuple[Floats, list[Mode]]:
    """Log density of the data for each prior scale, by Laplace's method and up to one constant, and the modes."""
    modes: list[Mode] = []
    for scale in scales:
        modes.append(mode(tallies, float(scale), start=modes[-1] if modes else None))
    return np.array([one.log_density - np.linalg.slogdet(one.precision)[1] / 2 for one in modes]), modes


def _likelihood(tallies: Tallies, point: Floats) -> tuple[float, Floats, Floats]:
    """Log likelihood, gradient and Hessian by log strengths and the log odds of a tie between equals."""
    size = tallies.size
    root = np.exp((point[:size] - point[:size].mean()) / 2)
    nu = 2 * np.exp(point[size]) if tallies.ties else 0.0
    odds = root[:, None] / root
    total = odds + 1 / odds + nu
    win, tie = odds / total, nu / total
    edge = win - win.T
    number = tallies.total
    gradient, hessian = np.zeros(size + 1), np.zeros((size + 1, size + 1))
    value = float((tallies.wins * np.log(odds)).sum() - (number * np.log(total)).sum() / 2)
    gradient[:size] = ((tallies.wins - tallies.wins.T - number * edge) / 2).sum(axis=1)
    bend = number * (win + win.T - edge**2) / 4
    hessian[:size, :size] = bend
    hessian[np.arange(size), np.arange(size)] = -(bend.sum(axis=1) - np.diagonal(bend))
    if tallies.ties:
        value += float(tallies.tied.sum() / 2 * np.log(nu))
        gradient[size] = (tallies.tied - number * tie).sum() / 2
        hessian[size, size] = -(number * tie * (1 - tie)).sum() / 2
        hessian[size, :size] = hessian[:size, size] = (number * tie * edge).sum(axis=1) / 2
    return value, gradient, hessian


def _posterior(
    tallies: Tallies, point: Floats, scale: float, centre: Floats, tie_centre: float
) -> tuple[float, Floats, Floats]:
    """Log posterior, gradient and Hessian by log strengths and the log odds of a tie."""
    size = tallies.size
    value, gradient, hessian = _likelihood(tallies, point)
    away = point[:size] - centre
    value += float(-(away**2).sum() / (2 * scale**2) - size * np.log(scale))
    gradient[:size] -= away / scale**2
    hessian[np.arange(size), np.arange(size)] -= 1 / scale**2
    if not tallies.ties:
        hessian[size, size] = -1.0  # nothing depends on it, and it stays where it is
        return value, gradient, hessian
    odds = (point[size] - tie_centre) / 2
    slope = np.tanh(odds)
    value -= float(2 * np.logaddexp(odds, -odds))
    gradient[size] -= slope
    hessian[size, size] -= max(float(1 - slope**2) / 2, FLATTEST)
    return value, gradient, hessian
