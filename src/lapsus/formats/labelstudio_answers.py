"""Answers as results of Label Studio, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from lapsus.errors import InputError
from lapsus.formats.brat_common import installed, lies_in, links, tied
from lapsus.formats.labelstudio_controls import RELATION, Asked, Controls, choices
from lapsus.formats.labelstudio_data import DIALOGUE
from lapsus.formats.labelstudio_places import Stretch, region, stretch
from lapsus.formats.labelstudio_records import Result
from lapsus.model import Answer, Document, Judgment, Span
from lapsus.registry import did_you_mean

Units: TypeAlias = dict[tuple[str, str | None], dict[str, Answer]]
"""Answers by scheme and segment."""
_OURS = re.compile(r"lapsus-(\d{1,9})(?:-a?\d+)?", re.ASCII)


def results_of(judgment: Judgment, number: int, document: Document) -> Iterator[Result]:
    """What Label Studio shows of a judgment. Ids hold its number, so that it is known when it comes back."""
    scheme = installed(judgment.scheme)
    place = region(document, judgment.segment) if judgment.segment is not None else {}
    if scheme is None or place is None:
        return
    for order, (name, answer) in enumerate(judgment.answers.items()):
        question = scheme.question(name)
        if question is None:
            continue
        control = f"{scheme.id}.{name}"
        if isinstance(answer, tuple) and answer and isinstance(answer[0], Span):
            yield from _regions(answer, f"lapsus-{number}", control, document)
        elif answer != ():
            # Answers about the same turn share an id: Label Studio takes them as one region.
            key = f"lapsus-{number}" if place else f"lapsus-{number}-a{order}"
            kind, value = _value(answer, question.kind)
            yield Result(kind, key, control, DIALOGUE, {**place, **value})


def _value(answer: Answer, kind: str) -> tuple[str, dict[str, Any]]:
    if isinstance(answer, tuple):
        return "choices", {"choices": list(answer)}
    if not isinstance(answer, str):
        return "number", {"number": answer}
    return ("textarea", {"text": [answer]}) if kind == "text" else ("choices", {"choices": [answer]})


def _regions(answer: tuple[Any, ...], prefix: str, control: str, document: Document) -> Iterator[Result]:
    spans = [span for span in answer if isinstance(span, Span) and lies_in(span, document)]
    for number, span in enumerate(spans):
        place = region(document, span.segment, span.start, span.end) or {}
        value = {**place, "paragraphlabels": [span.label]}
        yield Result("paragraphlabels", f"{prefix}-{number}", control, DIALOGUE, value)
    for one, other in links(spans):
        yield Result(RELATION, from_id=f"{prefix}-{one}", to_id=f"{prefix}-{other}", direction="bi")


class Answers:
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
            if asked.question.kind == "spans":
                spans = marks.setdefault((*unit, asked.question.id), {}).setdefault(result.id, [])
                spans += self._spans(result, asked, place)
                continue
            answers = found.setdefault(unit, {})
            if asked.question.id in answers:
                raise InputError(f"{asked.name} is answered twice for one turn", hint="once is expected")
            answers[asked.question.id] = self._answer(result, asked)
        for (scheme, segment, question), by_region in marks.items():
            here = [pair for pair in lines if pair[0] in by_region and pair[1] in by_region]
            found.setdefault((scheme, segment), {})[question] = tied(by_region, here, self.document)
        return found

    def _ours(self, result: Result) -> Judgment | None:
        match = _OURS.fullmatch(result.id)
        number = int(match[1]) if match else len(self.known)
        return self.known[number] if number < len(self.known) else None

    def _unit(self, result: Result, asked: Asked, place: Stretch | None) -> tuple[str, str | None]:
        """What a result is about: as Lapsus wrote it, else the turn it stands at, else the whole document."""
        ours = self._ours(result)
        if ours is not None and ours.scheme == asked.scheme.id:
            return ours.scheme, ours.segment
        whole = asked.scheme.unit.role == "document" and asked.question.kind == "spans"
        if place is None or whole:
            return asked.scheme.id, None
        text = place.segment.text
        if asked.question.kind != "spans" and text[place.start : place.end].strip() != text.strip():
            part = f"{place.start}-{place.end} of turn {place.segment.id!r}"
            raise InputError(f"{asked.name} is answered for {part} only", hint="mark the whole turn")
        return asked.scheme.id, place.segment.id

    def _spans(self, result: Result, asked: Asked, place: Stretch | None) -> list[Span]:
        if place is None or place.start == place.end:
            raise InputError(f"control {result.from_name!r} marks nothing")
        labels = self._labels(result, asked)
        return [Span(place.segment.id, place.start, place.end, label) for label in labels]

    def _answer(self, result: Result, asked: Asked) -> Answer:
        match asked.question.kind:
            case "text":
                return _words(result)
            case "scale":
                return _number(result)
            case "labels":
                return tuple(self._labels(result, asked))
            case _:
                labels = self._labels(result, asked)
                if len(labels) != 1:
                    raise InputError(f"{asked.name} has {len(labels)} answers", hint="one is expected")
                return labels[0]

    def _labels(self, result: Result, asked: Asked) -> list[str]:
        known = asked.labels
        ours = self._ours(result)
        # A judgment under an older version of the scheme may hold labels that are no more.
        older = _labels_in(ours.answers.get(asked.question.id)) if ours else set()
        found = []
        for name in choices(result):
            label = name if name in older else known.get(name.lower())
            if label is None:
                ids = list(dict.fromkeys(known.values()))
                raise InputError(f"{asked.name}: unknown label {name!r}", hint=did_you_mean(name, ids))
            found.append(label)
        return found


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
        raise InputError(f"control {result.from_name!r}: 'text' is no text")
    return "\n".join(words)


def _number(result: Result) -> int | float:
    number = result.value.get(result.type)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InputError(f"control {result.from_name!r}: {number!r} is no number")
    return int(number) if isinstance(number, float) and number.is_integer() else number
