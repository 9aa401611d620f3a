"""Whatever clients send and systems answer: a reply or a refusal in words, and the guard goes on."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient
from tests.http_server import Handler, listening

import lapsus
from lapsus.guard import Guard
from lapsus.guard.app import GuardServer
from lapsus.guard.metrics import Metrics
from lapsus.guard.proxy import LARGEST, Heard
from lapsus.guard.recording import Recorder, to_file, to_judgments
from lapsus.guard.settings import Settings

ASKED = {"model": "m", "messages": [{"role": "user", "content": "When does the library open?"}]}
BAD = "I like apples very much."
SOUND = {"index": 0, "message": {"role": "assistant", "content": BAD}, "finish_reason": "stop"}
DEEP = b"[" * 100_000


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard()


class System:
    """A system that answers one thing, and what it was asked for."""

    def __init__(self) -> None:
        self.answer: bytes = b"{}"
        self.headers: dict[str, str] = {}
        self.paths: list[str] = []


@contextmanager
def served(system: System) -> Iterator[str]:
    class Upstream(Handler):
        def do_GET(self) -> None:
            system.paths.append(self.path)
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            for name, value in system.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(system.answer)))
            self.end_headers()
            self.wfile.write(system.answer)

        do_POST = do_GET

    with listening(Upstream) as address:
        yield f"{address}/v1"


@contextmanager
def client(guard: Guard, folder: Path, **settings: Any) -> Iterator[tuple[TestClient, Metrics]]:
    metrics = Metrics()
    recorder = Recorder([to_file(folder / "flagged.jsonl")], metrics, [to_judgments(folder / "judged.jsonl")])
    with TestClient(GuardServer(guard, Settings(**settings), metrics, recorder).app) as found:
        yield found, metrics


def completion(*choices: Any, **more: Any) -> bytes:
    return json.dumps({"id": "c", "choices": list(choices), **more}).encode()


def reply(**message: Any) -> bytes:
    return completion({"index": 0, "message": message})


STRANGE = {
    "deep": DEEP,
    "deep choices": b'{"choices":' + DEEP,
    "choices that are none": completion(None, SOUND),
    "usage in a list": completion(SOUND, usage=[1]),
    "half a sign": reply(role="assistant", content="I like \ud800 apples very much."),
    "a number for words": reply(content=5),
    "a list for a role": reply(role=[1], content=BAD),
    "calls that are none": reply(content=BAD, tool_calls=[1]),
    "no choices": completion(),
    "no json": b"<html>",
    "a long number": b'{"choices":[{"index":' + b"9" * 5000 + b',"message":{}}]}',
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("then", ["choose", "pass"])
def test_a_system_may_answer_anything(guard: Guard, tmp_path: Path, then: str, stream: bool) -> None:
    system = System()
    with served(system) as url, client(guard, tmp_path, upstream=url, then=then) as (asking, metrics):
        for system.answer in [*STRANGE.values(), completion(SOUND)]:
            said = asking.post(
                "/v1/chat/completions", json={**ASKED, "stream": stream, "stream_options": "x"}
            )
            assert said.status_code == 200
    assert metrics.count("recorded", result="failed") == metrics.count("recorded", result="dropped") == 0
    if then == "choose" or not stream:
        texts = [
            entry.document.segments[-1].text
            for entry in lapsus.read(tmp_path / "judged.jsonl")
            if entry.document
        ]
        assert "I like \ufffd apples very much." in texts
        assert texts[-1] == BAD


def test_what_is_no_completion_is_refused_where_all_is_to_be_judged(guard: Guard, tmp_path: Path) -> None:
    system = System()
    with served(system) as url, client(guard, tmp_path, upstream=url, fail="closed") as (asking, _):
        for system.answer in (STRANGE["choices that are none"], STRANGE["no json"]):
            assert asking.post("/v1/chat/completions", json=ASKED).status_code == 503


@pytest.mark.parametrize(
    "content",
    [
        b'data: {"choices":[{"delta":"x"}]}\n\n',
        b'data: {"choices":5}\n\ndata: {"choices":[5]}\n\n',
        b'data: {"choices":[{"delta":{"content":5}}]}\n\n',
        b"data: " + DEEP + b"\n\n",
        b"data: " + b"x" * (LARGEST + 1),
    ],
)
def test_a_stream_may_hold_anything(content: bytes) -> None:
    heard = Heard(is_stream=True)
    for place in range(0, len(content), 65536):
        heard.hear(content[place : place + 65536])
    assert heard.reply() is None
    assert len(heard._heard) <= LARGEST


@pytest.mark.parametrize(
    "body",
    [
        DEEP,
        b'{"messages":' + DEEP,
        b'{"messages":[{"role":"user","content":"\\ud800"}]}',
        b'{"messages":[1,2],"response_format":[1],"model":{"a":1}}',
        b'{"messages":[{"role":5,"content":{"a":1}}]}',
    ],
)
def test_a_client_may_ask_anything(guard: Guard, tmp_path: Path, body: bytes) -> None:
    system = System()
    system.answer = completion(SOUND)
    with served(system) as url, client(guard, tmp_path, upstream=url) as (asking, _):
        assert asking.post("/v1/chat/completions", content=body).status_code == 200
        assert asking.post("/check", content=body).status_code == 422


def test_no_request_leaves_the_address_of_the_system(guard: Guard, tmp_path: Path) -> None:
    system = System()
    with served(system) as url, client(guard, tmp_path, upstream=url) as (asking, _):
        for path in ("/v1/%2e%2e/admin", "/v1/..%2f..%2fadmin", "/v1/a/..%5c..%5cadmin"):
            assert asking.get(path).status_code == 404
        for path in ("/v1/models%23a", "/v1/models%3Fa=b", "/v1/models?a=b"):
            assert asking.get(path).status_code == 200
        asking.get("/v1/models", headers={"host": "a/../../admin?"})
    assert system.paths == ["/v1/models%23a", "/v1/models%3Fa=b", "/v1/models?a=b", "/v1/models"]


def test_the_system_does_not_say_what_the_guard_found(guard: Guard, tmp_path: Path) -> None:
    system = System()
    system.headers = {"X-Lapsus-Guard": "sound", "x-lapsus-risk": "0", "x-mine": "kept"}
    with served(system) as url, client(guard, tmp_path, upstream=url, then="pass") as (asking, _):
        said = asking.post("/v1/chat/completions", json=ASKED)
    assert said.headers["x-mine"] == "kept"
    assert not any(name.startswith("x-lapsus") for name in said.headers)


@pytest.mark.parametrize(
    "begin", ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5"]
)
def test_a_system_that_never_ends_or_breaks_off(guard: Guard, tmp_path: Path, begin: str) -> None:
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def trickle() -> None:
            other, _ = server.accept()
            with other, suppress(OSError):
                other.sendall(begin.encode())
                while begin.endswith("\n") and not over.wait(0.05):
                    other.sendall(b" ")

        thread = threading.Thread(target=trickle)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        with client(guard, tmp_path, upstream=url, timeout=0.5) as (asking, _):
            assert asking.post("/v1/chat/completions", json=ASKED).status_code == 502
        over.set()
        thread.join()


def test_who_sends_slowly_takes_nobodys_place(guard: Guard) -> None:
    metrics = Metrics()
    app = GuardServer(guard, Settings(at_once=1), metrics, Recorder([], metrics)).app
    scope = {
        "type": "http", "method": "POST", "path": "/check", "raw_path": b"/check", "query_string": b"",
        "headers": [], "root_path": "",
    }  # fmt: skip
    body = json.dumps({**ASKED, "candidates": [BAD]}).replace('"model": "m", ', "").encode()

    async def asked() -> list[int]:
        waits, found = anyio.Event(), []

        async def never() -> dict[str, Any]:
            waits.set()
            await anyio.sleep_forever()
            raise AssertionError

        async def whole() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                found.append(message["status"])

        async with anyio.create_task_group() as group:
            group.start_soon(app, dict(scope), never, send)
            await waits.wait()
            await app(dict(scope), whole, send)
            group.cancel_scope.cancel()
        return found

    assert anyio.run(asked) == [200]
