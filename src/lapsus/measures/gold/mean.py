"""Gold of scales: the mean or the median of the numbers given."""

from __future__ import annotations

import numpy as np

from lapsus.measures.bootstrap import Floats
from lapsus.measures.gold.result import NOBODY, Gold, raters
from lapsus.measures.score import signature
from lapsus.model.votes import ScaleVotes


def row_means(values: Floats) -> Floats:
    """The mean of each row without its NaN; NaN where nothing is left."""
    known = ~np.isnan(values)
    numbers = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    means: Floats = np.divide(sums, numbers, out=np.full(len(values), np.nan), where=numbers > 0)
    return means


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
    answered = (~np.isnan(votes.values)).sum(axis=1)
    return Gold(
        votes.units,
        method,
        signature(method=method, raters=raters(answered)),
        tuple(None if np.isnan(value) else float(value) for value in values),
        note=None if answered.any() else NOBODY,
    )
