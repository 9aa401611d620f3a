"""Correlation of two lists of numbers: Pearson, Spearman, Kendall. NaN where one of them never varies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.bootstrap import Floats

_FLAT = 1e-12
"""A spread below this part of the values' own size is rounding, not variation."""


def pearson(x: Floats, y: Floats) -> float:
    """The product-moment correlation."""
    if is_flat(x) or is_flat(y):
        return np.nan
    x, y = x - x.mean(), y - y.mean()
    # Scaled first, so that squares of very large or small numbers stay in range.
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return float(np.clip((x @ y) / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def spearman(x: Floats, y: Floats) -> float:
    """The correlation of ranks; ties share the mean of their ranks."""
    return pearson(mean_ranks(x), mean_ranks(y))


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b: pairs in the same order less pairs in opposite order, ties taken into account.

    Sorting does it in n log n steps instead of looking at all pairs (Knight's method).
    """
    ranks_x, ranks_y = _dense(x), _dense(y)
    order = np.lexsort((ranks_y, ranks_x))
    ranks_x, ranks_y = ranks_x[order], ranks_y[order]
    pairs = len(x) * (len(x) - 1) // 2
    tied_x, tied_y = _tied(ranks_x), _tied(ranks_y)
    tied_both = _tied(_dense(ranks_x * (int(ranks_y.max(initial=0)) + 1) + ranks_y))
    spread = float(pairs - tied_x) * float(pairs - tied_y)
    if spread == 0:
        return np.nan
    same_less_opposite = pairs - tied_x - tied_y + tied_both - 2 * inversions(ranks_y)
    return same_less_opposite / float(np.sqrt(spread))


def is_flat(values: Floats) -> bool:
    """Whether the values are all the same, or there are fewer than two."""
    if len(values) < 2:
        return True
    low, high = float(values.min()), float(values.max())
    return high - low <= _FLAT * max(abs(low), abs(high))


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]


def inversions(values: NDArray[np.integer[Any]]) -> int:
    """How many pairs stand in the wrong order, counted while merging ever longer sorted stretches."""
    n = len(values)
    size = 1 << max(n - 1, 0).bit_length()
    # Fillers are larger than everything and stand at the end, so they are in no inversion.
    line = np.full(size, np.iinfo(np.int64).max)
    line[:n] = values
    places = np.arange(size)
    found, width = 0, 1
    while width < size:
        pairs = line.reshape(-1, 2 * width)
        order = np.argsort(pairs, axis=1, kind="stable")
        # Merging moves each value of the left stretch behind all smaller ones of the right.
        left_now, left_before = np.flatnonzero(order < width), places.reshape(-1, 2 * width)[:, :width]
        found += int(left_now.sum() - left_before.sum())
        line = np.take_along_axis(pairs, order, axis=1).ravel()
        width *= 2
    return found


def _dense(values: NDArray[Any]) -> NDArray[np.int64]:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _tied(ranks: NDArray[np.int64]) -> int:
    counts = np.bincount(ranks)
    return int((counts * (counts - 1) // 2).sum())
