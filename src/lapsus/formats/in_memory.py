"""Data that is in memory already: entries, or a table of pandas, polars, DuckDB or anything that speaks Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lapsus.errors import InputError, UsageError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.frame_reader import NAME, entries_of_records, entries_of_table, is_table
from lapsus.formats.shapes import is_message
from lapsus.formats.source import Source
from lapsus.model import Document, Entry, Judgment


class InMemorySource(Source):
    """A source without a file."""

    def __init__(self, name: str = NAME) -> None:
        self.path, self.only, self.place = Path(name), None, name
        self.asked, self.found, self.shown = set(), {}, name
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
