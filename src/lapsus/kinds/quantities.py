"""What is estimated of answers, as a number each: 1 or 0 for a label, the number of a scale, how many marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lapsus.kinds.base import Floats
from lapsus.model import Span
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes, Votes

ALL_MARKS = ""
"""What is counted where every mark counts, whatever its label."""


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
