"""Messages in any spelling, made alike: who speaks, what is said, which tools are called and what they return.

One message may stand for several segments: a reply and the calls of tools in it, or the results of several tools.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from lapsus.errors import InvalidError
from lapsus.formats.speakers import ROLES, role_of
from lapsus.model import EMPTY, Role, Segment

WRITTEN: dict[Role, str] = {
    "system": "assistant",
    "user": "user",
    "prompt": "system",
    "passage": "passage",
    "tool": "tool",
}
"""The roles of a conversation, and how they are written."""
_PLAIN: dict[Any, Role] = {name: role for role, name in WRITTEN.items() if role != "tool"}

_SPEAKER = ("role", "from", "sender", "speaker", "author", "type")
_CONTENT = ("content", "value", "text", "parts", "message", "utterance", "body")
_CALLS = ("tool_calls", "function_call")
_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "chat"})
_CALL_PARTS = frozenset({"tool_use", "tool_call", "function_call", "server_tool_use", "functionCall"})
_RESULT_PARTS = frozenset(
    {
        "tool_result",
        "tool_call_response",
        "function_call_output",
        "functionResponse",
        "web_search_tool_result",
    }
)
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "thoughts", "reasoning_recap"})
_PART_NAME = re.compile(r"^(?:input|output)_|_url$|_asset_pointer$")
_TIMES = ("time", "timestamp", "create_time", "created_at", "createdAt", "created", "tstamp", "date")
_MODELS = ("model", "model_slug", "model_name", "modelVersion", "model_id")
_ENDS = ("finish_reason", "stop_reason", "finishReason")
_REASONS = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "completed", "finished_successfully"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "incomplete", "model_length"), "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "safety", "refusal", "recitation"), "content_filter"),
    "prohibited_content": "content_filter",
}
_SAID = frozenset({"role", "content"})
_PARTED = frozenset({"lc", "data", "message", "delta", "author", "type", "from", "refusal", *_CALLS})
"""Keys of messages that must be looked into."""
_COMMON = {
    **dict.fromkeys(_TIMES, "time"),
    **dict.fromkeys(_MODELS, "model"),
    **dict.fromkeys(_ENDS, "finish_reason"),
}
"""What messages say of themselves, by its usual spellings."""


class Message(msgspec.Struct, frozen=True):
    """Something said, or what stood behind it: instructions, a passage, a call of a tool or its result."""

    role: Role
    text: str
    metadata: Mapping[str, Any] = EMPTY


def messages_in(message: Any, names: Mapping[str, Role] = ROLES) -> list[Message]:
    """What one message holds, in order: results of tools, words, calls of tools."""
    if not isinstance(message, dict):
        raise InvalidError("not-json-object")
    text, name = message.get("content"), message.get("role")
    # Most messages of most logs: a text and who said it, and nothing to be taken apart.
    if type(text) is str and type(name) is str and name in _PLAIN:
        if len(message) == 2:
            return [Message(_PLAIN[name], text)]
        if _PARTED.isdisjoint(message):
            return [Message(_PLAIN[name], text, _metadata(message, _SAID))]
    return _messages(unwrapped(message), names)


def unwrapped(message: dict[str, Any]) -> dict[str, Any]:
    """A message out of what some programs put around it."""
    if message.get("lc") and isinstance(inner := message.get("kwargs"), dict):
        # LangChain's own serialisation: the class is the last part of its id.
        return {**inner, "role": str((message.get("id") or ["?"])[-1])}
    if isinstance(inner := message.get("data"), dict) and isinstance(kind := message.get("type"), str):
        return {**inner, "role": kind}
    for key in ("message", "delta"):
        if isinstance(inner := message.get(key), dict):
            return unwrapped(
                {**{name: value for name, value in message.items() if name in ("role", *_ENDS)}, **inner}
            )
    author = message.get("author")
    if isinstance(author, dict) and "role" in author:
        return _of_chatgpt(message, author)
    if isinstance(content := message.get("content"), dict) and "parts" in content:
        # A candidate of Gemini's.
        rest = {name: value for name, value in message.items() if name not in ("content", "index")}
        return {**rest, **content}
    return message


def _of_chatgpt(message: dict[str, Any], author: dict[str, Any]) -> dict[str, Any]:
    """A message of a ChatGPT account's export."""
    about = message.get("metadata") or {}
    content = message.get("content") or {}
    kind = content.get("content_type", "text")
    parts = (
        content.get("parts") if "parts" in content else [content.get("text") or content.get("result") or ""]
    )
    found = {
        "role": author["role"],
        "content": [{"type": kind}] if kind in _THOUGHTS else parts,
        "id": message.get("id"),
        "time": message.get("create_time"),
        "model": about.get("model_slug"),
        "finish_reason": (about.get("finish_details") or {}).get("type"),
        "name": author.get("name"),
    }
    recipient = message.get("recipient") or "all"
    if recipient != "all" and author["role"] == "assistant":
        found["tool_calls"] = [{"name": recipient, "arguments": "\n".join(map(str, found.pop("content")))}]
        found["content"] = ""
    return found


