"""Messages in the spellings of OpenAI, OpenTelemetry, LangChain and Gemini, made alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from lapsus.formats.traces.records import json_text

_ROLES = {
    **dict.fromkeys(("user", "human", "humanmessage", "humanmessagechunk"), "user"),
    **dict.fromkeys(("assistant", "ai", "aimessage", "aimessagechunk", "model", "bot", "chatbot"), "system"),
    **dict.fromkeys(("system", "developer", "systemmessage"), "instructions"),
    **dict.fromkeys(("tool", "function", "toolmessage", "functionmessage"), "tool"),
}
_TEXTS = frozenset({"text", "input_text", "output_text"})
_BARE = (
    "input",
    "output",
    "question",
    "query",
    "prompt",
    "answer",
    "response",
    "text",
    "content",
    "completion",
    "message",
)
"""Keys under which programs keep what was said without saying by whom."""


class Message(msgspec.Struct, frozen=True):
    """What somebody said. `role` is user, system (the model), instructions or tool."""

    role: str
    text: str


def messages_of(value: Any, role: str, dropped: Counter[str]) -> list[Message]:
    """The messages in an input or output of a call, whatever its spelling.

    `role` is whose words a bare text is. Parts that are no text, calls of tools and messages of unknown roles
    are counted in `dropped`.
    """
    return list(_messages(json_text(value), role, dropped))


def _messages(value: Any, role: str, dropped: Counter[str]) -> Iterator[Message]:
    if value is None:
        return
    if isinstance(value, str):
        if value.strip():
            yield Message(role, value)
    elif isinstance(value, list | tuple):
        if value and all(_is_part(part) for part in value):
            # A message's content that stands for the message.
            value = [{"role": role, "content": value}]
        for item in value:
            yield from _messages(json_text(item), role, dropped)
    elif isinstance(value, dict):
        yield from _of_object(value, role, dropped)


def _is_part(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "type" in value
        and not value.keys() & {"role", "content", "data", "kwargs", "message"}
    )


def _of_object(value: dict[str, Any], role: str, dropped: Counter[str]) -> Iterator[Message]:
    if value.get("lc") and isinstance(value.get("kwargs"), dict):
        # LangChain's own serialisation: the class is the last part of its id.
        names = value.get("id") or ["?"]
        value = {"type": str(names[-1]), **value["kwargs"]}
    if isinstance(value.get("data"), dict) and "type" in value:
        value = {"type": value["type"], **value["data"]}
    for key in (
        "messages",
        "input_messages",
        "output_messages",
        "choices",
        "candidates",
        "generations",
        "contents",
    ):
        if isinstance(value.get(key), list):
            yield from _messages(value[key], role, dropped)
            return
    for key in ("message", "delta"):
        if isinstance(inner := json_text(value.get(key)), dict):
            yield from _of_object(inner, role, dropped)
            return
    speaker = value.get("role") or value.get("from") or value.get("type")
    has_content = not value.keys().isdisjoint(
        ("content", "parts", "value", "text", "tool_calls", "function_call")
    )
    if isinstance(speaker, str) and has_content:
        yield from _message(speaker, value, role, dropped)
        return
    bare = [value[key] for key in _BARE if value.get(key) is not None]
    if not bare and len(value) == 1 and speaker is None:
        # A program's own name for the one thing that it was given or gave.
        bare = list(value.values())
    for text in bare[:1]:
        yield from _messages(json_text(text), role, dropped)


def _message(speaker: str, value: dict[str, Any], role: str, dropped: Counter[str]) -> Iterator[Message]:
    known = _ROLES.get(speaker.lower()) or (role if speaker.lower() in ("chat", *_TEXTS) else None)
    if known is None:
        dropped["messages of unknown roles"] += 1
        return
    if value.get("tool_calls") or value.get("function_call"):
        dropped["calls of tools"] += 1
    content = next(
        (value[key] for key in ("parts", "content", "value", "text") if value.get(key) is not None), None
    )
    text = "\n".join(_texts(json_text(content), dropped))
    if known == "tool":
        dropped["results of tools"] += 1
    elif text.strip():
        yield Message(known, text)


def _texts(content: Any, dropped: Counter[str]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list | tuple):
        for part in content:
            yield from _texts(part, dropped)
    elif isinstance(content, dict):
        kind = content.get("type", "text")
        text = next((content[key] for key in ("text", "content") if isinstance(content.get(key), str)), None)
        if kind in _TEXTS and text is not None:
            yield text
        elif kind in ("tool_call", "tool_use", "function_call"):
            dropped["calls of tools"] += 1
        elif kind in ("tool_call_response", "tool_result"):
            dropped["results of tools"] += 1
        else:
            dropped[f"parts of the kind {kind!r}"] += 1
