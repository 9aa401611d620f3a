"""Who judges a stream of dialogues: one annotator, the model shipped for each language, or a jury of several."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np

from lapsus.annotators.base import Annotator
from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.cases import document_of
from lapsus.annotators.encoder.reader import GENERAL
from lapsus.annotators.library import default_model, find_annotator, load_model
from lapsus.errors import UsageError
from lapsus.kinds import countable
from lapsus.kinds.votes import compared, quantities, scheme_votes
from lapsus.language import has_letters, language_of_turns, plain_language
from lapsus.model import Answer, Document, Entry, Judgment, Scheme, UnitKey
from lapsus.model.judgment import LEARNED, PROGRAM, learned_from
from lapsus.notices import Notice
from lapsus.schemes import AnyScheme, load_scheme
from lapsus.trust.alternative_test import jury

if TYPE_CHECKING:
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.annotators.language_model.asking import Asking


_OF_THE_CHALLENGE = ("dbdc", "dbdc-run")
_KANJI_ALONE = "zh"
"""What a dialogue without any kana is told to be in."""


class Judges:
    """Judges documents as they come. Shipped models are loaded when the first document in their language comes."""

    def __init__(
        self,
        model: Annotator | Path | str | None = None,
        *,
        scheme: AnyScheme | None = None,
        profile: str | None = None,
        reader: str | None = None,
        usual: str | None = None,
        tell: Callable[[Annotator], None] = lambda annotator: None,
        stop: threading.Event | None = None,
        asking: Asking | None = None,
    ) -> None:
        """`model` is an annotator, a model's file, a shipped model, a method that needs no fitting or a language model.

        `scheme` is the guideline to judge by: a model for another one, or another version, is refused. `usual` is the
        profile for models that have it, where no other one is asked for. `reader` is `small` or `large`, for models
        that have both. `tell` hears who judges. `asking` is how a language model is asked, until `stop` is set.
        """
        self._profile = profile
        self._reader = reader
        self._usual = usual
        self._tell = tell
        self._scheme = None if scheme is None else load_scheme(scheme)
        found = (
            model
            if isinstance(model, Annotator) or model is None
            else (find_annotator(str(model), self._scheme, stop=stop, **(asking or {})))
        )
        self.one = self._ready(found) if found else None
        """Who judges everything; None: the models that are shipped for each language."""
        self._shipped: dict[str, Annotator] = {}
        self._loaded: dict[Path, Annotator] = {}

    @property
    def asked(self) -> LanguageModel | None:
        """The language model, where it is one that judges."""
        return cast("LanguageModel", self.one) if self.one is not None and self.one.costs else None

    @property
    def scheme(self) -> str:
        """The id of the scheme that is judged under."""
        known = self.one.scheme if self.one else self._scheme
        return known.id if known else SCHEME

    @property
    def names(self) -> list[str]:
        """The names of those who have judged so far, or will."""
        return [annotator.name for annotator in ([self.one] if self.one else self._loaded.values())]

    def assigned(self, documents: Iterable[Document | Entry]) -> Iterator[tuple[Annotator, Document | Entry]]:
        """Each document with whoever is to judge it."""
        if (one := self.one) is not None:
            yield from ((one, item) for item in documents)
            return
        for language, item, document in _by_language(documents):
            yield self._for(language, document), item

    def _for(self, language: str, first: Document) -> Annotator:
        if language not in self._shipped:
            try:
                path = default_model(language, self._scheme.id if self._scheme else SCHEME)
            except UsageError as error:
                raise error.at(Notice("document", document=first.id)) from None
            if path not in self._loaded:
                self._loaded[path] = self._ready(load_model(path))
            self._shipped[language] = self._loaded[path]
        return self._shipped[language]

    def _ready(self, annotator: Annotator) -> Annotator:
        if self._scheme is not None:
            annotator.must_judge_under(self._scheme)
        if annotator.costs:
            return annotator
        if self._reader is not None:
            annotator = annotator.read_by(self._reader)
        chosen = annotator.under(self._profile) if self._profile else as_usual(annotator, self._usual)
        self._tell(chosen)
        return chosen


def as_usual(annotator: Annotator, usual: str | None = GENERAL) -> Annotator:
    """A model with the profile that is usual, by default for any talk, where it has that and was given no other."""
    if annotator.parameters().get("profile") or usual not in annotator.profiles():
        return annotator
    return annotator.under(usual)


def usual_profile(format: str) -> str | None:
    """The profile for what comes in a format: the corpora's own for the challenge's, else the one for any talk."""
    return None if format in _OF_THE_CHALLENGE else GENERAL


def _by_language(items: Iterable[Document | Entry]) -> Iterator[tuple[str, Document | Entry, Document]]:
    """What is to be judged with its language and document. Where none can be told, it is that of those around it."""
    waiting: list[tuple[Document | Entry, Document]] = []
    language = ""
    for item in items:
        if (document := document_of(item)) is None:
            continue
        language = _own_language(document) or language
        waiting.append((item, document))
        if language:
            yield from (_beside(*one, language) for one in waiting)
            waiting = []
    if waiting:
        raise UsageError("language-dialogues-cannot-told", hint="say-lang-en-lang")


def _own_language(document: Document) -> str:
    """Empty where there are no letters, or only kanji, which are Japanese in a Japanese log."""
    said = [segment.text for segment in document.segments if segment.role in ("user", "system", "text")]
    language = plain_language(document.language) or language_of_turns(said) or ""
    if not language and any(map(has_letters, said)):
        raise UsageError(
            "script-no-shipped-model",
            where=Notice("document", document=document.id),
            hint="leave-out-say-lang",
        )
    return "" if language == _KANJI_ALONE else language


def _beside(
    item: Document | Entry, document: Document, language: str
) -> tuple[str, Document | Entry, Document]:
    """A document among others in a language, which is its own where it has none."""
    own = plain_language(document.language)
    if (own, language) == (_KANJI_ALONE, "ja"):
        document = msgspec.structs.replace(document, language=language)
        named = msgspec.structs.replace(item, document=document) if isinstance(item, Entry) else document
        return language, named, document
    return own or language, item, document


JURY = "jury"
"""Who is named as annotator."""


def jury_of(judgments: Sequence[Judgment], scheme: Scheme) -> list[Judgment]:
    """A judgment a unit: for each question the answer nearest to all members', with the shares of their votes.

    For single labels that is what most said; of equals, what the member said who comes first. What nobody answered
    stays open.
    """
    answers: dict[UnitKey, dict[str, Answer]] = {}
    shares: dict[UnitKey, dict[str, dict[str, float]]] = {}
    by = {(one.unit, one.annotator): one for one in judgments}
    for question in countable(scheme.questions):
        given = [one for one in judgments if question.id in one.answers]
        if not given:
            continue
        votes = scheme_votes(given, scheme, question)
        seen = compared(votes)
        chosen = jury(seen, range(len(votes.annotators)))
        for row, code in enumerate(chosen.tolist()):
            if code >= 0:
                member = votes.annotators[int(np.argmax(seen.codes[row] == code))]
                unit = votes.units[row]
                answers.setdefault(unit, {})[question.id] = by[unit, member].answers[question.id]
        for quantity in quantities(votes):
            if quantity.is_share:
                said = np.isfinite(quantity.values)
                mean = np.nansum(quantity.values, axis=1) / np.maximum(said.sum(axis=1), 1)
                for unit, share in zip(votes.units, mean.tolist(), strict=True):
                    shares.setdefault(unit, {}).setdefault(question.id, {})[quantity.label] = share
    members = list(dict.fromkeys(one.annotator for one in judgments))
    metadata: dict[str, Any] = {PROGRAM: True, "members": members}
    learned = {one.unit for one in judgments if learned_from(one)}
    units = dict.fromkeys(one.unit for one in judgments)
    return [
        Judgment(*unit, JURY, scheme.id, scheme.version, answers[unit], shares.get(unit, {}), metadata=about)
        for unit in units
        if unit in answers
        for about in [{**metadata, LEARNED: True} if unit in learned else metadata]
    ]
