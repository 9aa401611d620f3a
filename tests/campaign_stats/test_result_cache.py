"""Results that are kept: exact where it must be, of a little earlier where it costs much, and never wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lapsus.campaign_stats import result_cache as module
from lapsus.campaign_stats.result_cache import CacheLookup, ResultCache

LONG = 60.0
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> ResultCache:
    """Everything is slow here, and every look at the clock is a minute later."""
    monkeypatch.setattr(module, "SLOW", 0.0)
    minutes = iter(BEGIN + timedelta(minutes=n) for n in range(1000))
    return ResultCache(lambda: next(minutes))


def look(results: ResultCache, version: int, make: Callable[[], Any], wait: float = LONG) -> CacheLookup:
    return results.latest(("a",), version, make, wait=wait)


def shown(results: ResultCache, version: int, make: Callable[[], Any]) -> Any:
    """What a look shows that has all the time in the world."""
    found = look(results, version, make).found
    assert found is not None
    return found.value


def wait_for(results: ResultCache, version: int) -> None:
    until = time.monotonic() + LONG
    while (found := look(results, version, lambda: version).found) is None or found.version < version:
        assert time.monotonic() < until
        time.sleep(0.001)


def fails() -> int:
    raise RuntimeError("no luck")


def test_what_is_asked_for_exactly_is_always_of_now(results: ResultCache) -> None:
    assert results.exact(("a",), 1, lambda: "one").value == "one"
    assert results.exact(("a",), 1, lambda: "another").value == "one"
    assert results.exact(("a",), 2, lambda: "two").value == "two"


def test_what_is_slow_is_shown_as_it_was_until_the_new_is_there(results: ResultCache) -> None:
    first = look(results, 1, lambda: "one")
    assert first.found is not None
    assert (first.found.value, first.found.at) == ("one", BEGIN)
    go_on, made = threading.Event(), []

    def slowly() -> str:
        made.append(go_on.wait(LONG))
        return "two"

    for _ in range(5):
        assert look(results, 2, slowly) == first
    go_on.set()
    wait_for(results, 2)
    assert shown(results, 2, slowly) == "two"
    assert made == [True]  # however many looked, it was worked out once


def test_what_is_quick_is_never_shown_as_it_was(
    results: ResultCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLOW", 60.0)
    look(results, 1, lambda: "one")
    assert shown(results, 2, lambda: "two") == "two"


def test_a_first_look_does_not_wait_for_what_takes_long(results: ResultCache) -> None:
    go_on = threading.Event()

    def slowly() -> str:
        go_on.wait(LONG)
        return "one"

    assert look(results, 1, slowly, wait=0.01) == CacheLookup(None, None)
    go_on.set()
    assert shown(results, 1, lambda: "anew") == "one"


def test_what_was_quick_and_is_not_any_more_is_not_waited_for(
    results: ResultCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLOW", 60.0)
    first, go_on = look(results, 1, lambda: "one"), threading.Event()
    assert look(results, 2, lambda: go_on.wait(LONG), wait=0.01) == first
    go_on.set()
    assert shown(results, 2, lambda: "anew") is True


def test_a_quick_result_is_of_now_though_an_older_one_is_under_way(
    results: ResultCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLOW", 60.0)
    go_on = threading.Event()
    look(results, 1, lambda: go_on.wait(LONG), wait=0.0)
    threading.Timer(0.05, go_on.set).start()
    assert shown(results, 2, lambda: "two") == "two"


def test_what_is_small_does_not_queue_behind_what_is_large(results: ResultCache) -> None:
    go_on = threading.Event()
    for key in "bcdef":
        results.latest((key,), 1, lambda: go_on.wait(LONG), wait=0.0, is_large=True)
    assert shown(results, 1, lambda: "small") == "small"
    go_on.set()


def test_trouble_is_told_and_logged_and_what_was_found_stays(
    results: ResultCache, caplog: pytest.LogCaptureFixture
) -> None:
    assert look(results, 1, fails) == CacheLookup(None, "RuntimeError: no luck")
    wait_for(results, 2)
    assert shown(results, 2, lambda: 2) == 2
    look(results, 3, fails)
    until = time.monotonic() + LONG
    while (seen := look(results, 3, fails)).trouble is None:
        assert time.monotonic() < until
    assert seen.found is not None
    assert (seen.found.value, seen.trouble) == (2, "RuntimeError: no luck")
    assert [record.getMessage() for record in caplog.records] == ["figures of a could not be worked out"] * 2


def test_what_failed_is_tried_again_later_or_when_figures_change(
    results: ResultCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert look(results, 1, fails).trouble
    assert look(results, 1, lambda: 1) == CacheLookup(None, "RuntimeError: no luck")
    assert shown(results, 2, lambda: 2) == 2
    assert look(results, 2, fails).trouble is None
    monkeypatch.setattr(module, "SLOW", 60.0)
    assert look(results, 3, fails).trouble
    monkeypatch.setattr(module, "AGAIN", 0.0)
    assert look(results, 3, lambda: 3) == CacheLookup(results.exact(("a",), 3, fails), None)


def test_a_slow_old_result_does_not_take_the_place_of_a_newer_one(results: ResultCache) -> None:
    def overtaken() -> str:
        results.exact(("a",), 2, lambda: "two")
        return "one"

    assert results.exact(("a",), 1, overtaken).value == "one"
    assert results.exact(("a",), 2, lambda: "anew").value == "two"


def test_what_a_result_takes_ready_made_counts_for_it(
    results: ResultCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLOW", 0.02)

    def dear() -> int:
        until = time.thread_time() + 0.04
        while time.thread_time() < until:
            pass
        return 1

    results.exact(("votes",), 1, dear)
    made = results.exact(("shares",), 1, lambda: results.exact(("votes",), 1, dear).value)
    assert made.seconds >= 0.04
    assert results.latest(("shares",), 2, lambda: 2, wait=LONG).found == made


def test_the_oldest_go_first(results: ResultCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    for key in "abac":
        results.exact((key,), 1, lambda: 1)
    assert results.exact(("a",), 1, lambda: 2).value == 1
    assert results.exact(("b",), 1, lambda: 2).value == 2
