"""The HTML page: what the document says, arranged for a reader. The template escapes every text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval import plots
from bayeseval._version import __version__
from bayeseval.display import number
from bayeseval.plots.canvas import interval_words
from bayeseval.reporting.content import Material, Run
from bayeseval.reporting.figures import inline_svg
from bayeseval.reporting.words import CAVEATS, REFERENCES
from bayeseval.scores import ESTIMANDS, Score, decimals

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

__all__ = ["html_page"]

OPEN_RUNS = 3
"""Up to this many runs are told in full; more are folded."""
ALL_FIGURES, TWO_FIGURES = 6, 60
"""Up to so many runs each has all its figures, or two of them; beyond, none."""
FOREST_ROWS = 60
MOST_SCORES = 6
"""Most columns of the table of scores of several attempts."""
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


def html_page(material: Material) -> str:
    """The whole page.

    Parameters
    ----------
    material : Material

    Returns
    -------
    str
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(value=_value, ends=_ends, number=number)
    pages = Pages()
    order = sorted(range(len(material.runs)), key=lambda index: -_headline(material.runs[index]))
    benchmarks = dict.fromkeys(run.posterior.benchmark for run in material.runs)
    return environment.get_template("report.html.j2").render(
        material=material,
        version=__version__,
        estimands=ESTIMANDS,
        interval=interval_words(material.prob),
        problems=_problems(material),
        remarked=len({anchor for _, anchor, _ in _problems(material)} - {"plan"}),
        checked=_checked(material),
        groups=[_group(material, benchmark, order, pages) for benchmark in benchmarks],
        attempts=_attempts(material, order),
        several_models=len({run.posterior.model.name for run in material.runs}) > 1,
        runs=[_run(material, index, pages) for index in _by_benchmark(material, order)],
        plans=[_plan(plan, pages) for plan in material.plans],
        fold=len(material.runs) > OPEN_RUNS,
        caveats=CAVEATS,
        references=REFERENCES,
    )


def _headline(run: Run) -> float:
    score = run.score("mean", "population")
    return -1.0 if score is None else score.value


def _by_benchmark(material: Material, order: list[int]) -> list[int]:
    first = {name: place for place, name in enumerate(dict.fromkeys(run.posterior.benchmark for run in material.runs))}
    return sorted(order, key=lambda index: first[material.runs[index].posterior.benchmark])


def _value(score: Score) -> str:
    return _text(score.value, score.width)


def _ends(score: Score) -> str:
    if np.isnan(score.lower):
        return "no interval"
    return f"[{_text(score.lower, score.width)}, {_text(score.upper, score.width)}]"


def _text(value: float, width: float) -> str:
    """A number with the digits that its interval is worth; such that are nearly 0 in powers of ten.

    Examples
    --------
    >>> _text(0.6487, 0.38), _text(0.64449, 0.0027), _text(4.31e-7, 1e-6)
    ('0.65', '0.6445', '4.3e-07')
    """
    digits = decimals(width)
    return f"{value:.2g}" if digits > 4 and 0 < value < 1e-3 else f"{value:.{digits}f}"


def _problems(material: Material) -> list[tuple[str, str, str]]:
    """Run, anchor and text of everything that is wrong."""
    place = {id(run): index for index, run in enumerate(material.runs)}
    return [
        (run.name, f"run-{place[id(run)]}", text) if run else ("plan", "plan", text)
        for run, text in material.problems()
    ]


def _checked(material: Material) -> str:
    """What was looked at, in words, for readers who see no problem."""
    sampled = [run.posterior for run in material.runs if run.posterior.engine != "quadrature"]
    parts = ["the predictive check of the counts", "the shift of the mean from its unbiased estimate"]
    if sampled:
        tables = [row for posterior in sampled for row in posterior.check().diagnostics.table.values()]
        rhat = max((row["rhat"] for row in tables if "rhat" in row), default=float("nan"))
        ess = min((min(row["ess_bulk"], row["ess_tail"]) for row in tables if "ess_bulk" in row), default=float("nan"))
        divergences = sum(posterior.check().diagnostics.divergences for posterior in sampled)
        parts.append(f"R-hat (at most {rhat:.3f}), effective draws (at least {ess:,.0f}), divergences ({divergences})")
        distances = [posterior.check().diagnostics.distance for posterior in sampled]
        if np.isfinite(distances).any():
            far = np.nanmax(distances)
            parts.append(f"the distance from exact quadrature (at most {far:.1f} Monte Carlo standard errors)")
    return "; ".join(parts)


