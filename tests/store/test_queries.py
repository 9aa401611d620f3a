"""What people and pages read: own units, judgments, progress, flags."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lapsus.errors import InputError, UsageError
from lapsus.store import OwnUnit, RefusedError, Store
from tests.store.helpers import Clock, campaign, judge_all, people, reserve, save


def test_own_units_tell_what_is_left(store: Store) -> None:
    campaign(store, documents=1)
    (me,) = people(store, "avery")
    one, two, _ = reserve(store, me)
    save(store, one, me)
    save(store, two, me, submitted=False)
    assert store.assignment.own_units(me, "chat") == [
        OwnUnit(1, "d0", "0", "done", 1, 1),
        OwnUnit(2, "d0", "2", "reserved", 1, 0),
        OwnUnit(3, "d0", "4", "reserved", 0, 0),
    ]


def test_own_judgments_come_page_by_page_and_only_ones_own(store: Store) -> None:
    campaign(store, documents=4, per_unit=2)
    avery, blake = people(store, "avery", "blake")
    judge_all(store, avery)
    judge_all(store, blake, answer="X")
    first = store.judgments.of_person("chat", avery, limit=5)
    second = store.judgments.of_person("chat", avery, limit=50, before=first[-1].unit)
    assert [judgment.unit for judgment in first + second] == list(range(12, 0, -1))
    assert {(judgment.annotator, judgment.answers["breakdown"]) for judgment in first + second} == {
        ("avery", "O")
    }
    assert store.judgments.get("chat", 1, 99) is None


def test_history_holds_everything_that_was_ever_said(store: Store) -> None:
    campaign(store, documents=1, turns=1, per_unit=2)
    avery, blake = people(store, "avery", "blake")
    for person in (avery, blake):
        reserve(store, person)
    save(store, 1, avery, "O")
    save(store, 1, blake, "X", submitted=False)
    save(store, 1, avery, "T")
    said = [
        (j.annotator, j.revision, j.submitted, j.answers["breakdown"])
        for j in store.judgments.history("chat", 1)
    ]
    assert said == [("avery", 1, True, "O"), ("avery", 2, True, "T"), ("blake", 1, False, "X")]
    assert [j.revision for j in store.judgments.history("chat", 1, avery)] == [1, 2]
    assert [j.annotator for j in store.judgments.of_unit("chat", 1)] == ["avery"]


def test_progress_counts_units_time_and_people(store: Store, clock: Clock) -> None:
    campaign(store, documents=2, per_unit=2)
    avery, blake = people(store, "avery", "blake")
    for unit in reserve(store, avery):
        save(store, unit, avery, seconds=1.5)
    reserve(store, blake)
    progress = store.progress.of_campaign("chat")
    assert (progress.documents, progress.units, progress.wanted, progress.done, progress.complete) == (
        2,
        6,
        12,
        3,
        0,
    )
    mine, theirs = progress.people
    assert (mine.name, mine.submitted, mine.held, mine.seconds, mine.last_at) == (
        "avery",
        3,
        0,
        4.5,
        clock.now,
    )
    assert (theirs.name, theirs.submitted, theirs.held, theirs.last_at) == ("blake", 0, 3, None)
    assert store.progress.of_person("chat", avery) == mine
    assert store.progress.of_person("chat", 99) is None


def test_a_flag_is_raised_once_and_settled(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    for _ in range(2):
        store.flags.add("f1", "chat", 2, me, "Is this\nirony?")
    store.flags.add("f2", "chat", 3, me, "<b>odd</b>")
    assert [(flag.unit, flag.name, flag.text) for flag in store.flags.all("chat")] == [
        (2, "avery", "Is this\nirony?"),
        (3, "avery", "<b>odd</b>"),
    ]
    (flag,) = store.flags.all("chat", unit=2)
    store.flags.set_settled("chat", flag.id, True)
    assert store.flags.all("chat", unit=2)[0].settled is not None
    with pytest.raises(UsageError, match="no open flag"):
        store.flags.set_settled("chat", flag.id, True)


@pytest.mark.parametrize("huge", [2**31, 2**63, 2**70, -(2**70)])
def test_numbers_out_of_range_stand_for_nothing(store: Store, huge: int) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    reserve(store, me)
    assert store.judgments.get("chat", huge, me) is None
    assert store.judgments.get("chat", 1, huge) is None
    assert (
        store.judgments.of_person("chat", huge, before=huge, limit=huge)
        == store.assignment.own_units(huge, "chat")
        == []
    )
    assert (
        store.judgments.of_unit("chat", huge)
        == store.judgments.history("chat", huge)
        == store.judgments.history("chat", 1, huge)
        == []
    )
    assert store.flags.all("chat", unit=huge) == store.access.tokens(huge) == []
    assert store.campaigns.of_person(huge) == store.campaigns.all()
    assert store.progress.of_person("chat", huge) is None
    assert store.access.session_stamp(huge) == ""
    assert store.assignment.give_back(huge, "chat") == 0
    for ask in (
        lambda: store.flags.set_settled("chat", huge, True),
        lambda: store.access.revoke_token(huge, huge),
        lambda: store.people.set_role(huge, "manager"),
        lambda: store.assignment.next_units(huge, "chat"),
    ):
        with pytest.raises(UsageError):
            ask()


def test_flags_are_checked(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    with pytest.raises(InputError, match="a remark"):
        store.flags.add("k", "chat", 1, me, "a\0b")
    with pytest.raises(RefusedError, match="no unit"):
        store.flags.add("k", "chat", 999, me, "odd")
    with pytest.raises(UsageError, match="no person"):
        store.flags.add("k", "chat", 1, 99, "odd")
    assert store.flags.all("chat") == []


def test_what_is_read_together_is_one_state_in_which_nothing_is_written(store: Store) -> None:
    campaign(store)
    people(store, "avery")

    def names() -> list[str]:
        return [person.name for person in store.people.all()]

    with ThreadPoolExecutor(1) as other, store.database.reading_together():
        assert names() == ["avery"]
        other.submit(store.people.add, "blake").result()
        assert names() == ["avery"]
        assert other.submit(names).result() == ["avery", "blake"]
        with pytest.raises(AssertionError, match="reads together"):
            store.people.add("casey")
    assert names() == ["avery", "blake"]
    store.people.add("casey")
