r"""Exact refits of thousands of simulated data sets at once.

The beta-binomial log likelihood is linear in the survival counts of a data set, and its coefficients do not depend on
the data. So they are tabulated once on a grid of (logit mu, logit rho), and refitting many data sets is one matrix
product. The grid is made for the batch: wide enough for the widest posterior in it, fine enough for the narrowest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeseval.engines.batches import STEPS, Batch
from bayeseval.engines.quadrature import EXTENT, Prior, cardinal_cdf, log_sigmoid
from bayeseval.engines.refit_scores import ScoreSummaries
from bayeseval.metrics import Metric

__all__ = ["Refits", "beta_interval", "refit"]

NATS = 16.0
COARSENESS = 1.1
"""Aimed step of the grid in units of the smallest posterior sd; the trapezoidal rule then errs by about 1e-7."""
COARSEST = 1.4
"""Step above which the batch is fitted again on a finer grid; the error is then up to 1e-4."""
LEAST_NODES, MOST_NODES = 24, 96
PROBES = 8
FUTURES = 256
MOST_KEPT = 1 << 24
"""Most weights held at once (128 MiB of float64); beyond that they are computed a second time."""
FINE = 8
EDGE = 1e-5


@dataclass(frozen=True)
class Refits:
    """Exact posteriors of a batch, summarised.

    Attributes
    ----------
    population_lower, population_upper : float arrays (future,)
        Ends of the equal-tailed interval of the score of fresh prompts (of mu, for the mean).
    benchmark_mean, benchmark_sd : float arrays (future,)
        Of the mean over the benchmark's prompts of their score (of p_i, for the mean).
    robust_mean, robust_sd : float arrays (future,)
        Of the Bayesian bootstrap over prompts, with p_i drawn from their posterior.
    population_mean, population_sd : float arrays (future,)
        Of the score of fresh prompts.
    """

    population_lower: np.ndarray
    population_upper: np.ndarray
    benchmark_mean: np.ndarray
    benchmark_sd: np.ndarray
    robust_mean: np.ndarray
    robust_sd: np.ndarray
    population_mean: np.ndarray
    population_sd: np.ndarray

    def sd(self, estimand: str, method: str) -> np.ndarray:
        """Posterior standard deviation of the score, for an estimand and a method (future,)."""
        if estimand == "benchmark":
            return self.benchmark_sd
        return self.population_sd if method == "model" else self.robust_sd

    def interval(self, estimand: str, method: str, prob: float) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the interval of the score, for an estimand and a method.

        For the benchmark and the robust population score they are quantiles of the Beta with the same mean and
        standard deviation, a sum over prompts being nearly of that form.
        """
        if estimand == "population" and method == "model":
            return self.population_lower, self.population_upper
        if estimand == "benchmark":
            return beta_interval(self.benchmark_mean, self.benchmark_sd, prob)
        return beta_interval(self.robust_mean, self.robust_sd, prob)


def refit(
    batch: Batch,
    prior_mu: Prior,
    prior_rho: Prior,
    prob: float,
    metric: Metric | None = None,
    ends: bool = True,
) -> Refits:
    """Posterior of every data set of a batch, by quadrature on one grid.

    Parameters
    ----------
    batch : Batch
    prior_mu, prior_rho : pair of float
        Parameters of the Beta priors.
    prob : float
        Probability inside the population intervals.
    metric : Metric, optional
        The mean by default. Other scores need a batch with cells, and one of known p made for the same metric.
    ends : bool
        Whether the ends of the population interval are wanted, which for other scores take most of the time; NaN if
        not.

    Returns
    -------
    Refits

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.engines.batches import batch_of_counts
    >>> from bayeseval.engines.refits import refit
    >>> batch = batch_of_counts(np.array([[1, 0, 1, 1], [0, 0, 0, 1]]), np.ones(4, dtype=int))
    >>> refit(batch, (1, 1), (1, 1), 0.95).population_mean.round(4)  # Beta(4, 2) and Beta(2, 4)
    array([0.6667, 0.3333])
    """
    ask = _Asked(prior_mu, prior_rho, prob, None if metric is None or metric.kind == "mean" else metric, ends)
    return Refits(*_refit(batch, ask, depth=0))


@dataclass(frozen=True)
class _Asked:
    """What is asked of every data set."""

    prior_mu: Prior
    prior_rho: Prior
    prob: float
    metric: Metric | None
    ends: bool


