"""The main job on data that come with the package: what `bayeseval demo` runs."""

from __future__ import annotations

import time
from pathlib import Path

import typer

from bayeseval import metrics
from bayeseval.cli.tables import say, show_moments, show_plan, show_scores
from bayeseval.cli.work import save
from bayeseval.datasets import example
from bayeseval.errors import OptionError
from bayeseval.fitting import fit
from bayeseval.intervals import compare_intervals
from bayeseval.planning import plan
from bayeseval.posterior.posteriors import Posteriors
from bayeseval.reporting import report
from bayeseval.reporting.content import Material, document
from bayeseval.reporting.files import as_json as json_text
from bayeseval.reporting.files import require_writable

__all__ = ["demo"]

STEPS = 6
ATTEMPTS = 16


def demo(out: str, engine: str, seed: int, as_json: bool) -> None:
    """Fit both runs of aime24-50, compare with moments, plan, and report; the last line is the report's path.

    Parameters
    ----------
    out : str
        Folder for all results, or path of the HTML report with the others beside it.
    engine : {"nuts", "quadrature"}
    seed : int
    as_json : bool
        Whether to print the document of the report in place of everything else.
    """
    page = _page(out)
    tell = _silent if as_json else _Steps()
    tell("reading aime24-50: 30 prompts of AIME 2024, 50 generations each, two checkpoints of one system")
    counts = example("aime24-50")
    tell(f"fitting beta_binomial to both runs ({'NUTS on JAX' if engine == 'nuts' else engine})")
    fitted = fit(counts, engine=engine, seed=seed, progress=not as_json)
    assert isinstance(fitted, Posteriors)
    if len(fitted) < len(counts.run_names):
        raise KeyboardInterrupt
    tell("scores, for prompts like these and for these prompts")
    shown = [metrics.mean(), metrics.pass_at(ATTEMPTS), metrics.pass_hat(4)]
    if not as_json:
        show_scores(fitted, shown, None)
    tell("the same by moments, and what the difference means")
    if not as_json:
        show_moments(fitted, None)
        for sentence in compare_intervals(fitted).explanation:
            say(f"- {sentence}.")
    tell("how many generations the next run needs")
    better = max(fitted, key=lambda posterior: posterior.mean("benchmark").value)
    plans = [
        plan(better, width=0.01, estimand="benchmark", attempts=ATTEMPTS, seed=seed, progress=not as_json),
        plan(better, width=0.04, prompts="fresh", n_prompts=300, seed=seed, progress=not as_json),
    ]
    if not as_json:
        for one in plans:
            show_plan(one)
    tell("writing the report")
    command = "bayeseval demo" if out == "bayeseval-demo" else f"bayeseval demo -o {out}"
    title = "bayeseval demo: two checkpoints on AIME 2024"
    report(fitted, page, title=title, plans=plans, commands=[command])
    numbers = report(fitted, page.with_suffix(".json"), title=title, plans=plans, commands=[command])
    saved = save(fitted, page.parent)
    if as_json:
        material = Material.gather(fitted, title=title, plans=plans, commands=[command])
        files = {"report": str(page), "numbers": str(numbers), "posteriors": [str(file) for file in saved]}
        record = {**document(material, "demo", prompts=False), "files": files}
        typer.echo(json_text(record), nl=False)
        return
    typer.echo(f"The numbers are in {numbers}, the posteriors in {', '.join(str(file) for file in saved)}.")
    typer.echo("The report:")
    typer.echo(str(page))


def _page(out: str) -> Path:
    """Path of the report, in a folder that is made where there is none."""
    target = Path(out).expanduser()
    page = target if target.suffix.lower() == ".html" else target / "report.html"
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(
            f"the folder {page.parent} cannot be made: {error.strerror}; choose another with -o"
        ) from None
    return require_writable(page, (".html",))


class _Steps:
    """Says which step begins, and when."""

    def __init__(self) -> None:
        self.start, self.number = time.perf_counter(), 0

    def __call__(self, text: str) -> None:
        self.number += 1
        typer.secho(f"\n[{self.number}/{STEPS}, {time.perf_counter() - self.start:.0f} s] {text}", bold=True)


def _silent(text: str) -> None:
    """Say nothing: with --json the document is all that is printed."""
