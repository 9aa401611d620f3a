from __future__ import annotations

import numpy as np
import pytest

from lapsus.kinds.votes import compared
from lapsus.model.votes import ScaleVotes
from lapsus.trust.alternative_test import agreement_with_people
from lapsus.trust.figures import Sure, calibration, confusion, disagreements, sure_answers
from lapsus.trust.ranking import PeopleAndJudges
from tests.trust.helpers import label_votes, units

VOTES = label_votes({"a": "OOXX", "b": "OTXX", "judge": "OOXO"})
WHO = PeopleAndJudges(("a", "b"), ("judge",))


def test_confusion_counts_each_unit_once() -> None:
    found = {(one.people, one.judge): one.units for one in confusion(VOTES, WHO)}
    assert found[("O", "O")] == pytest.approx(1.5)
    assert found[("T", "O")] == pytest.approx(0.5)
    assert (found[("X", "X")], found[("X", "O")]) == (1, 1)
    assert sum(found.values()) == pytest.approx(4)
    scale = ScaleVotes(units(2), ("a", "judge"), np.ones((2, 2)))
    assert confusion(scale, PeopleAndJudges(("a",), ("judge",))) == []


def test_calibration_by_hand() -> None:
    found = calibration([Sure(0.92, 1), Sure(0.98, 0), Sure(0.35, 0.5), Sure(1.0, 1)])
    assert [(one.low, one.answers) for one in found] == [(0.3, 1), (0.9, 3)]
    assert found[1].sure == pytest.approx((0.92 + 0.98 + 1) / 3)
    assert found[1].right == pytest.approx(2 / 3)
    assert calibration([]) == []


def test_sure_answers_pair_the_judges_share_with_peoples() -> None:
    shares = {unit: {"O": 0.6, "T": 0.3, "X": 0.1} for unit in VOTES.units[:2]}
    assert sorted(sure_answers(VOTES, WHO, shares)) == [Sure(0.6, 0.5), Sure(0.6, 1.0)]


def test_the_biggest_disagreement_comes_first() -> None:
    found = disagreements(VOTES, WHO)
    assert (found[0].document, found[0].judge_agreement, found[0].people_agreement) == ("d3", 0, 1)
    assert found[-1].judge_agreement > found[-1].people_agreement, (
        "where people differ, the judge sides with one"
    )
    assert len(disagreements(VOTES, WHO, top=1)) == 1


def test_likeness_is_that_of_a_loop_and_shuffled_answers_do_worse() -> None:
    votes = label_votes({"a": "OTXOTXOTXO" * 4, "b": "OTXOTOOTXO" * 4, "judge": "OTXOTXOTXX" * 4})
    codes = compared(votes)
    found = agreement_with_people(codes, [0, 1], codes.codes[:, 2])
    assert found.agreement == pytest.approx((8 * 1 + 0.5 + 0) / 10)
    assert (found.answered, found.wanted) == (40, 40)
    assert found.p_value == pytest.approx(1 / 201)
    assert 0.25 < (found.shuffled or 0) < 0.45
    nothing = agreement_with_people(codes, [0, 1], np.full(40, -1))
    assert (nothing.agreement, nothing.answered, nothing.wanted) == (None, 0, 40)
