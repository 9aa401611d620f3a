"""Calls of a language model put together into dialogues, every turn once."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec

from lapsus.formats.traces.messages import Message
from lapsus.model import Segment

MODEL_CALL, WHOLE_RUN = 0, 1
"""What a call stands for: a question to a model, or the run of a program around it, used where there is no other."""


class Call(msgspec.Struct):
    """One question to a model: what it was given and what it said."""

    conversation: str
    time: str
    """Sorts the calls of a conversation: ISO 8601, or a number padded with zeros."""
    heard: list[Message]
    said: list[Message]
    turn: dict[str, Any] = {}
    """Metadata of the model's turn: trace_id, span_id, model, time, tokens."""
    document: dict[str, Any] = {}
    """Metadata of the whole dialogue."""
    rank: int = MODEL_CALL


class CallStore:
    """Calls by conversation in the order of time. They lie on disk, so a log may be larger than the memory."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("")
        self._database.execute("CREATE TABLE conversation (number INTEGER PRIMARY KEY, id TEXT UNIQUE)")
        self._database.execute(
            "CREATE TABLE call (conversation INTEGER, time TEXT, number INTEGER PRIMARY KEY, body BLOB)"
        )
        self._encoder = msgspec.msgpack.Encoder()

    def add(self, call: Call) -> None:
        """Keep a call."""
        self._database.execute("INSERT OR IGNORE INTO conversation (id) VALUES (?)", (call.conversation,))
        self._database.execute(
            "INSERT INTO call (conversation, time, body) SELECT number, ?, ? FROM conversation WHERE id = ?",
            (call.time, self._encoder.encode(call), call.conversation),
        )

    def conversations(self) -> Iterator[tuple[str, list[Call]]]:
        """Each conversation, in the order in which it was first seen, with its calls by time."""
        decoder = msgspec.msgpack.Decoder(Call)
        rows = self._database.execute("SELECT body FROM call ORDER BY conversation, time, number")
        calls = (decoder.decode(body) for (body,) in rows)
        for conversation, group in groupby(calls, key=lambda call: call.conversation):
            yield conversation, list(group)

    def close(self) -> None:
        """Give the disk space back."""
        self._database.close()


def dialogue_of(calls: list[Call], dropped: Counter[str]) -> tuple[list[Segment], dict[str, Any]]:
    """The turns of a conversation, each once, and its metadata, from calls in the order of time.

    A call repeats the history before it, all of it or its latest part; what is new of it is added. A call that gives
    only the newest message is added too. A reply that was generated again takes the place of the one before. A call
    with a history of its own (a classifier's, a summary's) belongs to no turn and is counted in `dropped`.
    """
    if any(call.rank == MODEL_CALL for call in calls):
        calls = [call for call in calls if call.rank == MODEL_CALL]
    turns = _Turns()
    metadata: dict[str, Any] = {}
    for call in calls:
        for message in call.heard:
            if message.role == "instructions":
                metadata.setdefault("instructions", message.text)
        if turns.add(call):
            metadata |= {key: value for key, value in call.document.items() if key not in metadata}
        else:
            dropped["calls beside the conversation"] += 1
    models = sorted(
        {str(segment.metadata["model"]) for segment in turns.segments() if "model" in segment.metadata}
    )
    if models:
        metadata.setdefault("system", ", ".join(models))
    return turns.segments(), metadata


class _Turns:
    def __init__(self) -> None:
        self.said: list[tuple[Message, dict[str, Any]]] = []

    def add(self, call: Call) -> bool:
        heard = [message for message in call.heard if message.role in ("user", "system")]
        history = [message for message, _ in self.said]
        at = self._regenerated(history, heard, call)
        if at is not None:
            del self.said[at:]
        new = [] if at is not None else _continuation(history, heard)
        if new is None:
            return False
        self.said += [(message, {}) for message in new]
        self.said += [(message, call.turn) for message in call.said if message.role == "system"]
        return True

    def _regenerated(self, history: list[Message], heard: list[Message], call: Call) -> int | None:
        """Where the latest reply begins, if the call answers the same once more: a retry, or one call traced twice."""
        end = len(history)
        while end and history[end - 1].role == "system":
            end -= 1
        if not heard or len(heard) > end or end == len(history):
            return None
        same_trace = self.said[-1][1].get("trace_id") == call.turn.get("trace_id") is not None
        if len(heard) < end and not same_trace:
            # Only the newest message was given, and somebody may say the same thing twice.
            return None
        return end if _same(history[end - len(heard) : end], heard) else None

    def segments(self) -> list[Segment]:
        return [
            Segment(
                str(place), "system" if message.role == "system" else "user", message.text, None, metadata
            )
            for place, (message, metadata) in enumerate(self.said)
        ]


def _continuation(history: list[Message], heard: list[Message]) -> list[Message] | None:
    """What of `heard` is new after `history`; None where it is no continuation of it."""
    for known in range(min(len(history), len(heard)), 0, -1):
        if _same(history[-known:], heard[:known]):
            return heard[known:]
    return heard if not history or len(heard) <= 1 else None


def _same(one: list[Message], other: list[Message]) -> bool:
    return all(
        left.role == right.role and left.text.strip() == right.text.strip()
        for left, right in zip(one, other, strict=True)
    )
