"""The talk about flagged units: who has said what, what is settled, and what is not read yet."""

from __future__ import annotations

import pytest

from lapsus.errors import InputError, UsageError
from lapsus.store import RefusedError, Store
from lapsus.store import flags as flags_module
from tests.store.helpers import Clock, campaign, people, reserve, save


def test_a_thread_from_question_to_settled_and_back(store: Store) -> None:
    campaign(store)
    me, boss = people(store, "avery", "mori")
    store.flags.add("f1", "chat", 2, me, "Is this\nirony?")
    (flag,) = store.flags.all("chat", person=me)
    assert (store.flags.answered(me), store.flags.open_ones()) == ({}, {"chat": 1})
    for _ in range(2):
        store.flags.reply("r1", "chat", flag.id, boss, "Yes.")
    (now,) = store.flags.of_units("chat", [1, 2])[2]
    assert [(reply.name, reply.text) for reply in now.replies] == [("mori", "Yes.")]
    assert now.unread
    assert (store.flags.answered(me), store.flags.answered(boss)) == ({"chat": 1}, {})
    store.flags.have_read("chat", flag.id, boss)
    assert store.flags.answered(me) == {"chat": 1}, "only its author reads it"
    store.flags.have_read("chat", flag.id, me)
    assert store.flags.answered(me) == {}
    store.flags.set_settled("chat", flag.id, True, by=boss)
    assert store.flags.open_ones() == {}
    store.flags.reply("r2", "chat", flag.id, boss, "See also unit 3.")
    assert store.flags.answered(me) == {"chat": 1}
    # Whoever raised it goes on: it is open again, and what was said before is read.
    store.flags.reply("r3", "chat", flag.id, me, "And here?")
    found = store.flags.get("chat", flag.id)
    assert found is not None
    assert (found.settled, found.unread, len(found.replies)) == (None, False, 3)
    store.flags.set_settled("chat", flag.id, True)
    store.flags.set_settled("chat", flag.id, False, by=boss)
    assert store.flags.open_ones() == {"chat": 1}
    assert store.audit.events()[0].what == "flag reopened"


def test_replies_are_checked_and_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign(store)
    campaign(store, name="other")
    (me,) = people(store, "avery")
    store.flags.add("f1", "chat", 1, me, "odd")
    (flag,) = store.flags.all("chat")
    for wrong in (("other", flag.id), ("chat", flag.id + 1), ("chat", 2**70)):
        with pytest.raises(RefusedError, match="no flag"):
            store.flags.reply("r", *wrong, me, "so?")
    with pytest.raises(InputError, match="a remark"):
        store.flags.reply("r", "chat", flag.id, me, "a\0b")
    with pytest.raises(UsageError, match="no settled flag"):
        store.flags.set_settled("chat", flag.id, False)
    assert store.flags.get("other", flag.id) is None
    monkeypatch.setattr(flags_module, "MOST_REPLIES", 2)
    for key in ("r1", "r2"):
        store.flags.reply(key, "chat", flag.id, me, "so?")
    with pytest.raises(RefusedError, match="times"):
        store.flags.reply("r3", "chat", flag.id, me, "so?")


def test_what_was_judged_today_is_counted(store: Store, clock: Clock) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    first, second, third = reserve(store, me)
    save(store, first, me)
    clock.forward(hours=24)
    morning = clock()
    save(store, second, me)
    save(store, third, me, submitted=False)
    save(store, second, me)
    assert store.progress.judged_since(me, morning) == 1
    clock.forward(seconds=1)
    assert store.progress.judged_since(me, clock()) == 0
