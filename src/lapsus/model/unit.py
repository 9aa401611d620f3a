"""Units: what is judged, and what a judge may see of the document."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from lapsus.errors import InvalidError
from lapsus.model.document import Document, Segment
from lapsus.model.judgment import UnitKey
from lapsus.model.scheme import UnitRule


class Unit(msgspec.Struct, frozen=True):
    """A thing to judge. It holds what may be seen and nothing else, so later turns cannot leak through it."""

    document: str
    language: str | None
    target: Segment | None
    """The segment to judge, or None where the whole document is judged."""
    context: tuple[Segment, ...]
    """What else the judge may see: what came before the target, or the whole document."""

    @property
    def key(self) -> UnitKey:
        """Which unit this is."""
        return UnitKey(self.document, self.target.id if self.target else None)

    @property
    def visible(self) -> tuple[Segment, ...]:
        """All that the judge may see, in order; the target, where it comes last, included."""
        if self.target is None or self.target in self.context:
            return self.context
        return (*self.context, self.target)


def units(document: Document, rule: UnitRule) -> Iterator[Unit]:
    """The units of a document under a scheme's rule, in order."""
    if rule.role == "document":
        yield Unit(document.id, document.language, None, document.segments)
        return
    for place, segment in enumerate(document.segments):
        if segment.role == rule.role:
            yield Unit(document.id, document.language, segment, _context(document, place, rule))


def unit(document: Document, rule: UnitRule, segment: str | None) -> Unit:
    """One unit of a document."""
    for candidate in units(document, rule):
        if candidate.key.segment == segment:
            return candidate
    raise InvalidError(
        f"segment {segment!r} is not judged under this scheme, which judges {rule.role!r}",
        where=f"document {document.id!r}",
    )


def _context(document: Document, place: int, rule: UnitRule) -> tuple[Segment, ...]:
    if rule.context == "none":
        return ()
    return document.segments if rule.context == "all" else document.segments[:place]
