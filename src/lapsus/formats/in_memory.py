"""Data that is in memory already: entries, or a table of pandas, polars, DuckDB or anything that speaks Arrow."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any, get_args

from lapsus.errors import InputError, InvalidError, UsageError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.chat import LOOKED_AT, map_told
from lapsus.formats.chat_csv import TABLE, columns_of, conversation_of, has_turns
from lapsus.formats.conversations import Conversations
from lapsus.formats.records import Record
from lapsus.formats.shapes import is_message
from lapsus.formats.source import Source
from lapsus.formats.table import entries_of, json_of, name, text
from lapsus.formats.table_rows import Row, has_columns, places
from lapsus.model import Document, Entry, Judgment, Role, Segment
from lapsus.model.document import SEPARATOR
from lapsus.notices import Notice

NAME = "the data"
"""What messages call a table."""
_SEGMENTS = {"document", "segment", "role", "text"}


class InMemorySource(Source):
    """A source without a file."""

    def __init__(self) -> None:
        self.path, self.only, self.place = Path(NAME), None, NAME
        self.asked, self.found, self.shown = set(), {}, NAME
        self.passed_over, self.others = set(), []

    def left_out(self) -> list[str]:
        """Files that were passed over: none, since there are no files."""
        return []


class InMemory(Format):
    """Entries, documents, or a table of judgments, of conversations or of turns; or several tables about the same."""

    name = "memory"
    title = "data in memory"
    writes = False

    def __init__(self, data: Any) -> None:
        self._is_table = is_table(data)
        if not self._is_table and not isinstance(data, Iterable):
            raise UsageError("no-data", hint="give-path-entries-lapsus", name=type(data).__name__)
        if isinstance(data, Mapping):
            # One conversation, or the splits of a data set.
            splits = [one for one in data.values() if hasattr(one, "column_names")]
            data = [row for split in splits for row in split] if splits else [data]
        # What can be gone through once only is kept, since some need it twice.
        self._data = data if self._is_table or isinstance(data, list | tuple | Format) else list(data)

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """The entries; of a table, those that its rows make up."""
        if self._is_table:
            yield from entries_of_table(self._data, options)
            return
        if self._data and all(map(is_table, self._data)):
            yield from _joined(self._data, options)
            return
        if self._data and all(isinstance(item, Mapping) for item in self._data):
            yield from entries_of_records(self._data, options, "record")
            return
        if self._data and all(isinstance(item, list) and all(map(is_message, item)) for item in self._data):
            yield from entries_of_records(({"messages": item} for item in self._data), options, "record")
            return
        for place, item in enumerate(self._data):
            if isinstance(item, Document):
                yield Entry(item.id, item)
            elif isinstance(item, Entry):
                yield item
            else:
                raise UsageError(
                    "item", hint="give-path-entries-lapsus", place=place, name=type(item).__name__
                )


def _joined(tables: Iterable[Any], options: ReadOptions) -> Iterator[Entry]:
    """What several tables say of each document: one of segments and one of judgments make whole entries."""
    documents: dict[str, Document] = {}
    judgments: dict[str, list[Judgment]] = {}
    for table in tables:
        for entry in entries_of_table(table, options):
            if entry.document is not None:
                if entry.id in documents:
                    raise InputError("two-tables-hold-document", where=NAME, id=entry.id)
                documents[entry.id] = entry.document
            judgments.setdefault(entry.id, []).extend(entry.judgments)
    for id, said in judgments.items():
        yield Entry(id, documents.get(id), tuple(said))


def is_table(data: Any) -> bool:
    """Whether something is a table: of pandas, polars (lazy ones too), DuckDB, or anything that speaks Arrow."""
    return any(hasattr(data, sign) for sign in ("__arrow_c_stream__", "collect_schema", "columns"))


def entries_of_table(table: Any, options: ReadOptions) -> Iterator[Entry]:
    """The entries that a table's rows make up; which sort of table it is, its columns say."""
    columns = _columns(table)
    header = list(columns)
    rows = list(zip(*columns.values(), strict=True))
    if has_columns(header):
        yield from entries_of(_judgment_rows(header, rows))
    elif set(header) >= _SEGMENTS:
        yield from _documents(header, rows, options)
    elif has_turns(header) and options.map is None:
        yield from _turns(header, rows, options)
    elif len(TABLE & set(header)) > 1:
        places(header, NAME)  # says which column a table of judgments needs
    else:
        yield from entries_of_records(
            (
                {name: cell for name, cell in zip(header, cells, strict=True) if cell is not None}
                for cells in rows
            ),
            options,
            "row",
        )


