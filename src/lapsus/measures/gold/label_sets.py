"""Gold of label sets: the labels that enough annotators chose."""

from __future__ import annotations

import numpy as np

from lapsus.errors import UsageError
from lapsus.measures.gold.result import NOBODY, Gold, raters
from lapsus.measures.score import signature
from lapsus.model.votes import LabelSetVotes


def label_sets(votes: LabelSetVotes, share: float = 0.5) -> Gold:
    """For each unit the labels that at least a share of those who answered chose, in the labels' own order.

    No label may reach the share: then the set is empty. Which labels may stand together is not looked at;
    that is a matter of the scheme. The distributions give each label's share; their rows need not add up to
    1.
    """
    if not 0 < share <= 1:
        raise UsageError("several-labels-each-needs", hint="t-0-questions-one", share=share)
    answered = votes.answered.sum(axis=1)
    chosen = (votes.chosen & votes.answered[:, :, None]).sum(axis=1)
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
