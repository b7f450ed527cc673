"""One model file, loaded: what it declares, and its two functions with their errors in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.credit_data import CREDIT_BLOCKS, CreditData
from bayeseval.errors import BayesevalError, ModelFileError, OptionError
from bayeseval.model_data import ModelData
from bayeseval.pair_data import COUPLED_BLOCKS, PAIR_BLOCKS, PairData
from bayeseval.prompts import CreditDistribution, PairDistribution, PromptDistribution

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["ModelFile", "line_of"]


@dataclass(frozen=True)
class ModelFile:
    """One generative model, loaded from its file.

    Attributes
    ----------
    name : str
        File name without ``.py``.
    path : pathlib.Path
    digest : str
        SHA-256 of the file's text: results carry it, so that a changed model is never taken for the old one.
    module : module
        The loaded file.
    """

    name: str
    path: Path
    digest: str
    module: ModuleType

    @property
    def title(self) -> str:
        """First line of the file's docstring."""
        return self.story.strip().splitlines()[0]

    @property
    def story(self) -> str:
        """The file's docstring: the model in the field's notation, its priors, when to use it and when not."""
        return self.module.__doc__ or self.name

    @property
    def blocks(self) -> tuple[str, ...]:
        """Kinds of data arrays that the model takes: its ``DATA``, or survival counts and cells."""
        return tuple(getattr(self.module, "DATA", ("survival", "cells")))

    @property
    def for_credits(self) -> bool:
        """Whether the model is one for credits between 0 and 1, and not for counts of correct generations."""
        return bool(set(self.blocks) & set(CREDIT_BLOCKS))

    @property
    def for_pairs(self) -> bool:
        """Whether the model is one for two systems on the same prompts."""
        return bool(set(self.blocks) & set(PAIR_BLOCKS))

    @property
    def for_coupled(self) -> bool:
        """Whether the model is one for pairs of coupled generations."""
        return bool(set(self.blocks) & set(COUPLED_BLOCKS))

    @property
    def nuts(self) -> dict[str, Any]:
        """Settings of NUTS that suit the model better than the general ones: its ``NUTS``."""
        return dict(getattr(self.module, "NUTS", {}))

    @property
    def family(self) -> str:
        """Shape of P(correct) over prompts: its ``FAMILY``, or the model's own name."""
        return str(getattr(self.module, "FAMILY", self.name))

    @property
    def has_quadrature(self) -> bool:
        """Whether the exact engine applies."""
        return bool(getattr(self.module, "QUADRATURE", False))

    def prior(self, changes: Mapping[str, tuple[float, ...]] | None = None) -> dict[str, tuple[float, ...]]:
        """The model's prior parameters, with some of them replaced.

        Raises
        ------
        OptionError
            If a parameter is unknown, or its numbers are not as many as the model's own.
        """
        prior = {name: tuple(map(float, values)) for name, values in self.module.PRIOR.items()}
        for name, values in (changes or {}).items():
            if name not in prior:
                known = ", ".join(prior)
                raise OptionError(f"model {self.name!r} has no prior named {name!r}; it has {known}")
            numbers = np.atleast_1d(np.asarray(values, dtype=float))
            if numbers.shape != (len(prior[name]),) or not np.isfinite(numbers).all():
                raise OptionError(
                    f"the prior of {name!r} in model {self.name!r} takes {len(prior[name])} finite numbers like "
                    f"{prior[name]}, but {values!r} was given"
                )
            prior[name] = tuple(numbers.tolist())
        return prior

    def build(self, data: ModelData | CreditData | PairData, prior: Mapping[str, tuple[float, ...]]) -> pm.Model:
        """State the model in PyMC for the given data.

        Raises
        ------
        ModelFileError
            If the file raises, returns no ``pm.Model``, or enters data that it was not given.
        """
        import pymc as pm

        try:
            model = self.module.build(data, dict(prior))
        except BayesevalError:
            raise
        except Exception as error:
            raise ModelFileError(
                f"{self.path}: build() raised {type(error).__name__}: {error} (line {line_of(error, self.path)})"
            ) from error
        if not isinstance(model, pm.Model):
            raise ModelFileError(f"{self.path}: build() must return a pm.Model, but it returned {type(model).__name__}")
        if not model.free_RVs:
            raise ModelFileError(f"{self.path}: the pm.Model that build() returned has no free random variable")
        unknown = [variable.name for variable in model.data_vars if variable.name not in data.arrays]
        if unknown:
            raise ModelFileError(
                f"{self.path}: pm.Data must carry the names and values of the data given to build(), but "
                f"{', '.join(map(repr, unknown))} is none of {', '.join(data.arrays)}"
            )
        if not model.data_vars:
            raise ModelFileError(f"{self.path}: build() enters no data; pass the arrays of `data` through pm.Data")
        return model

    def prompt_distribution(self, draws: Mapping[str, np.ndarray]) -> Any:
        """What each draw says about prompts; ``draws`` are flat arrays (draw, ...).

        Returns
        -------
        PromptDistribution, CreditDistribution or PairDistribution
            Distribution of P(correct) over prompts; of credits, for a model of credits; of P(correct) of two systems,
            for a model of pairs.

        Raises
        ------
        ModelFileError
            If the file raises or returns something else.
        """
        try:
            distribution = self.module.prompt_distribution(dict(draws))
        except Exception as error:
            raise ModelFileError(
                f"{self.path}: prompt_distribution() raised {type(error).__name__}: {error} "
                f"(line {line_of(error, self.path)})"
            ) from error
        wanted = CreditDistribution if self.for_credits else PairDistribution if self.for_pairs else PromptDistribution
        if not isinstance(distribution, wanted):
            raise ModelFileError(
                f"{self.path}: prompt_distribution() must return a {wanted.__name__} "
                f"(see bayeseval.prompts), but it returned {type(distribution).__name__}"
            )
        return distribution


def line_of(error: BaseException, path: Path) -> str:
    """Line of ``path`` at which ``error`` arose, as far as the traceback tells."""
    if isinstance(error, SyntaxError):
        return str(error.lineno)
    trace, line = error.__traceback__, "unknown"
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path:
            line = str(trace.tb_lineno)
        trace = trace.tb_next
    return line
