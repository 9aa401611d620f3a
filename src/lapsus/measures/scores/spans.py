"""Scores of marked spans: exact, overlapping and by character, with the category and without."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError
from lapsus.measures.bootstrap import Floats, group_sums
from lapsus.measures.scores.tally import EMPTY_BOTH, Tally, two_sided_precision_recall_f
from lapsus.model import ELEMENTS, Document, Span

SpansOfUnits: TypeAlias = Sequence[Collection[Span]]
"""For each unit its spans. The same stretch marked twice in the same way counts once."""

ElementsOfUnits: TypeAlias = Sequence[Collection[tuple[str, str]]]
"""For each unit the (segment, element) pairs that were left out."""

Marks: TypeAlias = set[tuple[str, int, int, str]]
"""Segment, start, end and label of what was marked, every stretch once."""

_WAYS = ("exact", "overlapping", "characters", "exact,any", "overlapping,any", "characters,any")
Ints = NDArray[np.int64]


def span_tally(predicted: SpansOfUnits, gold: SpansOfUnits, groups: NDArray[np.intp]) -> Tally:
    """What marked spans got right against the gold's; `groups` numbers each unit's document.

    The category must be right too, but for the ways that end in `any`. Spans match if they are the same stretch
    (`exact`), or have a character in common (`overlapping`), each side counting its own; `characters` are those marked
    by both, of those marked.
    """
    _check(len(predicted), len(gold), len(groups))
    columns: list[Floats] = []
    for with_category in (True, False):
        said, there = ([marks(spans, with_category) for spans in units] for units in (predicted, gold))
        lines = on_one_line(said, there)
        columns += [exact(said, there), overlapping(*lines), characters(*lines)]
    names = tuple(f"{letter}({way})" for way in _WAYS for letter in "PRF")
    sums = _by_document(np.hstack(columns), groups)
    return Tally(names, sums, two_sided_values, len(gold), note=EMPTY_BOTH)


def marks(spans: Iterable[Span], with_category: bool) -> Marks:
    """What somebody marked; without the category all labels are the same."""
    return {(span.segment, span.start, span.end, span.label if with_category else "") for span in spans}


def exact(ones: Sequence[Marks], others: Sequence[Marks]) -> Floats:
    """For each unit the hits and the size of both sides, where the same stretch is a hit."""
    counts = [(len(a & b), len(a), len(a & b), len(b)) for a, b in zip(ones, others, strict=True)]
    return np.array(counts, dtype=np.float64).reshape(-1, 4)


def overlapping(one: Stretches, other: Stretches) -> Floats:
    """The same where a character in common is a hit."""
    return np.stack([one.hits(other), one.counts(), other.hits(one), other.counts()], axis=1)


def characters(one: Stretches, other: Stretches) -> Floats:
    """The same of the characters marked."""
    common = one.common(other)
    return np.stack([common, one.covered(), common, other.covered()], axis=1)


def on_one_line(ones: Sequence[Marks], others: Sequence[Marks]) -> tuple[Stretches, Stretches]:
    """The marks of two sides on one line, where each segment and label of a unit has a place of its own."""
    places: dict[tuple[int, str, str], int] = {}
    width = 1 + max((end for one in (*ones, *others) for _, _, end, _ in one), default=0)

    def laid_out(units: Sequence[Marks]) -> Stretches:
        rows = [
            (places.setdefault((unit, segment, label), len(places)) * width, start, end, unit)
            for unit, of_unit in enumerate(units)
            for segment, start, end, label in of_unit
        ]
        offsets, starts, ends, unit = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        return Stretches(offsets + starts, offsets + ends, unit, len(units))

    return laid_out(ones), laid_out(others)


def omitted_elements(spans: Iterable[Span], document: Document, label: str) -> frozenset[tuple[str, str]]:
    """The parts of triples that spans of this label touch, as (segment, element) pairs."""
    touched = set()
    for span in spans:
        if span.label == label:
            for element in document.segment(span.segment).elements():
                if span.start < element.end and element.start < span.end:
                    touched.add((span.segment, element.name))
    return frozenset(touched)


def element_tally(predicted: ElementsOfUnits, gold: ElementsOfUnits, groups: NDArray[np.intp]) -> Tally:
    """What was found to be left out of triples, part by part. `omitted_elements` makes the input."""
    _check(len(predicted), len(gold), len(groups))
    columns = np.zeros((len(gold), len(ELEMENTS) + 1, 4))
    for row, (said, there) in enumerate(zip(predicted, gold, strict=True)):
        both = set(said) & set(there)
        for column, pairs in enumerate((both, set(said), both, set(there))):
            for _, element in pairs:
                columns[row, ELEMENTS.index(element), column] += 1
    columns[:, -1] = columns[:, :-1].sum(axis=1)
    names = tuple(f"{letter}(omitted,{part})" for part in (*ELEMENTS, "all") for letter in "PRF")
    sums = _by_document(columns.reshape(len(gold), 4 * len(names) // 3), groups)
    return Tally(names, sums, two_sided_values, len(gold), note=EMPTY_BOTH)


def two_sided_values(sums: Floats) -> Floats:
    """P, R and F of each way to match, from sums of hits and sizes of both sides, four a way."""
    ways = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, 4), -1, 0)
    values = two_sided_precision_recall_f(*ways)
    return values.reshape(*sums.shape[:-1], -1)


def _by_document(columns: Floats, groups: NDArray[np.intp]) -> Floats:
    # Numbered afresh, since a number that no unit has is no document and must not be drawn as one.
    return group_sums(columns, np.unique(groups, return_inverse=True)[1])


def _check(predicted: int, gold: int, groups: int) -> None:
    if not predicted == gold == groups:
        raise InputError("units-predicted-gold-document", predicted=predicted, gold=gold, groups=groups)


class Stretches(NamedTuple):
    """Stretches from `starts` up to `ends`, each of a unit. Texts lie apart on the line."""

    starts: Ints
    ends: Ints
    units: Ints
    unit_count: int

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
