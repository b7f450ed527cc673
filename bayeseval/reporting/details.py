"""One run, and one plan, as the page shows them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import plots
from bayeseval.comparison.stacked import Stacked
from bayeseval.display import number
from bayeseval.posterior.posterior import Posterior
from bayeseval.posterior.scores import decimals
from bayeseval.reporting.content import Material, Run
from bayeseval.reporting.figures import inline_svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

    from bayeseval.planning import Plan

__all__ = ["Pages", "plan_details", "run_details", "unbroken"]

ALL_FIGURES, TWO_FIGURES = 6, 60
"""Up to so many runs each has all its figures, or two of them; beyond, none."""
SHOWN_PROMPTS = 30
"""Up to this many prompts are shown; of more, the hardest and the least stable, and the rest is folded."""
EXTREMES = 8
FOLDED_PROMPTS = 4000
"""Most rows of prompts in a page, all runs together; the JSON report has every one."""


@dataclass
class Pages:
    """What one page has used up so far."""

    figures: Iterator[int] = field(default_factory=itertools.count)
    rows: int = FOLDED_PROMPTS

    def figure(self, draw: Callable[[], Axes], label: str) -> Markup:
        """A figure with an identifier of its own."""
        from markupsafe import Markup

        return Markup(inline_svg(draw, label, next(self.figures)))


def run_details(material: Material, index: int, pages: Pages) -> dict[str, Any]:
    """Everything about one run, as the template shows it."""
    run = material.runs[index]
    posterior, check = run.posterior, run.posterior.check()
    names = list(dict.fromkeys(item.name for item in run.scores))
    figures: dict[str, Any] = dict.fromkeys(("intervals", "check", "distribution", "curve"), "")
    size = len(material.runs)
    if size <= TWO_FIGURES:
        figures["check"] = pages.figure(check.plot, f"Histogram of correct counts of {run.name} with the model's band")
        spread = partial(plots.plot_prompt_distribution, posterior, prob=material.prob)
        figures["distribution"] = pages.figure(spread, f"Distribution of P(correct) over prompts, {run.name}")
    if size <= ALL_FIGURES and posterior.typical_generations > 1:
        curve = partial(plots.plot_pass_curve, posterior, max_k=posterior.typical_generations * 2, prob=material.prob)
        figures["curve"] = pages.figure(curve, f"pass@k and pass^k against k, {run.name}")
    if size <= ALL_FIGURES and run.intervals is not None:
        figures["intervals"] = pages.figure(run.intervals.plot, f"Posterior and moment intervals, {run.name}")
    return {
        "anchor": f"run-{index}",
        "name": run.name,
        "problems": run.problems,
        "sentences": [_sentence(score.sentence()) for score in run.scores if score.name == "mean"],
        "scores": [
            {
                "name": unbroken(name),
                "extrapolated": any(item.extrapolated for item in run.scores if item.name == name),
                "headline": run.score(name, "population"),
                "fitted": run.score(name, "population", "model"),
                "robust": run.score(name, "population", "robust"),
                "benchmark": run.score(name, "benchmark"),
            }
            for name in names
        ],
        "intervals": _interval_rows(run),
        "explanation": [_sentence(text.removeprefix(f"{run.name}: ")) for text in run.intervals.explanation]
        if run.intervals
        else [],
        "moments": run.moments,
        "check": _sentence(repr(check).splitlines()[0].removeprefix(f"check of {check.run}: ")),
        "parameters": check.diagnostics.table,
        "prompts": _prompts(run, size, pages),
        "figures": figures,
        "provenance": _provenance(run),
        "account": posterior.counts.account,
        "code": _code(run),
    }


def _interval_rows(run: Run) -> list[dict[str, str]]:
    rows = []
    for row in run.intervals.rows if run.intervals else ():
        refused = bool(np.isnan(row.lower))
        digits = decimals(row.width)
        rows.append(
            {
                "estimand": row.estimand,
                "method": row.method,
                "value": f"{row.value:.{digits}f}",
                "interval": "refused" if refused else f"[{row.lower:.{digits}f}, {row.upper:.{digits}f}]",
                "width": "" if refused else f"{row.width:.{digits}f}",
                "note": row.note,
            }
        )
    return rows


def unbroken(name: str) -> str:
    """The name of a score, so that a line ends before its bracket and nowhere else."""
    head, bracket, rest = name.partition(" (")
    return head + bracket + rest.replace(" ", "\u00a0")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _prompts(run: Run, size: int, pages: Pages) -> dict[str, Any]:
    """Prompts to show: all when few, else the hardest and the least stable, the rest folded while there is room."""
    frame = run.prompts.sort_values("mean", kind="stable")
    total = len(frame)
    columns = ["prompt", "generations", "correct", "mean", "lower", "upper"]

    def rows(part: Any) -> list[dict[str, Any]]:
        return list(part[columns].to_dict(orient="records"))

    if size > TWO_FIGURES:
        return {"total": total, "tables": [], "folded": []}
    if total <= SHOWN_PROMPTS:
        return {"total": total, "tables": [("All prompts, hardest first", rows(frame))], "folded": []}
    unstable = frame.loc[(frame["mean"] * (1 - frame["mean"])).sort_values(ascending=False, kind="stable").index]
    tables = [("Hardest", rows(frame.head(EXTREMES))), ("Least stable", rows(unstable.head(EXTREMES)))]
    room = total <= pages.rows
    pages.rows -= total if room else 0
    return {"total": total, "tables": tables, "folded": rows(frame) if room else []}


def _provenance(run: Run) -> list[tuple[str, str]]:
    made = run.posterior.provenance
    words = {
        "data": "data fingerprint (SHA-256)",
        "model": "model",
        "model_digest": "model file (SHA-256)",
        "prior": "prior",
        "engine": "engine",
        "sampler": "sampler",
        "seed": "seed",
        "draws": "draws a chain",
        "tune": "warm-up a chain",
        "chains": "chains",
        "target_accept": "target acceptance",
        "versions": "versions",
        "made": "made",
    }
    lines = []
    if isinstance(run.posterior, Stacked):
        members = zip(run.posterior.names, run.posterior.weights, run.posterior.members, strict=True)
        named = [f"{name}: weight {w:.3f}, {item.engine}, SHA-256 {item.model.digest}" for name, w, item in members]
        made = {key: value for key, value in made.items() if key not in ("members", "weights")}
        made["members"] = "; ".join(named)
    for key, value in made.items():
        if isinstance(value, dict):
            parts = (
                f"{name} {tuple(item) if isinstance(item, list | tuple) else item}" for name, item in value.items()
            )
            value = ", ".join(parts)
        lines.append((words.get(key, key), str(value)))
    return lines


def _code(run: Run) -> str:
    """The calls that give this posterior again."""
    posterior = run.posterior
    if isinstance(posterior, Stacked):
        calls = "".join(f"    {_call(member)},\n" for member in posterior.members)
        made = f"be.Stacked.of([\n{calls}])"
    else:
        made = _call(posterior)
    return (
        "import bayeseval as be\n"
        f"counts = be.read(...)  # results of this run have the fingerprint {posterior.counts.fingerprint[:16]}…\n"
        f"run = counts.select(system={posterior.system!r}, benchmark={posterior.benchmark!r})\n"
        f"post = {made}\n"
        'be.report(post, "report.html")'
    )


def _call(posterior: Posterior) -> str:
    made = posterior.provenance
    known = ("engine", "seed", "draws", "tune", "chains", "target_accept", "sampler")
    keywords = {"model": posterior.model.name, "prior": posterior.prior}
    keywords |= {name: made[name] for name in known if name in made and made[name] != "quadrature"}
    if posterior.engine == "quadrature":
        keywords = {"model": posterior.model.name, "prior": posterior.prior, "engine": "quadrature"}
        keywords |= {name: made[name] for name in ("seed", "draws", "chains") if name in made}
    arguments = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
    return f"be.fit(run, {arguments})"


def plan_details(plan: Plan, pages: Pages) -> dict[str, Any]:
    """A plan, as the template shows it."""
    label = f"Width of the interval against generations per prompt, {plan.system} on {plan.benchmark}"
    curve = [
        {
            "generations": f"{row['generations']:,.0f}",
            "width": number(row["width"]),
            "band": f"{number(row['width_lower'])} to {number(row['width_upper'])}",
            "assurance": f"{row['assurance']:.3f}",
            "mcse": f"{row['assurance_mcse']:.3f}",
        }
        for row in plan.to_frame().to_dict(orient="records")
    ]
    return {
        "name": f"{plan.system} on {plan.benchmark}",
        "sentence": plan.sentence(),
        "warnings": plan.warnings,
        "figure": pages.figure(plan.plot, label),
        "curve": curve,
        "futures": plan.futures,
    }
