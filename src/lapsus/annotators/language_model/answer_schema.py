"""The form of a language model's answer: a JSON schema made from the scheme, the same for all its units."""

import json
from collections.abc import Mapping
from typing import Any

import regex

from lapsus.kinds import countable, kind_of
from lapsus.model import Question, Scheme

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