def _judgment_rows(header: list[str], rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, Row]]:
    """The rows of a long table, sorted by document, each with its place."""
    standing = places(header, NAME)
    placed = [
        (f"{NAME}, row {number}", Row._make(None if place is None else cells[place] for place in standing))
        for number, cells in enumerate(rows, 1)
    ]
    return iter(sorted(placed, key=lambda one: str(one[1].document)))


def entries_of_records(
    given: Iterable[Mapping[str, Any]], options: ReadOptions, word: str
) -> Iterator[Entry]:
    """The documents of records in memory, which stay as they are. `word` is what a record is called."""
    given = iter(given)
    some = [_copy(value) for value in islice(given, LOOKED_AT)]
    if options.map is None and some:
        with closing(Conversations(ReadOptions())) as reader:
            is_known = reader.knows(_copy(some[0]))
        options.map = None if is_known else map_told(some)
    records = (
        Record(f"{NAME}, {word} {number}", _copy(value), number)
        for number, value in enumerate(chain(some, given), 1)
    )
    with closing(Conversations(options)) as reader:
        yield from reader.entries(records, word)
        yield from reader.rest()


def _copy(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(one) if isinstance(one, list | tuple) else one for key, one in value.items()}


def _turns(header: list[str], rows: Sequence[tuple[Any, ...]], options: ReadOptions) -> Iterator[Entry]:
    """A turn a row; rows of one conversation may stand apart, as after a join."""
    columns = columns_of(header, NAME)
    found: dict[str, list[tuple[int, list[str]]]] = {}
    for number, cells in enumerate(rows, 1):
        row = (number, ["" if cell is None else str(cell) for cell in cells])
        if not (conversation := columns.conversation(row)):
            raise InputError("names-no-conversation", where=Notice("row", name=NAME, number=number))
        found.setdefault(conversation, []).append(row)
    for conversation, turns in found.items():
        yield Entry(conversation, conversation_of(conversation, turns, columns, f"{NAME}, row", options))


def _documents(header: list[str], rows: Sequence[tuple[Any, ...]], options: ReadOptions) -> Iterator[Entry]:
    """Segments as `to_frame` gives them."""
    segments: dict[str, list[Segment]] = {}
    first: dict[str, dict[str, Any]] = {}
    for number, cells in enumerate(rows, 1):
        row = dict(zip(header, cells, strict=True))
        try:
            id = name(row["document"], "document")
            first.setdefault(id, row)
            segments.setdefault(id, []).append(_segment(row))
        except InvalidError as error:
            raise InputError(
                error.what, where=Notice("row", name=NAME, number=number), hint=error.hint
            ) from error
    for id, own in segments.items():
        row = first[id]
        about: dict[str, Any] = _json(row.get("document_metadata"), "document_metadata")
        if (system := text(row.get("system"), "system")) and "system" not in about:
            about["system"] = system
        language = text(row.get("language"), "language") or options.language_of(own)
        yield Entry(id, Document(id, tuple(own), language, about))


def _segment(row: dict[str, Any]) -> Segment:
    role, words = text(row["role"], "role"), text(row["text"], "text")
    if role not in get_args(Role):
        known = ", ".join(get_args(Role))
        raise InvalidError("unknown-role", hint="known", role=role, known=known)
    parts = tuple(words.split(SEPARATOR)) if role == "triple" else None
    if parts is not None and len(parts) != 3:
        raise InvalidError("no-triple", hint="subject-predicate-object", text=words)
    metadata = _json(row.get("metadata"), "metadata")
    return Segment(name(row["segment"], "segment"), role, words, parts, metadata)  # type: ignore[arg-type]


def _json(cell: Any, column: str) -> dict[str, Any]:
    return json_of(cell, column, dict[str, Any]) if cell else {}


def _columns(table: Any) -> dict[str, list[Any]]:
    """The cells of each column, as plain Python values."""
    if hasattr(table, "collect_schema") and not hasattr(table, "__arrow_c_stream__"):
        table = table.collect()  # polars, not yet worked out
    if hasattr(table, "to_dict") and not hasattr(table, "collect_schema"):
        # pandas speaks Arrow only where pyarrow is installed.
        columns = {str(name): list(cells) for name, cells in table.to_dict("list").items()}
    else:
        from lapsus.formats.columnar import Table

        whole = Table.from_arrow(table)
        columns = {column: list(whole.column(column).to_pylist()) for column in whole.column_names}
    return {column: [_cell(cell) for cell in cells] for column, cells in columns.items()}


def _cell(cell: Any) -> Any:
    """Not a number, and pandas' own missing value, stand for an empty cell; arrays in cells become lists."""
    if hasattr(cell, "tolist"):
        return cell.tolist()
    if isinstance(cell, list | dict | str):
        return cell
    return None if cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType") else cell
