"""Intervals that hold at any time one looks (confidence sequences), for the mean of bounded values that keep coming.

Empirical Bernstein by betting (Waudby-Smith and Ramdas 2024): the level holds for all times together, however often one
looks and whenever one stops. A judge's share is corrected by people's as prediction-powered inference does: what the
judge says of everything, and how far people differ from it on a random sample.
"""

import math
from typing import NamedTuple

import numpy as np

from lapsus.measures.bootstrap import Floats

_BOLDEST = 0.5
"""The most that is bet on one value."""
_JUDGE_PART = 0.2
"""Of the chance to be wrong, what is spent on the judge's own share; the rest on how far people differ from it."""


class Bounds(NamedTuple):
    """At each time the interval so far; arrays as long as the values, along the last axis."""

    low: Floats
    high: Floats

    @property
    def last(self) -> tuple[float, float]:
        """The interval now."""
        return float(self.low[..., -1]), float(self.high[..., -1])


def mean_bounds(
    values: Floats, error: float, *, low: float = 0.0, high: float = 1.0, expected: int | None = None
) -> Bounds:
    """The mean of values between `low` and `high`, in the order in which they came.

    `error` is the chance that the mean ever lies outside. `expected` is about how many will come, said beforehand: the
    interval is narrowest then, and holds all the same.
    """
    scaled = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    many = scaled.shape[-1]
    if not many:
        return Bounds(np.full(scaled.shape, low), np.full(scaled.shape, high))
    times = np.arange(1, many + 1, dtype=np.float64)
    means = (0.5 + np.cumsum(scaled, axis=-1)) / (times + 1)
    # What was known before each value: bets may rest on nothing else.
    before = np.concatenate([np.full((*scaled.shape[:-1], 1), 0.5), means[..., :-1]], axis=-1)
    spread = (0.25 + np.cumsum((scaled - means) ** 2, axis=-1)) / (times + 1)
    known = np.concatenate([np.full((*scaled.shape[:-1], 1), 0.25), spread[..., :-1]], axis=-1)
    cost = math.log(2 / error)
    horizon = times * np.log1p(times) if expected is None else np.full(many, float(max(expected, 1)))
    bets = np.minimum(_BOLDEST, np.sqrt(2 * cost / (known * horizon)))
    paid = np.cumsum((scaled - before) ** 2 * (-np.log1p(-bets) - bets), axis=-1)
    total = np.cumsum(bets, axis=-1)
    centre = np.cumsum(bets * scaled, axis=-1) / total
    half = (cost + paid) / total
    lowest = np.maximum.accumulate(np.clip(centre - half, 0, 1), axis=-1)
    highest = np.minimum.accumulate(np.clip(centre + half, 0, 1), axis=-1)
    return Bounds(low + lowest * (high - low), low + highest * (high - low))


class Period(NamedTuple):
    """What was seen in a stretch of time, in the order in which it came."""

    judge: Floats
    """The judge's share of errors, a value for each document."""
    gap: Floats
    """For units drawn at random that people judged: the share of people who see an error, minus the judge's answer."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be told: the judge or the people said nothing yet."""
        return not self.judge.shape[-1] or not self.gap.shape[-1]


def corrected_share(period: Period, error: float = 0.05) -> tuple[float, float, float] | None:
    """The share of errors and its interval now; None while there is nothing to work it out from."""
    if period.is_empty:
        return None
    value = float(period.judge.mean() + period.gap.mean())
    judge = mean_bounds(period.judge, error * _JUDGE_PART).last
    gap = mean_bounds(period.gap, error * (1 - _JUDGE_PART), low=-1.0).last
    low, high = max(0.0, judge[0] + gap[0]), min(1.0, judge[1] + gap[1])
    return min(max(value, low), high), low, high


def drift_bounds(before: Period, now: Period, error: float = 0.05) -> tuple[Floats, Floats]:
    """How far the corrected share has moved from an earlier period to this one; arrays over all but the last axis.

    Values are compared in pairs, one of each period, as many as both have.
    """
    lows, highs = [], []
    for earlier, later, bound, part in (
        (before.judge, now.judge, 1.0, _JUDGE_PART),
        (before.gap, now.gap, 2.0, 1 - _JUDGE_PART),
    ):
        many = min(earlier.shape[-1], later.shape[-1])
        if not many:
            shape = earlier.shape[:-1]
            return np.full(shape, -1.0), np.full(shape, 1.0)
        moved = later[..., :many] - earlier[..., :many]
        found = mean_bounds(moved, error * part, low=-bound, high=bound, expected=earlier.shape[-1])
        lows.append(found.low[..., -1])
        highs.append(found.high[..., -1])
    return sum(lows), sum(highs)  # type: ignore[return-value]
