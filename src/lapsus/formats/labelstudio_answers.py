"""Label Studio's controls and results: which question each control asks, and answers as results and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias
from xml.etree import ElementTree as ET

import msgspec

from lapsus.errors import InputError, InvalidError
from lapsus.formats.marks import from_utf16, lies_in, links, tied, to_utf16
from lapsus.kinds import KINDS, Kind, kind_of, kinds_of, likely_kind
from lapsus.model import Answer, Document, Judgment, Question, Scheme, Segment, Span, in_language
from lapsus.model.scheme import folded
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.schemes import known_scheme, scheme_names

DIALOGUE = "dialogue"
RELATION = "relation"
TURN = "lapsus.turn"
"""The control that marks which turn is judged; it answers nothing itself."""
NONE = ".none"
"""Ends the name of the control that says of marks or labels: there are none."""
NOTHING = "none"
"""What that control gives."""
_WORDS = {
    "none": {"en": "None of these", "ja": "該当なし"},
    "turn": {"en": "Judge this turn", "ja": "この発話を評価する"},
}


class Result(msgspec.Struct, omit_defaults=True):
    """One answer, or a line between two regions."""

    type: str
    id: str = ""
    from_name: str = ""
    to_name: str = ""
    value: dict[str, Any] = {}
    from_id: str = ""
    to_id: str = ""
    direction: str = ""


@dataclass(frozen=True)
class SchemeQuestion:
    """A question and the scheme it belongs to."""

    scheme: Scheme
    question: Question

    @cached_property
    def kind(self) -> Kind:
        """The question with all that its kind means."""
        return kind_of(self.question, self.scheme)

    @property
    def name(self) -> str:
        """What a control for it is called."""
        return f"{self.scheme.id}.{self.question.id}"

    @cached_property
    def labels(self) -> dict[str, str]:
        """Every spelling of a label, in small letters, and the id it stands for."""
        return {
            folded(name): label.id
            for label in self.scheme.labels_of(self.question)
            for name in (*label.name.values(), *label.aliases, label.id)
        }


class Controls:
    """The controls of a project. Once it is clear what one stands for, it stays so."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], SchemeQuestion] = {}

    def settle(self, results: Iterable[Result]) -> None:
        """Find out what the controls of an annotation stand for: by name, by labels, by their neighbours."""
        open_ones: dict[tuple[str, str], set[str]] = {}
        for result in results:
            key = (result.from_name, result.type)
            if result.type != RELATION and key not in self.known:
                open_ones.setdefault(key, set()).update(choices(result))
        doubtful: dict[tuple[str, str], list[SchemeQuestion]] = {}
        for (name, kind), values in open_ones.items():
            doubtful[name, kind] = list(_candidates(name, kind, values))
            if len(doubtful[name, kind]) == 1:
                self.known[name, kind] = doubtful.pop((name, kind))[0]
        neighbours = {asked.scheme.id for key, asked in self.known.items()}
        for (name, kind), candidates in doubtful.items():
            fitting = [asked for asked in candidates if asked.scheme.id in neighbours]
            if len(fitting) != 1:
                could_be = ", ".join(asked.name for asked in candidates)
                fits = (
                    Notice("could-stand", could_be=could_be)
                    if candidates
                    else Notice("fits-no-question-known")
                )
                raise InputError("control", hint="name-control-scheme-question", name=name, problem=fits)
            self.known[name, kind] = fitting[0]

    def of(self, result: Result) -> SchemeQuestion:
        """What the control of a result stands for, once that is settled."""
        return self.known[result.from_name, result.type]


def choices(result: Result) -> list[str]:
    """The labels that a result gives."""
    found = result.value.get(result.type)
    if result.type == "taxonomy" and isinstance(found, list):
        if any(not isinstance(path, list) or len(path) != 1 for path in found):
            raise InputError("control-nested-choices-not", from_name=result.from_name)
        found = [path[0] for path in found]
    if not any(kind.offers_labels and result.type in kind.controls for kind in KINDS):
        return []
    if not isinstance(found, list) or any(not isinstance(item, str) for item in found):
        raise InputError("control-no-list-labels", from_name=result.from_name, type=result.type)
    return found


def _candidates(name: str, kind: str, values: set[str]) -> Iterator[SchemeQuestion]:
    """Questions that a control may stand for: the one it names, else those of that id, else those it fits."""
    types = list(dict.fromkeys(type for one in KINDS for type in one.controls))
    if kind not in types:
        known = ", ".join(types)
        raise InputError("control-gives-results-type", hint="known-types", name=name, kind=kind, known=known)
    if (exactly := asked_by_name(name)) is not None:
        yield exactly
        return
    fitting = [asked for asked in _all() if kind in asked.kind.controls]
    wanted = name.lower()
    named = [asked for asked in fitting if asked.question.id.lower() == wanted]
    if not named:
        named = [asked for asked in fitting if asked.scheme.id.lower() == wanted]
    if values and len(named) != 1:
        small = {folded(value) for value in values}
        named = [asked for asked in named or fitting if small <= asked.labels.keys()] or named
    yield from named


