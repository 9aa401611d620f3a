"""Scores of marked spans: exact, overlapping and by character, with the category and without."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats, group_sums
from lapsus.measures.scores.tally import EMPTY_BOTH, PrecisionRecall, Tally, two_sided_precision_recall_f
from lapsus.model import ELEMENTS, Document, Span

SpansOfUnits: TypeAlias = Sequence[Collection[Span]]
"""For each unit its spans. The same stretch marked twice in the same way counts once."""

ElementsOfUnits: TypeAlias = Sequence[Collection[tuple[str, str]]]
"""For each unit the (segment, element) pairs that were left out."""

_Mark: TypeAlias = tuple[str, int, int, str]

_WAYS = ("exact", "overlapping", "characters", "exact,any", "overlapping,any", "characters,any")
Ints = NDArray[np.int64]


class SpanScores(msgspec.Struct, frozen=True):
    """Scores of one run's spans. The category must be right too, but for those that begin with `any_`."""

    exact: PrecisionRecall
    """The same stretch."""
    overlapping: PrecisionRecall
    """At least one character in common. Several spans may overlap one; each side counts its own."""
    characters: PrecisionRecall
    """Characters marked by both, of the characters marked."""
    any_exact: PrecisionRecall
    any_overlapping: PrecisionRecall
    any_characters: PrecisionRecall
    n: int


class ElementScores(msgspec.Struct, frozen=True):
    """Scores of what was found to be left out, by part of the triple."""

    subject: PrecisionRecall
    predicate: PrecisionRecall
    object: PrecisionRecall
    all: PrecisionRecall
    n: int


def span_scores(
    predicted: SpansOfUnits,
    gold: SpansOfUnits,
    groups: NDArray[np.intp],
    *,
    bootstrap: Bootstrap | None = USUAL,
) -> SpanScores:
    """Score the spans of each unit against the gold's. `groups` numbers each unit's document."""
    tally = span_tally(predicted, gold, groups)
    exact, overlapping, characters, any_exact, any_overlapping, any_characters = _triples(tally, bootstrap)
    return SpanScores(exact, overlapping, characters, any_exact, any_overlapping, any_characters, tally.n)


def span_tally(predicted: SpansOfUnits, gold: SpansOfUnits, groups: NDArray[np.intp]) -> Tally:
    """The sums by document from which the scores of spans follow."""
    _check(len(predicted), len(gold), len(groups))
    columns: list[Floats] = []
    for with_category in (True, False):
        said, there = _marks(predicted, with_category), _marks(gold, with_category)
        columns += [_exact(said, there), *_overlapping_and_characters(said, there)]
    return Tally(
        tuple(f"{letter}({way})" for way in _WAYS for letter in "PRF"),
        _by_document(np.hstack(columns), groups),
        two_sided_values,
        len(gold),
    )


def omitted_elements(spans: Iterable[Span], document: Document, label: str) -> frozenset[tuple[str, str]]:
    """The parts of triples that spans of this label touch, as (segment, element) pairs."""
    touched = set()
    for span in spans:
        if span.label == label:
            for element in document.segment(span.segment).elements():
                if span.start < element.end and element.start < span.end:
                    touched.add((span.segment, element.name))
    return frozenset(touched)


def element_scores(
    predicted: ElementsOfUnits,
    gold: ElementsOfUnits,
    groups: NDArray[np.intp],
    *,
    bootstrap: Bootstrap | None = USUAL,
) -> ElementScores:
    """Score what was found to be left out of triples, part by part. `omitted_elements` makes the input."""
    tally = element_tally(predicted, gold, groups)
    subject, predicate, object_, all_ = _triples(tally, bootstrap)
    return ElementScores(subject, predicate, object_, all_, tally.n)


def element_tally(predicted: ElementsOfUnits, gold: ElementsOfUnits, groups: NDArray[np.intp]) -> Tally:
    """The sums by document from which the scores by element follow."""
    _check(len(predicted), len(gold), len(groups))
    columns = np.zeros((len(gold), len(ELEMENTS) + 1, 4))
    for row, (said, there) in enumerate(zip(predicted, gold, strict=True)):
        both = set(said) & set(there)
        for column, pairs in enumerate((both, set(said), both, set(there))):
            for _, element in pairs:
                columns[row, ELEMENTS.index(element), column] += 1
    columns[:, -1] = columns[:, :-1].sum(axis=1)
    names = tuple(f"{letter}(omitted,{part})" for part in (*ELEMENTS, "all") for letter in "PRF")
    return Tally(
        names,
        _by_document(columns.reshape(len(gold), 4 * len(names) // 3), groups),
        two_sided_values,
        len(gold),
    )


def two_sided_values(sums: Floats) -> Floats:
    """P, R and F of each way to match, from sums of hits and sizes of both sides, four a way."""
    ways = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, 4), -1, 0)
    values = two_sided_precision_recall_f(*ways)
    return values.reshape(*sums.shape[:-1], -1)


