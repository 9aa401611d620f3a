from __future__ import annotations

import numpy as np
import pytest

from lapsus.measures.scores.tally import precision_recall_f, ratio, two_sided_precision_recall_f


def test_by_hand() -> None:
    # 2 right of 4 said and of 3 there: P = 1/2, R = 2/3, F = 2·2/(4+3).
    assert precision_recall_f(np.array(2), np.array(4), np.array(3)) == pytest.approx([1 / 2, 2 / 3, 4 / 7])


@pytest.mark.parametrize(("said", "there"), [(3, 0), (0, 3), (2, 2)])
def test_no_hit_is_zero(said: int, there: int) -> None:
    assert precision_recall_f(np.array(0), np.array(said), np.array(there)).tolist() == [0, 0, 0]


def test_nothing_at_all_is_undefined() -> None:
    assert np.isnan(precision_recall_f(np.array(0), np.array(0), np.array(0))).all()


def test_each_side_may_count_its_own_hits() -> None:
    # Both of 2 said hit the same 1 of 4 there: P = 1, R = 1/4, F = 2·¼/(5/4).
    assert two_sided_precision_recall_f(*map(np.array, (2, 2, 1, 4))) == pytest.approx([1, 0.25, 0.4])


def test_stacked_totals() -> None:
    hits, said, there = np.arange(24).reshape(3, 2, 4)
    together = precision_recall_f(hits, said, there)
    assert together.shape == (2, 4, 3)
    assert together[1, 2] == pytest.approx(precision_recall_f(hits[1, 2], said[1, 2], there[1, 2]))


def test_ratio_is_undefined_where_there_is_no_whole() -> None:
    assert ratio(np.array([1, 0, 3]), np.array([2, 0, 0])).tolist() == pytest.approx(
        [0.5, np.nan, np.nan], nan_ok=True
    )
