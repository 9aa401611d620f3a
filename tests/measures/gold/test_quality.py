from __future__ import annotations

import math
from string import ascii_letters

import numpy as np
import pytest

from lapsus.errors import InvalidError, UsageError
from lapsus.measures.gold.quality import Times, annotator_quality, answer_codes
from lapsus.model.votes import LabelVotes
from tests.measures.agreement.helpers import labels, numbers, sets
from tests.measures.gold.helpers import spans


def test_by_hand() -> None:
    first, second, third, fourth = annotator_quality(labels(["OOX-", "OXX-", "OTX-", "O---"])).rows
    # The first: with O against {O,X}, {X,X}, {T,X}: shares ½, 0, 0; majorities a tie ½, 0, 0; the last unit is alone.
    assert (first.units, first.longest_run, first.entropy) == (4, 4, 0)
    assert first.agreement == pytest.approx(1 / 6)
    assert first.with_majority == pytest.approx(1 / 6)
    # The second: O against {O,X} ½, X against {O,X} ½, T against {O,X} 0.
    assert (second.units, second.longest_run) == (3, 1)
    assert second.agreement == pytest.approx(1 / 3)
    assert second.entropy == pytest.approx(math.log2(3))
    # The third: X against {O,O} 0, {O,X} ½, {O,T} 0.
    assert third.agreement == pytest.approx(1 / 6)
    assert (third.longest_run, third.entropy) == (3, 0)
    assert fourth.units == fourth.longest_run == 0
    assert fourth.agreement is fourth.with_majority is fourth.entropy is fourth.median_seconds is None


def test_the_majority_of_the_rest_leaves_the_annotator_out() -> None:
    # Without the first O, two say X: the first is against the majority, though with it there is a tie.
    rows = annotator_quality(labels(["OOXX"])).rows
    assert [row.with_majority for row in rows] == [0, 0, 0, 0]
    assert [row.agreement for row in rows] == pytest.approx([1 / 3] * 4)


def test_times_and_order() -> None:
    votes = labels(["O", "X", "O", "O"])
    minutes = np.array([[3.0], [1.0], [0.0], [2.0]])
    times = Times(np.array([[5.0], [1.0], [np.nan], [9.0]]), 60 * minutes)
    (row,) = annotator_quality(votes, times).rows
    # In the order of judging: O (0), X (1), O (2), O (3).
    assert (row.median_seconds, row.longest_run) == (5.0, 2)
    assert "order:moments" in annotator_quality(votes, times).signature
    assert "order:units" in annotator_quality(votes).signature


def test_answers_of_every_kind() -> None:
    assert answer_codes(numbers([[1, None], [2, 1]])).tolist() == [[0, -1], [1, 0]]
    assert answer_codes(sets([["ab", "ba", "", None]])).tolist() == [[0, 0, 1, -1]]
    many = sets([["aZ", "a", "Za"]], of=ascii_letters)  # more labels than bits in a number
    assert answer_codes(many).tolist() == [[0, 1, 0]]
    codes = answer_codes(spans([[(0, 1, "x"), (2, 3, "y")], [(2, 3, "y"), (0, 1, "x")], [], None]))
    assert codes.tolist() == [[0, 0, 1, -1]]
    rows = annotator_quality(spans([[(0, 1, "x")], [(0, 1, "x")]], [[], [(0, 1, "y")]])).rows
    assert [row.agreement for row in rows] == [0.5, 0.5]


def test_nothing_is_said_of_people_without_a_name() -> None:
    votes = labels(["OX"])
    anonymous = LabelVotes(votes.units, ("?01", "?02"), votes.labels, votes.codes)
    with pytest.raises(UsageError, match="do not say who"):
        annotator_quality(anonymous)


def test_times_of_other_votes_are_refused() -> None:
    with pytest.raises(InvalidError, match="times of shape"):
        annotator_quality(labels(["OX"]), Times(np.zeros((2, 2)), np.zeros((2, 2))))


def test_no_units() -> None:
    assert annotator_quality(labels([])).rows == ()
