"""Marks for other tools, INCEpTION and Potato: a folder an annotator, the newest marks on a text."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import yaml

from lapsus.errors import UsageError
from lapsus.formats.base import Format, Loss, ReadOptions, circumstances
from lapsus.formats.marks import (
    SCHEME,
    UNANNOTATED,
    Layout,
    lay_out,
    lies_in,
    links,
    marks_question,
    newest,
    spans_of,
    to_utf16,
)
from lapsus.formats.sink import Sink, inner, sink
from lapsus.formats.source import Source
from lapsus.model import Document, Entry, Judgment, Question, Scheme, Span, in_language
from lapsus.notices import Notice
from lapsus.schemes import known_scheme, load_scheme

SPAN: Final = "custom.Span"
RELATION: Final = "custom.Relation"
TIED: Final = "Tied"
_SOFA = 1
_DOCUMENT = 2
CONFIG = "config.yaml"
DATA = "data.jsonl"
FIELD = "predictions"


class Marked(NamedTuple):
    """A document as one annotator has marked it."""

    folder: str
    layout: Layout
    scheme: Scheme
    question: Question
    spans: tuple[Span, ...]

    def place(self, span: Span) -> tuple[int, int]:
        """Where a span stands in the text of the whole document, in code points."""
        start = self.layout.place(span.segment).start
        return start + span.start, start + span.end


class MarksExport(Format, ABC):
    """Marks for another annotation tool. What is done there is not read back."""

    reads = False

    def suits(self, scheme: Scheme) -> bool:
        """Marks in texts."""
        return marks_question(scheme) is not None

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """Never: the tool's own export is of another form."""
        raise UsageError("format-can-written-but", name=self.name)

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Anything but marks and the texts they stand in."""
        if entry.document is None:
            yield Loss(Notice("judgments-without-their-document"), severe=True)
            return
        yield Loss(Notice("ids-segments-metadata-documents"))
        for judgment in entry.judgments:
            yield from _losses(judgment, entry.document)

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """A folder an annotator; documents that nobody marked have a folder of their own."""
        with sink(path) as files:
            for entry in entries:
                if entry.document is not None:
                    for marked in _marked(entry.document, entry.judgments):
                        self.add(files, marked)
            self.finish(files)

    @abstractmethod
    def add(self, files: Sink, marked: Marked) -> None:
        """Write a document, or keep it until the end."""

    def finish(self, files: Sink) -> None:
        """Write what is known only when all documents went by."""
        return


def _losses(judgment: Judgment, document: Document) -> Iterator[Loss]:
    question = marks_question(judgment.scheme)
    if question is None:
        yield Loss(Notice("judgments-under-scheme-only", scheme=judgment.scheme), severe=True)
        return
    for name in judgment.answers:
        if name != question.id:
            yield Loss(Notice("answers-to", question=name), severe=True)
    if any(not lies_in(span, document) for span in spans_of(judgment, question)):
        yield Loss(Notice("spans-outside-their-text"), severe=True)
    yield from circumstances(judgment)


def _marked(document: Document, judgments: Iterable[Judgment]) -> Iterator[Marked]:
    layout, seen = lay_out(document), set[str]()
    for judgment in newest(judgments):
        scheme, question = known_scheme(judgment.scheme), marks_question(judgment.scheme)
        if scheme is None or question is None or question.id not in judgment.answers:
            continue
        if judgment.annotator not in seen:
            seen.add(judgment.annotator)
            spans = tuple(span for span in spans_of(judgment, question) if lies_in(span, document))
            yield Marked(inner(judgment.annotator), layout, scheme, question, spans)
    offered = marks_question(SCHEME)
    if not seen and offered is not None:
        yield Marked(UNANNOTATED, layout, load_scheme(SCHEME), offered, ())


class Inception(MarksExport):
    """A document a file, with its marks and the lines between them."""

    name = "inception"
    title = Notice("inception-marks-uima-cas")

    def add(self, files: Sink, marked: Marked) -> None:
        """One file."""
        content = msgspec.json.format(msgspec.json.encode(cas_of(marked)), indent=1)
        files.add(f"{marked.folder}/{inner(marked.layout.document.id)}.json", content)


def cas_of(marked: Marked) -> dict[str, Any]:
    """The JSON of a CAS. Offsets count UTF-16 units there, as Java does."""
    text = marked.layout.text
    structures: list[dict[str, Any]] = [
        {"%ID": _SOFA, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text"}
        | {"sofaString": text},
        {"%ID": _DOCUMENT, "%TYPE": "uima.tcas.DocumentAnnotation", "%FLAGS": ["DocumentAnnotation"]}
        | {"@sofa": _SOFA, "begin": 0, "end": to_utf16(text, len(text))}
        | {"language": marked.layout.document.language or "x-unspecified"},
    ]
    ids: list[int] = []
    for span in marked.spans:
        start, end = (to_utf16(text, at) for at in marked.place(span))
        ids.append(_DOCUMENT + 1 + len(ids))
        structures.append(
            {"%ID": ids[-1], "%TYPE": SPAN, "@sofa": _SOFA, "begin": start, "end": end, "label": span.label}
        )
    for one, other in links(marked.spans):
        target = structures[_DOCUMENT + other]
        structures.append(
            {"%ID": len(structures) + 1, "%TYPE": RELATION, "@sofa": _SOFA, "begin": target["begin"]}
            | {"end": target["end"], "@Governor": ids[one], "@Dependent": ids[other], "label": TIED}
        )
    members = [structure["%ID"] for structure in structures if structure["%ID"] != _SOFA]
    return {
        "%TYPES": _TYPES,
        "%FEATURE_STRUCTURES": structures,
        "%VIEWS": {"_InitialView": {"%SOFA": _SOFA, "%MEMBERS": members}},
    }


def _type(name: str, **features: str) -> dict[str, Any]:
    return {
        "%NAME": name,
        "%SUPER_TYPE": "uima.tcas.Annotation",
        **{key: {"%NAME": key, "%RANGE": kind} for key, kind in features.items()},
    }


_TYPES: Final = {
    SPAN: _type(SPAN, label="uima.cas.String"),
    RELATION: _type(RELATION, Dependent=SPAN, Governor=SPAN, label="uima.cas.String"),
}


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
