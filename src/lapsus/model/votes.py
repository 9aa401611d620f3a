"""Votes: judgments as arrays, units down and annotators across; the one input of every measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.model.judgment import Span, UnitKey

Columns: TypeAlias = Sequence[int] | NDArray[np.intp]
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
                "votes-shape-units-annotators",
                shape=array.shape,
                count=len(self.units),
                count2=len(self.annotators),
            )
        array.setflags(write=False)

    def _names(self, columns: Columns) -> tuple[str, ...]:
        return tuple(self.annotators[column] for column in columns)

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
            raise InvalidError("codes-must", missing=MISSING, count=len(self.labels) - 1)

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Who answered what."""
        return np.asarray(self.codes != MISSING)

    def counts(self) -> NDArray[np.int64]:
        """How many annotators gave each label: a row a unit, a column a label."""
        return count_labels(self.codes, len(self.labels))

    def of(self, columns: Columns) -> "LabelVotes":
        """The votes of the annotators in these columns only."""
        return LabelVotes(self.units, self._names(columns), self.labels, self.codes[:, list(columns)])


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


def row_shares(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Counts as shares of their sum along the last axis; NaN where nothing was counted."""
    totals = counts.sum(axis=-1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(
        counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0
    )
    return shares


def row_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each row without its NaN; NaN where nothing is left."""
    known = ~np.isnan(values)
    numbers = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    means: NDArray[np.float64] = np.divide(sums, numbers, out=np.full(len(values), np.nan), where=numbers > 0)
    return means


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
            raise InvalidError("choices-shape-labels", shape=self.chosen.shape, count=len(self.labels))

    def counts(self) -> NDArray[np.int64]:
        """How many annotators gave each label: a row a unit, a column a label."""
        return np.asarray((self.chosen & self.answered[:, :, None]).sum(axis=1))

    def of(self, columns: Columns) -> "LabelSetVotes":
        """The votes of the annotators in these columns only."""
        places = list(columns)
        chosen, answered = self.chosen[:, places], self.answered[:, places]
        return LabelSetVotes(self.units, self._names(columns), self.labels, chosen, answered)


@dataclass(frozen=True)
class ScaleVotes(VoteTable):
    """A number from each annotator, NaN where there is no answer."""

    values: NDArray[np.float64]
    levels: tuple[float, ...] = ()
    """All steps of the scale, also those that nobody chose, where they are known."""

    def __post_init__(self) -> None:
        self._check(self.values)

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Who answered what."""
        return ~np.isnan(self.values)

    def of(self, columns: Columns) -> "ScaleVotes":
        """The votes of the annotators in these columns only."""
        return ScaleVotes(self.units, self._names(columns), self.values[:, list(columns)])


@dataclass(frozen=True)
class SpanVotes(VoteTable):
    """Spans from each annotator: `spans[unit][annotator]`, None where there is no answer, () for no span."""

    labels: tuple[str, ...]
    spans: tuple[tuple[tuple[Span, ...] | None, ...], ...]

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Who answered what."""
        given = np.array([[spans is not None for spans in row] for row in self.spans], dtype=np.bool_)
        return given.reshape(len(self.units), len(self.annotators))


Votes: TypeAlias = LabelVotes | LabelSetVotes | ScaleVotes | SpanVotes
