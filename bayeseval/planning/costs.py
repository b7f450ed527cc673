r"""What prompts and generations cost: money, tokens or time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeseval.errors import OptionError, require_positive_integer

__all__ = ["Cost", "optimal_generations"]


@dataclass(frozen=True)
class Cost:
    r"""Cost of n prompts with k generations each.

    .. math:: n c_p + c_g \lceil nk / m \rceil

    with m generations running side by side for the price of one (1 unless time is counted).

    Attributes
    ----------
    prompt : float
        Cost of one prompt: to write, to license, to label, or to read once. At least 0.
    generation : float
        Cost of one generation; above 0.
    unit : str
        What is counted, such as ``"$"`` or ``"hours"``.
    parallel : int
        Generations that run side by side, where time is counted.

    Examples
    --------
    >>> import bayeseval as be
    >>> be.Cost(prompt=5, generation=1).total(100, 4)
    900.0
    >>> tokens = be.Cost.of_tokens(prompt_tokens=200, generation_tokens=1500, input_price=0.25, output_price=2)
    >>> round(tokens.total(500, 16), 2)
    24.4
    >>> be.Cost.of_time(seconds=30, parallel=8).total(100, 4)  # hours
    0.4166666666666667
    """

    prompt: float = 0.0
    generation: float = 1.0
    unit: str = ""
    parallel: int = 1

    def __post_init__(self) -> None:
        for name in ("prompt", "generation"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not np.isfinite(value):
                raise OptionError(f"the cost of a {name} must be a finite number, but {value!r} was given")
        if self.prompt < 0:
            raise OptionError(f"a prompt cannot cost less than nothing, but prompt={self.prompt:g} was given")
        if self.generation <= 0:
            raise OptionError(
                f"a generation must cost something, but generation={self.generation:g} was given: with free "
                f"generations more of them are always better, and be.plan(...) says how many suffice"
            )
        require_positive_integer("parallel", self.parallel)

    @classmethod
    def of_tokens(
        cls,
        *,
        prompt_tokens: float,
        generation_tokens: float,
        input_price: float,
        output_price: float,
        prompt: float = 0.0,
        cached: bool = False,
        unit: str = "$",
    ) -> Cost:
        """Cost from tokens and prices.

        Parameters
        ----------
        prompt_tokens, generation_tokens : float
            Mean number of tokens read for a prompt, and written for a generation.
        input_price, output_price : float
            Prices of a million tokens read, and written.
        prompt : float
            Further cost of a prompt, such as for its label.
        cached : bool
            Whether a prompt's tokens are paid for once, and not for every generation.
        unit : str
        """
        read, written = prompt_tokens * input_price / 1e6, generation_tokens * output_price / 1e6
        return cls(prompt + (read if cached else 0.0), written + (0.0 if cached else read), unit)

    @classmethod
    def of_time(cls, *, seconds: float, parallel: int = 1, prompt_seconds: float = 0.0) -> Cost:
        """Hours on the clock, with generations of some seconds running side by side.

        Parameters
        ----------
        seconds : float
            Mean time of one generation.
        parallel : int
            Generations that run side by side.
        prompt_seconds : float
            Further time for each prompt, one after another.
        """
        return cls(prompt_seconds / 3600, seconds / 3600, "hours", parallel)

    def total(self, n_prompts: float, generations: float) -> float:
        """Cost of ``n_prompts`` prompts with ``generations`` generations each."""
        return float(self.prompt * n_prompts + self.generation * np.ceil(n_prompts * generations / self.parallel))

    def affordable(self, budget: float, generations: int) -> int:
        """Most prompts with so many generations each that cost no more than a budget."""
        each = self.prompt + self.generation * generations / self.parallel
        n = int(budget / each) + 1
        while n and self.total(n, generations) > budget * (1 + 1e-12):
            n -= 1
        return n

    def words(self, amount: float) -> str:
        """An amount with its unit."""
        digits = f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
        return f"{self.unit}{digits}" if self.unit in ("$", "€", "£") else f"{digits} {self.unit}".strip()


def optimal_generations(cost: Cost, rho: float) -> float:
    r"""Generations per prompt that make the population mean cheapest to know, as a real number.

    .. math:: k^* = \sqrt{\frac{c_p}{c_g}\,\frac{1-\rho}{\rho}}

    Parameters
    ----------
    cost : Cost
    rho : float
        Intraclass correlation, above 0.

    Returns
    -------
    float
        Below 1 means one generation on more prompts.

    Examples
    --------
    >>> import bayeseval as be
    >>> from bayeseval.planning.costs import optimal_generations
    >>> round(optimal_generations(be.Cost(prompt=5, generation=1), rho=0.2), 4)
    4.4721
    """
    return float(np.sqrt(cost.prompt / (cost.generation / cost.parallel) * (1 - rho) / rho))
