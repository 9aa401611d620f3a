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
from lapsus.formats.messages import ROLES, WRITTEN, messages_in, numbered
from lapsus.formats.source import Member, Source, lines
from lapsus.model import BACKGROUND, Document, Entry, Segment
from lapsus.model.decoders import converted

VERSION = 1
LINED = (".jsonl", ".ndjson")
"""Endings of files with a conversation a line."""
MAX_OBJECT = 64 << 20
"""How large a `.json` file with a single conversation may be. Lists and `.jsonl` files may be of any size."""
MAX_FIRST_LINE = 4 << 20
"""How much of a file is looked at to recognise it."""

_NAMES = "a file with a conversation a line must be named .jsonl, one with a JSON array .json"
_LISTS = ("messages", "conversations", "conversation")
_IDS = ("id", "conversation_id", "dialogue_id", "conversation_hash")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*")


class ChatExtra(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """The key `lapsus` of a conversation. Where it is there, Lapsus wrote the line and nothing is guessed."""

    format: int
    metadata: dict[str, Any] = {}
    turns: dict[str, list[Segment]] = {}
    """The segments that a message stands for, by its place from 0, where reading it would give others."""


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
    if entry.document and any(segment.role not in WRITTEN for segment in entry.document.segments):
        yield Loss("segments that are no turns of a conversation", severe=True)


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
    # A list of its own: whoever has these data in memory keeps them as they are.
    segments = _segments(list(value.pop(key)), extra.turns if extra else {})
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
        segments.insert(0, Segment("system", "prompt", rest.pop("system")))
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


def _segments(messages: list[Any], known: Mapping[str, list[Segment]]) -> list[Segment]:
    """The segments that messages stand for. A message is let go when it is read: a long chat is not held twice."""
    segments: list[Segment] = []
    for place in range(len(messages)):
        message, messages[place] = messages[place], None
        if known and str(place) in known:
            segments += known[str(place)]
            continue
        try:
            segments += numbered(place, messages_in(message))
        except InvalidError as error:
            raise InvalidError(error.what, where=f"message {place + 1}", hint=error.hint) from error
    return segments


def _conversation(document: Document) -> dict[str, Any]:
    language = {} if document.language is None else {"language": document.language}
    taken = {"id", "language", "messages", "lapsus"}
    messages, known = [], {}
    for place, together in enumerate(_together(document)):
        message = _message(together)
        messages.append(message)
        if not _is_plain(place, message, together[0]) and _read_back(place, message) != together:
            known[str(place)] = together
    kept = {key: value for key, value in document.metadata.items() if key not in taken}
    hidden = {key: value for key, value in document.metadata.items() if key in taken}
    # Not first: a line that begins with the key `lapsus` is of the native format.
    return {
        "id": document.id,
        **language,
        "messages": messages,
        **kept,
        "lapsus": ChatExtra(VERSION, hidden, known),
    }


def _together(document: Document) -> Iterator[list[Segment]]:
    """Segments that make up one message: a reply and the calls of tools right after it."""
    waiting: list[Segment] = []
    for segment in document.segments:
        if segment.role not in WRITTEN:
            continue
        if waiting and not (_is_call(segment) and (waiting[-1].role == "system" or _is_call(waiting[-1]))):
            yield waiting
            waiting = []
        waiting.append(segment)
    if waiting:
        yield waiting


def _is_call(segment: Segment) -> bool:
    return segment.role == "tool" and segment.metadata.get("kind") == "call" and "name" in segment.metadata


def _message(together: list[Segment]) -> dict[str, Any]:
    """A message in OpenAI's spelling; what it has no place for is seen when it is read back."""
    first = together[0]
    rest = dict(first.metadata)
    calls = [_call(segment) for segment in together if _is_call(segment)]
    if _is_call(first):
        return {"role": "assistant", "content": None, "tool_calls": calls}
    role = rest.pop("role", None) if first.role in BACKGROUND else None
    if not isinstance(role, str) or ROLES.get(role.lower()) != first.role:
        role = WRITTEN[first.role]
    content = rest.pop("content", None)
    message: dict[str, Any] = {"role": role, "content": first.text if content is None else content}
    if first.role == "tool":
        rest.pop("kind", None)
        if "call_id" in rest:
            message["tool_call_id"] = rest.pop("call_id")
    return {**message, **rest, **({"tool_calls": calls} if calls else {})}


def _call(segment: Segment) -> dict[str, Any]:
    about = segment.metadata
    arguments = segment.text.removeprefix(f"{about['name']}(").removesuffix(")")
    id = {"id": about["call_id"]} if "call_id" in about else {}
    return {**id, "type": "function", "function": {"name": about["name"], "arguments": arguments}}


def _is_plain(place: int, message: dict[str, Any], segment: Segment) -> bool:
    """Whether a message is surely read back as the segment it was made from."""
    return segment.id == str(place) and len(message) == 2 and not segment.metadata and segment.role != "tool"


def _read_back(place: int, message: dict[str, Any]) -> list[Segment] | None:
    try:
        return numbered(place, messages_in(message))
    except InvalidError:
        return None
