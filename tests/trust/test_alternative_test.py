from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats

from lapsus.errors import UsageError
from lapsus.kinds.votes import compared
from lapsus.measures.bootstrap import t_cdf, t_quantile
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes
from lapsus.trust.alternative_test import JURY, duels, jury, rejected, trial
from lapsus.trust.ranking import CONSTANT, RANDOM, PeopleAndJudges, standings
from tests.trust import plain
from tests.trust.helpers import LABELS, label_votes, random_votes, units

SCORES = {"label": plain.equal, "labels": plain.masi, "scale": plain.minus_rmse, "spans": plain.f1}


def test_students_t_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    t = np.concatenate([rng.normal(0, 4, 500), [0.0, -40.0, 40.0, 1e-9]])
    degrees = rng.choice([1, 2, 3, 29, 99, 1999], len(t)).astype(float)
    assert np.abs(t_cdf(t, degrees) - stats.t.cdf(t, degrees)).max() < 1e-11
    assert t_cdf([-np.inf, np.inf], 3.0).tolist() == [0.0, 1.0]
    for probability in (0.001, 0.2, 0.5, 0.975):
        for df in (1, 4, 49, 1000):
            assert t_quantile(probability, df) == pytest.approx(
                stats.t.ppf(probability, df), rel=1e-9, abs=1e-12
            )


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("seed", range(3))
def test_every_kind_equals_a_plain_loop(kind: str, seed: int) -> None:
    votes, answers = random_votes(kind, seed, count=90)
    judge = answers.pop("judge")
    codes = compared(votes)
    found = trial(
        duels(codes, [0, 1, 2, 3], codes.codes[:, 4]), votes.document_groups(), epsilons=(0.1, 0.2, 0.5)
    )
    for place, epsilon in enumerate((0.1, 0.2, 0.5)):
        rate, advantage = plain.alternative(answers, judge, SCORES[kind], epsilon)
        clustered, _ = plain.alternative(
            answers, judge, SCORES[kind], epsilon, document=lambda unit: unit.document
        )
        assert found.plain[place].winning_rate == pytest.approx(rate, abs=1e-9)
        assert found.clustered[place].winning_rate == pytest.approx(clustered, abs=1e-9)
        assert found.advantage == pytest.approx(advantage, abs=1e-9)


def test_by_hand() -> None:
    """Three people; a is outvoted on unit 2, the judge on unit 3. On each unit the rest are the other two."""
    votes = label_votes({"a": "OTXO", "b": "OTOO", "c": "OTOO", "judge": "OTOX"})
    codes = compared(votes)
    found = duels(codes, [0, 1, 2], codes.codes[:, 3])
    mine = found.person == 0
    assert found.judge_score[mine].tolist() == [1, 1, 1, 0]
    assert found.person_score[mine].tolist() == [1, 1, 0, 1]
    assert (found.person_wins - found.judge_wins)[mine].tolist() == [0, 0, -1, 1]
    assert found.person_score[found.person == 1].tolist() == [1, 1, 0.5, 1]
    assert found.judge_score[found.person == 1].tolist() == [1, 1, 0.5, 0]
    told = trial(found, votes.document_groups(), least_units=4, epsilons=(0.2,))
    assert told.advantage == pytest.approx(3 / 4)
    # a: mean 0, variance 2/3 of four; b and c: mean 1/4, variance 1/4.
    p = [
        stats.t.cdf((0 - 0.2) / (2 / 3 / 4) ** 0.5, 3),
        *2 * [stats.t.cdf((0.25 - 0.2) / (1 / 4 / 4) ** 0.5, 3)],
    ]
    assert told.plain[0].p_values == pytest.approx(p, abs=1e-9)
    assert told.judge_agreement == pytest.approx((3 + 2.5 + 2.5) / 4 / 3)
    assert told.people_agreement == pytest.approx((3 + 3.5 + 3.5) / 4 / 3)


def test_who_and_what_is_left_out() -> None:
    """Units of one person, or without the judge; people with too few units still count among the rest."""
    votes = label_votes({"a": "OOOOO.", "b": "OOOO..", "c": "...XXX", "judge": "OOOX.O"})
    codes = compared(votes)
    found = duels(codes, [0, 1, 2], codes.codes[:, 3])
    assert sorted(zip(found.unit.tolist(), found.person.tolist(), strict=True)) == [
        (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2),
    ]  # fmt: skip
    told = trial(found, votes.document_groups(), least_units=4)
    assert (told.people, told.left_out, told.units) == ((0, 1), (2,), 4)
    assert told.judge_agreement == pytest.approx((3 + 0.5) / 4)
    none = trial(found, votes.document_groups())
    assert (none.people, none.advantage, none.plain[0].passes) == ((), None, None)


def test_benjamini_yekutieli() -> None:
    """Of four the bounds are k · .05 / 4 / (1 + 1/2 + 1/3 + 1/4) = k · .006."""
    assert rejected(np.array([0.5, 0.006, 0.0119, 0.019])) == 2
    assert rejected(np.array([0.007, 0.0118, 0.0179, 0.5])) == 3, "a later one carries the earlier"
    assert rejected(np.array([0.0061])) == 1
    assert rejected(np.zeros(0)) == 0


def test_where_nothing_varies() -> None:
    votes = label_votes({"a": "O" * 40, "b": "O" * 40, "same": "O" * 40, "other": "X" * 40})
    told = {one.judge: one for one in standings("q", votes, PeopleAndJudges(("a", "b"), ("same", "other")))}
    assert told["same"].winning_rate == 1
    assert told["same"].passes
    assert told["other"].winning_rate == 0
    assert told["other"].advantage == 0
    assert told["same"].more_units == told["other"].more_units == 0


