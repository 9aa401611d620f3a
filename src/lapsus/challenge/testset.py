"""A test set: dialogues with what people said of their turns, and the same dialogues as they are given out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.kinds.votes import collect_votes
from lapsus.language import plain_language
from lapsus.measures.scores.breakdown_labels import breakdown_counts, breakdown_votes
from lapsus.model import Document, Entry, Judgment, Segment, UnitKey
from lapsus.schemes import load_scheme
from lapsus.store.challenge_records import Counts, GoldDocument
from lapsus.store.records import is_programs

SCHEME = "breakdown"
NO_LANGUAGE = "und"
"""Stands for a language that nobody named and no script tells."""
NO_SYSTEM = "?"
_GIVEN_OUT = frozenset({"system", "split", "speaker-id", "group-id"})
"""What is told of a dialogue beside its turns. Anything else might give the answers away."""


@dataclass(frozen=True)
class Track:
    """The dialogues of one language: what a run in that language is scored on."""

    language: str
    documents: tuple[GoldDocument, ...]

    @cached_property
    def units(self) -> tuple[UnitKey, ...]:
        """The turns that are scored, in order."""
        return tuple(UnitKey(gold.document.id, turn) for gold in self.documents for turn in _scored(gold))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many said O, T and X of each."""
        rows = [gold.votes[turn] for gold in self.documents for turn in _scored(gold)]
        return np.array(rows, dtype=np.int64).reshape(-1, 3)

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """The number of each turn's dialogue, among those with a scored turn."""
        return np.unique([unit.document for unit in self.units], return_inverse=True)[1].astype(np.intp)

    @cached_property
    def systems(self) -> dict[str, NDArray[np.bool_]]:
        """Which turns are of which system."""
        of = {gold.document.id: gold.document.system or NO_SYSTEM for gold in self.documents}
        each = np.array([of[unit.document] for unit in self.units])
        return {str(system): each == system for system in np.unique(each)}


def tracks(documents: Iterable[GoldDocument]) -> dict[str, Track]:
    """A test set by language. Languages in which nothing is scored are left out."""
    by_language: dict[str, list[GoldDocument]] = {}
    for gold in documents:
        by_language.setdefault(gold.language, []).append(gold)
    return {
        language: Track(language, tuple(found))
        for language, found in sorted(by_language.items())
        if any(gold.votes for gold in found)
    }


def read_gold(
    path: Path | str, *, only: str | None = None, language: str | None = None
) -> list[GoldDocument]:
    """Dialogues with breakdown labels, from any format."""
    return gold_of(read(path, only=only, language=language), str(path))


def gold_of(entries: Iterable[Entry], where: str) -> list[GoldDocument]:
    """The dialogues among entries, with the votes on them. `where` is told in complaints."""
    documents: list[Document] = []
    judgments: list[Judgment] = []
    for entry in entries:
        if entry.document is not None:
            documents.append(entry.document)
        # What programs said is no vote, wherever it is read from.
        judgments += (one for one in entry.judgments if one.scheme == SCHEME and not is_programs(one))
    if not documents:
        raise InputError("no-dialogues", where=where, hint="labels-alone-no-test")
    if not judgments:
        raise InputError("nothing-in-it-is-judged-under", where=where, hint="test-set-needs-votes", id=SCHEME)
    return gold_documents(documents, judgments)


def gold_documents(documents: Sequence[Document], judgments: Sequence[Judgment]) -> list[GoldDocument]:
    """Each dialogue with the votes on its system turns."""
    votes = breakdown_votes(collect_votes(judgments, load_scheme(SCHEME).questions[0]))
    counted: dict[UnitKey, Counts] = {}
    for unit, (o, t, x) in zip(votes.units, breakdown_counts(votes).tolist(), strict=True):
        if o + t + x:
            counted[unit] = (o, t, x)
    return [_gold(document, counted) for document in documents]


def language_of(document: Document) -> str:
    """The language of a dialogue without its region."""
    return plain_language(document.language) or NO_LANGUAGE


def system_turns(document: Document) -> list[str]:
    """The turns that a run may answer about."""
    return [segment.id for segment in document.segments if segment.role == "system"]


def given_out(documents: Iterable[GoldDocument]) -> Iterator[Entry]:
    """The dialogues without labels and without anything else that might tell them."""
    for gold in documents:
        document = unlabelled(gold.document)
        yield Entry(document.id, document, ())


def unlabelled(document: Document) -> Document:
    """A dialogue as it is given out."""
    known = {key: value for key, value in document.metadata.items() if key in _GIVEN_OUT}
    segments = tuple(Segment(segment.id, segment.role, segment.text) for segment in document.segments)
    return msgspec.structs.replace(document, segments=segments, metadata=known)


def _gold(document: Document, counted: dict[UnitKey, Counts]) -> GoldDocument:
    found = ((turn, counted.get(UnitKey(document.id, turn))) for turn in system_turns(document))
    votes = {turn: counts for turn, counts in found if counts is not None}
    return GoldDocument(document, language_of(document), votes)


def _scored(gold: GoldDocument) -> Iterator[str]:
    """In the dialogue's order."""
    return (turn for turn in system_turns(gold.document) if turn in gold.votes)
