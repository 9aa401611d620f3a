"""Between annotators and entries, as readers give them and writers take them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from lapsus.annotators.base import QUESTION, SCHEME, Annotator
from lapsus.errors import InputError
from lapsus.model import Document, Entry, Judgment
from lapsus.model.votes import LabelVotes, collect_votes
from lapsus.schemes import load_scheme


def training_data(entries: Iterable[Entry]) -> tuple[list[Document], LabelVotes]:
    """Documents and what people said of their turns: what `fit` takes."""
    documents: list[Document] = []
    judgments: list[Judgment] = []
    for entry in entries:
        if entry.document is not None:
            documents.append(entry.document)
            judgments += (judgment for judgment in entry.judgments if judgment.scheme == SCHEME)
    if not judgments:
        raise InputError(
            f"nothing in it is judged under {SCHEME!r}", hint="give dialogues with breakdown labels"
        )
    question = load_scheme(SCHEME).question(QUESTION)
    votes = collect_votes(judgments, question) if question else None
    if not isinstance(votes, LabelVotes):
        raise InputError(f"the scheme {SCHEME!r} does not ask for one label")
    return documents, votes


def judged_entries(annotator: Annotator, documents: Iterable[Document]) -> Iterator[Entry]:
    """Each document with the annotator's judgments. Only the documents of a batch are in memory."""
    waiting: deque[Document] = deque()

    def noted() -> Iterator[Document]:
        for document in documents:
            waiting.append(document)
            yield document

    found: list[Judgment] = []
    for judgment in annotator.judge(noted()):
        while waiting[0].id != judgment.document:
            yield _entry(waiting.popleft(), found)
            found = []
        found.append(judgment)
    while waiting:
        yield _entry(waiting.popleft(), found)
        found = []


def _entry(document: Document, judgments: list[Judgment]) -> Entry:
    return Entry(document.id, document, tuple(judgments))
