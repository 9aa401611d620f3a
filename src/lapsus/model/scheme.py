"""Schemes: annotation guidelines as data."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeAlias, TypeVar

import msgspec

from lapsus.errors import InvalidError
from lapsus.model.document import Role
from lapsus.model.frozen import EMPTY, freeze

T = TypeVar("T")

Text: TypeAlias = Mapping[str, str]
"""The same thing said in each language: `{"en": …, "ja": …}`."""

Notes: TypeAlias = Mapping[str, tuple[str, ...]]
"""Remarks in each language. Languages may differ in what there is to remark."""

FALLBACK = "en"


def in_language(words: Mapping[str, T], language: str) -> T:
    """The entry for a language; English, then whatever there is, where that language is missing."""
    for wanted in (language, language.partition("-")[0], FALLBACK):
        if wanted in words:
            return words[wanted]
    return next(iter(words.values()))


_SAME_SIGN = str.maketrans("◯〇⭕◦☓✕✖╳❌Δ∆▵", "○○○○×××××△△△")
"""Signs that look alike and are typed for one another."""


def folded(name: str) -> str:
    """A label's spelling without what does not matter: full width or half, capital or small, which circle or cross."""
    return unicodedata.normalize("NFKC", name.translate(_SAME_SIGN)).casefold().strip()


class SchemeRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of everything in a scheme file: immutable, and a mistyped key is an error."""

    def __post_init__(self) -> None:
        for field in self.__struct_fields__:
            if type(value := getattr(self, field)) is dict:
                msgspec.structs.force_setattr(self, field, freeze(value))


class Example(SchemeRecord, frozen=True):
    """A case that fits (or an answer that is right), or one that does not, and why."""

    why: str
    turns: tuple[str, ...] = ()
    triples: tuple[str, ...] = ()
    text: str | None = None
    fits: bool | None = None
    answer: int | str | None = None


Examples: TypeAlias = Mapping[str, tuple[Example, ...]]


class Label(SchemeRecord, frozen=True):
    """One of the answers that a question offers."""

    id: str
    name: Text
    definition: Text
    number: int | None = None
    aliases: tuple[str, ...] = ()
    key: str | None = None
    cell: tuple[str, str] | None = None
    on: Role | None = None
    covers: Literal["token", "element"] | None = None
    notes: Notes = EMPTY
    examples: Examples = EMPTY


class Level(SchemeRecord, frozen=True):
    """A step of a scale."""

    value: int
    meaning: Text


class Calculator(SchemeRecord, frozen=True):
    """A level worked out from two counts, where the guideline gives the arithmetic."""

    part: Text
    whole: Text
    times: int
    least: int

    def level(self, part: int, whole: int) -> int:
        """`part / whole * times`, halves rounded up, never below `least`."""
        if whole < 1 or not 0 <= part <= whole:
            raise InvalidError("not-share", hint="count-least-one-no", part=part, whole=whole)
        # In whole numbers, so that exactly one half is exactly one half.
        return max(self.least, (2 * part * self.times + whole) // (2 * whole))


class AxisValue(SchemeRecord, frozen=True):
    """A row or a column of the grid."""

    id: str
    name: Text
    definition: Text


class Axis(SchemeRecord, frozen=True):
    """The rows or the columns of the grid."""

    name: Text
    values: tuple[AxisValue, ...]


class Cell(SchemeRecord, frozen=True):
    """What the labels of one cell have in common."""

    at: tuple[str, str]
    definition: Text


class Axes(SchemeRecord, frozen=True):
    """The grid in which a question's labels are drawn."""

    rows: Axis
    columns: Axis
    cells: tuple[Cell, ...] = ()


class Analysis(SchemeRecord, frozen=True):
    """What is usual when the answers to a question are put together and measured. Annotators do not see it."""

    tie_break: tuple[str, ...] = ()
    """The labels in the order in which a tie of votes goes; without it a tie decides nothing. Where no label has the
    share asked for, the first of them stands."""
    merged: tuple[tuple[str, ...], ...] = ()
    """Labels that are also counted as one: agreement is shown once with them apart and once together."""
    scores: tuple[str, ...] = ()
    """The scores of a run, where others are usual than for all questions of that kind."""


NO_ANALYSIS = Analysis()


class Condition(SchemeRecord, frozen=True):
    """When a question is asked at all: where an earlier one was given one of these answers."""

    question: str
    answers: tuple[int | str, ...]
    """Labels, or levels of a scale."""


