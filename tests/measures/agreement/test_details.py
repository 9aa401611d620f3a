from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from lapsus.errors import UsageError
from lapsus.measures.agreement import coefficient
from lapsus.measures.agreement.answer_codes import Judged
from lapsus.measures.agreement.details import (
    NOBODY_ELSE,
    by_label,
    disputed,
    leave_one_out,
    pairwise,
    with_the_rest,
)
from lapsus.measures.agreement.pairs import cohen_matrix
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.score import SAME
from lapsus.model.votes import LabelVotes
from tests.measures.agreement.helpers import label_rows, labels, numbers, sets, units


def test_each_label_by_itself() -> None:
    # O against the rest agrees fully; T and X are mixed up.
    scores = by_label(labels(["OO", "OO", "TX", "XT", "TT"]))
    assert list(scores) == ["O", "T", "X"]
    assert scores["O"].value == pytest.approx(1)
    # T or not: agreement 3/5; T has 4 of 10 votes: expected 0.16 + 0.36.
    assert scores["T"].value == pytest.approx((0.6 - 0.52) / 0.48)


def test_each_of_several_labels_by_itself() -> None:
    scores = by_label(sets([["a", "ab"], ["b", "b"], ["", ""]], of="ab"))
    assert scores["a"].value == pytest.approx(1)
    assert scores["b"].value == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))


def test_without_each_annotator() -> None:
    votes = labels(["OOT", "TTO", "XXX"])
    scores = leave_one_out(votes, "fleiss")
    assert list(scores) == list(votes.annotators)
    # Without the one who differs the others agree fully.
    assert scores["annotator-2"].value == pytest.approx(1)
    assert scores["annotator-0"].value == coefficient("fleiss", votes.of([1, 2])).value
    assert leave_one_out(votes, "alpha(ordinal)", Bootstrap(10))["annotator-2"].interval is not None


@given(label_rows())
def test_pairs_one_by_one_or_all_at_once(rows: list[str]) -> None:
    votes = labels(rows)
    fast = pairwise(votes, "cohen(quadratic)")
    # The same measure under its other name goes the long way.
    slow = pairwise(votes, "kappa(quadratic)")
    assert np.allclose(fast.values, slow.values, equal_nan=True)
    assert (fast.shared == slow.shared).all()
    assert np.array_equal(fast.values, cohen_matrix(votes, "quadratic").values, equal_nan=True)


def test_pairs_by_any_measure() -> None:
    matrix = pairwise(sets([["a", "a", "b"], ["b", "b", "ab"], [None, "c", "c"]]), "alpha(jaccard)")
    assert matrix.values[0, 1] == matrix.values[1, 0] == pytest.approx(1)
    assert matrix.values[0, 2] < matrix.values[1, 2] < 1
    assert matrix.shared.tolist() == [[0, 2, 2], [2, 0, 3], [2, 3, 0]]
    scale = pairwise(numbers([[1, 2], [3, 4]]), "icc(3,1)")
    assert scale.values[0, 1] == pytest.approx(1)


def test_agreement_with_the_rest_by_hand() -> None:
    # The third: others say O O, T T, T T; own O, O, T. Distances 0, 1, 0. Own: O 2/3, others: O 1/3.
    # Expected distance: 2/3 * 2/3 + 1/3 * 1/3 = 5/9. 1 - (1/3) / (5/9).
    scores = with_the_rest(labels(["OOO", "TTO", "TTT"], of="OT"))
    assert scores["annotator-2"].value == pytest.approx(2 / 5)
    assert scores["annotator-2"].details["distance"] == pytest.approx(1 / 3)
    # The first: shares of others that differ 0, 1/2, 0. Own: O 1/3; others: O 1, 1/2, 0, mean 1/2.
    # Expected: 1/3 * 1/2 + 2/3 * 1/2 = 1/2. 1 - (1/6) / (1/2).
    assert scores["annotator-0"].value == pytest.approx(2 / 3)
    assert scores["annotator-0"].n == 3


