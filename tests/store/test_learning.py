"""A campaign's judge in the store: one worker at a time, nothing suggested after the fact, people's work untouched."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lapsus.errors import InputError, InvalidError, UsageError
from lapsus.store import Checks, KnownUnit, Learn, Plan, Store, open_store, parse_plan, plan_yaml
from lapsus.store.learning import HOLD, LearningRound, OpenUnit, Suggestion, Work
from tests.store.helpers import Clock, campaign, people, reserve, save

LEARN = Learn(after=2, every=3)


def learned_from(units: int) -> LearningRound:
    return LearningRound(datetime(2026, 3, 1, tzinfo=UTC), units, ())


def suggested(unit: OpenUnit, label: str = "X", *, shown: bool = True, doubt: float = 0.5) -> Suggestion:
    return Suggestion(unit, {"breakdown": label}, shown, doubt)


def claimed(store: Store, holder: str = "one") -> Work:
    work = store.learning.claim(holder)
    assert work is not None
    return work


def test_a_plan_says_how_a_judge_learns() -> None:
    plan = parse_plan(
        "name: chat\nscheme: breakdown\nlearn: {after: 50, without: 0.3, uncertain_first: false}\n"
    )
    assert plan.learn == Learn(after=50, every=100, without=0.3, uncertain_first=False)
    assert parse_plan(plan_yaml(plan)) == plan
    assert plan.suggests == "judge-chat"
    for wrong in ("{after: 0}", "{every: 0}", "{without: 0.01}", "{without: 1.5}", "{when: 3}"):
        with pytest.raises((InputError, InvalidError)):
            parse_plan(f"name: chat\nscheme: breakdown\nlearn: {wrong}\n")
    with pytest.raises((InputError, InvalidError), match="from one"):
        parse_plan("name: chat\nscheme: breakdown\nsuggest: rules\nlearn: {}\n")


def test_one_worker_learns_when_enough_is_judged(store: Store, url: str, clock: Clock) -> None:
    campaign(store, learn=LEARN)
    (me,) = people(store, "avery")
    first, second, _ = reserve(store, me)
    save(store, first, me)
    assert store.learning.claim("one") is None
    save(store, second, me)
    with open_store(url, clock=clock) as other:
        work = claimed(store)
        assert (work.campaign, work.what) == ("chat", "learn")
        assert other.learning.claim("two") is None
        state = other.learning.state("chat")
        assert state is not None
        assert (state.doing, state.judged) == ("learn", 2)
        # Whoever does not say any more that it is at it is taken to have ended.
        clock.forward(seconds=HOLD.total_seconds() - 1)
        assert store.learning.hold(work)
        clock.forward(seconds=HOLD.total_seconds() - 1)
        assert other.learning.claim("two") is None
        clock.forward(seconds=2)
        theirs = claimed(other, "two")
        assert not store.learning.hold(work)
        assert not store.learning.learned(work, learned_from(2), b"mine", [])
        assert other.learning.learned(theirs, learned_from(2), b"theirs", [])
    assert store.learning.model("chat") == b"theirs"
    state = store.learning.state("chat")
    assert state is not None
    assert (state.next_at, state.doing, state.trouble) == (5, None, None)
    assert [one.units for one in state.rounds] == [2]
    assert store.learning.claim("one") is None


def test_nothing_is_suggested_after_the_fact(store: Store) -> None:
    campaign(store, learn=LEARN)
    (me,) = people(store, "avery")
    mine = reserve(store, me)
    save(store, mine[0], me)
    save(store, mine[1], me)
    work, units = claimed(store), store.learning.units_to_suggest("chat", 100)
    assert len(units) == 10
    assert {unit.number for unit in units}.isdisjoint(mine[:2])
    # One more is judged while it learns: for that one nothing is kept.
    save(store, mine[2], me)
    several = [suggested(unit, shown=place % 2 == 0) for place, unit in enumerate(units)]
    assert store.learning.learned(work, learned_from(2), b"model", several)
    assert store.learning.suggestion("chat", mine[2]) is None
    shown = next(one.unit for one in several if one.shown and one.unit.number != mine[2])
    hidden = next(one.unit for one in several if not one.shown and one.unit.number != mine[2])
    assert store.learning.suggestion("chat", shown.number) == {"breakdown": "X"}
    assert store.learning.suggestion("chat", hidden.number) is None
    # What was suggested for a unit stays once it is judged, and is not learned anew.
    while given := reserve(store, me):
        for unit in given:
            save(store, unit, me, suggested=unit == shown.number)
        if shown.number in given:
            break
    said = [
        one
        for entry in store.exports.export("chat")
        for one in entry.judgments
        if "suggested" in one.metadata
    ]
    assert [(one.segment, one.metadata["suggested"]) for one in said] == [(shown.segment, "judge-chat")]
    again = claimed(store)
    left = store.learning.units_to_suggest("chat", 100)
    assert store.learning.learned(again, learned_from(5), b"newer", [suggested(unit, "T") for unit in left])
    assert store.learning.suggestion("chat", shown.number) == {"breakdown": "X"}
    answers = store.learning.answers("chat")
    assert answers[store.units.get("chat", shown.number).document, shown.segment] == {"breakdown": "X"}


def test_checks_have_suggestions_like_other_units_however_often_they_were_judged(store: Store) -> None:
    known = KnownUnit("d0", {"breakdown": "X"}, "0")
    campaign(store, turns=1, order="given", learn=LEARN, checks=Checks((known,), every=2))
    me, other = people(store, "avery", "blake")
    for _ in range(3):
        save(store, *reserve(store, me), me)
    assert store.judgments.get("chat", 1, me) is not None, "the check was judged"
    work, units = claimed(store), store.learning.units_to_suggest("chat", 100)
    assert [unit.number for unit in units] == [1, 4]
    assert [unit.number for unit in store.learning.open_units("chat", 100, program=other)] == [4]
    assert store.learning.learned(work, learned_from(2), b"model", [suggested(unit) for unit in units])
    assert store.learning.suggestion("chat", 1) == {"breakdown": "X"}
    assert store.learning.answers("chat") == {}


@pytest.mark.parametrize("first", [True, False])
def test_what_it_is_least_sure_of_can_come_first(store: Store, first: bool) -> None:
    campaign(store, documents=6, turns=1, order="given", learn=Learn(1, 1, uncertain_first=first))
    me, other = people(store, "avery", "blake")
    save(store, *reserve(store, me), me)
    work, units = claimed(store), store.learning.units_to_suggest("chat", 100)
    doubts = [0.1, 0.2, 0.9, 0.3, 0.8]
    told = [suggested(unit, doubt=doubt) for unit, doubt in zip(units, doubts, strict=True)]
    store.learning.learned(work, learned_from(1), b"model", told)
    handed = [reserve(store, person)[0] for person in (me, other)]
    assert handed == ([units[2].number, units[4].number] if first else [units[0].number, units[1].number])


def test_a_failure_is_said_and_waits_for_more(store: Store) -> None:
    campaign(store, learn=LEARN)
    (me,) = people(store, "avery")
    units = reserve(store, me)
    for unit in units:
        save(store, unit, me)
    store.learning.failed(claimed(store), InputError("it takes more", hint="judge on"), 3)
    state = store.learning.state("chat")
    assert state is not None
    assert state.trouble is not None
    assert (state.trouble.what, state.trouble.hint, state.next_at, state.doing) == (
        "it takes more",
        "judge on",
        6,
        None,
    )
    assert store.learning.claim("one") is None
    with pytest.raises(UsageError, match="not learned"):
        store.learning.judge_rest("chat")


def test_the_switch_and_the_rest(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    assert store.learning.state("chat") is None
    for unit in reserve(store, me):
        save(store, unit, me)
    store.learning.set("chat", LEARN, by=me)
    assert store.campaigns.get("chat").plan.learn == LEARN
    store.learning.learned(claimed(store), learned_from(3), b"model", [])
    store.learning.set("chat", None)
    assert store.learning.claim("one") is None
    # Also where it does not learn any more it can judge the rest, and that is done once.
    store.learning.judge_rest("chat")
    work = claimed(store)
    assert work.what == "judge"
    assert store.learning.claim("two") is None
    store.learning.let_go(work)
    again = claimed(store, "two")
    store.learning.judged_rest(again, 9)
    assert store.learning.claim("one") is None
    assert [event.what for event in store.audit.events("chat")][:2] == [
        "rest judged",
        "rest left to the judge",
    ]


def test_a_campaign_that_suggests_by_a_program_has_no_judge_of_its_own(store: Store) -> None:
    store.campaigns.create(Plan("chat", "breakdown", suggest="rules"))
    with pytest.raises(InvalidError, match="from one"):
        store.learning.set("chat", LEARN)
    assert store.learning.state("chat") is None
