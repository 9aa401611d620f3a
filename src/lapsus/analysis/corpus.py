"""What measures need of a corpus: the judgments, and of each document its system, language and turns."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import msgspec

from lapsus.errors import InputError, InvalidError, UsageError
from lapsus.formats import EntryStream, read
from lapsus.kinds import countable, kind_of
from lapsus.kinds.preference import FIRST, SECOND
from lapsus.kinds.votes import is_vote, scheme_votes
from lapsus.language import word_count
from lapsus.measures.score import Score
from lapsus.model import EMPTY, Document, Judgment, Question, Scheme, Span, UnitKey, latest
from lapsus.model.unit import drawn_units, weight_of
from lapsus.model.votes import Votes
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.reports import Table
from lapsus.schemes import AnyScheme, given_schemes, load_scheme, scheme_names
from lapsus.schemes.answer_rules import Checker

UNKNOWN_SYSTEM = "?"

Announce: TypeAlias = Callable[[EntryStream], None]
"""Told of each source that is opened."""


class SeveralSchemesError(UsageError):
    """Data judged under several schemes, and none was asked for."""

    def __init__(self, schemes: Sequence[str]) -> None:
        super().__init__(
            Notice("judged-under-several-schemes", schemes=", ".join(schemes)), hint=Notice("say-scheme")
        )
        self.schemes = tuple(schemes)


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
    sample: Mapping[str, Any] = EMPTY
    """Which of its units were drawn to be judged, and what each stands for."""
    replies: tuple[str, str] | None = None
    """The systems whose replies A and B are compared."""
    dialogue: str | None = None
    """The dialogue that it was cut from."""


@dataclass(frozen=True)
class Corpus:
    """All judgments of a source with facts about its documents, held in memory."""

    name: str
    documents: dict[str, DocumentFacts]
    judgments: list[Judgment]
    texts: dict[str, Document] = field(default_factory=dict)
    """The documents on whose text something is marked."""
    broken: Counter[str] = field(default_factory=Counter)
    """How many judgments break their guideline, by scheme."""
    drops: bool = False
    """Whether these were left out."""
    mended: Counter[str] = field(default_factory=Counter)
    """What was put right while reading, and how often."""

    def schemes(self) -> list[str]:
        """The schemes under which something was judged, the most used first."""
        return [name for name, _ in Counter(judgment.scheme for judgment in self.judgments).most_common()]

    def under(self, scheme: str) -> list[Judgment]:
        """The judgments under one scheme."""
        return [judgment for judgment in self.judgments if judgment.scheme == scheme]

    def votes(self, scheme: Scheme, question: Question, *, strict: bool = False) -> Votes:
        """The votes on one question. Answers that the guideline does not know are no votes, or errors if `strict`."""
        try:
            return scheme_votes(self.under(scheme.id), scheme, question, strict=strict)
        except InvalidError as error:
            hint = Notice("drop-broken-leaves-judgments-out", advice=error.hint) if error.hint else None
            raise InputError(error.what, where=error.where, hint=hint).at(self.name) from error

    def uncounted(self, scheme: Scheme) -> int:
        """How many judgments have an answer that is no vote."""
        kinds = {question.id: kind_of(question, scheme) for question in countable(scheme.questions)}
        return sum(
            any(id in kinds and not is_vote(answer, kinds[id]) for id, answer in judgment.answers.items())
            for judgment in latest(self.under(scheme.id))
        )

    def version_warnings(self, scheme: Scheme) -> list[str]:
        """What to say where judgments were made under several versions of a guideline, or another than ours."""
        versions = sorted({judgment.version for judgment in self.under(scheme.id)})
        if set(versions) <= {scheme.version, *scheme.compatible}:
            return []
        found = ", ".join(versions)
        told = Notice("other-version", name=self.name, id=scheme.id, versions=found, ours=scheme.version)
        return [Notice("warning", text=told)]

    def units(self) -> frozenset[UnitKey]:
        """Every segment that the documents have, judged or not."""
        return frozenset(UnitKey(id, turn) for id, facts in self.documents.items() for turn, _ in facts.turns)

    def lengths(self) -> dict[str, dict[str, int]] | None:
        """The lengths of all segments; None where some judged document is not there."""
        if any(judgment.document not in self.documents for judgment in self.judgments):
            return None
        return {id: facts.lengths for id, facts in self.documents.items()}

    def among(self, documents: dict[str, DocumentFacts]) -> "Corpus":
        """What was judged of some documents."""
        return Corpus(self.name, documents, [one for one in self.judgments if one.document in documents])

    def system_of(self, document: str) -> str:
        """The system whose document this is."""
        facts = self.documents.get(document)
        return facts.system if facts else UNKNOWN_SYSTEM


def load_corpus(
    path: Any,
    *,
    only: str | None = None,
    language: str | None = None,
    scheme: AnyScheme | None = None,
    drop_broken: bool = False,
    announce: Announce = lambda reading: None,
) -> Corpus:
    """Read a source whole, keeping what measures need; judgments that break their guideline are counted.

    `scheme` may be a team's own; a name that nobody knows is left to `choose_scheme`, which sees whether the data have
    it. With `drop_broken` judgments that break their guideline are left out.
    """
    reading = read(path, only=only, language=language)
    announce(reading)
    documents: dict[str, DocumentFacts] = {}
    judgments: list[Judgment] = []
    texts: dict[str, Document] = {}
    given = known_schemes(scheme)
    checker = Checker(given)
    broken: Counter[str] = Counter()
    with given_schemes(given):
        for entry in reading:
            if entry.document is not None:
                documents[entry.id] = _facts(entry.document)
                if any(map(_may_be_marked, entry.judgments)):
                    texts[entry.id] = entry.document
            bad = {place for place, j in enumerate(entry.judgments) if checker.broken(j, entry.document)}
            broken.update(entry.judgments[place].scheme for place in bad)
            kept = (j for place, j in enumerate(entry.judgments) if not (drop_broken and place in bad))
            judgments.extend(kept)
    name = reading.source.path.name.removesuffix(".zip").removesuffix(".jsonl").removesuffix(".labels.json")
    return Corpus(name, documents, judgments, texts, broken, drop_broken, reading.options.mended)


def known_schemes(scheme: AnyScheme | None) -> list[Scheme]:
    """The scheme that was asked for, where its file is at hand."""
    try:
        return [load_scheme(scheme)] if scheme else []
    except UsageError:
        return []


def choose_scheme(
    corpora: Sequence[Corpus], wanted: AnyScheme | None, suits: Callable[[Scheme], bool] | None = None
) -> Scheme:
    """The scheme to work under: the one asked for, or the only one that all corpora have judgments under.

    Of several, one that `suits` comes first.
    """
    if wanted is not None:
        if isinstance(wanted, str) and any(wanted in corpus.schemes() for corpus in corpora):
            scheme = _named_by_data(wanted)
        else:
            scheme = load_scheme(wanted)
        for corpus in corpora:
            if scheme.id not in corpus.schemes():
                there = Notice("there-is", schemes=", ".join(corpus.schemes()) or Notice("nothing"))
                raise InputError(
                    "nothing-judged-under",
                    where=corpus.name,
                    hint=_all_dropped(corpus) or there,
                    id=scheme.id,
                )
        return scheme
    for corpus in corpora:
        if not corpus.schemes():
            raise InputError("nothing-judged", where=corpus.name, hint=_all_dropped(corpus))
    shared = [
        name for name in corpora[0].schemes() if all(name in corpus.schemes() for corpus in corpora[1:])
    ]
    if suits is not None:
        installed = [name for name in shared if name in scheme_names() and suits(load_scheme(name))]
        if installed:
            return load_scheme(installed[0])
    if not shared:
        found = "; ".join(f"{corpus.name}: {', '.join(corpus.schemes())}" for corpus in corpora)
        raise InputError("judged-under-different-schemes", hint=found)
    if len(shared) > 1:
        raise SeveralSchemesError(shared)
    return _named_by_data(shared[0])


def _named_by_data(name: str) -> Scheme:
    """The scheme that judgments name; where it is somebody's own, its file is wanted."""
    try:
        return load_scheme(name)
    except UsageError as error:
        hint = Notice("your-own-say-scheme", name=name)
        raise UsageError("scheme-not-installed", hint=hint, name=name) from error


