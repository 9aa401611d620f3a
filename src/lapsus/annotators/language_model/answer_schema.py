"""The form of a language model's answer: a JSON schema made from the scheme, the same for all its units."""

from __future__ import annotations

from typing import Any

from lapsus.model import Question, Scheme


def answer_schema(scheme: Scheme) -> dict[str, Any]:
    """One key a question, all of them given, as strict servers want it; null where a question may be left open."""
    return _object({question.id: _answer(scheme, question) for question in scheme.questions})


def _answer(scheme: Scheme, question: Question) -> dict[str, Any]:
    labels = [label.id for label in scheme.labels_of(question)]
    match question.kind:
        case "label":
            form: dict[str, Any] = {"type": "string", "enum": labels}
        case "labels":
            most = len(labels) if question.at_most is None else min(question.at_most, len(labels))
            items = {"type": "string", "enum": labels}
            form = {"type": "array", "items": items, "minItems": question.at_least, "maxItems": most}
        case "scale":
            form = {"type": "integer", "enum": [level.value for level in question.levels]}
        case "spans":
            form = {"type": "array", "items": _mark(labels)}
            if question.at_least:
                form["minItems"] = question.at_least
            if question.at_most is not None:
                form["maxItems"] = question.at_most
        case _:
            form = {"type": "string"}
    return form if question.required else _or_null(form)


def _mark(labels: list[str]) -> dict[str, Any]:
    """A span by what it says: models copy well and count badly."""
    return _object(
        {
            "label": {"type": "string", "enum": labels},
            "segment": {"type": "string"},
            "quote": {"type": "string"},
            "occurrence": {"type": "integer"},
            "tie": {"type": ["string", "null"]},
        }
    )


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
