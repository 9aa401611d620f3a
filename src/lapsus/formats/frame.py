"""Entries as a table in memory that pandas, polars and DuckDB take: by Arrow, and without any of them installed."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from arro3.core import Array, DataType, Field, RecordBatch, Schema, Table

from lapsus.errors import UsageError
from lapsus.formats.entry_stream import read
from lapsus.formats.table_parquet import table_of_rows
from lapsus.formats.table_rows import rows_of
from lapsus.model import Document, Entry

Of: TypeAlias = Literal["judgments", "segments"]


class SegmentRow(NamedTuple):
    """The columns of a table of segments, in order."""

    document: str
    segment: str
    role: str
    text: str
    language: str | None
    system: str | None
    metadata: str | None
    """Of the segment, as JSON."""
    document_metadata: str | None
    """Of the document, as JSON, in the row of its first segment."""


_SEGMENTS = Schema([Field(column, DataType.string(), nullable=True) for column in SegmentRow._fields])


class Frame:
    """A table with Arrow's PyCapsule interface: `polars.DataFrame(frame)` and DuckDB's SQL take it without a copy."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    def __len__(self) -> int:
        return self.table.num_rows

    def __arrow_c_schema__(self) -> object:
        return self.table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def to_pydict(self) -> dict[str, list[Any]]:
        """The cells of each column, as plain Python values."""
        cells: dict[str, Any] = {name: self.table.column(name).to_pylist() for name in self.columns}
        return cells

    def to_pandas(self) -> Any:
        """A pandas DataFrame; whole numbers stay whole beside empty cells."""
        pandas = _library("pandas")
        frame = pandas.DataFrame(self.to_pydict(), columns=self.columns)
        schema = self.table.schema
        whole = [name for name in self.columns if schema.field(name).type == DataType.int64()]
        return frame.astype(dict.fromkeys(whole, "Int64"))

    def to_polars(self) -> Any:
        """A polars DataFrame, which shares the table's memory."""
        return _library("polars").DataFrame(self)

    def __repr__(self) -> str:
        return f"Frame of {len(self):,} rows: {', '.join(self.columns)}"


def to_frame(data: Any, of: Of = "judgments") -> Frame:
    """Whatever `lapsus.read` takes, or a single entry or document, as a table.

    Of judgments it is the long table, a row an answer; of segments there is a row for every turn, triple or text.
    """
    if of not in ("judgments", "segments"):
        raise UsageError("table-not-known", hint="known-judgments-segments", of=of)
    entries = read([data] if isinstance(data, Entry | Document) else data)
    if of == "judgments":
        return Frame(table_of_rows(row for entry in entries for row in rows_of(entry)))
    rows = (row for entry in entries if entry.document is not None for row in _segments(entry.document))
    return Frame(_table(rows))


def _segments(document: Document) -> Iterator[SegmentRow]:
    about = document.metadata
    for place, segment in enumerate(document.segments):
        yield SegmentRow(
            document.id,
            segment.id,
            segment.role,
            segment.text,
            document.language,
            document.system,
            _json(segment.metadata),
            _json(about) if place == 0 else None,
        )


def _table(rows: Iterable[SegmentRow]) -> Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(SegmentRow._fields)
    arrays = [Array(cells, type=DataType.string()) for cells in columns]
    return Table.from_batches([RecordBatch.from_arrays(arrays, schema=_SEGMENTS)], schema=_SEGMENTS)


def _json(value: Any) -> str | None:
    return msgspec.json.encode(value).decode() if value else None


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UsageError("not-installed", hint=f"pip install {name}", name=name) from None
