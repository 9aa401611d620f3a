"""Programs at work: one server at a time, whoever asks; stopped, gone on with, taken over."""

from __future__ import annotations

import pytest

from lapsus.errors import UsageError
from lapsus.model import Entry, Judgment
from lapsus.store import RefusedError, Store, open_store
from lapsus.store.program_runs import HELD
from tests.store.helpers import Clock, campaign

SPEC = {"kind": "file", "model": "mine"}


def anything(spec: object) -> bool:
    return True


def started(store: Store) -> int:
    campaign(store)
    return store.program_runs.add("chat", store.programs.add("mine"), SPEC)


def test_two_servers_never_hold_the_same_run(store: Store, url: str, clock: Clock) -> None:
    run = started(store)
    with open_store(url, clock=clock) as other:
        claimed = [one.program_runs.claim(f"w{n}", anything) for n, one in enumerate((store, other, store))]
        assert [found and found.id for found in claimed] == [run, None, None]
        assert store.program_runs.hold(run, "w0")
        assert not other.program_runs.hold(run, "w1")
        # A server that says nothing any more is followed by another.
        clock.forward(seconds=HELD.total_seconds() + 1)
        assert not store.program_runs.get(run).is_held
        taken = other.program_runs.claim("w1", anything)
        assert taken is not None
        assert taken.is_held
        assert not store.program_runs.hold(run, "w0")
        store.program_runs.release(run, "w0", "failed", "too late")
        assert other.program_runs.get(run).state == "running"


def test_a_run_is_taken_over_where_the_clock_was_set_back(store: Store, clock: Clock) -> None:
    started(store)
    clock.forward(days=365)
    assert store.program_runs.claim("w0", anything) is not None
    clock.forward(seconds=-5)
    assert store.program_runs.claim("w1", anything) is None
    clock.forward(days=-365)
    assert store.program_runs.claim("w1", anything) is not None


def test_a_run_is_stopped_goes_on_and_ends(store: Store) -> None:
    run = started(store)
    store.program_runs.claim("w", anything)
    store.program_runs.set_state("chat", run, "stopped")
    assert not store.program_runs.hold(run, "w")
    store.program_runs.release(run, "w", "done")
    assert store.program_runs.get(run).state == "stopped"
    assert store.program_runs.claim("w", anything) is None
    store.program_runs.set_state("chat", run, "running")
    assert store.program_runs.claim("w", lambda spec: False) is None
    assert store.program_runs.claim("w", anything) is not None
    store.program_runs.release(run, "w", "done", refused=2)
    found = store.program_runs.get(run)
    assert (found.state, found.refused, found.is_held, found.spec) == ("done", 2, False, SPEC)
    happened = [event.what for event in store.audit.events() if event.what.startswith("judge ")]
    assert sorted(happened) == ["judge started", "judge started", "judge stopped"]


def test_a_run_says_how_far_it_is(store: Store) -> None:
    run = started(store)
    before = store.program_runs.get(run)
    assert before.judged == 0
    said = tuple(
        Judgment("d0", place, "mine", "breakdown", "1.0", {"breakdown": "O"}) for place in ("0", "2")
    )
    document = next(store.programs.documents_for("chat", before.program))
    list(store.programs.add_judgments("chat", store.programs.add("mine"), [Entry("d0", document, said)]))
    (after,) = store.program_runs.of_campaign("chat")
    assert (after.judged, after.judged + after.left) == (2, before.left)


def test_nothing_is_there_twice_or_of_another_campaign(store: Store) -> None:
    run = started(store)
    with pytest.raises(UsageError, match="is there already"):
        store.program_runs.add("chat", store.programs.add("mine"), SPEC)
    campaign(store, name="other")
    for missing in (run + 1, 2**40):
        with pytest.raises((RefusedError, UsageError)):
            store.program_runs.set_state("chat", missing, "stopped")
    with pytest.raises(RefusedError):
        store.program_runs.set_state("other", run, "stopped")
