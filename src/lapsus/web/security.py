"""Security headers, limits of request bodies, and rate limits."""

import asyncio
import time
from typing import Final, NamedTuple

import regex
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lapsus.store import Store
from lapsus.web.addresses import own_path

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
_OF_DOCUMENTS: Final = (b"content-security-policy", b"cross-origin-opener-policy")
"""What browsers heed on documents and workers alone."""
_PARTS: Final = (b"text/css", b"text/javascript")
LARGEST_BODY: Final = 1_000_000
"""Bytes. The answers about one unit are far below."""
BODY_SECONDS: Final = 300.0
"""In which a body has to be here..."""
PAUSE_SECONDS: Final = 30.0
"""...with no longer pause in between."""
LARGEST_UPLOAD: Final = 10_000_000
"""Bytes of a file that is handed in: a zip with a run about many thousand turns, or the dialogues of a campaign."""
_UPLOADS = regex.compile(
    r"/(challenge/[a-z0-9-]{1,60}/submit|challenges/new|c/[a-z0-9-]{1,60}/documents|new(/[A-Za-z0-9_-]{10,100}/(checks|data))?)(\.json)?"
)


class SafeHeaders:
    """Adds the headers to whatever does not set its own; to scripts and styles those that mean something there."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = dict(message["headers"])
                is_part = own_path(scope).startswith("/static/") and there.get(
                    b"content-type", b""
                ).startswith(_PARTS)
                left_out = {*there, *_OF_DOCUMENTS} if is_part else there
                more = [header for header in _RAW if header[0] not in left_out]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await self.app(scope, receive, with_headers)


class Compressed:
    """Pages and data go out small. The answers to what is sent in are short, and go out as they are."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.compressing = GZipMiddleware(app, minimum_size=1000, compresslevel=6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, by way of the compressor where it is worth it."""
        is_read = scope["type"] == "http" and scope["method"] == "GET"
        await (self.compressing if is_read else self.app)(scope, receive, send)


class BodyLimit:
    """Refuses bodies that are too large or do not come, as soon as that is known."""

    def __init__(self, app: ASGIApp, largest: int = LARGEST_BODY) -> None:
        self.app = app
        self.largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, counting."""
        if scope["type"] != "http" or scope["method"] == "GET":
            await self.app(scope, receive, send)
            return
        largest = LARGEST_UPLOAD if _UPLOADS.fullmatch(own_path(scope)) else self.largest
        seen, is_whole, until = 0, False, time.monotonic() + BODY_SECONDS

        async def counted() -> Message:
            nonlocal seen, is_whole
            if is_whole:
                return await receive()
            left = min(PAUSE_SECONDS, until - time.monotonic())
            try:
                message = await asyncio.wait_for(receive(), max(left, 0.0))
            except TimeoutError:
                raise HTTPException(408) from None
            seen += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if seen > largest:
                raise HTTPException(413)
            return message

        await self.app(scope, counted, send)


class RateLimit(NamedTuple):
    """At most so many tries of something within some seconds, counted in the database for all servers on it."""

    what: str
    most: int
    seconds: float

    def take(self, store: Store, key: str) -> bool:
        """Note a try; whether it is allowed."""
        return store.access.take_try(f"{self.what}:{key}", self.most, self.seconds)

    def forgive(self, store: Store, key: str) -> None:
        """The last try was right: it does not count."""
        store.access.forgive_try(f"{self.what}:{key}")


BY_DEVICE: Final = RateLimit("device", 10, 300)
"""Of a browser in which the person has signed in before: nobody else uses these up."""
BY_NAME_HERE: Final = RateLimit("name and address", 10, 300)
BY_NAME: Final = RateLimit("name", 50, 300)
BY_ADDRESS: Final = RateLimit("address", 50, 300)
