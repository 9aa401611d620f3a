"""Judgments as a long table, for pandas, R and spreadsheets: CSV and Parquet, with the same columns."""

import math
import re
from abc import ABC
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.encoding import opening, restored, rows, writing
from lapsus.formats.source import Member, Source
from lapsus.formats.table_rows import COLUMNS, Cell, Row, has_columns, places, rows_of, tellable
from lapsus.kinds import KINDS
from lapsus.model import Entry, Judgment, Span
from lapsus.model.frozen import decoder
from lapsus.notices import Notice

T = TypeVar("T")
_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


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
        from lapsus.formats.columnar import column_names, opened

        try:
            with opened(member) as stream:
                return has_columns(column_names(stream, member.name))
        except InputError:
            return False

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A document's judgments at a time."""
        from lapsus.formats.columnar import opened, read_rows

        for member in source.members(".parquet"):
            with opened(member) as stream:
                yield from entries_of(read_rows(stream, member.name))

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """Some thousand rows at a time."""
        from lapsus.formats.columnar import write_rows

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


def text(cell: Any, column: str) -> str:
    """A text, empty where there is none. Numbers will do: others keep numbered documents as numbers."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return str(cell)
    raise InvalidError("must-text-not", column=column, cell=cell)


def name(cell: Any, column: str) -> str:
    """A text that must be there."""
    if not (found := text(cell, column)):
        raise InvalidError("is-empty", hint="every-row-names", column=column)
    return found


def number(cell: Any, column: str) -> int | float:
    """A number. Whole ones stay whole: 3 is not 3.0."""
    found = cell
    if isinstance(cell, str):
        if _WHOLE.fullmatch(cell):
            found = int(cell)
        elif _DECIMAL.fullmatch(cell):
            found = float(cell)
    if not isinstance(found, int | float) or not math.isfinite(found):
        raise InvalidError("must-number-not", column=column, cell=cell)
    return found


def whole(cell: Any, column: str) -> int | None:
    """A whole number, None where there is none. 3.0 will do: pandas makes it of 3 beside empty cells."""
    if cell is None or cell == "":
        return None
    found = number(cell, column)
    if found != int(found):
        raise InvalidError("must-whole-number-not", column=column, cell=cell)
    return int(found)


def moment(cell: Any) -> datetime | None:
    """A time, None where there is none."""
    if cell is None or cell == "":
        return None
    try:
        return msgspec.convert(cell, datetime)
    except msgspec.ValidationError:
        raise InvalidError("must-time-like-2024-05-31t09", cell=cell) from None


def json_of(cell: Any, column: str, kind: type[T]) -> T:
    """What a cell holds as a JSON object."""
    try:
        return decoder(kind).decode(text(cell, column))
    except msgspec.DecodeError as error:
        raise InvalidError("must-json-object", column=column, error=error) from error


def entries_of(placed: Iterable[tuple[str, Row]]) -> Iterator[Entry]:
    """The entries in a file's rows, each row with its place. Rows of one document in a row make one entry."""
    seen: set[str] = set()
    for document, group in groupby(placed, key=_document):
        rows = iter(group)
        if document in seen:
            hint = Notice("sort-table-document")
            raise InputError("rows-document-do-not", where=next(rows)[0], hint=hint, document=document)
        seen.add(document)
        drafts: dict[tuple[Cell, ...], _Draft] = {}
        for where, row in rows:
            key = (row.segment, row.scheme, row.version, row.annotator, row.revision)
            try:
                if key not in drafts:
                    drafts[key] = _Draft(document, row, where)
                drafts[key].add(row)
            except InvalidError as error:
                raise InputError(error.what, where=where, hint=error.hint) from error
            except RecursionError:
                raise InputError("json-nested-too-deeply", where=where) from None
        yield Entry(document, None, tuple(draft.judgment() for draft in drafts.values()))


def _document(placed: tuple[str, Row]) -> str:
    where, row = placed
    try:
        return name(row.document, "document")
    except InvalidError as error:
        raise InputError(error.what, where=where, hint=error.hint) from error


class _Draft:
    """A judgment whose rows are coming in."""

    def __init__(self, document: str, row: Row, where: str) -> None:
        self.first = row
        self.where = where
        self.answers: dict[str, Any] = {}
        self.answered_with_none: set[str] = set()
        self.distributions: dict[str, dict[str, float]] = {}
        self.distribution_cells: dict[str, Cell] = {}
        revision = whole(row.revision, "revision")
        self.about: dict[str, Any] = {
            "document": document,
            "segment": text(row.segment, "segment") or None,
            "annotator": name(row.annotator, "annotator"),
            "scheme": name(row.scheme, "scheme"),
            "version": text(row.version, "version"),
            "revision": 1 if revision is None else revision,
            "at": moment(row.at),
            "seconds": float(number(row.seconds, "seconds")) if row.seconds not in (None, "") else None,
            "metadata": json_of(row.metadata, "metadata", dict[str, Any]) if row.metadata else {},
        }

    def add(self, row: Row) -> None:
        """Take one row in."""
        for column in ("at", "seconds", "metadata"):
            if getattr(row, column) != getattr(self.first, column):
                raise InvalidError("another-first-row-same", column=column)
        question = text(row.question, "question")
        self._add_distribution(question, row.distribution)
        name = text(row.kind, "kind")
        if not name and not text(row.answer, "answer"):
            return
        if name not in KINDS.names():
            hint = Notice("known-empty-where-no", names=", ".join(KINDS.names()))
            raise InvalidError("unknown-kind-answer", hint=hint, name=name)
        kind = KINDS.get(name)
        if kind.several:
            self._add_item(question, kind.item(_Cells(row)))
        else:
            self._add_only(question, kind.item(_Cells(row)))

    def judgment(self) -> Judgment:
        """The whole of it."""
        answers = {key: tuple(item) if isinstance(item, list) else item for key, item in self.answers.items()}
        try:
            return Judgment(**self.about, answers=answers, distributions=self.distributions)
        except InvalidError as error:
            raise InputError(error.what, where=self.where, hint=error.hint) from error
        except RecursionError:
            raise InputError("json-nested-too-deeply", where=self.where) from None

    def _add_distribution(self, question: str, cell: Cell) -> None:
        if self.distribution_cells.setdefault(question, cell) != cell:
            raise InvalidError("another-distribution-first-row", question=question)
        if cell and question not in self.distributions:
            self.distributions[question] = json_of(cell, "distribution", dict[str, float])

    def _add_only(self, question: str, answer: str | int | float | list[str | Span]) -> None:
        if question in self.answers:
            raise InvalidError("answered-twice-one-judgment", question=question)
        self.answers[question] = answer

    def _add_item(self, question: str, item: str | Span | None) -> None:
        if item is None:
            self._add_only(question, [])
            self.answered_with_none.add(question)
        elif question in self.answered_with_none or not isinstance(self.answers.get(question, []), list):
            raise InvalidError("answered-twice-one-judgment", question=question)
        else:
            self.answers.setdefault(question, []).append(item)


class _Cells:
    """A row as kinds read it."""

    def __init__(self, row: Row) -> None:
        self.row = row

    def text(self, column: str) -> str:
        return text(getattr(self.row, column), column)

    def number(self, column: str) -> int | float:
        return number(getattr(self.row, column), column)

    def whole(self, column: str) -> int | None:
        return whole(getattr(self.row, column), column)
