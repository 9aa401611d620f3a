"""Native JSON Lines: everything, nothing lost. A line a document or a judgment; judgments follow their document."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from lapsus.errors import InputError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.source import Member, Source, lines
from lapsus.model import Document, Entry, Judgment
from lapsus.model.frozen import decoder
from lapsus.notices import Notice

VERSION = 1


class Line(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What a line may hold: the header, a document or a judgment."""

    lapsus: int | None = None
    document: Document | None = None
    judgment: Judgment | None = None

    @property
    def about(self) -> str | None:
        """The document that the line is about."""
        return self.document.id if self.document else self.judgment.document if self.judgment else None


class Jsonl(Format):
    """The native format."""

    name = "jsonl"
    title = Notice("native-json-lines-documents")
    suffix = ".jsonl"

    def recognises(self, source: Source) -> bool:
        """By the header."""
        member = source.first(".jsonl")
        return member is not None and member.head(16).replace(b" ", b"").startswith(b'{"lapsus":')

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """Lines about the same document that stand together make an entry."""
        for member in source.members(".jsonl"):
            for about, group in groupby(_lines(member), key=lambda line: line.about):
                if about is not None:
                    yield _entry(about, list(group), member)

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """Header, then each document and its judgments."""
        encoder = msgspec.json.Encoder()
        with path.open("xb") as stream:
            stream.write(encoder.encode(Line(lapsus=VERSION)) + b"\n")
            for entry in entries:
                if entry.document is not None:
                    stream.write(encoder.encode(Line(document=entry.document)) + b"\n")
                for judgment in entry.judgments:
                    stream.write(encoder.encode(Line(judgment=judgment)) + b"\n")


def _lines(member: Member) -> Iterator[Line]:
    lined = decoder(Line)
    for number, raw in lines(member):
        try:
            line = lined.decode(raw)
        except msgspec.DecodeError as error:
            raise InputError(str(error), where=Notice("line", name=member.name, line=number)) from error
        if line.lapsus is not None and line.lapsus > VERSION:
            raise InputError(
                "written-newer-lapsus-format",
                where=member.name,
                hint="update-lapsus",
                lapsus=line.lapsus,
                version=VERSION,
            )
        yield line


def _entry(about: str, group: list[Line], member: Member) -> Entry:
    documents = [line.document for line in group if line.document]
    if len(documents) > 1:
        raise InputError("document-stands-twice-row", where=member.name, about=about)
    judgments = tuple(line.judgment for line in group if line.judgment)
    return Entry(about, documents[0] if documents else None, judgments)
