"""Judging answers by a scheme: every broken rule at once, each with a message in the reader's language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from lapsus.language import cuts_token
from lapsus.model import Answer, Document, Question, Scheme, Segment, Span, Text
from lapsus.schemes.messages import Words, join, say, word


class BrokenRule(NamedTuple):
    """A rule that an answer breaks. `values` fill the message's places."""

    rule: str
    question: str
    values: Mapping[str, Words]

    def message(self, language: str = "en") -> str:
        """What to tell the annotator."""
        return say(self.rule, self.values, language)


def broken_rules(
    scheme: Scheme,
    answers: Mapping[str, Answer],
    document: Document | None = None,
    segment: str | None = None,
) -> list[BrokenRule]:
    """Every rule that a set of answers breaks; with the document at hand, also where spans may stand."""
    found: list[BrokenRule] = []
    if document is not None and not _is_unit(scheme, document, segment):
        found.append(BrokenRule("not-judged", "", {}))
    for id in answers:
        if scheme.question(id) is None:
            found.append(BrokenRule("unknown-question", id, {"question": id}))
    for question in scheme.questions:
        answer = answers.get(question.id)
        if answer is not None:
            found.extend(_Judge(scheme, question, document).broken(answer))
        elif question.required:
            found.append(BrokenRule("missing-answer", question.id, {"question": question.name}))
    return found


def _is_unit(scheme: Scheme, document: Document, segment: str | None) -> bool:
    if scheme.unit.role == "document":
        return segment is None
    return any(s.id == segment and s.role == scheme.unit.role for s in document.segments)


class _Judge:
    """Judges the answer to one question."""

    def __init__(self, scheme: Scheme, question: Question, document: Document | None) -> None:
        self.question = question
        self.document = document
        self.labels = {label.id: label for label in scheme.labels_of(question)}

    def broken(self, answer: Answer) -> Iterator[BrokenRule]:
        match self.question.kind:
            case "label" if isinstance(answer, str):
                yield from self._known([answer])
            case "labels" if isinstance(answer, tuple) and all(isinstance(item, str) for item in answer):
                yield from self._label_set(answer)
            case "scale" if isinstance(answer, int) and not isinstance(answer, bool):
                yield from self._level(answer)
            case "spans" if isinstance(answer, tuple) and all(isinstance(item, Span) for item in answer):
                yield from self._spans([item for item in answer if isinstance(item, Span)])
            case "text" if isinstance(answer, str):
                return
            case kind:
                yield self._rule("wrong-kind", expected=word("kinds", kind))

    def _rule(self, rule: str, **values: Words) -> BrokenRule:
        return BrokenRule(rule, self.question.id, {"question": self.question.name, **values})

    def _name(self, id: str) -> Text | str:
        """A label's name, with its number where it has one: "4 Wrong information"."""
        label = self.labels.get(id)
        if label is None:
            return id
        if label.number is None:
            return label.name
        return {language: f"{label.number} {name}" for language, name in label.name.items()}

    def _known(self, ids: list[str]) -> Iterator[BrokenRule]:
        for id in ids:
            if id not in self.labels:
                yield self._rule("unknown-label", label=id)

    def _label_set(self, answer: tuple[Any, ...]) -> Iterator[BrokenRule]:
        chosen = list(dict.fromkeys(answer))
        yield from self._known(chosen)
        for id, times in Counter(answer).items():
            if times > 1:
                yield self._rule("repeated-label", label=self._name(id))
        yield from self._how_many(len(chosen))
        for id in chosen:
            if id in self.question.alone and len(chosen) > 1:
                others = join([self._name(other) for other in chosen if other != id])
                yield self._rule("alone", label=self._name(id), others=others)
        for first, second in self.question.apart:
            if first in chosen and second in chosen:
                yield self._rule("apart", label=self._name(first), other=self._name(second))

    def _how_many(self, count: int) -> Iterator[BrokenRule]:
        if count < self.question.at_least:
            yield self._rule("too-few", limit=str(self.question.at_least))
        if self.question.at_most is not None and count > self.question.at_most:
            yield self._rule("too-many", limit=str(self.question.at_most))

    def _level(self, answer: int) -> Iterator[BrokenRule]:
        values = [level.value for level in self.question.levels]
        if answer not in values:
            yield self._rule("off-scale", least=str(values[0]), most=str(values[-1]), value=str(answer))

    def _spans(self, spans: list[Span]) -> Iterator[BrokenRule]:
        yield from self._known(list(dict.fromkeys(span.label for span in spans)))
        yield from self._how_many(len(spans))
        for place, times in Counter((s.segment, s.start, s.end, s.label) for s in spans).items():
            if times > 1:
                quote = self._quote(Span(*place))
                yield self._rule("repeated-span", quote=quote, label=self._name(place[3]))
        yield from self._ties(spans)
        if self.document is not None:
            for span in spans:
                yield from self._place(span, {s.id: s for s in self.document.segments}.get(span.segment))

    def _ties(self, spans: list[Span]) -> Iterator[BrokenRule]:
        """Spans with the same tie: at least two; different labels only where the scheme lets them be tied."""
        groups: dict[str, list[str]] = {}
        for span in spans:
            if span.tie is not None:
                groups.setdefault(span.tie, []).append(span.label)
        allowed = {frozenset(pair) for pair in self.question.ties}
        for labels in groups.values():
            pairs = {frozenset(pair) for pair in combinations(dict.fromkeys(labels), 2)}
            if len(labels) < 2 or not pairs <= allowed:
                names = join([join([self._name(a), self._name(b)], " + ") for a, b in self.question.ties])
                yield self._rule("tie", allowed=names)

    def _place(self, span: Span, segment: Segment | None) -> Iterator[BrokenRule]:
        if segment is None:
            yield self._rule("unknown-segment", segment=span.segment)
            return
        if span.end > len(segment.text):
            yield self._rule("outside", start=str(span.start), end=str(span.end))
            return
        label = self.labels.get(span.label)
        if label is None:
            return
        if label.on is not None and segment.role != label.on:
            found, expected = word("roles", segment.role), word("roles", label.on)
            yield self._rule("wrong-segment", label=self._name(span.label), found=found, expected=expected)
        elif label.covers == "element" and not _covers_elements(span, segment):
            yield self._rule("cuts-element", quote=self._quote(span))
        elif label.covers == "token" and self.document is not None:
            if cuts_token(segment.text, span.start, span.end, self.document.language):
                yield self._rule("cuts-token", quote=self._quote(span))

    def _quote(self, span: Span) -> str:
        if self.document is not None:
            for segment in self.document.segments:
                if segment.id == span.segment:
                    return segment.text[span.start : span.end]
        return f"{span.start}-{span.end}"


def _covers_elements(span: Span, segment: Segment) -> bool:
    """Whether a span begins where an element begins and ends where one ends: one element, or more at once."""
    elements = segment.elements()
    starts = {element.start for element in elements}
    ends = {element.end for element in elements}
    return span.start in starts and span.end in ends
