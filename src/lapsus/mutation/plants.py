"""What a planted error is: a document with one unit to judge, and the answers by which a judge has found it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from lapsus.model import EMPTY, Answer, Document, Segment, Span, UnitRule
from lapsus.model.unit import SAMPLE, WHOLE
from lapsus.mutation.pair_rules import touches

Means: TypeAlias = Literal["rule", "example", "model"]
"""How an error was planted: by rule, from the guideline's own examples, or by a language model."""


class Expected(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answers to one question that find an error."""

    question: str
    labels: tuple[str, ...] = ()
    at_most: float | None = None
    """On a scale: this level or a lower one."""
    places: tuple[tuple[str, int, int], ...] = ()
    """Of marks: they must touch one of these places; none: wherever they are."""

    def is_met(self, answers: Mapping[str, Answer]) -> bool:
        """Whether a judge's answers find it."""
        answer = answers.get(self.question)
        if isinstance(answer, tuple):
            return any(self._is_one(part) for part in answer)
        if isinstance(answer, str):
            return answer in self.labels
        return answer is not None and self.at_most is not None and answer <= self.at_most

    def anywhere(self) -> Expected:
        """The same without places: what would be a false alarm in a unit left as it was."""
        return msgspec.structs.replace(self, places=())

    def _is_one(self, part: str | Span) -> bool:
        if isinstance(part, str):
            return part in self.labels
        return part.label in self.labels and (
            not self.places or any(touches(part, one) for one in self.places)
        )


class Plant(msgspec.Struct, frozen=True, omit_defaults=True):
    """A unit for judges: with an error planted in it, or left as it was (no type, nothing expected)."""

    document: Document
    source: str
    """The document that it was made from: units of one document are no independent draws."""
    text: str
    """What is judged, as it reads now."""
    type: str = ""
    means: Means | None = None
    expected: Expected | None = None
    before: str = ""
    """What stood there."""


def alone(segments: tuple[Segment, ...], place: int | None, language: str | None, rule: UnitRule) -> Document:
    """A document in which one unit alone is judged; ids are numbers, so that they tell nothing."""
    renamed = tuple(msgspec.structs.replace(one, id=str(n), metadata=EMPTY) for n, one in enumerate(segments))
    chosen = WHOLE if place is None else str(place)
    sample: dict[str, Any] = {"role": rule.role, "units": {chosen: {"weight": 1}}}
    return Document("unnamed", renamed, language, {SAMPLE: sample})


def named(plant: Plant, id: str) -> Plant:
    """The same plant under another document id."""
    return msgspec.structs.replace(plant, document=msgspec.structs.replace(plant.document, id=id))