def _marks(spans: SpansOfUnits, with_category: bool) -> list[set[_Mark]]:
    return [
        {(span.segment, span.start, span.end, span.label if with_category else "") for span in of_unit}
        for of_unit in spans
    ]


def _exact(said: list[set[_Mark]], there: list[set[_Mark]]) -> Floats:
    counts = [(len(a & b), len(a), len(a & b), len(b)) for a, b in zip(said, there, strict=True)]
    return np.array(counts, dtype=np.float64).reshape(-1, 4)


def _overlapping_and_characters(said: list[set[_Mark]], there: list[set[_Mark]]) -> tuple[Floats, Floats]:
    places: dict[tuple[int, str, str], int] = {}
    width = 1 + max((end for marks in (*said, *there) for _, _, end, _ in marks), default=0)
    ours, theirs = (Stretches.on_one_line(marks, places, width) for marks in (said, there))
    overlapping = [ours.hits(theirs), ours.counts(), theirs.hits(ours), theirs.counts()]
    common = ours.common(theirs)
    characters = [common, ours.covered(), common, theirs.covered()]
    return np.stack(overlapping, axis=1), np.stack(characters, axis=1)


def _by_document(columns: Floats, groups: NDArray[np.intp]) -> Floats:
    # Numbered afresh, since a number that no unit has is no document and must not be drawn as one.
    return group_sums(columns, np.unique(groups, return_inverse=True)[1])


def _triples(tally: Tally, bootstrap: Bootstrap | None) -> list[PrecisionRecall]:
    scores = tally.scores(bootstrap, EMPTY_BOTH)
    return [PrecisionRecall(*scores[place : place + 3]) for place in range(0, len(scores), 3)]


def _check(predicted: int, gold: int, groups: int) -> None:
    if not predicted == gold == groups:
        raise InputError("units-predicted-gold-document", predicted=predicted, gold=gold, groups=groups)


class Stretches(NamedTuple):
    """Stretches from `starts` up to `ends`, each of a unit. Texts lie apart on the line."""

    starts: Ints
    ends: Ints
    units: Ints
    unit_count: int

    @classmethod
    def on_one_line(
        cls,
        marks: Sequence[Collection[tuple[str, int, int, str]]],
        places: dict[tuple[int, str, str], int],
        width: int,
    ) -> Stretches:
        """Lay out the (segment, start, end, label) of each unit.

        Each segment and label of a unit has a place of its own, `width` wide. `places` is filled on the way,
        so that a second call with it puts stretches on the same line.
        """
        rows = [
            (places.setdefault((unit, segment, label), len(places)) * width, start, end, unit)
            for unit, of_unit in enumerate(marks)
            for segment, start, end, label in of_unit
        ]
        offsets, starts, ends, units = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        return cls(offsets + starts, offsets + ends, units, len(marks))

    def counts(self) -> Floats:
        """How many stretches each unit has."""
        return self._by_unit(np.ones(len(self.starts)))

    def hits(self, others: Stretches) -> Floats:
        """How many of each unit's stretches have a character in common with one of the others."""
        return self._by_unit((others._covered_within(self) > 0).astype(np.float64))

    def covered(self) -> Floats:
        """How many characters each unit's stretches cover, each character counted once."""
        merged = self.merged()
        return merged._by_unit((merged.ends - merged.starts).astype(np.float64))

    def common(self, others: Stretches) -> Floats:
        """How many characters each unit's stretches have in common with the others."""
        merged = self.merged()
        return merged._by_unit(others._covered_within(merged).astype(np.float64))

    def merged(self) -> Stretches:
        """The same characters in stretches that do not touch each other, in order."""
        if not len(self.starts):
            return self
        order = np.argsort(self.starts, kind="stable")
        starts, reach = self.starts[order], np.maximum.accumulate(self.ends[order])
        first = np.flatnonzero(np.append(True, starts[1:] > reach[:-1]))
        last = np.append(first[1:] - 1, len(starts) - 1)
        return Stretches(starts[first], reach[last], self.units[order][first], self.unit_count)

    def _covered_within(self, others: Stretches) -> Ints:
        """How many characters of each other stretch these cover."""
        merged = self.merged()
        before = np.append(0, np.cumsum(merged.ends - merged.starts))

        def up_to(points: Ints) -> Ints:
            place = np.searchsorted(merged.starts, points, side="right")
            if not len(merged.starts):
                return np.zeros(len(points), dtype=np.int64)
            # The last stretch that has begun may reach beyond the point; what lies beyond does not count.
            beyond = np.maximum(merged.ends[place - 1] - points, 0)
            return np.asarray(before[place] - np.where(place > 0, beyond, 0))

        return up_to(others.ends) - up_to(others.starts)

    def _by_unit(self, weights: Floats) -> Floats:
        sums: Floats = np.bincount(self.units, weights, self.unit_count).astype(np.float64)
        return sums
