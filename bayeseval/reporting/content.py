"""What a report says, apart from how it looks: the material, and the document of the public schema made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import metrics as be_metrics
from bayeseval._version import __version__
from bayeseval.defaults import options
from bayeseval.errors import OptionError
from bayeseval.estimators import STOPPING, RunMoments, moments
from bayeseval.estimators.adaptivity import adaptive_hint
from bayeseval.intervals import IntervalComparison, compare_intervals
from bayeseval.metrics import Metric
from bayeseval.planning import Plan
from bayeseval.posterior.credit import refuse_credits
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import ESTIMANDS, Score, Scores
from bayeseval.reporting.words import CAVEATS, REFERENCES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SCHEMA_VERSION", "Material", "Run", "default_metrics", "document", "plan_record", "run_record", "schema"]

SCHEMA_VERSION = "0.1"
MOST_POWERS = 5


@dataclass(frozen=True)
class Run:
    """One run with everything that is said about it; without any generation there are no moments to compare with."""

    posterior: Posterior
    metrics: tuple[Metric, ...]
    scores: Scores
    intervals: IntervalComparison | None
    moments: RunMoments | None
    prompts: pd.DataFrame
    problems: tuple[str, ...]

    @property
    def name(self) -> str:
        """System and benchmark."""
        return f"{self.posterior.system} on {self.posterior.benchmark}"

    def score(self, name: str, estimand: str, method: str | None = None) -> Score | None:
        """One score; the headline of the estimand unless a method is asked for."""
        for item in self.scores:
            if item.name == name and item.estimand == estimand:
                answers = [item, item.other] if method else [item]
                return next((one for one in answers if one and method in (None, one.method)), None)
        return None


@dataclass(frozen=True)
class Material:
    """All that goes into a report."""

    title: str
    prob: float
    made: str
    runs: tuple[Run, ...]
    plans: tuple[Plan, ...]
    commands: tuple[str, ...]

    @classmethod
    def gather(
        cls,
        posteriors: Posterior | Sequence[Posterior],
        *,
        title: str | None = None,
        metrics: Sequence[Metric] | None = None,
        plans: Plan | Sequence[Plan] | None = None,
        prob: float | None = None,
        commands: Sequence[str] = (),
    ) -> Material:
        """Ask the posteriors everything; arguments as in `bayeseval.report`."""
        items = _listed(posteriors, Posterior, "posteriors", "be.fit(...)")
        if not items:
            raise OptionError("there is no posterior to report; make some with be.fit(...)")
        planned = [] if plans is None else _listed(plans, Plan, "plans", "be.plan(...)")
        wanted = None if metrics is None else _listed(metrics, Metric, "metrics", "bayeseval.metrics.pass_at(16)")
        prob = options.interval_prob(prob)
        runs = tuple(_ask(item, wanted, prob) for item in items)
        return cls(
            title=title or _title(runs),
            prob=prob,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            runs=runs,
            plans=tuple(planned),
            commands=tuple(commands),
        )

    @classmethod
    def of_plans(cls, plans: Sequence[Plan]) -> Material:
        """Plans without any run: from published numbers, or from a prior alone."""
        first = plans[0]
        made = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(f"{first.system} on {first.benchmark}", first.prob, made, (), tuple(plans), ())

    def problems(self) -> list[tuple[Run | None, str]]:
        """What is wrong, run by run and then plan by plan; None stands for a plan."""
        found: list[tuple[Run | None, str]] = [(run, text) for run in self.runs for text in run.problems]
        known = {text for _, text in found}
        found += [(None, text) for plan in self.plans for text in plan.warnings if text not in known]
        return found


def default_metrics(generations: int) -> list[Metric]:
    """Scores worth showing for a run with so many generations per prompt, none of them an extrapolation.

    Examples
    --------
    >>> [metric.name for metric in default_metrics(4)][1:]
    ['pass@2', 'pass@4', 'pass^2', 'pass^4', 'G-Pass@4 (τ = 0.5)', 'G-Pass@4 (τ = 0.75)', 'mG-Pass@4']
    >>> [metric.name for metric in default_metrics(1)]
    ['mean']
    """
    chosen = [be_metrics.mean()]
    if generations < 2:
        return chosen
    last = generations.bit_length() - 1
    powers = np.unique(np.linspace(1, last, min(last, MOST_POWERS)).round().astype(int)).tolist()
    chosen += [be_metrics.pass_at(2**power) for power in powers]
    chosen += [be_metrics.pass_hat(2**power) for power in powers]
    if last >= 2:
        chosen += [be_metrics.g_pass(2**last, "1/2"), be_metrics.g_pass(2**last, "3/4")]
    return [*chosen, be_metrics.mg_pass(2**last)]


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of what `bayeseval.report` and the commands write as JSON.

    Examples
    --------
    >>> from bayeseval.reporting import schema
    >>> schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    text = Path(__file__).with_name("schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def document(material: Material, kind: str = "report", *, prompts: bool = True) -> dict[str, Any]:
    """The document of the public schema.

    Parameters
    ----------
    material : Material
    kind : {"report", "fit", "plan"}
    prompts : bool
        Whether P(correct) of every prompt is part of it.

    Returns
    -------
    dict
        Ready for `bayeseval.reporting.files.as_json`.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "bayeseval": __version__,
        "title": material.title,
        "made": material.made,
        "prob": material.prob,
        "estimands": dict(ESTIMANDS),
        "problems": [
            {
                "system": run.posterior.system if run else None,
                "benchmark": run.posterior.benchmark if run else None,
                "text": text,
            }
            for run, text in material.problems()
        ],
        "runs": [run_record(run, prompts) for run in material.runs],
        "plans": [plan_record(plan) for plan in material.plans],
        "commands": list(material.commands),
        "caveats": list(CAVEATS),
        "references": list(REFERENCES),
    }


