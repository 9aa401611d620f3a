"""Weighted kappa of two lists of levels: how far apart they are, beside what chance alone would do."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from lapsus.measures.bootstrap import Floats

Weights: TypeAlias = Literal["linear", "quadratic"]


def weighted_kappa(x: Floats, y: Floats, weights: Weights) -> float:
    """1 less the mean distance of the pairs over the mean distance of any x to any y; NaN where that is 0.

    Distances are differences of levels, or their squares. Levels that nobody used change nothing.
    """
    if weights == "quadratic":
        observed = float(np.square(x - y).mean()) if len(x) else 0.0
        expected = float(x.var() + y.var() + (x.mean() - y.mean()) ** 2) if len(x) else 0.0
    else:
        observed = float(np.abs(x - y).mean()) if len(x) else 0.0
        expected = _mean_distance(x, y)
    return 1 - observed / expected if expected > 0 else np.nan


def _mean_distance(x: Floats, y: Floats) -> float:
    """The mean of |a - b| over every a of x and b of y: each gap between levels by the pairs that span it."""
    if not len(x):
        return 0.0
    levels = np.unique(np.concatenate([x, y]))
    below_x = np.searchsorted(np.sort(x), levels[:-1], side="right") / len(x)
    below_y = np.searchsorted(np.sort(y), levels[:-1], side="right") / len(y)
    return float(np.diff(levels) @ (below_x * (1 - below_y) + below_y * (1 - below_x)))
