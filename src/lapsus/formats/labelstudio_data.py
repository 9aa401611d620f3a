"""Label Studio's tasks as records: a list of turns, and `lapsus` for the rest; or what others made of it.

Label Studio keeps a task's data as it is, so the key survives import, annotation and export.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from lapsus.errors import InputError
from lapsus.formats.base import ReadOptions
from lapsus.formats.messages import ROLES
from lapsus.model import Document, Judgment, Role, Segment
from lapsus.model.decoders import converted
from lapsus.notices import Notice

DIALOGUE = "dialogue"
_LISTS = (DIALOGUE, "messages")
_SPEAKERS = ("author", "role", "speaker")
_WORDS = ("text", "content")
_ROLES: dict[str, Role] = {
    **ROLES,
    "system": "system",
    "s": "system",
    "u": "user",
}
VERSION = 1


def data_of(document: Document, judgments: tuple[Judgment, ...]) -> dict[str, Any]:
    """What Label Studio shows of a document, and all that Lapsus knows of it."""
    segments = [KnownSegment(s.id, s.role, s.parts, dict(s.metadata)) for s in document.segments]
    turns = [{"author": s.role.capitalize(), "text": s.text} for s in document.segments]
    known = WrittenDocument(
        VERSION, document.id, segments, document.language, dict(document.metadata), list(judgments)
    )
    return {DIALOGUE: turns, "lapsus": known}


def read_data(task: Task, number: int, options: ReadOptions) -> tuple[Document, list[Judgment]]:
    """The document of a task, and the judgments that Lapsus had written with it."""
    data = task.data or {}
    if (known := data.get("lapsus")) is not None:
        return _known(known, data)
    segments = tuple(_segments(data))
    if not segments:
        raise InputError(
            "no-text-data-only",
            hint="text-dialogue-messages-known",
            data=", ".join(data) or Notice("nothing"),
        )
    metadata = {key: value for key, value in data.items() if key not in (*_LISTS, "text")}
    if task.meta:
        metadata["meta"] = task.meta
    name = str(number if task.id is None else task.id)
    return Document(name, segments, options.language_of(segments), metadata), []


def _known(raw: Any, data: dict[str, Any]) -> tuple[Document, list[Judgment]]:
    try:
        known = converted(raw, WrittenDocument)
        texts = msgspec.convert([turn["text"] for turn in data[DIALOGUE]], list[str])
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise InputError("data-not-lapsus-wrote", error=error) from error
    if known.format > VERSION:
        raise InputError("written-by-a-newer-lapsus-format", hint="update-lapsus", known=known.format)
    if len(texts) != len(known.segments):
        raise InputError("lapsus-wrote-turns-but", count=len(known.segments), count2=len(texts))
    segments = tuple(
        Segment(segment.id, segment.role, text, segment.parts, segment.metadata)
        for segment, text in zip(known.segments, texts, strict=True)
    )
    return Document(known.id, segments, known.language, known.metadata), known.judgments


def _segments(data: dict[str, Any]) -> list[Segment]:
    found: list[Segment] = []
    for key in _LISTS:
        turns = data.get(key)
        if isinstance(turns, list) and not found:
            names = [_first(turn, _SPEAKERS, f"{key}, turn {place}") for place, turn in enumerate(turns)]
            # As chat programs have it, `system` is the one who instructs the assistant.
            instructs = key == "messages" or any(name.lower() == "assistant" for name in names)
            found = [_turn(key, place, turns[place], name, instructs) for place, name in enumerate(names)]
        elif turns is not None:
            raise InputError("one-list-turns-too", key=key)
    text = data.get("text")
    if isinstance(text, str):
        found.append(Segment("text", "text", text))
    elif text is not None:
        raise InputError("text-no-text")
    return found


def _turn(key: str, place: int, turn: dict[str, Any], name: str, instructs: bool) -> Segment:
    where = f"{key}, turn {place}"
    role = _ROLES.get(name.lower())
    if role is None:
        raise InputError("unknown-speaker", where=where, hint="known", speaker=name, known=", ".join(_ROLES))
    if instructs and name.lower() == "system":
        role = "prompt"
    text = _first(turn, _WORDS, where)
    used = {next(key for key in keys if key in turn) for keys in (_SPEAKERS, _WORDS)}
    metadata = {key: value for key, value in turn.items() if key not in used}
    if name != role:
        metadata.setdefault("speaker", name)
    return Segment(str(place), role, text, None, metadata)


def _first(turn: Any, keys: tuple[str, ...], where: str) -> str:
    value = next((turn[key] for key in keys if key in turn), None) if isinstance(turn, dict) else None
    if not isinstance(value, str):
        raise InputError("has-no", where=where, hint="each-expected-text", name=" or ".join(keys))
    return value


class Result(msgspec.Struct, omit_defaults=True):
    """One answer, or a line between two regions."""

    type: str
    id: str = ""
    from_name: str = ""
    to_name: str = ""
    value: dict[str, Any] = {}
    from_id: str = ""
    to_id: str = ""
    direction: str = ""


class Person(msgspec.Struct):
    """A user of Label Studio."""

    id: int | str | None = None
    email: str | None = None
    username: str | None = None


class Annotation(msgspec.Struct, omit_defaults=True):
    """What one person said about a task."""

    result: list[Result] = []
    completed_by: int | str | Person | None = None
    created_at: datetime | None = None
    lead_time: float | None = None
    was_cancelled: bool | None = None
    ground_truth: bool | None = None


class Prediction(msgspec.Struct):
    """What a program said about a task."""

    result: list[Result] = []
    model_version: int | float | str | None = None
    score: float | None = None
    created_at: datetime | None = None


class Task(msgspec.Struct):
    """A document with what was said about it."""

    annotations: list[Annotation] = []
    predictions: list[Prediction] = []
    data: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    id: int | str | None = None
    meta: dict[str, Any] | None = None
    completions: Any = None
    """What annotations were called before version 1.0."""


class KnownSegment(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What Lapsus knows of a segment; its text stands in `dialogue`."""

    id: str
    role: Role
    parts: tuple[str, str, str] | None = None
    metadata: dict[str, Any] = {}


class WrittenDocument(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What Lapsus knew of a document and of its judgments when it wrote the task."""

    format: int
    id: str
    segments: list[KnownSegment]
    language: str | None = None
    metadata: dict[str, Any] = {}
    judgments: list[Judgment] = []
