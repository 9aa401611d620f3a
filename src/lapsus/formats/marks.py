"""What formats of marks share: the question they answer, the text that segments stand in, lines between marks."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from lapsus.errors import InputError
from lapsus.formats.base import ReadOptions
from lapsus.kinds import kinds_of
from lapsus.model import SEPARATOR, Answer, Document, Judgment, Question, Role, Scheme, Segment, Span
from lapsus.notices import Notice
from lapsus.schemes import known_scheme

SCHEME = "semantic-errors"
"""The scheme of marks that Lapsus did not write, and that is offered where nobody has marked anything yet."""
UNANNOTATED = "unannotated"
"""The folder of documents that nobody has judged."""
_LAST_OF_ONE_UNIT = "\uffff"


def marks_question(scheme: Scheme | str) -> Question | None:
    """The question that marks answer, of a scheme or of a known one by its name."""
    found = known_scheme(scheme) if isinstance(scheme, str) else scheme
    kinds = kinds_of(found).values() if found else ()
    return next((kind.question for kind in kinds if kind.on_text), None)


def spans_of(judgment: Judgment, question: Question) -> tuple[Span, ...]:
    """The marks of a judgment."""
    answer = judgment.answers.get(question.id)
    return tuple(item for item in answer if isinstance(item, Span)) if isinstance(answer, tuple) else ()


def newest(judgments: Iterable[Judgment]) -> list[Judgment]:
    """The newest revision of each judgment, in first-seen order."""
    found: dict[tuple[str, str, str | None], Judgment] = {}
    for judgment in judgments:
        key = (judgment.annotator, judgment.scheme, judgment.segment)
        if key not in found or judgment.revision > found[key].revision:
            found[key] = judgment
    return list(found.values())


def revised(judgment: Judgment, answers: Mapping[str, Answer]) -> Judgment:
    """The same annotator's next revision. When it was made and how long it took is not known."""
    return Judgment(
        judgment.document,
        judgment.segment,
        judgment.annotator,
        judgment.scheme,
        judgment.version,
        answers,
        revision=judgment.revision + 1,
    )


def lies_in(span: Span, document: Document) -> bool:
    """Whether a span stands where the document has text."""
    return any(segment.id == span.segment and span.end <= len(segment.text) for segment in document.segments)


