"""Who judges a stream of dialogues: one annotator, or for each language the model that is shipped for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby

import msgspec

from lapsus.annotators.base import Annotator
from lapsus.annotators.entries import judged_entries
from lapsus.annotators.library import default_model, find_annotator, load_model
from lapsus.annotators.parts.words import plain_language
from lapsus.errors import UsageError
from lapsus.language import has_letters, language_of_turns
from lapsus.model import Document, Entry

_KANJI_ALONE = "zh"
"""What a dialogue without any kana is told to be in."""


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
            alike = (document for _, document in group)
            first = next(alike)
            yield from judged_entries(self._for(language, first), chain([first], alike))

    def _for(self, language: str, first: Document) -> Annotator:
        if language not in self._shipped:
            try:
                path = default_model(language)
            except UsageError as error:
                raise error.at(f"document {first.id!r}") from None
            self._shipped[language] = self._ready(load_model(path))
        return self._shipped[language]

    def _ready(self, annotator: Annotator) -> Annotator:
        chosen = annotator.under(self._profile) if self._profile else annotator
        self._tell(chosen)
        return chosen


def _by_language(documents: Iterable[Document]) -> Iterator[tuple[str, Document]]:
    """The documents with their languages. One in which none can be told goes with those around it."""
    waiting: list[Document] = []
    language = ""
    for document in documents:
        language = _own_language(document) or language
        waiting.append(document)
        if language:
            yield from (_beside(one, language) for one in waiting)
            waiting = []
    if waiting:
        raise UsageError("the language of the dialogues cannot be told", hint="say --lang en or --lang ja")


def _own_language(document: Document) -> str:
    """Empty where there are no letters, or only kanji, which are Japanese in a Japanese log."""
    said = [segment.text for segment in document.segments if segment.role in ("user", "system")]
    language = plain_language(document.language) or language_of_turns(said) or ""
    if not language and any(map(has_letters, said)):
        raise UsageError(
            "is in a script that no shipped model reads",
            where=f"document {document.id!r}",
            hint="leave it out, or say --lang where that misleads",
        )
    return "" if language == _KANJI_ALONE else language


def _beside(document: Document, language: str) -> tuple[str, Document]:
    """A document among others in a language, which is its own where it has none."""
    own = plain_language(document.language)
    if (own, language) == (_KANJI_ALONE, "ja"):
        return language, msgspec.structs.replace(document, language=language)
    return own or language, document
