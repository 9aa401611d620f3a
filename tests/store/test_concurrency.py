"""Many at once, in threads and in processes: no place is given twice, no unit is judged too often or too rarely."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, select

from lapsus.store import RefusedError, Reservation, Store, open_store
from lapsus.store import tables as t
from tests.store.helpers import campaign, people, request, reserve, save

WORKER = Path(__file__).with_name("worker.py")


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(WORKER), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(workers: list[subprocess.Popen[str]]) -> list[str]:
    lines: list[str] = []
    for worker in workers:
        out, errors = worker.communicate(timeout=300)
        assert worker.returncode == 0, errors
        lines += out.splitlines()
    return lines


def check_counts(store: Store) -> None:
    """Every counter says what counting would say."""
    with store.database.reading() as conn:
        held = t.assignment.c.state.in_(("reserved", "done"))
        for unit in conn.execute(select(t.unit)):
            its = (t.assignment.c.campaign == unit.campaign) & (t.assignment.c.unit == unit.number)
            states = Counter(conn.scalars(select(t.assignment.c.state).where(its)))
            assert unit.taken == states["reserved"] + states["done"]
            assert unit.done == states["done"]
        for place in conn.execute(select(t.campaign_document)):
            its = (
                (t.unit.c.campaign == place.campaign)
                & (t.unit.c.document == place.position)
                & t.unit.c.active
            )
            # A document without an open unit is handed out to nobody.
            least = conn.scalar(select(func.coalesce(func.min(t.unit.c.taken), t.FULL)).where(its))
            assert place.level == least
        for member in conn.execute(select(t.member)):
            its = (t.assignment.c.campaign == member.campaign) & (t.assignment.c.person == member.person)
            rows = conn.execute(select(t.assignment).where(its)).all()
            assert member.submitted == sum(row.submitted > 0 for row in rows)
            assert member.drafts == sum(row.revision > row.submitted for row in rows)
            assert member.held == sum(row.state == "reserved" for row in rows)
        for total in conn.execute(select(t.campaign_total)):
            its = (t.unit.c.campaign == total.campaign) & t.unit.c.active
            assert total.done == conn.scalar(select(func.coalesce(func.sum(t.unit.c.done), 0)).where(its))
            planned = conn.execute(select(t.unit).where(its, t.unit.c.wanted < t.FULL)).all()
            assert total.wanted == sum(unit.wanted for unit in planned)
            assert total.complete == sum(unit.done >= unit.wanted for unit in planned)
            assert total.surplus == sum(max(unit.done - unit.wanted, 0) for unit in planned)
        assert conn.scalar(select(func.count()).where(held & t.assignment.c.place.is_(None))) == 0


def test_twenty_threads_take_places_without_taking_one_twice(store: Store) -> None:
    campaign(store, documents=20, turns=2, per_unit=3)
    crowd = people(store, *(f"person {number}" for number in range(20)))
    with ThreadPoolExecutor(20) as pool:
        given = list(pool.map(lambda person: reserve(store, person), crowd))
    assert all(len(units) == 2 for units in given)
    taken = Counter(unit for units in given for unit in units)
    assert sum(taken.values()) == 40
    assert set(taken.values()) == {1}
    check_counts(store)


def test_twenty_workers_in_five_processes_fill_the_plan_exactly(url: str) -> None:
    """Some give documents back midway; in the end every unit has exactly the judgments asked for."""
    with open_store(url) as store:
        campaign(store, documents=10, turns=3, per_unit=3)
        crowd = people(store, *(f"person {number}" for number in range(20)))
        finish([start("judge", url, *crowd[first::5]) for first in range(5)])
        for number in range(1, 31):
            assert len(store.judgments.of_unit("chat", number)) == 3
        with store.database.reading() as conn:
            its = t.assignment.c.state == "done"
            places = conn.execute(select(t.assignment.c.unit, t.assignment.c.place).where(its)).all()
        assert sorted(places) == [(unit, place) for unit in range(1, 31) for place in range(3)]
        assert store.progress.of_campaign("chat").complete == 30
        check_counts(store)


def test_processes_that_ask_at_once_get_different_places(url: str) -> None:
    with open_store(url) as store:
        campaign(store, documents=10, turns=2, per_unit=2)
        crowd = people(store, *(f"person {number}" for number in range(20)))
    lines = finish([start("reserve", url, *crowd[first::5]) for first in range(5)])
    assert set(Counter(line.split()[1] for line in lines).values()) == {2}
    assert len(set(lines)) == len(lines) == 40


def test_threads_that_save_the_same_unit_at_once_make_a_row_of_revisions(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda number: save(store, unit, me, key=f"key {number}"), range(60)))
    assert sorted(answer.revision for answer in answers) == list(range(1, 61))
    assert [judgment.revision for judgment in store.judgments.history("chat", unit)] == list(range(1, 61))
    check_counts(store)


def test_two_stores_that_save_the_same_key_and_unit_at_once_agree(url: str) -> None:
    """As two server processes would: each has a writer of its own."""
    with open_store(url) as one, open_store(url) as two:
        campaign(one)
        (me,) = people(one, "avery")
        unit = reserve(one, me)[0]
        for number in range(30):
            futures = [store.saves.save_soon(request(unit, me, key=f"k{number}")) for store in (one, two)]
            first, second = (future.result() for future in futures)
            assert first == second
        assert len(one.judgments.history("chat", unit)) == 30
        check_counts(one)


def test_two_stores_that_save_different_units_do_not_wait_for_ever(url: str) -> None:
    with open_store(url) as one, open_store(url) as two:
        campaign(one, documents=2, turns=6, per_unit=4)
        crowd = people(one, "avery", "blake", "casey", "drew")
        given = {person: reserve(one, person) for person in crowd}
        futures = [
            store.saves.save_soon(request(unit, person, key=f"{person} {unit} {number}"))
            for number in range(10)
            for person, units in given.items()
            for store, unit in zip((one, two) * 3, units if person % 2 else units[::-1], strict=True)
        ]
        assert len([future.result(timeout=120) for future in futures]) == 240
        check_counts(one)


def test_processes_open_a_new_database_at_once(url: str) -> None:
    assert finish([start("open", url) for _ in range(4)]) == ["False"] * 4


@pytest.mark.parametrize("uses", [1, 3])
def test_an_invitation_is_used_no_more_often_than_it_may(store: Store, uses: int) -> None:
    campaign(store, who="open")
    token = store.access.invite(campaign="chat", uses=uses)

    def come(number: int) -> bool:
        try:
            store.access.accept(token, f"guest {number}")
        except RefusedError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(come, range(8))) == uses
    assert len(store.progress.of_campaign("chat").people) == uses


def test_a_reservation_seen_by_many_tabs_is_one(store: Store) -> None:
    campaign(store, documents=5)
    (me,) = people(store, "avery")
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda _: store.assignment.next_units(me, "chat"), range(16)))
    assert all(isinstance(one, Reservation) for one in given)
    assert len({one.units for one in given if isinstance(one, Reservation)}) == 1
