"""Gold as one label: the most frequent one, where enough annotators gave it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.gold.distribution import shares
from lapsus.measures.gold.result import NOBODY, Gold, label_answers, raters
from lapsus.measures.resample import Floats
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


def majority(votes: LabelVotes, t: float = 0.0, default: str | None = None) -> Gold:
    """The label that most annotators gave, under the breakdown challenge's rule.

    Labels are asked in their own order, so that ties go to the earlier one. A label that wins with a share
    below `t` is not taken: the unit gets `default`, which is the first label unless another is named.
    """
    if not 0 <= t <= 1:
        raise UsageError(f"a threshold is a share, not {t}", hint="give a number from 0 to 1")
    chosen = votes.labels[0] if default is None and votes.labels else default
    if chosen not in votes.labels:
        raise UsageError(f"no label is called {chosen!r}", hint=did_you_mean(str(chosen), list(votes.labels)))
    counts = votes.counts()
    answered = counts.sum(axis=1)
    distributions = shares(counts)
    return Gold(
        votes.units,
        "majority",
        signature(
            method="majority",
            t=float(t),
            ties=">".join(votes.labels),
            default=chosen,
            raters=raters(answered),
        ),
        label_answers(
            votes.labels, majority_codes(distributions, t, votes.labels.index(chosen)), answered > 0
        ),
        votes.labels,
        distributions,
        note=None if answered.any() else NOBODY,
    )