def _refit(batch: Batch, ask: _Asked, depth: int) -> list[np.ndarray]:
    """Summaries of a batch; one whose posteriors differ too much for one grid is split in two, and so on."""
    box, nodes = _layout(batch, ask.prior_mu, ask.prior_rho)
    size = batch.features.shape[0]
    for _ in range(8):
        if max(nodes) > MOST_NODES and size > PROBES:
            halves = np.array_split(_order(batch, depth), 2)
            parts = [_refit(batch.take(half), ask, depth + 1) for half in halves]
            back = np.argsort(np.concatenate(halves))
            return [np.concatenate(values)[back] for values in zip(*parts, strict=True)]
        nodes = (min(nodes[0], MOST_NODES), min(nodes[1], MOST_NODES))
        grid = _Grid(batch, box, nodes, ask.prior_mu, ask.prior_rho)
        chunks = [slice(start, start + FUTURES) for start in range(0, size, FUTURES)]
        kept, edges, steps = [], np.zeros(4), np.zeros(2)
        for chunk in chunks:
            weight = grid.weights(batch.features[chunk])
            edges = np.maximum(edges, _edge_mass(weight))
            steps = np.maximum(steps, grid.coarseness(weight))
            kept.append(weight if weight[0].size * size <= MOST_KEPT else None)
        wider, finer = _adapted(box, nodes, edges, steps)
        if wider == box and (finer == nodes or size <= PROBES and min(nodes) == MOST_NODES):
            break
        box, nodes = wider, finer
    summarise = _summarise if ask.metric is None else ScoreSummaries(grid.x, grid.y, ask.metric, ask.ends)
    summaries = [
        summarise(grid, grid.weights(batch.features[chunk]) if weight is None else weight, batch.take(chunk), ask.prob)
        for chunk, weight in zip(chunks, kept, strict=True)
    ]
    return [np.concatenate(values) for values in zip(*summaries, strict=True)]


def _order(batch: Batch, depth: int) -> np.ndarray:
    """Data sets in the order of their mean, or on every other level of their spread over prompts."""
    weights = np.where(batch.generations < 0, 1.0, batch.generations)
    mean = batch.total.sum(axis=1) / (batch.prompts * weights).sum()
    square = (batch.square / np.maximum(weights, 1) ** 2).sum(axis=1) / batch.size
    key = mean if depth % 2 == 0 else (square - mean**2) / np.maximum(mean * (1 - mean), 1e-12)
    return np.argsort(key, kind="stable")


class _Grid:
    """Nodes, log prior and tables of the likelihood's coefficients."""

    def __init__(
        self,
        batch: Batch,
        box: tuple[float, float, float, float],
        nodes: tuple[int, int],
        prior_mu: Prior,
        prior_rho: Prior,
    ) -> None:
        self.x, self.y = np.linspace(*box[:2], nodes[0]), np.linspace(*box[2:], nodes[1])
        x, y = (values.ravel() for values in np.meshgrid(self.x, self.y, indexing="ij"))
        log_mu, log_not_mu, log_rho, log_not_rho = log_sigmoid(x), log_sigmoid(-x), log_sigmoid(y), log_sigmoid(-y)
        self.parts = tuple(np.exp(values) for values in (log_mu, log_not_mu, log_rho, log_not_rho))
        self.base = (
            prior_mu[0] * log_mu
            + prior_mu[1] * log_not_mu
            + prior_rho[0] * log_rho
            + prior_rho[1] * log_not_rho
            + batch.constant(*self.parts)
        )
        self.batch = batch
        size = batch.features.shape[1]
        self.slices = [slice(start, min(start + STEPS, size)) for start in range(0, size, STEPS)]
        self._tables = [batch.coefficients(*self.parts, part) for part in self.slices] if size <= 4 * STEPS else None

    def weights(self, features: np.ndarray) -> np.ndarray:
        """Posterior probability of the nodes (future, X, Y) of each data set."""
        height = np.broadcast_to(self.base, (features.shape[0], self.base.size)).copy()
        for index, part in enumerate(self.slices):
            table = self._tables[index] if self._tables else self.batch.coefficients(*self.parts, part)
            height += features[:, part] @ table
        height -= height.max(axis=1, keepdims=True)
        weight = np.exp(height, out=height)
        weight /= weight.sum(axis=1, keepdims=True)
        return weight.reshape(-1, self.x.size, self.y.size)

    def coarseness(self, weight: np.ndarray) -> np.ndarray:
        """Step in units of the smallest posterior standard deviation, for both axes."""
        result = []
        for nodes, axis in ((self.x, 2), (self.y, 1)):
            mass = weight.sum(axis=axis)
            mean = mass @ nodes
            sd = np.sqrt(np.maximum(mass @ nodes**2 - mean**2, 1e-30))
            result.append((nodes[1] - nodes[0]) / sd.min())
        return np.array(result)


