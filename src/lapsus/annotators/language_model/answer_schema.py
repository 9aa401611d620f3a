"""The form of a language model's answer: a JSON schema made from the scheme, the same for all its units."""

from __future__ import annotations

from typing import Any

from lapsus.annotators.language_model.free_text import REASON, bounded, is_optional_text
from lapsus.kinds import kind_of
from lapsus.model import Question, Scheme


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
