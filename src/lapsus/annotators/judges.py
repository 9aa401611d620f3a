"""Who judges a stream of dialogues: one annotator, or for each language the model that is shipped for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from lapsus.annotators.base import Annotator
from lapsus.annotators.entries import judged_entries
from lapsus.annotators.library import default_model, find_annotator, load_model
from lapsus.annotators.parts.words import plain_language
from lapsus.errors import UsageError
from lapsus.model import Document, Entry


class Judges:
    """Judges documents as they come. Shipped models are loaded when the first document in their language comes."""

    def __init__(
        self,
        name: str | None = None,
        *,
        profile: str | None = None,
        tell: Callable[[Annotator], None] = lambda annotator: None,
    ) -> None:
        """`name` is a model's file, a shipped model or a method that needs no fitting; `tell` hears who judges."""
        self._profile = profile
        self._tell = tell
        self._one = self._ready(find_annotator(name)) if name else None
        self._shipped: dict[str, Annotator] = {}

    @property
    def called(self) -> list[str]:
        """The names of those who have judged so far, or will."""
        return [annotator.called for annotator in ([self._one] if self._one else self._shipped.values())]

    def entries(self, documents: Iterable[Document]) -> Iterator[Entry]:
        """Each document with its judgments, in order."""
        if self._one is not None:
            yield from judged_entries(self._one, documents)
            return
        for language, group in groupby(_by_language(documents), key=lambda pair: pair[0]):
            yield from judged_entries(self._for(language), (document for _, document in group))

    def _for(self, language: str) -> Annotator:
        if language not in self._shipped:
            self._shipped[language] = self._ready(load_model(default_model(language)))
        return self._shipped[language]

    def _ready(self, annotator: Annotator) -> Annotator:
        chosen = annotator.under(self._profile) if self._profile else annotator
        self._tell(chosen)
        return chosen


def _by_language(documents: Iterable[Document]) -> Iterator[tuple[str, Document]]:
    """The documents with their languages. One that has none, for want of letters, goes with those around it."""
    waiting: list[Document] = []
    language = ""
    for document in documents:
        language = plain_language(document.language) or language
        waiting.append(document)
        if language:
            yield from ((language, one) for one in waiting)
            waiting = []
    if waiting:
        raise UsageError("the language of the dialogues cannot be told", hint="say --lang en or --lang ja")
