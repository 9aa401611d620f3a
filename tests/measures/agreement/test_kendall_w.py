from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.agreement.icc import INCOMPLETE, SINGLE, TIED, kendall_w
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.score import SAME
from lapsus.model.votes import ScaleVotes
from tests.measures.agreement.helpers import labels, number_rows, numbers, units


def mean_rank(column: list[float], value: float) -> float:
    """One more than how many are below, and half of the others that are level."""
    return 1 + sum(other < value for other in column) + (sum(other == value for other in column) - 1) / 2


def test_ties_by_hand() -> None:
    # Ranks 1.5 1.5 3 and 1 2 3: sums 2.5 3.5 6, mean 4, squares 2.25 + 0.25 + 4 = 6.5. Ties: 2³ - 2 = 6.
    # W = 12 * 6.5 / (4 * (27 - 3) - 2 * 6).
    score = kendall_w(numbers([[1, 10], [1, 20], [2, 30]]))
    assert score.value == pytest.approx(78 / 84)
    assert score.n == 3


def test_the_same_order_is_one_and_the_opposite_none() -> None:
    assert kendall_w(numbers([[1, 1, 2], [2, 5, 4], [3, 9, 8]])).value == pytest.approx(1)
    assert kendall_w(numbers([[1, 3], [2, 2], [3, 1]])).value == pytest.approx(0)


@given(st.integers(2, 5).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=2, max_size=4)))
def test_without_ties_it_follows_from_spearmans_rho(orders: list[list[int]]) -> None:
    # W = (1 + (m - 1) * mean rho) / m, another way to the same number.
    n, m = len(orders[0]), len(orders)
    rhos = [
        1 - 6 * sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) / (n**3 - n)
        for one, other in itertools.combinations(orders, 2)
    ]
    rows = [list(map(float, row)) for row in zip(*orders, strict=True)]
    assert kendall_w(numbers(rows), bootstrap=None).value == pytest.approx((1 + (m - 1) * np.mean(rhos)) / m)


@given(number_rows(missing=False))
def test_with_ties_it_is_the_share_of_the_most_spread_there_could_be(rows: list[list[float]]) -> None:
    # The spread of rank sums over that if all annotators with the same ties agreed: m² times their own spread.
    columns = [list(column) for column in zip(*rows, strict=True)]
    if len(columns) < 2:
        return
    ranks = np.array([[mean_rank(column, value) for value in column] for column in columns])
    own = ranks.var(axis=1).mean()
    value = kendall_w(numbers(rows), bootstrap=None).value
    if own == 0:
        assert value is None
    else:
        assert value == pytest.approx(ranks.sum(axis=0).var() / (len(columns) ** 2 * own))


def test_units_with_a_gap_are_left_out() -> None:
    score = kendall_w(numbers([[1, 10], [1, 20], [2, 30], [3, None]]))
    assert score.value == pytest.approx(78 / 84)
    assert score.n == 3
    assert score.interval is not None
    assert 0 <= score.interval.low <= score.interval.high <= 1


def test_undefined() -> None:
    assert kendall_w(numbers([[3, 3], [3, 3]])).note == SAME
    assert kendall_w(numbers([[3, 4], [3, 4]])).note == TIED
    assert kendall_w(numbers([[3, 4]])).note == SINGLE
    assert kendall_w(numbers([[3, None]])).note == INCOMPLETE
    assert kendall_w(numbers([[3], [4]])).note == ALONE
    assert kendall_w(numbers([])).value is None


def test_what_does_not_suit_is_refused() -> None:
    with pytest.raises(UsageError, match="kendall_w is not made for one label"):
        kendall_w(labels(["OT"]))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"use alpha\(ordinal\)"):
        kendall_w(ScaleVotes(units(1), ("?00", "?01"), np.array([[1.0, 2]])))
