"""What the guard said, kept: flagged replies for people to look at, in a file of chats or a campaign that goes on; and
all that were judged, for `lapsus watch`.

One thread writes; where it falls behind, what is more is dropped and counted. Nothing waits for it.
"""

import hashlib
import json
import queue
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from lapsus.annotators.breakdown import SCHEME
from lapsus.formats.base import ReadOptions
from lapsus.formats.conversations import Conversations
from lapsus.formats.jsonl import VERSION, Line
from lapsus.formats.shapes import Conversation
from lapsus.guard.metrics import Metrics
from lapsus.guard.records import Candidate
from lapsus.model import Document, Judgment
from lapsus.schemes import load_scheme
from lapsus.store import Store
from lapsus.store.validation import storable

_WAITING: Final = 256
_OPINION: Final = {True: "X", False: "O"}
"""What is said of a reply that is flagged, and of one that is not."""
Write = Callable[[dict[str, Any]], None]


class Recorder:
    """Keeps replies beside the answering; `end` waits until all are written.

    `flagged` get what was flagged, sent or not; `judged` get what was sent and judged.
    """

    def __init__(self, flagged: Iterable[Write], metrics: Metrics, judged: Iterable[Write] = ()) -> None:
        self._flagged, self._judged, self._metrics = list(flagged), list(judged), metrics
        self._waiting: queue.Queue[tuple[list[Write], Callable[[], dict[str, Any]]] | None] = queue.Queue(
            _WAITING
        )
        self._thread = threading.Thread(target=self._work, name="lapsus-guard-recorder", daemon=True)
        self._thread.start()

    def keep(
        self,
        messages: list[dict[str, Any]],
        reply: Mapping[str, Any],
        said: Candidate,
        model: str | None,
        *,
        was_sent: bool,
    ) -> None:
        """A judged reply with the talk before it. No header of a request is ever seen here."""
        writes = [*(self._flagged if said.flagged else ()), *(self._judged if was_sent else ())]
        if not writes:
            return
        try:
            self._waiting.put_nowait((writes, partial(conversation, messages, reply, said, model)))
        except queue.Full:
            self._metrics.add("recorded", result="dropped")

    def end(self) -> None:
        """Write what is waiting, and no more."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (found := self._waiting.get()) is not None:
            writes, made = found
            for write in writes:
                try:
                    write(made())
                except Exception:  # whatever it is: with this thread all that comes later would be lost
                    self._metrics.add("recorded", result="failed")
                else:
                    self._metrics.add("recorded", result="kept")


def conversation(
    messages: list[dict[str, Any]], reply: Mapping[str, Any], said: Candidate, model: str | None
) -> dict[str, Any]:
    """A conversation that every command reads, with what was said of its last message."""
    # Half of a sign of two halves, which models send when they are cut off, can be written nowhere.
    talk = json.loads(storable(json.dumps([*messages, {"role": "assistant", **reply}], ensure_ascii=False)))
    about = {
        "risk": said.risk,
        "flagged": said.flagged,
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
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({**one, "id": _own_id(one)}, ensure_ascii=False) + "\n")

    return write


def to_judgments(path: Path) -> Write:
    """Adds documents with the guard's judgment of their last reply to a file of our own format."""
    encoder = msgspec.json.Encoder()
    with path.open("ab") as stream:
        if not stream.tell():
            stream.write(encoder.encode(Line(lapsus=VERSION)) + b"\n")
    scheme = load_scheme(SCHEME)

    def write(one: dict[str, Any]) -> None:
        document = msgspec.structs.replace(_document(one), id=_own_id(one))
        about = one["guard"]
        judgment = Judgment(
            document.id,
            next(segment.id for segment in reversed(document.segments) if segment.role == "system"),
            "guard",
            scheme.id,
            scheme.version,
            {scheme.questions[0].id: _OPINION[about["flagged"]]},
            {scheme.questions[0].id: about["distribution"]},
            at=datetime.now(UTC),
            metadata={"program": True},
        )
        with path.open("ab") as stream:
            lines = (Line(document=document), Line(judgment=judgment))
            stream.write(b"".join(encoder.encode(line) + b"\n" for line in lines))

    return write


def to_campaign(store: Store, name: str) -> Write:
    """Adds documents to a campaign; a talk that is there already is not added twice."""
    store.campaigns.get(name)

    def write(one: dict[str, Any]) -> None:
        store.campaigns.add_documents(name, [_document(one)])

    return write


def _own_id(one: Mapping[str, Any]) -> str:
    """An id of its own: the same words may be said in many talks, and a file holds each."""
    return f"{one['id']}-{secrets.token_hex(4)}"


def _document(one: dict[str, Any]) -> Document:
    rest = {name: value for name, value in one.items() if name not in ("id", "messages", "time")}
    talk = Conversation(list(one["messages"]), one["id"], rest)
    return Conversations(ReadOptions()).document(talk, one["id"])
