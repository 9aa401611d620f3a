"""Chat logs as JSON, a conversation a line, in the spellings of OpenAI and of ShareGPT."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.encoding import decoded_json
from lapsus.formats.json_stream import raw_items
from lapsus.formats.source import Member, Source, lines
from lapsus.model import Document, Entry, Role, Segment
from lapsus.model.decoders import converted

VERSION = 1
LINED = (".jsonl", ".ndjson")
"""Endings of files with a conversation a line."""
MAX_OBJECT = 64 << 20
"""How large a `.json` file with a single conversation may be. Lists and `.jsonl` files may be of any size."""
MAX_FIRST_LINE = 4 << 20
"""How much of a file is looked at to recognise it."""

SYSTEM_NAMES = ("assistant", "gpt", "chatgpt", "bot", "chatbot", "model", "ai")
USER_NAMES = ("user", "human")
CONTEXT_NAMES = ("system", "developer", "tool", "function", "function_call", "observation")
ROLES: dict[str, Role] = {
    **dict.fromkeys(SYSTEM_NAMES, "system"),
    **dict.fromkeys(USER_NAMES, "user"),
    **dict.fromkeys(CONTEXT_NAMES, "context"),
}
TURNS: dict[Role, str] = {"system": "assistant", "user": "user", "context": "system"}
"""The roles that a conversation can hold, and how they are written."""

_NAMES = "a file with a conversation a line must be named .jsonl, one with a JSON array .json"
_LISTS = ("messages", "conversations", "conversation")
_IDS = ("id", "conversation_id", "dialogue_id", "conversation_hash")
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_PART_NAME = re.compile(r"^(?:input|output)_|_url$")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*")


class ChatTurnExtra(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What Lapsus knows of a turn that a message has no place for."""

    id: str | None = None
    roleless: bool = False
    """Whether nothing is known of the role that a turn of context had; the message's role fills the place."""
    metadata: dict[str, Any] = {}


