"""How well a judge agrees with people, people with each other, and one constant answer with them.

For marks that is F1 of marked places.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.judge.people_answers import PeopleAnswers
from lapsus.annotators.judge.span_features import Meaning, Place
from lapsus.kinds import Kind
from lapsus.measures.bootstrap import USUAL, group_sums, interval, resampled_values
from lapsus.model import Answer, Label, Span

Matrix: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

_UNITS, _JUDGE, _FLOOR, _PAIRED, _PEOPLE, _SUMS = range(6)
"""Columns of sums: units, agreement of the judge and of the floor, units with two people or more, their agreement."""
_ABOVE: Final = 0.01
"""Where the interval of an agreement beyond chance must begin."""
FIGURES: Final = ("judge", "people", "floor", "judge_beyond", "people_beyond")


class Figure(msgspec.Struct, frozen=True):
    """A value with its 95% interval over documents; None where it cannot be told."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Agreement(msgspec.Struct, frozen=True):
    """Agreement with a person, from 0 to 1: mean likeness of two answers to one unit.

    Likeness is 1 for the same label and 0 for another; of sets of labels 1 less MASI's distance; on a scale 1 less
    the difference as a share of the whole scale. Beyond chance: (agreement - chance) / (1 - chance), where chance is
    what the same answers would reach if they were dealt out at random. A constant answer has 0 there.
    """

    judge: Figure
    people: Figure
    floor: Figure
    """The best constant answer: what always giving the usual answer would reach."""
    judge_beyond: Figure
    people_beyond: Figure
    constant: Any
    """Which answer that is."""


class Similarity(NamedTuple):
    """All answers in play, how alike every two of them are, and how often people gave each."""

    places: dict[Any, int]
    table: Matrix
    shares: Matrix
    """A row a unit, a column an answer: the share of people who gave it."""


def _similarity(given: PeopleAnswers, more: Sequence[Answer]) -> Similarity:
    """The answers of people and further ones."""
    kind = given.kind
    answers = list(given.answers)
    places = {kind.same(answer): place for place, answer in enumerate(answers)}
    for answer in more:
        if kind.same(answer) not in places:
            places[kind.same(answer)] = len(answers)
            answers.append(answer)
    shares = np.zeros((len(given), len(answers)))
    shares[:, : given.counts.shape[1]] = given.counts / given.counts.sum(axis=1, keepdims=True)
    return Similarity(places, _table(kind, answers), shares)


def agreement(given: PeopleAnswers, judged: Sequence[Answer]) -> Agreement:
    """The agreement of answers to each row with those of people."""
    like = _similarity(given, judged)
    codes = np.array([like.places[given.kind.same(answer)] for answer in judged], dtype=np.intp)
    constant = int((like.shares.mean(axis=0) @ like.table).argmax())
    sums = group_sums(_columns(given, like, codes, constant), given.groups)
    usual = given.answers[constant] if constant < len(given.answers) else judged[0]
    answer = list(usual) if isinstance(usual, tuple) else usual
    return agreement_of(sums, lambda block: _figures(block, like.table), answer)


def agreement_of(sums: Matrix, figures: Callable[[Matrix], Matrix], constant: Any) -> Agreement:
    """The agreement that follows from sums (a row a document), by `figures` of sums in the order of FIGURES."""
    point = figures(sums.sum(axis=0, keepdims=True))[0]
    drawn, groups = resampled_values(sums, figures, USUAL), len(sums)
    found = {}
    for place, name in enumerate(FIGURES):
        value = float(point[place])
        bounds = interval(drawn[:, place], USUAL.level, value=value, groups=groups) if groups > 1 else None
        found[name] = Figure(value, *(bounds or (None, None))) if np.isfinite(value) else Figure(None)
    return Agreement(**found, constant=constant)


def is_above(found: Agreement) -> bool:
    """Whether answers agree with people beyond chance, where a constant answer has 0, by all of their interval.

    Plain agreement must not be clearly below that of a constant answer, unless that of people is as low.
    """
    bar = min(found.floor.value or 0.0, found.people.value or 1.0)
    beyond, most = found.judge_beyond.low, found.judge.high
    return beyond is not None and beyond > _ABOVE and most is not None and most >= bar


def _columns(given: PeopleAnswers, like: Similarity, codes: Codes, constant: int) -> Matrix:
    """For each unit what is summed up: agreement and, for chance, who answered what."""
    table, shares = like.table, like.shares
    people = given.counts.sum(axis=1)
    paired = people > 1
    same = ((shares @ table) * shares).sum(axis=1)
    # Two different people of one unit: the likeness of an answer with itself is left out.
    pairs = np.where(paired, (same * people - 1) / np.maximum(people - 1, 1), 0)
    columns = np.zeros((len(given), _SUMS))
    columns[:, _UNITS] = 1
    columns[:, _JUDGE] = (table[codes] * shares).sum(axis=1)
    columns[:, _FLOOR] = shares @ table[constant]
    columns[:, _PAIRED] = paired
    columns[:, _PEOPLE] = pairs
    return np.hstack([columns, np.eye(len(table))[codes], shares, shares * paired[:, None]])


def _figures(sums: Matrix, table: Matrix) -> Matrix:
    """From sums (a row a resample) to the figures."""
    with np.errstate(divide="ignore", invalid="ignore"):
        units, paired = sums[:, _UNITS], sums[:, _PAIRED]
        ours, people, pairs = np.split(sums[:, _SUMS:], 3, axis=1)
        judge, floor, pair = sums[:, _JUDGE] / units, sums[:, _FLOOR] / units, sums[:, _PEOPLE] / paired
        chance = ((ours @ table) * people).sum(axis=1) / units**2
        expected = ((pairs @ table) * pairs).sum(axis=1) / paired**2
        return np.column_stack(
            [judge, pair, floor, (judge - chance) / (1 - chance), (pair - expected) / (1 - expected)]
        )


def _table(kind: Kind, answers: Sequence[Any]) -> Matrix:
    """How alike every two answers are."""
    if kind.numbers:
        values = np.array(answers, dtype=np.float64)
        reach = max(kind.numbers) - min(kind.numbers)
        return np.clip(1 - np.abs(values[:, None] - values) / reach, 0, 1)
    table = np.eye(len(answers))
    for row, one in enumerate(answers):
        for column in range(row):
            table[row, column] = table[column, row] = kind.compare(one, answers[column])
    return table


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
    return agreement_of(found, _mark_figures, sorted(chosen))


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


def _mark_figures(sums: Matrix) -> Matrix:
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
