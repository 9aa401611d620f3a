"""What holds when somebody means harm or something breaks: who may first, limits, nothing acknowledged in vain."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from lapsus.errors import InputError, UsageError
from lapsus.model import Entry
from lapsus.store import Plan, RefusedError, Store, StoreError, open_store
from lapsus.store import save_batch as batches
from lapsus.store.base import Database
from lapsus.store.saves import LARGEST_ANSWERS
from tests.patience import LONG
from tests.store.helpers import Clock, campaign, dialogue, judge_all, pair, people, request, reserve, save


def refused(store: Store, *arguments: object, **more: object) -> str:
    with pytest.raises(RefusedError) as found:
        save(store, *arguments, **more)  # type: ignore[arg-type]
    return found.value.reason


def test_who_may_is_asked_before_the_rules(store: Store) -> None:
    """A broken rule quotes the text: it is told only to those whose unit it is."""
    store.campaigns.create(Plan(name="pairs", scheme="semantic-errors"))
    store.campaigns.add_documents("pairs", [pair("d0")])
    mine, other = people(store, "avery", "blake")
    (unit,) = reserve(store, mine, "pairs")
    cut = {"errors": [{"segment": "text", "start": 1, "end": 7, "label": "addition"}]}
    for _ in range(2):
        assert refused(store, unit, other, campaign="pairs", answers=cut) == "not-yours"
        # The second time everything about the unit is in mind.
        store.saves.cache_rules("pairs", [unit])
    assert refused(store, unit, mine, campaign="pairs", answers={"errors": "x"}) == "rules"
    store.campaigns.set_state("pairs", "closed")
    assert refused(store, unit, mine, campaign="pairs", answers={"errors": "x"}) == "closed"


def test_a_broken_rule_about_a_unit_still_to_come_is_not_told(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    first, second, _ = reserve(store, me)
    assert refused(store, second, me, "Q") == "earlier"
    assert refused(store, first, me, "Q") == "rules"
    save(store, first, me, submitted=False)
    assert refused(store, second, me, "Q") == "earlier"
    save(store, first, me)
    assert refused(store, second, me, "Q") == "rules"


def test_units_after_an_unjudged_one_are_known(store: Store, clock: Clock) -> None:
    campaign(store, per_unit=2)
    me, other = people(store, "avery", "blake")
    units = reserve(store, me)
    save(store, units[1], me, submitted=False)
    save(store, units[2], me)
    assert store.judgments.after_unjudged("chat", me, units) == set(units[1:])
    clock.forward(days=1)
    reserve(store, other)
    assert {own.state for own in store.assignment.own_units(me, "chat")} == {"released", "done"}
    assert store.judgments.after_unjudged("chat", me, units) == set(units[1:])
    save(store, units[0], me)
    assert store.judgments.after_unjudged("chat", me, units) == {units[2]}
    save(store, units[1], me)
    assert store.judgments.after_unjudged("chat", me, units) == frozenset()


def test_answers_have_a_size(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    long = {"breakdown": "O", "comment": "x" * LARGEST_ANSWERS}
    assert refused(store, unit, me, answers=long) == "too-large"


def test_nobody_fills_the_disk_with_drafts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    monkeypatch.setattr(batches, "ROOM", 10_000)
    monkeypatch.setattr(batches, "ROOM_PER_UNIT", 3_000)
    unit, second, _ = reserve(store, me)
    text = {"breakdown": "O", "comment": "x" * 900}
    saves = [store.saves.save_soon(request(unit, me, answers=text, submitted=False)) for _ in range(30)]
    failed = [one for one in saves if one.exception() is not None]
    assert len(saves) - len(failed) == 10
    assert {one.exception().reason for one in failed} == {"too-much"}  # type: ignore[union-attr]
    # Whoever really works has more room with every unit.
    assert refused(store, unit, me, answers=text) == "too-much"
    save(store, unit, me)
    save(store, second, me, answers=text)


def test_flags_and_drafts_of_campaigns_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    monkeypatch.setattr("lapsus.store.flags.MOST_FLAGS", 3)
    for number in range(3):
        store.flags.add(f"k{number}", "chat", 1, me, "why")
    with pytest.raises(RefusedError, match="nobody marks more"):
        store.flags.add("k3", "chat", 1, me, "why")
    store.flags.add("k2", "chat", 1, me, "why")
    drafts = [store.drafts.new(me, {}, [Entry("d", dialogue("d"))]) for _ in range(7)]
    found = []
    for draft in drafts:
        try:
            found.append(store.drafts.get(draft, me).id)
        except RefusedError:
            continue
    assert len(found) == 5


@pytest.mark.parametrize("how", ["deleted", "replaced", "log deleted"])
def test_nothing_is_acknowledged_once_the_file_is_gone(tmp_path: Path, how: str) -> None:
    path = tmp_path / "a.sqlite"
    with open_store(path) as store:
        campaign(store)
        (me,) = people(store, "avery")
        first, second, third = reserve(store, me)
        save(store, first, me)
        aside = tmp_path / "aside.sqlite"
        if how == "log deleted":
            Path(f"{path}-wal").unlink()
        else:
            path.rename(aside)
            if how == "replaced":
                shutil.copy(aside, path)
        if how == "log deleted":
            # SQLite notices some of it by itself.
            with pytest.raises(StoreError):
                save(store, second, me)
            return
        with pytest.raises(StoreError, match="deleted or replaced"):
            save(store, second, me)
        with pytest.raises(StoreError, match="deleted or replaced"):
            store.people.add("blake")
        with pytest.raises(StoreError, match="deleted or replaced"):
            store.people.has_manager()
        aside.replace(path)
        assert save(store, third, me).revision == 1


def test_a_pool_that_is_empty_is_trouble_of_the_database(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]

    def empty(*args: object, **kwargs: object) -> None:
        raise PoolTimeoutError("QueuePool limit reached")

    monkeypatch.setattr(store.database.engine.pool, "connect", empty)
    with pytest.raises(StoreError, match="too many wait"):
        store.people.all()
    with pytest.raises(StoreError, match="too many wait"):
        store.people.add("blake")
    store.saves._let_go()
    with pytest.raises(StoreError, match="too many wait"):
        save(store, unit, me)


def test_saves_go_on_when_the_writer_has_died(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    with monkeypatch.context() as broken:
        broken.setattr(threading, "excepthook", lambda args: None)
        broken.setattr(store.saves._writer, "_work", dies)
        with pytest.raises(StoreError, match="the writer ended"):
            store.saves.save_soon(request(unit, me)).result(timeout=LONG)
    assert store.saves.save_soon(request(unit, me)).result(timeout=LONG).revision == 1


def dies(things: list[object]) -> list[object]:
    raise SystemExit("out of luck")


def test_work_whose_commit_got_no_answer_is_not_done_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been done: only saves, which carry a key, are tried again."""
    done: list[int] = []
    whole = Database.transaction

    def lost(self: Database) -> object:
        manager = whole(self)

        class Lost:
            def __enter__(self) -> Connection:
                return manager.__enter__()

            def __exit__(self, *error: object) -> None:
                manager.__exit__(None, None, None)
                if len(done) == 1:
                    raise OperationalError("COMMIT", None, Exception("gone"), connection_invalidated=True)

        return Lost()

    monkeypatch.setattr(Database, "transaction", lost)
    with pytest.raises(StoreError, match="before it answered") as told:
        store.database.write(lambda conn: done.append(1))
    assert "look whether" in str(told.value)
    assert done == [1]
    done.clear()
    store.database.write(lambda conn: done.append(1), twice=True)
    assert done == [1, 1]


