"""What a language model replied: the JSON in it, the answers in that, and every reason why they cannot be taken."""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import regex

from lapsus.annotators.language_model.prompt_frames import prompt_frame
from lapsus.kinds import countable, kind_of, kinds_of
from lapsus.model import Answer, Document, Question, Scheme, Span, Unit
from lapsus.schemes import asked_answers, broken_rules, spelt_answers

LONGEST = 60_000
"""Characters of a reply that are looked at: no true answer is near it."""
_TRIES = 50
"""Places in a reply at which a JSON object is looked for."""
_SHOWN = 80
_THINKS, _THOUGHT = "<think>", "</think>"
_UNSTORABLE = regex.compile(r"[\0\p{Cs}]")
_CLUSTER = regex.compile(r"\X")


class Taken(NamedTuple):
    """The answers of a reply, or the problems with it, in the language of the prompt."""

    answers: Mapping[str, Answer]
    problems: tuple[str, ...] = ()
    reason: str | None = None
    """Why, in the model's words, where it was asked and said so."""


def take(content: str, unit: Unit, scheme: Scheme, language: str, *, was_cut: bool = False) -> Taken:
    """Read a reply about a unit and check it by the rules that hold for people.

    Of one that `was_cut` off within an optional text, all but that text is taken.
    """
    text = _said(content)
    if len(text) > LONGEST:
        return Taken({}, (prompt_frame("problem-long", language),))
    keys = {question.id for question in scheme.questions}
    found = objects_in(text, keys)
    is_answer = bool(found) and not keys.isdisjoint(found[0])
    if was_cut and not is_answer and (saved := salvage(text, scheme)) is not None:
        found = [saved]
    if len(found) != 1:
        problem = "problem-several" if found else "problem-no-json"
        return Taken({}, (prompt_frame(problem, language),))
    reading = _Reading(unit, scheme, language)
    answers = reading.answers(found[0])
    if reading.problems:
        return Taken({}, tuple(reading.problems))
    # The document as this judge knows it: a mark on a later turn is a mark on nothing.
    seen = Document(unit.document, unit.visible, unit.language)
    answers = asked_answers(scheme, spelt_answers(scheme, answers, seen))
    broken = broken_rules(scheme, answers, seen, unit.key.segment)
    why = found[0].get(REASON)
    reason = _clean(why) if isinstance(why, str) and why.strip() else None
    return Taken(answers, tuple(rule.message(language) for rule in broken), reason)


def _said(content: str) -> str:
    """A reply without the thoughts before it, some of which lack their beginning or their end."""
    if content.lstrip().startswith("{"):
        return content
    return content.rpartition(_THOUGHT)[2].partition(_THINKS)[0]


def objects_in(text: str, keys: set[str]) -> list[dict[str, Any]]:
    """The JSON objects in a text with known keys, each once; where there are none, the first other one.

    More than one is no answer: one of them may be quoted from what is judged.
    """
    known: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    decoder, place = json.JSONDecoder(), text.find("{")
    for _ in range(_TRIES):
        if place < 0:
            break
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            found = known if keys & value.keys() else others
            if value not in found:
                found.append(value)
        place = text.find("{", end)
    return known or others[:1]


class _Reading:
    """An answer's JSON on its way to answers, question by question. Kinds read their part of it with its help."""

    question: Question

    def __init__(self, unit: Unit, scheme: Scheme, language: str) -> None:
        self.scheme, self.language = scheme, language
        self.texts = {segment.id: segment.text for segment in unit.visible}
        self.problems: list[str] = []

    def answers(self, found: Mapping[str, Any]) -> dict[str, Answer]:
        """The answers that there are; a question that is null or missing has none."""
        answers: dict[str, Answer] = {}
        for id, kind in kinds_of(self.scheme).items():
            value = found.get(id)
            if value is not None:
                self.question = kind.question
                answer = kind.from_json(value, self)
                if answer is not None:
                    answers[id] = answer
        return answers

    def label(self, name: str) -> str:
        """A label's id where the model gave one of its other names."""
        label = self.question.label(name)
        return label.id if label else _brief(name)

    def clean(self, text: str) -> str:
        """A text without signs that no database keeps."""
        return _clean(text)

    def marks(self, values: list[Any]) -> Iterator[Span]:
        """The spans that quotes stand for."""
        for value in values:
            match value:
                case {"label": str(label), "segment": str() | int() as segment, "quote": str(quote)}:
                    place = self._place(str(segment), quote, value.get("occurrence"))
                    tie = value.get("tie")
                    if place and (tie is None or isinstance(tie, str)):
                        yield Span(
                            str(segment), *place, self.label(label), None if tie is None else _clean(tie)
                        )
                    elif place:
                        self._problem("problem-mark")
                case _:
                    self._problem("problem-mark")

    def _place(self, segment: str, quote: str, which: Any) -> tuple[int, int] | None:
        told = {"segment": _brief(segment), "quote": _brief(quote)}
        found = places(self.texts.get(segment, ""), quote)
        number = 1 if which is None and len(found) == 1 else which
        if segment not in self.texts:
            self._problem("problem-segment", segment=told["segment"])
        elif not found:
            self._problem("problem-quote", **told)
        elif type(number) is not int or not 1 <= number <= len(found):
            self._problem("problem-which", times=len(found), **told)
        else:
            return found[number - 1]
        return None

    def _problem(self, name: str, **values: object) -> None:
        said = prompt_frame(name, self.language, question=self.question.id, **values)
        if said not in self.problems:
            self.problems.append(said)


