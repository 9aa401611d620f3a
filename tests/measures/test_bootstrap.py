from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.measures import bootstrap
from lapsus.measures.bootstrap import (
    SHARE,
    USUAL,
    Bootstrap,
    Floats,
    bootstrap_interval,
    bootstrap_rows,
    group_sums,
    interval,
    middle,
    resampled_sums,
    resampled_values,
)


def mean(sums: Floats) -> Floats:
    return sums[..., 0] / sums[..., 1]


def with_ones(values: list[float] | Floats) -> Floats:
    return np.stack([np.asarray(values, dtype=float), np.ones(len(values))], axis=1)


def test_group_sums_by_hand() -> None:
    values = np.array([[1, 10], [2, 20], [3, 30]])
    assert group_sums(values, np.array([1, 0, 1])).tolist() == [[2, 20], [4, 40]]
    # A group without rows sums to nothing; yes and no count as 1 and 0.
    assert group_sums(np.array([[True], [True]]), np.array([2, 2])).tolist() == [[0], [0], [2]]
    assert group_sums(np.empty((0, 4)), np.empty(0, np.intp)).shape == (0, 4)
    assert group_sums(np.empty((2, 0)), np.array([0, 1])).shape == (2, 0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9)), max_size=30))
def test_group_sums_lose_nothing(rows: list[tuple[int, int]]) -> None:
    groups, values = np.array(rows, dtype=np.intp).reshape(-1, 2).T
    sums = group_sums(values[:, None], groups)
    assert sums[:, 0].tolist() == [sum(v for g, v in rows if g == k) for k in range(len(sums))]


def test_each_resample_draws_as_many_groups_as_there_are() -> None:
    sums = np.array([[1.0, 0, 5], [1.0, 1, 7]])
    drawn = np.concatenate(list(resampled_sums(sums, Bootstrap(500))))
    assert (drawn[:, 0] == 2).all()
    # How often the second group came: 0, 1 or 2 times, once on the mean.
    assert set(drawn[:, 1]) == {0, 1, 2}
    assert drawn[:, 1].mean() == pytest.approx(1, abs=0.1)
    assert (drawn[:, 2] == 10 + 2 * drawn[:, 1]).all()


def test_equal_groups_put_together_are_drawn_alike() -> None:
    values = np.repeat([1.0, 2.0, 4.0], [5, 20, 10])
    plain = resampled_values(with_ones(values), mean, Bootstrap(4000))
    together = resampled_values(with_ones([1.0, 2.0, 4.0]), mean, Bootstrap(4000), np.array([5, 20, 10]))
    assert together.mean() == pytest.approx(plain.mean(), abs=0.02)
    assert together.std() == pytest.approx(plain.std(), rel=0.06)


def test_small_blocks_give_an_interval_like_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = with_ones(np.random.default_rng(0).normal(size=50))
    whole = bootstrap_interval(sums, mean, Bootstrap(2000))
    monkeypatch.setattr(bootstrap, "_BLOCK", 500)
    assert len(list(resampled_sums(sums, Bootstrap(2000)))) == 200
    assert bootstrap_interval(sums, mean, Bootstrap(2000)) == pytest.approx(whole, abs=0.03)


def test_the_interval_of_a_mean_is_as_wide_as_theory_says() -> None:
    values = np.random.default_rng(0).normal(3, 2, 400)
    found = bootstrap_interval(with_ones(values), mean, Bootstrap(5000))
    # ± 1.96 standard errors.
    spread = 1.96 * values.std() / 20
    assert found == pytest.approx((values.mean() - spread, values.mean() + spread), abs=0.02)
    narrow = bootstrap_interval(with_ones(values), mean, Bootstrap(5000, level=0.5))
    assert narrow is not None
    assert narrow.high - narrow.low == pytest.approx(2 * 0.674 * values.std() / 20, abs=0.01)


def test_rows_and_sums_agree() -> None:
    values = np.random.default_rng(0).normal(size=200)
    by_sums = bootstrap_interval(with_ones(values), mean, Bootstrap(4000))
    by_rows = bootstrap_rows(200, lambda rows: float(values[rows].mean()), Bootstrap(4000))
    assert by_rows == pytest.approx(by_sums, abs=0.02)


def test_the_seed_decides() -> None:
    sums = with_ones(np.random.default_rng(0).normal(size=30))
    assert bootstrap_interval(sums, mean, Bootstrap(50, 1)) == bootstrap_interval(
        sums, mean, Bootstrap(50, 1)
    )
    assert bootstrap_interval(sums, mean, Bootstrap(50, 1)) != bootstrap_interval(
        sums, mean, Bootstrap(50, 2)
    )


