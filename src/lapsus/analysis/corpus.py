"""What measures need of a corpus: the judgments, and of each document its system, language and turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from lapsus.errors import InputError, InvalidError, UsageError
from lapsus.formats import Reading, read
from lapsus.language import word_count
from lapsus.model import Document, Judgment, Question, Scheme, UnitKey
from lapsus.model.votes import Votes, collect_votes
from lapsus.registry import did_you_mean
from lapsus.schemes import load_scheme

UNKNOWN_SYSTEM = "?"

Announce: TypeAlias = Callable[[Reading], None]
"""Told of each source that is opened."""


class DocumentFacts(NamedTuple):
    """What is kept of a document when its text has gone by."""

    system: str
    language: str | None
    turns: tuple[tuple[str, str], ...]
    """Each segment's id and role."""
    words: Counter[str]
    """How many words each role said."""
    lengths: dict[str, int]
    """How long each segment is, in code points."""


@dataclass(frozen=True)
class Corpus:
    """A source, read."""

    name: str
    documents: dict[str, DocumentFacts]
    judgments: list[Judgment]

    def schemes(self) -> list[str]:
        """The schemes under which something was judged, the most used first."""
        return [name for name, _ in Counter(judgment.scheme for judgment in self.judgments).most_common()]

    def under(self, scheme: str) -> list[Judgment]:
        """The judgments under one scheme."""
        return [judgment for judgment in self.judgments if judgment.scheme == scheme]

    def votes(self, scheme: Scheme, question: Question) -> Votes:
        """The votes on one question."""
        labels = [label.id for label in scheme.labels_of(question)]
        try:
            return collect_votes(self.under(scheme.id), question, labels)
        except InvalidError as error:
            raise InputError(error.what, where=error.where, hint=error.hint).at(self.name) from error

    def version_warnings(self, scheme: Scheme) -> list[str]:
        """What to say where judgments were made under several versions of a guideline, or another than ours."""
        versions = sorted({judgment.version for judgment in self.under(scheme.id)})
        if versions in ([], [scheme.version]):
            return []
        return [
            f"warning: {self.name}: judged under {scheme.id} {', '.join(versions)}; ours is {scheme.version}"
        ]

    def units(self) -> frozenset[UnitKey]:
        """Every segment that the documents have, judged or not."""
        return frozenset(UnitKey(id, turn) for id, facts in self.documents.items() for turn, _ in facts.turns)

    def lengths(self) -> dict[str, dict[str, int]] | None:
        """The lengths of all segments; None where some judged document is not there."""
        if any(judgment.document not in self.documents for judgment in self.judgments):
            return None
        return {id: facts.lengths for id, facts in self.documents.items()}

    def system_of(self, document: str) -> str:
        """The system whose document this is."""
        facts = self.documents.get(document)
        return facts.system if facts else UNKNOWN_SYSTEM


def load_corpus(
    path: Path | str,
    format: str | None = None,
    *,
    only: str | None = None,
    language: str | None = None,
    announce: Announce = lambda reading: None,
) -> Corpus:
    """Read a source whole, keeping what measures need."""
    reading = read(path, format, only=only, language=language)
    announce(reading)
    documents: dict[str, DocumentFacts] = {}
    judgments: list[Judgment] = []
    for entry in reading:
        if entry.document is not None:
            documents[entry.id] = _facts(entry.document)
        judgments.extend(entry.judgments)
    name = Path(path).name.removesuffix(".zip").removesuffix(".jsonl").removesuffix(".labels.json")
    return Corpus(name, documents, judgments)


def choose_scheme(corpora: Sequence[Corpus], wanted: str | None) -> Scheme:
    """The scheme to work under: the one asked for, or the only one that all corpora have judgments under."""
    if wanted is not None:
        scheme = load_scheme(wanted)
        for corpus in corpora:
            if scheme.id not in corpus.schemes():
                found = ", ".join(corpus.schemes()) or "nothing"
                raise InputError(
                    f"nothing is judged under {scheme.id!r}", where=corpus.name, hint=f"there is: {found}"
                )
        return scheme
    for corpus in corpora:
        if not corpus.schemes():
            raise InputError("nothing in it is judged", where=corpus.name)
    shared = [
        name for name in corpora[0].schemes() if all(name in corpus.schemes() for corpus in corpora[1:])
    ]
    if not shared:
        found = "; ".join(f"{corpus.name}: {', '.join(corpus.schemes())}" for corpus in corpora)
        raise InputError("they are judged under different schemes", hint=found)
    if len(shared) > 1:
        raise UsageError(f"judged under several schemes: {', '.join(shared)}", hint="say which with --scheme")
    try:
        return load_scheme(shared[0])
    except UsageError as error:
        hint = f"if it is your own, say --scheme with its file, such as {shared[0]}.yaml"
        raise UsageError(f"the scheme {shared[0]!r} is not installed", hint=hint) from error


def by_system(corpus: Corpus, by: str) -> dict[str, Corpus]:
    """The corpus in parts, one a system."""
    if by != "system":
        raise UsageError(f"cannot group by {by!r}", hint="known: system")
    if not corpus.documents:
        raise UsageError(
            "cannot group by system: the documents are not there", hint="use a format that has them"
        )
    systems = sorted({facts.system for facts in corpus.documents.values()})
    parts = {}
    for system in systems:
        documents = {id: facts for id, facts in corpus.documents.items() if facts.system == system}
        parts[system] = Corpus(
            corpus.name, documents, [j for j in corpus.judgments if j.document in documents]
        )
    return parts


def countable_questions(scheme: Scheme, wanted: Iterable[str] = ()) -> list[Question]:
    """The questions whose answers can be counted; those asked for, if any are."""
    countable = [question for question in scheme.questions if question.kind != "text"]
    names = [question.id for question in countable]
    for name in wanted:
        if name not in names:
            raise UsageError(
                f"{scheme.id!r} has no question {name!r} to count", hint=did_you_mean(name, names)
            )
    chosen = list(wanted)
    return [question for question in countable if question.id in chosen] if chosen else countable


def _facts(document: Document) -> DocumentFacts:
    words: Counter[str] = Counter()
    for segment in document.segments:
        words[segment.role] += word_count(segment.text, document.language)
    turns = tuple((segment.id, segment.role) for segment in document.segments)
    lengths = {segment.id: len(segment.text) for segment in document.segments}
    return DocumentFacts(document.system or UNKNOWN_SYSTEM, document.language, turns, words, lengths)
