"""Records of any known shape, or mapped by the user, made into documents, one at a time."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import ReadOptions
from lapsus.formats.call_shapes import CallLog, is_chunk, joined
from lapsus.formats.field_map import FieldMap, keys_seen, probable_map, talk_in
from lapsus.formats.messages import json_text, messages_in, moment, numbered
from lapsus.formats.records import Record
from lapsus.formats.shapes import LISTS, PLAIN, TALK, Conversation, Shape, is_message, shape_of
from lapsus.formats.speakers import ROLES
from lapsus.formats.traces.calls import ROW, Call, CallStore
from lapsus.formats.traces.dialogues import dialogue_of
from lapsus.model import Document, Entry, Role, Segment
from lapsus.model.frozen import converted
from lapsus.notices import Notice

VERSION = 1
KEYS_SHOWN = 12
_ANSWERED = ({"annotator", "question"}, {"annotation_id"}, {"total_annotations"})
"""Keys of records that hold judgments, in tables and in exports of annotation tools."""
_BARE = ({"role", "content"}, {"from", "value"}, {"type", "data"}, {"lc", "type", "id", "kwargs"})
"""The keys of messages that are nothing but messages; the last two are LangChain's."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*")
_SESSIONS = ("conversation_id", "dialogue_id", "session_id", "thread_id", "conversation", "session")
_NESTED = (
    "messages",
    "conversations",
    "conversation",
    "history",
    "contents",
    "traj",
    "prompt",
    "chosen",
    "rejected",
)


