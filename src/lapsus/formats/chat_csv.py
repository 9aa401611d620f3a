"""Chat logs as CSV, a turn a row."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.chat import losses_of_chat
from lapsus.formats.encoding import Numbered, opening, restored, rows, writing
from lapsus.formats.messages import WRITTEN
from lapsus.formats.source import Source
from lapsus.formats.speakers import ROLES, role_of
from lapsus.model import BACKGROUND, Document, Entry, Role, Segment
from lapsus.model.frozen import decoder
from lapsus.notices import Notice

HEADER = ("conversation", "turn", "role", "text", "language", "system", "lapsus")
SUFFIXES = (".csv", ".tsv")
ALIASES = {
    "conversation": (
        *("conversation", "conversation_id", "dialogue", "dialogue_id", "dialog", "dialog_id"),
        *("document", "document_id", "session", "session_id", "id"),
    ),
    "turn": ("turn", "turn_index", "turn_id", "index", "position"),
    "role": ("role", "speaker", "from", "author"),
    "text": ("text", "utterance", "content", "message", "value"),
    "language": ("language", "lang"),
    "system": ("system", "model"),
    "lapsus": ("lapsus",),
}
NEEDED = ("conversation", "role", "text")
UNSURE = frozenset({"id", "author"})
"""Names that many a table has which is no chat: they are understood, but nothing is recognised by them."""
TABLE = frozenset({"scheme", "annotator", "question"})
"""Columns that only a table of judgments has."""
NAMES: dict[str, Role] = {**ROLES, "s": "system", "u": "user"}
_NUMBER = re.compile(r"[0-9]{1,18}")


class ChatCsvExtra(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """The column `lapsus`, in JSON. Where it is there, Lapsus wrote the file and nothing is guessed."""

    document: dict[str, Any] = {}
    """Metadata of the conversation, in its first row."""
    turn: dict[str, Any] = {}
    """Metadata of the turn."""


class ChatCsv(Format):
    """Conversations in a spreadsheet."""

    name = "chat-csv"
    title = Notice("chat-logs-csv-turn")
    suffix = ".chat.csv"

    def recognises(self, source: Source) -> bool:
        """By the header."""
        member = source.first(*SUFFIXES)
        if member is None or not (start := opening(member, 1)):
            return False
        names = [_plain(name) for name in start[0]]
        places = _places(names)
        return has_turns(start[0]) and UNSURE.isdisjoint(names[places[column]] for column in NEEDED)

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A conversation at a time: rows that follow each other and have the same id."""
        for member in source.members(*SUFFIXES):
            numbered = rows(member)
            columns = columns_of(next(numbered)[1], f"{member.name}, line 1")
            seen: set[str] = set()
            for name, group in groupby(numbered, key=columns.conversation):
                turns = list(group)
                where = f"{member.name}, line {turns[0][0]}"
                if not name or name in seen:
                    raise _bad_id(name, where)
                seen.add(name)
                try:
                    document = conversation_of(name, turns, columns, f"{member.name}, line", options)
                except RecursionError:
                    raise InputError("column-lapsus-nested-too", where=where) from None
                yield Entry(name, document)

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Judgments, anything but turns, and conversations without any."""
        yield from losses_of_chat(entry)
        if entry.document is not None and not entry.document.segments:
            yield Loss(Notice("conversations-without-turns"), severe=True)

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """A turn a row; what has no column goes into the column `lapsus`."""
        with writing(path) as write:
            write(HEADER)
            for entry in entries:
                if entry.document is not None:
                    for row in _rows_of(entry.document):
                        write(row)


def has_turns(header: list[str]) -> bool:
    """Whether this is the header of a table of turns, and not of one of judgments."""
    names = [_plain(name) for name in header]
    return _places(names).keys() >= set(NEEDED) and not set(names) >= TABLE


class Columns(NamedTuple):
    """Which column of a table holds what."""

    places: dict[str, int]
    further: dict[str, int]

    @property
    def are_ours(self) -> bool:
        """Whether Lapsus wrote the table."""
        return "lapsus" in self.places

    def cell(self, cells: list[str], column: str) -> str:
        """The text in a column, empty where the file has no such column."""
        place = self.places.get(column)
        return "" if place is None else self._text(cells[place])

    def conversation(self, row: Numbered) -> str:
        """The id of the conversation that a row belongs to."""
        return self.cell(row[1], "conversation")

    def rest(self, cells: list[str]) -> dict[str, Any]:
        """What stands in columns of the table's own."""
        return {name: self._text(cells[place]) for name, place in self.further.items() if cells[place]}

    def _text(self, cell: str) -> str:
        # Others' files may hold an apostrophe that is meant.
        return restored(cell) if self.are_ours else cell


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _places(names: list[str]) -> dict[str, int]:
    found = {}
    for column, aliases in ALIASES.items():
        place = next((names.index(alias) for alias in aliases if alias in names), None)
        if place is not None:
            found[column] = place
    return found


