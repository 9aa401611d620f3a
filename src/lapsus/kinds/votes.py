"""Votes on a question, built from judgments."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lapsus.errors import InvalidError
from lapsus.kinds import KINDS, Kind, kind_of
from lapsus.kinds.base import Floats
from lapsus.model import Answer, Judgment, Label, Question, Scheme, Span, latest
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes, Votes, VoteTable

ALL_MARKS = ""
"""What is counted where every mark counts, whatever its label."""


def collect_votes(
    judgments: Iterable[Judgment], question: Question, labels: Sequence[str] | None = None
) -> Votes:
    """The votes on one question, of everybody's newest judgments. `labels` are those of a list, if they are.

    An answer of the wrong kind, or one that the question does not know, is an error that names its place.
    """
    return votes_of(judgments, _with_labels(question, labels))


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


def _with_labels(question: Question, labels: Sequence[str] | None) -> Kind:
    if labels is None:
        return kind_of(question)
    named = [question.label(id) or Label(id=id, name={}, definition={}) for id in labels]
    return KINDS.get(question.kind)(question, named)


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
                counts[row, column] = _count(spans, label)
    return counts


def _count(spans: Sequence[Span], label: str | None) -> int:
    return len(spans) if label is None else sum(span.label == label for span in spans)