def _clean(text: str) -> str:
    """Without signs that no database keeps."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _brief(text: str) -> str:
    text = _clean(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def places(text: str, quote: str) -> list[tuple[int, int]]:
    """Everywhere that a quote stands in a text, from the left; stretches may overlap.

    Letters that are the same but coded otherwise (é as one sign or as two) are found too, visible character by
    visible character, where the quote as it is coded stands nowhere.
    """
    if not quote:
        return []
    return _exactly(text, quote) or _alike(text, quote)


def _exactly(text: str, quote: str) -> list[tuple[int, int]]:
    found, start = [], text.find(quote)
    while start >= 0:
        found.append((start, start + len(quote)))
        start = text.find(quote, start + 1)
    return found


def _alike(text: str, quote: str) -> list[tuple[int, int]]:
    where = [match.span() for match in _CLUSTER.finditer(text)]
    signs = [_one_way(text[start:end]) for start, end in where]
    wanted = [_one_way(sign) for sign in _CLUSTER.findall(quote)]
    return [
        (where[first][0], where[first + len(wanted) - 1][1])
        for first in range(len(signs) - len(wanted) + 1)
        if signs[first : first + len(wanted)] == wanted
    ]


def _one_way(sign: str) -> str:
    return unicodedata.normalize("NFC", sign)


BOUND = 300
"""Characters of an optional text: small models that begin to write do not always stop."""
REASON = "reason"
"""The key under which a model says why, where it is asked to."""
_KEY = regex.compile(r'[\s,]*("(?:[^"\\]|\\.)*")\s*:\s*')


def answer_schema(scheme: Scheme, *, reasons: bool = False) -> dict[str, Any]:
    """One key a question, all of them given, as strict servers want it; null where a question may be left open.

    Optional texts come last, and the reason, where one is asked for, after them: what is cut off there costs nothing.
    """
    ordered = sorted(scheme.questions, key=is_optional_text)
    forms = {question.id: _answer(scheme, question) for question in ordered}
    return _object(forms | ({REASON: bounded({"type": "string"})} if reasons else {}))


def _answer(scheme: Scheme, question: Question) -> dict[str, Any]:
    form = kind_of(question, scheme).json_schema()
    if is_optional_text(question):
        form = bounded(form)
    return form if question.required and question.only_if is None else _or_null(form)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(form: dict[str, Any]) -> dict[str, Any]:
    more = {"enum": [*form["enum"], None]} if "enum" in form else {}
    return {**form, "type": [form["type"], "null"], **more}


def is_optional_text(question: Question) -> bool:
    """Whether a judgment stands without this answer, which nothing is counted of."""
    return not question.required and not countable([question])


def bounded(form: Mapping[str, Any]) -> dict[str, Any]:
    """The form of a text, no longer than the bound."""
    return {**form, "maxLength": BOUND}


def without_bounds(schema: Any) -> Any:
    """The same schema for servers that do not know bounds of strings."""
    if isinstance(schema, Mapping):
        return {key: without_bounds(value) for key, value in schema.items() if key != "maxLength"}
    return [without_bounds(item) for item in schema] if isinstance(schema, list) else schema


def salvage(text: str, scheme: Scheme) -> dict[str, Any] | None:
    """The answers of a reply that was cut off, if it was cut within or after an optional text; else None.

    Every required question must have been answered by then, and no other answer may be half there.
    """
    start = text.find("{")
    if start < 0:
        return None
    found: dict[str, Any] = {}
    place, decoder = start + 1, json.JSONDecoder()
    cut: str | None = None
    while match := _KEY.match(text, place):
        try:
            key = json.loads(match.group(1))
            found[key], place = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            cut = json.loads(match.group(1))
            break
    questions = {question.id: question for question in scheme.questions}
    is_harmless = cut is None or cut == REASON or (cut in questions and is_optional_text(questions[cut]))
    is_whole = all(question.id in found for question in scheme.questions if not is_optional_text(question))
    return found if is_harmless and is_whole else None
