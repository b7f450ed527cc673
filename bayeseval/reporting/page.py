"""The HTML page: what the document says, arranged for a reader. The template escapes every text."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayeseval import plots
from bayeseval._version import __version__
from bayeseval.display import number
from bayeseval.plots.canvas import interval_words
from bayeseval.posterior.scores import ESTIMANDS, Score, decimals
from bayeseval.reporting.content import Material, Run
from bayeseval.reporting.details import Pages, plan_details, run_details, unbroken
from bayeseval.reporting.words import CAVEATS, REFERENCES

__all__ = ["html_page"]

OPEN_RUNS = 3
"""Up to this many runs are told in full; more are folded."""
FOREST_ROWS = 60
"""Most systems in the figure of one benchmark."""
MOST_SCORES = 6
"""Most columns of the table of scores of several attempts."""


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
    text = environment.get_template("report.html.j2").render(
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
        runs=[run_details(material, index, pages) for index in _by_benchmark(material, order)],
        plans=[plan_details(plan, pages) for plan in material.plans],
        fold=len(material.runs) > OPEN_RUNS,
        caveats=CAVEATS,
        references=REFERENCES,
    )
    # Control characters that names may hold are no text of a page.
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "\ufffd", text)


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
    common = [
        m for m in material.runs[0].metrics if m.kind != "mean" and all(m in run.metrics for run in material.runs)
    ]
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
        tables.append({"estimand": estimand, "names": [unbroken(name) for name in names], "rows": rows})
    return tables if names else []
