from __future__ import annotations

import pytest
from hypothesis import given

from lapsus.measures.agreement.fleiss import percent_agreement
from lapsus.measures.score import SAME
from tests.measures.agreement.helpers import has_pairs, label_rows, labels, numbers, slow_percent, varies


def test_by_hand() -> None:
    # OO: 1 of 1 pairs. OTT: 1 of 3. O-- has no pair. The mean of 1 and 1/3.
    score = percent_agreement(labels(["OO-", "OTT", "O--"]))
    assert score.value == pytest.approx(2 / 3)
    assert score.n == 2


def test_numbers_agree_where_they_are_the_same() -> None:
    assert percent_agreement(numbers([[1, 1], [2, 3]]), bootstrap=None).value == pytest.approx(1 / 2)


def test_one_label_everywhere_is_full_agreement_and_said() -> None:
    score = percent_agreement(labels(["OO"] * 10))
    assert (score.value, score.note) == (1.0, SAME)
    # As Clopper and Pearson have it for ten of ten.
    assert score.interval == pytest.approx((0.025**0.1, 1.0))
    assert percent_agreement(labels(["O-", "-O"])).value is None


@given(label_rows())
def test_as_pair_by_pair(rows: list[str]) -> None:
    score = percent_agreement(labels(rows), bootstrap=None)
    assert (score.value is not None) == has_pairs(rows)
    if score.value is not None:
        assert score.value == pytest.approx(slow_percent(rows))


@given(label_rows(signs="OTX", least_raters=2))
def test_copies_do_not_lower_agreement(rows: list[str]) -> None:
    if not varies(rows):
        return
    before = percent_agreement(labels(rows), bootstrap=None).value
    # Copies of everybody; and where there are two, a copy of one of them.
    assert percent_agreement(labels([row + row for row in rows]), bootstrap=None).value >= before - 1e-12  # type: ignore[operator]
    two = [row[:2] for row in rows]
    if varies(two):
        before = percent_agreement(labels(two), bootstrap=None).value
        copied = percent_agreement(labels([row + row[1] for row in two]), bootstrap=None).value
        assert copied >= before - 1e-12  # type: ignore[operator]
