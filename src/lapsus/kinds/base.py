"""What every kind of question says of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.kinds.messages import BrokenRule, Words, word
from lapsus.model import EMPTY, Answer, Document, Label, Question, Span, Text, in_language
from lapsus.model.scheme import Spellings
from lapsus.model.votes import Votes, VoteTable
from lapsus.notices import Notice

Floats: TypeAlias = NDArray[np.float64]
Flaw: TypeAlias = tuple[tuple[str | int, ...], str, str]
"""Something wrong with a question in a scheme file: the place below the question, the rule, the message."""
Where: TypeAlias = Callable[[int], str]
"""Names the document and the annotator of the nth answer, for a message."""


class Cells(Protocol):
    """A row of the long table, read cell by cell; what cannot be read is an error that names the column."""

    def text(self, column: str) -> str: ...
    def number(self, column: str) -> int | float: ...
    def whole(self, column: str) -> int | None: ...


class Control(Protocol):
    """A result of Label Studio: what its control gave."""

    def labels(self) -> list[str]: ...
    def number(self) -> int | float: ...
    def words(self) -> str: ...


class ControlTag(NamedTuple):
    """A tag of Label Studio's labelling interface, which asks a question there."""

    name: str
    attributes: Mapping[str, str] = EMPTY
    choices: tuple[ControlTag, ...] = ()


class Reply(Protocol):
    """A language model's reply, on its way to answers."""

    def label(self, name: str) -> str:
        """A label's id, also where the model gave one of its other names."""

    def clean(self, text: str) -> str:
        """Text without signs that no database keeps."""

    def marks(self, values: list[Any]) -> Iterator[Span]:
        """The spans that quotes stand for."""