def test_agreement_with_the_rest_for_sets_and_numbers() -> None:
    assert with_the_rest(sets([["a", "a"], ["bc", "bc"]]))["annotator-0"].value == pytest.approx(1)
    # 1 3 against 2 4: squared distance 1; expected (1 + 9 + 1 + 1) / 4.
    assert with_the_rest(numbers([[1, 2], [3, 4]]))["annotator-1"].value == pytest.approx(1 - 1 / 3)


def test_agreement_with_the_rest_where_there_is_none() -> None:
    scores = with_the_rest(labels(["OO-", "OO-", "--T"]), Bootstrap(10))
    assert (scores["annotator-0"].value, scores["annotator-0"].note) == (None, SAME)
    assert (scores["annotator-2"].value, scores["annotator-2"].note) == (None, NOBODY_ELSE)
    assert scores["annotator-0"].interval is None


def test_the_most_disputed_units_come_first() -> None:
    votes = labels(["OOO", "OTX", "OOT", "O--", "OTX"])
    disputes = disputed(votes)
    assert [dispute.unit for dispute in disputes] == [votes.units[place] for place in (1, 4, 2)]
    assert [dispute.disagreement for dispute in disputes] == pytest.approx([1, 1, 2 / 3])
    assert disputes[2].answers == {"O": 2, "T": 1}
    assert list(disputes[2].answers) == ["O", "T"]
    assert disputed(votes, most=1) == disputes[:1]
    assert disputed(votes, most=0) == []


def test_disputes_over_numbers_and_sets() -> None:
    # Differences of 1 2 5: 1, 3, 4; mean 8/3.
    dispute, smaller = disputed(numbers([[0.1, 0.1, 0.1], [1, 2, 5], [1, 2, None], [7, None, None]]))
    assert dispute.disagreement == pytest.approx(8 / 3)
    assert dispute.answers == {"1": 1, "2": 1, "5": 1}
    assert smaller.disagreement == pytest.approx(1)
    # Jaccard of a, ab, ab: 1/2, 1/2, 0.
    (only,) = disputed(sets([["a", "ab", "ab"], ["c", "c", None], ["", None, None]]))
    assert only.disagreement == pytest.approx(1 / 3)
    assert only.answers == {"a+b": 2, "a": 1}
    assert disputed(sets([["", "a"]]))[0].answers == {"none": 1, "a": 1}
    assert disputed(sets([["", "a"]]))[0].disagreement == pytest.approx(1)


@given(label_rows())
def test_all_units_with_different_answers_are_disputed(rows: list[str]) -> None:
    votes = labels(rows)
    found = {dispute.unit for dispute in disputed(votes)}
    assert found == {
        unit for unit, row in zip(votes.units, rows, strict=True) if len(set(row.replace("-", ""))) > 1
    }


@pytest.mark.parametrize("votes", [labels([]), numbers([]), sets([])])
def test_nothing_comes_of_nothing(votes: Judged) -> None:
    assert disputed(votes) == []
    assert with_the_rest(votes) == {}
    assert leave_one_out(votes, "alpha") == {}
    assert pairwise(votes, "alpha").values.size == 0


def test_nothing_is_said_of_persons_who_are_not_named() -> None:
    votes = LabelVotes(units(1), ("?00", "?01"), tuple("OT"), np.array([[0, 1]], dtype=np.int8))
    for ask in (with_the_rest, pairwise, lambda votes: leave_one_out(votes, "fleiss")):
        with pytest.raises(UsageError, match="do not say who gave them"):
            ask(votes)
    assert len(disputed(votes)) == 1


def test_what_does_not_suit_is_refused() -> None:
    with pytest.raises(UsageError, match="agreement by label is not made for a number"):
        by_label(numbers([[1, 2]]))  # type: ignore[arg-type]