def _all_dropped(corpus: Corpus) -> str | None:
    """What to say where nothing is left, since all was left out."""
    dropped = corpus.broken.total() if corpus.drops and not corpus.judgments else 0
    return Notice("all-judgments-break-guideline", dropped=dropped) if dropped else None


def by_system(corpus: Corpus, by: str) -> dict[str, Corpus]:
    """The corpus in parts, one a system."""
    if by != "system":
        raise UsageError("cannot-group", hint="known-system", by=by)
    if not corpus.documents:
        raise UsageError("cannot-group-system-documents", hint="use-format")
    systems = sorted({facts.system for facts in corpus.documents.values()})
    parts = {}
    for system in systems:
        documents = {id: facts for id, facts in corpus.documents.items() if facts.system == system}
        parts[system] = corpus.among(documents)
    return parts


def countable_questions(scheme: Scheme, wanted: Iterable[str] = ()) -> list[Question]:
    """The questions whose answers can be counted; those asked for, if any are."""
    possible = countable(scheme.questions)
    names = [question.id for question in possible]
    for name in wanted:
        if name not in names:
            raise UsageError("no-question-count", hint=did_you_mean(name, names), id=scheme.id, name=name)
    chosen = list(wanted)
    return [question for question in possible if question.id in chosen] if chosen else possible


