"""What the guard flagged, kept for people to look at: in a file of chats, or in a campaign that goes on.

One thread writes; where it falls behind, what is more is dropped and counted. Nothing waits for it.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lapsus.errors import LapsusError
from lapsus.formats.base import ReadOptions
from lapsus.formats.conversations import Conversations
from lapsus.formats.shapes import Conversation
from lapsus.guard.metrics import Metrics
from lapsus.guard.records import Candidate
from lapsus.model import Document
from lapsus.store import Store

_WAITING: Final = 256
Write = Callable[[dict[str, Any]], None]


class Recorder:
    """Keeps flagged replies beside the answering; `end` waits until all are written."""

    def __init__(self, writes: Iterable[Write], metrics: Metrics) -> None:
        self._writes, self._metrics = list(writes), metrics
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._work, name="lapsus-guard-recorder", daemon=True)
        self._thread.start()

    def keep(
        self, messages: list[dict[str, Any]], reply: Mapping[str, Any], said: Candidate, model: str | None
    ) -> None:
        """A flagged reply with the talk before it. No header of a request is ever seen here."""
        if not self._writes:
            return
        try:
            self._waiting.put_nowait(conversation(messages, reply, said, model))
        except queue.Full:
            self._metrics.add("recorded", result="dropped")

    def end(self) -> None:
        """Write what is waiting, and no more."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (one := self._waiting.get()) is not None:
            for write in self._writes:
                try:
                    write(one)
                except (OSError, LapsusError):
                    self._metrics.add("recorded", result="failed")
                else:
                    self._metrics.add("recorded", result="kept")


def conversation(
    messages: list[dict[str, Any]], reply: Mapping[str, Any], said: Candidate, model: str | None
) -> dict[str, Any]:
    """A conversation that every command reads, with what was said of its last message."""
    talk = [*messages, {"role": "assistant", **reply}]
    about = {
        "risk": said.risk,
        "distribution": said.distribution,
        "types": [one.type for one in said.types],
        "signs": [one.sign for one in said.evidence],
    }
    digest = hashlib.sha256(json.dumps(talk, sort_keys=True).encode()).hexdigest()[:16]
    found = {"id": f"guard-{digest}", "messages": talk, "guard": about}
    return found | ({"system": model} if model else {}) | {"time": datetime.now(UTC).isoformat()}


def to_file(path: Path) -> Write:
    """Adds lines to a file."""
    with path.open("ab"):
        pass  # told now, not at the first flagged reply

    def write(one: dict[str, Any]) -> None:
        with path.open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(json.dumps(one, ensure_ascii=False) + "\n")

    return write


def to_campaign(store: Store, name: str) -> Write:
    """Adds documents to a campaign; a talk that is there already is not added twice."""
    store.campaigns.get(name)

    def write(one: dict[str, Any]) -> None:
        store.campaigns.add_documents(name, [_document(one)])

    return write


def _document(one: dict[str, Any]) -> Document:
    rest = {name: value for name, value in one.items() if name not in ("id", "messages", "time")}
    talk = Conversation(list(one["messages"]), one["id"], rest)
    return Conversations(ReadOptions()).document(talk, one["id"])
