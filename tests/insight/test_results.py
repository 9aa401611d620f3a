"""Results that are kept: exact where it must be, of a little earlier where it costs much, and never wrong."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from lapsus.insight import results as module
from lapsus.insight.results import Results

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Results:
    """Everything is slow here, and every look at the clock is a minute later."""
    monkeypatch.setattr(module, "SLOW", 0.0)
    minutes = iter(BEGIN + timedelta(minutes=n) for n in range(1000))
    return Results(lambda: next(minutes))


def wait_for(results: Results, version: int) -> None:
    until = time.monotonic() + 10
    while results.latest(("a",), version, lambda: version).version < version:
        assert time.monotonic() < until
        time.sleep(0.001)


def test_what_is_asked_for_exactly_is_always_of_now(results: Results) -> None:
    assert results.exact(("a",), 1, lambda: "one").value == "one"
    assert results.exact(("a",), 1, lambda: "another").value == "one"
    assert results.exact(("a",), 2, lambda: "two").value == "two"


def test_what_is_slow_is_shown_as_it_was_until_the_new_is_there(results: Results) -> None:
    first = results.latest(("a",), 1, lambda: "one")
    assert (first.value, first.at) == ("one", BEGIN)
    go_on, made = threading.Event(), []

    def slowly() -> str:
        made.append(go_on.wait(10))
        return "two"

    for _ in range(5):
        assert results.latest(("a",), 2, slowly) == first
    go_on.set()
    wait_for(results, 2)
    assert results.latest(("a",), 2, slowly).value == "two"
    assert made == [True]  # however many looked, it was worked out once


def test_what_is_quick_is_never_shown_as_it_was(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOW", 60.0)
    results.latest(("a",), 1, lambda: "one")
    assert results.latest(("a",), 2, lambda: "two").value == "two"


def test_trouble_beside_the_answers_does_not_stay(results: Results) -> None:
    results.latest(("a",), 1, lambda: 1)

    def fails() -> int:
        raise RuntimeError

    assert results.latest(("a",), 2, fails).value == 1
    wait_for(results, 3)


def test_a_slow_old_result_does_not_take_the_place_of_a_newer_one(results: Results) -> None:
    def overtaken() -> str:
        results.exact(("a",), 2, lambda: "two")
        return "one"

    assert results.exact(("a",), 1, overtaken).value == "one"
    assert results.exact(("a",), 2, lambda: "anew").value == "two"


def test_what_a_result_takes_ready_made_counts_for_it(
    results: Results, monkeypatch: pytest.MonkeyPatch
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
    assert results.latest(("shares",), 2, lambda: 2).value == 1


def test_the_oldest_go_first(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    for key in "abac":
        results.exact((key,), 1, lambda: 1)
    assert results.exact(("a",), 1, lambda: 2).value == 1
    assert results.exact(("b",), 1, lambda: 2).value == 2
