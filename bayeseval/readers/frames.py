"""A table of unknown columns: any data frame that Narwhals knows, with the place it came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
    in_engine : bool
        Whether rows of a lazy frame stay where they are, to be counted there; else those needed are collected.
    """

    frame: Any
    columns: tuple[str, ...]
    nested: frozenset[str]
    origin: Origin
    notes: tuple[str, ...] = ()
    in_engine: bool = False

    def collect(self, names: Iterable[str]) -> nw.DataFrame[Any]:
        """Rows of some columns, in memory; a lazy frame reads only those."""
        return self.collected(self.frame.select(list(dict.fromkeys(names))))

    @property
    def is_lazy(self) -> bool:
        """Whether the rows are not in memory."""
        import narwhals as nw

        return isinstance(self.frame, nw.LazyFrame)

    @property
    def is_polars(self) -> bool:
        """Whether Polars computes, so that rows have an order."""
        return self.frame.implementation.is_polars()

    @property
    def engine(self) -> str:
        """Name of the library that computes."""
        name = self.frame.implementation.name.lower()
        return {"polars": "Polars", "duckdb": "DuckDB", "dask": "Dask", "pyspark": "PySpark"}.get(name, name)

    def numbered(self, name: str) -> Any:
        """The lazy frame of Polars with the places of its rows in a further column."""
        import narwhals as nw

        return nw.from_native(nw.to_native(self.frame).with_row_index(name))

    def distinct(self, names: Sequence[str], most: int = 5000) -> tuple[Table, nw.DataFrame[Any]]:
        """Rows in memory that hold every combination of values in some columns, and the table that they are of.

        These are all rows, or the distinct ones where the rows stay in the engine; their places are not known then.

        Raises
        ------
        DataError
            If the engine holds more than ``most`` distinct ones.
        """
        if not self.in_engine:
            return self, self.collect(names)
        rows = self.collected(self.frame.select(list(dict.fromkeys(names))).unique().head(most + 1))
        if len(rows) > most:
            raise DataError(
                f"the columns {', '.join(map(repr, names))} of {self.origin.label} could play one role, and have too "
                "many different values to be compared: name the one that is meant, as in correct='...'"
            )
        return replace(self, frame=rows, origin=self.origin.unplaced()), rows

    def size(self, names: Sequence[str] = ()) -> int:
        """Number of rows of a lazy frame, or of distinct ones in some columns, computed by its engine."""
        import narwhals as nw

        rows = self.frame.select(list(names)).unique() if names else self.frame
        return int(self.collected(rows.select(nw.len().alias("_rows")))["_rows"].to_list()[0])

    def sizes(self, names: Sequence[str]) -> tuple[int, list[int]]:
        """Number of rows, and of distinct values in some columns, computed by the engine of a lazy frame."""
        import narwhals as nw

        wanted = [nw.len().alias("_rows"), *(nw.col(name).n_unique().alias(f"_{i}") for i, name in enumerate(names))]
        rows = self.collected(self.frame.select(*wanted))
        return int(rows["_rows"].to_list()[0]), [int(rows[f"_{i}"].to_list()[0]) for i in range(len(names))]

    def collected(self, frame: Any) -> nw.DataFrame[Any]:
        """What a frame made of this one holds, in memory; Polars streams, so that it never holds all rows."""
        import narwhals as nw

        if not isinstance(frame, nw.LazyFrame):
            return frame
        try:
            return (
                nw.from_native(nw.to_native(frame).collect(engine="streaming")) if self.is_polars else frame.collect()
            )
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