def _messages(message: dict[str, Any], names: Mapping[str, Role]) -> list[Message]:
    kind = message.get("type")
    if kind in _CALL_PARTS or kind in _RESULT_PARTS or (isinstance(kind, str) and kind.endswith("_call")):
        # An item of the Responses API that stands beside messages.
        return [_result(message) if kind in _RESULT_PARTS else _call(message)]
    if kind in _THOUGHTS and "role" not in message:
        return []
    speaker = next((key for key in _SPEAKER if isinstance(message.get(key), str)), None)
    if speaker is None:
        raise InvalidError("no-role", hint="role-says-who-speaks")
    name = str(message[speaker])
    role = role_of(name, names)
    place = next((key for key in _CONTENT if message.get(key) is not None and key != speaker), None)
    calls = [call for key in _CALLS if key in message for call in _listed(message[key])]
    if place is None and not calls and message.keys().isdisjoint((*_CONTENT, *_CALLS)):
        raise InvalidError("no-text", hint="content-value-holds")
    content = _Content(message.get(place) if place else message.get("refusal"))
    metadata = _metadata(message, {speaker, place, *_CALLS} - {None})
    if content.has_more and place:
        metadata["content"] = message[place]
    if role in WRITTEN and name != WRITTEN[role]:
        metadata |= {"role": name} if role not in ("system", "user") else {}
    return list(_ordered(role, name, content, metadata, [*content.calls, *calls]))


def _ordered(
    role: Role, name: str, content: _Content, metadata: dict[str, Any], calls: list[Any]
) -> Iterator[Message]:
    if content.results and role != "tool":
        # What a message returns beside its own calls came after them (Claude's export).
        yield from map(_call, calls)
        calls = []
    yield from map(_result, content.results)
    if role == "tool":
        if not content.results:
            yield _of_tool(name, content.text, metadata)
    elif content.text.strip() or not (calls or content.results):
        yield Message(role, content.text, metadata)
    yield from map(_call, calls)


def _of_tool(name: str, text: str, metadata: dict[str, Any]) -> Message:
    """A message whose speaker is a tool, or a call that is a message of its own (ShareGPT)."""
    kind = "call" if name.lower() == "function_call" else "result"
    about = {"kind": kind, **metadata}
    spelt = (("call_id", ("tool_call_id", "call_id")), ("name", ("name", "function", "tool_name")))
    for key, spellings in spelt:
        for spelling in spellings:
            if isinstance(about.get(spelling), str):
                about[key] = about.pop(spelling)
                break
    if kind == "call" and isinstance(call := json_text(text), dict) and isinstance(call.get("name"), str):
        about |= {"name": call["name"], "arguments": call.get("arguments", call.get("parameters"))}
    return Message("tool", text, about)


def _call(part: Any) -> Message:
    """A call of a tool, in whichever spelling."""
    call = part if isinstance(part, dict) else {"name": str(part)}
    call = next(
        (call[key] for key in ("functionCall", "function_call") if isinstance(call.get(key), dict)), call
    )
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = inner.get("name") or (function if isinstance(function, str) else None)
    if name is None:
        name = str(call.get("type", "tool")).removesuffix("_call")
    given = next(
        (inner[key] for key in ("arguments", "args", "input", "parameters", "action") if key in inner), None
    )
    arguments = json_text(given)
    words = given if isinstance(given, str) else "" if given is None else compact(given)
    about = {"kind": "call", "name": str(name)}
    if arguments not in (None, ""):
        about["arguments"] = arguments
    if isinstance(id := call.get("call_id") or call.get("id"), str):
        about["call_id"] = id
    return Message("tool", f"{name}({words})", about)


def _result(part: dict[str, Any]) -> Message:
    """What a tool returned, in whichever spelling."""
    part = part.get("functionResponse") or part
    given = next(
        (part[key] for key in ("content", "output", "response", "result") if part.get(key) is not None), ""
    )
    if isinstance(given, list) and all(
        isinstance(one, dict) and one.get("type") in _TEXT_PARTS for one in given
    ):
        given = "\n".join(str(one.get("text", "")) for one in given)
    about: dict[str, Any] = {"kind": "result"}
    if isinstance(name := part.get("name"), str):
        about["name"] = name
    if isinstance(
        id := next((part[key] for key in ("tool_use_id", "call_id", "id") if key in part), None), str
    ):
        about["call_id"] = id
    if part.get("is_error"):
        about["error"] = True
    return Message("tool", given if isinstance(given, str) else compact(given), about)


