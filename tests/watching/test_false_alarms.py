"""Watching month after month: alarms are false in at most one month in twenty, and a drift of five points is found."""

from __future__ import annotations

import numpy as np

from lapsus.measures.bootstrap import Floats
from lapsus.trust.confidence_sequences import Period, corrected_share, drift_bounds, mean_bounds

DOCUMENTS, LABELS, TURNS = 3000, 2700, 10
"""Of a month: dialogues, and turns that people answered; turns of a dialogue."""


def months(many: int, share: float, rng: np.random.Generator) -> Period:
    """A judge that misses a fifth of the errors and calls three good turns in a hundred errors."""
    called = share * 0.8 + (1 - share) * 0.03
    judge = rng.binomial(TURNS, called, (many, DOCUMENTS)) / TURNS
    truth = rng.random((many, LABELS)) < share
    says = np.where(truth, rng.random((many, LABELS)) < 0.8, rng.random((many, LABELS)) < 0.03)
    return Period(judge, truth.astype(np.float64) - says)


def alarmed(before: Period, now: Period) -> Floats:
    low, high = drift_bounds(before, now)
    return np.asarray((low > 0) | (high < 0))


def test_false_alarms_in_a_thousand_months_are_at_most_one_in_twenty() -> None:
    rng = np.random.default_rng(7)
    assert alarmed(months(1000, 0.1, rng), months(1000, 0.1, rng)).mean() <= 0.05


def test_a_drift_of_five_points_is_found() -> None:
    rng = np.random.default_rng(8)
    found = alarmed(months(200, 0.10, rng), months(200, 0.15, rng))
    assert found.mean() >= 0.9
    low, high = drift_bounds(months(200, 0.10, rng), months(200, 0.15, rng))
    assert ((low <= 0.05) & (high >= 0.05)).mean() >= 0.95


def test_the_share_lies_inside_at_every_look() -> None:
    rng = np.random.default_rng(9)
    values = (rng.random((1000, 600)) < 0.2).astype(np.float64)
    found = mean_bounds(values, 0.05)
    ever_outside = ((found.low > 0.2) | (found.high < 0.2)).any(axis=-1)
    assert ever_outside.mean() <= 0.05
    # An interval that is always right since it says nothing would pass as well.
    assert (found.high[:, -1] - found.low[:, -1]).mean() < 0.2


def test_looking_every_day_with_ordinary_intervals_would_have_raised_false_alarms() -> None:
    """What the sequences are for: the same months with an interval of 95% a day are alarmed far more often."""
    rng = np.random.default_rng(9)
    values = (rng.random((1000, 600)) < 0.2).astype(np.float64)
    times = np.arange(30, 601, 20)
    means = np.cumsum(values, axis=-1)[:, times - 1] / times
    outside = np.abs(means - 0.2) > 1.96 * np.sqrt(0.16 / times)
    assert outside.any(axis=-1).mean() > 0.15


def test_a_judge_that_misses_is_corrected() -> None:
    rng = np.random.default_rng(10)
    one = months(1, 0.2, rng)
    found = corrected_share(Period(one.judge[0], one.gap[0]))
    assert found is not None
    value, low, high = found
    assert low <= 0.2 <= high
    assert abs(value - 0.2) < 0.03
    assert corrected_share(Period(np.zeros(0), np.zeros(0))) is None
