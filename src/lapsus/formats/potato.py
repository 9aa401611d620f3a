"""Marks for Potato: a task a folder, with its configuration and its data; marks are there to be changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from lapsus.formats.base import Loss
from lapsus.formats.marks_export import Marked, MarksExport
from lapsus.formats.sink import Sink
from lapsus.model import Entry, Question, Scheme, Span, in_language
from lapsus.notices import Notice

CONFIG = "config.yaml"
DATA = "data.jsonl"
FIELD = "predictions"


class Potato(MarksExport):
    """Documents as items, and the marks of one annotator as what they begin with."""

    name = "potato"
    title = Notice("potato-task-marks-begin")

    def __init__(self) -> None:
        self._items: dict[str, list[bytes]] = {}
        self._asked: dict[str, dict[str, tuple[Scheme, Question]]] = {}

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Ties too: what a task begins with are marks alone."""
        yield from super().losses(entry)
        answers = [answer for judgment in entry.judgments for answer in judgment.answers.values()]
        if any(
            isinstance(item, Span) and item.tie for one in answers if isinstance(one, tuple) for item in one
        ):
            yield Loss(Notice("ties-between-marks"))

    def add(self, files: Sink, marked: Marked) -> None:
        """Keep an item until its folder is complete."""
        name = f"{marked.scheme.id}.{marked.question.id}"
        spans = [(*marked.place(span), span.label) for span in marked.spans]
        marks = [{"start": start, "end": end, "label": label} for start, end, label in spans]
        item = {"id": marked.layout.document.id, "text": marked.layout.text, FIELD: {name: marks}}
        self._items.setdefault(marked.folder, []).append(msgspec.json.encode(item) + b"\n")
        self._asked.setdefault(marked.folder, {})[name] = (marked.scheme, marked.question)

    def finish(self, files: Sink) -> None:
        """The configuration and the data of each folder."""
        for folder, items in self._items.items():
            config = configuration(folder, self._asked[folder])
            text = yaml.safe_dump(config, allow_unicode=True, sort_keys=False)
            files.add(f"{folder}/{CONFIG}", text.encode())
            files.add(f"{folder}/{DATA}", b"".join(items))


def configuration(task: str, asked: dict[str, tuple[Scheme, Question]]) -> dict[str, Any]:
    """What Potato needs to know of a task."""
    return {
        "annotation_task_name": task,
        "task_dir": ".",
        "data_files": [DATA],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "annotation_output/",
        "export_annotation_format": "jsonl",
        "user_config": {"allow_all_users": True, "users": []},
        "pre_annotation": {"enabled": True, "field": FIELD, "allow_modification": True},
        "annotation_schemes": [_asks(name, *one) for name, one in asked.items()],
    }


def _asks(name: str, scheme: Scheme, question: Question) -> dict[str, Any]:
    language = scheme.languages[0]
    return {
        "annotation_type": "span",
        "name": name,
        "description": in_language(question.ask, language),
        "labels": [
            {"name": label.id, "tooltip": in_language(label.definition, language)}
            for label in scheme.labels_of(question)
        ],
        "sequential_key_binding": True,
    }
