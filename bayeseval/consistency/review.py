"""Suspects as a table or a page for a person to look at."""

from __future__ import annotations

import csv
import io
import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.consistency.texts import shortened, shown
from bayeseval.consistency.verdicts import VERDICTS
from bayeseval.errors import OptionError
from bayeseval.files import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from bayeseval.consistency.data_map import DataMap

__all__ = ["review_rows", "write_review"]

COLUMNS = [
    "benchmark", "prompt", "verdict", "note", "why", "gold", "suspected_answer", "answers", "gold_given", "generations",
    "correct", "agreeing", "systems", "probability", "kind",
]  # fmt: skip
LONG = 400
FORMULA = ("=", "+", "-", "@", "'")

STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1d2126;background:#fff}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;
border-bottom:1px solid #d9dde2;overflow-wrap:anywhere}th{white-space:nowrap;position:sticky;top:0;background:#f4f6f8}
td.n{white-space:nowrap}button{font:inherit;padding:.4rem .9rem}input,select{font:inherit;max-width:11rem}
@media (prefers-color-scheme:dark){body{color:#e6e8eb;background:#15181c}th{background:#22272e}
td,th{border-color:#3a414a}}
"""
SCRIPT = """
document.getElementById('save').addEventListener('click',function(){
 var head=['benchmark','prompt','verdict','note','why'],lines=[head.join(',')];
 document.querySelectorAll('tbody tr').forEach(function(row){
  var kept=JSON.parse(row.dataset.key);
  var cells=[kept[0],kept[1],row.querySelector('select').value,row.querySelector('input').value,kept[2]];
  lines.push(cells.map(function(text){
   if(/^[=+\\-@']/.test(text)){text="'"+text}
   return '"'+text.replace(/"/g,'""')+'"'}).join(','))});
 var link=document.createElement('a');
 link.href=URL.createObjectURL(new Blob([lines.join('\\n')+'\\n'],{type:'text/csv'}));
 link.download='verdicts.csv';link.click()});
"""


def review_rows(
    data: DataMap, at_least: float | None = None, top: int | None = 20, random: int = 20, seed: int = 0
) -> pd.DataFrame:
    """The suspects and some others at random, in random order, so that the person is not led by the rank.

    Parameters
    ----------
    data : DataMap
    at_least, top : float, int, optional
        Which suspects.
    random : int
        Number of others.
    seed : int

    Returns
    -------
    pandas.DataFrame
        Columns of the file, verdict and note empty.

    Examples
    --------
    >>> import bayeseval as be
    >>> found = be.data_map(be.example("aime24-50", "outcomes"), seed=1)
    >>> review_rows(found, top=5, random=3)["why"].value_counts().to_dict()
    {'flagged': 5, 'random': 3}
    """
    if isinstance(random, bool) or not isinstance(random, int | np.integer) or random < 0:
        raise OptionError(f"random must be a whole number of at least 0, but {random!r} was given")
    import pandas as pd

    ranked = data.suspects().table
    flagged = len(data.suspects(at_least, top))
    rng = np.random.default_rng(seed)
    rest = rng.permutation(np.arange(flagged, len(ranked)))[:random]
    rows = np.concatenate([np.arange(flagged), rest])
    table = ranked.iloc[rows].assign(verdict="", note="", why=["flagged"] * flagged + ["random"] * len(rest))
    return pd.DataFrame(table.iloc[rng.permutation(len(table))][COLUMNS]).reset_index(drop=True)


def write_review(
    data: DataMap, path: str | Path, *, at_least: float | None, top: int | None, random: int, seed: int
) -> Path:
    """Write the rows of `review_rows` as .csv or as a page; see `DataMap.review`.

    Raises
    ------
    OptionError
        If the file has another ending, or cannot be written.
    """
    target = Path(path).expanduser()
    if target.suffix.lower() not in (".csv", ".html"):
        raise OptionError(f"a review is written as .csv or .html, but {str(path)!r} was given")
    if not target.parent.is_dir() or target.is_dir():
        raise OptionError(f"{target} cannot be written: there is no such folder, or it is one; choose another path")
    rows = review_rows(data, at_least, top, random, seed)
    text = _table(rows) if target.suffix.lower() == ".csv" else _page(data, rows)
    return write_whole(
        target, lambda draft: draft.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    )


def _table(rows: pd.DataFrame) -> str:
    """CSV; a text that a spreadsheet would take for a formula gets a quote in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows.itertuples(index=False):
        writer.writerow([_cell(name, value) for name, value in zip(COLUMNS, row, strict=True)])
    return out.getvalue()


def _cell(name: str, value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    if name not in ("benchmark", "prompt"):
        text = shortened(text, LONG)
    return "'" + text if text[:1] in FORMULA else text


def _page(data: DataMap, rows: pd.DataFrame) -> str:
    """A page without anything from elsewhere; every text is escaped, and it knows which prompts it shows."""
    choice = "".join(f"<option>{name}</option>" for name in ("", *VERDICTS))
    body = []
    for row in rows.itertuples(index=False):
        key = escape(json.dumps([str(row.benchmark), str(row.prompt), row.why]), quote=True)
        counts = f"{row.gold_given} of {row.generations} gave the gold answer"
        agree = f"{row.agreeing} of {row.systems} systems" if row.systems > 1 else ""
        cells = [
            f"{escape(shortened(str(row.benchmark)))}<br><b>{escape(shortened(str(row.prompt)))}</b>",
            escape(shown(row.gold, LONG)),
            escape(shown(row.answers, LONG)),
            f"{escape(shown(row.suspected_answer, LONG))}<br>{agree}",
            escape(counts),
        ]
        entry = f"<select aria-label='verdict'>{choice}</select><br><input aria-label='note' placeholder='note'>"
        body.append(
            f'<tr data-key="{key}">'
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + f"<td class='n'>{entry}</td></tr>"
        )
    head = ("prompt", "gold", "answers", "most probable other answer", "counts", "verdict")
    told = "".join(
        f"<li><b>{name}</b>: {text}</li>"
        for name, text in zip(
            VERDICTS,
            ("the gold answer is wrong", "prompt or gold answer can be read in several ways",
             "the gold answer is right", "right answers were scored wrong"), strict=True,
        )
    )  # fmt: skip
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
        "content='width=device-width'><title>Review of gold answers</title>"
        f"<style>{STYLE}</style></head><body><h1>Review of gold answers</h1>"
        f"<p>{escape(shortened(data.sentence(), LONG))}.</p><p>Flagged prompts and others, drawn at random, stand in "
        f"random order. Choose a verdict for each, save, and read the file with <code>be.read_verdicts</code>.</p>"
        f"<ul>{told}</ul><p><button id='save'>Save verdicts.csv</button></p><table><thead><tr>"
        + "".join(f"<th>{name}</th>" for name in head)
        + f"</tr></thead><tbody>{''.join(body)}</tbody></table><script>{SCRIPT}</script></body></html>\n"
    )
