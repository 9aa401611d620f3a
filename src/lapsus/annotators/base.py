"""What every program that judges does: learn from votes, judge documents, be kept in a file."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.decide import ARGMAX, decision
from lapsus.annotators.examples import Example, Origin, digest, make_examples, require_examples
from lapsus.annotators.parts.words import Words, plain_language
from lapsus.annotators.progress import Progress, unwatched
from lapsus.annotators.storage import Header, State, write_model
from lapsus.errors import UsageError
from lapsus.measures.scores.breakdown_labels import LABELS
from lapsus.model import EMPTY, Document, FrozenDict, Judgment, Scheme, Unit, freeze, units
from lapsus.model.votes import LabelVotes
from lapsus.schemes import load_scheme

SCHEME: Final = "breakdown"
QUESTION: Final = "breakdown"
BATCH: Final = 256
"""Units judged at a time, whichever documents they are of."""
_TRIED = 32
"""Turns on which a model is tried once it has learned."""

_ANSWERS = tuple(FrozenDict({QUESTION: label}) for label in LABELS)


class Annotator(ABC):
    """A program that judges system turns for breakdown.

    Parameters are keywords of the constructor with plain JSON values, each with a default and kept under its
    own name. What is learned is kept under names that end in `_`. A method writes `_fit`, `_distributions`,
    `_state` and `_restore`; it is given units, which hold nothing of what came after the turn.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    """One line for listings."""
    needs_fit: ClassVar[bool] = True
    adapts: ClassVar[bool] = False
    """Whether a fitted model can go on learning from other data."""
    adaptable: ClassVar[tuple[str, ...]] = ("decide", "seed", "epochs", "rate")
    """Parameters that may change when it does."""
    uses_words: ClassVar[bool] = True
    """Whether it asks `words_` for words, so that a model hangs on the way they were found."""
    any_language: ClassVar[bool] = False
    """Whether the words play no part, so that a model serves every language."""

    def __init__(self, *, decide: str = ARGMAX) -> None:
        self.decide = decide
        self.called = self.name
        """Who is named as annotator in the judgments."""
        self.origin_: Origin | None = None
        self.words_ = Words({})
        self._rule = decision(decide)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The parameters that the constructor takes, with their defaults."""
        signature = inspect.signature(cls.__init__).parameters.values()
        return {p.name: p.default for p in signature if p.kind is p.KEYWORD_ONLY}

    def parameters(self) -> dict[str, Any]:
        """The parameters as they are set."""
        return {name: getattr(self, name) for name in self.defaults()}

    @final
    def fit(self, documents: Iterable[Document], votes: LabelVotes, progress: Progress = unwatched) -> Self:
        """Learn from documents and what people said of their turns. Whatever was learned before is forgotten."""
        examples = list(make_examples(documents, votes, _scheme().unit))
        require_examples(examples)
        self.origin_ = None
        languages = sorted({plain_language(example.unit.language) for example in examples} - {""})
        self.words_ = Words.here(languages) if self.uses_words else Words({})
        self._fit(examples, progress)
        self._must_judge(examples)
        self.origin_ = _origin(examples, languages, self.words_)
        return self

    @final
    def adapt(self, documents: Iterable[Document], votes: LabelVotes, progress: Progress = unwatched) -> Self:
        """Go on learning from other documents, starting from what is known."""
        before = self._origin_or_complain()
        if not self.adapts:
            raise UsageError(f"method {self.name!r} cannot go on from a model", hint="train it anew")
        examples = list(make_examples(self._welcome(documents), votes, _scheme().unit))
        require_examples(examples)
        self._adapt(examples, progress)
        self._must_judge(examples)
        self.origin_ = _origin(examples, before.languages, self.words_, before.digest)
        return self

    @final
    def judge(self, documents: Iterable[Document]) -> Iterator[Judgment]:
        """A judgment a system turn, in order. Documents are taken as they come; memory does not grow."""
        if self.needs_fit:
            self._origin_or_complain()
        return self._judgments(documents)

    def under(self, profile: str) -> Annotator:
        """The same model with another of its profiles: as another crowd would judge, where it knows several."""
        raise UsageError(
            f"{self.called!r} has no profiles, so not {profile!r} either", hint="leave --profile out"
        )

    @final
    def save(self, path: Path | str) -> None:
        """Keep the model in one file."""
        if self.needs_fit:
            self._origin_or_complain()
        header = Header(self.name, self.called, self.parameters(), SCHEME, LABELS, self.origin_)
        write_model(Path(path), header, self.state())

    @staticmethod
    def load(path: Path | str) -> Annotator:
        """A model from its file, whichever method it is of."""
        from lapsus.annotators.library import load_model

        return load_model(path)

    @abstractmethod
    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        """Learn."""

    def _adapt(self, examples: Sequence[Example], progress: Progress) -> None:
        """Go on learning; asked for only where `adapts` is set."""
        raise NotImplementedError

    @abstractmethod
    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        """How likely O, T and X are: a row a unit. What a unit gets must not depend on the others."""

    @abstractmethod
    def _state(self) -> State:
        """What was learned."""

    @abstractmethod
    def _restore(self, state: State) -> None:
        """Take over what was learned."""

    def _evidence(self, unit: Unit) -> Any:
        """What the judgment rests on, as a JSON value, where the method can tell."""
        return None

    @final
    def state(self) -> State:
        """What was learned, in forms that can be kept."""
        return self._state()

    @final
    def restore(self, origin: Origin | None, state: State) -> None:
        """Become a model that was kept in a file."""
        self.words_ = Words(origin.words if origin and self.uses_words else {})
        self._restore(state)
        self.origin_ = origin

    def _must_judge(self, examples: Sequence[Example]) -> None:
        """Complain about what was learned at once: a model whose numbers ran away is not to be kept."""
        some = examples[:: -(-len(examples) // _TRIED)]
        with np.errstate(all="ignore"):
            rows = np.asarray(self._distributions([example.unit for example in some]), dtype=np.float64)
        if not np.isfinite(rows).all():
            what = f"{self.called!r} has learned nothing that can be used: its numbers ran away"
            raise UsageError(what, hint="set its parameters nearer to their defaults")

    def _origin_or_complain(self) -> Origin:
        if self.origin_ is None:
            raise UsageError(f"{self.called!r} has not learned yet", hint="fit it, or load a model")
        return self.origin_

    def _judgments(self, documents: Iterable[Document]) -> Iterator[Judgment]:
        rule = _scheme().unit
        version = self.origin_.version if self.origin_ else _scheme().version
        waiting = (unit for document in self._welcome(documents) for unit in units(document, rule))
        while batch := list(islice(waiting, BATCH)):
            rows = _checked(self._distributions(batch), len(batch), self.called)
            labels = self._rule(rows).tolist()
            for unit, row, label in zip(batch, rows.tolist(), labels, strict=True):
                evidence = self._evidence(unit)
                yield Judgment(
                    unit.document,
                    unit.key.segment,
                    self.called,
                    SCHEME,
                    version,
                    _ANSWERS[label],
                    FrozenDict({QUESTION: FrozenDict(zip(LABELS, row, strict=True))}),
                    metadata=EMPTY if evidence is None else freeze({"evidence": evidence}),
                )

    def _welcome(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents, as long as they are in a language that the model knows."""
        known = self.origin_.languages if self.origin_ and not self.any_language else ()
        for document in documents:
            language = plain_language(document.language)
            if known and language and language not in known:
                raise UsageError(
                    f"is in {language!r}, and {self.called!r} has learned {', '.join(known)}",
                    where=f"document {document.id!r}",
                    hint="use a model for that language; --lang says which it is only where the file does not",
                )
            yield document


@cache
def _scheme() -> Scheme:
    return load_scheme(SCHEME)


def _origin(
    examples: Sequence[Example], languages: Sequence[str], words: Words, before: str | None = None
) -> Origin:
    return Origin(
        version=_scheme().version,
        documents=len({example.unit.document for example in examples}),
        units=len(examples),
        votes=sum(sum(example.counts) for example in examples),
        digest=digest(examples),
        languages=tuple(languages),
        words=words.ways,
        before=before,
    )


def _checked(rows: NDArray[Any], count: int, who: str) -> NDArray[np.float64]:
    """Distributions that sum to 1; a method that gives anything else is broken, and the user is told which."""
    rows = np.asarray(rows, dtype=np.float64)
    if rows.shape != (count, len(LABELS)) or not np.isfinite(rows).all() or (rows < 0).any():
        raise UsageError(f"{who!r} gave something that is no distribution", hint="fit it again")
    normal: NDArray[np.float64] = rows / rows.sum(axis=1, keepdims=True)
    return normal
