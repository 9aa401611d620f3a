"""The user's own good units, and the errors that rules, the guideline's examples and language models plant in them."""

from __future__ import annotations

import difflib
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from lapsus.annotators import Annotator
from lapsus.language import language_of_turns, plain_language
from lapsus.model import Document, Entry, Question, Scheme, Segment, Text, Unit, units
from lapsus.model.judgment import latest
from lapsus.model.scheme import Example
from lapsus.model.unit import target_votes
from lapsus.mutation.pair_rules import PAIR_RULES, Pair
from lapsus.mutation.turn_rules import RULES, Expected, Plant, Scene, alone
from lapsus.word_files import LANGUAGES, word_file


class Guide(NamedTuple):
    """Which errors a guideline knows, and how each is planted."""

    scheme: Scheme
    good: frozenset[str]
    """Labels that are no errors."""
    known: Mapping[str, Any]
    """What `guidelines.yaml` says of it; empty for one's own."""

    @classmethod
    def of(cls, scheme: Scheme, good: Iterable[str] = ()) -> Guide:
        """The guide of a scheme; `good` are labels that are no errors."""
        known = word_file("lapsus.mutation", "guidelines.yaml").get(scheme.id, {})
        return cls(scheme, frozenset(good) or frozenset(known.get("good", ())), known)

    def errors(self) -> Iterator[tuple[Question, str, Expected]]:
        """Each question's errors: a label or, for a scale, its lower half; with what finds it."""
        chosen = self.known.get("question")
        for question in self.scheme.questions:
            if chosen is not None and question.id != chosen:
                continue
            merged = [set(one) for one in question.analysis.merged]
            for label in question.labels:
                if label.id not in self.good:
                    together = next((one for one in merged if label.id in one), {label.id})
                    yield question, label.id, Expected(question.id, tuple(sorted(together)))
            if question.levels:
                yield question, question.id, low(question)


def low(question: Question) -> Expected:
    """An answer in the lower half of a scale."""
    values = [level.value for level in question.levels]
    return Expected(question.id, at_most=(min(values) + max(values)) / 2)


class Spot(NamedTuple):
    """A good unit."""

    unit: Unit
    language: str

    @property
    def text(self) -> str:
        """What is judged."""
        if self.unit.target is not None:
            return self.unit.target.text
        return " ".join(one.text for one in self.unit.context if one.parts is None)

    def as_it_was(self, scheme: Scheme) -> Plant:
        """The unit for judges, untouched."""
        return Plant(self.document(scheme), self.unit.document, self.text)

    def document(self, scheme: Scheme, reply: str | None = None) -> Document:
        """The unit as a document of its own, with another reply where one is given."""
        if self.unit.target is None:
            segments = self.unit.context
            if reply is not None:
                place = max(n for n, one in enumerate(segments) if one.parts is None)
                spoilt = msgspec.structs.replace(segments[place], text=reply)
                segments = (*segments[:place], spoilt, *segments[place + 1 :])
            return alone(segments, None, self.language, scheme.unit)
        target = self.unit.target
        spoilt = target if reply is None else msgspec.structs.replace(target, text=reply)
        seen = self.unit.visible
        place = next(n for n, one in enumerate(seen) if one.id == target.id)
        return alone((*seen[:place], spoilt, *seen[place + 1 :]), place, self.language, scheme.unit)


def good_spots(entries: Iterable[Entry], guide: Guide) -> list[Spot]:
    """The units that people found good, where the data say so; else every unit with a text."""
    judged: list[Spot] = []
    every: list[Spot] = []
    for entry in entries:
        if entry.document is None:
            continue
        said = [one.text for one in entry.document.segments if one.parts is None]
        language = plain_language(entry.document.language) or language_of_turns(said) or "en"
        verdicts = _verdicts(entry, guide)
        for unit in units(entry.document, guide.scheme.unit):
            spot = Spot(unit, language)
            if spot.text.strip():
                every.append(spot)
                if verdicts.get(unit.key.segment):
                    judged.append(spot)
    return judged or every


def _verdicts(entry: Entry, guide: Guide) -> dict[str | None, bool]:
    """For units that people judged whether most of them found no error."""
    scheme = guide.scheme
    if scheme.target is not None and (votes := target_votes(entry, scheme)):
        return {key.segment: not scheme.target.admits(counts) for key, counts in votes.items()}
    errors = [expected for _, _, expected in guide.errors()]
    found: dict[str | None, list[bool]] = defaultdict(list)
    for judgment in latest(one for one in entry.judgments if one.scheme == scheme.id and not one.by_program):
        found[judgment.segment].append(not any(one.is_met(judgment.answers) for one in errors))
    return {segment: sum(said) * 2 > len(said) for segment, said in found.items()}


