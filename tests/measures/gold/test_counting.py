"""Gold that is counted: distributions, majorities, means, label sets."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import InvalidError, UsageError
from lapsus.measures.gold.counts import (
    distribution,
    label_sets,
    majority,
    majority_codes,
    mean,
    median,
)
from lapsus.measures.gold.result import NOBODY, Gold
from lapsus.model.votes import row_shares
from tests.measures.agreement.helpers import label_rows, labels, numbers, sets
from tests.measures.gold.helpers import units


def asked_in_order(counts: list[int], t: Fraction, default: int) -> int:
    """The challenge's rule as it is written, in whole numbers."""
    total = sum(counts)
    for place, count in enumerate(counts):
        if all(count >= other for other in counts) and Fraction(count, total) >= t:
            return place
    return default


def test_shares_by_hand() -> None:
    gold = distribution(labels(["OOTX", "XX--", "----"]))
    assert gold.distributions is not None
    assert gold.distributions[:2].tolist() == [[0.5, 0.25, 0.25], [0, 0, 1]]
    assert np.isnan(gold.distributions[2]).all()
    assert gold.answers is None
    assert gold.labels == ("O", "T", "X")
    assert gold.signature.startswith("method:distribution|smoothing:none|raters:2-4|lapsus:")


def test_shares_work_along_the_last_axis() -> None:
    counts = np.array([[[1, 3], [0, 0]], [[2, 2], [5, 0]]])
    assert row_shares(counts)[0, 0].tolist() == [0.25, 0.75]
    assert np.isnan(row_shares(counts)[0, 1]).all()
    assert row_shares(counts)[1].tolist() == [[0.5, 0.5], [1, 0]]


@pytest.mark.parametrize(
    ("row", "t", "label"),
    [
        ("OTX", 0.0, "O"),  # all tied: the first
        ("TTXX", 0.0, "T"),  # T and X tied: T is asked first
        ("XXO", 0.0, "X"),
        ("XXXOT", 0.6, "X"),  # 3/5 is at least 0.6
        ("XXXOT", 0.61, "O"),  # and falls short of 0.61: the default
        ("XXTT", 0.5, "T"),  # exactly the threshold, and tied
        ("XXXTTO", 0.51, "O"),
    ],
)
def test_majority_by_hand(row: str, t: float, label: str) -> None:
    gold = majority(labels([row]), t)
    assert gold.answers == (label,)
    assert gold.distributions is not None
    assert gold.distributions.sum() == pytest.approx(1)


def test_another_default() -> None:
    gold = majority(labels(["XXTTO"]), 0.9, default="T")
    assert gold.answers == ("T",)
    assert gold.signature.startswith("method:majority|t:0.9|ties:O>T>X|default:T|raters:5|")


def test_nobody_is_no_default() -> None:
    gold = majority(labels(["---", "XX-"]))
    assert gold.answers == (None, "X")
    assert gold.note is None
    assert gold.by_unit() == {gold.units[1]: "X"}
    assert majority(labels(["---"])).note == NOBODY


def test_majority_without_units() -> None:
    gold = majority(labels([]))
    assert gold.answers == ()
    assert gold.note == NOBODY


def test_majority_refuses_nonsense() -> None:
    with pytest.raises(UsageError, match="threshold is a share"):
        majority(labels(["OX"]), 1.5)
    with pytest.raises(UsageError, match="did you mean 'O'"):
        majority(labels(["OX"]), default="o")


@given(label_rows(), st.integers(0, 20), st.integers(0, 2))
def test_majority_is_the_rule_asked_in_order(rows: list[str], twentieths: int, default: int) -> None:
    votes = labels(rows)
    gold = majority(votes, twentieths / 20, votes.labels[default])
    for counts, answer in zip(votes.counts().tolist(), gold.answers or (), strict=True):
        if sum(counts):
            assert answer == votes.labels[asked_in_order(counts, Fraction(twentieths, 20), default)]
        else:
            assert answer is None


@given(label_rows(), st.randoms())
def test_the_order_of_annotators_does_not_matter(rows: list[str], random) -> None:  # type: ignore[no-untyped-def]
    order = list(range(len(rows[0])))
    random.shuffle(order)
    turned = ["".join(row[place] for place in order) for row in rows]
    assert majority(labels(rows), 0.4).answers == majority(labels(turned), 0.4).answers


def test_majority_codes_of_stacked_distributions() -> None:
    stacked = np.array([[[0.2, 0.8], [0.5, 0.5]], [[0.9, 0.1], [math.nan, math.nan]]])
    assert majority_codes(stacked).tolist() == [[1, 0], [0, 0]]
    assert majority_codes(stacked, 0.85, default=1).tolist() == [[1, 1], [0, 1]]


def test_mean_and_median_by_hand() -> None:
    votes = numbers([[1, 2, 6], [4, None, 5], [None, None, None], [None, 3, None]])
    assert mean(votes).answers == (3.0, 4.5, None, 3.0)
    assert median(votes).answers == (2.0, 4.5, None, 3.0)
    assert mean(votes).method == "mean"
    assert median(votes).signature.startswith("method:median|raters:1-3|")
    assert median(numbers([[None]])).note == NOBODY


@given(
    st.lists(
        st.lists(st.none() | st.integers(1, 7), min_size=4, max_size=4),
        min_size=1,
        max_size=6,
    )
)
def test_mean_and_median_are_those_of_the_library(rows: list[list[int | None]]) -> None:
    given_numbers = [[value for value in row if value is not None] for row in rows]
    means = [statistics.mean(row) if row else None for row in given_numbers]
    medians = [statistics.median(row) if row else None for row in given_numbers]
    assert mean(numbers(rows)).answers == pytest.approx(tuple(means))
    assert median(numbers(rows)).answers == pytest.approx(tuple(medians))


def test_median_without_annotators() -> None:
    assert median(numbers([[], []])).answers == (None, None)
    assert mean(numbers([[], []])).answers == (None, None)


def test_label_sets_by_hand() -> None:
    votes = sets([["ab", "a", "c", "ac"], ["b", "c", "", None], [None, None, None, None], ["", "", "", ""]])
    gold = label_sets(votes)
    # First unit: a 3/4, b 1/4, c 2/4. Second: b and c 1/3 each of those who answered.
    assert gold.answers == (("a", "c"), (), None, ())
    assert gold.distributions is not None
    assert gold.distributions[0].tolist() == [0.75, 0.25, 0.5, 0]
    assert np.isnan(gold.distributions[2]).all()
    assert label_sets(votes, 1 / 3).answers == (("a", "c"), ("b", "c"), None, ())
    assert label_sets(votes, 0.75).answers == (("a",), (), None, ())


def test_a_tenth_of_thirty_is_three() -> None:
    row = ["a"] * 3 + [""] * 27
    assert label_sets(sets([row]), 0.1).answers == (("a",),)


@pytest.mark.parametrize("share", [0, -1, 1.01])
def test_label_sets_refuse_a_share_that_is_none(share: float) -> None:
    with pytest.raises(UsageError, match="share"):
        label_sets(sets([["a"]]), share)


def test_gold_checks_its_shape() -> None:
    with pytest.raises(InvalidError, match="2 answers for 1 units"):
        Gold(units(1), "x", "x", ("a", "b"))
    with pytest.raises(InvalidError, match="distributions of shape"):
        Gold(units(2), "x", "x", None, ("a",), np.zeros((2, 2)))


def test_gold_cannot_be_changed() -> None:
    gold = majority(labels(["OX"]))
    assert gold.distributions is not None
    with pytest.raises(ValueError, match="read-only"):
        gold.distributions[0, 0] = 1
