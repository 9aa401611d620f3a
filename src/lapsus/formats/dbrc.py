"""The Dialogue Breakdown Repair Corpus: how bad people find a broken turn, and how they would go on."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from lapsus.errors import InputError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.source import Member, Source, lines
from lapsus.model import Document, Entry, Judgment, Role, Segment, anonymous_annotator, in_language
from lapsus.model.frozen import decoder
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.schemes import load_scheme

SUFFIX = ".jsonl"
SCHEME = "error-types"
_MAPPED = frozenset({"question_id", "dialogue_history", "breakdown_type", "breakdown_reason"})
_ROLES: dict[str, Role] = {"user": "user", "system": "system"}


class Turn(msgspec.Struct):
    """A turn of the history; short dialogues are filled up with turns that have no text."""

    role: str
    text: str | None = None


class Record(msgspec.Struct):
    """The part of a line that has a place in the model. All else becomes the judgment's metadata."""

    question_id: int | str
    dialogue_history: tuple[Turn, ...]
    breakdown_type: str
    breakdown_reason: str | None = None


class Row(NamedTuple):
    """A line, and where it stands."""

    record: Record
    rest: dict[str, Any]
    where: str


class Dbrc(Format):
    """Dialogues that end in a breakdown, its type, and what many people say about it."""

    name = "dbrc"
    title = Notice("dialogue-breakdown-repair-corpus")
    writes = False

    def recognises(self, source: Source) -> bool:
        """By the keys of the first line."""
        member = source.first(SUFFIX)
        line = member.head().partition(b"\n")[0] if member else b""
        return b'"dialogue_history"' in line and b'"breakdown_type"' in line

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """Lines about the same question that stand together make an entry."""
        reader = _Reader(options)
        for member in source.members(SUFFIX):
            for _, rows in groupby(_rows(member), key=lambda row: row.record.question_id):
                yield reader.entry(list(rows))


def _rows(member: Member) -> Iterator[Row]:
    for number, line in lines(member):
        where = f"{member.name}, line {number}"
        try:
            raw = json.loads(line, parse_constant=_missing)
            # By way of JSON, so that text which could not be written again is refused here.
            record = decoder(Record).decode(msgspec.json.encode(raw))
        except (ValueError, RecursionError, msgspec.DecodeError) as error:
            raise InputError("not-corpus", where=where, error=error) from error
        yield Row(record, {key: value for key, value in raw.items() if key not in _MAPPED}, where)


def _missing(name: str) -> None:
    """The corpus writes NaN, which JSON does not have, for turns that are not there."""
    if name != "NaN":
        raise ValueError(f"{name} is no JSON")


class _Reader:
    """Turns the lines about a question into a dialogue and its judgments."""

    def __init__(self, options: ReadOptions) -> None:
        scheme = load_scheme(SCHEME)
        question = scheme.question("types")
        labels = question.labels if question else ()
        self.options = options
        self.version = scheme.version
        self.names = [in_language(label.name, "ja") for label in labels]
        self.types = {name: label.id for label in labels for name in (label.id, *label.aliases)}

    def entry(self, rows: list[Row]) -> Entry:
        """The people who judge are not named, so they are numbered within the question."""
        record = rows[0].record
        name = f"dbrc-{record.question_id}"
        segments = _segments(rows[0])
        for row in rows:
            if row.record.dialogue_history != record.dialogue_history:
                raise InputError("dialogue-not-lines-before", where=row.where, question_id=record.question_id)
        document = Document(name, segments, self.options.language_of(segments))
        judgments = (
            Judgment(
                name,
                segments[-1].id,
                anonymous_annotator(number),
                SCHEME,
                self.version,
                self._answers(row),
                metadata=row.rest,
            )
            for number, row in enumerate(rows, 1)
        )
        return Entry(name, document, tuple(judgments))

    def _answers(self, row: Row) -> dict[str, Any]:
        named = row.record.breakdown_type
        if named not in self.types:
            raise InputError(
                "unknown-error-type", where=row.where, hint=did_you_mean(named, self.names), named=named
            )
        answers: dict[str, Any] = {"types": (self.types[named],)}
        if row.record.breakdown_reason:
            answers["remark"] = row.record.breakdown_reason
        return answers


def _segments(row: Row) -> tuple[Segment, ...]:
    """The turns that are there, each under its place in the history; the last one is the system's."""
    segments = []
    for place, turn in enumerate(row.record.dialogue_history):
        if turn.role not in _ROLES:
            raise InputError(
                "unknown-role",
                where=Notice("turn-2", place=row.where, place2=place),
                hint="known-user-system",
                role=turn.role,
            )
        if turn.text is not None:
            segments.append(Segment(str(place), _ROLES[turn.role], turn.text.rstrip("\n")))
    if not segments or segments[-1].role != "system":
        raise InputError("history-does-not-end", where=row.where)
    return tuple(segments)
