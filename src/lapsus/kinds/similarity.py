"""How near two answers to a question are, kind by kind: what "agrees with the others" means for each.

labels: 1 for the same label. Label sets: 1 - MASI. Scales: minus the squared difference, and of a mean of those
the root (minus RMSE). Spans: F1 of exactly the same spans with the same label; 1 where neither marked anything.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.kinds.base import Floats
from lapsus.model.votes import MISSING, LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes, Votes

Codes: TypeAlias = NDArray[np.intp]
_ROWS = 128
"""Units whose marks are compared at a time."""
Near: TypeAlias = Callable[[Codes, Codes], Floats]
"""Codes of (units, a) and (units, b) to nearness of (units, a, b)."""


@dataclass(frozen=True)
class Answers:
    """The answers to one question as numbers: `codes` stand for different answers, -1 where there is none."""

    codes: Codes
    """A row a unit, a column an annotator."""
    near: Near
    score: Callable[[Floats], Floats]
    """From the mean nearness to the rest to what is compared: the greater the better."""
    usual: Callable[[Codes], int]
    """The answer that a judge would give who looks at nothing, out of those that people gave."""


def compared(votes: Votes) -> Answers:
    """The answers to one question, ready to be compared."""
    match votes:
        case LabelVotes():
            return Answers(votes.codes.astype(np.intp), _same, _as_it_is, _commonest)
        case LabelSetVotes():
            return _sets(votes)
        case ScaleVotes():
            return _scale(votes)
        case SpanVotes():
            return _spans(votes)


def _as_it_is(mean: Floats) -> Floats:
    return mean


def _commonest(codes: Codes) -> int:
    """Ties go to the first."""
    return int(np.bincount(codes).argmax())


def _same(left: Codes, right: Codes) -> Floats:
    found: Floats = (left[:, :, None] == right[:, None, :]).astype(np.float64)
    return found


def _scale(votes: ScaleVotes) -> Answers:
    answered = np.isfinite(votes.values)
    values, places = np.unique(votes.values[answered], return_inverse=True)
    codes = np.full(votes.values.shape, MISSING, dtype=np.intp)
    codes[answered] = places

    def near(left: Codes, right: Codes) -> Floats:
        found: Floats = -((values[left][:, :, None] - values[right][:, None, :]) ** 2)
        return found

    def root(mean: Floats) -> Floats:
        found: Floats = -np.sqrt(-mean)
        return found

    def usual(given: Codes) -> int:
        return int(np.abs(values - values[given].mean()).argmin())

    return Answers(codes, near, root, usual)


def _sets(votes: LabelSetVotes) -> Answers:
    answered = votes.answered
    members, places = np.unique(votes.chosen[answered], axis=0, return_inverse=True)
    codes = np.full(answered.shape, MISSING, dtype=np.intp)
    codes[answered] = places.reshape(-1)
    held = members.astype(np.float64)
    sizes = held.sum(axis=1)

    def near(left: Codes, right: Codes) -> Floats:
        both = held[left] @ held[right].transpose(0, 2, 1)
        one, other = sizes[left][:, :, None], sizes[right][:, None, :]
        either = one + other - both
        overlap = np.where(either == 0, 1.0, both / np.maximum(either, 1))
        within = (both == np.minimum(one, other)) & (both != np.maximum(one, other))
        crossing = both < np.minimum(one, other)
        found: Floats = overlap * np.where(crossing, 1 / 3, np.where(within, 2 / 3, 1.0))
        return found

    return Answers(codes, near, _as_it_is, _commonest)


def _spans(votes: SpanVotes) -> Answers:
    known: dict[frozenset[Any], int] = {}
    codes = np.full((len(votes.units), len(votes.annotators)), MISSING, dtype=np.intp)
    for row, given in enumerate(votes.spans):
        for column, spans in enumerate(given):
            if spans is not None:
                marks = frozenset((span.segment, span.start, span.end, span.label) for span in spans)
                codes[row, column] = known.setdefault(marks, len(known))
    sets = _MarkSets(known)

    def near(left: Codes, right: Codes) -> Floats:
        found = np.empty((len(left), left.shape[1], right.shape[1]))
        for start in range(0, len(left), _ROWS):
            rows = slice(start, start + _ROWS)
            found[rows] = sets.f1(left[rows], right[rows])
        return found

    return Answers(codes, near, _as_it_is, _commonest)


class _MarkSets:
    """Sets of marks by their codes, as numbers: the marks of all of them one after the other."""

    def __init__(self, known: Iterable[frozenset[Any]]) -> None:
        number: dict[Any, int] = {}
        marks = [[number.setdefault(mark, len(number)) for mark in marked] for marked in known]
        self.sizes = np.array([len(one) for one in marks], dtype=np.intp)
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.marks = np.array([mark for one in marks for mark in one], dtype=np.intp)
        self.many = max(1, len(number))

    def f1(self, left: Codes, right: Codes) -> Floats:
        """F1 between any two sets of a row; 1 where both are empty."""
        codes = np.concatenate([left, right], axis=1)
        sizes = self.sizes[codes]
        each = sizes.ravel()
        cell = np.repeat(np.arange(codes.size), each)
        place = np.arange(len(cell)) - np.repeat(np.cumsum(each) - each, each)
        row, column = np.divmod(cell, codes.shape[1])
        # Marks are numbered anew in each row: few of all there are stand in one text.
        met, own = np.unique(
            row * self.many + self.marks[self.starts[codes].ravel()[cell] + place], return_inverse=True
        )
        own = own.reshape(-1) - np.searchsorted(met, row * self.many)
        held = np.zeros((*codes.shape, int(own.max(initial=0)) + 1))
        held[row, column, own] = 1
        split = left.shape[1]
        both = held[:, :split] @ held[:, split:].transpose(0, 2, 1)
        sums = sizes[:, :split, None] + sizes[:, None, split:]
        found: Floats = np.where(sums == 0, 1.0, 2 * both / np.maximum(sums, 1))
        return found
