"""How well marks agree: F1 of marked places between the judge and a person, two people, and the best constant."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.judge.agreement import Agreement, agreement_of
from lapsus.annotators.judge.span_features import Meaning, Place
from lapsus.measures.bootstrap import group_sums
from lapsus.model import Label, Span

Matrix: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]

_PEOPLES, _JUDGES, _BOTH, _ALL, _FLOORS, _FLOOR_BOTH, _PAIRS, _PAIR_BOTH, _PAIR_ALL = range(9)
"""Columns of sums: marks of a person, of the judge, of both, places; of the floor; of two people."""


class Seen(NamedTuple):
    """The places of all units on one side."""

    labels: list[Label]
    places: list[list[Place]]
    """Of each unit."""
    unit: NDArray[np.intp]
    """Which unit each row is of."""
    rows: Rows
    meaning: Meaning
    mean: Rows
    spread: Rows


def mask_of(places: Sequence[Place], spans: Sequence[Span], labels: Sequence[Label]) -> tuple[Mask, Mask]:
    """Which places spans mark with each label, and at which a mark begins."""
    inside, begins = (np.zeros((len(places), len(labels)), dtype=bool) for _ in range(2))
    columns = {label.id: n for n, label in enumerate(labels)}
    for span in spans:
        if (column := columns.get(span.label)) is None:
            continue
        touched = [
            n for n, p in enumerate(places)
            if p.segment == span.segment and p.start < span.end and span.start < p.end
        ]  # fmt: skip
        inside[touched, column] = True
        begins[touched[:1], column] = True
    return inside, begins


def span_agreement(
    seen: Sequence[Seen], marked: Sequence[Mask], said: Sequence[Sequence[Sequence[Span]]], groups: NDArray[np.intp]
) -> Agreement:  # fmt: skip
    """F1 of marked places between the judge and a person, two people, and the best constant; and beyond chance."""
    units = len(said)
    sums = np.zeros((units, 9))
    chosen = _constant(seen, said)
    for side, marks in zip(seen, marked, strict=True):
        starts = np.searchsorted(side.unit, np.arange(units + 1))
        constant = np.array([label.id in chosen for label in side.labels])
        for n, answers in enumerate(said):
            if not answers:
                continue
            ours = marks[starts[n] : starts[n + 1]]
            theirs = [mask_of(side.places[n], spans, side.labels)[0] for spans in answers]
            sums[n] += _counts(ours, theirs, constant)
    found = group_sums(sums, np.unique(groups, return_inverse=True)[1])
    return agreement_of(found, _figures, sorted(chosen))


def _counts(ours: Mask, theirs: Sequence[Mask], constant: Mask) -> Matrix:
    row = np.zeros(9)
    row[_PEOPLES] = np.mean([mask.sum() for mask in theirs])
    row[_JUDGES], row[_ALL] = ours.sum(), ours.size
    row[_BOTH] = np.mean([(ours & mask).sum() for mask in theirs])
    row[_FLOORS] = len(ours) * constant.sum()
    row[_FLOOR_BOTH] = np.mean([mask[:, constant].sum() for mask in theirs])
    if len(theirs) > 1:
        pairs = list(combinations(theirs, 2))
        row[_PAIRS], row[_PAIR_ALL] = row[_PEOPLES], ours.size
        row[_PAIR_BOTH] = np.mean([(one & other).sum() for one, other in pairs])
    return row


def _figures(sums: Matrix) -> Matrix:
    """From sums (a row a resample) to the figures."""
    column = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        judge = 2 * column[_BOTH] / (column[_JUDGES] + column[_PEOPLES])
        people = column[_PAIR_BOTH] / column[_PAIRS]
        floor = 2 * column[_FLOOR_BOTH] / np.maximum(column[_FLOORS] + column[_PEOPLES], 1e-9)
        return np.column_stack(
            [
                judge,
                people,
                floor,
                _beyond(column[_BOTH], column[_JUDGES], column[_PEOPLES], column[_ALL]),
                _beyond(column[_PAIR_BOTH], column[_PAIRS], column[_PAIRS], column[_PAIR_ALL]),
            ]
        )


def _beyond(both: Matrix, one: Matrix, other: Matrix, places: Matrix) -> Matrix:
    """Cohen's kappa of "marked or not" over all places and labels."""
    same = (places - one - other + 2 * both) / places
    chance = (one * other + (places - one) * (places - other)) / places**2
    found: Matrix = (same - chance) / (1 - chance)
    return found


def _constant(seen: Sequence[Seen], said: Sequence[Sequence[Sequence[Span]]]) -> frozenset[str]:
    """The labels that, put on every place, give the best F1."""
    rates: list[tuple[float, int, str]] = []
    for side in seen:
        count = np.zeros(len(side.labels))
        for places, answers in zip(side.places, said, strict=True):
            for spans in answers:
                count += mask_of(places, spans, side.labels)[0].sum(axis=0) / len(answers)
        rates += [(float(n), len(side.unit), label.id) for n, label in zip(count, side.labels, strict=True)]
    rates.sort(key=lambda one: -one[0] / max(one[1], 1))
    total = sum(marks for marks, _, _ in rates)
    best, chosen, marked, room = 0.0, frozenset[str](), 0.0, 0
    for n, (marks, size, _) in enumerate(rates):
        marked, room = marked + marks, room + size
        if (f1 := 2 * marked / (room + total)) > best:
            best, chosen = f1, frozenset(id for _, _, id in rates[: n + 1])
    return chosen
