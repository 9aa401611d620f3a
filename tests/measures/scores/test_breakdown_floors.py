from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.scores.breakdown import constant_floor, draw_half, half_floor
from tests.measures.scores.official import official_scores

GOLD = np.array([[4, 3, 3], [1, 2, 7], [10, 0, 0], [3, 3, 4]])
GROUPS = np.array([0, 0, 1, 1])


def test_constant_floor_of_the_gold_itself() -> None:
    found = constant_floor(GOLD, GROUPS, bootstrap=None)
    expected = official_scores(GOLD.tolist(), [0] * 4, [[0.45, 0.2, 0.35]] * 4, 0.0)
    assert {name: score.value for name, score in found.items()} == pytest.approx(expected)
    assert "|floor:constant|prior:gold|" in found["jsd"].signature


def test_without_gold_floors_are_undefined() -> None:
    nothing = np.empty((0, 3), int), np.empty(0, np.intp)
    assert constant_floor(*nothing)["jsd"].value is None
    assert half_floor(*nothing)["jsd"].value is None


@given(
    st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=1, max_size=20),
    st.integers(0, 99),
)
def test_a_half_is_half_of_the_votes(counts: list[list[int]], seed: int) -> None:
    gold = np.array(counts)
    half = draw_half(gold, np.random.default_rng(seed))
    assert (half.sum(axis=1) == gold.sum(axis=1) // 2).all()
    assert ((half >= 0) & (half <= gold)).all()


def test_halves_are_drawn_fairly() -> None:
    # Splitting N votes in two halves, a label's share p differs by (p_a - p_b)² = 4p(1-p)/(N-1) on the mean:
    # the variance of a draw without replacement, p(1-p)/(N-1), times 2².
    gold = np.tile([[15, 9, 6]], (20_000, 1))
    found = half_floor(gold, np.arange(20_000), splits=2, bootstrap=None)
    expected = 4 / 29 * (0.5 * 0.5 + 0.3 * 0.7 + 0.2 * 0.8) / 3
    assert found["mse"].value == pytest.approx(expected, rel=0.02)
    assert found["mse_nb_vs_rest"].value == pytest.approx(4 / 29 * 0.25, rel=0.02)


def test_full_agreement_splits_into_equal_halves() -> None:
    found = half_floor(np.array([[9, 0, 0], [0, 0, 5], [0, 1, 0]]), np.arange(3), bootstrap=None)
    # The single vote cannot be split and is left out.
    assert found["accuracy"].n == 2
    assert (found["accuracy"].value, found["jsd"].value, found["f1_b"].value) == (1, 0, 1)


def test_halves_are_the_same_every_time_and_say_how_they_were_drawn() -> None:
    first, again = (half_floor(GOLD, GROUPS, splits=3, seed=4, bootstrap=Bootstrap(30)) for _ in range(2))
    assert first == again
    assert "|floor:halves,splits=3,seed=4|" in first["jsd"].signature
    assert first != half_floor(GOLD, GROUPS, splits=3, seed=5, bootstrap=Bootstrap(30))