def _group(material: Material, benchmark: str, order: list[int], pages: Pages) -> dict[str, Any]:
    """One benchmark: a line a run, best first, and the forest plot."""
    own = [index for index in order if material.runs[index].posterior.benchmark == benchmark]
    rows = []
    for index in own:
        run = material.runs[index]
        counts = run.posterior.counts
        low, high = int(counts.generations.min()), int(counts.generations.max())
        rows.append(
            {
                "anchor": f"run-{index}",
                "system": run.posterior.system,
                "model": run.posterior.model.name,
                "prompts": f"{len(counts):,}",
                "generations": f"{low:,}" if low == high else f"{low:,} to {high:,}",
                "headline": run.score("mean", "population"),
                "fitted": run.score("mean", "population", "model"),
                "robust": run.score("mean", "population", "robust"),
                "benchmark": run.score("mean", "benchmark"),
                "ok": run.posterior.check().ok,
                "problems": len(run.problems),
            }
        )
    shown = own[:FOREST_ROWS]
    means = [item for index in shown for item in material.runs[index].scores if item.name == "mean"]
    label = f"Scores of {len(shown)} systems on {benchmark} with intervals"
    figure = pages.figure(partial(plots.plot_scores, means), label)
    return {"benchmark": benchmark, "rows": rows, "figure": figure, "left_out": len(own) - len(shown)}


def _attempts(material: Material, order: list[int]) -> list[dict[str, Any]]:
    """For several runs, the scores that all of them have, side by side; of many those of the most attempts alone."""
    if len(material.runs) == 1:
        return []
    common = [m for m in material.runs[0].metrics if m.kind != "mean" and all(m in run.metrics for run in material.runs)]
    if len(common) > MOST_SCORES:
        most = max(metric.k for metric in common)
        common = [metric for metric in common if metric.k == most]
    names = [metric.name for metric in common]
    tables = []
    for estimand in ESTIMANDS:
        rows = [
            {
                "system": material.runs[index].posterior.system,
                "benchmark": material.runs[index].posterior.benchmark,
                "anchor": f"run-{index}",
                "scores": [material.runs[index].score(name, estimand) for name in names],
            }
            for index in _by_benchmark(material, order)
        ]
        tables.append({"estimand": estimand, "names": [_unbroken(name) for name in names], "rows": rows})
    return tables if names else []


def _run(material: Material, index: int, pages: Pages) -> dict[str, Any]:
    run = material.runs[index]
    posterior, check = run.posterior, run.posterior.check()
    names = list(dict.fromkeys(item.name for item in run.scores))
    figures: dict[str, Any] = dict.fromkeys(("intervals", "check", "distribution", "curve"), "")
    size = len(material.runs)
    if size <= TWO_FIGURES:
        figures["check"] = pages.figure(check.plot, f"Histogram of correct counts of {run.name} with the model's band")
        figures["distribution"] = pages.figure(posterior.plot, f"Distribution of P(correct) over prompts, {run.name}")
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
                "name": _unbroken(name),
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


def _unbroken(name: str) -> str:
    """The name of a score, so that a line ends before its bracket and nowhere else."""
    head, bracket, rest = name.partition(" (")
    return head + bracket + rest.replace(" ", "\u00a0")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _prompts(run: Run, size: int, pages: Pages) -> dict[str, Any]:
    """Prompts to show: all when few, else the hardest and the least stable, with the rest folded while there is room."""
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
    for key, value in made.items():
        if isinstance(value, dict):
            parts = (f"{name} {tuple(item) if isinstance(item, list | tuple) else item}" for name, item in value.items())
            value = ", ".join(parts)
        lines.append((words.get(key, key), str(value)))
    return lines


def _code(run: Run) -> str:
    """The calls that give this posterior again."""
    posterior, made = run.posterior, run.posterior.provenance
    known = ("engine", "seed", "draws", "tune", "chains", "target_accept", "sampler")
    keywords = {"model": posterior.model.name, "prior": posterior.prior}
    keywords |= {name: made[name] for name in known if name in made and made[name] != "quadrature"}
    if posterior.engine == "quadrature":
        keywords = {"model": posterior.model.name, "prior": posterior.prior, "engine": "quadrature"}
        keywords |= {name: made[name] for name in ("seed", "draws", "chains") if name in made}
    arguments = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
    return (
        "import bayeseval as be\n"
        f"counts = be.read(...)  # results of this run have the fingerprint {posterior.counts.fingerprint[:16]}…\n"
        f"run = counts.select(system={posterior.system!r}, benchmark={posterior.benchmark!r})\n"
        f"post = be.fit(run, {arguments})\n"
        'be.report(post, "report.html")'
    )


def _plan(plan: Any, pages: Pages) -> dict[str, Any]:
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
