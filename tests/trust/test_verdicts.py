"""The verdict in words: what a pass is worth beside the floors, in both languages."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from lapsus.kinds.votes import compared
from lapsus.notices import localized
from lapsus.trust.alternative_test import EPSILONS, Trial, agrees_better, constant_judge, duels
from lapsus.trust.ranking import CONSTANT, RANDOM, PeopleAndJudges, Stand, standings, verdict, without_verdict
from tests.trust.helpers import label_votes

TRIAL = Trial((0, 1), (), 60, 20, 0.9, (0.8, 1.0), 0.9, 0.9, (), ())
PEOPLE = dict(sorted(EPSILONS.items(), reverse=True))


def stand(epsilon: float, passes: bool, clustered: bool = True, floors: tuple[str, ...] = ()) -> Stand:
    return Stand(epsilon, PEOPLE[epsilon], 1.0, passes, 0, 1.0, clustered, 0, floors)


def test_a_pass_that_a_floor_shares_tells_nothing_unless_the_judge_is_better() -> None:
    stands = [stand(epsilon, True, floors=(CONSTANT, RANDOM)) for epsilon in PEOPLE]
    for better in (False, None):
        assert verdict(stands, TRIAL, better) == (
            "passes, but so does always the same answer, and it is not shown to be better than that:"
            " on these data the test tells nothing"
        )
    assert verdict(stands, TRIAL, True) == (
        "may stand in for these people, whoever they are; always the same answer passes for experts or trained"
        " annotators or crowd workers too"
    )


def test_a_judge_no_better_than_the_constant_is_named_also_where_that_fails() -> None:
    stands = [stand(0.2, True, False), stand(0.15, True, floors=(RANDOM,)), stand(0.1, False)]
    assert verdict(stands, TRIAL, False) == (
        "may stand in for these people if they are experts or trained annotators, not if they are crowd workers;"
        " answering at random passes for trained annotators too; with documents as clusters it does not hold for"
        " experts; it is not shown to agree with people better than always the same answer"
    )


@pytest.mark.parametrize("better", [True, False])
def test_every_verdict_is_said_in_japanese(better: bool) -> None:
    ways = list(product((True, False), (True, False), ((), (CONSTANT,), (RANDOM,))))
    for kinds in product(ways, repeat=3):
        stands = [stand(epsilon, *way) for epsilon, way in zip(PEOPLE, kinds, strict=True)]
        said = localized(verdict(stands, TRIAL, better), "ja")
        assert not re.search("[a-z]", said), said


def test_better_than_the_constant_is_tested_on_the_same_units_with_documents_as_clusters() -> None:
    people = "OOOXOOOXOOOX"
    votes = label_votes(
        {"a": people, "b": people, "same": "O" * 12, "right": people, "few": "...X...X...."}, per_document=4
    )
    told = standings("q", votes, PeopleAndJudges(("a", "b"), ("same", "right", "few")), least_units=2)
    assert {one.judge: one.beats_constant for one in told} == {
        "same": False, "right": True, "few": True, CONSTANT: None, RANDOM: None,
    }  # fmt: skip
    answers = compared(votes)
    right, constant = (
        duels(answers, [0, 1], codes) for codes in (answers.codes[:, 3], constant_judge(answers, [0, 1]))
    )
    assert agrees_better(right, constant, votes.document_groups()) is True
    assert agrees_better(constant, right, votes.document_groups()) is False
    assert agrees_better(right, constant, np.zeros(12, dtype=np.intp)) is None


def test_a_floor_says_what_it_tells_of_the_data() -> None:
    votes = label_votes({"a": "O" * 40, "b": "O" * 40, "judge": "O" * 40})
    told = {one.judge: one for one in standings("q", votes, PeopleAndJudges(("a", "b"), ("judge",)))}
    assert told[CONSTANT].verdict == "passes, though it is a floor: on these data the test tells nothing"
    assert told["judge"].floors == (CONSTANT, RANDOM)
    assert told["judge"].passes is True


def test_labels_that_a_judge_never_gives_are_named_with_its_rates() -> None:
    people = "OOTXOOTXOOTX" * 3
    votes = label_votes(
        {"a": people, "b": people, "c": people, "judge": people.replace("X", "T")}, per_document=4
    )
    (found,) = [
        one
        for one in standings("q", votes, PeopleAndJudges(("a", "b", "c"), ("judge",)))
        if one.judge == "judge"
    ]
    assert found.never_given == ("X",)
    assert found.verdict.endswith("; it never gives X")
    rates = {one.label: (one.sensitivity, one.specificity, one.n) for one in found.rates}
    assert rates == {"O": (1.0, 1.0, 36), "T": (1.0, 18 / 27, 36), "X": (0.0, 1.0, 36)}
    assert not re.search("[a-z]", localized(found.verdict, "ja"))


def test_there_is_no_verdict_on_a_judge_that_learned_from_these_documents() -> None:
    people = "OOTXOOTXOOTX" * 3
    votes = label_votes({"a": people, "b": people, "c": people, "judge": people}, per_document=4)
    one = standings("q", votes, PeopleAndJudges(("a", "b", "c"), ("judge",)))[0]
    assert one.passes
    told = without_verdict(one, 3)
    assert (told.passes, told.learned_documents) == (None, 3)
    assert told.verdict == "no verdict: it learned from 3 of these 9 documents"
    assert without_verdict(one, 0) is one
