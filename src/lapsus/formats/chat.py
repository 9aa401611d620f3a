"""Chat logs in whatever shape they are exported; written in OpenAI's spelling."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.conversations import VERSION, ChatExtra, Conversations, is_question
from lapsus.formats.encoding import not_utf8
from lapsus.formats.field_map import FieldMap, exchange_map, guessed_map, with_sides
from lapsus.formats.messages import WRITTEN, messages_in, numbered
from lapsus.formats.records import SUFFIXES, Record, first_record, records
from lapsus.formats.shapes import OTHERS
from lapsus.formats.source import Member, Source
from lapsus.formats.speakers import ROLES
from lapsus.formats.spoken_text import dialogues_of_text, has_speakers, messages_of_text, names_in
from lapsus.formats.streamed_text import events_in, is_stream
from lapsus.model import BACKGROUND, Document, Entry, Role, Segment
from lapsus.notices import Notice

TEXTS = (".txt", ".md", ".log")
LOOKED_AT = 200
"""Records of a table that are looked at to tell which column holds what."""


class Chat(Format):
    """Conversations as chat programs, tools and trainers export them. A folder may mix shapes."""

    name = "chat"
    title = Notice("chat-logs-exports-requests")
    suffix = ".chat.jsonl"

    def recognises(self, source: Source) -> bool:
        """By the first record."""
        if source.path.suffix.lower() == ".eval":
            return True
        record = first_record(source)
        if record is not None:
            with closing(Conversations(ReadOptions())) as reader:
                return reader.knows(dict(record.value))
        return has_speakers(text := first_text(source)) or is_stream(text)

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A conversation at a time."""
        stems = Counter(_stem(member) for member in source.members(*SUFFIXES, *TEXTS))
        with closing(Conversations(options)) as reader:
            reader.questions = _questions(source)
            for member in source.members(*SUFFIXES, *TEXTS):
                stem = _stem(member)
                # Files of one name in several folders are told apart by the folder.
                called = stem if stems[stem] == 1 else f"{member.path.parent}/{stem}"
                if member.name.lower().endswith(TEXTS):
                    text = _text(member)
                    if is_stream(text):
                        yield from reader.entries(_streamed(text, member, source), called)
                    elif len(stems) == 1 or has_speakers(text, reader.names):
                        yield from reader.entries(_spoken(text, member, source, reader.names), called)
                elif len(stems) == 1 or options.map or _is_known(member, reader):
                    yield from reader.entries(_placed(member, source), called)
                elif told := map_told(first_records(member)):
                    yield from reader.entries(_placed(member, source), called, told)
                else:
                    source.passed_over.add(member.name)
            yield from reader.rest()

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


def first_records(member: Member | None) -> list[dict[str, Any]]:
    """The first records of a file, by which its shape may be told; none where they cannot be read."""
    try:
        return [record.value for record in islice(records(member), LOOKED_AT)] if member else []
    except (InputError, UnicodeDecodeError):
        return []


def map_told(some: Sequence[Mapping[str, Any]]) -> FieldMap | None:
    """The map of records whose keys leave no doubt: a turn a record, or a question and its answer."""
    found, is_sure = guessed_map(some)
    if found is not None and is_sure and found.dialogue:
        return found
    return exchange_map(some) if some and OTHERS.isdisjoint(some[0]) else None


def losses_of_chat(entry: Entry) -> Iterator[Loss]:
    """What no format for conversations carries."""
    if entry.judgments:
        yield Loss(Notice("judgments-chat-holds-conversations"), severe=True)
    if entry.document and any(segment.role not in WRITTEN for segment in entry.document.segments):
        yield Loss(Notice("segments-no-turns-conversation"), severe=True)


def _stem(member: Member) -> str:
    return member.path.name.removesuffix(Chat.suffix).removesuffix(member.path.suffix)


def _placed(member: Member, source: Source) -> Iterator[Record]:
    for record in records(member):
        source.place = record.where
        yield record


def _is_known(member: Member, reader: Conversations) -> bool:
    try:
        first = next(records(member), None)
    except InputError:
        return True  # What is wrong with it is said when it is read.
    return first is not None and reader.knows(dict(first.value))


def _questions(source: Source) -> dict[str, list[Any]]:
    """The questions of a benchmark that stand beside the answers to them."""
    found: dict[str, list[Any]] = {}
    for member in source.members(*SUFFIXES):
        if b'"question_id"' in member.head():
            of_file = records(member)
            for record in of_file:
                if not is_question(record.value):
                    break
                found[str(record.value["question_id"])] = record.value["turns"]
    return found


def _text(member: Member) -> str:
    try:
        return member.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(error, member.name) from error


def first_text(source: Source) -> str:
    """The first text of a source that may be a talk; nothing where it has none, or texts that are marked."""
    member = source.first(*TEXTS)
    return _text(member) if member is not None and source.first(".ann") is None else ""


def text_told(text: str) -> Notice:
    """What to say of a text in which no known names speak."""
    suggested = str(with_sides(FieldMap(), names_in(text)))
    return Notice("say-who-speaks", suggested=suggested) if suggested else Notice("talk-text-lines")


def _spoken(text: str, member: Member, source: Source, names: Mapping[str, Role]) -> Iterator[Record]:
    """The talks of a text file, each as a record."""
    for number, talk in enumerate(dialogues_of_text(text), 1):
        source.place = where = f"{member.name}, conversation {number}"
        yield Record(where, {"messages": messages_of_text(talk, names)}, number)


def _streamed(text: str, member: Member, source: Source) -> Iterator[Record]:
    """The replies of a file with a stream of events, piece by piece."""
    for number, value in events_in(text):
        source.place = where = f"{member.name}, line {number}"
        yield Record(where, value, number)


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
