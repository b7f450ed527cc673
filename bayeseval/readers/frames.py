"""A table of unknown columns: any data frame that Narwhals knows, with the place it came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeseval.errors import DataError, ReadError
from bayeseval.readers.cells import Origin

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["Table", "from_frame", "is_frame"]


@dataclass(frozen=True)
class Table:
    """A data frame, perhaps lazy, whose columns are not yet known to be anything.

    Attributes
    ----------
    frame : DataFrame or LazyFrame of Narwhals
    columns : tuple of str
    nested : frozenset of str
        Columns of lists or records, which cannot hold ids or scores.
    origin : Origin
    notes : tuple of str
        What was done while reading, for the account.
    """

    frame: Any
    columns: tuple[str, ...]
    nested: frozenset[str]
    origin: Origin
    notes: tuple[str, ...] = ()

    def collect(self, names: Iterable[str]) -> nw.DataFrame[Any]:
        """Rows of some columns, in memory; a lazy frame reads only those."""
        import narwhals as nw

        picked = self.frame.select(list(dict.fromkeys(names)))
        if not isinstance(picked, nw.LazyFrame):
            return picked
        try:
            return picked.collect()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as problem:  # engines have errors of their own kinds, and Polars panics outside Exception
            raise ReadError(f"{self.origin.label} cannot be read: {first_line(problem)}") from problem


def is_frame(value: object) -> bool:
    """Whether Narwhals takes this value for a data frame."""
    import narwhals as nw

    return isinstance(nw.from_native(value, pass_through=True), (nw.DataFrame, nw.LazyFrame))


def from_frame(frame: object, origin: Origin | None = None, notes: Sequence[str] = ()) -> Table:
    """Wrap a pandas, Polars, PyArrow or any other frame that Narwhals knows.

    Raises
    ------
    DataError
        If it is no data frame, or two of its columns bear one name.
    """
    import narwhals as nw

    origin = origin or Origin(label="the data frame")
    frame = _with_named_columns(frame)
    try:
        known: Any = nw.from_native(frame)
        schema = known.collect_schema() if isinstance(known, nw.LazyFrame) else known.schema
    except TypeError:
        raise DataError(
            f"a data frame (pandas, Polars, PyArrow or another that Narwhals knows) was expected, but a "
            f"{type(frame).__name__} was given; for a matrix of prompts x generations use Counts.from_matrix"
        ) from None
    except Exception as problem:
        raise DataError(f"the columns of {origin.label} cannot be read: {first_line(problem)}") from problem
    nested = frozenset(name for name, dtype in schema.items() if dtype.is_nested())
    return Table(known, tuple(schema), nested, origin, tuple(notes))


def first_line(problem: BaseException) -> str:
    """The first line of what a library said, to be put into a sentence."""
    lines = str(problem).strip().splitlines()
    return f"{lines[0].rstrip('.')} ({type(problem).__name__})" if lines else type(problem).__name__


def _with_named_columns(frame: Any) -> Any:
    """A pandas frame with its named index among the columns and every column name a text."""
    if type(frame).__module__.split(".")[0] != "pandas" or not hasattr(frame, "reset_index"):
        return frame
    if not hasattr(frame, "columns"):
        return frame
    named = [level for level, name in enumerate(frame.index.names) if name is not None and name not in frame.columns]
    if named:
        frame = frame.reset_index(level=named)
    elif frame.index.nlevels == 1 and frame.index.inferred_type != "integer" and "index" not in frame.columns:
        frame = frame.reset_index(names="index")
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis(
            [":".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns], axis=1
        )
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"two columns of the data frame are named {twice!r}: rename one of them")
    return frame