def columns_of(header: list[str], where: str) -> Columns:
    """Which column of a table of turns holds what; an error where one is missing."""
    places = _places([_plain(title) for title in header])
    for column in NEEDED:
        if column not in places:
            known = ", ".join(ALIASES[column])
            raise InputError("no-column", where=where, hint="name-one", column=column, known=known)
    titles = [title.strip() for title in header]
    if doubled := next((title for title in titles if titles.count(title) > 1), None):
        raise InputError("two-columns-called", where=where, hint="rename-one", doubled=doubled)
    taken = set(places.values())
    return Columns(places, {title: place for place, title in enumerate(titles) if place not in taken})


def _bad_id(name: str, where: str) -> InputError:
    if not name:
        return InputError("names-no-conversation", where=where, hint="every-row-needs-conversations")
    hint = Notice("sort-rows-conversation-give")
    return InputError("conversation-had-ended-before", where=where, hint=hint, name=name)


def conversation_of(
    name: str, turns: list[Numbered], columns: Columns, where: str, options: ReadOptions
) -> Document:
    """The conversation that rows make up; `where` and a row's number say where it stands."""
    segments: dict[str, Segment] = {}
    metadata: dict[str, Any] = {}
    order = _Order()
    for line, cells in turns:
        try:
            extra = _extra(columns.cell(cells, "lapsus"))
            segment = _segment(cells, columns, extra, segments)
            if not columns.are_ours:
                order.check(segment.id, columns.cell(cells, "role"))
        except InvalidError as error:
            raise InputError(error.what, where=f"{where} {line}", hint=error.hint) from error
        segments[segment.id] = segment
        metadata |= extra.document
    language = _same("language", turns, columns, where)
    if (system := _same("system", turns, columns, where)) is not None:
        metadata["system"] = system
    if language is None and not columns.are_ours:
        language = options.language_of(segments.values())
    return Document(name, tuple(segments.values()), language, metadata)


def _segment(cells: list[str], columns: Columns, extra: ChatCsvExtra, before: Collection[str]) -> Segment:
    turn = columns.cell(cells, "turn") if "turn" in columns.places else str(len(before))
    if not turn:
        raise InvalidError("names-no-turn", hint="fill-column-every-row")
    if turn in before:
        hint = Notice("give-each-turn-number")
        raise InvalidError("turn-conversation-comes-twice", hint=hint, turn=turn)
    name = columns.cell(cells, "role").strip()
    metadata = columns.rest(cells)
    role = role_of(name, NAMES)
    if role in BACKGROUND and name != WRITTEN[role]:
        metadata["role"] = name
    return Segment(turn, role, columns.cell(cells, "text"), None, metadata | extra.turn)


class _Order:
    """Refuses conversations of others that would be misunderstood."""

    def __init__(self) -> None:
        self.number = -1
        self.has_user = self.has_assistant = False

    def check(self, turn: str, role: str) -> None:
        """Turns must count upwards, and `system` must not be the one who talks."""
        name = role.strip().lower()
        self.has_user |= NAMES[name] == "user"
        self.has_assistant |= NAMES[name] == "system"
        if name == "system" and self.has_user and not self.has_assistant:
            what = Notice("system-seems-one-who")
            raise InvalidError(what, hint="call-turns-assistant")
        if _NUMBER.fullmatch(turn):
            if int(turn) < self.number:
                raise InvalidError(
                    "turn-comes-after-turn", hint="sort-rows-turn", turn=turn, number=self.number
                )
            self.number = int(turn)


def _same(column: str, turns: list[Numbered], columns: Columns, where: str) -> str | None:
    """What the rows of a conversation say of it; empty cells say nothing."""
    said: str | None = None
    for line, cells in turns:
        cell = columns.cell(cells, column)
        if cell and said and cell != said:
            hint = Notice("conversation-one-rename-column")
            raise InputError("after", where=f"{where} {line}", hint=hint, column=column, cell=cell, said=said)
        said = said or cell or None
    return said


def _extra(cell: str) -> ChatCsvExtra:
    if not cell:
        return ChatCsvExtra()
    try:
        return decoder(ChatCsvExtra).decode(cell)
    except msgspec.DecodeError as error:
        raise InvalidError("column-lapsus-not-lapsus", error=error) from error


def _rows_of(document: Document) -> Iterator[tuple[str | None, ...]]:
    rest = dict(document.metadata)
    system = rest.pop("system") if isinstance(rest.get("system"), str) and rest["system"] else None
    for place, segment in enumerate(s for s in document.segments if s.role in WRITTEN):
        turn = dict(segment.metadata)
        role = WRITTEN[segment.role]
        own = turn.get("role")
        if (
            segment.role in BACKGROUND
            and isinstance(own, str)
            and NAMES.get(own.lower()) == segment.role != own
        ):
            role = turn.pop("role") if own != WRITTEN[segment.role] else role
        extra = ChatCsvExtra(rest if place == 0 else {}, turn)
        cell = msgspec.json.encode(extra).decode() if extra != ChatCsvExtra() else None
        yield document.id, segment.id, role, segment.text, document.language, system, cell