def asked_by_name(name: str) -> SchemeQuestion | None:
    """The question that a control called `<scheme>.<question>` stands for."""
    scheme_id, _, question_id = name.partition(".")
    scheme = known_scheme(scheme_id)
    question = scheme.question(question_id) if scheme else None
    return SchemeQuestion(scheme, question) if scheme is not None and question is not None else None


def asked_for_none(result: Result) -> SchemeQuestion | None:
    """The question to which a result says that there is nothing."""
    return asked_by_name(result.from_name.removesuffix(NONE)) if result.from_name.endswith(NONE) else None


def _all() -> Iterator[SchemeQuestion]:
    for name in scheme_names():
        if (scheme := known_scheme(name)) is not None:
            yield from (SchemeQuestion(scheme, question) for question in scheme.questions)


def labelling_interface(scheme: Scheme, language: str) -> str:
    """The XML of an interface: a control a question, and one for "none" where there may be none."""
    view = ET.Element("View")
    view.append(ET.Comment(f" {scheme.id} {scheme.version}, {language} ".replace("--", "-")))
    ET.SubElement(view, "Header", value=in_language(scheme.title, language))
    ET.SubElement(view, "Paragraphs", name=DIALOGUE, value=f"${DIALOGUE}", layout="dialogue")
    by_turn = scheme.unit.role != "document"
    if by_turn:
        # Questions about a turn are asked of a region, which is made by choosing this label.
        turn = ET.SubElement(view, "ParagraphLabels", name=TURN, toName=DIALOGUE)
        ET.SubElement(turn, "Label", value=in_language(_WORDS["turn"], language), alias="turn")
    for kind in kinds_of(scheme).values():
        _ask(view, kind, f"{scheme.id}.{kind.question.id}", by_turn, language)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _ask(view: ET.Element, kind: Kind, name: str, by_turn: bool, language: str) -> None:
    question, tag = kind.question, kind.control_tag(language)
    ET.SubElement(view, "Header", value=in_language(question.ask, language).replace("\n", " "), size="5")
    attributes = {"name": name, "toName": DIALOGUE, **tag.attributes}
    region = {"perRegion": "true"} if by_turn else {}
    may_be_none = kind.several and not question.at_least
    if not kind.on_text:
        attributes |= region
        if question.required and not may_be_none:
            attributes["required"] = "true"
    control = ET.SubElement(view, tag.name, attributes)
    for choice in tag.choices:
        ET.SubElement(control, choice.name, dict(choice.attributes))
    if may_be_none:
        none = ET.SubElement(view, "Choices", {"name": f"{name}{NONE}", "toName": DIALOGUE, **region})
        ET.SubElement(none, "Choice", value=in_language(_WORDS["none"], language), alias=NOTHING)


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
        labels = self._control(result, asked).labels()
        return [Span(place.segment.id, place.start, place.end, label) for label in labels]

    def _answer(self, result: Result, asked: SchemeQuestion) -> Answer:
        try:
            return asked.kind.from_control(self._control(result, asked))
        except InvalidError as error:
            raise InputError("dotted", name=asked.scheme.id, text=error.what, hint=error.hint) from error

    def _control(self, result: Result, asked: SchemeQuestion) -> _Control:
        ours = self._ours(result)
        return _Control(result, asked, _labels_in(ours.answers.get(asked.question.id)) if ours else set())


class _Control(NamedTuple):
    """A result as kinds read it."""

    result: Result
    asked: SchemeQuestion
    older: set[str]
    """Labels of an older version of the scheme, which a judgment may hold and which are no more."""

    def labels(self) -> list[str]:
        """The ids of the labels that the result gives."""
        known, found = self.asked.labels, []
        for name in choices(self.result):
            label = name if name in self.older else known.get(folded(name))
            if label is None:
                hint = did_you_mean(name, list(dict.fromkeys(known.values())))
                raise InputError("unknown-label-2", hint=hint, name=self.asked.name, name2=name)
            found.append(label)
        return found

    def number(self) -> int | float:
        """The number that the result gives."""
        number = self.result.value.get(self.result.type)
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise InputError("control-no-number", from_name=self.result.from_name, number=number)
        return int(number) if isinstance(number, float) and number.is_integer() else number

    def words(self) -> str:
        """The text that the result gives."""
        words = self.result.value.get("text")
        if isinstance(words, str):
            return words
        if not isinstance(words, list) or any(not isinstance(item, str) for item in words):
            raise InputError("control-text-no-text", from_name=self.result.from_name)
        return "\n".join(words)


def _labels_in(answer: Answer | None) -> set[str]:
    if isinstance(answer, tuple):
        return {item.label if isinstance(item, Span) else item for item in answer}
    return {answer} if isinstance(answer, str) else set()


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