class Question(SchemeRecord, frozen=True):
    """Something an annotator answers about a unit."""

    id: str
    kind: str
    """One of `lapsus.kinds`, which says what it means."""
    name: Text
    ask: Text
    required: bool = True
    only_if: Condition | None = None
    notes: Notes = EMPTY
    examples: Examples = EMPTY
    labels: tuple[Label, ...] = ()
    labels_from: str | None = None
    at_least: int = 0
    at_most: int | None = None
    in_order: bool = False
    alone: tuple[str, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    ties: tuple[tuple[str, str], ...] = ()
    axes: Axes | None = None
    levels: tuple[Level, ...] = ()
    calculator: Calculator | None = None
    reference: str | None = None
    suggest: Notes = EMPTY
    analysis: Analysis = NO_ANALYSIS

    def label(self, name: str) -> Label | None:
        """The label of that id or alias."""
        for label in self.labels:
            if name == label.id:
                return label
        for label in self.labels:
            if name in label.aliases:
                return label
        wanted = folded(name)
        for label in self.labels:
            if wanted in map(folded, (label.id, *label.aliases)):
                return label
        return None


class UnitRule(SchemeRecord, frozen=True):
    """What is judged, and how much of the document a judge sees of it."""

    role: Role | Literal["document"]
    context: Literal["before", "all", "none"] = "before"


class TargetRule(SchemeRecord, frozen=True):
    """Which units are judged at all: those that enough annotators gave certain labels under another scheme."""

    scheme: str
    question: str
    labels: tuple[str, ...]
    at_least: float

    def admits(self, counts: Mapping[str, int]) -> bool:
        """Whether the votes for `labels` make up the share asked for."""
        votes = sum(counts.values())
        wanted = sum(counts.get(label, 0) for label in self.labels)
        # A hair below the product: 0.1 of 30 votes is 3 votes, whatever binary fractions say.
        return votes > 0 and wanted >= math.nextafter(self.at_least * votes, 0.0)


class Section(SchemeRecord, frozen=True):
    """Something to read before starting."""

    id: str
    title: Text
    text: Text


class Step(SchemeRecord, frozen=True):
    """One of the steps that the guideline prescribes, in order."""

    id: str
    title: Text
    text: Text
    labels: tuple[str, ...] = ()


class ListItem(SchemeRecord, frozen=True):
    """An entry of a reference list."""

    id: str
    name: Text
    definition: Text
    examples: Notes = EMPTY
    sign: str | None = None
    """A picture that stands for it."""


class ListGroup(SchemeRecord, frozen=True):
    """A named part of a reference list."""

    id: str
    name: Text
    items: tuple[ListItem, ...]


class ReferenceList(SchemeRecord, frozen=True):
    """A list that questions refer to, such as the dialogue acts."""

    id: str
    title: Text
    groups: tuple[ListGroup, ...]

    def items(self) -> tuple[ListItem, ...]:
        """All entries, group after group."""
        return tuple(item for group in self.groups for item in group.items)


class Scheme(SchemeRecord, frozen=True):
    """A guideline: which units, which questions, which answers may stand together, and every word of it."""

    scheme: str
    version: str
    title: Text
    summary: Text
    unit: UnitRule
    questions: tuple[Question, ...]
    compatible: tuple[str, ...] = ()
    """Earlier versions whose answers mean the same under this one."""
    source: Text = EMPTY
    target: TargetRule | None = None
    background: tuple[Section, ...] = ()
    steps: tuple[Step, ...] = ()
    lists: tuple[ReferenceList, ...] = ()

    @property
    def id(self) -> str:
        """The name by which the scheme is asked for."""
        return self.scheme

    def guideline(self) -> Scheme:
        """What annotators are told: the scheme without what it says of analysis. It tells versions apart."""
        plain = (msgspec.structs.replace(question, analysis=NO_ANALYSIS) for question in self.questions)
        return msgspec.structs.replace(self, questions=tuple(plain))

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the scheme is written in."""
        return tuple(self.title)

    def question(self, id: str) -> Question | None:
        """The question of that id."""
        return next((question for question in self.questions if question.id == id), None)

    def reference(self, id: str) -> ReferenceList | None:
        """The reference list of that id."""
        return next((reference for reference in self.lists if reference.id == id), None)

    def labels_of(self, question: Question) -> tuple[Label, ...]:
        """The labels that a question offers, its own or those of a reference list."""
        if question.labels_from is None:
            return question.labels
        reference = self.reference(question.labels_from)
        items = reference.items() if reference else ()
        return tuple(Label(id=item.id, name=item.name, definition=item.definition) for item in items)


class Spellings:
    """Finds a label's id: by the id, by an alias, or by either in full or half width, capitals or a like sign."""

    def __init__(self, labels: Sequence[Label]) -> None:
        self._labels = labels
        self._ids = frozenset(label.id for label in labels)

    def id_of(self, name: str) -> str:
        """The id; what is no label stays as it is, for the rules to judge."""
        if name in self._ids:
            return name
        return self._aliases.get(name) or self._folded.get(folded(name), name)

    def shares(self, given: Mapping[str, float]) -> Mapping[str, float]:
        """A distribution by ids, the same object where nothing changes; with a label twice it stays as it is."""
        if given.keys() <= self._ids:
            return given
        found = {self.id_of(name): share for name, share in given.items()}
        return found if len(found) == len(given) and found != given else given

    # Of several labels with one spelling the first has it.

    @cached_property
    def _aliases(self) -> dict[str, str]:
        return {name: label.id for label in reversed(self._labels) for name in label.aliases}

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {folded(name): id for name, id in self._aliases.items()} | {
            folded(id): id for id in (label.id for label in reversed(self._labels))
        }
