r"""Which gold answers are wrong: a two-component model of the answers of several systems.

Of every prompt one answer t is right. Prompts belong to latent classes, which the groups of a benchmark hold in
different shares. In a class, system s gives t with probability :math:`p_{is}`, which over prompts has any distribution,
and its wrong answers follow a Chinese restaurant process whose concentration :math:`\kappa` varies over prompts; at
some prompts a distractor takes a part of the wrong answers before the others are seated. So a single wrong answer that
is given again and again is no surprise by itself. What the wrong answers are is drawn from a second such process
(:math:`\eta`) that all systems share: systems make the same mistakes.

- *Gold is right:* t is the gold answer.
- *Gold is wrong*, before looking with probability ε: t is another answer, seen or not, and the gold answer is one of
  the wrong ones: what systems answer, or, as often, something that has nothing to do with them.

.. math::

    P(\text{gold wrong}\mid n_i) = \frac{\varepsilon\sum_{t\ne g} L(t)\,P(g\mid t)}
    {\varepsilon\sum_{t\ne g}L(t)\,P(g\mid t) + (1-\varepsilon)\,L(g)},\qquad
    L(t) = \sum_d \omega_d\, h_{d}(m_{-t}) \prod_s f_{sd}(n_{st})\, e_{sd}(n_{s,-t})

f is the binomial averaged over p, e and h are the probabilities of the partitions of wrong answers and of their
labels (one table of the restaurant for each system and answer). All distributions are estimated from the prompts
together as if every gold answer was right (EM). So a few wrong ones make the others less conspicuous, and never more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from bayeseval.arrays import Floats, Integers
from bayeseval.errors import require_probability

__all__ = ["RATE", "Mislabelling", "mislabelled"]

GRID = np.array([0.001, 0.005, 0.015, 0.04, 0.08, *np.linspace(0.13, 0.87, 13), 0.92, 0.96, 0.985, 0.995, 0.999])
"""Values of P(right answer) that a system may have at a prompt."""
KAPPAS = np.geomspace(0.03, 60.0, 9)
"""Concentrations, of the wrong answers of a system and of what systems share."""
RATE = 0.03
"""Share of wrong gold answers before looking: about what was found in test sets that people checked."""
LIKE_A_SYSTEM = 0.5
"""Of wrong gold answers, the share that are what systems get wrong, too."""
GROUP_WEIGHT = 5.0
"""Prompts of all groups that count as much as those of a group, when classes are shared out."""
SPREAD = 3.0
"""Prompts' worth of weight that each distribution spreads evenly over its values."""
CLASSES = 5
PROMPTS_A_CLASS = 20
ITERATIONS = 60
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Mislabelling:
    """What the model of wrong gold answers found; made by `mislabelled`.

    Attributes
    ----------
    probability : float array (prompt,)
        Posterior probability that the gold answer is wrong.
    candidate : int array (prompt,)
        Cluster that is most probably right if the gold answer is not; -1 where that is an answer nobody gave.
    candidate_probability : float array (prompt,)
        Posterior probability that it is the right one.
    """

    probability: Floats
    candidate: Integers
    candidate_probability: Floats


