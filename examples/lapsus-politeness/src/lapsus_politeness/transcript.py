"""Plain transcripts: a turn a line, `U: ` or `S: ` before it, an empty line between dialogues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lapsus.errors import InputError
from lapsus.formats import Format, Loss, ReadOptions, Source
from lapsus.model import Document, Entry, Role, Segment

SPEAKERS: dict[str, Role] = {"U: ": "user", "S: ": "system"}


class Transcript(Format):
    """Dialogues as somebody would type them."""

    name = "transcript"
    title = "plain transcripts: .transcript.txt with a turn a line (U: …, S: …)"
    suffix = ".transcript.txt"

    def recognises(self, source: Source) -> bool:
        """By the ending, which is long enough to be nobody else's."""
        return source.first(self.suffix) is not None

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A dialogue at a time; ids are the file's name and a number."""
        for member in source.members(self.suffix):
            stem = member.path.name.removesuffix(self.suffix)
            turns: list[Segment] = []
            count = 0
            with member.text() as text:
                for number, raw in enumerate([*text, ""], 1):
                    if line := raw.rstrip("\n"):
                        turns.append(_turn(line, len(turns), f"{member.name}, line {number}"))
                    elif turns:
                        count += 1
                        yield _entry(f"{stem}-{count}", turns, options)
                        turns = []

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Whatever is no plain line of a dialogue; the ids are always made anew."""
        if entry.judgments:
            yield Loss("judgments", severe=True)
        if entry.document is not None:
            yield Loss("ids, metadata and languages of documents and turns")
            if any(segment.role not in SPEAKERS.values() for segment in entry.document.segments):
                yield Loss("segments that are no turns", severe=True)
            if any(not _fits(segment.text) for segment in entry.document.segments):
                yield Loss("line breaks in turns")

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """A dialogue after the other."""
        titles = {role: title for title, role in SPEAKERS.items()}
        with path.open("x", encoding="utf-8") as stream:
            for entry in entries:
                for segment in entry.document.segments if entry.document else ():
                    if segment.role in titles:
                        stream.write(titles[segment.role] + " ".join(segment.text.splitlines()) + "\n")
                stream.write("\n")


def _turn(line: str, place: int, where: str) -> Segment:
    for title, role in SPEAKERS.items():
        if line.startswith(title):
            return Segment(str(place), role, line.removeprefix(title))
    raise InputError(
        f"{line[:40]!r} does not say who speaks", where=where, hint="begin it with 'U: ' or 'S: '"
    )


def _entry(id: str, turns: list[Segment], options: ReadOptions) -> Entry:
    return Entry(id, Document(id, tuple(turns), options.language_of(turns)))


def _fits(text: str) -> bool:
    return len(text.splitlines()) <= 1
