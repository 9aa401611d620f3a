"""Chats in Parquet and Arrow, a conversation a row: LMSYS-Chat-1M, WildChat, data sets saved to disk."""

from __future__ import annotations

from collections.abc import Iterator

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.chat import document_of, has_messages
from lapsus.formats.source import Source
from lapsus.model import Entry

SUFFIXES = (".parquet", ".arrow")


class ChatArrow(Format):
    """Conversations in tables with a column of messages."""

    name = "chat-arrow"
    title = "chats in .parquet or .arrow, a conversation a row (LMSYS, WildChat, saved data sets)"
    writes = False

    def recognises(self, source: Source) -> bool:
        """By the first row."""
        member = source.first(*SUFFIXES)
        if member is None:
            return False
        from lapsus.formats.arrow import arrow_rows

        try:
            row = next(arrow_rows(member), None)
        except InputError:
            return False
        return row is not None and has_messages(row)

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A conversation at a time."""
        from lapsus.formats.arrow import arrow_rows

        for member in source.members(*SUFFIXES):
            for number, row in enumerate(arrow_rows(member), 1):
                source.place = where = f"{member.name}, row {number}"
                given = {key: value for key, value in row.items() if value is not None}
                try:
                    document = document_of(given, f"{member.path.stem}-{number}", options)
                except InvalidError as error:
                    raise InputError(error.what, where=where, hint=error.hint) from error
                yield Entry(document.id, document)