def test_no_interval_where_it_would_mean_nothing() -> None:
    assert bootstrap_interval(with_ones([1.0, 2.0]), mean, None) is None
    assert bootstrap_interval(with_ones([1.0]), mean, Bootstrap()) is None
    assert bootstrap_interval(with_ones([]), mean, Bootstrap()) is None
    assert bootstrap_rows(1, lambda rows: 1.0, Bootstrap()) is None
    assert bootstrap_rows(5, lambda rows: 1.0, None) is None
    # One row that stands for many groups can be drawn.
    assert bootstrap_interval(with_ones([2.0]), mean, Bootstrap(10), np.array([7])) == (2, 2)


def test_undefined_draws_are_left_out_until_they_are_most() -> None:
    assert middle(np.array([1.0, 1, 1, np.nan]), 0.95) == (1, 1)
    assert middle(np.array([1.0, np.nan, np.nan, np.nan]), 0.95) is None
    assert interval(np.array([1.0, np.nan]), 0.95, value=1.0, groups=9) is None
    # A draw without the second group divides by 0: no warning, and no part of the interval.
    sums = np.array([[0.0, 0.0], [3.0, 1.0], [3.0, 1.0]])
    assert bootstrap_interval(sums, mean, Bootstrap(200)) == (3, 3)


def test_a_plan_prints_all_that_it_takes_to_repeat_it() -> None:
    assert str(Bootstrap()) == "1000,seed=0,level=0.95"
    assert str(Bootstrap(10, 3, 0.9)) == "10,seed=3,level=0.9"


def test_at_the_ends_the_interval_is_exact_and_never_a_point() -> None:
    # Ten of ten, none of ten: Clopper and Pearson's bounds, as tables have them.
    assert bootstrap_interval(with_ones([1.0] * 10), mean, USUAL, bounds=SHARE) == pytest.approx(
        (0.6915, 1), abs=1e-4
    )
    assert bootstrap_interval(with_ones([0.0] * 10), mean, USUAL, bounds=SHARE) == pytest.approx(
        (0, 0.3085), abs=1e-4
    )
    # Of two hundred as well: all resamples are alike.
    assert bootstrap_interval(with_ones([1.0] * 200), mean, USUAL, bounds=SHARE) == pytest.approx(
        (0.9817, 1), abs=1e-4
    )
    assert bootstrap_interval(with_ones([-1.0] * 2), mean, USUAL) == pytest.approx((-1, 0.6838), abs=1e-4)


def test_many_groups_away_from_the_ends_give_the_middle_of_the_resamples() -> None:
    sums = with_ones(np.random.default_rng(1).random(80).tolist())
    drawn = resampled_values(sums, mean, USUAL)
    assert bootstrap_interval(sums, mean, USUAL, bounds=SHARE) == middle(drawn, 0.95)


@pytest.mark.parametrize("n", [10, 40, 200])
@pytest.mark.parametrize("share", [0.0, 0.005, 0.01, 0.02, 0.2, 0.5])
def test_an_interval_of_a_share_holds_as_often_as_it_says(n: int, share: float) -> None:
    """Few rare answers cannot be cut finer, so that it may hold more often; it must not hold less."""
    counts = np.arange(n + 1)
    chance = np.array([math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in counts])
    held = 0.0
    for k in counts[chance > 1e-6].tolist():
        values = with_ones([1.0] * k + [0.0] * (n - k))
        low, high = bootstrap_interval(values, mean, Bootstrap(400), bounds=SHARE) or (1, 0)
        held += chance[k] * (low <= share <= high)
    assert held >= 0.93


def test_a_share_of_few_groups_with_many_answers_each_holds_as_often_as_it_says() -> None:
    """Agreement of five people on ten even units: their spread is found from ten numbers, and is as unsure."""
    chance = np.random.default_rng(4)
    held = 0
    for seed in range(400):
        yes = chance.binomial(5, 0.5, 10)
        pairs = (yes * (yes - 1) + (5 - yes) * (4 - yes)) / 20
        sums = np.stack([np.ones(10), pairs], axis=1)
        found = bootstrap_interval(
            sums, lambda totals: totals[..., 1] / totals[..., 0], Bootstrap(200, seed), bounds=SHARE
        )
        assert found is not None
        held += found.low <= 0.5 <= found.high
    assert held / 400 > 0.9
