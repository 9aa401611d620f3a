"""A stream of documents through an engine: cut into chunks, some under way at a time, in order again at the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import NamedTuple, TypeAlias

from lapsus.annotators.base import Annotator
from lapsus.annotators.bulk.engine import Engine, Here
from lapsus.annotators.bulk.kept_chunks import KeptChunks
from lapsus.annotators.bulk.work import JudgeDocuments
from lapsus.annotators.cases import cases_of
from lapsus.model import Document, Entry, Judgment

UNITS = 1024
"""Units of a chunk, or a few more: documents are not cut. Every engine has the same chunks, or bytes would differ."""
AHEAD = 4
"""How many times as many chunks as are under way may wait, finished, for one before them."""

_Judged: TypeAlias = list[tuple[Judgment, ...]]


class _Chunk(NamedTuple):
    work: JudgeDocuments
    documents: list[Document]
    entries: list[Entry]
    """The documents with what the annotator uses of earlier judgments."""


class Bulk:
    """Judges a stream of documents. Only chunks under way, and those that wait for their turn, are in memory."""

    def __init__(
        self, engine: Engine | None = None, kept: KeptChunks | None = None, units: int | None = None
    ) -> None:
        """`kept` holds chunks that are finished: those of before are not judged again, those of now are added."""
        self.engine = engine or Here()
        self.kept = kept
        self.units = units or UNITS

    def entries(self, assigned: Iterable[tuple[Annotator, Document | Entry]]) -> Iterator[Entry]:
        """Each document with the judgments of the annotator that it is given to, in order."""
        for chunk, judged in self._judged(self._chunks(assigned)):
            for document, judgments in zip(chunk.documents, judged, strict=True):
                yield Entry(document.id, document, judgments)

    def _chunks(self, assigned: Iterable[tuple[Annotator, Document | Entry]]) -> Iterator[_Chunk]:
        works: dict[int, JudgeDocuments] = {}
        chunk: _Chunk | None = None
        count = 0
        for annotator, item in assigned:
            entry = _needed(item, annotator)
            if entry.document is None:
                continue
            work = works.setdefault(id(annotator), JudgeDocuments(annotator))
            if chunk is not None and (chunk.work is not work or max(count, len(chunk.entries)) >= self.units):
                yield chunk
                chunk = None
            if chunk is None:
                chunk, count = _Chunk(work, [], []), 0
            chunk.documents.append(entry.document)
            chunk.entries.append(entry)
            count += sum(1 for _ in cases_of(entry, annotator.scheme))
        if chunk is not None:
            yield chunk

    def _judged(self, chunks: Iterator[_Chunk]) -> Iterator[tuple[_Chunk, _Judged]]:
        """The chunks and what is said of their documents. An error is raised when its chunk is the next."""
        in_order: deque[tuple[_Chunk, Future[_Judged]]] = deque()
        under_way: dict[Future[_Judged], _Chunk] = {}
        coming = next(chunks, None)
        while coming is not None or in_order:
            limit = self.engine.at_once
            while coming is not None and len(under_way) < limit and len(in_order) < AHEAD * limit:
                if (future := self._known(coming)) is None:
                    future = self.engine.begin(coming.work, coming.entries)
                    under_way[future] = coming
                in_order.append((coming, future))
                coming = next(chunks, None)
            is_next_known = in_order[0][1] not in under_way
            done, _ = wait(under_way, timeout=0 if is_next_known else None, return_when=FIRST_COMPLETED)
            for future in done:
                chunk = under_way.pop(future)
                # What is about to be written need not be kept first.
                if coming is not None or under_way:
                    self._keep(chunk, future)
            while in_order and in_order[0][1] not in under_way:
                chunk, future = in_order.popleft()
                yield chunk, future.result()

    def _known(self, chunk: _Chunk) -> Future[_Judged] | None:
        known = self.kept.find(chunk.work, chunk.entries) if self.kept is not None else None
        if known is None:
            return None
        future: Future[_Judged] = Future()
        future.set_result(known)
        return future

    def _keep(self, chunk: _Chunk, future: Future[_Judged]) -> None:
        if self.kept is not None and future.exception() is None:
            self.kept.keep(chunk.work, chunk.entries, future.result())


def _needed(item: Document | Entry, annotator: Annotator) -> Entry:
    """A document, and the judgments by which the annotator's guideline chooses what is judged."""
    if isinstance(item, Document):
        return Entry(item.id, item)
    earlier = annotator.scheme.target.scheme if annotator.scheme.target else None
    return Entry(
        item.id, item.document, tuple(judgment for judgment in item.judgments if judgment.scheme == earlier)
    )