class _Content:
    """The content of a message taken apart: its words, and what else is in it."""

    def __init__(self, content: Any) -> None:
        self.calls: list[Any] = []
        self.results: list[dict[str, Any]] = []
        self.has_more = False
        """Whether it holds something that is named in the text only, such as a picture."""
        if content is None or isinstance(content, str):
            self.text = content or ""
            return
        if not isinstance(content, list | tuple):
            raise InvalidError("content-neither-text-nor")
        self.text = "\n".join(text for part in content if (text := self._part(part)) is not None)

    def _part(self, part: Any) -> str | None:
        if isinstance(part, str):
            return part
        if not isinstance(part, dict):
            self.has_more = True
            return "[part]"
        given = part.get("type", part.get("content_type", ""))
        kind = given if isinstance(given, str) else None
        if kind in _CALL_PARTS or "functionCall" in part:
            self.calls.append(part)
        elif kind in _RESULT_PARTS or "functionResponse" in part:
            self.results.append(part)
        elif kind == "dynamic-tool" or (kind or "").startswith("tool-"):
            # A call and its result in one, as Vercel's AI SDK keeps them.
            about = {"name": part.get("toolName") or (kind or "")[5:], "call_id": part.get("toolCallId")}
            self.calls.append({**about, "input": part.get("input")})
            if (returned := part.get("output", part.get("errorText"))) is not None:
                self.results.append({**about, "output": returned, "is_error": "output" not in part})
        elif kind in _THOUGHTS or part.get("thought") is True or kind == "step-start":
            self.has_more = True
        else:
            return self._words(part, kind)
        return None

    def _words(self, part: dict[str, Any], kind: str | None) -> str:
        text = part.get("text", part.get("content") if kind in _TEXT_PARTS else part.get("refusal"))
        if isinstance(text, dict):
            text = text.get("value")  # OpenAI's threads
        if isinstance(text, str) and (kind == "" or kind in _TEXT_PARTS or kind == "refusal"):
            return text
        self.has_more = True
        return f"[{_PART_NAME.sub('', kind or 'part')}]"


def _metadata(message: dict[str, Any], taken: Collection[Any]) -> dict[str, Any]:
    """What else a message says of itself; time, model and why it ended under one name each."""
    found: dict[str, Any] = {}
    for key, value in message.items():
        if key in taken or value is None or value == [] or value == {}:
            continue
        if key in _COMMON:
            key = _COMMON[key] if _COMMON[key] not in found else key
            if key == "time":
                value = moment(value) or value
            elif key == "finish_reason":
                value = finish_reason(value)
        found[key] = value
    return found


def finish_reason(value: Any) -> Any:
    """Why a reply ended in OpenAI's words: stop, length, tool_calls or content_filter; others as they are."""
    return _REASONS.get(value.lower(), value.lower()) if isinstance(value, str) else value


def _listed(value: Any) -> Iterable[Any]:
    value = json_text(value)
    return value if isinstance(value, list | tuple) else [] if value in (None, "", {}) else [value]


def numbered(place: int, messages: Sequence[Message]) -> list[Segment]:
    """The segments of one message: `3` is the first of the fourth message, then come `3.1`, `3.2`."""
    if len(messages) == 1:
        one = messages[0]
        return [Segment(str(place), one.role, one.text, None, one.metadata)]
    return [
        Segment(f"{place}.{inner}" if inner else str(place), one.role, one.text, None, one.metadata)
        for inner, one in enumerate(messages)
    ]


def json_text(value: Any) -> Any:
    """A value that may be JSON inside a string: the JSON where it is an object or a list, else as it is."""
    if isinstance(value, str) and value[:1] in "[{":
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return value
    return value


def compact(value: Any) -> str:
    """A value as JSON."""
    return msgspec.json.encode(value).decode()


def moment(value: Any) -> str:
    """A time that sorts as text, from ISO 8601, a datetime, or a number of seconds to nanoseconds since 1970."""
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return value
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    try:
        number = float(value)
    except (TypeError, ValueError):
        return _iso(str(value)) if value else ""
    except OverflowError:
        return ""
    if not math.isfinite(number):
        return ""
    while abs(number) > 1e11:  # Milli-, micro- or nanoseconds.
        number /= 1000
    try:
        return datetime.fromtimestamp(number, UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        return ""


_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?\+00:00")
"""How `moment` writes a time."""


def _iso(text: str) -> str:
    try:
        return moment(datetime.fromisoformat(text.strip().removesuffix(" UTC")))
    except ValueError:
        return text
