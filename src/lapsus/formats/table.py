"""Judgments as a long table, for pandas, R and spreadsheets: CSV and Parquet, with the same columns."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Iterator
from pathlib import Path

from lapsus.errors import InputError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.csv_cells import opening, restored, rows, writing
from lapsus.formats.source import Member, Source
from lapsus.formats.table_reader import entries_of
from lapsus.formats.table_rows import COLUMNS, Row, has_columns, places, rows_of, tellable
from lapsus.model import Entry, Judgment, Span
from lapsus.notices import Notice


class LongTable(Format, ABC):
    """What both tables carry: all of a judgment, nothing of a document."""

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Documents, and judgments that the rows could not keep apart."""
        if entry.document is not None and entry.judgments:
            yield Loss(Notice("documents-table-holds-judgments"))
        elif entry.document is not None:
            yield Loss(Notice("documents-without-judgments-table"), severe=True)
        if any(_has_empty_name(judgment) for judgment in entry.judgments):
            yield Loss(Notice("segments-labels-ties-empty"), severe=True)
        elif len(list(tellable(entry.judgments))) < len(entry.judgments):
            yield Loss(Notice("second-judgments-same-annotator"), severe=True)


class CsvTable(LongTable):
    """The table as CSV."""

    name = "csv"
    title = Notice("judgments-long-table-csv")
    suffix = ".csv"

    def recognises(self, source: Source) -> bool:
        """By the header."""
        member = source.first(".csv")
        return member is not None and any(has_columns(_titles(header)) for header in opening(member, 1))

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A document's judgments at a time."""
        for member in source.members(".csv"):
            yield from entries_of(_csv_rows(member))

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """Header, then the rows."""
        with writing(path) as write:
            write(COLUMNS)
            for entry in entries:
                for row in rows_of(entry):
                    write(row)


class ParquetTable(LongTable):
    """The table as Parquet."""

    name = "parquet"
    title = Notice("judgments-long-table-parquet")
    suffix = ".parquet"

    # Parquet's own module is imported where it is used: other formats need not wait for its library to load.

    def recognises(self, source: Source) -> bool:
        """By the names of the columns."""
        member = source.first(".parquet")
        if member is None:
            return False
        from lapsus.formats.table_parquet import column_names, opened

        try:
            with opened(member) as stream:
                return has_columns(column_names(stream, member.name))
        except InputError:
            return False

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A document's judgments at a time."""
        from lapsus.formats.table_parquet import opened, read_rows

        for member in source.members(".parquet"):
            with opened(member) as stream:
                yield from entries_of(read_rows(stream, member.name))

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """Some thousand rows at a time."""
        from lapsus.formats.table_parquet import write_rows

        write_rows((row for entry in entries for row in rows_of(entry)), path)


def _has_empty_name(judgment: Judgment) -> bool:
    if judgment.segment == "":
        return True
    items = [item for answer in judgment.answers.values() if isinstance(answer, tuple) for item in answer]
    return any(item.tie == "" if isinstance(item, Span) else item == "" for item in items)


def _titles(header: list[str]) -> list[str]:
    return [title.strip() for title in header]


def _csv_rows(member: Member) -> Iterator[tuple[str, Row]]:
    numbered = rows(member)
    line, header = next(numbered)
    standing = places(_titles(header), f"{member.name}, line {line}")
    for line, cells in numbered:
        texts = (None if place is None else restored(cells[place]) for place in standing)
        yield f"{member.name}, line {line}", Row._make(texts)
