"""Documents: dialogues, and data-to-text pairs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from lapsus.errors import InvalidError
from lapsus.model.frozen import EMPTY, freeze
from lapsus.notices import Notice

Role: TypeAlias = Literal["system", "user", "triple", "text", "prompt", "passage", "tool"]
"""Who or what a segment is: a reply of the system, a turn of the user, data, a text, or what stood behind the talk."""

TALK: frozenset[Role] = frozenset({"system", "user"})
"""The roles of turns that somebody said."""
BACKGROUND: frozenset[Role] = frozenset({"prompt", "passage", "tool"})
"""What stood behind the talk: instructions, retrieved passages, calls of tools and their results.

It is seen and serves as evidence; it is never judged.
"""

ELEMENTS = ("subject", "predicate", "object")
SEPARATOR = " | "


class Element(NamedTuple):
    """One of the three parts of a triple and where it stands in the triple's text."""

    name: str
    start: int
    end: int


class Segment(msgspec.Struct, frozen=True, omit_defaults=True):
    """One turn, one triple or one text."""

    id: str
    role: Role
    text: str
    parts: tuple[str, str, str] | None = None
    metadata: Mapping[str, Any] = EMPTY

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidError("segment-needs-id")
        if (self.role == "triple") != (self.parts is not None):
            raise InvalidError("triple-nothing-else-three", where=Notice("segment", id=self.id))
        if self.parts is not None and self.text != SEPARATOR.join(self.parts):
            raise InvalidError("triples-text-parts-joined", where=Notice("segment", id=self.id))
        if type(self.metadata) is not type(EMPTY):
            msgspec.structs.force_setattr(self, "metadata", freeze(self.metadata))

    @classmethod
    def triple(
        cls, id: str, subject: str, predicate: str, object: str, metadata: Mapping[str, Any] = EMPTY
    ) -> Segment:
        """A triple from its three parts."""
        parts = (subject, predicate, object)
        return cls(id, "triple", SEPARATOR.join(parts), parts, metadata)

    def elements(self) -> tuple[Element, ...]:
        """The parts of a triple with their offsets in `text`; nothing for other segments."""
        if self.parts is None:
            return ()
        found, start = [], 0
        for name, part in zip(ELEMENTS, self.parts, strict=True):
            found.append(Element(name, start, start + len(part)))
            start += len(part) + len(SEPARATOR)
        return tuple(found)


class Document(msgspec.Struct, frozen=True, omit_defaults=True):
    """A dialogue or a data-to-text pair. `metadata["system"]` names the system that spoke, where known."""

    id: str
    segments: tuple[Segment, ...]
    language: str | None = None
    metadata: Mapping[str, Any] = EMPTY

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidError("document-needs-id")
        ids = {segment.id for segment in self.segments}
        if len(ids) != len(self.segments):
            seen: set[str] = set()
            doubled = next(s.id for s in self.segments if s.id in seen or seen.add(s.id))  # type: ignore[func-returns-value]
            raise InvalidError("two-segments-id", where=Notice("document", document=self.id), doubled=doubled)
        if type(self.metadata) is not type(EMPTY):
            msgspec.structs.force_setattr(self, "metadata", freeze(self.metadata))

    def segment(self, id: str) -> Segment:
        """The segment of that id."""
        for segment in self.segments:
            if segment.id == id:
                return segment
        raise InvalidError("no-segment", where=Notice("document", document=self.id), id=id)

    @property
    def system(self) -> str | None:
        """The system whose turns or texts these are."""
        name = self.metadata.get("system")
        return str(name) if name is not None else None

    def _repr_html_(self) -> str:
        # How a page looks is not the model's affair.
        return str(import_module("lapsus").to_html(self))
