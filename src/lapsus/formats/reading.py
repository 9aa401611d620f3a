"""Reads a source as a stream of entries, and keeps watch over ids that come twice."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.library import FORMATS, recognise
from lapsus.formats.source import Source
from lapsus.model import Entry

SHOWN = 5
"""How many of many alike problems are named."""


@dataclass
class Reading:
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
        watch = _Watch()
        try:
            for entry in self.format.read(self.source, self.options):
                if watch.admits(entry, self.source.place):
                    self._count(entry)
                    yield entry
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8 text: {error}", where=self.source.place) from error
        except InvalidError as error:
            raise InputError(error.what, where=error.where, hint=error.hint).at(self.source.place) from error
        watch.raise_for_doubled()
        if not self.documents and not self.judgments:
            raise InputError(f"nothing of format {self.format.name!r} is in it", where=str(self.source.path))

    def _count(self, entry: Entry) -> None:
        self.documents += entry.document is not None
        self.units += len({judgment.segment for judgment in entry.judgments})
        self.judgments += len(entry.judgments)
        if entry.document is not None and entry.document.language:
            self.languages[entry.document.language] += 1


def read(
    path: Path | str,
    format: str | None = None,
    *,
    only: str | None = None,
    language: str | None = None,
) -> Reading:
    """Open a file, folder or zip. Without a format's name the files must tell it beyond doubt."""
    source = Source(Path(path), only)
    if format is not None:
        kind = FORMATS.get(format)
        if not kind.reads:
            raise InputError(f"format {format!r} can be written but not read", where=str(path))
        return Reading(source, kind(), recognised=False, options=ReadOptions(language))
    return Reading(source, recognise(source), recognised=True, options=ReadOptions(language))


class _Watch:
    """Remembers the documents that went by: a digest each, not the documents."""

    def __init__(self) -> None:
        self.seen: dict[str, tuple[bytes, str]] = {}
        self.differing: list[str] = []
        self.alike: list[str] = []

    def admits(self, entry: Entry, place: str) -> bool:
        """Whether the document is new. Judgments that come without their document always are."""
        if entry.document is None:
            return True
        digest = hashlib.blake2b(msgspec.msgpack.encode(entry.document.segments), digest_size=12).digest()
        if entry.id not in self.seen:
            self.seen[entry.id] = (digest, place)
            return True
        known, first_place = self.seen[entry.id]
        (self.alike if known == digest else self.differing).append(f"{entry.id} ({first_place}; {place})")
        return False

    def raise_for_doubled(self) -> None:
        """Say which ids came twice, all of them at once."""
        doubled = self.differing + self.alike
        if not doubled:
            return
        parts = {"with different text": self.differing, "with the same text": self.alike}
        counts = ", ".join(f"{len(ids)} {how}" for how, ids in parts.items() if ids)
        shown = "".join(f"\n  {line}" for line in doubled[:SHOWN])
        more = f"\n  and {len(doubled) - SHOWN} more" if len(doubled) > SHOWN else ""
        raise InputError(
            f"{len(doubled)} ids come twice ({counts}), and are not merged:{shown}{more}\n",
            hint="choose with --only, or convert the parts one by one",
        )
