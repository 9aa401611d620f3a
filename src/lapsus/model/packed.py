"""Judgments packed as rows of numbers: a million of them are read in the time that a page may take.

A row is one person's newest judgment of one unit. How a row is laid out follows from the scheme alone, so that
rows may be kept as bytes and read again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.model.judgment import Answer, UnitKey
from lapsus.model.scheme import Question, Scheme
from lapsus.model.votes import MISSING, LabelSetVotes, LabelVotes, ScaleVotes

Rows = NDArray[np.void]

UNKNOWN_TIME = -1
_ANSWERED = 1
"""The first bit of a set of labels tells an empty set from no answer."""


class Given(NamedTuple):
    """One person's judgment of one unit, both known by their numbers."""

    unit: int
    person: int
    at: int | None
    """Microseconds since 1970."""
    seconds: float | None
    answers: Mapping[str, Answer]


def layout(scheme: Scheme) -> np.dtype[np.void]:
    """How a row under a scheme is laid out."""
    fields: list[Any] = [("unit", "<i4"), ("person", "<i4"), ("at", "<i8"), ("seconds", "<f8")]
    for question in scheme.questions:
        match question.kind:
            case "label":
                fields.append((_field(question), "<i2"))
            case "scale":
                fields.append((_field(question), "<f8"))
            case "labels":
                fields.append((_field(question), "u1", (_width(scheme, question),)))
            case "spans":
                fields.append((_field(question), "<i8"))
    return np.dtype(fields)


def pack(scheme: Scheme, given: Sequence[Given]) -> Rows:
    """Judgments as rows, by unit and person. What the scheme does not know is left out."""
    rows = np.zeros(len(given), dtype=layout(scheme))
    rows["unit"] = [one.unit for one in given]
    rows["person"] = [one.person for one in given]
    rows["at"] = [UNKNOWN_TIME if one.at is None else one.at for one in given]
    rows["seconds"] = [np.nan if one.seconds is None else one.seconds for one in given]
    for question in scheme.questions:
        answers = [one.answers.get(question.id) for one in given]
        labels = {label.id: place for place, label in enumerate(scheme.labels_of(question))}
        match question.kind:
            case "label":
                rows[_field(question)] = [labels.get(answer, MISSING) for answer in answers]  # type: ignore[arg-type]
            case "scale":
                rows[_field(question)] = [answer if _is_number(answer) else np.nan for answer in answers]
            case "labels":
                width = _width(scheme, question)
                packed = b"".join(_bits(answer, labels).to_bytes(width, "little") for answer in answers)
                rows[_field(question)] = np.frombuffer(packed, dtype=np.uint8).reshape(-1, width)
            case "spans":
                rows[_field(question)] = [_digest(answer) for answer in answers]
    order = np.lexsort((rows["person"], rows["unit"]))
    ordered: Rows = rows[order]
    return ordered


def unpack(scheme: Scheme, content: Iterable[bytes]) -> Rows:
    """Rows that were kept as bytes, one batch after the other."""
    return np.frombuffer(b"".join(content), dtype=layout(scheme))


