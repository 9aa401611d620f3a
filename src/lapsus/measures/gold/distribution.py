"""Gold as a distribution: the share of annotators who gave each label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.bootstrap import Floats
from lapsus.measures.gold.result import NOBODY, Gold, raters
from lapsus.measures.score import signature
from lapsus.model.votes import LabelVotes


def shares(counts: NDArray[Any]) -> Floats:
    """Counts over their sum along the last axis, without smoothing; NaN where there is nothing to count."""
    totals = counts.sum(axis=-1, keepdims=True)
    portions: Floats = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
    return portions


def distribution(votes: LabelVotes) -> Gold:
    """The share of each label among the annotators who answered."""
    counts = votes.counts()
    answered = counts.sum(axis=1)
    return Gold(
        votes.units,
        "distribution",
        signature(method="distribution", smoothing="none", raters=raters(answered)),
        labels=votes.labels,
        distributions=shares(counts),
        note=None if answered.any() else NOBODY,
    )
