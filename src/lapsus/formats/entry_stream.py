"""Reads a source as a stream of entries, and keeps watch over ids that come twice."""

import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from lapsus.errors import InputError, InvalidError, UsageError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.encoding import not_utf8
from lapsus.formats.field_map import FieldMap, field_map, guessed_map
from lapsus.formats.in_memory import InMemory, InMemorySource
from lapsus.formats.library import FORMATS, recognise
from lapsus.formats.remote import location
from lapsus.formats.source import Source
from lapsus.formats.table_rows import NEEDED
from lapsus.model import Document, Entry
from lapsus.notices import Notice, listed
from lapsus.schemes.library import Spelling

MAP: ContextVar[FieldMap | None] = ContextVar("map", default=None)
"""The map that a command was given, which holds for all that it reads."""
SHOWN = 5
"""How many of many alike problems are named."""


@dataclass
class EntryStream:
    """A source being read: iterate over it for its entries; the counts are complete when it is through."""

    source: Source
    format: Format
    recognised: bool
    """Whether the format was told from the files, not by the user."""
    options: ReadOptions = field(default_factory=ReadOptions)
    documents: int = 0
    units: int = 0
    judgments: int = 0
    languages: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Entry]:
        self.documents = self.units = self.judgments = 0
        self.languages.clear()
        self.source.asked.clear()
        self.source.passed_over.clear()
        self.options.told_by_script.clear()
        self.options.mended.clear()
        self.options.dropped.clear()
        self.options.taken.clear()
        # Ids are all that is kept of what went by, so memory hardly grows with the corpus.
        seen: set[str] = set()
        doubled: set[str] = set()
        spelling = Spelling()
        for found in self._entries():
            entry = spelling.by_ids(found)
            if entry.document is not None:
                if entry.id in seen:
                    doubled.add(entry.id)
                    continue
                seen.add(entry.id)
            self._count(entry)
            yield entry
        if doubled:
            raise self._report(doubled)
        if unread := self.source.unread():
            columns = Notice("table-judgments-columns", columns=", ".join(NEEDED))
            raise InputError("nothing-read-of-it", where=unread[0], hint=columns)
        if not self.documents and not self.judgments:
            left_out = [what for what, _ in self.options.dropped.most_common(1)]
            hint = Notice("found-left-out-most", left_out=left_out[0]) if left_out else None
            what = Notice("nothing-format", name=self.format.name)
            raise InputError(what, where=self.source.shown, hint=hint)

    def _entries(self) -> Iterator[Entry]:
        with self.source.named():
            yield from self._read()

    def _read(self) -> Iterator[Entry]:
        try:
            yield from self.format.read(self.source, self.options)
        except UnicodeDecodeError as error:
            raise not_utf8(error, self.source.place) from error
        except RecursionError:
            raise InputError("nested-too-deeply", where=self.source.place) from None
        except sqlite3.Error as error:
            raise InputError("reading-lacks-room", where=self.source.shown, reason=str(error)) from error
        except InvalidError as error:
            raise InputError(error.what, where=error.where, hint=error.hint).at(self.source.place) from error

    def _report(self, doubled: Collection[str]) -> InputError:
        """Which ids came twice, all of them at once. Where they stand is looked up now, by reading again."""
        places: dict[str, list[str]] = {}
        texts: dict[str, set[bytes]] = {}
        for entry in self._entries():
            if entry.document is not None and entry.id in doubled:
                places.setdefault(entry.id, []).append(self.source.place)
                texts.setdefault(entry.id, set()).add(_digest(entry.document))
        kinds = {
            "doubled-different-text": [name for name in places if len(texts[name]) > 1],
            "doubled-same-text": [name for name in places if len(texts[name]) == 1],
        }
        counts = listed((Notice(how, count=len(names)) for how, names in kinds.items() if names), "then")
        lines = [f"\n  {name} ({_said(places[name])})" for names in kinds.values() for name in names]
        more = f"\n  and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
        return InputError(
            "ids-come-twice-not",
            where=self.source.shown,
            hint="give-each-id-own",
            count=len(lines),
            counts=counts,
            lines="".join(lines[:SHOWN]),
            more=more,
        )

    def _count(self, entry: Entry) -> None:
        self.documents += entry.document is not None
        self.units += len({judgment.segment for judgment in entry.judgments})
        self.judgments += len(entry.judgments)
        if entry.document is not None and entry.document.language:
            self.languages[entry.document.language] += 1


