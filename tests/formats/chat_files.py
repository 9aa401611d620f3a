"""Chats as files, and how they were read: for tests of shapes and of maps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lapsus.formats import read
from lapsus.model import Document

ASKED, REPLY = "How many nights?", "Three nights."
PLAIN = [("user", ASKED), ("system", REPLY)]
PROMPTED = [("prompt", "Be brief."), *PLAIN]
MESSAGES = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": REPLY}]
WITH_TOOL = [
    ("user", ASKED),
    ("tool", 'booking({"id":7})'),
    ("tool", '{"nights":3}'),
    ("system", REPLY),
]


def put(path: Path, *values: Any) -> Path:
    """JSON lines, or one JSON value in a .json file."""
    texts = [json.dumps(value, ensure_ascii=False) for value in values]
    path.write_text(texts[0] if path.suffix == ".json" else "\n".join(texts), "utf-8")
    return path


def opened(data: Any) -> tuple[list[Document], set[str]]:
    reading = read(data)
    documents = [entry.document for entry in reading if entry.document]
    return documents, set(reading.options.taken)


def talk(document: Document) -> list[tuple[str, str]]:
    return [(segment.role, segment.text) for segment in document.segments]
