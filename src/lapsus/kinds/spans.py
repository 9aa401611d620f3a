"""Spans: stretches of text with a label each."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, groupby
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.kinds.base import Cells, ControlTag, Floats, Kind, Reply
from lapsus.kinds.messages import BrokenRule, join, word
from lapsus.language import cuts_token, snap
from lapsus.model import Answer, Document, Label, Segment, Span
from lapsus.model.votes import SpanVotes, VoteTable
from lapsus.notices import Notice


class SpansKind(Kind):
    """The answer is a tuple of spans; an empty one says that there is nothing to mark."""

    name = "spans"
    keys = frozenset({"labels", "at_least", "at_most", "ties"})
    offers_labels = True
    on_text = True
    several = True
    agreement = ("span_f1", "span_f1(characters)", "unitizing", "gamma")
    gold_methods = ("spans", "dawid_skene")
    typical_method = "spans"
    scores = ("span_f1",)
    comparison = "span_f1"
    controls = ("labels", "paragraphlabels", "hypertextlabels")
    missing = None
    wrong = 0

    @classmethod
    def holds(cls, answer: object) -> bool:
        return isinstance(answer, tuple) and all(isinstance(item, Span) for item in answer)

    def chosen(self, answer: Any) -> Iterator[int | str]:
        yield from (span.label for span in answer)

    def broken(self, answer: Any, document: Document | None = None) -> Iterator[BrokenRule]:
        yield from self._known(list(dict.fromkeys(span.label for span in answer)))
        yield from self._how_many(len(answer))
        for place, times in Counter(map(_place, answer)).items():
            if times > 1:
                quote = _quote(Span(*place), document)
                yield self._rule("repeated-span", quote=quote, label=self._name(place[3]))
        yield from self._broken_ties(answer)
        if document is not None:
            segments = {segment.id: segment for segment in document.segments}
            for span in answer:
                yield from self._misplaced(span, segments.get(span.segment), document)

    def spelt(self, answer: Any, document: Document | None = None) -> Any:
        if not self.holds(answer):
            return answer
        found = answer
        if not all(span.label in self._by_id for span in answer):
            found = tuple(
                msgspec.structs.replace(span, label=self.spellings.id_of(span.label)) for span in answer
            )
        if document is not None and self._on_elements:
            found = self._by_elements(found, document)
        return answer if found == answer else found

    @cached_property
    def _on_elements(self) -> frozenset[str]:
        """The labels that mark whole elements of a triple."""
        return frozenset(label.id for label in self.labels if label.covers == "element")

    def _by_elements(self, spans: tuple[Span, ...], document: Document) -> tuple[Span, ...]:
        """One mark over several elements says the same as one on each of them; a mark that is there twice is one."""
        segments = {segment.id: segment for segment in document.segments if segment.parts is not None}
        found: dict[Span, None] = {}
        split = False
        for span in spans:
            parts = [span]
            if span.label in self._on_elements and (triple := segments.get(span.segment)):
                parts = _element_marks(span, triple)
            split = split or len(parts) > 1
            found |= dict.fromkeys(parts)
        return tuple(found) if split else spans

    def _broken_ties(self, spans: Iterable[Span]) -> Iterator[BrokenRule]:
        """Spans with the same tie: at least two; different labels only where the scheme lets them be tied."""
        for labels in _tied_labels(spans).values():
            if not self._may_be_tied(labels):
                names = join([join([self._name(a), self._name(b)], " + ") for a, b in self.question.ties])
                yield self._rule("tie", allowed=names)

    def _may_be_tied(self, labels: Sequence[str]) -> bool:
        allowed = {frozenset(pair) for pair in self.question.ties}
        pairs = {frozenset(pair) for pair in combinations(dict.fromkeys(labels), 2)}
        return len(labels) >= 2 and pairs <= allowed

    def _misplaced(self, span: Span, segment: Segment | None, document: Document) -> Iterator[BrokenRule]:
        if segment is None:
            yield self._rule("unknown-segment", segment=span.segment)
            return
        if span.end > len(segment.text):
            yield self._rule("outside", start=str(span.start), end=str(span.end))
            return
        label = self._by_id.get(span.label)
        if label is None:
            return
        if label.on is not None and segment.role != label.on:
            found, expected = word("roles", segment.role), word("roles", label.on)
            yield self._rule("wrong-segment", label=self._name(span.label), found=found, expected=expected)
        elif label.covers == "element" and not _covers_elements(span, segment):
            yield self._rule("cuts-element", quote=_quote(span, document))
        elif label.covers == "token" and cuts_token(segment.text, span.start, span.end, document.language):
            yield self._rule("cuts-token", quote=_quote(span, document))

    def label_flaws(self, label: Label) -> Iterator[tuple[str, str]]:
        if label.on is None:
            yield "on", Notice("spans-stand-on", id=label.id)

    def manual_rule(self) -> str | None:
        return None if self.question.at_least else "rule-spans"

    packed_type = "<i8"
    """The place stays empty: rows of before have it, and must still be read."""

    def code(self, answer: Answer) -> Any:
        if not self.holds(answer):
            raise self._unfit(answer)
        known = self._by_id
        if known and (unknown := {span.label for span in answer} - known.keys()):  # type: ignore[union-attr]
            raise self._unknown(min(unknown))
        return answer

    def column(self, codes: list[Any]) -> Any:
        return codes

    def votes(
        self, table: VoteTable, rows: NDArray[np.intp], columns: NDArray[np.intp], codes: Any
    ) -> SpanVotes:
        grid: list[list[Any]] = [[None] * len(table.annotators) for _ in table.units]
        for row, column, spans in zip(rows.tolist(), columns.tolist(), codes, strict=True):
            grid[row][column] = spans
        return SpanVotes(table.units, table.annotators, self.label_ids, tuple(map(tuple, grid)))

    def totals(self, votes: Any) -> tuple[Floats, float]:
        marks = Counter(span.label for row in votes.spans for spans in row for span in spans or ())
        return np.array([float(marks[label]) for label in self.label_ids]), float(marks.total())

    def of_unit(self, votes: Any, row: int) -> list[Answer]:
        return [spans for spans in votes.spans[row] if spans is not None]

    def same(self, answer: Any) -> Hashable:
        """Ties are the same that hold the same spans together, whatever they are called."""
        groups: dict[str, list[tuple[Any, ...]]] = {}
        for span in answer:
            if span.tie is not None:
                groups.setdefault(span.tie, []).append(_place(span))
        return frozenset(map(_place, answer)), frozenset(map(frozenset, groups.values()))

    def compare(self, one: Any, other: Any) -> float:
        """F1 of spans with the same place and label; 1 where neither has any."""
        mine, theirs = set(map(_place, one)), set(map(_place, other))
        return 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine or theirs else 1.0

    def settled(
        self,
        proposed: Any,
        shares: Floats | None,
        given: Sequence[Any],
        *,
        share: float = 0.5,
        document: Document | None = None,
    ) -> Answer | None:
        """What was proposed, on whole words and elements and with the ties that may be.

        "Nothing to mark" stands only if more than half said so, too.
        """
        if proposed is None:
            return None
        if not proposed and 2 * sum(not spans for spans in given) <= len(given):
            return None
        spans = self._loosened(proposed if document is None else self._whole(proposed, document))
        spans = self.spelt(spans, document)
        return spans if self.allows(spans, document) else None

    def _whole(self, spans: Iterable[Span], document: Document) -> Iterator[Span]:
        """Spans grown to the words and elements that they touch; what then meets under one label is one."""
        segments = {segment.id: segment for segment in document.segments}
        grown = []
        for span in spans:
            segment, label = segments.get(span.segment), self._by_id.get(span.label)
            if segment is not None and label is not None:
                start, end = _grown(span, segment, label, document.language)
                grown.append(msgspec.structs.replace(span, start=start, end=end))
        order = sorted(grown, key=lambda span: (span.segment, span.label, span.start, span.end))
        for _, group in groupby(order, key=lambda span: (span.segment, span.label)):
            last: Span | None = None
            for span in group:
                if last is not None and span.start < last.end:
                    tie = last.tie if last.tie is not None else span.tie
                    last = msgspec.structs.replace(last, end=max(last.end, span.end), tie=tie)
                else:
                    if last is not None:
                        yield last
                    last = span
            if last is not None:
                yield last

    def _loosened(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """Spans without the ties that may not be."""
        spans = sorted(spans)
        fine = {tie for tie, labels in _tied_labels(spans).items() if self._may_be_tied(labels)}
        return tuple(span if span.tie in fine else msgspec.structs.replace(span, tie=None) for span in spans)

    @classmethod
    def cells(cls, answer: Any) -> list[dict[str, Any]]:
        return [
            {
                "answer": span.label,
                "span_segment": span.segment,
                "span_start": span.start,
                "span_end": span.end,
                "tie": span.tie,
            }
            for span in answer
        ] or [{}]

    @classmethod
    def item(cls, row: Cells) -> Any:
        start, end, label = row.whole("span_start"), row.whole("span_end"), row.text("answer")
        if start is None and end is None and not label:
            return None
        if start is None or end is None:
            raise InvalidError("span-needs-both-span")
        return Span(row.text("span_segment"), start, end, label, row.text("tie") or None)

    def in_words(self, answer: Any, language: str, is_only: bool = False) -> Iterator[str]:
        if not answer:
            yield self._said_empty(SpansKind.name, language, is_only)
        names = self.choice_names(language)
        for label, times in Counter(span.label for span in answer).items():
            yield names.get(label, label) + (f" × {times}" if times > 1 else "")

    def control_tag(self, language: str) -> ControlTag:
        return ControlTag("ParagraphLabels", {}, self._label_tags("Label", language))

    def json_schema(self) -> dict[str, Any]:
        """A span by what it says: models copy well and count badly."""
        properties = {
            "label": {"type": "string", "enum": list(self.label_ids)},
            "segment": {"type": "string"},
            "quote": {"type": "string"},
            "occurrence": {"type": "integer"},
            "tie": {"type": ["string", "null"]},
        }
        mark = {"type": "object", "properties": properties, "required": list(properties)}
        form: dict[str, Any] = {"type": "array", "items": {**mark, "additionalProperties": False}}
        if self.question.at_least:
            form["minItems"] = self.question.at_least
        if self.question.at_most is not None:
            form["maxItems"] = self.question.at_most
        return form

    def from_json(self, value: Any, reply: Reply) -> Answer | None:
        return tuple(reply.marks(value)) if isinstance(value, list) else super().from_json(value, reply)


def _place(span: Span) -> tuple[str, int, int, str]:
    return span.segment, span.start, span.end, span.label


def _quote(span: Span, document: Document | None) -> str:
    for segment in document.segments if document is not None else ():
        if segment.id == span.segment:
            return segment.text[span.start : span.end]
    return f"{span.start}-{span.end}"


def _tied_labels(spans: Iterable[Span]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for span in spans:
        if span.tie is not None:
            groups.setdefault(span.tie, []).append(span.label)
    return groups


def _covers_elements(span: Span, segment: Segment) -> bool:
    """Whether a span begins where an element begins and ends where one ends: one element, or more at once."""
    elements = segment.elements()
    starts = {element.start for element in elements}
    ends = {element.end for element in elements}
    return span.start in starts and span.end in ends


def _element_marks(span: Span, triple: Segment) -> list[Span]:
    """A mark that covers several whole elements as one on each; any other as it is."""
    if not _covers_elements(span, triple):
        return [span]
    return [
        msgspec.structs.replace(span, start=max(one.start, span.start), end=min(one.end, span.end))
        for one in triple.elements()
        if max(one.start, span.start) < min(one.end, span.end)
    ]


def _grown(span: Span, segment: Segment, label: Label, language: str | None) -> tuple[int, int]:
    """A span's stretch, grown where it cuts what its label covers as a whole."""
    if label.covers == "element" and not _covers_elements(span, segment):
        touched = [e for e in segment.elements() if e.start < span.end and span.start < e.end]
        return (touched[0].start, touched[-1].end) if touched else (span.start, span.end)
    if label.covers == "token" and cuts_token(segment.text, span.start, span.end, language):
        return snap(segment.text, span.start, span.end, language)
    return span.start, span.end