class ChatExtra(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """The key `lapsus` of a conversation. Where it is there, Lapsus wrote the line and nothing is guessed."""

    format: int
    metadata: dict[str, Any] = {}
    turns: dict[str, ChatTurnExtra] = {}
    """By the place of the message, from 0."""


_NO_EXTRA = ChatTurnExtra()


class Chat(Format):
    """Conversations as chat programs and trainers keep them."""

    name = "chat"
    title = "chat logs: .jsonl or .json with messages (OpenAI) or conversations (ShareGPT)"
    suffix = ".chat.jsonl"

    def recognises(self, source: Source) -> bool:
        """By the first conversation."""
        member = source.first(*LINED, ".json")
        return member is not None and _looks_like_chat(member)

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A conversation at a time."""
        stems = Counter(_stem(member) for member in source.members(*LINED, ".json"))
        for member in source.members(*LINED, ".json"):
            stem = _stem(member)
            # Files of one name in several folders are told apart by the folder.
            called = stem if stems[stem] == 1 else f"{member.path.parent}/{stem}"
            for place in _conversations(member):
                source.place = place.where
                try:
                    document = document_of(place.value, f"{called}-{place.number}", options)
                except InvalidError as error:
                    where = f"{place.where}, {error.where}" if error.where else place.where
                    raise InputError(error.what, where=where, hint=error.hint) from error
                except RecursionError:
                    raise InputError("is nested too deeply", where=place.where) from None
                yield Entry(document.id, document)

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Judgments, and anything but turns."""
        return losses_of_chat(entry)

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """A conversation a line, in OpenAI's spelling."""
        encoder = msgspec.json.Encoder()
        with path.open("xb") as stream:
            for entry in entries:
                if entry.document is not None:
                    stream.write(encoder.encode(_conversation(entry.document)) + b"\n")


def losses_of_chat(entry: Entry) -> Iterator[Loss]:
    """What no format for conversations carries."""
    if entry.judgments:
        yield Loss("judgments (a chat holds conversations only)", severe=True)
    if entry.document and any(segment.role not in TURNS for segment in entry.document.segments):
        yield Loss("segments that are no turns of a conversation", severe=True)


def role_of(name: str, names: Mapping[str, Role] = ROLES) -> Role:
    """Who speaks, by any of the usual names."""
    try:
        return names[name.strip().lower()]
    except KeyError:
        raise InvalidError(f"unknown role {name!r}", hint=f"known: {', '.join(names)}") from None


def _stem(member: Member) -> str:
    return member.path.name.removesuffix(Chat.suffix).removesuffix(member.path.suffix)


class _Place(NamedTuple):
    where: str
    number: int
    value: Any


def _conversations(member: Member) -> Iterator[_Place]:
    if member.name.lower().endswith(LINED):
        found, unit = lines(member), "line"
    elif member.head(1000).lstrip().startswith(b"["):
        found, unit = _items(member), "conversation"
    else:
        found, unit = iter([(1, _whole(member))]), "conversation"
    for number, content in found:
        where = f"{member.name}, {unit} {number}"
        yield _Place(where, number, decoded_json(content, where, _NAMES))


def _items(member: Member) -> Iterator[tuple[int, bytes]]:
    with member.open() as stream:
        yield from enumerate(raw_items(stream, member.name), 1)


def _whole(member: Member) -> bytes:
    content = member.head(MAX_OBJECT + 1)
    if len(content) > MAX_OBJECT:
        what = f"a .json file with one conversation may have {MAX_OBJECT >> 20} MiB; this one is larger"
        raise InputError(what, where=member.name, hint="is it a .jsonl file, with a conversation a line?")
    return content


def _looks_like_chat(member: Member) -> bool:
    with member.open() as stream:
        read = stream.readline if member.name.lower().endswith(LINED) else stream.read
        start = read(MAX_FIRST_LINE)
    # Most files of other formats are told by this alone, without parsing them.
    if not any(b'"%s"' % name.encode() in start for name in _LISTS):
        return False
    try:
        first = next(_conversations(member), None)
    except InputError:
        # What is wrong with it is said when it is read.
        return True
    return first is not None and has_messages(first.value)


def has_messages(value: Any) -> bool:
    """Whether an object holds messages with roles, in one of the known spellings."""
    try:
        messages = value[_list_of(value)]
        return all(isinstance(message.get("role", message.get("from")), str) for message in messages[:2])
    except (InvalidError, AttributeError):
        return False


def _list_of(value: Any) -> str:
    if isinstance(value, dict):
        for key in _LISTS:
            if isinstance(value.get(key), list):
                return key
    hint = 'an object like {"messages": [{"role": "user", "content": "…"}]} is expected'
    raise InvalidError("no conversation", hint=hint)


def document_of(value: Any, fallback: str, options: ReadOptions) -> Document:
    """The document that an object with messages is; `fallback` is its id where it has none."""
    key = _list_of(value)
    rest = {name: item for name, item in value.items() if name not in (key, "lapsus")}
    extra = _extra(value["lapsus"]) if "lapsus" in value else None
    turns = extra.turns if extra else {}
    segments = [
        _segment(n, message, turns.get(str(n), _NO_EXTRA) if turns else _NO_EXTRA)
        for n, message in enumerate(value[key])
    ]
    name = _take_id(rest) or fallback
    if extra:
        language = rest.pop("language", None)
        if not isinstance(language, str | None):
            raise InvalidError("the language must be a text")
        return Document(name, tuple(segments), language, rest | extra.metadata)
    language = rest.get("language")
    if isinstance(language, str) and _LANGUAGE.fullmatch(language):
        del rest["language"]
    else:
        language = options.language_of(segments)
    if key == "conversations" and isinstance(rest.get("system"), str):
        # In ShareGPT's spelling this is the prompt, not the name of a system.
        segments.insert(0, Segment("system", "context", rest.pop("system"), None, {"role": "system"}))
    if isinstance(model := rest.get("model"), str) and model:
        rest.setdefault("system", model)
    return Document(name, tuple(segments), language, rest)


def _extra(value: Any) -> ChatExtra:
    try:
        extra = converted(value, ChatExtra)
    except msgspec.ValidationError as error:
        raise InvalidError(f"the key 'lapsus' is not as Lapsus writes it: {error}") from error
    if extra.format > VERSION:
        what = f"written by a newer Lapsus (format {extra.format}, known: {VERSION})"
        raise InvalidError(what, hint="update Lapsus")
    return extra


def _take_id(rest: dict[str, Any]) -> str:
    for name in _IDS:
        value = rest.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            del rest[name]
            return str(value)
    return ""


def _segment(place: int, message: Any, extra: ChatTurnExtra) -> Segment:
    try:
        return _turn(place, message, extra)
    except InvalidError as error:
        raise InvalidError(error.what, where=f"message {place + 1}", hint=error.hint) from error


def _turn(place: int, message: Any, extra: ChatTurnExtra) -> Segment:
    if not isinstance(message, dict):
        raise InvalidError("not a JSON object")
    role_key = "role" if "role" in message else "from"
    text_key = "content" if "content" in message else "value"
    name = message.get(role_key)
    if not isinstance(name, str):
        raise InvalidError("no role", hint='"role" (or "from") says who speaks')
    if text_key not in message and message.keys().isdisjoint(("tool_calls", "function_call")):
        raise InvalidError("no text", hint='"content" (or "value") holds it')
    metadata = dict(message)
    del metadata[role_key]
    metadata.pop(text_key, None)
    role = role_of(name)
    text, has_more = _text_of(message.get(text_key))
    if has_more:
        metadata["content"] = message[text_key]
    if role == "context" and not extra.roleless:
        metadata["role"] = name
    if extra.metadata:
        metadata |= extra.metadata
    return Segment(extra.id or str(place), role, text, None, metadata)


def _text_of(content: Any) -> tuple[str, bool]:
    """The text of a message, and whether it holds more than text; of that, only a name stands in the text."""
    if content is None or isinstance(content, str):
        return content or "", False
    if not isinstance(content, list | tuple):
        raise InvalidError("its content is neither text nor a list of parts")
    parts = [_part(part) for part in content]
    return "\n".join(text for text, _ in parts), any(is_more for _, is_more in parts)


def _part(part: Any) -> tuple[str, bool]:
    if isinstance(part, str):
        return part, False
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str):
        return "[part]", True
    if kind in _TEXT_PARTS and isinstance(part.get("text"), str):
        return part["text"], False
    return f"[{_PART_NAME.sub('', kind)}]", True