def test_what_is_in_mind_may_be_asked_for_from_many_threads(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign(store, documents=6)
    monkeypatch.setattr("lapsus.store.saves.KNOWN", 2)
    with ThreadPoolExecutor(8) as pool:
        for one in [pool.submit(store.saves.cache_rules, "chat", range(1, 19)) for _ in range(40)]:
            one.result()
    assert len(store.saves._rules) <= 2


DEADLOCKS = text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")


def test_saves_and_handing_out_do_not_wait_for_each_other(store: Store) -> None:
    """Saves that stop people take units back, while others are handed out: no database has to break a deadlock."""
    with store.database.reading() as conn:
        if conn.dialect.name == "sqlite":
            return
        before = conn.scalar(DEADLOCKS)
    known = {"then": "stop", "allow": 0, "every": 2, "units": []}
    plan = {"checks": {**known, "units": [{"document": "d0", "segment": "0", "answers": {"breakdown": "X"}}]}}
    store.campaigns.create(
        msgspec.convert(
            {"name": "chat", "scheme": "breakdown", "per_unit": 8, "order": "random", **plan},
            Plan,
            strict=False,
        )
    )
    store.campaigns.add_documents("chat", [dialogue(f"d{number}") for number in range(12)])
    ids = people(store, *(f"p{number}" for number in range(8)))
    with ThreadPoolExecutor(8) as pool:
        working = [pool.submit(judge_all, store, me) for me in ids]
        ended = [one.exception() for one in working]
    assert {error.reason for error in ended if isinstance(error, RefusedError)} <= {"stopped", "not-yours"}
    assert all(error is None or isinstance(error, RefusedError) for error in ended)
    with store.database.reading() as conn:
        assert conn.scalar(DEADLOCKS) == before


def test_names_that_differ_by_case_are_one_name(store: Store) -> None:
    added = store.people.add("Zoë Ångström", password="long enough")  # noqa: S106
    for same in ("zoë ångström", "ZOË ÅNGSTRÖM", "Zoe\u0308 A\u030angstro\u0308m"):
        with pytest.raises(InputError, match="already"):
            store.people.add(same)
        assert store.people.named(same).id == added.id
        found = store.access.sign_in(same, "long enough")
        assert found is not None
        assert found.id == added.id
    assert store.access.sign_in("zoe angstrom", "long enough") is None


def test_teams_that_differ_by_case_are_one_team(store: Store) -> None:
    from lapsus.challenge.service import create_from
    from lapsus.store.challenge_records import ChallengePlan
    from tests.challenge.helpers import gold_set

    create_from(store, ChallengePlan("c"), gold_set(2))
    first = store.challenges.add_team("c", "Kestrel")
    second = store.challenges.add_team("c", "KESTREL")
    assert [team.name for team in store.challenges.teams("c")] == ["Kestrel"]
    assert store.challenges.team_of_token("c", first) is None
    assert store.challenges.team_of_token("c", second) is not None
    assert store.challenges.team_named("c", "kestrel").name == "Kestrel"


def test_tokens_end_with_the_password_and_with_the_account(store: Store) -> None:
    me = store.people.add("avery", password="long enough").id  # noqa: S106
    first = store.access.add_token(me, "script")
    stamp = store.access.session_stamp(me)
    store.people.end_sessions(me)
    assert store.access.person_in_session(me, stamp) is None
    assert store.access.person_of_token(first) is not None
    store.people.set_password(me, "another one")
    assert store.access.person_of_token(first) is None
    second = store.access.add_token(me, "script")
    store.people.set_disabled(me, True)
    store.people.set_disabled(me, False)
    assert store.access.person_of_token(second) is None
    assert [one.revoked is None for one in store.access.tokens(me)] == [False, False]
    third = store.access.add_token(me, "script")
    store.access.revoke_token(me, store.access.tokens(me)[-1].id)
    assert store.access.person_of_token(third) is None
    with pytest.raises(UsageError, match="no such token"):
        store.access.revoke_token(me, 99)


def test_tries_are_counted_for_all_servers(store: Store, url: str, clock: Clock) -> None:
    with open_store(url, clock=clock) as other:
        taken = [(store, other)[number % 2].access.take_try("door", 5, 300) for number in range(7)]
        assert taken == [True] * 5 + [False] * 2
        other.access.forgive_try("door")
        assert not store.access.take_try("door", 5, 300)
        clock.forward(seconds=301)
        assert store.access.take_try("door", 5, 300)
        store.access.forgive_try("nobody tried this")


def test_a_clock_that_is_set_back_locks_nobody_out(store: Store, clock: Clock) -> None:
    clock.forward(days=365)
    assert [store.access.take_try("door", 1, 300) for _ in range(2)] == [True, False]
    clock.forward(days=-365)
    assert [store.access.take_try("door", 1, 300) for _ in range(2)] == [True, False]


def test_practice_counts_in_nobodys_progress_and_checks_in_what_their_judge_is_told(store: Store) -> None:
    """Of a document that is practised on, every turn is practice, also those whose answers nobody knows."""
    unit = {"document": "d0", "segment": "0", "answers": {"breakdown": "O"}}
    check = {"document": "d1", "segment": "2", "answers": {"breakdown": "O"}}
    plan = {
        "name": "chat", "scheme": "breakdown", "order": "given",
        "training": {"units": [unit], "allow": 9},
        "checks": {"units": [check], "every": 1, "allow": 9},
    }  # fmt: skip
    store.campaigns.create(msgspec.convert(plan, Plan))
    store.campaigns.add_documents("chat", [dialogue(f"d{number}") for number in range(4)])
    (me,) = people(store, "avery")
    judge_all(store, me)
    progress = store.progress.of_campaign("chat")
    assert [person.submitted for person in progress.people] == [progress.units] == [6]
    mine = store.progress.own("chat", me, 12)
    assert (mine.done, mine.own, mine.total) == (9, 9, 9)
