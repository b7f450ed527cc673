r"""Do two runs share their noise by accident? Equal seeds on systems with one vocabulary couple their generations.

``torch.multinomial`` and common servers draw a token as the largest of :math:`p_v/E_v` with exponential noise E: with
equal seeds that is coupled generation, whether meant or not. Comparisons that take such runs for independent are wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.contrasts.inputs import coupled_pairs, equal_seeds
from bayeseval.contrasts.savings import coupled_savings
from bayeseval.defaults import options
from bayeseval.display import html_table
from bayeseval.estimators.coupled import joint_null
from bayeseval.outcomes import Outcomes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SharedNoise", "shared_noise"]

SMALLEST_P = 1e-12
"""Below, rounding decides the exact law."""
LEVEL = 0.05


@dataclass(frozen=True, repr=False)
class SharedNoise:
    """Test and estimate of noise that two runs share.

    Attributes
    ----------
    systems : tuple of str
    benchmark : str
    p_value : float
        Probability of at least as many pairs in which both are correct, if no noise is shared: exact, given how often
        each system was correct on every prompt. 1e-12 stands for everything smaller.
    p_normal : float
        The same by the normal law.
    z : float
        Excess of such pairs in standard deviations.
    kappa, sd, lower, upper : float
        Covariance of generations of one number within a prompt, with a Bayesian bootstrap over prompts.
    prob : float
    correlation : float
        The covariance over the geometric mean of the variances of one generation.
    detectable : float
        Covariance that a test at level .05 finds with probability .8.
    equal_seeds, n_seeds : int
        Generations with equal seeds in both, and those with a seed in both.
    n_prompts, n_pairs : int
    warnings : tuple of str
    """

    systems: tuple[str, str]
    benchmark: str
    p_value: float
    p_normal: float
    z: float
    kappa: float
    sd: float
    lower: float
    upper: float
    prob: float
    correlation: float
    detectable: float
    equal_seeds: int
    n_seeds: int
    n_prompts: int
    n_pairs: int
    warnings: tuple[str, ...]

    @property
    def shared(self) -> bool:
        """Whether the test finds shared noise at level .05."""
        return self.p_value < LEVEL

    def sentence(self) -> str:
        """The finding in words."""
        a, b = self.systems
        p = "p < 1e-12" if self.p_value <= SMALLEST_P else f"p = {self.p_value:.2g}"
        found = "share noise" if self.shared else "show no sign of shared noise"
        seeds = f"; {self.equal_seeds:,} of {self.n_seeds:,} seeds are equal" if self.n_seeds else ""
        limit = "" if self.shared else f"; a covariance of {self.detectable:.2g} would be found with probability .8"
        return (
            f"{a} and {b} on {self.benchmark} {found} ({p}, exact given the counts of every prompt): covariance within "
            f"prompts {self.kappa:.4f} [{self.lower:.4f}, {self.upper:.4f}] ({100 * self.prob:.4g}% interval), "
            f"correlation {self.correlation:.2f}; {self.n_prompts:,} prompts, {self.n_pairs:,} pairs{limit}{seeds}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        names = ["benchmark", "p_value", "p_normal", "z", "kappa", "sd", "lower", "upper", "prob", "correlation"]
        names += ["detectable", "equal_seeds", "n_seeds", "n_prompts", "n_pairs"]
        row = {"system_a": self.systems[0], "system_b": self.systems[1]}
        return pd.DataFrame([{**row, **{name: getattr(self, name) for name in names}}])

    def __repr__(self) -> str:
        return "\n".join([f"Warning: {warning}" for warning in self.warnings] + [self.sentence()])

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        body = [[name, f"{value:.4g}" if isinstance(value, float) else str(value)] for name, value in
                zip(frame.columns, frame.iloc[0], strict=True)]  # fmt: skip
        return html_table(["", ""], body, [*(f"⚠ {text}" for text in self.warnings), self.sentence()])


def shared_noise(a: Any, b: Any = None, *, prob: float | None = None, draws: int = 2000, seed: int = 0) -> SharedNoise:
    r"""Test whether two runs share their noise, by accident or by design.

    Parameters
    ----------
    a, b : Outcomes, or posteriors fitted to Outcomes
        One run each, of different systems on one benchmark; generations are paired by their number. Or ``a`` alone:
        coupled `Pairs`.
    prob : float, optional
        Probability inside the interval of the covariance; `bayeseval.options.prob` by default.
    draws, seed : int
        Of the Bayesian bootstrap.

    Returns
    -------
    SharedNoise

    Raises
    ------
    OptionError
        If generations cannot be paired.
    DataError
        If no prompt has two pairs.

    Notes
    -----
    The statistic is the number of pairs in which both are correct. If no noise is shared, every matching of the
    generations of a prompt is equally probable, and the statistic is a sum of hypergeometric numbers given the counts
    (`bayeseval.estimators.coupled.joint_null`). The test is one-sided: sharing noise makes both correct at once. It is
    blind to noise that is shared in another order than that of the numbers. The covariance of the estimate to be found
    with probability .8 is :math:`(z_{.95} + z_{.8})` standard errors under independence.

    Examples
    --------
    >>> import bayeseval as be
    >>> rng = np.random.default_rng(1)
    >>> p, noise = np.linspace(0.2, 0.9, 50)[:, None], rng.random((50, 4))
    >>> a, b, c = (
    ...     be.Outcomes.from_matrix((values < p).astype(int), system=name)
    ...     for name, values in (("a", noise), ("b", noise + 0.05), ("c", rng.random((50, 4))))
    ... )
    >>> be.shared_noise(a, b).shared, be.shared_noise(a, c).shared
    (True, False)
    """
    prob = options.interval_prob(prob)
    pairs = coupled_pairs(a, b, "shared_noise")
    found = coupled_savings(pairs, prob=prob, draws=draws, seed=seed)
    null = joint_null(found.pairs.tables)
    from scipy.special import ndtr, ndtri

    sd = float(np.sqrt(null.variance))
    z = (null.observed - null.mean) / sd if sd > 0 else 0.0
    normal = float(ndtr(-z)) if sd > 0 else 1.0
    exact = normal if np.isnan(null.upper) else null.upper
    warnings = list(found.warnings)
    if np.isnan(null.upper):
        warnings.append("there are too many pairs for the exact law of their sum: p is that of the normal law")
    if sd == 0:
        warnings.append("on no prompt do the generations of both differ, so that shared noise cannot be seen")
    outcomes = [one if isinstance(one, Outcomes) else getattr(one, "outcomes", None) for one in (a, b)]
    same, known = equal_seeds(outcomes[0], outcomes[1])
    return SharedNoise(
        systems=pairs.systems,
        benchmark=pairs.benchmark,
        p_value=max(exact, SMALLEST_P),
        p_normal=normal,
        z=float(z),
        kappa=found.kappa.value,
        sd=found.kappa.sd,
        lower=found.kappa.lower,
        upper=found.kappa.upper,
        prob=prob,
        correlation=found.estimates["correlation"].value,
        detectable=float(ndtri(1 - LEVEL) + ndtri(0.8)) * _null_error(found.pairs.tables),
        equal_seeds=same,
        n_seeds=known,
        n_prompts=len(found.pairs),
        n_pairs=int(found.pairs.generations[0].sum()),
        warnings=tuple(warnings),
    )


def _null_error(tables: np.ndarray) -> float:
    """Standard error of the mean of kappa-hat where no noise is shared."""
    k = tables.sum(axis=1).astype(float)
    a, b = (tables[:, 0] + tables[:, place] for place in (1, 2))
    variance = a * (k - a) * b * (k - b) / (k**2 * (k - 1))
    return float(np.sqrt((variance / (k - 1) ** 2).sum()) / len(tables))
