"""From the rows of a long table back to judgments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from lapsus.errors import InputError, InvalidError
from lapsus.formats.table_cells import json_of, moment, name, number, text, whole
from lapsus.formats.table_rows import Cell, Row
from lapsus.kinds import KINDS, kind_named
from lapsus.model import Entry, Judgment, Span
from lapsus.notices import Notice


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
        kind = kind_named(name)
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
