"""One exchange with a model: the request in the strictest form that the server takes, the reply taken apart."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lapsus.annotators.language_model.free_text import without_bounds
from lapsus.annotators.language_model.service import CHAT, Service, ServiceError

FORMS = ("json_schema", "json_schema without bounds", "json_object", "text")
"""How the form of an answer can be asked for, the strictest first. Some servers know no bounds of strings."""
_NOT_TAKEN = (400, 415, 422, 501)
"""What servers answer to a form that they do not know."""


class Completion(NamedTuple):
    """What a model replied."""

    content: str
    form: str
    was_cut: bool
    model: str | None
    """The model's name as the server tells it, which may be more exact than the one asked for."""
    prompt_tokens: int
    completion_tokens: int


class Chat:
    """A model on a server, and the form that the server takes, once that is known."""

    def __init__(self, model: str, service: Service) -> None:
        self.model, self.service = model, service
        self.form: str | None = None
        self._lock = threading.Lock()

    def settle(self, form: str) -> None:
        """The first form that was answered stays."""
        with self._lock:
            self.form = self.form or form


def complete(
    chat: Chat, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], more: Mapping[str, Any]
) -> Completion:
    """Ask for an answer. Until one form was answered, the next is tried where the server refuses one."""
    forms = (chat.form,) if chat.form else FORMS
    for form in forms:
        body = {"model": chat.model, "messages": messages, **more, **_format(form, schema)}
        try:
            reply = chat.service.ask(CHAT, body)
        except ServiceError as error:
            if error.status not in _NOT_TAKEN or form == forms[-1]:
                raise
            continue
        chat.settle(form)
        return _completion(reply, form)
    raise AssertionError("the last form returns or raises")


def _format(form: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if form == "text":
        return {}
    if form == "json_object":
        return {"response_format": {"type": "json_object"}}
    whole = schema if form == FORMS[0] else without_bounds(schema)
    named = {"name": "judgment", "strict": True, "schema": whole}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _completion(reply: Mapping[str, Any], form: str) -> Completion:
    match reply:
        case {"choices": [{"message": dict(message), **choice}, *_]}:
            usage = reply.get("usage")
            counted = usage if isinstance(usage, dict) else {}
            return Completion(
                _text(message.get("content")) or _text(message.get("refusal")),
                form,
                choice.get("finish_reason") == "length",
                _name(reply.get("model")),
                _count(counted.get("prompt_tokens")),
                _count(counted.get("completion_tokens")),
            )
    raise ServiceError("the server's reply has no message in it", hint="does it speak the OpenAI protocol?")


def _name(model: Any) -> str | None:
    """A model's name. Local servers tell the path of its file, and where that lies is nobody's business."""
    if not isinstance(model, str) or not model.isprintable():
        return None
    is_path = model.startswith(("/", "~", ".")) or "\\" in model
    return (re.split(r"[/\\]", model)[-1] if is_path else model)[:200]


def _text(content: Any) -> str:
    """The text of a message; some servers send it in parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
