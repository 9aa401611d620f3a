from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.measures.scores.ratings import inversions, kendall, mean_ranks, pearson, spearman

numbers = st.integers(0, 5) | st.floats(-1e6, 1e6)
pairs = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=40)


def columns(rows: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.array(rows, dtype=float).T
    return x, y


def slow_kendall(x: np.ndarray, y: np.ndarray) -> float:
    """Look at all pairs."""
    balance = spread_x = spread_y = 0
    for i in range(len(x)):
        for j in range(i):
            a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
            balance += a * b
            spread_x += a != 0
            spread_y += b != 0
    return balance / math.sqrt(spread_x * spread_y) if spread_x and spread_y else math.nan


def test_by_hand() -> None:
    x, y = np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4])
    # Centred: -1.5 -.5 .5 1.5 and -1.5 .5 -.5 1.5; 4 / 5.
    assert pearson(x, y) == pytest.approx(0.8)
    assert spearman(x, y) == pytest.approx(0.8)
    # One of six pairs stands the other way: (5 - 1) / 6.
    assert kendall(x, y) == pytest.approx(2 / 3)
    # With ties: pairs (1,2) tied in x, (2,3) tied in y, (1,3) alike: 1 / √(2·2).
    assert kendall(np.array([1.0, 1, 2]), np.array([1.0, 2, 2])) == pytest.approx(0.5)
    assert mean_ranks(np.array([7.0, 3, 7, 1])).tolist() == [3.5, 2, 3.5, 1]


def test_only_the_order_counts_for_ranks() -> None:
    x = np.array([1.0, 2, 3, 4, 5])
    assert spearman(x, np.exp(3 * x)) == kendall(x, np.exp(3 * x)) == 1
    assert pearson(x, np.exp(3 * x)) < 0.9


@given(pairs)
def test_kendall_as_all_pairs(rows: list[tuple[float, float]]) -> None:
    x, y = columns(rows)
    assert kendall(x, y) == pytest.approx(slow_kendall(x, y), nan_ok=True)


@given(pairs)
def test_spearman_is_pearson_of_ranks_by_counting(rows: list[tuple[float, float]]) -> None:
    x, y = columns(rows)

    def ranks(values: np.ndarray) -> np.ndarray:
        return np.array([(values < value).sum() + ((values == value).sum() + 1) / 2 for value in values])

    a, b = ranks(x), ranks(y)
    spread = a.std() * b.std()
    expected = ((a - a.mean()) * (b - b.mean())).mean() / spread if spread > 0 else math.nan
    assert spearman(x, y) == pytest.approx(expected, nan_ok=True)


@given(pairs)
def test_both_ways_alike_and_between_minus_one_and_one(rows: list[tuple[float, float]]) -> None:
    x, y = columns(rows)
    for measure in (pearson, spearman, kendall):
        found = measure(x, y)
        assert measure(y, x) == pytest.approx(found, nan_ok=True, abs=1e-12)
        assert math.isnan(found) or -1 <= found <= 1
        assert math.isnan(found) or measure(x, x) == pytest.approx(1)
        assert measure(x, -y) == pytest.approx(-found, nan_ok=True, abs=1e-12)


@given(st.lists(st.integers(0, 20), max_size=70))
def test_inversions_as_all_pairs(values: list[int]) -> None:
    expected = sum(values[i] > values[j] for j in range(len(values)) for i in range(j))
    assert inversions(np.array(values, dtype=np.int64)) == expected


@pytest.mark.parametrize("measure", [pearson, spearman, kendall])
@pytest.mark.parametrize(
    ("x", "y"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([0.1] * 7, [0.3] * 7), ([1e9] * 3, [1, 2, 3])]
)
def test_without_variation_undefined(measure: object, x: list[float], y: list[float]) -> None:
    assert math.isnan(measure(np.array(x, dtype=float), np.array(y, dtype=float)))  # type: ignore[operator]


def test_very_large_and_small_numbers() -> None:
    x = np.array([1.0, 2, 4])
    assert pearson(x * 1e200, x * 1e-200) == pytest.approx(1)
