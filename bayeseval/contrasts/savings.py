r"""What coupled generations bring, from one coupled data set: the covariance within prompts, and the saving.

With :math:`D` the difference of one pair of generations, coupled generations reach an accuracy with
:math:`V_c/V_i` times as many as independent ones, where V is the variance of D: over prompts and generations for the
population, within prompts for the benchmark. The saving is :math:`1 - V_c/V_i`. Pairs of different numbers on the same
prompt share no noise, so that :math:`V_i` comes from the same data.

Not so savings that are read off curves of the error against the number of samples: the largest ratio of two sample
sizes whose errors agree within a tolerance is a maximum over noisy curves, and finds savings where there are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeseval.arrays import Floats
from bayeseval.contrasts.inputs import coupled_pairs
from bayeseval.contrasts.marginals import marginal_tests
from bayeseval.defaults import options
from bayeseval.display import html_table
from bayeseval.errors import DataError, OptionError, require_positive_integer
from bayeseval.estimators.coupled import table_terms
from bayeseval.pairs import Pairs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CoupledSavings", "Estimate", "coupled_savings"]

QUANTITIES = {
    "difference": "mean of a minus mean of b",
    "kappa": "covariance of coupled generations within a prompt",
    "correlation": "their correlation",
    "variance_coupled": "variance of the difference of a coupled pair",
    "variance_independent": "the same for independent generations",
    "saving_population": "saving for prompts like these",
    "within_coupled": "within-prompt variance of the difference of a coupled pair",
    "within_independent": "the same for independent generations",
    "saving_benchmark": "saving for these prompts",
    "between": "variance over prompts of the difference of P(correct)",
    "win_a_coupled": "share of coupled pairs that a alone has right",
    "win_b_coupled": "share of coupled pairs that b alone has right",
    "win_a_independent": "share of independent pairs that a alone has right",
    "win_b_independent": "share of independent pairs that b alone has right",
    "difference_runs": "mean of a minus mean of b, independent runs",
    "kappa_runs": "covariance of generations of the same number, independent runs",
    "variance_runs": "variance of the difference of a pair, independent runs",
    "saving_population_runs": "saving for prompts like these against the independent runs",
    "within_runs": "within-prompt variance of the difference of a pair, independent runs",
    "saving_benchmark_runs": "saving for these prompts against the independent runs",
    "between_runs": "variance over prompts of the difference of P(correct), independent runs",
    "win_a_runs": "share of pairs that a alone has right, independent runs",
    "win_b_runs": "share of pairs that b alone has right, independent runs",
}


class Estimate(NamedTuple):
    """An estimate with the standard deviation and interval of a Bayesian bootstrap over prompts."""

    value: float
    sd: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False, repr=False)
class CoupledSavings:
    """What coupled generations bring, with intervals from a Bayesian bootstrap over prompts.

    Attributes
    ----------
    pairs : Pairs
        The coupled pairs of prompts that have two or more of them.
    estimates : dict of str to Estimate
        By name, see `to_frame`. Those that end in ``_runs`` come from independent runs, where they were given; others
        that are about independent generations come from coupled pairs of different numbers.
    marginals : pandas.DataFrame or None
        One row a system: whether coupled and independent runs have the same P(correct), as correct coupling leaves it.
        Columns system, coupled, independent (means), difference, se, p_mean (normal test of equal means, given how
        often both together were correct on each prompt), p_prompts (test of equal P(correct) on every prompt, against
        larger differences).
    prob : float
    warnings : tuple of str
    """

    pairs: Pairs
    estimates: dict[str, Estimate]
    marginals: pd.DataFrame | None
    prob: float
    draws: int
    seed: int
    warnings: tuple[str, ...]
    independent: Pairs | None = None

    @property
    def kappa(self) -> Estimate:
        """Covariance of coupled generations within prompts."""
        return self.estimates["kappa"]

    @property
    def saving_population(self) -> Estimate:
        """Share of generations saved, for prompts like these."""
        return self.estimates["saving_population"]

    @property
    def saving_benchmark(self) -> Estimate:
        """Share of generations saved, for these prompts."""
        return self.estimates["saving_benchmark"]

    def groups(self) -> pd.DataFrame:
        """The estimates for every group of prompts.

        Returns
        -------
        pandas.DataFrame
            One row a group: group, n_prompts, and the value of every quantity; savings and kappa also with ``_lower``
            and ``_upper``.

        Raises
        ------
        DataError
            If the outcomes have no groups.
        """
        import pandas as pd

        if self.pairs.group is None:
            raise DataError("the outcomes have no groups: read them with group=...")
        rows = []
        for name in dict.fromkeys(self.pairs.group.tolist()):
            part = self.pairs.take(np.flatnonzero(self.pairs.group == name))
            runs = None
            if self.independent is not None:
                known = set(part.prompt.tolist())
                runs = self.independent.take(np.array([prompt in known for prompt in self.independent.prompt]))
            found = _estimates(part, runs, self.prob, self.draws, self.seed)
            row: dict[str, Any] = {"group": name, "n_prompts": len(part)}
            for key, one in found.items():
                row[key] = one.value
                if key.startswith(("saving", "kappa")):
                    row |= {f"{key}_lower": one.lower, f"{key}_upper": one.upper}
            rows.append(row)
        return pd.DataFrame(rows)

    def sentence(self) -> str:
        """The finding in words."""
        a, b = self.pairs.systems

        def percent(one: Estimate) -> str:
            return f"{one.value:.1%} [{one.lower:.1%}, {one.upper:.1%}]"

        kappa = self.kappa
        return (
            f"{a} and {b} on {self.pairs.benchmark}, {len(self.pairs):,} prompts: coupled generations have covariance "
            f"{kappa.value:.4f} ± {kappa.sd:.4f} within prompts, and save {percent(self.saving_population)} of the "
            f"generations for prompts like these (population), {percent(self.saving_benchmark)} for these prompts "
            f"(benchmark); {100 * self.prob:.4g}% intervals of a Bayesian bootstrap over prompts"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a quantity: quantity, value, sd, lower, upper, meaning."""
        import pandas as pd

        rows = [{"quantity": key, **one._asdict(), "meaning": QUANTITIES[key]} for key, one in self.estimates.items()]
        return pd.DataFrame(rows)

    def plot(self, ax: Any = None) -> Any:
        """Both savings with their intervals, against both sources of independent generations where there are two."""
        from bayeseval import plots

        return plots.plot_coupled_savings(self, ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        body = [
            [QUANTITIES[key], f"{one.value:.4g}", f"[{one.lower:.4g}, {one.upper:.4g}]"]
            for key, one in self.estimates.items()
        ]
        notes = (*(f"⚠ {warning}" for warning in self.warnings), self.sentence())
        return html_table(["", "value", f"{self.prob:.0%} interval"], body, notes)


def coupled_savings(
    a: Any,
    b: Any = None,
    independent: Pairs | tuple[Any, Any] | None = None,
    *,
    prob: float | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> CoupledSavings:
    r"""What coupled generations bring to the comparison of two systems, from one coupled data set.

    Parameters
    ----------
    a, b : Outcomes, or posteriors fitted to Outcomes
        One run each; generation j of a prompt was made by both with the same noise. Or ``a`` alone: coupled `Pairs`.
    independent : tuple of two Outcomes, or Pairs, optional
        Independent runs of the same systems on the same prompts. They are compared with what the coupled ones say of
        independent generations, and tested for the same P(correct), which correct coupling leaves as it is.
    prob : float, optional
        Probability inside the intervals; `bayeseval.options.prob` by default.
    draws, seed : int
        Of the Bayesian bootstrap over prompts.

    Returns
    -------
    CoupledSavings

    Raises
    ------
    OptionError
        If generations cannot be paired.
    DataError
        If no prompt has two coupled pairs.

    Notes
    -----
    Averaged over prompts, with :math:`y` the correctness of one generation,

    .. math::
        V_c = \overline{(y_A-y_B)^2} - \bar D^2, \qquad
        V_i = V_c + 2\hat\kappa, \qquad
        W_c = \overline{\tfrac{k}{k-1}\bigl(\overline{(y_A-y_B)^2}_i - D_i^2\bigr)}, \qquad W_i = W_c + 2\hat\kappa,

    and the savings are :math:`1-V_c/V_i` (population) and :math:`1-W_c/W_i` (benchmark). Every prompt has the same
    weight. A win of A is a pair that A alone has right: coupling lowers wins of both by :math:`\kappa`, and leaves
    their difference.

    References
    ----------
    .. [1] Corvelo Benz et al. (2025). Evaluation of Large Language Models via Coupled Token Generation.
       https://arxiv.org/abs/2502.01754

    Examples
    --------
    >>> import bayeseval as be
    >>> noise = np.random.default_rng(1).random((200, 8))
    >>> p = np.linspace(0.05, 0.9, 200)[:, None]
    >>> a = be.Outcomes.from_matrix((noise < p).astype(int), system="a")
    >>> b = be.Outcomes.from_matrix((noise < p - 0.05).astype(int), system="b")
    >>> found = be.coupled_savings(a, b)
    >>> found.saving_population.lower > 0.5
    True
    """
    prob, draws = options.interval_prob(prob), require_positive_integer("draws", draws)
    pairs = coupled_pairs(a, b, "coupled_savings")
    runs = None if independent is None else _independent(pairs, independent)
    warnings = list(pairs.warnings)
    several = pairs.generations[0] > 1
    if not several.any():
        raise DataError(
            "no prompt has two coupled pairs of generations, and one pair a prompt cannot tell shared noise from "
            "prompts that are hard for both"
        )
    if not several.all():
        warnings.append(f"{(~several).sum():,} prompts with one coupled pair are left out")
        pairs = pairs.take(several)
    if runs is not None:
        warnings += [f"independent runs: {text}" for text in runs.warnings]
        pairs, runs = _matched(pairs, runs)
    marginals = None
    if runs is not None:
        marginals = marginal_tests(pairs, runs)
        low = marginals[marginals[["p_mean", "p_prompts"]].min(axis=1) < 0.01]
        warnings += [
            f"coupled and independent runs of {row.system} do not have the same P(correct) (p = "
            f"{min(row.p_mean, row.p_prompts):.2g}), as correct coupling would leave it"
            for row in low.itertuples()
        ]
    estimates = _estimates(pairs, runs, prob, draws, seed)
    return CoupledSavings(pairs, estimates, marginals, prob, draws, seed, tuple(warnings), runs)


def _independent(pairs: Pairs, given: Any) -> Pairs:
    if isinstance(given, Pairs):
        runs = given
    elif isinstance(given, tuple | list) and len(given) == 2:
        runs = coupled_pairs(given[0], given[1], "independent=(a, b)")
    else:
        raise OptionError(f"independent takes the Outcomes of both systems, (a, b), not {type(given).__name__}")
    if not runs.coupled:
        raise OptionError("independent takes Outcomes, whose generations are paired by number, not counts alone")
    return runs


def _matched(pairs: Pairs, runs: Pairs) -> tuple[Pairs, Pairs]:
    place = {prompt: row for row, prompt in enumerate(runs.prompt)}
    rows = np.array([place.get(prompt, -1) for prompt in pairs.prompt])
    several = np.append(runs.generations[0] > 1, False)[rows]
    if not several.any():
        raise DataError("no prompt of the coupled runs has two generations or more of both in the independent runs")
    return pairs.take(several), runs.take(rows[several])


def _estimates(pairs: Pairs, runs: Pairs | None, prob: float, draws: int, seed: int) -> dict[str, Estimate]:
    tables = pairs.tables if runs is None else np.hstack([pairs.tables, runs.tables])
    cells, times = np.unique(tables, axis=0, return_counts=True)
    columns = _columns(cells[:, :4])
    if runs is not None:
        columns = np.hstack([columns, _columns(cells[:, 4:])])
    weights = np.random.default_rng([seed, 26]).standard_gamma(times, (draws, times.size))
    means = weights @ columns / weights.sum(axis=1, keepdims=True)
    plug_in = _quantities((times @ columns / times.sum())[None], len(pairs))
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    found = {}
    for key, values in _quantities(means, len(pairs)).items():
        lower, upper = np.quantile(values, tails)
        found[key] = Estimate(float(plug_in[key][0]), float(values.std(ddof=1)), float(lower), float(upper))
    return {key: found[key] for key in QUANTITIES if key in found}


def _columns(tables: np.ndarray) -> Floats:
    """Terms of every prompt, of which the quantities are made (prompt, term)."""
    terms = table_terms(tables)
    share_a, share_b = ((tables[:, 0] + tables[:, place]) / terms.pairs for place in (1, 2))
    several = terms.pairs / np.maximum(terms.pairs - 1, 1)
    noise = [share * (1 - share) * several for share in (share_a, share_b)]
    return np.stack(
        [
            terms.difference, terms.square, terms.within, terms.kappa, terms.difference**2, terms.within / terms.pairs,
            terms.win_a, terms.win_b, terms.cross_win_a, terms.cross_win_b, *noise,
        ],
        axis=1,
    )  # fmt: skip


COLUMNS = 12


def _quantities(means: Floats, prompts: int) -> dict[str, Floats]:
    """Quantities from means over prompts of the columns (draw, column)."""
    found = _one(means[:, :COLUMNS], prompts)
    if means.shape[1] > COLUMNS:
        runs = _one(means[:, COLUMNS:], prompts)
        found |= {
            "difference_runs": runs["difference"],
            "kappa_runs": runs["kappa"],
            "variance_runs": runs["variance_coupled"],
            "saving_population_runs": _saving(found["variance_coupled"], runs["variance_coupled"]),
            "within_runs": runs["within_coupled"],
            "saving_benchmark_runs": _saving(found["within_coupled"], runs["within_coupled"]),
            "between_runs": runs["between"],
            "win_a_runs": runs["win_a_coupled"],
            "win_b_runs": runs["win_b_coupled"],
        }
    return found


def _one(means: Floats, prompts: int) -> dict[str, Floats]:
    difference, square, within, kappa, of_squares, noise, win_a, win_b, cross_a, cross_b, noise_a, noise_b = means.T
    coupled = square - difference**2
    size = np.sqrt(np.maximum(noise_a * noise_b, 0.0))
    between = (of_squares - difference**2) * (prompts / max(prompts - 1, 1)) - noise
    return {
        "difference": difference,
        "kappa": kappa,
        "correlation": np.divide(kappa, size, out=np.zeros_like(kappa), where=size > 0),
        "variance_coupled": coupled,
        "variance_independent": coupled + 2 * kappa,
        "saving_population": _saving(coupled, coupled + 2 * kappa),
        "within_coupled": within,
        "within_independent": within + 2 * kappa,
        "saving_benchmark": _saving(within, within + 2 * kappa),
        "between": between,
        "win_a_coupled": win_a,
        "win_b_coupled": win_b,
        "win_a_independent": cross_a,
        "win_b_independent": cross_b,
    }


def _saving(coupled: Floats, independent: Floats) -> Floats:
    """Share of generations saved; 0 where there is no noise to save."""
    return 1 - np.divide(coupled, independent, out=np.ones_like(coupled), where=independent > 0)
