"""Votes: judgments as arrays, units down and annotators across; the one input of every measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.model.judgment import Judgment, Span, UnitKey, latest
from lapsus.model.scheme import Question

MISSING = -1
_ROWS = 1 << 13
"""How many units are counted at a time: few enough to stay in the processor's cache."""


@dataclass(frozen=True)
class VoteTable:
    """Who judged what. The arrays of the kinds below have a row a unit and a column an annotator."""

    units: tuple[UnitKey, ...]
    annotators: tuple[str, ...]

    def _check(self, array: NDArray[Any]) -> None:
        if array.shape[:2] != (len(self.units), len(self.annotators)):
            raise InvalidError(
                f"votes of shape {array.shape} for {len(self.units)} units and {len(self.annotators)} annotators"
            )
        array.setflags(write=False)

    def document_groups(self) -> NDArray[np.intp]:
        """For each unit the number of its document: units of one document hang together."""
        numbers: dict[str, int] = {}
        return np.array(
            [numbers.setdefault(unit.document, len(numbers)) for unit in self.units], dtype=np.intp
        )


@dataclass(frozen=True)
class LabelVotes(VoteTable):
    """One label from each annotator: `codes` are places in `labels`, -1 where there is no answer."""

    labels: tuple[str, ...]
    codes: NDArray[np.signedinteger[Any]]

    def __post_init__(self) -> None:
        self._check(self.codes)
        if self.codes.size and not MISSING <= self.codes.min() <= self.codes.max() < len(self.labels):
            raise InvalidError(f"codes must be from {MISSING} to {len(self.labels) - 1}")

    def counts(self) -> NDArray[np.int64]:
        """How many annotators gave each label: a row a unit, a column a label."""
        return count_labels(self.codes, len(self.labels))


def count_labels(codes: NDArray[np.signedinteger[Any]], labels: int) -> NDArray[np.int64]:
    """How often each code below `labels` stands in each row: a row a unit, a column a label."""
    counts = np.empty((len(codes), labels), dtype=np.int64)
    narrow = np.min_scalar_type(codes.shape[1])
    for start in range(0, len(codes), _ROWS):
        # Turned on its side, the sum runs along memory, in small numbers: five times faster than row by row.
        block = np.ascontiguousarray(codes[start : start + _ROWS].T)
        for code in range(labels):
            counts[start : start + _ROWS, code] = (block == code).sum(axis=0, dtype=narrow)
    return counts


@dataclass(frozen=True)
class LabelSetVotes(VoteTable):
    """Several labels from each annotator: `chosen[unit, annotator, label]`; `answered` tells none from nothing."""

    labels: tuple[str, ...]
    chosen: NDArray[np.bool_]
    answered: NDArray[np.bool_]

    def __post_init__(self) -> None:
        self._check(self.chosen)
        self._check(self.answered)
        if self.chosen.shape[2:] != (len(self.labels),):
            raise InvalidError(f"choices of shape {self.chosen.shape} for {len(self.labels)} labels")


@dataclass(frozen=True)
class ScaleVotes(VoteTable):
    """A number from each annotator, NaN where there is no answer."""

    values: NDArray[np.float64]
    levels: tuple[float, ...] = ()
    """All steps of the scale, also those that nobody chose, where they are known."""

    def __post_init__(self) -> None:
        self._check(self.values)


@dataclass(frozen=True)
class SpanVotes(VoteTable):
    """Spans from each annotator: `spans[unit][annotator]`, None where there is no answer, () for no span."""

    labels: tuple[str, ...]
    spans: tuple[tuple[tuple[Span, ...] | None, ...], ...]


Votes: TypeAlias = LabelVotes | LabelSetVotes | ScaleVotes | SpanVotes


