"""Votes on a question, built from judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lapsus.errors import InvalidError
from lapsus.kinds import KINDS, Kind, kind_of
from lapsus.model import Answer, Judgment, Label, Question, Scheme, latest
from lapsus.model.votes import SpanVotes, Votes, VoteTable


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
