"""What exports of marks to other tools have in common: a folder an annotator, the newest marks on a text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from lapsus.errors import UsageError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.brat_ann import marks_question
from lapsus.formats.brat_files import UNANNOTATED
from lapsus.formats.brat_layout import Layout, lay_out
from lapsus.formats.common_losses import circumstances
from lapsus.formats.sink import Sink, inner, sink
from lapsus.formats.source import Source
from lapsus.formats.span_links import lies_in, newest
from lapsus.model import Document, Entry, Judgment, Question, Scheme, Span
from lapsus.notices import Notice
from lapsus.schemes import known_scheme, load_scheme

SCHEME = "semantic-errors"
"""The scheme that is offered where nobody has marked anything yet."""


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
    question = _question(judgment.scheme)
    if question is None:
        yield Loss(Notice("judgments-under-scheme-only", scheme=judgment.scheme), severe=True)
        return
    for name in judgment.answers:
        if name != question.id:
            yield Loss(Notice("answers-to", question=name), severe=True)
    if any(not lies_in(span, document) for span in _spans(judgment, question)):
        yield Loss(Notice("spans-outside-their-text"), severe=True)
    yield from circumstances(judgment)


def _marked(document: Document, judgments: Iterable[Judgment]) -> Iterator[Marked]:
    layout, seen = lay_out(document), set[str]()
    for judgment in newest(judgments):
        scheme, question = known_scheme(judgment.scheme), _question(judgment.scheme)
        if scheme is None or question is None or question.id not in judgment.answers:
            continue
        if judgment.annotator not in seen:
            seen.add(judgment.annotator)
            spans = tuple(span for span in _spans(judgment, question) if lies_in(span, document))
            yield Marked(inner(judgment.annotator), layout, scheme, question, spans)
    offered = _question(SCHEME)
    if not seen and offered is not None:
        yield Marked(UNANNOTATED, layout, load_scheme(SCHEME), offered, ())


def _question(scheme: str) -> Question | None:
    found = known_scheme(scheme)
    return marks_question(found) if found else None


def _spans(judgment: Judgment, question: Question) -> tuple[Span, ...]:
    answer = judgment.answers.get(question.id)
    return tuple(item for item in answer if isinstance(item, Span)) if isinstance(answer, tuple) else ()
