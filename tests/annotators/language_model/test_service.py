"""Asking a server: waits, time-outs, limits, and a key that shows up nowhere."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from lapsus.annotators.language_model import service as module
from lapsus.annotators.language_model.service import Service, ServiceError, endpoint
from lapsus.errors import UsageError
from lapsus.http_client import StoppedError
from tests.annotators.language_model.stub import Said, Stub, completion, refusal, script, serving

KEY = "sk-very-secret-0123456789"


def service(stub: Stub, **more: Any) -> Service:
    return Service(endpoint(stub.endpoint), **{"first_wait": 0.01, "timeout": 60.0, **more})


def failed(asked: Service) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        asked.ask("/chat/completions", {})
    return caught.value


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529, 408])
def test_what_may_go_better_later_is_tried_again(status: int) -> None:
    with serving(script(refusal(status), refusal(status), completion("ok"))) as stub:
        assert service(stub).ask("/chat/completions", {"a": "ü"})["model"] == "stub-2026"
    assert stub.asked == [{"a": "ü"}] * 3


def test_retry_after_is_honoured_in_seconds_and_as_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    waits: list[float] = []
    stop = threading.Event()
    monkeypatch.setattr(stop, "wait", lambda seconds: bool(waits.append(seconds)))
    busy = [refusal(429, headers={"Retry-After": value}) for value in ("7", soon, "soon")]
    with serving(script(*busy, completion("ok"))) as stub:
        service(stub, stop=stop).ask("/chat/completions", {})
    assert waits[0] == 7
    assert 10 < waits[1] <= 40
    assert waits[2] < 1


def test_a_wait_that_stands_in_the_reply_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    stop = threading.Event()
    monkeypatch.setattr(stop, "wait", lambda seconds: bool(waits.append(seconds)))
    busy = Said(429, {"error": {"message": "quota", "details": [{"retryDelay": "37s"}]}})
    with serving(script(busy, completion("ok"))) as stub:
        service(stub, stop=stop).ask("/chat/completions", {})
    assert waits == [37]


def test_an_error_in_a_reply_counts_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    passed_on = Said(200, {"error": {"code": 429, "message": "upstream is busy"}, "user_id": "u"})
    with serving(script(passed_on, completion("ok"))) as stub:
        assert service(stub).ask("/chat/completions", {})["model"] == "stub-2026"
    assert len(stub.asked) == 2


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    with serving(script(refusal(429, "quota", {"Retry-After": "3600"}))) as stub:
        began = time.monotonic()
        assert "quota" in failed(service(stub)).what
    assert time.monotonic() - began < 60
    assert len(stub.asked) == 1


def test_it_gives_up_in_the_end() -> None:
    with serving(script(refusal(503, "overloaded"))) as stub:
        error = failed(service(stub))
    assert (error.status, error.hopeless, len(stub.asked)) == (503, False, module.TRIES)
    assert "overloaded" in error.what


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_cannot_go_better_is_asked_once(status: int) -> None:
    with serving(script(refusal(status, "no such thing"))) as stub:
        error = failed(service(stub))
    assert (error.hopeless, len(stub.asked)) == (True, 1)
    assert error.hint


def test_nobody_there() -> None:
    with serving(script(completion("ok"))) as stub:
        address = stub.endpoint
    error = failed(Service(endpoint(address), first_wait=60))
    assert error.hopeless
    assert "nobody answers at 127.0.0.1" in error.what


def test_a_server_that_went_away_may_come_back() -> None:
    with serving(script(completion("ok"))) as stub:
        asked = service(stub)
        asked.ask("/chat/completions", {})
    error = failed(asked)
    assert not error.hopeless
    assert "no answer from 127.0.0.1" in error.what


def test_time_outs() -> None:
    def slow(_: Any) -> Said:
        time.sleep(0.6)
        return completion("late")

    with serving(slow) as stub:
        assert "timed out" in failed(service(stub, timeout=0.1)).what


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"a": ', b"\xff\xfe"])
def test_a_reply_that_is_no_json_object(body: bytes) -> None:
    with serving(script(Said(200, body))) as stub:
        error = failed(service(stub))
    assert "no JSON object" in error.what
    assert (error.hopeless, error.hint, len(stub.asked)) == (True, "look at --endpoint: most end in /v1", 1)


def test_a_reply_that_is_no_json_object_among_others_is_asked_for_again() -> None:
    with serving(script(completion("ok"), Said(200, b"<html>"), completion("ok"))) as stub:
        asked = service(stub)
        for _ in range(2):
            asked.ask("/chat/completions", {})
    assert len(stub.asked) == 3


def test_the_key_is_sent_and_shown_nowhere() -> None:
    told = f"Incorrect API key provided: {KEY}"
    for status in (400, 401, 429, 500):
        with serving(script(refusal(status, told, {"Retry-After": "0"}))) as stub:
            error = failed(service(stub, key=KEY))
        assert stub.headers[0]["Authorization"] == f"Bearer {KEY}"
        assert KEY not in f"{error} {error!r} {error.__cause__} {error.__context__!r}"
        assert "Incorrect API key" in error.what


@pytest.mark.parametrize("bad", ["sk one", "sk\n", "schlüssel", "a\x00b"])
def test_a_key_that_fits_in_no_header_is_refused_unseen(bad: str) -> None:
    with pytest.raises(UsageError) as caught:
        Service(endpoint("http://127.0.0.1:1/v1"), bad)
    assert bad not in str(caught.value)


def test_nothing_follows_a_server_that_sends_elsewhere() -> None:
    with serving(script(completion("taken"))) as other:
        away = {"Location": f"{other.endpoint}/chat/completions"}
        for status in (301, 302, 303, 307, 308):
            with serving(script(Said(status, b"", away))) as stub:
                error = failed(service(stub, key=KEY))
            assert error.hopeless
            assert "elsewhere" in error.what
    assert other.asked == []


def test_a_stop_ends_the_waiting() -> None:
    stop = threading.Event()

    def busy(_: Any) -> Said:
        threading.Timer(0.2, stop.set).start()
        return refusal(429, headers={"Retry-After": "60"})

    with serving(busy) as stub:
        began = time.monotonic()
        with pytest.raises(StoppedError):
            service(stub, stop=stop).ask("/chat/completions", {})
        with pytest.raises(StoppedError):
            service(stub, stop=stop).ask("/chat/completions", {})
    assert time.monotonic() - began < 50
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    ("address", "host", "is_local", "is_encrypted"),
    [
        ("http://127.0.0.1:8080/v1", "127.0.0.1:8080", True, False),
        ("http://localhost:11434/v1/", "localhost:11434", True, False),
        ("http://localhost/v1/chat/completions", "localhost", True, False),
        ("http://[::1]:80/v1", "[::1]:80", True, False),
        ("https://api.example.org/v1", "api.example.org", False, True),
        ("http://127.0.0.1.example.org/v1", "127.0.0.1.example.org", False, False),
        ("http://localhost.example.org/v1", "localhost.example.org", False, False),
        ("http://192.168.0.7:8000", "192.168.0.7:8000", False, False),
        ("http://0.0.0.0:8000", "0.0.0.0:8000", False, False),
    ],
)
def test_which_addresses_are_this_machine(
    address: str, host: str, is_local: bool, is_encrypted: bool
) -> None:
    found = endpoint(address)
    assert (found.host, found.is_local, found.is_encrypted) == (host, is_local, is_encrypted)
    assert not found.url.endswith(("/", "/chat/completions"))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8080",
        "ftp://x/v1",
        "file:///etc/passwd",
        "http://",
        "http://x:port/v1",
        "http://x/v1?key=s",
        "",
    ],
)
def test_what_is_no_endpoint(address: str) -> None:
    with pytest.raises(UsageError, match="no endpoint"):
        endpoint(address)


def test_a_password_in_an_endpoint_is_refused_unseen() -> None:
    with pytest.raises(UsageError) as caught:
        endpoint(f"https://me:{KEY}@api.example.org/v1")
    assert KEY not in str(caught.value)
    with pytest.raises(UsageError) as caught:
        endpoint(f"https://api.example.org/v1?key={KEY}#{KEY}")
    assert KEY not in str(caught.value)
    with pytest.raises(UsageError) as caught:
        endpoint(f"https://me:{KEY}@api.example.org:port/v1")
    assert KEY not in str(caught.value)