def read(
    path: Any,
    format: str | None = None,
    *,
    only: str | None = None,
    language: str | None = None,
    map: FieldMap | Mapping[str, Any] | str | None = None,
    growing: bool = False,
) -> EntryStream:
    """Open a file, folder or zip, or several. Without a format's name the files must tell it beyond doubt.

    In place of a path, data in memory can be given: entries, documents, records as chat logs have them (dicts, lists of
    messages, a data set of Hugging Face), or a table of judgments or chats (pandas, polars, DuckDB, anything with
    Arrow's PyCapsule interface). `map` says which field holds what where the shape is not known: a mapping, text as
    `text=body,speaker=sender,dialogue=ticket`, or the name of a .yaml file. `growing`: files of JSON lines may be
    in the middle of being written, and a last line that is not whole is left out.
    """
    if isinstance(path, EntryStream):
        return path
    if isinstance(path, Entry | Document):
        path = [path]
    options = ReadOptions(language, map=field_map(map) or MAP.get())
    paths = [path] if isinstance(path, str | os.PathLike) else path
    if not _are_paths(paths):
        if format is not None or only is not None:
            raise UsageError("data-memory-neither-format")
        return EntryStream(InMemorySource(), InMemory(path), recognised=False, options=options)
    source = Source.of([location(one) for one in paths], only, growing)
    if format is not None:
        kind = FORMATS.get(format)
        if not kind.reads:
            raise InputError("format-can-written-but", where=source.shown, name=format)
        return EntryStream(source, kind(), recognised=False, options=options)
    with source.named():
        found = _recognised(source, options)
    # What was looked at to tell the format may be large.
    source.found.clear()
    return EntryStream(source, found, recognised=True, options=options)


class SeveralFormats(Format):
    """Several sources, each in a format of its own, read one after the other."""

    name = "several formats"
    title = "several files, each in a format of its own"

    def __init__(self, parts: Sequence[tuple[Source, Format, ReadOptions]]) -> None:
        self._parts = parts

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """The entries of all parts."""
        for part, format, own in self._parts:
            part.asked, part.passed_over = source.asked, source.passed_over
            for entry in format.read(part, own):
                source.place = part.place
                yield entry


def _recognised(source: Source, options: ReadOptions) -> Format:
    """The format of a source; where several paths are in no format together, that of each."""
    try:
        return _recognised_as_one(source, options)
    except InputError:
        if not source.others:
            raise
    parts = []
    for path in [source.path, *(other.path for other in source.others)]:
        # What is counted while reading is counted together.
        part, own = Source(path, source.only, source.growing), replace(options)
        parts.append((part, _recognised_as_one(part, own), own))
    return SeveralFormats(parts)


def _recognised_as_one(source: Source, options: ReadOptions) -> Format:
    """The format of all of a source. A map is for chats; names of speakers alone are for tables of turns too."""
    given = options.map
    if given is not None and given.taken:
        return FORMATS.get("chat")()
    found = recognise(source, options)
    if given is not None and found.name == "chat-csv":
        from lapsus.formats.chat import first_records
        from lapsus.formats.records import SUFFIXES

        told, _ = guessed_map(first_records(source.first(*SUFFIXES)))
        if told is not None:
            options.map = msgspec.structs.replace(told, system=given.system, user=given.user)
            return FORMATS.get("chat")()
    return found


def _are_paths(given: Any) -> bool:
    is_list = isinstance(given, list | tuple) and bool(given)
    return is_list and all(isinstance(one, str | os.PathLike) for one in given)


def _said(places: Sequence[str]) -> str:
    """Files, and how often where it is more than once."""
    found = Counter(places)
    return "; ".join(place if times == 1 else f"{place}, {times} times" for place, times in found.items())


def _digest(document: Document) -> bytes:
    return hashlib.blake2b(msgspec.msgpack.encode(document.segments), digest_size=16).digest()
