"""Calls of a language model, kept by conversation until all of it was read."""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from lapsus.formats.messages import Message

MODEL_CALL, WHOLE_RUN, ROW = 0, 1, 2
"""What a call stands for: a question to a model; the run of a program around it, used where there is no other; or a
turn that was a record of its own."""


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
    is_piece: bool = False
    """Whether it is a log record with one message of a call; those of a span are the call."""


def put_together(calls: Sequence[Call]) -> list[Call]:
    """Calls in the order of time, pieces of one put together where the first of them stands."""
    whole: dict[Any, Call] = {}
    for number, call in enumerate(calls):
        span = (call.turn.get("trace_id"), call.turn.get("span_id")) if call.is_piece else number
        if known := whole.get(span):
            known.heard += call.heard
            known.said += call.said
            known.turn |= call.turn
        else:
            whole[span] = call
    return list(whole.values())


class CallStore:
    """Calls by conversation in the order of time. They lie on disk, so a log may be larger than the memory."""

    def __init__(self) -> None:
        # One thread reads, but the reading may be given up in another, where Python clears up.
        self._database = sqlite3.connect("", check_same_thread=False)
        self._database.execute("CREATE TABLE conversation (number INTEGER PRIMARY KEY, id TEXT UNIQUE)")
        self._database.execute(
            "CREATE TABLE call (conversation INTEGER, time TEXT, number INTEGER PRIMARY KEY, body BLOB)"
        )
        # Of JSON, since whole numbers of any length came in as JSON.
        self._encoder = msgspec.json.Encoder()

    def add(self, call: Call) -> None:
        """Keep a call."""
        self._database.execute("INSERT OR IGNORE INTO conversation (id) VALUES (?)", (call.conversation,))
        self._database.execute(
            "INSERT INTO call (conversation, time, body) SELECT number, ?, ? FROM conversation WHERE id = ?",
            (call.time, self._encoder.encode(call), call.conversation),
        )

    def conversations(self) -> Iterator[tuple[str, list[Call]]]:
        """Each conversation, in the order in which it was first seen, with its calls by time."""
        decoder = msgspec.json.Decoder(Call)
        rows = self._database.execute("SELECT body FROM call ORDER BY conversation, time, number")
        calls = (decoder.decode(body) for (body,) in rows)
        for conversation, group in groupby(calls, key=lambda call: call.conversation):
            yield conversation, list(group)

    def close(self) -> None:
        """Give the disk space back."""
        self._database.close()
