"""Gold as one label: the most frequent one, where enough annotators gave it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.bootstrap import Floats
from lapsus.measures.gold.distribution import shares
from lapsus.measures.gold.result import NOBODY, Gold, label_answers, raters
from lapsus.measures.score import signature
from lapsus.model.votes import LabelVotes
from lapsus.registry import did_you_mean


def majority_codes(distributions: Floats, t: float = 0.0, default: int = 0) -> NDArray[np.intp]:
    """The first label whose share is no less than any other's and at least t; else the default.

    Works along the last axis. Rows of NaN get the default; who calls knows which rows those are.
    """
    known: Floats = np.nan_to_num(distributions)
    # The first of the greatest is the first that is no less than any other; ties with it fall short if it does.
    return np.where(known.max(axis=-1) >= t, known.argmax(axis=-1), default)


def majority(
    votes: LabelVotes, t: float = 0.0, default: str | None = None, *, ties: Sequence[str] | None = None
) -> Gold:
    """The label that most annotators gave, under the breakdown challenge's rule.

    Labels are asked in the order of `ties`, their own unless told otherwise, so that ties go to the earlier one. A
    label that wins with a share below `t` is not taken: the unit gets `default`, which is the first label unless
    another is named. With no label in `ties` a tie, and a winner below `t`, leaves the unit without an answer.
    """
    if not 0 <= t <= 1:
        raise UsageError("threshold-share-not", hint="give-number-0-1", t=t)
    order = tuple(votes.labels if ties is None else ties)
    chosen = order[0] if default is None and order else default
    if chosen is not None and chosen not in votes.labels:
        raise UsageError("no-label-called", hint=did_you_mean(str(chosen), list(votes.labels)), label=chosen)
    counts = votes.counts()
    answered = counts.sum(axis=1)
    distributions = shares(counts)
    places = [votes.labels.index(label) for label in order] or list(range(len(votes.labels)))
    nothing = len(places)
    codes = majority_codes(distributions[:, places], t, nothing)
    if not order and len(places):
        tied = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
        codes = np.where(tied, nothing, codes)
    last = len(votes.labels) if chosen is None else votes.labels.index(chosen)
    return Gold(
        votes.units,
        "majority",
        signature(
            method="majority",
            t=float(t),
            ties=">".join(order) or "none",
            default=chosen or "none",
            raters=raters(answered),
        ),
        label_answers(votes.labels, np.array([*places, last])[codes], answered > 0),
        votes.labels,
        distributions,
        note=None if answered.any() else NOBODY,
    )
