"""Results of language models in: files, folders and data frames become `Counts` or `Outcomes`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, overload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayeseval.counts import Counts
    from bayeseval.credits import Credits
    from bayeseval.outcomes import Outcomes
    from bayeseval.readers.columns import ColumnChoice

__all__ = ["read"]


@overload
def read(
    source: object,
    *,
    kind: Literal["credits"],
    threshold: None = None,
    columns_are: None = None,
    metric: str | Sequence[str] | None = None,
    filter: str | None = None,
    errored: Literal["drop", "wrong", "bounds"] | None = None,
    unscored: Literal["drop", "wrong", "bounds"] | None = None,
    add_to: Counts | Outcomes | Credits | None = None,
    quiet: bool = False,
    **columns: ColumnChoice,
) -> Credits: ...


@overload
def read(
    source: object,
    *,
    kind: Literal["counts", "outcomes"] | None = None,
    threshold: float | None = None,
    columns_are: Literal["generations", "systems"] | None = None,
    metric: str | Sequence[str] | None = None,
    filter: str | None = None,
    errored: Literal["drop", "wrong", "bounds"] | None = None,
    unscored: Literal["drop", "wrong", "bounds"] | None = None,
    add_to: Counts | Outcomes | Credits | None = None,
    quiet: bool = False,
    **columns: ColumnChoice,
) -> Counts | Outcomes: ...


def read(
    source: object,
    *,
    kind: Literal["counts", "outcomes", "credits"] | None = None,
    threshold: float | None = None,
    columns_are: Literal["generations", "systems"] | None = None,
    metric: str | Sequence[str] | None = None,
    filter: str | None = None,
    errored: Literal["drop", "wrong", "bounds"] | None = None,
    unscored: Literal["drop", "wrong", "bounds"] | None = None,
    add_to: Counts | Outcomes | Credits | None = None,
    quiet: bool = False,
    **columns: ColumnChoice,
) -> Counts | Outcomes | Credits:
    """Read results of language models from whatever holds them.

    Parameters
    ----------
    source : path, str, data frame, array, Counts, Outcomes, or a list of these
        A file (.csv, .tsv, .jsonl, .ndjson, each also with .gz; .parquet, .npz, .npy; or of an evaluation tool, which
        is told by its content), a folder (everything below it), a glob pattern, a data frame that Narwhals knows (a
        lazy one is counted in its engine), or a matrix of prompts × generations.
    kind : "counts", "outcomes" or "credits", optional
        What to return; guessed from the columns when None. Outcomes can be counted, counts cannot be taken apart;
        credits keep scores between 0 and 1 as they are.
    threshold : float, optional
        Scores of at least this much count as correct. Needed where scores are neither 0 nor 1.
    columns_are : "generations" or "systems", optional
        What the columns of a wide table are, where their names do not say it.
    metric : str or list of str, optional
        Metric or scorer in files of evaluation tools, needed where a file has several that disagree; of a list, the
        first that a benchmark has.
    filter : str, optional
        Filter in files of lm-evaluation-harness, needed where a file has several that disagree.
    errored : "drop", "wrong" or "bounds", optional
        What generations count as whose run failed, needed where there are some in files of evaluation tools. "bounds"
        keeps them as outcomes without a score, and the account tells the mean of each run if all of them were wrong,
        and if all were right; see `bayeseval.score_bounds`. Whatever is computed later leaves them out.
    unscored : "drop", "wrong" or "bounds", optional
        What generations count as that have no score though nothing failed, needed where there are some in files of
        evaluation tools. In tables they are set aside unless this says "wrong".
    add_to : Counts, Outcomes or Credits, optional
        Results of earlier days, to which those read are added; the whole is returned. A generation that is there
        already is refused, and so is a file that was added before where its generations have no numbers of their own
        or only counts are kept.
    quiet : bool
        Whether to keep the account from being printed to standard error; it is in ``.account`` in any case.
    **columns : str, list of str, or False
        The column for system, benchmark, prompt, generations, generation, correct, answer, gold, group or seed in place
        of the guess. A list is joined with ":"; False means that there is none. For a matrix, ``system`` and
        ``benchmark`` are names.

    Returns
    -------
    Counts or Outcomes
        Outcomes where there is one row a generation in memory or in a file, else Counts.

    Raises
    ------
    ReadError
        If a file is missing, damaged or no results; file and line are named. In a folder, files without results are set
        aside instead, and the account says why.
    DataError
        If values cannot be right: the file, row and prompt are named.
    OptionError
        If an argument does not apply.

    Examples
    --------
    >>> import pandas as pd
    >>> results = {"model": "gpt-x", "task": "sums", "question_id": [7, 7, 8], "epoch": [1, 2, 1], "score": [1, 0, 1]}
    >>> frame = pd.DataFrame(results)
    >>> read(frame, quiet=True)
    Outcomes: gpt-x on sums, 2 prompts, 3 generations, between 1 and 2 to each prompt
    """
    from bayeseval.errors import BayesevalError
    from bayeseval.readers.reading import read_sources

    try:
        return read_sources(
            source, kind, threshold, columns_are, metric, filter, errored, unscored, add_to, quiet, columns
        )
    except BayesevalError as problem:
        problem.args = (_at_most(" ".join(str(problem).split("\n")), _LONGEST),)
        raise


_LONGEST = 2000
"""Characters of a message: what a damaged file has where a name belongs may be megabytes."""


def _at_most(text: str, size: int) -> str:
    """A text of which the middle is left out where it is too long, of words first, then of the whole."""
    text = re.sub(r"(\S{100})\S{200,}(\S{100})", r"\1[...]\2", text)
    return text if len(text) <= size else f"{text[: size // 2]} [...] {text[-size // 3 :]}"
