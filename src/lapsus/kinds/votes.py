"""Votes on a question, built from judgments; what can be counted in them, and how near two answers are."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.kinds import KINDS, Kind, kind_of
from lapsus.kinds.base import Floats
from lapsus.model import Answer, Judgment, Label, Question, Scheme, latest
from lapsus.model.votes import MISSING, LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes, Votes, VoteTable

ALL_MARKS = ""
"""What is counted where every mark counts, whatever its label."""


def collect_votes(
    judgments: Iterable[Judgment], question: Question, labels: Sequence[str] | None = None
) -> Votes:
    """The votes on one question, of everybody's newest judgments. `labels` are those of a list, if they are.

    An answer of the wrong kind, or one that the question does not know, is an error that names its place.
    """
    if labels is None:
        return votes_of(judgments, kind_of(question))
    named = [question.label(id) or Label(id=id, name={}, definition={}) for id in labels]
    return votes_of(judgments, KINDS.get(question.kind)(question, named))


def scheme_votes(
    judgments: Iterable[Judgment], scheme: Scheme, question: Question, *, strict: bool = True
) -> Votes:
    """The same for a question of a scheme. Unless `strict`, answers that it does not know are no votes."""
    return votes_of(judgments, kind_of(question, scheme), strict=strict)


def votes_of(judgments: Iterable[Judgment], kind: Kind, *, strict: bool = True) -> Votes:
    """The same for a question with its kind."""
    id = kind.question.id
    given = [judgment for judgment in latest(judgments) if id in judgment.answers]
    if not strict:
        given = [judgment for judgment in given if is_vote(judgment.answers[id], kind)]
    units = tuple(dict.fromkeys(judgment.unit for judgment in given))
    annotators = tuple(dict.fromkeys(judgment.annotator for judgment in given))
    row = {unit: place for place, unit in enumerate(units)}
    column = {annotator: place for place, annotator in enumerate(annotators)}
    codes = kind.codes(
        [judgment.answers[id] for judgment in given],
        lambda place: f"document {given[place].document!r}, annotator {given[place].annotator!r}",
    )
    rows = np.array([row[judgment.unit] for judgment in given], dtype=np.intp)
    columns = np.array([column[judgment.annotator] for judgment in given], dtype=np.intp)
    return kind.votes(VoteTable(units, annotators), rows, columns, codes)


def is_vote(answer: Answer, kind: Kind) -> bool:
    """Whether an answer can be counted: it is of the question's kind, and has no label that the question has not."""
    try:
        kind.code(answer)
    except InvalidError:
        return False
    return True


def marks_in(votes: Votes | None) -> SpanVotes | None:
    """The votes where they are spans on texts; None where there are none or they are answers of another kind."""
    return votes if isinstance(votes, SpanVotes) else None


class Quantity(NamedTuple):
    """One thing to estimate: `values` has a row a unit and a column an annotator, NaN where there is no answer."""

    measure: str
    """share, mean or marks"""
    label: str
    values: Floats

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1."""
        return self.measure == "share"


def quantities(votes: Votes) -> Iterator[Quantity]:
    """Shares of labels, the mean of a scale, marks a text: all of them and label by label."""
    match votes:
        case LabelVotes():
            for code, label in enumerate(votes.labels):
                yield Quantity("share", label, _where(votes.codes == code, votes.codes >= 0))
        case LabelSetVotes():
            for place, label in enumerate(votes.labels):
                yield Quantity("share", label, _where(votes.chosen[:, :, place], votes.answered))
        case ScaleVotes():
            yield Quantity("mean", "", np.array(votes.values))
        case SpanVotes():
            yield Quantity("marks", ALL_MARKS, _marks(votes, None))
            for label in votes.labels if len(votes.labels) > 1 else ():
                yield Quantity("marks", label, _marks(votes, label))


def bad_answers(votes: Votes, alone: Sequence[str] = ()) -> tuple[tuple[str, ...], Quantity]:
    """Which labels are bad, and whether an answer has one of them; of scales the number, of marks how many.

    Good is the label that stands alone ("no error"), or else, where one is chosen, the first. Where several may be
    chosen and none stands alone, every label is bad.
    """
    found = list(quantities(votes))
    if not found[0].is_share:
        return (), found[0]
    labels = [one.label for one in found]
    first = labels[0] if isinstance(votes, LabelVotes) else None
    good = next((label for label in alone if label in labels), first)
    bad = [one for one in found if one.label != good] or found
    return tuple(one.label for one in bad), Quantity(
        "share", "", np.stack([one.values for one in bad]).max(axis=0)
    )


def _where(said: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], given: object) -> Floats:
    return np.where(np.asarray(given), said.astype(np.float64), np.nan)


def _marks(votes: SpanVotes, label: str | None) -> Floats:
    counts = np.full((len(votes.units), len(votes.annotators)), np.nan)
    for row, line in enumerate(votes.spans):
        for column, spans in enumerate(line):
            if spans is not None:
                counts[row, column] = sum(label in (None, span.label) for span in spans)
    return counts


Codes: TypeAlias = NDArray[np.intp]
_ROWS = 128
"""Units whose marks are compared at a time."""
Near: TypeAlias = Callable[[Codes, Codes], Floats]
"""Codes of (units, a) and (units, b) to nearness of (units, a, b)."""


@dataclass(frozen=True)
class Answers:
    """The answers to one question as numbers: `codes` stand for different answers, -1 where there is none.

    How near two answers are: labels: 1 for the same label. Label sets: 1 - MASI. Scales: minus the squared difference,
    and of a mean of those the root (minus RMSE). Spans: F1 of exactly the same spans with the same label; 1 where
    neither marked anything.
    """

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
