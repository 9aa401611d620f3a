"""An OpenAI-compatible system behind the guard: asked for replies, which are judged before they are sent.

Keys come in headers, which are passed on and kept nowhere. Calls of tools, answers in JSON and requests for several
replies are never changed.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final, NamedTuple

from anyio import CapacityLimiter, to_thread

from lapsus.guard.settings import Settings
from lapsus.http_client import HttpError, open_response

_LARGEST: Final = 8_000_000
"""Bytes of a reply that is held."""
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
        try:
            found = json.loads(self.content) if self.status == 200 else None
        except ValueError:
            return None
        return found if isinstance(found, dict) and isinstance(found.get("choices"), list) else None


class Upstream:
    """Asks the system behind the guard, in threads."""

    def __init__(self, settings: Settings) -> None:
        self._root, self._timeout = settings.upstream.rstrip("/"), settings.timeout
        self._limiter = CapacityLimiter(settings.at_once * max(settings.candidates, 1))

    async def ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        """The whole answer. UpstreamError where there is none, or it is too large."""

        def work() -> Answer:
            with self._open(method, path, body, headers) as response:
                content = response.read(_LARGEST + 1)
                if len(content) > _LARGEST:
                    raise HttpError("large", "the reply is too large")
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
        except (HttpError, OSError) as error:
            raise UpstreamError(str(error)) from None

    def _open(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        return open_response(method, self._root + path, body, headers, self._timeout)


def passed(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that go through the guard."""
    return {name.lower(): value for name, value in headers.items() if name.lower() not in _NOT_PASSED}


def may_choose(request: Mapping[str, Any]) -> bool:
    """Whether a reply may be replaced: one reply in plain words is wanted."""
    wanted = request.get("response_format") or {}
    is_plain = not isinstance(wanted, dict) or wanted.get("type", "text") == "text"
    return is_plain and request.get("n") in (None, 1) and isinstance(request.get("messages"), list)


def replies(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a completion, each with why it ended."""
    found = []
    for choice in data["choices"]:
        message = choice.get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict):
            found.append({**message, "finish_reason": choice.get("finish_reason")})
    return found


def calls_tools(reply: Mapping[str, Any]) -> bool:
    """Whether a reply calls tools."""
    return bool(reply.get("tool_calls") or reply.get("function_call"))


def chosen(
    data: Mapping[str, Any], choice: Mapping[str, Any], all_of: list[Mapping[str, Any]]
) -> dict[str, Any]:
    """A completion with one choice, and the tokens of all that were asked for."""
    usage: dict[str, int] = {}
    for one in all_of:
        for name, many in (one.get("usage") or {}).items():
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
            message["tool_calls"] = [{"index": place, **one} for place, one in enumerate(calls)]
        place = choice.get("index", 0)
        yield _event({**head, "choices": [{"index": place, "delta": message, "finish_reason": None}]})
        end = {"index": place, "delta": {}, "finish_reason": choice.get("finish_reason") or "stop"}
        yield _event({**head, "choices": [end]})
    if with_usage and data.get("usage"):
        yield _event({**head, "choices": [], "usage": data["usage"]})
    yield b"data: [DONE]\n\n"


def _event(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


class Heard:
    """The reply of a stream that goes by."""

    def __init__(self) -> None:
        self._rest = b""
        self._content: list[str] = []
        self._is_plain = True
        self._end: Any = None

    def hear(self, piece: bytes) -> None:
        """Some bytes of it."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            try:
                value = json.loads(line.removeprefix(b"data:")) if line.startswith(b"data:") else {}
            except ValueError:
                continue
            for choice in value.get("choices") or [] if isinstance(value, dict) else []:
                delta = choice.get("delta") or {}
                self._is_plain &= choice.get("index", 0) == 0 and not calls_tools(delta)
                self._content.append(delta.get("content") or "")
                self._end = choice.get("finish_reason") or self._end

    @property
    def reply(self) -> dict[str, Any] | None:
        """The whole reply; None where it was no single reply in words."""
        text = "".join(self._content)
        return {"content": text, "finish_reason": self._end} if text and self._is_plain else None
