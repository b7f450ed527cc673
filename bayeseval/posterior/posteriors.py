"""Posteriors of several runs, asked together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeseval import metrics as be_metrics
from bayeseval.errors import OptionError
from bayeseval.metrics import Metric
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import Scores

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayeseval.counts import Counts
    from bayeseval.outcomes import Outcomes
    from bayeseval.posterior.check import Check

__all__ = ["Posteriors"]


@dataclass(frozen=True, repr=False)
class Posteriors(Sequence[Posterior]):
    """Posteriors of several runs; questions put to it are put to each.

    Examples
    --------
    >>> import bayeseval as be
    >>> posts = be.fit(be.example("aime24-50"), engine="quadrature", seed=1, progress=False)
    >>> len(posts), posts[0].benchmark
    (2, 'AIME-2024')
    """

    items: tuple[Posterior, ...]

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return Posteriors(self.items[index]) if isinstance(index, slice) else self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Posterior]:
        return iter(self.items)

    def select(self, system: str | None = None, benchmark: str | None = None) -> Posterior:
        """The one posterior of this system and benchmark.

        Raises
        ------
        OptionError
            If none or several match; the message lists the runs.
        """
        found = [item for item in self.items if system in (None, item.system) and benchmark in (None, item.benchmark)]
        if len(found) != 1:
            runs = ", ".join(f"{item.system!r} on {item.benchmark!r}" for item in (found or self.items)[:20])
            raise OptionError(
                f"{len(found) or 'no'} runs match system={system!r}, benchmark={benchmark!r}; name one of: {runs}"
            )
        return found[0]

    def mean(self, estimand: str = "population", prob: float | None = None, method: str = "auto") -> Scores:
        """`Posterior.mean` of every run."""
        return self.scores([be_metrics.mean()], estimand, prob, method)

    def pass_at(self, k: int, estimand: str = "population", prob: float | None = None, method: str = "auto") -> Scores:
        """`Posterior.pass_at` of every run."""
        return self.scores([be_metrics.pass_at(k)], estimand, prob, method)

    def pass_hat(self, k: int, estimand: str = "population", prob: float | None = None, method: str = "auto") -> Scores:
        """`Posterior.pass_hat` of every run."""
        return self.scores([be_metrics.pass_hat(k)], estimand, prob, method)

    def g_pass(
        self, k: int, tau: Any, estimand: str = "population", prob: float | None = None, method: str = "auto"
    ) -> Scores:
        """`Posterior.g_pass` of every run."""
        return self.scores([be_metrics.g_pass(k, tau)], estimand, prob, method)

    def mg_pass(
        self,
        k: int,
        estimand: str = "population",
        prob: float | None = None,
        method: str = "auto",
        form: Any = None,
    ) -> Scores:
        """`Posterior.mg_pass` of every run."""
        return self.scores([be_metrics.mg_pass(k, form)], estimand, prob, method)

    def scores(
        self, metrics: Sequence[Metric], estimand: str | None = None, prob: float | None = None, method: str = "auto"
    ) -> Scores:
        """`Posterior.scores` of every run, in one table."""
        return Scores(tuple(score for item in self.items for score in item.scores(metrics, estimand, prob, method)))

    def prompts(self, prob: float | None = None) -> pd.DataFrame:
        """`Posterior.prompts` of every run, one below another."""
        import pandas as pd

        return pd.concat([item.prompts(prob) for item in self.items], ignore_index=True)

    def groups(self, prob: float | None = None) -> pd.DataFrame:
        """`Posterior.groups` of every run, one below another."""
        import pandas as pd

        return pd.concat([item.groups(prob) for item in self.items], ignore_index=True)

    def update(self, more: Counts | Outcomes, *, progress: bool = True, **options: Any) -> Posteriors:
        """`Posterior.update` of every run that has further generations; the others stay as they are."""
        from bayeseval.updating import update

        return update(self, more, progress=progress, **options)

    def check(self) -> Mapping[tuple[str, str], Check]:
        """`Posterior.check` of every run, by (system, benchmark)."""
        return {(item.system, item.benchmark): item.check() for item in self.items}

    def to_frame(self) -> pd.DataFrame:
        """The mean of every run, both estimands and methods."""
        return self.scores([be_metrics.mean()]).to_frame()

    def plot(self, ax: Axes | None = None, estimand: str = "population") -> Axes:
        """Means of all runs with their intervals, best first."""
        from bayeseval import plots

        return plots.plot_scores(self.mean(estimand), ax=ax)

    def __repr__(self) -> str:
        return repr(self.mean())

    def _repr_html_(self) -> str:
        return self.scores([be_metrics.mean()])._repr_html_()