# By rule.


class RulePlanter:
    """Plants errors by rule: turns by `turn_rules`, pairs by `pair_rules`."""

    def __init__(self, guide: Guide, spots: Sequence[Spot]) -> None:
        self._guide, self._scheme = guide, guide.scheme
        self._replies: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for spot in spots:
            if spot.unit.target is not None:
                self._replies[spot.language].append((spot.unit.document, spot.unit.target.text))
        self._pairs = [pair for spot in spots if spot.unit.target is None and (pair := _pair(spot))]

    def types(self) -> Iterator[tuple[str, str, Expected]]:
        """Every type that can be planted by rule, the rule's name, and what finds it."""
        known = self._guide.known
        for name in known.get("each", ()):
            yield name, name, Expected(known["question"], tuple(known["labels"]))
        for label, rules in known.get("types", {}).items():
            for name in rules:
                yield label, name, Expected(known["question"], (label,))
        for id, rules in known.get("low", {}).items():
            question = self._scheme.question(id)
            for name in rules if question is not None else ():
                yield id, name, low(question)  # type: ignore[arg-type]
        for name, labels in known.get("pairs", {}).items():
            yield name, name, Expected(known["question"], tuple(labels))

    def plant(self, spot: Spot, type: str, rule: str, expected: Expected, rng: random.Random) -> Plant | None:
        """An error in a unit; None where the rule does not fit it."""
        if rule in PAIR_RULES and spot.unit.target is None:
            return self._in_pair(spot, type, rule, expected, rng)
        if spot.unit.target is None or rule not in RULES:
            return None
        reply = RULES[rule](self._scene(spot, rng))
        if reply is None or reply == spot.text:
            return None
        document = spot.document(self._scheme, reply)
        return Plant(document, spot.unit.document, reply, type, "rule", expected, spot.text)

    def _scene(self, spot: Spot, rng: random.Random) -> Scene:
        target = spot.unit.target
        before = [one for one in spot.unit.context if target is None or one.id != target.id]
        earlier = [one.text for one in before if one.role == "system"]
        asked = next((one.text for one in reversed(before) if one.role in ("user", "system")), "")
        if (
            before
            and next((one for one in reversed(before) if one.role in ("user", "system")), before[0]).role
            != "user"
        ):
            asked = ""
        evidence = next((one.text for one in reversed(before) if one.role == "tool"), "")
        other = self._other_reply(spot, rng)
        return Scene(spot.text, earlier, asked, evidence, other, spot.language, rng)

    def _other_reply(self, spot: Spot, rng: random.Random) -> list[str]:
        """A reply of another conversation; none where there is but one conversation."""
        known = self._replies[spot.language]
        for document, text in rng.choices(known, k=8) if known else ():
            if document != spot.unit.document and text != spot.text:
                return [text]
        return []

    def _in_pair(
        self, spot: Spot, type: str, rule: str, expected: Expected, rng: random.Random
    ) -> Plant | None:
        pair = _pair(spot)
        spoilt = PAIR_RULES[rule](pair, [one for one in self._pairs if one != pair], rng) if pair else None
        if spoilt is None or pair is None:
            return None
        document = spoilt.document("pair", spot.language)
        places = {one.id: str(n) for n, one in enumerate(document.segments)}
        expected = msgspec.structs.replace(
            expected, places=tuple((places[id], start, end) for id, start, end in spoilt.places())
        )
        return Plant(
            alone(document.segments, None, spot.language, self._scheme.unit),
            spot.unit.document, spoilt.text, type, "rule", expected, pair.text,
        )  # fmt: skip


def _pair(spot: Spot) -> Pair | None:
    return Pair.of(Document("pair", spot.unit.context))


# From the guideline's examples.


def example_plants(guide: Guide, spots: Sequence[Spot], rng: random.Random) -> Iterator[Plant]:
    """The guideline's fitting examples, each after the beginning of one of the user's conversations."""
    for question, type, expected in guide.errors():
        label = question.label(type)
        by_language = label.examples if label is not None else question.examples
        for language, examples in by_language.items():
            hosts = [one for one in spots if one.language == language]
            for example in examples:
                if hosts and _is_error(example, expected, is_label=label is not None):
                    plant = _from_example(guide.scheme, rng.choice(hosts), type, expected, example)
                    if plant is not None:
                        yield plant


