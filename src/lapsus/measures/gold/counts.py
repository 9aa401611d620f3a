"""Gold by counting: the most frequent answer, the shares, the mean, and the labels that enough people gave."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.bootstrap import Floats
from lapsus.measures.gold.result import NOBODY, Gold, label_answers, raters
from lapsus.measures.score import signature
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, row_means, row_shares
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
    distributions = row_shares(counts)
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


def distribution(votes: LabelVotes) -> Gold:
    """The share of each label among the annotators who answered."""
    counts = votes.counts()
    answered = counts.sum(axis=1)
    return Gold(
        votes.units,
        "distribution",
        signature(method="distribution", smoothing="none", raters=raters(answered)),
        labels=votes.labels,
        distributions=row_shares(counts),
        note=None if answered.any() else NOBODY,
    )


def row_medians(values: Floats) -> Floats:
    """The median of each row without its NaN: the middle number, or the mean of the middle two."""
    if not values.shape[1]:
        return np.full(len(values), np.nan)
    ordered = np.sort(values, axis=1)  # NaN sort last
    numbers = (~np.isnan(values)).sum(axis=1)
    rows = np.arange(len(values))
    low, high = np.maximum(numbers - 1, 0) // 2, numbers // 2
    high = np.minimum(high, np.maximum(numbers - 1, 0))
    medians: Floats = (ordered[rows, low] + ordered[rows, high]) / 2
    return medians


def mean(votes: ScaleVotes) -> Gold:
    """The mean of the annotators' numbers for each unit."""
    return _gold(votes, "mean", row_means(votes.values))


def median(votes: ScaleVotes) -> Gold:
    """The median of the annotators' numbers for each unit; the mean of the middle two where they are even."""
    return _gold(votes, "median", row_medians(votes.values))


def _gold(votes: ScaleVotes, method: str, values: Floats) -> Gold:
    answered = votes.answered.sum(axis=1)
    return Gold(
        votes.units,
        method,
        signature(method=method, raters=raters(answered)),
        tuple(None if np.isnan(value) else float(value) for value in values),
        note=None if answered.any() else NOBODY,
    )


def label_sets(votes: LabelSetVotes, share: float = 0.5) -> Gold:
    """For each unit the labels that at least a share of those who answered chose, in the labels' own order.

    No label may reach the share: then the set is empty. Which labels may stand together is not looked at;
    that is a matter of the scheme. The distributions give each label's share; their rows need not add up to
    1.
    """
    if not 0 < share <= 1:
        raise UsageError("several-labels-each-needs", hint="t-0-questions-one", share=share)
    answered = votes.answered.sum(axis=1)
    chosen = votes.counts()
    # k / n is rounded to the nearest fraction, just as a written 0.1 is: 3 of 30 is 0.1.
    portions = np.divide(
        chosen, answered[:, None], out=np.full(chosen.shape, np.nan), where=answered[:, None] > 0
    )
    kept = np.nan_to_num(portions) >= share
    answers = [
        tuple(label for label, keep in zip(votes.labels, row, strict=True) if keep) if number else None
        for row, number in zip(kept.tolist(), answered.tolist(), strict=True)
    ]
    return Gold(
        votes.units,
        "label-sets",
        signature(method="label-sets", share=float(share), raters=raters(answered)),
        tuple(answers),
        votes.labels,
        portions,
        note=None if answered.any() else NOBODY,
    )
