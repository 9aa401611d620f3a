"""Where a result of Label Studio stands in a document.

Label Studio runs in a browser, where strings are counted in UTF-16 units: an emoji is two. So are regions of
dialogues. Those of plain texts were until 2022 and are code points since. The text that comes along tells.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lapsus.errors import InputError
from lapsus.model import Document, Segment

_LAST_OF_ONE_UNIT = "\uffff"


class Stretch(NamedTuple):
    """A part of a segment's text, in code points."""

    segment: Segment
    start: int
    end: int


def region(document: Document, segment: str, start: int = 0, end: int | None = None) -> dict[str, Any] | None:
    """How Label Studio says where a stretch is (or a whole segment); None where there is no such segment."""
    for place, candidate in enumerate(document.segments):
        if candidate.id == segment:
            text = candidate.text
            last = len(text) if end is None else end
            return {
                "start": str(place),
                "end": str(place),
                "startOffset": to_utf16(text, start),
                "endOffset": to_utf16(text, last),
                "text": text[start:last],
            }
    return None


def stretch(value: dict[str, Any], document: Document) -> Stretch | None:
    """Where a result stands; None where it is about the whole document."""
    if isinstance(offsets := value.get("globalOffsets"), dict):
        return _checked(value, _text(document), offsets.get("start"), offsets.get("end"), utf16_first=False)
    if "startOffset" in value or "endOffset" in value:
        segment = _turn(value, document)
        return _checked(value, segment, value.get("startOffset"), value.get("endOffset"), utf16_first=True)
    if "start" in value or "end" in value:
        return _checked(value, _text(document), value.get("start"), value.get("end"), utf16_first=False)
    return None


def to_utf16(text: str, at: int) -> int:
    """Code points before a place, as UTF-16 units."""
    return at if text.isascii() else at + sum(sign > _LAST_OF_ONE_UNIT for sign in text[:at])


def from_utf16(text: str, at: int) -> int | None:
    """UTF-16 units before a place, as code points; None in the middle of a sign or beyond the end."""
    if text.isascii() or max(text) <= _LAST_OF_ONE_UNIT:
        return at if at <= len(text) else None
    units = 0
    for place, sign in enumerate(text):
        if units >= at:
            return place if units == at else None
        units += 2 if sign > _LAST_OF_ONE_UNIT else 1
    return len(text) if units == at else None


def _turn(value: dict[str, Any], document: Document) -> Segment:
    first, last = str(value.get("start")), str(value.get("end"))
    if first != last:
        raise InputError("region-turn-turn", hint="mark-each-turn-own", first=first, last=last)
    if not (first.isascii() and first.isdigit() and len(first) < 10 and int(first) < len(document.segments)):
        raise InputError("region-turn-but-turns", first=first, count=len(document.segments))
    return document.segments[int(first)]


def _text(document: Document) -> Segment:
    for segment in document.segments:
        if segment.role == "text" and segment.id == "text":
            return segment
    raise InputError("region-text-but-tasks")


def _checked(
    value: dict[str, Any], segment: Segment, first: object, last: object, *, utf16_first: bool
) -> Stretch:
    if type(first) is not int or type(last) is not int:
        raise InputError("region-no-whole-numbers", first=first, last=last)
    text = segment.text
    as_points: tuple[int | None, int | None] = (first, last)
    as_units = (from_utf16(text, first), from_utf16(text, last))
    found = [
        Stretch(segment, start, end)
        for start, end in ((as_units, as_points) if utf16_first else (as_points, as_units))
        if start is not None and end is not None and 0 <= start <= end <= len(text)
    ]
    if not found:
        raise InputError("region-text-signs", first=first, last=last, count=len(text), text=text[:40])
    said = value.get("text")
    for candidate in found:
        there = text[candidate.start : candidate.end]
        if not isinstance(said, str) or there == said or there.split() == said.split():
            return candidate
    there = text[found[0].start : found[0].end]
    raise InputError(
        "is-said-to-be-marked-but-stands-at",
        hint="text-changed-after-marked",
        said=said,
        there=there,
        first=first,
        last=last,
    )
