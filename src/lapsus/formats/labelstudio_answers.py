"""Answers as results of Label Studio and back, with the places that they stand at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from lapsus.errors import InputError, InvalidError
from lapsus.formats.labelstudio_controls import (
    NONE,
    NOTHING,
    RELATION,
    TURN,
    Controls,
    SchemeQuestion,
    asked_for_none,
    choices,
)
from lapsus.formats.labelstudio_data import DIALOGUE, Result
from lapsus.formats.marks import from_utf16, lies_in, links, tied, to_utf16
from lapsus.kinds import kind_of, likely_kind
from lapsus.model import Answer, Document, Judgment, Segment, Span
from lapsus.model.scheme import folded
from lapsus.registry import did_you_mean
from lapsus.schemes import known_scheme

Units: TypeAlias = dict[tuple[str, str | None], dict[str, Answer]]
"""Answers by scheme and segment."""
_OURS = re.compile(r"lapsus-(\d{1,9})(?:-a?\d+)?", re.ASCII)


def results_of(judgment: Judgment, number: int, document: Document) -> Iterator[Result]:
    """What Label Studio shows of a judgment. Ids hold its number, so that it is known when it comes back."""
    scheme = known_scheme(judgment.scheme)
    place = region(document, judgment.segment) if judgment.segment is not None else {}
    if scheme is None or place is None:
        return
    for order, (name, answer) in enumerate(judgment.answers.items()):
        question = scheme.question(name)
        if question is None:
            continue
        control = f"{scheme.id}.{name}"
        # Answers about the same turn share an id: Label Studio takes them as one region.
        key = f"lapsus-{number}" if place else f"lapsus-{number}-a{order}"
        kind = kind_of(question, scheme)
        if isinstance(answer, tuple) and answer and isinstance(answer[0], Span):
            yield from _regions(answer, f"lapsus-{number}", control, document)
        elif answer == ():
            if kind.holds(answer):
                yield Result("choices", key, control + NONE, DIALOGUE, {**place, "choices": [NOTHING]})
        else:
            kind = kind if kind.holds(answer) else likely_kind(answer)(question)
            type, value = kind.control_value(answer)
            yield Result(type, key, control, DIALOGUE, {**place, **value})


def _regions(answer: tuple[Any, ...], prefix: str, control: str, document: Document) -> Iterator[Result]:
    spans = [span for span in answer if isinstance(span, Span) and lies_in(span, document)]
    for number, span in enumerate(spans):
        place = region(document, span.segment, span.start, span.end) or {}
        value = {**place, "paragraphlabels": [span.label]}
        yield Result("paragraphlabels", f"{prefix}-{number}", control, DIALOGUE, value)
    for one, other in links(spans):
        yield Result(RELATION, from_id=f"{prefix}-{one}", to_id=f"{prefix}-{other}", direction="bi")


class LabelStudioAnswers:
    """Reads the results of annotations of one task."""

    def __init__(self, document: Document, known: list[Judgment], controls: Controls) -> None:
        self.document = document
        self.known = known
        self.controls = controls

    def author(self, results: Iterable[Result]) -> str | None:
        """Whose judgments Lapsus had written there, if it had."""
        return next((judgment.annotator for result in results if (judgment := self._ours(result))), None)

    def units(self, results: list[Result]) -> Units:
        """The answers that results hold, by scheme and segment."""
        none = [(asked, result) for result in results if (asked := asked_for_none(result))]
        results = [result for result in results if result.from_name != TURN and not asked_for_none(result)]
        self.controls.settle(results)
        lines = [(result.from_id, result.to_id) for result in results if result.type == RELATION]
        marks: dict[tuple[str, str | None, str], dict[str, list[Span]]] = {}
        found: Units = {}
        for result in results:
            if result.type == RELATION:
                continue
            asked = self.controls.of(result)
            place = stretch(result.value, self.document)
            unit = self._unit(result, asked, place)
            if asked.kind.on_text:
                spans = marks.setdefault((*unit, asked.question.id), {}).setdefault(result.id, [])
                spans += self._spans(result, asked, place)
                continue
            answers = found.setdefault(unit, {})
            if asked.question.id in answers:
                raise InputError("answered-twice-one-turn", hint="once-expected", name=asked.name)
            answers[asked.question.id] = self._answer(result, asked)
        for (scheme, segment, question), by_region in marks.items():
            here = [pair for pair in lines if pair[0] in by_region and pair[1] in by_region]
            found.setdefault((scheme, segment), {})[question] = tied(by_region, here, self.document)
        for asked, result in none:
            unit = self._unit(result, asked, stretch(result.value, self.document))
            if found.setdefault(unit, {}).setdefault(asked.question.id, ()) != ():
                raise InputError("answered-said-too", hint="take-one-back", name=asked.name, nothing=NOTHING)
        return found

    def _ours(self, result: Result) -> Judgment | None:
        match = _OURS.fullmatch(result.id)
        number = int(match[1]) if match else len(self.known)
        return self.known[number] if number < len(self.known) else None

    def _unit(self, result: Result, asked: SchemeQuestion, place: Stretch | None) -> tuple[str, str | None]:
        """What a result is about: as Lapsus wrote it, else the turn it stands at, else the whole document."""
        ours = self._ours(result)
        if ours is not None and ours.scheme == asked.scheme.id:
            return ours.scheme, ours.segment
        whole = asked.scheme.unit.role == "document" and asked.kind.on_text
        if place is None or whole:
            return asked.scheme.id, None
        text = place.segment.text
        if not asked.kind.on_text and text[place.start : place.end].strip() != text.strip():
            part = f"{place.start}-{place.end} of turn {place.segment.id!r}"
            raise InputError("answered-only", hint="mark-whole-turn", name=asked.name, part=part)
        return asked.scheme.id, place.segment.id

    def _spans(self, result: Result, asked: SchemeQuestion, place: Stretch | None) -> list[Span]:
        if place is None or place.start == place.end:
            raise InputError("control-marks-nothing", from_name=result.from_name)
        labels = self.labels(result, asked)
        return [Span(place.segment.id, place.start, place.end, label) for label in labels]

    def _answer(self, result: Result, asked: SchemeQuestion) -> Answer:
        try:
            return asked.kind.from_control(_Control(self, result, asked))
        except InvalidError as error:
            raise InputError("dotted", name=asked.scheme.id, text=error.what, hint=error.hint) from error

    def labels(self, result: Result, asked: SchemeQuestion) -> list[str]:
        """The ids of the labels that a result gives."""
        known = asked.labels
        ours = self._ours(result)
        # A judgment under an older version of the scheme may hold labels that are no more.
        older = _labels_in(ours.answers.get(asked.question.id)) if ours else set()
        found = []
        for name in choices(result):
            label = name if name in older else known.get(folded(name))
            if label is None:
                ids = list(dict.fromkeys(known.values()))
                raise InputError("unknown-label-2", hint=did_you_mean(name, ids), name=asked.name, name2=name)
            found.append(label)
        return found


class _Control:
    """A result as kinds read it."""

    def __init__(self, answers: LabelStudioAnswers, result: Result, asked: SchemeQuestion) -> None:
        self.answers, self.result, self.asked = answers, result, asked

    def labels(self) -> list[str]:
        return self.answers.labels(self.result, self.asked)

    def number(self) -> int | float:
        return _number(self.result)

    def words(self) -> str:
        return _words(self.result)


def same(one: Mapping[str, Answer], other: Mapping[str, Answer]) -> bool:
    """Whether answers say the same; the order of labels says nothing."""
    return {name: _shape(answer) for name, answer in one.items()} == {
        name: _shape(answer) for name, answer in other.items()
    }


def _shape(answer: Answer) -> object:
    return sorted(answer, key=str) if isinstance(answer, tuple) else answer


def _labels_in(answer: Answer | None) -> set[str]:
    if isinstance(answer, tuple):
        return {item.label if isinstance(item, Span) else item for item in answer}
    return {answer} if isinstance(answer, str) else set()


def _words(result: Result) -> str:
    words = result.value.get("text")
    if isinstance(words, str):
        return words
    if not isinstance(words, list) or any(not isinstance(item, str) for item in words):
        raise InputError("control-text-no-text", from_name=result.from_name)
    return "\n".join(words)


def _number(result: Result) -> int | float:
    number = result.value.get(result.type)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InputError("control-no-number", from_name=result.from_name, number=number)
    return int(number) if isinstance(number, float) and number.is_integer() else number


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
    """Where a result stands; None where it is about the whole document.

    Label Studio runs in a browser, where strings are counted in UTF-16 units: an emoji is two. So are regions of
    dialogues. Those of plain texts were until 2022 and are code points since. The text that comes along tells.
    """
    if isinstance(offsets := value.get("globalOffsets"), dict):
        return _checked(value, _text(document), offsets.get("start"), offsets.get("end"), utf16_first=False)
    if "startOffset" in value or "endOffset" in value:
        segment = _turn(value, document)
        return _checked(value, segment, value.get("startOffset"), value.get("endOffset"), utf16_first=True)
    if "start" in value or "end" in value:
        return _checked(value, _text(document), value.get("start"), value.get("end"), utf16_first=False)
    return None


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
