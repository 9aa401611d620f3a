"""An OpenAI-compatible system behind the guard: asked for replies, which are judged before they are sent.

Keys come in headers, which are passed on and kept nowhere. Calls of tools, answers in JSON and requests for several
replies are never changed.
"""

import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from http.client import HTTPException
from typing import Any, Final, NamedTuple

from anyio import CapacityLimiter, to_thread

from lapsus.guard.settings import Settings
from lapsus.http_client import HttpError, open_response, read_whole

LARGEST: Final = 8_000_000
"""Bytes of a reply that is held, or judged after it has gone by."""
OWN: Final = "x-lapsus-"
"""How the headers begin by which the guard says what it found."""
_NOT_PASSED: Final = frozenset(
    {
        "host",
        "content-length",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "proxy-authorization",
        "proxy-authenticate",
        "accept-encoding",
        "content-encoding",
        "expect",
    }
)
"""Headers that are about one connection, or about how a body is packed."""


class UpstreamError(Exception):
    """The system behind the guard did not answer."""


class Answer(NamedTuple):
    """What the system behind the guard answered."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def data(self) -> dict[str, Any] | None:
        """The completion; None where it is something else."""
        found = parsed(self.content) if self.status == 200 else None
        choices = found.get("choices") if isinstance(found, dict) else None
        if not isinstance(found, dict) or not isinstance(choices, list):
            return None
        is_sound = all(isinstance(one, dict) and isinstance(one.get("message"), dict) for one in choices)
        return found if is_sound and choices else None


class Upstream:
    """Asks the system behind the guard, in threads."""

    def __init__(self, settings: Settings) -> None:
        self._root, self._timeout = settings.upstream.rstrip("/"), settings.timeout
        self._limiter = CapacityLimiter(settings.at_once * max(settings.candidates, 1))

    async def ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        """The whole answer. UpstreamError where there is none, or it is too large."""

        def work() -> Answer:
            deadline = time.monotonic() + self._timeout
            with self._open(method, path, body, headers) as response:
                content = read_whole(response, deadline, LARGEST)
                return Answer(response.status, passed(response.headers), content)

        found: Answer = await self._run(work)
        return found

    async def stream(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], AsyncIterator[bytes]]:
        """The answer as it comes."""
        response = await self._run(lambda: self._open(method, path, body, headers))

        async def pieces() -> AsyncIterator[bytes]:
            try:
                while piece := await to_thread.run_sync(response.read1, 65536, limiter=self._limiter):
                    yield piece
            finally:
                response.close()

        return response.status, passed(response.headers), pieces()

    async def _run(self, work: Any) -> Any:
        try:
            return await to_thread.run_sync(work, limiter=self._limiter)
        except (HttpError, OSError, HTTPException) as error:
            raise UpstreamError(str(error)) from None

    def _open(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        return open_response(method, self._root + path, body, headers, self._timeout)


def parsed(content: bytes | str) -> Any:
    """What JSON says; None where it is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def passed(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that go through the guard. What it found is said by nobody else."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {
        name: value for name, value in lower.items() if name not in _NOT_PASSED and not name.startswith(OWN)
    }


def may_choose(request: Mapping[str, Any]) -> bool:
    """Whether a reply may be replaced: one reply in plain words is wanted."""
    wanted = request.get("response_format") or {}
    is_plain = not isinstance(wanted, dict) or wanted.get("type", "text") == "text"
    return is_plain and request.get("n") in (None, 1) and isinstance(request.get("messages"), list)


def replies(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a completion, each with why it ended."""
    return [{**one["message"], "finish_reason": one.get("finish_reason")} for one in data["choices"]]


def calls_tools(reply: Mapping[str, Any]) -> bool:
    """Whether a reply calls tools."""
    return bool(reply.get("tool_calls") or reply.get("function_call"))


def chosen(
    data: Mapping[str, Any], choice: Mapping[str, Any], all_of: list[Mapping[str, Any]]
) -> dict[str, Any]:
    """A completion with one choice, and the tokens of all that were asked for."""
    usage: dict[str, int] = {}
    for one in all_of:
        told = one.get("usage")
        for name, many in told.items() if isinstance(told, dict) else ():
            if isinstance(many, int):
                usage[name] = usage.get(name, 0) + many
    found = {**data, "choices": [{**choice, "index": 0}]}
    return found | ({"usage": usage} if usage else {})


def as_events(data: Mapping[str, Any], with_usage: bool) -> Iterator[bytes]:
    """A completion that was held, as the events of a stream."""
    head = {name: data[name] for name in ("id", "created", "model") if name in data}
    head["object"] = "chat.completion.chunk"
    for choice in data["choices"]:
        message = {name: value for name, value in choice["message"].items() if value is not None}
        if isinstance(calls := message.get("tool_calls"), list):
            message["tool_calls"] = [
                {"index": n, **one} for n, one in enumerate(calls) if isinstance(one, dict)
            ]
        place = choice.get("index", 0)
        yield _event({**head, "choices": [{"index": place, "delta": message, "finish_reason": None}]})
        end = {"index": place, "delta": {}, "finish_reason": choice.get("finish_reason") or "stop"}
        yield _event({**head, "choices": [end]})
    if with_usage and data.get("usage"):
        yield _event({**head, "choices": [], "usage": data["usage"]})
    yield b"data: [DONE]\n\n"


def _event(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


class Heard:
    """The reply of an answer that goes by, kept as far as it may be large."""

    def __init__(self, *, is_stream: bool) -> None:
        self._is_stream = is_stream
        self._heard = bytearray()
        self._is_whole = True

    def hear(self, piece: bytes) -> None:
        """Some bytes of it."""
        self._is_whole &= len(self._heard) + len(piece) <= LARGEST
        if self._is_whole:
            self._heard += piece

    def reply(self) -> dict[str, Any] | None:
        """The whole reply; None where it was no single reply in words."""
        if not self._is_whole:
            return None
        if self._is_stream:
            return _streamed(bytes(self._heard))
        data = Answer(200, {}, bytes(self._heard)).data
        said = replies(data) if data else []
        return said[0] if said and not calls_tools(said[0]) else None


def _streamed(content: bytes) -> dict[str, Any] | None:
    words: list[str] = []
    end: Any = None
    for line in content.split(b"\n"):
        value = parsed(line.removeprefix(b"data:")) if line.startswith(b"data:") else None
        choices = value.get("choices") if isinstance(value, dict) else None
        for choice in choices if isinstance(choices, list) else ():
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if not isinstance(delta, dict):
                continue
            if choice.get("index", 0) != 0 or calls_tools(delta):
                return None
            said = delta.get("content")
            words.append(said if isinstance(said, str) else "")
            end = choice.get("finish_reason") or end
    text = "".join(words)
    return {"content": text, "finish_reason": end} if text else None
