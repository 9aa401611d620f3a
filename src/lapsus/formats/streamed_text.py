"""Replies kept as they were streamed: server-sent events, `data: {…}` a line."""

import re
from collections.abc import Iterator
from typing import Any

from lapsus.formats.messages import json_text

_EVENT = re.compile(r"(?:event|data|id|retry):")
_DATA = "data:"


def is_stream(text: str) -> bool:
    """Whether a text is a stream of events with JSON in it."""
    start = text[:1000].lstrip()
    return _EVENT.match(start) is not None and re.search(r"^data:\s*\{", start, re.MULTILINE) is not None


def events_in(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """What the events hold, each with its line: the pieces of replies, or whole replies where an event has one.

    Anthropic's events are put together.
    """
    claude = _Claude()
    for number, line in enumerate(text.splitlines(), 1):
        value = json_text(line.removeprefix(_DATA).strip()) if line.startswith(_DATA) else None
        if not isinstance(value, dict):
            continue
        kind = value.get("type")
        if kind == "message_stop":
            yield number, claude.reply()
        elif kind in ("response.completed", "response.incomplete"):
            yield number, value["response"]
        elif kind is None:
            yield number, value
        else:
            claude.take(str(kind), value)


class _Claude:
    """A reply of Anthropic's Messages API, put together from its events."""

    def __init__(self) -> None:
        self._about: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []

    def take(self, kind: str, event: dict[str, Any]) -> None:
        """One more event; those that say nothing of the reply are passed over."""
        delta = event.get("delta") or {}
        if kind == "message_start":
            self._about, self._parts = dict(event.get("message") or {}), []
        elif kind == "content_block_start":
            self._parts.append({"type": "text", **(event.get("content_block") or {}), "input": ""})
        elif kind == "content_block_delta" and self._parts:
            for key, piece in (("text", "text"), ("input", "partial_json")):
                self._parts[-1][key] = self._parts[-1].get(key, "") + delta.get(piece, "")
        elif kind == "message_delta":
            self._about |= delta

    def reply(self) -> dict[str, Any]:
        """The whole reply, in the shape of a call's answer."""
        about = {key: self._about.get(key) for key in ("id", "model")}
        calls = [
            {"id": one.get("id"), "name": one.get("name"), "arguments": one["input"]}
            for one in self._parts
            if one["type"] == "tool_use"
        ]
        words = "".join(one.get("text", "") for one in self._parts if one["type"] == "text")
        message = {"role": "assistant", "content": words, "tool_calls": calls}
        choice = {"message": message, "finish_reason": self._about.get("stop_reason")}
        return {**about, "object": "chat.completion", "choices": [choice]}