def _conversation(document: Document) -> dict[str, Any]:
    language = {} if document.language is None else {"language": document.language}
    taken = {"id", "language", "messages", "lapsus"}
    turns = [segment for segment in document.segments if segment.role in TURNS]
    messages, extras = [], {}
    for place, segment in enumerate(turns):
        message, extra = _message(place, segment)
        messages.append(message)
        if extra != ChatTurnExtra():
            extras[str(place)] = extra
    kept = {key: value for key, value in document.metadata.items() if key not in taken}
    hidden = {key: value for key, value in document.metadata.items() if key in taken}
    # Not first: a line that begins with the key `lapsus` is of the native format.
    return {
        "id": document.id,
        **language,
        "messages": messages,
        **kept,
        "lapsus": ChatExtra(VERSION, hidden, extras),
    }


def _message(place: int, segment: Segment) -> tuple[dict[str, Any], ChatTurnExtra]:
    rest = dict(segment.metadata)
    extra = ChatTurnExtra(id=None if segment.id == str(place) else segment.id)
    role, content = TURNS[segment.role], segment.text
    if segment.role == "context":
        extra.roleless = "role" not in rest
        if is_context_name(rest.get("role")):
            role = rest.pop("role")
    if _text_of_parts(rest.get("content")) == segment.text:
        content = rest.pop("content")
    extra.metadata = {key: rest.pop(key) for key in ("role", "content") if key in rest}
    return {"role": role, "content": content, **rest}, extra


def is_context_name(role: object) -> bool:
    """Whether this is a role that stands for context, so that it can be written as it is."""
    return isinstance(role, str) and role.lower() in CONTEXT_NAMES


def _text_of_parts(content: object) -> str | None:
    """The text of a list of parts that would be read back as the same list."""
    if not isinstance(content, list | tuple):
        return None
    text, has_more = _text_of(content)
    return text if has_more else None