@dataclass(frozen=True)
class Ballots:
    """Rows under a scheme, as votes on each of its questions."""

    scheme: Scheme
    rows: Rows
    """By unit and person."""

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The numbers of the units that somebody judged."""
        return np.unique(self.rows["unit"]).astype(np.int64)

    @cached_property
    def people(self) -> NDArray[np.int64]:
        """The numbers of those who judged."""
        return np.unique(self.rows["person"]).astype(np.int64)

    @cached_property
    def row(self) -> NDArray[np.intp]:
        """For each judgment, the place of its unit."""
        return np.searchsorted(self.units, self.rows["unit"])

    @cached_property
    def column(self) -> NDArray[np.intp]:
        """For each judgment, the place of its judge."""
        return np.searchsorted(self.people, self.rows["person"])

    @property
    def shape(self) -> tuple[int, int]:
        """How many units and people."""
        return len(self.units), len(self.people)

    def of(self, which: NDArray[np.bool_]) -> Ballots:
        """Only some of the judgments."""
        return Ballots(self.scheme, self.rows[which])

    def spread(self, field: str) -> NDArray[np.float64]:
        """A number of each judgment, a row a unit and a column a person; NaN where there is none."""
        table = np.full(self.shape, np.nan)
        values = self.rows[field].astype(np.float64)
        table[self.row, self.column] = np.where(values == UNKNOWN_TIME, np.nan, values)
        return table

    def votes(
        self, question: Question, units: Sequence[UnitKey] = (), annotators: Sequence[str] = ()
    ) -> LabelVotes | LabelSetVotes | ScaleVotes:
        """The votes on a question; units and annotators go by their numbers where no names are given."""
        keys = tuple(units) or tuple(UnitKey(str(number), None) for number in self.units.tolist())
        names = tuple(annotators) or tuple(map(str, self.people.tolist()))
        labels = tuple(label.id for label in self.scheme.labels_of(question))
        match question.kind:
            case "label":
                width = np.int8 if len(labels) < 128 else np.int16
                codes = np.full(self.shape, MISSING, dtype=width)
                codes[self.row, self.column] = self.rows[_field(question)]
                return LabelVotes(keys, names, labels, codes)
            case "scale":
                values = np.full(self.shape, np.nan)
                values[self.row, self.column] = self.rows[_field(question)]
                levels = tuple(float(level.value) for level in question.levels)
                return ScaleVotes(keys, names, values, levels)
            case "labels":
                bits = np.unpackbits(self.rows[_field(question)], axis=1, bitorder="little")
                chosen = np.zeros((*self.shape, len(labels)), dtype=np.bool_)
                answered = np.zeros(self.shape, dtype=np.bool_)
                chosen[self.row, self.column] = bits[:, 1 : len(labels) + 1]
                answered[self.row, self.column] = bits[:, 0]
                return LabelSetVotes(keys, names, labels, chosen, answered)
        raise InvalidError(f"answers to {question.id!r} are not kept as numbers")

    def counts(self, question: Question) -> NDArray[np.int64]:
        """How many people gave each label, or chose each step of a scale: a row a unit."""
        if question.kind == "label":
            codes, many = self.rows[_field(question)].astype(np.intp), len(self.scheme.labels_of(question))
        elif question.kind == "scale":
            codes, many = _steps(self.rows[_field(question)], question), len(question.levels)
        else:
            raise InvalidError(f"answers to {question.id!r} are not counted one by one")
        there = codes >= 0
        cells = self.row[there] * many + codes[there]
        return np.bincount(cells, minlength=len(self.units) * many).reshape(len(self.units), many)


def is_counted(question: Question) -> bool:
    """Whether how often each answer was given to a unit says all that agreement needs."""
    return question.kind in ("label", "scale")


def _steps(values: NDArray[np.float64], question: Question) -> NDArray[np.intp]:
    levels = np.array([level.value for level in question.levels], dtype=np.float64)
    order = np.argsort(levels)
    found = np.searchsorted(levels, values, sorter=order).clip(max=len(levels) - 1)
    places = order[found]
    return np.where(levels[places] == values, places, MISSING)


def _field(question: Question) -> str:
    """Set apart, since a question may be called anything."""
    return f"answer {question.id}"


def _width(scheme: Scheme, question: Question) -> int:
    return (len(scheme.labels_of(question)) + 1 + 7) // 8


def _is_number(answer: object) -> bool:
    return isinstance(answer, int | float) and not isinstance(answer, bool)


def _bits(answer: object, labels: Mapping[str, int]) -> int:
    if not isinstance(answer, tuple):
        return 0
    bits = _ANSWERED
    for label in answer:
        if label in labels:
            bits |= 1 << (labels[label] + 1)
    return bits


def _digest(answer: object) -> int:
    """A number for a set of spans, the same for the same set; 0 for no answer."""
    if not isinstance(answer, tuple):
        return 0
    whole = hashlib.blake2b("\n".join(sorted(map(repr, answer))).encode(), digest_size=8)
    return int.from_bytes(whole.digest(), "little", signed=True) or 1
