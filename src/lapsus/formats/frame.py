"""Entries as a table in memory that pandas, polars and DuckDB take, without any of them installed."""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias

import msgspec

from lapsus.errors import UsageError
from lapsus.formats.entry_stream import read
from lapsus.formats.table_rows import COLUMNS, DECIMAL, WHOLE, Row, rows_of
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


_NAMES: Final = {int: "Int64", float: "Float64", bool: "Boolean", str: "String"}
"""What polars calls a type of cells."""


class Frame:
    """A table in memory: columns of plain Python cells, None where one is empty.

    With the extra `parquet` it has Arrow's PyCapsule interface too, by which `polars.DataFrame(frame)` and DuckDB's SQL
    take it.
    """

    def __init__(self, cells: Mapping[str, Sequence[Any]], types: Mapping[str, type]) -> None:
        """`types` names the columns that hold something else than text: int, float or bool."""
        self._cells, self._types = cells, types

    @classmethod
    def of_rows(
        cls, rows: Iterable[tuple[Any, ...]], columns: Sequence[str], types: Mapping[str, type]
    ) -> Self:
        """A table from rows whose cells stand in the order of the columns."""
        cells = list(zip(*rows, strict=True)) or [()] * len(columns)
        return cls(dict(zip(columns, cells, strict=True)), types)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._cells)

    def __len__(self) -> int:
        return len(next(iter(self._cells.values())))

    def __arrow_c_schema__(self) -> object:
        return self._arrow().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._arrow().__arrow_c_stream__(requested_schema)

    def to_pydict(self) -> dict[str, list[Any]]:
        """The cells of each column, as plain Python values."""
        return {name: list(cells) for name, cells in self._cells.items()}

    def to_pandas(self) -> Any:
        """A pandas DataFrame; whole numbers stay whole beside empty cells."""
        pandas = _library("pandas")
        frame = pandas.DataFrame(self.to_pydict(), columns=self.columns)
        return frame.astype({name: "Int64" for name, type in self._types.items() if type is int})

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        polars = _library("polars")
        schema = {name: getattr(polars, _NAMES[self._types.get(name, str)]) for name in self.columns}
        return polars.DataFrame(self.to_pydict(), schema=schema)

    def __repr__(self) -> str:
        return f"Frame of {len(self):,} rows: {', '.join(self.columns)}"

    def _arrow(self) -> Any:
        from lapsus.formats.columnar import Array, DataType, Table

        kinds = {
            int: DataType.int64(),
            float: DataType.float64(),
            bool: DataType.bool(),
            str: DataType.string(),
        }
        return Table.from_pydict(
            {
                name: Array(cells, type=kinds[self._types.get(name, str)])
                for name, cells in self._cells.items()
            }
        )


def to_frame(data: Any, of: Of = "judgments") -> Frame:
    """Whatever `lapsus.read` takes, or a single entry or document, as a table.

    Of judgments it is the long table, a row an answer; of segments there is a row for every turn, triple or text.
    """
    if of not in ("judgments", "segments"):
        raise UsageError("table-not-known", hint="known-judgments-segments", of=of)
    entries = read([data] if isinstance(data, Entry | Document) else data)
    if of == "judgments":
        return Frame.of_rows(
            (_judgment_row(row) for entry in entries for row in rows_of(entry)), COLUMNS, _JUDGMENTS
        )
    rows = (row for entry in entries if entry.document is not None for row in _segments(entry.document))
    return Frame.of_rows(rows, SegmentRow._fields, {})


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


_JUDGMENTS: Final = dict.fromkeys(WHOLE, int) | dict.fromkeys(DECIMAL, float)


def _judgment_row(row: Row) -> Row:
    """The row with answers as text and decimals as floats, as the types of the columns say."""
    cells = {name: float(getattr(row, name)) for name in DECIMAL if getattr(row, name) is not None}
    answer = repr(row.answer) if isinstance(row.answer, int | float) else row.answer
    return row._replace(answer=answer, **cells)


def _json(value: Any) -> str | None:
    return msgspec.json.encode(value).decode() if value else None


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UsageError("not-installed", hint=f"pip install {name}", name=name) from None