class Kind(ABC):
    """A question with all that follows from its kind.

    `labels` are those that the question offers, its own or those of a list. A new kind is a subclass in a module of
    its own, an entry in `KINDS` (or an entry point of the group `lapsus.kinds`) and a widget of the page.
    """

    name: ClassVar[str]
    """As scheme files write it."""
    keys: ClassVar[frozenset[str]] = frozenset()
    """The keys of a question that mean something for this kind, besides those that all kinds have."""
    offers_labels: ClassVar[bool] = False
    on_text: ClassVar[bool] = False
    """Whether answers stand on stretches of text."""
    several: ClassVar[bool] = False
    """Whether an answer is a list, with a row of the long table for each of its parts."""
    is_countable: ClassVar[bool] = True
    """Whether answers can be counted at all."""
    is_counted: ClassVar[bool] = False
    """Whether how often each of `choices` was given to a unit says all that agreement needs."""
    agreement: ClassVar[tuple[str, ...]] = ()
    """The measures of agreement that are usual, the one that stands for all of them first."""
    pair_measure: ClassVar[str | None] = None
    """The measure of agreement for every two annotators; None where they are not told apart."""
    tells_worse: ClassVar[bool] = True
    """Whether answers say how bad what a system said is, so that systems can be compared by them."""
    by_label: ClassVar[bool] = False
    """Whether agreement can be told label by label."""
    can_merge: ClassVar[bool] = False
    """Whether labels can be counted as one."""
    gold_methods: ClassVar[tuple[str, ...]] = ()
    """Ways to put votes together, the usual one first."""
    typical_method: ClassVar[str] = ""
    """How most people's answer to one unit is found."""
    thresholds: ClassVar[Mapping[str, str]] = EMPTY
    """For gold methods and scores that take a share, the name of that parameter."""
    scores: ClassVar[tuple[str, ...]] = ()
    """The scores of a run that are usual."""
    comparison: ClassVar[str] = "equal"
    """How two answers are compared: equal, masi, rmse or span_f1."""
    controls: ClassVar[tuple[str, ...]] = ()
    """The types of result of Label Studio that can answer such a question."""
    numbers: tuple[float, ...] | None = None
    """Where each of `choices` stands on a line; None where they are names."""

    def __init__(self, question: Question, labels: Sequence[Label] = ()) -> None:
        self.question = question
        self.labels = tuple(labels)

    @cached_property
    def label_ids(self) -> tuple[str, ...]:
        """The ids of the labels, in order."""
        return tuple(label.id for label in self.labels)

    @cached_property
    def _by_id(self) -> dict[str, Label]:
        return {label.id: label for label in self.labels}

    @cached_property
    def _codes(self) -> dict[object, int]:
        return {label: code for code, label in enumerate(self.label_ids)}

    # Rules

    @classmethod
    @abstractmethod
    def holds(cls, answer: object) -> bool:
        """Whether an answer is of this kind at all, whatever it says."""

    @abstractmethod
    def broken(self, answer: Any, document: Document | None = None) -> Iterator[BrokenRule]:
        """Every rule that an answer of this kind breaks; with the document, also where spans may stand."""

    def lacking(self, document: Document) -> Iterator[BrokenRule]:
        """What a document would need for the question to be asked about it, and does not have."""
        return iter(())

    def check(self, answer: object, document: Document | None = None) -> Iterator[BrokenRule]:
        """Every rule that whatever was answered breaks."""
        if self.holds(answer):
            yield from self.broken(answer, document)
        else:
            yield self._rule("wrong-kind", expected=self.expected)

    def allows(self, answer: object, document: Document | None = None) -> bool:
        """Whether an answer breaks no rule."""
        return next(self.check(answer, document), None) is None

    @property
    def expected(self) -> Text:
        """What an answer is, in words: "one label"."""
        return word("kinds", self.name)

    @property
    def conditions(self) -> tuple[int | str, ...]:
        """The answers on which a later question may depend."""
        return self.label_ids

    def chosen(self, answer: Any) -> Iterator[int | str]:
        """Which of `conditions` an answer meets."""
        yield answer

    def flaws(self) -> Iterator[Flaw]:
        """What is wrong with the question as a scheme file has it, beyond what all kinds have in common."""
        analysis = self.question.analysis
        if (analysis.tie_break or analysis.merged) and not self.can_merge:
            yield ("analysis",), "kind", Notice("labels-question-kind-not", name=self.name)

    @cached_property
    def spellings(self) -> Spellings:
        """The labels by every spelling."""
        return Spellings(self.labels)

    def spelt(self, answer: Any, document: Document | None = None) -> Any:
        """The one form of an answer that may be written in several; the same object where nothing changes.

        Labels go by their ids. With the document, a mark over several elements of a triple is a mark on each.
        """
        return answer

    def doubt(self, shares: Mapping[str, float]) -> float:
        """How unsure somebody is whose shares of the answers these are: 0 is sure."""
        return 1 - max(shares.values())

    @property
    def score_names(self) -> tuple[str, ...]:
        """The scores of a run that are usual for the question."""
        return self.question.analysis.scores or self.scores

    def label_flaws(self, label: Label) -> Iterator[tuple[str, str]]:
        """What is wrong with one of its labels: rule and message."""
        if label.on or label.covers:
            yield "on", Notice("covers-spans")

    def manual_rule(self) -> str | None:
        """The name of the sentence by which the manual says how to answer, such as `rule-label`."""
        return None

    def _rule(self, rule: str, **values: Words) -> BrokenRule:
        return BrokenRule(rule, self.question.id, {"question": self.question.name, **values})

    def _known(self, ids: Sequence[str]) -> Iterator[BrokenRule]:
        for id in ids:
            if id not in self._by_id:
                yield self._rule("unknown-label", label=id)

    def _how_many(self, count: int) -> Iterator[BrokenRule]:
        if count < self.question.at_least:
            yield self._rule("too-few", limit=str(self.question.at_least))
        if self.question.at_most is not None and count > self.question.at_most:
            yield self._rule("too-many", limit=str(self.question.at_most))

    def _name(self, id: str) -> Text | str:
        """A label's name, with its number where it has one: "4 Wrong information"."""
        label = self._by_id.get(id)
        if label is None:
            return id
        if label.number is None:
            return label.name
        return {language: f"{label.number} {name}" for language, name in label.name.items()}

    # Votes

    def codes(self, answers: Sequence[Answer | None], where: Where | None = None) -> Any:
        """Answers as one column of numbers, as packed rows keep them; None becomes "no answer".

        An answer that the question does not know is an error at the place that `where` names. Only who counts what
        is stored already, and must not fail over one judgment of thousands, gives no `where`: it is no answer then.
        """
        found, missing = [], self.missing
        for place, answer in enumerate(answers):
            try:
                found.append(missing if answer is None else self.code(answer))
            except InvalidError as error:
                if where is not None:
                    raise InvalidError(error.what, where=where(place), hint=error.hint) from error
                found.append(missing)
        return self.column(found)

    missing: Any = -1
    """The code of no answer."""
    packed_type: Any = None
    """How numpy keeps a code in a packed row; None where it keeps none."""
    is_packed: ClassVar[bool] = False
    """Whether packed rows hold all of an answer, so that votes can be built from them."""

    def code(self, answer: Answer) -> Any:
        """An answer as a code; an error where the question does not know it."""
        raise InvalidError("question-answered-free-text", id=self.question.id)

    def column(self, codes: list[Any]) -> Any:
        """Codes as an array."""
        return np.array(codes, dtype=self.packed_type)

    def votes(self, table: VoteTable, rows: NDArray[np.intp], columns: NDArray[np.intp], codes: Any) -> Votes:
        """A column of codes as votes; `rows` and `columns` say whose answer to which unit each is."""
        raise InvalidError("answers-not-kept-numbers", id=self.question.id)

    def places(self, codes: Any) -> NDArray[np.intp]:
        """For each code its place among `choices`, -1 for no answer; for kinds that are counted."""
        raise InvalidError("answers-not-counted-one", id=self.question.id)

    def is_answered(self, votes: Any) -> bool:
        """Whether there is any answer among votes."""
        return bool(votes.answered.any())

    def totals(self, votes: Any) -> tuple[Floats, float]:
        """How often each of the choices (or labels) was given, and of how many answers that is a share."""
        raise InvalidError("answers-cannot-counted", id=self.question.id)

    def of_unit(self, votes: Any, row: int) -> list[Answer]:
        """The answers that were given to one unit."""
        raise InvalidError("answers-cannot-counted", id=self.question.id)

    def _unfit(self, answer: object) -> InvalidError:
        return InvalidError("no-answer-question-kind", answer=answer, id=self.question.id, name=self.name)

    def _unknown(self, label: object) -> InvalidError:
        return InvalidError("unknown-label", hint="known", label=label, known=", ".join(self.label_ids))

    def _label_code(self, label: object) -> int:
        try:
            return self._codes[label]
        except KeyError:
            raise self._unknown(label) from None

    # The space of answers: what can be answered, and distributions over it

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be answered, as distributions name it; nothing where the answers cannot be listed."""
        return ()

    def shares(self, votes: Any) -> Floats:
        """The share of annotators who gave each choice: a row a unit, a column a choice; NaN where nobody answered.

        Of several labels each has its own share, so that a row need not add up to 1.
        """
        raise InvalidError("answers-cannot-listed", id=self.question.id)

    def best(self, shares: Floats) -> Answer:
        """The best answer that the rules allow, by how likely each choice is. Ties go to the earlier choice."""
        raise InvalidError("answers-cannot-listed", id=self.question.id)

    def as_json(self, shares: Floats) -> dict[str, float]:
        """A distribution as judgments hold it: `{answer: share}`."""
        return dict(zip(self.choices, map(float, shares), strict=True))

    # Comparison

    def same(self, answer: Any) -> Hashable:
        """Equal for answers that say the same: the order of labels and spans, and the names of ties, do not matter."""
        return answer  # type: ignore[no-any-return]

    def same_or_none(self, answer: Any) -> Hashable:
        """`same`, where there may be no answer or one of another kind."""
        return self.same(answer) if self.holds(answer) else answer

    def compare(self, one: Any, other: Any) -> float:
        """Two answers by `comparison`: 1 for the same and 0 for nothing in common; for rmse the squared difference."""
        return float(self.same(one) == self.same(other))

    def compared(self, values: Sequence[float]) -> float:
        """Many comparisons as one figure: their mean; for rmse its root."""
        return float(np.mean(values))

    # Gold

    def settled(
        self,
        proposed: Any,
        shares: Floats | None,
        given: Sequence[Any],
        *,
        share: float = 0.5,
        document: Document | None = None,
    ) -> Answer | None:
        """What stands as gold of one unit: the best-supported answer that the rules allow; None: undecided.

        `proposed` is what the method gave, `shares` its distribution, `given` what people answered, `share` what a
        label needs.
        """
        return proposed if proposed is not None and self.allows(proposed, document) else None

    @property
    def gold_options(self) -> dict[str, Any]:
        """What the guideline tells gold methods; each takes what it knows of."""
        return {}

    def settled_all(
        self,
        proposed: Sequence[Any],
        shares: Floats | None,
        votes: Any,
        share: float,
        document: Callable[[str], Document | None],
    ) -> list[Answer | None]:
        """`settled` for all units of votes; `document` finds a document by its name."""
        return [
            self.settled(
                proposed[row],
                None if shares is None else shares[row],
                self.of_unit(votes, row),
                share=share,
                document=document(unit.document) if self.on_text else None,
            )
            for row, unit in enumerate(votes.units)
        ]

    # Forms: table, words, language models, Label Studio

    @classmethod
    def cells(cls, answer: Any) -> list[dict[str, Any]]:
        """An answer as rows of the long table, each as the columns it fills."""
        return [{"answer": answer}]

    @classmethod
    def item(cls, row: Cells) -> Any:
        """The answer in a row, or one part of it; None in a row that says: there is none."""
        return row.text("answer")

    def in_words(self, answer: Any, language: str, is_only: bool = False) -> Iterator[str]:
        """An answer in a few words, for lists; `is_only` where no other question of the scheme has this kind."""
        yield str(answer)

    def _said_empty(self, kind: str, language: str, is_only: bool) -> str:
        """An answer that holds nothing, in words of its kind: it was given, and is not missing."""
        words = in_language(word("empty", kind), language)
        return words if is_only else f"{in_language(self.question.name, language)}: {words}"

    def choice_names(self, language: str) -> dict[str, str]:
        """What each choice is called, by its id."""
        return {label.id: in_language(label.name, language) for label in self.labels}

    def mark(self, answer: Any) -> str | list[str] | None:
        """What a list of turns shows of an answer; None where it would take too many words."""
        return None

    @abstractmethod
    def json_schema(self) -> dict[str, Any]:
        """The JSON schema of an answer."""

    def prompt_values(self) -> dict[str, object]:
        """What fills the sentence `answer-<kind>` of a prompt."""
        return {"labels": ", ".join(f'"{id}"' for id in self.label_ids)} if self.offers_labels else {}

    wrong: ClassVar[Answer] = ()
    """What stands for a value of the wrong kind, for the rules to judge."""

    def from_json(self, value: Any, reply: Reply) -> Answer | None:
        """A value of a reply as an answer; one of the wrong kind is left to the rules, None is no answer."""
        found: Answer | None = plain_json(value, reply)
        return self.wrong if found is None else found

    def control_tag(self, language: str) -> ControlTag:
        """How Label Studio asks the question."""
        raise InvalidError("label-studio-no-control", id=self.question.id)

    def _label_tags(self, name: str, language: str) -> tuple[ControlTag, ...]:
        """A tag a label: people see its name, results hold its id."""
        return tuple(
            ControlTag(
                name,
                {
                    "value": in_language(label.name, language),
                    "alias": label.id,
                    "hint": in_language(label.definition, language).replace("\n", " "),
                },
            )
            for label in self.labels
        )

    def control_value(self, answer: Any) -> tuple[str, dict[str, Any]]:
        """An answer as Label Studio has it: type of result, and value."""
        raise InvalidError("label-studio-no-control", id=self.question.id)

    def from_control(self, control: Control) -> Answer:
        """What a control of Label Studio gave, as an answer."""
        raise InvalidError("label-studio-no-control", id=self.question.id)


def plain_json(value: Any, reply: Reply) -> Any:
    """A JSON value as what it looks like, for the rules to judge; a list's texts as labels."""
    if isinstance(value, str):
        return reply.clean(value)
    if isinstance(value, list):
        return tuple(reply.label(item) if isinstance(item, str) else "?" for item in value)
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return value if isinstance(value, bool) else int(value)
    return None