def mislabelled(
    counts: np.ndarray,
    prompt: np.ndarray,
    right: np.ndarray,
    group: np.ndarray,
    alphabet: np.ndarray,
    rate: float = RATE,
) -> Mislabelling:
    """Posterior probability, for every prompt, that its gold answer is wrong.

    Parameters
    ----------
    counts : int array (cluster, system)
        Generations of each system in each cluster of answers; those without an answer are left out.
    prompt : int array (cluster,)
        Prompt of each cluster.
    right : bool array (cluster,)
        Whether the cluster is what the gold answer says; several clusters of a prompt may be, or none.
    group : int array (prompt,)
        Benchmark, subject or task of each prompt, from 0: how hard prompts are differs between them.
    alphabet : int array (prompt,)
        Number of different answers that are known to occur at prompts of its group, such as 4 letters.
    rate : float
        Share of wrong gold answers before looking. The data cannot say it: that no answer to a hard prompt is right is
        what a wrong gold answer looks like.

    Returns
    -------
    Mislabelling

    Notes
    -----
    Hyper-parameters are plugged in at their estimates, which a few prompts hardly know. Systems that make each other's
    mistakes for reasons that the classes do not hold are counted as if they were more independent than they are, so
    that probabilities of many systems are too extreme; their order suffers less.

    References
    ----------
    .. [1] Northcutt, Athalye, Mueller (2021). Pervasive Label Errors in Test Sets Destabilize Machine Learning
       Benchmarks. https://arxiv.org/abs/2103.14749
    .. [2] Dawid, Skene (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm. Applied
       Statistics 28, 20-28.

    Examples
    --------
    Of 40 prompts, 39 are answered as the gold answer says, and one otherwise.

    >>> counts = np.full((40, 1), 10)
    >>> found = mislabelled(counts, np.arange(40), np.arange(40) != 7, np.zeros(40, dtype=int), np.full(40, 40))
    >>> int(found.probability.argmax()), int(found.candidate[7])
    (7, 7)
    """
    odds = require_probability("rate", rate)
    options = _Options(
        np.asarray(counts, dtype=np.int64), prompt, right, np.asarray(group, dtype=np.int64), np.asarray(alphabet)
    )
    estimates = _start(options)
    for _ in range(ITERATIONS):
        estimates = _improved(options, estimates)
    log = _log_likelihood(options, estimates, slice(None))[0]
    log += np.where(options.golden, np.log1p(-odds), np.log(odds)) + options.label
    share = _shares(log, options.prompt, options.size)
    rest = np.arange(options.size, len(share))
    order = rest[np.lexsort((rest, -share[rest], options.prompt[rest]))]
    first = order[np.r_[True, np.diff(options.prompt[order]) > 0]] if len(order) else order
    probability = np.clip(1.0 - share[: options.size], 0.0, 1.0)
    return Mislabelling(probability, options.cluster[first], share[first])


class _Options:
    """What may be the right answer of a prompt: the gold one, each other one seen, one never seen.

    The first ``size`` options are the gold ones, in the order of the prompts. Likelihoods are needed for distinct
    cells alone: (generations, those of t, kinds of wrong answers) of each system, and (kinds, labels) of all of them.
    """

    def __init__(
        self, counts: np.ndarray, prompt: np.ndarray, right: np.ndarray, group: np.ndarray, alphabet: np.ndarray
    ) -> None:
        size, systems = len(group), counts.shape[1]
        self.size, self.systems = size, systems
        self.group, self.groups = group, int(group.max(initial=-1)) + 1
        other = np.flatnonzero(~right & (counts.sum(axis=1) > 0))
        gold, total, blocks, weight = (np.zeros((size, systems)) for _ in range(4))
        np.add.at(gold, prompt[right], counts[right])
        np.add.at(total, prompt, counts)
        np.add.at(blocks, prompt[other], counts[other] > 0)
        np.add.at(weight, prompt[other], _log_factorial(counts[other]))
        blocks, weight = blocks + (gold > 0), weight + _log_factorial(gold)
        mine = np.concatenate([gold, counts[other], np.zeros((size, systems))])
        self.prompt = np.concatenate([np.arange(size), prompt[other], np.arange(size)])
        self.cluster = np.concatenate([np.full(size, -1), other, np.full(size, -1)])
        self.golden = np.arange(len(mine)) < size
        given = total[self.prompt]
        kinds = blocks[self.prompt] - (mine > 0)
        self.constant = (weight[self.prompt] - _log_factorial(mine)).sum(axis=1)
        largest = _largest_other(mine, np.concatenate([gold, counts[other]]), self.prompt[: -size or None], self.prompt)
        self.cell: list[np.ndarray] = []
        # Each is (values, logs of their scale): p, concentration, part of the distractor, concentration of the others.
        self.binomial, self.partition, self.part, self.rest = ([] for _ in range(4))
        for s in range(systems):
            code, (k, n, c, top) = _distinct(given[:, s], mine[:, s], kinds[:, s], largest[:, s])
            self.cell.append(code)
            without = np.minimum(c, 1)
            self.binomial.append(_levelled(xlogy(n, GRID) + xlog1py(k - n, -GRID)))
            self.partition.append(_levelled(_new_tables(c, k - n)))
            self.part.append(_levelled(xlogy(top, GRID) + xlog1py(k - n - top, -GRID)))
            self.rest.append(_levelled(_new_tables(c - without, k - n - top) - _log_factorial(top)))
        self._shared(gold, counts[other], prompt[other], mine)
        self._labels(gold.sum(axis=1), given.sum(axis=1) - mine.sum(axis=1), alphabet)

    def _shared(self, gold: np.ndarray, other: np.ndarray, owner: np.ndarray, mine: np.ndarray) -> None:
        """Which wrong answers systems share."""
        users, golden = (other > 0).sum(axis=1), (gold > 0).sum(axis=1)
        labels = np.bincount(owner, minlength=self.size) + (golden > 0)
        tables = np.bincount(owner, weights=users, minlength=self.size) + golden
        weight = np.bincount(owner, weights=_log_factorial(users), minlength=self.size) + _log_factorial(golden)
        used = (mine > 0).sum(axis=1)
        kinds, many = labels[self.prompt] - (used > 0), tables[self.prompt] - used
        if self.systems == 1:  # every wrong answer of a single system has a label of its own
            kinds, many = np.zeros_like(kinds), np.zeros_like(many)
        else:
            self.constant = self.constant + weight[self.prompt] - _log_factorial(used)
        self.shared_cell, (c, m) = _distinct(kinds, many)
        self.shared = _levelled(_new_tables(c, m))

    def _labels(self, gold: np.ndarray, wrong: np.ndarray, alphabet: np.ndarray) -> None:
        """Probability that a wrong gold answer is the one that it is: seen among the wrong answers, or not seen."""
        seen = gold[self.prompt] > 0
        others = np.maximum(np.asarray(alphabet)[self.prompt] - 1.0, 1.0)
        kinds = np.bincount(self.prompt[~self.golden], minlength=self.size)[self.prompt] - 1  # less the one not seen
        kinds = np.minimum(kinds + seen - (self.cluster >= 0), others)
        unrelated = np.where(seen, 1.0 / others, np.maximum(1.0 - kinds / others, 1.0 / others))
        drawn = np.where(seen, gold[self.prompt], 1.0) / (wrong + 1.0)
        self.label = np.where(self.golden, 0.0, np.log(LIKE_A_SYSTEM * drawn + (1 - LIKE_A_SYSTEM) * unrelated))


