"""One report of scores, as a self-contained HTML page or as JSON of a public schema."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayeseval.errors import OptionError
from bayeseval.posterior.posterior import Posterior
from bayeseval.reporting.content import Material, document, schema
from bayeseval.reporting.files import as_json, require_writable, write_text

if TYPE_CHECKING:
    from bayeseval.metrics import Metric
    from bayeseval.planning import Plan

__all__ = ["FORMATS", "report", "schema"]

FORMATS = (".html", ".json")


def report(
    posteriors: Posterior | Sequence[Posterior],
    path: str | Path,
    *,
    title: str | None = None,
    metrics: Sequence[Metric] | None = None,
    plans: Plan | Sequence[Plan] | None = None,
    prob: float | None = None,
    commands: Sequence[str] = (),
) -> Path:
    """Write a report: scores of both estimands, what speaks against them, moments, fit, prompts, plan and provenance.

    Parameters
    ----------
    posteriors : Posterior, Posteriors or sequence of Posterior
        The runs to report, several systems and benchmarks as you like.
    path : str or pathlib.Path
        ``.html``: one page that needs nothing else, neither files nor a network. ``.json``: the same numbers after
        `bayeseval.reporting.schema`. The file appears whole or not at all; an existing one is replaced.
    title : str, optional
    metrics : sequence of Metric, optional
        Scores to show beside the mean, from `bayeseval.metrics`. By default pass@k, pass^k, G-Pass@k and mG-Pass@k at
        powers of two up to the generations that were run.
    plans : Plan or sequence of Plan, optional
        From `bayeseval.plan`.
    prob : float, optional
        Probability inside the intervals; `bayeseval.options.prob` by default.
    commands : sequence of str
        Commands that made the results, for the record.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    OptionError
        If the path has another suffix or cannot be written, or there is nothing to report.

    Examples
    --------
    >>> import tempfile, pathlib, bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4, 2], generations=[4, 4, 4, 4])
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> file = be.report(post, pathlib.Path(tempfile.mkdtemp()) / "report.html")
    >>> file.name, file.read_text(encoding="utf-8")[:15]
    ('report.html', '<!doctype html>')
    """
    target = require_writable(path, FORMATS)
    material = Material.gather(posteriors, title=title, metrics=metrics, plans=plans, prob=prob, commands=commands)
    if target.suffix.lower() == ".json":
        text = as_json(document(material))
    elif target.suffix.lower() == ".html":
        from bayeseval.reporting.page import html_page

        text = html_page(material)
    else:  # require_writable has looked at the suffix
        raise OptionError(f"{target} has no suffix of {', '.join(FORMATS)}")
    return write_text(target, text)