def _summarise(grid: _Grid, weight: np.ndarray, batch: Batch, prob: float) -> tuple[np.ndarray, ...]:
    mass = weight.sum(axis=2)
    fine = np.linspace(grid.x[0], grid.x[-1], FINE * (grid.x.size - 1) + 1)
    cumulative = cardinal_cdf(grid.x, mass, fine)
    ends = [np.exp(log_sigmoid(_crossing(cumulative, fine, target))) for target in ((1 - prob) / 2, (1 + prob) / 2)]
    mu = np.exp(log_sigmoid(grid.x))
    mu_mean = mass @ mu
    mu_sd = np.sqrt(np.maximum(mass @ mu**2 - mu_mean**2, 0))
    mean, square, second = _benchmark_moments(grid, weight, batch)
    variance = np.maximum(square - mean**2, 0)
    spread = np.maximum(second - square, 0) / (batch.size + 1)
    return (*ends, mean, np.sqrt(variance), mean, np.sqrt(variance + spread), mu_mean, mu_sd)


def _benchmark_moments(grid: _Grid, weight: np.ndarray, batch: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posterior means of mean(p_i), of its square, and of mean(p_i^2), for each data set (future,).

    Given mu and rho they are polynomials in the sums of the counts, so that all of them come from a few columns that
    are averaged over the nodes at once.
    """
    mu, not_mu, rho, not_rho = grid.parts
    precision = not_rho / rho
    a, b = mu * precision, not_mu * precision
    if batch.generations[0] < 0:
        mean, second = batch.total[:, 0] / batch.size, batch.square[:, 0] / batch.size
        return mean, mean**2, second
    flat = weight.reshape(weight.shape[0], -1)
    wholes = precision + batch.generations[:, None]
    products = np.einsum("ig,jg->ijg", 1 / wholes, 1 / wholes).reshape(-1, precision.size)
    inner = [  # for each size class: columns of E[sum p], E[sum p^2] and Var[sum p] that multiply 1, total and square
        np.stack([a / whole, 1 / whole, *(column / (whole * (whole + 1)) for column in (a * (a + 1), 2 * a + 1, 1.0))])
        for whole in wholes
    ]
    outer = [
        np.stack([column / (whole**2 * (whole + 1)) for column in (a * (b + k), b + k - a, 1.0)])
        for whole, k in zip(wholes, batch.generations, strict=True)
    ]
    columns = np.concatenate([*inner, *outer, products * a, products * a * a, products])
    averages = np.split(flat @ columns.T, np.cumsum([5 * wholes.shape[0], 3 * wholes.shape[0]]), axis=1)
    n, total, square = batch.prompts, batch.total, batch.square
    first = averages[0].reshape(-1, wholes.shape[0], 5)
    mean = (n * first[..., 0] + total * first[..., 1]).sum(axis=1)
    second = (n * first[..., 2] + total * first[..., 3] + square * first[..., 4]).sum(axis=1)
    last = averages[1].reshape(-1, wholes.shape[0], 3)
    variance = (n * last[..., 0] + total * last[..., 1] - square * last[..., 2]).sum(axis=1)
    cross_a, cross_aa, cross = averages[2].reshape(-1, 3, wholes.shape[0], wholes.shape[0]).transpose(1, 0, 2, 3)
    square_of_mean = np.einsum("i,j,sij->s", n, n, cross_aa) + 2 * np.einsum("i,sj,sij->s", n, total, cross_a)
    square_of_mean += np.einsum("si,sj,sij->s", total, total, cross)
    return mean / batch.size, (variance + square_of_mean) / batch.size**2, second / batch.size


def _layout(
    batch: Batch, prior_mu: Prior, prior_rho: Prior
) -> tuple[tuple[float, float, float, float], tuple[int, int]]:
    """A rectangle and nodes that suit some of the data sets, spread over the batch."""
    order = np.argsort(batch.total.sum(axis=1), kind="stable")
    probes = batch.take(order[np.unique(np.linspace(0, order.size - 1, PROBES).astype(int))])
    box, size = (-EXTENT, EXTENT, -EXTENT, EXTENT), 2 * LEAST_NODES
    for _ in range(30):
        grid = _Grid(probes, box, (size, size), prior_mu, prior_rho)
        weight = grid.weights(probes.features)
        inside = (weight > weight.max(axis=(1, 2), keepdims=True) * np.exp(-NATS)).any(axis=0)
        new = (*_extent(grid.x, inside.any(axis=1)), *_extent(grid.y, inside.any(axis=0)))
        if (new[1] - new[0]) > 0.6 * (box[1] - box[0]) and (new[3] - new[2]) > 0.6 * (box[3] - box[2]):
            break
        box = new
    steps = grid.coarseness(weight) * [(new[1] - new[0]) / (box[1] - box[0]), (new[3] - new[2]) / (box[3] - box[2])]
    sizes = np.maximum(np.ceil(1.4 * size * steps / COARSENESS), LEAST_NODES).astype(int)
    return new, (int(sizes[0]), int(sizes[1]))


def _extent(nodes: np.ndarray, inside: np.ndarray) -> tuple[float, float]:
    index = np.flatnonzero(inside)
    step = nodes[1] - nodes[0]
    return float(max(nodes[index[0]] - step, -EXTENT)), float(min(nodes[index[-1]] + step, EXTENT))


def _edge_mass(weight: np.ndarray) -> np.ndarray:
    """Largest mass on each edge of the grid: left, right, bottom, top."""
    sides = (weight[:, 0], weight[:, -1], weight[:, :, 0], weight[:, :, -1])
    return np.array([side.sum(axis=1).max() for side in sides])


def _adapted(
    box: tuple[float, float, float, float], nodes: tuple[int, int], edges: np.ndarray, steps: np.ndarray
) -> tuple[tuple[float, float, float, float], tuple[int, int]]:
    """Rectangle and nodes after a look at every data set: wider where mass touches an edge, finer where too coarse."""
    low_x, high_x, low_y, high_y = box
    margins = 0.3 * np.array([high_x - low_x, high_x - low_x, high_y - low_y, high_y - low_y]) * (edges > EDGE)
    wider = (
        float(max(-EXTENT, low_x - margins[0])),
        float(min(EXTENT, high_x + margins[1])),
        float(max(-EXTENT, low_y - margins[2])),
        float(min(EXTENT, high_y + margins[3])),
    )
    growth = [(wider[1] - wider[0]) / (high_x - low_x), (wider[3] - wider[2]) / (high_y - low_y)]
    first, second = (
        int(np.ceil(size * grow * (1.1 * step / COARSENESS if step > COARSEST else 1.0)))
        for size, grow, step in zip(nodes, growth, steps, strict=True)
    )
    return wider, (first, second)


def _crossing(cumulative: np.ndarray, nodes: np.ndarray, target: float) -> np.ndarray:
    """Where each row of cumulative probabilities crosses the target: a cubic through four nodes on the logit scale."""
    index = np.clip((cumulative < target).sum(axis=1), 2, nodes.size - 2)
    around = np.clip(np.take_along_axis(cumulative, index[:, None] + np.arange(-2, 2), axis=1), 1e-14, 1 - 1e-14)
    height = np.log(around / (1 - around)) - np.log(target / (1 - target))
    result = np.zeros(index.size)
    for node in range(4):
        others = [other for other in range(4) if other != node]
        gaps = height[:, [node]] - height[:, others]
        share = np.prod(-height[:, others] / np.where(np.abs(gaps) < 1e-9, 1e-9, gaps), axis=1)
        result += share * nodes[index - 2 + node]
    return np.clip(result, nodes[index - 1], nodes[index])


def beta_interval(mean: np.ndarray, sd: np.ndarray, prob: float) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles of the Beta distributions with the given means and standard deviations."""
    from scipy.special import betaincinv

    certain = (sd <= 0) | (mean <= 0) | (mean >= 1)
    safe_mean = np.where(certain, 0.5, mean)
    precision = np.where(certain, 1.0, safe_mean * (1 - safe_mean) / np.maximum(sd, 1e-12) ** 2 - 1)
    precision = np.maximum(precision, 1e-6)
    ends = [
        np.where(certain, mean, betaincinv(safe_mean * precision, (1 - safe_mean) * precision, target))
        for target in ((1 - prob) / 2, (1 + prob) / 2)
    ]
    return ends[0], ends[1]
