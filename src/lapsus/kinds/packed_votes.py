"""Judgments packed as rows of numbers: a million of them are read in the time that a page may take.

A row is one person's newest judgment of one unit. How a row is laid out follows from the scheme alone, so that
rows may be kept as bytes and read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.kinds import kind_of
from lapsus.model import Answer, Question, Scheme, UnitKey
from lapsus.model.votes import MISSING, Votes, VoteTable

Rows = NDArray[np.void]

UNKNOWN_TIME = -1


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
        kept = kind_of(question, scheme).packed_type
        if kept is not None:
            fields.append((_field(question), *((kept,) if isinstance(kept, str) else kept)))
    return np.dtype(fields)


def pack(scheme: Scheme, given: Sequence[Given]) -> Rows:
    """Judgments as rows, by unit and person.

    These are stored already: one with an answer that its question does not know must not take the figures of all
    others with it, so it counts as none.
    """
    rows = np.zeros(len(given), dtype=layout(scheme))
    rows["unit"] = [one.unit for one in given]
    rows["person"] = [one.person for one in given]
    rows["at"] = [UNKNOWN_TIME if one.at is None else one.at for one in given]
    rows["seconds"] = [np.nan if one.seconds is None else one.seconds for one in given]
    for question in scheme.questions:
        kind = kind_of(question, scheme)
        if kind.is_packed:
            rows[_field(question)] = kind.codes([one.answers.get(question.id) for one in given])
    order = np.lexsort((rows["person"], rows["unit"]))
    ordered: Rows = rows[order]
    return ordered


def unpack(scheme: Scheme, content: Iterable[bytes]) -> Rows:
    """Rows that were kept as bytes, one batch after the other."""
    return np.frombuffer(b"".join(content), dtype=layout(scheme))


@dataclass(frozen=True)
class PackedVotes:
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

    def of(self, which: NDArray[np.bool_]) -> PackedVotes:
        """The judgments where `which` is true."""
        return PackedVotes(self.scheme, self.rows[which])

    def spread(self, field: str) -> NDArray[np.float64]:
        """A number of each judgment, a row a unit and a column a person; NaN where there is none."""
        table = np.full(self.shape, np.nan)
        values = self.rows[field].astype(np.float64)
        table[self.row, self.column] = np.where(values == UNKNOWN_TIME, np.nan, values)
        return table

    def votes(
        self, question: Question, units: Sequence[UnitKey] = (), annotators: Sequence[str] = ()
    ) -> Votes:
        """The votes on a question; units and annotators go by their numbers where no names are given."""
        keys = tuple(units) or tuple(UnitKey(str(number), None) for number in self.units.tolist())
        names = tuple(annotators) or tuple(map(str, self.people.tolist()))
        kind = kind_of(question, self.scheme)
        return kind.votes(VoteTable(keys, names), self.row, self.column, self._codes(question))

    def same_answers(self, question: Question) -> NDArray[np.int64]:
        """A number for each judgment's answer, the same for the same answer; MISSING where there is none."""
        kind, given = kind_of(question, self.scheme), self._codes(question)
        if kind.is_counted:
            return kind.places(given).astype(np.int64)
        there = given.any(axis=1)
        given = np.ascontiguousarray(given).view(f"V{given.shape[1]}").ravel()
        codes = np.full(len(given), MISSING, dtype=np.int64)
        codes[there] = np.unique(given[there], return_inverse=True)[1]
        return codes

    def said(self, question: Question, answer: str) -> NDArray[np.bool_] | None:
        """Which judgments gave this answer, among others or alone; None where rows do not tell."""
        kind = kind_of(question, self.scheme)
        if not kind.is_packed:
            return None
        given = self._codes(question)
        if answer not in kind.choices:
            return np.zeros(len(given), dtype=np.bool_)
        place = kind.choices.index(answer)
        if kind.is_counted:
            return np.asarray(kind.places(given) == place)
        # The first bit of a set tells that there is one.
        return np.asarray((given[:, (place + 1) // 8] >> ((place + 1) % 8)) & 1, dtype=np.bool_)

    def counts(self, question: Question) -> NDArray[np.int64]:
        """How many people gave each label, or chose each step of a scale: a row a unit."""
        kind = kind_of(question, self.scheme)
        codes, many = kind.places(self._codes(question)), len(kind.choices)
        there = codes >= 0
        cells = self.row[there] * many + codes[there]
        return np.bincount(cells, minlength=len(self.units) * many).reshape(len(self.units), many)

    def _codes(self, question: Question) -> Any:
        if not kind_of(question).is_packed:
            raise InvalidError("answers-not-kept-numbers", id=question.id)
        return self.rows[_field(question)]


def _field(question: Question) -> str:
    """Set apart, since a question may be called anything."""
    return f"answer {question.id}"