def _may_be_marked(judgment: Judgment) -> bool:
    return any(
        isinstance(answer, tuple) and all(isinstance(part, Span) for part in answer)
        for answer in judgment.answers.values()
    )


def _facts(document: Document) -> DocumentFacts:
    words: Counter[str] = Counter()
    for segment in document.segments:
        words[segment.role] += word_count(segment.text, document.language)
    turns = tuple((segment.id, segment.role) for segment in document.segments)
    lengths = {segment.id: len(segment.text) for segment in document.segments}
    sample = drawn_units(document)
    # Units that were chosen, such as those that a judge doubts, stand for no others: that is no sample.
    if any(weight_of(about) is None for about in sample.get("units", EMPTY).values()):
        sample = EMPTY
    system = document.system or UNKNOWN_SYSTEM
    facts = DocumentFacts(system, document.language, turns, words, lengths, sample)
    replies = {one.id: one.metadata.get("system") for one in document.segments if one.id in (FIRST, SECOND)}
    if replies.get(FIRST) is None or replies.get(SECOND) is None:
        return facts
    dialogue = document.metadata.get("dialogue")
    return facts._replace(
        replies=(str(replies[FIRST]), str(replies[SECOND])),
        dialogue=str(dialogue) if dialogue is not None else None,
    )


def broken_notes(corpora: Iterable[Corpus], scheme: Scheme) -> list[str]:
    """What to say of judgments that break the guideline, and of what was put right in reading them."""
    notes = []
    for corpus in corpora:
        notes += [f"{corpus.name}: {what} ({count:,})" for what, count in corpus.mended.items()]
        if not (broken := corpus.broken.get(scheme.id, 0)):
            continue
        if corpus.drops:
            notes.append(Notice("judgments-break-guideline-left", name=corpus.name, broken=broken))
        else:
            count = len(corpus.under(scheme.id))
            told = Notice("judgments-break-listed", name=corpus.name, broken=broken, count=count)
            notes.append(Notice("warning", text=told))
            if uncounted := corpus.uncounted(scheme):
                told = Notice("unknown-answers-not-counted", name=corpus.name, count=uncounted)
                notes.append(Notice("warning", text=told))
    return notes


def broken_counts(corpora: Iterable[Corpus], scheme: Scheme) -> int:
    """How many judgments break the guideline, in all."""
    return sum(corpus.broken.get(scheme.id, 0) for corpus in corpora)


def with_broken(table: Table, corpora: Sequence[Corpus], scheme: Scheme) -> Table:
    """The table with what is to be said of broken judgments; where they were left out, signatures say so."""
    broken = broken_counts(corpora, scheme)
    marked = signed_without(table, broken) if any(corpus.drops for corpus in corpora) else table
    data = {**marked.data, "broken": broken}
    return replace(marked, notes=(*marked.notes, *broken_notes(corpora, scheme)), data=data)


def signed_without(value: Any, broken: int) -> Any:
    """The same result, where every signature says how many judgments were left out."""
    if not broken:
        return value
    if isinstance(value, str):
        return value.replace("|lapsus:", f"|broken:{broken} left out|lapsus:")
    if isinstance(value, Score):
        return msgspec.structs.replace(value, signature=signed_without(value.signature, broken))
    if isinstance(value, Table):
        rows, notes, data = (signed_without(part, broken) for part in (value.rows, value.notes, value.data))
        return replace(value, rows=rows, notes=notes, data=data)
    if isinstance(value, dict):
        return {key: signed_without(item, broken) for key, item in value.items()}
    if isinstance(value, list):
        return [signed_without(item, broken) for item in value]
    if type(value) is tuple:
        return tuple(signed_without(item, broken) for item in value)
    return value
