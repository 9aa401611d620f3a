"""What guards every answer: headers, the size of what comes in, and how often somebody may guess a password."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

import regex
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'{styles}; img-src 'self'; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY.format(styles=""),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_RAW: Final = tuple((name.lower().encode(), value.encode()) for name, value in HEADERS.items())
LARGEST_BODY: Final = 1_000_000
"""Bytes. The answers about one unit are far below."""
LARGEST_UPLOAD: Final = 10_000_000
"""Bytes of a file that is handed in: a zip with a run about many thousand turns, or the dialogues of a campaign."""
_UPLOADS = regex.compile(
    r"/(challenge/[a-z0-9-]{1,60}/submit|challenges/new|new(/[A-Za-z0-9_-]{10,100}/checks)?)(\.json)?"
)


class SafeHeaders:
    """Adds the headers to whatever does not set its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name for name, _ in message["headers"]}
                more = [header for header in _RAW if header[0] not in there]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await self.app(scope, receive, with_headers)


class Compressed:
    """Pages and data go out small. The answers to what is sent in are short, and go out as they are."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.compressing = GZipMiddleware(app, minimum_size=1000, compresslevel=5)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, by way of the compressor where it is worth it."""
        is_read = scope["type"] == "http" and scope["method"] == "GET"
        await (self.compressing if is_read else self.app)(scope, receive, send)


class BodyLimit:
    """Refuses bodies that are too large, as soon as that is known."""

    def __init__(self, app: ASGIApp, largest: int = LARGEST_BODY) -> None:
        self.app = app
        self.largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, counting."""
        if scope["type"] != "http" or scope["method"] == "GET":
            await self.app(scope, receive, send)
            return
        largest = LARGEST_UPLOAD if _UPLOADS.fullmatch(scope["path"]) else self.largest
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > largest:
                raise HTTPException(413)
            return message

        await self.app(scope, counted, send)


class RateLimit:
    """At most so many tries for each name or address within some minutes. In memory: a restart forgives."""

    def __init__(
        self, most: int, seconds: float, *, keys: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most, self.seconds, self.keys, self.clock = most, seconds, keys, clock
        self._tries: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> bool:
        """Note a try; whether it is allowed. Noted before its outcome is known, so that many at once count too."""
        now = self.clock()
        with self._lock:
            tries = self._tries.setdefault(key, deque())
            self._tries.move_to_end(key)
            while tries and tries[0] <= now - self.seconds:
                tries.popleft()
            if len(tries) >= self.most:
                return False
            tries.append(now)
            while len(self._tries) > self.keys:
                self._tries.popitem(last=False)
            return True

    def forgive(self, key: str) -> None:
        """The last try was right: it does not count."""
        with self._lock:
            if tries := self._tries.get(key):
                tries.pop()