def _is_error(example: Example, expected: Expected, *, is_label: bool) -> bool:
    if is_label:
        return bool(example.fits)
    return (
        isinstance(example.answer, int)
        and expected.at_most is not None
        and example.answer <= expected.at_most
    )


def _from_example(
    scheme: Scheme, host: Spot, type: str, expected: Expected, example: Example
) -> Plant | None:
    segments: list[Segment] = []
    if example.turns and scheme.unit.role in ("system", "user"):
        if scheme.unit.context != "none":
            before = [
                one for one in host.unit.context if host.unit.target is None or one.id != host.unit.target.id
            ]
            while before and before[-1].role != "system":
                before.pop()
            segments += before
        segments += [
            Segment("x", "user" if one[:1] == "U" else "system", one[2:].strip()) for one in example.turns
        ]
    elif example.triples and example.text is not None:
        parts = [[part.strip() for part in one.split("|")] for one in example.triples]
        if any(len(one) != 3 for one in parts):
            return None
        segments = [Segment.triple("x", one[0], one[1], one[2]) for one in parts]
        segments.append(Segment("x", "text", example.text))
    else:
        return None
    numbered = [msgspec.structs.replace(one, id=str(n)) for n, one in enumerate(segments)]
    clean, places = _without_brackets(numbered)
    if places:
        expected = msgspec.structs.replace(expected, places=places)
    place = None if scheme.unit.role == "document" else len(clean) - 1
    document = alone(clean, place, host.language, scheme.unit)
    return Plant(document, host.unit.document, clean[-1].text, type, "example", expected)


def _without_brackets(
    segments: list[Segment],
) -> tuple[tuple[Segment, ...], tuple[tuple[str, int, int], ...]]:
    """The segments without the brackets in which examples show their marks, and where those stood."""
    clean, places = [], []
    for one in segments:
        if "[" not in one.text:
            clean.append(one)
            continue
        text = ""
        for piece in one.text.replace("]", "[").split("["):
            if one.text.find(f"[{piece}]") >= 0 and piece:
                places.append((one.id, len(text), len(text) + len(piece)))
            text += piece
        parts = tuple(part.replace("[", "").replace("]", "") for part in one.parts) if one.parts else None
        clean.append(Segment(one.id, one.role, text, parts))  # type: ignore[arg-type]
    return tuple(clean), tuple(places)


# By a language model, which writes a good reply again with one error of the guideline in it.


REPLY = "reply"


def planting_scheme(scheme: Scheme, question: Question, type: str) -> Scheme:
    """The guideline by which a model writes: one question, answered with the new text."""
    words = word_file("lapsus.mutation", "report_words.yaml")["planter"]
    label = question.label(type)
    if label is not None:
        name, definition = label.name, label.definition
    else:
        worst = min(question.levels, key=lambda level: level.value)
        name, definition = question.name, worst.meaning

    def both(key: str) -> Text:
        told = {one: one if one in name else next(iter(name)) for one in LANGUAGES}
        return {
            one: words[key][one].format(name=name[at], definition=definition[at]) for one, at in told.items()
        }

    asked = Question(REPLY, "text", both("name"), both("ask"), required=True)
    return Scheme("planting", "1", both("title"), both("ask"), scheme.unit, (asked,))


def model_plants(
    guide: Guide, wanted: Mapping[str, Sequence[Spot]], make: Callable[[Scheme], Annotator]
) -> Iterator[Plant]:
    """An error of each type in each of the units wanted for it, as far as the model writes one."""
    for question, type, expected in guide.errors():
        spots = wanted.get(type, ())
        if not spots:
            continue
        model = make(planting_scheme(guide.scheme, question, type))
        documents = [
            msgspec.structs.replace(spot.document(guide.scheme), id=str(n)) for n, spot in enumerate(spots)
        ]
        for judgment in model.judge(documents):
            spot = spots[int(judgment.document)]
            reply = str(judgment.answers.get(REPLY, "")).strip()
            if reply and reply != spot.text:
                yield _plant(guide.scheme, spot, type, expected, reply)


def _plant(scheme: Scheme, spot: Spot, type: str, expected: Expected, reply: str) -> Plant:
    document = spot.document(scheme, reply)
    if spot.unit.target is None:
        place = max((one for one in document.segments if one.parts is None), key=lambda one: int(one.id))
        changed = difflib.SequenceMatcher(None, spot.text, place.text, autojunk=False).get_opcodes()
        put_in = tuple(
            (place.id, start, end) for op, _, _, start, end in changed if op != "equal" and end > start
        )
        expected = msgspec.structs.replace(expected, places=put_in)
    return Plant(document, spot.unit.document, reply, type, "model", expected, spot.text)