def crowd(count: int, per_document: int, kinds: dict[str, float], seed: int = 0) -> LabelVotes:
    """Annotators who are right as often as said."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, count)
    right = rng.random((count, len(kinds))) < np.array(list(kinds.values()))
    codes = np.where(right, truth[:, None], rng.integers(0, 3, (count, len(kinds))))
    return LabelVotes(units(count, per_document), tuple(kinds), LABELS, codes)


def test_a_good_judge_passes_and_floors_do_not() -> None:
    votes = crowd(400, 10, {"a": 0.8, "b": 0.8, "c": 0.8, "good": 0.85, "poor": 0.2})
    told = standings("q", votes, PeopleAndJudges(("a", "b", "c"), ("poor", "good")))
    assert [one.judge for one in told] == ["good", "poor", CONSTANT, RANDOM]
    assert [one.rank for one in told] == [1, 2, None, None]
    assert [one.passes for one in told] == [True, False, False, False]
    assert told[0].verdict == "may stand in for these people, whoever they are"
    assert told[1].verdict == "may not stand in for these people"
    assert told[0].judge_agreement > told[0].people_agreement > told[3].judge_agreement
    assert told[0].advantage_low < told[0].advantage < told[0].advantage_high


def test_an_epsilon_between_is_told_in_words() -> None:
    votes = crowd(1200, 4, {"a": 0.8, "b": 0.8, "c": 0.8, "judge": 0.6}, seed=2)
    told = standings("q", votes, PeopleAndJudges(("a", "b", "c"), ("judge",)))[0]
    assert [one.passes for one in told.epsilons] == [False, True, True]
    assert told.verdict == (
        "may stand in for these people if they are experts or trained annotators, not if they are crowd workers"
    )


def test_documents_as_clusters_are_less_sure() -> None:
    """Ten units of a document that are all alike tell no more than one."""
    single = crowd(40, 1, {"a": 0.8, "b": 0.8, "c": 0.8, "judge": 0.7}, seed=1)
    tenfold = LabelVotes(units(400, 10), single.annotators, LABELS, np.repeat(single.codes, 10, axis=0))
    one, ten = (
        trial(duels(codes, [0, 1, 2], codes.codes[:, 3]), votes.document_groups())
        for votes, codes in ((votes, compared(votes)) for votes in (single, tenfold))
    )
    for place in range(3):
        assert ten.clustered[place].p_values == pytest.approx(one.plain[place].p_values, abs=1e-9)
        assert max(ten.plain[place].p_values) < max(one.plain[place].p_values)


def test_more_units_would_settle_it() -> None:
    """What is advised is about enough: with so many more the test passes in most draws."""
    people = {"a": 0.8, "b": 0.8, "c": 0.8, "judge": 0.8}
    few = standings(
        "q", crowd(40, 1, people, seed=5), PeopleAndJudges(("a", "b", "c"), ("judge",)), epsilon=0.15
    )[0]
    assert few.passes is False
    assert few.more_units is not None
    assert 0 < few.more_units < 2000
    enough = [
        standings(
            "q",
            crowd(40 + few.more_units, 1, people, seed),
            PeopleAndJudges(("a", "b", "c"), ("judge",)),
            epsilon=0.15,
        )
        for seed in range(20)
    ]
    assert sum(bool(told[0].passes) for told in enough) >= 12


def test_an_impossible_epsilon() -> None:
    votes = crowd(40, 1, {"a": 0.8, "b": 0.8, "judge": 0.8})
    with pytest.raises(UsageError, match="epsilon"):
        standings("q", votes, PeopleAndJudges(("a", "b"), ("judge",)), epsilon=1.5)


@pytest.mark.parametrize("kind", ["label", "labels", "scale", "spans"])
def test_thirty_people_on_two_thousand_units_take_two_seconds(kind: str) -> None:
    """The whole test of a judge, with both floors."""
    votes, _ = random_votes(kind, 0, count=2000, people=30)
    who = PeopleAndJudges(votes.annotators[:30], ("judge",))
    start = time.process_time()
    standings("q", votes, who)
    assert time.process_time() - start < 2


def test_a_jury_says_what_most_of_its_members_say() -> None:
    votes = label_votes({"a": "OTX.O", "b": "OTXXO", "one": "OTO.T", "two": "XTX.X", "three": "XOX.."})
    codes = compared(votes)
    assert jury(codes, [2, 3, 4]).tolist() == [2, 1, 2, -1, 1], "of equals the one named first"


def test_a_jury_of_sets_and_numbers_is_nearest_to_all() -> None:
    keys = units(1)
    numbers = compared(ScaleVotes(keys, ("a", "b", "c"), np.array([[1.0, 2.0, 5.0]])))
    assert numbers.codes[0, 1] == jury(numbers, [0, 1, 2])[0]
    chosen = np.array([[[1, 0, 0], [1, 1, 0], [1, 1, 1]]], dtype=bool)
    sets = compared(LabelSetVotes(keys, ("a", "b", "c"), LABELS, chosen, np.ones((1, 3), dtype=bool)))
    assert sets.codes[0, 1] == jury(sets, [0, 1, 2])[0]


def test_three_poor_judges_make_a_better_jury() -> None:
    votes = crowd(600, 4, {"a": 0.8, "b": 0.8, "x": 0.5, "y": 0.5, "z": 0.5}, seed=3)
    told = standings("q", votes, PeopleAndJudges(("a", "b"), ("x", "y", "z")), with_jury=True)
    assert told[0].judge == JURY
    assert (told[0].rank, told[0].floor) == (1, False)
    assert (told[0].advantage or 0) > (told[1].advantage or 0) + 0.02
