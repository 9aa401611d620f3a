"""The base of all programs that judge: judging under a scheme, learning from votes, being kept in a file."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self, TypeAlias, final

import msgspec

from lapsus.annotators.cases import Case, Origin, cases_of, document_of, packed, text_digest, unpacked
from lapsus.annotators.features.word_forms import Words
from lapsus.annotators.model_files import Header, State, model_digest, write_model
from lapsus.errors import LapsusError, UsageError
from lapsus.language import plain_language
from lapsus.model import EMPTY, Answer, Document, Entry, Judgment, Scheme, Unit, freeze
from lapsus.model.judgment import LEARNED, SETTING
from lapsus.model.votes import Votes
from lapsus.notices import Notice, listed
from lapsus.schemes import asked_answers, load_scheme, scheme_differences, scheme_digest

if TYPE_CHECKING:
    from lapsus.annotators.bulk.run import Work
    from lapsus.reports import Table

BATCH: Final = 256
"""Units judged at a time, whichever documents they are of."""


Progress: TypeAlias = Callable[[int, int], None]
"""Told how many steps are done, and of how many."""


def unwatched(done: int, total: int) -> None:
    """Progress that nobody looks at."""


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """Progress of one part of the work: from `start` to `end`, which are shares of the whole."""

    def tell(done: int, total: int) -> None:
        progress(round(1000 * (start + (end - start) * done / max(total, 1))), 1000)

    return tell


class Opinion(NamedTuple):
    """What an annotator says of one unit."""

    answers: Mapping[str, Answer]
    distributions: Mapping[str, Mapping[str, float]] = EMPTY
    """For questions of kind label, labels and scale the share of each answer."""
    scores: Mapping[str, Sequence[float]] = EMPTY
    """For questions of kind spans how sure it is of each span, in their order."""
    evidence: Any = None
    """What the answers rest on, as a JSON value, where the method can tell."""
    expected: Mapping[str, float] = EMPTY
    """For labels of spans how many marks are to be expected."""


class TrainingData(NamedTuple):
    """What is learned from: units that somebody judged, and the votes on each question."""

    cases: list[Case]
    votes: Mapping[str, Votes]
    texts: Mapping[str, bytes] = EMPTY
    """For each document of the cases a digest of its text."""


class Annotator(ABC):
    """A program that judges the units of a scheme.

    Parameters are keywords of the constructor with plain JSON values, each with a default and kept under its
    own name. What is learned is kept under names that end in `_`. A method writes `_learn_from`, `_opinions`, `_state`
    and `_restore`; it is given units, which hold nothing of what came after the turn.
    """

    method: ClassVar[str]
    """The name by which the registry of methods knows its kind: what `lapsus train` takes."""
    title: ClassVar[str]
    """One line for listings."""
    made_for: ClassVar[str | None] = None
    """The one scheme that it judges under; None: any."""
    needs_fit: ClassVar[bool] = True
    adapts: ClassVar[bool] = False
    """Whether a fitted model can go on learning from other data."""
    adaptable: ClassVar[tuple[str, ...]] = ("decide", "seed", "epochs", "rate")
    """Parameters that may change when it does."""
    uses_words: ClassVar[bool] = True
    """Whether it asks `words_` for words, so that a model hangs on the way they were found."""
    any_language: ClassVar[bool] = False
    """Whether a model serves every language, whichever it learned from."""
    costs: ClassVar[bool] = False
    """Whether somebody else is asked, whose answers cost money or long waiting."""

    def __init__(self) -> None:
        self.name = self.method
        """What it is called: who is named as annotator in the judgments."""
        self.ended: LapsusError | None = None
        """Why it could not judge to the end, if so."""
        self.origin_: Origin | None = None
        self.words_ = Words({})
        self._digest: str | None = None
        self._scheme = load_scheme(self.made_for) if self.made_for else None

    @property
    def scheme(self) -> Scheme:
        """The guideline that it judges by."""
        if self._scheme is None:
            raise UsageError("judges-under-any-scheme", hint="give-scheme", name=self.name)
        return self._scheme

    @scheme.setter
    def scheme(self, scheme: Scheme) -> None:
        if self.made_for not in (None, scheme.id):
            raise UsageError(
                "method-only-not",
                hint="judge-learns-any-scheme",
                method=self.method,
                made_for=self.made_for,
                id=scheme.id,
            )
        self._scheme = scheme

    @final
    def must_judge_under(self, scheme: Scheme) -> None:
        """Complain where judgments by this annotator would not fit a guideline, and say what differs.

        One that is for any guideline, and was given none, takes it.
        """
        if self._scheme is None:
            self.scheme = scheme
        if self.scheme.id != scheme.id:
            raise UsageError("judges-under-not-under", name=self.name, id=self.scheme.id, id2=scheme.id)
        if differences := scheme_differences(self.scheme, scheme):
            mine, theirs, what = self.scheme.version, scheme.version, listed(differences, "then")
            told = Notice(
                "knows-version", name=self.name, mine=mine, id=scheme.id, theirs=theirs, reason=what
            )
            if mine == theirs:
                told = Notice(
                    "knows-same-version-other", name=self.name, id=scheme.id, mine=mine, reason=what
                )
            raise UsageError(told, hint="train-anew")

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The parameters that the constructor takes, with their defaults."""
        signature = inspect.signature(cls.__init__).parameters.values()
        return {p.name: p.default for p in signature if p.kind is p.KEYWORD_ONLY}

    def parameters(self) -> dict[str, Any]:
        """The parameters as they are set."""
        return {name: getattr(self, name) for name in self.defaults()}

    @final
    def fit(
        self,
        documents: Iterable[Document | Entry],
        votes: Mapping[str, Votes] | Votes,
        progress: Progress = unwatched,
    ) -> Self:
        """Learn from documents and the votes on the scheme's questions. Whatever was learned before is forgotten.

        Where a scheme has one question that counts, its votes may be given alone. Entries may hold judgments under
        an earlier scheme, which some methods use.
        """
        training = self._training_data(documents, votes)
        self.origin_ = None
        languages = sorted({plain_language(case.unit.language) for case in training.cases} - {""})
        self.words_ = Words.here(languages) if self.uses_words else Words({})
        origin = self._learn_from(training, languages, progress)
        # A method that learns from a part of the documents alone says itself which these are.
        texts = origin.texts or packed(training.texts.values())
        self.origin_, self._digest = msgspec.structs.replace(origin, texts=texts), None
        return self

    @final
    def adapt(
        self,
        documents: Iterable[Document | Entry],
        votes: Mapping[str, Votes] | Votes,
        progress: Progress = unwatched,
    ) -> Self:
        """Go on learning from other documents, starting from what is known."""
        before = self._origin_or_complain()
        if not self.adapts:
            raise UsageError("method-cannot-go-model", hint="train-anew", method=self.method)
        training = self._training_data(self._welcome(documents), votes)
        origin = self._learn_more_from(training, before, progress)
        texts = packed(training.texts.values(), before.texts)
        self.origin_, self._digest = msgspec.structs.replace(origin, texts=texts), None
        return self

    @final
    def judge(self, documents: Iterable[Document | Entry]) -> Iterator[Judgment]:
        """A judgment a unit. Documents are taken as they come; memory does not grow.

        With entries, judgments under the scheme that this one goes on from choose the units, and are made use of.
        """
        if self.needs_fit:
            self._origin_or_complain()
        return self._judgments(documents)

    def forget(self) -> None:
        """Forget what is remembered only to be quick.

        Results vary slightly with the composition of a batch. A method that remembers such results forgets them here,
        so that what it says next does not depend on what it judged before.
        """
        return

    @final
    def opinions(self, units: Sequence[Unit]) -> Sequence[Opinion]:
        """What it says of single units, whichever documents they are of."""
        return self._opinions([Case(unit) for unit in units])

    def work(self) -> Work[Any, Any]:
        """Judging as work that can be done piece by piece, kept, and done elsewhere."""
        from lapsus.annotators.bulk.run import JudgeDocuments

        return JudgeDocuments(self)

    def profiles(self) -> list[str]:
        """The profiles that the model has, its main one first; most methods know but one way to judge."""
        return []

    def read_by(self, reader: str) -> Annotator:
        """The same model with another of its readers, where it has several."""
        raise UsageError("no-readers-choose", hint="leave-reader-out", name=self.name)

    def under(self, profile: str) -> Annotator:
        """The same model with another of its profiles: as another crowd would judge, where it knows several."""
        raise UsageError("no-profiles-not-either", hint="leave-profile-out", name=self.name, profile=profile)

    def summary(self) -> list[str]:
        """How well it judges, in a few lines, where the model knows."""
        return []

    def account(self) -> list[str | Table]:
        """How well it learned, in tables and lines for a terminal, where the method checks that."""
        return []

    def report(self) -> dict[str, Any]:
        """What `account` tells, as JSON values."""
        return {}

    @final
    def save(self, path: Path | str) -> None:
        """Keep the model in one file."""
        if self.needs_fit:
            self._origin_or_complain()
        scheme = self.scheme
        labels = tuple(label.id for label in scheme.labels_of(scheme.questions[0]))
        header = Header(
            self.method,
            self.name,
            self.parameters(),
            scheme.id,
            labels if self.made_for else (),
            self.origin_,
            version=scheme.version,
            digest=scheme_digest(scheme),
        )
        write_model(Path(path), header, self.state(), scheme)

    @staticmethod
    def load(path: Path | str) -> Annotator:
        """A model from its file, whichever method it is of."""
        from lapsus.annotators.library import load_model

        return load_model(path)

    def _learn_from(self, training: TrainingData, languages: Sequence[str], progress: Progress) -> Origin:
        """Learn, and say from what."""
        raise UsageError("does-not-learn-judgments", name=self.name)

    def _learn_more_from(self, training: TrainingData, before: Origin, progress: Progress) -> Origin:
        """Go on learning; asked for only where `adapts` is set."""
        raise UsageError("cannot-go-learning", name=self.name)

    def _opinions(self, cases: Sequence[Case]) -> Sequence[Opinion]:
        """What it says of some units. What is said of one must not depend on the others."""
        raise TypeError(f"{type(self).__name__} defines neither `_opinions` nor a `judge` of its own")

    def _state(self) -> State:
        """What was learned."""
        raise UsageError("cannot-kept-file", name=self.name)

    def _restore(self, state: State) -> None:
        """Take over what was learned."""
        raise UsageError("cannot-kept-file", name=self.name)

    @final
    def state(self) -> State:
        """What was learned, in forms that can be kept."""
        return self._state()

    @final
    def restore(self, origin: Origin | None, state: State) -> None:
        """Become a model that was kept in a file."""
        self.words_ = Words(origin.words if origin and self.uses_words else {})
        self._restore(state)
        self.origin_, self._digest = origin, None

    @final
    @property
    def digest(self) -> str:
        """Differs where anything does that decides about its answers; empty where it cannot be kept in a file."""
        if self._digest is None:
            try:
                guideline, state = scheme_digest(self.scheme), self.state()
                self._digest = model_digest(
                    self.method, guideline, self.parameters(), self.words_.ways, state
                )
            except (UsageError, NotImplementedError):
                self._digest = ""
        return self._digest

    def _training_data(
        self, documents: Iterable[Document | Entry], votes: Mapping[str, Votes] | Votes
    ) -> TrainingData:
        given = votes if isinstance(votes, Mapping) else {self.scheme.questions[0].id: votes}
        voted = {unit for one in given.values() for unit in one.units}
        cases: list[Case] = []
        texts: dict[str, bytes] = {}
        for item in documents:
            found = cases_of(item, self.scheme, all_units=True)
            mine = [case for case in found if case.unit.key in voted]
            if mine and (document := document_of(item)) is not None:
                cases += mine
                texts[document.id] = text_digest(document)
        return TrainingData(cases, given, texts)

    def _origin_or_complain(self) -> Origin:
        if self.origin_ is None:
            raise UsageError("not-learned-yet", hint="fit-load-model", name=self.name)
        return self.origin_

    def _judgments(self, documents: Iterable[Document | Entry]) -> Iterator[Judgment]:
        scheme = self.scheme
        version = self.origin_.version if self.origin_ else scheme.version
        setting = {"model": self.digest} if self.digest else None
        waiting = (
            (case, learned) for item, learned in self._known(documents) for case in cases_of(item, scheme)
        )
        while batch := list(islice(waiting, BATCH)):
            opinions = self._opinions([case for case, _ in batch])
            for (case, learned), opinion in zip(batch, opinions, strict=True):
                known = {
                    "evidence": opinion.evidence,
                    "scores": dict(opinion.scores) or None,
                    "expected": dict(opinion.expected) or None,
                    SETTING: setting,
                    LEARNED: learned or None,
                }
                metadata = {name: value for name, value in known.items() if value is not None}
                who, answers = (self.name, scheme.id, version), asked_answers(scheme, opinion.answers)
                frozen = freeze(metadata) if metadata else EMPTY
                yield Judgment(*case.unit.key, *who, answers, opinion.distributions, metadata=frozen)

    def _known(self, documents: Iterable[Document | Entry]) -> Iterator[tuple[Document | Entry, bool]]:
        """The documents, each with whether the model learned from it."""
        texts = unpacked(self.origin_.texts) if self.origin_ else frozenset()
        for item in self._welcome(documents):
            document = document_of(item) if texts else None
            yield item, document is not None and text_digest(document) in texts

    def _welcome(self, documents: Iterable[Document | Entry]) -> Iterator[Document | Entry]:
        """The documents, as long as they are in a language that the model knows."""
        known = self.origin_.languages if self.origin_ and not self.any_language else ()
        for item in documents:
            document = document_of(item)
            language = plain_language(document.language) if document else ""
            if document and known and language and language not in known:
                raise UsageError(
                    "learned",
                    where=Notice("document", document=document.id),
                    hint="use-model-language-lang",
                    language=language,
                    name=self.name,
                    known=", ".join(known),
                )
            yield item
