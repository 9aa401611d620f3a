"""Handing out units: whole documents, exactly as often as planned, balanced, and back after their time."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from lapsus.errors import UsageError
from lapsus.model import Entry, Judgment
from lapsus.store import Nothing, Plan, RefusedError, Reservation, Store
from tests.store.helpers import Clock, campaign, dialogue, judge_all, people, reserve, save
from tests.store.test_concurrency import check_counts


def test_a_person_gets_a_whole_document_and_the_same_again_until_it_is_done(store: Store) -> None:
    campaign(store, documents=3, turns=4)
    (me,) = people(store, "avery")
    given = store.assignment.next_units(me, "chat")
    assert isinstance(given, Reservation)
    assert len(given.units) == 4
    assert len({unit.document for unit in given.units}) == 1
    assert [unit.segment for unit in given.units] == ["0", "2", "4", "6"]
    save(store, given.units[0].number, me)
    again = store.assignment.next_units(me, "chat")
    assert isinstance(again, Reservation)
    assert again.units == given.units[1:]


def test_nobody_judges_a_unit_twice_and_every_unit_gets_its_number(store: Store) -> None:
    campaign(store, documents=6, per_unit=2)
    crowd = people(store, "avery", "blake", "casey")
    assert sum(judge_all(store, person) for person in crowd) == 6 * 3 * 2
    progress = store.progress.of_campaign("chat")
    assert (progress.units, progress.wanted, progress.done, progress.complete) == (18, 36, 36, 18)
    for number in range(1, 19):
        judges = [judgment.person for judgment in store.judgments.of_unit("chat", number)]
        assert len(judges) == len(set(judges)) == 2
    assert store.assignment.next_units(crowd[0], "chat") == Nothing("done")


def test_the_document_handed_out_least_often_comes_first(store: Store) -> None:
    campaign(store, documents=8, per_unit=3)
    crowd = people(store, "avery", "blake", "casey", "drew")
    taken: Counter[str] = Counter()
    for turn in range(18):
        given = store.assignment.next_units(crowd[turn % 4], "chat")
        assert isinstance(given, Reservation)
        taken[given.units[0].document] += 1
        assert max(taken.values()) - min(taken[f"d{n}"] for n in range(8)) <= 1
        for unit in given.units:
            save(store, unit.number, crowd[turn % 4])


@pytest.mark.parametrize(("documents", "each"), [(30, 10), (7, 3), (1, 1)])
def test_whoever_works_ahead_gets_ten_units_and_leaves_others_theirs(
    store: Store, documents: int, each: int
) -> None:
    (avery, *_) = people(store, "avery", "blake")
    campaign(store, documents, turns=1, who="named", people=("avery", "blake"))
    given = store.assignment.next_units(avery, "chat", ahead=True)
    assert isinstance(given, Reservation)
    assert len(given.units) == each
    assert store.assignment.next_units(avery, "chat", ahead=True) == given


@pytest.mark.parametrize("who", ["everybody", "open"])
def test_whoever_works_ahead_leaves_some_for_those_who_have_not_come_yet(store: Store, who: str) -> None:
    crowd = people(store, "avery", "blake", "casey", "drew", "ellis")
    campaign(store, 10, turns=1, who=who)
    if who == "open":
        store.campaigns.add_people("chat", ["avery", "blake", "casey", "drew", "ellis"])
    given = [store.assignment.next_units(person, "chat", ahead=True) for person in crowd]
    assert [len(one.units) if isinstance(one, Reservation) else 0 for one in given] == [3, 2, 2, 1, 1]
    assert store.assignment.next_units(crowd[0], "chat", ahead=True) == given[0]


def test_every_pair_of_annotators_overlaps(store: Store) -> None:
    campaign(store, documents=60, turns=1, per_unit=3)
    crowd = people(store, "avery", "blake", "casey", "drew", "ellis", "frankie")
    left = set(crowd)
    while left:
        for person in sorted(left):
            if not (units := reserve(store, person)):
                left.discard(person)
            for unit in units:
                save(store, unit, person)
    together: Counter[tuple[int, int]] = Counter()
    for number in range(1, 61):
        judges = sorted(judgment.person for judgment in store.judgments.of_unit("chat", number))
        together.update(combinations(judges, 2))
    # 60 documents by 3 of 6 people: 12 documents a pair on average.
    assert len(together) == 15
    assert min(together.values()) >= 4


def first_documents(store: Store, name: str, person: int, many: int) -> list[str]:
    found = []
    for _ in range(many):
        given = store.assignment.next_units(person, name)
        assert isinstance(given, Reservation)
        found.append(given.units[0].document)
        for unit in given.units:
            save(store, unit.number, person, campaign=name)
    return found


def test_the_shuffle_is_the_persons_own_and_repeats_with_the_seed(store: Store) -> None:
    avery, blake = people(store, "avery", "blake")
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        campaign(store, documents=12, turns=1, per_unit=5, name=name, seed=seed)
    orders = {(name, who): first_documents(store, name, who, 6) for name in "abc" for who in (avery,)}
    assert orders["a", avery] == orders["b", avery] != orders["c", avery]
    campaign(store, documents=12, turns=1, per_unit=5, name="e", seed=1)
    assert first_documents(store, "e", blake, 6) != orders["a", avery]


def test_documents_come_in_the_given_order_where_the_plan_says_so(store: Store) -> None:
    campaign(store, documents=5, order="given", per_unit=2)
    avery, blake = people(store, "avery", "blake")
    assert first_documents(store, "chat", avery, 2) == ["d0", "d1"]
    assert first_documents(store, "chat", blake, 5) == ["d2", "d3", "d4", "d0", "d1"]


def test_a_batch_is_so_many_documents(store: Store) -> None:
    campaign(store, documents=5, turns=2, batch=3)
    (me,) = people(store, "avery")
    assert len(reserve(store, me)) == 6
    for unit in reserve(store, me):
        save(store, unit, me)
    assert len(reserve(store, me)) == 4


def test_what_is_not_judged_in_time_goes_to_others_and_the_rest_counts(store: Store, clock: Clock) -> None:
    campaign(store, documents=1, turns=4, minutes=30)
    avery, blake = people(store, "avery", "blake")
    mine = reserve(store, avery)
    save(store, mine[0], avery)
    assert store.assignment.next_units(blake, "chat") == Nothing("wait")
    clock.forward(minutes=31)
    assert reserve(store, blake) == mine[1:]
    assert [unit.state for unit in store.assignment.own_units(avery, "chat")] == [
        "done",
        "released",
        "released",
        "released",
    ]
    for unit in mine[1:]:
        save(store, unit, blake)
    assert store.progress.of_campaign("chat").complete == 4
    assert store.assignment.next_units(avery, "chat") == Nothing("done")
    assert "units went back after their time" in [event.what for event in store.audit.events("chat")]


def test_every_save_gives_more_time(store: Store, clock: Clock) -> None:
    campaign(store, documents=1, turns=3, minutes=30)
    avery, blake = people(store, "avery", "blake")
    mine = reserve(store, avery)
    clock.forward(minutes=20)
    save(store, mine[0], avery, submitted=False)
    clock.forward(minutes=20)
    assert store.assignment.next_units(blake, "chat") == Nothing("wait")
    assert reserve(store, avery) == mine


def test_whoever_comes_back_late_goes_on_if_nobody_took_over(store: Store, clock: Clock) -> None:
    campaign(store, documents=1, turns=2, minutes=30)
    (me,) = people(store, "avery")
    mine = reserve(store, me)
    clock.forward(days=3)
    assert reserve(store, me) == mine


def test_a_late_answer_takes_its_place_again_if_it_is_free(store: Store, clock: Clock) -> None:
    campaign(store, documents=2, turns=2, minutes=30, order="given")
    avery, blake = people(store, "avery", "blake")
    mine = reserve(store, avery)
    assert store.assignment.give_back(avery, "chat") == 2
    answer = save(store, mine[0], avery)
    assert not answer.extra
    assert reserve(store, blake) == [mine[1]]
    assert store.progress.of_campaign("chat").done == 1


def test_a_late_answer_is_kept_beside_the_plan_when_others_have_the_places(
    store: Store, clock: Clock
) -> None:
    campaign(store, documents=1, turns=1, minutes=30)
    avery, blake = people(store, "avery", "blake")
    unit = reserve(store, avery)[0]
    clock.forward(hours=1)
    assert reserve(store, blake) == [unit]
    draft = save(store, unit, avery, "T", submitted=False)
    late = save(store, unit, avery, "X", key="late")
    save(store, unit, blake, "O")
    assert (draft.extra, late.extra) == (False, True)
    assert save(store, unit, avery, "X", key="late") == late
    progress = store.progress.of_campaign("chat")
    assert (progress.done, progress.complete, progress.wanted) == (1, 1, 1)
    assert [len(entry.judgments) for entry in store.exports.export("chat")] == [1]
    assert [len(entry.judgments) for entry in store.exports.export("chat", extras=True)] == [2]


def test_given_back_units_go_to_the_next_and_counts_hold(store: Store) -> None:
    campaign(store, documents=1, turns=3, per_unit=2)
    avery, blake, casey = people(store, "avery", "blake", "casey")
    mine = reserve(store, avery)
    save(store, mine[0], avery)
    assert store.assignment.give_back(avery, "chat") == 2
    assert store.assignment.give_back(avery, "chat") == 0
    assert reserve(store, blake) == mine
    assert reserve(store, casey) == mine[1:]
    assert store.assignment.next_units(avery, "chat") == Nothing("wait")
    held = {who.name: who.held for who in store.progress.of_campaign("chat").people}
    assert held == {"avery": 0, "blake": 3, "casey": 2}


def test_more_places_open_when_the_plan_asks_for_more(store: Store) -> None:
    campaign(store, documents=2, turns=2)
    avery, blake = people(store, "avery", "blake")
    assert judge_all(store, avery) == 4
    assert store.assignment.next_units(blake, "chat") == Nothing("done")
    store.campaigns.set_per_unit("chat", 2)
    assert (store.progress.of_campaign("chat").complete, store.progress.of_campaign("chat").wanted) == (0, 8)
    assert judge_all(store, blake) == 4
    assert store.progress.of_campaign("chat").complete == 4
    store.campaigns.set_per_unit("chat", 1)
    assert store.progress.of_campaign("chat").complete == 4


def test_all_judgments_are_in_just_when_every_unit_is_complete(store: Store) -> None:
    """An import may bring more judgments of some units than the plan asks for: these make up for none elsewhere."""
    campaign(store, documents=2, turns=2, per_unit=2)
    given = [
        Judgment("d0", segment, f"person {number}", "breakdown", "1.0", {"breakdown": "O"})
        for segment in ("0", "2")
        for number in range(5)
    ]
    store.imports.add_judgments("chat", [Entry("d0", dialogue("d0", 2), tuple(given))])
    progress = store.progress.of_campaign("chat")
    assert (progress.done, progress.wanted, progress.surplus, progress.complete) == (4, 8, 6, 2)
    check_counts(store)
    assert store.browsing.ask_again("chat", [1, 2]) == 2
    progress = store.progress.of_campaign("chat")
    assert (progress.done, progress.wanted, progress.surplus, progress.complete) == (6, 10, 4, 2)
    (avery,) = people(store, "avery")
    mine = reserve(store, avery)
    store.campaigns.set_per_unit("chat", 1)
    for unit in mine:
        save(store, unit, avery)
    progress = store.progress.of_campaign("chat")
    assert (progress.done, progress.wanted, progress.surplus, progress.complete) == (4, 4, 8, 4)
    assert store.progress.is_complete("chat")
    check_counts(store)


def test_only_those_invited_work_in_a_named_campaign(store: Store) -> None:
    avery, blake = people(store, "avery", "blake")
    campaign(store, who="named", people=("avery",))
    assert reserve(store, avery)
    with pytest.raises(RefusedError, match="invited"):
        store.assignment.next_units(blake, "chat")
    assert [c.name for c in store.campaigns.of_person(blake)] == []
    store.campaigns.add_people("chat", ["blake"])
    assert reserve(store, blake)
    assert [c.name for c in store.campaigns.of_person(blake)] == ["chat"]


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_nothing_is_handed_out_unless_open(store: Store, state: str) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    store.campaigns.set_state("chat", state)  # type: ignore[arg-type]
    assert store.assignment.next_units(me, "chat") == Nothing(state)  # type: ignore[arg-type]
    store.campaigns.set_state("chat", "open")
    assert reserve(store, me)


def test_a_document_without_a_unit_is_never_handed_out(store: Store) -> None:
    from lapsus.model import Document, Segment

    store.campaigns.create(Plan("chat", "breakdown"))
    silent = Document("silent", (Segment("0", "user", "hello?"),))
    assert store.campaigns.add_documents("chat", [silent, dialogue("d0")]).units == 3
    (me,) = people(store, "avery")
    assert judge_all(store, me) == 3
    assert store.assignment.next_units(me, "chat") == Nothing("done")


def test_shut_accounts_and_unknown_people_get_nothing(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    store.people.set_disabled(me, True)
    with pytest.raises(RefusedError, match="shut"):
        store.assignment.next_units(me, "chat")
    with pytest.raises(UsageError, match="no person"):
        store.assignment.next_units(99, "chat")
    with pytest.raises(UsageError, match="did you mean 'chat'"):
        store.assignment.next_units(me, "chart")
