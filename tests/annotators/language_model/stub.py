"""A server that speaks the OpenAI protocol and says what a test wants, on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.http_server import Handler, listening


class Said(NamedTuple):
    """A reply: status, body and headers. A body of bytes is sent as it is."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = {}


def completion(answer: Any, *, finish: str = "stop") -> Said:
    """What a model says: an answer as JSON, or text as it is."""
    content = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return Said(200, {"model": "stub-2026", "choices": [choice], "usage": usage})


def refusal(status: int, message: str = "no", headers: Mapping[str, str] | None = None) -> Said:
    return Said(status, {"error": {"message": message}}, headers or {})


class Stub:
    """Answers requests by a function of their body, and remembers them."""

    def __init__(self, answer: Callable[[dict[str, Any]], Said]) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self.endpoint = ""

    def reply(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Said:
        with self._lock:
            self.asked.append(body)
            self.headers.append(headers)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            return self.answer(body) if path == "/v1/chat/completions" else refusal(404, f"no {path}")
        finally:
            with self._lock:
                self._now -= 1

    def materials(self) -> list[dict[str, Any]]:
        """The units that were sent, as the model sees them."""
        return [json.loads(body["messages"][1]["content"]) for body in self.asked]


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Said], stub: Stub | None = None) -> Iterator[Stub]:
    stub = stub or Stub(answer)

    class Model(Handler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = stub.reply(self.path, dict(self.headers), body)
            raw = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            try:
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the other side did not wait

    with listening(Model) as address:
        stub.endpoint = f"{address}/v1"
        yield stub


def script(*replies: Said) -> Callable[[dict[str, Any]], Said]:
    """One reply after the other; the last one stays."""
    waiting = list(replies)

    def answer(_: dict[str, Any]) -> Said:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    return answer
