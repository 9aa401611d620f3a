"""Messages in the input or output of a call, whatever is around them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lapsus.errors import InvalidError
from lapsus.formats.messages import WRITTEN, Message, json_text, messages_in
from lapsus.model import Role
from lapsus.notices import Notice

_LISTS = ("messages", "input_messages", "output_messages", "choices", "candidates", "generations", "contents")
_BARE = (
    *("input", "output", "question", "query", "prompt", "answer", "response"),
    *("text", "content", "completion", "message"),
)
"""Keys under which programs keep what was said without saying by whom."""
_MARKS = frozenset({"role", "from", "type", "lc", "author", "message", "delta"})
_HELD = frozenset(
    {
        *("content", "parts", "value", "text", "kwargs", "data", "output"),
        *("tool_calls", "function_call", "arguments"),
    }
)
_NAMELESS = frozenset({"chat", "text", "input_text", "output_text"})
"""Types of what is a text and no message."""


def messages_of(value: Any, role: Role, dropped: Counter[str]) -> list[Message]:
    """The messages in an input or output of a call, whatever its spelling.

    `role` is whose words a bare text is. Messages of unknown roles are counted in `dropped`.
    """
    return list(_messages(json_text(value), role, dropped))


def _messages(value: Any, role: Role, dropped: Counter[str]) -> Iterator[Message]:
    if isinstance(value, str):
        if value.strip():
            yield Message(role, value)
    elif isinstance(value, list | tuple):
        if value and all(_is_part(part) for part in value):
            # A message's content that stands for the message.
            value = [{"role": WRITTEN[role], "content": value}]
        for item in value:
            yield from _messages(json_text(item), role, dropped)
    elif isinstance(value, dict):
        yield from _of_object(value, role, dropped)


def _is_part(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "type" in value
        and value.keys().isdisjoint({"role", "content", "data", "kwargs", "message", "call_id"})
    )


def _of_object(value: dict[str, Any], role: Role, dropped: Counter[str]) -> Iterator[Message]:
    for key in _LISTS:
        if isinstance(value.get(key), list):
            yield from _messages(value[key], role, dropped)
            return
    if isinstance(value.get("output"), list) and "role" not in value and value.get("type") is None:
        yield from _messages(value["output"], role, dropped)  # an answer of the Responses API
        return
    value = {key: json_text(item) if key in ("message", "delta") else item for key, item in value.items()}
    if not value.keys().isdisjoint(_MARKS) and _holds_message(value):
        if value.get("type") in _NAMELESS and "role" not in value:
            value = {**value, "role": WRITTEN[role]}
        yield from _known(value, dropped)
        return
    bare = [value[key] for key in _BARE if value.get(key) is not None]
    if not bare and len(value) == 1 and value.keys().isdisjoint(_MARKS):
        # A program's own name for the one thing that it was given or gave.
        bare = list(value.values())
    for text in bare[:1]:
        yield from _messages(json_text(text), role, dropped)


def _holds_message(value: dict[str, Any]) -> bool:
    inner = value.get("message", value.get("delta"))
    if isinstance(inner, dict):
        return True
    speaks = any(isinstance(value.get(key), str) for key in ("role", "from", "type")) or "lc" in value
    return speaks and not value.keys().isdisjoint(_HELD)


def _known(value: dict[str, Any], dropped: Counter[str]) -> Iterator[Message]:
    try:
        content = json_text(value.get("content"))
        for one in messages_in({**value, "content": content} if isinstance(content, list) else value):
            if one.text.strip() or one.role == "tool":
                yield one
    except InvalidError:
        dropped[Notice("messages-unknown-roles")] += 1