def links(spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """Which spans to draw a line between, by place: each with the one before it that has the same tie."""
    last: dict[str, int] = {}
    for place, span in enumerate(spans):
        if span.tie is not None:
            if span.tie in last:
                yield last[span.tie], place
            last[span.tie] = place


def tied(
    marks: Mapping[str, Sequence[Span]], lines: Iterable[tuple[str, str]], document: Document
) -> tuple[Span, ...]:
    """The spans of marks, in the order of the text. Marks that lines join, also in a chain, share a tie."""
    joined: dict[str, str] = {}
    for one, other in lines:
        joined.setdefault(one, one)
        joined.setdefault(other, other)
        joined[_end(joined, one)] = _end(joined, other)
    order = {segment.id: place for place, segment in enumerate(document.segments)}
    found = [(order[s.segment], s.start, s.end, s.label, mark, s) for mark, own in marks.items() for s in own]
    names: dict[str, str] = {}
    spans = []
    for *_, mark, span in sorted(found, key=lambda item: item[:4]):
        tie = names.setdefault(_end(joined, mark), str(len(names) + 1)) if mark in joined else None
        spans.append(msgspec.structs.replace(span, tie=tie))
    return tuple(spans)


def _end(joined: dict[str, str], mark: str) -> str:
    """The mark that stands for all that are joined with this one."""
    while joined[mark] != mark:
        # Every step also shortens the way for the next one.
        joined[mark] = joined[joined[mark]]
        mark = joined[mark]
    return mark


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


_TITLES: dict[Role, str] = {
    "triple": "Triple: ",
    "text": "Verbalisation: ",
    "system": "System: ",
    "user": "User: ",
    "prompt": "Prompt: ",
    "passage": "Passage: ",
    "tool": "Tool: ",
}
_TITLE = re.compile(
    r"^[ \t]*(?:\d+[ \t]*[).][ \t]*)?"
    r"(?:(?P<triples>triple\(s\)|triples?|mr)|verbali[sz]ation|text)[ \t]*:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_END = re.compile(r"(?:\s*<br\s*/?>)+\s*\Z", re.IGNORECASE)
"""What brat's pages need at the end of a line, which is part of no triple and no text."""
_BETWEEN = re.compile(r"['’]\s*,\s*['‘]")
_BOM = "\ufeff"


class Place(NamedTuple):
    """A segment and where its text begins in the file."""

    segment: Segment
    start: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.segment.text)


class PlacedSegment(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What the side file says of a segment; its text stands in the `.txt`."""

    id: str
    role: Role
    start: int
    end: int
    parts: tuple[str, str, str] | None = None
    metadata: dict[str, Any] = {}


class PlacedDocument(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What the side file says of a document."""

    id: str
    digest: str
    """Of the `.txt`: where it was changed, offsets mean nothing any more."""
    segments: list[PlacedSegment]
    language: str | None = None
    metadata: dict[str, Any] = {}


class Layout(NamedTuple):
    """A document and its `.txt`."""

    document: Document
    text: str
    places: tuple[Place, ...]

    def locate(self, start: int, end: int) -> Place | None:
        """The segment that a stretch of the file lies in."""
        return next((place for place in self.places if place.start <= start and end <= place.end), None)

    def place(self, segment: str) -> Place:
        """Where a segment stands."""
        return next(place for place in self.places if place.segment.id == segment)

    def placed(self) -> PlacedDocument:
        """What the side file holds of it."""
        segments = [
            PlacedSegment(s.id, s.role, start, start + len(s.text), s.parts, dict(s.metadata))
            for s, start in self.places
        ]
        document = self.document
        return PlacedDocument(
            document.id, _digest(self.text), segments, document.language, dict(document.metadata)
        )


def lay_out(document: Document) -> Layout:
    """The `.txt` of a document."""
    lines, places, at = [], [], 0
    for segment in document.segments:
        title = _TITLES[segment.role]
        places.append(Place(segment, at + len(title)))
        lines.append(f"{title}{segment.text}\n")
        at += len(lines[-1])
    return Layout(document, "".join(lines), tuple(places))


def restore(placed: PlacedDocument, text: str, where: str) -> Layout:
    """A document that Lapsus wrote, from its side file and its `.txt`."""
    if placed.digest != _digest(text):
        raise InputError("changed-after-lapsus-wrote", where=where, hint="put-text-back-brat")
    places = tuple(
        Place(Segment(s.id, s.role, text[s.start : s.end], s.parts, s.metadata), s.start)
        for s in placed.segments
    )
    segments = tuple(place.segment for place in places)
    return Layout(Document(placed.id, segments, placed.language, placed.metadata), text, places)


def recognised(name: str, text: str, options: ReadOptions, where: str) -> Layout:
    """A document that Lapsus did not write: triples and their text where lines say so, else one text."""
    body = text.removeprefix(_BOM)
    offset = len(text) - len(body)
    found = list(_pieces(body, where))
    places = tuple(Place(segment, start + offset) for segment, start in found)
    segments = tuple(segment for segment, _ in found)
    if ends := sum(1 for line in body.splitlines() if _LINE_END.search(line)):
        options.mended[Notice("br-line-ends-taken")] += ends
    return Layout(Document(name, segments, options.language_of(segments)), text, places)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _pieces(text: str, where: str) -> Iterator[Place]:
    titles = list(_TITLE.finditer(text))
    if not titles or not titles[0]["triples"] or text[: titles[0].start()].strip():
        yield Place(Segment("text", "text", text[: without_line_end(text, 0, len(text))]), 0)
        return
    last = next((place for place, title in enumerate(titles) if not title["triples"]), None)
    if last is None:
        raise InputError("triples-but-no-line", where=where)
    for title in titles[last:]:
        if title["triples"]:
            line = _line(text, title.start())
            raise InputError(
                "holds-several-pairs", where=Notice("line", name=where, line=line), hint="give-each-file"
            )
    number = 0
    for title, following in pairwise(titles[: last + 1]):
        for start, end in _triples(text, title.end(), following.start()):
            number += 1
            yield _triple(f"t{number}", text, start, end, where)
    start, end = _bare(text, titles[last].end(), len(text))
    yield Place(Segment("text", "text", text[start:end]), start)


def _triples(text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    """Where triples stand: several in quotes with commas between, or a line each."""
    start, end = _bare(text, start, end)
    if end - start > 1 and text[start] in "'‘" and text[end - 1] in "'’":
        edges = [start + 1]
        for gap in _BETWEEN.finditer(text, start + 1, end - 1):
            edges += gap.span()
        return list(zip(edges[::2], [*edges[1::2], end - 1], strict=True))
    lines = (match.span() for match in re.compile(r"[^\n]+").finditer(text, start, end))
    return [_bare(text, *line) for line in lines if text[slice(*line)].strip()] or [(start, end)]


def _triple(name: str, text: str, start: int, end: int, where: str) -> Place:
    parts = text[start:end].split(SEPARATOR)
    if len(parts) != 3 or any(not part or part != part.strip() for part in parts):
        raise InputError(
            "no-triple",
            where=Notice("line", name=where, line=_line(text, start)),
            hint="subject-predicate-object-several",
            text=text[start:end],
        )
    subject, predicate, value = parts
    return Place(Segment.triple(name, subject, predicate, value), start)


def without_line_end(text: str, start: int, end: int) -> int:
    """Where a piece ends if what stands at its end for brat's pages alone is left out."""
    found = _LINE_END.search(text[start:end])
    return end if found is None else start + found.start()


def _bare(text: str, start: int, end: int) -> tuple[int, int]:
    end = without_line_end(text, start, end)
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