def collect_votes(
    judgments: Iterable[Judgment], question: Question, labels: Sequence[str] | None = None
) -> Votes:
    """The votes on one question. `labels` overrides the question's own where they come from a list."""
    given = [
        (j.unit, j.annotator, _of_kind(j.answers[question.id], question, j))
        for j in latest(judgments)
        if question.id in j.answers
    ]
    units = tuple(dict.fromkeys(unit for unit, _, _ in given))
    annotators = tuple(dict.fromkeys(annotator for _, annotator, _ in given))
    names = tuple(labels) if labels is not None else tuple(label.id for label in question.labels)
    row = {unit: place for place, unit in enumerate(units)}
    column = {annotator: place for place, annotator in enumerate(annotators)}
    placed = [(row[unit], column[annotator], answer) for unit, annotator, answer in given]
    table = VoteTable(units, annotators)
    match question.kind:
        case "label":
            return _label_votes(table, names, placed)
        case "labels":
            return _label_set_votes(table, names, placed)
        case "scale":
            values = np.full((len(units), len(annotators)), np.nan)
            for i, k, answer in placed:
                values[i, k] = float(answer)
            return ScaleVotes(
                units, annotators, values, tuple(float(level.value) for level in question.levels)
            )
        case "spans":
            grid: list[list[Any]] = [[None] * len(annotators) for _ in units]
            for i, k, answer in placed:
                grid[i][k] = answer
            return SpanVotes(units, annotators, names, tuple(tuple(line) for line in grid))
        case _:
            raise InvalidError(f"question {question.id!r} is answered in free text, which cannot be counted")


def _of_kind(answer: Any, question: Question, judgment: Judgment) -> Any:
    """The answer, if it is one that this kind of question takes."""
    match question.kind:
        case "label":
            fits = isinstance(answer, str)
        case "scale":
            fits = isinstance(answer, int | float) and not isinstance(answer, bool)
        case "labels":
            fits = isinstance(answer, tuple) and all(isinstance(item, str) for item in answer)
        case "spans":
            fits = isinstance(answer, tuple) and all(isinstance(item, Span) for item in answer)
        case _:
            fits = True
    if not fits:
        raise InvalidError(
            f"{answer!r} is no answer to {question.id!r}, a question of kind {question.kind!r}",
            where=f"document {judgment.document!r}, annotator {judgment.annotator!r}",
        )
    known = {label.id for label in question.labels}
    if question.kind == "spans" and known and (unknown := {span.label for span in answer} - known):
        raise InvalidError(
            f"unknown label {min(unknown)!r}",
            where=f"document {judgment.document!r}, annotator {judgment.annotator!r}",
            hint=f"known: {', '.join(sorted(known))}",
        )
    return answer


def _code(names: tuple[str, ...], answer: object, unit: UnitKey, codes: dict[object, int]) -> int:
    try:
        return codes[answer]
    except KeyError:
        raise InvalidError(
            f"unknown label {answer!r}",
            where=f"document {unit.document!r}",
            hint=f"known: {', '.join(names)}",
        ) from None


def _label_votes(table: VoteTable, names: tuple[str, ...], placed: list[tuple[int, int, Any]]) -> LabelVotes:
    codes: dict[object, int] = {name: code for code, name in enumerate(names)}
    width = np.int8 if len(names) < 128 else np.int16
    array = np.full((len(table.units), len(table.annotators)), MISSING, dtype=width)
    for i, k, answer in placed:
        array[i, k] = _code(names, answer, table.units[i], codes)
    return LabelVotes(table.units, table.annotators, names, array)


def _label_set_votes(
    table: VoteTable, names: tuple[str, ...], placed: list[tuple[int, int, Any]]
) -> LabelSetVotes:
    codes: dict[object, int] = {name: code for code, name in enumerate(names)}
    shape = (len(table.units), len(table.annotators))
    chosen = np.zeros((*shape, len(names)), dtype=np.bool_)
    answered = np.zeros(shape, dtype=np.bool_)
    for i, k, answer in placed:
        answered[i, k] = True
        for label in answer:
            chosen[i, k, _code(names, label, table.units[i], codes)] = True
    return LabelSetVotes(table.units, table.annotators, names, chosen, answered)