@dataclass(frozen=True, eq=False)
class _Estimates:
    """Distributions, each over its last axis."""

    p: np.ndarray  # (system, class, value of p)
    kappa: np.ndarray  # (system, class, concentration)
    part: np.ndarray  # (system, class, part of the distractor)
    some: np.ndarray  # (system, class, without or with a distractor)
    eta: np.ndarray  # (class, concentration)
    classes: np.ndarray  # (group, class)


@dataclass(frozen=True, eq=False)
class _Table:
    """Likelihoods of the cells of a system (cell, class), but for their scales."""

    right: np.ndarray
    alone: np.ndarray
    part: np.ndarray
    rest: np.ndarray
    distractor: np.ndarray  # posterior share


def _start(options: _Options) -> _Estimates:
    """Classes from hard to easy."""
    number = int(np.clip(options.size // PROMPTS_A_CLASS, 2, CLASSES))
    centre = np.linspace(0.1, 0.9, number)[:, None]
    p = np.repeat(_scaled(np.exp(-0.5 * ((GRID - centre) / 0.35) ** 2))[None], options.systems, axis=0)
    kappa, part, some = (np.full((options.systems, number, size), 1.0 / size) for size in (len(KAPPAS), len(GRID), 2))
    eta = np.full((number, len(KAPPAS)), 1.0 / len(KAPPAS))
    return _Estimates(p, kappa, part, some, eta, np.full((options.groups, number), 1.0 / number))


def _log_likelihood(
    options: _Options, now: _Estimates, rows: slice
) -> tuple[np.ndarray, np.ndarray, list[_Table], np.ndarray]:
    """Log likelihood of options, their shares of the classes, and the tables of cells behind it."""
    log = np.log(now.classes)[options.group[options.prompt[rows]]]
    tables = []
    for s in range(options.systems):
        right, alone, part, rest = (
            np.maximum(values @ weights.T, TINY)
            for values, weights in (
                (options.binomial[s][0], now.p[s]), (options.partition[s][0], now.kappa[s]),
                (options.part[s][0], now.part[s]), (options.rest[s][0], now.kappa[s]),
            )
        )  # fmt: skip
        one = np.log(alone * now.some[s][:, 0]) + options.partition[s][1]
        two = np.log(part) + np.log(rest * now.some[s][:, 1]) + options.part[s][1] + options.rest[s][1]
        wrong = np.logaddexp(one, two)
        tables.append(_Table(right, alone, part, rest, np.exp(two - wrong)))
        log = log + (np.log(right) + options.binomial[s][1] + wrong)[options.cell[s][rows]]
    shared = np.maximum(options.shared[0] @ now.eta.T, TINY)
    log = log + (np.log(shared) + options.shared[1])[options.shared_cell[rows]]
    peak = log.max(axis=1, keepdims=True)
    value = np.exp(log - peak)
    total = value.sum(axis=1, keepdims=True)
    return np.log(total[:, 0]) + peak[:, 0] + options.constant[rows], value / total, tables, shared


def _improved(options: _Options, now: _Estimates) -> _Estimates:
    """One step of EM, every gold answer taken as right; each distribution keeps some weight everywhere."""
    rows = slice(0, options.size)
    _, held, tables, shared = _log_likelihood(options, now, rows)
    p, kappa, part, some = (np.empty_like(values) for values in (now.p, now.kappa, now.part, now.some))
    for s, table in enumerate(tables):
        weight = _summed(held, options.cell[s][rows], len(table.right))
        second = weight * table.distractor
        first = weight - second
        p[s] = _spread(now.p[s] * ((weight / table.right).T @ options.binomial[s][0]))
        alone = (first / table.alone).T @ options.partition[s][0]
        kappa[s] = _spread(now.kappa[s] * (alone + (second / table.rest).T @ options.rest[s][0]))
        part[s] = _spread(now.part[s] * ((second / table.part).T @ options.part[s][0]))
        some[s] = _spread(np.column_stack([first.sum(axis=0), second.sum(axis=0)]))
    weight = _summed(held, options.shared_cell[rows], len(shared))
    eta = _spread(now.eta * ((weight / shared).T @ options.shared[0]))
    inside = _summed(held, options.group, options.groups)
    overall = (inside.sum(axis=0) + 1) / (inside.sum() + held.shape[1])
    return _Estimates(p, kappa, part, some, eta, _scaled(inside + GROUP_WEIGHT * overall))


def _new_tables(kinds: np.ndarray, customers: np.ndarray) -> np.ndarray:
    """Log probability of so many tables, but for the factor of their sizes (cell, concentration)."""
    return np.asarray(kinds * np.log(KAPPAS) + gammaln(KAPPAS) - gammaln(KAPPAS + customers))


def _levelled(log: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exponentials of rows, scaled to a largest value of 1, and the logs of their scales (cell, 1)."""
    top = log.max(axis=1, keepdims=True)
    return np.exp(log - top), top


def _largest_other(mine: np.ndarray, blocks: np.ndarray, owner: np.ndarray, prompt: np.ndarray) -> np.ndarray:
    """Size of the largest wrong cluster of each option (option, system)."""
    size = int(prompt.max(initial=-1)) + 1
    first, second = (np.zeros((size, blocks.shape[1])) for _ in range(2))
    order = np.lexsort((np.arange(len(owner)), owner))
    place = np.arange(len(owner)) - np.searchsorted(owner[order], owner[order])
    for number in range(int(place.max(initial=-1)) + 1):
        chosen = order[place == number]
        at, value = owner[chosen], blocks[chosen].astype(float)
        second[at] = np.maximum(second[at], np.minimum(first[at], value))
        first[at] = np.maximum(first[at], value)
    return np.where((mine == first[prompt]) & (mine > 0), second[prompt], first[prompt])


def _distinct(*columns: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Code of every row, and the columns of the distinct rows, each with an axis of length 1 added."""
    values, code = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    return code.reshape(-1), [column[:, None] for column in values.T]


def _log_factorial(n: np.ndarray) -> np.ndarray:
    """Log of (n - 1)!, and 0 where n is 0: the ways to seat n at a table."""
    return np.asarray(gammaln(np.maximum(n, 1.0)))


def _summed(values: np.ndarray, code: np.ndarray, size: int) -> np.ndarray:
    """Sum of rows (row, class) with the same code."""
    return np.stack([np.bincount(code, weights=column, minlength=size) for column in values.T], axis=1)


def _spread(values: np.ndarray) -> np.ndarray:
    return _scaled(values + SPREAD / values.shape[-1])


def _scaled(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def _shares(log: np.ndarray, prompt: np.ndarray, size: int) -> np.ndarray:
    """Exponentials, scaled to sum to 1 in each prompt."""
    top = np.full(size, -np.inf)
    np.maximum.at(top, prompt, log)
    value = np.exp(log - top[prompt])
    return np.asarray(value / np.bincount(prompt, weights=value, minlength=size)[prompt])
