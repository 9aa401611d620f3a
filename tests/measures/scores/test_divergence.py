from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lapsus.measures.scores.breakdown import jensen_shannon_terms
from tests.measures.scores import official

shares = st.lists(
    st.integers(0, 10)
    | st.floats(0, 1, allow_subnormal=False).filter(lambda share: share == 0 or share > 1e-9),
    min_size=3,
    max_size=3,
).filter(lambda row: sum(row) > 1e-6)


def jensen_shannon(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(jensen_shannon_terms(p, q).sum(axis=-1))


def normal(row: list[float]) -> np.ndarray:
    return np.array(row, dtype=float) / sum(row)


def test_by_hand() -> None:
    # Nothing in common: m is half of each, both logs are log2(2), ½·1 + ½·1.
    assert jensen_shannon(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])) == 1.0
    # p = (1, 0), q = (½, ½), m = (¾, ¼): ½·log2(4/3) + ½·(½·log2(2/3) + ½·log2(2)) = .3113.
    expected = 0.5 * np.log2(4 / 3) + 0.5 * (0.5 * np.log2(2 / 3) + 0.5)
    assert jensen_shannon(np.array([1.0, 0]), np.array([0.5, 0.5])) == pytest.approx(expected, abs=1e-15)
    assert expected == pytest.approx(0.3113, abs=1e-4)


@given(shares, shares)
def test_as_the_plain_formula_and_the_same_both_ways(first: list[float], second: list[float]) -> None:
    p, q = normal(first), normal(second)
    assert jensen_shannon(p, q) == pytest.approx(official.divergence(p, q), abs=1e-12)
    assert jensen_shannon(p, q) == jensen_shannon(q, p)
    assert 0 <= jensen_shannon(p, q) <= 1 + 1e-12


@given(shares)
def test_nothing_is_far_from_itself(row: list[float]) -> None:
    p = normal(row)
    assert jensen_shannon(p, p) == 0.0


def test_rows_at_once() -> None:
    p = np.array([[1.0, 0, 0], [0, 0, 1.0]])
    assert jensen_shannon(p, p[::-1]).tolist() == [1.0, 1.0]
