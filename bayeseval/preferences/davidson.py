r"""Strengths of systems from wins, losses and ties: the models of Bradley and Terry, and of Davidson.

With log strengths :math:`\lambda` and :math:`\nu \ge 0`, the first of two systems wins, loses or ties with probabilities
proportional to

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

STEPS = 100
CLOSE = 1e-10


class Tallies(NamedTuple):
    """Outcomes of every pair of systems.

    Attributes
    ----------
    a, b : int array (pair,)
        Numbers of the two systems.
    counts : float array (pair, 3)
        How often a won, b won, and they tied; halves and weights are allowed.
    size : int
        Number of systems.
    ties : bool
        Whether a tie is an outcome of the model; without, the third column is not looked at.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    counts: Floats
    size: int
    ties: bool

    def treated(self, how: str) -> Tallies:
        """Ties as "davidson", "half" or "ignore" has them."""
        counts = self.counts.copy()
        if how != "davidson":
            counts[:, :2] += counts[:, 2:] / 2 if how == "half" else 0.0
            counts[:, 2] = 0.0
        return self._replace(counts=counts, ties=how == "davidson")


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
    tallies: Tallies, scale: float, *, centre: Floats | None = None, tie_centre: float = 0.0, start: Mode | None = None
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
        # The density is concave: a shorter step that goes up always exists.
        for _ in range(40):
            new = _posterior(tallies, point + step, scale, centre, tie_centre)
            if new[0] >= value - 1e-9 * abs(value):
                break
            step = step / 2
        point = point + step
        value, gradient, hessian = new
        if np.abs(step).max() < CLOSE * max(1.0, np.abs(point).max()) or gradient @ step < 1e-14:
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
    size, a, b = tallies.size, tallies.a, tallies.b
    half = (point[a] - point[b]) / 2
    nu = 2 * np.exp(point[size]) if tallies.ties else 0.0
    win, loss, tie = davidson_probabilities(2 * half, nu)
    won, lost, tied = tallies.counts.T
    total = won + lost + (tied if tallies.ties else 0.0)
    top = np.abs(half)
    log_total = top + np.log(np.exp(half - top) + np.exp(-half - top) + nu * np.exp(-top))
    value = float(((won - lost) * half - total * log_total).sum())
    slope = (won - lost - total * (win - loss)) / 2
    bend = -total * (win + loss - (win - loss) ** 2) / 4
    gradient = np.bincount(a, slope, size + 1) - np.bincount(b, slope, size + 1)
    hessian = np.zeros((size + 1, size + 1))
    np.add.at(hessian, (a, b), -bend)
    hessian += hessian.T
    diagonal = np.bincount(a, bend, size + 1) + np.bincount(b, bend, size + 1)
    hessian[np.arange(size + 1), np.arange(size + 1)] = diagonal
    if tallies.ties:
        value += float(tied.sum() * np.log(nu))
        cross = total * tie * (win - loss) / 2
        gradient[size] = (tied - total * tie).sum()
        hessian[size, size] = -(total * tie * (1 - tie)).sum()
        hessian[size, :size] = (np.bincount(a, cross, size + 1) - np.bincount(b, cross, size + 1))[:size]
        hessian[:size, size] = hessian[size, :size]
    return value, gradient, hessian


def _posterior(
    tallies: Tallies, point: Floats, scale: float, centre: Floats, tie_centre: float
) -> tuple[float, Floats, Floats]:
    """Log posterior, gradient and Hessian; without ties the log odds of one keep their prior."""
    size = tallies.size
    value, gradient, hessian = _likelihood(tallies, point)
    away = point[:size] - centre
    value += float(-(away**2).sum() / (2 * scale**2) - size * np.log(scale))
    gradient[:size] -= away / scale**2
    hessian[np.arange(size), np.arange(size)] -= 1 / scale**2
    odds = (point[size] - tie_centre) / 2
    value -= float(2 * np.logaddexp(odds, -odds))
    gradient[size] -= np.tanh(odds)
    hessian[size, size] -= 1 / (2 * np.cosh(odds) ** 2)
    return value, gradient, hessian