def run_record(run: Run, prompts: bool = True) -> dict[str, Any]:
    """One run of the document."""
    posterior, check = run.posterior, run.posterior.check()
    counts = posterior.counts
    record: dict[str, Any] = {
        "system": posterior.system,
        "benchmark": posterior.benchmark,
        "data": {
            "n_prompts": len(counts),
            "n_prompts_without_generations": int((counts.generations == 0).sum()),
            "n_generations": counts.n_generations,
            "generations_min": int(counts.generations.min()),
            "generations_max": int(counts.generations.max()),
            "account": list(counts.account),
        },
        "model": {
            "name": posterior.model.name,
            "title": posterior.model.title,
            "digest": posterior.model.digest,
            "engine": posterior.engine,
            "prior": posterior.prior,
        },
        "scores": [
            _score_record(answer, answer is item)
            for item in run.scores
            for answer in (item, item.other)
            if answer is not None
        ],
        "intervals": [
            {name: value for name, value in vars(row).items() if name not in ("system", "benchmark")}
            for row in (run.intervals.rows if run.intervals else ())
        ],
        "moments": None
        if run.moments is None
        else {name: value for name, value in vars(run.moments).items() if name not in ("system", "benchmark")},
        "check": {
            "ok": check.ok,
            "misfit": check.misfit,
            "z_shift": check.z_shift,
            "predictive_p": check.histogram.p,
            "histogram": {name: value for name, value in vars(check.histogram).items() if name != "p"},
            "parameters": check.diagnostics.table,
            "divergences": check.diagnostics.divergences,
            "warnings": list(run.problems),
        },
        "provenance": posterior.provenance,
    }
    if prompts:
        frame = run.prompts.drop(columns=["system", "benchmark"])
        record["prompts"] = frame.to_dict(orient="records")
    return record


def plan_record(plan: Plan) -> dict[str, Any]:
    """One plan of the document."""
    names = (
        "system",
        "benchmark",
        "score",
        "estimand",
        "method",
        "prompts",
        "n_prompts",
        "k",
        "floor",
        "floor_assurance",
        "prompts_needed",
        "width",
    )
    record = {
        name: getattr(plan, name)
        for name in (*names, "sd", "assurance", "prob", "futures", "refits", "source", "rule_generations")
    }
    return {
        **record,
        "sentence": plan.sentence(),
        "curve": plan.to_frame().to_dict(orient="records"),
        "warnings": list(plan.warnings),
    }


def _score_record(score: Score, headline: bool) -> dict[str, Any]:
    names = ("name", "estimand", "method", "value", "sd", "lower", "upper", "prob", "extrapolated")
    record = {name: getattr(score, name) for name in names}
    # Means of numbers in [0, 1] may leave it by the last bit.
    record |= {name: float(np.clip(record[name], 0, 1)) for name in ("value", "lower", "upper")}
    return {**record, "headline": headline, "warnings": list(score.warnings)}


def _ask(posterior: Posterior, wanted: list[Metric] | None, prob: float) -> Run:
    chosen = default_metrics(posterior.typical_generations) if wanted is None else [be_metrics.mean(), *wanted]
    chosen = list(dict.fromkeys(chosen))
    scores = posterior.scores(chosen, prob=prob)
    answered = bool(posterior.counts.generations.any())
    return Run(
        posterior=posterior,
        metrics=tuple(chosen),
        scores=scores,
        intervals=compare_intervals(posterior, prob) if answered else None,
        moments=moments(posterior.counts, prob=prob).rows[0] if answered else None,
        prompts=posterior.prompts(prob),
        problems=_problems(posterior, scores),
    )


def _problems(posterior: Posterior, scores: Scores) -> tuple[str, ...]:
    counts = posterior.counts
    found = [*posterior.check().warnings_for("population"), *scores.warnings]
    if hint := adaptive_hint(counts.correct, counts.generations):
        found.append(f"{hint}: {STOPPING[1]}")
    without = int((counts.generations == 0).sum())
    if without:
        found.append(
            f"{without:,} of {len(counts):,} prompts have no generation: they keep their prior, and count for the "
            f"benchmark score alone"
        )
    return tuple(dict.fromkeys(found))


def _title(runs: tuple[Run, ...]) -> str:
    systems, benchmarks = ({getattr(run.posterior, what) for run in runs} for what in ("system", "benchmark"))
    system = next(iter(systems)) if len(systems) == 1 else f"{len(systems)} systems"
    benchmark = next(iter(benchmarks)) if len(benchmarks) == 1 else f"{len(benchmarks)} benchmarks"
    return f"{system} on {benchmark}"


def _listed(values: Any, kind: type, name: str, maker: str) -> list[Any]:
    refuse_credits(values)
    items = [values] if isinstance(values, kind) else values
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise OptionError(f"{name} must come from {maker}, one or several, but {type(values).__name__} was given")
    for item in items:
        if not isinstance(item, kind):
            raise OptionError(f"{name} holds a {type(item).__name__}; each must be a {kind.__name__} from {maker}")
    return list(items)
