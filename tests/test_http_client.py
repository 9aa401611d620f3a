"""One rule for every client: no proxy for this machine, no redirects, bounded replies."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from lapsus.annotators.language_model.service import Service, endpoint
from lapsus.client import Client
from lapsus.errors import LapsusError
from lapsus.formats.traces import push
from lapsus.formats.traces.feedback import Feedback
from lapsus.http_client import HttpClient, HttpError, StoppedError, is_loopback, read_whole
from lapsus.model import Judgment
from lapsus.store import RefusedError
from lapsus.web import oidc
from tests.annotators.language_model.stub import Said, Stub, completion, refusal, script, serving

KEY = "sk-very-secret-0123456789"
JUDGMENT = Judgment("d", "1", "ann", "breakdown", "1.0", {"breakdown": "O"})


@contextmanager
def listening() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that refuses everything, and all that it was sent."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                with suppress(TimeoutError):
                    other, _ = server.accept()
                    with other:
                        heard.append(other.recv(65536))
                        other.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", heard
        finally:
            over.set()
            thread.join()


def ask_service(address: str) -> object:
    return Service(endpoint(f"{address}/v1"), KEY).ask("/chat/completions", {})


def ask_workbench(address: str) -> object:
    return Client(address, KEY).campaigns()


def push_feedback(address: str) -> object:
    piece = Feedback("t1", None, "s", "breakdown.breakdown", "O", "", None, None, "HUMAN", JUDGMENT)
    return push.push("phoenix", address, [piece])


def ask_provider(address: str) -> object:
    return oidc._fetched(f"{address}/token", b"code=1", {"Authorization": f"Basic {KEY}"})


CLIENTS: list[Callable[[str], object]] = [ask_service, ask_workbench, push_feedback, ask_provider]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHOENIX_API_KEY", KEY)


@pytest.mark.parametrize("ask", CLIENTS)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_key_for_this_machine_never_goes_through_a_proxy(
    ask: Callable[[str], object], host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening() as (proxy, heard), serving(script(completion("ok"))) as stub:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        port = stub.endpoint.removesuffix("/v1").rpartition(":")[2]
        with suppress(LapsusError, KeyError):
            ask(f"http://{host}:{port}")
    assert heard == []


def test_what_is_for_others_goes_through_the_proxy_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as (proxy, heard):
        monkeypatch.setenv("http_proxy", proxy)
        with pytest.raises(HttpError) as caught:
            HttpClient().send("GET", "http://workbench.example.org/x")
    assert caught.value.status == 502
    assert heard[0].startswith(b"GET http://workbench.example.org/x ")


@pytest.mark.parametrize("ask", CLIENTS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_key_follows_a_redirect(ask: Callable[[str], object], status: int) -> None:
    with serving(script(completion("taken"))) as other:
        away = {"Location": f"{other.endpoint}/chat/completions"}
        with (
            serving(script(Said(status, b"", away))) as stub,
            pytest.raises((LapsusError, RefusedError)),
        ):
            ask(stub.endpoint.removesuffix("/v1"))
    assert other.asked == []


def sent(stub: Stub, **more: Any) -> bytes:
    return HttpClient(**{"first_wait": 0.01, **more}).send("POST", f"{stub.endpoint}/chat/completions", b"{}")


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503, 529])
def test_what_may_pass_is_tried_as_often_as_allowed(status: int) -> None:
    with serving(script(refusal(status, "busy"))) as stub, pytest.raises(HttpError, match="busy") as caught:
        sent(stub, tries=3)
    assert (caught.value.status, len(stub.asked)) == (status, 3)


@pytest.mark.parametrize("status", [400, 401, 404, 422, 501])
def test_what_does_not_pass_is_sent_once(status: int) -> None:
    with serving(script(refusal(status))) as stub, pytest.raises(HttpError):
        sent(stub, tries=3)
    assert len(stub.asked) == 1


def test_a_stopped_client_sends_nothing() -> None:
    stop = threading.Event()
    stop.set()
    with serving(script(completion("ok"))) as stub, pytest.raises(StoppedError):
        sent(stub, stop=stop)
    assert stub.asked == []


def test_an_endless_reply_is_not_read() -> None:
    with (
        serving(script(Said(200, b"x" * 300_000))) as stub,
        pytest.raises(HttpError, match="larger than 1,000 bytes"),
    ):
        sent(stub, largest=1000)


def test_a_reply_that_trickles_is_cut_at_the_same_moment() -> None:
    class Trickle:
        def read1(self, _: int) -> bytes:
            time.sleep(0.02)
            return b" "

    with pytest.raises(TimeoutError):
        read_whole(Trickle(), time.monotonic() + 0.1, 10**6)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://", "x"])
def test_nothing_but_web_addresses_is_opened(url: str) -> None:
    with pytest.raises(ValueError, match="web address"):
        HttpClient().send("GET", url)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True), ("a.localhost", True),
        ("127.0.0.1.example.org", False), ("localhost.example.org", False), ("192.168.0.7", False),
    ],
)  # fmt: skip
def test_which_hosts_are_this_machine(host: str, is_local: bool) -> None:
    assert is_loopback(host) is is_local
