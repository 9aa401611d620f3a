"""Free text in a model's answer never costs a judgment: it comes last, is bounded, and is dropped where it was cut."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import regex

from lapsus.kinds import countable
from lapsus.model import Question, Scheme

BOUND = 300
"""Characters of an optional text: small models that begin to write do not always stop."""
REASON = "reason"
"""The key under which a model says why, where it is asked to."""
_KEY = regex.compile(r'[\s,]*("(?:[^"\\]|\\.)*")\s*:\s*')


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