class ChatExtra(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """The key `lapsus` of a conversation. Where it is there, Lapsus wrote the line and nothing is guessed."""

    format: int
    metadata: dict[str, Any] = {}
    turns: dict[str, list[Segment]] = {}
    """The segments that a message stands for, by its place from 0, where reading it would give others."""


class Conversations:
    """Reads records; calls and rows of one conversation are kept on disk until all were read."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.names: Mapping[str, Role] = options.map.names if options.map else ROLES
        self.questions: dict[str, list[Any]] = {}
        """Turns of a benchmark's questions, by id."""
        self._log = CallLog()
        self._store = CallStore()
        self._shape: Shape | None = None

    def knows(self, value: dict[str, Any]) -> bool:
        """Whether a record is of any shape."""
        if any(keys <= value.keys() for keys in _ANSWERED):
            return False
        return (
            ("lapsus" in value and "messages" in value)
            or shape_of(_unpacked(value)) is not None
            or self._log.shape_of(value) is not None
            or _is_loose(value)
            or is_question(value)
        )

    def entries(
        self, records: Iterable[Record], called: str, told: FieldMap | None = None
    ) -> Iterator[Entry]:
        """The documents of a file that can be told at once; `called` is its name in their ids.

        A map that was `told` from its columns stands in for one that was given.
        """
        map = self.options.map or told
        loose: list[Any] = []
        for record in _whole(records):
            value = record.value
            if map is not None and map.taken:
                yield from _placed(record, self._mapped(value, record, called, map))
            elif is_question(value):
                continue
            elif _is_loose(value):
                self._loose(value, loose)
            else:
                yield from _placed(record, self._of(record, called))
        if loose:
            self.options.taken["one list of messages"] += 1
            yield _entry(self.document(Conversation(loose), called))

    def rest(self) -> Iterator[Entry]:
        """The documents whose calls or rows stood apart."""
        for conversation, calls in self._store.conversations():
            if calls[0].rank == ROW:
                segments, metadata = _of_rows(calls)
            else:
                segments, metadata = dialogue_of(calls, self.options)
            if not segments:
                self.options.dropped[Notice("conversations-without-word")] += 1
                continue
            yield _entry(self._made(conversation, segments, metadata))

    def close(self) -> None:
        """Give the disk space back."""
        self._store.close()

    def _of(self, record: Record, called: str) -> Iterator[Entry]:
        fallback = f"{called}-{record.number}"
        if "lapsus" in record.value:
            yield _entry(self._own(record.value, fallback))
            return
        value = _unpacked(record.value)
        if (name := self._log.shape_of(value)) is not None:
            call = self._log.call(value, fallback, self.options.dropped)
            self.options.taken[name] += 1
            self._store.add(call)
            return
        # Records of a file are mostly alike: the shape before is tried first.
        shape = self._shape if self._shape and self._shape.knows(value) else shape_of(value)
        if shape is None and any(isinstance(value.get(key), list) for key in PLAIN):
            shape = TALK  # what is wrong with its messages is said when they are read
        if shape is None:
            raise unknown_shape(value)
        self._shape = shape
        if shape.name == "FastChat answers":
            value["question_turns"] = self.questions.get(str(value["question_id"]), ())
        for number, conversation in enumerate(shape.read(value)):
            self.options.taken[shape.name] += 1
            id = (
                conversation.id
                if conversation.id not in ("chosen", "rejected")
                else f"{fallback}-{conversation.id}"
            )
            document = self.document(
                conversation._replace(id=id), fallback if not number else f"{fallback}.{number}"
            )
            yield _entry(document)

    def document(self, conversation: Conversation, fallback: str) -> Document:
        """The document that a conversation is; `fallback` is its id where it has none."""
        prompts = [one for several in conversation.prompt for one in messages_in(several)]
        segments = [
            Segment(f"prompt.{place}" if place else "prompt", one.role, one.text, None, one.metadata)
            for place, one in enumerate(prompts)
        ]
        segments += self._segments(conversation.messages)
        return self._made(conversation.id or fallback, segments, dict(conversation.metadata))

    def _made(self, id: str, segments: list[Segment], rest: dict[str, Any]) -> Document:
        language = rest.get("language")
        if isinstance(language, str) and _LANGUAGE.fullmatch(language):
            del rest["language"]
        else:
            language = self.options.language_of(segments)
        if isinstance(model := rest.get("model"), str) and model:
            rest.setdefault("system", model)
        return Document(id, tuple(segments), language, rest)

    def _own(self, value: dict[str, Any], fallback: str) -> Document:
        """A line that Lapsus wrote."""
        extra = _extra(value.pop("lapsus"))
        if not isinstance(messages := value.pop("messages", None), list):
            raise InvalidError("no-conversation", hint=EXPECTED)
        segments = self._segments(messages, extra.turns)
        id, language = value.pop("id", fallback), value.pop("language", None)
        if not isinstance(language, str | None):
            raise InvalidError("language-must-text")
        return Document(str(id), tuple(segments), language, value | extra.metadata)

    def _segments(self, messages: list[Any], known: Mapping[str, list[Segment]] = {}) -> list[Segment]:
        """The segments of messages. A message is let go when it is read: a long chat is not held twice."""
        segments: list[Segment] = []
        for place in range(len(messages)):
            message, messages[place] = messages[place], None
            if known and str(place) in known:
                segments += known[str(place)]
                continue
            try:
                segments += numbered(place, messages_in(message, self.names))
            except InvalidError as error:
                raise InvalidError(
                    error.what, where=Notice("message", place=place + 1), hint=error.hint
                ) from error
        return segments

    def _loose(self, value: dict[str, Any], loose: list[Any]) -> None:
        """A message that is a record: of the session that it names, or of the one talk that the file is."""
        session = next((value[key] for key in _SESSIONS if isinstance(value.get(key), str | int)), None)
        if session is None:
            loose.append(value)
        else:
            self._store.add(Call(str(session), "", messages_in(value, self.names), [], rank=ROW))

    def _mapped(self, value: dict[str, Any], record: Record, called: str, map: FieldMap) -> Iterator[Entry]:
        messages = json_text(map.value(value, "messages"))
        if map.messages is None and map.value(value, "text") is None:
            talks = (talk_in(cell) for cell in value.values())
            messages = next(
                (talk for talk in talks if any(map.value(one, "text") is not None for one in talk)), None
            )
        rest = {
            key: one
            for key, one in value.items()
            if key not in map.taken and one is not None and one is not messages
        }
        about = {
            field: one
            for field in ("time", "model", "language")
            if (one := map.value(value, field)) is not None
        }
        id = map.value(value, "dialogue")
        time = moment(about["time"]) if "time" in about else ""
        if isinstance(messages, list):
            own = [self._renamed(message, map) for message in messages]
        elif map.prompt or map.reply:
            both = (("user", map.value(value, "prompt")), ("assistant", map.value(value, "reply")))
            own = [{"role": role, "content": text} for role, text in both if text is not None]
            if id is not None:
                for message in own:
                    heard = messages_in(message, self.names)
                    self._store.add(Call(str(id), time, heard, [], turn=rest | about, rank=ROW))
                return
        else:
            row = self._renamed(value, map)
            turn = {**rest, **{key: one for key, one in row.items() if key != "language"}}
            self._store.add(
                Call(str(called if id is None else id), time, messages_in(turn, self.names), [], rank=ROW)
            )
            return
        rest |= {key: about[key] for key in ("model", "language") if key in about}
        conversation = Conversation(own, None if id is None else str(id), rest)
        yield _entry(self.document(conversation, f"{called}-{record.number}"))

    def _renamed(self, message: Any, map: FieldMap) -> dict[str, Any]:
        """A message or row under the names that chats have."""
        if not isinstance(message, Mapping):
            raise InvalidError("not-json-object")
        speaker, text = map.value(message, "speaker"), map.value(message, "text")
        if speaker is None and text is None:
            return dict(message)
        found: dict[str, Any] = {
            "role": str(speaker) if speaker is not None else "user",
            "content": text or "",
        }
        for field in ("time", "model"):
            if (value := map.value(message, field)) is not None:
                found[field] = value
        return found


EXPECTED = Notice("object-like-messages-role")


def unknown_shape(value: Mapping[str, Any], *more: Mapping[str, Any]) -> InvalidError:
    """What to say of a record of no known shape: the keys that were seen, and the map that would probably do."""
    keys = ", ".join(keys_seen(value)[:KEYS_SHOWN]) or "none"
    suggested = str(probable_map([value, *more])) or "--map text=…,speaker=…,dialogue=…"
    hint = Notice("say-key-holds-system", suggested=suggested)
    return InvalidError("no-known-shape-keys", hint=hint, keys=keys)


def _whole(records: Iterable[Record]) -> Iterator[Record]:
    """The records; the pieces of a streamed reply, which follow each other, put together."""
    for reply, run in groupby(records, lambda one: _reply_of(one.value)):
        if reply is None:
            yield from run
        else:
            pieces = list(run)
            yield pieces[0]._replace(value=joined([one.value for one in pieces]))


def _reply_of(value: Mapping[str, Any]) -> str | None:
    """The id of the reply that a record is a piece of; None where it is no piece."""
    if not is_chunk(value):
        return None
    id = value.get("id")
    return id if isinstance(id, str) else ""


def is_question(value: Mapping[str, Any]) -> bool:
    """Whether a record is a benchmark's question, which its answers refer to."""
    turns = value.get("turns")
    return "question_id" in value and isinstance(turns, list) and bool(turns) and isinstance(turns[0], str)


def _is_loose(value: dict[str, Any]) -> bool:
    """Whether a record is a message and not a conversation."""
    if "messages" in value:
        return False  # as most records
    if any(value.keys() <= keys for keys in _BARE):
        return is_message(value)
    return "role" in value and value.keys().isdisjoint(("id", "object", *LISTS)) and is_message(value)


def _unpacked(value: dict[str, Any]) -> dict[str, Any]:
    """A record whose lists may be JSON inside text, as cells of tables have them."""
    for key in _NESTED:
        if isinstance(value.get(key), str) and isinstance(found := json_text(value[key]), list | dict):
            value[key] = found
    return value


def _placed(record: Record, entries: Iterator[Entry]) -> Iterator[Entry]:
    """Entries of a record; errors say where it stands."""
    try:
        yield from entries
    except InvalidError as error:
        where = f"{record.where}, {error.where}" if error.where else record.where
        raise InputError(error.what, where=where, hint=error.hint) from error
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        what = Notice("not-shape-expected")
        raise InputError(what, where=record.where, hint="lapsus-look-shows-understood") from error
    except RecursionError:
        raise InputError("nested-too-deeply", where=record.where) from None


def _extra(value: Any) -> ChatExtra:
    try:
        extra = converted(value, ChatExtra)
    except msgspec.ValidationError as error:
        raise InvalidError("key-lapsus-not-lapsus", error=error) from error
    if extra.format > VERSION:
        what = Notice("written-newer-lapsus-format", lapsus=extra.format, version=VERSION)
        raise InvalidError(what, hint="update-lapsus")
    return extra


def _of_rows(calls: Sequence[Call]) -> tuple[list[Segment], dict[str, Any]]:
    """The turns of a conversation of several rows. What all its rows say alike is said of the whole."""
    first, *others = (call.turn for call in calls)
    alike = {
        key: one for key, one in first.items() if all(key in other and other[key] == one for other in others)
    }
    for call in calls:
        own = {key: one for key, one in call.turn.items() if key not in alike}
        call.heard = [msgspec.structs.replace(one, metadata={**one.metadata, **own}) for one in call.heard]
    segments = [one for place, call in enumerate(calls) for one in numbered(place, call.heard)]
    return segments, alike | _merged(calls)


def _merged(calls: Iterable[Call]) -> dict[str, Any]:
    models = {str(one.metadata["model"]) for call in calls for one in call.heard if "model" in one.metadata}
    return {"system": ", ".join(sorted(models))} if models else {}


def _entry(document: Document) -> Entry:
    return Entry(document.id, document)
